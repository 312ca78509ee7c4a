#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3) with PMIx 4.2.2: PMIx_Get() with PMIX_TIMEOUT ends in time for a process of
# the same node, and does not for one of another node.
#
# The standard says that PMIX_TIMEOUT is the time in seconds after which the operation ends with an error.  A guess by
# that: under `srun --mpi=pmix`, PMIx_Get() of a key that a process has not put yet, with PMIX_TIMEOUT 2, returns
# PMIX_ERR_TIMEOUT after 2 s, wherever that process is.
# Seen: it does on the own node.  Of a process of another node it has not returned after 20 s, ten times as long, and
# nothing is said: the request is with the other node then, where the time does not count.  So: who asks for the
# address of a process that may hang before it has put it sets a clock of its own (PMIx_Get_nb()).
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

cat >get.c <<'END'
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *of;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void late(int number)
{
    printf("%s: no answer after 20 s\n", of);
    fflush(stdout);
    _exit(0);
}

static void get(pmix_proc_t me, pmix_rank_t rank, const char *what)
{
    double begin = now();
    pmix_value_t *value;
    pmix_proc_t other;
    pmix_info_t info;
    pmix_status_t rc;
    int two = 2;

    of = what;
    alarm(20);
    PMIX_LOAD_PROCID(&other, me.nspace, rank);
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &two, PMIX_INT);
    rc = PMIx_Get(&other, "key", &info, 1, &value);
    alarm(0);
    printf("%s: %s %s\n", what, PMIx_Error_string(rc), now() - begin < 10 ? "in time" : "late");
    fflush(stdout);
}

int main(void)
{
    pmix_proc_t me;
    pmix_info_t info;
    bool yes = true;

    signal(SIGALRM, late);
    if (PMIx_Init(&me, NULL, 0))
        return 1;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    PMIx_Fence(NULL, 0, &info, 1);
    if (me.rank == 0) {
        get(me, 1, "a process of the same node");
        get(me, 2, "a process of another node");
    }
    sleep(60);
    PMIx_Finalize(NULL, 0);
    return 0;
}
END
gcc -w -I"$library/pmix2/include" -o get get.c -L"$library/pmix2/lib" -lpmix

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
[ "$(sinfo -h -o %t)" = idle ] || { echo "SKIP: Slurm does not run here: $(tail -n 3 slurmd.n1.log daemons.out)"; exit 77; }


timeout 60 srun -N 2 -n 4 --overcommit --mpi=pmix true </dev/null 2>>err || :
timeout 60 srun -N 2 -n 4 --overcommit --mpi=pmix --kill-on-bad-exit=1 ./get </dev/null 2>>err | tee seen || :
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
a process of the same node: TIMEOUT in time
a process of another node: no answer after 20 s
END
echo "as seen with Slurm $version and PMIx 4.2.2"
