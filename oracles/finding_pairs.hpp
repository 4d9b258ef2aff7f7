// Walks the inspections of one kind and settles everything but the comparison of two values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracles/comparing.hpp"
#include "oracles/layer.hpp"

namespace difffuzz {

// Whether a file that only one side has is for this layer to report, or left to the files layer.
enum class MissingFiles { report, leave };

// The verdict for a request whose findings are not two values to compare:
//   not inspected, or escaping, on either side   inconclusive (files reports what escapes)
//   unreadable on both sides                     inconclusive
//   unreadable on one side                       diverges, "unreadable"
//   missing on both sides                        diverges where the model expects content after a
//                                                success, else does not apply
//   missing on one side                          diverges, "missing", or does not apply (`missing`)
// Empty when both sides have a value.
std::optional<LayerResult> settle(const Comparison& comparison, const Sides& sides, LayerId layer,
                                  const InspectionRequest& request, const Finding& subject,
                                  const Finding& reference, MissingFiles missing);

// Whether the request looks at something whose state is defined: after a refusal outputs may be
// half written, images that the case brought along may not.
bool is_defined(const Comparison& comparison, const Sides& sides, const InspectionRequest& request);

// The results of many requests as one: the first that diverges, else the first that is
// inconclusive, else agree if one did, else why the first does not apply.
class Collected {
public:
    // True when nothing that follows can matter.
    bool add(LayerResult result);
    LayerResult result() const;

private:
    std::optional<LayerResult> kept_;
    std::vector<std::string_view> needed_;
};

// Applies `compare(request, subject's Value, reference's Value) -> LayerResult` to every request of
// `kind`. Both sides must have ended alike.
template <typename Value, typename Compare>
LayerResult compare_findings(const Comparison& comparison, const Sides& sides, LayerId layer,
                             InspectionKind kind, MissingFiles missing, Compare compare) {
    Collected collected;
    for (std::size_t i = 0; i < comparison.requests.size(); ++i) {
        const InspectionRequest& request = comparison.requests[i];
        if (request.kind != kind) {
            continue;
        }
        LayerResult result = [&] {
            if (!is_defined(comparison, sides, request)) {
                return LayerResult::not_applicable(std::string(reason::refused_output));
            }
            if (i >= sides.subject.inspections.size() || i >= sides.reference.inspections.size()) {
                return LayerResult::inconclusive(std::string(reason::not_inspected));
            }
            const Finding& subject = sides.subject.inspections[i].finding;
            const Finding& reference = sides.reference.inspections[i].finding;
            if (auto settled =
                    settle(comparison, sides, layer, request, subject, reference, missing)) {
                return *settled;
            }
            const auto* left = std::get_if<Value>(&subject);
            const auto* right = std::get_if<Value>(&reference);
            if (left == nullptr || right == nullptr) {
                return LayerResult::inconclusive(std::string(reason::not_inspected));
            }
            return LayerResult(compare(request, *left, *right));
        }();
        if (collected.add(std::move(result))) {
            break;
        }
    }
    return collected.result();
}

}  // namespace difffuzz
