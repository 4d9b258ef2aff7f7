#include "campaign/execution/inspect.hpp"

#include <fmt/format.h>

#include <deque>
#include <set>
#include <sys/stat.h>

#include "campaign/execution/tool_command.hpp"
#include "core/cases/json_fields.hpp"
#include "core/tools/dialect.hpp"
#include "images/file.hpp"
#include "images/image_error.hpp"
#include "images/luks.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_json_bytes = std::size_t{8} << 20;

// Runs a neutral look; NotInspected when a limit of ours ended it, Unreadable when the tool failed.
std::optional<Finding> failed_look(const Outcome& outcome) {
    switch (outcome_class(outcome.ending)) {
        case OutcomeClass::succeeded:
            return std::nullopt;
        case OutcomeClass::refused:
            return Unreadable{outcome.err.head};
        case OutcomeClass::crashed:
            return Unreadable{"the neutral tool crashed"};
        case OutcomeClass::limited:
            return NotInspected{"a limit ended the neutral look"};
        case OutcomeClass::timed_out:
            return NotInspected{"the neutral look timed out"};
        case OutcomeClass::not_started:
            return NotInspected{"the neutral tool did not start"};
    }
    return NotInspected{"unknown outcome"};
}

Outcome look(Sandbox& sandbox, const NeutralTool& tool, int side,
             const std::vector<std::string>& arguments) {
    return sandbox.run(
        tool_command(sandbox, tool.qemu_img, side, {Sandbox::build_side}, arguments, tool.limits));
}

// Calls `read` with the virtual content of an image: through the format's reader, else through a
// conversion to raw in the build directory.
template <typename Read>
Finding with_content(Sandbox& sandbox, const NeutralTool& tool, int side, const Format& format,
                     const std::string& file_name, const std::string& snapshot, Read read) {
    if (snapshot.empty() ? format.open != nullptr : format.open_snapshot != nullptr) {
        try {
            const std::string directory = sandbox.directory(side);
            return read(*(snapshot.empty() ? format.open(directory, file_name)
                                           : format.open_snapshot(directory, file_name, snapshot)));
        } catch (const ImageError&) {
            // Not for our reader (a backing file of a format it does not know, or a broken image):
            // the neutral tool has the last word.
        }
    }
    try {
        const TemporaryFile flat(sandbox.directory(Sandbox::build_side), "flat.raw");
        std::vector<std::string> words{"convert", "-f", std::string(format.name), "-O", "raw"};
        if (!snapshot.empty()) {
            words.insert(words.end(), {"-l", "snapshot.id=" + snapshot});
        }
        words.insert(words.end(),
                     {file_name, sandbox.directory(Sandbox::build_side) + "/" + flat.name()});
        const Outcome outcome = look(sandbox, tool, side, words);
        if (auto failed = failed_look(outcome)) {
            return *failed;
        }
        return read(*find_format("raw")->open(sandbox.directory(Sandbox::build_side), flat.name()));
    } catch (const ImageError& error) {
        return Unreadable{error.what()};
    }
}

Finding check(const Outcome& outcome) {
    // 0 clean, 2 corrupt, 3 leaks: all print their report.
    const auto* exited = std::get_if<Exited>(&outcome.ending);
    if (exited == nullptr || (exited->code != 0 && exited->code != 2 && exited->code != 3)) {
        return failed_look(outcome).value_or(Unreadable{"the check failed"});
    }
    try {
        const auto found = parse_bounded(outcome.out.head, max_json_bytes, 64);
        return CheckFinding{found.value("corruptions", std::uint64_t{0}),
                            found.value("leaks", std::uint64_t{0}),
                            found.value("check-errors", std::uint64_t{0})};
    } catch (const std::exception&) {
        return Unreadable{"the check printed no report"};
    }
}

Finding info(const Outcome& outcome) {
    if (auto failed = failed_look(outcome)) {
        return *failed;
    }
    try {
        return InfoFinding{parse_bounded(outcome.out.head, max_json_bytes, 64)};
    } catch (const RecipeError&) {
        return Unreadable{"the info printed no JSON"};
    }
}

Finding bitmaps(const Format& format, const std::string& directory, const std::string& file_name) {
    if (format.list_bitmaps == nullptr) {
        return BitmapsFinding{};
    }
    try {
        return BitmapsFinding{format.list_bitmaps(directory, file_name)};
    } catch (const ImageError& error) {
        return Unreadable{error.what()};
    }
}

}  // namespace

SandboxNeutralTools::SandboxNeutralTools(Sandbox& sandbox, const NeutralTool& tool)
    : sandbox_(sandbox), tool_(tool) {}

Outcome SandboxNeutralTools::qemu_img(const std::vector<std::string>& arguments) {
    return sandbox_.run(tool_command(sandbox_, tool_.qemu_img, Sandbox::build_side,
                                     {Sandbox::build_side}, arguments, tool_.limits));
}

std::optional<ForeignReference> find_escape(const std::string& directory, const std::string& name) {
    constexpr std::size_t max_files = 16;
    std::deque<std::string> open{name};
    std::set<std::string> seen{name};
    while (!open.empty()) {
        const std::string file = open.front();
        open.pop_front();
        struct stat status {};
        if (::lstat((directory + "/" + file).c_str(), &status) != 0) {
            continue;
        }
        if (!S_ISREG(status.st_mode)) {
            return ForeignReference{"special file", file};
        }
        // Every format looks for its own signature: what a tool wrote need not be what it claims.
        for (const Format& format : formats()) {
            for (const ForeignReference& reference : format.references(directory, file)) {
                if (!stays_inside(reference)) {
                    return reference;
                }
                if (seen.size() < max_files && seen.insert(reference.name).second) {
                    open.push_back(reference.name);
                }
            }
        }
    }
    return std::nullopt;
}

namespace {

bool is_locked(const Format& format, const std::string& directory, const std::string& name) {
    return format.locked == nullptr ? format.keyed : format.locked(directory, name);
}

// A check, unlike info, needs the key.
std::vector<std::string> check_words(const Format& format, const std::string& directory,
                                     const std::string& name) {
    std::vector<std::string> words{"check", "--output", "json"};
    if (is_locked(format, directory, name)) {
        words.insert(words.end(),
                     {"--object", fmt::format("secret,id={},data={}", secret_id, luks_password),
                      "--image-opts", locked_image_options(format.name, name)});
    } else {
        words.insert(words.end(), {"-f", std::string(format.name), name});
    }
    return words;
}

}  // namespace

Finding Looks::find(int side, const InspectionRequest& request, const std::string& file_name) {
    const std::string directory = sandbox_.directory(side);
    struct stat status {};
    if (::lstat((directory + "/" + file_name).c_str(), &status) != 0) {
        return Missing{};
    }
    if (!S_ISREG(status.st_mode)) {
        return Unreadable{"is not a regular file"};
    }
    const Format* format = find_format(request.format);
    if (format == nullptr) {
        return NotInspected{"a format without a reader"};
    }
    const auto scanned = escapes_.try_emplace({side, file_name});
    std::optional<ForeignReference>& escape = scanned.first->second;
    if (scanned.second) {
        escape = find_escape(directory, file_name);
    }
    if (escape) {
        return Escapes{escape->kind, escape->name};
    }
    switch (request.kind) {
        case InspectionKind::content:
            return with_content(sandbox_, tool_, side, *format, file_name, request.snapshot,
                                [](const ContentSource& source) -> Finding {
                                    return ContentFinding{summarise(source), {}};
                                });
        case InspectionKind::check:
            return check(look(sandbox_, tool_, side, check_words(*format, directory, file_name)));
        case InspectionKind::info:
            return info(look(sandbox_, tool_, side,
                             {"info", "--output", "json", "-f", request.format, file_name}));
        case InspectionKind::bitmaps:
            return bitmaps(*format, directory, file_name);
    }
    return NotInspected{"unknown inspection"};
}

Inspection Looks::inspect(int side, const InspectionRequest& request,
                          const std::string& file_name) {
    return {request.kind, request.image, request.format, find(side, request, file_name),
            request.snapshot};
}

void Looks::sample_sector(int side, Inspection& inspection, const std::string& file_name,
                          std::uint64_t sector) {
    auto* finding = std::get_if<ContentFinding>(&inspection.finding);
    const Format* format = find_format(inspection.format);
    if (finding == nullptr || format == nullptr || sector * sector_bytes >= finding->content.size) {
        return;
    }
    // A failure here leaves the sample out; the summary that was read before stands.
    with_content(sandbox_, tool_, side, *format, file_name, inspection.snapshot,
                 [&](const ContentSource& source) -> Finding {
                     const std::uint64_t offset = sector * sector_bytes;
                     std::string bytes(
                         static_cast<std::size_t>(std::min(sector_bytes, source.size() - offset)),
                         '\0');
                     source.read(offset, std::as_writable_bytes(std::span(bytes)));
                     finding->samples[sector] = std::move(bytes);
                     return Missing{};
                 });
}

}  // namespace difffuzz
