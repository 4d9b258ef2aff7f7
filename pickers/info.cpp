#include "pickers/info.hpp"

#include "pickers/draw_image.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "info";
    const std::string image = draw_image(c, context, "src", every_image());
    const Draws draws = context.draws.scope("step[0]");
    Step step{Actor::tool, "info", "info", ValidIntent{}, {}};
    if (draws.chance("arg[-f]", 80)) {
        step.arguments.push_back({"-f", WordValue{std::string(format_of(c, image))}});
    }
    static constexpr Weighted<std::string_view> outputs[] = {{"", 25}, {"human", 10}, {"json", 65}};
    if (const auto output = draws.pick("arg[--output]", outputs); !output.empty()) {
        step.arguments.push_back({"--output", WordValue{std::string(output)}});
    }
    for (const std::string_view flag : {"--backing-chain", "-U"}) {
        if (draws.chance("arg[" + std::string(flag) + "]", 25)) {
            step.arguments.push_back({std::string(flag), std::nullopt});
        }
    }
    step.arguments.push_back({"", ImageValue{image}});
    c.steps.push_back(step);
    return c;
}

}  // namespace

const Picker& info_picker() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, {}},
        {"--output", ValueKind::word, {}},
        {"--backing-chain", ValueKind::none, {}},
        {"-U", ValueKind::none, {}},
        {"", ValueKind::image, {}, 1, 1},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const Rule rules[] = {
        unknown_option_rule(), unknown_format_rule(), unknown_output_rule(), missing_file_rule(),
        no_file_rule(),        two_files_rule(),      other_format_rule(),   own_format_rule(),
    };
    static const LeftOut left_out[] = {
        {"--object", "asks for a password"},
        {"--image-opts", "names protocols"},
    };
    static const Picker picker{"info", "info", draw_valid, options, rules, left_out};
    return picker;
}

}  // namespace difffuzz
