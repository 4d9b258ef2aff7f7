// A LUKS version 1 header, as it begins a luks image or lies within an encrypted qcow2 image, and
// the sectors that its master key encrypts. Every header is opened by luks_password.
#pragma once

#include <cstdint>
#include <span>

#include "core/cases/image_recipe.hpp"
#include "images/file.hpp"
#include "images/luks_keys.hpp"
#include "images/sparse_writer.hpp"

namespace difffuzz::luks {

// What the recipe's image is encrypted with.
Bytes master_key(const ImageRecipe& recipe);

// The header and the material of its key slot, at `at` of the file. They take less than
// payload_sector sectors.
void write_header(const ImageRecipe& recipe, std::uint64_t at, SparseWriter& out);

struct Opened {
    Bytes key;
    std::uint64_t payload = 0;  // where the payload begins, bytes from the header's start
};

// Reads the header at `at`. Throws ImageError where it is no header that write_header() or qemu-img
// makes, or no slot opens.
Opened open_header(const File& file, std::uint64_t at);

// Reads `bytes` at base + offset of the file, whose sectors have the number of their place from
// `base` on; zeros as ciphertext past the end of the file.
void read_decrypted(const File& file, std::span<const std::byte> key, std::uint64_t base,
                    std::uint64_t offset, std::span<std::byte> bytes);

}  // namespace difffuzz::luks
