// The reader of vpc images: invariants 1 to 8 of image_reader.hpp, of the input and of a copy in
// which the checksums of the footers are right, since mutations rarely get past these.
#include "images/bytes.hpp"
#include "images/vpc_layout.hpp"
#include "tests/fuzz/image_reader.hpp"
#include "tests/fuzz/seeds.hpp"
#include "tests/fuzz/target_rows.hpp"

namespace difffuzz::fuzz {
namespace {

constexpr std::size_t max_bytes = std::size_t{3} << 20;

std::byte* bytes_of(std::string& text) { return reinterpret_cast<std::byte*>(text.data()); }

void correct_checksum(std::string& image, std::size_t at) {
    vpc::Footer footer;
    std::copy_n(bytes_of(image) + at, footer.size(), footer.begin());
    store_be(bytes_of(image) + at + vpc::at_checksum, vpc::footer_checksum(footer));
}

std::string with_checksums(std::string image) {
    if (image.size() >= vpc::footer_bytes) {
        correct_checksum(image, image.size() - vpc::footer_bytes);
        correct_checksum(image, 0);
    }
    return image;
}

Verdict run(std::string_view input) {
    const Verdict verdict = read_image("vpc", input, max_bytes);
    read_image("vpc", with_checksums(std::string(input)), max_bytes);
    return verdict;
}

// A footer as qemu-img with force_size=on writes it, so that its size counts.
std::string footer(std::uint64_t size, std::uint32_t type) {
    std::string bytes(vpc::footer_bytes, '\0');
    bytes.replace(0, vpc::footer_cookie.size(), vpc::footer_cookie);
    bytes.replace(vpc::at_creator, 4, "qem2");
    store_be(bytes_of(bytes) + vpc::at_header_offset, std::uint64_t{vpc::footer_bytes});
    store_be(bytes_of(bytes) + vpc::at_current_size, size);
    store_be(bytes_of(bytes) + vpc::at_disk_type, type);
    return with_checksums(bytes);
}

std::string fixed(std::size_t size) {
    return std::string(size, 'v') + footer(size, vpc::type_fixed);
}

// Two blocks of 4 KiB, the smallest; the second one has data.
std::string dynamic(std::uint64_t size, std::uint32_t entries, std::uint32_t block) {
    constexpr std::size_t table = vpc::footer_bytes + vpc::header_bytes;
    std::string image = footer(size, vpc::type_dynamic);
    image.resize(table + 512 + 512 + 4096, '\0');
    image.replace(vpc::footer_bytes, vpc::header_cookie.size(), vpc::header_cookie);
    std::byte* const header = bytes_of(image) + vpc::footer_bytes;
    store_be(header + vpc::at_table_offset, std::uint64_t{table});
    store_be(header + vpc::at_table_entries, entries);
    store_be(header + vpc::at_block_size, block);
    store_be(bytes_of(image) + table, std::uint32_t{0xffffffff});
    store_be(bytes_of(image) + table + 4, static_cast<std::uint32_t>(table / 512 + 1));
    image.replace(table + 1024, 512, 512, 'v');
    return image + image.substr(0, vpc::footer_bytes);
}

std::vector<Seed> seeds() {
    const std::string valid = dynamic(8192, 2, 4096);
    std::vector<Seed> seeds{{valid}};
    add_prefixes(seeds, valid, 80);
    seeds.push_back({valid.substr(0, 511), Verdict::refused});
    seeds.push_back({valid.substr(0, 512), Verdict::refused});
    seeds.push_back({valid.substr(0, 1536), Verdict::refused});
    seeds.push_back({valid.substr(0, 2048)});
    seeds.push_back({fixed(0), Verdict::refused});
    for (const std::size_t size : std::initializer_list<std::size_t>{512, 1024, 4096, 7680}) {
        seeds.push_back({fixed(size)});
    }
    seeds.push_back({fixed(512).substr(1), Verdict::refused});
    seeds.push_back({dynamic(0, 2, 4096)});
    seeds.push_back({dynamic(8193, 2, 4096)});
    seeds.push_back({dynamic(8704, 2, 4096), Verdict::refused});
    seeds.push_back({dynamic(8192, 2, 2048), Verdict::refused});
    seeds.push_back({dynamic(8192, 2, 4095), Verdict::refused});
    seeds.push_back({dynamic(8192, 1, std::uint32_t{1} << 31)});
    seeds.push_back({dynamic(8192, std::uint32_t{1} << 24, 4096)});
    seeds.push_back({dynamic(8192, (std::uint32_t{1} << 24) + 1, 4096), Verdict::refused});
    seeds.push_back({dynamic(~std::uint64_t{0}, 2, 4096), Verdict::refused});
    std::string spoilt = valid;
    spoilt[vpc::at_checksum] ^= 1;
    seeds.push_back({spoilt, Verdict::refused});
    return seeds;
}

}  // namespace

Target image_reader_vpc() { return {"image_reader_vpc", Tier::rest, run, seeds}; }

}  // namespace difffuzz::fuzz
