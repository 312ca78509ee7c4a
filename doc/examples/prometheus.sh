#!/bin/sh
# A site's program (man 7 faultloc) that writes what is known of a job for the textfile collector of
# Prometheus' node_exporter. It is run at each verdict, with the report on standard input:
#   MPIR_CVAR_FAULTLOC_ACTION=exec:/PATH/TO/prometheus.sh
# The folder (PROMETHEUS_DIR, or the first argument) is one that users can write to, with the sticky bit.
# What is older than a day is removed. A verdict that is withdrawn later is seen at the next one.
# The HELP texts must stay as they are in later versions: of files that differ in the text of a metric,
# node_exporter drops all but one, and node_textfile_scrape_error stays 0.
set -eu
dir=${1:-${PROMETHEUS_DIR:-/var/lib/node_exporter/textfile}}
find "$dir" -maxdepth 1 -name 'faultloc-*.prom' -user "$(id -u)" -mmin +1440 -delete
new=$(mktemp "$dir/.faultloc.XXXXXX")
trap 'rm -f "$new"' EXIT
jq -r '
    def labels: to_entries | map("\(.key)=\(.value | tostring | @json)") | "{" + join(",") + "}";
    def gauge($name; $help; f):
        "# HELP \($name) \($help)", "# TYPE \($name) gauge", (f | "\($name)\(.[0] | labels) \(.[1])");
    .job as $job
    | gauge("faultloc_verdict"; "1: the fault stands, 0: it is over";
        .verdicts[] | [{job: $job.id, class, id: "\(.fln):\(.id)", kind: .component.kind, name: .component.name,
            host: .component.node, origin, ticket: ((.ticket // []) | join(",")),
            cause: ([.evidence[] | select(.source == "cause").detail][0] // "")},
            (if .withdrawn then 0 else 1 end)]),
      gauge("faultloc_victims"; "ranks that wait because of it";
        .verdicts[] | [{job: $job.id, class, id: "\(.fln):\(.id)"}, .victims.count]),
      gauge("faultloc_symptoms"; "symptoms that were merged into it";
        .verdicts[] | [{job: $job.id, class, id: "\(.fln):\(.id)"}, (.symptoms // 0)]),
      gauge("faultloc_node_up"; "1: alive, 0: dead or unreachable";
        (.node_table // [])[] | [{job: $job.id, node: .name, state}, (if .state == "alive" then 1 else 0 end)])
' >"$new"
chmod 644 "$new"
mv "$new" "$dir/faultloc-$(id -u)-${FAULTLOC_JOB:-job}.prom"
