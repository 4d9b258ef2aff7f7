// Each tool reads what the other one wrote; our own reader is the third.
#include <algorithm>

#include "campaign/triage/attribution/voices.hpp"

namespace difffuzz {
namespace {

using End = ReadContent::End;

// Copies end on a whole sector, images need not.
bool same(const ReadContent& a, const ReadContent& b) {
    const auto sectors = [](std::uint64_t bytes) {
        return bytes / sector_bytes + (bytes % sector_bytes == 0 ? 0 : 1);
    };
    return a.end == b.end &&
           (a.end != End::read || (sectors(a.content.size) == sectors(b.content.size) &&
                                   a.content.sectors == b.content.sectors));
}

Blame side(Direction direction) {
    return direction == Direction::subject ? Blame::subject : Blame::reference;
}

// What the readings of one image tell, if anything.
std::optional<Statement> about(const CrossReading& reading) {
    const bool by_subject = reading.written_by == Direction::subject;
    const ReadContent& writer = by_subject ? reading.by_subject : reading.by_reference;
    const ReadContent& other = by_subject ? reading.by_reference : reading.by_subject;
    const Blame writing = side(reading.written_by);
    const Blame reader = by_subject ? Blame::reference : Blame::subject;
    const std::string image = "image '" + reading.image + "' of " + in_words(writing);
    if (writer.end == End::no_answer || other.end == End::no_answer ||
        reading.by_us.end != End::read || same(writer, other)) {
        return std::nullopt;
    }
    if (same(other, reading.by_us)) {
        return says(writing, in_words(writing) + " reads " + image +
                                 ", which it wrote, in another way than two other readers");
    }
    if (!same(writer, reading.by_us)) {
        return std::nullopt;
    }
    if (other.end == End::refused) {
        // The reader may be too strict, or the only one to see what is wrong.
        return says(Blame::undecided, in_words(reader) + " refuses to read the " + image +
                                          ", which two other readers read alike");
    }
    return says(reader, in_words(reader) + " reads the " + image +
                            " in another way than two other readers");
}

// A tool that cannot copy even its own image tells nothing about the other one's.
bool reads_its_own(const std::vector<CrossReading>& readings, Direction direction) {
    return std::ranges::all_of(readings, [&](const CrossReading& reading) {
        return reading.written_by != direction ||
               (direction == Direction::subject ? reading.by_subject : reading.by_reference).end !=
                   End::refused;
    });
}

bool all_alike(const std::vector<CrossReading>& readings) {
    return std::ranges::all_of(readings, [&](const CrossReading& reading) {
        return reading.by_subject.end == End::read &&
               same(reading.by_subject, reading.by_reference) &&
               std::ranges::all_of(readings, [&](const CrossReading& twin) {
                   return twin.image != reading.image || same(twin.by_subject, reading.by_subject);
               });
    });
}

// Layers that look at how an image is laid out, not at what it holds.
bool is_about_layout(const Difference& difference) {
    const LayerId layer = difference.symptom.layer;
    return layer == LayerId::bytes ||
           (layer == LayerId::json && difference.symptom.field.starts_with("info:"));
}

}  // namespace

std::optional<Statement> readers_voice(const Testimony& testimony) {
    const std::vector<CrossReading>& readings = testimony.result.readings;
    if (readings.empty() || !reads_its_own(readings, Direction::subject) ||
        !reads_its_own(readings, Direction::reference)) {
        return std::nullopt;
    }
    std::optional<Statement> statement;
    for (const CrossReading& reading : readings) {
        auto one = about(reading);
        if (one && (!statement || statement->blame == Blame::undecided)) {
            statement = std::move(one);
        }
    }
    if (!statement && is_about_layout(*testimony.result.difference) && all_alike(readings)) {
        return says(Blame::both_legal, "each tool reads the same out of both sides' images");
    }
    return statement;
}

}  // namespace difffuzz
