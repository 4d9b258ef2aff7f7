#include <memory>
#include <optional>
#include <utility>

#include "images/content_model.hpp"
#include "images/image_error.hpp"
#include "oracles/bitmap_contents.hpp"
#include "oracles/comparing.hpp"
#include "oracles/content_shape.hpp"
#include "oracles/finding_pairs.hpp"
#include "oracles/layer_functions.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_shown_bytes = 32;

// What the recipe says that the image holds.
struct Model {
    std::unique_ptr<ContentSource> source;
    VirtualContent content;
};

std::optional<Model> model_for(const Comparison& comparison, const Sides& sides,
                               const InspectionRequest& request) {
    const std::optional<ContentExpectation>& expected =
        sides.both(OutcomeClass::succeeded) ? request.expected : request.expected_if_refused;
    if (!expected) {
        return std::nullopt;
    }
    Model model{model_of(comparison.c, *expected), {}};
    model.content = summarise(*model.source);
    return model;
}

// Who is off, by the model where there is one.
struct Verdict {
    Direction direction = Direction::differ;
    Severity severity = Severity::corruption;
};

std::optional<Verdict> verdict_of(const VirtualContent& subject, const VirtualContent& reference,
                                  const Model* model) {
    if (model == nullptr) {
        return subject == reference ? std::nullopt : std::optional(Verdict{});
    }
    const bool subject_right = subject == model->content;
    const bool reference_right = reference == model->content;
    if (subject_right && reference_right) {
        return std::nullopt;
    }
    if (reference_right) {
        return Verdict{Direction::subject, Severity::corruption};
    }
    if (subject_right) {
        return Verdict{Direction::reference, Severity::reference};
    }
    return subject == reference ? Verdict{Direction::both, Severity::reference} : Verdict{};
}

nlohmann::json shown(const VirtualContent& content) {
    return {{"size", content.size}, {"nonzero_sectors", content.sectors.size()}};
}

nlohmann::json shown_bytes(const std::optional<std::string>& sector, std::size_t from) {
    if (!sector || from > sector->size()) {
        return nullptr;
    }
    return hex(std::string_view(*sector).substr(from, max_shown_bytes));
}

LayerResult differing(const Comparison& comparison, const Sides& sides,
                      const InspectionRequest& request, const ContentFinding& subject,
                      const ContentFinding& reference, const Model* model, const Verdict& verdict) {
    Difference difference =
        start_difference(comparison, sides, LayerId::content, verdict.direction, verdict.severity);
    difference.details = {{"image", request.image},
                          {"format", request.format},
                          {"snapshot", request.snapshot},
                          {"subject", shown(subject.content)},
                          {"reference", shown(reference.content)},
                          {"model", model != nullptr ? shown(model->content) : nlohmann::json()}};
    // The side that is off is held against the other one; both being off alike, against the model.
    const ContentFinding& off = verdict.direction == Direction::reference ? reference : subject;
    const VirtualContent& right = verdict.direction == Direction::both ? model->content
                                  : &off == &subject                   ? reference.content
                                                                       : subject.content;
    if (off.content.size != right.size) {
        difference.symptom.field = request.snapshot.empty() ? "size" : "snapshot:size";
        difference.symptom.shape = size_shape(off.content.size, right.size);
        return LayerResult::diverge(std::move(difference));
    }
    const std::uint64_t sector = first_difference(off.content, right).value_or(0);
    const auto subject_bytes = sector_of(subject, sector);
    const auto reference_bytes = sector_of(reference, sector);
    const auto model_bytes = model != nullptr ? sector_of(*model->source, sector) : std::nullopt;
    const ContentPlace place = place_of(sector, &off == &subject ? subject_bytes : reference_bytes,
                                        verdict.direction == Direction::both ? model_bytes
                                        : &off == &subject                   ? reference_bytes
                                                                             : subject_bytes);
    difference.symptom.field = request.snapshot.empty() ? "data" : "snapshot:data";
    difference.symptom.shape = shape_of(comparison.c, request, place, off.content, right,
                                        model != nullptr ? &model->content : nullptr);
    difference.details["differing_sectors"] = differing_sectors(off.content, right);
    difference.details["first"] = {{"offset", place.offset()},
                                   {"exact", place.exact},
                                   {"subject", shown_bytes(subject_bytes, place.byte)},
                                   {"reference", shown_bytes(reference_bytes, place.byte)},
                                   {"model", shown_bytes(model_bytes, place.byte)}};
    return LayerResult::diverge(std::move(difference));
}

}  // namespace

LayerResult compare_content(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (!sides->ended_alike()) {
        return LayerResult::not_applicable(std::string(reason::classes_differ));
    }
    const auto compare = [&](const InspectionRequest& request, const ContentFinding& subject,
                             const ContentFinding& reference) {
        try {
            const auto model = model_for(comparison, *sides, request);
            const Model* known = model ? &*model : nullptr;
            const auto verdict = verdict_of(subject.content, reference.content, known);
            return verdict
                       ? differing(comparison, *sides, request, subject, reference, known, *verdict)
                       : LayerResult::agree();
        } catch (const ImageError&) {
            // A model that cannot be computed is counted by this reason, like a failed inspection.
            return LayerResult::inconclusive(std::string(reason::no_model));
        }
    };
    const auto compare_both_bitmaps = [&](const InspectionRequest& request,
                                          const BitmapsFinding& subject,
                                          const BitmapsFinding& reference) {
        return compare_bitmaps(comparison, *sides, request, subject, reference);
    };
    Collected collected;
    if (!collected.add(compare_findings<ContentFinding>(comparison, *sides, LayerId::content,
                                                        InspectionKind::content,
                                                        MissingFiles::report, compare))) {
        collected.add(compare_findings<BitmapsFinding>(comparison, *sides, LayerId::content,
                                                       InspectionKind::bitmaps, MissingFiles::leave,
                                                       compare_both_bitmaps));
    }
    return collected.result();
}

}  // namespace difffuzz
