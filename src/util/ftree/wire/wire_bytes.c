/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/wire/wire_int.h"

#include <string.h>

/* Numbers, ages and texts, as they are written and read. */

void ftree_wire_put(struct wire_writer *w, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        w->p[w->len++] = (uint8_t) (value >> (8 * i));
}

void ftree_wire_put_age(struct wire_writer *w, ftree_time now, ftree_time at)
{
    ftree_wire_put(w, at < now ? now - at : 0, 8);
}

void ftree_wire_put_text(struct wire_writer *w, const char *text)
{
    size_t len = strlen(text);

    len = len < 255 ? len : 255;
    ftree_wire_put(w, len, 1);
    memcpy(w->p + w->len, text, len);
    w->len += len;
}

uint64_t ftree_wire_get(struct wire_reader *r, int bytes)
{
    uint64_t value = 0;

    if (r->left < (size_t) bytes) {
        r->bad = true;
        r->left = 0;
        return 0;
    }
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t) r->p[i] << (8 * i);
    r->p += bytes;
    r->left -= (size_t) bytes;
    return value;
}

uint32_t ftree_wire_get_below(struct wire_reader *r, int bytes, uint64_t limit)
{
    uint64_t value = ftree_wire_get(r, bytes);

    if (value >= limit) {
        r->bad = true;
        return 0;
    }
    return (uint32_t) value;
}

int32_t ftree_wire_get_node(struct wire_reader *r)
{
    return (int32_t) ftree_wire_get_below(r, 4, (uint64_t) r->job->nodes);
}

int32_t ftree_wire_get_rank(struct wire_reader *r, bool may_be_none)
{
    uint32_t value = (uint32_t) ftree_wire_get(r, 4);

    if (value == (uint32_t) FTREE_NONE && may_be_none)
        return FTREE_NONE;
    if (value >= (uint32_t) r->job->size) {
        r->bad = true;
        return 0;
    }
    return (int32_t) value;
}

ftree_time ftree_wire_get_age(struct wire_reader *r)
{
    uint64_t age = ftree_wire_get(r, 8);

    return age < r->now ? r->now - age : 0;
}

/* State letters come from proc(5); anything else could spoil a terminal. */
char ftree_wire_get_proc_state(struct wire_reader *r)
{
    char c = (char) ftree_wire_get(r, 1);

    if (c && !memchr("RSDTtZXxKWPI", c, 12))
        r->bad = true;
    return c;
}

/* Anything but plain text could spoil a terminal. */
void ftree_wire_get_text(struct wire_reader *r, char *text, size_t size)
{
    size_t len = ftree_wire_get_below(r, 1, size);

    if (len > r->left)
        r->bad = true;
    for (size_t i = 0; i < len && !r->bad; i++) {
        text[i] = (char) r->p[i];
        if (text[i] < ' ' || text[i] > '~')
            r->bad = true;
    }
    if (r->bad) {
        text[0] = 0;
        return;
    }
    text[len] = 0;
    r->p += len;
    r->left -= len;
}
