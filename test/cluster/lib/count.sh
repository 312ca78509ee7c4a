# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2034,SC2153,SC2154

# Packets and bytes on given TCP ports, counted by the kernel inside each host's namespace: so a
# test can say "no byte on the control port". Sourced by test/cluster/cluster.

readonly COUNT_TABLE=faultloc_count

# The ports that FaultLoc's agents and deputies listen on, as HOST:PORT,...: those on the management
# address. UCX is told to use eth0 alone, and hydra's proxies listen nowhere.
control_ports() {
    local host
    for host in $(all_hosts); do
        ip netns exec "$(ns_of "$host")" ss -ltnH src 10.1.0.0/24 |
            awk -v host="$host" '{ n = split($4, a, ":"); print host ":" a[n] }'
    done | sort -u | paste -sd,
}

# count_start HOST:PORT,...: counts from zero what goes in and out of these listening ports.
count_start() {
    local item host port
    command -v nft >/dev/null || skip "no program 'nft' (Debian package nftables)"
    count_stop
    for item in ${1//,/ }; do
        host=${item%:*}
        port=${item##*:}
        need_host "$host"
        is_number "$port" || usage_error "--ports must be HOST:PORT,..., not '$item'"
        ip netns exec "$(ns_of "$host")" nft -f - <<END
add table inet $COUNT_TABLE
add chain inet $COUNT_TABLE in { type filter hook input priority 0; }
add chain inet $COUNT_TABLE out { type filter hook output priority 0; }
add counter inet $COUNT_TABLE in_$port
add counter inet $COUNT_TABLE out_$port
add rule inet $COUNT_TABLE in tcp dport $port counter name in_$port
add rule inet $COUNT_TABLE out tcp sport $port counter name out_$port
END
    done
}

# Prints, for each port, "HOST PORT PACKETS-IN BYTES-IN PACKETS-OUT BYTES-OUT".
count_read() {
    local host
    for host in $(all_hosts); do
        ip netns exec "$(ns_of "$host")" nft -j list table inet $COUNT_TABLE 2>/dev/null |
            jq -r --arg host "$host" '
                [.nftables[] | .counter // empty] as $all
                | $all[] | select(.name | startswith("in_")) | . as $in
                | (.name | sub("in_"; "")) as $port
                | ($all[] | select(.name == "out_" + $port)) as $out
                | "\($host) \($port) \($in.packets) \($in.bytes) \($out.packets) \($out.bytes)"' ||
            :
    done
}

count_stop() {
    local host
    for host in $(all_hosts); do
        ip netns exec "$(ns_of "$host")" nft delete table inet $COUNT_TABLE 2>/dev/null || :
    done
}

# Prints every listening TCP socket of every host: "HOST ADDRESS:PORT PROCESSES".
list_ports() {
    local host
    for host in $(all_hosts); do
        ip netns exec "$(ns_of "$host")" ss -ltnpH |
            awk -v host="$host" '{ print host, $4, $6 }'
    done
}
