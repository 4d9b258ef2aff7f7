// Offsets as in images/luks_layout.hpp.
#include "images/damage_places.hpp"
#include "images/damage_tables.hpp"
#include "images/luks_layout.hpp"

namespace difffuzz {
namespace {

// One field of all slots.
template <std::size_t offset>
Places of_slots(const File&) {
    Places places;
    add_array(places, luks::at_slots + offset, luks::slots, luks::slot_bytes);
    return places;
}

}  // namespace

DamageTable luks_damage() {
    constexpr auto row = [](std::string_view name, unsigned bytes, auto where) {
        return FieldRow(ByteOrder::big, name, bytes, where);
    };
    static constexpr DamageField fields[] = {
        row("header.magic", 4, 0),
        row("header.version", 2, luks::at_version),
        row("header.cipher", 8, luks::at_cipher_name),
        row("header.mode", 8, luks::at_cipher_mode),
        row("header.hash", 8, luks::at_hash_name),
        row("header.payload", 4, luks::at_payload).pointer(luks::sector),
        row("header.key_bytes", 4, luks::at_key_bytes),
        row("header.digest", 8, luks::at_digest),
        row("header.digest_salt", 8, luks::at_digest_salt),
        row("header.digest_iterations", 4, luks::at_digest_iterations),
        row("header.uuid", 8, luks::at_uuid),
        row("slot.state", 4, of_slots<0>),
        row("slot.iterations", 4, of_slots<luks::slot_iterations>),
        row("slot.salt", 8, of_slots<luks::slot_salt>),
        row("slot.material", 4, of_slots<luks::slot_material>).pointer(luks::sector),
        row("slot.stripes", 4, of_slots<luks::slot_stripes>),
    };
    return {fields};
}

}  // namespace difffuzz
