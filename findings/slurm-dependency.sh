#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): "sbatch --dependency=afterok:ID" runs at once where ID is a job that has failed
# and is forgotten, or never was.
#
# sbatch(1): "This job can begin execution after the specified jobs have successfully executed".  A guess: a number that
# slurmctld does not know is refused, or such a job waits, as it does for a failed job that is still known
# (DependencyNeverSatisfied).
# Seen: for a known job that has failed it is so.  slurmctld forgets a job some time after its end (MinJobAge, 300 s by
# default, 2 s here), and from then on the dependency is taken for one that holds: exit code 0, and the job runs.  So does
# one with a mistyped number.  So: a chain that is submitted link by link by a script, each after a look at the one
# before, computes with the output of a failed one; submit the whole chain at once, or test for the result in the job.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/slurm.sh"

echo MinJobAge=2 >>slurm.conf
scontrol reconfigure
printf '#!/bin/sh\nexit 1\n' >fails
printf '#!/bin/sh\necho "$1" >>%s/ran\n' "$PWD" >next
: >ran
submit() { sbatch --parsable -o /dev/null "$@"; }
ended() {
    for _ in $(seq 200); do
        case $(squeue -h -t all -j "$1" -o %T 2>/dev/null) in '' | COMPLETED | FAILED) break ;; esac
        sleep 0.3
    done
}
failed=$(submit fails)
ended "$failed"
known=$(submit --dependency="afterok:$failed" next known)
never=$(submit --dependency=afterok:99999 next never)
ended "$never"
{
    echo "known: $(squeue -h -j "$known" -o %r)"
    scancel "$known"
    # a job is kept as long as another waits for it
    for _ in $(seq 250); do scontrol show job "$failed" >out 2>&1 || break; sleep 0.5; done
    forgotten=$(submit --dependency="afterok:$failed" next forgotten)
    ended "$forgotten"
    echo "ran: $(paste -sd' ' ran)"
} | tee seen
diff - seen <<'END' || { tail -n 20 slurmctld.log; echo "it is otherwise now"; exit 1; }
known: DependencyNeverSatisfied
ran: never forgotten
END
echo "as seen with Slurm $version"
