##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the findings about pdsh 2.34: it is unpacked, in a temporary folder, in which the script goes on.  pdsh ... runs commands
# of this host, one for each name.
. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
if [ "${1:-}" != inside ]; then
    unshare -m true 2>/dev/null || { echo "SKIP: no root, or no namespaces"; exit 77; }
    exec unshare -m "$0" inside
fi
unpack 'pdsh 2.34-0.2' pdsh=2.34-0.2 libgenders0=1.22-1+b5
# It opens its modules by their whole names, and goes by its own name.
mount -t overlay overlay -o "lowerdir=$libraries:${libraries#"$PWD"}" "${libraries#"$PWD"}" 2>/dev/null ||
    { echo "SKIP: no overlay of file systems"; exit 77; }
cp usr/bin/pdsh.bin pdsh
[[ $(./pdsh -V 2>&1) == *2.34* ]] || { echo "SKIP: it does not run here"; exit 77; }
pdsh() { timeout 60 ./pdsh -R exec "$@" </dev/null; }
