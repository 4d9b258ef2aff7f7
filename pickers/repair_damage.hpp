// Damage of the kinds that repairs are about, and which of it leaves an image's data alone.
#pragma once

#include "pickers/damage.hpp"

namespace difffuzz {

// Spoils the image that the first step names: refcounts, entries of tables and their flags, counts
// and places of tables. False, with the case as it was, where its format has no such fields.
bool damage_for_repair(Case& c, const Draws& draws);

// Whether what is spoilt in the image as built, if anything, is what a reader of its data does not
// look at, and what a repair can work out anew from what is left. Pure.
bool spares_data(const ImageRecipe& image);

}  // namespace difffuzz
