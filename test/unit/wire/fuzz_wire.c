/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "messages.h"
#include "must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A handle against a peer that proves who it is and then sends anything.  The input is a story:
 *
 *     1 byte    which node the handle is
 *     records   1 byte control, 2 bytes length (little-endian), so many bytes of a message
 *
 * of the control byte, bits 0-2 say who sends, bit 3 over which path, bits 4-6 how much time has
 * passed; bit 7 set means an event of the own node instead of a message.  After each record every
 * invariant is checked, and that all that was sent in answer is well-formed.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -Isrc/util -Isrc/util/ftree -Itest/lib \
 *         $(pkg-config --cflags json-c) test/unit/wire/fuzz_wire.c \
 *         test/lib/messages.c test/lib/base.c \
 *         $(find src/util/ftree -name '*.c') $(pkg-config --libs json-c) -o fuzz_wire
 *     test/unit/wire/test_fuzz_wire --corpus corpus && ./fuzz_wire corpus
 *
 * test_fuzz_wire runs it with messages changed at random, from a fixed seed.
 */

#define SENDS_MAX 600 /* that one record may cause: parts of a reduction of waits, sent again */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct target {
    struct ftree *ft;
    int32_t self;
    ftree_time now;
    int64_t allocations;
    int32_t sends;
};

static int send_checked(void *ctx, const struct ftree_route *to, const void *bytes, size_t len)
{
    struct target *t = ctx;
    struct wire_message m;

    MUST(to->node >= 0 && to->node < MESSAGES_NODES && to->node != t->self);
    MUST(to->path < FTREE_PATHS && to->role < FTREE_ROLES);
    MUST(ftree_wire_decode(messages_job(), t->now, bytes, len, &m) == FTREE_OK);
    MUST(++t->sends <= SENDS_MAX);
    return t->sends % 7 ? 0 : 101;
}

static int packet_checked(void *ctx, const struct ftree_route *to, bool large, const void *bytes,
                          size_t len)
{
    const struct target *t = ctx;
    struct wire_message m;

    (void) large;
    MUST(to->node >= 0 && to->node < MESSAGES_NODES && to->node != t->self);
    MUST(ftree_wire_decode(messages_job(), t->now, bytes, len, &m) == FTREE_OK);
    return t->now / FTREE_MS % 7 ? 0 : 101;
}

static void take_packets(void *ctx, bool take)
{
    (void) ctx, (void) take;
}

static void look_somehow(void *ctx, int32_t i, struct ftree_rank_state *state)
{
    const struct target *t = ctx;
    int32_t rank = messages_job()->node_ranks[messages_job()->node_first[t->self] + i];
    uint32_t mood = (uint32_t) (t->now / (500 * FTREE_MS)) + (uint32_t) i;

    *state = (struct ftree_rank_state){.rank = rank,
                                       .pid = 100 + rank,
                                       .phase = (uint8_t) (mood % FTREE_PHASE_COUNT),
                                       .proc_state = mood % 5 ? 'S' : 'T',
                                       .peer = FTREE_NONE,
                                       .waiting = mood % 3 * 600 * FTREE_MS};
}

static void state_somehow(void *ctx, struct ftree_node_state *state)
{
    const struct target *t = ctx;

    memset(state, (int) (t->now / FTREE_MS % 256), sizeof(*state));
    state->link = FTREE_LINK_UP;
    state->ranks = 0;
}

static void log_somehow(void *ctx, int32_t i, struct ftree_log *log)
{
    const struct target *t = ctx;

    log->entries = 1;
    log->entry[0] = (struct ftree_log_entry){.at = t->now, .peer = i};
}

/* Now and then a rank does not answer, or writes what is out of all bounds. */
static enum ftree_waits_look waits_somehow(void *ctx, int32_t i, uint32_t look, const int32_t *with,
                                           int32_t n, const struct waits_page **out)
{
    static struct waits_page page;
    const struct target *t = ctx;
    struct waits_record *r = &page.record[0];

    MUST(n >= 0 && n <= WAITS_PEERS_MAX && look != 0);
    if (look % 7 < 2)
        return look % 7 ? FTREE_WAITS_PENDING : FTREE_WAITS_UNABLE;
    memset(&page, look % 7 == 2 ? 0x7f : 0, sizeof(page));
    *out = &page;
    if (look % 7 == 2)
        return FTREE_WAITS_READY;
    page.records = 1;
    *r = (struct waits_record){.rank = 2 * t->self + i,
                               .state = WAITS_WAITING,
                               .mode = WAITS_FOR_ALL,
                               .requests = 1,
                               .comms = 1};
    r->request[0] = (struct waits_request){.kind = WAITS_RECV, .peer = r->rank ^ 1};
    r->comm[0] = (struct waits_comm){
        .size = MESSAGES_SIZE, .runs = 1, .run = {{0, 1, MESSAGES_SIZE}}};
    for (int32_t k = 0; k < n; k++)
        page.exchange[page.exchanges++].peer = with[k];
    return FTREE_WAITS_READY;
}

static void check_verdict(const struct ftree_verdict *v)
{
    MUST(v->class_ < FTREE_CLASS_COUNT && v->kind < FTREE_KIND_COUNT);
    MUST(v->confidence <= 1000);
    MUST(v->node >= 0 && v->node < MESSAGES_NODES && v->rank < MESSAGES_SIZE);
    MUST(v->victims.count >= 0 && v->victims.count <= MESSAGES_SIZE);
}

static void hear_verdict(void *ctx, const struct ftree_verdict *v)
{
    (void) ctx;
    check_verdict(v);
}

static void *count_allocations(void *ctx, void *ptr, size_t size)
{
    struct target *t = ctx;

    if (size == 0) {
        t->allocations -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    t->allocations += ptr == NULL;
    return realloc(ptr, size);
}

static const struct ftree_io target_io = {.send = send_checked,
                                          .packet = packet_checked,
                                          .packets = take_packets,
                                          .look = look_somehow,
                                          .state = state_somehow,
                                          .log = log_somehow,
                                          .waits = waits_somehow,
                                          .verdict = hear_verdict,
                                          .report = hear_verdict,
                                          .alloc = count_allocations};

static void check_target(struct target *t)
{
    const char *broken = ftree_check(t->ft);

    if (broken)
        fprintf(stderr, "invariant broken: %s\n", broken);
    MUST(!broken);
    t->sends = 0;
}

static void pass_time(struct target *t, int code)
{
    static const int ms[] = {0, 1, 40, 150, 200, 500, 1000, 3000};
    ftree_time due;

    t->now += (ftree_time) ms[code] * FTREE_MS;
    due = ftree_deadline(t->ft);
    if (due > t->now)
        return;
    ftree_tick(t->ft, t->now);
    MUST(ftree_deadline(t->ft) > t->now);
    check_target(t);
}

/* Some of what other middleware may tell is out of range. */
static void own_symptom(struct target *t, int kind, int node, int how)
{
    struct ftree_symptom s;

    ftree_symptom_init(&s, (enum ftree_symptom_kind)(kind % (FTREE_SYMPTOM_COUNT + 1)), node,
                       how & 1 ? FTREE_NONE : node * 2, node, t->now - how * FTREE_MS, t->now);
    s.count = (uint32_t) how;
    s.error = how;
    s.detail[0] = (char) how;
    ftree_symptom(t->ft, t->now, &s);
}

/* What the own node's glue may tell, from three bytes. */
static void own_event(struct target *t, int what, int node, int how)
{
    int32_t rank = messages_job()->node_first[t->self] + how % 2;

    if (what >= 128) {
        own_symptom(t, what - 128, node, how);
        return;
    }
    switch (what % 5) {
        case 0:
            ftree_stall(t->ft, t->now, rank, node * 2 - FTREE_LOCAL * (how % 3 - 1),
                        (ftree_time) how * 100 * FTREE_MS);
            break;
        case 1:
            ftree_stall_over(t->ft, t->now, rank);
            break;
        case 2:
            ftree_rank_gone(t->ft, t->now, rank);
            break;
        case 3:
            ftree_reached(t->ft, t->now, node, (enum ftree_path)(how & 1),
                          (enum ftree_role)(how >> 1 & 1),
                          (enum ftree_reach)(how >> 2) % FTREE_REACH_COUNT, how);
            break;
        default:
            if (how == 77)
                ftree_leave(t->ft, t->now);
            break;
    }
}

static void one_record(struct target *t, uint8_t control, const uint8_t *bytes, size_t len)
{
    int rc;

    pass_time(t, control >> 4 & 7);
    if (control & 0x80) {
        own_event(t, len > 0 ? bytes[0] : 0, control & 7, len > 1 ? bytes[1] : 0);
    } else {
        /* a copy of its own size, so that the sanitizers see a read behind it */
        uint8_t *copy = malloc(len ? len : 1);
        memcpy(copy, bytes, len);
        rc = len > 2 && copy[2] == WIRE_PACKET
                 ? ftree_packet(t->ft, t->now, t->now, control & 7,
                                (enum ftree_path)(control >> 3 & 1), copy, len)
                 : ftree_receive(t->ft, t->now, control & 7, (enum ftree_path)(control >> 3 & 1), 1,
                                 copy, len);
        free(copy);
        MUST(rc == FTREE_OK || rc == FTREE_ERR_MALFORMED || rc == FTREE_ERR_VERSION ||
             (rc == FTREE_ERR_INVALID && (control & 7) == t->self));
    }
    check_target(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct target t = {.now = 1000 * FTREE_MS, .self = size ? data[0] % MESSAGES_NODES : 0};
    struct ftree_verdict v;
    size_t at = 1;

    MUST(ftree_create(messages_job(), t.self, NULL, &target_io, &t, &t.ft) == FTREE_OK);
    while (at + 3 <= size) {
        size_t len = data[at + 1] | (size_t) data[at + 2] << 8;
        if (len > size - at - 3)
            len = size - at - 3;
        one_record(&t, data[at], data + at + 3, len);
        at += 3 + len;
    }
    for (int i = 0; i < 40; i++) /* and let it come to an end */
        pass_time(&t, 5);
    for (int32_t i = 0; ftree_verdict_at(t.ft, i, &v); i++)
        check_verdict(&v);
    ftree_destroy(t.ft);
    MUST(t.allocations == 0);
    return 0;
}
