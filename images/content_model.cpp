#include "images/content_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "images/content_fill.hpp"
#include "images/format.hpp"
#include "images/image_error.hpp"
#include "images/interval_map.hpp"
#include "images/recipe_rules.hpp"

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
class ContentModel : public ContentSource {
public:
    ContentModel(std::uint64_t size, std::unique_ptr<ContentSource> lower,
                 std::span<const ContentWrite> writes)
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

// A source without its first bytes.
class SlicedContent : public ContentSource {
public:
    SlicedContent(std::unique_ptr<ContentSource> whole, std::uint64_t offset)
        : whole_(std::move(whole)), offset_(std::min(offset, whole_->size())) {}
    std::uint64_t size() const override { return whole_->size() - offset_; }
    ContentExtent extent(std::uint64_t offset) const override {
        return whole_->extent(offset + offset_);
    }
    void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
        whole_->read(offset + offset_, bytes);
    }

private:
    std::unique_ptr<ContentSource> whole_;
    std::uint64_t offset_;
};

// One source where a range says so, another one elsewhere.
class CoveredContent : public ContentSource {
public:
    CoveredContent(std::unique_ptr<ContentSource> lower, std::unique_ptr<ContentSource> upper,
                   const std::vector<ByteRange>& ranges)
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
    std::unique_ptr<ContentSource> lower_;
    std::unique_ptr<ContentSource> upper_;
    IntervalMap<bool> ranges_;
};

// The model of an image that stands before `limit` in the case. A backing image stands before the
// image that it backs, so this ends for any case.
// Of its content program only the first `writes` count.
std::unique_ptr<ContentSource> model_below(const Case& c, const std::string& id, std::size_t limit,
                                           unsigned depth, std::size_t writes = SIZE_MAX) {
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
    return std::make_unique<ContentModel>(
        format->actual_size(*image), std::move(lower),
        std::span(image->content).first(std::min(writes, image->content.size())));
}

}  // namespace

std::unique_ptr<ContentSource> model_of(const Case& c, const std::string& image) {
    return model_below(c, image, c.images.size(), 1);
}

struct ContentExpectation::Node {
    struct Image {
        std::string id;
        std::optional<std::size_t> snapshot;
    };
    struct Zeros {
        std::uint64_t size = 0;
    };
    struct Joined {
        std::vector<ContentExpectation> parts;
    };
    struct Resized {
        ContentExpectation lower;
        std::uint64_t size = 0;
    };
    struct Written {
        ContentExpectation lower;
        std::vector<ContentWrite> writes;
    };
    struct Sliced {
        ContentExpectation lower;
        std::uint64_t offset = 0;
    };
    struct Covered {
        ContentExpectation lower;
        ContentExpectation upper;
        std::vector<ByteRange> ranges;
    };
    std::variant<Image, Zeros, Joined, Resized, Written, Sliced, Covered> value;
};

namespace {

using Node = ContentExpectation::Node;

template <typename Value>
std::shared_ptr<const Node> node(Value value) {
    return std::make_shared<const Node>(Node{std::move(value)});
}

std::unique_ptr<ContentSource> model_of_image(const Case& c, const Node::Image& leaf) {
    std::size_t writes = SIZE_MAX;
    if (leaf.snapshot) {
        const ImageRecipe* image = find_image(c, leaf.id);
        if (image == nullptr || *leaf.snapshot >= image->snapshots.size()) {
            throw ImageError(
                fmt::format("the case has no snapshot {} of image '{}'", *leaf.snapshot, leaf.id));
        }
        writes = image->snapshots[*leaf.snapshot].after;
    }
    return model_below(c, leaf.id, c.images.size(), 1, writes);
}

struct BuildModel {
    const Case& c;

    std::unique_ptr<ContentSource> operator()(const Node::Image& leaf) const {
        return model_of_image(c, leaf);
    }
    std::unique_ptr<ContentSource> operator()(const Node::Zeros& zeros) const {
        return std::make_unique<ContentModel>(zeros.size, nullptr, std::span<ContentWrite>());
    }
    std::unique_ptr<ContentSource> operator()(const Node::Joined& joined) const {
        auto parts = std::make_unique<ConcatenatedContent>();
        for (const ContentExpectation& part : joined.parts) {
            parts->append(model_of(c, part));
        }
        return parts;
    }
    std::unique_ptr<ContentSource> operator()(const Node::Resized& resized) const {
        return std::make_unique<ContentModel>(resized.size, model_of(c, resized.lower),
                                              std::span<ContentWrite>());
    }
    std::unique_ptr<ContentSource> operator()(const Node::Written& written) const {
        auto lower = model_of(c, written.lower);
        const std::uint64_t size = lower->size();
        return std::make_unique<ContentModel>(size, std::move(lower), written.writes);
    }
    std::unique_ptr<ContentSource> operator()(const Node::Sliced& sliced) const {
        return std::make_unique<SlicedContent>(model_of(c, sliced.lower), sliced.offset);
    }
    std::unique_ptr<ContentSource> operator()(const Node::Covered& covered) const {
        return std::make_unique<CoveredContent>(model_of(c, covered.lower),
                                                model_of(c, covered.upper), covered.ranges);
    }
};

struct Origin {
    std::string operator()(const Node::Image& leaf) const { return leaf.id; }
    std::string operator()(const Node::Zeros&) const { return {}; }
    std::string operator()(const Node::Joined& joined) const {
        return joined.parts.empty() ? std::string{} : joined.parts.front().origin();
    }
    template <typename Other>
    std::string operator()(const Other& other) const {
        return other.lower.origin();
    }
};

struct Writes {
    std::vector<ContentWrite> operator()(const Node::Written& written) const {
        std::vector<ContentWrite> writes = written.lower.writes();
        writes.insert(writes.end(), written.writes.begin(), written.writes.end());
        return writes;
    }
    std::vector<ContentWrite> operator()(const Node::Resized& resized) const {
        return resized.lower.writes();
    }
    template <typename Other>
    std::vector<ContentWrite> operator()(const Other&) const {
        return {};
    }
};

}  // namespace

ContentExpectation ContentExpectation::of_image(std::string id) {
    return ContentExpectation(node(Node::Image{std::move(id), std::nullopt}));
}
ContentExpectation ContentExpectation::of_snapshot(std::string id, std::size_t index) {
    return ContentExpectation(node(Node::Image{std::move(id), index}));
}
ContentExpectation ContentExpectation::zeros(std::uint64_t size) {
    return ContentExpectation(node(Node::Zeros{size}));
}
ContentExpectation ContentExpectation::joined(std::vector<ContentExpectation> parts) {
    return ContentExpectation(node(Node::Joined{std::move(parts)}));
}
ContentExpectation ContentExpectation::resized(std::uint64_t size) const {
    return ContentExpectation(node(Node::Resized{*this, size}));
}
ContentExpectation ContentExpectation::written(std::vector<ContentWrite> writes) const {
    return ContentExpectation(node(Node::Written{*this, std::move(writes)}));
}
ContentExpectation ContentExpectation::from(std::uint64_t offset) const {
    return ContentExpectation(node(Node::Sliced{*this, offset}));
}
ContentExpectation ContentExpectation::covered(ContentExpectation upper,
                                               std::vector<ByteRange> ranges) const {
    return ContentExpectation(node(Node::Covered{*this, std::move(upper), std::move(ranges)}));
}
std::string ContentExpectation::origin() const { return std::visit(Origin{}, node_->value); }
std::vector<ContentWrite> ContentExpectation::writes() const {
    return std::visit(Writes{}, node_->value);
}

std::unique_ptr<ContentSource> model_of(const Case& c, const ContentExpectation& expectation) {
    return std::visit(BuildModel{c}, expectation.node_->value);
}

}  // namespace difffuzz
