#include "images/layered_content.hpp"

#include <algorithm>
#include <utility>

#include "images/content_fill.hpp"
#include "images/interval_map.hpp"

namespace difffuzz {
namespace {

// Reads from `source`; zeros behind its end.
void read_padded(const ContentSource& source, std::uint64_t offset, std::span<std::byte> bytes) {
    const std::uint64_t covered =
        std::clamp<std::uint64_t>(source.size(), offset, offset + bytes.size()) - offset;
    const auto head = bytes.first(static_cast<std::size_t>(covered));
    if (!head.empty()) {
        source.read(offset, head);
    }
    std::ranges::fill(bytes.subspan(head.size()), std::byte{0});
}

// Writes over a lower source, seen through a window of `size` bytes. Where neither has anything,
// there are zeros.
class WrittenContent : public ContentSource {
public:
    WrittenContent(std::uint64_t size, SharedContent lower, std::span<const ContentWrite> writes)
        : size_(size), lower_(std::move(lower)) {
        for (const ContentWrite& write : writes) {
            const bool zero = !has_data(write.kind);
            const Fill fill = zero ? Fill{ByteFill{0}} : write.fill;
            ranges_.assign(write.offset, write.offset + write.length,
                           {fill, write.offset, fill == Fill{ByteFill{0}}});
        }
    }

    std::uint64_t size() const override { return size_; }

    ContentExtent extent(std::uint64_t offset) const override {
        const auto none = ranges_.ranges().end();
        const auto next = ranges_.at_or_after(offset);
        if (next != none && next->first <= offset) {
            return {std::min(next->second.end, size_) - offset, next->second.value.zero};
        }
        const std::uint64_t end = next == none ? size_ : std::min(next->first, size_);
        if (offset >= lower_size()) {
            return {end - offset, true};
        }
        const ContentExtent lower = lower_->extent(offset);
        return {std::min(lower.length, end - offset), lower.zero};
    }

    void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
        ranges_.visit(offset, offset + bytes.size(),
                      [&](std::uint64_t begin, std::uint64_t end, const Written* written) {
                          const auto part = bytes.subspan(static_cast<std::size_t>(begin - offset),
                                                          static_cast<std::size_t>(end - begin));
                          if (written != nullptr) {
                              fill_bytes(written->fill, begin - written->begin, part);
                          } else {
                              read_lower(begin, part);
                          }
                      });
    }

private:
    struct Written {
        Fill fill;
        std::uint64_t begin = 0;  // where byte 0 of the fill lies
        bool zero = false;
    };

    std::uint64_t lower_size() const { return lower_ == nullptr ? 0 : lower_->size(); }

    void read_lower(std::uint64_t offset, std::span<std::byte> bytes) const {
        if (lower_ != nullptr) {
            read_padded(*lower_, offset, bytes);
        } else {
            std::ranges::fill(bytes, std::byte{0});
        }
    }

    std::uint64_t size_;
    SharedContent lower_;
    IntervalMap<Written> ranges_;
};

// Images one after the other; each begins where the one before it ends.
class ConcatenatedContent : public ContentSource {
public:
    void append(SharedContent part) {
        size_ += part->size();
        parts_.push_back({size_, std::move(part)});
    }

    std::uint64_t size() const override { return size_; }

    ContentExtent extent(std::uint64_t offset) const override {
        const Part& part = part_at(offset);
        return part.source->extent(offset - part.begin());
    }

    void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
        while (!bytes.empty()) {
            const Part& part = part_at(offset);
            const auto head = bytes.first(
                static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), part.end - offset)));
            part.source->read(offset - part.begin(), head);
            offset += head.size();
            bytes = bytes.subspan(head.size());
        }
    }

private:
    struct Part {
        std::uint64_t end = 0;
        SharedContent source;
        std::uint64_t begin() const { return end - source->size(); }
    };

    const Part& part_at(std::uint64_t offset) const {
        return *std::upper_bound(parts_.begin(), parts_.end(), offset,
                                 [](std::uint64_t at, const Part& part) { return at < part.end; });
    }

    std::uint64_t size_ = 0;
    std::vector<Part> parts_;
};

// A source without its first bytes.
class SlicedContent : public ContentSource {
public:
    SlicedContent(SharedContent whole, std::uint64_t offset)
        : whole_(std::move(whole)), offset_(std::min(offset, whole_->size())) {}
    std::uint64_t size() const override { return whole_->size() - offset_; }
    ContentExtent extent(std::uint64_t offset) const override {
        return whole_->extent(offset + offset_);
    }
    void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
        whole_->read(offset + offset_, bytes);
    }

private:
    SharedContent whole_;
    std::uint64_t offset_;
};

// One source where a range says so, another one elsewhere.
class CoveredContent : public ContentSource {
public:
    CoveredContent(SharedContent lower, SharedContent upper, const std::vector<ByteRange>& ranges)
        : lower_(std::move(lower)), upper_(std::move(upper)) {
        for (const ByteRange& range : ranges) {
            ranges_.assign(range.offset, range.offset + range.length, true);
        }
    }

    std::uint64_t size() const override { return lower_->size(); }

    ContentExtent extent(std::uint64_t offset) const override {
        const auto none = ranges_.ranges().end();
        const auto next = ranges_.at_or_after(offset);
        const bool covered = next != none && next->first <= offset;
        const std::uint64_t end = std::min(size(), covered        ? next->second.end
                                                   : next == none ? size()
                                                                  : next->first);
        const ContentSource& source = covered ? *upper_ : *lower_;
        if (offset >= source.size()) {
            return {end - offset, true};
        }
        const ContentExtent extent = source.extent(offset);
        return {std::min(extent.length, end - offset), extent.zero};
    }

    void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
        ranges_.visit(offset, offset + bytes.size(),
                      [&](std::uint64_t begin, std::uint64_t end, const bool* covered) {
                          const auto part = bytes.subspan(static_cast<std::size_t>(begin - offset),
                                                          static_cast<std::size_t>(end - begin));
                          read_padded(covered != nullptr ? *upper_ : *lower_, begin, part);
                      });
    }

private:
    SharedContent lower_;
    SharedContent upper_;
    IntervalMap<bool> ranges_;
};

}  // namespace

SharedContent written_over(std::uint64_t size, SharedContent lower,
                           std::span<const ContentWrite> writes) {
    return std::make_shared<WrittenContent>(size, std::move(lower), writes);
}

SharedContent concatenated(const std::vector<SharedContent>& parts) {
    auto whole = std::make_shared<ConcatenatedContent>();
    for (const SharedContent& part : parts) {
        whole->append(part);
    }
    return whole;
}

SharedContent sliced(SharedContent whole, std::uint64_t offset) {
    return std::make_shared<SlicedContent>(std::move(whole), offset);
}

SharedContent covered(SharedContent lower, SharedContent upper,
                      const std::vector<ByteRange>& ranges) {
    return std::make_shared<CoveredContent>(std::move(lower), std::move(upper), ranges);
}

}  // namespace difffuzz
