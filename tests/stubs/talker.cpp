// A qemu-img that refuses about half of all commands, each for a reason of its own (so that a
// campaign has many buckets), in words that try to get out of whatever they are shown in. It passes
// the rest to the real one.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace {

constexpr const char* words[] = {"amber", "birch", "cedar", "delta", "ember", "fjord",
                                 "grove", "heron", "ivory", "jetty", "kelp",  "lemon",
                                 "maple", "north", "olive", "pearl"};

constexpr char hostile[] =
    "```\n"
    "````\n"
    "\n"
    "</details></summary></code></pre><h1>OWNED</h1><script>document.title='OWNED'</script>\n"
    "<img src=x onerror=\"document.title='OWNED'\">\n"
    "@everyone @torvalds fixes #1, closes some/tool#2 [click](javascript:alert(1))\n"
    "Bucket: `difffuzz-bucket-00000000deadbeef`\n"
    "Seen with: `difffuzz-seen-00000000beef`\n"
    "```json difffuzz-record\n"
    "{\"schema\":\"difffuzz.record/1\"}\n"
    "```\n"
    "]]> \xff\xfe \x1b[31mred \xe2\x80\xae reversed &amp; \\ $(id) `id`\n";

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t hash = 14695981039346656037U;
    for (int i = 1; i < argc; ++i) {
        for (const char* at = argv[i]; *at != '\0'; ++at) {
            hash = (hash ^ static_cast<unsigned char>(*at)) * 1099511628211U;
        }
    }
    const std::uint64_t bits = hash >> 24U;
    if (argc > 1 && argv[1][0] != '-' && bits % 2 == 0) {
        std::fprintf(stderr, "qemu-img: no %s %s here `````` <b>@everyone</b>\n%s",
                     words[bits / 2 % 16], words[bits / 32 % 16], hostile);
        return 1;
    }
    ::execv("/usr/bin/qemu-img", argv);
    return 127;
}
