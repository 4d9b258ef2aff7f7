#include "campaign/evidence/subject_source.hpp"

#include <memory>

#include <git2.h>

#include "core/cases/digest.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

// The library counts how often it was begun.
class Library {
public:
    Library() { git_libgit2_init(); }
    ~Library() { git_libgit2_shutdown(); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
};

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

void check(int result, const std::string& directory) {
    if (result < 0) {
        const git_error* error = git_error_last();
        throw UsageError("--subject-source '" + directory + "' cannot be used: " +
                         (error == nullptr ? "git cannot read it" : error->message) +
                         "; name a git repository with a commit");
    }
}

int add_line(const git_diff_delta*, const git_diff_hunk*, const git_diff_line* line, void* text) {
    auto& patch = *static_cast<std::string*>(text);
    if (line->origin == GIT_DIFF_LINE_CONTEXT || line->origin == GIT_DIFF_LINE_ADDITION ||
        line->origin == GIT_DIFF_LINE_DELETION) {
        patch += line->origin;
    }
    patch.append(line->content, line->content_len);
    return 0;
}

std::uint64_t untracked_files(git_repository* repository, const std::string& directory) {
    git_status_options options{};
    check(git_status_options_init(&options, GIT_STATUS_OPTIONS_VERSION), directory);
    options.show = GIT_STATUS_SHOW_WORKDIR_ONLY;
    options.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS |
                    GIT_STATUS_OPT_EXCLUDE_SUBMODULES;
    git_status_list* raw = nullptr;
    check(git_status_list_new(&raw, repository, &options), directory);
    const Owned<git_status_list> list(raw, git_status_list_free);
    std::uint64_t untracked = 0;
    for (std::size_t i = 0; i < git_status_list_entrycount(list.get()); ++i) {
        untracked += git_status_byindex(list.get(), i)->status == GIT_STATUS_WT_NEW ? 1U : 0U;
    }
    return untracked;
}

}  // namespace

SubjectSource read_subject_source(const std::string& directory) {
    const Library library;
    git_repository* raw_repository = nullptr;
    check(git_repository_open_ext(&raw_repository, directory.c_str(), 0, nullptr), directory);
    const Owned<git_repository> repository(raw_repository, git_repository_free);
    git_object* raw_commit = nullptr;
    check(git_revparse_single(&raw_commit, repository.get(), "HEAD^{commit}"), directory);
    const Owned<git_object> commit(raw_commit, git_object_free);
    git_object* raw_tree = nullptr;
    check(git_object_peel(&raw_tree, commit.get(), GIT_OBJECT_TREE), directory);
    const Owned<git_object> tree(raw_tree, git_object_free);

    git_diff_options options{};
    check(git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION), directory);
    options.flags = GIT_DIFF_SHOW_BINARY | GIT_DIFF_IGNORE_SUBMODULES;
    git_diff* raw_diff = nullptr;
    check(git_diff_tree_to_workdir_with_index(&raw_diff, repository.get(),
                                              reinterpret_cast<git_tree*>(tree.get()), &options),
          directory);
    const Owned<git_diff> diff(raw_diff, git_diff_free);
    SubjectSource source;
    check(git_diff_print(diff.get(), GIT_DIFF_FORMAT_PATCH, add_line, &source.patch), directory);

    const std::string commit_name = [&] {
        char text[GIT_OID_HEXSZ + 1];
        return std::string(git_oid_tostr(text, sizeof text, git_object_id(commit.get())));
    }();
    source.identity = {{"commit", commit_name},
                       {"dirty", !source.patch.empty()},
                       {"untracked_files", untracked_files(repository.get(), directory)},
                       {"patch_bytes", source.patch.size()},
                       {"patch_sha256", sha256_hex(source.patch)},
                       {"patch_kept_bytes", std::min(source.patch.size(), max_patch_bytes)}};
    source.patch.resize(std::min(source.patch.size(), max_patch_bytes));
    return source;
}

}  // namespace difffuzz
