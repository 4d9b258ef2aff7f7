#include "images/luks_keys.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <openssl/evp.h>

#include "images/bytes.hpp"
#include "images/image_error.hpp"

namespace difffuzz::luks {
namespace {

constexpr std::size_t digest_bytes = 32;

const unsigned char* as_input(std::span<const std::byte> bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

unsigned char* as_output(std::span<std::byte> bytes) {
    return reinterpret_cast<unsigned char*>(bytes.data());
}

void require(bool done) {
    if (!done) {
        throw ImageError("luks: OpenSSL refuses to do its part");
    }
}

using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

void cipher(std::span<const std::byte> key, std::uint64_t first, std::span<std::byte> sectors,
            bool encrypting) {
    const CipherContext context(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
    require(context != nullptr);
    require(EVP_CipherInit_ex(context.get(), EVP_aes_256_xts(), nullptr, as_input(key), nullptr,
                              encrypting ? 1 : 0) == 1);
    for (std::size_t at = 0; at < sectors.size(); at += sector) {
        std::array<std::byte, 16> tweak{};
        store_le(tweak.data(), first + at / sector);
        const std::span<std::byte> one = sectors.subspan(at, sector);
        int done = 0;
        require(EVP_CipherInit_ex(context.get(), nullptr, nullptr, nullptr, as_input(tweak), -1) ==
                1);
        require(EVP_CipherUpdate(context.get(), as_output(one), &done, as_input(one),
                                 static_cast<int>(sector)) == 1 &&
                done == static_cast<int>(sector));
    }
}

// Hashes each part of `block` as long as a digest together with its number, and puts it in place.
void diffuse(std::span<std::byte> block) {
    for (std::size_t at = 0; at < block.size(); at += digest_bytes) {
        const auto part = block.subspan(at, std::min(digest_bytes, block.size() - at));
        std::array<std::byte, 4 + digest_bytes> input{};
        store_be(input.data(), static_cast<std::uint32_t>(at / digest_bytes));
        std::ranges::copy(part, input.begin() + 4);
        std::array<std::byte, EVP_MAX_MD_SIZE> digest{};
        require(EVP_Digest(input.data(), 4 + part.size(), as_output(digest), nullptr, EVP_sha256(),
                           nullptr) == 1);
        std::copy_n(digest.begin(), part.size(), part.begin());
    }
}

void mix(std::span<std::byte> into, std::span<const std::byte> with) {
    std::ranges::transform(into, with, into.begin(), std::bit_xor());
}

// What all stripes but the last come to.
Bytes fold(std::span<const std::byte> material) {
    Bytes folded(key_bytes);
    for (std::size_t at = 0; at + key_bytes < material.size(); at += key_bytes) {
        mix(folded, material.subspan(at, key_bytes));
        diffuse(folded);
    }
    return folded;
}

}  // namespace

Bytes derive(std::span<const std::byte> secret, std::span<const std::byte> salt,
             std::uint32_t iterations, std::size_t length) {
    Bytes derived(length);
    require(PKCS5_PBKDF2_HMAC(reinterpret_cast<const char*>(secret.data()),
                              static_cast<int>(secret.size()), as_input(salt),
                              static_cast<int>(salt.size()), static_cast<int>(iterations),
                              EVP_sha256(), static_cast<int>(length), as_output(derived)) == 1);
    return derived;
}

void encrypt(std::span<const std::byte> key, std::uint64_t first, std::span<std::byte> sectors) {
    cipher(key, first, sectors, true);
}

void decrypt(std::span<const std::byte> key, std::uint64_t first, std::span<std::byte> sectors) {
    cipher(key, first, sectors, false);
}

void spread(std::span<const std::byte> key, std::span<std::byte> material) {
    Bytes last = fold(material);
    mix(last, key);
    std::ranges::copy(last, material.last(key_bytes).begin());
}

Bytes gather(std::span<const std::byte> material) {
    Bytes key = fold(material);
    mix(key, material.last(key_bytes));
    return key;
}

}  // namespace difffuzz::luks
