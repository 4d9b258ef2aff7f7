#include "campaign/identify.hpp"

#include <algorithm>
#include <filesystem>

#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "campaign/workers/pool.hpp"
#include "core/cases/digest.hpp"
#include "images/format.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

// What a profile's file name may have (core/tools/profile).
constexpr std::size_t max_name_bytes = 256;

Profile profile_of(const FoundTool& tool, const std::string& program) {
    if (!tool.failure.empty()) {
        throw EnvironmentError("the " + tool.name + " '" + program +
                               "' cannot be used: " + tool.failure + "; name another one with --" +
                               tool.name + ", or what it needs to read with --expose DIR");
    }
    std::vector<ToolFile> files;
    for (const std::string& path : tool.files) {
        try {
            files.push_back(
                {shown_text(std::filesystem::path(path).filename().string(), max_name_bytes),
                 sha256_file_hex(path)});
        } catch (const std::system_error& error) {
            throw EnvironmentError("cannot read '" + path + "', which the " + tool.name +
                                   " needs: " + error.code().message());
        }
    }
    return make_profile(tool.version_output, tool.help_output, std::move(files));
}

const FoundTool& found(const WorkerReady& ready, const std::string& name) {
    return *std::find_if(ready.tools.begin(), ready.tools.end(),
                         [&](const FoundTool& tool) { return tool.name == name; });
}

// The qemu-io that runs neutral steps: the one beside the reference, else the system's; empty if
// there is neither.
std::string neutral_io(const std::string& reference) {
    for (const std::filesystem::path& path :
         {std::filesystem::path(reference).replace_filename("qemu-io"),
          std::filesystem::path("/usr/bin/qemu-io")}) {
        if (::access(path.c_str(), X_OK) == 0) {
            return path;
        }
    }
    return {};
}

bool contains(const std::vector<std::string>& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

WorkerSetup worker_setup(const CampaignOptions& options, const Plan& plan) {
    WorkerSetup setup;
    setup.sandbox.tools = {{"subject", options.subject}, {"reference", options.reference}};
    if (!options.baseline.empty()) {
        setup.sandbox.tools.push_back({"baseline", options.baseline});
    }
    if (const std::string io = neutral_io(options.reference); !io.empty()) {
        setup.sandbox.tools.push_back({"io", io});
    }
    if (!options.canary.empty()) {
        setup.sandbox.tools.push_back({"canary", options.canary, "reference"});
    }
    setup.sandbox.exposed = options.exposed;
    setup.sandbox.run_as = options.run_as;
    setup.sandbox.disk_bytes = options.limits.disk_bytes;
    setup.limits = options.limits;
    setup.plan = plan;
    setup.seed = options.seed;
    setup.roles = options.roles;
    return setup;
}

IdentifiedTools identify_tools(const CampaignOptions& options, int staging) {
    boost::asio::io_context context;
    const WorkerPool pool(context, options.executable, staging,
                          worker_setup(options, default_plan()), 1);
    const WorkerReady& ready = pool.ready();
    const FoundTool& subject = found(ready, "subject");
    const FoundTool& reference = found(ready, "reference");
    IdentifiedTools tools;
    tools.subject = profile_of(subject, options.subject);
    tools.reference = profile_of(reference, options.reference);
    if (!options.baseline.empty()) {
        tools.baseline = profile_of(found(ready, "baseline"), options.baseline);
    }
    tools.containment = ready.containment;
    for (const FoundTool& tool : ready.tools) {
        tools.stamps[tool.name] = tool.stamps;
        // What was hashed is what the worker found.
        require_unchanged(tool.name, tool.stamps);
    }
    for (const Format& format : formats()) {
        // A tool that lists no formats is taken to know them all; what it lacks shows as refusals.
        const auto handles = [&](const Profile& profile) {
            return profile.formats.empty() || contains(profile.formats, format.name);
        };
        if (handles(tools.subject) && handles(tools.reference)) {
            tools.formats.emplace_back(format.name);
        }
    }
    for (const std::string& feature : subject.features) {
        if (contains(reference.features, feature)) {
            tools.features.push_back(feature);
        }
    }
    if (std::ranges::any_of(ready.tools, [](const FoundTool& tool) {
            return tool.name == "io" && tool.failure.empty();
        })) {
        tools.features.emplace_back("io");
    }
    return tools;
}

}  // namespace difffuzz
