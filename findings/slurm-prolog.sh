#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): where srun's prolog refuses a step, its ranks are started all the same.
#
# srun(1) says of --prolog: "srun will run executable just before launching the job step."  A guess by that: where a
# check that is put there (of bandwidth, of a file system) exits with 1 no rank begins, and srun's exit code is not 0.
# Seen: srun says "srun prolog failed", "Aborting step", launches the step, and kills it then: the ranks begin after
# the check has failed, and what they do in the first moment is done (the old results are removed, say).  Ranks that
# end in that moment have done their whole work; srun was seen to exit with 0 then.  (--task-prolog, on the nodes,
# holds its rank back.)  So: a check that is to decide is a step of its own, whose exit code the job script looks at.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/slurm.sh"

printf '#!/bin/sh\necho "the check fails" >>events\nexit 1\n' >check
chmod +x check
for _ in 1 2 3; do
    : >events
    code=0
    timeout 60 srun -n 1 --mpi=none --prolog="$PWD/check" sh -c 'echo "a rank begins" >>events; sleep 30' \
        </dev/null >out 2>&1 || code=$?
    echo "exit code $code" >>events
    ! grep -q begins events || break
done
tee seen <events
diff - seen <<'END' || { cat out; echo "it is otherwise now"; exit 1; }
the check fails
a rank begins
exit code 137
END
echo "as seen with Slurm $version"
