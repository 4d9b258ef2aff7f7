// raw images: the file is the content.
#pragma once

#include <memory>
#include <string>

#include "images/content_source.hpp"
#include "images/file.hpp"
#include "images/format.hpp"

namespace difffuzz {

Format raw_format();

// Makes `directory`/`name` with the first `size` bytes of `content` (zeros past its end); what
// reads as zeros becomes a hole.
void build_raw_file(const ContentSource& content, std::uint64_t size, const std::string& directory,
                    const std::string& name);

}  // namespace difffuzz
