/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/wire/wire_int.h"

/*
 * What state and log probes bring, on the wire.  Tables are as long as they are filled; the sizes
 * below are those of full ones.  What is read is within the bounds that ftree.h gives, or the
 * message is bad.
 */

#define LOAD_BYTES (2 * 4 + 3 * 4)
#define MEMORY_BYTES (4 * 8)
#define CORES_BYTES (3 * 4 + 8)
#define LINK_BYTES (1 + 6 * 8)
#define RANK_BYTES (2 * 4 + 1 + 1 + 2 + 1)
#define STATE_BYTES \
    (LOAD_BYTES + MEMORY_BYTES + CORES_BYTES + LINK_BYTES + 1 + FTREE_STATE_RANKS_MAX * RANK_BYTES)
_Static_assert(STATE_BYTES <= 400, "a state leaves an answer room for its other parts");
_Static_assert(FTREE_STATE_RANKS_MAX < 256, "their number is a byte");

#define ENTRY_BYTES (1 + 8 + 3 * 4 + 8)
#define LOG_BYTES (4 + 1 + FTREE_LOG_MAX * ENTRY_BYTES)
_Static_assert(LOG_BYTES <= 1024, "a log leaves an answer room for its other parts");
_Static_assert(FTREE_LOG_MAX < 256, "their number is a byte");

/* The caller's tables are its own business, the message's length is not. */
static int32_t bounded(int32_t n, int32_t most)
{
    return n < 0 ? 0 : n > most ? most : n;
}

/* ---- state ----------------------------------------------------------------------------------- */

static void put_node_state(struct wire_writer *w, const struct ftree_node_state *s)
{
    ftree_wire_put(w, s->cpus, 4);
    ftree_wire_put(w, s->load_centi, 4);
    ftree_wire_put(w, s->cpu_pressure_centi, 4);
    ftree_wire_put(w, s->memory_pressure_centi, 4);
    ftree_wire_put(w, s->io_pressure_centi, 4);
    ftree_wire_put(w, s->memory_total, 8);
    ftree_wire_put(w, s->memory_available, 8);
    ftree_wire_put(w, s->swap_total, 8);
    ftree_wire_put(w, s->swap_free, 8);
    ftree_wire_put(w, s->frequency_min_mhz, 4);
    ftree_wire_put(w, s->frequency_max_mhz, 4);
    ftree_wire_put(w, s->frequency_nominal_mhz, 4);
    ftree_wire_put(w, s->throttles, 8);
    ftree_wire_put(w, s->link, 1);
    ftree_wire_put(w, s->rx_bytes, 8);
    ftree_wire_put(w, s->tx_bytes, 8);
    ftree_wire_put(w, s->rx_errors, 8);
    ftree_wire_put(w, s->tx_errors, 8);
    ftree_wire_put(w, s->rx_drops, 8);
    ftree_wire_put(w, s->tx_drops, 8);
}

static void get_node_state(struct wire_reader *r, struct ftree_node_state *s)
{
    s->cpus = (uint32_t) ftree_wire_get(r, 4);
    s->load_centi = (uint32_t) ftree_wire_get(r, 4);
    s->cpu_pressure_centi = (uint32_t) ftree_wire_get(r, 4);
    s->memory_pressure_centi = (uint32_t) ftree_wire_get(r, 4);
    s->io_pressure_centi = (uint32_t) ftree_wire_get(r, 4);
    s->memory_total = ftree_wire_get(r, 8);
    s->memory_available = ftree_wire_get(r, 8);
    s->swap_total = ftree_wire_get(r, 8);
    s->swap_free = ftree_wire_get(r, 8);
    s->frequency_min_mhz = (uint32_t) ftree_wire_get(r, 4);
    s->frequency_max_mhz = (uint32_t) ftree_wire_get(r, 4);
    s->frequency_nominal_mhz = (uint32_t) ftree_wire_get(r, 4);
    s->throttles = ftree_wire_get(r, 8);
    s->link = (uint8_t) ftree_wire_get_below(r, 1, FTREE_LINK_COUNT);
    s->rx_bytes = ftree_wire_get(r, 8);
    s->tx_bytes = ftree_wire_get(r, 8);
    s->rx_errors = ftree_wire_get(r, 8);
    s->tx_errors = ftree_wire_get(r, 8);
    s->rx_drops = ftree_wire_get(r, 8);
    s->tx_drops = ftree_wire_get(r, 8);
}

/* -1, not known, is sent as 0: the others follow. */
void ftree_wire_put_state(struct wire_writer *w, const struct ftree_node_state *s)
{
    int32_t ranks = bounded(s->ranks, FTREE_STATE_RANKS_MAX);

    put_node_state(w, s);
    ftree_wire_put(w, (uint32_t) ranks, 1);
    for (int32_t i = 0; i < ranks; i++) {
        ftree_wire_put(w, (uint32_t) s->rank[i].rank, 4);
        ftree_wire_put(w, (uint32_t) s->rank[i].pid, 4);
        ftree_wire_put(w, (uint8_t) s->rank[i].proc_state, 1);
        ftree_wire_put(w, s->rank[i].phase, 1);
        ftree_wire_put(w, (uint16_t) (s->rank[i].numa + 1), 2);
        ftree_wire_put(w, (uint8_t) (s->rank[i].nic_is_local + 1), 1);
    }
}

void ftree_wire_get_state(struct wire_reader *r, struct ftree_node_state *s)
{
    get_node_state(r, s);
    s->ranks = (int32_t) ftree_wire_get_below(r, 1, FTREE_STATE_RANKS_MAX + 1);
    for (int32_t i = 0; i < s->ranks && !r->bad; i++) {
        s->rank[i].rank = ftree_wire_get_rank(r, false);
        s->rank[i].pid = (int32_t) ftree_wire_get_below(r, 4, INT32_MAX);
        s->rank[i].proc_state = ftree_wire_get_proc_state(r);
        s->rank[i].phase = (uint8_t) ftree_wire_get_below(r, 1, FTREE_PHASE_COUNT);
        s->rank[i].numa = (int16_t) ((int32_t) ftree_wire_get_below(r, 2, INT16_MAX) - 1);
        s->rank[i].nic_is_local = (int8_t) ((int32_t) ftree_wire_get_below(r, 1, 3) - 1);
    }
    if (r->bad)
        s->ranks = 0;
}

/* ---- log ------------------------------------------------------------------------------------- */

void ftree_wire_put_log(struct wire_writer *w, const struct ftree_log *log, ftree_time now)
{
    int32_t entries = bounded(log->entries, FTREE_LOG_MAX);

    ftree_wire_put(w, (uint32_t) log->rank, 4);
    ftree_wire_put(w, (uint32_t) entries, 1);
    for (int32_t i = 0; i < entries; i++) {
        const struct ftree_log_entry *e = &log->entry[i];
        ftree_wire_put(w, e->type, 1);
        ftree_wire_put_age(w, now, e->at);
        ftree_wire_put(w, (uint32_t) e->peer, 4);
        ftree_wire_put(w, (uint32_t) e->tag, 4);
        ftree_wire_put(w, e->context, 4);
        ftree_wire_put(w, e->bytes, 8);
    }
}

/* A peer is a rank of some communicator, which may be larger than the job: processes can be added.
 * All that can be said of one is that it is a rank. */
static int32_t get_peer(struct wire_reader *r)
{
    int32_t peer = (int32_t) (uint32_t) ftree_wire_get(r, 4);

    if (peer < FTREE_NONE)
        r->bad = true;
    return peer < FTREE_NONE ? FTREE_NONE : peer;
}

void ftree_wire_get_log(struct wire_reader *r, struct ftree_log *log)
{
    log->rank = ftree_wire_get_rank(r, false);
    log->entries = (int32_t) ftree_wire_get_below(r, 1, FTREE_LOG_MAX + 1);
    for (int32_t i = 0; i < log->entries && !r->bad; i++) {
        struct ftree_log_entry *e = &log->entry[i];
        e->type = (uint8_t) ftree_wire_get_below(r, 1, FTREE_LOG_TYPES);
        e->at = ftree_wire_get_age(r);
        e->peer = get_peer(r);
        e->tag = (int32_t) (uint32_t) ftree_wire_get(r, 4);
        e->context = (uint32_t) ftree_wire_get(r, 4);
        e->bytes = ftree_wire_get(r, 8);
    }
    if (r->bad)
        log->entries = 0;
}
