/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include "ftree/topology/tree_int.h"

#include <string.h>

#define NAMES_MOST 65536 /* of one list */

struct search {
    const char *name; /* that is looked for; NULL: the one at `at` */
    int64_t at, n;
    char *out;
    size_t room;
    bool found;
};

static int look(void *ctx, const char *name, size_t len, size_t item)
{
    struct search *s = ctx;
    bool is_it = s->name ? strlen(s->name) == len && !memcmp(s->name, name, len) : s->n == s->at;

    (void) item;
    s->n++;
    if (!is_it || s->found)
        return FTREE_OK;
    s->found = true;
    s->at = s->n - 1;
    if (s->out && len < s->room) {
        memcpy(s->out, name, len);
        s->out[len] = '\0';
    }
    return FTREE_OK;
}

static enum site_map search(const char *list, size_t len, struct search *s)
{
    struct hostlist_error e;
    int64_t most = NAMES_MOST;

    if (ftree_hostlist_each(list, len, &most, look, s, &e))
        return SITE_MAP_WRONG;
    return s->found ? SITE_MAP_FOUND : SITE_MAP_NOT_THERE;
}

enum site_map site_map_has(const char *list, const char *node)
{
    return search(list, strlen(list), &(struct search){.name = node});
}

enum site_map site_map(const char *text, const char *node, char *out, size_t room)
{
    const char *arrow = strstr(text, " -> "), *right = arrow ? arrow + 4 : NULL;
    struct search left = {.name = node}, there = {.out = out, .room = room};
    enum site_map found;

    *out = '\0';
    if (!arrow)
        return SITE_MAP_WRONG;
    found = search(text, (size_t) (arrow - text), &left);
    there.at = found == SITE_MAP_FOUND ? left.at : 0;
    if (found == SITE_MAP_WRONG || search(right, strlen(right), &there) == SITE_MAP_WRONG ||
        (there.n != left.n && there.n != 1))
        return SITE_MAP_WRONG;
    if (found == SITE_MAP_FOUND && there.n == 1 && left.at > 0) {
        there = (struct search){.out = out, .room = room};
        search(right, strlen(right), &there);
    }
    if (found == SITE_MAP_NOT_THERE)
        *out = '\0';
    return found == SITE_MAP_FOUND && !*out ? SITE_MAP_WRONG : found;
}
