#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Where ranks are in their code, asked while the job runs: function and line of one rank, and of all,
# merged; of two nodes in name, and of a program whose file is there no more, as if it had been built
# anew.  The job goes on as if nobody had asked.  And a deadlock has the place of each of its ranks, though
# nobody asks; of a Python script (where there is python3) the command that shows its line.
# Exit code: 0 passed, 1 failed, 77 faultloc-handler was built without libdw.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

handler=$mpi/libexec/faultloc-handler
faultloc=${FAULTLOC_PROGRAM:?names the program faultloc}
[ -x "$handler" ] || { echo "SKIP: no $handler"; exit 77; }
"$handler" --version | grep -q 'with stacks' || { echo "SKIP: $("$handler" --version)"; exit 77; }
"$here/build.sh" --mpi "$mpi" --out "$bin" stacks
cp "$bin/stacks" "$work/stacks"
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR=$work/run

line() { grep -n "/\* line of $1 \*/" "$here/stacks.c" | cut -d: -f1; }

begin -n 4 "${two_a_node[@]}" "$work/stacks" "$work/go"
runs_on() { # NODE: and $id is the job's
    id=$(find "$work/run" -name "*@$1.sock" -printf '%f\n' 2>/dev/null | sed 's/@.*//')
    [ -n "$id" ]
}
await "a job" runs_on n0
rm "$work/stacks"

# has WHAT TEXT: in the last answer; the ranks may still be in MPI_Init, so it is asked again.
has() { grep -qE -- "$2" "$work/answer"; }
asked() { # WHAT TEXT COMMAND...
    local what=$1 text=$2
    shift 2
    for _ in 1 2 3 4 5 6 7 8; do
        "$faultloc" "$@" >"$work/answer" 2>&1 || :
        ! has "$what" "$text" || { echo "ok: $what"; return; }
        sleep 1
    done
    bad "$what: no '$text' in: $(cat "$work/answer")"
}

asked "a rank outside MPI, asked by the other node" \
    "main stacks.c:[0-9]+ > solve stacks.c:[0-9]+ > lost_here stacks.c:$(line lost_here) > " \
    ask rank 2 --job "$id" --node n0
has "its state" "thread [0-9]+ \(stacks\): state [RS].* of CPU time" ||
    bad "its state: $(cat "$work/answer")"
asked "a rank that computes" "solve stacks.c:[0-9]+ > compute" ask rank 1 --job "$id"
asked "a rank that waits" "> exchange stacks.c:[0-9]+ > MPI_Recv$" ask rank 3 --job "$id"
asked "all ranks, merged" "^4 ranks \(0-3\)  main stacks.c:[0-9]+" status "$id" --stacks
has "those that wait" "^  2 ranks \(0, 3\)  solve stacks.c:[0-9]+ > exchange stacks.c:[0-9]+ > MPI_Recv$" ||
    bad "those that wait: $(cat "$work/answer")"
has "the lost one" "^  1 rank \(2\)  solve stacks.c:[0-9]+ > lost_here" ||
    bad "the lost one: $(cat "$work/answer")"

touch "$work/go"
end_job
[ $code = 0 ] && [ "$(cat "$work/out")" = "all have gone on" ] ||
    bad "the job was disturbed: code $code, $(cat "$work/out" "$work/err")"
echo "ok: the job has gone on"

export MPIR_CVAR_FAULTLOC_ACTION=abort
report=$work/deadlock.json begin -n 4 "${two_a_node[@]}" "$bin/stacks" --deadlock
end_job
for rank in 0 1 2; do
    grep -q "rank $rank (n[01]) in MPI_Recv(from $((rank + 1)), tag 7, MPI_COMM_WORLD) at pass_on(), stacks.c:$(line pass_on)$" \
        "$work/err" || bad "rank $rank has no place: $(cat "$work/err")"
done
grep -q "rank 3 (n1) in MPI_Ssend(to 0, tag 8, MPI_COMM_WORLD) at inlined(), stacks.c:$(line inlined)$" "$work/err" ||
    bad "rank 3 has no place: $(cat "$work/err")"
grep -q "\"place\": *\"pass_on(), stacks.c:$(line pass_on)\"" "$work/deadlock.json" ||
    bad "no place is in $(cat "$work/deadlock.json")"
echo "ok: a deadlock, and where"

python3 -c 'import ctypes' 2>/dev/null || { echo "not tested, for there is no python3: scripts"; exit 0; }
cat >"$work/script.py" <<'END'
import ctypes, sys
mpi = ctypes.CDLL(sys.argv[1])
mpi.MPI_Init(None, None)
rank, buf, world, byte = ctypes.c_int(), ctypes.c_char(), 0x44000000, 0x4c00010d
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Recv(ctypes.byref(buf), 1, byte, 1 - rank.value, 7, world, ctypes.c_void_p(1))
END
export MPIR_CVAR_FAULTLOC_PATIENCE_MS=10000 MPIR_CVAR_FAULTLOC_NODE_NAME=py
begin -n 2 python3 "$work/script.py" "$mpi/lib/libmpi.so"
await "a job of scripts" runs_on py
asked "a script's call of MPI" 'Python > MPI_Recv \(py-spy dump --pid [0-9]+ shows the line\)' \
    ask rank 1 --job "$id"
end_job
for rank in 0 1; do
    grep -q "rank $rank (py) in MPI_Recv(from $((1 - rank)), tag 7, MPI_COMM_WORLD) at a line of Python code, which py-spy dump --pid [0-9]* shows on its node$" \
        "$work/err" || bad "rank $rank of a script: $(cat "$work/err")"
done
echo "ok: a deadlock of scripts"
