#!/bin/sh
# Stands before the program by which LBNL's Node Health Check takes a node offline. In nhc.conf:
#   * || export OFFLINE_NODE=/opt/mpich-faultloc/share/doc/faultloc/examples/symptom-nhc.sh
# It is called with the node and what failed: "c17 NHC: check_fs_mount:  /scratch not mounted".
case $* in
    *check_fs_*) kind=mount-silent ;;
    *check_hw_ib* | *check_hw_eth*) kind=interface-down ;;
    *check_hw_mcelog* | *check_hw_edac*) kind=memory-uncorrected ;;
    *check_nv_* | *check_dcgm*) kind=gpu-failed ;;
    *) kind=node-drained ;;
esac
"$(dirname "$0")/symptom-tell.sh" $kind "$*" || :
exec "${NHC_OFFLINE:-/usr/libexec/nhc/node-mark-offline}" "$@"
