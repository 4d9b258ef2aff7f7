// Starts a program of a foreign Debian suite with that suite's own loader and libraries.
//
// The tree is  TREE/bin/NAME (this program)  and  TREE/root/… (the suite's files).  The place is
// read from /proc/self/exe, so the tree works wherever it is mounted; the program to start is the
// launcher's own name.
//
// A campaign runs this once or more per case, so it has no C library: a static glibc's start-up
// is two thirds of what a launcher costs.
//
// Set by the compile command, all relative to TREE/root and without a leading slash:
//   LOADER       the dynamic loader (a real file, not a symbolic link)
//   LIBRARIES    the directory of the shared libraries
//   MODULES      QEMU's module directory; set even if empty, so that the host's is never used
//   KEEP_ARGV0   1 if the loader knows --argv0 (glibc 2.33 and later): the program then sees the
//                name that it was called by, which newer versions print; else it sees its path
//
// Exit status 127: the program could not be started; a sentence on stderr says why.

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/limits.h>
#include <stddef.h>

enum { failed_to_start = 127, standard_error = 2 };

// The longest suffix that is added to the tree's path: a directory, a file name and slack.
enum { path_room = PATH_MAX + 2 * NAME_MAX };

// The entry point passes the initial stack pointer, which is where the kernel put the number of
// arguments, the arguments and the environment, to start().
#if defined(__x86_64__)
__asm__(
    ".globl _start\n"
    "_start:\n"
    "    xor %ebp, %ebp\n"
    "    mov %rsp, %rdi\n"
    "    and $-16, %rsp\n"
    "    call start\n");

static long system_call(long number, long a, long b, long c, long d) {
    long result;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
__asm__(
    ".globl _start\n"
    "_start:\n"
    "    mov x29, #0\n"
    "    mov x30, #0\n"
    "    mov x0, sp\n"
    "    bl start\n");

static long system_call(long number, long a, long b, long c, long d) {
    register long call __asm__("x8") = number;
    register long first __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    __asm__ volatile("svc #0"
                     : "+r"(first)
                     : "r"(call), "r"(second), "r"(third), "r"(fourth)
                     : "memory");
    return first;
}
#else
#error "the launcher has no entry point and system call for this architecture"
#endif

static size_t length_of(const char* text) {
    size_t length = 0;
    while (text[length] != '\0') {
        ++length;
    }
    return length;
}

// Appends text at end, up to and including the terminator; returns the new end.  The callers'
// buffers have path_room.
static char* append(char* end, const char* text) {
    while ((*end = *text) != '\0') {
        ++end;
        ++text;
    }
    return end;
}

static void complain(const char* text) {
    system_call(__NR_write, standard_error, (long)text, (long)length_of(text), 0);
}

// A negated error number is what the kernel returned.
__attribute__((noreturn)) static void fail(const char* what, const char* where, long error) {
    char digits[24];
    char* digit = digits + sizeof digits - 1;
    *digit = '\0';
    unsigned long number = (unsigned long)-error;
    do {
        *--digit = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);

    complain("launcher: cannot ");
    complain(what);
    complain(" ");
    complain(where);
    complain(" (error number ");
    complain(digit);
    complain(")\n");
    for (;;) {
        system_call(__NR_exit_group, failed_to_start, 0, 0, 0);
    }
}

// Cuts path at its last slash and returns what stood behind it; NULL without a slash.
static char* cut_last_part(char* path) {
    char* slash = NULL;
    for (char* at = path; *at != '\0'; ++at) {
        if (*at == '/') {
            slash = at;
        }
    }
    if (slash == NULL) {
        return NULL;
    }
    *slash = '\0';
    return slash + 1;
}

static int begins_with(const char* text, const char* start) {
    while (*start != '\0') {
        if (*text++ != *start++) {
            return 0;
        }
    }
    return 1;
}

__attribute__((used, noreturn)) void start(long* stack) {
    static const char self[] = "/proc/self/exe";
    static const char variable[] = "QEMU_MODULE_DIR=";
    static char tree[PATH_MAX];
    static char loader[path_room];
    static char libraries[path_room];
    static char modules[path_room + sizeof variable];
    static char program[path_room];

    const size_t argc = (size_t)stack[0];
    char** const argv = (char**)(stack + 1);
    char** const environment = argv + argc + 1;

    const long length =
        system_call(__NR_readlinkat, AT_FDCWD, (long)self, (long)tree, (long)sizeof tree - 1);
    if (length < 0) {
        fail("read", self, length);
    }
    const char* const name = cut_last_part(tree);
    if (name == NULL || cut_last_part(tree) == NULL) {
        fail("find the tree around", self, 0);
    }

    append(append(loader, tree), "/root/" LOADER);
    append(append(libraries, tree), "/root/" LIBRARIES);
    append(append(append(modules, variable), tree), "/root/" MODULES);
    append(append(append(program, tree), "/root/usr/bin/"), name);

    char* const prefix[] = {
        loader,
        "--inhibit-cache",
        "--library-path",
        libraries,
#if KEEP_ARGV0
        "--argv0",
        argc > 0 ? argv[0] : program,
#endif
        program,
    };
    enum { prefix_length = sizeof prefix / sizeof prefix[0] };
    // The kernel lets arguments and environment fill at most a quarter of the stack.
    char* arguments[prefix_length + argc + 1];
    size_t used = 0;
    for (; used < prefix_length; ++used) {
        arguments[used] = prefix[used];
    }
    for (size_t i = 1; i < argc; ++i) {
        arguments[used++] = argv[i];
    }
    arguments[used] = NULL;

    size_t variables = 0;
    while (environment[variables] != NULL) {
        ++variables;
    }
    char* new_environment[variables + 2];
    size_t kept = 0;
    for (size_t i = 0; i < variables; ++i) {
        if (!begins_with(environment[i], variable)) {
            new_environment[kept++] = environment[i];
        }
    }
    new_environment[kept++] = modules;
    new_environment[kept] = NULL;

    fail("start", loader,
         system_call(__NR_execve, (long)loader, (long)arguments, (long)new_environment, 0));
}
