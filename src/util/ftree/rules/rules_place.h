/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef RULES_PLACE_H_INCLUDED
#define RULES_PLACE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/*
 * Where something is in the text of a rule base.  json-c keeps no positions, and takes silently
 * what a person would want to hear of (a key that is there twice); so the text is first walked
 * here, and messages and `faultloc rules learn` find their places in it afterwards.
 *
 * The language is JSON with comments (to the end of a line, or between slash-stars) and a comma, if
 * one likes, behind the last element; strings are ASCII, keys have no escape sequences.
 */

#define RULES_DEPTH_MAX 16 /* levels of a file */
#define RULES_KEYS_MAX 64 /* of one object */

/* A way into the document: rules[3].if[0].kind has six steps. */
struct rules_path {
    int depth;
    struct {
        const char *key; /* of an object; NULL: of an array, then */
        int index;
    } step[RULES_DEPTH_MAX];
};

/* From the first byte to behind the last. */
struct rules_span {
    size_t begin, end;
};

/* Purpose: go one step down or up.  Steps beyond RULES_DEPTH_MAX are counted only.  The key is not
 * copied. */
void rules_path_key(struct rules_path *path, const char *key);
void rules_path_index(struct rules_path *path, int index);
void rules_path_leave(struct rules_path *path);

/* Purpose: the path as people write it, "" for the whole; cut to size, printable.  Returns buf. */
const char *rules_path_text(const struct rules_path *path, char *buf, size_t size);

/* Purpose: checks that the text is one value of the language above, of which only escape sequences
 * and words without quotes may be other than well-formed.  Returns NULL, or what is wrong (a
 * constant), and *at then is the byte where.  `plain`, NULL or `len` bytes, gets the text as plain
 * JSON of the same length: blanks where comments and needless commas are. */
const char *rules_place_scan(const char *text, size_t len, char *plain, size_t *at);

/* Purpose: the span of what the path leads to; with `key`, of the key that its last step names.
 * False: there is no such (or the text is not well-formed up to there). */
bool rules_place_find(const char *text, size_t len, const struct rules_path *path, bool key,
                      struct rules_span *span);

/* Purpose: line and column, from 1, of a byte. */
void rules_place_line(const char *text, size_t len, size_t at, int *line, int *column);

#pragma GCC visibility pop

#endif /* RULES_PLACE_H_INCLUDED */
