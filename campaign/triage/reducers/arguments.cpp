#include <algorithm>

#include "campaign/triage/reducers/parts.hpp"
#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {

std::vector<Edit> argument_edits(const Reduced& from, const WordDomain&) {
    std::vector<Edit> edits;
    for (std::size_t s = 0; s < from.c.steps.size(); ++s) {
        const std::vector<Argument>& arguments = from.c.steps[s].arguments;
        for (const auto& [begin, count] : pieces(arguments.size())) {
            edits.push_back({count == 1 ? argument_name(from.c, s, begin)
                                        : "arguments " + std::to_string(begin) + " to " +
                                              std::to_string(begin + count - 1) + " of step " +
                                              std::to_string(s),
                             "", [s, begin = begin, count = count](Reduced r) {
                                 erase_piece(r.c.steps[s].arguments, begin, count);
                                 drop_unused_outputs(r.c);
                                 return r;
                             }});
        }
        for (std::size_t a = 0; a < arguments.size(); ++a) {
            const auto* list =
                arguments[a].value ? std::get_if<OptionList>(&*arguments[a].value) : nullptr;
            for (std::size_t o = 0; list != nullptr && o < list->options.size(); ++o) {
                edits.push_back(
                    {list->options[o].name + " of " + argument_name(from.c, s, a), "",
                     [s, a, o](Reduced r) {
                         auto& options =
                             std::get<OptionList>(*r.c.steps[s].arguments[a].value).options;
                         erase_piece(options, o, 1);
                         if (options.empty()) {
                             erase_piece(r.c.steps[s].arguments, a, 1);
                         }
                         drop_unused_outputs(r.c);
                         return r;
                     }});
            }
        }
    }
    return edits;
}

}  // namespace difffuzz
