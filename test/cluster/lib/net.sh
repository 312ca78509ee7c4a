# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2034,SC2153,SC2154

# The cluster itself: hosts as network namespaces on two switches. Sourced by test/cluster/cluster.
#
#     data network 10.0.0.0/24         management network 10.1.0.0/24
#     h1 eth0 --+                       +-- eth1 h1
#     h2 eth0 --+-- bridge in           +-- eth1 h2      bridge in
#     h3 eth0 --+   NAME-dsw            +-- eth1 h3      NAME-msw
#                                       +-- eth1 login (mpiexec runs here)
#
# A bridge's port is named after the host at its other end. No device is ever in the machine's own
# namespace. What was made is written down in STATE/made, and only that is removed again.

readonly STATE_BASE=/run/faultloc-cluster
readonly LOGIN_IP=10.1.0.254

shm_dir() { echo "/dev/shm/faultloc-cluster-$NAME"; }
state_dir() { echo "$STATE_BASE/$NAME"; }
ns_of() { echo "$NAME-$1"; }

# Can this machine have such a cluster? Prints the reason if not.
why_no_cluster() {
    local tool
    [ "$(id -u)" = 0 ] || { echo "network namespaces need root"; return; }
    for tool in ip unshare mount; do
        command -v $tool >/dev/null || {
            echo "no program '$tool' (Debian packages iproute2, util-linux)"
            return
        }
    done
    unshare --net --uts --ipc --mount true 2>/dev/null ||
        { echo "this kernel or container does not permit new namespaces"; return; }
    unshare --net ip link add test-br type bridge 2>/dev/null ||
        { echo "no bridge devices (kernel module bridge)"; return; }
    unshare --net ip link add test-a type veth peer name test-b 2>/dev/null ||
        { echo "no veth devices (kernel module veth)"; return; }
}

need_cluster() {
    local why
    why=$(why_no_cluster)
    [ -z "$why" ] || skip "$why"
}

host_names() { local i; for ((i = 1; i <= $1; i++)); do echo "h$i"; done; }
all_hosts() { host_names "$(cat "$(state_dir)/hosts")"; }

check_name() {
    [[ $NAME =~ ^[a-z][a-z0-9]{0,15}$ ]] ||
        usage_error "a cluster's name is 1 to 16 small letters and digits, got '$NAME'"
}

need_up() {
    check_name
    [ -f "$(state_dir)/hosts" ] || fail "no cluster '$NAME': make it with 'cluster up --name $NAME'"
}

need_host() {
    { [ "$1" = login ] && [ "${2:-}" = login ]; } && return
    [[ $1 =~ ^h([0-9]+)$ ]] && ((BASH_REMATCH[1] >= 1)) &&
        ((BASH_REMATCH[1] <= $(cat "$(state_dir)/hosts"))) ||
        fail "cluster '$NAME' has no host '$1' (hosts: h1 to h$(cat "$(state_dir)/hosts"))"
}

refuse_clash() {
    local n taken
    [ ! -e "$(state_dir)" ] ||
        fail "a cluster '$NAME' is there already: 'cluster down --name $NAME', or another --name"
    [ ! -e "$(shm_dir)" ] ||
        fail "$(shm_dir) is there already: remove it if no cluster '$NAME' runs, or another --name"
    taken=$(ip netns list | awk '{ print $1 }')
    for n in login dsw msw $(host_names "$1"); do
        n=$(ns_of "$n")
        ! grep -qxF "$n" <<<"$taken" ||
            fail "a network namespace '$n' is there already, and not ours: choose another --name"
        [ ! -e "/etc/netns/$n" ] ||
            fail "/etc/netns/$n is there already, and not ours: choose another --name"
    done
}

note_made() { echo "$1 $2" >>"$(state_dir)/made"; }

make_namespace() {
    local ns
    ns=$(ns_of "$1")
    ip netns add "$ns"
    note_made netns "$ns"
    ip -n "$ns" link set lo up
    ip netns exec "$ns" sh -c '
        for f in /proc/sys/net/ipv6/conf/all/disable_ipv6 \
                 /proc/sys/net/ipv6/conf/default/disable_ipv6; do
            [ ! -w $f ] || echo 1 >$f
        done'
}

make_switch() {
    make_namespace "$1"
    ip -n "$(ns_of "$1")" link add br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
    ip -n "$(ns_of "$1")" link set br0 up
}

# plug HOST IFACE ADDRESS SWITCH: a cable.
plug() {
    local ns sw
    ns=$(ns_of "$1")
    sw=$(ns_of "$4")
    ip link add "$2" netns "$ns" type veth peer name "$1" netns "$sw"
    ip -n "$sw" link set "$1" master br0 up
    ip -n "$ns" addr add "$3/24" dev "$2"
    ip -n "$ns" link set "$2" up
}

# What a name means differs by where it is asked: on a host "h2" is h2's data address; the login
# host, which is on the management network alone, gets its management address.
write_hosts_file() {
    local host=$1 count=$2 net=10.0.0 i
    [ "$host" != login ] || net=10.1.0
    [ -d /etc/netns ] || { mkdir /etc/netns; note_made dir /etc/netns; }
    mkdir "/etc/netns/$(ns_of "$host")"
    note_made tree "/etc/netns/$(ns_of "$host")"
    {
        echo "127.0.0.1 localhost"
        echo "$LOGIN_IP login"
        for ((i = 1; i <= count; i++)); do
            echo "$net.$i h$i"
            echo "10.1.0.$i h$i-mgmt"
        done
    } >"/etc/netns/$(ns_of "$host")/hosts"
}

make_host() {
    local host=$1 number=$2 count=$3
    make_namespace "$host"
    [ "$host" = login ] || plug "$host" eth0 "10.0.0.$number" dsw
    plug "$host" eth1 "10.1.0.$number" msw
    write_hosts_file "$host" "$count"
    mkdir "$(shm_dir)/$host"
    chmod 1777 "$(shm_dir)/$host"
}

carrier_everywhere() {
    local host
    for host in login $(all_hosts); do
        ! ip -n "$(ns_of "$host")" -o link show type veth | grep -qv 'LOWER_UP' || return 1
    done
}

# cluster_up HOSTS
cluster_up() {
    local count=$1 i base_made=
    need_cluster
    check_name
    is_number "$count" && ((count >= 1 && count <= 200)) ||
        usage_error "--hosts wants a number from 1 to 200, got '$count'"
    refuse_clash "$count"
    [ -d $STATE_BASE ] || { mkdir -p $STATE_BASE; base_made=1; }
    mkdir "$(state_dir)" "$(state_dir)/off"
    : >"$(state_dir)/made"
    mkdir "$(shm_dir)"
    note_made tree "$(shm_dir)"
    [ -z "$base_made" ] || note_made dir $STATE_BASE
    echo "$count" >"$(state_dir)/hosts"
    say "making $count hosts, two switches and a login host ($NAME)"
    make_switch dsw
    make_switch msw
    make_host login 254 "$count"
    for ((i = 1; i <= count; i++)); do
        make_host "h$i" "$i" "$count"
    done
    wait_until 10 carrier_everywhere || fail "the links of cluster '$NAME' do not come up"
}

kill_host() {
    local pids tries
    for ((tries = 0; tries < 200; tries++)); do
        pids=$(ip netns pids "$1" 2>/dev/null) || return 0
        [ -n "$pids" ] || return 0
        # shellcheck disable=SC2086
        kill -KILL $pids 2>/dev/null || :
        pause_ms 5
    done
    warn "processes in namespace $1 do not die: $pids"
    return 1
}

# Removes what cluster_up made, as far as it came. Never fails: it runs in exit traps.
cluster_down() {
    local state kind what
    state=$(state_dir)
    [ -f "$state/made" ] || return 0
    while read -r kind what; do
        [ "$kind" != netns ] || kill_host "$what" || :
    done <"$state/made"
    tac "$state/made" | while read -r kind what; do
        case $kind in
            netns) ip netns del "$what" || warn "cannot remove namespace $what" ;;
            tree) rm -rf "$what" ;;
            dir) rmdir "$what" 2>/dev/null || : ;;
        esac
    done
    rm -rf "$state"
    rmdir $STATE_BASE 2>/dev/null || :
}

# host_exec HOST COMMAND...: runs the command as on that host: its network, its name, its shared
# memory (the login host has the machine's own). Replaces this process; call it in a subshell to
# come back.
host_exec() {
    local host=$1 shm
    shift
    shm=$(shm_dir)/$host
    [ "$host" != login ] || shm=/dev/shm
    # shellcheck disable=SC2016
    exec ip netns exec "$(ns_of "$host")" unshare --uts --ipc sh -c \
        'hostname "$1" && mount --bind "$2" /dev/shm || exit 1; shift 2; exec "$@"' \
        sh "$host" "$shm" "$@"
}

host_is_off() { [ -e "$(state_dir)/off/$1" ]; }

host_state() {
    local host=$1 iface links=
    for iface in eth0 eth1; do
        [ "$host $iface" != "login eth0" ] || continue
        links+=" $iface=$(ip -n "$(ns_of "$host")" -o link show "$iface" |
            grep -q LOWER_UP && echo up || echo down)"
    done
    printf '%-6s %-4s%s processes=%d\n' "$host" "$(host_is_off "$host" && echo off || echo on)" \
        "$links" "$(ip netns pids "$(ns_of "$host")" | wc -l)"
}

cluster_status() {
    local dir host found=
    for dir in "$STATE_BASE"/*/; do
        [ -f "$dir/hosts" ] || continue
        found=1
        NAME=$(basename "$dir")
        echo "cluster $NAME: $(cat "$dir/hosts") hosts"
        for host in login $(all_hosts); do
            echo "  $(host_state "$host")"
        done
    done
    [ -n "$found" ] || echo "no cluster is up"
}
