#include "core/cases/digest.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>

#include <openssl/evp.h>

namespace difffuzz {

struct Sha256::Context {
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> evp{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
    if (!context_->evp || EVP_DigestInit_ex(context_->evp.get(), EVP_sha256(), nullptr) != 1) {
        throw std::runtime_error("OpenSSL does not provide SHA-256");
    }
}
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
    if (EVP_DigestUpdate(context_->evp.get(), bytes.data(), bytes.size()) != 1) {
        throw std::runtime_error("OpenSSL failed to hash");
    }
}

std::string Sha256::finish_hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    if (EVP_DigestFinal_ex(context_->evp.get(), digest.data(), &length) != 1) {
        throw std::runtime_error("OpenSSL failed to hash");
    }
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    hex.reserve(std::size_t{2} * length);
    for (unsigned i = 0; i < length; ++i) {
        hex.push_back(digits[digest[i] >> 4]);
        hex.push_back(digits[digest[i] & 0xf]);
    }
    return hex;
}

std::string sha256_hex(std::string_view bytes) {
    Sha256 hash;
    hash.update(bytes);
    return hash.finish_hex();
}

std::string sha256_file_hex(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                               std::fclose);
    if (!file) {
        throw std::system_error(errno, std::generic_category(), path);
    }
    Sha256 hash;
    std::array<char, 1 << 16> buffer{};
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
        hash.update({buffer.data(), got});
    }
    if (std::ferror(file.get()) != 0) {
        throw std::system_error(EIO, std::generic_category(), path);
    }
    return hash.finish_hex();
}

}  // namespace difffuzz
