#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The examples that tell jobs what rasdaemon, NHC and DCGM see, that write a file for Prometheus, and that
# take a node of PBS offline: each with an event as these programs have it, and with programs in its PATH
# that write down what they are asked.
# Environment: top_srcdir, top_builddir.
# Exit code: 0 passed, 1 failed, 77 no jq or perl here.
# needs no MPI
set -euo pipefail

case ${1:-} in --help) sed -n '/^# The examples/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
for tool in jq perl; do command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }; done
cd "${top_srcdir:?}"
examples=$PWD/doc/examples command=(env)
. test/unit/program.sh

mkdir "$work/bin" "$work/prom"
folder=/tmp/faultloc-test-$$
trap 'rm -rf "$folder" "$work"' EXIT
mkdir "$folder"
perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => shift, Type => SOCK_DGRAM, Listen => 0) or die $!' \
    "$folder/17.0@c17.sock"
cat >"$work/bin/program" <<'END'
#!/bin/sh
printf '%s ' "${0##*/}" "$@" >>"$CALLS"
echo >>"$CALLS"
[ "${0##*/}" != dcgmi ] || cat "$HEALTH"
[ "${0##*/} $1" != "pbsnodes c17" ] || printf 'c17\n     state = %s\n' "$STATE"
END
chmod +x "$work/bin/program"
for name in faultloc dcgmi pbsnodes mark-offline; do ln -s program "$work/bin/$name"; done
unset FAULTLOC_PROGRAM
export PATH=$work/bin:$PATH CALLS=$work/calls HEALTH=$work/health STATE=free
export NHC_OFFLINE=$work/bin/mark-offline

# tells WHAT CALL COMMAND...: exactly this is among what the programs were asked (other jobs of the machine
# may be told, too); `says_not` that none was.
tells() {
    local what=$1 call=$2
    shift 2
    rm -f "$CALLS"
    "$@" >"$work/out" 2>&1 || bad "$what: $(cat "$work/out")"
    grep -qxF -- "$call " "$CALLS" || bad "$what: not among $(cat "$CALLS")"
    ok "$what"
}
says_not() {
    local what=$1
    shift
    rm -f "$CALLS"
    "$@" >"$work/out" 2>&1 || bad "$what: $(cat "$work/out")"
    ! grep -E '^(faultloc|pbsnodes -o)' "$CALLS" 2>/dev/null || bad "$what"
    ok "$what"
}
job="faultloc symptom --user $(id -u) --job 17.0 --kind"

tells "rasdaemon, uncorrected" "$job memory-uncorrected --detail rasdaemon: 2 x read error on DIMM_A1" \
    env TYPE=Uncorrected COUNT=2 MESSAGE='read error' LABEL=DIMM_A1 "$examples/symptom-rasdaemon.sh"
tells "rasdaemon, corrected" "$job memory-corrected --detail rasdaemon: 1 x error on unknown" \
    env TYPE=Corrected "$examples/symptom-rasdaemon.sh"
note='NHC: check_fs_mount:  /scratch not mounted'
tells "NHC, a mount" "$job mount-silent --detail c17 $note" "$examples/symptom-nhc.sh" c17 "$note"
tells "NHC goes on" "mark-offline c17 $note" "$examples/symptom-nhc.sh" c17 "$note"
tells "NHC, a daemon" "$job node-drained --detail c17 NHC: check_ps_service:  sshd" \
    "$examples/symptom-nhc.sh" c17 'NHC: check_ps_service:  sshd'
cat >"$HEALTH" <<'END'
+---------------------------+----------------------------------------------------------+
| Health Monitor Report                                                                |
+===========================+==========================================================+
| Overall Health            | Failure                                                  |
| GPU 3                     | Failure                                                  |
| -> Errors                 | Memory: 2 double-bit errors                              |
+---------------------------+----------------------------------------------------------+
END
tells "dcgmi, a failure" "$job gpu-failed --detail dcgmi:  GPU 3 Failure " "$examples/symptom-dcgmi.sh"
sed -i 's/Failure/Healthy/' "$HEALTH"
says_not "dcgmi, healthy" "$examples/symptom-dcgmi.sh"

export FAULTLOC_CLASS=node-outage FAULTLOC_ORIGIN=hardware FAULTLOC_KIND=node FAULTLOC_HOST=c17 FAULTLOC_JOB=17.0
tells "PBS" "pbsnodes -o -C FaultLoc: node-outage; job 17.0 c17" "$examples/pbs-offline-node.sh"
STATE=offline says_not "PBS: it is offline" "$examples/pbs-offline-node.sh"
FAULTLOC_CLASS=node-at-risk says_not "PBS: a warning" "$examples/pbs-offline-node.sh"
FAULTLOC_ORIGIN=software says_not "PBS: software" "$examples/pbs-offline-node.sh"
! FAULTLOC_HOST='c17 c18' "$examples/pbs-offline-node.sh" 2>/dev/null || bad "PBS: a list of nodes"

cat >"$work/report.json" <<'END'
{ "job": { "id": "17.0" },
  "verdicts": [
    { "class": "node-outage", "origin": "hardware", "id": 3, "fln": "c1", "symptoms": 4, "ticket": ["node"],
      "component": { "kind": "node", "name": "c17", "node": "c17" }, "victims": { "count": 63 },
      "evidence": [ { "source": "cause", "detail": "fan-failed: \"fan\" 2" } ] },
    { "class": "straggler", "origin": "unknown", "id": 1, "fln": "c1", "withdrawn": "2026-01-31T12:00:00.000Z",
      "component": { "kind": "rank", "name": "3", "node": "c2" }, "victims": { "count": 0 }, "evidence": [] } ],
  "node_table": [ { "name": "c1", "state": "alive" }, { "name": "c17", "state": "dead" } ] }
END
touch -d '2 days ago' "$work/prom/faultloc-$(id -u)-3.0.prom"
"$examples/prometheus.sh" "$work/prom" <"$work/report.json" || bad "prometheus.sh"
[ "$(cd "$work/prom" && echo .[!.]* *)" = ".[!.]* faultloc-$(id -u)-17.0.prom" ] || bad "files: $(ls -a "$work/prom")"
file=$work/prom/faultloc-$(id -u)-17.0.prom
while read -r line; do
    grep -qxF -- "$line" "$file" || bad "Prometheus: no $line in $(cat "$file")"
done <<'END'
# TYPE faultloc_verdict gauge
faultloc_verdict{job="17.0",class="node-outage",id="c1:3",kind="node",name="c17",host="c17",origin="hardware",ticket="node",cause="fan-failed: \"fan\" 2"} 1
faultloc_verdict{job="17.0",class="straggler",id="c1:1",kind="rank",name="3",host="c2",origin="unknown",ticket="",cause=""} 0
faultloc_victims{job="17.0",class="node-outage",id="c1:3"} 63
faultloc_symptoms{job="17.0",class="node-outage",id="c1:3"} 4
faultloc_node_up{job="17.0",node="c1",state="alive"} 1
faultloc_node_up{job="17.0",node="c17",state="dead"} 0
END
[ "$(sort "$file" | uniq -d)" = "" ] || bad "a series is there twice"
ok "Prometheus"
! "$examples/prometheus.sh" "$work/prom" <<<nonsense 2>/dev/null || bad "nonsense is written"
[ "$(cd "$work/prom" && echo .[!.]* *)" = ".[!.]* ${file##*/}" ] || bad "nonsense leaves files"
ok "Prometheus, nonsense"
exit $failed
