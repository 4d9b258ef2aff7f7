#include "pickers/image_feature.hpp"

#include <algorithm>

namespace difffuzz {
namespace {

using Words = std::string_view;

constexpr std::uint64_t gib = std::uint64_t{1} << 30;
constexpr std::uint64_t sector = 512;

bool has_write(const ImageRecipe& image, WriteKind kind) {
    return std::ranges::find(image.content, kind, &ContentWrite::kind) != image.content.end();
}

template <WriteKind kind>
bool has_kind(const ImageRecipe& image) {
    return has_write(image, kind);
}

template <WriteKind from, WriteKind to>
void turn(ImageRecipe& image) {
    for (ContentWrite& write : image.content) {
        write.kind = write.kind == from ? to : write.kind;
    }
}

void drop_zero_writes(ImageRecipe& image) {
    std::erase_if(image.content,
                  [](const ContentWrite& write) { return write.kind == WriteKind::zero; });
    for (SnapshotRecipe& snapshot : image.snapshots) {
        snapshot.after = std::min(snapshot.after, static_cast<std::uint32_t>(image.content.size()));
    }
}

// A name of a creation option as a template argument.
template <std::size_t n>
struct Name {
    char text[n];
    constexpr Name(const char (&name)[n]) { std::copy_n(name, n, text); }
};

template <Name name>
bool has_option(const ImageRecipe& image) {
    return std::ranges::find(image.options, Words(name.text), &FormatOption::name) !=
           image.options.end();
}

template <Name name>
void drop_option(ImageRecipe& image) {
    std::erase_if(image.options,
                  [](const FormatOption& option) { return option.name == Words(name.text); });
}

template <Name name>
constexpr ImageFeature option(std::span<const Words> formats, std::span<const Words> paths) {
    return {Words(name.text), formats, paths, has_option<name>, drop_option<name>};
}

constexpr Words qcow2[] = {"qcow2"};
constexpr Words vmdk[] = {"vmdk"};
constexpr Words vpc[] = {"vpc"};
constexpr Words vhdx[] = {"vhdx"};
constexpr Words qed[] = {"qed"};
constexpr Words vdi[] = {"vdi"};
constexpr Words backing_formats[] = {"qcow2", "vmdk", "qed", "qcow"};
constexpr Words compressing[] = {"qcow2", "vmdk"};
constexpr Words subformats[] = {"vmdk", "vpc", "vhdx"};
constexpr Words clustered[] = {"qcow2", "qed", "parallels"};

constexpr Words content_paths[] = {"writes"};
constexpr Words size_paths[] = {"size.kind"};
constexpr Words snapshot_paths[] = {"snapshots.any", "snapshots"};
constexpr Words bitmap_paths[] = {"bitmaps.any", "any"};
constexpr Words snapshot_options[] = {"-l"};
constexpr Words bitmap_options[] = {"--bitmaps"};
constexpr Words cluster_paths[] = {"cluster_size"};
constexpr Words compat_paths[] = {"version_2", "compat"};
constexpr Words lazy_paths[] = {"lazy_refcounts"};
constexpr Words zstd_paths[] = {"zstd"};
constexpr Words width_paths[] = {"refcount_bits"};
constexpr Words extended_paths[] = {"extended_l2"};
constexpr Words file_paths[] = {"data_file"};
constexpr Words raw_file_paths[] = {"data_file", "data_file_raw"};
constexpr Words subformat_paths[] = {"subformat", "fixed"};
constexpr Words adapter_paths[] = {"adapter_type"};
constexpr Words hardware_paths[] = {"hwversion"};
constexpr Words grain_paths[] = {"zeroed_grain"};
constexpr Words force_paths[] = {"force_size"};
constexpr Words block_paths[] = {"block_size"};
constexpr Words state_paths[] = {"block_state_zero"};
constexpr Words table_paths[] = {"table_size"};
constexpr Words static_paths[] = {"static"};

constexpr ImageFeature table[] = {
    // Not wished for by its path: every image of the chain would get a backing file too.
    {"backing",
     backing_formats,
     {},
     [](const ImageRecipe& image) { return image.backing.has_value(); },
     [](ImageRecipe& image) { image.backing.reset(); }},
    {"no-content",
     {},
     content_paths,
     [](const ImageRecipe& image) { return image.content.empty(); },
     [](ImageRecipe& image) {
         image.content.push_back({WriteKind::write, 0, std::min(image.size, sector), ByteFill{7}});
     }},
    {"odd-size",
     {},
     {},
     [](const ImageRecipe& image) { return image.size % sector != 0; },
     [](ImageRecipe& image) { image.size += sector - image.size % sector; }},
    {"beyond-4g",
     {},
     size_paths,
     [](const ImageRecipe& image) { return image.size > 4 * gib; },
     [](ImageRecipe& image) {
         image.size = 4 * gib;
         image.content.clear();
         image.snapshots.clear();
         image.bitmaps.clear();
     }},
    {"compressed-writes",
     compressing,
     {},
     has_kind<WriteKind::compressed>,
     turn<WriteKind::compressed, WriteKind::write>},
    {"zero-writes", {}, {}, has_kind<WriteKind::zero>, drop_zero_writes},
    {"unmapped-writes",
     qcow2,
     {},
     has_kind<WriteKind::unmap>,
     turn<WriteKind::unmap, WriteKind::zero>},
    {"snapshots", qcow2, snapshot_paths,
     [](const ImageRecipe& image) { return !image.snapshots.empty(); },
     [](ImageRecipe& image) { image.snapshots.clear(); }, snapshot_options},
    {"bitmaps", qcow2, bitmap_paths,
     [](const ImageRecipe& image) { return !image.bitmaps.empty(); },
     [](ImageRecipe& image) { image.bitmaps.clear(); }, bitmap_options},
    option<"cluster_size">(clustered, cluster_paths),
    option<"compat">(qcow2, compat_paths),
    option<"lazy_refcounts">(qcow2, lazy_paths),
    option<"compression_type">(qcow2, zstd_paths),
    option<"refcount_bits">(qcow2, width_paths),
    option<"extended_l2">(qcow2, extended_paths),
    option<"data_file">(qcow2, file_paths),
    option<"data_file_raw">(qcow2, raw_file_paths),
    option<"subformat">(subformats, subformat_paths),
    option<"adapter_type">(vmdk, adapter_paths),
    option<"hwversion">(vmdk, hardware_paths),
    option<"zeroed_grain">(vmdk, grain_paths),
    option<"force_size">(vpc, force_paths),
    option<"block_size">(vhdx, block_paths),
    option<"block_state_zero">(vhdx, state_paths),
    option<"table_size">(qed, table_paths),
    option<"static">(vdi, static_paths),
};

}  // namespace

std::span<const ImageFeature> image_features() { return table; }

}  // namespace difffuzz
