// Options that nearly every command takes and that change nothing about what it is to do: drawn
// here for all pickers alike.
#pragma once

#include <string_view>
#include <vector>

#include "pickers/picker.hpp"

namespace difffuzz {

// --object: defines a secret, which only luks images use (pickers/keyed_images.hpp). --image-opts:
// the images to open are named by driver and file instead of file name and -f
// (core/tools/dialect.hpp renders them so).
inline constexpr std::string_view object_option = "--object";
inline constexpr std::string_view image_options_option = "--image-opts";

// Those that the command of the default dialect documents.
std::vector<std::string_view> common_options(std::string_view command);

// Whether the argument is one of them, with the only value that is drawn, and given once.
bool is_common_option(const Step& step, const Argument& argument);

// Whether the step opens that image by a name which --image-opts applies to.
bool opens_image(const Step& step, std::string_view id);

// Puts the option in front of the step's arguments, and takes away what does not go with it.
void give_image_options(Step& step);
void give_object(Step& step);

// Gives them to some of the tools' steps of a valid case, where it stays valid.
void add_common_options(Case& c, const Picker& picker, const PickContext& context);

}  // namespace difffuzz
