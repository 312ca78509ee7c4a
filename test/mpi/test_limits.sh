#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Where a node's agent cannot be started the job runs on without FaultLoc, which says why, once for
# all nodes: too few processes, too few descriptors, a program that is missing, of another build,
# not executable or on a file system mounted noexec; a rank that is the first process of its
# container. Ranks in PID namespaces with an init process of their own have FaultLoc.
# Exit code: 0 passed, 1 failed; what wants root is left out without it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
limit=60

"$here/build.sh" --mpi "$mpi" --out "$bin" alltoall
is_root=$([ "$(id -u)" != 0 ] || echo 1)

# run SCRIPT: on four nodes in name; $@ is the program. Sets SAID, of FaultLoc's lines the number.
run() {
    # shellcheck disable=SC2016
    outcome_once on 1 -n 4 bash -c 'export MPIR_CVAR_FAULTLOC_NODE_NAME=n$PMI_RANK; eval "$0"' \
        "$1" "$bin/alltoall" --iterations 50
    SAID=$(grep -cF '[faultloc]' "$work/on.err" || :)
}
ended_well() { grep -qx 'exit code 0' "$work/on"; }

# disabled WHAT WHY SCRIPT
disabled() {
    run "$3"
    { ended_well && [ "$SAID" = 2 ] && grep -q "^\[faultloc\] disabled; " "$work/on.err" &&
        grep -qE "^\[faultloc\] .*$2" "$work/on.err"; } ||
        bad "$1: $(cat "$work/on" "$work/on.err")"
    echo "ok: $1"
}
# unnoticed WHAT SCRIPT
unnoticed() {
    run "$2"
    ended_well && [ "$SAID" = 0 ] || bad "$1: $(cat "$work/on" "$work/on.err")"
    echo "ok: $1"
}

# --- descriptors: from where MPI itself starts to where nothing is missing ----------------------

seen=0
for ((n = 24; n < 48; n++)); do
    run "ulimit -n $n; exec \"\$@\""
    if ended_well && [ "$SAID" != 0 ]; then
        seen=$((seen + 1))
        [ "$SAID" = 2 ] || bad "$n descriptors: $(cat "$work/on.err")"
    elif ended_well; then
        break
    fi
done
ended_well || bad "$n descriptors: $(cat "$work/on.err")"
echo "ok: too few descriptors, of $seen numbers up to $n"

# --- a program that cannot be started: a copy of what is installed ------------------------------

mkdir "$work/copy" "$work/copy/libexec"
cp -R "$mpi/lib" "$work/copy/"
export LD_LIBRARY_PATH=$work/copy/lib
there() { # MODE TEXT
    rm -f "$work/copy/libexec/faultloc-agent"
    printf '%b' "$2" >"$work/copy/libexec/faultloc-agent"
    chmod "$1" "$work/copy/libexec/faultloc-agent"
}
there 600 ''
disabled "not executable" "copy/lib/../libexec/faultloc-agent: Permission denied" 'exec "$@"'
there 700 'no program'
disabled "no program" "Exec format error" 'exec "$@"'
there 700 '#!/bin/sh\nexit 0\n'
disabled "it ends" "it ended at once" 'exec "$@"'
there 700 '#!/bin/sh\necho hello >&3\nsleep 0.2\n'
disabled "another build" "it is of another build" 'exec "$@"'
if [ "$is_root" ] && mount -t tmpfs -o noexec,mode=755 faultloc "$work/copy/libexec" 2>/dev/null; then
    trap 'umount "$work/copy/libexec"; rm -rf "$work"' EXIT
    cp "$mpi/libexec/faultloc-agent" "$work/copy/libexec/"
    disabled "mounted noexec" "copy/lib/../libexec/faultloc-agent: Permission denied" 'exec "$@"'
    umount "$work/copy/libexec"
    trap 'rm -rf "$work"' EXIT
fi
cp -f "$mpi/libexec/faultloc-agent" "$work/copy/libexec/faultloc-agent"
unnoticed "an installation that was moved" 'exec "$@"'

# --- containers --------------------------------------------------------------------------------

if unshare --fork --pid --mount-proc true 2>/dev/null; then
    own='unshare --fork --pid --mount-proc --kill-child'
    disabled "a rank is the first process of its PID namespace" "it would be a child of this rank" \
        "exec $own \"\$@\""
    unnoticed "a PID namespace for each rank" "exec $own sh -c '\"\$@\"; exit \$?' sh \"\$@\""
    run "exec $own --mount sh -c 'mount -o remount,bind,ro / || exit 1; \"\$@\"; exit \$?' sh \"\$@\""
    ended_well && ! grep -F '[faultloc]' "$work/on.err" | grep -v 'symptoms of other middleware' ||
        bad "read-only: $(cat "$work/on" "$work/on.err")"
    echo "ok: the same, read-only"
fi

# --- processes: of another user, for root has no limit ------------------------------------------

if [ "$is_root" ]; then
    chmod 755 "$work"
    user=$((60000 + RANDOM % 5000)) # of whom there is no process
    seen=0
    for ((n = 12; n < 80; n += 6)); do
        run "ulimit -u $n; cd /; HOME=/ exec setpriv --reuid $user --regid $user --clear-groups \"\$@\""
        ! ended_well || [ "$SAID" = 0 ] || seen=$((seen + 1))
        ! grep -F '[faultloc]' "$work/on.err" | sed 's/\[faultloc\] node n[0-9]/[faultloc]/' |
            sort -u | grep -vE 'disabled;|cannot start its agent|no deputy|was the first|ended' ||
            bad "$n processes: $(cat "$work/on.err")"
        ! ended_well || [ "$SAID" != 0 ] || break
    done
    ended_well && [ $seen -gt 0 ] || bad "$n processes, $seen times: $(cat "$work/on.err")"
    echo "ok: too few processes, of $seen numbers up to $n"
fi
