/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"

#include "base.h"
#include "messages.h"

#include "suite.h"
#include <stdio.h>
#include <string.h>

static char *last_log;

static void check_handle(const struct lone *l)
{
    const char *broken = l->ft ? ftree_check(l->ft) : NULL;

    ck_assert_msg(!broken, "invariant broken: %s", broken ? broken : "");
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static void add_line(struct lone *l, const char *line)
{
    size_t need = strlen(line) + 32;

    if (l->log_len + need > l->log_room) {
        l->log_room = 2 * l->log_room + need;
        l->log = realloc(l->log, l->log_room);
        ck_assert_ptr_nonnull(l->log);
    }
    l->log_len +=
        (size_t) sprintf(l->log + l->log_len, "%d %s\n", (int) (l->now / FTREE_MS) - 1000, line);
}

static void note_connection(struct lone *l, const struct ftree_route *to)
{
    for (int32_t i = 0; i < l->kernels && to->fresh; i++) {
        struct lone_kernel *k = &l->kernel[i];
        if (k->node == to->node && k->path == to->path && k->role == to->role)
            k->due = true;
    }
}

/* The message's own bytes do not last. */
static void note_told(const struct lone *l, struct lone_sent *s)
{
    char rule[FTREE_NAME_MAX] = "";
    struct summary o;

    s->tolds = 0;
    while (ftree_wire_get_summary(&l->job, l->now, &s->m.u.summaries, &o, rule))
        if (s->tolds++ < LONE_TOLD_MAX)
            s->told[s->tolds - 1] = o;
}

static void unwrap(const struct lone *l, struct lone_sent *s, char words[32])
{
    const struct wire_relay r = s->m.u.relay;

    s->relayed = FTREE_NONE;
    if (s->m.type != WIRE_RELAY)
        return;
    s->relayed = r.node;
    sprintf(words, " %s n%d", s->m.flags & WIRE_FLAG_PASSED_ON ? "from" : "for", (int) r.node);
    ck_assert_int_eq(ftree_wire_decode(&l->job, l->now, r.bytes, r.len, &s->m), FTREE_OK);
}

static int send_message(void *ctx, const struct ftree_route *to, const void *bytes, size_t len)
{
    struct lone *l = ctx;
    struct lone_sent *s = &l->sent[l->n_sent++];
    char line[128], relayed[32] = "";

    ck_assert_int_le(l->n_sent, LONE_SENT_MAX);
    ck_assert_int_ge(to->node, 0);
    ck_assert_int_lt(to->node, l->job.nodes);
    ck_assert(l->job.has_path[to->path]);
    s->to = *to;
    s->at = l->now;
    ck_assert_int_eq(ftree_wire_decode(&l->job, l->now, bytes, len, &s->m), FTREE_OK);
    unwrap(l, s, relayed);
    if (s->m.type == WIRE_VERDICT_DOWN)
        note_told(l, s);
    snprintf(line, sizeof(line), "-> n%d %s %s%s%s%s%s%s%s", (int) to->node,
             ftree_path_name(to->path), ftree_wire_type_name(s->m.type),
             to->role == FTREE_ROLE_DEPUTY ? " deputy" : "", to->fresh ? " fresh" : "",
             s->m.flags & WIRE_FLAG_SUBSTITUTE ? " substitute" : "",
             s->m.flags & WIRE_FLAG_NOBODY_WAITS ? " nobody-waits" : "",
             s->m.flags & WIRE_FLAG_MORE ? " more" : "",
             relayed);
    add_line(l, line);
    note_connection(l, to);
    return l->send_error;
}

static void look(void *ctx, int32_t i, struct ftree_rank_state *state)
{
    struct lone *l = ctx;

    l->looks++;
    REQUIRE(i < LONE_RANKS_MAX);
    *state = l->state[i];
}

static int32_t connections(void *ctx, struct ftree_connection *c, int32_t n)
{
    struct lone *l = ctx;

    l->connections_asked++;
    for (int32_t i = 0; i < l->connections && i < n; i++) {
        c[i] = l->connection[i];
        c[i].since = l->now - c[i].since;
        c[i].sent = l->now - c[i].sent;
    }
    return l->connections;
}

static void losses(void *ctx, char *text, size_t room)
{
    struct lone *l = ctx;

    snprintf(text, room, "%s", l->own_state.losses);
}

static void state(void *ctx, struct ftree_node_state *out)
{
    *out = ((struct lone *) ctx)->own_state;
}

static void message_log(void *ctx, int32_t i, struct ftree_log *log)
{
    (void) i;
    log->entries = 1;
    log->entry[0] = ((struct lone *) ctx)->own_message;
}

static void reason(void *ctx, int32_t i, char *text, size_t room)
{
    const struct lone *l = ctx;

    (void) i;
    snprintf(text, room, "%s", l->reason ? l->reason : "");
}

static void learn(void *ctx, const struct ftree_verdict *v)
{
    struct lone *l = ctx;

    if (v->withdrawn) {
        l->withdrawals++;
        return;
    }
    ck_assert_int_lt(l->verdicts, LONE_VERDICTS_MAX);
    l->verdict[l->verdicts++] = *v;
}

static void report(void *ctx, const struct ftree_verdict *v)
{
    struct lone *l = ctx;

    if (v->withdrawn) {
        l->withdrawals_told++;
        return;
    }
    ck_assert_int_lt(l->reports, LONE_VERDICTS_MAX);
    l->report[l->reports++] = *v;
}

static void trace(void *ctx, const char *line)
{
    const struct lone *l = ctx;

    if (l->steps || line[0] != ' ')
        add_line(ctx, line);
}

static void *alloc(void *ctx, void *ptr, size_t size)
{
    struct lone *l = ctx;

    if (size == 0) {
        l->live_allocations -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (l->fail_alloc_in > 0 && --l->fail_alloc_in == 0)
        return NULL;
    l->live_allocations += ptr == NULL;
    return realloc(ptr, size);
}

static const struct ftree_io io = {.send = send_message,
                                   .look = look,
                                   .connections = connections,
                                   .verdict = learn,
                                   .report = report,
                                   .trace = trace,
                                   .alloc = alloc,
                                   .state = state,
                                   .losses = losses,
                                   .log = message_log,
                                   .reason = reason};

/* Ranks that could say what they wait for, but are not in MPI's progress. */
static enum ftree_waits_look say_nothing(void *ctx, int32_t i, uint32_t look, const int32_t *with,
                                         int32_t n, const struct waits_page **page)
{
    (void) ctx, (void) i, (void) look, (void) with, (void) n;
    *page = NULL;
    return FTREE_WAITS_UNABLE;
}

static int send_packet(void *ctx, const struct ftree_route *to, bool large, const void *bytes,
                       size_t len)
{
    struct lone *l = ctx;

    (void) to, (void) large, (void) bytes, (void) len;
    l->packets++;
    return 0;
}

static void take_packets(void *ctx, bool take)
{
    struct lone *l = ctx;

    l->takes_packets = take;
}

static bool ask_handlers(void *ctx, int32_t node)
{
    struct lone *l = ctx;

    (void) node;
    l->handled++;
    return true;
}

static bool listen_on_fabric(void *ctx)
{
    struct lone *l = ctx;

    l->fabric_listens++;
    return true;
}

static bool ask_fabric(void *ctx, uint32_t number, const uint8_t *address, size_t len)
{
    struct lone *l = ctx;

    (void) address, (void) len;
    l->fabric_asks++;
    l->fabric_number = number;
    return true;
}

static const struct ftree_io *io_of(const struct lone *l)
{
    static struct ftree_io own;

    own = io;
    own.waits = l->ranks_say ? say_nothing : NULL;
    own.handlers = l->handlers ? ask_handlers : NULL;
    own.fabric_listen = l->fabric ? listen_on_fabric : NULL;
    own.fabric_ask = l->fabric ? ask_fabric : NULL;
    own.packet = l->bursts ? send_packet : NULL;
    own.packets = l->bursts ? take_packets : NULL;
    return &own;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void *array(int32_t n)
{
    void *p = calloc((size_t) n, sizeof(int32_t));

    ck_assert_ptr_nonnull(p);
    return p;
}

static void make_job(struct lone *l, int32_t nodes, int32_t ppn, int32_t fanout)
{
    int32_t size = nodes * ppn;

    l->node_first = array(nodes + 1);
    l->node_ranks = array(size);
    l->rank_node = array(size);
    l->rank_pid = array(size);
    for (int32_t r = 0; r < size; r++) {
        l->rank_node[r] = r / ppn;
        l->node_ranks[r] = r;
        l->rank_pid[r] = 5000 + r;
    }
    for (int32_t n = 0; n <= nodes; n++)
        l->node_first[n] = n * ppn;
    l->job = (struct ftree_job){.nodes = nodes,
                                .size = size,
                                .fanout = fanout,
                                .rules = base_rules(),
                                .seed = 7,
                                .has_path = {true, true},
                                .rank_node = l->rank_node,
                                .node_first = l->node_first,
                                .node_ranks = l->node_ranks,
                                .rank_pid = l->rank_pid};
}

static void end(void *l)
{
    lone_free(l);
}

struct lone *lone_new(int32_t nodes, int32_t ppn, int32_t fanout, int32_t self)
{
    struct lone *l = calloc(1, sizeof(*l));

    ck_assert_ptr_nonnull(l);
    ck_assert_int_le(ppn, LONE_RANKS_MAX);
    l->self = self;
    make_job(l, nodes, ppn, fanout);
    ftree_config_default(&l->cfg);
    l->now = 1000 * FTREE_MS;
    for (int32_t i = 0; i < ppn; i++)
        l->state[i] = (struct ftree_rank_state){
            .rank = self * ppn + i, .pid = 5000 + self * ppn + i, .proc_state = 'R', .peer = -1};
    ck_assert_int_eq(ftree_create(&l->job, self, &l->cfg, io_of(l), l, &l->ft), FTREE_OK);
    suite_keep(l, end);
    return l;
}

struct lone *lone_of(struct shape shape, int32_t self)
{
    struct ftree_tree *tree = shape.topology[0] ? shape_read(shape.topology) : NULL;
    struct lone *l =
        lone_new(tree ? tree->nodes : shape.nodes, shape.ranks, shape.fanout, self);

    if (tree)
        lone_use_tree(l, tree);
    return l;
}

void lone_use_tree(struct lone *l, struct ftree_tree *tree)
{
    struct ftree_tree *old = l->tree;

    ck_assert_int_eq(tree->nodes, l->job.nodes);
    l->job.tree = l->tree = tree;
    lone_renew(l);
    ftree_tree_free(old);
}

void lone_renew(struct lone *l)
{
    ftree_destroy(l->ft);
    ck_assert_int_eq(ftree_create(&l->job, l->self, &l->cfg, io_of(l), l, &l->ft), FTREE_OK);
}

void lone_free(struct lone *l)
{
    suite_forget(l);
    ftree_destroy(l->ft);
    ftree_tree_free(l->tree);
    ck_assert_int_eq(l->live_allocations, 0);
    free(l->node_first);
    free(l->node_ranks);
    free(l->rank_node);
    free(l->rank_pid);
    free(l->log);
    free(l);
    free(last_log);
    last_log = NULL;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void kernels_speak(struct lone *l)
{
    for (int32_t i = 0; i < l->kernels; i++) {
        struct lone_kernel *k = &l->kernel[i];
        if (!k->due)
            continue;
        k->due = false;
        ck_assert_int_eq(
            ftree_reached(l->ft, l->now, k->node, k->path, k->role, k->reach, k->error), FTREE_OK);
        check_handle(l);
    }
}

/* Others look at a suspect, too, and say so. */
static void others_speak(struct lone *l)
{
    FTREE_EACH_SUSPECT(su, l->ft)
        for (int path = 0; path < FTREE_PATHS; path++) {
            struct works *w = &su->works[path];
            if (w->asked && w->heard <= w->asked && !l->hushed)
                w->heard = w->asked + 1;
        }
}

void lone_run(struct lone *l, int ms)
{
    ftree_time end = l->now + (ftree_time) ms * FTREE_MS, due;

    while ((due = ftree_deadline(l->ft)) <= end) {
        ck_assert_msg(due >= l->stepped, "a deadline before what it is of");
        l->now = due > l->now ? due : l->now;
        ftree_tick(l->ft, l->now);
        l->stepped = l->now;
        check_handle(l);
        ck_assert_msg(ftree_deadline(l->ft) > l->now, "a tick leaves its own deadline behind");
        kernels_speak(l);
        others_speak(l);
    }
    l->now = end;
}

void lone_sleep(struct lone *l, int ms)
{
    l->now += (ftree_time) ms * FTREE_MS;
}

void lone_hear(struct lone *l, int32_t from, enum ftree_path path, struct wire_message *m)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    size_t len;

    if (!m->id)
        m->id = 100000 + ++l->next_id;
    len = ftree_wire_encode(m, l->now, buf);
    ck_assert_int_eq(ftree_receive(l->ft, l->now, from, path, 1, buf, len), FTREE_OK);
    l->stepped = l->now;
    check_handle(l);
}

void lone_answer(struct lone *l, int32_t from, enum ftree_path path, enum ftree_role role)
{
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.role = (uint8_t) role};

    for (int32_t i = 0; i < l->n_sent; i++)
        if (l->sent[i].m.type == WIRE_PROBE && l->sent[i].to.node == from)
            m.u.answer.nonce = l->sent[i].m.u.probe.nonce;
    lone_hear(l, from, path, &m);
}

void lone_acks(struct lone *l, int32_t from)
{
    int32_t n = l->n_sent;

    for (int32_t i = 0; i < n; i++) {
        struct wire_message m = {.type = WIRE_ACK, .u.ack = l->sent[i].m.id};
        if (l->sent[i].to.node == from && l->sent[i].m.type != WIRE_ACK)
            lone_hear(l, from, l->sent[i].to.path, &m);
    }
}

void lone_all_ack(struct lone *l)
{
    for (int32_t n = 0; n < l->job.nodes; n++)
        lone_acks(l, n);
}

void lone_waits(struct lone *l, int32_t i)
{
    l->state[i].phase = FTREE_PHASE_WAITING;
    l->state[i].waiting = l->cfg.stall;
}

static void note_kernel(struct lone *l, int32_t node, enum ftree_path path, enum ftree_role role,
                        enum ftree_reach reach, int error)
{
    struct lone_kernel *k = l->kernel;

    while (k < l->kernel + l->kernels && (k->node != node || k->path != path || k->role != role))
        k++;
    ck_assert(k < l->kernel + LONE_KERNELS_MAX);
    l->kernels += k == l->kernel + l->kernels;
    *k = (struct lone_kernel){node, path, role, reach, error, false};
}

void lone_lost(struct lone *l, int32_t node)
{
    for (int32_t i = 0; i < l->kernels;)
        if (l->kernel[i].node == node)
            l->kernel[i] = l->kernel[--l->kernels];
        else
            i++;
}

void lone_reach(struct lone *l, int32_t node, enum ftree_path path, enum ftree_role role,
                enum ftree_reach reach, int error)
{
    if (reach == FTREE_REACH_CONNECTED || reach == FTREE_REACH_REFUSED)
        note_kernel(l, node, path, role, reach, error);
    ck_assert_int_eq(ftree_reached(l->ft, l->now, node, path, role, reach, error), FTREE_OK);
    l->stepped = l->now;
    check_handle(l);
}

void lone_stall(struct lone *l, int32_t rank, int32_t peer)
{
    ck_assert_int_eq(ftree_stall(l->ft, l->now, rank, peer, l->cfg.stall), FTREE_OK);
    check_handle(l);
}

struct ftree_verdict lone_verdict(const struct lone *l, const char *sign, int32_t node,
                                  int32_t rank, int32_t fln)
{
    struct ftree_verdict v = base_verdict(sign, node, rank);

    v.fln = fln;
    /* the same component, class and fln: the same verdict */
    v.id = 1000 + 1000 * v.class_ + (uint32_t) (node + 100 * (rank + 1));
    v.first_symptom = l->now - 900 * FTREE_MS;
    v.located = l->now;
    return v;
}

void lone_knows(struct lone *l, const char *sign, int32_t node, int32_t rank, int32_t fln)
{
    struct ftree_verdict v = lone_verdict(l, sign, node, rank, fln);

    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    check_handle(l);
}

void lone_told(struct lone *l, int32_t from, enum wire_type type, const struct ftree_verdict *v)
{
    struct wire_message m = {.type = (uint8_t) type};
    struct wire_summaries w;

    if (type == WIRE_VERDICT_DOWN)
        m = messages_told(l->now, v, 1, &w);
    else
        m.u.verdict = *v;
    lone_hear(l, from, FTREE_PATH_DATA, &m);
}

void lone_finds(struct lone *l, const struct ftree_verdict *v)
{
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, v));
    check_handle(l);
}

struct ftree_inspect_verdict lone_known(const struct lone *l, int32_t i)
{
    struct ftree_inspect_verdict v;

    ck_assert_msg(ftree_inspect_verdict(l->ft, i, &v), "verdict %d is not known", (int) i);
    return v;
}

struct ftree_verdict lone_verdict_at(const struct lone *l, int32_t i)
{
    struct ftree_verdict v;

    ck_assert_msg(ftree_verdict_at(l->ft, i, &v), "verdict %d is not known", (int) i);
    return v;
}

struct ftree_inspect_suspect lone_suspect(const struct lone *l, int32_t node)
{
    struct ftree_inspect_suspect su;

    ck_assert_msg(ftree_inspect_suspect(l->ft, node, &su), "n%d is no suspect", (int) node);
    return su;
}

struct ftree_inspect_case lone_case(const struct lone *l, int32_t node)
{
    struct ftree_inspect_case c;

    ck_assert_msg(ftree_inspect_case(l->ft, node, FTREE_NONE, &c), "n%d has no case", (int) node);
    return c;
}

void lone_withdraw(struct lone *l, int32_t i)
{
    struct ftree_verdict v = lone_verdict_at(l, i);

    v.withdrawn = l->now;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    check_handle(l);
}

void lone_over(struct lone *l, int32_t i, const char *why)
{
    struct ftree_inspect_verdict v = lone_known(l, i);
    struct ftree_event e = {
        .kind = FTREE_EVENT_OVER, .node = v.node, .by = v.fln, .number = v.id};

    snprintf(e.u.why, sizeof(e.u.why), "%s", why);
    LONE_STEP(l, ftree_emit(l->ft, &e));
    check_handle(l);
}

void lone_victims(struct lone *l, int32_t from, uint32_t told, int32_t first, int32_t last)
{
    struct wire_message m = {.type = WIRE_VICTIMS, .u.victims.message = told};

    if (last >= first)
        ftree_ranks_add(&m.u.victims.ranks, first, last);
    lone_hear(l, from, FTREE_PATH_DATA, &m);
}

void lone_nobody_waits(struct lone *l, int32_t from, uint32_t told)
{
    struct wire_message m = {.type = WIRE_ACK, .flags = WIRE_FLAG_NOBODY_WAITS, .u.ack = told};

    lone_hear(l, from, FTREE_PATH_DATA, &m);
}

/* ---- what came out --------------------------------------------------------------------------- */

const struct lone_sent *lone_last(const struct lone *l, enum wire_type type)
{
    for (int32_t i = l->n_sent - 1; i >= 0; i--)
        if (l->sent[i].m.type == type)
            return &l->sent[i];
    return NULL;
}

int32_t lone_count(const struct lone *l, enum wire_type type)
{
    int32_t n = 0;

    for (int32_t i = 0; i < l->n_sent; i++)
        n += l->sent[i].m.type == type;
    return n;
}

/* A line of the log that says what was sent to whom. */
struct sends {
    int ms;
    char nodes[1024], path[16], words[128];
};

static bool read_sends(const char *line, struct sends *s)
{
    return sscanf(line, "%d -> %1023[n0-9 ]%15s %127[^\n]", &s->ms, s->nodes, s->path,
                  s->words) == 4;
}

/* `next` is sent to the same nodes over the other path, or (`nodes`) to others over the same. */
static bool joins(struct sends *s, const struct sends *next, bool nodes)
{
    size_t len = strlen(s->nodes);

    if (s->ms != next->ms || strcmp(s->words, next->words) != 0 ||
        strcmp(nodes ? s->path : s->nodes, nodes ? next->path : next->nodes) != 0)
        return false;
    if (nodes && len + strlen(next->nodes) < sizeof(s->nodes))
        strcpy(s->nodes + len, next->nodes);
    else if (!nodes && strcmp(s->path, "data") == 0 && strcmp(next->path, "mgmt") == 0)
        strcpy(s->path, "data+mgmt");
    else
        return false;
    return true;
}

/* Lines that join are one, which is no longer than they were. */
static void fold(char *log, bool nodes)
{
    char *last = log, *out = log;
    struct sends s, next;
    bool is_send = false;

    for (char *line = log, *end; *line; line = end) {
        size_t len;
        end = strchr(line, '\n') + 1;
        len = (size_t) (end - line);
        if (read_sends(line, &next) && is_send && joins(&s, &next, nodes)) {
            out = last + sprintf(last, "%d -> %s%s %s\n", s.ms, s.nodes, s.path, s.words);
            continue;
        }
        is_send = read_sends(line, &s);
        last = out;
        memmove(out, line, len);
        out += len;
    }
    *out = '\0';
}

const char *lone_log(struct lone *l)
{
    free(last_log);
    last_log = l->log ? l->log : calloc(1, 1);
    fold(last_log, false);
    fold(last_log, true);
    l->log = NULL;
    l->log_len = l->log_room = 0;
    l->n_sent = 0;
    return last_log;
}
