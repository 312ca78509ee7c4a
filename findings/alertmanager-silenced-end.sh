#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Prometheus' Alertmanager 0.25.0 (Debian 0.25.0-1+b4): who was told of a fault is not told of its end where the node is
# silenced meanwhile.
#
# An operator silences a node while it is repaired, so that it alerts nobody again; send_resolved, on by default for a
# webhook, has "resolved" sent to whatever has opened a ticket or drained the node.  A guess: the end of an alert of
# which the receiver was told is sent in spite of the silence, or when the silence has ended.
# Seen: neither.  What ends under a silence is never sent as resolved; without a silence it is sent within the group's
# interval.  So: who counts on "resolved" looks at /api/v2/alerts besides, for what is active; or ends the silence first, when
# the repair is done, and the fault after.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/alertmanager.sh"

alert() { echo "{\"labels\": {\"alertname\": \"Down\", \"node\": \"$1\"}${2:-}}"; }
over() { echo ", \"endsAt\": \"$(date -u -d '-1 sec' +%FT%TZ)\""; }
has_told() { grep -qx "$1" notified; }
{
    [ "$(post "[$(alert n1), $(alert n2), $(alert n3)]")" = 200 ]
    for node in n1 n2 n3; do await has_told "$node firing"; done
    silence=$(amtool silence add -a operator -c repair node=n2)
    amtool silence add -a operator -c repair node=n3 >/dev/null
    sleep 2
    [ "$(post "[$(alert n1 "$(over)"), $(alert n2 "$(over)"), $(alert n3 "$(over)")]")" = 200 ]
    await has_told "n1 resolved"
    sleep 4
    amtool silence expire "$silence"
    sleep 6
    for node in n1 n2 n3; do echo "$node: $(grep "^$node" notified | cut -d' ' -f2 | uniq | paste -sd' ')"; done
    echo "active: $(amtool -o simple alert query | tail -n +2 | grep -c . || :)"
} >seen
cat seen
diff - seen <<'END' || { cat notified; tail -n 3 alertmanager.log; echo "it is otherwise now"; exit 1; }
n1: firing resolved
n2: firing
n3: firing
active: 0
END
echo "as seen with Alertmanager $version"
