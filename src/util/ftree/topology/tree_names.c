/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/topology/tree_int.h"

#include "ftree/base/text.h"

#include <stdio.h>

int ftree_tree_wrong(struct ftree_tree_error *e, int line, int column, const char *format, ...)
{
    va_list args;

    e->line = line;
    e->column = column;
    va_start(args, format);
    vsnprintf(e->text, sizeof(e->text), format, args);
    va_end(args);
    ftree_text_ascii(e->text); /* it may quote a job's own name for a node */
    return FTREE_ERR_INVALID;
}

/* ---- the set ---------------------------------------------------------------------------------- */

static uint32_t hash(const char *name, size_t len)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char) name[i]) * 1099511628211u;
    return (uint32_t) (h ^ h >> 32);
}

const char *names_text(const struct names *s, int32_t i)
{
    return s->text + s->at[i];
}

/* The slot of a name, or the free one where it would be. */
static uint32_t slot_of(const struct names *s, const char *name, size_t len)
{
    uint32_t i = hash(name, len) & (s->slots - 1);

    while (s->slot[i] >= 0) {
        const char *there = names_text(s, s->slot[i]);
        if (!strncmp(there, name, len) && there[len] == '\0')
            break;
        i = (i + 1) & (s->slots - 1);
    }
    return i;
}

int32_t names_find(const struct names *s, const char *name, size_t len)
{
    return s->n == 0 ? FTREE_NONE : s->slot[slot_of(s, name, len)];
}

static bool grow_slots(struct names *s)
{
    uint32_t slots = s->slots ? 2 * s->slots : 64;
    int32_t *slot = malloc(slots * sizeof(*slot));

    if (!slot)
        return false;
    free(s->slot);
    s->slot = slot;
    s->slots = slots;
    memset(slot, 0xff, slots * sizeof(*slot));
    for (int32_t i = 0; i < s->n; i++)
        slot[slot_of(s, names_text(s, i), strlen(names_text(s, i)))] = i;
    return true;
}

static bool grow(struct names *s, size_t len)
{
    if (s->n == s->room) {
        int32_t room = s->room ? 2 * s->room : 64;
        uint32_t *at = realloc(s->at, (size_t) room * sizeof(*at));
        if (!at)
            return false;
        s->at = at;
        s->room = room;
    }
    if (s->text_len + len + 1 > s->text_room) {
        size_t room = 2 * s->text_room + len + 1024;
        char *text = realloc(s->text, room);
        if (!text)
            return false;
        s->text = text;
        s->text_room = room;
    }
    return 2 * (uint32_t) s->n < s->slots || grow_slots(s);
}

int32_t names_add(struct names *s, const char *name, size_t len)
{
    if (s->text_len + len + 1 > UINT32_MAX || !grow(s, len))
        return FTREE_NONE;
    s->at[s->n] = (uint32_t) s->text_len;
    memcpy(s->text + s->text_len, name, len);
    s->text[s->text_len + len] = '\0';
    s->text_len += len + 1;
    s->slot[slot_of(s, name, len)] = s->n;
    return s->n++;
}

void names_free(struct names *s)
{
    free(s->text);
    free(s->at);
    free(s->slot);
}
