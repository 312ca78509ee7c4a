#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8's qsub (Debian's slurm-wlm-torque 22.05.8-4+deb12u3): a script of PBS runs in the home directory, and its
# list of hosts is empty.
#
# Its manual: "It is aimed to be feature-compatible with PBS' qsub."  Scripts of PBS begin with cd $PBS_O_WORKDIR and start
# mpiexec with the file $PBS_NODEFILE.  A guess: these work, as do "-v NAME=VALUE,...", and what is unknown is refused.
# Seen: no variable PBS_* is set, so that "cd $PBS_O_WORKDIR" goes to the home directory, and what the job writes goes
# there, with exit code 0.  Of -v 'A="1,2",B=3' A is lost without a word.  A resource that is unknown, "-l nosuch=3", is
# passed over.  So: scripts that come from PBS begin with cd ${PBS_O_WORKDIR:-$SLURM_SUBMIT_DIR}, and make the file by
# generate_pbs_nodefile, of the same package.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/slurm.sh"
mkdir torque home submit
(cd torque && apt-get download -qq slurm-wlm-torque=$version libslurm-perl=$version libslurm38=$version 2>/dev/null) ||
    { echo "SKIP: no packages of slurm-wlm-torque $version"; exit 77; }
for package in torque/*.deb; do dpkg-deb -x "$package" .; done
PERL5LIB=$(echo "$library"/perl5/*)
export PERL5LIB HOME=$PWD/home
for name in ${!PBS_@} A B; do unset "$name"; done
cat >submit/job <<'END'
#!/bin/sh
cd $PBS_O_WORKDIR
echo "in $(basename $PWD), nodes $SLURM_NNODES, PBS_NODEFILE=$PBS_NODEFILE, A=$A, B=$B" >$SEEN
END
cd submit
export SEEN=$work/of-job
run() {
    : >"$SEEN"
    timeout 60 qsub -V -o output "$@" job >number 2>&1 || { cat number; return; }
    for ((i = 0; i < 300; i++)); do [ -z "$(squeue -h)" ] && break; sleep 0.2; done
    echo "qsub $*: $(cat "$SEEN")"
}
{
    run
    run -l nodes=2:ppn=1
    run -l nosuch=3
    run -v A=1,B=3
    run -v 'A="1,2",B=3'
} | tee ../seen
diff - ../seen <<'END' || { cat number; echo "it is otherwise now"; exit 1; }
qsub : in home, nodes 1, PBS_NODEFILE=, A=, B=
qsub -l nodes=2:ppn=1: in home, nodes 2, PBS_NODEFILE=, A=, B=
qsub -l nosuch=3: in home, nodes 1, PBS_NODEFILE=, A=, B=
qsub -v A=1,B=3: in home, nodes 1, PBS_NODEFILE=, A=1, B=3
qsub -v A="1,2",B=3: in home, nodes 1, PBS_NODEFILE=, A=, B=3
END
echo "as seen with slurm-wlm-torque $version"
