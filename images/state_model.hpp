// What the images of a case hold after each of its steps: pure data and pure transitions, pinned by
// tests against real binaries. Knows no command line; pickers/ say which step does what.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cases/case.hpp"
#include "images/content_model.hpp"
#include "images/interval_map.hpp"

namespace difffuzz {

// What an image holds itself, apart from its backing file.
struct OwnContent {
    std::uint64_t size = 0;  // virtual, bytes
    // Holds in the ranges of `held`; elsewhere the backing file shows through, or zeros.
    ContentExpectation content = ContentExpectation::zeros(0);
    IntervalMap<bool> held;  // bytes of the virtual disk, whole allocation units
    // It was cut inside a cluster: qemu-img neither clears what lies behind the end nor does so
    // when the image grows again.
    bool stale_tail = false;
    // Less than `held` may be held: zeros need not be where there is no backing file, and after
    // rebase_safely(). What shows through where another backing file comes is then not known.
    bool held_at_most = false;
};

struct SnapshotState {
    std::string id;    // as the file records it: "1", "2", ...
    std::string name;  // bytes
    OwnContent own;
};

struct BitmapState {
    std::string name;               // bytes
    std::uint64_t granularity = 0;  // bytes
    bool enabled = true;
};

struct ImageState {
    std::string format;
    // qcow2 only.
    unsigned version = 3;
    unsigned refcount_bits = 16;
    bool lazy_refcounts = false;
    bool extended_l2 = false;
    bool zstd = false;
    bool data_file = false;
    std::uint64_t cluster = 0;           // bytes; 0 for formats without
    std::uint64_t unit = 0;              // bytes that are allocated together: cluster or subcluster
    std::optional<std::string> backing;  // id
    OwnContent own;
    std::vector<SnapshotState> snapshots;  // oldest first
    std::vector<BitmapState> bitmaps;      // in the order of their making
    // Clusters of the file may have been given back since it was built: what lies there is old.
    bool freed = false;
};

// Images by id.
using CaseState = std::map<std::string, ImageState>;

// The state of one image recipe as built. Its backing image's state is not looked at.
ImageState state_of(const ImageRecipe& recipe);
// Of all images of the case as built.
CaseState initial_state(const Case& c);

// A new image as `recipe` describes it, which has neither content nor backing file of its own: it
// lies on `backing`, or holds all of `content`, if given; else it is empty.
void make_image(CaseState& state, const ImageRecipe& recipe,
                const std::optional<std::string>& backing,
                const std::optional<ContentExpectation>& content);

// What a guest reads from image `id`, or would read from `own` in its place: the backing chain as
// it now is shows through. `id` must be in `state`, as must its chain.
ContentExpectation content_of(const CaseState& state, const std::string& id);
ContentExpectation content_of(const CaseState& state, const std::string& id, const OwnContent& own);

// A write of any kind, within the virtual size. Copy on write: units that it touches hold all of
// what was seen there before. A discard (unmap) takes whole clusters only, and is for formats where
// these then read as zeros.
void write_image(CaseState& state, const std::string& id, const ContentWrite& write);

// Grows (with zeros, also where a longer backing file would show) or shrinks.
void resize_image(CaseState& state, const std::string& id, std::uint64_t size);

// Takes a snapshot; its id is one more than the highest.
void take_snapshot(ImageState& image, const std::string& name);
// The oldest of that id or, where none has it, of that name; null when there is none: what
// qemu-img applies, or reads.
const SnapshotState* find_snapshot(const ImageState& image, const std::string& id_or_name);
// The oldest of that name; null when there is none: what qemu-img deletes.
const SnapshotState* find_snapshot_named(const ImageState& image, const std::string& name);
// Puts back what the snapshot holds, size included.
void apply_snapshot(ImageState& image, const SnapshotState& snapshot);
void delete_snapshot(ImageState& image, const SnapshotState& snapshot);

const BitmapState* find_bitmap(const ImageState& image, const std::string& name);

// What is read stays the same, and `base` is the backing file from now on (or none). The image
// holds at least the units in which its old and new backing files differ; which others is up to the
// tool, so that the model takes it to hold all (OwnContent::held_at_most). Snapshots see the new
// one.
void rebase_safely(CaseState& state, const std::string& id, const std::optional<std::string>& base);
// Only the name of the backing file changes: what is read may change.
void rebase_unsafely(CaseState& state, const std::string& id,
                     const std::optional<std::string>& base);

// Ids of the chain from `id` down, itself first. At most max_chain.
std::vector<std::string> chain_of(const CaseState& state, const std::string& id);

// What `id` and the images above `base` hold goes into `base`, and with it the zeros that are read
// behind the end of an image in between; `base` grows to the size of `id` where it is smaller. What
// is read from `id` stays the same. `empty`: `id` then holds nothing itself, as qemu-img does where
// `base` is its own backing file.
void commit_image(CaseState& state, const std::string& id, const std::string& base, bool empty);

}  // namespace difffuzz
