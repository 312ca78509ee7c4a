/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/state/state.h"

bool ftree_is_leaving(const struct ftree *ft)
{
    return ft->state->leaving;
}

bool ftree_own_leaves(struct ftree *ft)
{
    bool leaves = !ft->state->leaving;

    ft->state->leaving = true;
    return leaves;
}

/* How late ticks come shows how much CPU this agent gets: a moving mean over the last few. */
void ftree_own_late(struct ftree *ft, ftree_time now, ftree_time late)
{
    struct ftree_state *st = ft->state;

    if (now > st->lag_at + 5 * ft->cfg.late)
        st->lag = late;
    else
        st->lag = st->lag - st->lag / 4 + late / 4;
    st->lag_at = now;
}

ftree_time ftree_own_lag(const struct ftree *ft, ftree_time now)
{
    return now < ft->state->lag_at + 5 * ft->cfg.late ? ft->state->lag : 0;
}

/* How long ago data came through a path that delivers, at most.  A fault is hardly found later for
 * it: a rank has waited for a stall limit before anybody is asked. */
ftree_time ftree_own_data_holds(const struct ftree *ft)
{
    return 5 * ft->cfg.stall / 4;
}

/* What a node says of it to another is younger, for it holds until that node is asked once more. */
ftree_time ftree_own_data_age(const struct ftree *ft)
{
    return ft->cfg.stall / 4;
}

/* True if data of ranks came through between this node and `node` (FTREE_NONE: any other) within
 * so long a time, and there and back takes `rtt` at least. */
bool ftree_own_delivers(const struct ftree *ft, int32_t node, int path, ftree_time within,
                        ftree_time rtt)
{
    within = ftree_min(within, ftree_own_data_holds(ft));
    return ft->io->delivers &&
           ft->io->delivers(ft->io_ctx, node, (enum ftree_path) path, within, rtt);
}

/* The same, for an answer to another node. */
bool ftree_own_tells_delivery(const struct ftree *ft, int32_t node, int path, ftree_time rtt)
{
    return ftree_own_delivers(ft, node, path, ftree_own_data_age(ft), rtt);
}

void ftree_state_clear(struct ftree *ft)
{
    struct ftree_state *st = ft->state;

    for (int32_t i = 0; i < st->known.n; i++) {
        ftree_alloc(ft, st->known.items[i].full, 0);
        ftree_alloc(ft, st->known.items[i].component, 0);
        ftree_alloc(ft, st->known.items[i].recheck, 0);
    }
    ftree_case_drop_all(ft);
    ftree_alloc(ft, st->known.items, 0);
    ftree_alloc(ft, st->cases.items, 0);
    ftree_alloc(ft, st->by_node.items, 0);
    ftree_alloc(ft, st->rule_names.items, 0);
    ftree_alloc(ft, st->past.items, 0);
    ftree_alloc(ft, st->peers.items, 0);
}
