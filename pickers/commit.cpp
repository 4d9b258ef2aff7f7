#include "pickers/commit.hpp"

#include <algorithm>
#include <array>

#include "images/format.hpp"
#include "pickers/cache_modes.hpp"
#include "pickers/growth.hpp"
#include "pickers/io_steps.hpp"
#include "pickers/state_images.hpp"
#include "pickers/state_rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
// A rate below what is written in a tenth of a second would take time.
constexpr std::uint64_t least_rate = 1024 * mib;
// Zeros that the image holds are copied piece by piece: 8 GiB of them take half a minute.
constexpr std::uint64_t largest_committed = 256 * mib;

// Formats whose images qemu-img can commit into, and those among them that it can resize.
constexpr std::array<std::string_view, 7> writable{"raw", "qcow2", "qed", "vmdk",
                                                   "vpc", "vdi",   "vhdx"};
constexpr std::array<std::string_view, 3> resizable{"raw", "qcow2", "qed"};

struct RateOption {
    static constexpr std::string_view option = "-r";
    static constexpr std::string_view text_rule = "rate-not-a-number";
    static constexpr std::string_view texts[] = {"1x", "abc", "-1", ""};
};

StepKinds kinds() {
    static const StepKind* const all[] = {&commit_kind(), &write_kind()};
    return all;
}

bool is_one_of(std::span<const std::string_view> formats, std::string_view format) {
    return std::ranges::find(formats, format) != formats.end();
}

// The image that the step commits into: the one that -b names, else the direct backing file; empty
// where there is none.
std::string base_of(const Step& step, const ImageState& image) {
    if (find_argument(step, "-b") == nullptr) {
        return image.backing.value_or("");
    }
    const auto* named = option_value<ImageValue>(step, "-b");
    return named == nullptr ? std::string{} : named->id;
}

// -b implies that the image is left as it is.
bool is_dropped(const Step& step) { return has_option(step, "-d") || has_option(step, "-b"); }

std::string_view obstacle(const CaseState& state, const std::string& id, const std::string& base) {
    const ImageState& lower = state.at(base);
    if (state.at(id).own.size > largest_committed) {
        return "slow";
    }
    if (!is_one_of(writable, lower.format)) {
        return "base-not-writable";
    }
    if (const std::uint64_t size = state.at(id).own.size; lower.own.size < size) {
        if (!is_one_of(resizable, lower.format)) {
            return "base-cannot-grow";
        }
        if (const std::string_view rule = resize_obstacle(state, lower, size); !rule.empty()) {
            return rule;
        }
    }
    if (lower.format == "qed" && lower.backing) {
        return "qed-over-another";
    }
    const bool has_vmdk_child = std::ranges::any_of(state, [&](const auto& other) {
        return other.second.backing == base && other.second.format == "vmdk";
    });
    return has_vmdk_child ? "parent-of-vmdk" : std::string_view{};
}

std::string_view apply(const Case& c, const Step& step, CaseState& state) {
    if (const std::string_view rule = common_obstacle(c, step, state); !rule.empty()) {
        return rule;
    }
    for (const std::string_view option : {"-t", "-r"}) {
        if (option_value<LiteralValue>(step, option) != nullptr) {
            return "not-a-value";
        }
    }
    const auto* rate = option_value<SizeValue>(step, "-r");
    if (rate != nullptr && rate->bytes != 0 && rate->bytes < least_rate) {
        return "slow";
    }
    const std::string id = image_of_step(step);
    const ImageState& image = state.at(id);
    const std::string base = base_of(step, image);
    const std::vector<std::string> chain = chain_of(state, id);
    if (has_option(step, "-b")) {
        if (base == id || std::ranges::find(chain, base) == chain.end()) {
            return "base-not-in-chain";
        }
    } else if (base.empty()) {
        return "no-backing-file";
    }
    if (const std::string_view rule = obstacle(state, id, base); !rule.empty()) {
        return rule;
    }
    commit_image(state, id, base, !is_dropped(step) && image.format == "qcow2");
    return {};
}

struct Target {
    std::string id;
    std::string base;
};

// Every commit that the state allows, of images that nothing lies on, or of all.
std::vector<Target> targets_in(const CaseState& state, bool lower) {
    std::vector<Target> targets;
    std::vector<std::string> ids = top_images(state);
    if (lower) {
        ids.clear();
        for (const auto& [id, image] : state) {
            ids.push_back(id);
        }
    }
    for (const std::string& id : ids) {
        for (const std::string& base : chain_of(state, id)) {
            if (base != id && obstacle(state, id, base).empty()) {
                targets.push_back({id, base});
            }
        }
    }
    return targets;
}

std::optional<Step> draw(Case&, const PickContext& context, const CaseState& state) {
    const Draws& draws = context.draws;
    std::vector<Target> targets = targets_in(state, draws.chance("lower", 15));
    if (targets.empty()) {
        targets = targets_in(state, true);
    }
    if (targets.empty()) {
        return std::nullopt;
    }
    const Target& target = targets[draws.between("target", 0, targets.size() - 1)];
    const ImageState& image = state.at(target.id);
    Step step{Actor::tool, "commit", "commit", ValidIntent{}, {}};
    if (draws.chance("arg[-f]", 80)) {
        step.arguments.push_back({"-f", WordValue{image.format}});
    }
    for (const std::string_view flag : {"-q", "-p"}) {
        if (draws.chance("arg[" + std::string(flag) + "]", 15)) {
            step.arguments.push_back({std::string(flag), std::nullopt});
        }
    }
    if (draws.chance("arg[-t]", 15)) {
        step.arguments.push_back(
            {"-t", WordValue{std::string(draws.pick("arg[-t].mode", cache_words))}});
    }
    if (draws.chance("arg[-r]", 12)) {
        static constexpr std::uint64_t rates[] = {0, least_rate, 4 * least_rate};
        step.arguments.push_back(
            {"-r", draw_spelling(draws.scope("arg[-r]"), draws.pick("rate", rates))});
    }
    if (draws.chance("arg[-d]", 25)) {
        step.arguments.push_back({"-d", std::nullopt});
    }
    if (target.base != image.backing || draws.chance("arg[-b]", 20)) {
        step.arguments.push_back({"-b", ImageValue{target.base}});
    }
    step.arguments.push_back({"", ImageValue{target.id}});
    return step;
}

std::vector<std::string> changes(const Case&, const Step& step, const CaseState& before) {
    const std::string id = image_of_step(step);
    const auto image = before.find(id);
    if (image == before.end()) {
        return {};
    }
    std::vector<std::string> ids{id};
    if (const std::string base = base_of(step, image->second); before.contains(base)) {
        ids.push_back(base);
    }
    return ids;
}

// What is compressed need not end with the image any more, so it is not compressed any more.
void lengthen(ImageRecipe& image, std::uint64_t size) {
    image.size = size;
    for (ContentWrite& write : image.content) {
        if (write.kind == WriteKind::compressed) {
            write.kind = WriteKind::write;
        }
    }
}

ImageRecipe& recipe_of(Case& c, const std::string& id) {
    return *std::ranges::find(c.images, id, &ImageRecipe::id);
}

// Gives the last image a way into its backing file: one that could not grow is made as long, and a
// qed image lies on nothing.
void open_a_way(Case& c) {
    const std::string id = c.images.back().id;
    ImageRecipe& base = recipe_of(c, *c.images.back().backing);
    if (obstacle(initial_state(c), id, base.id).empty()) {
        return;
    }
    lengthen(base, std::max(base.size, c.images.back().size));
    if (base.format == "qed") {
        base.backing.reset();
        c.images.erase(c.images.begin(), c.images.end() - 2);
    }
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "commit";
    StateWish wish;
    wish.image.formats = {{"qcow2", 1}};
    wish.image.backing_formats = {{"qcow2", 9}, {"raw", 4}, {"vmdk", 1},
                                  {"vpc", 1},   {"vdi", 1}, {"vhdx", 1}};
    wish.image.max_size = 16 * mib;
    wish.image.max_content = 1 * mib;
    wish.image.backing_percent = 100;
    wish.qed_percent = 5;
    draw_state_image(c, context, "src", wish);
    open_a_way(c);
    static constexpr Weighted<std::size_t> counts[] = {{1, 5}, {2, 3}, {3, 3}, {4, 2}};
    const std::size_t count = context.draws.pick("steps", counts);
    const unsigned weights[] = {1, has_qed(c) ? 0U : 1U};
    draw_steps(c, context, kinds(), weights, count);
    return c;
}

// Whether the only step commits a qcow2 image into its direct backing file, which is of a format
// of fixed sizes.
bool is_onto_fixed_size(const Case& c) {
    const Step& step = last_step(c);
    const ImageRecipe* image = find_image(c, image_of_step(step));
    return c.steps.size() == 1 && !has_option(step, "-b") && image->format == "qcow2" &&
           image->backing && !is_one_of(resizable, format_of(c, *image->backing));
}

void outgrow_base(Case& c, const Draws& draws) {
    ImageRecipe& image = recipe_of(c, image_of_step(last_step(c)));
    const std::uint64_t base = state_of(recipe_of(c, *image.backing)).own.size;
    lengthen(image, std::max(image.size, base) + draws.between("more", 1, 8) * mib);
}

std::vector<Rule> own_rules() {
    return {
        qed_write_rule(),
        text_rule<TargetCacheOption>("-t must be a cache mode"),
        text_rule<RateOption>("-r must be a number of bytes"),
        enforced_rule<"no-backing-file", kinds>("the image must have a backing file",
                                                [](Case& c, const Draws&) {
                                                    use_raw_image(c);
                                                    remove_option(last_step(c), "-b");
                                                }),
        enforced_rule<"base-not-in-chain", kinds>(
            "-b must name an image below",
            [](Case& c, const Draws& draws) {
                const std::string id = image_of_step(last_step(c));
                std::string base = id;
                if (draws.chance("absent", 40)) {
                    base = "absent";
                    c.outputs.push_back({base, std::string(format_of(c, id))});
                } else if (draws.chance("extra", 60)) {
                    ImageRecipe extra;
                    extra.id = base = "extra";
                    extra.format = "raw";
                    extra.size = 65536;
                    c.images.push_back(extra);
                }
                set_option(last_step(c), "-b", ImageValue{base});
            }),
        enforced_rule<"base-cannot-grow", kinds>(
            "the backing file must be as long as the image, or of a format that can grow",
            outgrow_base, is_onto_fixed_size),
        bounding_rule<"base-not-writable", kinds>(
            "the backing file is of a format that can be written to; qemu-img 7.2 cannot reopen "
            "parallels images for it"),
        bounding_rule<"qed-over-another", kinds>(
            "nothing goes into a qed image with a backing file: qemu-img 7.2 overwrites parts of "
            "clusters of zeros so that the rest shows the backing file"),
        bounding_rule<"parent-of-vmdk", kinds>(
            "nothing goes into the parent of a vmdk: qemu-img 5.2 to 10.0 give it a new content id "
            "and leave the child unreadable"),
        bounding_rule<"slow", kinds>("a low rate takes time, and so does a large image"),
    };
}

}  // namespace

const StepKind& commit_kind() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, {}},
        {"-q", ValueKind::none, {}},
        {"-p", ValueKind::none, {}},
        {"-t", ValueKind::word, cache_words},
        {"-r", ValueKind::size, {}},
        {"-d", ValueKind::none, {}},
        {"-b", ValueKind::image, {}},
        {"", ValueKind::image, {}, 1, 1},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const StepKind kind{"commit", "commit", Actor::tool, options, draw, apply, changes};
    return kind;
}

const Picker& commit_picker() {
    static const std::vector<Rule> rules = [] {
        std::vector<Rule> all = common_rules<kinds>();
        for (const std::vector<Rule>& more : {own_rules(), growth_rules<kinds>()}) {
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }();
    static const LeftOut left_out[] = {
        {"--object", "asks for a password"},
        {"--image-opts", "names protocols"},
    };
    static const Picker picker{"commit", "commit", draw_valid, commit_kind().options,
                               rules,    left_out, kinds()};
    return picker;
}

}  // namespace difffuzz
