// Random image recipes for property tests.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "core/cases/case.hpp"
#include "images/bytes.hpp"

namespace difffuzz::test {

// Full range whatever the property's size parameter.
inline std::uint64_t draw(std::uint64_t low, std::uint64_t high) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(low, high + 1));
}

inline bool chance(unsigned percent) { return draw(0, 99) >= 100 - percent; }

template <typename T>
T one_of(std::vector<T> values) {
    return values[draw(0, values.size() - 1)];
}

inline Fill draw_fill() {
    switch (draw(0, 3)) {
        case 0:
            return ByteFill{static_cast<std::uint8_t>(draw(0, 255))};
        case 1:
            return RandomFill{draw(0, 1000)};
        case 2:
            return RepeatFill{draw(0, 1000), static_cast<std::uint32_t>(draw(1, 4096))};
        default:
            return ByteFill{0};
    }
}

inline std::string word_of(const ImageRecipe& recipe, const std::string& name) {
    for (const FormatOption& option : recipe.options) {
        if (const auto* word = std::get_if<WordValue>(&option.value);
            word != nullptr && option.name == name) {
            return word->text;
        }
    }
    return {};
}

inline bool is_version_2(const ImageRecipe& recipe) { return word_of(recipe, "compat") == "0.10"; }

inline std::vector<WriteKind> kinds_of(const ImageRecipe& recipe) {
    std::vector<WriteKind> kinds{WriteKind::write, WriteKind::write, WriteKind::zero};
    if (recipe.format == "qcow2" && word_of(recipe, "data_file").empty()) {
        kinds.push_back(WriteKind::compressed);
    }
    if (recipe.format == "qcow2" && !(is_version_2(recipe) && recipe.backing)) {
        kinds.push_back(WriteKind::unmap);
    }
    return kinds;
}

// Hugs the borders of `unit`, or not. `limit` is at least 1.
inline ContentWrite draw_write(const ImageRecipe& recipe, std::uint64_t limit, std::uint64_t unit) {
    ContentWrite write;
    write.kind = one_of(kinds_of(recipe));
    write.fill = draw_fill();
    const std::uint64_t border = draw(0, limit / unit) * unit;
    const std::uint64_t shift = one_of<std::uint64_t>({0, 0, 1, 511, 512, 513, draw(0, unit)});
    write.offset =
        std::min(chance(50) ? border + shift : border - std::min(border, shift), limit - 1);
    write.length = one_of<std::uint64_t>(
        {1, 511, 512, 513, unit, unit * 2, unit + 1, unit * 2 - 1, limit, draw(1, 100'000)});
    const bool allocates = has_data(write.kind) || is_version_2(recipe);
    write.length = std::min(write.length,
                            allocates ? std::max<std::uint64_t>(unit * 2, 200'000) : unit * 5000);
    if (write.kind == WriteKind::compressed || write.kind == WriteKind::unmap) {
        write.offset = write.offset / unit * unit;
        write.length = round_up(write.length, unit);
    }
    write.length = std::min(write.length, limit - write.offset);
    return write;
}

inline void draw_content(ImageRecipe& recipe, std::uint64_t unit, std::uint64_t limit) {
    const std::uint64_t writes = limit == 0 ? 0 : draw(0, 8);
    for (std::uint64_t i = 0; i < writes; ++i) {
        recipe.content.push_back(draw_write(recipe, limit, unit));
    }
}

inline std::uint64_t draw_size(std::uint64_t unit) {
    switch (draw(0, 9)) {
        case 0:
            return draw(0, 2000);
        case 1:
            return draw(std::uint64_t{4} << 30, std::uint64_t{5} << 30);
        case 2:
            return draw(1, 64) << 20;
        case 3:
            return draw(0, 64 << 20);
        default:
            return draw(0, 40) * unit + one_of<std::uint64_t>({0, 1, 511, 512, draw(0, unit)});
    }
}

inline ImageRecipe draw_raw(std::string id) {
    ImageRecipe recipe;
    recipe.id = std::move(id);
    recipe.format = "raw";
    recipe.size = draw_size(65536);
    draw_content(recipe, 4096, recipe.size);
    return recipe;
}

// Bytes that need not be text; `index` keeps them apart.
inline std::string draw_name(std::uint64_t index) {
    return one_of<std::string>(
               {"s", "two words", "n\xc3\xa4me", "\xff\xfe", "\"{,=", std::string(250, 'x')}) +
           std::to_string(index);
}

inline void draw_qcow2_options(ImageRecipe& recipe) {
    const auto add = [&](const char* name, Scalar value) {
        recipe.options.push_back({name, std::move(value)});
    };
    const auto on_or_off = [] { return WordValue{one_of<std::string>({"on", "off"})}; };
    if (chance(20)) {
        add("compat", WordValue{"0.10"});
        return;
    }
    if (chance(30)) {
        add("lazy_refcounts", on_or_off());
    }
    if (chance(40)) {
        add("compression_type", WordValue{one_of<std::string>({"zlib", "zstd"})});
    }
    if (chance(10)) {
        add("compat", WordValue{"1.1"});
    }
    if (chance(40)) {
        add("refcount_bits", NumberValue{std::int64_t{1} << draw(0, 6)});
    }
    if (chance(15)) {
        add("data_file", WordValue{recipe.id + ".data"});
        add("data_file_raw", recipe.backing ? WordValue{"off"} : on_or_off());
    }
}

inline std::uint64_t refcount_bits_of(const ImageRecipe& recipe) {
    const auto option = std::ranges::find(recipe.options, "refcount_bits", &FormatOption::name);
    return option == recipe.options.end()
               ? 16
               : static_cast<std::uint64_t>(std::get<NumberValue>(option->value).value);
}

inline void draw_snapshots(ImageRecipe& recipe) {
    const std::uint64_t bits = refcount_bits_of(recipe);
    const std::uint64_t most = bits == 1 ? 0 : bits == 2 ? 2 : bits == 4 ? 14 : 16;
    if (most == 0 || !word_of(recipe, "data_file").empty() || chance(60)) {
        return;
    }
    const std::uint64_t snapshots = draw(1, chance(80) ? std::min<std::uint64_t>(most, 3) : most);
    std::vector<std::uint32_t> after;
    for (std::uint64_t i = 0; i < snapshots; ++i) {
        after.push_back(static_cast<std::uint32_t>(draw(0, recipe.content.size())));
    }
    std::ranges::sort(after);
    for (const std::uint32_t position : after) {
        recipe.snapshots.push_back({draw_name(recipe.snapshots.size()), position});
    }
}

inline void draw_bitmaps(ImageRecipe& recipe) {
    const bool none = is_version_2(recipe) || recipe.size == 0 || chance(70);
    const std::uint64_t bitmaps = none ? 0 : draw(1, 3);
    for (std::uint64_t i = 0; i < bitmaps; ++i) {
        BitmapRecipe bitmap{
            draw_name(i), std::uint64_t{1} << draw(9, chance(80) ? 17 : 31), chance(60), {}};
        const std::uint64_t ranges = draw(0, 3);
        for (std::uint64_t range = 0; range < ranges; ++range) {
            const std::uint64_t offset = draw(0, recipe.size - 1);
            const std::uint64_t length =
                one_of<std::uint64_t>({1, 65536, recipe.size, draw(1, recipe.size)});
            bitmap.dirty.push_back({offset, std::min(length, recipe.size - offset)});
        }
        recipe.bitmaps.push_back(std::move(bitmap));
    }
}

// On top of `backing`, if there is one. The size stays below `max_size`.
inline ImageRecipe draw_qcow2(std::string id, std::optional<std::string> backing = {},
                              std::uint64_t max_size = std::uint64_t{8} << 30) {
    ImageRecipe recipe;
    recipe.id = std::move(id);
    recipe.format = "qcow2";
    recipe.backing = std::move(backing);
    draw_qcow2_options(recipe);
    const bool extended = !is_version_2(recipe) && chance(20);
    // Large clusters take long to compress.
    const std::uint64_t cluster = std::uint64_t{1}
                                  << (chance(80) ? draw(extended ? 14 : 9, 16) : draw(17, 21));
    if (extended) {
        recipe.options.push_back({"extended_l2", WordValue{"on"}});
    }
    if (cluster != 65536 || chance(50)) {
        recipe.options.push_back({"cluster_size", plain_size(cluster)});
    }
    recipe.size = draw_size(cluster) % max_size;
    draw_content(recipe, cluster, round_up(recipe.size, 512));
    draw_snapshots(recipe);
    draw_bitmaps(recipe);
    return recipe;
}

// One to three images, each on top of the one before; the last one is qcow2.
inline Case draw_chain(std::uint64_t max_size = std::uint64_t{8} << 30) {
    Case c;
    const std::uint64_t below = chance(50) ? 0 : draw(1, 2);
    for (std::uint64_t i = 0; i <= below; ++i) {
        const std::string id = i == below ? "top" : "base" + std::to_string(i);
        const auto backing = i == 0 ? std::nullopt : std::optional(c.images.back().id);
        const bool raw = i == 0 && below != 0 && chance(50);
        c.images.push_back(raw ? draw_raw(id) : draw_qcow2(id, backing, max_size));
    }
    return c;
}

inline std::string describe(const Case& c) {
    std::ostringstream out;
    for (const ImageRecipe& image : c.images) {
        out << image.id << " " << image.format << " size " << image.size;
        for (const FormatOption& option : image.options) {
            out << " " << option.name;
            if (const auto* size = std::get_if<SizeValue>(&option.value)) {
                out << "=" << size->bytes;
            } else if (const auto* word = std::get_if<WordValue>(&option.value)) {
                out << "=" << word->text;
            } else if (const auto* number = std::get_if<NumberValue>(&option.value)) {
                out << "=" << number->value;
            }
        }
        for (const ContentWrite& write : image.content) {
            out << "\n    kind " << static_cast<int>(write.kind) << " at " << write.offset << " + "
                << write.length << " fill " << write.fill.index();
        }
        for (const SnapshotRecipe& snapshot : image.snapshots) {
            out << "\n    snapshot after " << snapshot.after;
        }
        for (const BitmapRecipe& bitmap : image.bitmaps) {
            out << "\n    bitmap of " << bitmap.granularity;
            for (const ByteRange& range : bitmap.dirty) {
                out << ", " << range.offset << " + " << range.length;
            }
        }
        out << "\n";
    }
    return out.str();
}

// As rc::check, `count` times; `property` takes nothing.
template <typename Property>
void check_many(const std::string& description, int count, Property&& property) {
    rc::detail::TestMetadata metadata;
    metadata.id = description;
    metadata.description = description;
    rc::detail::TestParams params = rc::detail::configuration().testParams;
    params.maxSuccess = count;
    const auto result =
        rc::detail::checkTestable(std::forward<Property>(property), metadata, params);
    std::ostringstream message;
    rc::detail::printResultMessage(result, message);
    EXPECT_TRUE(result.template is<rc::detail::SuccessResult>()) << message.str();
}

}  // namespace difffuzz::test
