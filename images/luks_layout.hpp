// Places in a LUKS header (specification 1.2.3, figures 1 to 4), big-endian, and the layout that
// qemu-img gives its images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "images/luks_keys.hpp"

namespace difffuzz::luks {

using namespace std::string_view_literals;

inline constexpr std::string_view magic = "LUKS\xba\xbe"sv;
inline constexpr std::uint16_t version = 1;
inline constexpr std::string_view cipher_name = "aes";
inline constexpr std::string_view cipher_mode = "xts-plain64";
inline constexpr std::string_view hash_name = "sha256";

inline constexpr std::size_t at_version = 6;
inline constexpr std::size_t at_cipher_name = 8;
inline constexpr std::size_t at_cipher_mode = 40;
inline constexpr std::size_t at_hash_name = 72;
inline constexpr std::size_t name_bytes = 32;
inline constexpr std::size_t at_payload = 104;  // sectors
inline constexpr std::size_t at_key_bytes = 108;
inline constexpr std::size_t at_digest = 112;
inline constexpr std::size_t digest_bytes = 20;
inline constexpr std::size_t at_digest_salt = 132;
inline constexpr std::size_t salt_bytes = 32;
inline constexpr std::size_t at_digest_iterations = 164;
inline constexpr std::size_t at_uuid = 168;  // text
inline constexpr std::size_t at_slots = 208;
inline constexpr std::size_t slots = 8;
inline constexpr std::size_t slot_bytes = 48;
inline constexpr std::size_t header_bytes = at_slots + slots * slot_bytes;

// In a slot:
inline constexpr std::size_t slot_iterations = 4;
inline constexpr std::size_t slot_salt = 8;
inline constexpr std::size_t slot_material = 40;  // sectors
inline constexpr std::size_t slot_stripes = 44;
inline constexpr std::uint32_t slot_enabled = 0x00ac71f3;
inline constexpr std::uint32_t slot_disabled = 0x0000dead;

inline constexpr std::uint32_t stripes = 4000;
inline constexpr std::size_t material_bytes = key_bytes * stripes;
// qemu-img begins the material of each slot, and the payload, at a multiple of 4 KiB.
inline constexpr std::uint32_t alignment_sectors = 8;
inline constexpr std::uint32_t material_sectors =
    (material_bytes / sector + alignment_sectors - 1) / alignment_sectors * alignment_sectors;
inline constexpr std::uint32_t payload_sector = alignment_sectors + slots * material_sectors;

}  // namespace difffuzz::luks
