#!/bin/sh
# A site's program (man 7 faultloc): asks PBS to take the node offline that a hardware verdict is about.
#   MPIR_CVAR_FAULTLOC_ACTION=exec:/PATH/TO/pbs-offline-node.sh
# PBS lets operators do that; users need a rule of sudo: PBSNODES="sudo -n pbsnodes".
# Of a warning (node-at-risk) nothing is taken offline, nor is a node with a comment.
[ "${FAULTLOC_ORIGIN:-}/${FAULTLOC_KIND:-}" = hardware/node ] || exit 0
[ "${FAULTLOC_CLASS:-}" != node-at-risk ] || exit 0
case ${FAULTLOC_HOST:-} in
    '' | -* | *[!A-Za-z0-9._-]*) echo "FAULTLOC_HOST is not the name of one node" >&2; exit 2 ;;
esac
# shellcheck disable=SC2086
ask() { timeout 4 ${PBSNODES:-pbsnodes} "$@" 2>&1; }
state=$(ask "$FAULTLOC_HOST") || { echo "PBS does not show $FAULTLOC_HOST: $state"; exit 1; }
case $state in
    *'comment ='* | *offline*) echo "$FAULTLOC_HOST is left alone"; exit 0 ;;
esac
ask -o -C "FaultLoc: $FAULTLOC_CLASS; job ${FAULTLOC_JOB:-unknown}" "$FAULTLOC_HOST" || exit 1
echo "$FAULTLOC_HOST is offline"
