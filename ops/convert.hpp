#pragma once

#include "images/content_model.hpp"
#include "ops/operation.hpp"

namespace difffuzz {

// `convert`: copies images into a new one, never compressed.
const Operation& convert_operation();
// `convert_compressed`: the same, always compressed.
const Operation& convert_compressed_operation();

// What the case's last step reads, from its first source to its last: whole images, or the snapshot
// that it names.
ContentExpectation convert_content(const Case& c);

}  // namespace difffuzz
