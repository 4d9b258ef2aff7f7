#include "campaign/execution/known_hashes.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/run_tool.hpp"

namespace difffuzz::test {
namespace {

constexpr std::uint64_t remembered = 42;

class KnownHashesTest : public testing::Test {
protected:
    KnownHashesTest() {
        std::ofstream(path_) << std::string(8192, 'a');
        hashes_.remember(path_, remembered);
    }

    // Whether the hash is still known after `act` in another process.
    bool known_after(const std::function<void()>& act) {
        const pid_t child = ::fork();
        if (child == 0) {
            act();
            ::_exit(0);
        }
        EXPECT_EQ(::waitpid(child, nullptr, 0), child);
        return hashes_.find(path_).has_value();
    }

    ScratchDirectory scratch_;
    std::filesystem::path directory_ = scratch_.path();
    std::filesystem::path path_ = directory_ / "a";
    KnownHashes hashes_;
};

TEST_F(KnownHashesTest, AFileThatIsOnlyReadStaysKnown) {
    EXPECT_EQ(hashes_.find(path_), remembered);
    EXPECT_TRUE(known_after([&] {
        char bytes[512];
        const int file = ::open(path_.c_str(), O_RDONLY);
        (void)!::read(file, bytes, sizeof bytes);
        ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
    }));
    EXPECT_FALSE(hashes_.find(path_.string() + "b"));
}

TEST_F(KnownHashesTest, AWriteIsSeen) {
    EXPECT_FALSE(known_after([&] {
        const int file = ::open(path_.c_str(), O_WRONLY);
        (void)!::pwrite(file, "b", 1, 100);
    }));
}

TEST_F(KnownHashesTest, AWriteThroughAMappingIsSeen) {
    EXPECT_FALSE(known_after([&] {
        const int file = ::open(path_.c_str(), O_RDWR);
        void* const at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        ::close(file);
        *static_cast<volatile char*>(at) = 'b';
    }));
}

TEST_F(KnownHashesTest, ATruncationByNameIsSeen) {
    EXPECT_FALSE(known_after([&] { (void)!::truncate(path_.c_str(), 4096); }));
}

TEST_F(KnownHashesTest, AWriteByAnotherNameOfTheFileIsSeen) {
    const auto other = directory_ / "other";
    EXPECT_FALSE(known_after([&] {
        std::filesystem::create_hard_link(path_, other);
        std::ofstream(other, std::ios::app) << "b";
    }));
    // Two names have one watch: neither is known.
    std::ofstream(path_, std::ios::app) << "b";
    hashes_.remember(path_, remembered);
    hashes_.remember(other, remembered);
    EXPECT_FALSE(hashes_.find(path_));
    EXPECT_FALSE(hashes_.find(other));
}

TEST_F(KnownHashesTest, AReplacedFileIsNotKnown) {
    const auto other = directory_ / "other";
    std::ofstream(other) << std::string(8192, 'b');
    EXPECT_FALSE(known_after([&] { std::filesystem::rename(other, path_); }));
}

TEST_F(KnownHashesTest, AFileThatIsReplacedButKeptElsewhereIsNotKnown) {
    const auto kept = directory_ / "kept";
    const auto other = directory_ / "other";
    std::filesystem::create_hard_link(path_, kept);
    hashes_.remember(path_, remembered);
    std::ofstream(other) << std::string(8192, 'b');
    EXPECT_FALSE(known_after([&] { std::filesystem::rename(other, path_); }));
}

TEST_F(KnownHashesTest, MoreEventsThanTheQueueHoldsForgetAll) {
    const auto other = directory_ / "other";
    std::ofstream(other) << "b";
    hashes_.remember(other, remembered);
    // Events of one kind in a row are merged, those that take turns are not.
    EXPECT_FALSE(known_after([&] {
        for (int i = 0; i < 20000; ++i) {
            (void)!::truncate(other.c_str(), i % 2);
            ::chmod(other.c_str(), 0600);
        }
    }));
}

TEST_F(KnownHashesTest, AClearedWorkspaceHasNoKnownFiles) {
    hashes_.clear();
    EXPECT_FALSE(hashes_.find(path_));
    hashes_.remember(path_, remembered);
    EXPECT_EQ(hashes_.find(path_), remembered);
}

}  // namespace
}  // namespace difffuzz::test
