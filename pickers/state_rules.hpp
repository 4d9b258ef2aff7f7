// What operations made of steps that change one image have in common: the checks of a step's
// options and of its image, and the rules that go with them.
#pragma once

#include "pickers/rules.hpp"
#include "pickers/step_kind.hpp"

namespace difffuzz {

// The rule that the step breaks by its options or its image alone, whatever the command: one of
// unknown-option, no-file, two-files, missing-file, known-images, unknown-format, other-format,
// own-format; empty when none.
std::string_view common_obstacle(const Case& c, const Step& step, const CaseState& state);

// Puts a small empty raw image of its own in place of the last step's image.
void use_raw_image(Case& c);

// Whether the case has a qed image: see qed_write_rule().
bool has_qed(const Case& c);
// No neutral step writes to a qed image.
Rule qed_write_rule();

// A rule that StepKind::apply decides about and that the reference enforces.
template <RuleName name, StepKinds (*kinds)()>
Rule enforced_rule(std::string_view why, void (*break_it)(Case&, const Draws&),
                   bool (*applicable)(const Case&) = nullptr) {
    return {name.text, true, why, last_step_breaks<name, kinds>, break_it, applicable};
}

// One that only bounds the envelope.
template <RuleName name, StepKinds (*kinds)()>
Rule bounding_rule(std::string_view why) {
    return {name.text, false, why, last_step_breaks<name, kinds>};
}

// The rules of common_obstacle(), for a command with -f.
template <StepKinds (*kinds)()>
std::vector<Rule> common_rules() {
    return {
        unknown_option_rule(),
        no_file_rule(),
        two_files_rule(),
        known_images_rule(),
        missing_file_rule(),
        enforced_rule<"unknown-format", kinds>(
            "-f must name a format that exists",
            [](Case& c, const Draws& draws) {
                static constexpr std::string_view words[] = {"qcow9", "RAW", "vdmk", "none"};
                set_option(last_step(c), "-f",
                           LiteralValue{std::string(draws.pick("format", words))});
            }),
        enforced_rule<"other-format", kinds>(
            "the image must be of the format that -f names",
            [](Case& c, const Draws& draws) {
                std::vector<std::string_view> others;
                for (const std::string_view format : known_formats()) {
                    if (format != "raw" && format != format_of(c, image_of_step(last_step(c)))) {
                        others.push_back(format);
                    }
                }
                set_option(last_step(c), "-f",
                           WordValue{std::string(
                               draws.pick("format", std::span<const std::string_view>(others)))});
            }),
        bounding_rule<"own-format", kinds>(
            "the image must be of the format that -f names; raw is accepted for any"),
    };
}

}  // namespace difffuzz
