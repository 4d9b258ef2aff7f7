#include "images/touched_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "images/bytes.hpp"
#include "images/transfer_split.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t max_allocated_bytes = std::uint64_t{512} << 20;
constexpr std::uint64_t max_zero_blocks = std::uint64_t{1} << 20;

}  // namespace

IntervalMap<BlockUse> touched_blocks(const std::vector<ContentWrite>& writes,
                                     std::uint64_t block_bytes, std::uint64_t size) {
    IntervalMap<BlockUse> blocks;
    for (const ContentWrite& write : writes) {
        const std::uint64_t stop = write.offset + write.length;
        const std::uint64_t end = divide_up(stop, block_bytes);
        blocks.assign(write.offset / block_bytes, end, BlockUse::data);
        if (!has_data(write.kind)) {
            blocks.assign(divide_up(write.offset, block_bytes),
                          stop >= size ? end : stop / block_bytes, BlockUse::zero);
        }
    }
    return blocks;
}

std::uint64_t count_blocks(const IntervalMap<BlockUse>& blocks, BlockUse use) {
    std::uint64_t count = 0;
    for (const auto& [begin, range] : blocks.ranges()) {
        count += range.value == use ? range.end - begin : 0;
    }
    return count;
}

std::string broken_block_volume(const ImageRecipe& recipe, std::uint64_t block_bytes,
                                bool zero_is_data) {
    const auto blocks = touched_blocks(recipe.content, block_bytes, recipe.size);
    const std::uint64_t zero = count_blocks(blocks, BlockUse::zero);
    const std::uint64_t data = count_blocks(blocks, BlockUse::data) + (zero_is_data ? zero : 0);
    if (data > max_allocated_bytes / block_bytes) {
        return fmt::format("image {}: its writes touch blocks of more than {} bytes in all",
                           recipe.id, max_allocated_bytes);
    }
    if (zero > max_zero_blocks) {
        return fmt::format("image {}: its zero writes touch more than {} blocks", recipe.id,
                           max_zero_blocks);
    }
    return {};
}

void put_content(const ContentSource& content, std::uint64_t guest, std::uint64_t length,
                 std::uint64_t host, SparseWriter& out) {
    const std::uint64_t end = std::min(guest + length, content.size());
    for (std::uint64_t at = guest; at < end;) {
        const ContentExtent extent = content.extent(at);
        const std::uint64_t stop = std::min(at + extent.length, end);
        const std::uint64_t data = extent.zero ? 0 : stop - at;
        for (const TransferPiece piece : TransferSplit(at, data, SparseWriter::max_piece)) {
            content.read(piece.offset, out.reserve(host + (piece.offset - guest), piece.length));
        }
        at = stop;
    }
}

}  // namespace difffuzz
