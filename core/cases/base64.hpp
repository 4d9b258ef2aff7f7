// Base64 (RFC 4648, with padding) through OpenSSL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace difffuzz {

std::string base64_encode(std::string_view bytes);
// Nothing when the text is not canonical base64.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace difffuzz
