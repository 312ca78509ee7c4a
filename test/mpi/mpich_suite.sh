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
Usage: test/mpi/mpich_suite.sh [--mpi PREFIX] [--stock PREFIX | --on] [OPTION]... [FOLDER]...

Runs the C programs of MPICH's own test suite with a stock MPICH and with the MPICH to be tested,
one after the other, and prints a table: test, outcome with stock, outcome with ours, same or not.
With --on it compares the MPICH to be tested with itself, FaultLoc on and off; what passes with
FaultLoc on is not run with FaultLoc off. The testlists in test/mpi/FOLDER of MPICH's sources give
the number of ranks, arguments, environment, time limit and how to judge. The default FOLDERs are
init, errhan, spawn; with --on, all but spawn and io, which needs an MPI with ROMIO. ft has the
programs that lose a rank.

  --on               FaultLoc on, with its default settings, beside FaultLoc off, no stock
  --mpi PREFIX       the MPI to be tested (default: $FAULTLOC_MPI)
  --stock PREFIX     the one to compare with (default: $FAULTLOC_STOCK_MPI; else
                     maint/build-stock.sh builds one, once, into ./bench.work/stock)
  --source TREE      unpacked MPICH sources (default: maint/get-mpich.sh gets them)
  --work FOLDER      programs, all output and results.tsv; kept, and programs that are there are
                     not built again. Without it a temporary folder, which is kept only if a test
                     was worse
  --env NAME=VALUE   in the environment of all jobs, also of stock's, whatever the testlist says;
                     may be repeated
  --mpiexec-arg ARG  a further argument of all mpiexec; may be repeated
  --tests REGEX      only tests whose FOLDER/NAME matches (grep -E)
  --limit SECONDS    the longest that a test may take, if its own time limit is longer (default 60)
  --ranks N          the most ranks (default: as many as the test asks for); a test that asks for
                     more gets N, as with -maxnp of the suite's runtests
  --memory GB        tests that say that they need more are left out (default 2)
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
and so is a report with a verdict. Notes of class waiting are accepted, and counted.

MPIR_CVAR_FAULTLOC is 0 unless --env MPIR_CVAR_FAULTLOC=1. UCX_LOG_LEVEL is error unless set.

Exit code: 0 nothing worse than stock, or than off, 1 something was worse or could not run, 2 wrong
usage.
END
}

say() { printf 'mpich_suite.sh: %s\n' "$*" >&2; }
die() {
    say "$2"
    exit "$1"
}

mpi=${FAULTLOC_MPI:-} stock=${FAULTLOC_STOCK_MPI:-} source= work= tests=. limit=60 factor=1 runs=1
again=2 xfail=yes tsv= markdown= ranks=0 memory=2 on= envs=() mpiexec_args=() folders=()

# --- building ---------------------------------------------------------------------------------

prefix_of() { if [ "$1" = stock ]; then echo "$stock"; else echo "$mpi"; fi; }

# tree_of SIDE: where its programs are.
tree_of() { if [ "$1" = stock ]; then echo "$work/stock"; else echo "$work/ours"; fi; }

# configure SIDE: the suite's own configure, and what all programs share.
configure() {
    local tree prefix
    tree=$(tree_of "$1") prefix=$(prefix_of "$1")
    [ ! -e "$tree/configured" ] || return 0
    say "configuring the suite for $prefix (log: $tree/configure.log)"
    mkdir -p "$tree"
    (cd "$tree" && "$suite/configure" --with-mpi="$prefix" CC="$prefix/bin/mpicc" CFLAGS='-g -w' \
        --disable-fortran --disable-cxx && make -C dtpools && make -C util) \
        >"$tree/configure.log" 2>&1 || die 1 "this failed: see $tree/configure.log"
    touch "$tree/configured"
}

# build SIDE FOLDER NAME: succeeds where the program is there.
build() {
    local tree
    tree=$(tree_of "$1")
    [ -x "$tree/$2/$3" ] && [ "$tree/$2/$3" -nt "$(prefix_of "$1")/bin/mpicc" ] ||
        make -C "$tree/$2" "$3" >>"$tree/build.log" 2>&1
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

# without_notes FILE: what is said but for notes of class waiting, which are no verdicts.
without_notes() {
    awk '/\[faultloc\] waiting: / { note = 1; next }
        note && /^\[faultloc\]   / { next }
        { note = 0; print }' "$1"
}

is_to_fail() { [[ $rule = TestStatus || $rule = TestErrFatal || $rule = TestStatusNoErrors ]]; }

# unexpected FILE: the first line that the suite does not expect, of a test in which nothing fails.
unexpected() {
    local skip='^\s*No [Ee]rrors\s*$|^\s*Test Passed\s*$' ours='^$'
    ! is_to_fail || ours='\[faultloc\].*' skip+='|^$'
    [ "$rule" != TestAllowWarnings ] ||
        skip+='|^(MPICH|WARNING): |^(Abort.*)?application called MPI_Abort'
    { without_notes "$1" | sed "s/$ours//" | grep -avE "$skip" || :; } | sed -n 1p | cut -c1-100
}

# count_said FILE: adds to the folder's counts what FaultLoc said on a side where it is on.
count_said() {
    tally[verdicts]=$((tally[verdicts] + $(without_notes "$1" |
        grep -acE '\[faultloc\] [a-z]+(-[a-z]+)*: .*, confidence ' || :)))
    tally[notes]=$((tally[notes] + $(grep -acF '[faultloc] waiting: ' "$1" || :)))
}

# has_verdict: the report is of more than notes.
has_verdict() { [ -e "$report" ] && grep -q '"confidence"' "$report"; }

# judge FILE CODE: what the suite's runtests makes of it, in $outcome and $why.
judge() {
    local file=$1 code=$2 line
    outcome=fail why=
    line=$(unexpected "$file")
    case $rule in
        TestStatus | TestErrFatal)
            if [ "$code" = 0 ]; then why="exit code 0"; else outcome=pass; fi
            return ;;
        '' | TestStatusNoErrors | TestAllowWarnings | TestBench) ;;
        *) die 1 "$folder/testlist: unknown resultTest=$rule of $name" ;;
    esac
    if [ "$rule" != TestBench ] && [ -n "$line" ]; then why="unexpected: $line"
    elif [ "$rule" != TestBench ] && ! grep -qaE '^\s*No [Ee]rrors\s*(\[faultloc\]|$)' "$file"; then
        why="no 'No Errors'"
    elif is_to_fail && [ "$code" = 0 ]; then why="exit code 0"
    elif ! is_to_fail && [ "$code" != 0 ]; then why="exit code $code"
    elif ! is_to_fail && has_verdict; then why="FaultLoc wrote a report with a verdict"
    else outcome=pass
    fi
}

is_on() { if [ "$1" = on ]; then echo 1; else echo 0; fi; }

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
        outcome=build why="see $(tree_of "$side")/build.log" ms=0
    else
        begin=${EPOCHREALTIME/[.,]/}
        (cd "$(tree_of "$side")/$folder" && exec timeout -s INT -k 5 $((seconds + 15)) env "$mark" \
            MPIR_CVAR_FAULTLOC="$(is_on "$side")" MPIR_CVAR_FAULTLOC_REPORT="$report" \
            "${job_env[@]}" \
            MPIEXEC_TIMEOUT="$seconds" "$prefix/bin/mpiexec" "${mpiexec_args[@]}" \
            "${test_mpiexec_args[@]}" -n "$np" "./$name" "${args[@]}") </dev/null >"$log" 2>&1 ||
            code=$?
        ms=$(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
        left=$(left_behind)
        judge "$log" "$code"
        [ "$side" != on ] || count_said "$log"
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

run_both() {
    local side
    for side in "${sides[@]}"; do run_once "$side"; done
}

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

# run_rounds: all runs of a test. What passes with FaultLoc on need not be run with it off.
run_rounds() {
    local i left=${sides[0]} right=${sides[1]}
    if [ -n "$on" ]; then
        for ((i = 0; i < runs; i++)); do run_once on; done
        if [ "$(kinds "${outcomes[on]}")" = pass ]; then
            outcomes[off]=${outcomes[on]}
            return
        fi
        for ((i = 0; i < runs; i++)); do run_once off; done
    else
        for ((i = 0; i < runs; i++)); do run_both; done
    fi
    [ "$(kinds "${outcomes[$left]}")" != "$(kinds "${outcomes[$right]}")" ] || return 0
    for ((i = 0; i < again; i++)); do run_both; done
}

run_test() {
    local a b same left=${sides[0]} right=${sides[1]}
    local -A counts=([$left]=0 [$right]=0) outcomes=([$left]='' [$right]='') reasons=()
    run_rounds
    a=$(worst <<<"${outcomes[$left]}")
    b=$(worst <<<"${outcomes[$right]}")
    if [ "$b" -lt "$a" ]; then same=WORSE worse=$((worse + 1)) tally[worse]=$((tally[worse] + 1))
    elif [ "$b" -gt "$a" ]; then same=better better=$((better + 1))
    elif [ "$b" = 0 ]; then same=unknown unbuilt=$((unbuilt + 1))
    else same=same alike=$((alike + 1))
    fi
    tally[tests]=$((tally[tests] + 1))
    [ "$b" != 8 ] || tally[passed]=$((tally[passed] + 1))
    left=$(summary <<<"${outcomes[$left]}")
    right=$(summary <<<"${outcomes[$right]}")
    [ -n "$on" ] && [ "$left $right" = 'pass pass' ] ||
        row "$folder/$title" "$left" "$right" "$same"
    [ $same = same ] && { [ -z "$on" ] || [ "$right" = pass ]; } || note
    ! progress_due || say "$folder: ${tally[tests]} tests, ${tally[passed]} passed, last $title"
}

# What tells why two outcomes differ goes below the row, or in Markdown below the table.
note() {
    local side text=
    for side in "${sides[@]}"; do
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
    local word own= needs=0
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
            mem=*) needs=${word#*=} ;;
        esac
    done
    [ "$ranks" = 0 ] || [ "$np" -le "$ranks" ] || np=$ranks
    seconds=$((${own:-180} * factor))
    [ "$seconds" -le "$limit" ] || seconds=$limit
    title="$name $np${args[0]+ ${args[*]}}"
    label=$(tr -c 'A-Za-z0-9_\n' - <<<"$title${test_envs[0]+ ${test_envs[*]}}")
    [ -z "$expected" ] || [ $xfail = yes ] || return 1
    grep -qE "$tests" <<<"$folder/$name" || return 1
    [ -z "${seen[$folder/$label]:-}" ] || return 1 # two numbers of ranks, cut to the same one
    seen[$folder/$label]=yes
    awk -v needs="$needs" -v most="$memory" 'BEGIN { exit !(needs <= most) }' ||
        left_out "$needs GB"
}

left_out() {
    tally[left_out]=$((tally[left_out] + 1))
    row "$folder/$title" - - "left out: $1"
    return 1
}

# lines_of FOLDER: of its testlists, with what configure has put into them.
lines_of() {
    local name list
    for name in testlist testlist.dtp; do
        list=$(tree_of ours)/$1/$name
        [ -s "$list" ] || list=$suite/$1/$name
        [ ! -f "$list" ] || sed 's/#.*//; s/@[A-Za-z0-9_]*@//g; s/^!.*//' "$list"
    done
}

# run_list FOLDER: its tests, and those of the folders that its list names.
run_list() {
    local words
    while read -ra words; do
        [ ${#words[@]} -gt 0 ] || continue
        folder=$1
        if [ -d "$suite/$1/${words[0]}" ]; then run_list "$1/${words[0]}"
        elif read_line "${words[@]}"; then run_test
        fi
    done < <(lines_of "$1")
}

run_folder() {
    local -A tally=([tests]=0 [passed]=0 [worse]=0 [verdicts]=0 [notes]=0 [left_out]=0)
    run_list "$1"
    sums+=$(row_of_sums "$1" "${tally[tests]}" "${tally[left_out]}" "${tally[passed]}" \
        "$((tally[tests] - tally[passed] - tally[worse]))" "${tally[worse]}" \
        "${tally[verdicts]}" "${tally[notes]}")$'\n'
}

row_of_sums() {
    if [ -n "$markdown" ]; then
        printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$@"
    else
        printf '%-14s %6s %9s %7s %14s %7s %9s %6s\n' "$@"
    fi
}

print_sums() {
    printf '\n'
    row_of_sums folder tests 'left out' passed 'not, nor off' worse verdicts notes
    [ -z "$markdown" ] || row_of_sums --- --- --- --- --- --- --- ---
    printf '%s' "$sums"
}

# progress_due: a line a minute.
progress_due() { [ $SECONDS -ge $due ] && due=$((SECONDS + 60)); }

while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --no-xfail) xfail=no; shift; continue ;;
        --on) on=yes; shift; continue ;;
        --markdown) markdown=yes; shift; continue ;;
        --mpi | --stock | --source | --work | --env | --mpiexec-arg | --tests | --tsv | --limit | \
            --factor | --runs | --again | --ranks | --memory)
            [ $# -ge 2 ] || die 2 "$1 needs a value; see --help" ;;
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
        --limit | --factor | --runs | --again | --ranks | --memory)
            [[ $2 =~ ^[0-9]{1,5}$ ]] && { [ "$2" -gt 0 ] || [ "$1" = --again ]; } ||
                die 2 "$1 must be a number, not '$2'"
            printf -v "${1#--}" %d "$2" ;;
    esac
    shift 2
done
if [ -n "$on" ]; then
    sides=(off on)
    [ ${#folders[@]} -gt 0 ] || folders=(attr coll comm datatype errhan group info init part pt2pt
        rma threads topo)
else
    sides=(stock ours)
    [ ${#folders[@]} -gt 0 ] || folders=(init errhan spawn)
fi
[ -n "$mpi" ] || die 2 "no --mpi and no FAULTLOC_MPI: name the MPI to be tested"
if [ -n "$on" ]; then
    stock=$mpi
elif [ -z "$stock" ]; then
    stock=$PWD/bench.work/stock
    "$top/maint/build-stock.sh" --prefix "$stock" --like "$mpi" ${source:+--from "$source"} || exit 1
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
worse=0 better=0 alike=0 unbuilt=0 notes= sums= due=60
declare -A seen=()

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
[ -f "$suite/util/mtest.c" ] ||
    die 1 "$suite is not an MPICH test suite (no util/mtest.c); see --source"
for folder in "${folders[@]}"; do
    [ -f "$suite/$folder/testlist" ] || [ -f "$suite/$folder/testlist.in" ] ||
        die 2 "there is no folder '$folder' with a testlist in $suite"
done
export UCX_LOG_LEVEL=${UCX_LOG_LEVEL:-error}
: >"$work/results.tsv"
# 'make mpich-tests' calls this with variables of its own, which make and configure would take
unset MAKEFLAGS MAKELEVEL MFLAGS top_srcdir top_builddir
for side in "${sides[@]}"; do configure "$side"; done

row test "${sides[@]}" same
[ -z "$markdown" ] || row --- --- --- ---
for folder in "${folders[@]}"; do run_folder "$folder"; done
[ -z "$notes" ] || printf '\n%s' "$notes"
[ -z "$on" ] || print_sums
printf '\n%d tests: %d the same, %d better, %d worse than %s' $((worse + better + alike + unbuilt)) \
    $alike $better $worse "${sides[0]}"
if [ $unbuilt -gt 0 ]; then printf ', %d compile on neither side' $unbuilt; fi
echo
[ -z "$tsv" ] || cp "$work/results.tsv" "$tsv"
if [ $worse -gt 0 ]; then
    say "output of all runs: $work/log"
    exit 1
fi
