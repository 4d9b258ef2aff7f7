#include "tests/support/observations.hpp"

#include <utility>

namespace difffuzz::test {

Stream stream(const std::string& text) { return {text, "", text.size()}; }

Stream cut_stream(const std::string& head, const std::string& tail) {
    return {head, tail, head.size() + tail.size() + 1'000'000};
}

Ending exited(int code) { return Exited{code}; }

Scene::Scene() {
    ImageRecipe src;
    src.id = "src";
    src.format = "qcow2";
    src.size = 1 << 20;
    src.content = {{WriteKind::write, 65536, 65536, ByteFill{0xAA}}};
    c.operation = "convert";
    c.images = {src};
    c.outputs = {{"out", "qcow2"}};
    Step step;
    step.operation = "convert";
    step.command = "convert";
    c.steps = {step};

    StepObservation done;
    done.argv = {"qemu-img", "convert", "src.qcow2", "out.qcow2"};
    done.outcome.ending = Exited{0};
    const FileEntry input{"src.qcow2", FileType::regular, 327680, 11};
    const FileEntry output{"out.qcow2", FileType::regular, 327680, 22};
    done.files = {output, input};
    subject.initial = {input};
    subject.steps = {done};
    reference = subject;
}

Comparison Scene::view() const {
    return {c,           0,          subject,          reference,
            requests,    may_change, text_normalisers, json_normalisers,
            bytes_stable};
}

void Scene::both_print(const std::string& out) {
    subject_outcome().out = stream(out);
    reference_outcome().out = stream(out);
}

void Scene::both_refuse(const std::string& message) {
    for (Outcome* outcome : {&subject_outcome(), &reference_outcome()}) {
        outcome->ending = Exited{1};
        outcome->err = stream("qemu-img: " + message + "\n");
    }
}

void Scene::inspect(InspectionKind kind, const std::string& image, Finding on_subject,
                    Finding on_reference) {
    InspectionRequest request;
    request.kind = kind;
    request.image = image;
    request.format = "qcow2";
    requests.push_back(request);
    subject.steps[0].inspections.push_back({kind, image, "qcow2", std::move(on_subject)});
    reference.steps[0].inspections.push_back({kind, image, "qcow2", std::move(on_reference)});
}

void Scene::expect_content(const std::string& image, std::vector<ContentWrite> writes) {
    requests.back().expected =
        ContentExpectation::of_image(image).resized(1 << 20).written(std::move(writes));
}

std::vector<LayerId> diverging(const Scene& scene) {
    std::vector<LayerId> found;
    for (const Layer& row : layers()) {
        if (row.compare(scene.view()).verdict == LayerVerdict::diverge) {
            found.push_back(row.id);
        }
    }
    return found;
}

std::string reason_of(const Scene& scene, LayerId id) { return scene.run(id).reason; }

}  // namespace difffuzz::test
