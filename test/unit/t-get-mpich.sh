#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# maint/get-mpich.sh where nobody says which release: the newest supported one that can be had, from
# the cache, Debian or the release site, which are stand-ins here; and what is said if there is none.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{maint,site,bin,t/maint}
cp "${top_srcdir:?}"/maint/{common.sh,get-mpich.sh} "$work/maint"
for release in 1.0 2.0 10.0 11.0; do
    echo "m4_define([MPICH_VERSION_m4],[$release])dnl" >"$work/t/maint/version.m4"
    tar -czf "$work/site/mpich-$release.tar.gz" -C "$work" t
    state=supported
    [ $release != 11.0 ] || state=tried
    sum=$(sha256sum <"$work/site/mpich-$release.tar.gz" | cut -d' ' -f1)
    echo "$release $state mpich-$release.tar.gz $sum"
done >"$work/maint/bases"
# curl ... -o FILE URL
cat >"$work/bin/curl" <<'END'
#!/bin/sh
for url; do [ "$last" != -o ] || file=$url; last=$url; done
echo "${url##*/}" >>"$ASKED"
cp "$SITE/${url##*/}" "$file"
END
printf '#!/bin/sh\nexit 100\n' >"$work/bin/apt-get"
chmod +x "$work"/bin/*
export ASKED=$work/asked SITE=$work/site PATH=$work/bin:$PATH

# expect CODE RELEASE TEXT ARGUMENT...: what is got, "none", and what is said.
expect() {
    local code=0 out got
    rm -rf "$work/dest"
    out=$("$work/maint/get-mpich.sh" --cache "$work/cache" "${@:4}" "$work/dest" 2>&1) || code=$?
    got=$(sed -n 's/.*_m4\],\[\(.*\)\]).*/\1/p' "$work/dest/maint/version.m4" 2>/dev/null || echo none)
    if [ $code != "$1" ] || [ "$got" != "$2" ] || ! grep -q "$3" <<<"$out"; then
        echo "FAILED: exit code $code, release $got, not $1, $2; or no '$3': $out"
        exit 1
    fi
    echo "ok: $2: $3"
}
expect 0 10.0 'MPICH 10.0, the newest'
mv "$work/site/mpich-10.0.tar.gz" "$work/gone"
expect 0 10.0 'MPICH 10.0, the newest' # by the cache
rm -r "$work/cache"
expect 0 2.0 'MPICH 2.0, the newest'
expect 0 1.0 'fetching.*mpich-1.0' --release 1.0
expect 0 11.0 'fetching.*mpich-11.0' --release 11.0
expect 2 none 'one of 1.0 2.0 10.0 11.0' --release 3.0
echo damaged >"$work/cache/mpich-2.0.tar.gz"
expect 0 2.0 'is ignored'
rm -r "$work/cache" "$work/site"
expect 1 none 'no tarball of MPICH 10.0, 2.0, 1.0 found'
[ "$(tail -n 3 "$ASKED" | tr '\n' ' ')" = 'mpich-10.0.tar.gz mpich-2.0.tar.gz mpich-1.0.tar.gz ' ]
