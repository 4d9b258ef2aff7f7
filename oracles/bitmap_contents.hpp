// The dirty bitmaps of an image on both sides, as a part of the content layer.
#pragma once

#include "oracles/comparing.hpp"

namespace difffuzz {

// Agrees where both images have bitmaps of the same names, and those of a name say the same. The
// order of bitmaps in the file means nothing.
LayerResult compare_bitmaps(const Comparison& comparison, const Sides& sides,
                            const InspectionRequest& request, const BitmapsFinding& subject,
                            const BitmapsFinding& reference);

}  // namespace difffuzz
