#!/bin/sh
# A trigger of rasdaemon 0.8.1 or later, for errors of memory (0.6.8 of Debian 12 has none, and passes over
# the variables). In its configuration (/etc/sysconfig/rasdaemon, of Debian /etc/default/rasdaemon):
#   TRIGGER_DIR=/opt/mpich-faultloc/share/doc/faultloc/examples
#   MC_CE_TRIGGER=symptom-rasdaemon.sh
#   MC_UE_TRIGGER=symptom-rasdaemon.sh
case ${TYPE:-} in
    Uncorrected* | Fatal*) kind=memory-uncorrected ;;
    *) kind=memory-corrected ;;
esac
exec "$(dirname "$0")/symptom-tell.sh" $kind "rasdaemon: ${COUNT:-1} x ${MESSAGE:-error} on ${LABEL:-unknown}"
