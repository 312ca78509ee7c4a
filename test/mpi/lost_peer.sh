# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the tests of lost_peer.c, here and in test/cluster, to be sourced.

# survivors FILE CASE RANKS-LEFT: true if the output says that each of them is well.
survivors() {
    local well
    well=$(grep -cE "^rank [0-9]+ $2: ok\$" "$1") || true
    [ "$well" -eq "$3" ] && ! grep -qE "^rank [0-9]+ $2: (hangs|wrong)" "$1"
}

# longest FILE: how long the slowest of them waited, in milliseconds.
longest() {
    sed -nE 's/^rank [0-9]+ [^:]*: control back after ([0-9]+) ms$/\1/p' "$1" | sort -n | tail -n 1
}
