// The reader of vmdk images, and the search for extents in what may be a descriptor: invariants 1
// to 8 of image_reader.hpp.
#include "images/bytes.hpp"
#include "tests/fuzz/image_reader.hpp"
#include "tests/fuzz/seeds.hpp"
#include "tests/fuzz/target_rows.hpp"

namespace difffuzz::fuzz {
namespace {

constexpr std::size_t max_bytes = std::size_t{3} << 20;

Verdict run(std::string_view input) { return read_image("vmdk", input, max_bytes); }

// A monolithicSparse image of `capacity` sectors in grains of `grain`, made to fit: the descriptor
// in sector 1, the directory in 3, its one table in 4 to 7, one grain of 4 KiB in 8 to 15.
std::string sparse(std::uint64_t capacity, std::uint64_t grain, std::uint32_t table_entries = 512,
                   std::uint32_t version = 1, std::uint32_t flags = 3) {
    std::string image(std::size_t{16} * 512, '\0');
    auto* const at = reinterpret_cast<std::byte*>(image.data());
    image.replace(0, 4, "KDMV");
    store_le(at + 4, version);
    store_le(at + 8, flags);
    store_le(at + 12, capacity);
    store_le(at + 20, grain);
    store_le(at + 28, std::uint64_t{1});  // descriptor: where, how long
    store_le(at + 36, std::uint64_t{2});
    store_le(at + 44, table_entries);
    store_le(at + 48, std::uint64_t{3});  // the second directory, the first, overhead
    store_le(at + 56, std::uint64_t{3});
    store_le(at + 64, std::uint64_t{8});
    image.replace(73, 4, "\n \r\n");
    const std::string_view text =
        "# Disk DescriptorFile\nversion=1\nCID=12345678\nparentCID=ffffffff\n"
        "createType=\"monolithicSparse\"\nRW 64 SPARSE \"input\"\n";
    image.replace(512, text.size(), text);
    store_le(at + 3 * 512, std::uint32_t{4});
    store_le(at + 4 * 512 + 4, std::uint32_t{8});
    image.replace(std::size_t{8} * 512, std::size_t{8} * 512, std::size_t{8} * 512, 'g');
    return image;
}

std::string descriptor(std::string_view extent) {
    return "# Disk DescriptorFile\nversion=1\nCID=12345678\nparentCID=ffffffff\n"
           "createType=\"monolithicFlat\"\n" +
           std::string(extent) + "\nddb.adapterType = \"ide\"\n";
}

std::vector<Seed> seeds() {
    const std::string valid = sparse(64, 8);
    std::vector<Seed> seeds{{valid}};
    add_prefixes(seeds, valid, 80);
    for (const std::size_t length :
         std::initializer_list<std::size_t>{511, 512, 1024, 2048, 4095}) {
        seeds.push_back({valid.substr(0, length), Verdict::refused});
    }
    seeds.push_back({valid.substr(0, 4096)});
    seeds.push_back({sparse(0, 8), Verdict::refused});
    seeds.push_back({sparse(1, 8)});
    seeds.push_back({sparse(4096, 8)});
    seeds.push_back({sparse(4097, 8)});
    seeds.push_back({sparse(~std::uint64_t{0}, 8), Verdict::refused});
    seeds.push_back({sparse(64, 1)});
    seeds.push_back({sparse(64, 0), Verdict::refused});
    seeds.push_back({sparse(64, 3), Verdict::refused});
    seeds.push_back({sparse(64, 2048)});
    seeds.push_back({sparse(64, 4096), Verdict::refused});
    seeds.push_back({sparse(64, 8, 511), Verdict::refused});
    seeds.push_back({sparse(64, 8, 512, 2, 7)});
    seeds.push_back({sparse(64, 8, 512, 3), Verdict::refused});
    seeds.push_back({sparse(64, 8, 512, 1, 1U << 16U), Verdict::refused});
    for (const std::string_view extent :
         {"RW 64 FLAT \"input-flat.vmdk\" 0", "RW 64 FLAT \"/etc/passwd\" 0",
          "RW 64 FLAT \"unclosed", "NOACCESS 64 ZERO", "RW 18446744073709551616 FLAT \"x\" 0",
          "parentFileNameHint=\"../parent\"", "RW 1 FLAT \"a\" 0\nRW 1 SPARSE \"b\"\r\n"}) {
        seeds.push_back({descriptor(extent), Verdict::refused});
    }
    return seeds;
}

}  // namespace

Target image_reader_vmdk() { return {"image_reader_vmdk", Tier::rest, run, seeds}; }

}  // namespace difffuzz::fuzz
