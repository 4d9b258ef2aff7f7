// The reader of raw images: invariants 1 to 8 of image_reader.hpp, and
//  9. Any bytes are an image, and its content is these bytes, then zeros up to a whole sector.
#include <algorithm>

#include "images/bytes.hpp"
#include "images/virtual_content.hpp"
#include "tests/fuzz/image_reader.hpp"
#include "tests/fuzz/seeds.hpp"
#include "tests/fuzz/target_rows.hpp"

namespace difffuzz::fuzz {
namespace {

constexpr std::size_t max_bytes = std::size_t{64} << 10;

Verdict run(std::string_view input) {
    require(read_image("raw", input, max_bytes) == Verdict::accepted, "any bytes are a raw image");
    std::string padded(input);
    padded.resize(round_up(input.size(), sector_bytes));
    require(read_content("raw", input) == padded, "the content is the bytes, then zeros");
    return Verdict::accepted;
}

std::vector<Seed> seeds() {
    std::vector<Seed> seeds{{""}};
    for (const std::size_t size : std::initializer_list<std::size_t>{
             1, 2, 3, 7, 8, 511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097, 8191, 8192}) {
        seeds.push_back({std::string(size, '\0')});
        seeds.push_back({std::string(size, 'r')});
    }
    std::string sparse(max_input_bytes, '\0');
    sparse[4096] = 'r';
    seeds.push_back({sparse});
    seeds.push_back({"QFI\xfb and no more"});
    return seeds;
}

}  // namespace

Target image_reader_raw() { return {"image_reader_raw", Tier::rest, run, seeds}; }

}  // namespace difffuzz::fuzz
