/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/report/report.h"
#include "ftree/waits/waits_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Records and findings in words.  Ranks are those of the world, roots those of their
 * communicator. */

struct text {
    char *buf;
    size_t len, room;
};

static struct text text_in(char *buf, size_t len)
{
    if (len > 0)
        buf[0] = 0;
    return (struct text){.buf = buf, .room = len};
}

/* Nothing more is said; the last word is whole. */
static void cut_off(struct text *t)
{
    size_t end = t->room > 4 ? t->room - 4 : 0;

    while (end > 0 && t->buf[end - 1] != ' ')
        end--;
    if (end > 0)
        memcpy(t->buf + end, "...", 4);
    t->len = t->room;
}

/* What does not fit is cut off. */
__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...)
{
    va_list args;
    int n;

    if (t->len >= t->room)
        return;
    va_start(args, format);
    n = vsnprintf(t->buf + t->len, t->room - t->len, format, args);
    va_end(args);
    if (n > 0 && (size_t) n >= t->room - t->len)
        cut_off(t);
    else if (n > 0)
        t->len += (size_t) n;
}

static const char *call_name(const struct waits_names *names, uint32_t call)
{
    return call && names->call ? names->call(call) : "MPI";
}

/* ---- communicators --------------------------------------------------------------------------- */

static void say_comm(struct text *t, const struct waits_comm *c)
{
    if (c->name[0])
        say(t, "%s", c->name);
    else
        say(t, "a communicator of %d rank%s (context %" PRIu32 ")", c->size,
            c->size == 1 ? "" : "s", c->key.context);
}

static void say_peer(struct text *t, int32_t peer)
{
    if (peer == WAITS_ANY)
        say(t, "any");
    else if (peer < 0)
        say(t, "?");
    else
        say(t, "%d", peer);
}

static const char *th(uint32_t n)
{
    if (n / 10 % 10 == 1)
        return "th";
    return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

/* "MPI_COMM_WORLD, the 5th, root 0, 8 bytes, MPI_SUM" */
static void say_collective(struct text *t, const struct waits_names *names,
                           const struct waits_comm *c, const struct waits_collective *last)
{
    say_comm(t, c);
    if (last->begun > 0)
        say(t, ", the %" PRIu32 "%s", last->begun, th(last->begun));
    if (last->root >= 0)
        say(t, ", root %d", last->root);
    if (last->bytes != WAITS_NO_BYTES)
        say(t, ", %" PRIu64 " bytes", last->bytes);
    if (last->op)
        say(t, ", %s", names->op ? names->op(last->op) : "operator");
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void say_lock(struct text *t, const struct waits_comm *c, bool shared)
{
    if ((c->key.context & WAITS_LOCK_OF_ANY) == WAITS_LOCK_OF_ONE)
        say(t, "%s lock of %d, ", shared ? "shared" : "exclusive", c->key.first);
    else
        say(t, "all shared locks, ");
    if (c->name[0])
        say(t, "%s", c->name);
    else
        say(t, "a window (context %" PRIu32 ")", c->key.context & ~WAITS_LOCK_OF_ANY);
}

static bool is_lock(const struct waits_record *r, const struct waits_request *q)
{
    return q->kind == WAITS_COLLECTIVE && q->comm >= 0 && ftree_waits_is_lock(r->comm[q->comm].key);
}

static void say_held(struct text *t, const struct waits_record *r)
{
    for (int32_t i = 0; i < r->comms; i++) {
        const struct waits_comm *c = &r->comm[i];
        if (!ftree_waits_is_lock(c->key) || c->last.begun >= WAITS_LOCK_NONE ||
            (c->key.context & WAITS_LOCK_OF_ANY) == WAITS_LOCK_OF_ANY)
            continue;
        say(t, ", holds ");
        say_lock(t, c, c->last.begun == WAITS_LOCK_SHARED);
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

static void say_collective_request(struct text *t, const struct waits_names *names,
                                   const struct waits_record *r, const struct waits_request *q,
                                   bool with_kind)
{
    const struct waits_comm *c = q->comm >= 0 ? &r->comm[q->comm] : NULL;
    struct waits_collective only = {
        .begun = q->number, .root = FTREE_NONE, .bytes = WAITS_NO_BYTES};

    if (!c) {
        say(t, "a collective");
        return;
    }
    if (ftree_waits_is_lock(c->key)) {
        say_lock(t, c, q->number == WAITS_LOCK_SHARED);
        return;
    }
    if (ftree_waits_collective(c, q->number))
        only = *ftree_waits_collective(c, q->number);
    if (with_kind)
        say(t, "%s ", only.call ? call_name(names, only.call) : "a collective");
    say_collective(t, names, c, &only);
}

#define PREPOSITION(id, text, before) before,
static const char *const kinds[] = {WAITS_KINDS(FTREE_SECOND)};
static const char *const prepositions[] = {WAITS_KINDS(PREPOSITION)};

static void say_request(struct text *t, const struct waits_names *names,
                        const struct waits_record *r, int32_t i, bool with_kind)
{
    const struct waits_request *q = &r->request[i];

    if (q->kind == WAITS_COLLECTIVE) {
        say_collective_request(t, names, r, q, with_kind);
        return;
    }
    if (with_kind)
        say(t, "%s ", kinds[q->kind]);
    say(t, "%s ", prepositions[q->kind]);
    say_peer(t, q->peer);
    if (q->kind <= WAITS_PROBE && q->tag == WAITS_ANY)
        say(t, ", any tag");
    else if (q->kind <= WAITS_PROBE)
        say(t, ", tag %d", q->tag);
    if (q->comm >= 0) {
        say(t, ", ");
        say_comm(t, &r->comm[q->comm]);
    }
}

/* ---- ranks ----------------------------------------------------------------------------------- */

#define SHOWN 3 /* requests of one rank */

static const char *const states[] = {WAITS_STATES(FTREE_SECOND)};

/* A blocking operation that waits for its root; the messages inside say how it does. */
static bool waits_for_root(const struct waits_record *r, const struct waits_request *q)
{
    const struct waits_collective *what =
        q->kind == WAITS_COLLECTIVE && q->comm >= 0 && q->peer >= 0
            ? ftree_waits_collective(&r->comm[q->comm], q->number)
            : NULL;

    return what && what->call == r->call;
}

static void say_requests(struct text *t, const struct waits_names *names,
                         const struct waits_record *r, const char *call)
{
    bool with_kind = r->requests > 1 || strstr(call, "Wait") || strstr(call, "Test");

    /* of a lock the others are the same, in other words */
    if (is_lock(r, &r->request[0]) || waits_for_root(r, &r->request[0])) {
        say_request(t, names, r, 0, with_kind && is_lock(r, &r->request[0]));
        return;
    }
    if (r->requests > 1 || r->more)
        say(t, r->mode == WAITS_FOR_ONE ? "one of " : "all of ");
    for (int32_t i = 0; i < r->requests && i < SHOWN; i++) {
        say(t, "%s", i > 0 ? "; " : "");
        say_request(t, names, r, i, with_kind);
    }
    if (r->requests > SHOWN)
        say(t, "; %d more", r->requests - SHOWN);
    if (r->more)
        say(t, "; others");
}

static void say_record(struct text *t, const struct waits_names *names,
                       const struct waits_record *r)
{
    const char *call = call_name(names, r->call);
    int32_t node = names->job->rank_node ? names->job->rank_node[r->rank] : r->rank;
    char name[16];

    say(t, "rank %d (%s)", r->rank, ftree_node_name(names->job, node, name, sizeof(name)));
    if (r->state == WAITS_FINALIZING || r->state == WAITS_FINALIZED) {
        say(t, " has called MPI_Finalize");
        say_held(t, r);
    } else if (r->state != WAITS_WAITING && r->state != WAITS_INSIDE) {
        say(t, " is %s", states[r->state]);
    } else {
        say(t, r->polls ? " polls by %s" : " in %s", call);
        if (r->requests > 0) {
            say(t, "(");
            say_requests(t, names, r, call);
            say(t, ")");
        }
        say_held(t, r);
    }
}

void ftree_waits_line(const struct waits_names *names, const struct waits_record *r, char *buf,
                      size_t len)
{
    struct text t = text_in(buf, len);

    say_record(&t, names, r);
}

void ftree_waits_hint_line(const struct waits_request *q, uint32_t context, int32_t rank,
                           const struct waits_flow *hint, char *buf, size_t len)
{
    struct text t = text_in(buf, len);

    say(&t, "rank %d %s rank %d, with", q->peer,
        hint->kind == WAITS_SENT ? "has sent to" : "receives from", rank);
    if (hint->context == context)
        say(&t, " tag %d", hint->tag);
    else
        say(&t, " another communicator (context %" PRIu32 ")", hint->context);
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* Who has called MPI_Finalize has made so many, and is in none. */
static void say_end(struct text *t, const struct waits_names *names, const struct waits_comm *c,
                    const struct waits_collective *last, int32_t count)
{
    say(t, " ha%s called MPI_Finalize ", count == 1 ? "s" : "ve");
    if (last->begun > 0)
        say(t, "after %" PRIu32 " collective%s on ", last->begun, last->begun == 1 ? "" : "s");
    else
        say(t, "without a collective on ");
    say_comm(t, c);
    if (last->begun > 0)
        say(t, ", the last %s", call_name(names, last->call));
}

void ftree_waits_class_line(const struct waits_names *names, const struct waits *w,
                            const struct waits_mismatch *m, int32_t class_, char *buf, size_t len)
{
    struct waits_key key = m->class_[class_].comm;
    const struct waits_comm *known = ftree_waits_comm(w, key);
    struct waits_comm nameless = {.key = key, .size = m->size};
    const struct waits_collective *did = &m->class_[class_].did;
    int32_t count = m->class_[class_].count, gone = m->class_[class_].gone;
    int32_t size = m->size > 0 ? m->size : known ? known->size : m->reported;
    struct text t = text_in(buf, len);
    char ranks[128];

    ftree_report_ranks(&m->class_[class_].ranks, ranks, sizeof(ranks));
    say(&t, "rank%s %s", count == 1 ? "" : "s", ranks);
    if (gone < count)
        say(&t, " (%d of %d)", count, size);
    if (m->class_[class_].done) {
        say_end(&t, names, known ? known : &nameless, did, count);
    } else {
        say(&t, " %s %s(", gone < count ? "in" : "called", call_name(names, did->call));
        say_collective(&t, names, known ? known : &nameless, did);
        say(&t, ")");
    }
    if (gone == count)
        say(&t, ", %d of %d", count, size);
    else if (gone > 0)
        say(&t, ", of which %d ha%s left it", gone, gone == 1 ? "s" : "ve");
}
