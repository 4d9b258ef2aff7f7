#include "pickers/repair_damage.hpp"

#include <algorithm>

#include "images/format.hpp"
#include "pickers/step_kind.hpp"

namespace difffuzz {
namespace {

enum class Values {
    counts,   // of references, one byte of the number
    flags,    // the highest byte of an entry: bit 7 copied, bit 6 compressed
    entries,  // of tables: a place in the file with flags, or none
    bits,     // of a mask of features
};

// A field of qcow2 images that repairs are about.
struct Telling {
    std::string_view field;
    unsigned weight = 1;
    Values values = Values::entries;
    // Bits that a value has at most which leaves the data alone; 0: none does.
    std::uint64_t sparing_bits = 0;
};

constexpr std::uint64_t copied = std::uint64_t{1} << 63U;

constexpr Telling telling[] = {
    {"refcount_block.byte", 18, Values::counts, UINT64_MAX},
    {"refcount_table.entry", 2, Values::entries, UINT64_MAX},
    {"l2.flags", 6, Values::flags, 0x80},
    {"l1.flags", 3, Values::flags, 0x80},
    {"l2.entry", 4, Values::entries},
    {"l1.entry", 2, Values::entries},
    {"l2.compressed", 1, Values::entries},
    {"l2.subclusters", 1, Values::entries},
    {"snapshot_l1.entry", 2, Values::entries},
    {"snapshot.l1_offset", 1, Values::entries},
    {"bitmap_table.entry", 1, Values::entries},
    {"header.refcount_table_offset", 1, Values::entries, UINT64_MAX},
    {"header.refcount_table_clusters", 1, Values::counts, UINT64_MAX},
    {"header.snapshots", 1, Values::counts},
    {"header.incompatible", 1, Values::bits},
    {"header.compatible", 1, Values::bits, UINT64_MAX},
};

std::uint64_t draw_value(const Draws& draws, Values values, std::uint64_t cluster) {
    switch (values) {
        case Values::counts: {
            static constexpr std::uint64_t counts[] = {0, 0, 1, 2, 2, 3, 0x80, 0xff};
            return draws.chance("any", 20) ? draws.between("value", 0, 255)
                                           : draws.pick("value", counts);
        }
        case Values::flags: {
            static constexpr std::uint64_t flags[] = {0, 0, 0, 0x80, 0x80, 0x40, 0xc0, 1};
            return draws.pick("value", flags);
        }
        case Values::bits:
            return draws.chance("low", 70) ? draws.between("value", 0, 3)
                                           : std::uint64_t{1} << draws.between("value.bit", 0, 63);
        case Values::entries:
            break;
    }
    // Tables of small images lie in the first clusters, their data behind.
    const std::uint64_t place = draws.between("place", 1, draws.chance("near", 70) ? 12 : 400);
    static constexpr Weighted<int> kinds[] = {{0, 4}, {1, 5}, {2, 3}, {3, 1}, {4, 1}};
    switch (draws.pick("kind", kinds)) {
        case 0:
            return 0;
        case 1:
            return copied | place * cluster;
        case 2:
            return place * cluster;
        case 3:
            return copied | (place * cluster + 512);
        default:
            return 1;
    }
}

}  // namespace

bool damage_for_repair(Case& c, const Draws& draws) {
    const std::string id = c.steps.empty() ? std::string{} : image_of_step(c.steps.front());
    const auto image = std::ranges::find(c.images, id, &ImageRecipe::id);
    if (image == c.images.end() || image->format != "qcow2") {
        return false;
    }
    std::vector<Weighted<const Telling*>> fields;
    for (const Telling& field : telling) {
        fields.push_back({&field, field.weight});
    }
    const std::uint64_t cluster = find_format(image->format)->cluster_bytes(*image);
    static constexpr Weighted<unsigned> counts[] = {{1, 6}, {2, 3}, {3, 1}};
    const unsigned count = draws.pick("count", counts);
    for (unsigned i = 0; i < count; ++i) {
        const Draws one = draws.scope(std::to_string(i));
        const Telling& field =
            *one.pick("field", std::span<const Weighted<const Telling*>>(fields));
        // The first of a kind are the tables themselves.
        const std::uint64_t last = one.chance("early", 50) ? 15 : 4095;
        image->damage.push_back({std::string(field.field), one.between("index", 0, last),
                                 draw_value(one.scope("value"), field.values, cluster)});
    }
    mark_damaged(c);
    return true;
}

bool spares_data(const ImageRecipe& image) {
    return std::ranges::all_of(image.damage, [&](const Damage& damage) {
        const auto* field = std::ranges::find(telling, damage.field, &Telling::field);
        return image.format == "qcow2" && field != std::end(telling) && field->sparing_bits != 0 &&
               (damage.value & ~field->sparing_bits) == 0;
    });
}

}  // namespace difffuzz
