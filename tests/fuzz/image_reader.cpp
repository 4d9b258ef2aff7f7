#include "tests/fuzz/image_reader.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>

#include "core/cases/case.hpp"
#include "images/file.hpp"
#include "images/format.hpp"
#include "images/image_error.hpp"
#include "images/transfer_split.hpp"
#include "tests/fuzz/memory_meter.hpp"

namespace difffuzz::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t more_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t island_stride = std::uint64_t{256} << 10;
constexpr std::string_view island = "data between two holes";
constexpr std::size_t max_message_bytes = 1000;
// Of one image: extents looked at, and bytes read of each.
constexpr int max_extents = 6;
constexpr std::uint64_t read_bytes = std::uint64_t{8} << 10;
// Of an extent of zeros, read to see that it is.
constexpr std::uint64_t zero_bytes = std::uint64_t{1} << 20;
// Allocated by the check itself, for messages and copies of what was read.
constexpr std::size_t own_bytes = 8 * read_bytes;

// A directory of this process, in memory where the system has such a place.
class Directory {
public:
    Directory() {
        const char* const chosen = std::getenv("TMPDIR");
        const bool memory = ::access("/dev/shm", W_OK | X_OK) == 0;
        path_ = (chosen != nullptr ? std::string(chosen)
                 : memory          ? "/dev/shm"
                                   : "/tmp") +
                "/difffuzz_fuzz_XXXXXX";
        require(::mkdtemp(path_.data()) != nullptr, "there is room for a directory");
        const std::string content = "the backing image";
        File::create(path_, "base.raw").write_at(0, std::as_bytes(std::span(content)));
        File::create(path_, "input");
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    ~Directory() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

const std::string& directory() {
    static const Directory kept;
    return kept.path();
}

// Whether `action` ended without an ImageError.
bool succeeds(const std::function<void()>& action) {
    try {
        action();
        return true;
    } catch (const ImageError& error) {
        const std::string_view message = error.what();
        require(!message.empty() && message.size() <= max_message_bytes,
                "an error is one sentence");
        return false;
    }
}

void check_read(const ContentSource& source, std::uint64_t offset, std::uint64_t length) {
    std::vector<std::byte> whole(length);
    const bool readable = succeeds([&] { source.read(offset, whole); });
    std::vector<std::byte> pieces(length);
    const bool in_pieces = succeeds([&] {
        std::uint64_t step = 1;
        for (std::uint64_t at = 0; at < length; at += step, step = step * 3 % 7001) {
            const std::uint64_t part = std::min(step, length - at);
            source.read(offset + at, std::span(pieces).subspan(at, part));
        }
    });
    require(in_pieces == readable && (!readable || pieces == whole), "pieces read as the whole");
}

void check_zeros(const ContentSource& source, std::uint64_t offset, std::uint64_t length) {
    static const std::vector<std::byte> zeros(read_bytes);
    std::vector<std::byte> bytes(read_bytes);
    for (const TransferPiece piece : TransferSplit(offset, length, read_bytes)) {
        const auto part = std::span(bytes).first(piece.length);
        const bool readable = succeeds([&] { source.read(piece.offset, part); });
        require(readable && std::memcmp(part.data(), zeros.data(), part.size()) == 0,
                "a zero extent reads as zeros");
    }
}

// The first extents; shorter where one cannot be told.
std::vector<ContentExtent> extents_of(const ContentSource& source) {
    std::vector<ContentExtent> extents;
    succeeds([&] {
        for (std::uint64_t at = 0; at < source.size() && extents.size() < max_extents;) {
            extents.push_back(source.extent(at));
            const std::uint64_t length = extents.back().length;
            require(length > 0, "an extent is not empty");
            require(length <= source.size() - at, "an extent stays within the size");
            at += length;
        }
    });
    return extents;
}

bool same(const std::vector<ContentExtent>& a, const std::vector<ContentExtent>& b) {
    return std::ranges::equal(a, b, [](const ContentExtent& x, const ContentExtent& y) {
        return x.length == y.length && x.zero == y.zero;
    });
}

using Opener = std::function<std::unique_ptr<ContentSource>()>;

bool check_content(const Opener& open, std::size_t max_bytes) {
    const MemoryMeter meter;
    std::unique_ptr<ContentSource> source;
    const bool opened = succeeds([&] { source = open(); });
    require(meter.peak() <= max_bytes + own_bytes, "opening takes bounded memory");
    if (!opened) {
        return false;
    }
    const std::vector<ContentExtent> extents = extents_of(*source);
    std::uint64_t at = 0;
    for (const ContentExtent& extent : extents) {
        const std::uint64_t length = std::min(extent.length, read_bytes);
        check_read(*source, at, length);
        check_read(*source, at + extent.length - length, length);
        if (extent.zero) {
            check_zeros(*source, at, std::min(extent.length, zero_bytes));
        }
        at += extent.length;
    }
    if (source->size() > 0) {
        const std::uint64_t length = std::min(source->size(), read_bytes);
        check_read(*source, source->size() - length, length);
    }
    require(meter.held() <= max_bytes + own_bytes, "an open image holds bounded memory");
    require(meter.peak() <= max_bytes + own_bytes, "reading takes bounded memory");
    const std::uint64_t size = source->size();
    source.reset();
    require(succeeds([&] { source = open(); }), "what opened opens again");
    require(source->size() == size && same(extents_of(*source), extents), "reading repeats itself");
    return true;
}

void check_bitmaps(const std::vector<BitmapContent>& bitmaps) {
    for (const BitmapContent& bitmap : bitmaps) {
        std::uint64_t end = 0;
        for (const ByteRange& range : bitmap.dirty) {
            require(range.length > 0 && range.offset >= end, "dirty ranges ascend");
            end = range.offset + range.length;
            require(end > range.offset, "dirty ranges do not overflow");
        }
    }
}

bool check_image(const Format& format, std::size_t max_bytes) {
    const bool opened = check_content([&] { return format.open(directory(), "input"); }, max_bytes);
    if (format.open_snapshot != nullptr) {
        check_content([&] { return format.open_snapshot(directory(), "input", "1"); }, max_bytes);
    }
    const MemoryMeter meter;
    if (format.list_bitmaps != nullptr) {
        succeeds([&] { check_bitmaps(format.list_bitmaps(directory(), "input")); });
    }
    const std::vector<ForeignReference> references = format.references(directory(), "input");
    require(meter.peak() <= max_bytes + own_bytes, "bitmaps and references take bounded memory");
    require(references.size() <= 4096, "references are bounded in number");
    for (const ForeignReference& reference : references) {
        require(reference.name.size() <= 65536 && !reference.kind.empty(),
                "references are bounded in length");
    }
    return opened;
}

}  // namespace

Verdict read_image(std::string_view name, std::string_view input, std::size_t max_bytes) {
    const Format& format = *find_format(name);
    const File file = File::open_for_update(directory(), "input");
    file.resize(0);
    file.write_at(0, std::as_bytes(std::span(input)));
    const bool opened = check_image(format, max_bytes);
    file.resize(input.size() + more_bytes);
    for (std::uint64_t at = island_stride; at < more_bytes; at += island_stride) {
        file.write_at(input.size() + at, std::as_bytes(std::span(island)));
    }
    check_image(format, max_bytes);
    std::string after(input.size(), '\0');
    const std::size_t got = file.read_at(0, std::as_writable_bytes(std::span(after)));
    require(got == input.size() && after == input && file.size() == input.size() + more_bytes,
            "the file is as it was");
    return opened ? Verdict::accepted : Verdict::refused;
}

std::string read_content(std::string_view format, std::string_view input) {
    const File file = File::open_for_update(directory(), "input");
    file.resize(0);
    file.write_at(0, std::as_bytes(std::span(input)));
    const auto source = find_format(format)->open(directory(), "input");
    std::string content(source->size(), '\0');
    source->read(0, std::as_writable_bytes(std::span(content)));
    return content;
}

std::string built_image(const ImageRecipe& recipe) {
    class NoTools : public NeutralTools {
        Outcome qemu_img(const std::vector<std::string>&) override { std::abort(); }
    };
    Case c;
    if (recipe.backing) {
        ImageRecipe base = image_recipe("raw", 1024);
        base.id = *recipe.backing;
        c.images.push_back(base);
    }
    c.images.push_back(recipe);
    const Directory built;
    NoTools tools;
    find_format(recipe.format)->build(c, recipe, built.path(), tools);
    const File file = File::open(built.path(), file_name(recipe.id, recipe.format));
    std::string bytes(std::min<std::uint64_t>(file.size(), max_input_bytes), '\0');
    file.read_at(0, std::as_writable_bytes(std::span(bytes)));
    return bytes;
}

ImageRecipe image_recipe(std::string_view format, std::uint64_t size,
                         std::vector<ContentWrite> content) {
    ImageRecipe recipe;
    recipe.id = "input";
    recipe.format = format;
    recipe.size = size;
    recipe.content = std::move(content);
    return recipe;
}

}  // namespace difffuzz::fuzz
