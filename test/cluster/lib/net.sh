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
# With more than one switch these two are the spines, and the hosts are in blocks behind leaves:
#
#     h1, h2 -- NAME-dsw1 --+           +-- NAME-msw1 -- h1, h2
#                           +-- dsw     +-- NAME-msw2 -- h3, h4
#     h3, h4 -- NAME-dsw2 --+      msw -+-- login
#
# A bridge's port is named after what is at its other end (a leaf's port to the spine: "spine"). No
# device is ever in the machine's own namespace. What was made is written down in STATE/made, and
# only that is removed again. STATE/topology.conf tells the tree of switches as Slurm would.

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

# switch_names dsw|msw SWITCHES: the spine (or the only one), then the leaves.
switch_names() {
    local i
    echo "$1"
    [ "$2" -le 1 ] || for ((i = 1; i <= $2; i++)); do echo "$1$i"; done
}

switch_count() { cat "$(state_dir)/switches"; }

# Hosts are dealt out in blocks, as evenly as they come: leaf I of N has those from first_of_leaf I
# to first_of_leaf I+1, without the latter.
first_of_leaf() { echo $((($1 - 1) * $3 / $2 + 1)); } # LEAF SWITCHES HOSTS

leaf_of() { # HOST-NUMBER SWITCHES HOSTS
    local leaf=1
    while ((leaf < $2 && $1 >= $(first_of_leaf $((leaf + 1)) "$2" "$3"))); do
        leaf=$((leaf + 1))
    done
    echo $leaf
}

# switch_of HOST dsw|msw: the switch that the host is plugged into.
switch_of() {
    local count
    count=$(switch_count)
    if [ "$count" -le 1 ] || [ "$1" = login ]; then
        echo "$2"
    else
        echo "$2$(leaf_of "${1#h}" "$count" "$(cat "$(state_dir)/hosts")")"
    fi
}

topology_file() { echo "$(state_dir)/topology.conf"; }

# In the syntax of Slurm's topology.conf, one leaf for each block of hosts.
write_topology() { # HOSTS SWITCHES
    local leaf first last
    for ((leaf = 1; leaf <= $2; leaf++)); do
        first=$(first_of_leaf $leaf "$2" "$1")
        last=$(($(first_of_leaf $((leaf + 1)) "$2" "$1") - 1))
        if [ "$first" = "$last" ]; then
            echo "SwitchName=leaf$leaf Nodes=h$first"
        else
            echo "SwitchName=leaf$leaf Nodes=h[$first-$last]"
        fi
    done >"$(topology_file)"
    [ "$2" -le 1 ] || echo "SwitchName=spine Switches=leaf[1-$2]" >>"$(topology_file)"
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

# refuse_clash HOSTS SWITCHES
refuse_clash() {
    local n
    [ ! -e "$(state_dir)" ] ||
        fail "a cluster '$NAME' exists: run 'cluster down --name $NAME', or choose another --name"
    [ ! -e "$(shm_dir)" ] ||
        fail "$(shm_dir) exists: remove it if no cluster '$NAME' runs, or choose another --name"
    for n in login $(switch_names dsw "$2") $(switch_names msw "$2") $(host_names "$1"); do
        n=$(ns_of "$n")
        [ ! -e "/run/netns/$n" ] ||
            fail "a foreign network namespace '$n' exists: choose another --name"
        [ ! -e "/etc/netns/$n" ] ||
            fail "a foreign /etc/netns/$n exists: choose another --name"
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

# join_switches LEAF SPINE: a cable between them.
join_switches() {
    local leaf spine
    leaf=$(ns_of "$1")
    spine=$(ns_of "$2")
    ip link add spine netns "$leaf" type veth peer name "$1" netns "$spine"
    ip -n "$leaf" link set spine master br0 up
    ip -n "$spine" link set "$1" master br0 up
}

make_network() { # dsw|msw SWITCHES
    local name
    for name in $(switch_names "$1" "$2"); do
        make_switch "$name"
        [ "$name" = "$1" ] || join_switches "$name" "$1"
    done
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
    ! mkdir /etc/netns 2>/dev/null || note_made dir /etc/netns # other clusters may be made, too
    mkdir -p "/etc/netns/$(ns_of "$host")"
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
    [ "$host" = login ] || plug "$host" eth0 "10.0.0.$number" "$(switch_of "$host" dsw)"
    plug "$host" eth1 "10.1.0.$number" "$(switch_of "$host" msw)"
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

check_size() { # HOSTS SWITCHES
    is_number "$1" && (($1 >= 1 && $1 <= 200)) ||
        usage_error "--hosts must be a number from 1 to 200, not '$1'"
    is_number "$2" && (($2 >= 1 && $2 <= $1 && $2 <= 32)) ||
        usage_error "--switches must be from 1 to the number of hosts, at most 32, not '$2'"
}

# cluster_up HOSTS SWITCHES
cluster_up() {
    local count=$1 switches=$2 i base_made=
    need_cluster
    check_name
    check_size "$count" "$switches"
    refuse_clash "$count" "$switches"
    [ -d $STATE_BASE ] || base_made=1
    # another cluster that is removed takes the empty folder of all with it
    mkdir -p "$(state_dir)/off" || mkdir -p "$(state_dir)/off"
    mkdir -m 0700 "$(runtime_dir)"
    : >"$(state_dir)/made"
    mkdir "$(shm_dir)"
    note_made tree "$(shm_dir)"
    [ -z "$base_made" ] || note_made dir $STATE_BASE
    echo "$switches" >"$(state_dir)/switches"
    echo "$count" >"$(state_dir)/hosts"
    write_topology "$count" "$switches"
    say "making $count hosts and a login host ($NAME), leaf switches: $switches in each network"
    make_network dsw "$switches"
    make_network msw "$switches"
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

# Where the agents of jobs in this cluster listen for symptoms: for all hosts, and gone with it.
runtime_dir() { echo "$(state_dir)/runtime"; }

# host_exec HOST COMMAND...: runs the command as on that host: its network, its name, its shared
# memory (the login host has the machine's own). Replaces this process; call it in a subshell to
# come back.
host_exec() {
    local host=$1 shm
    shift
    XDG_RUNTIME_DIR=$(runtime_dir)
    export XDG_RUNTIME_DIR
    shm=$(shm_dir)/$host
    [ "$host" != login ] || shm=/dev/shm
    # shellcheck disable=SC2016
    exec ip netns exec "$(ns_of "$host")" unshare --uts --ipc sh -c \
        'hostname "$1" && mount --bind "$2" /dev/shm || exit 1; shift 2; exec "$@"' \
        sh "$host" "$shm" "$@"
}

# power_off HOST: the links first, at both ends: nothing of the dying processes (FIN, RST) may get
# out.
power_off() {
    local ns data mgmt
    ns=$(ns_of "$1")
    data=$(ns_of "$(switch_of "$1" dsw)")
    mgmt=$(ns_of "$(switch_of "$1" msw)")
    : >"$(state_dir)/off/$1"
    ip -n "$mgmt" link set "$1" down # first, or it may yet say that its data link has no carrier
    ip -n "$data" link set "$1" down &
    printf 'link set eth0 down\nlink set eth1 down\n' | ip -n "$ns" -batch -
    wait
    kill_host "$ns"
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
        echo "cluster $NAME: $(cat "$dir/hosts") hosts, switches: $(switch_count)"
        for host in login $(all_hosts); do
            echo "  $(host_state "$host")"
        done
    done
    [ -n "$found" ] || echo "no cluster is up"
}
