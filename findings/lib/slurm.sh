##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the findings about Slurm 22.05.8 with PMIx 4.2.2: two nodes of it on this machine, from packages in a temporary
# folder, in which the script goes on.  compile NAME makes a program of PMIx from the C text on its standard input.
set -euo pipefail
if [ "${1:-}" != inside ]; then
    unshare -m true 2>/dev/null || { echo "SKIP: no root, or no namespaces"; exit 77; }
    exec unshare -m "$0" inside
fi
work=$(mktemp -d)
pids=()
trap 'kill -KILL "${pids[@]}" 2>/dev/null || :; wait 2>/dev/null || :; rm -rf "$work"' EXIT
cd "$work"
version=22.05.8-4+deb12u3
apt-get download -qq slurm-client=$version slurmctld=$version slurmd=$version slurm-wlm-basic-plugins=$version \
    munge=0.5.15-2+deb12u1 libmunge2=0.5.15-2+deb12u1 libpmix2=4.2.2-1+deb12u1 libpmix-dev=4.2.2-1+deb12u1 \
    libhwloc15=2.9.0-1 libjson-c5=0.16-2 libevent-core-2.1-7=2.1.12-stable-8+deb12u1 \
    libevent-pthreads-2.1-7=2.1.12-stable-8+deb12u1 liblua5.1-0=5.1.5-9 2>/dev/null ||
    { echo "SKIP: no packages of Slurm $version and PMIx 4.2.2"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
library=$(echo "$PWD"/usr/lib/*-linux-gnu)
# Slurm's plugin opens libpmix by its whole name.
mount -t overlay overlay -o "lowerdir=$library:${library#"$PWD"}" "${library#"$PWD"}" 2>/dev/null ||
    { echo "SKIP: no overlay of file systems"; exit 77; }
export PATH=$PWD/usr/bin:$PWD/usr/sbin:$PATH SLURM_CONF=$PWD/slurm.conf
export LD_LIBRARY_PATH=$library:$library/slurm-wlm:$library/pmix2/lib
export PMIX_MCA_mca_base_component_path=$library/pmix2/lib/pmix
compile() { gcc -w -x c -I"$library/pmix2/include" -o "$1" - -L"$library/pmix2/lib" -lpmix; }

# Two nodes on this machine.
port=$((20000 + $$ % 20000))
mkdir state tmp.n1 tmp.n2
: >plugstack.conf
cat >slurm.conf <<END
ClusterName=c
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$PWD/munge.socket
StateSaveLocation=$PWD/state
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmctldLogFile=$PWD/slurmctld.log
SlurmdLogFile=$PWD/slurmd.%n.log
SlurmdPidFile=$PWD/slurmd.%n.pid
SlurmdSpoolDir=$PWD/spool.%n
TmpFS=$PWD/tmp.%n
PluginDir=$library/slurm-wlm
PlugStackConfig=$PWD/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
ReturnToService=1
NodeName=n1 NodeAddr=127.0.0.1 NodeHostname=$(hostname -s) Port=$((port + 1)) CPUs=4
NodeName=n2 NodeAddr=127.0.0.1 NodeHostname=$(hostname -s) Port=$((port + 2)) CPUs=4
PartitionName=all Nodes=ALL Default=YES State=UP
END
mungekey --create --keyfile=munge.key
daemon() { "$@" >>daemons.out 2>&1 & pids+=($!); }
daemon munged --foreground --force --key-file="$PWD/munge.key" --socket="$PWD/munge.socket" \
    --pid-file="$PWD/munge.pid" --seed-file="$PWD/munge.seed" --log-file="$PWD/munge.log"
until munge -n -S "$PWD/munge.socket" >/dev/null 2>&1; do kill -0 "${pids[0]}"; sleep 0.1; done
for node in n1 n2; do daemon slurmd-wlm -D -N $node -d "$PWD/usr/sbin/slurmstepd-wlm"; done
daemon slurmctld-wlm -D -c
for _ in $(seq 150); do [ "$(sinfo -h -o %t 2>/dev/null)" = idle ] && break; sleep 0.2; done
[ "$(sinfo -h -o %t)" = idle ] ||
    { echo "SKIP: Slurm does not run here: $(tail -n 3 slurmd.n1.log daemons.out)"; exit 77; }
timeout 60 srun -N 2 --ntasks-per-node=1 --mpi=pmix true </dev/null >first.out 2>&1 || :
