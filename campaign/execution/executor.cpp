#include "campaign/execution/executor.hpp"

#include <algorithm>
#include <array>
#include <system_error>

#include <sys/stat.h>

#include "campaign/execution/cross_reading.hpp"
#include "campaign/execution/inspect.hpp"
#include "campaign/execution/tool_command.hpp"
#include "campaign/execution/workspace.hpp"
#include "core/cases/json_fields.hpp"
#include "core/tools/dialect.hpp"
#include "core/tools/stand_in.hpp"
#include "images/image_error.hpp"

namespace difffuzz {
namespace {

constexpr int build_side = 2;
constexpr std::array sides{0, 1};  // subject, reference

const SandboxTool& tool_named(const Sandbox& sandbox, const std::string& name) {
    const auto& tools = sandbox.tools();
    return *std::find_if(tools.begin(), tools.end(),
                         [&](const SandboxTool& tool) { return tool.name == name; });
}

// Null when there is none of that name.
const SandboxTool* find_tool(const Sandbox& sandbox, std::string_view name) {
    const auto& tools = sandbox.tools();
    const auto found = std::ranges::find(tools, name, &SandboxTool::name);
    return found == tools.end() ? nullptr : &*found;
}

// Why a neutral step cannot be run, for what a tool did to its images earlier; empty if it can.
std::string neutral_obstacle(const Sandbox& sandbox, const Case& c, const Step& step,
                             bool has_qemu_io) {
    if (program_of(step) == "qemu-io" && !has_qemu_io) {
        return "there is no qemu-io beside the reference";
    }
    for (const Argument& argument : step.arguments) {
        const auto* image = argument.value ? std::get_if<ImageValue>(&*argument.value) : nullptr;
        for (const int side : sides) {
            if (image != nullptr &&
                find_escape(sandbox.directory(side), file_name_of(c, image->id))) {
                return "an image of a neutral step refers outside of the workspace";
            }
        }
    }
    return {};
}

// Whether a stand-in that ran on this side says that it planted its fault.
bool left_its_mark(const Sandbox& sandbox, int side) {
    struct stat status {};
    const std::string mark = temporary_directory(sandbox, side) + "/" + stand_in::mark;
    return ::lstat(mark.c_str(), &status) == 0;
}

// Files whose bytes are hashed: the inputs always, since they must not change; outputs only where
// their bytes will be compared.
std::vector<std::string> hashed_files(const Case& c, bool outputs) {
    std::vector<std::string> names;
    for (const ImageRecipe& image : c.images) {
        const std::vector<std::string> files = files_of(image);
        names.insert(names.end(), files.begin(), files.end());
    }
    if (outputs) {
        for (const OutputImage& output : c.outputs) {
            names.push_back(file_name(output.id, output.format));
        }
    }
    return names;
}

// Whether both workspaces hold the same files with the same bytes.
bool same_bytes(const StepObservation& subject, const StepObservation& reference) {
    return !subject.files_cut && subject.files == reference.files &&
           std::ranges::all_of(subject.files, [](const FileEntry& file) {
               return file.type == FileType::regular && file.content_hash != 0;
           });
}

// What our readers find depends on nothing but the bytes of the workspace.
bool depends_on_bytes_alone(InspectionKind kind) {
    return kind == InspectionKind::content || kind == InspectionKind::bitmaps;
}

// Layers that look at what came out, as opposed to how it ended.
bool is_result_layer(LayerId id) {
    switch (id) {
        case LayerId::header:
        case LayerId::error:
        case LayerId::json:
        case LayerId::text:
        case LayerId::content:
        case LayerId::check:
        case LayerId::bytes:
        case LayerId::relations:
            return true;
        default:
            return false;
    }
}

int strength(LayerVerdict verdict) {
    switch (verdict) {
        case LayerVerdict::diverge:
            return 3;
        case LayerVerdict::agree:
            return 2;
        case LayerVerdict::inconclusive:
            return 1;
        case LayerVerdict::not_applicable:
            return 0;
    }
    return 0;
}

// Keeps, per layer, the strongest verdict of all steps.
void merge(std::vector<LayerReport>& into, std::vector<LayerReport> reports) {
    for (LayerReport& report : reports) {
        const auto found = std::find_if(into.begin(), into.end(),
                                        [&](const LayerReport& r) { return r.id == report.id; });
        if (found == into.end()) {
            into.push_back(std::move(report));
        } else if (strength(report.result.verdict) > strength(found->result.verdict)) {
            *found = std::move(report);
        }
    }
}

bool timed_out(const StepObservation& step) {
    return outcome_class(step.outcome.ending) == OutcomeClass::timed_out;
}

bool has_class(const Observation& observation, OutcomeClass wanted) {
    return std::any_of(
        observation.steps.begin(), observation.steps.end(),
        [&](const StepObservation& step) { return outcome_class(step.outcome.ending) == wanted; });
}

std::vector<OutcomeClass> classes(const Observation& observation) {
    std::vector<OutcomeClass> result;
    for (const StepObservation& step : observation.steps) {
        result.push_back(outcome_class(step.outcome.ending));
    }
    return result;
}

// What a damaged case is like but for the damage: what its steps may change and what there is to
// look at afterwards.
Case as_meant(Case c) {
    for (Step& step : c.steps) {
        if (std::holds_alternative<DamagedIntent>(step.intent)) {
            step.intent = ValidIntent{};
        }
    }
    return c;
}

// What the gates and layers say together.
void conclude(CaseResult& result) {
    for (const LayerReport& report : result.layers) {
        if (is_result_layer(report.id) && (report.result.verdict == LayerVerdict::agree ||
                                           report.result.verdict == LayerVerdict::diverge)) {
            result.compared = true;
        }
    }
    if (result.difference) {
        result.terminal = Terminal::diverged;
        return;
    }
    for (const Observation* side : {&result.subject, &result.reference}) {
        if (has_class(*side, OutcomeClass::timed_out)) {
            result.terminal = Terminal::inconclusive_external_timeout;
            return;
        }
    }
    for (const Observation* side : {&result.subject, &result.reference}) {
        if (has_class(*side, OutcomeClass::limited)) {
            result.terminal = Terminal::inconclusive_limited;
            result.reason = "a limit ended a tool";
            return;
        }
        if (has_class(*side, OutcomeClass::not_started)) {
            result.terminal = Terminal::unavailable;
            result.reason = "a tool did not start";
            return;
        }
    }
    for (const LayerReport& report : result.layers) {
        if (report.result.verdict == LayerVerdict::inconclusive) {
            result.terminal = Terminal::harness_inspection;
            result.reason = report.name + ": " + report.result.reason;
            return;
        }
    }
    result.terminal = result.subject_accepted || result.reference_accepted
                          ? Terminal::agreed
                          : Terminal::refused_by_both;
}

}  // namespace

std::string_view to_string(Terminal terminal) {
    switch (terminal) {
        case Terminal::agreed:
            return "agreed";
        case Terminal::diverged:
            return "diverged";
        case Terminal::refused_by_both:
            return "refused_by_both";
        case Terminal::inconclusive_external_timeout:
            return "inconclusive_external_timeout";
        case Terminal::inconclusive_limited:
            return "inconclusive_limited";
        case Terminal::harness_fixture:
            return "harness_fixture";
        case Terminal::harness_inspection:
            return "harness_inspection";
        case Terminal::exhausted:
            return "exhausted";
        case Terminal::unavailable:
            return "unavailable";
        case Terminal::harness_killed:
            return "harness_killed";
        case Terminal::outside_shard:
            return "outside_shard";
        case Terminal::untested:
            return "untested";
    }
    return "untested";
}

Terminal parse_terminal(std::string_view name) {
    for (int i = 0; i <= static_cast<int>(Terminal::untested); ++i) {
        if (to_string(static_cast<Terminal>(i)) == name) {
            return static_cast<Terminal>(i);
        }
    }
    throw RecipeError("/terminal", "is no terminal outcome");
}

Limits scaled_limits(const Limits& base, const Case& c) {
    // Sizes above this are meant to be refused, not written.
    constexpr std::uint64_t largest = std::uint64_t{1} << 43;
    std::uint64_t size = 0;
    for (const ImageRecipe& image : c.images) {
        size += std::min(image.size, largest);
    }
    const auto ask = [&](const SizeValue& asked) {
        if (asked.bytes <= largest) {
            size = std::max(size, asked.bytes);
        }
    };
    for (const Step& step : c.steps) {
        for (const Argument& argument : step.arguments) {
            if (!argument.value) {
                continue;
            }
            if (const auto* asked = std::get_if<SizeValue>(&*argument.value)) {
                ask(*asked);
            } else if (const auto* list = std::get_if<OptionList>(&*argument.value)) {
                for (const FormatOption& option : list->options) {
                    if (const auto* value = std::get_if<SizeValue>(&option.value)) {
                        ask(*value);
                    }
                }
            }
        }
    }
    Limits limits = base;
    limits.file_bytes = (std::uint64_t{64} << 20) + 4 * size;
    return limits;
}

Executor::Executor(Sandbox& sandbox, const Limits& limits) : sandbox_(sandbox), limits_(limits) {}

CaseResult Executor::run(const Case& c, const RolePair& roles, std::optional<LayerId> without) {
    Operation operation = *find_operation(c.operation);
    std::erase_if(operation.layers, [&](const LayerUse& use) { return use.id == without; });
    const Limits limits = scaled_limits(limits_, c);
    CaseResult result = attempt(c, operation, roles, limits);
    // qemu-img refuses in its own words when it meets a limit of ours: a refusal of what no rule
    // forbids counts only if it stays with the limit out of the way.
    const bool may_be_limit =
        intent_name(c) != "refused" &&
        ((!result.subject_accepted && has_class(result.subject, OutcomeClass::refused)) ||
         (!result.reference_accepted && has_class(result.reference, OutcomeClass::refused)));
    if (may_be_limit) {
        Limits raised = limits;
        raised.file_bytes *= 10;
        const CaseResult again = attempt(c, operation, roles, raised);
        if (classes(again.subject) != classes(result.subject) ||
            classes(again.reference) != classes(result.reference)) {
            result.difference.reset();
            result.terminal = Terminal::inconclusive_limited;
            result.reason = "a refusal that goes away with ten times the file size";
        }
    }
    return result;
}

CaseResult Executor::attempt(const Case& c, const Operation& operation, const RolePair& roles,
                             const Limits& limits) {
    CaseResult result;
    const NeutralTool neutral{tool_named(sandbox_, "reference"), limits};
    const SandboxTool* const qemu_io = find_tool(sandbox_, "io");
    try {
        sandbox_.reset(build_side);
        SandboxNeutralTools builder(sandbox_, neutral);
        build_images(c, sandbox_.directory(build_side), builder);
        for (const ImageRecipe& image : c.images) {
            if (!image.damage.empty() &&
                find_escape(sandbox_.directory(build_side), file_name(image.id, image.format))) {
                throw ImageError("a damaged image refers outside of the workspace");
            }
        }
        hashes_.clear();
        std::vector<std::string> directories;
        for (const int side : sides) {
            sandbox_.reset(side);
            directories.push_back(sandbox_.directory(side));
        }
        for (const ImageRecipe& image : c.images) {
            for (const std::string& name : files_of(image)) {
                result.subject.initial.push_back(
                    clone_file(sandbox_.directory(build_side), directories, name));
                for (const std::string& directory : directories) {
                    hashes_.remember(directory + "/" + name,
                                     result.subject.initial.back().content_hash);
                }
            }
        }
        std::ranges::sort(result.subject.initial, {}, &FileEntry::name);
        result.reference.initial = result.subject.initial;
    } catch (const std::exception& error) {
        result.terminal = Terminal::harness_fixture;
        result.reason = error.what();
        return result;
    }
    const Case meant = as_meant(c);
    Observation* const observations[] = {&result.subject, &result.reference};
    const SandboxTool* const tools[] = {&tool_named(sandbox_, roles.subject),
                                        &tool_named(sandbox_, roles.reference)};
    result.reference_accepted = true;
    result.subject_accepted = true;
    for (std::size_t s = 0; s < c.steps.size() && !result.difference; ++s) {
        const Step& step = c.steps[s];
        const std::vector<std::string> words = render_step(c, step);
        const bool bytes_stable = operation.bytes_stable(meant, s);
        const std::vector<std::string> hashed = hashed_files(c, bytes_stable);
        const bool io = program_of(step) == "qemu-io";
        if (step.actor == Actor::neutral) {
            if (const std::string reason = neutral_obstacle(sandbox_, c, step, qemu_io != nullptr);
                !reason.empty()) {
                result.terminal = Terminal::harness_inspection;
                result.reason = reason;
                return result;
            }
        }
        for (const int side : sides) {
            const SandboxTool& tool = io                             ? *qemu_io
                                      : step.actor == Actor::neutral ? neutral.qemu_img
                                                                     : *tools[side];
            Command command = tool_command(sandbox_, tool, side, {side}, words, limits);
            command.argv.front() = program_of(step);
            plant(tool, roles.fault, command);
            StepObservation seen{command.argv, sandbox_.run(command), {}, {}, false};
            Listing listing = list_workspace(sandbox_.directory(side), hashed, hashes_);
            result.planted |= tool.stand_in && left_its_mark(sandbox_, side);
            seen.files = std::move(listing.files);
            seen.files_cut = listing.cut;
            observations[side]->steps.push_back(std::move(seen));
        }
        StepObservation& subject = result.subject.steps.back();
        StepObservation& reference = result.reference.steps.back();
        result.subject_timed_out |= timed_out(subject);
        result.reference_timed_out |= timed_out(reference);
        std::vector<InspectionRequest> requests = operation.inspections(meant, s);
        if (intent_name(c) == "damaged") {
            // The model speaks of sound images.
            for (InspectionRequest& request : requests) {
                if (!request.despite_damage) {
                    request.expected.reset();
                    request.expected_if_refused.reset();
                }
            }
        }
        Looks looks(sandbox_, neutral);
        const bool same = same_bytes(subject, reference);
        for (const InspectionRequest& request : requests) {
            const std::string name = file_name_of(c, request.image);
            subject.inspections.push_back(looks.inspect(0, request, name));
            reference.inspections.push_back(same && depends_on_bytes_alone(request.kind)
                                                ? subject.inspections.back()
                                                : looks.inspect(1, request, name));
            auto& ours = subject.inspections.back();
            auto& theirs = reference.inspections.back();
            const auto* a = std::get_if<ContentFinding>(&ours.finding);
            const auto* b = std::get_if<ContentFinding>(&theirs.finding);
            if (a != nullptr && b != nullptr) {
                if (const auto sector = first_difference(a->content, b->content)) {
                    looks.sample_sector(0, ours, name, *sector);
                    looks.sample_sector(1, theirs, name, *sector);
                }
            }
        }
        const std::vector<std::string> may_change = operation.may_change(meant, s);
        const Comparison comparison{c,
                                    s,
                                    result.subject,
                                    result.reference,
                                    requests,
                                    may_change,
                                    operation.text_normalisers,
                                    operation.json_normalisers,
                                    bytes_stable,
                                    operation.answer_codes,
                                    limits};
        std::vector<LayerReport> reports = compare_step(operation, comparison);
        for (const LayerReport& report : reports) {
            if (report.result.difference) {
                result.difference = report.result.difference;
                result.culprit_step = s;
                break;
            }
        }
        const OutcomeClass reference_class = step_class(reference, operation.answer_codes);
        result.reference_accepted &= reference_class == OutcomeClass::succeeded;
        result.subject_accepted &=
            step_class(subject, operation.answer_codes) == OutcomeClass::succeeded;
        merge(result.layers, std::move(reports));
        if (reference_class != OutcomeClass::succeeded &&
            reference_class != OutcomeClass::refused) {
            break;
        }
    }
    conclude(result);
    return result;
}

std::vector<CrossReading> Executor::read_across(const Case& c, const RolePair& roles,
                                                const CaseResult& result) {
    return difffuzz::read_across(
        c, result,
        {sandbox_, tool_named(sandbox_, roles.subject), tool_named(sandbox_, roles.reference),
         roles.fault, scaled_limits(limits_, c)});
}

std::map<std::string, std::string> Executor::image_digests(const Case& c) {
    std::map<std::string, std::string> digests;
    for (const ImageRecipe& image : c.images) {
        const std::string name = file_name(image.id, image.format);
        if (find_format(image.format)->built_in_process) {
            digests[image.id] = digest_file(sandbox_.directory(build_side), name);
            continue;
        }
        const NeutralTool neutral{tool_named(sandbox_, "reference"), scaled_limits(limits_, c)};
        const Inspection look =
            Looks(sandbox_, neutral)
                .inspect(build_side,
                         {InspectionKind::content, image.id, image.format, std::nullopt}, name);
        if (const auto* found = std::get_if<ContentFinding>(&look.finding)) {
            digests[image.id] = digest_content(found->content);
        }
    }
    return digests;
}

}  // namespace difffuzz
