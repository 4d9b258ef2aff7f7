// Files that a user names with a flag, to get what a command made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace difffuzz {

// Where such a file goes, found out before any work is done.
struct OutputFile {
    std::string flag;     // for messages: "--html"
    std::string named;    // as the user wrote it
    std::string path;     // absolute, behind all symbolic links; empty for a descriptor
    int descriptor = -1;  // standard output or error, where the name means one of them; else -1
    // Devices, pipes and what cannot be renamed are opened and written; the rest is replaced as a
    // whole by renaming.
    bool in_place = false;

    bool is_standard_output() const { return descriptor == 1; }
};

// "-" is standard output. Throws UsageError naming the flag and the path where it cannot be used:
// a directory, a missing directory, no permission.
OutputFile output_file(const std::string& flag, const std::string& named);

// The same for a file that must not be there yet, so never "-" nor a device.
OutputFile new_output_file(const std::string& flag, const std::string& named);

// Throws UsageError when two of them are the same place.
void require_different(const std::vector<OutputFile>& files);

// Makes the directory that a flag names for files, before anything runs, so that no result is lost
// for want of it; none for an empty name. Throws UsageError.
void make_output_directory(const std::string& flag, const std::string& named);

// The old content or the new one, never half of it, unless it is written in place. A pipe waits for
// its reader. Throws EnvironmentError naming the flag and the path (a full disk).
void write_output(const OutputFile& file, std::string_view content);

}  // namespace difffuzz
