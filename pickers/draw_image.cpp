#include "pickers/draw_image.hpp"

#include <algorithm>
#include <array>

#include "images/format.hpp"
#include "pickers/image_options.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;

enum class SizeClass { tiny, odd, near_unit, power, middle, huge };

std::uint64_t clamp_size(std::uint64_t size, std::uint64_t min, std::uint64_t max) {
    return std::clamp(size, min, max);
}

enum class FillClass { byte, random, repeat };

Fill draw_fill(const Draws& draws) {
    static constexpr Weighted<FillClass> kinds[] = {
        {FillClass::byte, 3}, {FillClass::random, 4}, {FillClass::repeat, 3}};
    switch (draws.pick("fill", kinds)) {
        case FillClass::byte:
            return ByteFill{static_cast<std::uint8_t>(draws.between("byte", 0, 255))};
        case FillClass::random:
            return RandomFill{draws.bits("seed")};
        case FillClass::repeat:
            return RepeatFill{draws.bits("seed"),
                              static_cast<std::uint32_t>(draws.between("period", 1, 64))};
    }
    return ByteFill{};
}

// The length of one write: mostly small, now and then larger than several units.
std::uint64_t draw_length(const Draws& draws, std::uint64_t unit) {
    static constexpr Weighted<unsigned> kinds[] = {{0, 3}, {1, 3}, {2, 2}, {3, 2}, {4, 1}};
    switch (draws.pick("length.kind", kinds)) {
        case 0:
            return draws.between("length", 1, 2 * kib);
        case 1: {
            static constexpr std::uint64_t plain[] = {512, 4 * kib, 64 * kib};
            return draws.pick("length", plain);
        }
        case 2:
            return draws.between("length", 1, 4) * std::min(unit, 64 * kib);
        case 3:
            return draws.between("length", 1, 128 * kib);
        default:
            return draws.between("length", 1, 1 * mib);
    }
}

// Where a write begins: at, just before or just after a unit boundary, at an end of the image, or
// anywhere.
std::uint64_t draw_offset(const Draws& draws, std::uint64_t size, std::uint64_t unit,
                          std::uint64_t length) {
    const std::uint64_t last = size - length;
    static constexpr Weighted<unsigned> kinds[] = {{0, 2}, {1, 2}, {2, 4}, {3, 2}, {4, 2}};
    switch (draws.pick("offset.kind", kinds)) {
        case 0:
            return 0;
        case 1:
            return last;
        case 2: {
            static constexpr std::int64_t nudges[] = {-513, -512, -1, 0, 0, 1, 511, 512, 513};
            const std::uint64_t base = draws.between("offset.unit", 0, last / unit) * unit;
            const std::int64_t moved =
                static_cast<std::int64_t>(base) + draws.pick("offset.nudge", nudges);
            return std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(moved, 0)), last);
        }
        case 3:
            return std::min(draws.between("offset", 0, last) & ~std::uint64_t{511}, last);
        default:
            return draws.between("offset", 0, last);
    }
}

// What a recipe's writes may reach: raw files end where they were asked to, the others at the end
// of that sector, however much larger they are.
std::uint64_t writable_bytes(const ImageRecipe& image, const Format& format) {
    return format.cluster_bytes(image) == 0 ? image.size : (image.size + 511) / 512 * 512;
}

}  // namespace

std::uint64_t draw_size(const Draws& draws, std::uint64_t unit, std::uint64_t min,
                        std::uint64_t max) {
    static constexpr Weighted<SizeClass> kinds[] = {
        {SizeClass::tiny, 8},   {SizeClass::odd, 20},    {SizeClass::near_unit, 25},
        {SizeClass::power, 25}, {SizeClass::middle, 18}, {SizeClass::huge, 4}};
    const std::uint64_t small = std::max(min, std::min(max, 64 * mib));
    switch (draws.pick("size.kind", kinds)) {
        case SizeClass::tiny:
            return clamp_size(draws.between("size", 1, 8 * kib), min, max);
        case SizeClass::odd:
            return clamp_size(draws.between("size", 1, 8 * mib), min, small);
        case SizeClass::near_unit: {
            static constexpr std::int64_t nudges[] = {-513, -512, -511, -1, 0, 1, 511, 512, 513};
            const std::uint64_t units =
                draws.between("size.units", 1, std::max<std::uint64_t>(1, 8 * mib / unit));
            const std::int64_t size =
                static_cast<std::int64_t>(units * unit) + draws.pick("size.nudge", nudges);
            return clamp_size(static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1)), min,
                              small);
        }
        case SizeClass::power:
            return clamp_size(std::uint64_t{1} << draws.between("size.power", 16, 26), min, small);
        case SizeClass::middle:
            return clamp_size(draws.between("size.sectors", 1, 64 * mib / 512) * 512, min, small);
        case SizeClass::huge: {
            if (max <= 4 * gib) {
                return clamp_size(max, min, max);
            }
            const std::uint64_t above = draws.between("size.above", 1, (max - 4 * gib) / 512);
            return clamp_size(4 * gib + above * 512, min, max);
        }
    }
    return min;
}

SizeValue draw_spelling(const Draws& draws, std::uint64_t bytes) {
    static constexpr unsigned kinds[] = {0, 1, 2, 3};
    switch (draws.pick("spelling", kinds)) {
        case 0:
            return plain_size(bytes);
        case 1:
            return suffixed_size(bytes);
        case 2:
            // Half units: exact for every multiple of 512.
            if (bytes % 1024 == 512) {
                return {bytes, std::to_string(bytes / 1024) + ".5k"};
            }
            return suffixed_size(bytes);
        default:
            return {bytes, std::to_string(bytes) + "b"};
    }
}

std::vector<ContentWrite> draw_content(const Draws& draws, std::uint64_t size, std::uint64_t unit,
                                       std::uint64_t max_content, bool compressed) {
    std::vector<ContentWrite> content;
    if (size == 0) {
        return content;
    }
    static constexpr Weighted<unsigned> counts[] = {{0, 1}, {1, 3}, {2, 4}, {3, 4},
                                                    {4, 2}, {6, 2}, {10, 1}};
    const unsigned count = draws.pick("writes", counts);
    std::uint64_t budget = max_content;
    for (unsigned i = 0; i < count; ++i) {
        const Draws write = draws.scope("write[" + std::to_string(i) + "]");
        ContentWrite next;
        static constexpr Weighted<WriteKind> kinds[] = {{WriteKind::write, 7},
                                                        {WriteKind::zero, 3}};
        static constexpr Weighted<WriteKind> kinds_compressed[] = {
            {WriteKind::write, 5}, {WriteKind::zero, 2}, {WriteKind::compressed, 2}};
        next.kind = compressed ? write.pick("kind", kinds_compressed) : write.pick("kind", kinds);
        next.length = std::min({draw_length(write, unit), size, budget});
        if (next.length == 0) {
            break;
        }
        if (next.kind == WriteKind::compressed) {
            // Compressing costs a hundred times what writing does: mostly little of it.
            if (unit > 128 * kib && !write.chance("compressed.large", 15)) {
                next.kind = WriteKind::write;
            }
            next.length = std::min(next.length, 32 * kib);
        }
        next.offset = draw_offset(write, size, unit, next.length);
        if (next.kind == WriteKind::compressed) {
            next.offset -= next.offset % unit;
            const std::uint64_t whole = (next.length + unit - 1) / unit * unit;
            next.length = std::min(whole, size - next.offset);
            if (next.length > budget) {
                continue;
            }
        }
        if (next.kind != WriteKind::zero) {
            next.fill = draw_fill(write);
        }
        budget -= next.length;
        content.push_back(next);
    }
    return content;
}

std::vector<Weighted<std::string_view>> every_format() {
    return {{"qcow2", 12}, {"raw", 6}, {"vmdk", 3}, {"vpc", 2},      {"vhdx", 2},
            {"vdi", 2},    {"qed", 2}, {"qcow", 1}, {"parallels", 1}};
}

ImageWish every_image() {
    ImageWish wish;
    wish.formats = every_format();
    wish.variety = ImageVariety::every;
    return wish;
}

std::string draw_image(Case& c, const PickContext& context, const std::string& id,
                       const ImageWish& wish) {
    const Draws draws = context.draws.scope("image[" + id + "]");
    std::vector<Weighted<std::string_view>> declared;
    for (const auto& format : wish.formats) {
        if (context.plan.has_format(format.value)) {
            declared.push_back(format);
        }
    }
    ImageRecipe image;
    image.id = id;
    image.format =
        std::string(draws.pick("format", std::span<const Weighted<std::string_view>>(declared)));
    const Format& format = *find_format(image.format);
    draw_image_options(image, draws, context.plan, wish.variety);
    const std::uint64_t cluster = format.cluster_bytes(image);
    const std::uint64_t unit = cluster == 0 ? 64 * kib : cluster;
    const std::uint64_t max_size =
        std::max(wish.min_size, std::min(wish.max_size, largest_cheap_size(image)));
    image.size = draw_size(draws, unit, wish.min_size, max_size);
    if (format.backing && draws.chance("backing", wish.backing_percent)) {
        ImageWish below = wish;
        if (!wish.backing_formats.empty()) {
            below.formats = wish.backing_formats;
        }
        if (image.format == "qed" || image.format == "qcow") {
            // Their backing file's format is guessed from its first bytes.
            below.formats = {{"qcow2", 3}, {"raw", 1}, {"qed", 1}};
        }
        below.backing_percent = wish.backing_percent / 2;
        below.max_content = wish.max_content / 2;
        const std::string base = id.size() > 12 ? id.substr(0, 12) : id;
        image.backing = draw_image(c, context, base + "_b", below);
    }
    image.content = draw_content(draws, writable_bytes(image, format), unit, wish.max_content,
                                 format.compression && wish.compressed);
    if (wish.variety == ImageVariety::every) {
        draw_image_features(image, draws);
        settle_features(image);
    }
    c.images.push_back(image);
    return id;
}

}  // namespace difffuzz
