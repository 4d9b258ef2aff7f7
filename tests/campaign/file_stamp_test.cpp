#include "campaign/execution/file_stamp.hpp"

#include <fstream>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "campaign/evidence/files.hpp"
#include "campaign/identify.hpp"
#include "campaign/workers/pool.hpp"
#include "core/errors.hpp"
#include "core/tools/file_descriptor.hpp"
#include "ops/operation.hpp"
#include "support/run_tool.hpp"

namespace difffuzz::test {
namespace {

namespace fs = std::filesystem;

TEST(FileStamp, TellsWhichFileChanged) {
    const ScratchDirectory scratch;
    const std::string one = scratch.path() / "one";
    const std::string two = scratch.path() / "two";
    std::ofstream(one) << "1";
    std::ofstream(two) << "2";
    const auto before = stamp_files({one, two});
    EXPECT_EQ(changed_file(before, stamp_files({one, two})), std::nullopt);
    // Replaced by a file of the same size; written anew; gone; one more than before.
    fs::copy_file(two, scratch.path() / "new");
    fs::rename(scratch.path() / "new", two);
    EXPECT_EQ(changed_file(before, stamp_files({one, two})), two);
    std::ofstream(one) << "11";
    EXPECT_EQ(changed_file(before, stamp_files({one})), one);
    fs::remove(one);
    EXPECT_EQ(changed_file(before, stamp_files({one, two})), one);
    const auto now = stamp_files({one, two});
    EXPECT_EQ(changed_file(now, stamp_files({one, two, two + "2"})), two + "2");
    EXPECT_EQ(changed_file(stamp_files({one, two, two + "2"}), now), two + "2");
}

// A worker that is started late does not take other files for those that were identified.
TEST(FileStamp, AWorkerThatFindsAnotherToolDoesNotStart) {
    const ScratchDirectory scratch;
    const std::string subject = scratch.path() / "bad_tool-good";
    fs::copy_file(fs::path(DIFFFUZZ_BINARY_DIR) / "bad_tool", subject);
    const FileDescriptor staging(open_directory(scratch.string()));
    CampaignOptions options;
    options.executable = std::string(DIFFFUZZ_BINARY_DIR) + "/difffuzz";
    options.subject = subject;
    options.reference = "/usr/bin/qemu-img";
    options.run_as = {::geteuid() == 0, 65534, 65534};
    const IdentifiedTools tools = identify_tools(options, staging.get());
    WorkerSetup setup = worker_setup(options, default_plan());
    setup.stamps = tools.stamps;
    boost::asio::io_context context;
    EXPECT_NO_THROW(WorkerPool(context, options.executable, staging.get(), setup, 1));
    std::ofstream(subject, std::ios::app) << "x";
    try {
        const WorkerPool pool(context, options.executable, staging.get(), setup, 1);
        ADD_FAILURE() << "it started";
    } catch (const EnvironmentError& error) {
        EXPECT_THAT(error.what(), testing::StartsWith("the subject (" + subject +
                                                      ") changed during the campaign; "));
    }
}

}  // namespace
}  // namespace difffuzz::test
