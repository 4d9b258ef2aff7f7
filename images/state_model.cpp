#include "images/state_model.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "images/bytes.hpp"
#include "images/format.hpp"
#include "images/recipe_rules.hpp"

namespace difffuzz {
namespace {

void hold(IntervalMap<bool>& held, std::uint64_t begin, std::uint64_t end, std::uint64_t unit,
          std::uint64_t size) {
    const std::uint64_t first = begin / unit * unit;
    held.assign(first, std::min(round_up(end, unit), size), true);
}

std::vector<ByteRange> ranges_of(const IntervalMap<bool>& held, std::uint64_t size) {
    std::vector<ByteRange> ranges;
    for (const auto& [begin, range] : held.ranges()) {
        const std::uint64_t end = std::min(range.end, size);
        if (begin < end) {
            ranges.push_back({begin, end - begin});
        }
    }
    return ranges;
}

IntervalMap<bool> cut(const IntervalMap<bool>& held, std::uint64_t size) {
    IntervalMap<bool> kept;
    for (const ByteRange& range : ranges_of(held, size)) {
        kept.assign(range.offset, range.offset + range.length, true);
    }
    return kept;
}

IntervalMap<bool> joined(IntervalMap<bool> held, const IntervalMap<bool>& more) {
    for (const auto& [begin, range] : more.ranges()) {
        held.assign(begin, range.end, true);
    }
    return held;
}

bool word_is(const ImageRecipe& recipe, std::string_view option, std::string_view word) {
    return word_option(recipe, option, "") == word;
}

}  // namespace

ImageState state_of(const ImageRecipe& recipe) {
    const Format& format = *find_format(recipe.format);
    ImageState image;
    image.format = recipe.format;
    image.cluster = format.cluster_bytes(recipe);
    image.version = word_is(recipe, "compat", "0.10") || word_is(recipe, "compat", "v2") ? 2 : 3;
    image.refcount_bits = static_cast<unsigned>(number_option(recipe, "refcount_bits", 16));
    image.lazy_refcounts = word_is(recipe, "lazy_refcounts", "on");
    image.extended_l2 = word_is(recipe, "extended_l2", "on");
    image.zstd = word_is(recipe, "compression_type", "zstd");
    image.data_file = !word_option(recipe, "data_file", "").empty();
    constexpr std::uint64_t subclusters = 32;
    image.unit = image.cluster == 0 ? 1 : image.cluster / (image.extended_l2 ? subclusters : 1);
    image.backing = recipe.backing;
    image.own.size = format.actual_size(recipe);
    image.own.content = ContentExpectation::of_image(recipe.id);
    const auto hold_writes = [&](OwnContent& own, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const ContentWrite& write = recipe.content[i];
            hold(own.held, write.offset, write.offset + write.length, image.unit, own.size);
            own.held_at_most |= !has_data(write.kind) && !recipe.backing;
        }
    };
    for (std::size_t i = 0; i < recipe.snapshots.size(); ++i) {
        OwnContent own{image.own.size, ContentExpectation::of_snapshot(recipe.id, i), {}};
        hold_writes(own, recipe.snapshots[i].after);
        image.snapshots.push_back(
            {std::to_string(i + 1), recipe.snapshots[i].name, std::move(own)});
    }
    for (const BitmapRecipe& bitmap : recipe.bitmaps) {
        image.bitmaps.push_back({bitmap.name, bitmap.granularity, bitmap.enabled});
    }
    hold_writes(image.own, recipe.content.size());
    return image;
}

CaseState initial_state(const Case& c) {
    CaseState state;
    for (const ImageRecipe& recipe : c.images) {
        state.emplace(recipe.id, state_of(recipe));
    }
    return state;
}

void make_image(CaseState& state, const ImageRecipe& recipe,
                const std::optional<std::string>& backing,
                const std::optional<ContentExpectation>& content) {
    assert(recipe.content.empty() && !recipe.backing && recipe.snapshots.empty());
    ImageState image = state_of(recipe);
    image.backing = backing;
    image.own.content = ContentExpectation::zeros(image.own.size);
    if (content) {
        image.own.content = content->resized(image.own.size);
        image.own.held.assign(0, image.own.size, true);
        image.own.held_at_most = true;
    }
    state.insert_or_assign(recipe.id, std::move(image));
}

ContentExpectation content_of(const CaseState& state, const std::string& id,
                              const OwnContent& own) {
    const ImageState& image = state.at(id);
    const ContentExpectation below = image.backing
                                         ? content_of(state, *image.backing).resized(own.size)
                                         : ContentExpectation::zeros(own.size);
    return below.covered(own.content, ranges_of(own.held, own.size));
}

ContentExpectation content_of(const CaseState& state, const std::string& id) {
    return content_of(state, id, state.at(id).own);
}

void write_image(CaseState& state, const std::string& id, const ContentWrite& write) {
    ImageState& image = state.at(id);
    ContentWrite done = write;
    if (write.kind == WriteKind::unmap && image.cluster != 0) {
        const std::uint64_t stop = write.offset + write.length;
        const std::uint64_t begin = round_up(write.offset, image.cluster);
        const std::uint64_t end =
            stop == image.own.size ? stop : stop / image.cluster * image.cluster;
        if (begin >= end) {
            return;
        }
        done.offset = begin;
        done.length = end - begin;
    }
    image.own.content = content_of(state, id).written({done});
    hold(image.own.held, done.offset, done.offset + done.length, image.unit, image.own.size);
    image.own.held_at_most |= !has_data(write.kind) && !image.backing;
    image.freed |= !has_data(write.kind);
}

void resize_image(CaseState& state, const std::string& id, std::uint64_t size) {
    ImageState& image = state.at(id);
    const std::uint64_t before = image.own.size;
    image.own.content = content_of(state, id).resized(size);
    image.own.size = size;
    if (size < before) {
        image.own.held = cut(image.own.held, size);
        image.own.stale_tail = image.cluster != 0 && size % image.cluster != 0;
    } else if (!image.backing || state.at(*image.backing).own.size > before) {
        image.own.held.assign(before, size, true);
        image.own.held_at_most |= !image.backing;
    }
}

void take_snapshot(ImageState& image, const std::string& name) {
    unsigned highest = 0;
    for (const SnapshotState& snapshot : image.snapshots) {
        unsigned number = 0;
        std::from_chars(snapshot.id.data(), snapshot.id.data() + snapshot.id.size(), number);
        highest = std::max(highest, number);
    }
    image.snapshots.push_back({std::to_string(highest + 1), name, image.own});
}

const SnapshotState* find_snapshot(const ImageState& image, const std::string& id_or_name) {
    for (const auto member : {&SnapshotState::id, &SnapshotState::name}) {
        const auto found = std::ranges::find(image.snapshots, id_or_name, member);
        if (found != image.snapshots.end()) {
            return &*found;
        }
    }
    return nullptr;
}

const SnapshotState* find_snapshot_named(const ImageState& image, const std::string& name) {
    const auto found = std::ranges::find(image.snapshots, name, &SnapshotState::name);
    return found == image.snapshots.end() ? nullptr : &*found;
}

void apply_snapshot(ImageState& image, const SnapshotState& snapshot) {
    image.own = snapshot.own;
    image.freed = true;
}

void delete_snapshot(ImageState& image, const SnapshotState& snapshot) {
    const std::string id = snapshot.id;
    std::erase_if(image.snapshots, [&](const SnapshotState& other) { return other.id == id; });
    image.freed = true;
}

const BitmapState* find_bitmap(const ImageState& image, const std::string& name) {
    const auto found = std::ranges::find(image.bitmaps, name, &BitmapState::name);
    return found == image.bitmaps.end() ? nullptr : &*found;
}

void rebase_safely(CaseState& state, const std::string& id,
                   const std::optional<std::string>& base) {
    ImageState& image = state.at(id);
    image.own.content = content_of(state, id);
    image.own.held.assign(0, image.own.size, true);
    image.own.held_at_most = true;
    image.backing = base;
}

void rebase_unsafely(CaseState& state, const std::string& id,
                     const std::optional<std::string>& base) {
    state.at(id).backing = base;
}

std::vector<std::string> chain_of(const CaseState& state, const std::string& id) {
    std::vector<std::string> chain{id};
    while (chain.size() < max_chain) {
        const auto image = state.find(chain.back());
        if (image == state.end() || !image->second.backing) {
            break;
        }
        chain.push_back(*image->second.backing);
    }
    return chain;
}

void commit_image(CaseState& state, const std::string& id, const std::string& base, bool empty) {
    ImageState& top = state.at(id);
    ImageState& lower = state.at(base);
    IntervalMap<bool> moved;
    bool moved_at_most = false;
    for (const std::string& member : chain_of(state, id)) {
        if (member == base) {
            break;
        }
        const OwnContent& own = state.at(member).own;
        moved = joined(std::move(moved), cut(own.held, top.own.size));
        moved_at_most |= own.held_at_most;
        // Behind its end an image in between has zeros of its own.
        moved.assign(std::min(own.size, top.own.size), top.own.size, true);
    }
    const ContentExpectation seen = content_of(state, id);
    const std::uint64_t size = std::max(lower.own.size, top.own.size);
    if (size > lower.own.size) {
        resize_image(state, base, size);
    }
    const ContentExpectation below = content_of(state, base);
    lower.own.content = below.covered(seen, ranges_of(moved, top.own.size));
    for (const auto& [begin, range] : moved.ranges()) {
        hold(lower.own.held, begin, range.end, lower.unit, lower.own.size);
    }
    lower.own.held_at_most |= moved_at_most || !lower.backing;
    if (empty) {
        top.own.content = ContentExpectation::zeros(top.own.size);
        top.own.held = {};
        top.freed = true;
    }
}

}  // namespace difffuzz
