// A campaign's evidence as one file: a tar archive under zstd or gzip, with a manifest of its own.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "campaign/evidence/manifest.hpp"

namespace difffuzz {

// The most bytes that a bundle's archive may have before it is compressed.
inline constexpr std::uint64_t max_bundle_bytes = std::uint64_t{64} << 20;
// The directory that all files of a bundle lie in.
inline constexpr std::string_view bundle_folder = "evidence";

// Evidence that cannot be packed, or a bundle that is not what was packed. One sentence.
class BundleError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

enum class Compression { zstd, gzip };

// What goes into a bundle of at most `max_bytes`: all that is required (everything but streams and
// the journal), then the journal, then streams by the severity of their record, as far as there is
// room; the rest is left out, and the manifest says so. BundleError when the required part alone
// does not fit.
Manifest choose_for_bundle(const std::string& directory, const Manifest& all,
                           std::uint64_t max_bytes);

// The bundle's bytes: equal for equal evidence, whenever and wherever it is packed. `chosen` as
// choose_for_bundle gives it. BundleError naming a file that is not what the manifest says.
std::string pack_bundle(const std::string& directory, const Manifest& chosen,
                        Compression compression);

struct BundleContents {
    ManifestTexts texts;   // as the bundle has them
    Manifest found;        // what is there
    std::string campaign;  // campaign.json
    std::string damage;    // where reading had to end, in a sentence; empty: nowhere
};
// Reads a bundle without unpacking it. UsageError naming the file when it is none at all.
BundleContents read_bundle(const std::string& path);

}  // namespace difffuzz
