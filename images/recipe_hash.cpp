#include "images/recipe_hash.hpp"

#include <xxhash.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "images/bytes.hpp"

namespace difffuzz {
namespace {

class Serialiser {
public:
    void number(std::uint64_t value) {
        std::array<std::byte, 8> bytes;
        store_le(bytes.data(), value);
        for (const std::byte byte : bytes) {
            text_.push_back(std::to_integer<char>(byte));
        }
    }
    void text(std::string_view value) {
        number(value.size());
        text_ += value;
    }
    const std::string& bytes() const { return text_; }

private:
    std::string text_;
};

struct ScalarMembers {
    Serialiser& out;
    void operator()(const SizeValue& value) const {
        out.number(value.bytes);
        out.text(value.as);
    }
    void operator()(const NumberValue& value) const {
        out.number(static_cast<std::uint64_t>(value.value));
    }
    void operator()(const WordValue& value) const { out.text(value.text); }
    void operator()(const LiteralValue& value) const { out.text(value.text); }
    void operator()(const BytesValue& value) const { out.text(value.bytes); }
    void operator()(const ImageValue& value) const { out.text(value.id); }
};

struct FillMembers {
    Serialiser& out;
    void operator()(const ByteFill& fill) const { out.number(fill.byte); }
    void operator()(const RandomFill& fill) const { out.number(fill.seed); }
    void operator()(const RepeatFill& fill) const {
        out.number(fill.seed);
        out.number(fill.period);
    }
};

}  // namespace

RecipeHash recipe_hash(const ImageRecipe& recipe) {
    Serialiser out;
    out.text(recipe.id);
    out.text(recipe.format);
    out.number(recipe.size);
    out.number(recipe.options.size());
    for (const FormatOption& option : recipe.options) {
        out.text(option.name);
        out.number(option.value.index());
        std::visit(ScalarMembers{out}, option.value);
    }
    out.number(recipe.backing ? 1 : 0);
    out.text(recipe.backing.value_or(""));
    out.number(recipe.content.size());
    for (const ContentWrite& write : recipe.content) {
        out.number(static_cast<std::uint64_t>(write.kind));
        out.number(write.offset);
        out.number(write.length);
        out.number(write.fill.index());
        std::visit(FillMembers{out}, write.fill);
    }
    for (const SnapshotRecipe& snapshot : recipe.snapshots) {
        out.text(snapshot.name);
        out.number(snapshot.after);
    }
    for (const BitmapRecipe& bitmap : recipe.bitmaps) {
        out.text(bitmap.name);
        out.number(bitmap.granularity);
        out.number(bitmap.enabled ? 1 : 0);
        for (const ByteRange& range : bitmap.dirty) {
            out.number(range.offset);
            out.number(range.length);
        }
    }
    // Not the damage: a damaged image is the sound one but for it.
    const XXH128_hash_t hash = XXH3_128bits(out.bytes().data(), out.bytes().size());
    return {hash.low64, hash.high64};
}

}  // namespace difffuzz
