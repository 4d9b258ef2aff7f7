// The creation options that formats document, one row each.
#include <algorithm>
#include <iterator>

#include "pickers/creation_option_values.hpp"

namespace difffuzz {
namespace {

using Words = std::string_view;
constexpr Words switch_words[] = {"on", "off"};
constexpr Words no_switch[] = {"maybe", "1"};
constexpr Words no_size[] = {"x", "64kb", "-1"};
constexpr Words compat_words[] = {"0.10", "1.1", "v2", "v3"};
constexpr Words no_compat[] = {"0.11", "v4", "3"};
constexpr Words no_number[] = {"x", "16bits"};
constexpr Words compression_words[] = {"zlib", "zstd"};
constexpr Words no_compression[] = {"lzma", "ZLIB"};
constexpr Words qcow2_preallocation[] = {"off", "metadata", "falloc", "full"};
constexpr Words no_qcow2_preallocation[] = {"some", "on"};
constexpr Words raw_preallocation[] = {"off", "falloc", "full"};
constexpr Words no_raw_preallocation[] = {"some", "metadata"};
constexpr Words vmdk_subformats[] = {"monolithicSparse", "streamOptimized"};
constexpr Words no_vmdk_subformat[] = {"sparse", "monolithicsparse"};
constexpr Words adapter_words[] = {"ide", "lsilogic", "buslogic", "legacyESX"};
constexpr Words no_adapter[] = {"scsi", "IDE"};
constexpr Words hardware_words[] = {"4", "6", "7", "10", "13", "21"};
constexpr Words tools_words[] = {"9", "10346", "2147483647"};
constexpr Words vpc_subformats[] = {"dynamic", "fixed"};
constexpr Words no_vpc_subformat[] = {"sparse", "Fixed"};
constexpr Words backing_words[] = {"raw", "qcow2", "vmdk", "vpc",      "vhdx",
                                   "vdi", "qed",   "qcow", "parallels"};

constexpr CreationOption option_table[] = {
    {"qcow2", "cluster_size", ValueKind::size, {}, no_size},
    {"qcow2", "compat", ValueKind::word, compat_words, no_compat},
    {"qcow2", "refcount_bits", ValueKind::number, {}, no_number},
    {"qcow2", "lazy_refcounts", ValueKind::word, switch_words, no_switch},
    {"qcow2", "extended_l2", ValueKind::word, switch_words, no_switch},
    {"qcow2", "compression_type", ValueKind::word, compression_words, no_compression},
    {"qcow2", "preallocation", ValueKind::word, qcow2_preallocation, no_qcow2_preallocation},
    {"qcow2", "backing_file", ValueKind::image, {}, {}},
    {"qcow2", "backing_fmt", ValueKind::word, backing_words, {}},
    {"raw", "preallocation", ValueKind::word, raw_preallocation, no_raw_preallocation},
    {"vmdk", "subformat", ValueKind::word, vmdk_subformats, no_vmdk_subformat},
    {"vmdk", "adapter_type", ValueKind::word, adapter_words, no_adapter},
    {"vmdk", "hwversion", ValueKind::word, hardware_words, {}},
    {"vmdk", "toolsversion", ValueKind::word, tools_words, {}},
    {"vmdk", "compat6", ValueKind::word, switch_words, no_switch},
    {"vmdk", "zeroed_grain", ValueKind::word, switch_words, no_switch},
    {"vmdk", "backing_file", ValueKind::image, {}, {}},
    {"vmdk", "backing_fmt", ValueKind::word, backing_words, {}},
    {"vpc", "subformat", ValueKind::word, vpc_subformats, no_vpc_subformat},
    {"vpc", "force_size", ValueKind::word, switch_words, no_switch},
    // The virtual size, for formats alike; only where no size stands on the command line.
    {"", "size", ValueKind::size, {}, no_size},
};

constexpr LeftOut left_out_table[] = {
    {"nocow", "needs a disk with btrfs"},
    {"extent_size_hint", "no effect on files or output"},
    {"encryption", "asks for a password"},
    {"encrypt.format and all other encrypt.*", "asks for a password"},
    {"data_file", "an output is one file"},
    {"data_file_raw", "an output is one file"},
    {"subformat=monolithicFlat, twoGbMaxExtentSparse, twoGbMaxExtentFlat", "an output is one file"},
    {"preallocation (vmdk, vpc)", "no effect on files or output"},
};

}  // namespace

const CreationOption* known_option(std::string_view format, std::string_view name) {
    const auto found = std::ranges::find_if(option_table, [&](const CreationOption& option) {
        return option.name == name && (option.format.empty() || option.format == format);
    });
    return found == std::end(option_table) ? nullptr : &*found;
}

std::span<const CreationOption> known_creation_options() { return option_table; }

std::span<const LeftOut> creation_options_left_out() { return left_out_table; }

}  // namespace difffuzz
