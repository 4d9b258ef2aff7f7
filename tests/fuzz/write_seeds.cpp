// Usage: write_seeds DIRECTORY: writes DIRECTORY/TARGET/seed-NNN for each seed of each target. What
// is there already stays: a seed that would change is an error, since older seeds keep their bytes.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/fuzz/seed_files.hpp"

namespace {

namespace fs = std::filesystem;
using namespace difffuzz::fuzz;

// Whether the file holds the seed afterwards.
bool write_seed(const fs::path& path, const Seed& seed) {
    if (fs::exists(path)) {
        std::ifstream file(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {}) == seed.bytes;
    }
    std::ofstream file(path, std::ios::binary);
    file << seed.bytes;
    file.close();
    return file.good();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "write_seeds takes one argument, the directory of the corpora\n";
        return 2;
    }
    int status = 0;
    for (const Target& target : targets()) {
        const fs::path corpus = fs::path(argv[1]) / target.name;
        fs::create_directories(corpus);
        const std::vector<Seed> seeds = target.seeds();
        for (std::size_t i = 0; i < seeds.size(); ++i) {
            if (!write_seed(corpus / seed_file(i), seeds[i])) {
                std::cerr << (corpus / seed_file(i)).string()
                          << " holds another seed or cannot be written; add seeds at the end\n";
                status = 1;
            }
        }
    }
    return status;
}
