#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Ranks that end by MPI: what is said of who ended, and of whom it ended with it, on one node, and
# with a node for each rank in name. Each line that is expected of a job is there, and none that is
# not.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

"$here/build.sh" --mpi "$mpi" --out "$bin" die
ranks=4
place='die\+0x[0-9a-f]+'
! "$mpi/libexec/faultloc-handler" --version | grep -q 'with stacks' || place='[a-z_]+\(\), die[a-z_]*\.c:[0-9]+'
# what the ranks are in may be said again behind it, once it is known where they are in their code
evidence='^.faultloc.   (evidence:|         )'
export MPIR_CVAR_FAULTLOC_REPORT= FAULTLOC_TEST_PIDFILE=$work

# job NAME OPTION...: of die, by four ranks; sets code and $work/o
job() {
    name=$1 code=0
    (cd "$work" && MPIR_CVAR_FAULTLOC=1 exec timeout -s INT -k 5 200 "$mpi/bin/mpiexec" $apart -n $ranks "$bin/die" "${@:2}") \
        </dev/null >"$work/o" 2>&1 || code=$?
}
says() { # TIMES PATTERN
    local n
    n=$(grep -cE "$2" "$work/o" || :)
    [ "$n" = "$1" ] || bad "$name${apart:+, apart}: $n lines with \"$2\", not $1: $(cat "$work/o")"
}
ok() { echo "ok: $name${apart:+, apart}"; }

for apart in "" "-launcher fork -hosts h1,h2,h3,h4 -ppn 1"; do
    job "MPI_Abort on a part" --how abort-part --ranks 3
    says 1 '^.faultloc. rank 3 on .* called MPI_Abort\(3\) on a communicator of ranks 2-3$'
    says 1 '^.faultloc.   rank 2 on .* was ended by MPI_Abort\(3\) of rank 3$'
    says 1 '^.faultloc. process-crash: rank 3 .* called MPI_Abort\(3\) on a communicator of ranks 2-3 '
    says 0 'process-crash: rank [012]|has called MPI_Finalize|ended, too'
    [ $code = 3 ] || bad "$name: exit code $code"
    ok

    job "MPI_Abort on MPI_COMM_SELF" --how abort-self --ranks 3
    says 1 '^.faultloc. rank 3 on .* called MPI_Abort\(3\) on MPI_COMM_SELF$'
    says 0 'process-crash: rank [012]|ended, too'
    ok

    job "a kill, and exits because of it" --how kill --ranks 3 --on-error exit
    says 1 '^.faultloc. rank 3 on .* was the first to end: signal 9'
    # apart, one agent has the ranks of four proxies: another may kill its own before this one's says so
    says 0 "${apart:+none}process-crash: rank [012]|ended, too"
    ok

    job "a truncated message" --how truncate --ranks 2
    says 1 '^.faultloc. MPI ended the job: rank 2 on .* met a fatal error of MPI: message (from rank 0 and tag 2 )?truncated.*, in MPI_Recv\(count=50, .* called at '"$place\$"
    says 0 'called MPI_Abort'
    ok

    job "sizes that do not match" --how sizes --ranks 2
    says 1 '^.faultloc. collective-mismatch: rank 2 '
    says 1 "$evidence rank 2 .1 of 4. in MPI_Bcast\\(.* 6400 bytes"
    says 1 '^.faultloc. MPI ended the job: '
    says 0 'called MPI_Abort'
    ok

    job "those of a reduction" --how reduce --ranks 2
    says 1 '^.faultloc. collective-mismatch: rank 2 '
    says 1 "$evidence .*3 of 4. in MPI_Reduce\\(.* 8000 bytes"
    ok
done
apart= ranks=2 # more that spin take minutes on a machine with two cores
job "communicators that are used up" --how comms --ranks 1
says 1 '^.faultloc. MPI ended the job: .*oo many communicators .* in MPI_Comm_dup\(MPI_COMM_WORLD.* called at '"$place"'; it has made 20[0-9][0-9] that are not freed'
ok
job "calls after MPI_Finalize" --how call --when after --ranks 0,1
says 2 ' MPI routine .*Barrier. before initializing or after finalizing MPICH'
ok
ranks=1 # others would wait for it
job "a call before MPI_Init" --how call --when before
says 1 ' MPI routine .*Barrier. before initializing or after finalizing MPICH'
ok
