// The bounded capture of a stream.
//
// Input: limit u16 little-endian, then pieces: length u8 and that many bytes (as far as there are
// any). Input without a limit is refused.
//
//  1. However the stream is cut into pieces, what is kept is the same.
//  2. A stream of at most `limit` bytes is kept whole, in `head`; of any other the first half of
//  the
//     limit (rounded up) and the last.
//  3. All bytes are counted, kept or not.
//  4. The memory held stays within the limit, half of it more and a fixed part, at any time.
#include <algorithm>

#include "core/tools/capture.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/memory_meter.hpp"
#include "tests/fuzz/seeds.hpp"
#include "tests/fuzz/target_rows.hpp"

namespace difffuzz::fuzz {
namespace {

// Blocks that the C++ library takes for two short strings.
constexpr std::size_t fixed_bytes = 256;

std::vector<std::string_view> pieces_of(std::string_view input) {
    std::vector<std::string_view> pieces;
    while (const auto length = take<std::uint8_t>(input)) {
        pieces.push_back(input.substr(0, *length));
        input.remove_prefix(pieces.back().size());
    }
    return pieces;
}

// What is kept of the pieces; `whole` is the length of all.
Stream captured(std::uint64_t limit, const std::vector<std::string_view>& pieces) {
    const MemoryMeter meter;
    Capture capture(limit);
    std::uint64_t seen = 0;
    for (const std::string_view piece : pieces) {
        capture.append(piece);
        seen += piece.size();
        require(capture.observed_bytes() == seen, "all bytes are counted");
        require(meter.peak() <= limit + limit / 2 + fixed_bytes, "the memory held is bounded");
    }
    return std::move(capture).finish();
}

Verdict run(std::string_view input) {
    const auto limit = take<std::uint16_t>(input);
    if (!limit) {
        return Verdict::refused;
    }
    const std::vector<std::string_view> pieces = pieces_of(input);
    std::string whole;
    for (const std::string_view piece : pieces) {
        whole += piece;
    }
    Stream expected{whole, "", whole.size()};
    if (whole.size() > *limit) {
        const std::size_t tail = *limit / 2;
        expected.head = whole.substr(0, *limit - tail);
        expected.tail = whole.substr(whole.size() - tail);
    }
    require(captured(*limit, pieces) == expected, "beginning and end are kept");
    require(captured(*limit, {whole}) == expected, "one piece is like many");
    std::vector<std::string_view> bytes;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        bytes.push_back(std::string_view(whole).substr(at, 1));
    }
    require(captured(*limit, bytes) == expected, "single bytes are like many");
    require(expected.cut() == (whole.size() > *limit), "a stream is cut when it is longer");
    return Verdict::accepted;
}

std::string encode(std::uint16_t limit, const std::vector<std::string>& pieces) {
    std::string bytes;
    put(bytes, limit);
    for (const std::string& piece : pieces) {
        put(bytes, static_cast<std::uint8_t>(piece.size()));
        bytes += piece;
    }
    return bytes;
}

std::vector<Seed> seeds() {
    std::vector<Seed> seeds{{encode(8, {"0123", "4567"})}};
    add_prefixes(seeds, seeds[0].bytes, 2);
    const std::string run = "abcdefghijklmnopqrstuvwxyz";
    const std::string most(255, 'x');
    for (const std::uint16_t limit :
         std::initializer_list<std::uint16_t>{0, 1, 2, 7, 25, 26, 27, 255, 65535}) {
        seeds.push_back({encode(limit, {})});
        seeds.push_back({encode(limit, {run})});
        seeds.push_back({encode(limit, {"", run.substr(0, 13), "", run.substr(13)})});
        seeds.push_back({encode(limit, {run, most, run})});
    }
    seeds.push_back({encode(300, std::vector<std::string>(24, most))});
    seeds.push_back({encode(3, std::vector<std::string>(100, "ab"))});
    seeds.push_back({encode(8, {"0123"}) + "\x09late"});
    return seeds;
}

}  // namespace

Target bounded_capture() { return {"bounded_capture", Tier::rest, run, seeds}; }

}  // namespace difffuzz::fuzz
