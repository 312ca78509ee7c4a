/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/wire/codec.h"

#include <string.h>

/* Numbers, ages and texts, as they are written and read. */

uint64_t ftree_wire_number(struct wire_codec *c, uint64_t value, int bytes, uint64_t limit)
{
    uint8_t *p = c->p + c->at;
    bool fits = !c->reads || c->len - c->at >= (size_t) bytes;

    c->at = fits ? c->at + (size_t) bytes : c->len;
    if (!c->reads) {
        for (int i = 0; i < bytes; i++)
            p[i] = (uint8_t) (value >> (8 * i));
        return value;
    }
    value = 0;
    for (int i = 0; i < bytes && fits; i++)
        value |= (uint64_t) p[i] << (8 * i);
    if (fits && (!limit || value < limit))
        return value;
    c->bad = true;
    return 0;
}

void ftree_put_number(struct wire_codec *w, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        ftree_wire_number(w, (value & 0x7f) | 0x80, 1, 0);
    ftree_wire_number(w, value, 1, 0);
}

void ftree_put_signed(struct wire_codec *w, int64_t value)
{
    ftree_put_number(w, value < 0 ? ~(uint64_t) value << 1 | 1 : (uint64_t) value << 1);
}

uint64_t ftree_get_number(struct wire_codec *r)
{
    uint64_t value = 0, part;

    for (int shift = 0; shift < 64; shift += 7) {
        part = ftree_wire_number(r, 0, 1, 0);
        value |= (part & 0x7f) << shift;
        if (part < 0x80) {
            if (shift == 63 && part > 1)
                r->bad = true;
            return value;
        }
    }
    r->bad = true;
    return 0;
}

uint32_t ftree_get_u32(struct wire_codec *r)
{
    uint64_t value = ftree_get_number(r);

    if (value > UINT32_MAX)
        r->bad = true;
    return (uint32_t) value;
}

int64_t ftree_get_within(struct wire_codec *r, int64_t least, int64_t most)
{
    uint64_t n = ftree_get_number(r);
    int64_t value = n & 1 ? (int64_t) ~(n >> 1) : (int64_t) (n >> 1);

    if (value >= least && value <= most)
        return value;
    r->bad = true;
    return least;
}

void ftree_wire_node(struct wire_codec *c, int32_t *node)
{
    WIRE_NUMBER(c, *node, 4, c->reads ? c->job->nodes : 0);
}

void ftree_wire_rank(struct wire_codec *c, int32_t *rank, bool may_be_none)
{
    uint32_t value = (uint32_t) *rank;

    WIRE_NUMBER(c, value, 4, 0);
    if (!c->reads)
        return;
    *rank = (int32_t) value;
    if (value < (uint32_t) c->job->size || (may_be_none && *rank == FTREE_NONE))
        return;
    c->bad = true;
    *rank = 0;
}

void ftree_wire_age(struct wire_codec *c, ftree_time *at, int bytes, ftree_time unit)
{
    ftree_time most = UINT64_MAX >> (64 - 8 * bytes),
               age = *at < c->now ? (c->now - *at) / unit : 0;

    age = ftree_wire_number(c, age < most ? age : most, bytes, 0) * unit;
    if (c->reads)
        *at = age < c->now ? c->now - age : 0;
}

/* State letters come from proc(5); anything else could spoil a terminal. */
void ftree_wire_proc_state(struct wire_codec *c, char *state)
{
    uint8_t letter = (uint8_t) *state;

    WIRE_NUMBER(c, letter, 1, 0);
    if (!c->reads)
        return;
    *state = (char) letter;
    if (letter && !strchr(FTREE_PROC_STATES, letter))
        c->bad = true;
}

/* Anything but plain text could spoil a terminal. */
static void read_text(struct wire_codec *c, char *text, size_t len)
{
    if (len > c->len - c->at)
        c->bad = true;
    for (size_t i = 0; i < len && !c->bad; i++) {
        text[i] = (char) c->p[c->at + i];
        if (text[i] < ' ' || text[i] > '~')
            c->bad = true;
    }
    len = c->bad ? 0 : len;
    text[len] = 0;
    c->at += len;
}

void ftree_wire_text(struct wire_codec *c, char *text, size_t size)
{
    size_t len = c->reads ? 0 : strnlen(text, 255);

    WIRE_NUMBER(c, len, 1, size);
    if (c->reads) {
        read_text(c, text, len);
        return;
    }
    for (size_t i = 0; i < len; i++) /* a program may call its communicators anything */
        c->p[c->at + i] = (uint8_t) (text[i] < ' ' || text[i] > '~' ? '?' : text[i]);
    c->at += len;
}
