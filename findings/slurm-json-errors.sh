#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): with --json, sinfo and squeue succeed without a controller.
#
# sinfo(1) and squeue(1) say of --json that the information is dumped as JSON, and that formatting and filtering
# arguments are ignored.  A guess by that: where slurmctld cannot be asked, the exit code is 1 as without it.
# Seen: exit code 0 and a document that fits: "nodes": [] or "jobs": [], as on a cluster without nodes or jobs.  Only
# its list "errors", which is empty at other times, has an entry.  So: whoever reads "no node is down", or "my
# job has ended", out of the JSON looks at .errors first.
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

# Nobody listens at the controller's port.
for command in "sinfo" "sinfo --json" "squeue" "squeue --json"; do
    code=0
    $command >out 2>/dev/null </dev/null || code=$?
    tr -d ' \n' <out >text
    echo "$command: exit code $code$(grep -oE '"(nodes|jobs)":\[[]{]' text | sed 's/^/, /' || :)$(
        ! grep -q '"errors":\[{' text || echo ', "errors":[{')"
done | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
sinfo: exit code 1
sinfo --json: exit code 0, "nodes":[], "errors":[{
squeue: exit code 1
squeue --json: exit code 0, "jobs":[], "errors":[{
END
echo "as seen with Slurm 22.05.8"
