// Builds the two observations of a comparison from literals.
#pragma once

#include <string>
#include <vector>

#include "oracles/layer.hpp"

namespace difffuzz::test {

// A case of one step with one input image "src" (qcow2, 1 MiB, 64 KiB clusters, one write of 0xAA
// at [64 KiB, 128 KiB)) and one output "out" (qcow2), and two sides that both did it in silence.
// Change what the test is about, then look at view().
struct Scene {
    Case c;
    Observation subject;
    Observation reference;
    std::vector<InspectionRequest> requests;
    std::vector<std::string> may_change{"out"};
    std::vector<const TextNormaliser*> text_normalisers;
    std::vector<const JsonNormaliser*> json_normalisers;
    bool bytes_stable = false;

    Scene();

    Comparison view() const;
    LayerResult run(LayerId id) const { return layer(id).compare(view()); }

    Outcome& subject_outcome() { return subject.steps[0].outcome; }
    Outcome& reference_outcome() { return reference.steps[0].outcome; }
    void both_print(const std::string& out);
    // Both exit with 1 after "qemu-img: <message>".
    void both_refuse(const std::string& message);
    // Asks for an inspection of `image` and gives what the two sides show.
    void inspect(InspectionKind kind, const std::string& image, Finding on_subject,
                 Finding on_reference);
    void expect_content(const std::string& image, std::vector<ContentWrite> writes);
};

Stream stream(const std::string& text);
// A stream of which the middle was not kept.
Stream cut_stream(const std::string& head, const std::string& tail);
Ending exited(int code);

// The ids of all layers that diverge, in order: a planted difference must give exactly one.
std::vector<LayerId> diverging(const Scene& scene);
// The reason why a layer did not compare; empty if it did.
std::string reason_of(const Scene& scene, LayerId id);

}  // namespace difffuzz::test
