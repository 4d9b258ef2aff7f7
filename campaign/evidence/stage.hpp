// A full record with its raw parts, written by a worker into the staging directory.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "campaign/execution/case_result.hpp"

namespace difffuzz {

struct EvidenceFile {
    std::string name;  // one path component
    std::string content;
};

// Further files of a record (the stand-alone script), made from the case, its result, and the
// directory in which its input images lie as built.
using ExtraFiles = std::function<std::vector<EvidenceFile>(const Case& c, const CaseResult& result,
                                                           const std::string& built_images)>;

// Makes `staging`/`name`/ with record.json, `extra`, and raw/: per step and side the words it was
// given, its streams as kept, how it ended and what it used. Throws EnvironmentError.
void stage_record(int staging, const std::string& name, const nlohmann::json& record,
                  const CaseResult& result, const std::vector<EvidenceFile>& extra);

}  // namespace difffuzz
