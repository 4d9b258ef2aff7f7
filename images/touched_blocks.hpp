// What a content program touches in formats that allocate in blocks of one size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cases/image_recipe.hpp"
#include "images/content_source.hpp"
#include "images/interval_map.hpp"
#include "images/sparse_writer.hpp"

namespace difffuzz {

// data: allocated; zero: covered whole by a zero write since it was last written.
enum class BlockUse : std::uint8_t { data, zero };

// Uses by block number (offset / block_bytes). `size` is the virtual size: a zero write that ends
// there covers the last block. Blocks that no write touches are not in it.
IntervalMap<BlockUse> touched_blocks(const std::vector<ContentWrite>& writes,
                                     std::uint64_t block_bytes, std::uint64_t size);

// Number of blocks of that use.
std::uint64_t count_blocks(const IntervalMap<BlockUse>& blocks, BlockUse use);

// One sentence when the recipe's writes allocate more than 512 MiB in such blocks or leave more
// than 2^20 zero blocks, so that a few bytes here and there of a stranger's recipe do not fill the
// disk; empty if fine. `zero_is_data`: zero blocks are allocated like the others.
std::string broken_block_volume(const ImageRecipe& recipe, std::uint64_t block_bytes,
                                bool zero_is_data = false);

// Puts bytes [guest, guest + length) of `content`, as far as it goes, at offset `host`; what reads
// as zeros stays a hole.
void put_content(const ContentSource& content, std::uint64_t guest, std::uint64_t length,
                 std::uint64_t host, SparseWriter& out);

}  // namespace difffuzz
