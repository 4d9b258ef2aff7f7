// The header layer with its normalisers and templates, on whatever two tools print.
//
// Input: flags u8 (bit 0: the subject's stream is cut, bit 1: the reference's, bit 2: both
// refused), length u16 little-endian of the subject's text, then that text (as far as there is
// any), then the reference's. Shorter input is refused.
//
//  1. Any bytes get a verdict. Nothing is thrown.
//  2. With the sides exchanged the verdict is the same, and the messages are exchanged.
//  3. Equal streams never diverge, and a divergence needs first lines that differ.
//  4. What follows the first line changes nothing, unless it makes JSON of the text.
//  5. A symptom's messages are their own templates, printable and bounded; details are bounded.
//  6. Each normaliser applied twice is as applied once.
//  7. The memory taken stays within a fixed part and a multiple of the input.
#include "oracles/layer.hpp"
#include "oracles/message_template.hpp"
#include "oracles/normaliser.hpp"
#include "oracles/shown_text.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/memory_meter.hpp"
#include "tests/fuzz/seeds.hpp"
#include "tests/fuzz/target_rows.hpp"
#include "tests/support/observations.hpp"

namespace difffuzz::fuzz {
namespace {

constexpr std::size_t max_shown_bytes = 400;
constexpr std::size_t fixed_bytes = std::size_t{64} << 10;
constexpr std::size_t bytes_per_byte = 256;

struct Input {
    std::string subject = {};
    std::string reference = {};
    bool subject_cut = false;
    bool reference_cut = false;
    bool refused = false;
};

std::optional<Input> decode(std::string_view bytes) {
    const auto flags = take<std::uint8_t>(bytes);
    const auto length = take<std::uint16_t>(bytes);
    if (!flags || !length) {
        return std::nullopt;
    }
    Input input;
    input.subject_cut = (*flags & 1U) != 0;
    input.reference_cut = (*flags & 2U) != 0;
    input.refused = (*flags & 4U) != 0;
    input.subject = bytes.substr(0, *length);
    input.reference = bytes.substr(input.subject.size());
    return input;
}

std::string encode(const Input& input) {
    std::string bytes;
    put(bytes, static_cast<std::uint8_t>((input.subject_cut ? 1 : 0) +
                                         (input.reference_cut ? 2 : 0) + (input.refused ? 4 : 0)));
    put(bytes, static_cast<std::uint16_t>(input.subject.size()));
    return bytes + input.subject + input.reference;
}

Stream stream_of(const std::string& text, bool cut) {
    return cut ? test::cut_stream(text, "the end\n") : test::stream(text);
}

LayerResult compare(const Input& input) {
    test::Scene scene;
    scene.text_normalisers = {&disk_size_text(), &elapsed_time_text(), &progress_text(),
                              &failed_read_text(), &snapshot_date_text()};
    scene.subject_outcome().out = stream_of(input.subject, input.subject_cut);
    scene.reference_outcome().out = stream_of(input.reference, input.reference_cut);
    if (input.refused) {
        scene.subject_outcome().ending = test::exited(1);
        scene.reference_outcome().ending = test::exited(1);
    }
    return scene.run(LayerId::header);
}

void check_message(const std::string& message) {
    require(message.size() <= max_template_bytes, "a template is bounded");
    require(message_template(message) == message, "a template is its own");
    for (std::size_t at = 0; at < message.size();) {
        const std::size_t length = printable_length(message, at);
        require(length > 0, "a template is printable");
        at += length;
    }
}

void check_difference(const Input& input, const Difference& difference) {
    const auto first = [](const std::string& text) {
        const std::size_t end = text.find('\n');
        return text.substr(0, end == std::string::npos ? end : end + 1);
    };
    require(first(input.subject) != first(input.reference),
            "a divergence needs first lines that differ");
    check_message(difference.symptom.subject_message);
    check_message(difference.symptom.reference_message);
    for (const char* side : {"subject", "reference"}) {
        require(difference.details.at(side).get<std::string>().size() <= max_shown_bytes,
                "details are bounded");
    }
    // Throws where a text is no UTF-8.
    require(!difference.details.dump().empty(), "details are JSON");
}

void check_exchange(const Input& input, const LayerResult& result) {
    Input exchanged = input;
    std::swap(exchanged.subject, exchanged.reference);
    std::swap(exchanged.subject_cut, exchanged.reference_cut);
    const LayerResult other = compare(exchanged);
    require(other.verdict == result.verdict && other.reason == result.reason,
            "sides exchanged, the verdict is the same");
    require(!result.difference || (result.difference->symptom.subject_message ==
                                       other.difference->symptom.reference_message &&
                                   result.difference->symptom.reference_message ==
                                       other.difference->symptom.subject_message),
            "sides exchanged, the messages are exchanged");
}

// JSON begins with a bracket or a brace, behind blanks at most.
bool may_be_json(const std::string& text) {
    const std::size_t at = text.find_first_not_of(" \t\r\n");
    return at == std::string::npos || text[at] == '[' || text[at] == '{' ||
           text.find_first_of("[{") < text.find('\n');
}

void check_rest(const Input& input, const LayerResult& result) {
    if (input.subject.find('\n') == std::string::npos ||
        input.reference.find('\n') == std::string::npos || may_be_json(input.subject) ||
        may_be_json(input.reference)) {
        return;
    }
    Input longer = input;
    longer.subject += "more of the subject's\n";
    longer.reference.resize(input.reference.find('\n') + 1);
    require(compare(longer).verdict == result.verdict,
            "what follows the first line is not looked at");
}

void check_normalisers(const std::string& text) {
    for (const TextNormaliser* normaliser : text_normalisers()) {
        std::string once = text;
        normaliser->apply(once);
        std::string twice = once;
        normaliser->apply(twice);
        require(once == twice, "a normaliser applied twice is as applied once");
    }
}

Verdict run(std::string_view bytes) {
    const auto input = decode(bytes);
    if (!input) {
        return Verdict::refused;
    }
    const MemoryMeter meter;
    const LayerResult result = compare(*input);
    require(meter.peak() <= fixed_bytes + bytes_per_byte * bytes.size(), "the memory is bounded");
    require(result.difference.has_value() == (result.verdict == LayerVerdict::diverge),
            "a divergence comes with its difference");
    require(input->subject != input->reference || result.verdict != LayerVerdict::diverge,
            "equal streams do not diverge");
    if (result.difference) {
        check_difference(*input, *result.difference);
    }
    check_exchange(*input, result);
    check_rest(*input, result);
    check_normalisers(input->subject);
    check_normalisers(input->reference);
    return Verdict::accepted;
}

std::vector<Seed> seeds() {
    std::vector<Seed> seeds{{encode({"image: a.raw\nmore\n", "image: a.raw\n"})}};
    add_prefixes(seeds, seeds[0].bytes, 3);
    const std::vector<std::string> lines{
        "",
        "\n",
        "no end",
        "Offset          Length          Mapped to       File\n",
        "disk size: 196 KiB\n",
        "disk size: 1.5 GiB",
        "Run completed in 0.010 seconds.\n",
        "    (12.00/100%)\r    (100.00/100%)\r\n",
        "error while reading at byte 4096: Input/output error\n",
        "1         s        0 B 2026-01-31 12:00:00 00:00:00.000          0\n",
        "cannot open '/side/12/w/src.qcow2' with /tool/subject: #block123\n",
        "{\"format\": \"raw\"}\n",
        "[1, 2\n",
        "0x1f 64k 1,024 6ba7b810-9dad-11d1-80b4-00c04fd430c8 \"it's\" ./a ../b\n",
        "\xff\xfe\xc3\xa4\x1b[31m\xe2\x80\xae\n",
        std::string("a\0b\n", 4),
        repeated(300, 'w') + "\n",
        repeated(2000, '7'),
    };
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string& other = lines[(i + 1) % lines.size()];
        seeds.push_back({encode({lines[i], lines[i]})});
        seeds.push_back({encode({lines[i], other})});
        seeds.push_back({encode({lines[i], other, true})});
        seeds.push_back({encode({lines[i], lines[i] + "x", false, false, true})});
    }
    seeds.push_back({encode({"a\n", "a", false, true})});
    std::string beyond = encode({"short"});
    beyond[1] = beyond[2] = '\xff';
    seeds.push_back({beyond});
    return seeds;
}

}  // namespace

Target header_line() { return {"header_line", Tier::rest, run, seeds}; }

}  // namespace difffuzz::fuzz
