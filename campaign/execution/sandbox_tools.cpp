#include "campaign/execution/sandbox_tools.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "campaign/execution/sandbox_elf.hpp"
#include "core/errors.hpp"
#include "core/tools/file_descriptor.hpp"

namespace difffuzz {
namespace {

// More than the headers of any real program: loaders read at most a page.
constexpr std::size_t head_bytes = std::size_t{1} << 16;
constexpr const char* identity_schema = "difffuzz.tool-identity/1";

[[noreturn]] void refuse(const ToolSource& source, const std::string& reason) {
    throw EnvironmentError("the " + source.name + " " + source.program +
                           " cannot be used: " + reason);
}

std::string real_path(const ToolSource& source, const std::string& path) {
    char* const resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr) {
        refuse(source, (path == source.program ? "" : path + ": ") + std::strerror(errno));
    }
    std::string result = resolved;
    std::free(resolved);
    return result;
}

std::string read_head(const ToolSource& source, const std::string& path) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file.valid() || ::fstat(file.get(), &status) != 0) {
        refuse(source, std::string("it cannot be read: ") + std::strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        refuse(source, S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a file");
    }
    if ((status.st_mode & 0111) == 0) {
        refuse(source, "it is not executable (chmod +x makes it so)");
    }
    std::string head(head_bytes, '\0');
    const auto size = ::read(file.get(), head.data(), head.size());
    if (size < 0) {
        refuse(source, std::string("it cannot be read: ") + std::strerror(errno));
    }
    head.resize(static_cast<std::size_t>(size));
    return head;
}

// As root: someone who may read `path` without being root.
Identity reader_of(const std::string& path, const Identity& run_as) {
    if (!run_as.change) {
        return run_as;
    }
    Identity reader = run_as;
    for (std::size_t at = 0; at != std::string::npos;) {
        at = path.find('/', at + 1);
        struct stat status {};
        if (::stat(path.substr(0, at).c_str(), &status) != 0) {
            return reader;
        }
        const mode_t needed = at == std::string::npos ? 04 : 01;
        if ((status.st_mode & needed) == 0) {
            reader.uid = status.st_uid;
            reader.gid = status.st_gid;
        }
    }
    return reader;
}

std::vector<Library> list_libraries(const ToolSource& source, const std::string& program,
                                    const std::string& loader, const Identity& run_as) {
    RunnerOptions options;
    options.identity = reader_of(program, run_as);
    options.readable = {"/"};
    Command command;
    command.program = loader;
    command.argv = {loader, "--list", program};
    command.environment = {"LC_ALL=C"};
    // What the user set so that the program starts is needed to find the same libraries.
    if (const char* const path = std::getenv("LD_LIBRARY_PATH")) {
        command.environment.push_back(std::string("LD_LIBRARY_PATH=") + path);
    }
    command.directory = "/";
    const auto outcome = Runner(options).run(command);
    if (const auto* failed = std::get_if<FailedToStart>(&outcome.ending)) {
        refuse(source, "its loader " + loader + " does not start (" + failed->what + ": " +
                           std::strerror(failed->error_number) + ")");
    }
    if (outcome.ending != Ending(Exited{0})) {
        const auto message = outcome.err.head.substr(0, outcome.err.head.find('\n'));
        refuse(source, "its libraries are not to be found: " +
                           (message.empty() ? loader + " --list failed" : message));
    }
    return parse_library_list(outcome.out.head);
}

// A tree made by scripts/get-qemu-img around the program, or an empty path.
std::string tree_around(const std::string& program) {
    const auto tree = std::filesystem::path(program).parent_path().parent_path();
    std::ifstream file(tree / "identity.json");
    if (!file) {
        return {};
    }
    const auto identity = nlohmann::json::parse(file, nullptr, false);
    return identity.is_object() && identity.value("schema", "") == identity_schema ? tree.string()
                                                                                   : "";
}

std::vector<std::string> tree_files(const ToolSource& source, const std::string& tree) {
    std::vector<std::string> result;
    try {
        std::ifstream file(tree + "/identity.json");
        const auto identity = nlohmann::json::parse(file);
        for (const auto& entry : identity.at("files")) {
            result.push_back(tree + "/" + entry.at("path").get<std::string>());
        }
    } catch (const nlohmann::json::exception& error) {
        refuse(source, tree + "/identity.json is damaged: " + error.what());
    }
    return result;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void add_interpreter(FoundTool& found, const ToolSource& source, const std::string& interpreter) {
    if (!interpreter.starts_with('/')) {
        refuse(source, "it names its interpreter by no absolute path (" + interpreter + ")");
    }
    const auto real = real_path(source, interpreter);
    found.tool.files.push_back(real);
    if (!in_base_trees(real)) {
        found.bindings.push_back({real, interpreter});
    }
}

void add_libraries(FoundTool& found, const ToolSource& source,
                   const std::vector<Library>& libraries) {
    const auto directory = "/tool/" + source.name + "/lib";
    bool own = false;
    for (const auto& library : libraries) {
        if (library.path.empty()) {
            refuse(source, "its library " + library.name + " is not found");
        }
        const auto real = real_path(source, library.path);
        found.tool.files.push_back(real);
        if (library.name.starts_with('/')) {
            if (!in_base_trees(real)) {
                found.bindings.push_back({real, library.name});
            }
        } else if (!in_system_library_directory(library.path)) {
            found.bindings.push_back({real, directory + "/" + library.name});
            own = true;
        }
    }
    if (own) {
        found.tool.environment.push_back("LD_LIBRARY_PATH=" + directory);
    }
}

void sort_unique(std::vector<std::string>& strings) {
    std::sort(strings.begin(), strings.end());
    strings.erase(std::unique(strings.begin(), strings.end()), strings.end());
}

}  // namespace

const std::vector<std::string>& base_trees() {
    static const std::vector<std::string> trees = {"/usr",   "/bin",   "/sbin",   "/lib",
                                                   "/lib32", "/lib64", "/libx32", "/etc"};
    return trees;
}

bool in_base_trees(std::string_view path) {
    return std::any_of(base_trees().begin(), base_trees().end(), [path](const auto& tree) {
        return path.starts_with(tree) && (path.size() == tree.size() || path[tree.size()] == '/');
    });
}

namespace {

// All but the stamps.
FoundTool find_files(const ToolSource& source, const Identity& run_as) {
    const auto program = real_path(source, source.program);
    const auto head = read_program_head(read_head(source, program));
    const auto inside = "/tool/" + source.name;
    FoundTool found;
    found.tool.name = source.name;
    found.tool.program = inside + "/bin/" + base_name(source.program);
    if (const auto tree = tree_around(program); !tree.empty()) {
        found.tool.program = inside + "/bin/" + base_name(program);
        found.bindings.push_back({tree, inside});
        found.tool.files = tree_files(source, tree);
        found.tool.files.push_back(program);
        sort_unique(found.tool.files);
        return found;
    }
    found.bindings.push_back({program, found.tool.program});
    found.tool.files.push_back(program);
    if (head.kind == ProgramKind::dynamic_elf) {
        // In this order: the loader must be there before it can be asked.
        add_interpreter(found, source, head.interpreter);
        add_libraries(found, source, list_libraries(source, program, head.interpreter, run_as));
    } else if (head.kind == ProgramKind::script) {
        add_interpreter(found, source, head.interpreter);
    }
    sort_unique(found.tool.files);
    return found;
}

}  // namespace

FoundTool find_tool(const ToolSource& source, const Identity& run_as) {
    FoundTool found = find_files(source, run_as);
    found.tool.stamps = stamp_files(found.tool.files);
    found.tool.stamps.push_back(stamp_file(source.program));
    return found;
}

}  // namespace difffuzz
