/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/replay.h"

#include "sim/hang.h"
#include "sim/sim_memory.h"
#include "sim/units.h"
#include "ftree/base/text.h"
#include "ftree/waitfor/waitfor.h"
#include "ftree/wire/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * What a handle does between one input and the next stands in the trace directly behind the input.
 * So these records are read first, all of them, and the handle's callbacks then take them one after
 * the other: each must be what the handle does now.
 */

#define RECORDS_MAX (1 << 18) /* of one input */

struct replay {
    const struct sim_replay_options *options;
    struct sim_replay *out;
    struct sim_topology topology;
    struct ftree_config cfg;
    struct replay_file file;
    struct ftree **ft; /* [nodes]; NULL: no input so far */
    struct replay_record input, ahead; /* the one under way, and the first that is not of it */
    struct replay_record *record; /* [records]: what it came to */
    int32_t records, next;
    bool differs;
};

/* ---- in words -------------------------------------------------------------------------------- */

static double seconds(const struct replay *p, ftree_time t)
{
    return sim_seconds(t - p->out->begins);
}

static const char *message_name(const struct replay *p, const uint8_t *bytes, size_t len)
{
    static struct wire_message m;

    return ftree_wire_decode(&p->topology.job, p->input.at, bytes, len, &m)
               ? "something malformed"
               : ftree_wire_type_name(m.type);
}

static const char *name_of(const struct replay *p, int32_t node, char name[16])
{
    return ftree_node_name(&p->topology.job, node, name, 16);
}

static void describe(const struct replay *p, const struct replay_record *r, char *buf, size_t len)
{
    char name[16];

    switch (r->kind) {
        case REPLAY_RECEIVE:
            snprintf(buf, len, "receives %s from %s over %s", message_name(p, r->bytes, r->len),
                     name_of(p, r->other, name), ftree_path_name(r->path));
            break;
        case REPLAY_REACHED:
            snprintf(buf, len, "learns of %s over %s: %s", name_of(p, r->other, name),
                     ftree_path_name(r->path), ftree_reach_name(r->reach));
            break;
        case REPLAY_STALL:
            snprintf(buf, len, "rank %d waits for rank %d", (int) r->rank.rank, (int) r->rank.peer);
            break;
        case REPLAY_STALL_OVER:
            snprintf(buf, len, "rank %d waits no more", (int) r->rank.rank);
            break;
        case REPLAY_GONE:
            snprintf(buf, len, "rank %d has ended", (int) r->rank.rank);
            break;
        case REPLAY_LEAVE:
            snprintf(buf, len, "leaves, for its ranks have ended");
            break;
        case REPLAY_TICK:
            snprintf(buf, len, "its time has come");
            break;
        case REPLAY_LOOK:
            snprintf(buf, len, "looks at rank %d: state %c, phase %d", (int) r->rank.rank,
                     r->rank.proc_state, r->rank.phase);
            break;
        case REPLAY_WAITS:
            snprintf(buf, len, "asks rank %d what it waits for (%u)", (int) r->rank.rank,
                     (unsigned) r->look);
            break;
        case REPLAY_STATE:
            snprintf(buf, len, "looks at itself: data interface %s",
                     ftree_link_name(r->state.link));
            break;
        case REPLAY_SEND:
            snprintf(buf, len, "sends %s to %s%s over %s, %zu bytes",
                     message_name(p, r->bytes, r->len), r->role ? "the deputy of " : "",
                     name_of(p, r->other, name), ftree_path_name(r->path), r->len);
            break;
        case REPLAY_SAYS:
            snprintf(buf, len, "says: %.*s", REPLAY_TEXT_MAX - 32, (const char *) r->bytes);
            break;
        default:
            snprintf(buf, len, "nothing more");
            break;
    }
}

/* Of one node every record, of all nodes only their decisions. */
static void print_record(const struct replay *p, const struct replay_record *r)
{
    const struct sim_replay_options *o = p->options;
    char text[REPLAY_TEXT_MAX], name[16];

    if (o->node == FTREE_NONE ? r->kind != REPLAY_SAYS : p->input.node != o->node)
        return;
    if (!o->out)
        return;
    describe(p, r, text, sizeof(text));
    ftree_text_ascii(text);
    fprintf(o->out, "%12.6f %s%s %s\n", seconds(p, p->input.at), name_of(p, p->input.node, name),
            r->kind <= REPLAY_LAST_IN ? "" : "  ", text);
}

/* ---- the comparison -------------------------------------------------------------------------- */

/* The first difference; what comes after it is of no use. */
static void differ(struct replay *p, const struct replay_record *want,
                   const struct replay_record *got)
{
    static const struct replay_record nothing = {.kind = REPLAY_END};
    struct sim_replay *out = p->out;
    size_t i, n;

    if (p->differs)
        return;
    p->differs = true;
    out->line = want ? want->line : p->ahead.line;
    out->node = p->input.node;
    describe(p, want ? want : &nothing, out->expected, sizeof(out->expected));
    describe(p, got, out->got, sizeof(out->got));
    if (want && want->kind == REPLAY_SEND && got->kind == REPLAY_SEND && want->len == got->len) {
        for (i = 0; i < got->len && want->bytes[i] == got->bytes[i]; i++)
            ;
        n = strlen(out->got);
        if (i < got->len)
            snprintf(out->got + n, sizeof(out->got) - n, ", of which byte %zu is %02x, not %02x", i,
                     got->bytes[i], want->bytes[i]);
    }
    ftree_text_ascii(out->expected);
    ftree_text_ascii(out->got);
}

/* What the trace has next of this input; NULL: nothing. */
static const struct replay_record *next(struct replay *p)
{
    return p->next < p->records ? &p->record[p->next++] : NULL;
}

static bool is_same_message(const struct replay_record *a, const struct replay_record *b)
{
    return a->other == b->other && a->path == b->path && a->role == b->role &&
           a->fresh == b->fresh && a->conn == b->conn && a->len == b->len &&
           !memcmp(a->bytes, b->bytes, a->len);
}

static void compare(struct replay *p, const struct replay_record *got)
{
    const struct replay_record *want = next(p);

    if (p->differs)
        return;
    print_record(p, got);
    if (!want || want->kind != got->kind ||
        (got->kind == REPLAY_SEND
             ? !is_same_message(want, got)
             : want->len != got->len || memcmp(want->bytes, got->bytes, got->len) != 0))
        differ(p, want, got);
}

/* ---- what a handle calls --------------------------------------------------------------------- */

static int send_message(void *ctx, const struct ftree_route *to, const void *bytes, size_t len)
{
    struct replay *p = ctx;
    struct replay_record got = {.kind = REPLAY_SEND,
                                .other = to->node,
                                .path = to->path,
                                .role = to->role,
                                .fresh = to->fresh,
                                .conn = to->conn,
                                .len = len};

    memcpy(got.bytes, bytes, len < sizeof(got.bytes) ? len : sizeof(got.bytes));
    p->out->messages++;
    compare(p, &got);
    return 0;
}

static void look(void *ctx, int32_t i, struct ftree_rank_state *s)
{
    struct replay *p = ctx;
    struct replay_record got = {.kind = REPLAY_LOOK};
    const struct replay_record *want = next(p);

    got.rank.rank = sim_first_rank(&p->topology, p->input.node) + i;
    got.rank.proc_state = '?';
    if (want && want->kind == REPLAY_LOOK && want->rank.rank == got.rank.rank) {
        *s = want->rank;
        print_record(p, want);
        return;
    }
    differ(p, want, &got);
    *s = (struct ftree_rank_state){.rank = got.rank.rank, .proc_state = 'R', .peer = FTREE_NONE};
}

/* False: the bytes are not what a rank says. */
static bool make_page(struct replay *p, const struct replay_record *r, struct waits_page *page)
{
    struct ftree *ft = p->ft[p->input.node];
    size_t at = 0;
    struct waitfor_answer *a = waitfor_answer_get(ft, p->input.at, r->bytes, r->len, &at);

    if (a && a->rank == r->rank.rank) {
        page->records = a->records;
        memcpy(page->record, a->record, (size_t) a->records * sizeof(*a->record));
        page->exchanges = a->exchanges;
        memcpy(page->exchange, a->exchange, (size_t) a->exchanges * sizeof(*a->exchange));
        page->posted = a->posted;
        page->posted_more = a->posted_more;
        memcpy(page->post, a->post, (size_t) a->posted * sizeof(*a->post));
        page->last = a->last;
        memcpy(page->sent, a->sent, (size_t) a->last * sizeof(*a->sent));
    }
    ftree_alloc(ft, a, 0);
    return a != NULL;
}

static enum ftree_waits_look waits(void *ctx, int32_t i, uint32_t look, const int32_t *with,
                                   int32_t n, const struct waits_page **page)
{
    static struct waits_page said;
    struct replay *p = ctx;
    struct replay_record got = {.kind = REPLAY_WAITS, .look = look};
    const struct replay_record *want = next(p);

    (void) with;
    (void) n;
    got.rank.rank = sim_first_rank(&p->topology, p->input.node) + i;
    memset(&said, 0, sizeof(said));
    *page = &said;
    if (want && want->kind == REPLAY_WAITS && want->rank.rank == got.rank.rank &&
        want->look == look && (want->said != FTREE_WAITS_READY || make_page(p, want, &said))) {
        print_record(p, want);
        return (enum ftree_waits_look) want->said;
    }
    differ(p, want, &got);
    return FTREE_WAITS_UNABLE;
}

static void state(void *ctx, struct ftree_node_state *s)
{
    struct replay *p = ctx;
    struct replay_record got = {.kind = REPLAY_STATE};
    const struct replay_record *want = next(p);

    if (want && want->kind == REPLAY_STATE) {
        *s = want->state;
        print_record(p, want);
        return;
    }
    differ(p, want, &got);
    memset(s, 0xff, sizeof(*s));
    s->link = FTREE_LINK_UNKNOWN;
    s->ranks = 0;
}

static void say(void *ctx, const char *line)
{
    struct replay *p = ctx;
    struct replay_record got = {.kind = REPLAY_SAYS, .len = strlen(line)};

    if (got.len >= sizeof(got.bytes))
        got.len = sizeof(got.bytes) - 1;
    memcpy(got.bytes, line, got.len);
    p->out->decisions++;
    compare(p, &got);
}

static void ignore_verdict(void *ctx, const struct ftree_verdict *v)
{
    (void) ctx; /* the handle says so, too */
    (void) v;
}

static const struct ftree_io io = {.send = send_message,
                                   .look = look,
                                   .waits = waits,
                                   .call_name = sim_hang_call_name,
                                   .state = state,
                                   .verdict = ignore_verdict,
                                   .report = ignore_verdict,
                                   .trace = say};

/* ---- inputs ---------------------------------------------------------------------------------- */

static struct ftree *handle(struct replay *p, int32_t node)
{
    if (!p->ft[node]) {
        if (ftree_create(&p->topology.job, node, &p->cfg, &io, p, &p->ft[node]))
            snprintf(p->file.wrong, sizeof(p->file.wrong),
                     "node %d: no handle with this configuration", (int) node);
        p->out->handles++;
    }
    return p->ft[node];
}

static void give(struct replay *p, struct ftree *ft, const struct replay_record *in)
{
    switch (in->kind) {
        case REPLAY_RECEIVE:
            ftree_receive(ft, in->at, in->other, in->path, 1, in->bytes, in->len);
            break;
        case REPLAY_REACHED:
            ftree_reached(ft, in->at, in->other, in->path, in->role, in->reach, in->error);
            break;
        case REPLAY_STALL:
            ftree_stall(ft, in->at, in->rank.rank, in->rank.peer, in->waiting);
            break;
        case REPLAY_STALL_OVER:
            ftree_stall_over(ft, in->at, in->rank.rank);
            break;
        case REPLAY_GONE:
            ftree_rank_gone(ft, in->at, in->rank.rank);
            break;
        case REPLAY_LEAVE:
            ftree_leave_at_once(ft, in->at);
            break;
        default:
            ftree_tick(ft, in->at);
            break;
    }
    p->out->inputs++;
    p->out->now = in->at;
}

/* Reads what the input came to, up to the next one. */
static bool read_records(struct replay *p)
{
    for (p->records = p->next = 0;; p->records++) {
        if (!sim_replay_read(&p->file, &p->ahead))
            return false;
        if (p->ahead.kind <= REPLAY_LAST_IN || p->ahead.kind == REPLAY_END)
            return true;
        if (p->ahead.node != p->input.node || p->ahead.at != p->input.at ||
            p->records == RECORDS_MAX) {
            snprintf(p->file.wrong, sizeof(p->file.wrong),
                     "output of node %d without its input before it; is a line missing?",
                     (int) p->ahead.node);
            return false;
        }
        p->record = sim_grow(p->record, p->records, sizeof(*p->record));
        p->record[p->records] = p->ahead;
    }
}

static bool one_input(struct replay *p)
{
    static const struct replay_record nothing = {.kind = REPLAY_END};
    struct ftree *ft;

    p->input = p->ahead;
    if (!read_records(p))
        return false;
    ft = handle(p, p->input.node);
    if (!ft)
        return false;
    print_record(p, &p->input);
    give(p, ft, &p->input);
    if (p->next < p->records)
        differ(p, &p->record[p->next], &nothing);
    return true;
}

static bool go(struct replay *p)
{
    p->out->begins = p->out->now = p->file.at;
    if (!sim_replay_read(&p->file, &p->ahead))
        return false;
    while (p->ahead.kind != REPLAY_END && !p->differs) {
        if (p->ahead.kind > REPLAY_LAST_IN) {
            snprintf(p->file.wrong, sizeof(p->file.wrong),
                     "output of node %d before any input", (int) p->ahead.node);
            return false;
        }
        if (!one_input(p))
            return false;
    }
    if (!p->differs && getc(p->file.f) != EOF) {
        p->file.line++;
        snprintf(p->file.wrong, sizeof(p->file.wrong), "a line behind the one with \"end\"");
        return false;
    }
    return true;
}

int sim_replay(FILE *f, const struct sim_replay_options *options, struct sim_replay *out)
{
    struct replay p = {.options = options, .out = out, .file = {.f = f}};
    uint64_t hash = 0;
    bool good;

    *out = (struct sim_replay){.node = FTREE_NONE};
    ftree_config_default(&p.cfg);
    good = sim_replay_read_head(&p.file, &p.topology, &p.cfg, &hash);
    if (good) {
        out->nodes = p.topology.job.nodes;
        out->other_rules = hash != sim_trace_rules_hash();
        p.ft = sim_calloc((size_t) out->nodes, sizeof(*p.ft));
        good = go(&p);
    }
    if (!good) {
        out->line = p.file.line;
        memcpy(out->wrong, p.file.wrong, sizeof(out->wrong));
    }
    for (int32_t n = 0; p.ft && n < out->nodes; n++)
        ftree_destroy(p.ft[n]);
    free(p.ft);
    free(p.record);
    free(p.file.buf);
    sim_topology_free(&p.topology);
    return !good ? 2 : p.differs;
}
