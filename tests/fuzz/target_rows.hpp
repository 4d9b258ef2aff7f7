// The targets, each defined in targets/NAME.cpp.
#pragma once

#include "tests/fuzz/target.hpp"

namespace difffuzz::fuzz {

Target bench_schedule();
Target recipe_json();
Target image_reader_raw();
Target image_reader_qcow2();
Target image_reader_vmdk();
Target image_reader_vpc();
Target image_reader_vdi();
Target registry_toml();
Target header_line();
Target bounded_capture();

}  // namespace difffuzz::fuzz
