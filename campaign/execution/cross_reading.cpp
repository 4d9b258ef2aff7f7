#include "campaign/execution/cross_reading.hpp"

#include <set>

#include "campaign/execution/tool_command.hpp"
#include "images/file.hpp"
#include "images/format.hpp"
#include "images/image_error.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_images = 4;
constexpr const char* copy_name = "cross-reading.raw";

ReadContent read_image(const Format& format, const std::string& directory,
                       const std::string& name) {
    try {
        return {ReadContent::End::read, summarise(*format.open(directory, name))};
    } catch (const ImageError&) {
        return {};
    }
}

// A tool that reads, until it gives no answer: each command that hangs costs its whole time.
struct Reader {
    const SandboxTool& tool;
    bool answers = true;
};

ReadContent read_by(const Reader& reader, int side, const Format& format, const std::string& name,
                    const CrossReaders& readers) {
    if (!reader.answers) {
        return {};
    }
    const SandboxTool& tool = reader.tool;
    const std::string directory = readers.sandbox.directory(side);
    const TemporaryFile copy(directory, copy_name);
    Command command = tool_command(
        readers.sandbox, tool, side, {side},
        {"convert", "-f", std::string(format.name), "-O", "raw", name, copy_name}, readers.limits);
    plant(tool, readers.fault, command);
    switch (outcome_class(readers.sandbox.run(command).ending)) {
        case OutcomeClass::succeeded:
            return read_image(*find_format("raw"), directory, copy_name);
        case OutcomeClass::refused:
            return {ReadContent::End::refused, {}};
        default:
            return {};
    }
}

class Reading {
public:
    explicit Reading(const CrossReaders& readers)
        : readers_(readers), subject_{readers.subject}, reference_{readers.reference} {}

    CrossReading read(const Inspection& image, int side, const std::string& name) {
        const Format& format = *find_format(image.format);
        CrossReading reading{image.image,
                             image.format,
                             side == 0 ? Direction::subject : Direction::reference,
                             read_by(subject_, side, format, name, readers_),
                             read_by(reference_, side, format, name, readers_),
                             {}};
        subject_.answers &= reading.by_subject.end != ReadContent::End::no_answer;
        reference_.answers &= reading.by_reference.end != ReadContent::End::no_answer;
        if (format.open != nullptr) {
            reading.by_us = read_image(format, readers_.sandbox.directory(side), name);
        }
        return reading;
    }

private:
    const CrossReaders& readers_;
    Reader subject_;
    Reader reference_;
};

// Whether the content of the image was read: then it is there, and leads to nowhere outside.
bool was_read(const std::vector<Inspection>& inspections, std::size_t i) {
    return i < inspections.size() && inspections[i].snapshot.empty() &&
           std::holds_alternative<ContentFinding>(inspections[i].finding);
}

}  // namespace

std::vector<CrossReading> read_across(const Case& c, const CaseResult& result,
                                      const CrossReaders& readers) {
    Reading reading(readers);
    std::vector<CrossReading> readings;
    std::set<std::string> images;
    const std::size_t step = result.culprit_step;
    const auto& subject = result.subject.steps.at(step).inspections;
    const auto& reference = result.reference.steps.at(step).inspections;
    for (std::size_t i = 0; i < subject.size() && images.size() < max_images; ++i) {
        const Inspection& image = subject[i];
        const Format* format = find_format(image.format);
        if (!was_read(subject, i) || !was_read(reference, i) || format == nullptr ||
            format->keyed || !images.insert(image.image).second) {
            continue;
        }
        const std::string name = file_name_of(c, image.image);
        readings.push_back(reading.read(image, 0, name));
        readings.push_back(reading.read(image, 1, name));
    }
    return readings;
}

}  // namespace difffuzz
