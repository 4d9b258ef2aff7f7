// The reader of qcow2 images, of their snapshots and bitmaps: invariants 1 to 8 of
// image_reader.hpp. An image may name itself as its backing file.
#include "tests/fuzz/image_reader.hpp"
#include "tests/fuzz/seeds.hpp"
#include "tests/fuzz/target_rows.hpp"

namespace difffuzz::fuzz {
namespace {

// A few MiB for each image of a chain of at most 16.
constexpr std::size_t max_bytes = std::size_t{16} * (std::size_t{3} << 20);

Verdict run(std::string_view input) { return read_image("qcow2", input, max_bytes); }

std::vector<Seed> seeds() {
    constexpr std::uint64_t cluster = 512;
    // Of clusters so small, most of an image is in its first 8 KiB.
    ImageRecipe plain =
        image_recipe("qcow2", 16 * cluster,
                     {{WriteKind::write, cluster, cluster, ByteFill{0x11}},
                      {WriteKind::zero, 3 * cluster, cluster, {}},
                      {WriteKind::compressed, 5 * cluster, cluster, RepeatFill{1, 16}}});
    plain.options = {{"cluster_size", plain_size(cluster)}};
    const std::string valid = built_image(plain);
    std::vector<Seed> seeds{{valid}};
    add_prefixes(seeds, valid, 73);
    const auto add = [&](auto change) {
        ImageRecipe changed = plain;
        change(changed);
        seeds.push_back({built_image(changed)});
    };
    const auto add_far = [&](auto change) {
        add(change);
        seeds.back().expected = Verdict::refused;
    };
    add([](ImageRecipe& r) { r.content.clear(); });
    add([](ImageRecipe& r) { r.size = 0, r.content.clear(); });
    add([](ImageRecipe& r) { r.options.push_back({"compat", WordValue{"0.10"}}); });
    add([](ImageRecipe& r) { r.options.push_back({"lazy_refcounts", WordValue{"on"}}); });
    add([](ImageRecipe& r) { r.options.push_back({"compression_type", WordValue{"zstd"}}); });
    add([](ImageRecipe& r) { r.backing = "base"; });
    add([](ImageRecipe& r) { r.snapshots = {{"s", 1}, {"t", 3}}; });
    add([](ImageRecipe& r) { r.bitmaps = {{"b", 512, true, {{0, 512}, {2048, 512}}}}; });
    // Their tables lie further out: there only with the hole.
    add_far([](ImageRecipe& r) {
        r.options = {{"cluster_size", plain_size(16384)}, {"extended_l2", WordValue{"on"}}};
        r.size = 65536;
        r.content = {{WriteKind::write, 512, 512, ByteFill{7}}};
    });
    add_far([](ImageRecipe& r) {
        r.options = {{"cluster_size", plain_size(65536)}};
        r.size = std::uint64_t{1} << 40;
        r.content.clear();
    });
    for (const std::size_t length :
         {std::size_t{104}, std::size_t{112}, cluster, 2 * cluster, valid.size() - 1}) {
        // Verdicts as they are: a header is accepted when the tables it names are there.
        const bool whole = length >= 3 * cluster;
        seeds.push_back({valid.substr(0, length), whole ? Verdict::accepted : Verdict::refused});
    }
    // Fields of the header out of bounds: version, cluster bits, size, L1 entries.
    const auto patched = [&](std::size_t at, std::string_view bytes) {
        return std::string(valid).replace(at, bytes.size(), bytes);
    };
    using namespace std::string_view_literals;
    seeds.push_back({patched(4, "\0\0\0\4"sv), Verdict::refused});
    seeds.push_back({patched(20, "\0\0\0\10"sv), Verdict::refused});
    seeds.push_back({patched(20, "\0\0\0\26"sv), Verdict::refused});
    seeds.push_back({patched(24, "\377\377\377\377\377\377\377\377"sv), Verdict::refused});
    seeds.push_back({patched(36, "\377\377\377\377"sv), Verdict::refused});
    return seeds;
}

}  // namespace

Target image_reader_qcow2() { return {"image_reader_qcow2", Tier::rest, run, seeds}; }

}  // namespace difffuzz::fuzz
