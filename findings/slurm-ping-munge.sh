#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): `scontrol ping` says that slurmctld is down where munged of the
# asking host is.
#
# scontrol(1) says: "Ping the primary and secondary slurmctld daemon and report if they are responding."  A guess by
# that: DOWN, with exit code 1, is said of a controller that does not answer, and a fault of authentication is an
# error of its own.
# Seen: without munged on the asking host nothing is sent to the controller, and standard output says "Slurmctld(primary)
# at HOST is DOWN" and "RESTORE SLURMCTLD DAEMON TO SERVICE", with exit code 1, word for word as for a dead one,
# while the controller is well and says UP as soon as munged is back.  Only standard error names munged.  So: before
# the controller is accused, `munge -n | unmunge` on the asking host.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
set -euo pipefail
work=$(mktemp -d)
munged= slurmctld=
trap 'for pid in $munged $slurmctld; do kill -KILL $pid || :; done 2>/dev/null; wait 2>/dev/null || :; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq slurm-client=22.05.8-4+deb12u3 slurmctld=22.05.8-4+deb12u3 \
    slurm-wlm-basic-plugins=22.05.8-4+deb12u3 munge=0.5.15-2+deb12u1 libmunge2=0.5.15-2+deb12u1 \
    libhwloc15=2.9.0-1 libjson-c5=0.16-2 2>/dev/null ||
    { echo "SKIP: no packages of Slurm 22.05.8"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
library=$(echo "$PWD"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH=$library:$library/slurm-wlm PATH=$PWD/usr/bin:$PWD/usr/sbin:$PATH
export SLURM_CONF=$PWD/slurm.conf
mkdir state
cat >slurm.conf <<END
ClusterName=c
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$((20000 + $$ % 20000))
SlurmUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$PWD/munge.socket
StateSaveLocation=$PWD/state
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmctldLogFile=$PWD/slurmctld.log
PluginDir=$library/slurm-wlm
ProctrackType=proctrack/linuxproc
MessageTimeout=2
NodeName=n[1-3] NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END
[[ $(sinfo --version) == *'22.05.8'* ]] || { echo "SKIP: it does not run here"; exit 77; }
mungekey --create --keyfile=munge.key
start_munged() {
    munged --foreground --force --key-file="$PWD/munge.key" --socket="$PWD/munge.socket" --pid-file="$PWD/munge.pid" \
        --seed-file="$PWD/munge.seed" --log-file="$PWD/munge.log" >/dev/null 2>&1 &
    munged=$!
    for _ in $(seq 100); do munge -n -S "$PWD/munge.socket" >/dev/null 2>&1 && break; sleep 0.1; done
}
start_munged
slurmctld-wlm -D -c >/dev/null 2>&1 &
slurmctld=$!
ping() {
    local code=0 said
    said=$(scontrol ping 2>err </dev/null) || code=$?
    grep -oE '(is|RESTORE) .*' <<<"$said" | sed 's/ \*\*//' | paste -sd' ' | sed "s/$/: exit code $code/"
}
for _ in $(seq 100); do ping | grep -q 'is UP' && break; sleep 0.2; done
{
    echo "all is well: $(ping)"
    kill -KILL $munged
    wait $munged 2>/dev/null || :
    echo "no munged: $(ping)"
    kill -0 $slurmctld && start_munged
    echo "munged is back: $(ping)"
    kill -KILL $slurmctld
    wait $slurmctld 2>/dev/null || :
    echo "no slurmctld: $(ping)"
} >seen
cat seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
all is well: is UP: exit code 0
no munged: is DOWN RESTORE SLURMCTLD DAEMON TO SERVICE: exit code 1
munged is back: is UP: exit code 0
no slurmctld: is DOWN RESTORE SLURMCTLD DAEMON TO SERVICE: exit code 1
END
echo "as seen with Slurm 22.05.8"
