#include "pickers/state_images.hpp"

#include <algorithm>
#include <array>

#include "images/format.hpp"

namespace difffuzz {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::size_t longest_name = 255;

// Puts `changed` in place of the image if the format takes it.
void try_instead(ImageRecipe& image, ImageRecipe changed) {
    const Format* format = find_format(changed.format);
    if (format != nullptr && format->validate(changed).empty()) {
        image = std::move(changed);
    }
}

ImageRecipe with(const ImageRecipe& image, std::string name, Scalar value) {
    ImageRecipe changed = image;
    changed.options.push_back({std::move(name), std::move(value)});
    return changed;
}

void draw_features(const Draws& draws, const StateWish& wish, ImageRecipe& image) {
    if (draws.chance("compat", wish.version_2_percent)) {
        static constexpr std::string_view words[] = {"0.10", "v2"};
        try_instead(
            image, with(image, "compat", WordValue{std::string(draws.pick("compat.word", words))}));
    } else if (draws.chance("refcount_bits", wish.refcount_bits_percent)) {
        const auto bits = std::int64_t{1} << draws.between("refcount_bits.log", 0, 6);
        try_instead(image, with(image, "refcount_bits", NumberValue{bits}));
    }
    if (draws.chance("extended_l2", wish.extended_l2_percent)) {
        try_instead(image, with(image, "extended_l2", WordValue{"on"}));
    }
    if (!draws.chance("snapshots", wish.snapshots_percent)) {
        return;
    }
    ImageRecipe changed = image;
    const std::uint64_t count = draws.between("snapshots.count", 1, 3);
    std::uint64_t after = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const Draws one = draws.scope("snapshot[" + std::to_string(i) + "]");
        after = one.between("after", after, image.content.size());
        changed.snapshots.push_back({draw_snapshot_name(one), static_cast<std::uint32_t>(after)});
    }
    try_instead(image, std::move(changed));
}

// The same image as qed: of its backing files it records raw ones as such and probes the rest.
void make_qed(ImageRecipe& image) {
    ImageRecipe changed = image;
    changed.format = "qed";
    changed.options.clear();
    std::erase_if(changed.content,
                  [](const ContentWrite& write) { return write.kind == WriteKind::compressed; });
    try_instead(image, std::move(changed));
}

}  // namespace

std::string draw_state_image(Case& c, const PickContext& context, const std::string& id,
                             const StateWish& wish) {
    const std::size_t before = c.images.size();
    std::string drawn = draw_image(c, context, id, wish.image);
    for (std::size_t i = before; i < c.images.size(); ++i) {
        ImageRecipe& image = c.images[i];
        if (image.format != "qcow2") {
            continue;
        }
        const Draws draws = context.draws.scope("image[" + image.id + "].state");
        if (context.plan.has_format("qed") && draws.chance("qed", wish.qed_percent)) {
            make_qed(image);
        } else {
            draw_features(draws, wish, image);
        }
    }
    return drawn;
}

bool refcounts_suffice(const Case& c, const std::string& image, unsigned bits,
                       std::size_t references) {
    constexpr unsigned plenty = 16;
    if (bits >= plenty) {
        return true;
    }
    const ImageRecipe* recipe = find_image(c, image);
    const bool compressed =
        recipe != nullptr && std::ranges::find(recipe->content, WriteKind::compressed,
                                               &ContentWrite::kind) != recipe->content.end();
    return !compressed && references < std::size_t{1} << bits;
}

std::string draw_snapshot_name(const Draws& draws) {
    static constexpr std::array<std::string_view, 5> plain{"one", "two", "before", "s1", "snap.2"};
    static constexpr std::array<std::string_view, 5> numbers{"1", "2", "3", "10", "0"};
    static constexpr std::array<std::string_view, 6> odd{"two words",     " ",     "-l",
                                                         "snapshot.id=1", "a,b=c", "2026-01-01"};
    static constexpr std::array<std::string_view, 3> foreign{
        "\xc3\xbc\x62\x65r", "\xe5\xbf\xab\xe7\x85\xa7", "\xff\xfe\x80"};
    static constexpr Weighted<int> kinds[] = {{0, 5}, {1, 4}, {2, 3}, {3, 2}, {4, 1}};
    switch (draws.pick("name.kind", kinds)) {
        case 0:
            return std::string(draws.pick("name", Names(plain)));
        case 1:
            return std::string(draws.pick("name", Names(numbers)));
        case 2:
            return std::string(draws.pick("name", Names(odd)));
        case 3:
            return std::string(draws.pick("name", Names(foreign)));
        default:
            return std::string(longest_name, draws.chance("name.y", 50) ? 'x' : 'y');
    }
}

}  // namespace difffuzz
