#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
. "$here/lib/common.sh"

usage() {
    cat <<'END'
Usage: test/cluster/programs_campaign.sh [OPTION]... FOLDER|PROGRAM...

Runs other people's MPI programs, such as a collection of faulty ones, each with FaultLoc off and
on, on this host: what hangs with FaultLoc off is to get a verdict, and what ends is to end
likewise, well or not, and to get none but process-crash. Whether a verdict is the right one is for
people to judge: a line a program says what was found. C files (*.c) are compiled; other files are
run as they are, if they can be. The number of ranks is what the source says after "mpirun -np" or
"mpiexec -n".

  --ranks N      ranks of programs whose source says nothing (2)
  --limit S      a program that has not ended after S seconds hangs (10)
  --deadline S   how long to wait for a verdict (20)
  --flags FLAGS  further options for the compiler, such as "-Iinclude -lm"
  --mpi PREFIX   the MPI under test (FAULTLOC_MPI)
  --help         this text

A machine with other work may take longer: larger times are then better.
Exit code: 0 what ends did so with FaultLoc on, and without a verdict; 1 not so; 2 wrong usage.
END
}

wrong() { echo "programs_campaign.sh: $1; see --help" >&2; exit 2; }

CLUSTER_HOME=$here MPI='' ranks=2 limit=10 deadline=20 flags=''
while [ $# -gt 0 ]; do
    case $1 in
        --help) usage; exit 0 ;;
        --ranks | --limit | --deadline)
            is_number "${2:-}" || wrong "no number after $1"
            printf -v "${1#--}" %s "$2" ;;
        --flags) flags=${2?"no options after --flags"} ;;
        --mpi) MPI=${2:-} ;;
        -*) wrong "unknown option $1" ;;
        *) break ;;
    esac
    shift 2
done
[ $# -gt 0 ] || wrong "no folder or program is named"
find_mpi
work=$(mktemp -d)
pid=''
finish() {
    [ -z "$pid" ] || end_mpiexec "$pid"
    rm -rf "$work"
}
trap finish EXIT

ranks_of() { # FILE
    local n
    n=$(sed -nE 's/.*(mpirun -np|mpiexec -n) *([0-9]+).*/\2/p;T;q' "$1" 2>/dev/null | tr -d '\0')
    echo "${n:-$ranks}"
}

# Sets PROGRAM; false: it is none.
prepare() { # FILE
    PROGRAM=$1
    case $1 in
        *.c)
            PROGRAM=$work/program
            # shellcheck disable=SC2086
            "$MPI/bin/mpicc" -w -g -I"$(dirname "$1")" -o "$PROGRAM" "$1" $flags 2>"$work/cc" ;;
        *) [ -f "$1" ] && [ -x "$1" ] ;;
    esac
}

# What was said: class, subject, and the first line of evidence.
said() {
    sed -nE '/^\[faultloc\] [a-z-]+: .* -- /{s/^\[faultloc\] //;s/ -- .*//;p;q}' "$work/err"
}
evidence() { sed -nE '/^\[faultloc\]   evidence: /{s///;p;q}' "$work/err"; }

# One that says that a rank has crashed is about the program's end.
has_verdict() { said | grep -qv ^process-crash; }
is_over() { not_running "$pid" || has_verdict; }

# run ON SECONDS RANKS: sets OUTCOME, and TOOK where there is a verdict.
run() {
    local begun
    begun=$(now_us)
    (cd "$work" && MPIR_CVAR_FAULTLOC=$1 MPIR_CVAR_FAULTLOC_REPORT='' exec "$MPI/bin/mpiexec" \
        -n "$3" "$PROGRAM" </dev/null >out 2>err) &
    pid=$! OUTCOME=hangs TOOK=''
    wait_until "$2" is_over || :
    ! has_verdict || TOOK=$(seconds "$begun" "$(now_us)")
    if running "$pid"; then
        end_mpiexec "$pid"
        wait "$pid" || :
    else
        wait "$pid" && OUTCOME="ends (0)" || OUTCOME="ends ($?)"
    fi
    pid=''
}

# Exit codes may differ where several ranks fail at once.
ending() { [ "${1%% *}" != ends ] || [ "$1" = "ends (0)" ] && echo "$1" || echo fails; }

declare -A count=([programs]=0 [hang]=0 [found]=0 [silent]=0 [bad]=0)
judge() { # NAME OFF ON
    local word=ok
    if [ "$2" = hangs ]; then
        ((++count[hang]))
        if [ -n "$TOOK" ]; then ((++count[found])); else word=silent; ((++count[silent])); fi
    elif [ "$(ending "$2")" != "$(ending "$3")" ] || [ -n "$TOOK" ]; then
        word=BAD
        ((++count[bad]))
    fi
    printf '%-6s  %-40s  off: %-9s  on: %-9s' "$word" "$1" "$2" "$3"
    [ -z "$TOOK" ] || printf '  %s s: %s; %s' "$TOOK" "$(said)" "$(evidence)"
    echo
}

one() { # FILE
    local n off
    prepare "$1" || { [ "$1" = "${1%.c}" ] || echo "skip    $1 does not compile"; return 0; }
    n=$(ranks_of "$1")
    ((++count[programs]))
    run 0 "$limit" "$n"
    off=$OUTCOME
    run 1 "$([ "$off" = hangs ] && echo "$deadline" || echo $((limit * 3)))" "$n"
    judge "$(basename "$1")" "$off" "$OUTCOME"
}

for path in "$@"; do
    [ -e "$path" ] || wrong "there is no $path"
    while IFS= read -r -u 9 file; do
        one "$(realpath "$file")"
    done 9< <(find "$path" -type f | sort)
done
echo "${count[programs]} programs, ${count[hang]} hang: ${count[found]} have a verdict," \
    "${count[silent]} do not; ${count[bad]} that end do not end as with FaultLoc off"
[ "${count[bad]}" = 0 ]
