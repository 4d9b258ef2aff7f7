#include "oracles/bitmap_contents.hpp"

#include <algorithm>
#include <utility>

#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_shown_name = 100;
constexpr std::size_t max_shown_ranges = 16;

std::vector<BitmapContent> by_name(std::vector<BitmapContent> bitmaps) {
    std::ranges::sort(bitmaps, {}, &BitmapContent::name);
    return bitmaps;
}

nlohmann::json shown(const BitmapContent& bitmap) {
    nlohmann::json dirty = nlohmann::json::array();
    for (const ByteRange& range : bitmap.dirty) {
        if (dirty.size() == max_shown_ranges) {
            break;
        }
        dirty.push_back({range.offset, range.length});
    }
    return {{"granularity", bitmap.granularity},
            {"in_use", bitmap.in_use},
            {"enabled", bitmap.enabled},
            {"ranges", bitmap.dirty.size()},
            {"dirty", std::move(dirty)}};
}

// What of two bitmaps of one name differs first; empty when nothing does.
std::string difference_of(const BitmapContent& a, const BitmapContent& b) {
    if (a.granularity != b.granularity) {
        return "bitmap:granularity";
    }
    if (a.in_use != b.in_use || a.enabled != b.enabled) {
        return "bitmap:flags";
    }
    return a.dirty == b.dirty ? std::string{} : "bitmap:dirty";
}

}  // namespace

LayerResult compare_bitmaps(const Comparison& comparison, const Sides& sides,
                            const InspectionRequest& request, const BitmapsFinding& subject,
                            const BitmapsFinding& reference) {
    const auto differing = [&](std::string field, const BitmapContent* ours,
                               const BitmapContent* theirs) {
        Difference difference = start_difference(comparison, sides, LayerId::content,
                                                 Direction::differ, Severity::corruption);
        difference.symptom.field = std::move(field);
        difference.details = {
            {"image", request.image},
            {"format", request.format},
            {"bitmap", shown_text((ours != nullptr ? ours : theirs)->name, max_shown_name)},
            {"subject", ours != nullptr ? shown(*ours) : nlohmann::json()},
            {"reference", theirs != nullptr ? shown(*theirs) : nlohmann::json()}};
        return LayerResult::diverge(std::move(difference));
    };
    const std::vector<BitmapContent> ours = by_name(subject.bitmaps);
    const std::vector<BitmapContent> theirs = by_name(reference.bitmaps);
    for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
        const BitmapContent* left = i < ours.size() ? &ours[i] : nullptr;
        const BitmapContent* right = i < theirs.size() ? &theirs[i] : nullptr;
        if (left == nullptr || right == nullptr || left->name != right->name) {
            // The one that the other side lacks.
            const bool left_is_extra =
                right == nullptr || (left != nullptr && left->name < right->name);
            return differing("bitmaps", left_is_extra ? left : nullptr,
                             left_is_extra ? nullptr : right);
        }
        if (std::string field = difference_of(*left, *right); !field.empty()) {
            return differing(std::move(field), left, right);
        }
    }
    return LayerResult::agree();
}

}  // namespace difffuzz
