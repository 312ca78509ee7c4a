#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# scontrol of Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): where slurmctld is gone it answers after nine seconds.
#
# slurm.conf(5) says of MessageTimeout: "Time permitted for a round-trip communication to complete in seconds.
# Default value is 10 seconds."  A guess by that: where the controller's kernel refuses the connection there is
# no round trip to wait for, and "scontrol show node" fails at once.
# Seen: it tries again and again, and fails after 9 s ("connect failure"); with MessageTimeout=2 after 1 s.  So
# a caller with a deadline below that learns nothing but that there was no answer, and cannot tell a controller
# that is gone from one that is slow; a slurm.conf for such callers has a small MessageTimeout.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq slurm-client=22.05.8-4+deb12u3 slurm-wlm-basic-plugins=22.05.8-4+deb12u3 \
    libmunge2=0.5.15-2+deb12u1 liblz4-1 libreadline8=8.2-1.3 2>/dev/null ||
    { echo "SKIP: no packages of slurm 22.05.8-4+deb12u3"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
library=$(find "$PWD/usr/lib" -type d -name '*-linux-gnu')
export LD_LIBRARY_PATH=$library:$library/slurm-wlm SLURM_CONF=$work/slurm.conf

conf() {
    printf '%s\n' ClusterName=t "SlurmctldHost=$(hostname)(127.0.0.1)" SlurmctldPort=1 "PluginDir=$library/slurm-wlm" \
        AuthType=auth/munge NodeName=n1 PartitionName=p\ Nodes=n1 "$@" >slurm.conf
}
conf
[[ $(usr/bin/scontrol --version) == *'slurm-wlm 22.05.8'* ]] || { echo "SKIP: it does not run here"; exit 77; }

# ask MORE: how many seconds it takes where nobody listens on slurmctld's port.
ask() {
    local begin end
    conf "$@"
    begin=$(date +%s%N)
    usr/bin/scontrol show node n1 -o >said 2>&1 && { echo "CHANGED: it does not fail"; exit 1; }
    end=$(date +%s%N)
    grep -q 'Unable to contact slurm controller (connect failure)' said || { cat said; echo "CHANGED: other words"; exit 1; }
    took=$(((end - begin) / 1000000))
    echo "connection refused, ${*:-default MessageTimeout}: fails after $took ms"
}
ask
long=$took
ask MessageTimeout=2
if [ "$long" -lt 5000 ] || [ "$took" -gt $((long / 2)) ]; then
    echo "CHANGED: it does not take that long"
    exit 1
fi
echo "STILL SO: scontrol tries for nine seconds where the connection is refused"
