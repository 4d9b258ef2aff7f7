#include "pickers/dd_window.hpp"

#include <algorithm>

#include "pickers/value_rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t far_away = std::uint64_t{1} << 40;  // blocks

std::uint64_t divided_up(std::uint64_t bytes, std::uint64_t block) {
    return bytes / block + (bytes % block != 0 ? 1 : 0);
}

// Bytes in so many blocks, or `most` where that is less.
std::uint64_t bytes_in(std::uint64_t blocks, std::uint64_t block, std::uint64_t most) {
    return blocks > most / block ? most : blocks * block;
}

enum class Block { absent, power, odd, any, image };

std::optional<std::uint64_t> draw_block(const Draws& draws, std::uint64_t size) {
    static constexpr Weighted<Block> kinds[] = {{Block::absent, 20},
                                                {Block::power, 35},
                                                {Block::odd, 25},
                                                {Block::any, 10},
                                                {Block::image, 10}};
    static constexpr std::uint64_t odd[] = {1,    2,    3,     511,   513,   777,    1000,
                                            4095, 4097, 12288, 65535, 65537, 1048577};
    std::uint64_t block = dd_default_block;
    switch (draws.pick("bs.kind", kinds)) {
        case Block::absent:
            return std::nullopt;
        case Block::power:
            block = std::uint64_t{1} << draws.between("bs.bits", 0, 23);
            break;
        case Block::odd:
            block = draws.pick("bs.odd", odd);
            break;
        case Block::any:
            block = draws.between("bs.any", 1, 256 * kib);
            break;
        case Block::image: {
            const std::uint64_t about[] = {size, size + 1, size - 1, 2 * size, dd_max_block};
            block = std::clamp<std::uint64_t>(draws.pick("bs.image", about), 1, dd_max_block);
            break;
        }
    }
    return size > dd_max_bytes && block > dd_max_bytes ? 64 * kib : block;
}

enum class Place { absent, zero, before, inside, end, past, away };

std::optional<std::uint64_t> draw_skip(const Draws& draws, std::uint64_t blocks) {
    static constexpr Weighted<Place> places[] = {
        {Place::absent, 40}, {Place::zero, 5}, {Place::before, 8}, {Place::inside, 32},
        {Place::end, 7},     {Place::past, 5}, {Place::away, 3}};
    switch (draws.pick("skip.kind", places)) {
        case Place::absent:
            return std::nullopt;
        case Place::zero:
            return 0;
        case Place::before:
            return blocks - 1;
        case Place::inside:
            return draws.between("skip.blocks", 0, blocks - 1);
        case Place::end:
            return blocks;
        case Place::past:
            return blocks + draws.between("skip.past", 1, 100);
        case Place::away:
            return far_away;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> draw_count(const Draws& draws, std::uint64_t blocks,
                                        std::uint64_t skip) {
    static constexpr Weighted<Place> places[] = {
        {Place::absent, 45}, {Place::zero, 4}, {Place::before, 6}, {Place::inside, 28},
        {Place::end, 7},     {Place::past, 7}, {Place::away, 3}};
    switch (draws.pick("count.kind", places)) {
        case Place::absent:
            return std::nullopt;
        case Place::zero:
            return 0;
        case Place::before:
            return draws.between("count.skipped", 0, std::min(skip, far_away));
        case Place::inside:
            return skip + draws.between("count.blocks", 1, 64);
        case Place::end:
            return blocks;
        case Place::past:
            return blocks + draws.between("count.past", 1, 100);
        case Place::away:
            return far_away;
    }
    return std::nullopt;
}

}  // namespace

DdNumbers dd_numbers(const Step& step) {
    return {bytes_of(step, "bs"), bytes_of(step, "skip"), bytes_of(step, "count")};
}

DdWindow dd_window(const DdNumbers& numbers, std::uint64_t size) {
    const std::uint64_t block =
        std::max<std::uint64_t>(numbers.block.value_or(dd_default_block), 1);
    const std::uint64_t end = numbers.count ? bytes_in(*numbers.count, block, size) : size;
    DdWindow window;
    window.offset = bytes_in(numbers.skip.value_or(0), block, end);
    window.length = end - window.offset;
    window.blocks = divided_up(window.length, block);
    return window;
}

DdNumbers draw_dd_numbers(const Draws& draws, std::uint64_t size, bool may_be_empty) {
    DdNumbers numbers;
    numbers.block = draw_block(draws, size);
    const std::uint64_t block = numbers.block.value_or(dd_default_block);
    const std::uint64_t blocks = divided_up(size, block);
    numbers.skip = draw_skip(draws, blocks);
    numbers.count = draw_count(draws, blocks, numbers.skip.value_or(0));
    if (!may_be_empty && dd_window(numbers, size).length == 0) {
        numbers.skip = std::nullopt;
        numbers.count = draws.between("count.some", 1, 64);
    }
    // Mostly few requests: they take the time.
    const std::uint64_t few = draws.chance("many", 10) ? dd_max_blocks : 400;
    const std::uint64_t most = std::clamp<std::uint64_t>(dd_max_bytes / block, 1, few);
    if (dd_window(numbers, size).blocks > most) {
        const std::uint64_t kept = draws.between("kept", 1, most);
        if (draws.chance("at-end", 50)) {
            numbers.skip = blocks - kept;
            numbers.count = std::nullopt;
        } else {
            numbers.count = numbers.skip.value_or(0) + kept;
        }
    }
    return numbers;
}

}  // namespace difffuzz
