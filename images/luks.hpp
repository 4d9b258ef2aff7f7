// LUKS version 1: the LUKS on-disk format specification 1.2.3 (cryptsetup's), as far as qemu-img's
// block/crypto.c and crypto/block-luks.c write and accept it.
#pragma once

#include <string_view>

#include "images/format.hpp"

namespace difffuzz {

// What opens every luks image of a case. It keeps nothing secret: recipes are public.
inline constexpr std::string_view luks_password = "letters";

// AES-256 in XTS mode with 64-bit sector numbers, SHA-256, one key slot of the fewest iterations
// that qemu-img accepts. Master key and salts come from the recipe, so that equal recipes give
// equal files. The payload is written whole: what is a hole in the file reads as noise.
Format luks_format();

}  // namespace difffuzz
