// The fixed text of reproduce.sh.
#pragma once

#include <string_view>

namespace difffuzz {

// What the script is, and what it is not.
inline constexpr std::string_view warning = R"(#
# Both tools run as you, with all your rights and uncontained: do not run this as root, nor with a
# tool that you do not trust with your files. 'difffuzz repro' contains them.
#
# SUBJECT and REFERENCE name the tools; a command may take TIMEOUT seconds (60).
# Exit status: 0 the difference is there, 1 it is not, 2 cannot run or cannot tell.
)";

// Behind the case: names of the tools, and a place to work in.
inline constexpr std::string_view head = R"(
# What the above is made of.
set -u
export LC_ALL=C TZ=UTC
ulimit -c 0
limit=${TIMEOUT:-60}
subject=$(command -v "${SUBJECT:-}") || { echo "set SUBJECT to the tool under test" >&2; exit 2; }
reference=$(command -v "${REFERENCE:-qemu-img}") || { echo "set REFERENCE to a qemu-img" >&2; exit 2; }
subject=$(realpath "$subject") reference=$(realpath "$reference")
work=$(mktemp -d) || exit 2
left() {  # SIDE: the processes that its commands left running, known by their environment
    grep -lzsxF "RUN_IN=$work/$1" /proc/[0-9]*/environ | cut -d / -f 3
}
trap 'kill -9 $(left subject) $(left reference) $(left "${elsewhere:-reference}") 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 2' INT TERM
mkdir "$work/subject" "$work/reference" "$work/inputs" || exit 2
)";

inline constexpr std::string_view neutral_io = R"(
# What writes between the commands: the qemu-io beside the reference, or another one.
qemu_io=${QEMU_IO:-$(dirname "$reference")/qemu-io}
[ -x "$qemu_io" ] || qemu_io=$(command -v qemu-io) || { echo "set QEMU_IO to a qemu-io" >&2; exit 2; }
)";

// For what both sides do alike and the case's own model does not: of the content of an image, what
// the images and commands of the case give.
inline constexpr std::string_view held_against_model = R"(
holds() {  # OFFSET SHA256 SIDE: whether the sector there is what the case gives
    dd if="$work/$3.flat" bs=512 count=1 skip="$1" iflag=skip_bytes status=none | sha256sum | grep -q "^$2" ||
        { echo "$3: the sector at $1 is not what the images and commands of the case give"; found=0; }
}
sized() {  # BYTES SIDE: whether its size is what the case gives
    local size=$(stat -c %s "$work/$2.flat")
    [ "$size" = "$1" ] ||
        { echo "$2: its size is not $1, which the images and commands of the case give"; found=0; }
}
)";

// For what only a second run elsewhere shows.
inline constexpr std::string_view second_run = R"(
elsewhere=away/deeper/place
again() {  # STEP NAME PROGRAM WORDS...: one command of the subject's side once more, in another place
    if ! [ -e "$work/$elsewhere" ]; then
        mkdir -p "$work/$elsewhere" || exit 2
        cp --sparse=always "$work"/inputs/* "$work/$elsewhere/" 2>/dev/null
        sleep 1  # a later second
    fi
    case $3 in
    subject) (
        umask 077
        export TZ=AWAY-5:45 LC_ALL=C.UTF-8 MALLOC_PERTURB_=165
        export PYTHONHASHSEED=4242 PERL_HASH_SEED=4242 PERL_PERTURB_KEYS=2
        run "$elsewhere" "$1" "$2" "$subject" "${@:4}"
    ) || exit ;;
    qemu-io) run "$elsewhere" "$1" "$2" "$qemu_io" "${@:4}" ;;
    *) run "$elsewhere" "$1" "$2" "$reference" "${@:4}" ;;
    esac
}
compare_again() {  # out|err|status STEP: what the subject's two commands gave
    stable "$work/subject.$2.$1" >"$work/a"
    stable "$work/$elsewhere.$2.$1" >"$work/b"
    differ "$1" "$work/a" "$work/b" && found=0
}
)";

// The functions that the case is told in, and the end, which runs it.
inline constexpr std::string_view functions = R"(
image() {  # NAME BYTES: an input image, empty as yet
    truncate -s "$2" "$work/inputs/$1" || exit 2
}
put() {  # IMAGE OFFSET: writes what stands on standard input, gzip in base64, at this offset
    base64 -d | gzip -d | dd of="$work/inputs/$1" bs=64K seek="$2" oflag=seek_bytes conv=notrunc status=none || exit 2
}
run() {  # SIDE STEP NAME PROGRAM WORDS...: one command in the side's directory
    local side=$1 step=$2 name=$3 program=$4 status signal ended
    shift 4
    (cd "$work/$side" &&
        exec env RUN_IN="$work/$side" timeout --foreground -k 5 "$limit" bash -c 'exec -a "$0" "$@"' "$name" "$program" "$@" ) \
        >"$work/$side.$step.out" 2>"$work/$side.$step.err" </dev/null
    status=$?
    echo "$status" >"$work/$side.$step.status"
    ended="exit status $status"
    if [ "$status" -gt 128 ] && signal=$(kill -l "$status" 2>/dev/null); then
        ended="killed by SIG$signal"
    fi
    printf '%s: %s' "$side" "$name"
    [ $# = 0 ] || printf ' %q' "$@"
    echo " -> $ended"
    case $status in
    124 | 137) echo "this command did not end within TIMEOUT=$limit seconds, or was killed" >&2; exit 2 ;;
    125) echo "TIMEOUT must be a number of seconds" >&2; exit 2 ;;
    esac
}
stable() {  # FILE: without what differs from run to run
    sed -E -e '/"actual-size"|disk size:|"cid":|^ *cid:/d' -e 's/completed in .* seconds/completed/' \
        -e '/"date-n?sec"/d' -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}/DATE/' "$1"
}
both() {  # STEP NAME WORDS...: the same command by subject and reference, each on its side
    share
    run subject "$1" "$2" "$subject" "${@:3}"
    run reference "$1" "$2" "$reference" "${@:3}"
}
neutral() {  # the same by the reference, or by the qemu-io beside it, on both sides
    local program=$reference
    [ "$2" = qemu-io ] && program=$qemu_io
    share
    run subject "$1" "$2" "$program" "${@:3}"
    run reference "$1" "$2" "$program" "${@:3}"
}
share() {  # both sides get the input images, once
    [ -e "$work/shared" ] && return
    for side in subject reference; do
        cp --sparse=always "$work"/inputs/* "$work/$side/" 2>/dev/null
    done
    touch "$work/shared"
}
compare() {  # out|err STEP: what the two commands printed
    stable "$work/subject.$2.$1" >"$work/a"
    stable "$work/reference.$2.$1" >"$work/b"
    differ "$1" "$work/a" "$work/b" && found=0
}
differ() {  # WHAT FILE FILE: shows a difference of two texts
    diff -a -u --label "subject $1" --label "reference $1" "$2" "$3" >"$work/diff" && return 1
    cat -v "$work/diff" | head -n 40
}
listing() {  # SIDE IMAGE...: types, names and, of what is no image, sizes of the side's files; processes left
    local side=$1 images=()
    shift
    for image; do images+=(! -path "./$image"); done
    (cd "$work/$side" || exit
        find . -mindepth 1 -printf '%y %P\n' | sort
        find . -mindepth 1 -type f "${images[@]}" -printf '%s bytes: %P\n' | sort
        echo "$(left "$side" | wc -l) processes left") >"$work/$side.files"
}
flat() {  # SIDE FORMAT FILE [-l SNAPSHOT]: the guest's view, by the reference
    "$reference" convert "${@:4}" -f "$2" -O raw "$work/$1/$3" "$work/$1.flat" 2>"$work/$1.flat.err"
    echo "$1: $3 reads with status $?" | tee "$work/$1.read"
}
found=1
the_case
[ $found = 0 ] && echo 'the difference is there' || echo 'no difference'
exit $found
)";

}  // namespace difffuzz
