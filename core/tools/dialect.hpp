// How a tool spells a step: the default dialect, qemu-img's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/cases/case.hpp"

namespace difffuzz {

// By this id locked images are opened with --image-opts ("driver=luks,key-secret=ID,..."); the step
// must define the secret.
inline constexpr std::string_view secret_id = "sec0";
// The creation option that makes an image of another format than luks a locked one.
inline constexpr std::string_view encryption_option = "encrypt.format";

// What opens the file `name` with that secret: the value that --image-opts has an image named by.
std::string locked_image_options(std::string_view format, std::string_view name);

// argv without the program's name: the command, then the arguments in order, an option and its
// value as two words, option lists as "name=value,name=value" (commas within a value doubled, as
// qemu's option parser reads them), images as their file names. With --image-opts the images that a
// step opens (positional ones, and dd's "if"; not what convert writes, which comes last) are
// spelled "driver=FORMAT,file.driver=file,file.filename=NAME".
//
// Steps of the operation "io" are for qemu-io instead, with one of its commands:
//     write -P BYTE OFFSET LENGTH IMAGE   or with -z, -z -u, -c -P BYTE
//     discard OFFSET LENGTH IMAGE
// and -f FORMAT each.
std::vector<std::string> render_step(const Case& c, const Step& step);

// Whether `argument`, one of the step's own, names the file that the step makes: --image-opts is
// not about it.
bool names_made_file(const Step& step, const Argument& argument);

// The name of the program that a step is for: "qemu-io" for steps of the operation "io", which are
// neutral, else "qemu-img".
std::string_view program_of(const Step& step);

}  // namespace difffuzz
