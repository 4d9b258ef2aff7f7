#include "images/damage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "core/cases/case.hpp"

namespace difffuzz {
namespace {

// More than a descriptor has.
constexpr std::size_t max_text = 65536;

struct Change {
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
};

struct Plan {
    std::vector<Change> numbers;
    std::vector<Change> checksums;
    std::map<std::uint64_t, std::string, std::greater<>> texts;  // by offset
    bool reseal = false;
    std::optional<std::uint64_t> length;
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

// The file's bytes from `offset` up to a NUL.
std::string text_at(const File& file, std::uint64_t offset) {
    std::string text(max_text, '\0');
    text.resize(file.read_at(offset, std::as_writable_bytes(std::span(text))));
    return text.substr(0, text.find('\0'));
}

void replace_text(const File& file, std::uint64_t offset, const std::string& with) {
    std::string text = text_at(file, offset);
    const std::size_t old_bytes = text.size();
    text.replace(0, std::min(text.find_first_of(" \t\r\n\""), text.size()), with);
    // What is left of a text that became shorter.
    text.resize(std::max(text.size(), old_bytes), '\0');
    file.write_at(offset, std::as_bytes(std::span(text)));
}

void plan_field(Plan& plan, const DamageField& field, const Damage& damage, const File& file) {
    const auto place = place_of(field, file, damage.index);
    if (!place || *place + field.bytes > file.size()) {
        return;
    }
    if (!field.words.empty()) {
        plan.texts[*place] = damage.value < field.words.size()
                                 ? std::string(field.words[static_cast<std::size_t>(damage.value)])
                                 : std::to_string(damage.value);
    } else {
        (field.checksum ? plan.checksums : plan.numbers)
            .push_back({*place, encode(damage.value, field)});
    }
    plan.reseal |= !field.checksum;
}

void plan_flip(Plan& plan, const Damage& damage, const File& file) {
    if (const std::uint64_t size = file.size(); size != 0) {
        std::array<std::byte, 1> old{};
        file.read_at(damage.index % size, old);
        plan.numbers.push_back(
            {damage.index % size, {old[0] ^ static_cast<std::byte>(damage.value)}});
    }
}

bool is_blind(const Damage& damage) {
    return damage.field == damage_bytes || damage.field == damage_length;
}

}  // namespace

const DamageField* find_field(std::span<const DamageField> fields, std::string_view name) {
    const auto found = std::ranges::find(fields, name, &DamageField::name);
    return found == fields.end() ? nullptr : &*found;
}

std::string broken_damage(const ImageRecipe& recipe, std::span<const DamageField> fields) {
    for (const Damage& damage : recipe.damage) {
        if (!is_blind(damage) && find_field(fields, damage.field) == nullptr) {
            return fmt::format("image {}: format {} has no field '{}' to damage", recipe.id,
                               recipe.format, damage.field);
        }
    }
    return {};
}

bool points_past_end(const ImageRecipe& recipe, std::span<const DamageField> fields) {
    // Metadata takes less than the other half, and that.
    constexpr std::uint64_t slack = std::uint64_t{64} << 20;
    const std::uint64_t most = 2 * std::min(recipe.size, UINT64_MAX / 4) + slack;
    const auto far = [&](const Damage& damage) {
        const DamageField* field = find_field(fields, damage.field);
        if (field == nullptr || field->pointer_unit == 0) {
            return false;
        }
        const std::uint64_t all =
            field->bytes == 8 ? UINT64_MAX : (std::uint64_t{1} << 8 * field->bytes) - 1;
        const std::uint64_t value = damage.value & all;
        // The highest values say that there is nothing.
        return value < all - 1 && (value & field->pointer_bits) > most / field->pointer_unit;
    };
    return !recipe.damage.empty() && std::ranges::all_of(recipe.damage, far);
}

void apply_damage(const ImageRecipe& recipe, const DamageTable& table,
                  const std::string& directory) {
    if (recipe.damage.empty()) {
        return;
    }
    const File file = File::open_for_update(directory, file_name(recipe.id, recipe.format));
    if (table.prepare != nullptr) {
        table.prepare(recipe, file);
    }
    Plan plan;
    for (const Damage& damage : recipe.damage) {
        if (damage.field == damage_length) {
            plan.length = std::min(damage.value, plan.length.value_or(UINT64_MAX));
        } else if (damage.field == damage_bytes) {
            plan_flip(plan, damage, file);
        } else if (const DamageField* field = find_field(table.fields, damage.field)) {
            plan_field(plan, *field, damage, file);
        }
    }
    for (const Change& change : plan.numbers) {
        file.write_at(change.offset, change.bytes);
    }
    for (const auto& [offset, text] : plan.texts) {
        replace_text(file, offset, text);
    }
    if (plan.reseal && table.reseal != nullptr) {
        table.reseal(file);
    }
    for (const Change& change : plan.checksums) {
        file.write_at(change.offset, change.bytes);
    }
    if (plan.length && *plan.length < file.size()) {
        file.resize(*plan.length);
    }
}

}  // namespace difffuzz
