#include "pickers/damage.hpp"

#include <algorithm>

#include "images/format.hpp"

namespace difffuzz {
namespace {

// A value of `bits` bits where something may go wrong: limits, signs, places in the file's first
// units (tables that overlap or refer to themselves), places far behind its end, anything.
std::uint64_t draw_number(const Draws& draws, unsigned bits, std::uint64_t unit) {
    const std::uint64_t all = bits == 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
    static constexpr Weighted<int> kinds[] = {{0, 3}, {1, 2}, {2, 3}, {3, 2}, {4, 1}, {5, 2}};
    switch (draws.pick("kind", kinds)) {
        case 0: {
            const std::uint64_t limits[] = {0, 1, 2, all, all - 1, all >> 1U, (all >> 1U) + 1};
            return draws.pick("limit", limits);
        }
        case 1:
            return std::uint64_t{1} << draws.between("bit", 0, bits - 1);
        case 2:
            return unit * draws.between("place", 0, 12) & all;
        case 3: {
            const std::uint64_t flags[] = {0, std::uint64_t{1} << 63U, std::uint64_t{1} << 62U, 1};
            const std::uint64_t place = unit * draws.between("place", 1, 12);
            return (place | draws.pick("flag", flags)) & all;
        }
        case 4:
            // Behind the end of any file of ours.
            return (unit << draws.between("far", 20, 40)) & all;
        default:
            return draws.bits("any") & all;
    }
}

// `cluster` is what the image allocates in, bytes.
std::uint64_t draw_value(const Draws& draws, const DamageField& field, std::uint64_t cluster) {
    if (!field.words.empty()) {
        return draws.chance("word", 80) ? draws.between("which", 0, field.words.size() - 1)
                                        : draw_number(draws, 64, 512);
    }
    if (!field.telling.empty() && draws.chance("telling", 40)) {
        return draws.pick("meaning", field.telling);
    }
    // Pointers lead to clusters, and to the smaller tables before them.
    const std::uint64_t pointed = std::max<std::uint64_t>(field.pointer_unit, 1);
    const bool small = field.pointer_unit > 1 && draws.chance("small", 40);
    return draw_number(draws, 8 * field.bytes,
                       small ? 1 : std::max<std::uint64_t>(cluster / pointed, 1));
}

Damage draw_damage(const Draws& draws, const ImageRecipe& image) {
    const Format& format = *find_format(image.format);
    const std::uint64_t unit = std::max<std::uint64_t>(format.cluster_bytes(image), 512);
    const unsigned named = format.damage.fields.empty() ? 0 : 8;
    const Weighted<int> kinds[] = {{0, named}, {1, 1}, {2, 1}};
    Damage damage;
    switch (draws.pick("what", kinds)) {
        case 0: {
            const auto field = draws.between("field", 0, format.damage.fields.size() - 1);
            const DamageField& spoilt = format.damage.fields[static_cast<std::size_t>(field)];
            damage.field = spoilt.name;
            damage.index = draws.between("index", 0, 7);
            damage.value = draw_value(draws.scope("value"), spoilt, unit);
            break;
        }
        case 1:
            damage.field = damage_bytes;
            damage.index = draws.chance("early", 50) ? draws.between("index", 0, 4 * unit)
                                                     : draws.bits("index") >> 32U;
            damage.value = draws.between("flip", 1, 255);
            break;
        default: {
            damage.field = damage_length;
            const std::uint64_t lengths[] = {0,    1,        511,          512,
                                             unit, unit + 1, 3 * unit - 7, image.size / 2};
            damage.value = draws.pick("length", lengths);
            break;
        }
    }
    return damage;
}

}  // namespace

bool damage_case(Case& c, const Draws& draws) {
    if (c.images.empty()) {
        return false;
    }
    // The last image is the one that the others are there for.
    const std::size_t last = c.images.size() - 1;
    const std::size_t chosen =
        draws.chance("last", 70) ? last : static_cast<std::size_t>(draws.between("image", 0, last));
    ImageRecipe& image = c.images[chosen];
    static constexpr Weighted<unsigned> counts[] = {{1, 6}, {2, 2}, {3, 1}};
    const unsigned count = draws.pick("count", counts);
    for (unsigned i = 0; i < count; ++i) {
        image.damage.push_back(draw_damage(draws.scope(std::to_string(i)), image));
    }
    mark_damaged(c);
    return true;
}

void mark_damaged(Case& c) {
    for (Step& step : c.steps) {
        if (step.actor == Actor::tool) {
            step.intent = DamagedIntent{};
        }
    }
}

}  // namespace difffuzz
