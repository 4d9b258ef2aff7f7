#include "pickers/bitmap_images.hpp"

#include "images/format.hpp"
#include "pickers/bitmap_actions.hpp"

namespace difffuzz {

const std::vector<std::string>& bitmap_names() {
    static const std::vector<std::string> pool{"b0",
                                               "b1",
                                               "2",
                                               "with space",
                                               "x,y=1",
                                               "\xc3\xa4\xe2\x82\xac",
                                               "b0.bak",
                                               std::string(255, 'n'),
                                               std::string(max_bitmap_name, 'm')};
    return pool;
}

void draw_bitmaps(const Draws& draws, unsigned percent, ImageRecipe& image) {
    const Format& format = *find_format(image.format);
    if (!format.bitmaps || !image.bitmaps.empty() || !draws.chance("any", percent)) {
        return;
    }
    ImageRecipe with = image;
    const std::uint64_t count = draws.between("count", 1, 3);
    for (std::uint64_t i = 0; i < count; ++i) {
        const Draws scoped = draws.scope("bitmap[" + std::to_string(i) + "]");
        BitmapRecipe bitmap;
        bitmap.name = bitmap_names()[i];
        bitmap.granularity = std::uint64_t{1} << scoped.between("bits", 9, 20);
        bitmap.enabled = scoped.chance("enabled", 70);
        const std::uint64_t size = format.actual_size(image);
        if (scoped.chance("dirty", 70)) {
            const std::uint64_t offset = scoped.between("offset", 0, size - 1);
            bitmap.dirty.push_back({offset, scoped.between("length", 1, size - offset)});
        }
        with.bitmaps.push_back(std::move(bitmap));
    }
    if (format.validate(with).empty()) {
        image = std::move(with);
    }
}

}  // namespace difffuzz
