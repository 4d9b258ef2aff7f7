#include "images/luks_volume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "images/bytes.hpp"
#include "images/content_fill.hpp"
#include "images/image_error.hpp"
#include "images/luks.hpp"
#include "images/luks_layout.hpp"
#include "images/recipe_hash.hpp"
#include "images/recipe_uuid.hpp"

namespace difffuzz::luks {
namespace {

constexpr std::uint32_t iterations = 1000;
// Of what a header asks for when it is read.
constexpr std::uint32_t max_read_iterations = 100'000;

std::span<const std::byte> password() { return std::as_bytes(std::span(luks_password)); }

// Bytes that a luks image has at random, one stream for each `number`.
Bytes noise(const ImageRecipe& recipe, std::uint64_t number, std::size_t length) {
    const RecipeHash hash = recipe_hash(recipe);
    Bytes bytes(length);
    fill_bytes(RandomFill{hash.low + number * 0x9e3779b97f4a7c15U + hash.high}, 0, bytes);
    return bytes;
}

void put_text(std::span<std::byte> header, std::size_t at, std::string_view text) {
    std::ranges::copy(std::as_bytes(std::span(text)), header.subspan(at).begin());
}

std::string uuid_text(const Uuid& uuid) {
    std::string text;
    for (std::size_t i = 0; i < uuid.size(); ++i) {
        text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                            std::to_integer<unsigned>(uuid[i]));
    }
    return text;
}

Bytes encode_header(const ImageRecipe& recipe, const Bytes& key, const Bytes& salt_of_slot) {
    Bytes header(header_bytes);
    std::byte* const at = header.data();
    put_text(header, 0, magic);
    store_be(at + at_version, version);
    put_text(header, at_cipher_name, cipher_name);
    put_text(header, at_cipher_mode, cipher_mode);
    put_text(header, at_hash_name, hash_name);
    store_be(at + at_payload, payload_sector);
    store_be(at + at_key_bytes, static_cast<std::uint32_t>(key_bytes));
    const Bytes salt = noise(recipe, 1, salt_bytes);
    std::ranges::copy(salt, at + at_digest_salt);
    std::ranges::copy(derive(key, salt, iterations, digest_bytes), at + at_digest);
    store_be(at + at_digest_iterations, iterations);
    put_text(header, at_uuid, uuid_text(recipe_guid(recipe_hash(recipe), 0)));
    for (std::size_t i = 0; i < slots; ++i) {
        std::byte* const slot = at + at_slots + i * slot_bytes;
        store_be(slot, i == 0 ? slot_enabled : slot_disabled);
        store_be(slot + slot_material,
                 static_cast<std::uint32_t>(alignment_sectors + i * material_sectors));
        store_be(slot + slot_stripes, stripes);
    }
    store_be(at + at_slots + slot_iterations, iterations);
    std::ranges::copy(salt_of_slot, at + at_slots + slot_salt);
    return header;
}

[[noreturn]] void fail(const std::string& name, std::string_view what) {
    throw ImageError(fmt::format("{}: is not a luks image that can be read: {}", name, what));
}

bool holds_text(std::span<const std::byte> header, std::size_t at, std::string_view text) {
    const auto field = header.subspan(at, name_bytes);
    return std::ranges::equal(field.first(text.size()), std::as_bytes(std::span(text))) &&
           field[text.size()] == std::byte{0};
}

// The master key out of the slots that are in use; the first whose key has the header's digest.
Bytes find_key(const File& file, std::uint64_t base, std::span<const std::byte> header) {
    const auto number = [&](std::size_t at) { return load_be<std::uint32_t>(header.data() + at); };
    const auto bounded = [](std::uint32_t count) {
        return count > 0 && count <= max_read_iterations;
    };
    const std::uint32_t rounds = number(at_digest_iterations);
    for (std::size_t i = 0; i < slots && bounded(rounds); ++i) {
        const std::size_t slot = at_slots + i * slot_bytes;
        if (number(slot) != slot_enabled || number(slot + slot_stripes) != stripes ||
            !bounded(number(slot + slot_iterations))) {
            continue;
        }
        Bytes material(material_bytes);
        file.read_at(base + number(slot + slot_material) * std::uint64_t{sector}, material);
        const auto salt = header.subspan(slot + slot_salt, salt_bytes);
        decrypt(derive(password(), salt, number(slot + slot_iterations), key_bytes), 0, material);
        Bytes key = gather(material);
        if (std::ranges::equal(
                derive(key, header.subspan(at_digest_salt, salt_bytes), rounds, digest_bytes),
                header.subspan(at_digest, digest_bytes))) {
            return key;
        }
    }
    fail(file.name(), "no slot opens");
}

}  // namespace

Bytes master_key(const ImageRecipe& recipe) { return noise(recipe, 0, key_bytes); }

void write_header(const ImageRecipe& recipe, std::uint64_t at, SparseWriter& out) {
    const Bytes key = master_key(recipe);
    const Bytes salt = noise(recipe, 2, salt_bytes);
    Bytes material = noise(recipe, 3, material_bytes);
    spread(key, material);
    encrypt(derive(password(), salt, iterations, key_bytes), 0, material);
    out.put(at, encode_header(recipe, key, salt));
    out.put(at + alignment_sectors * sector, material);
}

Opened open_header(const File& file, std::uint64_t at) {
    std::array<std::byte, header_bytes> header{};
    file.read_at(at, header);
    if (!std::ranges::equal(std::span(header).first(magic.size()),
                            std::as_bytes(std::span(magic))) ||
        load_be<std::uint16_t>(header.data() + at_version) != version) {
        fail(file.name(), "no header of version 1");
    }
    if (!holds_text(header, at_cipher_name, cipher_name) ||
        !holds_text(header, at_cipher_mode, cipher_mode) ||
        !holds_text(header, at_hash_name, hash_name) ||
        load_be<std::uint32_t>(header.data() + at_key_bytes) != key_bytes) {
        fail(file.name(), "another cipher than AES-256-XTS with SHA-256");
    }
    return {find_key(file, at, header),
            load_be<std::uint32_t>(header.data() + at_payload) * std::uint64_t{sector}};
}

void read_decrypted(const File& file, std::span<const std::byte> key, std::uint64_t base,
                    std::uint64_t offset, std::span<std::byte> bytes) {
    constexpr std::uint64_t most = std::uint64_t{256} << 10;
    while (!bytes.empty()) {
        const std::uint64_t first = offset / sector;
        const std::uint64_t skipped = offset % sector;
        const auto wanted = std::min<std::uint64_t>(skipped + bytes.size(), most);
        Bytes sectors(static_cast<std::size_t>(round_up(wanted, sector)));
        file.read_at(base + first * sector, sectors);
        decrypt(key, first, sectors);
        const auto got = std::span(sectors)
                             .subspan(static_cast<std::size_t>(skipped))
                             .first(std::min(sectors.size() - skipped, bytes.size()));
        std::ranges::copy(got, bytes.begin());
        bytes = bytes.subspan(got.size());
        offset += got.size();
    }
}

}  // namespace difffuzz::luks
