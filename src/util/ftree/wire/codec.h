/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef CODEC_H_INCLUDED
#define CODEC_H_INCLUDED

#include "ftree/base/base.h"
#include "ftree/wire/wire.h"

#pragma GCC visibility push(hidden)

/*
 * What is written is read by the same code: it goes through the parts of a message and either
 * writes them to `p` or reads them from there.
 *
 * A writer to `p` has room for FTREE_MESSAGE_MAX bytes: every message is bounded by the sizes of
 * its tables, which static assertions add up.  What may be longer is written to `out`, which grows.
 * A writer only looks at the parts, which may be constant.
 * `bad` is a reader's, and sticky: so a body is read straight through and judged once at its end;
 * what is read after it is 0.  `nomem` is sticky, too: there was no memory for `out`, or for items
 * that were read.
 */
struct wire_codec {
    bool reads, bad, nomem;
    uint8_t *p; /* a reader leaves it as it is */
    size_t at, len; /* len: of what is read */
    const struct ftree_job *job; /* a reader's, and of a writer to `out` */
    ftree_time now;
    struct ftree *ft; /* for memory */
    struct ftree_bytes *out;
};

static inline struct wire_codec ftree_wire_reader(struct ftree *ft, ftree_time now,
                                                  const uint8_t *bytes, size_t len)
{
    return (struct wire_codec){.reads = true,
                               .p = (uint8_t *) (uintptr_t) bytes,
                               .len = len,
                               .job = ft->job,
                               .now = now,
                               .ft = ft};
}

static inline struct wire_codec ftree_wire_writer(struct ftree *ft, ftree_time now,
                                                  struct ftree_bytes *out)
{
    return (struct wire_codec){.job = ft->job, .now = now, .ft = ft, .out = out};
}

/* A number of 0 .. limit - 1 (0: any) in so many bytes: of a reader the one that is there, else 0
 * and a bad message; of a writer `value`, which is written as it is. */
uint64_t ftree_wire_number(struct wire_codec *c, uint64_t value, int bytes, uint64_t limit);

#define WIRE_NUMBER(c, part, bytes, limit) \
    do { \
        uint64_t number_ = ftree_wire_number((c), (uint64_t) (part), (bytes), (uint64_t) (limit)); \
        if ((c)->reads) \
            (part) = (__typeof__(part)) number_; \
    } while (0)

/* Numbers of seven bits a byte, the lowest first: most are small.  Of a reader one of 0 .. most, or
 * of least .. most, of which the signs alternate; else 0, or `least`, and a bad message. */
uint64_t ftree_wire_packed(struct wire_codec *c, uint64_t value, uint64_t most);
int64_t ftree_wire_within(struct wire_codec *c, int64_t value, int64_t least, int64_t most);

#define WIRE_PACKED(c, part, most) \
    do { \
        uint64_t number_ = ftree_wire_packed((c), (part), (most)); \
        if ((c)->reads) \
            (part) = (__typeof__(part)) number_; \
    } while (0)

#define WIRE_WITHIN(c, part, least, most) \
    do { \
        int64_t number_ = ftree_wire_within((c), (int64_t) (part), (least), (most)); \
        if ((c)->reads) \
            (part) = (__typeof__(part)) number_; \
    } while (0)

/* The i-th item of an array, which a reader adds; NULL: no more of them are to be read. */
#define WIRE_ITEM(c, array, i) \
    ((__typeof__((array).items)) ftree_wire_item((c), &(array).items, &(array).n, &(array).room, \
                                                 sizeof(*(array).items), (i)))
void *ftree_wire_item(struct wire_codec *c, void *items, int32_t *n, int32_t *room, size_t size,
                      int32_t i);

/* Bytes as they are, of a writer. */
void ftree_wire_bytes(struct wire_codec *c, const void *bytes, size_t len);

/* What is not of this range makes a message bad, and is read as 0. */
void ftree_wire_node(struct wire_codec *c, int32_t *node);
void ftree_wire_rank(struct wire_codec *c, int32_t *rank, bool may_be_none);
void ftree_wire_proc_state(struct wire_codec *c, char *state); /* a letter of proc(5), or 0 */
/* A time as its age, in units of so many ns: what finds no room in so many bytes is cut. */
void ftree_wire_age(struct wire_codec *c, ftree_time *at, int bytes, ftree_time unit);
/* A length byte and the characters, at most 255: printable ASCII that fits into `size` with its
 * zero. */
void ftree_wire_text(struct wire_codec *c, char *text, size_t size);

/* wire.c */
void ftree_wire_symptom(struct wire_codec *c, struct ftree_symptom *s);
/* wire_state.c */
void ftree_wire_state(struct wire_codec *c, struct ftree_node_state *s);
void ftree_wire_log(struct wire_codec *c, struct ftree_log *log);

#pragma GCC visibility pop

#endif /* CODEC_H_INCLUDED */
