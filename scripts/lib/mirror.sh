# shellcheck shell=bash
# Which Debian mirror this system uses, from its own apt configuration.  Sourced after common.sh.

# running_codename: the code name of the Debian release that runs here.
running_codename() {
    (
        ID='' ID_LIKE='' VERSION_CODENAME=''
        # shellcheck source=/dev/null
        . /etc/os-release
        [[ " $ID $ID_LIKE " == *" debian "* && -n $VERSION_CODENAME ]] || exit 1
        printf '%s\n' "$VERSION_CODENAME"
    )
}

# mirror_by_origin CODENAME: the mirror whose downloaded index calls itself Debian's.
mirror_by_origin() {
    local uri release component name origin
    # shellcheck disable=SC2016 # apt's own variables
    local format='$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(CODENAME)|$(ORIGIN)'
    while IFS='|' read -r uri release component name origin; do
        if [[ $origin == Debian && $component == main &&
            ($release == "$1" || $name == "$1") ]]; then
            printf '%s\n' "${uri%/}"
            return 0
        fi
    done < <(apt-get indextargets --format "$format" 'Created-By: Packages')
    return 1
}

# mirror_by_configuration CODENAME: the same where no index was downloaded yet (containers drop
# them): what apt would fetch for this release's main.  Third parties use the release's name too,
# but Debian's mirrors have its updates beside it.
mirror_by_configuration() {
    local line base first=''
    local pattern="^'(.*)/dists/($1|stable|oldstable|testing|unstable)/main/binary-[^/]*/Packages"
    local uris
    uris=$(LC_ALL=C apt-get --print-uris update 2>/dev/null)
    while IFS= read -r line; do
        [[ $line =~ $pattern ]] || continue
        base=${BASH_REMATCH[1]}
        if [[ $uris == *"'$base/dists/${BASH_REMATCH[2]}-updates/main/"* ]]; then
            printf '%s\n' "$base"
            return 0
        fi
        first=${first:-$base}
    done <<<"$uris"
    [[ -n $first ]] || return 1
    printf '%s\n' "$first"
}

# debian_mirror: the URI that serves Debian's main for the running release, from the system's apt.
# Whether it really is Debian's is decided by the signature check, not here.  Returns 1 if there
# is none.
debian_mirror() {
    local codename
    codename=$(running_codename) || return 1
    mirror_by_origin "$codename" || mirror_by_configuration "$codename"
}
