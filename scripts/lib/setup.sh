# shellcheck shell=bash disable=SC2154 # common.sh defines what is not assigned here
# Sets up what a build and its tests need: packages, the build, a second qemu-img.  Sourced after
# common.sh; each function can be run again and then reuses what is there.

readonly package_list=$repository_root/scripts/lib/packages.txt

# packages_of GROUP: the packages of a group of the list, one a line.
packages_of() {
    grep -qxF "[$1]" "$package_list" ||
        die "$exit_environment" "$package_list has no group [$1]"
    awk -v wanted="[$1]" '
        /^\[/ { inside = ($0 == wanted); next }
        inside && NF && !/^#/ { print $1 }' "$package_list"
}

# missing_packages GROUP…: those of the groups that are not installed.
missing_packages() {
    local group package packages
    for group in "$@"; do
        packages=$(packages_of "$group")
        while read -r package; do
            [[ -n $package ]] || continue
            # shellcheck disable=SC2016 # dpkg-query's own variable
            [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
                printf '%s\n' "$package"
        done <<<"$packages"
    done
}

# quietly SENTENCE COMMAND…: shows the command's output only if it fails.
quietly() {
    local sentence=$1 log status=0
    shift
    log=$(mktemp)
    "$@" >"$log" 2>&1 </dev/null || status=$?
    if ((status != 0)); then
        cat -- "$log" >&2
        say "$sentence (exit status $status of: $*)"
    fi
    rm -f -- "$log"
    return "$status"
}

# may_use_sudo: asks for a password only on a terminal.
may_use_sudo() {
    command -v sudo >/dev/null || return 1
    sudo -n true 2>/dev/null || { [[ -t 0 ]] && sudo -v; }
}

# ensure_packages GROUP…: installs what is missing of the groups.
ensure_packages() {
    local list missing as_root=()
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        die "$exit_environment" "this is no Debian; install by hand what $package_list names"
    fi
    list=$(missing_packages "$@")
    [[ -n $list ]] || return 0
    mapfile -t missing <<<"$list"

    if ((EUID != 0)); then
        may_use_sudo || die "$exit_environment" "packages are missing; run as root: \
apt-get update && apt-get install --no-install-recommends ${missing[*]}"
        as_root=(sudo)
    fi
    local apt=(${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive
        apt-get -o DPkg::Lock::Timeout=300)
    say "installing ${missing[*]}"
    # A broken list of some third party need not keep these packages from being installed.
    quietly "apt-get update failed; trying with the lists that are there" "${apt[@]}" update || true
    quietly "cannot install the packages" \
        "${apt[@]}" install -y --no-install-recommends "${missing[@]}" ||
        exit "$exit_environment"
}

# build PRESET [TARGET…]: configures and builds; all targets if none is named.
build() {
    local preset=$1 cache=$repository_root/build/$1/CMakeCache.txt fresh=() targets=() quiet=()
    shift
    # A tree that was moved or copied: CMake would refuse its old cache.
    if [[ -f $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$repository_root" "$cache"; then
        fresh=(--fresh)
    fi
    say "configuring preset $preset"
    (
        cd -- "$repository_root"
        quietly "cannot configure preset $preset" \
            cmake --preset "$preset" ${fresh[@]+"${fresh[@]}"}
    ) || exit "$exit_environment"
    (($# == 0)) || targets=(--target "$@")
    # One line a file is for terminals, where it is drawn over.
    [[ -t 2 ]] || quiet=(-- --quiet)
    say "building preset $preset"
    cmake --build "$repository_root/build/$preset" --parallel "$(nproc)" \
        ${targets[@]+"${targets[@]}"} ${quiet[@]+"${quiet[@]}"} >&2 </dev/null ||
        die "$exit_environment" "preset $preset does not build; the first error is above"
}

# ensure_second_qemu: a qemu-img of another suite than the running one; prints its path.  Any one
# will do: a suite that is gone from the mirror is passed over.
ensure_second_qemu() {
    local suite path status
    for suite in trixie sid forky bullseye; do
        status=0
        path=$("$repository_root/scripts/get-qemu-img" "$suite") || status=$?
        case $status in
            0)
                printf '%s\n' "$path"
                return 0
                ;;
            "$exit_not_run") ;;
            *) exit "$status" ;;
        esac
    done
    die "$exit_environment" "no second qemu-img can be had; see the lines above for each suite"
}

# ensure_npm: npm, which Debian has under its own name and others ship with Node.js.
ensure_npm() {
    command -v npm >/dev/null || ensure_packages npm
}

# published_file PACKAGE VERSION MEMBER NAME: a file of an npm package as .tools/published/NAME.
published_file() {
    local directory=$repository_root/.tools/published scratch archive=()
    [[ ! -f $directory/$4 ]] || return 0
    ensure_npm
    say "getting $4 of npm's $1"
    mkdir -p -- "$directory"
    scratch=$(mktemp -d)
    quietly "cannot get npm's $1@$2" npm pack --silent --pack-destination "$scratch" "$1@$2" ||
        exit "$exit_environment"
    archive=("$scratch"/*.tgz)
    tar -xzf "${archive[0]}" -O "package/$3" >"$scratch/file" ||
        die "$exit_environment" "npm's $1@$2 has no file '$3'"
    mv -- "$scratch/file" "$directory/$4"
    rm -rf -- "$scratch"
}

# ensure_published: what tests check against and others publish: GitHub's description of its API,
# and the schema of SARIF.
ensure_published() {
    published_file @octokit/openapi 23.0.2 generated/api.github.com.json api.github.com.json
    published_file @microsoft/jest-sarif 1.0.0-beta.0 lib/schemas/sarif-2.1.0-rtm.5.json \
        sarif-2.1.0.json
}
