#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# edac-utils 0.18 (Debian 0.18+git12-gd98769e-1): edac-util finds "No errors to report" where the kernel has counted them
# by DIMM.
#
# Linux shows memory errors below /sys/devices/system/edac/mc: in mcN/ue_count, in mcN/dimmN, and in mcN/csrowN only with
# CONFIG_EDAC_LEGACY_SYSFS, which a kernel need not have.  A guess: edac-util, which "reports errors", names the DIMM
# or at least the controller with an uncorrected error, and its exit code is not 0 then.
# Seen, with a tree as the kernel makes it, two uncorrected and five corrected errors in DIMM_A1: "edac-util" and
# "edac-util -q", which is for cron, know none without csrows; --report=simple has the sums of the same tree.  The exit
# code is 0 with csrows, too.  So: a check reads the files mcN/*_count and mcN/dimmN/dimm_*_count itself, as FaultLoc
# does, or --report=ue.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
if [ "${1:-}" != inside ]; then
    unshare -m true 2>/dev/null || { echo "SKIP: no root, or no namespaces"; exit 77; }
    exec unshare -m "$0" inside
fi
version=0.18+git12-gd98769e-1
unpack "edac-utils $version" "edac-utils=$version" "libedac1=$version" libsysfs2=2.1.1-4
LD_LIBRARY_PATH=$(find "$PWD" -name '*.so.*' -exec dirname {} + | sort -u | paste -sd:)
export LD_LIBRARY_PATH

# A /sys of its own, with one memory controller of two DIMMs.
mkdir sys
mc=sys/devices/system/edac/mc/mc0
mkdir -p $mc/dimm0 $mc/dimm1
put() { echo "$2" >"$mc/$1"; }
put mc_name Skylake
put size_mb 32768
put seconds_since_reset 100
put ue_count 2
put ce_count 5
put ue_noinfo_count 0
put ce_noinfo_count 0
for i in 0 1; do
    put dimm$i/dimm_label "DIMM_A$i"
    put dimm$i/dimm_ue_count $((i * 2))
    put dimm$i/dimm_ce_count $((i * 5))
done
mount --rbind sys /sys
run() {
    local code=0
    timeout 20 usr/bin/edac-util "$@" >out 2>&1 || code=$?
    echo "edac-util $*: exit code $code, $(paste -sd'|' out)"
}
{
    run
    run -q
    run --report=simple
    run --report=ue
    echo "with csrows:"
    mkdir $mc/csrow0
    put csrow0/size_mb 32768
    put csrow0/ue_count 2
    put csrow0/ce_count 5
    put csrow0/ch0_dimm_label DIMM_A1
    put csrow0/ch0_ce_count 5
    run
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
edac-util : exit code 0, edac-util: No errors to report.
edac-util -q: exit code 0, 
edac-util --report=simple: exit code 0, mc0: Correctable errors:   5|mc0: Uncorrectable errors: 2|Total CE: 5|Total UE: 2
edac-util --report=ue: exit code 0, UE: 2
with csrows:
edac-util : exit code 0, mc0: csrow0: 2 Uncorrected Errors|mc0: csrow0: DIMM_A1: 5 Corrected Errors
END
echo "as seen with edac-utils $version"
