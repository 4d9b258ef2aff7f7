#include "ops/shared.hpp"

#include <algorithm>

#include "images/format.hpp"

namespace difffuzz {

Cost images_cost(const Case& c) {
    Cost cost;
    for (const ImageRecipe& image : c.images) {
        const Format* format = find_format(image.format);
        for (const ContentWrite& write : image.content) {
            // Around a write there is a cluster of zeros at most, which large ones keep as holes.
            constexpr std::uint64_t dense = 65536;
            const std::uint64_t around =
                format == nullptr ? 0 : 2 * std::min(format->cluster_bytes(image), dense);
            cost.bytes_written += has_data(write.kind) ? write.length + around : 0;
            ++cost.requests;
        }
        if (format == nullptr) {
            continue;
        }
        if (const std::uint64_t cluster = format->cluster_bytes(image); cluster != 0) {
            cost.metadata_clusters += image.size / cluster / (cluster / 8) + 8;
        }
        if (!format->built_in_process) {
            cost.bytes_written += image.size;
        }
    }
    return cost;
}

std::vector<InspectionRequest> output_inspections(const std::string& id, const std::string& format,
                                                  ContentExpectation expected) {
    std::vector<InspectionRequest> requests{
        {InspectionKind::content, id, format, std::move(expected)}};
    const Format* known = find_format(format);
    if (known != nullptr && known->checkable) {
        requests.push_back({InspectionKind::check, id, format, std::nullopt});
    }
    return requests;
}

std::vector<InspectionRequest> no_inspections(const Case&, std::size_t) { return {}; }
std::vector<std::string> changes_nothing(const Case&, std::size_t) { return {}; }
bool never_bytes_stable(const Case&, std::size_t) { return false; }

std::vector<LayerUse> reading_layers() {
    std::vector<LayerUse> uses = writing_layers();
    std::erase_if(uses, [](const LayerUse& use) {
        return use.id == LayerId::content || use.id == LayerId::check || use.id == LayerId::bytes;
    });
    return uses;
}

std::vector<LayerUse> writing_layers() {
    std::vector<LayerUse> uses;
    for (const Layer& layer : layers()) {
        uses.push_back({layer.id, {}});
    }
    return uses;
}

}  // namespace difffuzz
