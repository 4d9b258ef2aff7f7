#include "images/metadata_cache.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "images/bytes.hpp"
#include "images/image_error.hpp"

namespace difffuzz {

const MetadataCache::Page& MetadataCache::page_of(std::uint64_t offset) {
    const std::uint64_t number = offset / page_bytes;
    std::unique_ptr<Page>& page = slots_[number % slot_count];
    if (page == nullptr || page->number != number) {
        if (page == nullptr) {
            // Not make_unique: that would clear the page first.
            page = std::unique_ptr<Page>(new Page);
        }
        page->length = 0;  // nothing valid if the read throws
        page->number = number;
        page->length = file_.read_at(number * page_bytes, page->bytes);
    }
    return *page;
}

std::uint64_t MetadataCache::entry(std::uint64_t offset) {
    const Page& page = page_of(offset);
    const std::size_t within = offset % page_bytes;
    if (within + sizeof(std::uint64_t) > page.length) {
        throw ImageError(fmt::format("{}: a table entry at {} lies past the end of the file",
                                     file_.name(), offset));
    }
    return load_be<std::uint64_t>(page.bytes.data() + within);
}

std::uint64_t MetadataCache::zero_entries(std::uint64_t offset, std::uint64_t stride,
                                          std::uint64_t limit) {
    const Page& page = page_of(offset);
    const std::size_t within = offset % page_bytes;
    const std::uint64_t here = within < page.length ? (page.length - within) / stride : 0;
    const std::uint64_t end = std::min(limit, here) * stride;
    std::uint64_t at = 0;
    while (at < end && load_be<std::uint64_t>(page.bytes.data() + within + at) == 0) {
        at += sizeof(std::uint64_t);
    }
    return at / stride;
}

}  // namespace difffuzz
