/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef CODEC_H_INCLUDED
#define CODEC_H_INCLUDED

#include "ftree/wire/wire.h"

#pragma GCC visibility push(hidden)

/*
 * What is written is read by the same code: it goes through the parts of a message and either
 * writes them to `p` or reads them from there.
 *
 * A writer has room for FTREE_MESSAGE_MAX bytes: every message is bounded by the sizes of its
 * tables, which static assertions add up.  It only looks at the parts, which may be constant.
 * `bad` is a reader's, and sticky: so a body is read straight through and judged once at its end;
 * what is read after it is 0.
 */
struct wire_codec {
    bool reads, bad;
    uint8_t *p; /* a reader leaves it as it is */
    size_t at, len; /* len: of what is read */
    const struct ftree_job *job; /* a reader's */
    ftree_time now;
};

/* A number of 0 .. limit - 1 (0: any) in so many bytes: of a reader the one that is there, else 0
 * and a bad message; of a writer `value`, which is written as it is. */
uint64_t ftree_wire_number(struct wire_codec *c, uint64_t value, int bytes, uint64_t limit);

#define WIRE_NUMBER(c, part, bytes, limit) \
    do { \
        uint64_t number_ = ftree_wire_number((c), (uint64_t) (part), (bytes), (uint64_t) (limit)); \
        if ((c)->reads) \
            (part) = (__typeof__(part)) number_; \
    } while (0)

/* Numbers of seven bits a byte, the lowest first: most are small.  Signed ones alternate. */
void ftree_put_number(struct wire_codec *w, uint64_t value);
void ftree_put_signed(struct wire_codec *w, int64_t value);
uint64_t ftree_get_number(struct wire_codec *r);
uint32_t ftree_get_u32(struct wire_codec *r);
/* A number of least .. most, else `least` and a bad message. */
int64_t ftree_get_within(struct wire_codec *r, int64_t least, int64_t most);

/* What is not of this range makes a message bad, and is read as 0. */
void ftree_wire_node(struct wire_codec *c, int32_t *node);
void ftree_wire_rank(struct wire_codec *c, int32_t *rank, bool may_be_none);
void ftree_wire_proc_state(struct wire_codec *c, char *state); /* a letter of proc(5), or 0 */
/* A time as its age, in units of so many ns: what finds no room in so many bytes is cut. */
void ftree_wire_age(struct wire_codec *c, ftree_time *at, int bytes, ftree_time unit);
/* A length byte and the characters, at most 255: printable ASCII that fits into `size` with its
 * zero. */
void ftree_wire_text(struct wire_codec *c, char *text, size_t size);

/* wire_state.c */
void ftree_wire_state(struct wire_codec *c, struct ftree_node_state *s);
void ftree_wire_log(struct wire_codec *c, struct ftree_log *log);

#pragma GCC visibility pop

#endif /* CODEC_H_INCLUDED */
