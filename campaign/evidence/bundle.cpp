#include "campaign/evidence/bundle.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include <archive.h>
#include <archive_entry.h>
#include <nlohmann/json.hpp>

#include "campaign/evidence/files.hpp"
#include "campaign/evidence/record.hpp"
#include "core/cases/digest.hpp"
#include "core/cases/json_fields.hpp"
#include "core/cases/symptom.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t max_file_bytes = max_bundle_bytes;
constexpr std::uint64_t block = 512;  // of tar

// A file's part of a tar archive: headers, those for a long name among them, and whole blocks.
std::uint64_t archived(std::uint64_t bytes) {
    return 4 * block + (bytes + block - 1) / block * block;
}

// By what a file is chosen: lower first. 0: required; 1: the journal; then streams by severity.
int rank_of(const std::string& directory, const std::string& path) {
    if (path == "journal.ndjson") {
        return 1;
    }
    const std::size_t raw = path.find("/raw/");
    if (raw == std::string::npos) {
        return 0;
    }
    fs::path folder = fs::path(path.substr(0, raw));
    if (folder.filename() == "original") {
        folder = folder.parent_path();
    }
    try {
        const std::string text =
            read_evidence_file(directory / folder / "record.json", max_record_bytes);
        const json record = parse_bounded(text, max_record_bytes, 128);
        if (const auto severity = parse_severity(record.value("severity", ""))) {
            return 2 + static_cast<int>(*severity);
        }
    } catch (const std::runtime_error&) {
        // Streams without a record come last.
    } catch (const json::exception&) {
    }
    return 1000;
}

using Writing = std::unique_ptr<archive, int (*)(archive*)>;
using Reading = std::unique_ptr<archive, int (*)(archive*)>;

// The archive grows in memory: it is bounded, and becomes a file as a whole or not at all.
la_ssize_t append(archive*, void* bytes, const void* buffer, size_t length) {
    static_cast<std::string*>(bytes)->append(static_cast<const char*>(buffer), length);
    return static_cast<la_ssize_t>(length);
}

void check(archive* archive, int result, const std::string& what) {
    if (result != ARCHIVE_OK) {
        throw EnvironmentError("cannot pack " + what + ": " + archive_error_string(archive));
    }
}

void add(archive* archive, const std::string& path, const std::string& content) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive_entry_set_pathname(entry.get(), (std::string(bundle_folder) + "/" + path).c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), path.ends_with(".sh") ? 0755 : 0644);
    archive_entry_set_mtime(entry.get(), 0, 0);
    check(archive, archive_write_header(archive, entry.get()), path);
    if (archive_write_data(archive, content.data(), content.size()) !=
        static_cast<la_ssize_t>(content.size())) {
        check(archive, ARCHIVE_FATAL, path);
    }
}

std::string content_of(archive* archive, std::uint64_t& room) {
    std::string content;
    char buffer[1 << 16];
    for (;;) {
        const la_ssize_t got = archive_read_data(archive, buffer, sizeof buffer);
        if (got == 0) {
            return content;
        }
        if (got < 0) {
            throw BundleError(archive_error_string(archive));
        }
        if (static_cast<std::uint64_t>(got) > room) {
            throw BundleError("it holds more than the " + std::to_string(max_bundle_bytes) +
                              " bytes that a bundle may have");
        }
        room -= static_cast<std::uint64_t>(got);
        content.append(buffer, static_cast<std::size_t>(got));
    }
}

bool next_header(archive* archive, archive_entry*& entry) {
    const int result = archive_read_next_header(archive, &entry);
    if (result != ARCHIVE_OK && result != ARCHIVE_EOF) {
        throw BundleError(archive_error_string(archive));
    }
    return result == ARCHIVE_OK;
}

// The files of a bundle as they are read.
class Members {
public:
    void take(archive* archive, archive_entry* entry, BundleContents& contents) {
        const std::string prefix = std::string(bundle_folder) + "/";
        const char* name = archive_entry_pathname(entry);
        last_ = name == nullptr ? "" : name;
        if (archive_entry_filetype(entry) != AE_IFREG || !last_.starts_with(prefix)) {
            throw BundleError("it is no regular file below " + prefix);
        }
        const std::string inside = last_.substr(prefix.size());
        if (!paths_.insert(inside).second) {
            throw BundleError("it is there twice");
        }
        const std::string content = content_of(archive, room_);
        if (inside == manifest_name) {
            contents.texts.manifest = content;
            return;
        }
        if (inside == manifest_digest_name) {
            contents.texts.digest = content;
            return;
        }
        if (inside == "campaign.json") {
            contents.campaign = content;
        }
        contents.found.push_back({inside, content.size(), content.size(), sha256_hex(content), {}});
    }

    bool has(const std::string& path) const { return paths_.contains(path); }
    const std::string& last() const { return last_; }

private:
    std::set<std::string> paths_;
    std::string last_;
    // choose_for_bundle reckons with more than the contents take.
    std::uint64_t room_ = max_bundle_bytes;
};

}  // namespace

Manifest choose_for_bundle(const std::string& directory, const Manifest& all,
                           std::uint64_t max_bytes) {
    std::vector<std::pair<int, std::size_t>> order;
    for (std::size_t i = 0; i < all.size(); ++i) {
        order.emplace_back(rank_of(directory, all[i].path), i);
    }
    std::ranges::sort(order);
    // The manifest itself, whatever it says of each file, and the archive's end.
    std::uint64_t used = 20 * block + archived(manifest_text(all).size() + 64 * all.size());
    Manifest chosen = all;
    for (const auto& [rank, i] : order) {
        const std::uint64_t more = archived(all[i].bytes);
        if (used + more <= max_bytes) {
            used += more;
        } else if (rank == 0) {
            throw BundleError("the required part of '" + directory + "' does not fit into " +
                              std::to_string(max_bytes) + " bytes: no room for '" + all[i].path +
                              "' (" + std::to_string(all[i].bytes) +
                              " bytes); run fewer cases, or fewer operations at a time");
        } else {
            chosen[i].bytes = 0;
            chosen[i].sha256.clear();
            chosen[i].removed = "all of it: no room in the bundle";
        }
    }
    return chosen;
}

std::string pack_bundle(const std::string& directory, const Manifest& chosen,
                        Compression compression) {
    std::string bytes;
    const Writing writing(archive_write_new(), archive_write_free);
    archive* const archive = writing.get();
    check(archive, archive_write_set_format_pax_restricted(archive), "the evidence");
    check(archive,
          compression == Compression::zstd ? archive_write_add_filter_zstd(archive)
                                           : archive_write_add_filter_gzip(archive),
          "the evidence");
    // No zeros behind the end to fill a block of a tape.
    check(archive, archive_write_set_bytes_in_last_block(archive, 1), "the evidence");
    if (compression == Compression::gzip) {
        // Without the time at which it was packed.
        check(archive, archive_write_set_filter_option(archive, "gzip", "timestamp", nullptr),
              "the evidence");
    }
    check(archive, archive_write_open(archive, &bytes, nullptr, append, nullptr), "the evidence");
    const std::string text = manifest_text(chosen);
    add(archive, std::string(manifest_name), text);
    add(archive, std::string(manifest_digest_name), manifest_digest(text));
    for (const ManifestFile& file : chosen) {
        if (file.left_out()) {
            continue;
        }
        const std::string content = read_evidence_file(directory + "/" + file.path, max_file_bytes);
        if (sha256_hex(content) != file.sha256) {
            throw BundleError("'" + file.path + "' of '" + directory +
                              "' is not what its manifest says; see 'difffuzz evidence verify'");
        }
        add(archive, file.path, content);
    }
    check(archive, archive_write_close(archive), "the evidence");
    return bytes;
}

BundleContents read_bundle(const std::string& path) {
    const Reading reading(archive_read_new(), archive_read_free);
    archive* const archive = reading.get();
    archive_read_support_format_tar(archive);
    archive_read_support_filter_zstd(archive);
    archive_read_support_filter_gzip(archive);
    archive_entry* entry = nullptr;
    if (archive_read_open_filename(archive, path.c_str(), 1 << 16) != ARCHIVE_OK ||
        archive_read_next_header(archive, &entry) != ARCHIVE_OK) {
        const char* reason = archive_error_string(archive);
        throw UsageError("'" + path + "' is neither a directory nor a bundle of difffuzz: " +
                         (reason == nullptr ? "it is empty" : reason));
    }
    BundleContents contents;
    Members members;
    try {
        do {
            members.take(archive, entry, contents);
        } while (next_header(archive, entry));
        if (!members.has(std::string(manifest_name))) {
            throw BundleError("it has no manifest.json");
        }
    } catch (const BundleError& error) {
        contents.damage =
            "the bundle cannot be read further than '" + members.last() + "': " + error.what();
    }
    std::ranges::sort(contents.found, {}, &ManifestFile::path);
    return contents;
}

}  // namespace difffuzz
