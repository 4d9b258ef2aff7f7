// The options of qemu-img 7.2 by command, from tests/data/qemu_img_options.txt.
#pragma once

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace difffuzz::test {

inline std::map<std::string, std::set<std::string>> documented_options() {
    std::ifstream file(DIFFFUZZ_SOURCE_DIR "/tests/data/qemu_img_options.txt");
    std::map<std::string, std::set<std::string>> commands;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string command;
        if (line.starts_with("#") || !(words >> command)) {
            continue;
        }
        for (std::string option; words >> option;) {
            commands[command].insert(option);
        }
    }
    return commands;
}

}  // namespace difffuzz::test
