#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)

usage() {
    cat <<'END'
Usage: test/mpi/mpich_suite.sh [--mpi PREFIX] [--stock PREFIX] [OPTION]... [FOLDER]...

Runs the C programs of MPICH's own test suite with a stock MPICH and with the MPICH to be tested,
one after the other, and prints a table: test, outcome with stock, outcome with ours, same or not.
The testlists in test/mpi/FOLDER of MPICH's sources give the number of ranks, arguments,
environment, time limit and how to judge. The default FOLDERs are init, errhan, spawn; ft has the
programs that lose a rank.

  --mpi PREFIX       the MPI to be tested (default: $FAULTLOC_MPI)
  --stock PREFIX     the one to compare with (default: $FAULTLOC_STOCK_MPI; else
                     maint/build-stock.sh builds one, once, into ./bench.work/stock)
  --source TREE      unpacked MPICH sources (default: maint/get-mpich.sh gets them)
  --work FOLDER      programs, all output and results.tsv; kept. Without it a temporary folder,
                     which is kept only if a test was worse
  --env NAME=VALUE   in the environment of all jobs, also of stock's, whatever the testlist says;
                     may be repeated
  --mpiexec-arg ARG  a further argument of all mpiexec; may be repeated
  --tests REGEX      only tests whose FOLDER/NAME matches (grep -E)
  --limit SECONDS    the longest that a test may take, if its own time limit is longer (default 60)
  --factor N         multiply each test's own time limit by N, as for a loaded machine (default 1)
  --runs N           runs of each test (default 1)
  --again N          further runs if the outcomes differ (default 2); the worst of each side counts
  --no-xfail         leave out what MPICH itself expects to fail (nearly all of ft)
  --tsv FILE         a copy of results.tsv: a line for each run (folder, test, side, run, outcome,
                     exit code, seconds, processes left behind, reason)
  --markdown         print the table as Markdown
  --help             this text

Outcomes: pass; fail; hang: ended by the time limit; limit: ended by the time limit, which the
suite's rule counts as success; build: did not compile. "+N left" after an outcome: N processes
were still there 5 s later. The rules are those of the suite's runtests. In a test that is meant to
fail, lines that begin with [faultloc] are accepted; in all other tests they are unexpected output,
and so is a report.

MPIR_CVAR_FAULTLOC is 0 unless --env MPIR_CVAR_FAULTLOC=1. UCX_LOG_LEVEL is error unless set.

Exit code: 0 nothing worse than stock, 1 something was worse or could not run, 2 wrong usage.
END
}

say() { printf 'mpich_suite.sh: %s\n' "$*" >&2; }
die() {
    say "$2"
    exit "$1"
}

mpi=${FAULTLOC_MPI:-} stock=${FAULTLOC_STOCK_MPI:-} source= work= tests=. limit=60 factor=1 runs=1
again=2 xfail=yes tsv= markdown= envs=() mpiexec_args=() folders=()

# The suite asks its configure for these; every system that FaultLoc runs on has them.
conf() {
    cat <<'END'
#ifndef MPITESTCONF_H_INCLUDED
#define MPITESTCONF_H_INCLUDED
#define HAVE_GETRUSAGE 1
#define HAVE_H_ADDR_LIST 1
#define HAVE_INTTYPES_H 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_LONG_LONG 1
#define HAVE_MPI_SPAWN 1
#define HAVE_MPI_WIN_CREATE 1
#define HAVE_PTHREAD_H 1
#define HAVE_STDARG_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRDUP 1
#define HAVE_STRING_H 1
#define HAVE_STRINGS_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#define HAVE_USLEEP 1
#define POINTERINT_t long
#define SIZEOF_INT 4
#define SIZEOF_LONG 8
#define SIZEOF_LONG_LONG 8
#define SIZEOF_MPI_OFFSET 8
#define SIZEOF_VOID_P 8
#define STDCALL
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
#endif
END
}

# --- building ---------------------------------------------------------------------------------

prefix_of() { if [ "$1" = stock ]; then echo "$stock"; else echo "$mpi"; fi; }

# compile SIDE ARGUMENTS: with that side's mpicc, as the suite's makefiles do.
compile() {
    local side=$1
    shift
    "$(prefix_of "$side")/bin/mpicc" -w -g -I"$work/include" -I"$suite/include" "$@" \
        >>"$work/$side/build.log" 2>&1
}

build_library() {
    local side=$1 name
    mkdir -p "$work/$side"
    : >"$work/$side/build.log"
    for name in mtest mtest_common mtest_single mtest_thread dtypes; do
        compile "$side" -c -o "$work/$side/$name.o" "$suite/util/$name.c" ||
            die 1 "the suite's util/$name.c does not compile, see $work/$side/build.log"
    done
}

# of_makefile FOLDER VARIABLE: its value in the folder's Makefile.am.
of_makefile() {
    sed -e ':a' -e '/\\$/N; s/\\\n//; ta' "$suite/$1/Makefile.am" |
        sed -n "s/^$2 *= *//p" | sed 's/\$([A-Z_]*)//g; s/@[a-z0-9_]*@//g'
}

# build SIDE FOLDER NAME: succeeds where the program is there.
build() {
    local side=$1 folder=$2 name=$3 out=$work/$1/$2/$3 thread=single names flags sources=()
    [ ! -x "$out" ] || [ "$out" -ot "$(prefix_of "$side")/bin/mpicc" ] || return 0
    mkdir -p "$work/$side/$folder"
    ! grep -q 'Makefile_threads' "$suite/$folder/Makefile.am" || thread=thread
    names=$(of_makefile "$folder" "${name}_SOURCES")
    read -ra flags <<<"$(of_makefile "$folder" "${name}_CPPFLAGS")"
    read -ra names <<<"${names:-$name.c}"
    sources=("${names[@]/#/$suite/$folder/}")
    compile "$side" "${flags[@]}" -o "$out" "${sources[@]}" "$work/$side"/{mtest,mtest_common}.o \
        "$work/$side/mtest_$thread.o" "$work/$side/dtypes.o" -lpthread -lm
}

# --- running ----------------------------------------------------------------------------------

# marked: processes of the run, by what is in their environment; hydra makes sessions of its own.
marked() {
    { grep -lzxF "$mark" /proc/[0-9]*/environ 2>/dev/null || :; } | cut -d/ -f3 |
        while read -r pid; do
            ! grep -qE '^State:\s*[^ZX[:space:]]' "/proc/$pid/status" 2>/dev/null || echo "$pid"
        done
}

end_marked() {
    local pids
    mapfile -t pids < <(marked)
    [ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}" 2>/dev/null || :
}

# left_behind: how many processes of the run there still are 5 s after its end; they are ended.
left_behind() {
    local end=$((SECONDS + 5))
    while [ -n "$(marked)" ] && [ $SECONDS -lt $end ]; do sleep 0.1; done
    marked | wc -l
    end_marked
}

# unexpected FILE: the first line that the suite does not expect, of a test in which nothing fails.
unexpected() {
    local skip='^\s*No [Ee]rrors\s*$|^\s*Test Passed\s*$' ours='^$'
    [ -z "$rule" ] || ours='\[faultloc\].*' skip+='|^$'
    { sed "s/$ours//" "$1" | grep -avE "$skip" || :; } | sed -n 1p | cut -c1-100
}

# judge FILE CODE: what the suite's runtests makes of it, in $outcome and $why.
judge() {
    local file=$1 code=$2 line
    outcome=fail why=
    line=$(unexpected "$file")
    case $rule in
        TestStatus | TestErrFatal)
            if [ "$code" = 0 ]; then why="exit code 0"; else outcome=pass; fi
            return ;;
        '' | TestStatusNoErrors) ;;
        *) die 1 "$folder/testlist: unknown resultTest=$rule of $name" ;;
    esac
    if [ -n "$line" ]; then why="unexpected: $line"
    elif ! grep -qaE '^\s*No [Ee]rrors\s*(\[faultloc\]|$)' "$file"; then why="no 'No Errors'"
    elif [ -z "$rule" ] && [ "$code" != 0 ]; then why="exit code $code"
    elif [ -n "$rule" ] && [ "$code" = 0 ]; then why="exit code 0"
    elif [ -z "$rule" ] && [ -e "$report" ]; then why="FaultLoc wrote a report"
    else outcome=pass
    fi
}

# run_once SIDE: the test described by folder, name, np, args ... ; adds its line to results.tsv.
run_once() {
    local side=$1 prefix code=0 begin ms left=0 log
    local job_env=("${test_envs[@]}" "${envs[@]}")
    prefix=$(prefix_of "$side")
    counts[$side]=$((${counts[$side]} + 1))
    log=$work/log/$folder/$label.$side.${counts[$side]}
    mkdir -p "$work/log/$folder"
    report=$log.report.json
    rm -f "$report"
    if ! build "$side" "$folder" "$name"; then
        outcome=build why="see $side/build.log" ms=0
    else
        begin=${EPOCHREALTIME/[.,]/}
        (cd "$work/$side/$folder" && exec timeout -s INT -k 5 $((seconds + 15)) env "$mark" \
            MPIR_CVAR_FAULTLOC=0 MPIR_CVAR_FAULTLOC_REPORT="$report" "${job_env[@]}" \
            MPIEXEC_TIMEOUT="$seconds" "$prefix/bin/mpiexec" "${mpiexec_args[@]}" \
            "${test_mpiexec_args[@]}" -n "$np" "./$name" "${args[@]}") </dev/null >"$log" 2>&1 ||
            code=$?
        ms=$(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
        left=$(left_behind)
        judge "$log" "$code"
        if [ "$ms" -ge $((seconds * 1000)) ]; then
            if [ "$outcome" = pass ]; then outcome=limit; else outcome=hang; fi
            [[ $why != *"TIMED OUT"* ]] || why=
            why="ended by the time limit of $seconds s${why:+; $why}"
        fi
    fi
    [ "$left" = 0 ] || outcome="$outcome +$left left"
    outcomes[$side]+=$outcome$'\n'
    [ -z "$why" ] || reasons[$side]=$why
    printf '%s\t%s\t%s\t%d\t%s\t%d\t%d.%03d\t%d\t%s\n' "$folder" "$label" "$side" \
        "${counts[$side]}" "${outcome%% *}" "$code" $((ms / 1000)) $((ms % 1000)) "$left" "$why" \
        >>"$work/results.tsv"
}

run_both() { local side; for side in stock ours; do run_once $side; done; }

# worst: of several outcomes, one a line on stdin, the number of the worst.
worst() {
    awk 'BEGIN { n["pass"] = 4; n["limit"] = 3; n["fail"] = 2; n["hang"] = 1; worst = 9 }
        NF { v = 2 * n[$1] - (NF > 1); if (v < worst) worst = v } END { print worst }'
}

# summary: several outcomes as one text, "pass 2, hang 1".
summary() {
    awk 'NF { if (!($0 in c)) order[++n] = $0; c[$0]++ }
        END { for (i = 1; i <= n; i++)
            printf "%s%s%s", (i > 1 ? ", " : ""), order[i], (n > 1 ? " (" c[order[i]] ")" : "") }'
}

kinds() { printf '%s' "$1" | sort -u; }

run_test() {
    local i a b same left right
    local -A counts=([stock]=0 [ours]=0) outcomes=([stock]='' [ours]='') reasons=()
    for ((i = 0; i < runs; i++)); do run_both; done
    if [ "$(kinds "${outcomes[stock]}")" != "$(kinds "${outcomes[ours]}")" ]; then
        for ((i = 0; i < again; i++)); do run_both; done
    fi
    a=$(worst <<<"${outcomes[stock]}")
    b=$(worst <<<"${outcomes[ours]}")
    if [ "$b" -lt "$a" ]; then same=WORSE worse=$((worse + 1))
    elif [ "$b" -gt "$a" ]; then same=better better=$((better + 1))
    else same=same alike=$((alike + 1))
    fi
    left=$(summary <<<"${outcomes[stock]}")
    right=$(summary <<<"${outcomes[ours]}")
    row "$folder/$title" "$left" "$right" "$same"
    [ $same = same ] || note
}

# What tells why two outcomes differ goes below the row, or in Markdown below the table.
note() {
    local side text=
    for side in stock ours; do
        [ -z "${reasons[$side]:-}" ] || text+="    $side: ${reasons[$side]}"$'\n'
    done
    if [ -n "$markdown" ]; then notes+="$folder/$title"$'\n'$text; else printf '%s' "$text"; fi
}

row() {
    if [ -n "$markdown" ]; then
        printf '| %s | %s | %s | %s |\n' "$@"
    else
        printf '%-44s %-18s %-18s %s\n' "$@"
    fi
}

# read_line WORDS...: a line of a testlist into folder's test variables; fails where it is left out.
read_line() {
    local word own=
    name=$1 np=${2:-2} rule='' args=() test_envs=() test_mpiexec_args=() expected=
    shift $(($# > 1 ? 2 : 1))
    for word in "$@"; do
        case $word in
            arg=*) args+=("${word#*=}") ;;
            env=*) test_envs+=("${word#*=}") ;;
            mpiexecarg=*) test_mpiexec_args+=("${word#*=}") ;;
            timeLimit=*) own=${word#*=} ;;
            resultTest=*) rule=${word#*=} ;;
            xfail=*) expected=yes ;;
        esac
    done
    seconds=$((${own:-180} * factor))
    [ "$seconds" -le "$limit" ] || seconds=$limit
    title="$name $np${args[0]+ ${args[*]}}"
    label=$(tr -c 'A-Za-z0-9_\n' - <<<"$title${test_envs[0]+ ${test_envs[*]}}")
    [ -z "$expected" ] || [ $xfail = yes ] || return 1
    grep -qE "$tests" <<<"$folder/$name"
}

run_folder() {
    local list=$suite/$1/testlist words
    folder=$1
    [ -f "$list" ] || list=$list.in
    while read -ra words; do
        [ ${#words[@]} -gt 0 ] && [ -d "$suite/$folder" ] || continue
        ! read_line "${words[@]}" || run_test
    done < <(sed 's/#.*//; s/@[A-Za-z0-9_]*@//g; s/^!.*//' "$list")
}

while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --no-xfail) xfail=no; shift; continue ;;
        --markdown) markdown=yes; shift; continue ;;
        --mpi | --stock | --source | --work | --env | --mpiexec-arg | --tests | --tsv | --limit | \
            --factor | --runs | --again) [ $# -ge 2 ] || die 2 "$1 needs a value; see --help" ;;
        -*) die 2 "unknown option $1; see --help" ;;
        *) folders+=("$1"); shift; continue ;;
    esac
    case $1 in
        --mpi) mpi=$2 ;;
        --stock) stock=$2 ;;
        --source) source=$2 ;;
        --work) work=$2 ;;
        --env) [[ $2 = ?*=* ]] || die 2 "--env must be NAME=VALUE, not '$2'"; envs+=("$2") ;;
        --mpiexec-arg) mpiexec_args+=("$2") ;;
        --tests) tests=$2 ;;
        --tsv) tsv=$2 ;;
        --limit | --factor | --runs | --again)
            [[ $2 =~ ^[0-9]{1,5}$ ]] && { [ "$2" -gt 0 ] || [ "$1" = --again ]; } ||
                die 2 "$1 must be a number, not '$2'"
            printf -v "${1#--}" %d "$2" ;;
    esac
    shift 2
done
[ ${#folders[@]} -gt 0 ] || folders=(init errhan spawn)
[ -n "$mpi" ] || die 2 "no --mpi and no FAULTLOC_MPI: name the MPI to be tested"
if [ -z "$stock" ]; then
    stock=$PWD/bench.work/stock
    "$top/maint/build-stock.sh" --prefix "$stock" ${source:+--from "$source"} || exit 1
fi
for prefix in "$stock" "$mpi"; do
    [ -x "$prefix/bin/mpicc" ] && [ -x "$prefix/bin/mpiexec" ] ||
        die 1 "no MPI in $prefix (no bin/mpicc or bin/mpiexec): install it, or give another prefix"
done

temporary=
if [ -n "$work" ]; then
    mkdir -p "$work" && work=$(cd "$work" && pwd)
else
    work=$(mktemp -d "${TMPDIR:-/tmp}/mpich-suite.XXXXXX") temporary=yes
fi
mark=FAULTLOC_SUITE=$$-$RANDOM
worse=0 better=0 alike=0 notes=

finish() {
    end_marked
    [ -z "$temporary" ] || [ "$worse" -gt 0 ] || rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

if [ -z "$source" ]; then
    source=$work/mpich
    [ -d "$source" ] || "$top/maint/get-mpich.sh" "$source" || exit 1
fi
suite=$(realpath "$source")/test/mpi
[ -f "$suite/util/mtest.c" ] || die 1 "$suite is not an MPICH test suite (no util/mtest.c); see --source"
for folder in "${folders[@]}"; do
    [ -f "$suite/$folder/testlist" ] || [ -f "$suite/$folder/testlist.in" ] ||
        die 2 "there is no folder '$folder' with a testlist in $suite"
done
export UCX_LOG_LEVEL=${UCX_LOG_LEVEL:-error}
mkdir -p "$work/include"
conf >"$work/include/mpitestconf.h"
: >"$work/results.tsv"
for side in stock ours; do build_library $side; done

row test stock ours same
[ -z "$markdown" ] || row --- --- --- ---
for folder in "${folders[@]}"; do run_folder "$folder"; done
[ -z "$notes" ] || printf '\n%s' "$notes"
printf '\n%d tests: %d the same, %d better, %d worse than stock\n' $((worse + better + alike)) \
    $alike $better $worse
[ -z "$tsv" ] || cp "$work/results.tsv" "$tsv"
if [ $worse -gt 0 ]; then
    say "output of all runs: $work/log"
    exit 1
fi
