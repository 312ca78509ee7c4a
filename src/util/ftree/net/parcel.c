/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/net/net.h"

#include <string.h>

/*
 * What does not fit into a message goes in parts, each a message that is acknowledged.  A parcel is
 * put together from its number, in whatever order its parts come; one whose parts do not come is
 * forgotten.
 */

#define PARCEL_PATIENCE (10000 * FTREE_MS)
#define PARCELS_MAX 256 /* under way at once: more than one a child and candidate is rare */

/* More than any job has to say. */
static int64_t most_parts(const struct ftree *ft)
{
    int64_t most = 48 + 2 * (int64_t) ft->job->size;

    return most < UINT16_MAX ? most : UINT16_MAX;
}

uint32_t ftree_parcel_number(uint32_t *last, ftree_time now)
{
    uint32_t clock = (uint32_t) (now / FTREE_MS);

    *last = (int32_t) (clock - *last) > 0 ? clock : *last + 1;
    *last += *last == 0;
    return *last;
}

bool ftree_parcel_send(struct ftree *ft, ftree_time now, int32_t to, enum wire_type type,
                       uint32_t number, const uint8_t *bytes, size_t len)
{
    size_t parts = len > 0 ? (len + WIRE_PART_BYTES - 1) / WIRE_PART_BYTES : 1;
    struct wire_message m = {.type = (uint8_t) type};

    if (parts > (size_t) most_parts(ft))
        return false;
    for (size_t i = 0; i < parts; i++) {
        size_t at = i * WIRE_PART_BYTES;
        m.u.part = (struct wire_part){
            .number = number,
            .part = (uint16_t) i,
            .parts = (uint16_t) parts,
            .len = len - at < WIRE_PART_BYTES ? len - at : WIRE_PART_BYTES,
            .bytes = bytes + at};
        ftree_outbox_put(ft, now, to, &m);
    }
    return true;
}

static void forget(struct ftree *ft, struct parcel *p)
{
    for (int32_t i = 0; i < p->parts; i++)
        ftree_alloc(ft, p->piece[i].bytes, 0);
    ftree_alloc(ft, p->piece, 0);
    FTREE_DROP(ft->net->parcels, (int32_t) (p - ft->net->parcels.items));
}

static struct parcel *find_parcel(const struct ftree *ft, int32_t from, enum wire_type type)
{
    return FTREE_FIND(struct parcel, p, ft->net->parcels, p->from == from && p->type == type);
}

/* Of looks and answers there may be several at once, of items the newest counts. */
static struct parcel *find_number(const struct ftree *ft, int32_t from, enum wire_type type,
                                          uint32_t number)
{
    return FTREE_FIND(struct parcel, p, ft->net->parcels,
                      p->from == from && p->type == type && p->number == number);
}

static struct parcel *begin(struct ftree *ft, int32_t from, enum wire_type type,
                                    const struct wire_part *part)
{
    size_t size = part->parts * sizeof(struct parcel_piece);
    struct parcel *p;
    struct parcel_piece *piece;

    if (ft->net->parcels.n >= PARCELS_MAX || part->parts > most_parts(ft))
        return NULL;
    piece = ftree_alloc(ft, NULL, size);
    p = piece ? FTREE_PUSH(ft, ft->net->parcels) : NULL;
    if (!p) {
        ftree_alloc(ft, piece, 0);
        return NULL;
    }
    memset(piece, 0, size);
    *p = (struct parcel){.from = from,
                                 .number = part->number,
                                 .type = (uint8_t) type,
                                 .parts = part->parts,
                                 .piece = piece};
    return p;
}

static bool keep(struct ftree *ft, struct parcel *p, const struct wire_part *part)
{
    struct parcel_piece *piece = &p->piece[part->part];

    if (part->parts != p->parts || piece->bytes)
        return false;
    piece->bytes = ftree_alloc(ft, NULL, part->len + 1);
    if (!piece->bytes)
        return false;
    memcpy(piece->bytes, part->bytes, part->len);
    piece->len = (uint16_t) part->len;
    p->got++;
    return p->got == p->parts;
}

static bool put_together(struct ftree *ft, struct parcel *p, struct ftree_bytes *out)
{
    bool fits = true;

    for (int32_t i = 0; i < p->parts && fits; i++)
        fits = ftree_bytes_append(ft, out, p->piece[i].bytes, p->piece[i].len);
    forget(ft, p);
    return fits;
}

bool ftree_parcel_take(struct ftree *ft, ftree_time now, int32_t from, enum wire_type type,
                       const struct wire_part *part, struct ftree_bytes *out)
{
    struct parcel *p = find_number(ft, from, type, part->number);

    if (!p && part->parts == 1) /* most are */
        return ftree_bytes_append(ft, out, part->bytes, part->len);
    if (!p && type == WIRE_WAITS_UP && (p = find_parcel(ft, from, type))) {
        if ((int32_t) (part->number - p->number) < 0)
            return false;
        forget(ft, p);
        p = NULL;
    }
    if (!p)
        p = begin(ft, from, type, part);
    if (!p)
        return false;
    p->at = now;
    return keep(ft, p, part) && put_together(ft, p, out);
}

void ftree_parcel_tick(struct ftree *ft, ftree_time now)
{
    for (int32_t i = ft->net->parcels.n - 1; i >= 0; i--)
        if (ft->net->parcels.items[i].at + PARCEL_PATIENCE <= now)
            forget(ft, &ft->net->parcels.items[i]);
}

ftree_time ftree_parcel_deadline(const struct ftree *ft)
{
    return FTREE_EARLIEST(const struct parcel, p, ft->net->parcels, p->at + PARCEL_PATIENCE);
}

void ftree_parcel_clear(struct ftree *ft)
{
    while (ft->net->parcels.n > 0)
        forget(ft, &ft->net->parcels.items[0]);
    ftree_alloc(ft, ft->net->parcels.items, 0);
}
