#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# node_exporter 1.5.0 (Debian 1.5.0-1+b6): one InfiniBand device without a file that others have takes the counters of all
# devices of the host away.
#
# /sys/class/infiniband has adapters of different kinds on one host: those whose driver has no port counters (soft RoCE,
# soft iWARP) have no folder "counters".  A guess: of such a device the series are missing, those of the others are as
# before, or the collector fails and the log says at which file.
# Seen: with the folder missing for one port no device has any series; node_scrape_collector_success is 0 and the log has
# no word of it, as on a host without InfiniBand.  A file board_id that is missing does the same.  So: an alert on
# link_downed or symbol errors is silent on that host from the moment at which a soft device is added; alert on
# node_scrape_collector_success{collector="infiniband"} == 0, too.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the package is not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "$@"
version=1.5.0-1+b6
unpack "node_exporter $version" "prometheus-node-exporter=$version"
exporter=
trap '[ -z "$exporter" ] || kill "$exporter"; wait; rm -rf "$work"' EXIT
command -v curl >/dev/null || { echo "SKIP: no curl"; exit 77; }
ip link set lo up

# Two adapters with one port each.
for device in mlx5_0 mlx5_1; do
    folder=sys/class/infiniband/$device
    port=$folder/ports/1
    mkdir -p $port/counters
    echo MT4123 >$folder/hca_type
    echo 20.31.1014 >$folder/fw_ver
    echo MT_0000000223 >$folder/board_id
    echo '4: ACTIVE' >$port/state
    echo '5: LinkUp' >$port/phys_state
    echo '100 Gb/sec (4X EDR)' >$port/rate
    echo 3 >$port/counters/link_downed
done
usr/bin/prometheus-node-exporter --collector.disable-defaults --collector.infiniband --path.sysfs="$PWD/sys" \
    --web.listen-address=127.0.0.1:9100 >log 2>&1 &
exporter=$!
show() {
    local i
    for ((i = 0; i < 100; i++)); do curl -s -o metrics http://127.0.0.1:9100/metrics && break; sleep 0.1; done
    echo "$1: $(grep -c '^node_infiniband_link_downed_total' metrics || :) of 2 devices," \
        "$(grep -o '^node_scrape_collector_success.*' metrics), $(grep -c 'level=error' log || :) errors in the log"
}
{
    show 'both whole'
    mv sys/class/infiniband/mlx5_1/ports/1/counters away
    show 'one without counters'
    mv away sys/class/infiniband/mlx5_1/ports/1/counters
    mv sys/class/infiniband/mlx5_1/board_id away
    show 'one without board_id'
    mv away sys/class/infiniband/mlx5_1/board_id
    show 'both whole'
} | tee seen
diff - seen <<'END' || { cat log; echo "it is otherwise now"; exit 1; }
both whole: 2 of 2 devices, node_scrape_collector_success{collector="infiniband"} 1, 0 errors in the log
one without counters: 0 of 2 devices, node_scrape_collector_success{collector="infiniband"} 0, 0 errors in the log
one without board_id: 0 of 2 devices, node_scrape_collector_success{collector="infiniband"} 0, 0 errors in the log
both whole: 2 of 2 devices, node_scrape_collector_success{collector="infiniband"} 1, 0 errors in the log
END
echo "as seen with node_exporter $version"
