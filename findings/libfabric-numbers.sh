#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# libfabric 1.17.0 (Debian 1.17.0-3): a number in its environment ends at the first letter: 64k is 64, 1e6 is 1, and what
# is no number is 0.
#
# FI_OFI_RXM_BUFFER_SIZE and its like are sizes in bytes, beside those of UCX in many job scripts, which take 64k.  A
# guess: 64k is 64 KiB, or a value that is not understood is refused, as by UCX, or the default is kept with a warning.
# Seen: the digits before the first letter are taken, and nothing is said at FI_LOG_LEVEL=warn; of a value without
# digits, or an empty one, 0 is.  Only what is to be true or false ("maybe") has a warning and the default.  The level
# "info" shows what was read.  So: write bytes, and look at "read long var" once.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
unpack_libfabric libfabric-bin
usr/bin/fi_info --version >version 2>&1 || { echo "SKIP: it does not run here"; exit 77; }

# What of the variable $2 is read, and what is said of it at the level of warnings.
show() {
    local read
    read=$(env FI_LOG_LEVEL=info "$1=$3" usr/bin/fi_info -p 'tcp;ofi_rxm' 2>&1 | grep -oE "var $2=.*" | sort -u | sed 's/.*=//')
    echo "$1=$3: ${read:-?}, $(env FI_LOG_LEVEL=warn "$1=$3" usr/bin/fi_info -p 'tcp;ofi_rxm' 2>&1 | grep -cE "parse .*$2|$2.*invalid" || true) warnings"
}
{
    for value in 65536 64k 1e6 big ''; do show FI_OFI_RXM_BUFFER_SIZE buffer_size "$value"; done
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
FI_OFI_RXM_BUFFER_SIZE=65536: 65536, 0 warnings
FI_OFI_RXM_BUFFER_SIZE=64k: 64, 0 warnings
FI_OFI_RXM_BUFFER_SIZE=1e6: 1, 0 warnings
FI_OFI_RXM_BUFFER_SIZE=big: 0, 0 warnings
FI_OFI_RXM_BUFFER_SIZE=: 0, 0 warnings
END
echo "as seen with libfabric $version"
