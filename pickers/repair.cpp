#include "pickers/repair.hpp"

#include <algorithm>
#include <array>

#include "images/damage.hpp"
#include "pickers/cache_modes.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/repair_damage.hpp"
#include "pickers/state_rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr unsigned damaged_percent = 80;

constexpr std::array<std::string_view, 2> repairs{"leaks", "all"};

// Formats whose checks can repair; vmdk and vdi have checks that cannot.
constexpr std::array<std::string_view, 4> repairable{"qcow2", "qed", "vhdx", "parallels"};

struct RepairOption {
    static constexpr std::string_view option = "-r";
    static constexpr std::string_view text_rule = "unknown-repair";
    static constexpr std::string_view texts[] = {"none", "All", "corruptions", "1", ""};
};

StepKinds kinds() {
    static const StepKind* const all[] = {&repair_kind()};
    return all;
}

bool is_repairable(std::string_view format) {
    return std::ranges::find(repairable, format) != repairable.end();
}

bool loses_snapshots(const ImageState& image) {
    return !image.snapshots.empty() && !image.bitmaps.empty();
}

std::string_view apply(const Case& c, const Step& step, CaseState& state) {
    const std::string_view rule = common_obstacle(c, step, state);
    if (!rule.empty() && rule != "own-format") {
        return rule;
    }
    if (rule == "own-format" || !is_repairable(state.at(image_of_step(step)).format)) {
        return "no-repair-support";
    }
    for (const std::string_view option : {"-r", "-T", "--output"}) {
        if (option_value<LiteralValue>(step, option) != nullptr) {
            return "unknown-word";
        }
    }
    if (has_option(step, "-U")) {
        return "shared-repair";
    }
    return loses_snapshots(state.at(image_of_step(step))) ? "bitmaps-and-snapshots"
                                                          : std::string_view{};
}

std::optional<Step> draw(Case&, const PickContext& context, const CaseState& state) {
    const Draws& draws = context.draws;
    std::vector<std::string> ids;
    for (const auto& [id, image] : state) {
        if (is_repairable(image.format) && !loses_snapshots(image)) {
            ids.push_back(id);
        }
    }
    if (ids.empty()) {
        return std::nullopt;
    }
    const std::string id = draws.pick("image", std::span<const std::string>(ids));
    Step step{Actor::tool, "repair", "check", ValidIntent{}, {}};
    if (draws.chance("arg[-f]", 80)) {
        step.arguments.push_back({"-f", WordValue{state.at(id).format}});
    }
    step.arguments.push_back({"-r", WordValue{draws.chance("arg[-r].all", 65) ? "all" : "leaks"}});
    static constexpr Weighted<std::string_view> outputs[] = {{"", 50}, {"human", 15}, {"json", 35}};
    if (const auto output = draws.pick("arg[--output]", outputs); !output.empty()) {
        step.arguments.push_back({"--output", WordValue{std::string(output)}});
    }
    if (draws.chance("arg[-T]", 15)) {
        step.arguments.push_back(
            {"-T", WordValue{std::string(draws.pick("arg[-T].word", cache_words))}});
    }
    if (draws.chance("arg[-q]", 12)) {
        step.arguments.push_back({"-q", std::nullopt});
    }
    step.arguments.push_back({"", ImageValue{id}});
    return step;
}

std::vector<std::string> changes(const Case&, const Step& step, const CaseState&) {
    return {image_of_step(step)};
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "repair";
    ImageWish wish = every_image();
    wish.formats = {{"qcow2", 16}, {"qed", 2}, {"vhdx", 1}, {"parallels", 1}};
    wish.backing_formats = {{"qcow2", 4}, {"raw", 2}, {"vmdk", 1}, {"qed", 1}};
    wish.max_size = 64 * mib;
    wish.max_content = 1 * mib;
    draw_image(c, context, "src", wish);
    for (ImageRecipe& image : c.images) {
        if (!loses_snapshots(state_of(image))) {
            continue;
        }
        if (context.draws.chance("keep[" + image.id + "]", 50)) {
            image.snapshots.clear();
        } else {
            image.bitmaps.clear();
        }
    }
    static constexpr Weighted<std::size_t> counts[] = {{1, 6}, {2, 3}};
    static constexpr unsigned weights[] = {1};
    draw_steps(c, context, kinds(), weights, context.draws.pick("steps", counts));
    return c;
}

// Damage that is not drawn; the rules say why.
bool is_cut_parallels(const ImageRecipe& image, const Damage& damage) {
    return image.format == "parallels" && damage.field == damage_length;
}
bool counts_many_snapshots(const ImageRecipe& image, const Damage& damage) {
    constexpr std::uint64_t many = 1000;
    return image.format == "qcow2" && damage.field == "header.snapshots" && damage.value > many;
}
bool claims_bitmaps(const ImageRecipe& image, const Damage& damage) {
    return image.format == "qcow2" && damage.field == "header.autoclear" &&
           (damage.value & 1U) != 0 && image.bitmaps.empty();
}

template <bool (*is_so)(const ImageRecipe&, const Damage&)>
bool any_damage(const Case& c) {
    return std::ranges::any_of(c.images, [](const ImageRecipe& image) {
        return std::ranges::any_of(image.damage,
                                   [&](const Damage& damage) { return is_so(image, damage); });
    });
}

// Damage of any kind; false, with the case as it was, where none of it is left.
bool damage_anyhow(Case& c, const Draws& draws) {
    Case spoilt = c;
    if (!damage_case(spoilt, draws)) {
        return false;
    }
    std::size_t left = 0;
    for (ImageRecipe& image : spoilt.images) {
        std::erase_if(image.damage, [&](const Damage& damage) {
            return is_cut_parallels(image, damage) || counts_many_snapshots(image, damage) ||
                   claims_bitmaps(image, damage);
        });
        left += image.damage.size();
    }
    if (left == 0) {
        return false;
    }
    c = std::move(spoilt);
    return true;
}

bool damage(Case& c, const Draws& draws) {
    return (draws.chance("telling", 70) && damage_for_repair(c, draws.scope("repair"))) ||
           damage_anyhow(c, draws);
}

std::vector<Rule> own_rules() {
    return {
        unknown_output_rule(),
        text_rule<SourceCacheOption>("-T must be a cache mode"),
        text_rule<RepairOption>("-r must be leaks or all"),
        enforced_rule<"shared-repair", kinds>(
            "what others may write to at the same time cannot be repaired",
            [](Case& c, const Draws&) { add_flag(last_step(c), "-U"); }),
        enforced_rule<"no-repair-support", kinds>(
            "the format must have checks that repair; the reference answers 63",
            [](Case& c, const Draws& draws) {
                if (draws.chance("raw-image", 50)) {
                    use_raw_image(c);
                } else {
                    set_option(last_step(c), "-f", WordValue{"raw"});
                }
            }),
        bounding_rule<"bitmaps-and-snapshots", kinds>(
            "no image that has both bitmaps and snapshots: qemu-img 5.2 to 10.0 lose the "
            "snapshots"),
        {"cut-parallels", false,
         "no parallels image is cut short: qemu-img 7.2 and 10.0 make it longer than its tables "
         "say after they found that it is clean",
         any_damage<is_cut_parallels>},
        {"many-snapshots", false,
         "no header counts many snapshots that are not there: qemu-img 5.2 to 10.0 repair up to "
         "65,536 of them, one after the other",
         any_damage<counts_many_snapshots>},
        {"claims-bitmaps", false,
         "no header claims bitmaps that are not there: qemu-img 7.2 takes the header for their "
         "directory, does not write to it, and still says that it repaired the image",
         any_damage<claims_bitmaps>},
    };
}

}  // namespace

const StepKind& repair_kind() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, {}},
        {"-r", ValueKind::word, repairs, 1, 1},
        {"--output", ValueKind::word, output_words()},
        {"-T", ValueKind::word, cache_words},
        {"-U", ValueKind::none, {}},
        {"-q", ValueKind::none, {}},
        {"", ValueKind::image, {}, 1, 1},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const StepKind kind{"repair", "check", Actor::tool, options, draw, apply, changes};
    return kind;
}

const Picker& repair_picker() {
    static const std::vector<Rule> rules = [] {
        std::vector<Rule> all = common_rules<kinds>();
        const std::vector<Rule> more = own_rules();
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }();
    static const LeftOut left_out[] = {
        {"--object", "asks for a password"},
        {"--image-opts", "names protocols"},
    };
    static const Picker picker{"repair", "check",  draw_valid, repair_kind().options,
                               rules,    left_out, kinds(),    damaged_percent,
                               damage};
    return picker;
}

}  // namespace difffuzz
