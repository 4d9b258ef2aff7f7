#include "reporting/reports/reproduce_script.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <zlib.h>

#include "core/cases/base64.hpp"
#include "core/tools/dialect.hpp"
#include "images/file.hpp"
#include "images/format.hpp"
#include "ops/operation.hpp"
#include "reporting/reports/shell_quote.hpp"

namespace difffuzz {
namespace {

constexpr std::string_view warning = R"(#
# Both tools run as you, with all your rights and uncontained: do not run this as root, nor with a
# tool that you do not trust with your files. 'difffuzz repro' contains them.
#
# SUBJECT and REFERENCE name the tools; a command may take TIMEOUT seconds (60).
# Exit status: 0 the difference is there, 1 it is not, 2 cannot run or cannot tell.
)";

constexpr std::string_view head = R"(set -u
export LC_ALL=C TZ=UTC
ulimit -c 0
limit=${TIMEOUT:-60}
subject=$(command -v "${SUBJECT:-}") || { echo "set SUBJECT to the tool under test" >&2; exit 2; }
reference=$(command -v "${REFERENCE:-qemu-img}") || { echo "set REFERENCE to a qemu-img" >&2; exit 2; }
subject=$(realpath "$subject") reference=$(realpath "$reference")
work=$(mktemp -d) || exit 2
left() {  # SIDE: the processes that its commands left running, known by their environment
    grep -lzsxF "RUN_IN=$work/$1" /proc/[0-9]*/environ | cut -d / -f 3
}
trap 'kill -9 $(left subject) $(left reference) 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 2' INT TERM
mkdir "$work/subject" "$work/reference" "$work/inputs" || exit 2
)";

constexpr std::string_view neutral_io = R"(
# What writes between the commands: the qemu-io beside the reference, or another one.
qemu_io=${QEMU_IO:-$(dirname "$reference")/qemu-io}
[ -x "$qemu_io" ] || qemu_io=$(command -v qemu-io) || { echo "set QEMU_IO to a qemu-io" >&2; exit 2; }
)";

constexpr std::string_view tail_head = R"(
put() {  # FILE OFFSET: writes what stands on standard input, gzip in base64, at this offset
    base64 -d | gzip -d | dd of="$1" bs=64K seek="$2" oflag=seek_bytes conv=notrunc status=none || exit 2
}
run() {  # SIDE STEP NAME PROGRAM WORDS...: one command in the side's directory
    local side=$1 step=$2 name=$3 program=$4 status signal ended
    shift 4
    (cd "$work/$side" &&
        exec env RUN_IN="$work/$side" timeout --foreground -k 5 "$limit" bash -c 'exec -a "$0" "$@"' "$name" "$program" "$@" ) \
        >"$work/$side.$step.out" 2>"$work/$side.$step.err" </dev/null
    status=$?
    echo "$status" >"$work/$side.$step.status"
    ended="exit status $status"
    if [ "$status" -gt 128 ] && signal=$(kill -l "$status" 2>/dev/null); then
        ended="killed by SIG$signal"
    fi
    printf '%s: %s' "$side" "$name"
    [ $# = 0 ] || printf ' %q' "$@"
    echo " -> $ended"
    case $status in
    124 | 137) echo "this command did not end within TIMEOUT=$limit seconds, or was killed" >&2; exit 2 ;;
    125) echo "TIMEOUT must be a number of seconds" >&2; exit 2 ;;
    esac
}
stable() {  # FILE: without what differs from run to run
    sed -E -e '/"actual-size"|disk size:|"cid":|^ *cid:/d' -e 's/completed in .* seconds/completed/' "$1"
}
differ() {  # WHAT FILE FILE: shows a difference of two texts
    diff -a -u --label "subject $1" --label "reference $1" "$2" "$3" >"$work/diff" && return 1
    cat -v "$work/diff" | head -n 40
}
listing() {  # SIDE IMAGE...: types, names and, of what is no image, sizes of the side's files; processes left
    local side=$1 images=()
    shift
    for image; do images+=(! -path "./$image"); done
    (cd "$work/$side" || exit
        find . -mindepth 1 -printf '%y %P\n' | sort
        find . -mindepth 1 -type f "${images[@]}" -printf '%s bytes: %P\n' | sort
        echo "$(left "$side" | wc -l) processes left") >"$work/$side.files"
}
flat() {  # SIDE FORMAT FILE [-l SNAPSHOT]: the guest's view, by the reference
    "$reference" convert "${@:4}" -f "$2" -O raw "$work/$1/$3" "$work/$1.flat" 2>"$work/$1.flat.err"
    echo "$1: $3 reads with status $?" | tee "$work/$1.read"
}
found=1
)";

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
    script +=
        "truncate -s " + std::to_string(size) + " \"$work/inputs/\"" + quoted + " || exit 2\n";
    for (std::uint64_t at = file.next_data(0); at < size; at = file.next_data(at)) {
        const std::uint64_t end = std::min(file.next_hole(at), size);
        while (at < end) {
            std::string bytes(static_cast<std::size_t>(std::min(chunk, end - at)), '\0');
            file.read_at(at, std::as_writable_bytes(std::span(bytes)));
            script += "put \"$work/inputs/\"" + quoted + " " + std::to_string(at) + " <<'END'\n" +
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

// The lines that look for the difference, by layer.
std::string comparison(const Case& c, const CaseResult& result) {
    const std::string step = std::to_string(result.culprit_step);
    const auto file = [&](const char* side, const char* what) {
        return std::string("\"$work/") + side + "." + step + "." + what + "\"";
    };
    const auto stable_diff = [&](const char* what) {
        return std::string("stable ") + file("subject", what) + " >\"$work/a\"; stable " +
               file("reference", what) + " >\"$work/b\"\ndiffer " + what +
               " \"$work/a\" \"$work/b\" && found=0\n";
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
    script += head;
    if (std::ranges::any_of(c.steps,
                            [](const Step& step) { return program_of(step) == "qemu-io"; })) {
        script += neutral_io;
    }
    script += tail_head;
    script += "\n# The input images.\n";
    for (const ImageRecipe& image : c.images) {
        for (const std::string& name : files_of(image)) {
            append_image(script, built_images, name);
        }
    }
    script +=
        "for side in subject reference; do\n"
        "    cp --sparse=always \"$work\"/inputs/* \"$work/$side/\" 2>/dev/null\n"
        "done\n\n# The commands.\n";
    for (std::size_t s = 0; s <= result.culprit_step; ++s) {
        const Step& step = c.steps[s];
        const std::string words = words_of(c, step);
        const std::string number = std::to_string(s);
        const std::string name(program_of(step));
        const std::string neutral = name == "qemu-io" ? "\"$qemu_io\"" : "\"$reference\"";
        script += "run subject " + number + " " + name + " " +
                  (step.actor == Actor::tool ? "\"$subject\"" : neutral) + words + "\n";
        script += "run reference " + number + " " + name + " " + neutral + words + "\n";
    }
    script += "\n# What differs.\n" + comparison(c, result);
    script +=
        "[ $found = 0 ] && echo 'the difference is there' || echo 'no difference'\n"
        "exit $found\n";
    return script;
}

}  // namespace difffuzz
