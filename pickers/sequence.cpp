#include "pickers/sequence.hpp"

#include <array>

#include "pickers/amend.hpp"
#include "pickers/bitmap.hpp"
#include "pickers/bitmap_images.hpp"
#include "pickers/commit.hpp"
#include "pickers/io_steps.hpp"
#include "pickers/making_steps.hpp"
#include "pickers/rebase.hpp"
#include "pickers/resize.hpp"
#include "pickers/rules.hpp"
#include "pickers/snapshot.hpp"
#include "pickers/state_images.hpp"

namespace difffuzz {
namespace {

// What images grow to, bytes: later steps make tables for all of it, of the smallest clusters too.
constexpr std::uint64_t largest_size = std::uint64_t{8} << 30;

std::string_view apply_resize(const Case& c, const Step& step, CaseState& state) {
    CaseState after = state;
    const std::string_view rule = resize_kind().apply(c, step, after);
    if (!rule.empty()) {
        return rule;
    }
    if (after.at(image_of_step(step)).own.size > largest_size) {
        return "step-not-possible";
    }
    state = std::move(after);
    return {};
}

const StepKind& bounded_resize_kind() {
    static const StepKind kind = [] {
        StepKind bounded = resize_kind();
        bounded.apply = apply_resize;
        return bounded;
    }();
    return kind;
}

StepKinds kinds() {
    static const StepKind* const all[] = {
        &write_kind(), &discard_kind(), &bounded_resize_kind(), &snapshot_kind(), &bitmap_kind(),
        &amend_kind(), &commit_kind(),  &overlay_kind(),        &copy_kind(),
    };
    return all;
}
constexpr std::array<unsigned, 10> weights{8, 3, 4, 5, 3, 3, 3, 3, 2, 1};

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "sequence";
    StateWish wish;
    wish.image.formats = {{"qcow2", 1}};
    wish.image.backing_formats = {{"qcow2", 3}, {"raw", 2}};
    wish.image.min_size = 4096;
    wish.image.max_size = std::uint64_t{16} << 20;
    wish.image.max_content = std::uint64_t{256} << 10;
    wish.image.backing_percent = 60;
    draw_state_image(c, context, "src", wish);
    if (context.draws.chance("other", 30)) {
        // For rebase, and to merge bitmaps from where it is of one size.
        if (context.draws.chance("other.same_size", 50)) {
            wish.image.min_size = find_image(c, "src")->size;
            wish.image.max_size = wish.image.min_size;
        }
        wish.image.backing_percent = 20;
        draw_state_image(c, context, "other", wish);
    }
    for (ImageRecipe& image : c.images) {
        draw_bitmaps(context.draws.scope("image[" + image.id + "].bitmaps"), 15, image);
    }
    draw_steps(c, context, kinds(), weights,
               static_cast<std::size_t>(context.draws.between("steps", 2, 12)));
    return c;
}

bool breaks_a_rule(const Case& c) {
    return !has_option(last_step(c), unknown_option) && !rule_of_last_step(c, kinds()).empty();
}

}  // namespace

const Picker& sequence_picker() {
    static const Rule rules[] = {
        unknown_option_rule(),
        {"step-not-possible", false,
         "every step does what the images allow at that point; what they forbid is drawn by the "
         "operation that the step is of",
         breaks_a_rule},
    };
    static const Picker picker{"sequence", "", draw_valid, {}, rules, {}, kinds()};
    return picker;
}

}  // namespace difffuzz
