#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOF
Usage: maint/test.sh [OPTION]...

Runs every test, from nothing: on a fresh Debian machine, as root, it installs the packages, gets
MPICH, builds it with FaultLoc (lean profile), and then runs
  - make check: unit tests, MPI tests, cluster tests,
  - a short list of them with ch4:ofi, in a build of its own,
  - the core's tests under AddressSanitizer and UndefinedBehaviorSanitizer,
  - make distcheck of the project's own part,
  - the checks of the patches, and a build of MPICH with FaultLoc configured out.
This takes less than an hour on two cores.

  --build DIR   where to build (default: ./build; DIR-ofi and DIR-sanitizers beside it)
  --jobs N      parallel jobs (default: the number of cores)
  --quick       leave out ch4:ofi, distcheck and the build with FaultLoc configured out
  --core        the core only: no MPICH, no MPI tests, no cluster tests
  --help        this text

The last line is "N passed, N failed, N skipped". It counts each test case of the unit tests, each
script and each check of a patch. A step that could not run counts as failed.
Exit code: 0 none failed, 1 some failed, 2 wrong arguments.
EOF
}

passed=0 failed=0 skipped=0 failures=()
count_failure() {
    failed=$((failed + 1))
    failures+=("$*")
}

begin=$SECONDS
# step TEXT: a headline, with the time gone so far.
step() {
    number=$((number + 1))
    printf '\n[faultloc] === test.sh %d/%d: %s (%d:%02d gone)\n' $number $steps "$*" \
        $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60)) >&2
}

finish() {
    local text
    if [ ${#failures[@]} -gt 0 ]; then
        printf '\nFailed:\n'
        for text in "${failures[@]}"; do printf '  %s\n' "$text"; done
    fi
    [ $((passed + failed)) -gt 0 ] || failed=1
    printf '\n[faultloc] %d:%02d in all\n' $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60))
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ] || exit 1
    exit 0
}

# must TEXT COMMAND...: a step without which nothing that follows makes sense.
must() {
    local text=$1
    shift
    if ! "$@"; then
        count_failure "$text"
        finish
    fi
}

# count_check FILE: adds what the summary lines of Check programs in a log say.
count_check() {
    local checks fails errors found=1
    while read -r checks fails errors; do
        found=0
        passed=$((passed + checks - fails - errors))
        failed=$((failed + fails + errors))
    done < <(sed -n 's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\).*/\1 \2 \3/p' "$1")
    return $found
}

# count_test TRS WHERE: one test's result; a Check program counts as its test cases.
count_test() {
    local log=${1%.trs}.log name result before=$failed
    name=${1#"$2"/}
    name=${name%.trs}
    result=$(sed -n 's/^:global-test-result: *//p' "$1")
    if count_check "$log"; then
        if [ "$failed" -gt "$before" ]; then
            failures+=("$name in $2")
        elif [ "$result" != PASS ]; then
            count_failure "$name in $2: all its cases passed, but the program failed"
        fi
    else
        case $result in
            PASS) passed=$((passed + 1)) ;;
            SKIP)
                skipped=$((skipped + 1))
                echo "skipped: $name: $(grep -m 1 SKIP "$log" || tail -n 1 "$log")" ;;
            *) count_failure "$name in $2" ;;
        esac
    fi
    if [ "$failed" -gt "$before" ]; then
        printf -- '--- %s\n' "$log"
        tail -n 60 "$log"
    fi
}

# run_check BUILD TARGET [MAKE-ARGUMENT]...: make check or check-scripts, then the count of its results.
# Most tests wait for most of their time, for a time limit of the code or for another process, so one
# more runs beside them.
run_check() {
    local dir=$1 target=$2 trs any=no code=0
    shift 2
    (cd "$dir" && find . -name mpich -prune -o -name '*.trs' -exec rm -f {} +)
    make -C "$dir" -k -j$((jobs + 1)) "$target" "$@" </dev/null || code=$?
    while read -r trs; do
        any=yes
        count_test "$trs" "$dir"
    done < <(find "$dir" \( -name mpich -o -name mpich-build -o -name mpich-stage \) -prune -o \
        -name '*.trs' ! -name '.*' -print | sort)
    if [ $any = no ]; then
        count_failure "make $target in $dir: no test ran (exit code $code)"
    elif [ $code -ne 0 ] && [ ${#failures[@]} -eq 0 ]; then
        count_failure "make $target in $dir: exit code $code"
    fi
}

# configure_in BUILD OPTION...
configure_in() {
    local dir=$1
    shift
    mkdir -p "$dir"
    "$top_srcdir/maint/progress.sh" --title "configuring in $dir" --log "$dir/configure.log" -- \
        bash -c 'cd "$1" && shift && exec "$@"' - "$dir" "$top_srcdir/configure" "$@"
}

# Every source file and every test that is there is built and run.
check_lists() {
    if "$top_srcdir/maint/list-sources.sh" --check; then
        passed=$((passed + 1))
    else
        count_failure "sources.mk does not list the existing files; run maint/list-sources.sh --update"
    fi
}

# Builds of MPICH are most of this, and the tests wait for most of their time. The one with ch4:ofi has
# the patched tree of the first.
begin_patches() {
    setsid nice "$top_srcdir/maint/check-patches.sh" "$@" >"$build/check-patches.log" 2>&1 &
    patches=$!
}

# begin_ofi: once that one has ended
begin_ofi() {
    mkdir -p "$build-ofi/mpich-stamps"
    ln -sfn "$build/mpich" "$build-ofi/mpich"
    cp -p "$build"/mpich-stamps/{autogen,scan} "$build-ofi/mpich-stamps"
    # shellcheck disable=SC2016
    setsid nice bash -c 'tail --pid="$1" -f /dev/null; cd "$2-ofi" &&
        "$3/configure" --prefix="$2-ofi/inst" --enable-lean --with-device=ch4:ofi && make -j"$4"' - \
        "$patches" "$build" "$top_srcdir" "$jobs" >"$build-ofi/build.log" 2>&1 &
    ofi=$!
}

end_ofi() {
    local code=0
    wait "$ofi" || code=$?
    ofi=
    if [ $code -ne 0 ]; then
        tail -n 60 "$build-ofi/build.log"
        count_failure "the build with ch4:ofi"
        return
    fi
    run_check "$build-ofi" check-scripts scripts="${ofi_scripts[*]}"
}

end_patches() {
    local log=$build/check-patches.log code=0 ok bad
    wait "$patches" || code=$?
    patches=
    cat "$log"
    ok=$(grep -c '^ok ' "$log" || true)
    bad=$(grep -c '^FAILED ' "$log" || true)
    passed=$((passed + ok))
    failed=$((failed + bad))
    if [ "$bad" -gt 0 ]; then
        failures+=("maint/check-patches.sh")
    elif [ $code -ne 0 ]; then
        count_failure "maint/check-patches.sh: exit code $code"
    fi
}

# tests_of LIST: the tests of a list of sources.mk.
tests_of() {
    sed -n "/^$1 =/,/^\$/p" "$top_srcdir/sources.mk" | sed -n 's|^ *\(test/[^ ]*\).*|\1|p' | tr '\n' ' '
}

# The unit tests have run twice by then; what else may fail here is a file that is not distributed.
dist_check() {
    if "$top_srcdir/maint/progress.sh" --title "make distcheck" --log "$1/distcheck.log" -- \
        make -C "$1" -j"$jobs" distcheck TESTS="$(tests_of tool_tests)"; then
        passed=$((passed + 1))
    else
        count_failure "make distcheck"
    fi
}

# Some in which the device has a part.
ofi_scripts=(test/mpi/test_{collectives,failures,lost_peer,some_ranks,waits}.sh
    test/cluster/{power_off,stop,kill,cut,data_path_down}.scenario)
build=$PWD/build jobs=$(nproc) quick=no core=no number=0
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --build | --jobs)
            [ $# -ge 2 ] || usage_error "$1 needs a value"
            case $1 in --build) build=$(realpath -m "$2") ;; --jobs) jobs=$2 ;; esac
            shift ;;
        --quick) quick=yes ;;
        --core) core=yes ;;
        *) usage_error "unknown argument $1" ;;
    esac
    shift
done
steps=5
[ $quick = yes ] || steps=$((steps + 1))
[ $core = yes ] || steps=$((steps + 2))
[ $quick$core != nono ] || steps=$((steps + 1))
patches= ofi=
trap 'echo; echo "test.sh: interrupted" >&2; exit 1' HUP INT TERM
trap 'for group in $patches $ofi; do kill -- "-$group"; done' EXIT
# Nothing from a surrounding make or job decides how this is built, or whether faultloc is on.
unset MAKEFLAGS MFLAGS MAKELEVEL "${!MPIR_CVAR_@}" 2>/dev/null || true
export HOME=${HOME:-/root}

step "packages"
must "packages" "$top_srcdir/maint/packages.sh" --install --tests
step "autogen.sh"
mkdir -p "$build"
must "autogen.sh" "$top_srcdir/maint/progress.sh" --title "autogen.sh" --log "$build/autogen.log" \
    -- "$top_srcdir/autogen.sh"

if [ $core = no ]; then
    step "configure and build, lean profile, in $build"
    must "configure" configure_in "$build" --prefix="$build/inst" --enable-lean
    must "make" make -C "$build" -j"$jobs"
    step "make check; beside it the checks of the patches, and a build with ch4:ofi"
    if [ $quick = yes ]; then begin_patches; else begin_patches --configure; fi
    [ $quick = yes ] || begin_ofi
    run_check "$build" check
fi

step "configure and build the core with sanitizers, in $build-sanitizers"
must "configure with sanitizers" configure_in "$build-sanitizers" --without-mpich \
    --enable-sanitizers CFLAGS="-g -O1"
must "make with sanitizers" make -C "$build-sanitizers" -j"$jobs"
step "make check with sanitizers"
run_check "$build-sanitizers" check TESTS="$(tests_of unit_tests)"

if [ $quick = no ]; then
    step "make distcheck of the project's own part"
    dist_check "$build-sanitizers"
fi
if [ $quick$core = nono ]; then
    step "tests with ch4:ofi, in $build-ofi"
    end_ofi
fi
step "lists, and what the checks of the patches have said"
check_lists
[ $core = no ] || begin_patches
end_patches
finish
