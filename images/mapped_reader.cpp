#include "images/mapped_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "images/bytes.hpp"
#include "images/image_error.hpp"

namespace difffuzz {
namespace {

// Runs looked at for one extent: bounds the time of a call.
constexpr int max_joined = 4096;
// Finding a hole costs more than reading less than this.
constexpr std::uint64_t hole_search_bytes = 32768;

}  // namespace

void MappedReader::fail(const std::string& what) const {
    throw ImageError(fmt::format("{}: {}", file_.name(), what));
}

std::uint32_t MappedReader::entry_be32(std::uint64_t offset) const {
    const std::uint64_t both = tables_.entry(offset / 8 * 8);
    return static_cast<std::uint32_t>(offset % 8 == 0 ? both >> 32U : both);
}

std::uint32_t MappedReader::entry_le32(std::uint64_t offset) const {
    return swap_bytes(entry_be32(offset));
}

MappedRun MappedReader::checked(std::uint64_t offset) const {
    const MappedRun run = map(offset);
    if (run.kind == MappedRun::Kind::data &&
        (run.host >= file_size_ || file_size_ - run.host < std::min(run.length, size_ - offset))) {
        fail(fmt::format("guest offset {} lies at {}, and the file ends at {}", offset, run.host,
                         file_size_));
    }
    return run;
}

ContentExtent MappedReader::simple_extent(std::uint64_t offset) const {
    const MappedRun run = checked(offset);
    const std::uint64_t length = std::min(run.length, size_ - offset);
    switch (run.kind) {
        case MappedRun::Kind::zero:
            return {length, true};
        case MappedRun::Kind::data: {
            if (length < hole_search_bytes) {
                return {length, false};
            }
            const std::uint64_t data = file_.next_data(run.host);
            if (data > run.host) {
                return {std::min(length, data - run.host), true};
            }
            // A file that shrank since it was opened has no hole before its old end.
            const std::uint64_t hole = std::max(file_.next_hole(run.host), run.host + 1);
            return {std::min(length, hole - run.host), false};
        }
        case MappedRun::Kind::unallocated:
            break;
    }
    if (backing_ == nullptr || offset >= backing_->size()) {
        return {length, true};
    }
    const ContentExtent below = backing_->extent(offset);
    return {std::min(length, below.length), below.zero};
}

ContentExtent MappedReader::extent(std::uint64_t offset) const {
    ContentExtent extent = simple_extent(offset);
    for (int joined = 1; joined < max_joined && extent.length < size_ - offset; ++joined) {
        const ContentExtent next = simple_extent(offset + extent.length);
        if (next.zero != extent.zero) {
            break;
        }
        extent.length += next.length;
    }
    return extent;
}

void MappedReader::read(std::uint64_t offset, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
        const MappedRun run = checked(offset);
        const auto part = bytes.first(std::min<std::uint64_t>(run.length, bytes.size()));
        switch (run.kind) {
            case MappedRun::Kind::zero:
                std::ranges::fill(part, std::byte{0});
                break;
            case MappedRun::Kind::data: {
                const std::size_t got = file_.read_at(run.host, part);
                std::ranges::fill(part.subspan(got), std::byte{0});
                break;
            }
            case MappedRun::Kind::unallocated:
                read_backing(offset, part);
                break;
        }
        offset += part.size();
        bytes = bytes.subspan(part.size());
    }
}

void MappedReader::read_backing(std::uint64_t offset, std::span<std::byte> bytes) const {
    const std::uint64_t below = backing_ == nullptr ? 0 : backing_->size();
    const std::uint64_t end = std::clamp<std::uint64_t>(below, offset, offset + bytes.size());
    const auto head = bytes.first(static_cast<std::size_t>(end - offset));
    if (!head.empty()) {
        backing_->read(offset, head);
    }
    std::ranges::fill(bytes.subspan(head.size()), std::byte{0});
}

}  // namespace difffuzz
