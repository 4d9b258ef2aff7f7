// Entry: a worker or the filing process when executed anew as one, else the command line.
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "apps/difffuzz/flags.hpp"
#include "apps/difffuzz/interruption.hpp"
#include "apps/difffuzz/output.hpp"
#include "campaign/workers/link.hpp"
#include "campaign/workers/worker.hpp"
#include "core/errors.hpp"
#include "oracles/shown_text.hpp"
#include "reporting/filing/filing_process.hpp"
#include "reporting/filing/tokens.hpp"
#include "reporting/reports/reproduce_script.hpp"

namespace {

constexpr int worker_socket = 3;

// One line, whatever the user's words and files brought into it.
void complain(const std::string& sentence) {
    std::cerr << "difffuzz: " << difffuzz::printable_text(sentence) << "\n";
}

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
        if (argc > 1 && std::strcmp(argv[1], difffuzz::filing_command) == 0) {
            return difffuzz::serve_filing();
        }
        difffuzz::shed_tokens(argv);
        difffuzz::end_when_interrupted();
        const int code = difffuzz::dispatch(std::vector<std::string>(argv + 1, argv + argc));
        difffuzz::require_output();
        return code;
    } catch (const difffuzz::UsageError& error) {
        complain(error.what());
        return static_cast<int>(ExitCode::usage);
    } catch (const difffuzz::EnvironmentError& error) {
        complain(error.what());
        return static_cast<int>(ExitCode::environment);
    } catch (const std::exception& error) {
        complain(std::string(error.what()) +
                 " (this is a fault of difffuzz or of the system it runs on)");
        return static_cast<int>(ExitCode::environment);
    }
}
