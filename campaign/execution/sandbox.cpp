#include "campaign/execution/sandbox.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <linux/capability.h>
#include <optional>
#include <set>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "campaign/execution/sandbox_cgroup.hpp"
#include "campaign/execution/sandbox_mounts.hpp"
#include "campaign/execution/sandbox_tools.hpp"
#include "campaign/execution/sandbox_workspace.hpp"
#include "campaign/workers/process.hpp"
#include "core/errors.hpp"
#include "core/tools/stand_in.hpp"
#include "oracles/normaliser.hpp"

namespace difffuzz {
namespace {

// Any directory that exists everywhere; what is below is covered only in this process's view.
constexpr const char* new_root = "/tmp";

constexpr std::array devices = {"null", "zero", "full", "random", "urandom"};
constexpr std::array links = {
    std::pair{"/proc/self/fd", "fd"}, std::pair{"/proc/self/fd/0", "stdin"},
    std::pair{"/proc/self/fd/1", "stdout"}, std::pair{"/proc/self/fd/2", "stderr"}};

// What a worker and the kernel on its behalf may take in its own memory group.
constexpr std::uint64_t own_memory = std::uint64_t{256} << 20;

struct Mount {
    FileDescriptor tree;
    std::string inside;
    bool directory = true;
};

struct Link {
    std::string target;
    std::string inside;
};

void make_link(const std::string& target, const std::string& path) {
    if (::symlink(target.c_str(), path.c_str()) != 0) {
        throw EnvironmentError("cannot make the link " + path + ": " + std::strerror(errno));
    }
}

// The root as it will be, with everything in it that comes from the host held open, so that it can
// be put together above a directory that hides part of the host.
class RootPlan {
public:
    // A read-only copy of host tree or file `host` at `inside`.
    void bind(const std::string& host, const std::string& inside, bool device = false) {
        struct stat status {};
        if (::stat(host.c_str(), &status) != 0) {
            throw EnvironmentError("cannot read " + host + ": " + std::strerror(errno));
        }
        if (bound_.insert(inside).second) {
            mounts_.push_back({clone_tree(host, device), inside, S_ISDIR(status.st_mode)});
        }
    }

    void add_base_tree(const std::string& path) {
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) {
            return;
        }
        if (!S_ISLNK(status.st_mode)) {
            bind(path, path);
            return;
        }
        std::array<char, 4096> target{};
        if (::readlink(path.c_str(), target.data(), target.size() - 1) <= 0) {
            throw EnvironmentError("cannot read the link " + path + ": " + std::strerror(errno));
        }
        links_.push_back({target.data(), path});
    }

    void build(const std::string& root) const {
        mount_tmpfs(root, "mode=755,size=16m");
        for (const auto& mount : mounts_) {
            if (mount.directory) {
                make_directories(root + mount.inside);
            } else {
                make_file(root + mount.inside);
            }
            attach_tree(mount.tree, root + mount.inside);
        }
        for (const auto& link : links_) {
            make_link(link.target, root + link.inside);
        }
        for (const char* directory : {"/proc", "/side", "/tmp", "/dev", "/tool"}) {
            make_directories(root + directory);
        }
        for (const auto& [target, name] : difffuzz::links) {
            make_link(target, root + "/dev/" + name);
        }
        mount_proc(root + "/proc");
    }

private:
    std::vector<Mount> mounts_;
    std::vector<Link> links_;
    std::set<std::string> bound_;
};

// Within our own user namespace only: nothing that a tool starts gets a namespace with capabilities
// in it (namespaces(7), the limits in /proc/sys/user are per user namespace).
void forbid_user_namespaces() {
    const FileDescriptor file(::open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC));
    if (!file.valid() || ::write(file.get(), "0", 1) != 1) {
        throw EnvironmentError(std::string("cannot forbid user namespaces to tools: ") +
                               std::strerror(errno));
    }
}

// Whether a map (user_namespaces(7): lines of first inside, first outside, count) has the id.
bool has_id(const char* map, std::uint64_t id) {
    std::ifstream lines(map);
    std::uint64_t first = 0;
    std::uint64_t outside = 0;
    std::uint64_t count = 0;
    while (lines >> first >> outside >> count) {
        if (id >= first && id - first < count) {
            return true;
        }
    }
    return false;
}

void check_identity(const Identity& identity) {
    std::string groups;
    std::ifstream("/proc/self/setgroups") >> groups;
    if (identity.change && (groups == "deny" || !has_id("/proc/self/uid_map", identity.uid) ||
                            !has_id("/proc/self/gid_map", identity.gid))) {
        throw EnvironmentError("tools cannot run as user " + std::to_string(identity.uid) +
                               " and group " + std::to_string(identity.gid) +
                               ", which this system's id map does not have: name others with "
                               "--run-as, or start difffuzz as an ordinary user");
    }
}

// Files are made for `identity` from here on; what the change of the file system's user takes from
// the effective capabilities is put back.
void make_files_as(const Identity& identity) {
    // Root may, and check_identity has seen that the ids exist; these calls report no failure.
    ::setfsgid(identity.gid);
    ::setfsuid(identity.uid);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
    if (::syscall(SYS_capget, &header, data) != 0) {
        throw std::system_error(errno, std::generic_category(), "capget");
    }
    for (auto& part : data) {
        part.effective = part.permitted;
    }
    if (::syscall(SYS_capset, &header, data) != 0) {
        throw std::system_error(errno, std::generic_category(), "capset");
    }
}

std::string side_root(int side) {
    const std::string root = "/side/" + std::to_string(side);
    return side == Sandbox::again_side ? root + std::string(deeper_place) : root;
}

RunnerOptions runner_options(const SandboxOptions& options, const Identity& identity,
                             const WorkerCgroup& cgroup) {
    RunnerOptions result;
    result.identity = identity;
    result.memory_cgroup = cgroup.directory();
    result.memory_reserve = options.disk_bytes * Sandbox::sides + own_memory;
    result.own_user_namespace = worker_has_user_namespace();
    for (const auto& tree : base_trees()) {
        if (::access(tree.c_str(), F_OK) == 0) {
            result.readable.push_back(tree);
        }
    }
    result.readable.insert(result.readable.end(), {"/tool", "/proc"});
    result.readable.insert(result.readable.end(), options.exposed.begin(), options.exposed.end());
    return result;
}

}  // namespace

// Steps: join a memory group; resolve the tools in the host's view and hold what is bound; build
// the new root, enter it, mount the sides; make files as the tools' user; arm the parent-death
// signal, which that change disarmed.
class Sandbox::Impl {
public:
    std::function<void(const Command&)> observer;

    explicit Impl(const SandboxOptions& options) : identity_(tool_identity(options)) {
        check_identity(identity_);
        ::umask(022);
        make_mounts_private();
        // The commands that find the tools' libraries are watched through /proc, which must show
        // this namespace and not the host's processes.
        mount_proc("/proc");
        RootPlan plan;
        for (const auto& tree : base_trees()) {
            plan.add_base_tree(tree);
        }
        for (const char* device : difffuzz::devices) {
            const auto path = std::string("/dev/") + device;
            plan.bind(path, path, true);
        }
        for (const auto& source : options.tools) {
            auto found = find_tool(source, identity_);
            for (const auto& binding : found.bindings) {
                plan.bind(binding.host, binding.inside);
            }
            bindings_.insert(bindings_.end(), found.bindings.begin(), found.bindings.end());
            if (!source.stands_in_for.empty()) {
                stand_in_for(source.stands_in_for, found.tool);
            }
            tools_.push_back(std::move(found.tool));
        }
        for (const auto& tree : options.exposed) {
            if (!in_base_trees(tree)) {
                plan.bind(tree, tree);
            }
        }
        // What was bound is what was stamped.
        for (const auto& tool : tools_) {
            require_unchanged(tool.name, tool.stamps);
        }
        auto settings = runner_options(options, identity_, cgroup_);
        for (const auto& binding : bindings_) {
            if (!binding.inside.starts_with("/tool/")) {
                settings.readable.push_back(binding.inside);
            }
        }
        runner_.emplace(std::move(settings));
        plan.build(new_root);
        enter_root(new_root);
        mount_sides(options.disk_bytes);
        make_root_read_only();
        if (worker_has_user_namespace()) {
            forbid_user_namespaces();
        }
        if (identity_.change) {
            make_files_as(identity_);
        }
        die_with_parent();
    }

    const std::vector<SandboxTool>& tools() const { return tools_; }

    Workspace& side(int number) {
        assert(number >= 0 && number < sides);
        return sides_[static_cast<std::size_t>(number)];
    }

    Runner& runner() { return *runner_; }

private:
    static Identity tool_identity(const SandboxOptions& options) {
        return ::geteuid() == 0 ? options.run_as : Identity{};
    }

    // Tells a stand-in which program it hands its commands on to.
    void stand_in_for(const std::string& name, SandboxTool& tool) const {
        const auto real = std::ranges::find(tools_, name, &SandboxTool::name);
        assert(real != tools_.end());
        tool.stand_in = true;
        tool.environment.push_back(fmt::format("{}={}", stand_in::program_variable, real->program));
        for (const auto& entry : real->environment) {
            tool.environment.push_back(fmt::format("{}{}", stand_in::entry_prefix, entry));
        }
    }

    void mount_sides(std::uint64_t bytes) {
        const auto uid = identity_.change ? identity_.uid : static_cast<uid_t>(-1);
        const auto gid = identity_.change ? identity_.gid : static_cast<gid_t>(-1);
        for (int number = 0; number < sides; ++number) {
            sides_.emplace_back(side_root(number), bytes, uid, gid);
        }
    }

    Identity identity_;
    WorkerCgroup cgroup_;
    std::vector<SandboxTool> tools_;
    std::vector<Binding> bindings_;
    std::optional<Runner> runner_;
    std::vector<Workspace> sides_;
};

Sandbox::Sandbox(const SandboxOptions& options) : impl_(std::make_unique<Impl>(options)) {}

Sandbox::~Sandbox() = default;

const std::vector<SandboxTool>& Sandbox::tools() const { return impl_->tools(); }

std::string Sandbox::directory(int side) const { return impl_->side(side).directory(); }

void Sandbox::reset(int side) { impl_->side(side).reset(); }

std::uint64_t Sandbox::disk_used(int side) const { return impl_->side(side).used(); }

Outcome Sandbox::run(const Command& command) {
    if (impl_->observer) {
        impl_->observer(command);
    }
    return impl_->runner().run(command);
}

void Sandbox::before_each(std::function<void(const Command&)> observer) {
    impl_->observer = std::move(observer);
}

Containment Sandbox::containment() const { return impl_->runner().containment(); }

}  // namespace difffuzz
