// Random image recipes for property tests.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
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

// Hugs the borders of `unit`, or not. `limit` is at least 1.
inline ContentWrite draw_write(std::uint64_t limit, std::uint64_t unit, bool may_compress) {
    ContentWrite write;
    write.kind = one_of<WriteKind>({WriteKind::write, WriteKind::write, WriteKind::zero,
                                    may_compress ? WriteKind::compressed : WriteKind::write});
    write.fill = draw_fill();
    const std::uint64_t border = draw(0, limit / unit) * unit;
    const std::uint64_t shift = one_of<std::uint64_t>({0, 0, 1, 511, 512, 513, draw(0, unit)});
    write.offset =
        std::min(chance(50) ? border + shift : border - std::min(border, shift), limit - 1);
    write.length = one_of<std::uint64_t>(
        {1, 511, 512, 513, unit, unit * 2, unit + 1, unit * 2 - 1, limit, draw(1, 100'000)});
    if (write.kind != WriteKind::zero) {
        write.length = std::min(write.length, std::max<std::uint64_t>(unit * 2, 200'000));
    }
    if (write.kind == WriteKind::compressed) {
        write.offset = write.offset / unit * unit;
        write.length = round_up(write.length, unit);
    }
    if (write.kind == WriteKind::zero) {
        write.length = std::min(write.length, unit * 5000);
    }
    write.length = std::min(write.length, limit - write.offset);
    return write;
}

inline void draw_content(ImageRecipe& recipe, std::uint64_t unit, std::uint64_t limit) {
    const std::uint64_t writes = limit == 0 ? 0 : draw(0, 8);
    for (std::uint64_t i = 0; i < writes; ++i) {
        recipe.content.push_back(draw_write(limit, unit, recipe.format == "qcow2"));
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

inline ImageRecipe draw_qcow2(std::string id) {
    ImageRecipe recipe;
    recipe.id = std::move(id);
    recipe.format = "qcow2";
    // Large clusters take long to compress.
    const std::uint64_t cluster = std::uint64_t{1} << (chance(80) ? draw(9, 16) : draw(17, 21));
    if (cluster != 65536 || chance(50)) {
        recipe.options.push_back({"cluster_size", plain_size(cluster)});
    }
    if (chance(30)) {
        recipe.options.push_back({"lazy_refcounts", WordValue{one_of<std::string>({"on", "off"})}});
    }
    if (chance(40)) {
        recipe.options.push_back(
            {"compression_type", WordValue{one_of<std::string>({"zlib", "zstd"})}});
    }
    if (chance(10)) {
        recipe.options.push_back({"refcount_bits", NumberValue{16}});
        recipe.options.push_back({"compat", WordValue{"1.1"}});
    }
    recipe.size = draw_size(cluster);
    draw_content(recipe, cluster, round_up(recipe.size, 512));
    return recipe;
}

// One to three images, each on top of the one before; the last one is qcow2.
inline Case draw_chain() {
    Case c;
    const std::uint64_t below = chance(50) ? 0 : draw(1, 2);
    for (std::uint64_t i = 0; i < below; ++i) {
        const std::string id = "base" + std::to_string(i);
        c.images.push_back(i == 0 && chance(50) ? draw_raw(id) : draw_qcow2(id));
    }
    c.images.push_back(draw_qcow2("top"));
    for (std::size_t i = 1; i < c.images.size(); ++i) {
        c.images[i].backing = c.images[i - 1].id;
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
            }
        }
        for (const ContentWrite& write : image.content) {
            out << "\n    kind " << static_cast<int>(write.kind) << " at " << write.offset << " + "
                << write.length << " fill " << write.fill.index();
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
