/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/resends.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/text_file.h"
#include "faultloc/net/delivery.h"
#include "ftree/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOKS 2 /* at which packets to the same node were lost, */
#define WITHIN (10000 * FTREE_MS) /* since the first of them, */
#define ONE_OF 100 /* of what was sent there since packets were lost before */
#define ASK_FROM 1000 /* the connections, if one of so many was sent again */
#define PAUSE (3000 * FTREE_MS) /* between two symptoms, doubling: it may be how this network is */
#define PAUSE_MOST (60000 * FTREE_MS)
#define PACE (250 * FTREE_MS)
#define REST 100 /* times as long as the question took: connections may be many thousands */

/* The column of this name in the table "Tcp:" of two lines. */
static bool find_column(const char *text, const char *name, uint64_t *value)
{
    const char *head = strstr(text, "Tcp: "), *row = head ? strstr(head + 5, "\nTcp: ") : NULL;
    char word[32];
    int len;

    if (!row)
        return false;
    head += 5;
    row += 6;
    while (head < row && sscanf(head, "%31s%n", word, &len) == 1) {
        unsigned long long number;
        int digits;
        if (sscanf(row, "%llu%n", &number, &digits) != 1)
            return false;
        if (!strcmp(word, name)) {
            *value = number;
            return true;
        }
        head += len;
        row += digits;
    }
    return false;
}

static bool has_grown(struct faultloc_resends *r)
{
    uint64_t before = r->all, sent_before = r->sent;
    bool known = r->known;
    char text[8192];

    faultloc_text_read(r->proc_root, text, sizeof(text), "self/net/snmp");
    r->known = find_column(text, "RetransSegs", &r->all) && find_column(text, "OutSegs", &r->sent);
    return r->known && known && r->all > before &&
           (r->all - before) * ASK_FROM >= r->sent - sent_before;
}

static void begin(struct faultloc_resent *e, ftree_time now)
{
    e->first = now;
    e->looks = 0;
    e->count = 0;
}

static struct faultloc_resent *find_resent(struct faultloc_resends *r, ftree_time now, int32_t node)
{
    struct faultloc_resent *oldest = &r->seen[0];

    for (int32_t i = 0; i < r->n; i++) {
        if (r->seen[i].node == node)
            return &r->seen[i];
        if (r->seen[i].last < oldest->last)
            oldest = &r->seen[i];
    }
    if (r->n < FAULTLOC_RESENDS_NODES)
        oldest = &r->seen[r->n++];
    *oldest = (struct faultloc_resent){.node = node, .first = now, .last = now};
    return oldest;
}

bool faultloc_resends_add(struct faultloc_resends *r, ftree_time now, int32_t node, uint32_t more,
                          struct ftree_symptom *s)
{
    struct faultloc_resent *e = find_resent(r, now, node);

    if (now - e->last > PAUSE_MOST)
        e->pause = 0;
    if (now - e->first > WITHIN || e->looks == 0)
        begin(e, now);
    e->last = now;
    e->looks++;
    e->count += more;
    if (e->looks < LOOKS || now < e->again)
        return false;
    ftree_symptom_init(s, FTREE_SYMPTOM_LINK_ERRORS, node, FTREE_NONE, FTREE_NONE, e->first, now);
    s->about.kind = FTREE_KIND_LINK;
    s->count = e->count;
    snprintf(s->detail, sizeof(s->detail), "%u packets to it were lost in %.1f s", (unsigned) e->count, (double) (now - e->first) / 1e9);
    e->looks = 0;
    e->pause = !e->pause ? PAUSE : 2 * e->pause < PAUSE_MOST ? 2 * e->pause : PAUSE_MOST;
    e->again = now + e->pause;
    return true;
}

uint32_t faultloc_resends_more(const struct faultloc_sent *now, const struct faultloc_sent *before,
                               struct faultloc_sent *counted)
{
    uint32_t lost = now->lost < before->lost ? now->lost : before->lost, more, packets;

    if (before->packets < counted->packets)
        counted->packets = before->packets; /* a connection has ended */
    if (lost <= counted->lost) {
        counted->lost = lost; /* likewise, or it is said now */
        return 0;
    }
    more = lost - counted->lost;
    packets = before->packets - counted->packets;
    *counted = (struct faultloc_sent){.packets = before->packets, .lost = lost};
    return (uint64_t) more * ONE_OF >= packets ? more : 0;
}

/* Those of connections that have ended are gone. */
static bool compare(struct faultloc_resends *r, ftree_time now, struct ftree_symptom *s)
{
    const struct faultloc_board *b = r->board;
    enum ftree_path path = b->has_path[FTREE_PATH_DATA] ? FTREE_PATH_DATA : FTREE_PATH_MGMT;
    struct faultloc_sent *total = r->total, *before = total + b->nodes, *counted = before + b->nodes;
    size_t size = (size_t) b->nodes * sizeof(*total);
    bool any = false;

    memcpy(before, total, size);
    memset(total, 0, size);
    r->open = false;
    if (!faultloc_sent(faultloc_board_addresses(b), b->nodes, b->self, path, total)) {
        memcpy(total, before, size);
        return false;
    }
    if (!r->asked)
        memcpy(counted, total, size);
    for (int32_t i = 0; r->asked && i < b->nodes; i++) {
        uint32_t more = any ? 0 : faultloc_resends_more(&total[i], &before[i], &counted[i]);
        any = any || (more && faultloc_resends_add(r, now, i, more, s)); /* the others have their turn */
        r->open |= total[i].lost > counted[i].lost;
    }
    r->asked = now;
    return any;
}

bool faultloc_resends_look(struct faultloc_resends *r, ftree_time now, struct ftree_symptom *s)
{
    if ((r->asked && now - r->asked < r->rest) || (!has_grown(r) && !r->open))
        return false;
    if (!r->total)
        r->total = calloc(3 * (size_t) r->board->nodes, sizeof(*r->total));
    if (!r->total)
        return false;
    ftree_time asks = faultloc_now();
    bool any = compare(r, now, s);
    r->rest = REST * (faultloc_now() - asks);
    r->rest = r->rest < PACE ? PACE : r->rest;
    return any;
}
