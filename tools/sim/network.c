/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/network.h"

#include "sim/sim_memory.h"
#include "sim/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sim_network_init(struct sim_network *n, int32_t nodes, const struct ftree_tree *tree)
{
    size_t switches = tree ? (size_t) tree->switches : 0;

    *n = (struct sim_network){.nodes = nodes, .tree = tree};
    n->down = sim_calloc((size_t) nodes, sizeof(*n->down));
    n->side = sim_calloc((size_t) nodes, sizeof(*n->side));
    n->switch_lost = sim_calloc(switches, sizeof(*n->switch_lost));
    n->switch_depth = sim_calloc(switches, sizeof(*n->switch_depth));
    for (size_t s = 0; s < switches; s++)
        for (int32_t up = tree->switch_parent[s]; up != FTREE_NONE; up = tree->switch_parent[up])
            n->switch_depth[s]++;
}

void sim_network_free(struct sim_network *n)
{
    free(n->down);
    free(n->side);
    free(n->switch_lost);
    free(n->switch_depth);
    free(n->pair);
    *n = (struct sim_network){0};
}

/* ---- the way between two nodes --------------------------------------------------------------- */

struct way {
    int hops; /* links between switches */
    bool lost;
};

/* From both leaf switches up, until they meet; two that have nothing above them are joined by a
 * core that the topology does not name. */
static struct way way_between(const struct sim_network *n, int32_t a, int32_t b)
{
    int32_t s = n->tree->node_switch[a], t = n->tree->node_switch[b];
    struct way w = {0};

    while (s != t) {
        int32_t *deeper =
            t == FTREE_NONE || (s != FTREE_NONE && n->switch_depth[s] >= n->switch_depth[t]) ? &s
                                                                                             : &t;
        w.lost |= n->switch_lost[*deeper];
        *deeper = n->tree->switch_parent[*deeper];
        w.hops++;
    }
    w.lost |= s != FTREE_NONE && n->switch_lost[s];
    return w;
}

static struct sim_pair *find_pair(const struct sim_network *n, int32_t a, int32_t b)
{
    for (int32_t i = 0; i < n->pairs; i++)
        if ((n->pair[i].a == a && n->pair[i].b == b) || (n->pair[i].a == b && n->pair[i].b == a))
            return &n->pair[i];
    return NULL;
}

void sim_network_cut(struct sim_network *n, int32_t a, int32_t b, uint8_t paths)
{
    struct sim_pair *p = find_pair(n, a, b);

    if (!p) {
        n->pair = sim_realloc(n->pair, (size_t) n->pairs + 1, sizeof(*n->pair));
        p = &n->pair[n->pairs++];
        *p = (struct sim_pair){.a = a, .b = b};
    }
    p->paths = paths;
}

static bool pair_is_cut(const struct sim_network *n, int32_t a, int32_t b, int path)
{
    const struct sim_pair *p = find_pair(n, a, b);

    return p && p->paths >> path & 1;
}

bool sim_network_works(const struct sim_network *n, int32_t a, int32_t b, int path)
{
    if ((n->down[a] | n->down[b]) >> path & 1)
        return false;
    if (n->parted >> path & 1 && n->side[a] != n->side[b])
        return false;
    if (n->pairs && pair_is_cut(n, a, b, path))
        return false;
    return !n->any_switch || path != FTREE_PATH_DATA || !way_between(n, a, b).lost;
}

/* ---- time ------------------------------------------------------------------------------------ */

static ftree_time draw_link(struct sim_network *n)
{
    switch (n->link.kind) {
        case SIM_SPREAD_UNIFORM:
            return n->link.base + draw_below(&n->draw, n->link.spread + 1);
        case SIM_SPREAD_EXPONENTIAL:
            return n->link.base +
                   (ftree_time) (-log1p(-draw_unit(&n->draw)) * (double) n->link.spread);
        default:
            return n->link.base;
    }
}

ftree_time sim_network_takes(struct sim_network *n, int32_t a, int32_t b, int path)
{
    ftree_time t = draw_link(n) + draw_link(n);
    int hops = path == FTREE_PATH_DATA && n->tree ? way_between(n, a, b).hops : 0;

    for (; hops > 0; hops--)
        t += draw_link(n);
    return t;
}

static bool happens(struct sim_network *n, double share)
{
    return share > 0 && draw_unit(&n->draw) < share;
}

int sim_network_carry(struct sim_network *n, int32_t a, int32_t b, int path, ftree_time takes[2])
{
    if (happens(n, n->loss))
        return 0;
    takes[0] = sim_network_takes(n, a, b, path);
    if (happens(n, n->delay))
        takes[0] += draw_below(&n->draw, n->delay_max);
    if (!happens(n, n->duplicate))
        return 1;
    takes[1] = sim_network_takes(n, a, b, path) + draw_below(&n->draw, n->delay_max);
    return 2;
}

bool sim_latency_read(const char *text, struct sim_latency *out)
{
    const char *plus = strchr(text, '+');
    size_t base = plus ? (size_t) (plus - text) : strlen(text);

    *out = (struct sim_latency){.kind = SIM_SPREAD_NONE};
    if (!sim_read_time(text, base, &out->base))
        return false;
    if (!plus)
        return true;
    if (!strncmp(plus + 1, "exp", 3))
        out->kind = SIM_SPREAD_EXPONENTIAL;
    else if (!strncmp(plus + 1, "uni", 3))
        out->kind = SIM_SPREAD_UNIFORM;
    else
        return false;
    return sim_read_time(plus + 4, strlen(plus + 4), &out->spread);
}
