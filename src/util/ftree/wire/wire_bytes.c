/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/wire/codec.h"

#include <string.h>

/* Numbers, ages and texts, as they are written and read. */

void ftree_wire_bytes(struct wire_codec *c, const void *bytes, size_t len)
{
    if (c->out && !ftree_bytes_append(c->ft, c->out, bytes, len))
        c->nomem = true;
    else if (!c->out)
        memcpy(c->p + c->at, bytes, len);
    c->at += len;
}

static void write_number(struct wire_codec *c, uint64_t value, int bytes)
{
    uint8_t p[8];

    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t) (value >> (8 * i));
    ftree_wire_bytes(c, p, (size_t) bytes);
}

uint64_t ftree_wire_number(struct wire_codec *c, uint64_t value, int bytes, uint64_t limit)
{
    bool fits = c->reads && c->len - c->at >= (size_t) bytes;
    const uint8_t *p = fits ? c->p + c->at : NULL;

    if (!c->reads) {
        write_number(c, value, bytes);
        return value;
    }
    c->at = fits ? c->at + (size_t) bytes : c->len;
    value = 0;
    for (int i = 0; i < bytes && fits; i++)
        value |= (uint64_t) p[i] << (8 * i);
    if (fits && (!limit || value < limit))
        return value;
    c->bad = true;
    return 0;
}

static uint64_t read_packed(struct wire_codec *c)
{
    uint64_t value = 0, part;

    for (int shift = 0; shift < 64; shift += 7) {
        part = ftree_wire_number(c, 0, 1, 0);
        value |= (part & 0x7f) << shift;
        if (part < 0x80) {
            c->bad |= shift == 63 && part > 1;
            return value;
        }
    }
    c->bad = true;
    return 0;
}

uint64_t ftree_wire_packed(struct wire_codec *c, uint64_t value, uint64_t most)
{
    uint64_t rest = value;

    if (c->reads) {
        value = read_packed(c);
        c->bad |= value > most;
        return value > most ? 0 : value;
    }
    for (; rest >= 0x80; rest >>= 7)
        write_number(c, (rest & 0x7f) | 0x80, 1);
    write_number(c, rest, 1);
    return value;
}

int64_t ftree_wire_within(struct wire_codec *c, int64_t value, int64_t least, int64_t most)
{
    uint64_t n = value < 0 ? ~(uint64_t) value << 1 | 1 : (uint64_t) value << 1;

    n = ftree_wire_packed(c, n, UINT64_MAX);
    value = n & 1 ? (int64_t) ~(n >> 1) : (int64_t) (n >> 1);
    if (!c->reads || (value >= least && value <= most))
        return value;
    c->bad = true;
    return least;
}

void *ftree_wire_item(struct wire_codec *c, void *items, int32_t *n, int32_t *room, size_t size,
                      int32_t i)
{
    uint8_t *array;
    void *item;

    if (c->bad || c->nomem)
        return NULL;
    if (c->reads) {
        item = ftree_push(c->ft, items, n, room, size);
        c->nomem = !item;
        return item;
    }
    memcpy(&array, items, sizeof(array));
    return array + (size_t) i * size;
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
    size_t len = c->reads ? 0 : strnlen(text, size - 1);

    WIRE_NUMBER(c, len, 1, size);
    if (c->reads)
        read_text(c, text, len);
    for (size_t i = 0; i < len && !c->reads; i++) /* a program may call its communicators anything */
        write_number(c, (uint8_t) (text[i] < ' ' || text[i] > '~' ? '?' : text[i]), 1);
}
