// Building and judging images in tests.
#pragma once

#include <string>
#include <vector>

#include "core/cases/case.hpp"
#include "images/content_model.hpp"
#include "images/format.hpp"
#include "images/virtual_content.hpp"
#include "tests/support/run_tool.hpp"

namespace difffuzz::test {

// A tool that in-process builders must not touch.
class NoTools : public NeutralTools {
public:
    Outcome qemu_img(const std::vector<std::string>&) override { std::abort(); }
};

inline ImageRecipe recipe_of(std::string id, std::string format, std::uint64_t size,
                             std::vector<ContentWrite> content = {},
                             std::vector<FormatOption> options = {}) {
    ImageRecipe recipe;
    recipe.id = std::move(id);
    recipe.format = std::move(format);
    recipe.size = size;
    recipe.options = std::move(options);
    recipe.content = std::move(content);
    return recipe;
}

inline void build_in_process(const Case& c, const ScratchDirectory& directory) {
    NoTools tools;
    build_images(c, directory.string(), tools);
}

inline VirtualContent content_of(const ScratchDirectory& directory, const std::string& name,
                                 const std::string& format) {
    return summarise(*find_format(format)->open(directory.string(), name));
}

// What qemu-img reads, by way of a raw file; throws with its message if it fails.
inline VirtualContent content_by_qemu(const ScratchDirectory& directory, const std::string& name,
                                      const std::string& format) {
    const std::string flat = name + ".flat";
    std::filesystem::remove(directory.path() / flat);
    const Outcome outcome =
        run_tool(directory.path(), {"qemu-img", "convert", "-f", format, "-O", "raw", name, flat});
    if (outcome.ending != Ending{Exited{0}}) {
        throw std::runtime_error("convert: " + outcome.err.head);
    }
    return content_of(directory, flat, "raw");
}

// Empty when `qemu-img check` finds nothing at all, else what it said.
inline std::string complaint_of_check(const ScratchDirectory& directory, const std::string& name) {
    const Outcome outcome = run_tool(directory.path(), {"qemu-img", "check", "-f", "qcow2", name});
    const bool clean = outcome.ending == Ending{Exited{0}} &&
                       outcome.out.head.find("No errors were found on the image.") == 0 &&
                       outcome.err.head.empty();
    return clean ? std::string{} : outcome.out.head + outcome.err.head;
}

// The number behind "virtual-size" in qemu-img's JSON.
inline std::uint64_t size_by_qemu(const ScratchDirectory& directory, const std::string& name,
                                  const std::string& format,
                                  const std::string& qemu_img = "qemu-img") {
    const Outcome outcome =
        run_tool(directory.path(), {qemu_img, "info", "--output=json", "-f", format, name});
    const std::string key = "\"virtual-size\": ";
    // The last one is the image's own: newer versions print that of the file below it first.
    const std::size_t at = outcome.out.head.rfind("\n    " + key);
    if (at == std::string::npos) {
        throw std::runtime_error("info: " + outcome.err.head);
    }
    return std::stoull(outcome.out.head.substr(at + 5 + key.size()));
}

}  // namespace difffuzz::test
