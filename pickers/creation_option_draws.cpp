#include "pickers/creation_option_values.hpp"
#include "pickers/draw_image.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t max_up_front_bytes = 16 * 1024 * kib;
constexpr std::uint64_t max_up_front_clusters = 16'384;

using Words = std::string_view;

void draw_switch(const Draws& draws, std::string_view name, unsigned percent, bool may_be_on,
                 std::vector<FormatOption>& options) {
    if (draws.chance(std::string(name), percent)) {
        const bool on = draws.chance(std::string(name) + ".on", 75) && may_be_on;
        options.push_back({std::string(name), WordValue{on ? "on" : "off"}});
    }
}

void draw_word(const Draws& draws, std::string_view format, std::string_view name, unsigned percent,
               std::vector<FormatOption>& options) {
    if (draws.chance(std::string(name), percent)) {
        const std::string_view word =
            draws.pick(std::string(name) + ".word", known_option(format, name)->words);
        options.push_back({std::string(name), WordValue{std::string(word)}});
    }
}

void draw_preallocation(const Draws& draws, const TargetWish& wish, std::uint64_t cluster,
                        bool allowed, std::vector<FormatOption>& options) {
    if (!draws.chance("preallocation", 25)) {
        return;
    }
    std::vector<Words> modes{"off"};
    if (allowed && !wish.compressed) {
        const bool few = wish.size / cluster <= max_up_front_clusters;
        if (few && wish.format == "qcow2") {
            modes.push_back("metadata");
        }
        if (few && wish.size <= max_up_front_bytes) {
            modes.push_back("falloc");
            modes.push_back("full");
        }
    }
    options.push_back(
        {"preallocation",
         WordValue{std::string(draws.pick("preallocation.mode", std::span<const Words>(modes)))}});
}

void draw_qcow2(const Draws& draws, const Plan& plan, const TargetWish& wish,
                std::vector<FormatOption>& options) {
    const bool old = draws.chance("compat.old", 12);
    if (old || draws.chance("compat", 25)) {
        static constexpr Weighted<bool> spellings[] = {{false, 2}, {true, 1}};
        const bool short_form = draws.pick("compat.short", spellings);
        options.push_back({"compat", WordValue{old ? (short_form ? "v2" : "0.10")
                                                   : (short_form ? "v3" : "1.1")}});
    }
    std::uint64_t cluster = default_cluster;
    if (draws.chance("cluster_size", 65)) {
        // The tables of small clusters grow with the size of the image; on a backing file each
        // cluster of zeros may be one of its own.
        const std::uint64_t most = wish.backing ? 32'768 : 262'144;
        unsigned smallest = 9;
        while (smallest < 16 && wish.size >> smallest > most) {
            ++smallest;
        }
        // Every cluster that is touched is compressed as a whole, which takes time for large ones.
        const bool small = wish.compressed && draws.chance("cluster_size.small", 90);
        cluster = std::uint64_t{1} << draws.between("cluster_size.bits", smallest, small ? 17 : 21);
        options.push_back({"cluster_size", draw_spelling(draws.scope("cluster_size"), cluster)});
    }
    if (draws.chance("refcount_bits", 25)) {
        const auto bits = std::int64_t{1} << draws.between("refcount_bits.log", 0, 6);
        options.push_back({"refcount_bits", NumberValue{old ? 16 : bits}});
    }
    draw_switch(draws, "lazy_refcounts", 20, !old, options);
    draw_switch(draws, "extended_l2", 20, !old && cluster >= 16 * kib, options);
    if (draws.chance("compression_type", 25)) {
        const bool zstd =
            draws.chance("compression_type.zstd", 60) && !old && plan.has_feature("zstd");
        options.push_back({"compression_type", WordValue{zstd ? "zstd" : "zlib"}});
    }
    draw_preallocation(draws, wish, cluster,
                       !wish.backing || word_of(options, "extended_l2") == "on", options);
}

void draw_vmdk(const Draws& draws, const TargetWish& wish, std::vector<FormatOption>& options) {
    if (wish.backing) {
        draw_word(draws, wish.format, "adapter_type", 20, options);
        return;
    }
    draw_word(draws, wish.format, "subformat", 50, options);
    draw_word(draws, wish.format, "adapter_type", 30, options);
    draw_word(draws, wish.format, "toolsversion", 15, options);
    draw_switch(draws, "compat6", 20, true, options);
    if (word_of(options, "compat6") != "on") {
        draw_word(draws, wish.format, "hwversion", 25, options);
    }
    draw_switch(draws, "zeroed_grain", 25, true, options);
}

}  // namespace

std::vector<FormatOption> draw_creation_options(const Draws& draws, const Plan& plan,
                                                const TargetWish& wish) {
    std::vector<FormatOption> options;
    if (!draws.chance("any", 75)) {
        return options;
    }
    if (wish.format == "qcow2") {
        draw_qcow2(draws, plan, wish, options);
    } else if (wish.format == "raw") {
        draw_preallocation(draws, wish, default_cluster, true, options);
    } else if (wish.format == "vmdk") {
        draw_vmdk(draws, wish, options);
    } else if (wish.format == "vpc") {
        draw_word(draws, wish.format, "subformat", 50, options);
        draw_switch(draws, "force_size", 50, true, options);
    }
    return options;
}

}  // namespace difffuzz
