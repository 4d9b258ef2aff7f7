# shellcheck shell=bash disable=SC2034 # what is defined here is used by those who source it
# What every script here shares: messages, the repository's root, one clear sentence on failure.
# Sourced, never run.  The sourcing script has already set -euo pipefail.

# The repository's root, found from this file, so that scripts work from any directory and through
# symbolic links.
repository_root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd -P)

# Exit codes shared by the scripts.
readonly exit_usage=2
readonly exit_environment=3
readonly exit_not_run=77

program_name=${0##*/}

# say SENTENCE: a message on stderr; stdout belongs to results.
say() {
    printf '%s: %s\n' "$program_name" "$1" >&2
}

# die CODE SENTENCE
die() {
    say "$2"
    exit "$1"
}

# usage_error SENTENCE
usage_error() {
    die "$exit_usage" "$1; see $program_name --help"
}

# require_value OPTION COUNT_OF_ARGUMENTS_LEFT
require_value() {
    (($2 >= 2)) || usage_error "$1 needs a value"
}

# require_whole_number OPTION VALUE LEAST: LEAST is 0 or 1; the largest is for difffuzz to judge.
require_whole_number() {
    if ! [[ $2 =~ ^(0|[1-9][0-9]*)$ ]] || [[ $2 == 0 && $3 == 1 ]]; then
        usage_error "$1 takes a whole number of at least $3, not '$2'"
    fi
}

# require_programs NAME…
require_programs() {
    local name
    for name in "$@"; do
        command -v -- "$name" >/dev/null ||
            die "$exit_environment" "the program '$name' is missing; install the package with it"
    done
}

# print_help FILE: the comment block at the top of a script, without its comment signs.
print_help() {
    sed -n '2,/^$/ { /^#/ { s/^# \{0,1\}//; p; } }' "$1"
}
