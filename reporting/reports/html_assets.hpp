// The style and the script of the HTML report, as the build embeds them.
#pragma once

#include <string_view>

namespace difffuzz {

extern const std::string_view html_style;   // reporting/reports/html/report.css
extern const std::string_view html_script;  // reporting/reports/html/report.js

}  // namespace difffuzz
