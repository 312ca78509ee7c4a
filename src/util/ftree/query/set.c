/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/query/query.h"

#include <stdio.h>
#include <string.h>

/*
 * What a person sets while the job runs.  The acting root adds it to what was set before, and gives all
 * of that a version, a number that grows; of two versions the newer one counts, so that one message is all
 * that a node has to get, whatever it has missed.  Every node keeps it: any may have to act for the root.
 */

/* The number, and who gave it: two nodes may act as root on two sides of a broken network. */
static uint64_t next_version(const struct ftree *ft)
{
    return ((ft->query->set.version >> 32) + 1) << 32 | (uint32_t) ft->self;
}

static void current(const struct ftree *ft, struct ftree_setting *s)
{
    if (!ft->query->set.len ||
        ftree_setting_decode(ft->query->set.bytes, ft->query->set.len, s))
        memset(s, 0, sizeof(*s));
}

const char *query_set_at_root(struct ftree *ft, const uint8_t *bytes, size_t len,
                              struct ftree_bytes *out)
{
    static const char *const no_memory = "the acting root is out of memory";
    struct ftree_setting s, before;

    if (ftree_setting_decode(bytes, len, &s))
        return "malformed";
    if (ftree_setting_check(&s, ft->query->set.why, sizeof(ft->query->set.why)))
        return ft->query->set.why;
    current(ft, &before);
    ftree_setting_merge(&s, &before);
    s.version = next_version(ft);
    if (!FTREE_RESERVE(ft, *out, (int32_t) (FTREE_SETTING_BYTES + s.rules_len)))
        return no_memory;
    out->n = (int32_t) ftree_setting_encode(&s, out->items);
    return NULL;
}

/* True: it is newer than what is known here, and is kept. */
static bool keep(struct ftree *ft, const uint8_t *bytes, size_t len)
{
    struct query_set *set = &ft->query->set;
    struct ftree_setting s;
    uint8_t *copy;

    if (ftree_setting_decode(bytes, len, &s) || s.version <= set->version)
        return false;
    copy = ftree_alloc(ft, NULL, len);
    if (!copy)
        return false;
    memcpy(copy, bytes, len);
    ftree_alloc(ft, set->bytes, 0);
    set->bytes = copy;
    set->len = len;
    set->version = s.version;
    if (s.has & FTREE_SET_STALL)
        ft->cfg.stall = s.stall_ms * FTREE_MS;
    return true;
}

void query_set_at_node(struct ftree *ft, const uint8_t *bytes, size_t len)
{
    if (!keep(ft, bytes, len))
        return;
    ftree_trace(ft, "takes setting %llu", (unsigned long long) (ft->query->set.version >> 32));
    if (ft->io->setting)
        ft->io->setting(ft->io_ctx, bytes, len, ftree_route_is_root(ft));
}

int ftree_restore_setting(struct ftree *ft, ftree_time now, const void *bytes, size_t len)
{
    struct ftree_setting s;

    (void) now;
    if (ftree_setting_decode(bytes, len, &s) || s.version == 0)
        return FTREE_ERR_INVALID;
    return keep(ft, bytes, len) || ft->query->set.version >= s.version ? FTREE_OK : FTREE_ERR_NOMEM;
}

void query_set_clear(struct ftree *ft)
{
    ftree_alloc(ft, ft->query->set.bytes, 0);
}
