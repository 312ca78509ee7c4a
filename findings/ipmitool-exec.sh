#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# ipmitool 1.8.19 (Debian 1.8.19-4+deb12u2): who must not show the name of a BMC's user, or its address, among
# the arguments of a process cannot put them into a file of commands either.
#
# ipmitool(1) says that options may be postponed "until shell or exec processes relevant command", that exec
# runs "ipmitool commands from filename", and that "set hostname", "set username", "set password" and
# "set port" set the session's. A guess by that: `ipmitool -I lanplus exec FILE` with these lines first.
# Seen: the session is opened before the first line of the file is read: "No hostname specified!" (shell: the
# same); with -H but without -U and a password it is opened with an empty user, and on a terminal the password is
# asked for. The lines are obeyed ("Set session hostname to ...") where all was given as options, too
# late for the session that is open. Only the password can be kept out of the arguments: -f FILE, which may be
# /proc/self/fd/N of a memory file.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq ipmitool=1.8.19-4+deb12u2 libfreeipmi17=1.6.10-1+b1 libreadline8=8.2-1.3 2>/dev/null ||
    { echo "SKIP: no packages of ipmitool 1.8.19-4+deb12u2"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
libraries=$(find "$PWD" -type d -name '*-linux-gnu' | paste -sd:)
tool() { LD_LIBRARY_PATH=$libraries timeout 30 usr/bin/ipmitool -I lanplus -C 3 -N 1 -R 1 "$@" </dev/null 2>&1 || :; }
[[ $(tool -V) == *'version 1.8.19'* ]] || { echo "SKIP: it does not run here"; exit 77; }

printf 'set hostname 127.0.0.1\nset port 9\nset username u\nset password p\nchassis power status\n' >commands
said=$(tool exec commands)
echo "ipmitool exec commands: $said"
case $said in
    'No hostname specified!') ;;
    *) echo "CHANGED: the commands of the file were read"; exit 1 ;;
esac
printf 'p' >password
said=$(tool -H 127.0.0.1 -p 9 -U u -f password exec commands)
! grep -q 'Set session' <<<"$said" || { echo "CHANGED: a session that cannot be opened is no end"; exit 1; }
echo "STILL SO: the session is opened before the file is read"
