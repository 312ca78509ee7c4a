#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3) with PMIx 4.2.2: under `srun --mpi=pmix` a rank that is killed takes the whole
# step with it, whatever --kill-on-bad-exit says, and PMIx_Abort() of one process does, too.
#
# srun(1) says of --kill-on-bad-exit=0 that the step is not terminated if a task exits with a non-zero exit code, and
# PMIx_Abort(3) that it aborts the processes in its array.  A guess by that: with --kill-on-bad-exit=0 --wait=0 the
# others live on after a kill -9 of one, as with --mpi=none and pmi2; and PMIx_Abort() of one process ends that one, or
# says that it is not supported.
# Seen: Slurm's plugin cancels the step as soon as the connection of a client is lost without PMIx_Finalize(): all are
# killed at once.  PMIx_Abort() of one process has no error, and all are killed, its caller as well.
# So: a program that is to go on after the loss of a rank, and a tool that has a second to locate it, use --mpi=pmi2.
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

cat >rank.c <<'END'
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Process 1 is killed, or process 0 aborts it; the last one says later that it lives. */
int main(int argc, char **argv)
{
    int rank = atoi(getenv("SLURM_PROCID")), pmix = strcmp(argv[1], "none");
    pmix_proc_t me, one;
    pmix_info_t info;
    bool yes = true;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (pmix) {
        if (PMIx_Init(&me, NULL, 0))
            return 1;
        PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
        PMIx_Fence(NULL, 0, &info, 1);
    }
    sleep(2);
    if (rank == 1 && strcmp(argv[1], "abort"))
        raise(SIGKILL);
    if (rank == 0 && !strcmp(argv[1], "abort")) {
        PMIX_LOAD_PROCID(&one, me.nspace, 1);
        PMIx_Abort(3, "one", &one, 1);
    }
    sleep(6);
    if (rank == 2)
        printf("the others live\n");
    sleep(2);
    if (pmix)
        PMIx_Finalize(NULL, 0);
    return 0;
}
END
gcc -w -I"$library/pmix2/include" -o rank rank.c -L"$library/pmix2/lib" -lpmix

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


run() {
    local what=$1
    shift
    timeout 60 srun -N 2 -n 4 --overcommit --kill-on-bad-exit=0 --wait=0 "$@" </dev/null >out 2>>err || :
    grep -q 'live' out || echo 'all are killed' >>out
    echo "$what: $(tr -d '\n' <out)"
}
run first --mpi=pmix true >/dev/null
{
    run 'a rank is killed, --mpi=none' --mpi=none ./rank none
    run 'a rank is killed, --mpi=pmix' --mpi=pmix ./rank kill
    run 'PMIx_Abort() of one' --mpi=pmix ./rank abort
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
a rank is killed, --mpi=none: the others live
a rank is killed, --mpi=pmix: all are killed
PMIx_Abort() of one: all are killed
END
echo "as seen with Slurm $version and PMIx 4.2.2"
