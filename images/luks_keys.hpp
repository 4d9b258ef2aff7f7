// The cryptography of LUKS version 1, by OpenSSL. All functions throw ImageError when it fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace difffuzz::luks {

inline constexpr std::size_t key_bytes = 64;  // two keys of AES-256, for XTS
inline constexpr std::size_t sector = 512;

using Bytes = std::vector<std::byte>;

// PBKDF2 with HMAC-SHA-256.
Bytes derive(std::span<const std::byte> secret, std::span<const std::byte> salt,
             std::uint32_t iterations, std::size_t length);

// Whole sectors, numbered from `first`, in place: AES-256-XTS, the tweak being the sector's number
// in 64 bits, little-endian ("xts-plain64"). `key` has key_bytes.
void encrypt(std::span<const std::byte> key, std::uint64_t first, std::span<std::byte> sectors);
void decrypt(std::span<const std::byte> key, std::uint64_t first, std::span<std::byte> sectors);

// The anti-forensic splitter: a key spread over material.size() / key_bytes stripes, of which each
// is needed. spread() keeps all but the last stripe, which must be random, and sets the last;
// gather() gives the key back.
void spread(std::span<const std::byte> key, std::span<std::byte> material);
Bytes gather(std::span<const std::byte> material);

}  // namespace difffuzz::luks
