#include "oracles/content_shape.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "images/content_model.hpp"
#include "images/format.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t output_cluster_bytes = 65536;

// The sector's hash, or 0 where it is all zero.
std::uint64_t hash_at(const VirtualContent& content, std::uint64_t index) {
    const auto found = std::lower_bound(
        content.sectors.begin(), content.sectors.end(), index,
        [](const ContentSector& sector, std::uint64_t wanted) { return sector.index < wanted; });
    return found != content.sectors.end() && found->index == index ? found->hash : 0;
}

bool holds_elsewhere(const VirtualContent& content, std::uint64_t index, std::uint64_t hash) {
    return std::any_of(
        content.sectors.begin(), content.sectors.end(),
        [&](const ContentSector& sector) { return sector.hash == hash && sector.index != index; });
}

std::uint64_t sector_length(std::uint64_t size, std::uint64_t index) {
    const std::uint64_t start = index * sector_bytes;
    return start >= size ? 0 : std::min(sector_bytes, size - start);
}

// The recipe that the content comes from: the image itself, or the one that the expectation starts
// from; null for an output of which the case says nothing.
const ImageRecipe* origin_of(const Case& c, const InspectionRequest& request) {
    if (const ImageRecipe* image = find_image(c, request.image)) {
        return image;
    }
    return request.expected ? find_image(c, request.expected->origin()) : nullptr;
}

bool sector_equals(const Case& c, const std::string& image, std::uint64_t index,
                   std::uint64_t hash) {
    return hash_at(summarise(*model_of(c, image)), index) == hash;
}

std::string what_is_there(const Case& c, const InspectionRequest& request, std::uint64_t sector,
                          const VirtualContent& off, const VirtualContent& right,
                          const VirtualContent* model) {
    const std::uint64_t hash = hash_at(off, sector);
    if (hash == 0) {
        return "zeros";
    }
    const ImageRecipe* image = find_image(c, request.image);
    if (image != nullptr && sector_equals(c, image->id, sector, hash)) {
        return "old";
    }
    const ImageRecipe* origin = origin_of(c, request);
    if (origin != nullptr && origin->backing && sector_equals(c, *origin->backing, sector, hash)) {
        return "backing";
    }
    const bool shifted = holds_elsewhere(right, sector, hash) ||
                         (model != nullptr && holds_elsewhere(*model, sector, hash));
    return shifted ? "shifted" : "foreign";
}

std::uint64_t cluster_bytes_of(const Case& c, const InspectionRequest& request) {
    const ImageRecipe* image = find_image(c, request.image);
    if (image == nullptr) {
        return output_cluster_bytes;
    }
    const Format* format = find_format(image->format);
    return format == nullptr ? 0 : format->cluster_bytes(*image);
}

std::string kind_of_cluster(const Case& c, const InspectionRequest& request, std::uint64_t offset,
                            std::uint64_t cluster) {
    const ImageRecipe* origin = origin_of(c, request);
    if (origin == nullptr) {
        return "";
    }
    std::vector<ContentWrite> writes = origin->content;
    if (request.expected) {
        const std::vector<ContentWrite> since = request.expected->writes();
        writes.insert(writes.end(), since.begin(), since.end());
    }
    const std::uint64_t unit = cluster == 0 ? sector_bytes : cluster;
    const std::uint64_t start = offset / unit * unit;
    for (auto write = writes.rbegin(); write != writes.rend(); ++write) {
        if (write->offset < start + unit && write->offset + write->length > start) {
            return write->kind == WriteKind::compressed ? "compressed"
                   : !has_data(write->kind)             ? "zero"
                                                        : "data";
        }
    }
    return "hole";
}

}  // namespace

std::optional<std::string> sector_of(const ContentFinding& finding, std::uint64_t index) {
    if (hash_at(finding.content, index) == 0) {
        return std::string(static_cast<std::size_t>(sector_length(finding.content.size, index)),
                           '\0');
    }
    const auto sample = finding.samples.find(index);
    return sample == finding.samples.end() ? std::nullopt : std::optional(sample->second);
}

std::optional<std::string> sector_of(const ContentSource& source, std::uint64_t index) {
    std::string bytes(static_cast<std::size_t>(sector_length(source.size(), index)), '\0');
    if (!bytes.empty()) {
        source.read(index * sector_bytes, std::as_writable_bytes(std::span(bytes)));
    }
    return bytes;
}

std::uint64_t differing_sectors(const VirtualContent& a, const VirtualContent& b) {
    const std::uint64_t common = std::min(a.size, b.size);
    const auto inside = [&](auto at, auto end) {
        return at != end && at->index * sector_bytes < common;
    };
    std::uint64_t count = 0;
    auto left = a.sectors.begin();
    auto right = b.sectors.begin();
    while (inside(left, a.sectors.end()) || inside(right, b.sectors.end())) {
        const bool have_left = inside(left, a.sectors.end());
        const bool have_right = inside(right, b.sectors.end());
        const bool take_left = have_left && (!have_right || left->index <= right->index);
        const bool take_right = have_right && (!have_left || right->index <= left->index);
        const bool equal = take_left && take_right && left->hash == right->hash;
        count += equal ? 0U : 1U;
        left += take_left ? 1 : 0;
        right += take_right ? 1 : 0;
    }
    return count;
}

ContentPlace place_of(std::uint64_t sector, const std::optional<std::string>& off,
                      const std::optional<std::string>& right) {
    ContentPlace place{sector, 0, off.has_value() && right.has_value()};
    if (place.exact) {
        const auto end = std::min(off->size(), right->size());
        const auto differing = std::mismatch(
            off->begin(), off->begin() + static_cast<std::ptrdiff_t>(end), right->begin());
        place.byte = static_cast<std::size_t>(differing.first - off->begin());
    }
    return place;
}

ContentShape shape_of(const Case& c, const InspectionRequest& request, const ContentPlace& place,
                      const VirtualContent& off, const VirtualContent& right,
                      const VirtualContent* model) {
    const std::uint64_t cluster = cluster_bytes_of(c, request);
    ContentShape shape;
    shape.subject_has = what_is_there(c, request, place.sector, off, right, model);
    shape.cluster = kind_of_cluster(c, request, place.offset(), cluster);
    if ((place.sector + 1) * sector_bytes >= std::min(off.size, right.size)) {
        shape.where = "edge";
        shape.unit = "eof";
    } else if (place.byte != 0) {
        shape.where = "inside";
        shape.unit = "sector";
    } else if (cluster == 0) {
        shape.where = "edge";
        shape.unit = "sector";
    } else {
        shape.where = place.offset() % cluster == 0 ? "edge" : "inside";
        shape.unit = "cluster";
    }
    return shape;
}

ContentShape size_shape(std::uint64_t off, std::uint64_t right) {
    return {"size", off > right ? "past" : "inside", "eof", ""};
}

}  // namespace difffuzz
