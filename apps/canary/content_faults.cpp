// What an image holds afterwards is wrong.
#include <algorithm>
#include <charconv>

#include "apps/canary/image_edits.hpp"
#include "apps/canary/planting.hpp"
#include "apps/canary/text_edits.hpp"

namespace difffuzz::canary {
namespace {

using Planted = std::optional<Answer>;

bool writes_raw(const Call& call) { return call.target().ends_with(".raw"); }

std::optional<std::uint64_t> number(const std::optional<std::string>& word) {
    std::uint64_t value = 0;
    if (!word || std::from_chars(word->data(), word->data() + word->size(), value).ptr !=
                     word->data() + word->size()) {
        return std::nullopt;
    }
    return value;
}

// One request less than it says.
Planted bench_skips_last(const Call& call) {
    const auto count = call.is("bench") && call.has("-w") ? number(call.value("-c")) : std::nullopt;
    if (!count || *count < 2) {
        return std::nullopt;
    }
    const std::string less = std::to_string(*count - 1);
    Answer answer = call.run(call.with_value("-c", less));
    answer.planted = answer.code == 0 && replace_first(answer.out, "Sending " + less + " ",
                                                       "Sending " + std::to_string(*count) + " ");
    return answer;
}

Planted chain_last_partial(const Call& call) {
    constexpr unsigned chain = 3;
    if (!call.is("commit") || chain_length(call.target()) < chain) {
        return std::nullopt;
    }
    const std::string into = call.value("-b").value_or(backing_of(call.target()));
    return spoilt_success(call, [&](Answer&) { return flip_in_last_partial_cluster(into); });
}

Planted convert_zstd_data(const Call& call) {
    if (!call.is("convert") || call.has("-c") || !call.mentions("compression_type=zstd")) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) { return flip_first_data(call.target()); });
}

Planted convert_subcluster(const Call& call) {
    if (!call.is("convert") || !call.mentions("extended_l2=on")) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) { return flip_first_data(call.target()); });
}

// Zeros of the source do not overwrite what is there.
Planted convert_keeps_old(const Call& call) {
    if (!call.is("convert") || !call.has("-n") || call.has("--target-is-zero")) {
        return std::nullopt;
    }
    return call.run(call.with_more({"--target-is-zero"}));
}

Planted compressed_data(const Call& call) {
    if (!call.is("convert") || !call.has("-c")) {
        return std::nullopt;
    }
    // From a source that is a bit off: compressed data cannot be changed in place.
    const std::string source = call.source();
    const std::string before = copy_of_file(source);
    if (!source.ends_with(".raw") || !flip_byte(source, before.size() / 2)) {
        return std::nullopt;
    }
    Answer answer = call.run();
    put_back(source, before);
    return answer;
}

Planted snapshot_not_applied(const Call& call) {
    if (!call.is("snapshot") || !call.has("-a")) {
        return std::nullopt;
    }
    const std::string image = call.target();
    const std::string before = copy_of_file(image);
    return spoilt_success(call, [&](Answer&) { return put_back(image, before); });
}

Planted commit_flips_bit(const Call& call) {
    if (!call.is("commit")) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) {
        const auto backing = call.value("-b");
        return backing &&
               (backing->ends_with(".raw") ? flip_byte(*backing, 0) : flip_first_data(*backing));
    });
}

Planted rebase_unsafe(const Call& call) {
    if (!call.is("rebase") || call.has("-u")) {
        return std::nullopt;
    }
    return call.run(call.with_more({"-u"}));
}

Planted resize_dirty_growth(const Call& call) {
    if (!call.is("resize") || !writes_raw(call)) {
        return std::nullopt;
    }
    const std::uint64_t before = size_of_file(call.target());
    return spoilt_success(call, [&](Answer&) {
        return size_of_file(call.target()) > before && flip_byte(call.target(), before);
    });
}

Planted dd_skips_too_much(const Call& call) {
    const auto skip = call.is("dd") ? number(call.value("skip")) : std::nullopt;
    if (!skip || *skip == 0) {
        return std::nullopt;
    }
    return call.run(call.with_value("skip", std::to_string(*skip + 1)));
}

Planted bitmap_merge_lost(const Call& call) {
    if (!call.is("bitmap") || !call.has("--merge") || !call.has("--add") || call.has("-b")) {
        return std::nullopt;
    }
    const std::string before = copy_of_file(call.target());
    return spoilt_success(call, [&](Answer&) {
        return put_back(call.target(), before) && call.run(call.without("--merge", true)).code == 0;
    });
}

// What a step makes of an image that an earlier one changed.
Planted sequence_made_image(const Call& call) {
    if (!call.is("convert")) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) {
        return writes_raw(call) ? flip_last_byte(call.target()) : flip_first_data(call.target());
    });
}

// Both sides alike, so that only the model of the case tells.
Planted convert_both_lose(const Call& call) {
    if (!call.is("convert") || !writes_raw(call)) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) { return flip_last_byte(call.target()); });
}

}  // namespace

const Faults& content_faults() {
    using enum LayerId;
    static const Faults table{
        {"bench-skips-last", "bench", content, Seen::by_its_layer_alone, Roles::subject,
         "bench -w leaves its last request out", bench_skips_last},
        {"chain-last-partial", "commit", content, Seen::by_its_layer_alone, Roles::subject,
         "a bit of the last partial cluster is off once the top of a chain of three is committed",
         chain_last_partial},
        {"convert-zstd-data", "convert", content, Seen::by_its_layer_alone, Roles::subject,
         "a bit of the first cluster is off in an image for zstd", convert_zstd_data},
        {"convert-subcluster", "convert", content, Seen::by_others_too, Roles::subject,
         "a bit of the first subcluster is off in an image with extended L2 entries",
         convert_subcluster},
        {"convert-keeps-old", "convert_existing", content, Seen::by_its_layer_alone, Roles::subject,
         "convert -n leaves what was where the source has zeros", convert_keeps_old},
        {"compressed-data", "convert_compressed", content, Seen::by_others_too, Roles::subject,
         "a bit in the middle of a raw source is off once it is compressed", compressed_data},
        {"snapshot-not-applied", "snapshot", content, Seen::by_its_layer_alone, Roles::subject,
         "snapshot -a leaves the image as it was", snapshot_not_applied},
        {"commit-flips-bit", "commit", content, Seen::by_its_layer_alone, Roles::subject,
         "commit -b changes a bit of the backing file", commit_flips_bit},
        {"rebase-unsafe", "rebase", content, Seen::by_its_layer_alone, Roles::subject,
         "rebase copies nothing of what the old backing file held", rebase_unsafe},
        {"resize-dirty-growth", "resize", content, Seen::by_its_layer_alone, Roles::subject,
         "what resize adds to a raw image does not begin with a zero", resize_dirty_growth},
        {"dd-skips-too-much", "dd", content, Seen::by_others_too, Roles::subject,
         "dd skips one block more than it is told", dd_skips_too_much},
        {"bitmap-merge-lost", "bitmap", content, Seen::by_its_layer_alone, Roles::subject,
         "bitmap --add --merge makes an empty bitmap", bitmap_merge_lost},
        {"sequence-made-image", "sequence", content, Seen::by_others_too, Roles::subject,
         "a bit of what convert makes is off in a sequence", sequence_made_image},
        {"convert-both-lose", "convert", content, Seen::by_its_layer_alone, Roles::both,
         "both sides have the last bit of a raw output wrong", convert_both_lose},
    };
    return table;
}

}  // namespace difffuzz::canary
