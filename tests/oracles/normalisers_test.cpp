#include <gtest/gtest.h>

#include <set>

#include "oracles/normaliser.hpp"
#include "oracles/sanitizer_text.hpp"

namespace difffuzz {
namespace {

std::string applied(const TextNormaliser& normaliser, std::string text) {
    normaliser.apply(text);
    std::string again = text;
    normaliser.apply(again);
    EXPECT_EQ(again, text) << "not idempotent";
    return text;
}

nlohmann::json applied(const JsonNormaliser& normaliser, const char* text) {
    nlohmann::json value = nlohmann::json::parse(text);
    normaliser.apply(value);
    return value;
}

TEST(Normalisers, DiskSizeMasksTheAllocationOnly) {
    EXPECT_EQ(applied(disk_size_text(), "virtual size: 1 MiB\ndisk size: 196 KiB\nx"),
              "virtual size: 1 MiB\ndisk size: <allocation>\nx");
    EXPECT_EQ(applied(disk_size_text(), "    disk size: 1.5 GiB"), "    disk size: <allocation>");
    EXPECT_EQ(applied(disk_size_text(), "disk size: unavailable"), "disk size: unavailable");
    EXPECT_EQ(applied(disk_size_text(), "disk size: 196 KiB more"), "disk size: 196 KiB more");
    EXPECT_EQ(applied(disk_size_text(), "image: disk size: 196 KiB"), "image: disk size: 196 KiB");
}

TEST(Normalisers, SanitizerReportMasksProcessAndAddressesOfAReportOnly) {
    EXPECT_EQ(applied(sanitizer_report_text(),
                      "==4711==ERROR: AddressSanitizer: heap-buffer-overflow on address "
                      "0x60b0000000a4 at pc 0x55a3b2c1d2e3 bp 0x7ffc1 sp 0x7ffc12345678\n"
                      "    #0 0x55a3b2c1d2e2 in main (/tool/subject+0x12e2e2)\n"
                      "=>0x0c1680000010: fa fa 04[fa]\n==4711==ABORTING\n"),
              "==<pid>==ERROR: AddressSanitizer: heap-buffer-overflow on address "
              "<address> at pc <address> bp <address> sp <address>\n"
              "    #0 <address> in main (/tool/subject+0x12e2e2)\n"
              "=><address>: fa fa 04[fa]\n==<pid>==ABORTING\n");
    // What tells of null is kept.
    EXPECT_EQ(applied(sanitizer_report_text(),
                      "AddressSanitizer: SEGV on unknown address 0x000000000010"),
              "AddressSanitizer: SEGV on unknown address 0x000000000010");
    EXPECT_EQ(
        applied(sanitizer_report_text(), "a.c:3:2: runtime error: load of address 0x602000000011"),
        "a.c:3:2: runtime error: load of address <address>");
    EXPECT_EQ(applied(sanitizer_report_text(), "offset 0x60b0000000a4 of ==4711=="),
              "offset 0x60b0000000a4 of ==4711==");
}

TEST(Normalisers, ElapsedTimeMasksADurationOnly) {
    EXPECT_EQ(applied(elapsed_time_text(), "Run completed in 0.010 seconds.\n"),
              "Run completed in <time> seconds.\n");
    EXPECT_EQ(applied(elapsed_time_text(), "Run completed in 10 seconds."),
              "Run completed in 10 seconds.");
}

TEST(Normalisers, ProgressKeepsTheEnd) {
    EXPECT_EQ(applied(progress_text(), "    (0.00/100%)\r    (49.50/100%)\r    (100.00/100%)\r\n"),
              "    (100.00/100%)\r\n");
    EXPECT_EQ(applied(progress_text(),
                      "    (100.00/100%)\r    (50.00/100%)\r"
                      "    (100.00/100%)\r    (100.00/100%)\rdone\n"),
              "    (100.00/100%)\rdone\n");
    EXPECT_EQ(applied(progress_text(), "    (50.00/100%)\rdone\n"), "done\n");
    EXPECT_EQ(applied(progress_text(), "    (x/100%)\r"), "    (x/100%)\r");
}

TEST(Normalisers, FailedReadMasksTheOffsetOfThatMessageOnly) {
    EXPECT_EQ(
        applied(failed_read_text(), "error while reading at byte 458752: Input/output error\n"),
        "error while reading at byte <n>: Input/output error\n");
    for (const char* other :
         {"error while writing at byte 512: No space left\n", "error while reading at byte x: y\n",
          "error while reading block status at offset 512: Invalid argument\n",
          "error while reading at byte 512\n", "Error while reading offset 512 of a: x\n"}) {
        EXPECT_EQ(applied(failed_read_text(), other), other);
    }
}

TEST(Normalisers, SnapshotDateMasksTheDateOfAListOnly) {
    EXPECT_EQ(applied(snapshot_date_text(),
                      "ID TAG VM SIZE DATE\n"
                      "1  2026-01-01 10:00:00 x 0 B 2026-11-30 08:33:34 00:00:00.000          0\n"
                      "2  b 0 B 2026-11-30 08:33:34  0000:00:00.000         --\n"
                      "3  c 0 B 2026-11-30 08:33:34 00:00:00.000"),
              "ID TAG VM SIZE DATE\n"
              "1  2026-01-01 10:00:00 x 0 B <date> 00:00:00.000          0\n"
              "2  b 0 B <date>  0000:00:00.000         --\n"
              "3  c 0 B <date> 00:00:00.000");
    for (const char* other : {"1 2026-11-30 08:33:34\n", "2026-11-30 08:33:34 00:00:00.00 0",
                              "2026-11-30 08:33 00:00:00.000", "2026-11-30 08:33:3400:00:00.000",
                              "2026-11-30 08:33:34 00:00:00.000 x"}) {
        EXPECT_EQ(applied(snapshot_date_text(), other), other);
    }
}

TEST(Normalisers, HarnessPathsAndNodeNames) {
    EXPECT_EQ(
        applied(harness_path_text(), "/side/12/w/a.raw /side/1/w: /side/1/www /tool/subject/q"),
        "<workspace>/a.raw <workspace>: /side/1/www <tool>/q");
    EXPECT_EQ(applied(harness_path_text(), "/side/1/x/a.raw /side//w"), "/side/1/x/a.raw /side//w");
    EXPECT_EQ(applied(node_name_text(), "#block123 #blocker #block1: x"),
              "#block<n> #blocker #block<n>: x");
}

TEST(Normalisers, JsonMasksKeepPresenceAndType) {
    EXPECT_EQ(applied(disk_size_json(),
                      R"({"actual-size":200704,"children":[{"info":{"actual-size":5,"x":5}}]})"),
              nlohmann::json::parse(
                  R"({"actual-size":0,"children":[{"info":{"actual-size":0,"x":5}}]})"));
    EXPECT_EQ(applied(disk_size_json(), R"({"actual-size":"big"})"),
              nlohmann::json::parse(R"({"actual-size":"big"})"));
    EXPECT_EQ(
        applied(vmdk_cid_json(),
                R"({"cid":7,"format-specific":{"type":"vmdk","data":{"cid":7,"parent-cid":9}}})"),
        nlohmann::json::parse(
            R"({"cid":7,"format-specific":{"type":"vmdk","data":{"cid":0,"parent-cid":9}}})"));
}

// Of the file behind the image, not of the image.
TEST(Normalisers, FileLengthJsonKeepsTheImagesSize) {
    EXPECT_EQ(applied(file_length_json(),
                      R"({"format":"qcow2","virtual-size":9,"children":[{"name":"file","info":)"
                      R"({"format":"file","virtual-size":196616,"dirty-flag":false}}]})"),
              nlohmann::json::parse(
                  R"({"format":"qcow2","virtual-size":9,"children":[{"name":"file","info":)"
                  R"({"format":"file","virtual-size":0,"dirty-flag":false}}]})"));
}

TEST(Normalisers, SnapshotDateJsonKeepsTheClock) {
    EXPECT_EQ(
        applied(snapshot_date_json(),
                R"({"date-sec":7,"snapshots":[{"id":"1","date-sec":7,"date-nsec":8,)"
                R"("vm-clock-sec":9,"vm-state-size":0}]})"),
        nlohmann::json::parse(R"({"date-sec":7,"snapshots":[{"id":"1","date-sec":0,"date-nsec":0,)"
                              R"("vm-clock-sec":9,"vm-state-size":0}]})"));
}

TEST(Normalisers, EachHasANameAndAReason) {
    std::set<std::string_view> names;
    for (const TextNormaliser* normaliser : text_normalisers()) {
        EXPECT_TRUE(names.insert(normaliser->name).second);
        EXPECT_FALSE(normaliser->reason.empty());
    }
    EXPECT_EQ(names.size(), 8U);
    for (const JsonNormaliser* normaliser : json_normalisers()) {
        EXPECT_FALSE(normaliser->name.empty());
        EXPECT_FALSE(normaliser->reason.empty());
    }
}

}  // namespace
}  // namespace difffuzz
