#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A program that does not exist, a host name that does not resolve, a launcher that fails: hydra's
# messages, an exit code, no waiting, no verdict. (Without FaultLoc hydra waits for ever where a
# launcher fails.)
# Exit code: 0 passed, 1 failed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
for mpi in "${FAULTLOC_MPI:-}" "$PWD/stage" "$top/stage" "$top/build/stage"; do
    [ -z "$mpi" ] || [ ! -x "$mpi/bin/mpiexec" ] || break
done
[ -x "$mpi/bin/mpiexec" ] || { echo "no MPI found: set FAULTLOC_MPI"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

mpiexec=$mpi/bin/mpiexec
# expect NAME CODE TEXT ARGUMENT...: mpiexec ends with that code, and says that.
expect() {
    local name=$1 code=$2 text=$3 got=0
    shift 3
    timeout -k 5 30 "$mpiexec" "$@" </dev/null >"$work/out" 2>&1 || got=$?
    if [ $got != "$code" ] || ! { [ -z "$text" ] || grep -q -e "$text" "$work/out"; } ||
        grep -qE 'process-crash|was the first|node-outage' "$work/out"; then
        echo "FAILED: $name: exit code $got, not $code, or no '$text':"
        sed 's/^/    /' "$work/out"
        bad=1
    else
        echo "ok: $name"
    fi
}

printf '#!/bin/sh\necho "launcher: no route to $*" | cut -c 1-40 >&2\nexit 255\n' >"$work/launcher"
chmod +x "$work/launcher"
fail_launch=(-launcher ssh -launcher-exec "$work/launcher" -hosts "no-such-host.invalid")
expect "no program, -faultloc" 255 'execvp error on file /no/such/program' \
    -faultloc -n 2 /no/such/program
expect "a launcher that fails, -faultloc" 255 'launcher: no route' \
    -faultloc "${fail_launch[@]}" -n 1 true
expect "that says which host" 255 'the launcher for host no-such-host.invalid ended' \
    -faultloc "${fail_launch[@]}" -n 1 true
expect "one of two hosts, -faultloc" 255 'the launcher for host no-such-host.invalid ended' \
    -faultloc "${fail_launch[@]:0:4}" -hosts "localhost,no-such-host.invalid" -n 2 sleep 60
expect "no launcher, -faultloc" 255 'execvp error on file /no/such/launcher' \
    -faultloc -launcher ssh -launcher-exec /no/such/launcher -hosts no-such-host.invalid -n 1 true
expect "a program of another kind" 3 '' -faultloc -n 2 sh -c 'exit 3'
expect "the same without FaultLoc" 3 '' -n 2 sh -c 'exit 3'

# mpiexec takes the proxy of its own host from where it is itself: one that calls after the job has
# been ended.
mkdir "$work/bin"
cp "$mpi/bin/mpiexec" "$work/bin"
cat >"$work/bin/hydra_pmi_proxy" <<END
#!/bin/sh
until grep -q 'the job is ended' "$work/out"; do [ -e "$work/out" ] || exit 1; sleep 0.01; done
exec "$mpi/bin/hydra_pmi_proxy" "\$@"
END
chmod +x "$work/bin/hydra_pmi_proxy"
mpiexec=$work/bin/mpiexec
printf '#!/bin/sh\necho $$ >"%s"\nexec sleep 61\n' "$work/pid" >"$work/program"
chmod +x "$work/program"
expect "a proxy that calls after that" 255 'the launcher for host no-such-host.invalid ended' \
    -faultloc "${fail_launch[@]:0:4}" -hosts "localhost,no-such-host.invalid" -n 2 "$work/program"
[ ! -e "$work/pid" ] || ! kill -KILL "$(cat "$work/pid")" 2>/dev/null ||
    { echo "FAILED: its process is left"; bad=1; }
! pgrep -f "$work/launcher" >/dev/null || { echo "FAILED: a launcher is left"; bad=1; }
exit $bad
