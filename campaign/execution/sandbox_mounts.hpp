// The mounts that a worker's root is made of. All throw EnvironmentError naming path and reason.
#pragma once

#include <cstdint>
#include <string>

#include "core/tools/file_descriptor.hpp"

namespace difffuzz {

// A copy of the mounts at and below `path`, attached nowhere yet, read-only and without set-uid.
// Device files in it work only with `devices`.
FileDescriptor clone_tree(const std::string& path, bool devices = false);

// Attaches such a copy at `target`, an existing directory or file of the same kind.
void attach_tree(const FileDescriptor& tree, const std::string& target);

// mkdir -p, every part with mode 0755 whatever the umask.
void make_directories(const std::string& path);

// An empty file to attach a file's mount to, with the directories above it.
void make_file(const std::string& path);

// A tmpfs at `target`; `options` as in tmpfs(5).
void mount_tmpfs(const std::string& target, const std::string& options);

// A fresh /proc of the PID namespace of this process.
void mount_proc(const std::string& target);

// No mount event goes to the host or comes from it.
void make_mounts_private();

// Makes `root` the root directory and lets go of the old one.
void enter_root(const std::string& root);

// Only the mount that is the root itself, not those in it.
void make_root_read_only();

}  // namespace difffuzz
