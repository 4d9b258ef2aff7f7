// What an image must contain, computed from its recipe alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/cases/case.hpp"
#include "images/content_source.hpp"

namespace difffuzz {

// The expected content of a file after a step, as a value: what the images of a case held at first,
// and what was done to it since. Copies are cheap.
class ContentExpectation {
public:
    // The image recipe `id` as built, seen through its backing chain.
    static ContentExpectation of_image(std::string id);
    // The `index`th internal snapshot of an image recipe as built.
    static ContentExpectation of_snapshot(std::string id, std::size_t index);
    static ContentExpectation zeros(std::uint64_t size);
    // One after the other.
    static ContentExpectation joined(std::vector<ContentExpectation> parts);

    // Cut to `size` bytes, or with zeros behind.
    ContentExpectation resized(std::uint64_t size) const;
    // With `writes` on top, in order; they end within the size.
    ContentExpectation written(std::vector<ContentWrite> writes) const;
    // Without its first `offset` bytes; nothing when it is shorter.
    ContentExpectation from(std::uint64_t offset) const;
    // With `upper` in place of it in `ranges` (ascending, disjoint, within the size); zeros there
    // behind the end of `upper`.
    ContentExpectation covered(ContentExpectation upper, std::vector<ByteRange> ranges) const;

    // The image that the content at offset 0 began as; empty when that is none.
    std::string origin() const;
    // All writes since, in order.
    std::vector<ContentWrite> writes() const;

    struct Node;

private:
    explicit ContentExpectation(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
    friend std::unique_ptr<ContentSource> model_of(const Case& c,
                                                   const ContentExpectation& expectation);
    class Builder;
    std::shared_ptr<const Node> node_;
};

// The model of a recipe's image as built; its size is actual_size() of the recipe. The case must
// outlive the result.
std::unique_ptr<ContentSource> model_of(const Case& c, const std::string& image);
std::unique_ptr<ContentSource> model_of(const Case& c, const ContentExpectation& expectation);

}  // namespace difffuzz
