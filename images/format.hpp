// Image formats: one file per format, one table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cases/case.hpp"
#include "core/tools/command.hpp"
#include "images/bitmap_content.hpp"
#include "images/content_source.hpp"
#include "images/damage.hpp"

namespace difffuzz {

// Runs the neutral qemu-img (the reference's) in the directory where images are built. Implemented
// by campaign/execution; a test may implement it with its own process starter.
class NeutralTools {
public:
    virtual ~NeutralTools() = default;
    // `arguments` without argv[0]; relative file names.
    virtual Outcome qemu_img(const std::vector<std::string>& arguments) = 0;
};

// A file name (or protocol name) found in an image's metadata.
struct ForeignReference {
    std::string kind;  // "backing", "data-file", "extent", "parent"
    std::string name;  // bytes as found, not trusted
};

struct Format {
    std::string_view name;
    // Whether images of it can hold another image as backing file, and compressed clusters.
    bool backing = false;
    bool compression = false;
    // Whether images of it can hold internal snapshots, and dirty bitmaps.
    bool snapshots = false;
    bool bitmaps = false;
    // Whether it is opened with a secret only: a step that names such an image makes the secret and
    // names images by driver (pickers/common_options.hpp).
    bool keyed = false;
    // Whether qemu-img can check its structure.
    bool checkable = false;
    // Whether qemu-img writes the same bytes every time: no random id, no time.
    bool bytes_stable = false;
    // Virtual size that a recipe of this format has once built, bytes (rounded up where the format
    // cannot hold every size). Pure; pinned against real binaries by tests.
    std::uint64_t (*actual_size)(const ImageRecipe& recipe) = nullptr;
    // Everything wrong with the recipe as input to `build`, one sentence; empty if fine. Pure.
    std::string (*validate)(const ImageRecipe& recipe) = nullptr;
    // Makes the file `directory`/file_name(recipe). Equal recipes give byte-equal files. Throws
    // ImageError. Images built in-process leave `tools` alone.
    void (*build)(const Case& c, const ImageRecipe& recipe, const std::string& directory,
                  NeutralTools& tools) = nullptr;
    bool built_in_process = false;
    // Names of the files that `build` makes beside file_name(recipe) (extents, a data file); null:
    // never any. Pure.
    std::vector<std::string> (*extra_files)(const ImageRecipe& recipe) = nullptr;
    // Opens a file for reading its virtual content in-process, or null when the format has no
    // reader: then it is converted to raw by the neutral qemu-img first. `directory` is where its
    // backing files lie; a chain is followed only to plain names in the same directory, with the
    // formats recorded in the header. Throws ImageError. Bounded in memory and time for any input.
    std::unique_ptr<ContentSource> (*open)(const std::string& directory,
                                           const std::string& name) = nullptr;
    // The same for an internal snapshot, by the id that the file records for it; null where the
    // format has none. Throws ImageError, also when there is no such snapshot.
    std::unique_ptr<ContentSource> (*open_snapshot)(const std::string& directory,
                                                    const std::string& name,
                                                    const std::string& snapshot_id) = nullptr;
    // All dirty bitmaps of an image; null where the format has none. Throws ImageError.
    std::vector<BitmapContent> (*list_bitmaps)(const std::string& directory,
                                               const std::string& name) = nullptr;
    // File names and protocols in the file's metadata that a tool opening it would follow. Bounded;
    // unreadable metadata gives what was found so far.
    std::vector<ForeignReference> (*references)(const std::string& directory,
                                                const std::string& name) = nullptr;
    // Whether a file is opened with a secret only; null: as `keyed` says. False where its header
    // cannot be read.
    bool (*locked)(const std::string& directory, const std::string& name) = nullptr;
    // What of the format's structures can be damaged, and how (images/damage.hpp).
    DamageTable damage = {};
    // Physical unit, bytes, in which the image allocates (qcow2 cluster, vmdk grain, vpc block; 0
    // where it has none); for describing where a difference lies.
    std::uint64_t (*cluster_bytes)(const ImageRecipe& recipe) = nullptr;
};

// All formats, in a fixed order.
const std::vector<Format>& formats();
// Null when unknown.
const Format* find_format(std::string_view name);

// Whether the recipe's image is opened with a secret only.
bool is_keyed(const ImageRecipe& recipe);

// Names of all files of the image, the main one first.
std::vector<std::string> files_of(const ImageRecipe& recipe);

// Everything wrong with the recipe as input to build_images(), one sentence; empty if fine. Its
// format must be known. Pure.
std::string broken_recipe(const ImageRecipe& recipe);

// What the damage of a case's images has in common where it is of a class that is large and mostly
// harmless, and would bury the rest: "pointers past the end" (points_past_end()); else empty. Pure.
std::string_view damage_feature(const Case& c);

// True when `reference` stays inside the workspace: a plain file name without separator, protocol,
// or "json:" prefix.
bool stays_inside(const ForeignReference& reference);

// Builds all images of a case, in order, in `directory`. Throws ImageError.
void build_images(const Case& c, const std::string& directory, NeutralTools& tools);

}  // namespace difffuzz
