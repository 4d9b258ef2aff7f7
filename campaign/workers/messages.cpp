#include "campaign/workers/messages.hpp"

#include "core/cases/base64.hpp"
#include "core/cases/recipe_json.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

Limits limits_from_json(const json& value) {
    Limits limits;
    limits.time = std::chrono::milliseconds(value.at("time_ms").get<std::int64_t>());
    limits.stream_bytes = value.at("stream_bytes");
    limits.output_bytes = value.at("output_bytes");
    limits.file_bytes = value.at("file_bytes");
    limits.disk_bytes = value.at("disk_bytes");
    limits.memory_bytes = value.at("memory_bytes");
    limits.processes = value.at("processes");
    return limits;
}

// Paths are bytes, which JSON texts cannot hold.
json paths_json(const std::vector<std::string>& paths) {
    json result = json::array();
    for (const std::string& path : paths) {
        result.push_back(base64_encode(path));
    }
    return result;
}

std::string path_from_json(const json& value) {
    const auto path = base64_decode(value.get_ref<const std::string&>());
    if (!path) {
        throw RecipeError("/path", "is not base64");
    }
    return *path;
}

std::vector<std::string> paths_from_json(const json& value) {
    std::vector<std::string> result;
    for (const json& path : value) {
        result.push_back(path_from_json(path));
    }
    return result;
}

json stamps_json(const std::vector<FileStamp>& stamps) {
    json result = json::array();
    for (const FileStamp& stamp : stamps) {
        result.push_back({{"path", base64_encode(stamp.path)},
                          {"device", stamp.device},
                          {"inode", stamp.inode},
                          {"bytes", stamp.bytes},
                          {"modified_ns", stamp.modified_ns}});
    }
    return result;
}

std::vector<FileStamp> stamps_from_json(const json& value) {
    std::vector<FileStamp> result;
    for (const json& stamp : value) {
        result.push_back({path_from_json(stamp.at("path")), stamp.at("device"), stamp.at("inode"),
                          stamp.at("bytes"), stamp.at("modified_ns")});
    }
    return result;
}

json sandbox_json(const SandboxOptions& options) {
    json tools = json::array();
    for (const ToolSource& tool : options.tools) {
        tools.push_back({{"name", tool.name},
                         {"program", base64_encode(tool.program)},
                         {"stands_in_for", tool.stands_in_for}});
    }
    return {{"tools", std::move(tools)},
            {"exposed", paths_json(options.exposed)},
            {"run_as",
             {{"change", options.run_as.change},
              {"uid", options.run_as.uid},
              {"gid", options.run_as.gid}}},
            {"disk_bytes", options.disk_bytes}};
}

SandboxOptions sandbox_from_json(const json& value) {
    SandboxOptions options;
    for (const json& tool : value.at("tools")) {
        options.tools.push_back(
            {tool.at("name"), path_from_json(tool.at("program")), tool.at("stands_in_for")});
    }
    options.exposed = paths_from_json(value.at("exposed"));
    const json& run_as = value.at("run_as");
    options.run_as = {run_as.at("change"), run_as.at("uid"), run_as.at("gid")};
    options.disk_bytes = value.at("disk_bytes");
    return options;
}

json end_json(const SideEnd& end) {
    return {{"outcome", end.outcome}, {"could_not_run", end.could_not_run}, {"words", end.words}};
}

std::optional<SideEnd> end_from_json(const json& value, const char* name) {
    if (!value.contains(name)) {
        return std::nullopt;
    }
    const json& end = value.at(name);
    return SideEnd{end.at("outcome"), end.at("could_not_run"), end.at("words")};
}

Again parse_again(const std::string& name) {
    for (const Again again : {Again::no, Again::at_once, Again::later_second}) {
        if (to_string(again) == name) {
            return again;
        }
    }
    throw RecipeError("/again", "is unknown");
}

LayerId known_layer(const std::string& name) {
    const auto layer = parse_layer(name);
    if (!layer) {
        throw RecipeError("/layers", "holds an unknown layer");
    }
    return *layer;
}

LayerVerdict parse_verdict(const std::string& name) {
    for (const LayerVerdict verdict : {LayerVerdict::agree, LayerVerdict::diverge,
                                       LayerVerdict::inconclusive, LayerVerdict::not_applicable}) {
        if (to_string(verdict) == name) {
            return verdict;
        }
    }
    throw RecipeError("/layers", "holds an unknown verdict");
}

}  // namespace

json to_json(const Limits& limits) {
    return {{"time_ms", limits.time.count()},      {"stream_bytes", limits.stream_bytes},
            {"output_bytes", limits.output_bytes}, {"file_bytes", limits.file_bytes},
            {"disk_bytes", limits.disk_bytes},     {"memory_bytes", limits.memory_bytes},
            {"processes", limits.processes}};
}

json to_json(const std::vector<OperationReach>& operations) {
    json result = json::array();
    for (const OperationReach& reach : operations) {
        result.push_back({{"operation", reach.operation},
                          {"options", reach.options},
                          {"formats", reach.formats},
                          {"features", reach.features},
                          {"creation", reach.creation}});
    }
    return result;
}

std::vector<OperationReach> reach_from_json(const json& value) {
    std::vector<OperationReach> operations;
    for (const json& reach : value) {
        operations.push_back({reach.at("operation"), reach.at("options"), reach.at("formats"),
                              reach.at("features"), reach.at("creation")});
    }
    return operations;
}

json roles_json(const RolePair& roles) { return {roles.subject, roles.reference, roles.fault}; }

RolePair roles_from_json(const json& value) { return {value.at(0), value.at(1), value.at(2)}; }

json to_json(const WorkerSetup& setup) {
    json stamps = json::object();
    for (const auto& [tool, files] : setup.stamps) {
        stamps[tool] = stamps_json(files);
    }
    json known = json::array();
    for (const EntryFile& file : setup.known) {
        known.push_back({file.name, file.text});
    }
    return {{"sandbox", sandbox_json(setup.sandbox)},
            {"limits", to_json(setup.limits)},
            {"plan", to_json(setup.plan)},
            {"reach", to_json(setup.reach)},
            {"seed", setup.seed},
            {"subject_profile", setup.subject_profile},
            {"reference_profile", setup.reference_profile},
            {"stamps", std::move(stamps)},
            {"known", std::move(known)},
            {"roles", roles_json(setup.roles)}};
}

WorkerSetup setup_from_json(const json& value) {
    std::map<std::string, std::vector<FileStamp>> stamps;
    for (const auto& item : value.at("stamps").items()) {
        stamps[item.key()] = stamps_from_json(item.value());
    }
    std::vector<EntryFile> known;
    for (const json& file : value.at("known")) {
        known.push_back({file.at(0), file.at(1)});
    }
    return {sandbox_from_json(value.at("sandbox")),
            limits_from_json(value.at("limits")),
            plan_from_json(value.at("plan")),
            reach_from_json(value.at("reach")),
            value.at("seed"),
            value.at("subject_profile"),
            value.at("reference_profile"),
            std::move(stamps),
            std::move(known),
            roles_from_json(value.at("roles"))};
}

json to_json(const Containment& containment) {
    return {{"pid_namespace", containment.pid_namespace},
            {"landlock", containment.landlock},
            {"landlock_abi", containment.landlock_abi},
            {"memory_cgroup", containment.memory_cgroup},
            {"no_new_privileges", containment.no_new_privileges},
            {"unprivileged_user", containment.unprivileged_user}};
}

Containment containment_from_json(const json& value) {
    return {value.at("pid_namespace"),     value.at("landlock"),
            value.at("landlock_abi"),      value.at("memory_cgroup"),
            value.at("no_new_privileges"), value.at("unprivileged_user")};
}

json to_json(const WorkerReady& ready) {
    json tools = json::array();
    for (const FoundTool& tool : ready.tools) {
        tools.push_back({{"name", tool.name},
                         {"files", paths_json(tool.files)},
                         {"stamps", stamps_json(tool.stamps)},
                         {"version_output", tool.version_output},
                         {"help_output", tool.help_output},
                         {"features", tool.features},
                         {"failure", tool.failure}});
    }
    return {{"error", ready.error},
            {"containment", to_json(ready.containment)},
            {"tools", std::move(tools)}};
}

WorkerReady ready_from_json(const json& value) {
    WorkerReady ready;
    ready.error = value.at("error");
    ready.containment = containment_from_json(value.at("containment"));
    for (const json& tool : value.at("tools")) {
        ready.tools.push_back(
            {tool.at("name"), paths_from_json(tool.at("files")),
             stamps_from_json(tool.at("stamps")), tool.at("version_output"), tool.at("help_output"),
             tool.at("features").get<std::vector<std::string>>(), tool.at("failure")});
    }
    return ready;
}

json to_json(const Task& task) {
    json value{{"index", task.index},       {"roles", roles_json(task.roles)},
               {"runs", task.runs},         {"saturated", task.saturated},
               {"digests", task.digests},   {"ends", task.ends},
               {"layers", task.layers},     {"outcomes", task.outcomes},
               {"recorded", task.recorded}, {"stage", task.stage}};
    if (task.recipe) {
        value["recipe"] = to_json(*task.recipe);
    }
    if (task.without) {
        value["without"] = to_string(*task.without);
    }
    if (task.second.again != Again::no) {
        value["again"] = {to_string(task.second.again), task.second.reference_varies};
    }
    return value;
}

Task task_from_json(const json& value) {
    Task task;
    task.index = value.at("index");
    task.roles = roles_from_json(value.at("roles"));
    task.runs = value.at("runs");
    task.saturated = value.at("saturated").get<std::vector<std::string>>();
    task.digests = value.at("digests");
    task.ends = value.at("ends");
    task.layers = value.at("layers");
    task.outcomes = value.at("outcomes");
    task.recorded = value.at("recorded");
    if (value.contains("without")) {
        task.without = known_layer(value.at("without"));
    }
    if (value.contains("again")) {
        task.second = {parse_again(value.at("again").at(0)),
                       value.at("again").at(1).get<std::vector<std::string>>()};
    }
    task.stage = value.at("stage");
    if (value.contains("recipe")) {
        task.recipe = case_from_json(value.at("recipe"));
    }
    return task;
}

json to_json(const CaseReport& report) {
    json layers = json::array();
    for (const LayerVerdictReport& layer : report.layers) {
        layers.push_back({layer.layer, to_string(layer.verdict), layer.reason});
    }
    json value{{"index", report.index},
               {"operation", report.operation},
               {"intent", report.intent},
               {"terminal", to_string(report.terminal)},
               {"compared", report.compared},
               {"accepted", report.reference_accepted},
               {"subject_accepted", report.subject_accepted},
               {"layers", std::move(layers)},
               {"reach", {report.reach.options, report.reach.formats, report.reach.features}}};
    if (!report.normalisers.empty()) {
        value["normalisers"] = report.normalisers;
    }
    if (!report.rule.empty()) {
        value["rule"] = report.rule;
    }
    if (!report.reason.empty()) {
        value["reason"] = report.reason;
    }
    if (report.timeouts.subject + report.timeouts.reference > 0) {
        value["timeouts"] = {{"subject", report.timeouts.subject},
                             {"reference", report.timeouts.reference},
                             {"hang", report.timeouts.hang}};
    }
    if (!report.type.empty()) {
        value["type"] = report.type;
        value["severity"] = report.severity;
        value["fingerprint"] = report.fingerprint;
        value["symptom"] = report.symptom;
        value["culprit_step"] = report.culprit_step;
        value["staged"] = report.staged;
        if (!report.attribution.is_null()) {
            value["attribution"] = report.attribution;
        }
        if (!report.known.known.empty()) {
            value["known"] = report.known.known;
        }
        if (!report.known.inside.empty()) {
            value["inside"] = report.known.inside;
        }
    }
    for (const SteeredAway& steered : report.steered) {
        value["steered"].push_back({steered.entry, steered.operation});
    }
    if (!report.image_digests.empty()) {
        value["images"] = report.image_digests;
    }
    if (report.subject_end) {
        value["subject_end"] = end_json(*report.subject_end);
    }
    if (report.reference_end) {
        value["reference_end"] = end_json(*report.reference_end);
    }
    for (const LayerId layer : report.diverged) {
        value["diverged"].push_back(to_string(layer));
    }
    if (report.planted) {
        value["planted"] = true;
    }
    if (!report.reference_outcomes.is_null()) {
        value["reference_outcomes"] = report.reference_outcomes;
    }
    return value;
}

CaseReport report_from_json(const json& value) {
    CaseReport report;
    report.index = value.at("index");
    report.operation = value.at("operation");
    report.intent = value.at("intent");
    report.terminal = parse_terminal(value.at("terminal").get<std::string>());
    report.compared = value.at("compared");
    report.reference_accepted = value.at("accepted");
    report.subject_accepted = value.at("subject_accepted");
    for (const json& layer : value.at("layers")) {
        report.layers.push_back(
            {layer.at(0), parse_verdict(layer.at(1).get<std::string>()), layer.at(2)});
    }
    const json& reach = value.at("reach");
    reach.at(0).get_to(report.reach.options);
    reach.at(1).get_to(report.reach.formats);
    reach.at(2).get_to(report.reach.features);
    report.normalisers = value.value("normalisers", std::map<std::string, std::uint64_t>{});
    report.rule = value.value("rule", "");
    report.reason = value.value("reason", "");
    if (value.contains("timeouts")) {
        const json& timeouts = value.at("timeouts");
        report.timeouts = {timeouts.at("subject"), timeouts.at("reference"), timeouts.at("hang")};
    }
    if (value.contains("type")) {
        report.type = value.at("type");
        report.severity = value.at("severity");
        report.fingerprint = value.at("fingerprint");
        report.symptom = value.at("symptom");
        report.culprit_step = value.at("culprit_step");
        report.staged = value.at("staged");
        report.attribution = value.value("attribution", json());
        report.known.known = value.value("known", "");
        report.known.inside = value.value("inside", std::vector<std::string>{});
    }
    for (const json& steered : value.value("steered", json::array())) {
        report.steered.push_back({steered.at(0), steered.at(1)});
    }
    if (value.contains("images")) {
        report.image_digests = value.at("images").get<std::map<std::string, std::string>>();
    }
    report.subject_end = end_from_json(value, "subject_end");
    report.reference_end = end_from_json(value, "reference_end");
    if (value.contains("diverged")) {
        for (const json& layer : value.at("diverged")) {
            report.diverged.push_back(known_layer(layer));
        }
    }
    report.planted = value.value("planted", false);
    report.reference_outcomes = value.value("reference_outcomes", json());
    return report;
}

json to_json(const WorkerUsage& usage) {
    return {{"own_cpu_us", usage.own_cpu_us},
            {"tools_cpu_us", usage.tools_cpu_us},
            {"tools_wall_us", usage.tools_wall_us},
            {"commands", usage.commands},
            {"peak_memory_bytes", usage.peak_memory_bytes}};
}

WorkerUsage usage_from_json(const json& value) {
    return {value.at("own_cpu_us"), value.at("tools_cpu_us"), value.at("tools_wall_us"),
            value.at("commands"), value.at("peak_memory_bytes")};
}

}  // namespace difffuzz
