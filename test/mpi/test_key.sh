#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The key of a job is known to its agents alone.  It is read from an agent, as root can, and looked
# for in the memory of ranks, proxies and mpiexec (with all that they share), in their environments
# and arguments, in what mpiexec -verbose and HYDRA_DEBUG=1 print, in the files of the job, and in
# the core file of a rank.  The process manager's key-value store has no entry more than without
# FaultLoc, so a stranger at mpiexec's port can get none.  An agent leaves no core file.
# Exit code: 0 passed, 1 failed, 77 no root, or no symbols in the agent's program.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
export LC_ALL=C

[ "$(id -u)" = 0 ] || { echo "SKIP: only root may read the memory of an agent"; exit 77; }
"$here/build.sh" --mpi "$mpi" --out "$bin" anysource
mkdir -m 700 "$work/run" "$work/cwd" "$work/pids"
export XDG_RUNTIME_DIR=$work/run # what agents keep of the environment
apart='export MPIR_CVAR_FAULTLOC_NODE_NAME=n$((PMI_RANK / 2)); exec "$@"'

# --- what the process manager is told ----------------------------------------------------------

stored() { # VALUE of MPIR_CVAR_FAULTLOC: the names in the key-value store
    HYDRA_DEBUG=1 MPIR_CVAR_FAULTLOC=$1 timeout 60 "$mpi/bin/mpiexec" -verbose -n 4 bash -c "$apart" \
        bash "$bin/anysource" --seconds 0 </dev/null 2>&1 | tee "$work/verbose.$1" |
        grep -aoE '(key=|put )[^ =]+' | sed -E 's/^(key=|put )//' | sort -u
}
# from 4.2 on PMI ends at exit(), and a rank tells mpiexec that it is through with MPI
diff <(stored 0) <(stored 1 | grep -vx faultloc-outside) ||
    bad "the process manager is told something of FaultLoc's"
! grep -aiE 'cmd=put.*(faultloc|secret)' "$work/verbose.1" |
    grep -av 'key=faultloc-outside value=1' || bad "it may be secret"
echo "ok: FaultLoc puts nothing else into the key-value store"

# --- the key -----------------------------------------------------------------------------------

pids() { # NAME: of this job
    local file
    for file in $(grep -lzsxF "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" /proc/[0-9]*/environ); do
        file=${file%/environ} file=${file#/proc/}
        [ "$(cat "/proc/$file/comm" 2>/dev/null)" != "$1" ] || echo "$file"
    done
}
program=$mpi/libexec/faultloc-agent
[ -x "$program" ] || bad "no $program"
offset=$(nm "$program" 2>/dev/null | awk '$3 ~ /^program(\.|$)/ { print $1 }')
[ -n "$offset" ] || { echo "SKIP: no symbols in $program to find the key by"; exit 77; }

# key_of AGENT: behind a pointer and a descriptor of struct faultloc_program
key_of() {
    local base
    base=$(grep -m 1 -F "$(readlink "/proc/$1/exe")" "/proc/$1/maps")
    dd if="/proc/$1/mem" iflag=skip_bytes,count_bytes bs=32 count=32 status=none \
        skip=$((0x${base%%-*} + 0x$offset + 12)) | od -An -v -tx1 | tr -d ' \n'
}

start_job() {
    (
        ulimit -c unlimited
        cd "$work/cwd"
        export MPIR_CVAR_FAULTLOC=1 MPIR_CVAR_FAULTLOC_REPORT=report.json \
            MPIR_CVAR_FAULTLOC_TRACE=trace HYDRA_DEBUG=1 FAULTLOC_TEST_PIDFILE=$work/pids
        exec "$mpi/bin/mpiexec" -verbose -n 4 bash -c "$apart" bash "$bin/anysource" --seconds 3600
    ) </dev/null >"$work/out" 2>&1 &
    job=$!
    trap 'kill -KILL $job 2>/dev/null; rm -rf "$work"' EXIT
    # ranks have the key until the end of MPI_Init
    until [ "$(pids faultloc-deputy | wc -l)" = 2 ] && [ -e "$work/pids/looping" ]; do
        kill -0 $job || bad "the job has ended: $(tail -n 20 "$work/out")"
        sleep 0.1
    done
    # shellcheck disable=SC2046
    set -- $(pids faultloc-agent)
    key=$(key_of "$1")
    [ ${#key} = 64 ] && [ "$key" = "$(key_of "$2")" ] && [ "${key//0/}" ] ||
        bad "there is no key where it was looked for"
}
start_job

# grep reads lines: the longest piece of the key without the end of one.
piece=$(sed -E 's/(..)/\1 /g' <<<"$key" | sed 's/0a /\n/g' | tr -d ' ' |
    awk 'length > length(best) { best = $0 } END { print best }')
pattern=$(sed -E 's/(..)/\\x\1/g' <<<"$piece")
none() { # WHAT FILE: as bytes, in hexadecimal digits
    ! grep -qaP "$pattern" "$2" && ! grep -qaiF "$key" "$2" || bad "the key is in $1"
}

memory() { # PID: all that it can read
    local range from to rights rest
    while read -r range rights rest; do
        [[ $rights == r* && $rest != *'[v'* ]] || continue
        from=$((0x${range%-*})) to=$((0x${range#*-}))
        [ $((to - from)) -le $((256 << 20)) ] || continue
        dd if="/proc/$1/mem" iflag=skip_bytes,count_bytes bs=1M skip=$from count=$((to - from)) \
            status=none 2>/dev/null || :
    done <"/proc/$1/maps"
}
# shellcheck disable=SC2046
set -- $(pids faultloc-agent)
memory "$1" >"$work/memory"
grep -qaP "$pattern" "$work/memory" || bad "the key is not found where it is"
for name in mpiexec hydra_pmi_proxy anysource; do
    for pid in $(pids $name); do
        memory "$pid" >"$work/memory"
        none "the memory of $name" "$work/memory"
    done
done
echo "ok: it is in the memory of agents, and not of ranks, proxies and mpiexec"

for pid in $(pids mpiexec) $(pids hydra_pmi_proxy) $(pids anysource) $(pids faultloc-agent) \
    $(pids faultloc-deputy); do
    none "an environment" "/proc/$pid/environ"
    none "arguments" "/proc/$pid/cmdline"
done
echo "ok: it is in no environment and no arguments"

# --- core files --------------------------------------------------------------------------------

read -r rank < <(pids anysource)
read -r agent < <(pids faultloc-agent)
kill -SEGV "$agent"
while kill -0 "$agent" 2>/dev/null && [ "$(cut -d' ' -f3 "/proc/$agent/stat")" != Z ]; do sleep 0.1; done
kill -ABRT "$rank"
wait $job || :
trap 'rm -rf "$work"' EXIT
while IFS= read -r -d '' file; do
    none "the file $file" "$file"
done < <(find "$work/cwd" "$work/run" -type f -print0)
none "what is printed" "$work/out"
! find "$work/cwd" / -maxdepth 1 -newer "$work/verbose.1" -name 'core*' -exec file {} + 2>/dev/null |
    grep faultloc-agent || bad "an agent has left a core file"
case $(cat /proc/sys/kernel/core_pattern) in
    */* | '|'*) echo "ok: it is in no file, and not printed (core files are not written into the folder)" ;;
    *)
        compgen -G "$work/cwd/core*" >/dev/null || bad "the rank has left no core file"
        echo "ok: it is in no file, a rank's core file among them, and not printed" ;;
esac
