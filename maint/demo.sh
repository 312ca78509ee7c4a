#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOF
Usage: maint/demo.sh [OPTION]...

Shows what FaultLoc does, from nothing: on a fresh Debian machine, as root, it installs the
packages, gets MPICH, builds it with FaultLoc (lean profile, about 5 minutes on two cores), makes a
cluster of four hosts on this machine (network namespaces), runs an MPI program on them, and
switches one host off. It does so twice: with FaultLoc off the job hangs and prints nothing; with
FaultLoc on the report appears. The commands are shown, and can be repeated by hand. At the end it
removes everything that it made, except the build.

Without root or namespaces the four hosts are four nodes in name only, one process each, and one
process is stopped instead.

  --mpi PREFIX      use the MPI that is installed there, build nothing
  --build DIR       where to build (default: ./build); an existing build is used as it is
  --seconds-off N   how long to wait in the run with FaultLoc off (default: 20)
  --local           do not use namespaces, even if they are available
  --help            this text

Exit code: 0 the report names the right host (without namespaces: the right process), 1 it does not
or something failed, 2 wrong arguments.
EOF
}

# --- getting an MPI ---------------------------------------------------------------------------

step() { printf '\n[faultloc] === demo.sh %d/5: %s\n' "$1" "$2" >&2; }

progress() { "$top_srcdir/maint/progress.sh" "$@"; }

build_mpi() {
    local build=$1 prefix=$1/inst
    if [ -x "$prefix/bin/mpiexec" ]; then
        say "using the build that is installed in $prefix"
        return
    fi
    mkdir -p "$build"
    if [ ! -x "$top_srcdir/configure" ]; then
        progress --title "autogen.sh" --log "$build/autogen.log" -- "$top_srcdir/autogen.sh"
    fi
    if [ ! -f "$build/Makefile" ]; then
        progress --title "configuring in $build" --log "$build/configure.log" -- \
            bash -c 'cd "$1" && exec "$2" --prefix="$3" --enable-lean' - \
            "$build" "$top_srcdir/configure" "$prefix"
    fi
    make -C "$build" -j"$(nproc)"
    make -C "$build" install
}

# --- showing commands -------------------------------------------------------------------------

if [ -t 1 ]; then bold=$'\e[1m' plain=$'\e[0m'; else bold='' plain=''; fi

# show COMMAND...: prints it as one would type it, and runs it.
show() {
    printf '%s$ %s%s\n' "$bold" "$(typed "$@")" "$plain"
    "$@"
}
typed() {
    local text
    text=$(printf '%q ' "$@")
    text=${text//"$top_srcdir/"/}
    echo "${text% }"
}

# start COMMAND...: in the background; what it says is shown as it comes, and kept in $log.
start() {
    printf '%s$ %s &%s\n' "$bold" "$(typed "$@")" "$plain"
    : >"$log"
    "$@" > >(tee -a "$log") 2>&1 </dev/null &
    job=$!
}

# await SECONDS TEXT: until the job has said it.
await() {
    local end=$((SECONDS + $1))
    until grep -qE "$2" "$log"; do
        if ! kill -0 "$job" 2>/dev/null; then
            grep -qE "$2" "$log" || die "the job ended early; its output is above"
            return 0
        fi
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

end_job() {
    [ -n "$job" ] || return 0
    kill -TERM "$job" 2>/dev/null || :
    wait "$job" 2>/dev/null || :
    job=
}

clean_up() {
    local code=$?
    trap - EXIT
    end_job >/dev/null 2>&1
    [ -z "$made" ] || "$cluster" down --name "$name" --quiet 2>/dev/null || :
    rm -f "$log"
    exit $code
}

# --- the two acts -----------------------------------------------------------------------------

make_hosts() {
    [ -z "$local_mode" ] || return 0
    show "$cluster" up --hosts 4 --name "$name"
    made=1
}

remove_hosts() {
    [ -n "$made" ] || return 0
    show "$cluster" down --name "$name"
    made=
}

run_job() {
    if [ -n "$local_mode" ]; then
        start "$cluster" run --local --hosts 4 --quiet --mpi "$mpi" "$@" -- alltoall --seconds 3600
    else
        start "$cluster" run --name "$name" --quiet --mpi "$mpi" "$@" -- alltoall --seconds 3600
    fi
    # not at the beginning of a line: hydra may mix the lines of several ranks
    await 120 'looping' || die "the job did not reach its loop within 120 s"
}

# Rank 2 is on h3 in both modes.
inject() {
    if [ -n "$local_mode" ]; then
        victim_pid=$(grep -oE 'rank 2 host h3 pid [0-9]+' "$log" | grep -oE '[0-9]+$')
        show kill -STOP "$victim_pid"
    else
        show "$cluster" fault power-off h3 --name "$name"
    fi
}

act_off() {
    local i before
    make_hosts
    run_job
    inject
    before=$(wc -l <"$log")
    for ((i = 1; i <= seconds_off; i++)); do
        sleep 1
        [ $((i % 5)) -ne 0 ] && [ $i -ne "$seconds_off" ] ||
            say "$i s after the fault: the job hangs, mpiexec has printed" \
                "$(($(wc -l <"$log") - before)) lines"
    done
    say "the hang would continue; ending the job"
    end_job
    remove_hosts
}

act_on() {
    local begin
    make_hosts
    run_job --faultloc --env "MPIR_CVAR_FAULTLOC_REPORT=$report"
    inject
    begin=$EPOCHREALTIME
    await 60 '^\[faultloc\]   full report' || { say "no report within 60 s"; return 0; }
    say "the report came after" \
        "$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }') s"
    end_job
    remove_hosts
}

judge() {
    local filter='.verdicts[] | select(.class == "node-outage" and .component.name == "h3")' what
    what="that h3 is down"
    if [ -n "$local_mode" ]; then
        filter=".verdicts[] | select(.class == \"process-stopped\" and .component.ranks == [2])"
        what="that rank 2, pid $victim_pid, is stopped"
    fi
    [ -s "$report" ] || die "FaultLoc wrote no report to $report"
    [ "$(jq '.verdicts | length' "$report")" = 1 ] && jq -e "$filter" "$report" >/dev/null ||
        die "the report ($report) does not say $what: $(jq -c '[.verdicts[]|
            [.class, .component.name]]' "$report")"
    say "the report says $what; it is in $report"
}

mpi='' build=$PWD/build seconds_off=20 local_mode=''
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --local) local_mode=1 ;;
        --mpi | --build | --seconds-off)
            [ $# -ge 2 ] || usage_error "$1 needs a value"
            case $1 in
                --mpi) mpi=$2 ;;
                --build) build=$(realpath -m "$2") ;;
                --seconds-off) seconds_off=$2 ;;
            esac
            shift ;;
        *) usage_error "unknown argument $1" ;;
    esac
    shift
done
[[ $seconds_off =~ ^[0-9]+$ ]] || usage_error "--seconds-off must be a whole number, not $seconds_off"
# Nothing from a surrounding make or job decides how this is built, or whether faultloc is on.
unset MAKEFLAGS MFLAGS MAKELEVEL "${!MPIR_CVAR_@}" 2>/dev/null || :

cluster=$top_srcdir/test/cluster/cluster name=demo job='' made='' victim_pid=''
report=$PWD/faultloc-demo.json log=$(mktemp)
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM

step 1 "packages"
if [ -z "$mpi" ]; then "$top_srcdir/maint/packages.sh" --install; else need_programs jq; fi
step 2 "MPICH with FaultLoc"
if [ -z "$mpi" ]; then
    build_mpi "$build"
    mpi=$build/inst
fi
[ -x "$mpi/bin/mpiexec" ] || die "no $mpi/bin/mpiexec; give the prefix of an MPI with FaultLoc (--mpi PREFIX)"
say "using $mpi"
rm -f "$report"

step 3 "can this machine have hosts of its own?"
if [ -n "$local_mode" ] || ! "$cluster" check; then
    local_mode=1
    say "no hosts: four nodes in name only on this machine; a process is stopped, no host is lost"
fi
step 4 "with FaultLoc off: h3 is lost, and nobody says so"
act_off
step 5 "with FaultLoc on: h3 is lost"
act_on
judge
