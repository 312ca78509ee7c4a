/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"

/*
 * Whom a verdict goes down to.  A node tells its children.  Where one of them has failed those below it
 * are told in its place; to tell each would make twice as many as usual to be told by one node, and more
 * where several have failed.  So of a large family only one in each part is told, and is to tell its
 * siblings of that part, too: it then has a part more to tell than usual, and whoever told it one
 * message for each part.
 */

/* Where a lost node has more children than that, a part of them is of so many. */
#define FAMILY_PART 8

/* The nodes from `first` to before `end`: siblings whose parent does not tell them. */
struct part {
    int32_t first, end;
};

/* One that is busy has just said so: it answers, if late. */
static bool may_answer(const struct ftree *ft, ftree_time now, int32_t node)
{
    bool busy;

    return ftree_spread_can_act(ft, node) && (!ftree_outbox_is_mute(ft, now, node, &busy) || busy);
}

/* ---- the message ----------------------------------------------------------------------------- */

static void post(struct ftree *ft, int32_t node, const struct posting *p, struct body *body)
{
    struct telling *t = p->telling >= 0 ? &ft->tellings.items[p->telling] : NULL;
    struct due *due;

    if (node == p->skip)
        return;
    /* one that is mute is told, too, but nobody waits for its answer */
    due = t && may_answer(ft, p->now, node) ? FTREE_PUSH(ft, t->due) : NULL;
    if (due)
        *due = (struct due){.node = node, .told = p->id};
    ftree_outbox_post(ft, p->now, node, WIRE_VERDICT_DOWN, p->id, body);
}

/* Writes as much of the batch as finds room; returns the place after it.  *body NULL: out of memory. */
static int32_t write_outlines(struct ftree *ft, const struct posting *p, uint8_t flags,
                              struct body **body)
{
    struct wire_outlines w = {0};
    struct wire_message m = {.type = WIRE_VERDICT_DOWN, .flags = flags, .id = p->id};
    int32_t i = p->first;

    for (; i < ft->batch.n; i++) {
        const struct outline *o = &ft->known.items[ft->batch.items[i]].v;
        if (!ftree_wire_put_outline(&w, p->now, o, ftree_verdict_rule(ft, o)))
            break;
    }
    m.u.told = ftree_wire_told(&w);
    *body = ftree_outbox_body(ft, p->now, &m);
    return i;
}

void ftree_tell(struct ftree *ft, struct posting *p,
                void (*whom)(struct ftree *, int32_t, struct posting *), int32_t node)
{
    for (int32_t end; p->first < ft->batch.n; p->first = end) {
        p->id = ++ft->next_id;
        end = write_outlines(ft, p, 0, &p->body);
        if (!p->body)
            return;
        whom(ft, node, p);
        ftree_outbox_release(ft, p->body);
        if (p->for_siblings)
            ftree_outbox_release(ft, p->for_siblings);
        p->for_siblings = NULL;
    }
}

/* ---- one, and those below ---------------------------------------------------------------------- */

void ftree_tell_one(struct ftree *ft, int32_t node, struct posting *p)
{
    post(ft, node, p, p->body);
}

static bool tell_for_siblings(struct ftree *ft, int32_t node, struct posting *p)
{
    if (!p->for_siblings)
        write_outlines(ft, p, WIRE_FLAG_SIBLINGS, &p->for_siblings);
    if (p->for_siblings)
        post(ft, node, p, p->for_siblings);
    return p->for_siblings != NULL;
}

/* A node, or, where it has failed, those below it. */
static void tell(struct ftree *ft, int32_t node, struct posting *p)
{
    if (node == ft->self)
        ftree_tell_children(ft, node, p);
    else if (!ftree_has_failed(ft, node))
        ftree_tell_one(ft, node, p);
    else if (!ftree_side_ends_at(ft, node))
        ftree_tell_family(ft, node, p);
}

void ftree_tell_children(struct ftree *ft, int32_t node, struct posting *p)
{
    int32_t first, n = ftree_topo_children(&ft->topo, node, &first);

    for (int32_t child = first; child < first + n; child++)
        tell(ft, child, p);
}

/* ---- the families of those that do not tell them ----------------------------------------------- */

/* The part of its family that a node belongs to: itself where the family is small. */
static struct part part_of(const struct ftree *ft, int32_t node)
{
    int32_t parent = ftree_topo_parent(&ft->topo, node), first, n;
    struct part part = {.first = node, .end = node + 1};

    if (parent < 0)
        return part;
    n = ftree_topo_children(&ft->topo, parent, &first);
    if (n <= FAMILY_PART)
        return part;
    part.first -= (node - first) % FAMILY_PART;
    part.end = part.first + FAMILY_PART < first + n ? part.first + FAMILY_PART : first + n;
    return part;
}

/* The first that may answer is to tell the others of its part; false: there is none. */
static bool tell_first(struct ftree *ft, struct part part, struct posting *p)
{
    if (part.end - part.first < 2)
        return false;
    for (int32_t node = part.first; node < part.end; node++)
        if (node != ft->self && node != p->skip && !ftree_has_failed(ft, node) &&
            may_answer(ft, p->now, node))
            return tell_for_siblings(ft, node, p);
    return false;
}

static void tell_part(struct ftree *ft, struct part part, struct posting *p)
{
    bool others_tell = tell_first(ft, part, p);

    for (int32_t node = part.first; node < part.end; node++)
        if (node == ft->self || (!others_tell && node != p->skip))
            tell(ft, node, p);
}

void ftree_tell_family(struct ftree *ft, int32_t parent, struct posting *p)
{
    int32_t first, n = ftree_topo_children(&ft->topo, parent, &first);

    for (int32_t node = first; node < first + n;) {
        struct part part = part_of(ft, node);
        tell_part(ft, part, p);
        node = part.end;
    }
}

void ftree_tell_siblings(struct ftree *ft, int32_t node, struct posting *p)
{
    struct part part = part_of(ft, node);

    for (node = part.first; node < part.end; node++)
        tell(ft, node, p);
}

void ftree_tell_in_its_place(struct ftree *ft, int32_t silent, struct posting *p)
{
    ftree_tell_family(ft, silent, p);
    tell_part(ft, part_of(ft, silent), p);
}

/* The root is nobody's child; one that has no agent for the time being is told by its heir, so that it
 * knows when it goes on. */
void ftree_tell_all(struct ftree *ft, int32_t top, struct posting *p)
{
    if (top == ft->self)
        ftree_tell_children(ft, top, p);
    else
        ftree_tell_family(ft, top, p);
    if (top == 0 && ft->self != 0 && !ftree_has_failed(ft, 0))
        ftree_tell_one(ft, 0, p);
}
