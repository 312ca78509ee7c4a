#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# scontrol of Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): "show hostnames" of a list that it does not know exits with 0,
# and the lists of pdsh and ClusterShell are not its own.
#
# Job scripts and tools expand lists of hosts by it.  A guess: it takes what pdsh -w (2.34) and nodeset -e (ClusterShell
# 1.9.1) take, for the form is the same, n[1-3]; and what it cannot expand is an error with exit code 1, as "scontrol
# show node" of an unknown one is.
# Seen: a list with something behind the brackets, n[1-2]-ib or n[1-2].x, which both others expand, is "Invalid
# hostlist" on standard error, and the exit code is 0: a loop over the names runs zero times.  In the other direction,
# n[8-010] is n8, n9, n10 for scontrol (pdsh: the same), and refused by nodeset.  Repeated hosts stay, in the order of
# the list; nodeset sorts them and has each once.  So: test for an empty result.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, or no python3.
. "$(dirname "$0")/lib/packages.sh"
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
unpack 'Slurm 22.05.8 and ClusterShell 1.9.1' slurm-client=22.05.8-4+deb12u3 slurm-wlm-basic-plugins=22.05.8-4+deb12u3 \
    libmunge2=0.5.15-2+deb12u1 liblz4-1 libreadline8=8.2-1.3 python3-clustershell=1.9.1-1
export LD_LIBRARY_PATH=$libraries:$libraries/slurm-wlm SLURM_CONF=$work/slurm.conf
export PYTHONPATH=$work/usr/lib/python3/dist-packages
printf '%s\n' ClusterName=t "SlurmctldHost=$(hostname)(127.0.0.1)" SlurmctldPort=1 "PluginDir=$libraries/slurm-wlm" \
    AuthType=auth/munge NodeName=n1 'PartitionName=p Nodes=n1' >slurm.conf
[[ $(usr/bin/scontrol --version) == *'slurm-wlm 22.05.8'* ]] || { echo "SKIP: it does not run here"; exit 77; }

nodeset() { python3 -c 'import sys; from ClusterShell.NodeSet import NodeSet; print(" ".join(NodeSet(sys.argv[1])))' "$1"; }
python3 -c 'import ClusterShell.NodeSet' || { echo "SKIP: ClusterShell does not run here"; exit 77; }
for list in 'n[1-2]' 'n[1-2]-ib' 'n[1-2].x' 'n[8-010]' 'n2,n1,n1'; do
    code=0 other=0
    usr/bin/scontrol show hostnames "$list" >out 2>err || code=$?
    nodeset "$list" >names 2>err || other=$?
    echo "$list: scontrol '$(paste -sd' ' out)', exit code $code; nodeset '$(cat names)', exit code $other"
done | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
n[1-2]: scontrol 'n1 n2', exit code 0; nodeset 'n1 n2', exit code 0
n[1-2]-ib: scontrol '', exit code 0; nodeset 'n1-ib n2-ib', exit code 0
n[1-2].x: scontrol '', exit code 0; nodeset 'n1.x n2.x', exit code 0
n[8-010]: scontrol 'n8 n9 n10', exit code 0; nodeset '', exit code 1
n2,n1,n1: scontrol 'n2 n1 n1', exit code 0; nodeset 'n1 n2', exit code 0
END
echo "as seen with Slurm 22.05.8 and ClusterShell 1.9.1"
