##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the findings about Check 0.15.2: it is unpacked in a temporary folder, in which the script goes on.  compile NAME
# makes a test program from the C text on its standard input.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq check=0.15.2-2+b1 libsubunit0=1.4.0-3 libsubunit-dev=1.4.0-3 2>/dev/null ||
    { echo "SKIP: no packages of check 0.15.2-2+b1"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
LD_LIBRARY_PATH=$(echo "$PWD"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
compile() {
    gcc -w -x c -I"$PWD/usr/include" -o "$1" - -L"$LD_LIBRARY_PATH" -lcheck_pic -lsubunit -pthread -lrt -lm
}
