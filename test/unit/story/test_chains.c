/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "lone.h"
#include "stories.h"
#include "suite.h"

#include <errno.h>

/*
 * The built-in rule base from end to end: every rule from the symptom to the probes, every sign of
 * every fault model from the symptom to the verdict, each line by line, as the trace has it.  The
 * last tests walk the base: who adds a rule, a model or a sign adds a story here.
 */

#define DATA FTREE_PATH_DATA
#define MGMT FTREE_PATH_MGMT
#define AGENT FTREE_ROLE_AGENT
#define DEPUTY FTREE_ROLE_DEPUTY

/* ---- what others see and say ----------------------------------------------------------------- */

/* A symptom of the component that the table has for it, told to this node by its own middleware. */
static void seen_often(struct lone *l, enum ftree_symptom_kind kind, int32_t node, uint32_t count)
{
    const struct ftree_symptom_info *info = ftree_symptom_info(kind);
    int32_t rank = info->kind == FTREE_KIND_RANK ? ftree_rank_at(&l->job, node, 0) : FTREE_NONE;
    struct ftree_symptom s;

    ftree_symptom_init(&s, kind, node, rank, l->self, l->now, l->now);
    s.count = count;
    s.about.kind = info->kind;
    if (info->kind == FTREE_KIND_SWITCH)
        s.about.switch_ = l->job.tree->node_switch[node];
    ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_OK);
    ck_assert_ptr_null(ftree_check(l->ft));
}

static void seen(struct lone *l, enum ftree_symptom_kind kind, int32_t node)
{
    seen_often(l, kind, node, 1);
}

static uint32_t nonce_of(const struct lone *l, int32_t node)
{
    return ftree_inspect_question(l->ft, node);
}

static void answers(struct lone *l, int32_t node, enum ftree_path path)
{
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.asked_peer = FTREE_NONE};

    m.u.answer.nonce = nonce_of(l, node);
    lone_hear(l, node, path, &m);
}

static void answers_on_both(struct lone *l, int32_t node)
{
    answers(l, node, DATA);
    answers(l, node, MGMT);
}

static void reach(struct lone *l, enum ftree_role role, enum ftree_reach data,
                  enum ftree_reach mgmt, int error)
{
    lone_reach(l, 2, DATA, role, data, error);
    lone_reach(l, 2, MGMT, role, mgmt, error);
}

static void deputy_tells(struct lone *l, int32_t troubles, const struct wire_trouble *trouble)
{
    struct wire_message m = {.type = WIRE_ANSWER,
                             .u.answer = {.role = DEPUTY, .asked_peer = FTREE_NONE}};

    m.u.answer.nonce = nonce_of(l, 2);
    m.u.answer.troubles = troubles;
    for (int32_t i = 0; i < troubles; i++)
        m.u.answer.trouble[i] = trouble[i];
    lone_hear(l, 2, MGMT, &m);
}

static const struct wire_trouble gone = {.rank = 4, .pid = 5004, .phase = FTREE_PHASE_GONE};

/* The deputy of node 2 says so of the node's second rank; 0: that all are well. */
static void deputy_says(struct lone *l, char proc_state)
{
    const struct wire_trouble trouble = {
        .rank = 5, .pid = 5005, .phase = FTREE_PHASE_WAITING, .proc_state = proc_state};

    deputy_tells(l, proc_state != 0, &trouble);
}

static struct ftree_node_state healthy(void)
{
    return (struct ftree_node_state){.cpus = 4,
                                     .load_centi = 400,
                                     .memory_total = 1000,
                                     .memory_available = 500,
                                     .swap_total = 1000,
                                     .swap_free = 1000,
                                     .frequency_max_mhz = 3000,
                                     .frequency_nominal_mhz = 3000,
                                     .link = FTREE_LINK_UP};
}

static void state_says(struct lone *l, const struct ftree_node_state *state)
{
    struct wire_message m = {.type = WIRE_STATE, .u.state.state = *state};

    m.u.state.nonce = nonce_of(l, 2);
    lone_hear(l, 2, MGMT, &m);
}

/* ---- signs: the stories ---------------------------------------------------------------------- */

/* Node 0 asks about node 2; node 3 is there to be heard. */

static void a_stall_and_all_is_silent(struct lone *l)
{
    lone_stall(l, 0, ftree_rank_at(&l->job, 2, 0));
    lone_run(l, 100);
    answers_on_both(l, 3);
}

static void the_power_is_off(struct lone *l)
{
    seen(l, FTREE_SYMPTOM_POWER_OFF, 2);
    lone_run(l, 100);
    reach(l, AGENT, FTREE_REACH_SILENT, FTREE_REACH_UNREACHABLE, EHOSTUNREACH);
    answers_on_both(l, 3);
}

static void a_job_with_one_path(struct lone *l)
{
    l->job.has_path[MGMT] = false;
    lone_renew(l);
    seen(l, FTREE_SYMPTOM_PEER_UNREACHABLE, 2);
    lone_run(l, 100);
    answers(l, 3, DATA);
}

static void one_path_and_its_handlers_say(struct lone *l, enum ftree_symptom_kind kind)
{
    l->job.has_path[MGMT] = false;
    l->handlers = true;
    lone_renew(l);
    lone_stall(l, 0, 2);
    lone_run(l, 460);
    answers(l, 3, DATA);
    ftree_handler_said(l->ft, l->now, l->now, 2, (int) kind, "bmc: of its power or port");
}

static void its_port_is_switched_off(struct lone *l)
{
    one_path_and_its_handlers_say(l, FTREE_SYMPTOM_PORT_DISABLED);
    ftree_handlers_done(l->ft, l->now, 2);
}

static void it_has_power_and_its_port_is_down(struct lone *l)
{
    one_path_and_its_handlers_say(l, FTREE_SYMPTOM_POWER_ON);
    ftree_handler_said(l->ft, l->now, l->now, 2, FTREE_SYMPTOM_PORT_DOWN, "switch: port-down: swp2");
    ftree_handlers_done(l->ft, l->now, 2);
}

static void it_has_power_and_its_port_is_up(struct lone *l)
{
    one_path_and_its_handlers_say(l, FTREE_SYMPTOM_POWER_ON);
    ftree_handler_said(l->ft, l->now, l->now, 2, FTREE_SYMPTOM_PORT_UP, "switch: port-up: swp2");
    ftree_handlers_done(l->ft, l->now, 2);
}

static void it_has_power(struct lone *l)
{
    one_path_and_its_handlers_say(l, FTREE_SYMPTOM_POWER_ON);
    ftree_handlers_done(l->ft, l->now, 2);
}

/* Six nodes: 1 is behind s0 with node 0, 2 and 4 are behind s1, 3 and 5 behind s2. */
static void three_switches(struct lone *l)
{
    lone_use_tree(l, shape_read("switch:3 node:2"));
    lone_stall(l, 0, 2);
    lone_run(l, 200);
}

static void a_switch_has_no_power(struct lone *l)
{
    three_switches(l);
    answers_on_both(l, 3);
}

static void this_switch_is_cut_off(struct lone *l)
{
    three_switches(l);
    answers_on_both(l, 1);
}

static void a_switch_of_the_data_network_is_lost(struct lone *l)
{
    three_switches(l);
    answers(l, 2, MGMT);
    answers(l, 4, MGMT);
    answers_on_both(l, 3);
}

static void a_job_of_two_nodes(struct lone *l)
{
    lone_stall(l, 0, 1);
}

static void connects_and_no_more(struct lone *l)
{
    seen(l, FTREE_SYMPTOM_HEARTBEAT_LOST, 2);
    lone_run(l, 100);
    reach(l, AGENT, FTREE_REACH_CONNECTED, FTREE_REACH_CONNECTED, 0);
    answers_on_both(l, 3);
}

static void the_agents_port_is_refused_and_the_deputy_connects(struct lone *l)
{
    seen(l, FTREE_SYMPTOM_KERNEL_ERROR, 2);
    lone_run(l, 100);
    reach(l, AGENT, FTREE_REACH_REFUSED, FTREE_REACH_REFUSED, ECONNREFUSED);
    answers_on_both(l, 3);
    lone_run(l, 100);
    reach(l, DEPUTY, FTREE_REACH_CONNECTED, FTREE_REACH_CONNECTED, 0);
}

static void the_deputy_connects_on_one_path_and_is_refused_on_the_other(struct lone *l)
{
    seen(l, FTREE_SYMPTOM_KERNEL_ERROR, 2);
    lone_run(l, 100);
    reach(l, AGENT, FTREE_REACH_REFUSED, FTREE_REACH_REFUSED, ECONNREFUSED);
    answers_on_both(l, 3);
    lone_run(l, 100);
    reach(l, DEPUTY, FTREE_REACH_CONNECTED, FTREE_REACH_REFUSED, 0);
}

static void only_the_deputys_port_speaks(struct lone *l)
{
    seen(l, FTREE_SYMPTOM_PEER_SILENT, 2);
    lone_run(l, 100);
    reach(l, DEPUTY, FTREE_REACH_CONNECTED, FTREE_REACH_SILENT, 0);
    answers_on_both(l, 3);
}

static void an_own_rank_is_stopped(struct lone *l)
{
    l->state[0].proc_state = 'T';
    lone_stall(l, 1, FTREE_LOCAL);
}

static void an_own_rank_is_held_by_its_memory_limit(struct lone *l)
{
    l->state[0].proc_state = 'M';
    lone_stall(l, 1, FTREE_LOCAL);
}

static void the_deputy_tells_of_a_stopped_rank(struct lone *l)
{
    lone_stall(l, 0, 5);
    reach(l, AGENT, FTREE_REACH_CONNECTED, FTREE_REACH_CONNECTED, 0);
    answers_on_both(l, 3);
    lone_run(l, 160);
    deputy_says(l, 'T');
}

static void the_process_manager_saw_a_rank_stop(struct lone *l)
{
    seen(l, FTREE_SYMPTOM_PROCESS_STOPPED, 2);
    reach(l, AGENT, FTREE_REACH_CONNECTED, FTREE_REACH_CONNECTED, 0);
    answers_on_both(l, 3);
}

static void an_own_rank_is_gone(struct lone *l)
{
    l->state[0].phase = FTREE_PHASE_GONE;
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 0), FTREE_OK);
}

static void the_ports_are_refused(struct lone *l)
{
    reach(l, AGENT, FTREE_REACH_REFUSED, FTREE_REACH_REFUSED, ECONNREFUSED);
    answers_on_both(l, 3);
    lone_run(l, 160);
    reach(l, DEPUTY, FTREE_REACH_REFUSED, FTREE_REACH_REFUSED, ECONNREFUSED);
}

static void the_connection_was_reset(struct lone *l)
{
    seen(l, FTREE_SYMPTOM_PEER_RESET, 2);
    the_ports_are_refused(l);
}

static void nobody_observes_it_any_more(struct lone *l)
{
    lone_stall(l, 0, ftree_rank_at(&l->job, 2, 0));
    the_ports_are_refused(l);
}

static void the_launcher_and_the_deputy_of_a_mute_agent_say_it_ended(struct lone *l)
{
    seen(l, FTREE_SYMPTOM_PROCESS_EXITED, 2);
    reach(l, AGENT, FTREE_REACH_CONNECTED, FTREE_REACH_CONNECTED, 0);
    answers_on_both(l, 3);
    lone_run(l, 160);
    deputy_tells(l, 1, &gone);
}

/* Of a node of three. */
static void the_launcher_says_it_ended_beside_a_stopped_agent(struct lone *l)
{
    struct ftree_symptom s;

    ftree_symptom_init(&s, FTREE_SYMPTOM_PROCESS_EXITED, 2, 7, 0, l->now, l->now);
    ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_OK);
    reach(l, AGENT, FTREE_REACH_CONNECTED, FTREE_REACH_CONNECTED, 0);
    answers_on_both(l, 3);
    lone_run(l, 160);
    reach(l, DEPUTY, FTREE_REACH_REFUSED, FTREE_REACH_REFUSED, ECONNREFUSED);
}

static void the_launcher_says_the_agent_ended_and_its_deputy_is_silent(struct lone *l)
{
    seen(l, FTREE_SYMPTOM_PROCESS_EXITED, 2);
    reach(l, AGENT, FTREE_REACH_REFUSED, FTREE_REACH_REFUSED, ECONNREFUSED);
    answers_on_both(l, 3);
    lone_run(l, 160);
    reach(l, DEPUTY, FTREE_REACH_CONNECTED, FTREE_REACH_CONNECTED, 0);
}

/* Rank 4 of node 2 has ended, as is known; of rank 5 the ports say nothing. */
static void of_the_last_of_a_node_nobody_speaks(struct lone *l)
{
    struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 2, 4, 2);

    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    for (int32_t node = 1; node < 4; node++)
        lone_nobody_waits(l, node, ftree_inspect_owes(l->ft, node));
    lone_log(l);
    l->verdicts = 0;
    lone_stall(l, 0, 5);
    reach(l, AGENT, FTREE_REACH_REFUSED, FTREE_REACH_REFUSED, ECONNREFUSED);
    answers_on_both(l, 3);
    lone_run(l, 160);
    reach(l, DEPUTY, FTREE_REACH_CONNECTED, FTREE_REACH_CONNECTED, 0);
}

static void the_launcher_says_it_ended_and_nobody_is_there(struct lone *l)
{
    seen(l, FTREE_SYMPTOM_PROCESS_EXITED, 2);
    the_ports_are_refused(l);
}

static void the_launcher_lost_its_daemon(struct lone *l)
{
    seen(l, FTREE_SYMPTOM_PROXY_LOST, 2);
    reach(l, AGENT, FTREE_REACH_REFUSED, FTREE_REACH_REFUSED, ECONNREFUSED);
    lone_run(l, 160);
    reach(l, DEPUTY, FTREE_REACH_REFUSED, FTREE_REACH_REFUSED, ECONNREFUSED);
}

static void its_kernel_says_of_its_link(struct lone *l, enum ftree_symptom_kind kind,
                                        enum ftree_link link)
{
    struct ftree_node_state state = healthy();

    seen(l, kind, 2);
    lone_run(l, 5);
    answers(l, 2, MGMT);
    answers_on_both(l, 3);
    lone_run(l, 450);
    state.link = (uint8_t) link;
    state_says(l, &state);
}

static void its_interface_is_down(struct lone *l)
{
    its_kernel_says_of_its_link(l, FTREE_SYMPTOM_INTERFACE_DOWN, FTREE_LINK_DOWN);
}

static void its_interface_is_gone(struct lone *l)
{
    its_kernel_says_of_its_link(l, FTREE_SYMPTOM_PEER_UNREACHABLE, FTREE_LINK_GONE);
}

static void it_has_no_carrier(struct lone *l)
{
    its_kernel_says_of_its_link(l, FTREE_SYMPTOM_PORT_DOWN, FTREE_LINK_NO_CARRIER);
}

static void it_answers_and_its_state_is(struct lone *l, enum ftree_symptom_kind kind,
                                        const struct ftree_node_state *state)
{
    seen(l, kind, 2);
    lone_run(l, 5);
    answers_on_both(l, 2);
    answers_on_both(l, 3);
    lone_run(l, 150);
    state_says(l, state);
}

static void a_process_is_in_disk_sleep(struct lone *l)
{
    struct ftree_node_state state = healthy();

    state.ranks = 1;
    state.rank[0].rank = 2;
    state.rank[0].pid = 5002;
    state.rank[0].proc_state = 'D';
    state.rank[0].phase = FTREE_PHASE_OUTSIDE;
    it_answers_and_its_state_is(l, FTREE_SYMPTOM_MOUNT_SILENT, &state);
}

static void its_memory_is_exhausted(struct lone *l)
{
    struct ftree_node_state state = healthy();

    state.memory_available = 19;
    state.memory_pressure_centi = 4001;
    it_answers_and_its_state_is(l, FTREE_SYMPTOM_MEMORY_PRESSURE, &state);
}

static void its_clock_is_throttled(struct lone *l)
{
    struct ftree_node_state state = healthy();

    state.throttles = 12;
    state.frequency_max_mhz = 1700;
    it_answers_and_its_state_is(l, FTREE_SYMPTOM_TEMPERATURE, &state);
}

static void a_gpu_has_failed(struct lone *l)
{
    seen(l, FTREE_SYMPTOM_PEER_STALL, 2);
    seen(l, FTREE_SYMPTOM_GPU_FAILED, 2);
    lone_run(l, 5);
    answers_on_both(l, 2);
    answers_on_both(l, 3);
    lone_run(l, 1000);
}

static void a_part_of_it_has_failed(struct lone *l)
{
    seen(l, FTREE_SYMPTOM_SUPPLY_FAILED, 2);
    lone_run(l, 5);
    answers_on_both(l, 2);
    answers_on_both(l, 3);
    lone_run(l, 1000);
}

static void its_cpus_are_wanted_by_too_many(struct lone *l)
{
    struct ftree_node_state state = healthy();

    state.load_centi = 1200;
    state.cpu_pressure_centi = 8001;
    it_answers_and_its_state_is(l, FTREE_SYMPTOM_CPU_PRESSURE, &state);
}

/* Its agent answers; what is sent after that is not acknowledged. */
static void a_connection_is_stuck_of(struct lone *l, bool connecting, bool answered)
{
    l->connections = 1;
    l->connection[0] = (struct ftree_connection){.rank = 0,
                                                 .node = 2,
                                                 .connecting = connecting,
                                                 .bytes = 65570,
                                                 .tries = 5,
                                                 .packet = 9000,
                                                 .since = l->now,
                                                 .sent = l->now};
    lone_stall(l, 0, FTREE_LOCAL); /* who the analysis of waits says */
    lone_run(l, 3500);
    if (answered)
        lone_answer(l, 2, DATA, AGENT);
    lone_run(l, 2500);
    l->connection[0].sent = l->now;
    for (int ms = 0; ms < 3500 && !l->verdicts; ms += 100) {
        lone_run(l, 100);
        if (lone_last(l, WIRE_PROBE) && lone_last(l, WIRE_PROBE)->to.node != 2)
            lone_answer(l, lone_last(l, WIRE_PROBE)->to.node, DATA, AGENT); /* a witness */
    }
}

static void a_connection_is_stuck(struct lone *l)
{
    a_connection_is_stuck_of(l, false, true);
}

static void a_connection_is_not_made(struct lone *l)
{
    a_connection_is_stuck_of(l, true, true);
}

static void a_connection_is_silent(struct lone *l)
{
    a_connection_is_stuck_of(l, false, false);
}

static const struct lone_sent *fabric_message(const struct lone *l, int step, int32_t to)
{
    for (int32_t i = l->n_sent - 1; i >= 0; i--)
        if (l->sent[i].m.type == WIRE_FABRIC && l->sent[i].m.u.fabric.step == step &&
            (to == FTREE_NONE || l->sent[i].to.node == to))
            return &l->sent[i];
    ck_abort();
}

static void fabric_says(struct lone *l, int32_t from, int step, uint32_t nonce, uint8_t says)
{
    struct wire_message m = {.type = WIRE_FABRIC,
                             .u.fabric = {.nonce = nonce, .step = (uint8_t) step, .node = 2,
                                          .says = says, .len = 1, .bytes = (const uint8_t *) "a"}};

    lone_hear(l, from, DATA, &m);
}

/* From this node to that one. */
static void fabric_line(struct lone *l, int32_t node, uint8_t says)
{
    uint32_t nonce = fabric_message(l, WIRE_FABRIC_OPEN, node)->m.u.fabric.nonce;

    fabric_says(l, node, WIRE_FABRIC_ADDRESS, nonce, FTREE_FABRIC_NONE);
    ftree_fabric_said(l->ft, l->now, nonce, (enum ftree_fabric) says, 0, "");
    if (says == FTREE_FABRIC_SILENT)
        fabric_says(l, node, WIRE_FABRIC_OVER, nonce, FTREE_FABRIC_PASSES);
}

/* To node 2 it is, and to a third, which says what it is from there. */
static void the_fabric_is_silent_to(struct lone *l, uint8_t from_third)
{
    l->fabric = true;
    lone_renew(l);
    lone_run(l, 2000);
    ck_assert_int_eq(ftree_stall(l->ft, l->now, 0, 2, 2000 * FTREE_MS), FTREE_OK);
    answers(l, 2, DATA);
    for (int round = 0; round < 2; round++) {
        const struct lone_sent *asked = fabric_message(l, WIRE_FABRIC_ASK, FTREE_NONE);
        int32_t third = asked->to.node;
        uint32_t nonce = asked->m.u.fabric.nonce;
        fabric_line(l, third, FTREE_FABRIC_PASSES);
        fabric_says(l, third, WIRE_FABRIC_SAID, nonce, from_third);
        fabric_line(l, 2, FTREE_FABRIC_SILENT);
        lone_run(l, 1);
    }
}

static void its_fabric_is_silent(struct lone *l)
{
    the_fabric_is_silent_to(l, FTREE_FABRIC_SILENT);
}

static void the_fabric_is_silent_between_two(struct lone *l)
{
    the_fabric_is_silent_to(l, FTREE_FABRIC_PASSES);
}

static void its_data_path_is_silent(struct lone *l)
{
    lone_stall(l, 0, 2);
    answers(l, 2, MGMT);
    answers_on_both(l, 3);
}

static void the_data_path_of_two_nodes_is_silent(struct lone *l)
{
    lone_stall(l, 0, 1);
    answers(l, 1, MGMT);
}

/* Node 3 is asked to ask it, and says what it saw. */
static void is_seen_from_elsewhere(struct lone *l, enum ftree_path path, enum ftree_reach reach)
{
    struct wire_message m = {.type = WIRE_INDIRECT_RESULT, .u.indirect_result.target = 2};

    m.u.indirect_result.nonce = nonce_of(l, 2);
    m.u.indirect_result.path = (uint8_t) path;
    m.u.indirect_result.reach = (uint8_t) reach;
    lone_hear(l, 3, MGMT, &m);
}

static void it_is_silent_from_here_only(struct lone *l)
{
    a_stall_and_all_is_silent(l);
    lone_run(l, 60);
    is_seen_from_elsewhere(l, DATA, FTREE_REACH_ANSWERED);
}

static void its_data_path_is_silent_from_here_only(struct lone *l)
{
    its_data_path_is_silent(l);
    lone_run(l, 160);
    is_seen_from_elsewhere(l, DATA, FTREE_REACH_CONNECTED);
}

static void the_own_side_of_the_data_path_is_down(struct lone *l)
{
    lone_stall(l, 0, 2);
    answers(l, 2, MGMT);
    lone_reach(l, 2, DATA, AGENT, FTREE_REACH_LOCAL_DOWN, ENETDOWN);
}

static void nobody_is_heard_on_the_data_path(struct lone *l)
{
    lone_stall(l, 0, 2);
    answers(l, 2, MGMT);
    answers(l, 3, MGMT);
}

/* The packets of a burst that come, where the way is of RULES_WAY_WELL and so on. */
static uint64_t that_come(uint8_t way)
{
    uint64_t packets = 0;

    for (int i = 0; i < WIRE_BURST_PACKETS; i++)
        if (way != RULES_WAY_SILENT && !(way == RULES_WAY_LOSSY && i % 3 == 0) &&
            !(way == RULES_WAY_NO_LARGE && i % WIRE_BURST_EACH == WIRE_BURST_EACH - 1))
            packets |= (uint64_t) 1 << i;
    return packets;
}

static uint32_t burst_with(const struct lone *l, int32_t node)
{
    for (int32_t i = l->n_sent - 1; i >= 0; i--)
        if (l->sent[i].m.type == WIRE_PROBE && l->sent[i].m.u.probe.ask == RULES_ASK_BURST &&
            l->sent[i].to.node == node)
            return l->sent[i].m.u.probe.nonce;
    ck_abort_msg("no burst with n%d", (int) node);
    return 0;
}

static void comes(struct lone *l, int32_t node, uint32_t nonce, enum ftree_path path, uint8_t way)
{
    ftree_time late = way == RULES_WAY_LATE ? 300 * FTREE_MS : 0;
    uint8_t buf[FTREE_MESSAGE_MAX];

    for (uint8_t i = 0; i < WIRE_BURST_PACKETS; i++) {
        struct wire_message m = {.type = WIRE_PACKET, .u.packet = {nonce, i, true, l->now - late}};
        size_t len = ftree_wire_encode(&m, l->now, buf);
        if (that_come(way) >> i & 1)
            ck_assert_int_eq(ftree_packet(l->ft, l->now, l->now, node, path, buf, len), FTREE_OK);
    }
}

static void burst_begins(struct lone *l, int32_t node)
{
    struct wire_message m = {.type = WIRE_HEARD, .u.heard.nonce = burst_with(l, node)};

    lone_hear(l, node, MGMT, &m);
}

/* All is sent; the data path was as told in each direction. */
static void burst_ends(struct lone *l, int32_t node, uint8_t out, uint8_t in)
{
    struct wire_message m = {.type = WIRE_HEARD,
                             .u.heard = {.nonce = burst_with(l, node), .over = true}};
    const uint64_t all = that_come(RULES_WAY_WELL);

    comes(l, node, m.u.heard.nonce, DATA, in);
    comes(l, node, m.u.heard.nonce, MGMT, RULES_WAY_WELL);
    m.u.heard.way[DATA] = (struct wire_way){all, that_come(out), 0, 0};
    m.u.heard.way[MGMT] = (struct wire_way){all, all, 0, 0};
    if (out == RULES_WAY_LATE)
        m.u.heard.way[DATA].late = all;
    lone_hear(l, node, MGMT, &m);
}

/* As told of the first node, and of another one where there is. */
static void bursts(struct lone *l, const int32_t node[2], const uint8_t way[4])
{
    int n = l->job.nodes > 2 ? 2 : 1;

    for (int i = 0; i < n; i++)
        burst_begins(l, node[i]);
    lone_run(l, 400);
    for (int i = n - 1; i >= 0; i--)
        burst_ends(l, node[i], way[2 * i], way[2 * i + 1]);
}

static void its_data_path_is_one_sided(struct lone *l, uint8_t out, uint8_t in)
{
    l->bursts = true;
    lone_renew(l);
    its_data_path_is_silent(l);
    lone_run(l, 160);
    bursts(l, (const int32_t[]){2, 1},
           (const uint8_t[]){out, in, RULES_WAY_WELL, RULES_WAY_WELL});
}

static void nothing_gets_in(struct lone *l)
{
    its_data_path_is_one_sided(l, RULES_WAY_SILENT, RULES_WAY_WELL);
}

static void nothing_gets_out(struct lone *l)
{
    its_data_path_is_one_sided(l, RULES_WAY_WELL, RULES_WAY_SILENT);
}

static void the_own_data_path_is_one_sided(struct lone *l, uint8_t out, uint8_t in)
{
    l->bursts = true;
    lone_renew(l);
    nobody_is_heard_on_the_data_path(l);
    lone_run(l, 160);
    bursts(l, (const int32_t[]){2, 1}, (const uint8_t[]){out, in, out, in});
}

static void nothing_gets_out_of_here(struct lone *l)
{
    the_own_data_path_is_one_sided(l, RULES_WAY_SILENT, RULES_WAY_WELL);
}

static void nothing_gets_in_here(struct lone *l)
{
    the_own_data_path_is_one_sided(l, RULES_WAY_WELL, RULES_WAY_SILENT);
}

/* The agent of the node answers; its link is as way[0] says of what goes there and way[1] of what
 * comes, and that of another, where there is one, as the other two. */
static void a_link_is(struct lone *l, int32_t node, const uint8_t way[4])
{
    l->bursts = true;
    lone_renew(l);
    lone_stall(l, 0, node);
    answers(l, node, DATA);
    bursts(l, (const int32_t[]){node, 1}, way);
    for (int ms = 0; ms < 600 && !l->verdicts; ms += 10) /* what may still be under way */
        lone_run(l, 10);
}

static void its_link_loses_what_comes(struct lone *l)
{
    a_link_is(l, 2, (const uint8_t[]){RULES_WAY_WELL, RULES_WAY_LOSSY, RULES_WAY_WELL, RULES_WAY_WELL});
}

static void its_link_loses_what_goes_there(struct lone *l)
{
    a_link_is(l, 2, (const uint8_t[]){RULES_WAY_LOSSY, RULES_WAY_WELL, RULES_WAY_WELL, RULES_WAY_WELL});
}

static void its_link_is_slow(struct lone *l)
{
    a_link_is(l, 2, (const uint8_t[]){RULES_WAY_LATE, RULES_WAY_WELL, RULES_WAY_WELL, RULES_WAY_WELL});
}

static void what_comes_from_it_is_slow(struct lone *l)
{
    a_link_is(l, 2, (const uint8_t[]){RULES_WAY_WELL, RULES_WAY_LATE, RULES_WAY_WELL, RULES_WAY_WELL});
}

static void its_link_passes_small_packets_only(struct lone *l)
{
    a_link_is(l, 2, (const uint8_t[]){RULES_WAY_NO_LARGE, RULES_WAY_WELL, RULES_WAY_WELL, RULES_WAY_WELL});
}

static void only_small_packets_come_from_it(struct lone *l)
{
    a_link_is(l, 2, (const uint8_t[]){RULES_WAY_WELL, RULES_WAY_NO_LARGE, RULES_WAY_WELL, RULES_WAY_WELL});
}

static void the_own_link_loses_what_leaves(struct lone *l)
{
    a_link_is(l, 2, (const uint8_t[]){RULES_WAY_LOSSY, RULES_WAY_WELL, RULES_WAY_LOSSY, RULES_WAY_WELL});
}

static void the_own_link_loses_what_comes(struct lone *l)
{
    a_link_is(l, 2, (const uint8_t[]){RULES_WAY_WELL, RULES_WAY_LOSSY, RULES_WAY_WELL, RULES_WAY_LOSSY});
}

/* As of node 2, so of node 4, which is behind its switch; node 1 is here, node 3 elsewhere. */
static void between_switches(struct lone *l, uint8_t out, uint8_t in)
{
    const uint8_t way[] = {out, in, RULES_WAY_WELL, RULES_WAY_WELL};

    l->bursts = true;
    lone_use_tree(l, shape_read("switch:3 node:2"));
    lone_stall(l, 0, 2);
    answers(l, 2, DATA);
    bursts(l, (const int32_t[]){2, 1}, way);
    lone_run(l, 510);
    burst_begins(l, 4);
    burst_begins(l, 3);
    lone_run(l, 150);
    answers(l, 2, DATA); /* the rank waits still */
    lone_run(l, 250);
    burst_ends(l, 3, RULES_WAY_WELL, RULES_WAY_WELL);
    burst_ends(l, 4, out, in);
    for (int ms = 0; ms < 600 && !l->verdicts; ms += 10)
        lone_run(l, 10);
}

static void what_goes_to_another_switch_is_lost(struct lone *l)
{
    between_switches(l, RULES_WAY_LOSSY, RULES_WAY_WELL);
}

static void what_comes_from_another_switch_is_lost(struct lone *l)
{
    between_switches(l, RULES_WAY_WELL, RULES_WAY_LOSSY);
}

static void its_own_kernel_says(struct lone *l, enum ftree_symptom_kind kind, const char *detail)
{
    struct ftree_symptom s;

    ftree_symptom_init(&s, kind, 0, FTREE_NONE, 0, l->now, l->now);
    snprintf(s.detail, sizeof(s.detail), "%s", detail);
    ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_OK);
}

static void its_own_carrier_comes_and_goes(struct lone *l)
{
    its_own_kernel_says(l, FTREE_SYMPTOM_CARRIER_FLAPS,
                        "eth0 was lost and came back 2 times, 5.0 s apart");
}

static void its_own_port_was_trained_low(struct lone *l)
{
    its_own_kernel_says(l, FTREE_SYMPTOM_LINK_SLOW, "eth0 has 5000 Mbit/s instead of 10000");
}

static void a_link_of_two_loses_what_leaves(struct lone *l)
{
    a_link_is(l, 1, (const uint8_t[]){RULES_WAY_LOSSY, RULES_WAY_WELL, RULES_WAY_WELL, RULES_WAY_WELL});
}

static void a_link_of_two_loses_what_comes(struct lone *l)
{
    a_link_is(l, 1, (const uint8_t[]){RULES_WAY_WELL, RULES_WAY_LOSSY, RULES_WAY_WELL, RULES_WAY_WELL});
}

static void the_own_side_of_both_paths_is_down(struct lone *l)
{
    lone_stall(l, 0, 2);
    reach(l, AGENT, FTREE_REACH_LOCAL_DOWN, FTREE_REACH_LOCAL_DOWN, ENETDOWN);
}

static void nobody_is_heard(struct lone *l)
{
    lone_stall(l, 0, 2);
}

static void the_agent_answers(struct lone *l)
{
    lone_stall(l, 0, 2);
    lone_run(l, 20);
    answers(l, 2, DATA);
}

static void an_answer_is_lost_and_the_kernel_speaks(struct lone *l)
{
    lone_stall(l, 0, 2);
    answers(l, 2, MGMT);
    lone_reach(l, 2, DATA, AGENT, FTREE_REACH_CONNECTED, 0);
    answers_on_both(l, 3);
}

static void it_connects_and_answers_another(struct lone *l)
{
    lone_stall(l, 0, 2);
    answers_on_both(l, 3);
    lone_run(l, 160);
    reach(l, AGENT, FTREE_REACH_CONNECTED, FTREE_REACH_CONNECTED, 0);
    is_seen_from_elsewhere(l, DATA, FTREE_REACH_ANSWERED);
}

static void it_is_silent_and_answers_another_and_its_deputys_port_speaks(struct lone *l)
{
    lone_stall(l, 0, 4);
    answers_on_both(l, 3);
    lone_run(l, 160);
    reach(l, DEPUTY, FTREE_REACH_CONNECTED, FTREE_REACH_CONNECTED, 0);
    is_seen_from_elsewhere(l, DATA, FTREE_REACH_ANSWERED);
}

static void the_deputy_answers_for_an_agent_that_has_ended(struct lone *l)
{
    lone_stall(l, 0, 4);
    reach(l, AGENT, FTREE_REACH_REFUSED, FTREE_REACH_REFUSED, ECONNREFUSED);
    answers_on_both(l, 3);
    lone_run(l, 160);
    deputy_says(l, 0);
}

/* It may have left as it should: its successor knows. */
static void the_deputy_alone_says_that_a_rank_ended(struct lone *l)
{
    lone_stall(l, 0, 4);
    reach(l, AGENT, FTREE_REACH_REFUSED, FTREE_REACH_REFUSED, ECONNREFUSED);
    answers_on_both(l, 3);
    lone_run(l, 160);
    deputy_tells(l, 1, &gone);
}

#define PLAY(function) function, #function

/* One row for each sign, and for each of its alternatives. */
static const struct {
    const char *sign;
    int32_t nodes, ppn;
    void (*play)(struct lone *);
    const char *name;
} signs[] = {
    {"process-stopped/state-t", 4, 2, PLAY(an_own_rank_is_stopped)},
    {"user-code-hang/memory-limit", 4, 2, PLAY(an_own_rank_is_held_by_its_memory_limit)},
    {"process-stopped/deputy-says-stopped", 4, 2, PLAY(the_deputy_tells_of_a_stopped_rank)},
    {"process-crash/launcher-and-all-ports", 4, 2,
     PLAY(the_launcher_says_it_ended_and_nobody_is_there)},
    {"process-crash/launcher-and-all-ports", 4, 2, PLAY(the_launcher_lost_its_daemon)},
    {"process-crash/pid-gone", 4, 2, PLAY(an_own_rank_is_gone)},
    {"process-crash/launcher-and-deputy", 4, 2,
     PLAY(the_launcher_and_the_deputy_of_a_mute_agent_say_it_ended)},
    {"process-crash/launcher-and-silent-node", 4, 3,
     PLAY(the_launcher_says_it_ended_beside_a_stopped_agent)},
    {"process-crash/launcher-and-silent-node", 4, 3,
     PLAY(the_launcher_says_the_agent_ended_and_its_deputy_is_silent)},
    {"process-crash/reset-and-all-ports", 4, 2, PLAY(the_connection_was_reset)},
    {"nic-fault/interface-down", 4, 1, PLAY(its_interface_is_down)},
    {"nic-fault/interface-gone", 4, 1, PLAY(its_interface_is_gone)},
    {"link-fault/no-carrier", 4, 1, PLAY(it_has_no_carrier)},
    {"link-fault/nothing-gets-in", 4, 1, PLAY(nothing_gets_in)},
    {"link-fault/nothing-gets-out", 4, 1, PLAY(nothing_gets_out)},
    {"link-fault/own-one-way", 4, 1, PLAY(nothing_gets_out_of_here)},
    {"link-fault/own-one-way", 4, 1, PLAY(nothing_gets_in_here)},
    {"network-degraded/flapping", 4, 1, PLAY(its_own_carrier_comes_and_goes)},
    {"network-degraded/low-speed", 4, 1, PLAY(its_own_port_was_trained_low)},
    {"network-degraded/between-switches", 6, 1, PLAY(what_goes_to_another_switch_is_lost)},
    {"network-degraded/between-switches", 6, 1, PLAY(what_comes_from_another_switch_is_lost)},
    {"network-degraded/lossy", 4, 1, PLAY(its_link_loses_what_comes)},
    {"network-degraded/lossy", 4, 1, PLAY(its_link_loses_what_goes_there)},
    {"network-degraded/late", 4, 1, PLAY(its_link_is_slow)},
    {"network-degraded/late", 4, 1, PLAY(what_comes_from_it_is_slow)},
    {"network-degraded/large-lost", 4, 1, PLAY(its_link_passes_small_packets_only)},
    {"network-degraded/large-lost", 4, 1, PLAY(only_small_packets_come_from_it)},
    {"network-degraded/own", 4, 1, PLAY(the_own_link_loses_what_leaves)},
    {"network-degraded/own", 4, 1, PLAY(the_own_link_loses_what_comes)},
    {"network-degraded/either-end", 2, 1, PLAY(a_link_of_two_loses_what_leaves)},
    {"network-degraded/either-end", 2, 1, PLAY(a_link_of_two_loses_what_comes)},
    {"link-fault/port-disabled", 4, 1, PLAY(its_port_is_switched_off)},
    {"link-fault/powered-port-down", 4, 1, PLAY(it_has_power_and_its_port_is_down)},
    {"node-frozen/powered-and-connected", 4, 1, PLAY(it_has_power_and_its_port_is_up)},
    {"node-frozen/agent-and-deputy-silent", 4, 1, PLAY(the_process_manager_saw_a_rank_stop)},
    {"node-frozen/agent-and-deputy-silent", 4, 2, PLAY(of_the_last_of_a_node_nobody_speaks)},
    {"node-frozen/agent-and-deputy-silent", 4, 2, PLAY(connects_and_no_more)},
    {"node-frozen/agent-and-deputy-silent", 4, 2,
     PLAY(the_agents_port_is_refused_and_the_deputy_connects)},
    {"node-frozen/agent-and-deputy-silent", 4, 2,
     PLAY(the_deputy_connects_on_one_path_and_is_refused_on_the_other)},
    {"node-frozen/agent-and-deputy-silent", 4, 2, PLAY(only_the_deputys_port_speaks)},
    {"node-outage/both-paths-silent", 4, 2, PLAY(a_stall_and_all_is_silent)},
    {"node-outage/power-off", 4, 1, PLAY(the_power_is_off)},
    {"node-outage/only-path-silent", 4, 1, PLAY(a_job_with_one_path)},
    {"node-outage/silent-without-witness", 2, 1, PLAY(a_job_of_two_nodes)},
    {"switch-fault/all-behind-silent", 6, 1, PLAY(a_switch_has_no_power)},
    {"switch-fault/nobody-outside-answers", 6, 1, PLAY(this_switch_is_cut_off)},
    {"switch-fault/data-behind-silent", 6, 1, PLAY(a_switch_of_the_data_network_is_lost)},
    {"io-hang/disk-sleep", 4, 1, PLAY(a_process_is_in_disk_sleep)},
    {"straggler/memory-exhausted", 4, 1, PLAY(its_memory_is_exhausted)},
    {"straggler/throttled", 4, 1, PLAY(its_clock_is_throttled)},
    {"gpu-fault/reported", 4, 1, PLAY(a_gpu_has_failed)},
    {"node-at-risk/reported", 4, 1, PLAY(a_part_of_it_has_failed)},
    {"straggler/cpu-pressure", 4, 1, PLAY(its_cpus_are_wanted_by_too_many)},
    {"unknown/powered-and-silent", 4, 1, PLAY(it_has_power)},
    {"unknown/connection-stuck", 4, 1, PLAY(a_connection_is_stuck)},
    {"unknown/connection-not-made", 4, 1, PLAY(a_connection_is_not_made)},
    {"unknown/connection-silent", 4, 1, PLAY(a_connection_is_silent)},
    {"link-fault/fabric-silent", 4, 1, PLAY(its_fabric_is_silent)},
    {"unknown/fabric-silent-between", 4, 1, PLAY(the_fabric_is_silent_between_two)},
    {"unknown/data-path-silent", 4, 1, PLAY(its_data_path_is_silent)},
    {"unknown/silent-from-here-only", 4, 1, PLAY(it_is_silent_from_here_only)},
    {"unknown/silent-from-here-only", 4, 1, PLAY(its_data_path_is_silent_from_here_only)},
    {"unknown/data-path-silent", 2, 1, PLAY(the_data_path_of_two_nodes_is_silent)},
    {"unknown/own-data-path-silent", 4, 1, PLAY(the_own_side_of_the_data_path_is_down)},
    {"unknown/own-data-path-silent", 4, 1, PLAY(nobody_is_heard_on_the_data_path)},
    {"unknown/unobserved", 4, 2, PLAY(nobody_observes_it_any_more)},
    {"unknown/no-node-answers", 4, 1, PLAY(the_own_side_of_both_paths_is_down)},
    {"unknown/no-node-answers", 4, 1, PLAY(nobody_is_heard)},
    {"well/agent-answers", 4, 1, PLAY(the_agent_answers)},
    {"well/kernel-speaks-on-data", 4, 1, PLAY(an_answer_is_lost_and_the_kernel_speaks)},
    {"well/agent-answers-another", 4, 1, PLAY(it_connects_and_answers_another)},
    {"well/agent-answers-another", 4, 2,
     PLAY(it_is_silent_and_answers_another_and_its_deputys_port_speaks)},
    {"well/deputy-answers", 4, 2, PLAY(the_deputy_answers_for_an_agent_that_has_ended)},
    {"well/deputy-answers", 4, 2, PLAY(the_deputy_alone_says_that_a_rank_ended)},
};

/* Whether a line says that node `*asked` is asked, and the next one what is sent to it then. */
static bool is_said_by_next(const char *line, const char *next)
{
    int ms, then, asked, to;

    return sscanf(line, "%d   asks n%d: ", &ms, &asked) == 2 &&
           sscanf(next, "%d -> n%d ", &then, &to) == 2 && then == ms && to == asked;
}

/* The story without what was asked where the question itself follows, and without questions that
 * are only asked again by the connections that are there: those that no line "asks" announced. */
static const char *without_repeats(const char *log)
{
    static char out[16384];
    int ms, asked = -1;
    size_t len = 0;

    for (const char *line = log, *end; *line; line = end + 1) {
        const char *words = strchr(line, ' ');
        end = strchr(line, '\n');
        ms = atoi(line);
        if (strncmp(words, "   asks ", 8) == 0)
            asked = ms;
        if (is_said_by_next(line, end + 1) ||
            (strncmp(words, " -> ", 4) == 0 && strncmp(end - 6, " probe", 6) == 0 && ms != asked))
            continue;
        len +=
            (size_t) snprintf(out + len, sizeof(out) - len, "%.*s", (int) (end + 1 - line), line);
    }
    out[len] = 0;
    return out;
}

/* "= <class> of <component> <confidence>, by rule <rule>; open: ...; out: ..." */
static void add_verdict(char *text, size_t size, const struct ftree_verdict *v)
{
    size_t len = strlen(text);

    len += (size_t) snprintf(text + len, size - len, "= %s of %s", ftree_class_name(v->class_),
                             ftree_kind_name(v->kind));
    if (v->kind == FTREE_KIND_RANK && v->rank == FTREE_NONE)
        len += (size_t) snprintf(text + len, size - len, " any on");
    else if (v->rank != FTREE_NONE)
        len += (size_t) snprintf(text + len, size - len, " %d (pid %d) on", (int) v->rank,
                                 (int) v->pid);
    len += (size_t) snprintf(text + len, size - len, " n%d 0.%03d, by %s", (int) v->node,
                             v->confidence, v->raised_by[0] ? v->raised_by : "no rule");
    for (int32_t i = 0; i < v->candidates; i++)
        len += (size_t) snprintf(
            text + len, size - len, "; %s %s 0.%03d", v->candidate[i].ruled_out ? "not" : "or",
            ftree_class_name(v->candidate[i].class_), v->candidate[i].confidence);
    snprintf(text + len, size - len, "\n");
}

/* Who has answered goes on answering: an agent that stops is taken for lost. */
static void goes_on_answering(struct lone *l)
{
    for (int32_t node = 1; node < l->job.nodes; node++)
        for (int path = 0; path < FTREE_PATHS; path++) {
            struct ftree_inspect_suspect su;
            if (ftree_inspect_suspect(l->ft, node, &su) &&
                su.reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_ANSWERED)
                answers(l, node, (enum ftree_path) path);
        }
}

TEST_CASES(a_sign_decides, COUNT(signs))
{
    struct lone *l = lone_of(shape_tree(signs[_i].nodes, signs[_i].ppn, 32), 0);
    bool well = strncmp(signs[_i].sign, "well/", 5) == 0;
    ftree_time begin = l->now;
    char text[16384], which[200];

    l->steps = true;
    signs[_i].play(l);
    while (l->verdicts == 0 &&
           (l->now < begin + 950 * FTREE_MS || ftree_inspect_suspects(l->ft) > 0)) {
        lone_run(l, 1);
        if (l->now == begin + 750 * FTREE_MS || l->now == begin + 1250 * FTREE_MS)
            goes_on_answering(l);
    }
    snprintf(text, sizeof(text), "%s", without_repeats(lone_log(l)));
    ck_assert_int_eq(l->verdicts, well ? 0 : 1);
    if (!well) {
        ck_assert_str_eq(l->verdict[0].rule, signs[_i].sign);
        add_verdict(text, sizeof(text), &l->verdict[0]);
    }
    snprintf(which, sizeof(which), "%s, %s", signs[_i].sign, signs[_i].name);
    EXPECT_STORY_OF(text, which);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
}

/* ---- rules: from the symptom to the probes --------------------------------------------------- */

/* Eight nodes behind two switches: node 0 is the root, 1 to 3 are behind s0 with it, 4 is the head
 * of s1.  Who is suspected answers by management alone and tells no state, and the paths are seen
 * to work: what follows is all that a strategy asks of such an agent. */
static const struct {
    const char *rule;
    struct {
        enum ftree_symptom_kind kind;
        int32_t node;
        uint32_t count;
    } seen[2]; /* count 0: no more */
} rules[] = {
    {"stalled-peer", {{FTREE_SYMPTOM_PEER_STALL, 2, 1}}},
    {"stalled-peer", {{FTREE_SYMPTOM_CHAINED, 2, 1}}},
    {"nobody-known-to-wait-for", {{FTREE_SYMPTOM_FLOOD_QUERY, 2, 1}}},
    {"silent-agent", {{FTREE_SYMPTOM_PEER_SILENT, 2, 1}}},
    {"netmod-cannot-reach", {{FTREE_SYMPTOM_PEER_UNREACHABLE, 2, 1}}},
    {"netmod-was-reset", {{FTREE_SYMPTOM_PEER_RESET, 2, 1}}},
    {"process-gone", {{FTREE_SYMPTOM_PROCESS_GONE, 2, 1}}},
    {"killed-for-memory", {{FTREE_SYMPTOM_OUT_OF_MEMORY, 2, 1}}},
    {"exited-before-finalize", {{FTREE_SYMPTOM_PROCESS_EXITED, 2, 1}}},
    {"process-stopped", {{FTREE_SYMPTOM_PROCESS_STOPPED, 2, 1}}},
    {"launcher-lost-proxy", {{FTREE_SYMPTOM_PROXY_LOST, 2, 1}}},
    {"scheduler-lost-node", {{FTREE_SYMPTOM_HEARTBEAT_LOST, 2, 1}}},
    {"scheduler-lost-node", {{FTREE_SYMPTOM_NODE_DOWN, 2, 1}}},
    {"power-is-off", {{FTREE_SYMPTOM_POWER_OFF, 2, 1}}},
    {"failing-hardware", {{FTREE_SYMPTOM_KERNEL_ERROR, 2, 1}}},
    {"failing-hardware", {{FTREE_SYMPTOM_MEMORY_UNCORRECTED, 2, 1}}},
    {"interface-down", {{FTREE_SYMPTOM_INTERFACE_DOWN, 2, 1}}},
    {"carrier-lost", {{FTREE_SYMPTOM_CARRIER_LOST, 2, 1}}},
    {"port-down", {{FTREE_SYMPTOM_PORT_DOWN, 2, 1}}},
    {"port-down", {{FTREE_SYMPTOM_PORT_DISABLED, 2, 1}}},
    {"errors-on-link", {{FTREE_SYMPTOM_LINK_ERRORS, 2, 3}}},
    {"carriers-lost-behind-one-switch",
     {{FTREE_SYMPTOM_CARRIER_LOST, 2, 1}, {FTREE_SYMPTOM_PORT_DOWN, 3, 1}}},
    {"stalls-behind-one-switch",
     {{FTREE_SYMPTOM_PEER_STALL, 2, 1}, {FTREE_SYMPTOM_PEER_UNREACHABLE, 3, 1}}},
    {"switch-down", {{FTREE_SYMPTOM_SWITCH_DOWN, 4, 1}, {FTREE_SYMPTOM_PEER_STALL, 4, 1}}},
    {"file-system-in-trouble", {{FTREE_SYMPTOM_MOUNT_SILENT, 2, 1}}},
    {"file-system-in-trouble", {{FTREE_SYMPTOM_IO_ERROR, 2, 1}}},
    {"slow-file-system", {{FTREE_SYMPTOM_IO_SLOW, 2, 2}, {FTREE_SYMPTOM_IO_SLOW, 2, 1}}},
    {"short-of-memory", {{FTREE_SYMPTOM_MEMORY_PRESSURE, 2, 1}}},
    {"short-of-cpu", {{FTREE_SYMPTOM_CPU_PRESSURE, 2, 1}}},
    {"too-hot", {{FTREE_SYMPTOM_TEMPERATURE, 2, 1}}},
    {"too-hot", {{FTREE_SYMPTOM_CPU_THROTTLED, 2, 1}}},
    {"failed-gpu", {{FTREE_SYMPTOM_GPU_FAILED, 2, 1}, {FTREE_SYMPTOM_PEER_STALL, 2, 1}}},
    {"failing-part", {{FTREE_SYMPTOM_SUPPLY_FAILED, 2, 1}}},
    {"failing-part", {{FTREE_SYMPTOM_FAN_FAILED, 2, 1}}},
    {"failing-part", {{FTREE_SYMPTOM_CPU_FAILED, 2, 1}}},
    {"failing-part", {{FTREE_SYMPTOM_DISK_FAILED, 2, 1}}},
    {"user-suspects", {{FTREE_SYMPTOM_USER_SUSPECTS, 2, 1}}},
};

/* "stalled-peer, peer-stall of n2" */
static const char *name_of_rule(int i, char buf[200])
{
    int len = snprintf(buf, 200, "%s", rules[i].rule);

    for (int j = 0; j < COUNT(rules[i].seen) && rules[i].seen[j].count; j++) {
        len += snprintf(buf + len, 200 - (size_t) len, "%s %s of n%d", j ? " and" : ",",
                        ftree_symptom_info(rules[i].seen[j].kind)->name,
                        (int) rules[i].seen[j].node);
        if (rules[i].seen[j].count > 1)
            len += snprintf(buf + len, 200 - (size_t) len, ", %u times",
                            (unsigned) rules[i].seen[j].count);
    }
    return buf;
}

static const char *strategy_of(const char *rule)
{
    const struct ftree_rules *base = base_rules();
    int32_t r = 0;

    while (strcmp(base->rule[r].name, rule) != 0)
        ck_assert_int_lt(++r, base->rules);
    return base->strategy[base->rule[r].strategy].name;
}

/* What follows when node 2 alone is suspected is the same for all rules of a strategy. */
static void a_strategy_asks(char *text)
{
    char *line = strstr(text, "\n0 suspects n2: "), asked[16384], rule[64];

    if (!line || strstr(line + 1, "\n0 suspects "))
        return;
    ck_assert_int_eq(sscanf(line, "\n0 suspects n2: %*[^,], rule %63s", rule), 1);
    line = strchr(line + 1, '\n') + 1;
    snprintf(asked, sizeof(asked), "%s", line);
    EXPECT_STORY_OF(asked, strategy_of(rule));
    sprintf(line, "0 asks by the strategy %s\n", strategy_of(rule));
}

TEST_CASES(a_rule_fires, COUNT(rules))
{
    struct lone *l = lone_of(shape_two_switches_of(4), 0);
    char text[16384], which[200];

    l->steps = true;
    for (int i = 0; i < COUNT(rules[_i].seen) && rules[_i].seen[i].count; i++)
        seen_often(l, rules[_i].seen[i].kind, rules[_i].seen[i].node, rules[_i].seen[i].count);
    lone_run(l, 5);
    for (int32_t n = 1; n < 7; n++)
        if (ftree_inspect_is_suspect(l->ft, n))
            answers(l, n, MGMT);
    answers_on_both(l, 7);
    lone_run(l, 800);
    snprintf(text, sizeof(text), "%s", without_repeats(lone_log(l)));
    snprintf(which, sizeof(which), "  rule %s on ", rules[_i].rule);
    ck_assert_msg(strstr(text, which), "%s does not fire", rules[_i].rule);
    ck_assert_int_eq(l->verdicts, 0);
    a_strategy_asks(text);
    EXPECT_STORY_OF(text, name_of_rule(_i, which));
}

/* ---- faults that hide others, cause others, or are only listed ------------------------------- */

TEST_CASE(a_nic_that_is_down_hides_and_causes_a_link_without_carrier)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_knows(l, "nic-fault/interface-down", 2, FTREE_NONE, 1);
    l->steps = true;
    it_has_no_carrier(l);
    lone_run(l, 300);
    goes_on_answering(l);
    lone_run(l, 500);
    goes_on_answering(l);
    lone_run(l, 300);
    EXPECT_STORY(without_repeats(lone_log(l)));
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(what_rules_derive_is_no_further_witness)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct ftree_symptom s;

    seen(l, FTREE_SYMPTOM_PEER_SILENT, 1);
    lone_log(l);
    l->steps = true;
    ftree_symptom_init(&s, FTREE_SYMPTOM_OUT_OF_MEMORY, 2, 2, 1, l->now, l->now);
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    EXPECT_STORY_OF(lone_log(l), "its only reporter is a suspect");
    answers(l, 1, DATA);
    EXPECT_STORY_OF(lone_log(l), "its reporter is well");
    reach(l, AGENT, FTREE_REACH_REFUSED, FTREE_REACH_REFUSED, ECONNREFUSED);
    lone_run(l, 900);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(l->verdict[0].confidence, 975); /* half the doubt of 950, once */
    for (int32_t i = 0; i < l->verdict[0].evidences; i++)
        if (l->verdict[0].evidence[i].source == FTREE_EVIDENCE_SYMPTOM)
            ck_assert_str_eq(l->verdict[0].evidence[i].detail, "out-of-memory");
}

TEST_CASE(a_switch_of_switches_has_all_below_behind_it)
{
    struct lone *l = lone_of(shape_switches("switch:2 switch:2 node:2"), 0);
    const struct ftree_tree *tree = l->job.tree;
    struct ftree_symptom s;
    int32_t spine, n = 1;

    spine = tree->switch_parent[tree->node_switch[0]];
    while (tree->node_switch[n] == tree->node_switch[0] || !ftree_tree_is_behind(tree, spine, n))
        n++;
    ftree_symptom_init(&s, FTREE_SYMPTOM_SWITCH_DOWN, 0, FTREE_NONE, 7, l->now, l->now);
    s.about.kind = FTREE_KIND_SWITCH;
    s.about.switch_ = spine;
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    l->steps = true;
    lone_log(l);
    seen(l, FTREE_SYMPTOM_PEER_STALL, n);
    ck_assert_ptr_nonnull(strstr(lone_log(l), "  rule switch-down on "));
    while (ftree_tree_is_behind(tree, spine, n))
        n++;
    seen(l, FTREE_SYMPTOM_PEER_STALL, n);
    ck_assert_ptr_null(strstr(lone_log(l), "  rule switch-down on "));
}

/* Node 4 is the head of s1 and asks about 5 and 6, which are behind it, as is 7. */
static struct lone *head_of_a_switch(void)
{
    return lone_of(shape_two_switches_of(4), 4);
}

TEST_CASE(of_two_nodes_behind_one_switch_while_a_third_answers_both_are_told)
{
    struct lone *l = head_of_a_switch();
    char text[16384];

    l->steps = true;
    lone_stall(l, 4, 5);
    seen(l, FTREE_SYMPTOM_PEER_SILENT, 6);
    lone_run(l, 100);
    answers_on_both(l, 7);
    lone_run(l, 800);
    snprintf(text, sizeof(text), "%s", without_repeats(lone_log(l)));
    ck_assert_int_eq(l->verdicts, 2);
    add_verdict(text, sizeof(text), &l->verdict[0]);
    add_verdict(text, sizeof(text), &l->verdict[1]);
    EXPECT_STORY(text);
}

TEST_CASE(what_comes_later_of_another_node_is_seen_at_the_end)
{
    struct lone *l = head_of_a_switch();
    char text[16384];

    l->steps = true;
    lone_stall(l, 4, 5);
    lone_run(l, 100);
    answers_on_both(l, 7);
    lone_run(l, 200);
    seen(l, FTREE_SYMPTOM_PEER_SILENT, 6);
    lone_run(l, 100);
    answers_on_both(l, 7);
    lone_run(l, 450);
    snprintf(text, sizeof(text), "%s", without_repeats(lone_log(l)));
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(l->verdict[0].node, 5);
    add_verdict(text, sizeof(text), &l->verdict[0]);
    EXPECT_STORY(text);
}

/* ---- the base has no more than is told here -------------------------------------------------- */

static int rows_of_sign(const char *sign)
{
    int n = 0;

    for (int i = 0; i < COUNT(signs); i++)
        n += strcmp(signs[i].sign, sign) == 0;
    return n;
}

static void expect_rows(const struct rules_sign *sign, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int alternatives = 0;
        for (int32_t j = 0; j < n; j++)
            alternatives += strcmp(sign[j].name, sign[i].name) == 0;
        if (ftree_rules_needs(base_rules(), sign[i].name, RULES_FACT_OUTSIDE) ||
            ftree_rules_needs(base_rules(), sign[i].name, RULES_FACT_SLOWED))
            continue; /* test_hang_story.c and test_straggle_story.c have their stories */
        ck_assert_msg(rows_of_sign(sign[i].name) >= alternatives,
                      "%s has %d alternatives and %d stories: add one to signs[]", sign[i].name,
                      alternatives, rows_of_sign(sign[i].name));
    }
}

TEST_CASE(every_sign_has_a_story)
{
    const struct ftree_rules *base = base_rules();

    expect_rows(base->well, base->wells);
    for (int32_t m = 0; m < base->models; m++) {
        if (base->model[m].class_ == FTREE_CLASS_DEADLOCK ||
            base->model[m].class_ == FTREE_CLASS_COLLECTIVE_MISMATCH)
            continue; /* test_waitfor.c has their stories */
        expect_rows(base->model[m].sign, base->model[m].signs);
        ck_assert_msg(base->model[m].signs > 0 || base->model[m].leads_to, /* test_cause.c */
                      "%s is only listed: tell where, and name it here", base->model[m].name);
    }
}

TEST_CASE(every_rule_has_a_story)
{
    const struct ftree_rules *base = base_rules();

    for (int32_t r = 0; r < base->rules; r++) {
        bool told = false;
        for (int i = 0; i < COUNT(rules); i++)
            told = told || strcmp(rules[i].rule, base->rule[r].name) == 0;
        ck_assert_msg(told, "the rule %s has no story: add one to rules[]", base->rule[r].name);
    }
}

/* Whatever kind of symptom a rule looks for, some story has it. */
TEST_CASE(every_symptom_that_a_rule_looks_for_is_seen_in_a_story)
{
    const struct ftree_rules *base = base_rules();
    uint64_t wanted = 0, told = 0;

    for (int32_t r = 0; r < base->rules; r++)
        for (int32_t p = 0; p < base->rule[r].patterns; p++)
            wanted |= base->rule[r].pattern[p].kinds;
    for (int i = 0; i < COUNT(rules); i++)
        for (int j = 0; j < COUNT(rules[i].seen) && rules[i].seen[j].count; j++)
            told |= (uint64_t) 1 << rules[i].seen[j].kind;
    for (int kind = 0; kind < FTREE_SYMPTOM_COUNT; kind++)
        ck_assert_msg(!(wanted >> kind & 1) || told >> kind & 1, "no story begins with %s",
                      ftree_symptom_info(kind)->name);
}
