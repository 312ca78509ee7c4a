# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2034,SC2153,SC2154

# What all parts of the cluster tool share: messages, where things are, waiting for events.
# Sourced by test/cluster/cluster; sets no option and starts nothing.

readonly EXIT_FAIL=1 EXIT_USAGE=2 EXIT_SKIP=77

say() { [ -n "${QUIET:-}" ] || echo "cluster: $*" >&2; }
warn() { echo "cluster: $*" >&2; }
fail() { warn "$*"; exit $EXIT_FAIL; }
usage_error() { warn "$*; see cluster --help"; exit $EXIT_USAGE; }
skip() { warn "SKIP: $*"; exit $EXIT_SKIP; }

# Microseconds since the epoch, without a process of its own.
now_us() { local t=$EPOCHREALTIME; echo $((10#${t/[.,]/})); }

# seconds FROM_US TO_US: the difference, three digits.
seconds() {
    local d=$(($2 - $1)) sign=
    [ $d -ge 0 ] || { d=$((-d)); sign=-; }
    printf '%s%d.%03d' "$sign" $((d / 1000000)) $((d % 1000000 / 1000))
}

# wait_until SECONDS COMMAND...: asks the command again and again until it says yes. Returns 1 when
# the time is over first.
wait_until() {
    local end=$(($(now_us) + $1 * 1000000))
    shift
    until "$@"; do
        [ "$(now_us)" -lt $end ] || return 1
        pause_ms 20
    done
}

# A pause without a process: reads from a descriptor on which nothing ever comes.
pause_ms() {
    [ -n "${PAUSE_FD:-}" ] || exec {PAUSE_FD}<> <(:)
    local s
    printf -v s '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
    read -r -t "$s" -u "$PAUSE_FD" || :
}

is_number() { [[ $1 =~ ^[0-9]+$ ]]; }

# running PID: is there such a process, and is it more than a zombie?
running() {
    local stat
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    stat=${stat##*) }
    [ "${stat:0:1}" != Z ]
}
not_running() { ! running "$1"; }

# Ends mpiexec as a person would: hydra hands the first Ctrl-C on to the ranks and waits for all
# proxies, for ever where one is lost or had not begun; at the second it gives up.
end_mpiexec() { # PID
    local sig
    for sig in INT INT KILL; do
        running "$1" || return 0
        kill -$sig "$1" 2>/dev/null || :
        ! wait_until 2 not_running "$1" || return 0
    done
}

# The MPI under test: --mpi, else FAULTLOC_MPI, else a stage or install folder of a build here.
find_mpi() {
    local top dir
    top=$(cd "$CLUSTER_HOME/../.." && pwd)
    for dir in ${MPI:+"$MPI"} ${FAULTLOC_MPI:+"$FAULTLOC_MPI"} \
        "$PWD/stage" "$PWD/inst" "$top/stage" "$top/inst" "$top/build/stage" "$top/build/inst"; do
        if [ -x "$dir/bin/mpiexec" ]; then
            MPI=$(cd "$dir" && pwd)
            return
        fi
        if [ "$dir" = "${MPI:-}" ] || [ "$dir" = "${FAULTLOC_MPI:-}" ]; then
            fail "no $dir/bin/mpiexec: install an MPI there, or name another one by --mpi PREFIX"
        fi
    done
    fail "no MPI found: name one by --mpi PREFIX or FAULTLOC_MPI=PREFIX (PREFIX/bin/mpiexec)"
}

# find_program NAME: the path of a program. A bare name that is a test program (in test/mpi) is
# compiled with the MPI under test; the result is kept, per MPI.
find_program() {
    local name=$1 bin key
    case $name in
        */*) echo "$name"; return ;;
    esac
    if [ ! -f "$CLUSTER_HOME/../mpi/$name.c" ] && [ ! -f "$CLUSTER_HOME/../mpi/$name.F90" ]; then
        command -v "$name" || fail "no program '$name': not in PATH, no test/mpi/$name.c"
        return 0
    fi
    key=$(printf '%s' "$MPI" | cksum)
    bin=${FAULTLOC_TEST_BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/faultloc/test-programs}/${key%% *}
    "$CLUSTER_HOME/../mpi/build.sh" --mpi "$MPI" --out "$bin" "$name" >&2 ||
        fail "cannot build the test program $name"
    echo "$bin/$name"
}
