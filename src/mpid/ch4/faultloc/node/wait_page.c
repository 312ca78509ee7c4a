/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/wait_page.h"

#include <string.h>

#define OUTSIDE_NS (10 * FTREE_MS) /* a rank is back in MPI by then if it has much to do there, */
#define POLLS_NS (200 * FTREE_MS)  /* and if it polls, and sleeps in between, perhaps late */

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Another byte than 0 and 1 in a bool is no value at all to the compiler. */
static void mend_bool(bool *b)
{
    unsigned char byte;

    memcpy(&byte, b, 1);
    *b = byte != 0;
}

static void mend_comm(struct waits_comm *c)
{
    for (size_t k = 0; k < sizeof(c->name) && c->name[k]; k++)
        if (c->name[k] < ' ' || c->name[k] > '~')
            c->name[k] = '?';
    mend_bool(&c->last.blocking);
    mend_bool(&c->before.blocking);
    mend_bool(&c->last.whole);
    mend_bool(&c->before.whole);
}

static const char *check_record(const struct ftree_job *job, int32_t rank, struct waits_record *r)
{
    mend_bool(&r->more);
    mend_bool(&r->polls);
    for (int32_t i = 0; i < r->comms && i < WAITS_COMMS_MAX; i++)
        mend_comm(&r->comm[i]);
    return r->rank != rank ? "the rank" : ftree_waits_record_check(job, r);
}

static bool is_flow(const struct ftree_job *job, const struct waits_flow *f, uint8_t kind)
{
    return f->kind == kind && f->peer >= WAITS_ANY && f->peer < job->size;
}

static const char *check_messages(const struct ftree_job *job, const struct waits_page *p)
{
    if (p->exchanges < 0 || p->exchanges > WAITS_PEERS_MAX || p->posted < 0 ||
        p->posted > WAITS_FLOWS_MAX || p->last < 0 || p->last > WAITS_LAST_MAX)
        return "the number of peers or messages";
    for (int32_t i = 0; i < p->exchanges; i++)
        if (p->exchange[i].peer < 0 || p->exchange[i].peer >= job->size)
            return "a peer";
    for (int32_t i = 0; i < p->posted; i++)
        if (!is_flow(job, &p->post[i], WAITS_POSTED))
            return "a receive that is posted";
    for (int32_t i = 0; i < p->last; i++)
        if (!is_flow(job, &p->sent[i], WAITS_SENT))
            return "a message that was sent";
    return NULL;
}

const char *faultloc_wait_page_check(const struct ftree_job *job, int32_t rank,
                                     struct waits_page *page)
{
    const char *broken = NULL;

    if (page->records < 0 || page->records > WAITS_THREADS_MAX)
        return "the number of records";
    mend_bool(&page->posted_more);
    for (int32_t i = 0; i < page->records && !broken; i++)
        broken = check_record(job, rank, &page->record[i]);
    return broken ? broken : check_messages(job, page);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* The number differs from that of the page that is there, which an agent before may have asked
 * for. */
static uint32_t next_number(struct faultloc_wait_area *area)
{
    uint32_t n = area->asked;

    do
        n++;
    while (n == 0 || n == area->answered);
    return n;
}

static void ask_rank(struct faultloc_wait_page *w, ftree_time now, int32_t i, uint32_t look,
                     const int32_t *with, int32_t n)
{
    struct faultloc_wait_area *area = faultloc_board_wait_area(w->watch->board, i);
    struct faultloc_slot *slot = faultloc_board_slot(w->watch->board, i);
    uint64_t polls = __atomic_load_n(&slot->polls, __ATOMIC_RELAXED);

    area->with_n = n < 0 ? 0 : n < WAITS_PEERS_MAX ? n : WAITS_PEERS_MAX;
    if (area->with_n > 0)
        memcpy(area->with, with, (size_t) area->with_n * sizeof(*with));
    w->asked[i] = (struct faultloc_wait_asked){
        .look = look,
        .number = next_number(area),
        .call = faultloc_slot_call(slot),
        .polls = polls,
        .patience = polls == w->asked[i].polls ? OUTSIDE_NS : POLLS_NS,
        .at = now};
    area->asked = w->asked[i].number; /* after what it is about */
    __atomic_store_n(&slot->news, 1, __ATOMIC_RELEASE);
}

/* False: the rank is just writing.  *answered: the number of the look that the copy is of. */
static bool copy_page(struct faultloc_wait_page *w, int32_t i, uint32_t *answered)
{
    struct faultloc_wait_area *area = faultloc_board_wait_area(w->watch->board, i);
    uint32_t before = area->writing;

    *answered = area->answered;
    if (before % 2)
        return false;
    w->page = area->page;
    atomic_thread_fence(memory_order_acquire); /* the loads above stay before it */
    return area->writing == before;
}

static uint32_t state_of(const struct faultloc_wait_page *w, int32_t i)
{
    return *(volatile uint32_t *) &faultloc_board_slot(w->watch->board, i)->state;
}

/* In MPI_Finalize a rank may wait outside MPI's progress, and later it is gone: what it wrote when
 * it called that stays true. */
static bool has_last_page(struct faultloc_wait_page *w, int32_t i)
{
    uint32_t state = state_of(w, i), answered;

    if (state != FAULTLOC_SLOT_LEFT &&
        (state != FAULTLOC_SLOT_FINALIZING || w->watch->seen[i].gone))
        return false;
    return copy_page(w, i, &answered) && w->page.records > 0 &&
           (w->page.record[0].state == WAITS_FINALIZING ||
            w->page.record[0].state == WAITS_FINALIZED);
}

static bool has_answered(struct faultloc_wait_page *w, int32_t i)
{
    uint32_t answered;

    return copy_page(w, i, &answered) && answered == w->asked[i].number;
}

static bool has_ended(const struct faultloc_wait_page *w, int32_t i)
{
    uint32_t state = state_of(w, i);

    return w->watch->seen[i].gone || state == FAULTLOC_SLOT_EMPTY || state >= FAULTLOC_SLOT_LEFT;
}

static bool stays_outside(const struct faultloc_wait_page *w, ftree_time now, int32_t i)
{
    const struct faultloc_slot *slot = faultloc_board_slot(w->watch->board, i);
    uint64_t call = faultloc_slot_call(slot);

    return (call & FAULTLOC_CALL_MASK) == 0 && call == w->asked[i].call &&
           now >= w->asked[i].at + w->asked[i].patience;
}

static int32_t rank_of(const struct faultloc_wait_page *w, int32_t i)
{
    return w->job->node_ranks[w->job->node_first[w->self] + i];
}

enum ftree_waits_look faultloc_wait_page_look(struct faultloc_wait_page *w, ftree_time now,
                                              int32_t i, uint32_t look, const int32_t *with,
                                              int32_t n, const struct waits_page **page)
{
    bool last = has_last_page(w, i);

    if (!last && has_ended(w, i))
        return FTREE_WAITS_UNABLE;
    if (!last && (!w->asked[i].number || w->asked[i].look != look))
        ask_rank(w, now, i, look, with, n);
    if (!last && !has_answered(w, i))
        return stays_outside(w, now, i) ? FTREE_WAITS_UNABLE : FTREE_WAITS_PENDING;
    if (faultloc_wait_page_check(w->job, rank_of(w, i), &w->page) || w->page.records == 0)
        return FTREE_WAITS_UNABLE;
    *page = &w->page;
    return FTREE_WAITS_READY;
}
