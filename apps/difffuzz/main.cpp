// Entry: a worker when re-executed as one, else the command line.
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "apps/difffuzz/flags.hpp"
#include "campaign/workers/link.hpp"
#include "campaign/workers/worker.hpp"
#include "core/errors.hpp"
#include "reporting/reports/reproduce_script.hpp"

namespace {

constexpr int worker_socket = 3;

std::vector<difffuzz::EvidenceFile> extra_files(const difffuzz::Case& c,
                                                const difffuzz::CaseResult& result,
                                                const std::string& built_images) {
    return {{"reproduce.sh", difffuzz::reproduce_script(c, result, built_images)}};
}

}  // namespace

int main(int argc, char** argv) {
    using difffuzz::ExitCode;
    try {
        if (argc > 1 && std::strcmp(argv[1], difffuzz::worker_command) == 0) {
            return difffuzz::serve_worker(worker_socket, extra_files);
        }
        return difffuzz::dispatch(std::vector<std::string>(argv + 1, argv + argc));
    } catch (const difffuzz::UsageError& error) {
        std::cerr << "difffuzz: " << error.what() << "\n";
        return static_cast<int>(ExitCode::usage);
    } catch (const difffuzz::EnvironmentError& error) {
        std::cerr << "difffuzz: " << error.what() << "\n";
        return static_cast<int>(ExitCode::environment);
    } catch (const std::exception& error) {
        std::cerr << "difffuzz: " << error.what()
                  << " (this is a fault of difffuzz or of the system it runs on)\n";
        return static_cast<int>(ExitCode::environment);
    }
}
