/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/log.h"

#include <string.h>

_Static_assert(sizeof(struct faultloc_message) == FAULTLOC_RING_STEP, "the count is an offset");
_Static_assert(FAULTLOC_RING_ENTRIES == FTREE_LOG_MAX, "a ring fills a log");
_Static_assert(FAULTLOC_RING_SEND == FTREE_LOG_SEND && FAULTLOC_RING_RECV == FTREE_LOG_RECV,
               "the seam knows nothing of the core, but its numbers are the core's");

static struct faultloc_page *page_of(const struct faultloc_board *b, int32_t i)
{
    return (struct faultloc_page *) (void *) faultloc_board_slot(b, i);
}

/* ---- when ---------------------------------------------------------------------------------- */

void faultloc_log_tick(const struct faultloc_board *b, int32_t i, ftree_time now)
{
    struct faultloc_ring *ring = &page_of(b, i)->ring;
    uint32_t count = __atomic_load_n(&ring->count, __ATOMIC_RELAXED), n = ring->looks;

    if (n && ring->look[(n - 1) % FAULTLOC_RING_LOOKS].count == count)
        return;
    ring->look[n % FAULTLOC_RING_LOOKS].at_ns = now;
    ring->look[n % FAULTLOC_RING_LOOKS].count = count;
    ring->looks = n + 1;
}

/* Counts go round: a is at least b if it is ahead by less than half of the circle. */
static bool is_at_least(uint32_t a, uint32_t b)
{
    return a - b <= INT32_MAX;
}

/* The first look that found message n there; the looks go back in time from the last. */
static ftree_time found_at(const struct faultloc_ring *ring, uint32_t n, ftree_time now)
{
    uint32_t looks = ring->looks;
    ftree_time at = now;

    for (uint32_t i = 1; i <= FAULTLOC_RING_LOOKS && i <= looks; i++) {
        uint32_t k = (looks - i) % FAULTLOC_RING_LOOKS;
        if (!is_at_least((uint32_t) ring->look[k].count, n))
            break;
        if (ring->look[k].at_ns < at)
            at = ring->look[k].at_ns;
    }
    return at;
}

/* Who waits begins nothing: what it began was before.  `now` where it does not wait. */
static ftree_time waits_since(const struct faultloc_slot *slot, ftree_time now)
{
    struct faultloc_slot s = *(const volatile struct faultloc_slot *) slot;
    bool waits = !s.many_threads && s.wait_since_ns && s.wait_call == faultloc_slot_call(&s);

    return waits && s.wait_since_ns < now ? s.wait_since_ns : now;
}

/* ---- what ---------------------------------------------------------------------------------- */

/* Copies the entry of message number n, as the ring counts, and says its type; below 0: it is not
 * whole.  A mark of 0 was never written (or, once in 2^27 messages, is taken for that). */
static int copy_entry(const struct faultloc_ring *ring, uint32_t n, struct faultloc_message *m)
{
    const struct faultloc_message *e = &ring->entry[n % FAULTLOC_RING_BYTES / FAULTLOC_RING_STEP];
    bool send = __atomic_load_n(&e->mark[FAULTLOC_RING_SEND], __ATOMIC_ACQUIRE) == n;
    bool recv = __atomic_load_n(&e->mark[FAULTLOC_RING_RECV], __ATOMIC_ACQUIRE) == n;

    m->count = __atomic_load_n(&e->count, __ATOMIC_RELAXED);
    m->tag = __atomic_load_n(&e->tag, __ATOMIC_RELAXED);
    m->context = __atomic_load_n(&e->context, __ATOMIC_RELAXED);
    m->peer = __atomic_load_n(&e->peer, __ATOMIC_RELAXED);
    m->datatype = __atomic_load_n(&e->datatype, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (n == 0 || send == recv ||
        __atomic_load_n(&ring->count, __ATOMIC_RELAXED) - n >= FAULTLOC_RING_BYTES)
        return -1;
    return send ? FTREE_LOG_SEND : FTREE_LOG_RECV;
}

static uint64_t bytes_of(const struct faultloc_message *m)
{
    return m->datatype ? m->count * (m->datatype >> 8) : m->count;
}

void faultloc_log_read(const struct faultloc_page *page, ftree_time now, struct ftree_log *log)
{
    const struct faultloc_ring *ring = &page->ring;
    uint32_t last = __atomic_load_n(&ring->count, __ATOMIC_ACQUIRE);
    ftree_time by = waits_since(&page->slot, now);
    struct faultloc_message m;

    memset(log, 0, sizeof(*log));
    log->rank = page->slot.rank;
    for (uint32_t i = 0; i < FAULTLOC_RING_ENTRIES; i++) {
        uint32_t n = last - i * FAULTLOC_RING_STEP;
        int type = copy_entry(ring, n, &m);
        if (type < 0)
            continue;
        log->entry[log->entries++] =
            (struct ftree_log_entry){.type = (uint8_t) type,
                                     .at = found_at(ring, n, by),
                                     .peer = m.peer < 0 ? FTREE_NONE : m.peer,
                                     .tag = m.tag,
                                     .context = m.context,
                                     .bytes = bytes_of(&m)};
    }
}

void faultloc_log_look(const struct faultloc_board *b, int32_t i, ftree_time now,
                       struct ftree_log *log)
{
    faultloc_log_read(page_of(b, i), now, log);
}

bool faultloc_log_repeats(const struct faultloc_board *b, int32_t i)
{
    const struct ftree_log_entry *last, *e;
    struct ftree_log log;
    int times = 0;

    faultloc_log_look(b, i, faultloc_board_slot(b, i)->wait_since_ns, &log);
    last = &log.entry[0];
    for (int32_t k = 1; k < log.entries; k++) {
        e = &log.entry[k];
        times += e->type == last->type && e->peer == last->peer && e->tag == last->tag &&
                 e->context == last->context;
    }
    return times >= FAULTLOC_LOG_REPEATS;
}
