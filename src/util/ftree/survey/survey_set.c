/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"

#include <string.h>

/*
 * What a person sets while the job runs.  The acting root adds it to what was set before, and gives
 * all of that a version, a number that grows; of two versions the newer one counts, so that one
 * message is all that a node has to get, whatever it has missed.  Every node keeps it: any may have
 * to act for the root.
 *
 * The acting root knows who has answered, and asks the others again at growing intervals, so that a
 * node that comes back has it, too.  The node that acts in its place asks all.
 */

#define AGAIN_MIN (1000 * FTREE_MS)
#define AGAIN_MAX (64000 * FTREE_MS)

/* Newer than what is known here, or where somebody asks.  Who gave it is part of it: two nodes may
 * act as root, on two sides of a broken network. */
static uint64_t next_version(const struct ftree *ft, uint64_t theirs)
{
    uint64_t known = ft->survey->set.version;

    return (((known > theirs ? known : theirs) >> 32) + 1) << 32 | (uint32_t) ft->self;
}

static void current(const struct ftree *ft, struct ftree_setting *s)
{
    const struct ftree_bytes *bytes = &ft->survey->set.bytes;

    if (bytes->n == 0 || ftree_setting_decode(bytes->items, (size_t) bytes->n, s))
        memset(s, 0, sizeof(*s));
}

const char *survey_set_at_root(struct ftree *ft, struct ftree_bytes *request, char why[SURVEY_WHY])
{
    struct survey_set *set = &ft->survey->set;
    struct ftree_bytes out = {0};
    struct ftree_setting s, before;

    if (ftree_setting_decode(request->items + 1, (size_t) request->n - 1, &s))
        return "the request is malformed";
    if (ftree_setting_check(&s, why, SURVEY_WHY))
        return why;
    current(ft, &before);
    ftree_setting_merge(&s, &before);
    s.version = next_version(ft, s.version);
    if (!FTREE_RESERVE(ft, out, (int32_t) (1 + FTREE_SETTING_BYTES + s.rules_len)))
        return "the acting root is out of memory";
    out.items[0] = request->items[0];
    out.n = 1 + (int32_t) ftree_setting_encode(&s, out.items + 1);
    ftree_alloc(ft, request->items, 0);
    *request = out;
    set->is_sent = true;
    set->again = FTREE_NEVER; /* until the answers are in */
    set->pause = AGAIN_MIN;
    ftree_spans_clear(ft, &set->have);
    return NULL;
}

/* True: it is newer than what is known here, and is kept. */
static bool keep(struct ftree *ft, const uint8_t *bytes, size_t len)
{
    struct survey_set *set = &ft->survey->set;
    struct ftree_bytes copy = {0};
    struct ftree_setting s;

    if (ftree_setting_decode(bytes, len, &s) || s.version <= set->version ||
        !ftree_bytes_append(ft, &copy, bytes, len))
        return false;
    ftree_alloc(ft, set->bytes.items, 0);
    set->bytes = copy;
    set->version = s.version;
    if (s.has & FTREE_SET_STALL)
        ft->cfg.stall = s.stall_ms * FTREE_MS;
    return true;
}

bool survey_set_at_node(struct ftree *ft, struct survey_round *r)
{
    const uint8_t *bytes = r->request.items + 1;
    size_t len = (size_t) r->request.n - 1;

    if (!keep(ft, bytes, len))
        return false;
    ftree_trace(ft, "takes setting %u", (unsigned) (ft->survey->set.version >> 32));
    if (ft->io->setting)
        ft->io->setting(ft->io_ctx, bytes, len, ftree_route_is_root(ft));
    return false;
}

void survey_set_at_end(struct ftree *ft, ftree_time now, const struct survey_answer *a, bool whole)
{
    struct survey_set *set = &ft->survey->set;

    (void) whole;
    ftree_spans_merge(ft, &set->have, &a->answered);
    set->again = set->have.count < ft->job->nodes ? now + set->pause : FTREE_NEVER;
    set->pause = ftree_min(2 * set->pause, AGAIN_MAX);
}

/* Another one has sent it, and is lost. */
void survey_set_learned(struct ftree *ft, ftree_time now)
{
    struct survey_set *set = &ft->survey->set;

    if (!set->version || set->is_sent || !ftree_route_is_root(ft))
        return;
    set->is_sent = true;
    set->pause = AGAIN_MIN;
    set->again = now + set->pause;
}

bool survey_set_misses(const struct ftree *ft, int32_t node)
{
    return !ftree_spans_has(&ft->survey->set.have, node) && !ftree_has_no_agent(ft, node) &&
           !ftree_peer_has_left(ft, node);
}

bool survey_set_is_due(struct ftree *ft, ftree_time now)
{
    struct survey_set *set = &ft->survey->set;

    if (!set->is_sent || set->again > now)
        return false;
    set->again = now + set->pause;
    set->pause = ftree_min(2 * set->pause, AGAIN_MAX);
    return ftree_route_is_root(ft) && !ftree_is_leaving(ft);
}

ftree_time survey_set_deadline(const struct ftree *ft)
{
    return ft->survey->set.is_sent ? ft->survey->set.again : FTREE_NEVER;
}

int ftree_restore_setting(struct ftree *ft, const void *bytes, size_t len)
{
    struct ftree_setting s;

    if (ftree_setting_decode(bytes, len, &s) || s.version == 0)
        return FTREE_ERR_INVALID;
    return keep(ft, bytes, len) || ft->survey->set.version >= s.version ? FTREE_OK
                                                                         : FTREE_ERR_NOMEM;
}

void survey_set_clear(struct ftree *ft)
{
    ftree_alloc(ft, ft->survey->set.bytes.items, 0);
    ftree_spans_clear(ft, &ft->survey->set.have);
}
