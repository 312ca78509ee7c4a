#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Prometheus' Alertmanager 0.25.0 (Debian 0.25.0-1+b4): of alerts that it refuses, with HTTP status 400, it has taken all
# but one, and tells of them.
#
# A script that has found faults on several nodes posts them as one list to /api/v2/alerts.  A guess: status 400, for one of
# them has a name that is no name of a label ("slot-id"), means that none was taken, so that the list is mended and
# posted again; it has one answer, after all.
# Seen: the alerts before and after the wrong one are active, and notifications are sent for them; the answer has the
# reason alone ("invalid label set"), and not which alert it is.  So: post each alert alone, if its status is to count.  To
# post a whole list again after a 400 does no harm: an alert that is posted twice is one.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/alertmanager.sh"

alert() { echo "{\"labels\": {\"alertname\": \"Down\", \"node\": \"$1\"${2:-}}}"; }
has_told() { [ "$(sort -u notified | wc -l)" -ge "$1" ]; }
active() { amtool -o json alert query | grep -oE '"node":"n[0-9]"' | cut -d'"' -f4 | sort | paste -sd' '; }
{
    echo "one that is wrong: status $(post "[$(alert n1 ', "slot-id": "4"')]"), active: $(active)"
    echo "one of three that is wrong: status $(post "[$(alert n2), $(alert n3 ', "slot-id": "4"'), $(alert n4)]"), active: $(active)"
    await has_told 2
    echo "told of: $(sort -u notified | paste -sd,)"
} >seen
cat seen
diff - seen <<'END' || { cat answer; tail -n 3 alertmanager.log; echo "it is otherwise now"; exit 1; }
one that is wrong: status 400, active: 
one of three that is wrong: status 400, active: n2 n4
told of: n2 firing,n4 firing
END
echo "as seen with Alertmanager $version"
