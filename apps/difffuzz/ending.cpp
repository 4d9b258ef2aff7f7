#include "apps/difffuzz/ending.hpp"

#include <iostream>

#include <nlohmann/json.hpp>

#include "campaign/evidence/files.hpp"
#include "campaign/evidence/layout.hpp"
#include "campaign/evidence/manifest.hpp"
#include "oracles/shown_text.hpp"
#include "reporting/reports/summary.hpp"

namespace difffuzz {

void write_summary(const nlohmann::json& summary, const std::string& directory) {
    const std::string text = summary_text(summary);
    write_file(directory, "summary.json", summary.dump(2) + "\n");
    write_file(directory, "summary.txt", text);
    if (read_campaign(directory).at("state") == "complete") {
        write_manifest(directory);
    }
    std::cout << text << "evidence: " << printable_text(directory) << "\n";
}

}  // namespace difffuzz
