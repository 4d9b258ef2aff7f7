#include "images/content_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "images/content_fill.hpp"
#include "images/format.hpp"
#include "images/image_error.hpp"
#include "images/interval_map.hpp"
#include "images/recipe_rules.hpp"

namespace difffuzz {
namespace {

// Writes over a lower source, seen through a window of `size` bytes. Where neither has anything,
// there are zeros.
class ContentModel : public ContentSource {
public:
    ContentModel(std::uint64_t size, std::unique_ptr<ContentSource> lower,
                 const std::vector<ContentWrite>& writes)
        : size_(size), lower_(std::move(lower)) {
        for (const ContentWrite& write : writes) {
            const bool zero = write.kind == WriteKind::zero;
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
        const std::uint64_t covered =
            std::clamp<std::uint64_t>(lower_size(), offset, offset + bytes.size()) - offset;
        const auto head = bytes.first(static_cast<std::size_t>(covered));
        if (!head.empty()) {
            lower_->read(offset, head);
        }
        std::ranges::fill(bytes.subspan(head.size()), std::byte{0});
    }

    std::uint64_t size_;
    std::unique_ptr<ContentSource> lower_;
    IntervalMap<Written> ranges_;
};

// Images one after the other; each begins where the one before it ends.
class ConcatenatedContent : public ContentSource {
public:
    void append(std::unique_ptr<ContentSource> part) {
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
        std::unique_ptr<ContentSource> source;
        std::uint64_t begin() const { return end - source->size(); }
    };

    const Part& part_at(std::uint64_t offset) const {
        return *std::upper_bound(parts_.begin(), parts_.end(), offset,
                                 [](std::uint64_t at, const Part& part) { return at < part.end; });
    }

    std::uint64_t size_ = 0;
    std::vector<Part> parts_;
};

// The model of an image that stands before `limit` in the case. A backing image stands before the
// image that it backs, so this ends for any case.
std::unique_ptr<ContentSource> model_below(const Case& c, const std::string& id, std::size_t limit,
                                           unsigned depth) {
    const auto end = c.images.begin() + static_cast<std::ptrdiff_t>(limit);
    const auto image =
        std::find_if(c.images.begin(), end, [&](const ImageRecipe& item) { return item.id == id; });
    if (image == end) {
        throw ImageError(fmt::format("the case has no image '{}' where it is needed", id));
    }
    const Format* format = find_format(image->format);
    if (format == nullptr) {
        throw ImageError(fmt::format("image {}: unknown format '{}'", id, image->format));
    }
    if (depth > max_chain) {
        throw ImageError(fmt::format("image {}: more than {} images in one chain", id, max_chain));
    }
    std::unique_ptr<ContentSource> lower;
    if (image->backing) {
        lower = model_below(c, *image->backing, static_cast<std::size_t>(image - c.images.begin()),
                            depth + 1);
    }
    return std::make_unique<ContentModel>(format->actual_size(*image), std::move(lower),
                                          image->content);
}

}  // namespace

std::unique_ptr<ContentSource> model_of(const Case& c, const std::string& image) {
    return model_below(c, image, c.images.size(), 1);
}

std::unique_ptr<ContentSource> model_of(const Case& c, const ContentExpectation& expectation) {
    std::unique_ptr<ContentSource> lower;
    if (!expectation.image.empty()) {
        auto images = std::make_unique<ConcatenatedContent>();
        images->append(model_of(c, expectation.image));
        for (const std::string& image : expectation.then) {
            images->append(model_of(c, image));
        }
        lower = std::move(images);
    }
    return std::make_unique<ContentModel>(expectation.size, std::move(lower), expectation.writes);
}

}  // namespace difffuzz
