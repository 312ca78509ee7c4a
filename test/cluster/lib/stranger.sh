# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# find_stranger FOLDER: STRANGER is test/lib/stranger.c of this build, or made in FOLDER. 77: there is no
# libsodium to build it with.
find_stranger() {
    local top packages
    top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
    for STRANGER in "${top_builddir:-$top/build}/test/lib/stranger" "$1/stranger"; do
        [ ! -x "$STRANGER" ] || return 0
    done
    packages=$(pkg-config --cflags --libs libsodium) || return 77
    # shellcheck disable=SC2086
    "${CC:-cc}" -D_GNU_SOURCE -I"$top/src/mpid/ch4" -I"$top/src/util" -o "$STRANGER" \
        "$top/test/lib/stranger.c" "$top/src/mpid/ch4/faultloc/net/frame.c" $packages
}
