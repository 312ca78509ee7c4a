#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# What make bench measures with, quickly: each program of test/bench once, over shared memory; the
# kernels, class S of 4 ranks, verify their results, which are the same for any number of ranks, and
# find a wrong one; the JSON fits its schema. Stock MPICH is the same MPICH here.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
top=$(cd "$here/../.." && pwd)

# bench PARTS OPTION...: its exit code is in $code.
bench() {
    code=0
    "$top/test/bench/bench.sh" --mpi "$mpi" --stock "$mpi" --work "$work/bench" --rounds 1 \
        --transports shm --parts "$@" >"$work/text" 2>"$work/said" || code=$?
    "${top_builddir:?}/test/lib/fits_schema" "$top/doc/faultloc-bench.schema.json" \
        "$work/bench/bench.json" || bad "$1: the JSON does not fit its schema: $(cat "$work/said")"
}
has() { jq -e "$1" "$work/bench/bench.json" >/dev/null || bad "not so: $1: $(cat "$work/text")"; }
left_out() { jq -r '.left_out[] | "left out: \(.why)"' "$work/bench/bench.json"; }

bench messages,collectives,kernels
[ $code = 0 ] || [ $code = 77 ] || bad "exit code $code: $(cat "$work/said" "$work/text")"
has '.pairs | map(.name) - ["ft"] | sort == ["allreduce-8", "alltoall-8", "is", "latency-0",
    "latency-8", "rate-0", "rate-8"]'
has '.pairs | all(.stock.seconds.min > 0 and .off.ratio.min > 0 and .on.ratio.min > 0)'
echo "ok: one round: $(jq '.pairs | length' "$work/bench/bench.json") measurements"
left_out

kernels=is
[ ! -x "$work/bench/bin-faultloc/ft" ] || kernels+=' ft'
for kernel in $kernels; do
    for ranks in 1 4; do
        outcome $ranks 1 -n $ranks "$work/bench/bin-faultloc/$kernel" --class S
        grep -qx "$kernel class S, $ranks ranks: verified, checksum [-0-9a-f. ]*" "$work/$ranks" ||
            bad "$kernel: $(cat "$work/$ranks" "$work/$ranks.err")"
        sed -n 's/.*checksum //p' "$work/$ranks" >"$work/checksum.$ranks"
    done
    cmp "$work/checksum.1" "$work/checksum.4" || bad "$kernel: another result of 4 ranks"
    outcome spoilt 1 -n 4 "$work/bench/bin-faultloc/$kernel" --class S --spoil 1
    { grep -qx 'exit code 1' "$work/spoilt" && grep -q 'the result is wrong' "$work/spoilt.err"; } ||
        bad "$kernel does not find a wrong result: $(cat "$work/spoilt")"
    echo "ok: $kernel, $(cat "$work/checksum.4")"
done

# Bounds may be broken on a machine that is busy; nothing is asserted of a time.
bench overhead --seconds 1 --hosts 2 --ppn 2
[ -n "$(left_out)" ] || has '.overhead | .hosts == 2 and .ranks_per_host == 2 and
    (.rows | length == 6 and all(.values[0] != null)) and .rows[2].values == [0]'
left_out
echo "ok: agents and deputies observed"
