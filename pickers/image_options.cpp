#include "pickers/image_options.hpp"

#include <algorithm>

#include "images/format.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

void add_word(ImageRecipe& image, const char* name, std::string_view word) {
    image.options.push_back({name, WordValue{std::string(word)}});
}

void add_size(ImageRecipe& image, const char* name, std::uint64_t bytes) {
    image.options.push_back({name, plain_size(bytes)});
}

bool has_option(const ImageRecipe& image, std::string_view name) {
    return std::ranges::find(image.options, name, &FormatOption::name) != image.options.end();
}

void draw_qcow2(ImageRecipe& image, const Draws& draws, const Plan& plan, ImageVariety variety) {
    static constexpr std::uint64_t clusters[] = {512,      1 * kib,   4 * kib, 16 * kib,
                                                 64 * kib, 256 * kib, 1 * mib, 2 * mib};
    const std::uint64_t cluster = draws.pick("cluster_size", clusters);
    add_size(image, "cluster_size", cluster);
    if (variety == ImageVariety::plain) {
        return;
    }
    const bool every = variety == ImageVariety::every;
    if (every && draws.chance("version_2", 12)) {
        add_word(image, "compat", "0.10");
        return;
    }
    if (draws.chance("lazy_refcounts", 15)) {
        add_word(image, "lazy_refcounts", "on");
    }
    if (plan.has_feature("zstd") && draws.chance("zstd", 25)) {
        add_word(image, "compression_type", "zstd");
    }
    if (!every) {
        return;
    }
    if (draws.chance("refcount_bits", 20)) {
        static constexpr std::int64_t widths[] = {1, 2, 4, 8, 32, 64};
        image.options.push_back({"refcount_bits", NumberValue{draws.pick("width", widths)}});
    }
    if (cluster >= 16 * kib && draws.chance("extended_l2", 25)) {
        add_word(image, "extended_l2", "on");
    }
    if (draws.chance("data_file", 6)) {
        add_word(image, "data_file", image.id + ".data");
        if (draws.chance("data_file_raw", 50)) {
            add_word(image, "data_file_raw", "on");
        }
    }
}

void draw_vmdk(ImageRecipe& image, const Draws& draws) {
    static constexpr Weighted<std::string_view> subformats[] = {{"monolithicSparse", 4},
                                                                {"monolithicFlat", 2},
                                                                {"twoGbMaxExtentSparse", 2},
                                                                {"twoGbMaxExtentFlat", 2},
                                                                {"streamOptimized", 2}};
    add_word(image, "subformat", draws.pick("subformat", subformats));
    if (draws.chance("adapter_type", 15)) {
        static constexpr std::string_view adapters[] = {"ide", "lsilogic", "buslogic", "legacyESX"};
        add_word(image, "adapter_type", draws.pick("adapter", adapters));
    }
    if (draws.chance("hwversion", 10)) {
        add_word(image, "hwversion", "4");
    }
    if (draws.chance("zeroed_grain", 20)) {
        add_word(image, "zeroed_grain", "on");
    }
}

void draw_vpc(ImageRecipe& image, const Draws& draws) {
    if (draws.chance("fixed", 35)) {
        add_word(image, "subformat", "fixed");
    }
    if (draws.chance("force_size", 40)) {
        add_word(image, "force_size", "on");
    }
}

void draw_vhdx(ImageRecipe& image, const Draws& draws) {
    if (draws.chance("fixed", 30)) {
        add_word(image, "subformat", "fixed");
    }
    if (draws.chance("block_size", 60)) {
        static constexpr std::uint64_t blocks[] = {1 * mib, 2 * mib, 8 * mib, 16 * mib, 32 * mib};
        add_size(image, "block_size", draws.pick("block", blocks));
    }
    if (draws.chance("block_state_zero", 20)) {
        add_word(image, "block_state_zero", draws.chance("zero", 50) ? "on" : "off");
    }
}

void draw_qed(ImageRecipe& image, const Draws& draws) {
    if (draws.chance("cluster_size", 60)) {
        static constexpr std::uint64_t clusters[] = {4 * kib, 16 * kib, 64 * kib, 256 * kib};
        add_size(image, "cluster_size", draws.pick("cluster", clusters));
    }
    if (draws.chance("table_size", 40)) {
        static constexpr std::int64_t tables[] = {2, 4, 8, 16};
        image.options.push_back({"table_size", NumberValue{draws.pick("table", tables)}});
    }
}

void draw_parallels(ImageRecipe& image, const Draws& draws) {
    if (draws.chance("cluster_size", 60)) {
        static constexpr std::uint64_t clusters[] = {4 * kib, 64 * kib, 1 * mib, 2 * mib};
        add_size(image, "cluster_size", draws.pick("cluster", clusters));
    }
}

bool is_word_option(const ImageRecipe& image, std::string_view name,
                    std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(image.options, [&](const FormatOption& option) {
        const auto* word = std::get_if<WordValue>(&option.value);
        return option.name == name && word != nullptr &&
               std::ranges::find(words, word->text) != words.end();
    });
}

// Now and then a zero write covers whole clusters and leaves nothing allocated.
void draw_unmapped(ImageRecipe& image, const Draws& draws, std::uint64_t cluster) {
    for (std::size_t i = 0; i < image.content.size(); ++i) {
        ContentWrite& write = image.content[i];
        if (write.kind != WriteKind::zero || !draws.chance("unmap" + std::to_string(i), 35)) {
            continue;
        }
        const std::uint64_t end = write.offset + write.length;
        write.offset -= write.offset % cluster;
        write.length = std::min((end + cluster - 1) / cluster * cluster, image.size) - write.offset;
        write.kind = WriteKind::unmap;
    }
}

void draw_snapshots(ImageRecipe& image, const Draws& draws) {
    static constexpr Weighted<std::size_t> counts[] = {{1, 5}, {2, 3}, {3, 2}, {6, 1}, {16, 1}};
    const std::size_t count = draws.pick("snapshots", counts);
    std::vector<std::uint32_t> after;
    for (std::size_t i = 0; i < count; ++i) {
        after.push_back(static_cast<std::uint32_t>(
            draws.between("after" + std::to_string(i), 0, image.content.size())));
    }
    std::ranges::sort(after);
    for (std::size_t i = 0; i < count; ++i) {
        image.snapshots.push_back({draw_name(draws.scope("name" + std::to_string(i))), after[i]});
    }
}

void draw_bitmaps(ImageRecipe& image, const Draws& draws) {
    static constexpr Weighted<std::size_t> counts[] = {{1, 5}, {2, 3}, {4, 1}};
    const std::size_t count = draws.pick("bitmaps", counts);
    for (std::size_t i = 0; i < count; ++i) {
        const Draws one = draws.scope("bitmap" + std::to_string(i));
        BitmapRecipe bitmap;
        // The number keeps names apart.
        bitmap.name = std::to_string(i) + draw_name(one);
        bitmap.name.resize(std::min<std::size_t>(bitmap.name.size(), 64));
        static constexpr std::uint64_t granularities[] = {512,       4 * kib, 64 * kib,
                                                          128 * kib, 1 * mib, 2048 * mib};
        bitmap.granularity = one.pick("granularity", granularities);
        bitmap.enabled = one.chance("enabled", 70);
        if (one.chance("dirty", 70)) {
            const std::uint64_t offset = one.between("offset", 0, image.size - 1);
            bitmap.dirty.push_back(
                {offset, one.between("length", 1, std::min(image.size - offset, 256 * kib))});
        }
        image.bitmaps.push_back(std::move(bitmap));
    }
}

}  // namespace

std::string draw_name(const Draws& draws) {
    static constexpr Weighted<int> kinds[] = {{0, 5}, {1, 3}, {2, 1}, {3, 1}, {4, 1}};
    switch (draws.pick("kind", kinds)) {
        case 0: {
            static constexpr std::string_view plain[] = {"first", "second", "third", "a", "snap-1"};
            return std::string(draws.pick("plain", plain));
        }
        case 1:
            return std::to_string(draws.between("number", 1, 20));
        case 2:
            return "with blanks and = , \" '";
        case 3:
            return "\xc3\xa4\xe2\x82\xac\xf0\x9f\x92\xbe";
        default:
            return std::string(static_cast<std::size_t>(draws.between("length", 128, 255)), 'n');
    }
}

void draw_image_options(ImageRecipe& image, const Draws& draws, const Plan& plan,
                        ImageVariety variety) {
    image.options.clear();
    if (image.format == "qcow2") {
        draw_qcow2(image, draws, plan, variety);
        return;
    }
    if (variety != ImageVariety::every) {
        return;
    }
    if (image.format == "vmdk") {
        draw_vmdk(image, draws);
    } else if (image.format == "vpc") {
        draw_vpc(image, draws);
    } else if (image.format == "vhdx") {
        draw_vhdx(image, draws);
    } else if (image.format == "qed") {
        draw_qed(image, draws);
    } else if (image.format == "parallels") {
        draw_parallels(image, draws);
    } else if (image.format == "vdi" && draws.chance("static", 25)) {
        add_word(image, "static", "on");
    }
}

std::uint64_t largest_cheap_size(const ImageRecipe& image) {
    const Format& format = *find_format(image.format);
    // Small clusters mean many tables: no image has more than a quarter million of them.
    constexpr std::uint64_t most_clusters = 262'144;
    std::uint64_t size = UINT64_MAX;
    if (const std::uint64_t cluster = format.cluster_bytes(image); cluster != 0) {
        size = cluster * most_clusters;
    }
    if (!format.built_in_process) {
        // The conversion that builds it reads the whole virtual size.
        size = std::min(size, 64 * mib);
    }
    const bool full =
        is_word_option(image, "subformat", {"fixed", "monolithicFlat", "twoGbMaxExtentFlat"}) ||
        is_word_option(image, "static", {"on"});
    return full ? std::min(size, 16 * mib) : size;
}

void draw_image_features(ImageRecipe& image, const Draws& draws) {
    const Format& format = *find_format(image.format);
    if (image.format == "qcow2" && image.size != 0) {
        draw_unmapped(image, draws, format.cluster_bytes(image));
    }
    if (format.snapshots && draws.chance("snapshots.any", 20)) {
        draw_snapshots(image, draws);
    }
    if (format.bitmaps && image.size != 0 && draws.chance("bitmaps.any", 12)) {
        draw_bitmaps(image, draws);
    }
}

void settle_features(ImageRecipe& image) {
    // From what is least to what is most of the image's own.
    const auto drop_unmapped = [&] {
        for (ContentWrite& write : image.content) {
            write.kind = write.kind == WriteKind::unmap ? WriteKind::zero : write.kind;
        }
    };
    const auto drop_compressed = [&] {
        for (ContentWrite& write : image.content) {
            write.kind = write.kind == WriteKind::compressed ? WriteKind::write : write.kind;
        }
    };
    for (int step = 0; step < 5 && !broken_recipe(image).empty(); ++step) {
        switch (step) {
            case 0:
                if (has_option(image, "data_file")) {
                    drop_compressed();
                    image.snapshots.clear();
                }
                break;
            case 1:
                drop_unmapped();
                break;
            case 2:
                image.bitmaps.clear();
                break;
            case 3:
                image.snapshots.clear();
                break;
            default:
                std::erase_if(image.options, [](const FormatOption& option) {
                    return option.name != "cluster_size";
                });
                break;
        }
    }
}

}  // namespace difffuzz
