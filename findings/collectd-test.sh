#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# collectd 5.12.0 (Debian 5.12.0-14): "collectd -t", which tests the configuration, succeeds for any, and for none.
#
# collectd(1) says of -t: "Test the configuration only. ... A return code not equal to zero indicates an error".  Debian's
# unit calls it before each start, and scripts that roll out a configuration do.  A guess: a file that is not there, one
# that cannot be parsed and one with a plugin that is not there are refused, with the place.
# Seen: exit code 0 and no word for each of them; the file is not opened.  "collectd -T", which reads all plugins once,
# and the daemon refuse all three, with exit code 1.  So: a node whose collectd was restarted with a bad file is not
# monitored, though the test has passed; test with -T.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
version=5.12.0-14
unpack "collectd $version" "collectd-core=$version"
usr/sbin/collectd -h >out 2>&1 || { echo "SKIP: it does not run here"; exit 77; }

mkdir base
cat >good.conf <<END
Hostname n1
FQDNLookup false
BaseDir "$PWD/base"
PIDFile "$PWD/pid"
PluginDir "$PWD/usr/lib/collectd"
TypesDB "$PWD/usr/share/collectd/types.db"
LoadPlugin load
END
{ cat good.conf; echo 'LoadPlugin nosuch'; } >plugin.conf
{ cat good.conf; echo '<Plugin csv>'; } >syntax.conf
run() {
    local code=0
    timeout 20 usr/sbin/collectd "$1" -C "$PWD/$2.conf" >out 2>&1 </dev/null || code=$?
    echo "collectd $1, $2: exit code $code, $([ -s out ] && echo messages || echo silence)"
}
{
    for file in nosuch syntax plugin; do
        run -t $file
        run -T $file
    done
    run -t good
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
collectd -t, nosuch: exit code 0, silence
collectd -T, nosuch: exit code 1, messages
collectd -t, syntax: exit code 0, silence
collectd -T, syntax: exit code 1, messages
collectd -t, plugin: exit code 0, silence
collectd -T, plugin: exit code 1, messages
collectd -t, good: exit code 0, silence
END
echo "as seen with collectd $version"
