#include "reporting/reports/reproduce_script.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>
#include <zlib.h>

#include "core/cases/base64.hpp"
#include "core/cases/digest.hpp"
#include "core/tools/dialect.hpp"
#include "images/content_model.hpp"
#include "images/file.hpp"
#include "images/format.hpp"
#include "images/virtual_content.hpp"
#include "ops/operation.hpp"
#include "reporting/reports/reproduce_text.hpp"
#include "reporting/reports/shell_quote.hpp"

namespace difffuzz {
namespace {

std::string gzip(std::string_view bytes) {
    z_stream stream{};
    constexpr int gzip_window = 15 + 16;
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, 9, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        throw std::runtime_error("zlib cannot compress");
    }
    std::string packed(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const int result = deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    if (result != Z_STREAM_END) {
        throw std::runtime_error("zlib cannot compress");
    }
    return packed;
}

std::string wrapped(std::string_view text) {
    constexpr std::size_t columns = 96;
    std::string lines;
    for (std::size_t at = 0; at < text.size(); at += columns) {
        lines.append(text.substr(at, columns)).append("\n");
    }
    return lines;
}

// Holes stay holes: a raw image's map shows them.
void append_image(std::string& script, const std::string& directory, const std::string& name) {
    constexpr std::uint64_t chunk = std::uint64_t{4} << 20;
    const File file = File::open(directory, name);
    const std::uint64_t size = file.size();
    const std::string quoted = shell_quote(name);
    script += "    image " + quoted + " " + std::to_string(size) + "\n";
    for (std::uint64_t at = file.next_data(0); at < size; at = file.next_data(at)) {
        const std::uint64_t end = std::min(file.next_hole(at), size);
        while (at < end) {
            std::string bytes(static_cast<std::size_t>(std::min(chunk, end - at)), '\0');
            file.read_at(at, std::as_writable_bytes(std::span(bytes)));
            script += "    put " + quoted + " " + std::to_string(at) + " <<'END'\n" +
                      wrapped(base64_encode(gzip(bytes))) + "END\n";
            at += bytes.size();
        }
    }
}

std::string words_of(const Case& c, const Step& step) {
    std::string line;
    for (const std::string& word : render_step(c, step)) {
        line += " " + shell_quote(word);
    }
    return line;
}

// All files that are images of the case, as words.
std::string image_names(const Case& c) {
    std::string words;
    for (const ImageRecipe& image : c.images) {
        for (const std::string& name : files_of(image)) {
            words += " " + shell_quote(name);
        }
    }
    for (const OutputImage& output : c.outputs) {
        words += " " + shell_quote(file_name(output.id, output.format));
    }
    return words;
}

// What the reference says about the images that the step changed, on both sides.
std::string info_comparison(const Case& c, std::size_t step) {
    std::string lines;
    for (const InspectionRequest& request : find_operation(c.operation)->inspections(c, step)) {
        if (request.kind != InspectionKind::info) {
            continue;
        }
        for (const char* side : {"subject", "reference"}) {
            lines += std::string("(cd \"$work/") + side +
                     "\" && \"$reference\" info --output=json -f " + request.format + " " +
                     shell_quote(file_name_of(c, request.image)) + ") >\"$work/" + side +
                     ".info\" 2>&1\nstable \"$work/" + side + ".info\" >\"$work/" + side +
                     ".stable\"\n";
        }
        lines += "differ info \"$work/subject.stable\" \"$work/reference.stable\" && found=0\n";
    }
    return lines;
}

// Ends the script: what it would have to look at is not to be had in a shell.
std::string cannot_tell(const std::string& what, const std::string& field) {
    return "echo " + shell_quote("only 'difffuzz repro' looks at " + what + " (" + field + ")") +
           " >&2\nexit 2\n";
}

// Where both sides read alike, and otherwise than the case's own model says.
std::string model_comparison(const Case& c, const CaseResult& result,
                             const InspectionRequest& request) {
    const Symptom& symptom = result.difference->symptom;
    const nlohmann::json& details = result.difference->details;
    const auto& expected =
        symptom.subject_class == "succeeded" ? request.expected : request.expected_if_refused;
    if (symptom.direction != Direction::both || !expected || details.at("image") != request.image ||
        details.at("snapshot") != request.snapshot) {
        return {};
    }
    const auto model = model_of(c, *expected);
    std::string what = "sized " + std::to_string(model->size());
    if (details.contains("first")) {
        const std::uint64_t offset =
            details.at("first").at("offset").get<std::uint64_t>() / sector_bytes * sector_bytes;
        std::string bytes(static_cast<std::size_t>(std::min(sector_bytes, model->size() - offset)),
                          '\0');
        model->read(offset, std::as_writable_bytes(std::span(bytes)));
        what = "holds " + std::to_string(offset) + " " + sha256_hex(bytes);
    }
    return what + " subject\n" + what + " reference\n";
}

// A relation that one side alone breaks shows as another output, or as another size of a file.
std::string relation_comparison(const CaseResult& result) {
    const Symptom& symptom = result.difference->symptom;
    if (symptom.direction == Direction::both) {
        return cannot_tell("what both tools break", symptom.field);
    }
    std::string lines;
    for (const char* side : {"subject", "reference"}) {
        const std::string work = std::string("\"$work/") + side;
        lines += "{ cat " + work + "\".[0-9]*.out; (cd " + work + "\" && wc -c *); } >" + work +
                 ".said\" 2>&1\nstable " + work + ".said\" >" + work + ".stable\"\n";
    }
    return lines + "differ " + shell_quote(symptom.field) +
           " \"$work/subject.stable\" \"$work/reference.stable\" && found=0\n";
}

// The steps once more by the subject alone, then what differs from the first time.
std::string second_run_comparison(const Case& c, const CaseResult& result) {
    const Operation& operation = *find_operation(c.operation);
    const std::size_t culprit = result.culprit_step;
    const std::string step = std::to_string(culprit);
    std::string lines;
    for (std::size_t s = 0; s <= culprit; ++s) {
        const std::string program(program_of(c.steps[s]));
        const std::string by = c.steps[s].actor == Actor::tool ? "subject"
                               : program == "qemu-io"          ? "qemu-io"
                                                               : "reference";
        lines += "again " + std::to_string(s) + " " + program + " " + by + words_of(c, c.steps[s]) +
                 "\n";
    }
    const std::string& aspect = result.difference->symptom.field;
    if (aspect == "stdout" || aspect == "stderr") {
        return lines + "compare_again " + (aspect == "stdout" ? "out " : "err ") + step + "\n";
    }
    if (aspect == "status") {
        return lines + "compare_again status " + step + "\n";
    }
    if (aspect == "content") {
        for (const InspectionRequest& request : operation.inspections(c, culprit)) {
            if (request.kind != InspectionKind::content) {
                continue;
            }
            for (const char* side : {"subject", "\"$elsewhere\""}) {
                lines += std::string("flat ") + side + " " + request.format + " " +
                         shell_quote(file_name_of(c, request.image)) +
                         (request.snapshot.empty() ? "" : " -l snapshot.id=" + request.snapshot) +
                         "\n";
            }
            lines += "cmp \"$work/subject.flat\" \"$work/$elsewhere.flat\" || found=0\n";
        }
        return lines;
    }
    lines += "listing subject" + image_names(c) + "\nlisting \"$elsewhere\"" + image_names(c) +
             "\ndiffer files \"$work/subject.files\" \"$work/$elsewhere.files\" && found=0\n";
    const std::vector<std::string> may_change = operation.may_change(c, culprit);
    const bool repeats = operation.bytes_stable(c, culprit);
    const auto compare = [&](const std::string& id, const std::string& name, bool repeated) {
        if (repeated || std::ranges::count(may_change, id) == 0) {
            lines += "cmp \"$work/subject/\"" + shell_quote(name) + " \"$work/$elsewhere/\"" +
                     shell_quote(name) + " || found=0\n";
        }
    };
    for (const ImageRecipe& image : c.images) {
        compare(image.id, file_name(image.id, image.format), repeats);
    }
    for (const OutputImage& output : c.outputs) {
        if (repeats) {
            compare(output.id, file_name(output.id, output.format), true);
        }
    }
    return lines;
}

// The lines that look for the difference, by layer.
std::string comparison(const Case& c, const CaseResult& result) {
    const std::string step = std::to_string(result.culprit_step);
    const auto file = [&](const char* side, const char* what) {
        return std::string("\"$work/") + side + "." + step + "." + what + "\"";
    };
    const auto stable_diff = [&](const char* what) {
        return std::string("    compare ") + what + " " + step + "\n";
    };
    const Symptom& symptom = result.difference->symptom;
    std::string lines;
    switch (symptom.layer) {
        case LayerId::crash:
            lines += "[ \"$(cat " + file("subject", "status") + ")\" -ge 128 ] && found=0\n";
            lines += "[ \"$(cat " + file("reference", "status") + ")\" -ge 128 ] && found=0\n";
            lines += "grep -aqE 'Sanitizer|runtime error|Assertion' " + file("subject", "err") +
                     " && found=0\n";
            break;
        case LayerId::inputs:
            for (const ImageRecipe& image : c.images) {
                const std::string name = shell_quote(file_name(image.id, image.format));
                for (const char* side : {"subject", "reference"}) {
                    lines += std::string("cmp \"$work/inputs/\"") + name + " \"$work/" + side +
                             "/\"" + name + " || found=0\n";
                }
            }
            break;
        case LayerId::files:
            for (const char* side : {"subject", "reference"}) {
                lines += std::string("listing ") + side + image_names(c) + "\n";
            }
            lines += "differ files \"$work/subject.files\" \"$work/reference.files\" && found=0\n";
            break;
        case LayerId::content:
        case LayerId::check:
        case LayerId::bytes: {
            const Operation& operation = *find_operation(c.operation);
            for (const InspectionRequest& request : operation.inspections(c, result.culprit_step)) {
                const std::string name = shell_quote(file_name_of(c, request.image));
                if (symptom.layer == LayerId::check) {
                    if (request.kind != InspectionKind::check) {
                        continue;
                    }
                    for (const char* side : {"subject", "reference"}) {
                        lines += std::string("\"$reference\" check -f ") + request.format +
                                 " \"$work/" + side + "/\"" + name + " >\"$work/" + side +
                                 ".check\" 2>&1; echo \"status $?\" >>\"$work/" + side +
                                 ".check\"\n";
                    }
                    lines +=
                        "differ check \"$work/subject.check\" \"$work/reference.check\" && "
                        "found=0\n";
                    if (symptom.direction == Direction::both) {
                        lines += "tail -qn 1 \"$work\"/*.check | grep -vx 'status 0' && found=0\n";
                    }
                } else if (symptom.layer == LayerId::bytes || symptom.field.starts_with("bitmap")) {
                    // No command shows what a bitmap says: the files must do.
                    lines += "cmp \"$work/subject/\"" + name + " \"$work/reference/\"" + name +
                             " || found=0\n";
                } else if (request.kind == InspectionKind::content) {
                    const std::string snapshot =
                        request.snapshot.empty() ? "" : " -l snapshot.id=" + request.snapshot;
                    for (const char* side : {"subject", "reference"}) {
                        lines += std::string("flat ") + side + " " + request.format + " " + name +
                                 snapshot + "\n";
                    }
                    lines += "cmp \"$work/subject.flat\" \"$work/reference.flat\" || found=0\n";
                    lines += model_comparison(c, result, request);
                }
            }
            break;
        }
        case LayerId::json:
            if (symptom.field.starts_with("info:")) {
                lines += info_comparison(c, result.culprit_step);
                break;
            }
            lines += stable_diff("out");
            break;
        case LayerId::header:
            lines += stable_diff("out");
            break;
        case LayerId::error:
            lines += stable_diff("err");
            break;
        case LayerId::text:
            lines += stable_diff("out") + stable_diff("err");
            break;
        case LayerId::relations:
            lines += relation_comparison(result);
            break;
        case LayerId::determinism:
            lines += second_run_comparison(c, result);
            break;
        case LayerId::resource:
            lines += cannot_tell("what the tools take", symptom.field);
            break;
        default:
            lines += "differ 'exit status' " + file("subject", "status") + " " +
                     file("reference", "status") + " && { found=0; cat -v " +
                     file("subject", "err") + " " + file("reference", "err") + "; }\n";
            break;
    }
    return lines;
}

}  // namespace

std::string reproduce_script(const Case& c, const CaseResult& result,
                             const std::string& built_images) {
    std::string script = "#!/usr/bin/env bash\n# " + record_type(result.difference->symptom) +
                         ": runs one case on two tools and shows what differs.\n";
    script += warning;
    script += "\nthe_case() {\n";
    for (const ImageRecipe& image : c.images) {
        for (const std::string& name : files_of(image)) {
            append_image(script, built_images, name);
        }
    }
    for (std::size_t s = 0; s <= result.culprit_step; ++s) {
        const Step& step = c.steps[s];
        script += std::string("    ") + (step.actor == Actor::tool ? "both " : "neutral ") +
                  std::to_string(s) + " " + std::string(program_of(step)) + words_of(c, step) +
                  "\n";
    }
    script += comparison(c, result);
    script += "}\n";
    script += head;
    if (std::ranges::any_of(c.steps,
                            [](const Step& step) { return program_of(step) == "qemu-io"; })) {
        script += neutral_io;
    }
    if (result.difference->symptom.layer == LayerId::determinism) {
        script += second_run;
    }
    if (result.difference->symptom.direction == Direction::both) {
        script += held_against_model;
    }
    script += functions;
    return script;
}

}  // namespace difffuzz
