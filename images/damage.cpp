#include "images/damage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/cases/case.hpp"

namespace difffuzz {
namespace {

struct Change {
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
};

std::vector<std::byte> encode(std::uint64_t value, const DamageField& field) {
    std::vector<std::byte> bytes(field.bytes);
    for (unsigned i = 0; i < field.bytes; ++i) {
        const unsigned shift = 8 * (field.order == ByteOrder::big ? field.bytes - 1 - i : i);
        bytes[i] = static_cast<std::byte>(value >> shift);
    }
    return bytes;
}

std::optional<std::uint64_t> place_of(const DamageField& field, const File& file,
                                      std::uint64_t index) {
    if (field.places == nullptr) {
        return field.offset;
    }
    const std::vector<std::uint64_t> places = field.places(file);
    return places.empty() ? std::nullopt
                          : std::optional(places[static_cast<std::size_t>(index % places.size())]);
}

}  // namespace

const DamageField* find_field(std::span<const DamageField> fields, std::string_view name) {
    const auto found = std::ranges::find(fields, name, &DamageField::name);
    return found == fields.end() ? nullptr : &*found;
}

std::string broken_damage(const ImageRecipe& recipe, std::span<const DamageField> fields) {
    for (const Damage& damage : recipe.damage) {
        if (damage.field != damage_bytes && damage.field != damage_length &&
            find_field(fields, damage.field) == nullptr) {
            return fmt::format("image {}: format {} has no field '{}' to damage", recipe.id,
                               recipe.format, damage.field);
        }
    }
    return {};
}

void apply_damage(const ImageRecipe& recipe, std::span<const DamageField> fields,
                  void (*reseal)(const File& file), const std::string& directory) {
    if (recipe.damage.empty()) {
        return;
    }
    const File file = File::open_for_update(directory, file_name(recipe.id, recipe.format));
    const std::uint64_t size = file.size();
    std::vector<Change> changes;
    std::optional<std::uint64_t> length;
    for (const Damage& damage : recipe.damage) {
        if (damage.field == damage_length) {
            length = std::min(damage.value, length.value_or(size));
        } else if (damage.field == damage_bytes) {
            if (size != 0) {
                std::array<std::byte, 1> old{};
                file.read_at(damage.index % size, old);
                changes.push_back(
                    {damage.index % size, {old[0] ^ static_cast<std::byte>(damage.value)}});
            }
        } else if (const DamageField* field = find_field(fields, damage.field)) {
            const auto place = place_of(*field, file, damage.index);
            if (place && *place + field->bytes <= size) {
                changes.push_back({*place, encode(damage.value, *field)});
            }
        }
    }
    for (const Change& change : changes) {
        file.write_at(change.offset, change.bytes);
    }
    if (reseal != nullptr) {
        reseal(file);
    }
    if (length && *length < size) {
        file.resize(*length);
    }
}

}  // namespace difffuzz
