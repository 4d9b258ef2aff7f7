// The reader of vdi images: invariants 1 to 8 of image_reader.hpp.
#include "tests/fuzz/image_reader.hpp"
#include "tests/fuzz/seeds.hpp"
#include "tests/fuzz/target_rows.hpp"

namespace difffuzz::fuzz {
namespace {

constexpr std::size_t max_bytes = std::size_t{3} << 20;

Verdict run(std::string_view input) { return read_image("vdi", input, max_bytes); }

std::vector<Seed> seeds() {
    constexpr std::uint64_t block = std::uint64_t{1} << 20;
    const ImageRecipe plain =
        image_recipe("vdi", 4 * block,
                     {{WriteKind::write, 2 * block + 512, 1024, ByteFill{0x22}},
                      {WriteKind::write, 100, 50, RandomFill{3}},
                      {WriteKind::unmap, 3 * block, block, {}}});
    const std::string valid = built_image(plain);
    std::vector<Seed> seeds{{valid}};
    add_prefixes(seeds, valid, 80);
    const auto add = [&](std::uint64_t size) {
        seeds.push_back({built_image(image_recipe("vdi", size))});
    };
    add(0);
    add(1);
    add(block - 1);
    add(block);
    add(block + 1);
    add(std::uint64_t{1} << 40);
    for (const std::size_t length :
         std::initializer_list<std::size_t>{344, 391, 392, 512, 1024, 1536}) {
        const bool header = length > 388;
        seeds.push_back({valid.substr(0, length), header ? Verdict::accepted : Verdict::refused});
    }
    const auto patched = [&](std::size_t at, std::string_view bytes) {
        return std::string(valid).replace(at, bytes.size(), bytes);
    };
    using namespace std::string_view_literals;
    // Size, number of blocks, where the map lies, a map entry far out.
    seeds.push_back({patched(368, "\377\377\377\377\377\377\377\377"sv), Verdict::refused});
    seeds.push_back({patched(368, "\1\0\100\0\0\0\0\0"sv), Verdict::refused});
    seeds.push_back({patched(384, "\0\0\0\0"sv), Verdict::refused});
    seeds.push_back({patched(384, "\1\0\0\1"sv), Verdict::refused});
    seeds.push_back({patched(340, "\0\376\377\377"sv)});
    seeds.push_back({patched(512, "\0\0\0\200"sv)});
    return seeds;
}

}  // namespace

Target image_reader_vdi() { return {"image_reader_vdi", Tier::rest, run, seeds}; }

}  // namespace difffuzz::fuzz
