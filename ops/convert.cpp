#include "ops/convert.hpp"

#include <algorithm>

#include "images/format.hpp"
#include "ops/shared.hpp"
#include "pickers/backing_rules.hpp"
#include "pickers/convert.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/snapshot_parameter.hpp"
#include "pickers/value_rules.hpp"

namespace difffuzz {
namespace {

// Zeros shorter than this are written as data when -S does not say otherwise.
constexpr std::uint64_t default_sparse_bytes = 4096;

// Data that the step writes: all of the size, or what the writes of its sources make it take for
// data. A write lies in clusters of its image, and with a large -S the zeros around it count; with
// -c clusters of the target are written whole.
std::uint64_t written_bytes(const Case& c) {
    const Step& step = c.steps.back();
    if (convert_is_dense(step)) {
        return convert_size(c);
    }
    const bool coarse = bytes_of(step, "-S").value_or(default_sparse_bytes) > default_sparse_bytes;
    std::uint64_t bytes = 0;
    for (const ImageRecipe& image : c.images) {
        const Format* format = find_format(image.format);
        const std::uint64_t unit =
            std::max(coarse && format != nullptr ? format->cluster_bytes(image) : 0,
                     has_option(step, "-c") ? target_cluster(c) : 0);
        for (const ContentWrite& write : image.content) {
            bytes += write.length + 2 * std::max(unit, default_sparse_bytes);
        }
    }
    return std::min(bytes, convert_size(c));
}

Cost cost(const Case& c) {
    Cost cost = images_cost(c);
    if (!broken_rule(c).empty()) {
        // What is refused writes nothing; tools that do are stopped by our limits.
        return cost;
    }
    const UpFront up_front = target_up_front(c, convert_size(c));
    const std::uint64_t data = written_bytes(c);
    cost.bytes_written += up_front.bytes + data;
    cost.metadata_clusters += up_front.clusters;
    cost.requests += data / target_cluster(c) + 1;
    if (named_backing(c.steps.back())) {
        // Zeros that hide the backing file are written cluster by cluster.
        cost.requests += convert_size(c) / target_cluster(c);
    }
    return cost;
}

std::vector<InspectionRequest> inspections(const Case& c, std::size_t step) {
    const std::vector<std::string> sources = convert_sources(c.steps[step]);
    if (std::holds_alternative<RefusedIntent>(c.steps[step].intent) || sources.empty()) {
        return {};
    }
    const ImageRecipe made = target_recipe(c, convert_size(c));
    std::vector<InspectionRequest> requests =
        output_inspections(made.id, made.format,
                           convert_content(c).resized(find_format(made.format)->actual_size(made)));
    if (has_option(c.steps[step], "--bitmaps")) {
        requests.push_back({InspectionKind::info, made.id, made.format, std::nullopt});
        requests.push_back({InspectionKind::bitmaps, made.id, made.format, std::nullopt});
    }
    return requests;
}

std::vector<std::string> may_change(const Case&, std::size_t) { return {std::string(target_id)}; }

// With -W the clusters of a structured format come in any order.
bool bytes_stable(const Case& c, std::size_t step) {
    const Format* format = find_format(target_format(c));
    return format != nullptr && format->bytes_stable &&
           (format->name == "raw" || !has_option(c.steps[step], "-W"));
}

Operation make_operation(std::string_view name, std::string_view summary, unsigned weight,
                         const Picker& picker) {
    return {
        .name = name,
        .summary = summary,
        .weight = weight,
        .picker = &picker,
        .cost = cost,
        .inspections = inspections,
        .may_change = may_change,
        .bytes_stable = bytes_stable,
        .layers = writing_layers(),
        .text_normalisers = {&progress_text(), &failed_read_text()},
        .json_normalisers = {&disk_size_json()},
    };
}

}  // namespace

ContentExpectation convert_content(const Case& c) {
    const Step& step = c.steps.back();
    std::vector<ContentExpectation> parts;
    for (const std::string& source : convert_sources(step)) {
        const Argument* parameter = find_argument(step, "-l");
        const ImageRecipe* image = find_image(c, source);
        const auto snapshot = parameter != nullptr && parameter->value && image != nullptr
                                  ? named_snapshot(*image, *parameter->value)
                                  : std::nullopt;
        parts.push_back(snapshot ? ContentExpectation::of_snapshot(source, *snapshot)
                                 : ContentExpectation::of_image(source));
    }
    return ContentExpectation::joined(std::move(parts));
}

const Operation& convert_operation() {
    static const Operation operation =
        make_operation("convert", "a copy of images in another format", 20, convert_picker());
    return operation;
}

const Operation& convert_compressed_operation() {
    static const Operation operation = make_operation(
        "convert_compressed", "a compressed copy of images", 10, convert_compressed_picker());
    return operation;
}

}  // namespace difffuzz
