#include "apps/canary/image_edits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "images/bytes.hpp"
#include "images/file.hpp"
#include "images/format.hpp"
#include "images/image_error.hpp"
#include "images/qcow2_header.hpp"
#include "images/qcow2_mapping.hpp"

#include "apps/canary/call.hpp"

namespace difffuzz::canary {
namespace {

constexpr const char* here = ".";

template <typename Value>
Value read_be(const File& file, std::uint64_t offset) {
    std::array<std::byte, sizeof(Value)> bytes{};
    file.read_at(offset, bytes);
    return load_be<Value>(bytes.data());
}

template <typename Value>
void write_be(const File& file, std::uint64_t offset, Value value) {
    std::array<std::byte, sizeof(Value)> bytes{};
    store_be(bytes.data(), value);
    file.write_at(offset, bytes);
}

bool edit(const std::string& name, const std::function<bool(const File&)>& change) {
    try {
        return change(File::open_for_update(here, name));
    } catch (const ImageError&) {
        return false;
    }
}

bool edit_qcow2(const std::string& name,
                const std::function<bool(const File&, const qcow2::Header&)>& change) {
    return format_of_file(name) == "qcow2" &&
           edit(name, [&](const File& file) { return change(file, qcow2::read_header(file)); });
}

void flip(const File& file, std::uint64_t offset) {
    std::array<std::byte, 1> byte{};
    file.read_at(offset, byte);
    byte[0] ^= std::byte{1};
    file.write_at(offset, byte);
}

// The L2 entry of a cluster that holds data of the guest as it is.
struct DataEntry {
    std::uint64_t at = 0;  // offset of the entry in the file
    std::uint64_t entry = 0;
    std::uint64_t host() const { return entry & qcow2::offset_mask; }
};

std::optional<DataEntry> first_data(const File& file, const qcow2::Header& header) {
    if (header.has_data_file()) {
        return std::nullopt;
    }
    for (std::uint64_t i = 0; i < header.l1_entries; ++i) {
        const std::uint64_t table =
            read_be<std::uint64_t>(file, header.l1_offset + i * 8) & qcow2::offset_mask;
        for (std::uint64_t j = 0; table != 0 && j < header.l2_entries(); ++j) {
            const std::uint64_t at = table + j * header.l2_entry_bytes();
            const DataEntry found{at, read_be<std::uint64_t>(file, at)};
            const bool plain = (found.entry & (qcow2::compressed_flag | qcow2::zero_flag)) == 0;
            if (plain && found.host() != 0) {
                return found;
            }
        }
    }
    return std::nullopt;
}

// Sets the reference count of a cluster that a refcount block is there for, of 16 bits.
bool set_refcount(const File& file, const qcow2::Header& header, std::uint64_t cluster,
                  std::uint16_t count) {
    constexpr unsigned order_of_16_bits = 4;
    const std::uint64_t per_block = header.cluster_bytes() / 2;
    if (header.refcount_order != order_of_16_bits ||
        cluster / per_block >= header.refcount_table_clusters * header.cluster_bytes() / 8) {
        return false;
    }
    const auto block =
        read_be<std::uint64_t>(file, header.refcount_table_offset + cluster / per_block * 8) &
        qcow2::offset_mask;
    if (block == 0) {
        return false;
    }
    write_be(file, block + cluster % per_block * 2, count);
    return true;
}

}  // namespace

std::uint64_t size_of_file(const std::string& name) {
    try {
        return File::open(here, name).size();
    } catch (const ImageError&) {
        return 0;
    }
}

bool flip_byte(const std::string& name, std::uint64_t offset) {
    return edit(name, [&](const File& file) {
        if (offset >= file.size()) {
            return false;
        }
        flip(file, offset);
        return true;
    });
}

bool flip_last_byte(const std::string& name) { return flip_byte(name, size_of_file(name) - 1); }

bool append_bytes(const std::string& name, std::uint64_t count) {
    return edit(name, [&](const File& file) {
        file.write_at(file.size(), std::vector<std::byte>(count, std::byte{'x'}));
        return true;
    });
}

bool append_hole(const std::string& name, std::uint64_t count) {
    return edit(name, [&](const File& file) {
        file.resize(file.size() + count);
        return true;
    });
}

std::string copy_of_file(const std::string& name) {
    try {
        const File file = File::open(here, name);
        std::string bytes(file.size(), '\0');
        file.read_at(0, std::as_writable_bytes(std::span(bytes)));
        return bytes;
    } catch (const ImageError&) {
        return {};
    }
}

bool put_back(const std::string& name, const std::string& bytes) {
    return edit(name, [&](const File& file) {
        std::string now(file.size(), '\0');
        file.read_at(0, std::as_writable_bytes(std::span(now)));
        file.write_at(0, std::as_bytes(std::span(bytes)));
        file.resize(bytes.size());
        return now != bytes;
    });
}

std::string backing_of(const std::string& name) {
    const Format* format = find_format(format_of_file(name));
    if (format == nullptr || format->references == nullptr) {
        return {};
    }
    const std::vector<ForeignReference> all = format->references(here, name);
    const auto backing = std::ranges::find(all, "backing", &ForeignReference::kind);
    return backing == all.end() ? std::string() : backing->name;
}

unsigned chain_length(const std::string& name) {
    constexpr unsigned longest = 16;
    unsigned length = 1;
    for (std::string next = backing_of(name); !next.empty() && length < longest;
         next = backing_of(next)) {
        ++length;
    }
    return length;
}

bool flip_in_last_partial_cluster(const std::string& name) {
    if (format_of_file(name) == "raw") {
        constexpr std::uint64_t cluster = 65536;
        const std::uint64_t size = size_of_file(name);
        return size % cluster != 0 && flip_byte(name, size - size % cluster);
    }
    return edit_qcow2(name, [](const File& file, const qcow2::Header& header) {
        const std::uint64_t rest = header.size % header.cluster_bytes();
        qcow2::require_readable(file, header);
        if (rest == 0 || header.has_data_file()) {
            return false;
        }
        const qcow2::Mapping last = qcow2::Mapper(file, header).map(header.size - rest);
        if (last.kind != qcow2::Mapping::Kind::data) {
            return false;
        }
        flip(file, last.host);
        return true;
    });
}

bool flip_first_data(const std::string& name) {
    return edit_qcow2(name, [](const File& file, const qcow2::Header& header) {
        const auto data = first_data(file, header);
        if (!data) {
            return false;
        }
        std::uint64_t within = 0;
        if (header.extended_l2()) {
            // The lower half of the bitmap says which subclusters are allocated.
            const auto allocated = read_be<std::uint32_t>(file, data->at + 12);
            if (allocated == 0) {
                return false;
            }
            within = header.cluster_bytes() / qcow2::subclusters *
                     static_cast<unsigned>(std::countr_zero(allocated));
        }
        flip(file, data->host() + within);
        return true;
    });
}

bool flip_copied_flag(const std::string& name) {
    return edit_qcow2(name, [](const File& file, const qcow2::Header& header) {
        const auto data = first_data(file, header);
        if (data) {
            write_be(file, data->at, data->entry ^ qcow2::copied_flag);
        }
        return data.has_value();
    });
}

bool leak_cluster(const std::string& name) {
    return edit_qcow2(name, [](const File& file, const qcow2::Header& header) {
        const std::uint64_t cluster = divide_up(file.size(), header.cluster_bytes());
        if (!set_refcount(file, header, cluster, 1)) {
            return false;
        }
        file.resize((cluster + 1) * header.cluster_bytes());
        return true;
    });
}

bool forget_reference(const std::string& name) {
    return edit_qcow2(name, [](const File& file, const qcow2::Header& header) {
        const auto data = first_data(file, header);
        return data && set_refcount(file, header, data->host() / header.cluster_bytes(), 0);
    });
}

bool respell_feature(const std::string& name) {
    return edit_qcow2(name, [](const File& file, const qcow2::Header& header) {
        std::vector<std::byte> cluster(std::min(file.size(), header.cluster_bytes()));
        file.read_at(0, cluster);
        constexpr std::string_view feature = "dirty bit";
        const auto place = std::ranges::search(cluster, std::as_bytes(std::span(feature)));
        if (place.empty()) {
            return false;
        }
        flip(file, static_cast<std::uint64_t>(place.begin() - cluster.begin()));
        return true;
    });
}

bool flip_header_padding(const std::string& name) {
    return edit_qcow2(name, [](const File& file, const qcow2::Header& header) {
        flip(file, header.cluster_bytes() - 1);
        return true;
    });
}

bool miscount_blocks(const std::string& name) {
    // Where the header of a VDI says how many blocks are allocated, little-endian.
    constexpr std::uint64_t at_allocated_blocks = 0x184;
    return format_of_file(name) == "vdi" && flip_byte(name, at_allocated_blocks);
}

}  // namespace difffuzz::canary
