##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the findings about Environment Modules 5.2.0 and Lmod 8.6.19: both are unpacked in a temporary folder, in which the
# script goes on.  modulefile NAME makes a modulefile from the lines on its standard input; with_both runs the commands of
# bash on its standard input with the one, then with the other.
. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
unshare -m true 2>/dev/null || { echo "SKIP: no root, or no namespaces"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
tcl="tcl=8.6.13 tcl8.6=8.6.13+dfsg-2 libtcl8.6=8.6.13+dfsg-2"
mkdir environment-modules lmod modules
for name in environment-modules lmod; do
    packages=environment-modules=5.2.0-1
    [ $name = lmod ] && packages="lmod=8.6.19-1 lua5.3=5.3.6-2 liblua5.3-0=5.3.6-2 lua-posix=33.4.0-3+b1
        lua-filesystem=1.8.0-3 lua-term=0.07-1+b1 lua-json=1.3.4-2 lua-lpeg=1.0.2-2"
    # shellcheck disable=SC2086
    (cd $name && apt-get download -qq $packages $tcl 2>/dev/null) ||
        { echo "SKIP: no packages of Environment Modules 5.2.0 and Lmod 8.6.19"; exit 77; }
    for package in $name/*.deb; do dpkg-deb -x "$package" $name; done
done

modulefile() {
    mkdir -p "modules/${1%/*}"
    { echo '#%Module'; cat; } >"modules/$1"
}

# Each has its files below /usr and /etc.
with_both() {
    local name
    cat >commands
    for name in environment-modules/usr/share/modules/init/bash lmod/usr/share/lmod/lmod/init/bash; do
        echo "${name%%/*}:"
        env -i PATH=/usr/bin:/bin HOME="$work" LC_ALL=C MODULEPATH="$work/modules" unshare -m bash -c '
            for folder in usr etc; do mount -t overlay overlay -o "lowerdir=$0/${1%%/*}/$folder:/$folder" /$folder; done
            . "/${1#*/}"
            . "$0/commands"' "$work" "$name" 2>>errors </dev/null
    done
}
[[ $(echo 'module --version 2>&1' | with_both) == *'5.2.0'*'Version 8.6.19'* ]] ||
    { echo "SKIP: they do not run here"; cat errors; exit 77; }
