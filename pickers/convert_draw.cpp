#include "pickers/convert_draw.hpp"

#include <algorithm>

#include "pickers/cache_modes.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/snapshot_parameter.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

ImageWish source_wish(const ConvertShape& shape) {
    ImageWish wish = every_image();
    wish.max_content = 4 * mib;
    wish.max_size = shape.max_size;
    if (shape.target != "qcow2" && shape.target != "raw") {
        // The output is read back by way of a raw file.
        wish.max_size = std::min(wish.max_size, 64 * mib);
    }
    if (shape.several && !shape.source_format) {
        // So that each shows what it is.
        wish.variety = ImageVariety::options;
    }
    if (shape.sparse == ConvertSparse::value) {
        // All of a block around what is written counts as data, and these have very large ones.
        std::erase_if(wish.formats, [](const auto& format) { return format.value == "vhdx"; });
    }
    if (shape.sparse == ConvertSparse::zero) {
        wish.max_size = shape.compressed ? 1 * mib : 8 * mib;
    }
    if (shape.compressed) {
        wish.max_content = 1 * mib;
    }
    return wish;
}

SizeValue draw_sparse_size(const Draws& draws) {
    static constexpr std::uint64_t sizes[] = {512,      1 * kib, 4 * kib,        8 * kib,
                                              64 * kib, 1 * mib, max_sparse_size};
    const std::uint64_t bytes = draws.chance("odd", 30)
                                    ? 512 * draws.between("sectors", 1, max_sparse_size / 512)
                                    : draws.pick("bytes", sizes);
    return draw_spelling(draws, bytes);
}

SizeValue draw_rate(const Draws& draws) {
    static constexpr std::uint64_t rates[] = {0, idle_rate, 16 * idle_rate, 128 * idle_rate};
    return suffixed_size(draws.pick("rate", rates));
}

}  // namespace

ConvertShape draw_convert_shape(const Draws& draws, const Plan& plan, bool compressed,
                                std::span<const Weighted<std::string_view>> targets) {
    std::vector<Weighted<std::string_view>> declared;
    for (const auto& target : targets) {
        if (plan.has_format(target.value)) {
            declared.push_back(target);
        }
    }
    static constexpr Weighted<ConvertSparse> sparse[] = {
        {ConvertSparse::absent, 60}, {ConvertSparse::value, 28}, {ConvertSparse::zero, 12}};
    ConvertShape shape;
    shape.compressed = compressed;
    shape.target = draws.pick("arg[-O]", std::span<const Weighted<std::string_view>>(declared));
    shape.sparse = draws.pick("arg[-S].kind", sparse);
    shape.several = draws.chance("several", 10);
    shape.source_format = draws.chance("arg[-f]", 85);
    return shape;
}

std::vector<std::string> draw_convert_sources(Case& c, const PickContext& context,
                                              const ConvertShape& shape) {
    ImageWish wish = source_wish(shape);
    std::vector<std::string> sources{draw_image(c, context, "src", wish)};
    if (shape.several) {
        wish.max_content = 64 * kib;
        wish.max_size =
            std::min(wish.max_size, shape.sparse == ConvertSparse::zero ? 2 * mib : 8 * mib);
        wish.backing_percent /= 2;
        const std::string format(format_of(c, "src"));
        if (shape.source_format) {
            // -f holds for all of them.
            wish.formats = {{format, 1}};
        }
        const unsigned more = context.draws.scope("step[0]").chance("third", 25) ? 2 : 1;
        for (unsigned i = 0; i < more; ++i) {
            sources.push_back(draw_image(c, context, i == 0 ? "second" : "third", wish));
        }
    }
    return sources;
}

void draw_sparse_option(Step& step, const Draws& draws, const ConvertShape& shape) {
    if (shape.sparse == ConvertSparse::zero) {
        step.arguments.push_back({"-S", SizeValue{0, "0"}});
    } else if (shape.sparse == ConvertSparse::value) {
        step.arguments.push_back({"-S", draw_sparse_size(draws.scope("arg[-S]"))});
    }
}

void draw_convert_flags(Step& step, const Draws& draws, const Case& c, const ConvertShape& shape) {
    const auto flag = [&](std::string_view name, unsigned percent, bool allowed = true) {
        if (draws.chance("arg[" + std::string(name) + "]", percent) && allowed) {
            step.arguments.push_back({std::string(name), std::nullopt});
        }
    };
    const auto cache = [&](std::string_view name, unsigned percent) {
        const std::string path = "arg[" + std::string(name) + "]";
        if (draws.chance(path, percent)) {
            step.arguments.push_back({std::string(name), WordValue{std::string(draws.pick(
                                                             path + ".mode", cache_words))}});
        }
    };
    flag("-p", 15);
    flag("-q", 10);
    flag("-U", 12);
    cache("-t", 20);
    cache("-T", 15);
    if (draws.chance("arg[-m]", 25)) {
        step.arguments.push_back({"-m", NumberValue{static_cast<std::int64_t>(
                                            draws.between("arg[-m].count", 1, max_coroutines))}});
    }
    // A stream-optimised vmdk is written front to back.
    flag("-W", 15, shape.target != "vmdk");
    if (draws.chance("arg[-r]", 8)) {
        step.arguments.push_back({"-r", draw_rate(draws.scope("arg[-r]"))});
    }
    const bool offload =
        draws.chance("arg[-C]", 10) && !shape.compressed && shape.sparse == ConvertSparse::absent;
    if (offload) {
        step.arguments.push_back({"-C", std::nullopt});
    }
    flag("--salvage", 8, !offload);
    const ImageRecipe& source = *find_image(c, "src");
    if (!shape.several && !source.snapshots.empty() && draws.chance("arg[-l]", 60)) {
        step.arguments.push_back({"-l", draw_snapshot_parameter(draws.scope("arg[-l]"), source)});
    }
}

}  // namespace difffuzz
