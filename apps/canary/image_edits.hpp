// Small changes of image files in the working directory. Each says whether it could be made: a file
// that is not there, or holds nothing of the kind, is left as it is.
#pragma once

#include <cstdint>
#include <string>

namespace difffuzz::canary {

std::uint64_t size_of_file(const std::string& name);  // 0 when there is none
// Inverts the lowest bit of a byte.
bool flip_byte(const std::string& name, std::uint64_t offset);
bool flip_last_byte(const std::string& name);
// Makes the file longer by this many bytes of 'x'.
bool append_bytes(const std::string& name, std::uint64_t count);
// As append_bytes, a hole.
bool append_hole(const std::string& name, std::uint64_t count);
// Takes a copy of the file's present bytes; put_back writes them over whatever it is then.
std::string copy_of_file(const std::string& name);
bool put_back(const std::string& name, const std::string& bytes);
// The backing file's name; empty if there is none.
std::string backing_of(const std::string& name);
// How many images are behind each other: 1 without a backing file, at most 16.
unsigned chain_length(const std::string& name);
// Inverts a bit where the last cluster begins that the image's end does not fill, of a raw image
// (64 KiB) or of a qcow2 image that has data of its own there.
bool flip_in_last_partial_cluster(const std::string& name);

// Of qcow2 images:

// Inverts a bit of the guest's data in the first cluster (subcluster) that has data of its own.
bool flip_first_data(const std::string& name);
// The flag that says that a cluster is nobody else's, of the first data cluster.
bool flip_copied_flag(const std::string& name);
// A cluster behind all others that is counted as used and is nobody's.
bool leak_cluster(const std::string& name);
// The first data cluster is counted as free.
bool forget_reference(const std::string& name);
// The first letter of the table of feature names, which nobody acts on.
bool respell_feature(const std::string& name);
// The last byte of the header cluster, where nothing is.
bool flip_header_padding(const std::string& name);

// Of vdi images: one more block than there is.
bool miscount_blocks(const std::string& name);

}  // namespace difffuzz::canary
