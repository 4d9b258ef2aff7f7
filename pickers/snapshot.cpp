#include "pickers/snapshot.hpp"

#include <algorithm>
#include <array>

#include "images/format.hpp"
#include "pickers/byte_names.hpp"
#include "pickers/growth.hpp"
#include "pickers/io_steps.hpp"
#include "pickers/state_images.hpp"
#include "pickers/state_rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::size_t longest_name = 255;
constexpr std::size_t most_snapshots = 8;

constexpr std::array<std::string_view, 4> actions{"-l", "-a", "-c", "-d"};

StepKinds kinds() {
    static const StepKind* const all[] = {&snapshot_kind(), &write_kind(), &discard_kind()};
    return all;
}

std::size_t count_actions(const Step& step) {
    return static_cast<std::size_t>(
        std::ranges::count_if(step.arguments, [](const Argument& argument) {
            return std::ranges::find(actions, argument.option) != actions.end();
        }));
}

// The one action of a step; null when it has none.
const Argument* action_of(const Step& step) {
    const auto found = std::ranges::find_if(step.arguments, [](const Argument& argument) {
        return std::ranges::find(actions, argument.option) != actions.end();
    });
    return found == step.arguments.end() ? nullptr : &*found;
}

// What is never written to counts a reference for each snapshot and one for the image. Taking a
// snapshot adds one; going back to one does so too, before it takes that of the image away.
bool has_room(const Case& c, const std::string& id, const ImageState& image) {
    return refcounts_suffice(c, id, image.refcount_bits, image.snapshots.size() + 2);
}

bool can_have_snapshots(const ImageState& image) {
    return find_format(image.format)->snapshots && !image.data_file;
}

// What speaks against the step beside the name that it gives.
std::string_view obstacle(const Case& c, const Step& step, const CaseState& state) {
    if (const std::string_view rule = common_obstacle(c, step, state); !rule.empty()) {
        return rule;
    }
    if (count_actions(step) != 1) {
        return count_actions(step) == 0 ? "no-action" : "two-actions";
    }
    return has_option(step, "-U") && !has_option(step, "-l") ? "force-share-to-write"
                                                             : std::string_view{};
}

std::string_view take(const Case& c, const std::string& id, ImageState& image,
                      const std::string& name) {
    if (!can_have_snapshots(image)) {
        return "snapshots-unsupported";
    }
    if (name.size() > longest_name) {
        return "name-too-long";
    }
    if (!has_room(c, id, image)) {
        return "refcounts-too-narrow";
    }
    take_snapshot(image, name);
    return {};
}

std::string_view apply(const Case& c, const Step& step, CaseState& state) {
    if (const std::string_view rule = obstacle(c, step, state); !rule.empty()) {
        return rule;
    }
    const Argument& action = *action_of(step);
    if (action.option == "-l") {
        return {};
    }
    const std::string* name = action.value ? byte_name_in(*action.value) : nullptr;
    if (name == nullptr) {
        return "name-is-text";
    }
    const std::string id = image_of_step(step);
    ImageState& image = state.at(id);
    if (action.option == "-c") {
        return take(c, id, image, *name);
    }
    const bool goes = action.option == "-d";
    const SnapshotState* snapshot =
        goes ? find_snapshot_named(image, *name) : find_snapshot(image, *name);
    if (snapshot == nullptr) {
        return "no-such-snapshot";
    }
    if (!goes && !image.bitmaps.empty()) {
        return "apply-over-bitmaps";
    }
    if (!goes && !has_room(c, id, image)) {
        return "refcounts-too-narrow";
    }
    const std::uint64_t size = snapshot->own.size;
    if (!goes && size > image.own.size) {
        // It grows first; what it then shows does not matter.
        if (const std::string_view rule = resize_obstacle(state, image, size);
            !rule.empty() && rule != "stale-tail") {
            return rule;
        }
    }
    const SnapshotState copy = *snapshot;
    goes ? delete_snapshot(image, copy) : apply_snapshot(image, copy);
    return {};
}

std::string draw_image_id(const Draws& draws, const CaseState& state) {
    std::vector<std::string> ids = top_images(state);
    if (draws.chance("lower", 15)) {
        ids.clear();
        for (const auto& [id, image] : state) {
            ids.push_back(id);
        }
    }
    return draws.pick("image", std::span<const std::string>(ids));
}

std::string draw_action(const Draws& draws, const ImageState& image, bool room) {
    std::vector<Weighted<std::string_view>> left{{"-l", 2}};
    if (can_have_snapshots(image) && room && image.snapshots.size() < most_snapshots) {
        left.push_back({"-c", image.snapshots.empty() ? 12U : 5U});
    }
    if (!image.snapshots.empty()) {
        if (image.bitmaps.empty() && room) {
            left.push_back({"-a", 4});
        }
        left.push_back({"-d", 3});
    }
    return std::string(draws.pick("action", std::span<const Weighted<std::string_view>>(left)));
}

// A name that the image has, or mostly has not, to be given to a new snapshot.
std::string draw_new_name(const Draws& draws, const ImageState& image) {
    if (draws.chance("empty", 3)) {
        return {};
    }
    if (!image.snapshots.empty() && draws.chance("again", 15)) {
        return image.snapshots[draws.between("twin", 0, image.snapshots.size() - 1)].name;
    }
    return draw_snapshot_name(draws);
}

std::optional<Step> draw(Case& c, const PickContext& context, const CaseState& state) {
    const Draws& draws = context.draws;
    const std::string id = draw_image_id(draws, state);
    const ImageState& image = state.at(id);
    Step step{Actor::tool, "snapshot", "snapshot", ValidIntent{}, {}};
    if (draws.chance("arg[-q]", 10)) {
        step.arguments.push_back({"-q", std::nullopt});
    }
    const std::string action = draw_action(draws, image, has_room(c, id, image));
    if (action == "-l") {
        if (draws.chance("arg[-U]", 25)) {
            step.arguments.push_back({"-U", std::nullopt});
        }
        step.arguments.push_back({action, std::nullopt});
    } else if (action == "-c") {
        step.arguments.push_back({action, byte_name(draw_new_name(draws.scope("arg[-c]"), image))});
    } else {
        const SnapshotState& snapshot =
            image.snapshots[draws.between("snapshot", 0, image.snapshots.size() - 1)];
        const bool by_id = action == "-a" && draws.chance("by_id", 35);
        step.arguments.push_back({action, byte_name(by_id ? snapshot.id : snapshot.name)});
    }
    step.arguments.push_back({"", ImageValue{id}});
    return step;
}

std::vector<std::string> changes(const Case&, const Step& step, const CaseState&) {
    return has_option(step, "-l") ? std::vector<std::string>{} : std::vector{image_of_step(step)};
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "snapshot";
    StateWish wish;
    wish.image.formats = {{"qcow2", 30}, {"raw", 1}};
    wish.image.backing_formats = {{"qcow2", 5}, {"raw", 3}, {"vdi", 1}};
    wish.image.max_size = 64 * mib;
    wish.image.max_content = 2 * mib;
    wish.snapshots_percent = 45;
    wish.qed_percent = 4;
    draw_state_image(c, context, "src", wish);
    static constexpr Weighted<std::size_t> counts[] = {{1, 2}, {2, 2}, {3, 3}, {4, 3}, {5, 3}};
    const std::size_t count = context.draws.pick("steps", counts);
    const unsigned weights[] = {6, has_qed(c) ? 0U : 3U, 1};
    draw_steps(c, context, kinds(), weights, count);
    return c;
}

// Puts one action, with a value or without, in place of the last step's.
void set_action(Case& c, std::string_view action, std::optional<Value> value) {
    Step& step = last_step(c);
    for (const std::string_view other : actions) {
        remove_option(step, other);
    }
    remove_option(step, "-U");
    step.arguments.insert(step.arguments.begin(), {std::string(action), std::move(value)});
}

void break_name(Case& c, const Draws& draws) {
    static constexpr std::string_view names[] = {"no such snapshot", "99", "-1", "one\n", "ONE"};
    const std::string name(draws.pick("name", names));
    set_action(c, draws.chance("delete", 50) ? "-d" : "-a", byte_name(name));
}

// An id is no name for -d. Applicable where no snapshot is called so.
void break_id(Case& c, const Draws&) {
    const CaseState state = state_before(c, kinds(), c.steps.size() - 1);
    set_action(c, "-d", byte_name(state.at(image_of_step(last_step(c))).snapshots.front().id));
}

// The image recipe of the last step's image.
ImageRecipe* recipe_of_last(Case& c) {
    const auto recipe = std::ranges::find(c.images, image_of_step(last_step(c)), &ImageRecipe::id);
    return recipe == c.images.end() ? nullptr : &*recipe;
}

// Whether the case is one step on an image that has snapshots and can have bitmaps, too.
bool can_have_bitmap(const Case& c) {
    const ImageRecipe* recipe = find_image(c, image_of_step(last_step(c)));
    if (c.steps.size() != 1 || recipe == nullptr || recipe->snapshots.empty()) {
        return false;
    }
    ImageRecipe with = *recipe;
    with.bitmaps = {{"b", 65536, true, {}}};
    return find_format(with.format)->validate(with).empty();
}

bool has_id_that_is_no_name(const Case& c) {
    const CaseState state = state_before(c, kinds(), c.steps.size() - 1);
    const ImageState& image = state.at(image_of_step(last_step(c)));
    return !image.snapshots.empty() &&
           find_snapshot_named(image, image.snapshots.front().id) == nullptr;
}

}  // namespace

const StepKind& snapshot_kind() {
    static const OptionSpec options[] = {
        {"-l", ValueKind::none, {}},      {"-a", ValueKind::any, {}},
        {"-c", ValueKind::any, {}},       {"-d", ValueKind::any, {}},
        {"-q", ValueKind::none, {}},      {"-U", ValueKind::none, {}},
        {"", ValueKind::image, {}, 1, 1}, {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const StepKind kind{"snapshot", "snapshot", Actor::tool, options,
                               draw,       apply,      changes,     false};
    return kind;
}

const Picker& snapshot_picker() {
    static const Rule rules[] = {
        unknown_option_rule(),
        no_file_rule(),
        two_files_rule(),
        known_images_rule(),
        missing_file_rule(),
        qed_write_rule(),
        enforced_rule<"two-actions", kinds>("one of -l, -a, -c and -d may be given",
                                            [](Case& c, const Draws& draws) {
                                                Argument more{"-c", WordValue{"more"}};
                                                if (draws.chance("list", 40)) {
                                                    more = {"-l", std::nullopt};
                                                }
                                                last_step(c).arguments.insert(
                                                    last_step(c).arguments.begin(), more);
                                            }),
        enforced_rule<"no-such-snapshot", kinds>(
            "-a takes the id or the name of a snapshot that there is, -d the name",
            [](Case& c, const Draws& draws) {
                if (has_id_that_is_no_name(c) && draws.chance("id", 40)) {
                    break_id(c, draws);
                } else {
                    break_name(c, draws);
                }
            }),
        enforced_rule<"snapshots-unsupported", kinds>("only some formats have snapshots",
                                                      [](Case& c, const Draws&) {
                                                          set_action(c, "-c", WordValue{"one"});
                                                          use_raw_image(c);
                                                      }),
        enforced_rule<"apply-over-bitmaps", kinds>(
            "no snapshot is applied to an image with bitmaps",
            [](Case& c, const Draws&) {
                ImageRecipe& recipe = *recipe_of_last(c);
                recipe.bitmaps = {{"b", 65536, true, {}}};
                set_action(c, "-a", byte_name(recipe.snapshots.front().name));
            },
            can_have_bitmap),
        enforced_rule<"force-share-to-write", kinds>(
            "-U goes with -l only", [](Case& c, const Draws&) { add_flag(last_step(c), "-U"); },
            [](const Case& c) { return !has_option(last_step(c), "-l"); }),
        bounding_rule<"no-action", kinds>(
            "an action is given: without one, qemu-img 5.2 and 7.2 do nothing, and 10.0 lists"),
        bounding_rule<"name-is-text", kinds>("a snapshot's name is text"),
        bounding_rule<"name-too-long", kinds>(
            "a name has at most 255 bytes; qemu-img cuts longer ones"),
        bounding_rule<"refcounts-too-narrow", kinds>(
            "refcounts can count all snapshots; qemu-img 5.2 to 10.0 fail where they cannot, and "
            "leave a leak"),
    };
    static const LeftOut left_out[] = {
        {"--object", "asks for a password"},
        {"--image-opts", "names protocols"},
    };
    static const Picker picker{"snapshot", "snapshot", draw_valid, snapshot_kind().options,
                               rules,      left_out,   kinds()};
    return picker;
}

}  // namespace difffuzz
