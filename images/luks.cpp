#include "images/luks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "images/bytes.hpp"
#include "images/content_fill.hpp"
#include "images/content_model.hpp"
#include "images/damage_tables.hpp"
#include "images/file.hpp"
#include "images/image_error.hpp"
#include "images/luks_layout.hpp"
#include "images/recipe_hash.hpp"
#include "images/recipe_rules.hpp"
#include "images/recipe_uuid.hpp"
#include "images/sparse_writer.hpp"
#include "images/transfer_split.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz {
namespace {

using luks::Bytes;
static_assert(luks::sector == sector_bytes);

// All of it is encrypted and written.
constexpr std::uint64_t max_bytes = std::uint64_t{16} << 20;
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

std::uint64_t actual_size(const ImageRecipe& recipe) { return round_up(recipe.size, sector_bytes); }

std::string validate(const ImageRecipe& recipe) {
    return broken_recipe_rule(recipe, {.max_bytes = max_bytes}, {});
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

Bytes encode_header(const ImageRecipe& recipe, const Bytes& key, const Bytes& slot_salt) {
    Bytes header(luks::header_bytes);
    std::byte* const at = header.data();
    put_text(header, 0, luks::magic);
    store_be(at + luks::at_version, luks::version);
    put_text(header, luks::at_cipher_name, luks::cipher_name);
    put_text(header, luks::at_cipher_mode, luks::cipher_mode);
    put_text(header, luks::at_hash_name, luks::hash_name);
    store_be(at + luks::at_payload, luks::payload_sector);
    store_be(at + luks::at_key_bytes, static_cast<std::uint32_t>(luks::key_bytes));
    const Bytes salt = noise(recipe, 1, luks::salt_bytes);
    std::ranges::copy(salt, at + luks::at_digest_salt);
    std::ranges::copy(luks::derive(key, salt, iterations, luks::digest_bytes),
                      at + luks::at_digest);
    store_be(at + luks::at_digest_iterations, iterations);
    put_text(header, luks::at_uuid, uuid_text(recipe_guid(recipe_hash(recipe), 0)));
    for (std::size_t i = 0; i < luks::slots; ++i) {
        std::byte* const slot = at + luks::at_slots + i * luks::slot_bytes;
        store_be(slot, i == 0 ? luks::slot_enabled : luks::slot_disabled);
        store_be(slot + luks::slot_material,
                 static_cast<std::uint32_t>(luks::alignment_sectors + i * luks::material_sectors));
        store_be(slot + luks::slot_stripes, luks::stripes);
    }
    store_be(at + luks::at_slots + luks::slot_iterations, iterations);
    std::ranges::copy(slot_salt, at + luks::at_slots + luks::slot_salt);
    return header;
}

void build(const Case& c, const ImageRecipe& recipe, const std::string& directory, NeutralTools&) {
    const Bytes key = noise(recipe, 0, luks::key_bytes);
    const Bytes salt = noise(recipe, 2, luks::salt_bytes);
    Bytes material = noise(recipe, 3, luks::material_bytes);
    luks::spread(key, material);
    luks::encrypt(luks::derive(password(), salt, iterations, luks::key_bytes), 0, material);

    const File file = File::create(directory, file_name(recipe.id, recipe.format));
    SparseWriter out(file);
    out.put(0, encode_header(recipe, key, salt));
    out.put(luks::alignment_sectors * sector_bytes, material);
    const auto content = model_of(c, recipe.id);
    const std::uint64_t size = actual_size(recipe);
    const std::uint64_t payload = luks::payload_sector * sector_bytes;
    for (const auto [at, length] : TransferSplit(0, size, SparseWriter::max_piece)) {
        const auto piece = out.reserve(payload + at, length);
        const std::uint64_t there = std::min(content->size() - at, std::uint64_t{piece.size()});
        content->read(at, piece.first(static_cast<std::size_t>(there)));
        luks::encrypt(key, at / sector_bytes, piece);
    }
    out.finish();
    file.resize(payload + size);
}

class Reader : public ContentSource {
public:
    Reader(File file, Bytes key, std::uint64_t payload, std::uint64_t size)
        : file_(std::move(file)), key_(std::move(key)), payload_(payload), size_(size) {}

    std::uint64_t size() const override { return size_; }

    ContentExtent extent(std::uint64_t offset) const override { return {size_ - offset, false}; }

    void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
        constexpr std::uint64_t most = std::uint64_t{256} << 10;
        while (!bytes.empty()) {
            const std::uint64_t first = offset / sector_bytes;
            const std::uint64_t skipped = offset % sector_bytes;
            const auto wanted = std::min<std::uint64_t>(skipped + bytes.size(), most);
            Bytes sectors(static_cast<std::size_t>(round_up(wanted, sector_bytes)));
            file_.read_at(payload_ + first * sector_bytes, sectors);
            luks::decrypt(key_, first, sectors);
            const auto got = std::span(sectors)
                                 .subspan(static_cast<std::size_t>(skipped))
                                 .first(std::min(sectors.size() - skipped, bytes.size()));
            std::ranges::copy(got, bytes.begin());
            bytes = bytes.subspan(got.size());
            offset += got.size();
        }
    }

private:
    File file_;
    Bytes key_;
    std::uint64_t payload_;
    std::uint64_t size_;
};

[[noreturn]] void fail(const std::string& name, std::string_view what) {
    throw ImageError(fmt::format("{}: is not a luks image that can be read: {}", name, what));
}

bool holds_text(std::span<const std::byte> header, std::size_t at, std::string_view text) {
    const auto field = header.subspan(at, luks::name_bytes);
    return std::ranges::equal(field.first(text.size()), std::as_bytes(std::span(text))) &&
           field[text.size()] == std::byte{0};
}

// The master key out of the slots that are in use; the first whose key has the header's digest.
Bytes find_key(const File& file, std::span<const std::byte> header) {
    const auto number = [&](std::size_t at) { return load_be<std::uint32_t>(header.data() + at); };
    const auto bounded = [](std::uint32_t count) {
        return count > 0 && count <= max_read_iterations;
    };
    const std::uint32_t rounds = number(luks::at_digest_iterations);
    for (std::size_t i = 0; i < luks::slots && bounded(rounds); ++i) {
        const std::size_t slot = luks::at_slots + i * luks::slot_bytes;
        if (number(slot) != luks::slot_enabled ||
            number(slot + luks::slot_stripes) != luks::stripes ||
            !bounded(number(slot + luks::slot_iterations))) {
            continue;
        }
        Bytes material(luks::material_bytes);
        file.read_at(number(slot + luks::slot_material) * sector_bytes, material);
        const auto salt = header.subspan(slot + luks::slot_salt, luks::salt_bytes);
        luks::decrypt(
            luks::derive(password(), salt, number(slot + luks::slot_iterations), luks::key_bytes),
            0, material);
        Bytes key = luks::gather(material);
        if (std::ranges::equal(
                luks::derive(key, header.subspan(luks::at_digest_salt, luks::salt_bytes), rounds,
                             luks::digest_bytes),
                header.subspan(luks::at_digest, luks::digest_bytes))) {
            return key;
        }
    }
    fail(file.name(), "no slot opens");
}

std::unique_ptr<ContentSource> open(const std::string& directory, const std::string& name) {
    File file = File::open(directory, name);
    std::array<std::byte, luks::header_bytes> header{};
    file.read_at(0, header);
    if (!std::ranges::equal(std::span(header).first(luks::magic.size()),
                            std::as_bytes(std::span(luks::magic))) ||
        load_be<std::uint16_t>(header.data() + luks::at_version) != luks::version) {
        fail(name, "no header of version 1");
    }
    if (!holds_text(header, luks::at_cipher_name, luks::cipher_name) ||
        !holds_text(header, luks::at_cipher_mode, luks::cipher_mode) ||
        !holds_text(header, luks::at_hash_name, luks::hash_name) ||
        load_be<std::uint32_t>(header.data() + luks::at_key_bytes) != luks::key_bytes) {
        fail(name, "another cipher than AES-256-XTS with SHA-256");
    }
    Bytes key = find_key(file, header);
    const std::uint64_t payload =
        load_be<std::uint32_t>(header.data() + luks::at_payload) * sector_bytes;
    const std::uint64_t bytes = file.size();
    if (payload > bytes) {
        fail(name, "the payload begins past the end of the file");
    }
    return std::make_unique<Reader>(std::move(file), std::move(key), payload,
                                    (bytes - payload) / sector_bytes * sector_bytes);
}

// It names no other file.
std::vector<ForeignReference> references(const std::string&, const std::string&) { return {}; }

std::uint64_t cluster_bytes(const ImageRecipe&) { return 0; }

}  // namespace

Format luks_format() {
    Format format{};
    format.name = "luks";
    format.keyed = true;
    format.actual_size = actual_size;
    format.validate = validate;
    format.build = build;
    format.built_in_process = true;
    format.open = open;
    format.references = references;
    format.cluster_bytes = cluster_bytes;
    format.damage = luks_damage();
    return format;
}

}  // namespace difffuzz
