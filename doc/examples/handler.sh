#!/bin/sh
# A handler of a site's own: says what a file of the site says of the node that FaultLoc asks about.
# The request is one JSON object on standard input; each line that it prints is a finding.
node=$(jq -r .node)
state=$(awk -v node="$node" '$1 == node { print $2 }' /var/lib/site/power 2>/dev/null)
case $state in
    on | off) echo "{\"symptom\": \"power-$state\", \"text\": \"the rack's power is $state\"}" ;;
    *) echo '{"why_not": "the site knows nothing of this node"}' ;;
esac
