// Describes the first difference between two virtual contents in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/cases/case.hpp"
#include "core/cases/symptom.hpp"
#include "images/virtual_content.hpp"
#include "oracles/observation.hpp"

namespace difffuzz {

// Bytes of sector `index` of what was found: from the samples, or zeros where the content has no
// sector of that index. Empty when they were not sampled.
std::optional<std::string> sector_of(const ContentFinding& finding, std::uint64_t index);
std::optional<std::string> sector_of(const ContentSource& source, std::uint64_t index);

// Number of sectors within the smaller of both sizes in which the two differ.
std::uint64_t differing_sectors(const VirtualContent& a, const VirtualContent& b);

// One place where `off` is not as `right` has it.
struct ContentPlace {
    std::uint64_t sector = 0;
    std::size_t byte = 0;  // of the first differing byte within the sector; 0 if not exact
    bool exact = false;    // both sectors' bytes are known
    std::uint64_t offset() const { return sector * sector_bytes + byte; }
};
ContentPlace place_of(std::uint64_t sector, const std::optional<std::string>& off,
                      const std::optional<std::string>& right);

// 1. What `off` has at the place: zeros; the old content (of the image by its recipe); the backing
//    image's; a sector that `right` or `model` has elsewhere ("shifted"); else foreign.
// 2. Where: the last sector ("edge" of "eof"), the start of a cluster ("edge" of "cluster"), the
//    start of a sector within a cluster ("inside" of "cluster") or of an image without clusters
//    ("edge" of "sector"), else "inside" of "sector". Clusters are those of the image's format and
//    options; 64 KiB for outputs.
// 3. What the recipe's last write to that cluster was: data, zero, compressed; "hole" when there is
//    none; empty when neither a recipe nor an expectation describes the image.
// `model` may be null. Throws ImageError when the case's images cannot be modelled.
ContentShape shape_of(const Case& c, const InspectionRequest& request, const ContentPlace& place,
                      const VirtualContent& off, const VirtualContent& right,
                      const VirtualContent* model);

// The shape of two different sizes.
ContentShape size_shape(std::uint64_t off, std::uint64_t right);

}  // namespace difffuzz
