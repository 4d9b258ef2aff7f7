// difffuzz evidence verify|pack: finished evidence against its manifest, and as one file.
#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/difffuzz/flags.hpp"
#include "apps/difffuzz/output_file.hpp"
#include "campaign/evidence/bundle.hpp"
#include "campaign/evidence/layout.hpp"
#include "core/cases/json_fields.hpp"
#include "core/errors.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_lines = 100;
constexpr std::size_t max_campaign_bytes = std::size_t{4} << 20;

void print(const std::string& line) { std::cout << printable_text(line) << "\n"; }

// What evidence is to be and what it is, of a directory or a bundle.
struct Held {
    bool complete = false;
    Manifest expected;
    std::vector<std::string> differences;
};

void take_manifest(const ManifestTexts& texts, Held& held) {
    if (texts.digest != manifest_digest(texts.manifest)) {
        held.differences.push_back("'" + std::string(manifest_name) + "' or '" +
                                   std::string(manifest_digest_name) +
                                   "' has changed: one is not what the other says");
        return;
    }
    try {
        held.expected = parse_manifest(texts.manifest);
    } catch (const RecipeError& error) {
        held.differences.push_back("'" + std::string(manifest_name) +
                                   "' is not a manifest of difffuzz: " + error.what());
    }
}

// Where there is no manifest to go by, that is the difference.
void add_differences(const Manifest& found, Held& held) {
    if (held.differences.empty()) {
        held.differences = manifest_differences(held.expected, found);
    }
}

Held held_directory(const std::string& directory) {
    Held held;
    held.complete = read_campaign(directory).at("state") == "complete";
    if (!held.complete) {
        return held;
    }
    for (const std::string_view name : {manifest_name, manifest_digest_name}) {
        if (!fs::exists(fs::symlink_status(fs::path(directory) / name))) {
            held.differences.push_back("'" + std::string(name) + "' is missing");
            return held;
        }
    }
    take_manifest(read_manifest(directory), held);
    std::vector<std::string> others;
    const Manifest found = make_manifest(directory, &others);
    add_differences(found, held);
    for (const std::string& other : others) {
        held.differences.push_back("'" + other + "' is no regular file");
    }
    return held;
}

Held held_bundle(const std::string& path) {
    Held held;
    const BundleContents contents = read_bundle(path);
    if (!contents.damage.empty()) {
        held.differences.push_back(contents.damage);
        return held;
    }
    take_manifest(contents.texts, held);
    add_differences(contents.found, held);
    try {
        const nlohmann::json campaign = parse_bounded(contents.campaign, max_campaign_bytes);
        held.complete = campaign.is_object() && campaign.value("state", "") == "complete";
    } catch (const RecipeError&) {
        held.complete = false;
    } catch (const nlohmann::json::exception&) {
        held.complete = false;
    }
    return held;
}

// 1 when something differs, 4 when the evidence is incomplete, else 0; says so.
ExitCode verify(const std::string& path, Held& held) {
    held = fs::is_directory(path) ? held_directory(path) : held_bundle(path);
    for (std::size_t i = 0; i < held.differences.size() && i < most_lines; ++i) {
        print(held.differences[i]);
    }
    if (held.differences.size() > most_lines) {
        print(fmt::format("and {} more", held.differences.size() - most_lines));
    }
    if (!held.differences.empty()) {
        print("'" + path + "' is not what its manifest says");
        return ExitCode::does_not_hold;
    }
    if (!held.complete) {
        print("incomplete: the campaign in '" + path +
              "' did not end; continue it with 'difffuzz run --resume'");
        return ExitCode::no_verdict;
    }
    std::uint64_t bytes = 0;
    std::size_t left_out = 0;
    for (const ManifestFile& file : held.expected) {
        bytes += file.bytes;
        left_out += file.left_out() ? 1U : 0U;
    }
    print(fmt::format("{} files, {} bytes: as the manifest says{}", held.expected.size() - left_out,
                      bytes, left_out == 0 ? "" : fmt::format("; {} were left out", left_out)));
    return ExitCode::holds;
}

Compression compression_of(const std::string& name) {
    if (name.ends_with(".tar.zst")) {
        return Compression::zstd;
    }
    if (name.ends_with(".tar.gz")) {
        return Compression::gzip;
    }
    throw UsageError("--out of 'difffuzz evidence pack' names a file that ends in .tar.zst or " +
                     std::string(".tar.gz, not '") + name.substr(0, 200) + "'");
}

ExitCode pack(const std::string& directory, const Flags& flags) {
    if (flags.out.empty()) {
        throw UsageError("'difffuzz evidence pack' needs --out FILE.tar.zst (or .tar.gz)");
    }
    const Compression compression = compression_of(flags.out);
    if (!fs::is_directory(directory)) {
        throw UsageError("'" + directory + "' is no directory; name the evidence to pack");
    }
    const OutputFile out = new_output_file("--out", flags.out);
    Held held;
    if (const ExitCode code = verify(directory, held); code != ExitCode::holds) {
        return code;
    }
    const Manifest chosen = choose_for_bundle(directory, held.expected, max_bundle_bytes);
    write_output(out, pack_bundle(directory, chosen, compression));
    std::uint64_t bytes = 0;
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        if (chosen[i].left_out()) {
            ++left_out;
            bytes += held.expected[i].bytes;
        }
    }
    print(fmt::format("packed {} of {} files as '{}'{}", chosen.size() - left_out, chosen.size(),
                      flags.out,
                      left_out == 0 ? "" : fmt::format("; no room for {} bytes", bytes)));
    return ExitCode::holds;
}

int evidence(const Flags& flags) {
    const std::string& what = flags.positional.at(0);
    const std::string& path = flags.positional.at(1);
    try {
        if (what == "verify" && flags.out.empty()) {
            Held held;
            return static_cast<int>(verify(path, held));
        }
        if (what == "pack") {
            return static_cast<int>(pack(path, flags));
        }
    } catch (const BundleError& error) {
        print(error.what());
        return static_cast<int>(ExitCode::does_not_hold);
    }
    throw UsageError("'difffuzz evidence' takes verify PATH, or pack PATH --out FILE, not '" +
                     what.substr(0, 80) + "'" + (what == "verify" ? " with --out" : ""));
}

}  // namespace

CommandSpec evidence_command() {
    return {"evidence",
            "holds evidence against its manifest (verify), or makes one file of it (pack)",
            "difffuzz evidence pack difffuzz-out/42 --out evidence.tar.zst",
            {"--out,--log-dir"},
            "verify|pack PATH",
            2,
            2,
            evidence};
}

}  // namespace difffuzz
