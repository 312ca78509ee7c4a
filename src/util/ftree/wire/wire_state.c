/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/wire/codec.h"

/*
 * What state and log probes bring, on the wire.  Tables are as long as they are filled; the sizes
 * below are those of full ones.  What is read is within the bounds that base/io.h gives, or the
 * message is bad.
 */

#define LOAD_BYTES (2 * 4 + 3 * 4)
#define MEMORY_BYTES (4 * 8)
#define CORES_BYTES (2 * 4 + 8)
#define LINK_BYTES (1 + 2 * 8 + FTREE_LOSSES_MAX)
#define RANK_BYTES (2 * 4 + 1 + 1)
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

static void node_state(struct wire_codec *c, struct ftree_node_state *s)
{
    WIRE_NUMBER(c, s->cpus, 4, 0);
    WIRE_NUMBER(c, s->load_centi, 4, 0);
    WIRE_NUMBER(c, s->cpu_pressure_centi, 4, 0);
    WIRE_NUMBER(c, s->memory_pressure_centi, 4, 0);
    WIRE_NUMBER(c, s->io_pressure_centi, 4, 0);
    WIRE_NUMBER(c, s->memory_total, 8, 0);
    WIRE_NUMBER(c, s->memory_available, 8, 0);
    WIRE_NUMBER(c, s->swap_total, 8, 0);
    WIRE_NUMBER(c, s->swap_free, 8, 0);
    WIRE_NUMBER(c, s->frequency_max_mhz, 4, 0);
    WIRE_NUMBER(c, s->frequency_nominal_mhz, 4, 0);
    WIRE_NUMBER(c, s->throttles, 8, 0);
    WIRE_NUMBER(c, s->link, 1, FTREE_LINK_COUNT);
    WIRE_NUMBER(c, s->link_errors, 8, 0);
    WIRE_NUMBER(c, s->link_drops, 8, 0);
    ftree_wire_text(c, s->losses, sizeof(s->losses));
}

void ftree_wire_state(struct wire_codec *c, struct ftree_node_state *s)
{
    int32_t ranks = bounded(s->ranks, FTREE_STATE_RANKS_MAX);

    node_state(c, s);
    WIRE_NUMBER(c, ranks, 1, FTREE_STATE_RANKS_MAX + 1);
    for (int32_t i = 0; i < ranks && !c->bad; i++) {
        ftree_wire_rank(c, &s->rank[i].rank, false);
        WIRE_NUMBER(c, s->rank[i].pid, 4, INT32_MAX);
        ftree_wire_proc_state(c, &s->rank[i].proc_state);
        WIRE_NUMBER(c, s->rank[i].phase, 1, FTREE_PHASE_COUNT);
    }
    if (c->reads)
        s->ranks = c->bad ? 0 : ranks;
}

void ftree_wire_log(struct wire_codec *c, struct ftree_log *log)
{
    int32_t entries = bounded(log->entries, FTREE_LOG_MAX);

    ftree_wire_rank(c, &log->rank, false);
    WIRE_NUMBER(c, entries, 1, FTREE_LOG_MAX + 1);
    for (int32_t i = 0; i < entries && !c->bad; i++) {
        struct ftree_log_entry *e = &log->entry[i];
        WIRE_NUMBER(c, e->type, 1, FTREE_LOG_TYPES);
        ftree_wire_age(c, &e->at, 8, 1);
        /* a rank of some communicator, which may be larger than the job: processes can be added */
        WIRE_NUMBER(c, e->peer, 4, 0);
        if (c->reads && e->peer < FTREE_NONE) {
            c->bad = true;
            e->peer = FTREE_NONE;
        }
        WIRE_NUMBER(c, e->tag, 4, 0);
        WIRE_NUMBER(c, e->context, 4, 0);
        WIRE_NUMBER(c, e->bytes, 8, 0);
    }
    if (c->reads)
        log->entries = c->bad ? 0 : entries;
}
