#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The site's program (MPIR_CVAR_FAULTLOC_ACTION=exec:/PROGRAM) in real jobs of two nodes in name: it is run once
# per verdict, with the report and the facts, and has ended before the job is ended; one that hangs is
# killed; one that is not there, or is named wrongly, is said once, and the verdict comes all the same.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
limit=60
faultloc=${FAULTLOC_PROGRAM:?names the program faultloc}
export MPIR_CVAR_FAULTLOC_PATIENCE_MS=0 FAULTLOC_TEST_PIDFILE=$work/pids SECRET=of-the-job
"$here/build.sh" --mpi "$mpi" --out "$bin" ending alltoall
mkdir "$work/pids"
site=$work/site
name='export MPIR_CVAR_FAULTLOC_NODE_NAME=n$((PMI_RANK > 0)); exec "$@"'

make_site() { { printf '#!/bin/sh\ncd %s\n' "$work"; cat; } >"$site"; chmod 755 "$site"; }
says() { grep -qE "^\[faultloc\] *$1" "$work/on.err" || bad "no line '$1': $(cat "$work/on.err")"; }
times() { # N TEXT: so many lines
    [ "$(grep -cE "$2" "$work/on.err" || :)" = "$1" ] || bad "not $1 times '$2': $(cat "$work/on.err")"
}
has_ended() { ! grep -q '^State:[^Z]*$' "/proc/$1/status" 2>/dev/null; } # or nobody has noticed yet
is() { grep -qx "$2" "$work/$1" || bad "no '$2' in $1: $(cat "$work/$1")"; }

# aborted ACTION: a job whose rank 1 stops, and which is ended because of that
aborted() {
    MPIR_CVAR_FAULTLOC_ACTION=$1 outcome on 1 -n 3 bash -c "$name" bash "$bin/ending"
    is on 'exit code 1'
    says 'process-stopped: rank 1 '
    says 'FaultLoc ended the job because of its verdict process-stopped \(action abort\)'
}

# --- what it gets; the job's end waits for it ---------------------------------------------------

make_site <<'END'
cat >in
env >env
ls /proc/self/fd | tr '\n' ' ' >fds
echo "the site knows of $FAULTLOC_CLASS"
sleep 3
echo whole >>end
END
now=$(date +%s)
SLURM_JOB_START_TIME=$((now - 600)) SLURM_JOB_END_TIME=$((now + 3000)) aborted "abort,exec:$site"
is end whole
says 'site: the site knows of process-stopped$'
says 'action abort: 4[0-9] min of 60 min walltime were left$'
"$faultloc" report "$work/in" >"$work/text" || bad "its input is no report: $(cat "$work/in")"
grep -q 'process-stopped: rank 1 ' "$work/text" || bad "the verdict is not in its input: $(cat "$work/text")"
grep -q 'action abort: 4[0-9] min of 60 min walltime were left' "$work/text" || bad "$(cat "$work/text")"
for fact in CLASS=process-stopped ORIGIN=software KIND=rank HOST=n1 RANKS=1 ACTION=abort \
    "REPORT=$work/report.json"; do
    is env "FAULTLOC_$fact"
done
"$faultloc" check "$work/report.json" || bad "the report is not of its schema"
id=$(sed -n 's/.*"id": "\([^"]*\)".*/\1/p' "$work/report.json" | head -n 1)
is env "FAULTLOC_JOB=$id"
! grep -E 'SECRET|PMI' "$work/env" || bad "it has variables of the job"
[ "$(cat "$work/fds")" = "0 1 2 3 " ] || bad "it has other descriptors: $(cat "$work/fds")" # 3 is that of ls
echo "ok: it has report and facts, and ends before the job does"

# --- those that do not do what they should ------------------------------------------------------

make_site <<'END'
sleep 1000 &
echo $! >pid
echo begun
wait
END
aborted "exec:$site,abort"
says 'site: begun$'
says "node n0: exec $site was killed, with its process group: it had not ended after 10 s\$"
await "the end of what it started" has_ended "$(cat "$work/pid")"
echo "ok: one that hangs is killed with what it has started"

aborted "abort,exec:$work/none"
says "MPIR_CVAR_FAULTLOC_ACTION=abort,exec:$work/none: \"$work/none\" cannot be executed: No such file or directory; it is ignored\$"
times 1 "$work/none"
echo "ok: one that is not there"

echo 'neither a script nor a program' >"$site"
aborted "abort,exec:$site"
says "node n0: exec $site cannot be run: it is not a program, or it ended with code 127; see exec in MPIR_CVAR_FAULTLOC_ACTION\$"
times 1 "exec $site"
echo "ok: one that is no program"

aborted 'exec:drain,abort'
says 'MPIR_CVAR_FAULTLOC_ACTION=exec:drain,abort: "exec:drain" needs the absolute path of a program, as in exec:/usr/local/sbin/PROGRAM; it is ignored$'
times 1 drain
echo "ok: one that is named without its path"

# --- a verdict that is withdrawn -----------------------------------------------------------------

make_site <<'END'
echo "$FAULTLOC_ACTION $FAULTLOC_TEXT" >>runs
END
rm -f "$work"/pids/*
report='' MPIR_CVAR_FAULTLOC_ACTION=exec:$site \
    begin -n 2 bash -c "$name" bash "$bin/alltoall" --seconds 3600
await "rank 1 in its loop" test -s "$work/pids/looping"
read -r _ pid <"$work/pids/rank.1"
kill -STOP "$pid"
await "the program" test -s "$work/runs"
kill -CONT "$pid"
await "the end of the verdict" grep -q 'withdrawn: process-stopped of rank 1' "$work/err"
kill -INT "$job"
end_job
[ "$(sed 's/(pid [0-9]* on/(pid P on/' "$work/runs")" = "report rank 1 (pid P on node n1) is stopped" ] ||
    bad "the program was not run once: $(cat "$work/runs")"
echo "ok: once per verdict, and not when it is withdrawn"
