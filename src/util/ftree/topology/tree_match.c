/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/topology/tree_int.h"

#include <stdio.h>

#define AMBIGUOUS (-2)

/* The names of the file's nodes without their domains, for a job that calls them so; made where it
 * is first needed. */
struct shorts {
    bool made;
    struct names names;
    int32_t *switch_; /* [names.n]; AMBIGUOUS: several, behind different switches */
};

/* "c1" of "c1.cluster.org"; an address has no such part. */
static size_t short_len(const char *name)
{
    size_t digits = strspn(name, "0123456789.");

    return name[digits] == '\0' || name[0] == '.' ? strlen(name) : strcspn(name, ".");
}

static bool make_shorts(struct shorts *s, const struct names *file, const int32_t *file_switch)
{
    s->made = true;
    s->switch_ = malloc(((size_t) file->n + 1) * sizeof(*s->switch_));
    if (!s->switch_)
        return false;
    for (int32_t i = 0; i < file->n; i++) {
        const char *name = names_text(file, i);
        size_t len = short_len(name);
        int32_t there = names_find(&s->names, name, len);
        if (there >= 0 && s->switch_[there] != file_switch[i])
            s->switch_[there] = AMBIGUOUS;
        if (there >= 0)
            continue;
        there = names_add(&s->names, name, len);
        if (there < 0)
            return false;
        s->switch_[there] = file_switch[i];
    }
    return true;
}

static int find_switch(struct shorts *s, const struct names *file, const int32_t *file_switch,
                       const char *name, int32_t *out)
{
    size_t len = short_len(name);
    int32_t i = names_find(file, name, strlen(name));

    if (i < 0)
        i = names_find(file, name, len);
    *out = i < 0 ? FTREE_NONE : file_switch[i];
    if (i >= 0)
        return FTREE_OK;
    if (!s->made && !make_shorts(s, file, file_switch))
        return FTREE_ERR_NOMEM;
    i = names_find(&s->names, name, len);
    if (i >= 0)
        *out = s->switch_[i];
    return FTREE_OK;
}

/* Adds ", name" to a list that is cut at the end of its room. */
static void list_name(char *list, size_t room, const char *name)
{
    size_t len = strlen(list);
    const char *comma = len ? ", " : "";

    if (len + strlen(comma) + strlen(name) + strlen(", ...") < room)
        snprintf(list + len, room - len, "%s%s", comma, name);
    else if (len < 3 || strcmp(list + len - 3, "..."))
        snprintf(list + len, room - len, "%s...", comma);
}

int ftree_tree_match(const struct names *file, const int32_t *file_switch, const char *const *name,
                     int32_t nodes, int32_t *node_switch, struct ftree_tree_error *e)
{
    struct shorts s = {0};
    char lacking[100] = "";
    int32_t lack = 0;
    int rc = FTREE_OK;

    for (int32_t i = 0; !rc && i < nodes; i++) {
        rc = find_switch(&s, file, file_switch, name[i], &node_switch[i]);
        if (!rc && node_switch[i] == AMBIGUOUS)
            rc = ftree_tree_wrong(e, 0, 0,
                                  "which node is %.*s? The file has several of that name with "
                                  "different domains, behind different switches",
                                  60, name[i]);
        if (!rc && node_switch[i] == FTREE_NONE && ++lack)
            list_name(lacking, sizeof(lacking), name[i]);
    }
    if (!rc && lack)
        rc = ftree_tree_wrong(e, 0, 0, "no switch has %s (%d of the job's %d nodes)", lacking,
                              (int) lack, (int) nodes);
    names_free(&s.names);
    free(s.switch_);
    return rc;
}
