#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Rooms and floors: nothing in the sources and objects of this build runs upwards or in a circle,
# and maint/check-layers.sh finds an upward include, an upward call and a circle that the test adds.
# Environment: top_srcdir, top_builddir; CC or cc, as the configured build has it.
# Exit code: 0 passed, 1 failed.
# needs no MPI
set -euo pipefail

case ${1:-} in --help) sed -n '/^# Rooms/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
command=("${top_srcdir:?}/maint/check-layers.sh")
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"

build=${top_builddir:?}
house=$work/source/src/house
unset top_builddir

# put FILE LINE...: a source of the house, and its object.
put() {
    local file=$1
    shift
    mkdir -p "$(dirname "$house/$file")" "$(dirname "$work/build/src/house/$file")"
    printf '%s\n' "$@" >"$house/$file"
    case $file in
        *.c) ${CC:-cc} -c "$house/$file" -I"$work/source/src" \
            -o "$work/build/src/house/${file%.c}.o" ;;
    esac
}

# house CODE TEXT: what is said of it.
house() {
    expect "$1" "$2" --source "$work/source" --build "$work/build" src/house
}

mkdir -p "$house"
printf '%s\n' 'public house.h' '0 cellar' '1 hall kitchen # on one floor' '2 .' >"$house/floors"
put house.h 'void house_open(void);'
put cellar/wine.h 'void cellar_wine(void);'
put hall/door.h 'void hall_door(void);'
put cellar/wine.c '#include "house/cellar/wine.h"' '#include "house/house.h"' \
    'void cellar_wine(void) { }'
put hall/door.c '#include "house/hall/door.h"' '#include "house/cellar/wine.h"' \
    'void hall_door(void) { cellar_wine(); }'
put house.c '#include "house/hall/door.h"' 'void house_open(void) { hall_door(); }'
house 0 '2 calls between files'

put cellar/rack.c '#include "house/hall/door.h"' 'int cellar_rack;'
house 1 'src/house/cellar/rack.c:1: includes hall/door.h of hall/ (floor 1)'
put cellar/rack.c 'void hall_door(void);' 'void cellar_rack(void) { hall_door(); }'
house 1 'src/house/cellar/rack.c:1: calls hall_door of hall/door.c in hall/ (floor 1)'
grep -q 'Emit an event' "$work/out" || bad "no remedy is named"
put cellar/rack.c 'int cellar_rack;'

put kitchen/stove.c 'void hall_door(void);' 'void kitchen_stove(void) { hall_door(); }'
house 1 'src/house/kitchen/stove.c:1: calls hall_door'
put kitchen/stove.c 'int kitchen_stove;'

put cellar/rack.c 'void cellar_wine(void);' 'void cellar_rack(void) { cellar_wine(); }'
put cellar/wine.c 'void cellar_rack(void);' 'void cellar_wine(void) { cellar_rack(); }'
house 1 'in a circle: cellar/rack cellar/wine'

put attic/trunk.h ''
put attic/trunk.c '#include "house/attic/trunk.h"'
house 1 'the room attic is not in src/house/floors'

expect 2 'needs a folder' --build "$work/none"
expect 2 'has no file floors' src
expect 0 'calls between files' --build "$build"
for root in src/mpid/ch4/faultloc src/util/ftree; do
    grep -q "$root: [1-9][0-9]* calls" "$work/err" "$work/out" || bad "no calls found in $root"
done
if [ $failed -ne 0 ]; then sed 's/^/    /' "$work/out"; fi

[ $failed -eq 0 ] || exit 1
echo "all passed"
