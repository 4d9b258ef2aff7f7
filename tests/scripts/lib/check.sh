# shellcheck shell=bash disable=SC2034 # what run sets is read by those who source this
# Checks for the tests of the scripts.  A failed check is counted and told; the test goes on, and
# finish gives the result.

failures=0
checks=0

# run COMMAND…: sets output, errors and status.
run() {
    local error_file
    error_file=$(mktemp)
    status=0
    output=$("$@" 2>"$error_file" </dev/null) || status=$?
    errors=$(<"$error_file")
    rm -f -- "$error_file"
}

# check_equal WHAT EXPECTED ACTUAL
check_equal() {
    ((checks += 1))
    if [[ $2 != "$3" ]]; then
        ((failures += 1))
        printf 'FAILED: %s: expected "%s", got "%s"\n' "$1" "$2" "$3"
    fi
}

# check_contains WHAT PART WHOLE
check_contains() {
    ((checks += 1))
    if [[ $3 != *"$2"* ]]; then
        ((failures += 1))
        printf 'FAILED: %s: no "%s" in "%s"\n' "$1" "$2" "$3"
    fi
}

finish() {
    printf '%d checks, %d failed\n' "$checks" "$failures"
    ((checks > 0 && failures == 0))
}
