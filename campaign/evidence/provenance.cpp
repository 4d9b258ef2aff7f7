#include "campaign/evidence/provenance.hpp"

#include <array>
#include <chrono>
#include <ctime>
#include <thread>

#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "core/cases/digest.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_word_bytes = 4096;

// Magic numbers: statfs(2).
std::string file_system(const std::string& directory) {
    struct Named {
        std::uint32_t magic;
        const char* name;
    };
    constexpr std::array<Named, 9> names{{{0xef53, "ext4"},
                                          {0x01021994, "tmpfs"},
                                          {0x794c7630, "overlayfs"},
                                          {0x58465342, "xfs"},
                                          {0x9123683e, "btrfs"},
                                          {0x2fc12fc1, "zfs"},
                                          {0x6969, "nfs"},
                                          {0x65735546, "fuse"},
                                          {0x01021997, "9p"}}};
    struct statfs status {};
    if (::statfs(directory.c_str(), &status) != 0) {
        return "unknown";
    }
    const auto magic = static_cast<std::uint32_t>(status.f_type);
    for (const Named& one : names) {
        if (one.magic == magic) {
            return one.name;
        }
    }
    return "magic " + std::to_string(magic);
}

std::string utc_now() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    const std::size_t length = std::strftime(text.data(), text.size(), "%FT%TZ", &parts);
    return {text.data(), length};
}

}  // namespace

json host_json(const std::string& directory) {
    utsname name{};
    ::uname(&name);
    struct sysinfo memory {};
    ::sysinfo(&memory);
    return {{"system", name.sysname},
            {"release", name.release},
            {"version", name.version},
            {"machine", name.machine},
            {"processors", std::thread::hardware_concurrency()},
            {"memory_bytes", std::uint64_t{memory.totalram} * memory.mem_unit},
            {"file_system", file_system(directory)}};
}

json run_json(const RunOrigin& origin, const std::string& directory) {
    json command = json::array();
    for (const std::string& word : origin.command) {
        command.push_back(shown_text(word, max_word_bytes));
    }
    json program{{"version", origin.version}, {"sha256", sha256_file_hex(origin.executable)}};
    return {
        {"command", std::move(command)},
        {"difffuzz", std::move(program)},
        {"host", host_json(directory)},
        {"started", utc_now()},
        {"granted_seconds", origin.granted_seconds ? json(*origin.granted_seconds) : json(nullptr)},
        {"used_seconds", nullptr}};
}

}  // namespace difffuzz
