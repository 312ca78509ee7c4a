##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the findings about MPICH 4.0.2 on a full disk: lib/mpich.sh, and disk SIZE, which makes the folder full of that size.
set -euo pipefail
if [ "${1:-}" != inside ]; then
    unshare -m true 2>/dev/null || { echo "SKIP: no root, or no namespaces"; exit 77; }
    exec unshare -m "$0" inside
fi
. "$(dirname "${BASH_SOURCE[0]}")/mpich.sh"
disk() {
    mkdir full
    mount -t tmpfs -o "size=$1" tmpfs full
    trap 'umount "$work/full"; rm -rf "$work"' EXIT
}
