/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "messages.h"

#include "base.h"
#include "ftree_int.h"
#include "suite.h"

#include <string.h>

static const int32_t rank_node[MESSAGES_SIZE] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
static const int32_t node_first[MESSAGES_NODES + 1] = {0, 2, 4, 6, 8, 10, 12, 14, 16};
static const int32_t node_ranks[MESSAGES_SIZE] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                  8, 9, 10, 11, 12, 13, 14, 15};

static struct ftree_job job = {.nodes = MESSAGES_NODES,
                               .size = MESSAGES_SIZE,
                               .fanout = 2,
                               .seed = 7,
                               .has_path = {true, true},
                               .rank_node = rank_node,
                               .node_first = node_first,
                               .node_ranks = node_ranks};

const struct ftree_job *messages_job(void)
{
    struct ftree_tree_error e;
    struct ftree_tree *tree;
    int32_t ranks;

    job.rules = base_rules();
    if (!job.tree && !ftree_tree_synthetic("switch:2 node:4", 2, &tree, &ranks, &e))
        job.tree = tree; /* kept until the program ends */
    return &job;
}

static void fill_ranks(struct ftree_ranks *set)
{
    /* every second rank: as many ranges as there can be */
    for (int32_t r = 0; r < MESSAGES_SIZE; r += 2)
        ftree_ranks_add(set, r, r);
    set->count = MESSAGES_SIZE; /* some found no room */
}

static void fill_answer(struct wire_answer *a)
{
    static const char states[] = FTREE_PROC_STATES;

    a->nonce = 77;
    a->role = FTREE_ROLE_DEPUTY;
    a->leaving = true;
    a->asked_phase = FTREE_PHASE_WAITING;
    a->asked_peer = 15;
    a->asked_reported = true;
    a->troubles = WIRE_TROUBLES_MAX;
    for (int32_t i = 0; i < a->troubles; i++)
        a->trouble[i] = (struct wire_trouble){.rank = i % MESSAGES_SIZE,
                                              .pid = 4000 + i,
                                              .phase = (uint8_t) (i % FTREE_PHASE_COUNT),
                                              .proc_state = states[i % (int) strlen(states)]};
    fill_ranks(&a->waiting);
}

static void fill_verdict(struct ftree_verdict *v, ftree_time now, const char *sign)
{
    *v = base_verdict(sign, 3, FTREE_NONE);
    memset(v->rule, 'r', sizeof(v->rule) - 1);
    memset(v->because, 'b', sizeof(v->because) - 1);
    memset(v->raised_by, 'a', sizeof(v->raised_by) - 1);
    v->id = 12345;
    v->withdrawn = now - FTREE_MS;
    v->holds_back = 60000 * FTREE_MS;
    v->ticket = FTREE_TICKET_STORAGE;
    v->fln = 1;
    v->symptoms = 5;
    v->symptom_kinds = (uint64_t) 3 << (FTREE_SYMPTOM_COUNT - 2);
    v->pid = 4711;
    v->first_symptom = now - 900 * FTREE_MS;
    v->located = now - FTREE_MS;
    v->evidences = FTREE_EVIDENCE_MAX;
    for (int32_t i = 0; i < v->evidences; i++) {
        v->evidence[i] = (struct ftree_evidence){.source = (uint8_t) (i % FTREE_EVIDENCE_SOURCES),
                                                 .path = (uint8_t) (i % (FTREE_PATHS + 1)),
                                                 .role = (uint8_t) (i % FTREE_ROLES),
                                                 .reach = (uint8_t) (i % FTREE_REACH_COUNT),
                                                 .proc_state = i % 2 ? 'T' : 0,
                                                 .target = 3,
                                                 .by = i % MESSAGES_NODES,
                                                 .error = 11 * i,
                                                 .at = now - (ftree_time) i * FTREE_MS};
        memset(v->evidence[i].detail, '~', sizeof(v->evidence[i].detail) - 1);
    }
    v->candidates = FTREE_CANDIDATE_MAX;
    for (int32_t i = 0; i < v->candidates; i++)
        v->candidate[i] = (struct ftree_candidate){FTREE_CLASS_LINK_FAULT, 100, i % 2 == 0};
    fill_ranks(&v->victims);
}

struct summary messages_summary(const struct ftree_verdict *v)
{
    return (struct summary){.class_ = v->class_,
                            .kind = v->kind,
                            .confidence = v->confidence,
                            .id = v->id,
                            .node = v->node,
                            .rank = v->rank,
                            .switch_ = v->switch_,
                            .fln = v->fln,
                            .first_symptom = v->first_symptom,
                            .located = v->located,
                            .withdrawn = v->withdrawn,
                            .holds_back = v->holds_back,
                            .component = v->component.count ? &v->component : NULL};
}

struct wire_message messages_told(ftree_time now, const struct ftree_verdict *v, int32_t n,
                                  struct wire_summaries *w)
{
    struct wire_message m = {.type = WIRE_VERDICT_DOWN};

    *w = (struct wire_summaries){0};
    for (int32_t i = 0; i < n; i++) {
        struct summary o = messages_summary(&v[i]);
        REQUIRE(ftree_wire_put_summary(w, now, &o, v[i].rule));
    }
    m.u.summaries = ftree_wire_summary_list(w);
    return m;
}

/* Two with the longest name of a rule, and as many as find room with that of the one before. */
static void fill_summaries(struct wire_summary_list *told, ftree_time now)
{
    static struct wire_summaries w;
    struct ftree_verdict v;
    struct summary o;

    w = (struct wire_summaries){0};
    fill_verdict(&v, now, "process-stopped/state-t");
    o = messages_summary(&v);
    o.rank = 7;
    REQUIRE(ftree_wire_put_summary(&w, now, &o, v.rule));
    o.withdrawn = o.holds_back = 0;
    for (o.id = 1; ftree_wire_put_summary(&w, now, &o, o.id == 1 ? "a/b" : w.rule); o.id++)
        ;
    *told = ftree_wire_summary_list(&w);
}

/* ---- what ranks wait for --------------------------------------------------------------------- */

static const struct ftree_io no_io;
static struct ftree memory = {.io = &no_io}; /* for what only allocates */

static struct waits_page *a_page(void)
{
    static struct waits_page page;

    memset(&page, 0, sizeof(page));
    page.records = 1;
    page.record[0] = (struct waits_record){.rank = 4,
                                           .threads = 1,
                                           .state = WAITS_WAITING,
                                           .mode = WAITS_FOR_ALL,
                                           .call = 3,
                                           .stamp = 1000,
                                           .requests = 2,
                                           .comms = 1};
    page.record[0].request[0] = (struct waits_request){
        .kind = WAITS_RECV, .fate = WAITS_OPEN, .peer = 5, .tag = 7, .bytes = 8};
    page.record[0].request[1] =
        (struct waits_request){.kind = WAITS_COLLECTIVE, .peer = FTREE_NONE, .number = 3};
    page.record[0].comm[0] = (struct waits_comm){.size = MESSAGES_SIZE,
                                                 .name = "MPI_COMM_WORLD",
                                                 .runs = 1,
                                                 .run = {{0, 1, MESSAGES_SIZE}},
                                                 .last = {.begun = 3, .call = 9, .root = -1}};
    page.exchanges = 1;
    page.exchange[0] = (struct waits_exchange){.peer = 5, .sent = {3, 4}, .received = {5, 6}};
    page.posted = page.last = 1;
    page.post[0] = (struct waits_flow){.peer = WAITS_ANY, .tag = 1, .count = 1};
    page.sent[0] = (struct waits_flow){.peer = 5, .tag = 1, .count = 1};
    return &page;
}

static struct wire_part part_of(const uint8_t *bytes, size_t len)
{
    return (struct wire_part){.number = 12, .parts = 1, .len = len, .bytes = bytes};
}

/* Rank 4 waits for 5, and that for 4. */
static void fill_items(struct wire_part *part)
{
    static struct ftree_bytes bytes;
    struct waits_record *r = &a_page()->record[0];
    struct waits *w;

    memory.job = messages_job();
    w = ftree_waits_create(&memory);
    REQUIRE(w && !ftree_waits_add(w, r));
    r->rank = 5;
    r->request[0].peer = 4;
    REQUIRE(!ftree_waits_add(w, r) && !ftree_waits_reduce(w, true));
    bytes.n = 0;
    REQUIRE(ftree_waits_items(w, &bytes));
    *part = part_of(bytes.items, (size_t) bytes.n);
    ftree_waits_destroy(w);
}

static void fill_seen(struct wire_part *part, ftree_time now)
{
    static uint8_t bytes[1024];
    static const int32_t with[] = {5};
    waitfor_bytes out = {0};

    memory.job = messages_job();
    REQUIRE(waitfor_answer_put(&memory, now, &out, 4, WAITFOR_READY, now - FTREE_MS, a_page(), with,
                               1) &&
            waitfor_answer_put(&memory, now, &out, 5, WAITFOR_LEFT, 0, NULL, NULL, 0) &&
            out.n <= (int32_t) sizeof(bytes));
    memcpy(bytes, out.items, (size_t) out.n);
    *part = part_of(bytes, (size_t) out.n);
    ftree_alloc(&memory, out.items, 0);
}

static bool make_waits(int i, ftree_time now, struct wire_message *m)
{
    static const uint8_t look[] = {8, 2, 10, 10, 0}; /* rank 4 with 5, rank 5 with nobody */

    switch (i) {
        case 0:
            m->type = WIRE_WAITS_UP;
            fill_items(&m->u.part);
            return true;
        case 1:
            m->type = WIRE_WAITS_LOOK;
            m->u.part = part_of(look, sizeof(look));
            return true;
        case 2:
            m->type = WIRE_WAITS_SEEN;
            fill_seen(&m->u.part, now);
            return true;
        case 3:
            m->type = WIRE_WAITS_SEEN;
            m->u.part = (struct wire_part){5, 1, 3, 2, (const uint8_t *) "hi"};
            return true;
        case 4:
            m->type = WIRE_VERDICT_UP;
            fill_verdict(&m->u.verdict, now, "deadlock/cycle");
            m->u.verdict.rank = 6;
            m->u.verdict.withdrawn = 0;
            ftree_ranks_add(&m->u.verdict.component, 6, 7);
            ftree_ranks_add(&m->u.verdict.component, 12, 12);
            return true;
        default:
            return false;
    }
}

bool messages_make(int i, ftree_time now, struct wire_message *m)
{
    messages_job(); /* which has a tree from then on */
    memset(m, 0, sizeof(*m));
    m->id = 0x01020304u + (uint32_t) i;
    if (i < WIRE_TYPE_COUNT) { /* the smallest of each type */
        m->type = (uint8_t) i;
        if (m->type == WIRE_VERDICT_UP) {
            m->u.verdict.first_symptom = m->u.verdict.located = now;
            m->u.verdict.switch_ = FTREE_NONE;
        } else if (m->type >= WIRE_WAITS_UP && m->type <= WIRE_QUERY_RESULT) {
            m->u.part.parts = 1;
        } else if (m->type == WIRE_SYMPTOM) {
            ftree_symptom_init(&m->u.symptom, FTREE_SYMPTOM_PEER_SILENT, 0, FTREE_NONE, 0, now,
                               now);
        }
        return true;
    }
    switch (i - WIRE_TYPE_COUNT) {
        case 0:
            m->type = WIRE_ACK;
            m->u.ack = UINT32_MAX;
            return true;
        case 1:
            m->type = WIRE_SYMPTOM;
            m->flags = WIRE_FLAG_SUBSTITUTE;
            ftree_symptom_init(&m->u.symptom, FTREE_SYMPTOM_PEER_SILENT, 3, FTREE_NONE, 5,
                               now - 1000 * FTREE_MS, now - FTREE_MS);
            m->u.symptom.count = 9;
            m->u.symptom.reporters = FTREE_REPORTERS_MAX;
            memset(m->u.symptom.detail, '~', sizeof(m->u.symptom.detail) - 1);
            return true;
        case 2:
            m->type = WIRE_SYMPTOM;
            ftree_symptom_init(&m->u.symptom, FTREE_SYMPTOM_PEER_STALL, 7, 15, 1, now, now);
            return true;
        case 3:
            m->type = WIRE_PROBE;
            m->u.probe =
                (struct wire_probe){12, 3, RULES_ASK_STATE, FTREE_NONE, now - 1000 * FTREE_MS};
            return true;
        case 4:
            m->type = WIRE_ANSWER;
            fill_answer(&m->u.answer);
            return true;
        case 5:
            m->type = WIRE_FLOOD_QUERY;
            m->u.round = 9;
            return true;
        case 6:
            m->type = WIRE_VERDICT_UP;
            fill_verdict(&m->u.verdict, now, "node-outage/both-paths-silent");
            return true;
        case 7:
            m->type = WIRE_VERDICT_UP;
            fill_verdict(&m->u.verdict, now, "process-stopped/state-t");
            m->u.verdict.rank = 7;
            return true;
        case 8:
            m->type = WIRE_VICTIMS;
            m->u.victims.message = 7;
            fill_ranks(&m->u.victims.ranks);
            return true;
        case 9:
            m->type = WIRE_STATE;
            memset(&m->u.state.state, 0xff, sizeof(m->u.state.state)); /* nothing is known */
            m->u.state.nonce = 12;
            m->u.state.state.link = FTREE_LINK_UNKNOWN;
            m->u.state.state.ranks = 0;
            return true;
        case 10:
            m->type = WIRE_LOG;
            m->u.log.nonce = 12;
            m->u.log.log.rank = 15;
            m->u.log.log.entries = FTREE_LOG_MAX;
            for (int32_t e = 0; e < FTREE_LOG_MAX; e++)
                m->u.log.log.entry[e] =
                    (struct ftree_log_entry){.type = (uint8_t) (e % FTREE_LOG_TYPES),
                                             .at = now - (ftree_time) e,
                                             .peer = e % 2 ? 7 : FTREE_NONE,
                                             .tag = e,
                                             .context = 3,
                                             .bytes = 1000};
            return true;
        case 11:
            m->type = WIRE_SYMPTOM;
            ftree_symptom_init(&m->u.symptom, FTREE_SYMPTOM_SWITCH_DOWN, job.tree->switch_head[1],
                               FTREE_NONE, 2, now, now);
            m->u.symptom.about.kind = FTREE_KIND_SWITCH;
            m->u.symptom.about.switch_ = 1;
            return true;
        case 12:
            m->type = WIRE_INDIRECT_PROBE;
            m->u.indirect_probe = (struct wire_indirect_probe){12, 7, true};
            return true;
        case 13:
            m->type = WIRE_INDIRECT_RESULT;
            m->u.indirect_result =
                (struct wire_indirect_result){12,  7, FTREE_PATH_MGMT, FTREE_REACH_ANSWERED, {RULES_WAY_WELL, RULES_WAY_NO_LARGE}};
            return true;
        case 14:
            m->type = WIRE_VERDICT_DOWN;
            fill_summaries(&m->u.summaries, now);
            return true;
        case 15:
            m->type = WIRE_RELAY;
            m->flags = WIRE_FLAG_PASSED_ON;
            m->u.relay = (struct wire_relay){7, 5, (const uint8_t *) "hello"};
            return true;
        case 16:
            m->type = WIRE_PACKET;
            m->u.packet = (struct wire_packet){12, WIRE_BURST_PACKETS - 1, true, 1000};
            return true;
        case 17:
            m->type = WIRE_HEARD;
            m->u.heard = (struct wire_heard){.nonce = 12, .over = true, .way = {{7, 3, 1, 900}}};
            return true;
        case 18:
            m->type = WIRE_FABRIC;
            m->u.fabric = (struct wire_fabric){.nonce = 12,
                                               .step = WIRE_FABRIC_ADDRESS,
                                               .node = 7,
                                               .len = 5,
                                               .bytes = (const uint8_t *) "hello"};
            return true;
        default:
            return make_waits(i - WIRE_TYPE_COUNT - 19, now, m);
    }
}
