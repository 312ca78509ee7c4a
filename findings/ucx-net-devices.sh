#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# UCX 1.13.1 (Debian 1.13.1-1): UCX_NET_DEVICES with an empty value is no network, and it has no "^", which UCX_TLS has.
#
# UCX_TLS=^tcp is all transports but tcp, and an empty UCX_TLS is refused with a hint.  A guess: UCX_NET_DEVICES=^docker0 is
# all devices but that one, and an empty value is refused, too, or as not set.
# Seen: ^lo is the name of a device, which is not there.  With it, with an empty value, or a misspelt name alone
# no network device is left, and what may use shared memory starts: a warning for a name, nothing at all for the
# empty value.  So: a job that runs on one host, and on two ends in "no usable transports" or an unreachable
# endpoint, has such a value; take it back by unset, not by "export UCX_NET_DEVICES=".
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
unpack_ucx_utils
usr/bin/ucx_info -v >version 2>&1 || { echo "SKIP: it does not run here"; exit 77; }

# An endpoint of a process to itself: over networks alone, and over all.
show() {
    local types
    for types in net all; do
        env "$1" usr/bin/ucx_info -e -u t -D $types >out 2>&1 || true
        echo "$1, $types: $(grep -q 'lane\[' out && echo starts || echo 'does not start'), $(grep -c WARN out) warnings"
    done
}
{
    for value in lo ^lo nosuch ''; do show "UCX_NET_DEVICES=$value"; done
    for value in ^tcp ''; do show "UCX_TLS=$value"; done
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
UCX_NET_DEVICES=lo, net: starts, 0 warnings
UCX_NET_DEVICES=lo, all: starts, 0 warnings
UCX_NET_DEVICES=^lo, net: does not start, 1 warnings
UCX_NET_DEVICES=^lo, all: starts, 1 warnings
UCX_NET_DEVICES=nosuch, net: does not start, 1 warnings
UCX_NET_DEVICES=nosuch, all: starts, 1 warnings
UCX_NET_DEVICES=, net: does not start, 0 warnings
UCX_NET_DEVICES=, all: starts, 0 warnings
UCX_TLS=^tcp, net: does not start, 0 warnings
UCX_TLS=^tcp, all: starts, 0 warnings
UCX_TLS=, net: does not start, 0 warnings
UCX_TLS=, all: does not start, 0 warnings
END
echo "as seen with UCX $version"
