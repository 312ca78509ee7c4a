#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# libfabric 1.17.0 (Debian 1.17.0-3): an empty FI_PROVIDER is a filter that nothing passes, and ^tcp leaves TCP.
#
# FI_PROVIDER has the names of the providers that may be used, or after ^ of those that may not; job scripts and modules
# take it back by "export FI_PROVIDER=".  A guess: empty is as not set; ^tcp leaves no provider over TCP but sockets; and
# a layered one may be named by either part or in any order.
# Seen: with an empty one fi_getinfo() has nothing to offer (-FI_ENODATA), and a job does not start: unset it.  ^tcp
# leaves net, which is the same over the same sockets, with and without ofi_rxm.  Of tcp;ofi_rxm the whole or its first
# part may be named, ofi_rxm or ofi_rxm;tcp name nothing.  A name that no provider has is passed over beside a good
# one, and alone it has the same -61 as no network.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
unpack_libfabric libfabric-bin
usr/bin/fi_info --version >version 2>&1 || { echo "SKIP: it does not run here"; exit 77; }

# Of the providers over TCP those that are offered.
show() {
    echo "FI_PROVIDER='$1': $({ FI_PROVIDER=$1 usr/bin/fi_info 2>&1 || true; } |
        sed -nE 's/^provider: ((tcp|net)(;ofi_rxm)?)$/\1/p; s/^fi_getinfo: /error /p' | sort -u | paste -sd' ')"
}
{
    for filter in tcp 'tcp;ofi_rxm' 'ofi_rxm;tcp' ofi_rxm ^tcp tcp,nosuch nosuch ''; do show "$filter"; done
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
FI_PROVIDER='tcp': tcp tcp;ofi_rxm
FI_PROVIDER='tcp;ofi_rxm': tcp;ofi_rxm
FI_PROVIDER='ofi_rxm;tcp': error -61
FI_PROVIDER='ofi_rxm': error -61
FI_PROVIDER='^tcp': net net;ofi_rxm
FI_PROVIDER='tcp,nosuch': tcp tcp;ofi_rxm
FI_PROVIDER='nosuch': error -61
FI_PROVIDER='': error -61
END
echo "as seen with libfabric $version"
