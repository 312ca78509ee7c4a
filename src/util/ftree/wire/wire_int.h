/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef WIRE_INT_H_INCLUDED
#define WIRE_INT_H_INCLUDED

#include "ftree/wire/wire.h"

#pragma GCC visibility push(hidden)

/* What the files that write and read the wire format share; see wire.h. */

/* The room is FTREE_MESSAGE_MAX bytes: every message is bounded by the sizes of its tables, which
 * static assertions add up. */
struct wire_writer {
    uint8_t *p;
    size_t len;
};

/* `bad` is sticky, so a body is read straight through and judged once at its end; what is read
 * after it is 0. */
struct wire_reader {
    const uint8_t *p;
    size_t left;
    bool bad;
    const struct ftree_job *job;
    ftree_time now;
};

void ftree_wire_put(struct wire_writer *w, uint64_t value, int bytes);
void ftree_wire_put_age(struct wire_writer *w, ftree_time now, ftree_time at);
/* A length byte and the characters, at most 255. */
void ftree_wire_put_text(struct wire_writer *w, const char *text);

uint64_t ftree_wire_get(struct wire_reader *r, int bytes);
/* A number of 0 .. limit - 1, else 0 and a bad message. */
uint32_t ftree_wire_get_below(struct wire_reader *r, int bytes, uint64_t limit);
int32_t ftree_wire_get_node(struct wire_reader *r);
int32_t ftree_wire_get_rank(struct wire_reader *r, bool may_be_none);
ftree_time ftree_wire_get_age(struct wire_reader *r); /* as a time before r->now */
char ftree_wire_get_proc_state(struct wire_reader *r); /* a letter of proc(5), or 0 */
/* Printable ASCII that fits into `size` with its zero; anything else makes the message bad. */
void ftree_wire_get_text(struct wire_reader *r, char *text, size_t size);

/* wire_state.c */
void ftree_wire_put_state(struct wire_writer *w, const struct ftree_node_state *s);
void ftree_wire_get_state(struct wire_reader *r, struct ftree_node_state *s);
void ftree_wire_put_log(struct wire_writer *w, const struct ftree_log *log, ftree_time now);
void ftree_wire_get_log(struct wire_reader *r, struct ftree_log *log);

#pragma GCC visibility pop

#endif /* WIRE_INT_H_INCLUDED */
