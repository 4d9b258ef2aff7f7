#include <algorithm>

#include "campaign/triage/reducers/parts.hpp"
#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {
namespace {

using WriteChange = void (*)(ContentWrite& write, std::uint64_t value);

void add_numbers(std::vector<Edit>& edits, const std::string& thing, std::size_t image,
                 std::size_t write, std::uint64_t value, WriteChange change) {
    for (const std::uint64_t simpler : simpler_numbers(value)) {
        edits.push_back(
            {thing, std::to_string(simpler), [image, write, simpler, change](Reduced r) {
                 change(r.c.images[image].content[write], simpler);
                 return r;
             }});
    }
}

// The next simpler kind: what is less special.
std::optional<WriteKind> simpler_kind(WriteKind kind) {
    switch (kind) {
        case WriteKind::unmap:
            return WriteKind::zero;
        case WriteKind::zero:
        case WriteKind::compressed:
            return WriteKind::write;
        case WriteKind::write:
            return std::nullopt;
    }
    return std::nullopt;
}

void add_edits_of_write(std::vector<Edit>& edits, const ImageRecipe& image, std::size_t i,
                        std::size_t w) {
    const ContentWrite& write = image.content[w];
    const std::string name = piece_of_image("write", w, 1, image.id);
    if (const auto kind = simpler_kind(write.kind)) {
        edits.push_back({"kind of " + name, *kind == WriteKind::zero ? "zero" : "write",
                         [i, w, kind = *kind](Reduced r) {
                             r.c.images[i].content[w].kind = kind;
                             return r;
                         }});
    }
    // Joined with the one before it, as one write over both.
    if (w > 0 && image.content[w - 1].kind == write.kind) {
        edits.push_back({"writes " + std::to_string(w - 1) + " and " + std::to_string(w) +
                             " of image " + image.id,
                         "one", [i, w](Reduced r) {
                             ContentWrite& first = r.c.images[i].content[w - 1];
                             const ContentWrite& second = r.c.images[i].content[w];
                             const std::uint64_t end = std::max(first.offset + first.length,
                                                                second.offset + second.length);
                             first.offset = std::min(first.offset, second.offset);
                             first.length = end - first.offset;
                             erase_writes(r.c.images[i], w, 1);
                             return r;
                         }});
    }
    add_numbers(edits, "offset of " + name, i, w, write.offset,
                [](ContentWrite& one, std::uint64_t value) { one.offset = value; });
    add_numbers(edits, "length of " + name, i, w, write.length,
                [](ContentWrite& one, std::uint64_t value) { one.length = value; });
}

}  // namespace

std::vector<Edit> write_edits(const Reduced& from, const WordDomain&) {
    std::vector<Edit> edits;
    for (std::size_t i = 0; i < from.c.images.size(); ++i) {
        const ImageRecipe& image = from.c.images[i];
        for (const auto& [begin, count] : pieces(image.content.size())) {
            edits.push_back({piece_of_image("write", begin, count, image.id), "",
                             [i, begin = begin, count = count](Reduced r) {
                                 erase_writes(r.c.images[i], begin, count);
                                 return r;
                             }});
        }
    }
    for (std::size_t i = 0; i < from.c.images.size(); ++i) {
        for (std::size_t w = from.c.images[i].content.size(); w > 0; --w) {
            add_edits_of_write(edits, from.c.images[i], i, w - 1);
        }
    }
    return edits;
}

}  // namespace difffuzz
