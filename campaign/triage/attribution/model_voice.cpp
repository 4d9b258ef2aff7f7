// The recipe's own model of what each image holds: sizes, data, snapshots, the schedule of writes.
#include "campaign/triage/attribution/voices.hpp"

namespace difffuzz {

std::optional<Statement> model_voice(const Testimony& testimony) {
    const Difference* difference = testimony.difference(LayerId::content);
    if (difference == nullptr) {
        return std::nullopt;
    }
    const std::string image = "'" + difference->details.value("image", "") + "'";
    const std::string& field = difference->symptom.field;
    const bool modelled =
        difference->details.contains("model") && !difference->details.at("model").is_null();
    const Direction direction = difference->symptom.direction;
    if (direction == Direction::differ) {
        return modelled ? std::optional(says(Blame::both, "neither side's image " + image +
                                                              " holds what the case makes it hold"))
                        : std::nullopt;
    }
    const Blame blame = direction == Direction::subject     ? Blame::subject
                        : direction == Direction::reference ? Blame::reference
                                                            : Blame::both;
    if (field == "unreadable" || field == "missing") {
        return says(blame, in_words(blame) + " left image " + image + " " + field +
                               (blame == Blame::both ? "" : ", the other side's can be read"));
    }
    const std::string what = field.ends_with("size") ? "size" : "content";
    const std::string rest = " the " + what + " that the images and commands of the case give " +
                             image + (field.starts_with("snapshot") ? " in a snapshot" : "");
    return says(blame, blame == Blame::both
                           ? "neither side has" + rest
                           : in_words(blame) + " does not have" + rest + "; the other side has it");
}

}  // namespace difffuzz
