// An entry's text, to be changed a line at a time.
#pragma once

#include <string>

namespace difffuzz::test {

// About `info` of qemu-img 7.2 against 10.0: holds for a step with --output json.
// clang-format off
inline std::string entry_text() {
    return R"entry(id = "sample"
operations = ["info"]
reason = "it prints more"
link = "https://example.org/"
owner = "somebody"
date = 2026-11-30
review_by = 2027-11-30
predicate = "EXISTS (SELECT 1 FROM arg WHERE step = :step AND value = 'json')"
either_way = true

[subject]
tool = "qemu-img"
versions = ">=7.2 <8.0"

[reference]
tool = "qemu-img"
versions = ">=10.0"

[[effect]]
layer = "json"
direction = "differ"
subject_class = "succeeded"
reference_class = "succeeded"
field = "-children"

[exhibit]
recipe = '''
{}
'''
)entry";
}
// clang-format on

// The text with the first `from` replaced; as it is when there is none.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

}  // namespace difffuzz::test
