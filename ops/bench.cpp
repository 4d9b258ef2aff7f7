#include "ops/bench.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "images/format.hpp"
#include "ops/shared.hpp"
#include "pickers/bench.hpp"

namespace difffuzz {
namespace {

// The plan of a run that every tool should carry out; nothing for a refused one.
std::optional<BenchPlan> plan_of(const Case& c) {
    return std::holds_alternative<ValidIntent>(c.steps.back().intent) ? bench_plan_of(c)
                                                                      : std::nullopt;
}

const ImageRecipe& image_of(const Case& c) { return c.images.back(); }

bool writes(const Case& c) {
    const auto plan = plan_of(c);
    return plan && plan->write;
}

// What the requests write, as runs that neither overlap nor touch: the schedule of a valid plan
// ascends, and every request carries the same byte.
std::vector<ContentWrite> written(const BenchPlan& plan) {
    std::vector<ContentWrite> runs;
    for (const std::uint64_t offset : OffsetSchedule(plan, WrapRule::modulo_size)) {
        if (!runs.empty() && offset <= runs.back().offset + runs.back().length) {
            runs.back().length = offset + plan.bufsize - runs.back().offset;
        } else {
            runs.push_back({WriteKind::write, offset, plan.bufsize, ByteFill{plan.pattern}});
        }
    }
    return runs;
}

Cost cost(const Case& c) {
    Cost cost = images_cost(c);
    if (const auto plan = plan_of(c)) {
        const std::uint64_t transfer = plan->count * plan->bufsize;
        cost.bytes_written += transfer;
        cost.requests += plan->count;
        const ImageRecipe& image = image_of(c);
        if (const std::uint64_t cluster = find_format(image.format)->cluster_bytes(image)) {
            cost.metadata_clusters += transfer / cluster + 2 * plan->count;
            // What is around a request is copied, at most all of it.
            cost.bytes_written += std::min(2 * plan->count * cluster, image.size);
        }
    }
    return cost;
}

// Whether a step that is refused has opened its image for writing first.
bool refused_late(const Case& c) {
    const auto plan = bench_plan_of(c);
    return broken_rule(c) == "start-past-end" && plan && plan->write;
}

std::vector<InspectionRequest> inspections(const Case& c, std::size_t) {
    const ImageRecipe& image = image_of(c);
    if (refused_late(c)) {
        const ContentExpectation before =
            ContentExpectation::of_image(image.id).resized(bench_plan_of(c)->image_size);
        std::vector<InspectionRequest> requests =
            output_inspections(image.id, image.format, before);
        requests.front().expected_if_refused = before;
        return requests;
    }
    if (!writes(c)) {
        return {};
    }
    const BenchPlan plan = *plan_of(c);
    std::vector<InspectionRequest> requests = output_inspections(
        image.id, image.format,
        ContentExpectation::of_image(image.id).resized(plan.image_size).written(written(plan)));
    for (std::size_t i = 0; i < image.snapshots.size(); ++i) {
        InspectionRequest request{InspectionKind::content, image.id, image.format,
                                  ContentExpectation::of_snapshot(image.id, i)};
        request.snapshot = std::to_string(i + 1);
        requests.push_back(std::move(request));
    }
    return requests;
}

std::vector<std::string> may_change(const Case& c, std::size_t) {
    // Bitmaps are marked as in use, and written anew, whenever an image is opened for writing.
    const bool opened = refused_late(c) && !image_of(c).bitmaps.empty();
    return writes(c) || opened ? std::vector{image_of(c).id} : std::vector<std::string>{};
}

// raw has no clusters to allocate, and requests that overlap carry the same byte. Elsewhere the
// order in which parallel requests allocate is free.
bool bytes_stable(const Case& c, std::size_t) {
    const std::string& format = image_of(c).format;
    return writes(c) &&
           (format == "raw" || (plan_of(c)->depth == 1 && find_format(format)->bytes_stable));
}

// The header repeats the arguments, with the reference's defaults for those that are left out.
std::optional<std::string> first_line(const Case& c, std::size_t) {
    const auto plan = plan_of(c);
    if (!plan) {
        return std::nullopt;
    }
    return fmt::format(
        "Sending {} {} requests, {} bytes each, {} in parallel (starting at offset {}, step size "
        "{})",
        plan->count, plan->write ? "write" : "read", plan->bufsize, plan->depth, plan->offset,
        effective_step(*plan));
}

std::vector<LayerUse> bench_layers() {
    std::vector<LayerUse> uses = writing_layers();
    for (LayerUse& use : uses) {
        if (use.id == LayerId::content || use.id == LayerId::bytes) {
            use.name = "write";
        }
    }
    return uses;
}

}  // namespace

const Operation& bench_operation() {
    static const Operation operation{
        .name = "bench",
        .summary = "timed reads or writes of a linear run of requests",
        .weight = 15,
        .picker = &bench_picker(),
        .cost = cost,
        .inspections = inspections,
        .may_change = may_change,
        .bytes_stable = bytes_stable,
        .first_line = first_line,
        .layers = bench_layers(),
        .text_normalisers = {&elapsed_time_text()},
        .json_normalisers = {},
    };
    return operation;
}

}  // namespace difffuzz
