#include "images/content_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "images/format.hpp"
#include "images/image_error.hpp"
#include "images/layered_content.hpp"
#include "images/recipe_rules.hpp"

namespace difffuzz {
namespace {

// A content as one that somebody owns.
class OwnedContent : public ContentSource {
public:
    explicit OwnedContent(SharedContent content) : content_(std::move(content)) {}
    std::uint64_t size() const override { return content_->size(); }
    ContentExtent extent(std::uint64_t offset) const override { return content_->extent(offset); }
    void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
        content_->read(offset, bytes);
    }

private:
    SharedContent content_;
};

// The model of an image that stands before `limit` in the case. A backing image stands before the
// image that it backs, so this ends for any case.
// Of its content program only the first `writes` count.
SharedContent model_below(const Case& c, const std::string& id, std::size_t limit, unsigned depth,
                          std::size_t writes = SIZE_MAX) {
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
    SharedContent lower;
    if (image->backing) {
        lower = model_below(c, *image->backing, static_cast<std::size_t>(image - c.images.begin()),
                            depth + 1);
    }
    return written_over(format->actual_size(*image), std::move(lower),
                        std::span(image->content).first(std::min(writes, image->content.size())));
}

}  // namespace

std::unique_ptr<ContentSource> model_of(const Case& c, const std::string& image) {
    return std::make_unique<OwnedContent>(model_below(c, image, c.images.size(), 1));
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

SharedContent model_of_image(const Case& c, const Node::Image& leaf) {
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

// Expectations share their parts, and each commit uses some of them twice: a part becomes one
// source, or their number would double each time.
class ContentExpectation::Builder {
public:
    explicit Builder(const Case& c) : c_(c) {}

    SharedContent source_of(const ContentExpectation& part) {
        if (const auto known = made_.find(part.node_.get()); known != made_.end()) {
            return known->second;
        }
        SharedContent source = std::visit(*this, part.node_->value);
        made_.emplace(part.node_.get(), source);
        return source;
    }

    SharedContent operator()(const Node::Image& leaf) { return model_of_image(c_, leaf); }
    SharedContent operator()(const Node::Zeros& zeros) {
        return written_over(zeros.size, nullptr, {});
    }
    SharedContent operator()(const Node::Joined& joined) {
        std::vector<SharedContent> parts;
        for (const auto& part : joined.parts) {
            parts.push_back(source_of(part));
        }
        return concatenated(parts);
    }
    SharedContent operator()(const Node::Resized& resized) {
        return written_over(resized.size, source_of(resized.lower), {});
    }
    SharedContent operator()(const Node::Written& written) {
        SharedContent lower = source_of(written.lower);
        const std::uint64_t size = lower->size();
        return written_over(size, std::move(lower), written.writes);
    }
    SharedContent operator()(const Node::Sliced& sliced) {
        return difffuzz::sliced(source_of(sliced.lower), sliced.offset);
    }
    SharedContent operator()(const Node::Covered& covered) {
        return difffuzz::covered(source_of(covered.lower), source_of(covered.upper),
                                 covered.ranges);
    }

private:
    const Case& c_;
    std::map<const Node*, SharedContent> made_;
};

std::unique_ptr<ContentSource> model_of(const Case& c, const ContentExpectation& expectation) {
    return std::make_unique<OwnedContent>(ContentExpectation::Builder(c).source_of(expectation));
}

}  // namespace difffuzz
