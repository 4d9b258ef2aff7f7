// Messages between difffuzz and its workers: a length (4 bytes, little-endian) and JSON text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace difffuzz {

inline constexpr std::uint32_t max_frame_bytes = std::uint32_t{64} << 20;
inline constexpr std::size_t frame_header_bytes = 4;

// `text` with its length in front.
std::string make_frame(std::string_view text);
// Length announced by four header bytes; throws std::runtime_error above max_frame_bytes.
std::uint32_t frame_length(std::string_view header);

// Blocking, for the worker's side. Throw std::system_error. Nothing at the end of the stream.
void send_frame(int socket, std::string_view text);
std::optional<std::string> receive_frame(int socket);

// Hands a descriptor over (SCM_RIGHTS), in front of the first frame.
void send_descriptor(int socket, int descriptor);
// The descriptor, close-on-exec; owned by the caller. Throws std::system_error.
int receive_descriptor(int socket);

}  // namespace difffuzz
