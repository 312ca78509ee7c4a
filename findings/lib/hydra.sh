##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the findings about Hydra 4.0.2: it is unpacked, with the packages that are given, in a temporary folder, in which
# the script goes on.  mpiexec ... starts processes without standard input.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq mpich=4.0.2-3+b1 libslurm38=22.05.8-4+deb12u3 libhwloc15=2.9.0-1 "$@" 2>/dev/null ||
    { echo "SKIP: no packages of mpich 4.0.2-3+b1"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
LD_LIBRARY_PATH=$(echo "$PWD"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
hydra=$PWD/usr/bin/mpiexec.hydra
[[ $("$hydra" --version 2>&1) == *4.0.2* ]] || { echo "SKIP: it does not run here"; exit 77; }
mpiexec() { timeout 60 "$hydra" "$@" </dev/null; }

# In the place of ssh: what is to run on another host runs on this one, with no more of an environment than sshd gives.
cat >ssh <<END
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
host=\$1
shift
exec env -i HOME=/ PATH=/usr/bin:/bin LD_LIBRARY_PATH=$LD_LIBRARY_PATH HOST=\$host sh -c "\$*"
END
chmod +x ssh
ssh=(-launcher ssh -launcher-exec "$PWD/ssh")
local=(-launcher fork)
