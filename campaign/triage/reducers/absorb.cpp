// Steps that become part of the input image: what a neutral step writes may as well have been there
// from the beginning.
#include <optional>

#include "campaign/triage/reducers/parts.hpp"
#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {
namespace {

// What a neutral step of qemu-io leaves in an image: core/tools/dialect.hpp has its arguments.
std::optional<ContentWrite> write_of(const Step& step) {
    std::vector<std::uint64_t> sizes;
    for (const Argument* argument : positionals(step)) {
        if (const auto* size = std::get_if<SizeValue>(&*argument->value)) {
            sizes.push_back(size->bytes);
        }
    }
    if (step.actor != Actor::neutral || step.operation != "io" || sizes.size() != 2 ||
        sizes[1] == 0) {
        return std::nullopt;
    }
    ContentWrite write;
    write.offset = sizes[0];
    write.length = sizes[1];
    if (step.command == "discard" || has_option(step, "-z")) {
        write.kind = WriteKind::zero;
    } else if (const auto* pattern = option_value<NumberValue>(step, "-P")) {
        write.kind = has_option(step, "-c") ? WriteKind::compressed : WriteKind::write;
        write.fill = ByteFill{static_cast<std::uint8_t>(pattern->value)};
    } else {
        return std::nullopt;
    }
    return write;
}

// The image of the case that the step writes to; null for an output, or none.
const ImageRecipe* image_written(const Case& c, const Step& step) {
    for (const Argument* argument : positionals(step)) {
        if (const auto* image = std::get_if<ImageValue>(&*argument->value)) {
            return find_image(c, image->id);
        }
    }
    return nullptr;
}

}  // namespace

std::vector<Edit> absorb_edits(const Reduced& from, const WordDomain&) {
    std::vector<Edit> edits;
    for (std::size_t s = 0; s < from.culprit; ++s) {
        const auto write = write_of(from.c.steps[s]);
        const ImageRecipe* image = image_written(from.c, from.c.steps[s]);
        if (!write || image == nullptr) {
            continue;
        }
        edits.push_back({"step " + std::to_string(s), "a write of image " + image->id,
                         [s, write = *write, id = image->id](Reduced r) {
                             for (ImageRecipe& one : r.c.images) {
                                 if (one.id == id) {
                                     one.content.push_back(write);
                                 }
                             }
                             erase_piece(r.c.steps, s, 1);
                             --r.culprit;
                             return r;
                         }});
    }
    return edits;
}

}  // namespace difffuzz
