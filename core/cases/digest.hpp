// SHA-256 through OpenSSL's EVP interface.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace difffuzz {

// Incremental SHA-256. Throws std::runtime_error if the library cannot provide it.
class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    void update(std::string_view bytes);
    // 64 lower-case hex digits; call once, last.
    std::string finish_hex();

private:
    struct Context;
    std::unique_ptr<Context> context_;
};

std::string sha256_hex(std::string_view bytes);
// Of a whole file; throws std::system_error naming the path.
std::string sha256_file_hex(const std::string& path);

}  // namespace difffuzz
