#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3) with PMIx 4.2.2: PMIx_Fence across nodes is no barrier, unless it is asked to
# collect data.
#
# PMIx_Fence(3) and the standard say that it executes a blocking barrier across the processes named.  A guess by
# that: under `srun --mpi=pmix` it returns when all have called it, and where a process is late, dead or stopped it does
# not return, or returns an error, or PMIX_ERR_TIMEOUT where PMIX_TIMEOUT is given.
# Seen: it returns PMIX_SUCCESS at once, though a process of another node has not called it.  Only with
# PMIX_COLLECT_DATA it waits as it should: without, Slurm's plugin begins no exchange (mpi.conf(5) names PMIxFenceBarrier,
# which is off).  So: success of a fence is no sign that the others live, or have come so far; and what
# is only safe behind a barrier (closing a connection, removing a file) asks for data to be collected.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
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

cat >fence.c <<'END'
#include <pmix.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* The second process comes four seconds late. */
static void fence(const char *what, pmix_proc_t me, pmix_info_t *info, size_t n)
{
    double begin = now();
    pmix_status_t rc;

    if (me.rank == 1)
        sleep(4);
    rc = PMIx_Fence(NULL, 0, info, n);
    if (me.rank == 0)
        printf("%s: %s, %s\n", what, PMIx_Error_string(rc),
               now() - begin < 2 ? "at once" : "when the other has come");
    sleep(me.rank == 0 ? 6 : 2);
}

int main(void)
{
    pmix_proc_t me;
    pmix_info_t info;
    bool yes = true;

    if (PMIx_Init(&me, NULL, 0))
        return 1;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    fence("fence that collects data", me, &info, 1);
    fence("fence", me, NULL, 0);
    PMIx_Finalize(NULL, 0);
    return 0;
}
END
gcc -w -I"$library/pmix2/include" -o fence fence.c -L"$library/pmix2/lib" -lpmix

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
NodeName=n1 NodeAddr=127.0.0.1 NodeHostname=$(hostname -s) Port=$((port + 1)) CPUs=2
NodeName=n2 NodeAddr=127.0.0.1 NodeHostname=$(hostname -s) Port=$((port + 2)) CPUs=2
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
[ "$(sinfo -h -o %t)" = idle ] || { echo "SKIP: Slurm does not run here: $(tail -n 3 slurmd.n1.log daemons.out)"; exit 77; }

run() { timeout 60 srun -N 2 --ntasks-per-node=1 --mpi=pmix "$@" ./fence </dev/null 2>>err | sort; }
run true >/dev/null || :
run | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
fence that collects data: SUCCESS, when the other has come
fence: SUCCESS, at once
END
echo "as seen with Slurm $version and PMIx 4.2.2"
