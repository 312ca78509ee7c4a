/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/rules/rules_place.h"

#include "ftree/base/base.h"
#include "ftree/base/text.h"

#include <string.h>

/* ---- paths ----------------------------------------------------------------------------------- */

static void push(struct rules_path *path, const char *key, int index)
{
    if (path->depth < RULES_DEPTH_MAX) {
        path->step[path->depth].key = key;
        path->step[path->depth].index = index;
    }
    path->depth++;
}

void rules_path_key(struct rules_path *path, const char *key)
{
    push(path, key, -1);
}

void rules_path_index(struct rules_path *path, int index)
{
    push(path, NULL, index);
}

void rules_path_leave(struct rules_path *path)
{
    path->depth--;
}

const char *rules_path_text(const struct rules_path *path, char *buf, size_t size)
{
    buf[0] = '\0';
    for (int i = 0; i < path->depth && i < RULES_DEPTH_MAX; i++)
        if (path->step[i].key)
            ftree_text_add(buf, size, "%s%.40s", i ? "." : "", path->step[i].key);
        else
            ftree_text_add(buf, size, "[%d]", path->step[i].index);
    ftree_text_ascii(buf);
    return buf;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* One pass over the text.  With `want` it also looks for what that path leads to: `matched` counts
 * the steps that lead to where the walk is, and -1 once it has left the way. */
struct walk {
    const char *text;
    size_t len, at;
    char *plain;
    const char *why; /* what is wrong, NULL: nothing yet */
    int depth;
    const struct rules_path *want;
    bool want_key, found;
    struct rules_span span;
    struct rules_span key[RULES_DEPTH_MAX][RULES_KEYS_MAX];
};

static bool is_wrong(struct walk *w, const char *why)
{
    if (!w->why)
        w->why = why;
    return false;
}

static int peek(const struct walk *w)
{
    return w->at < w->len ? (unsigned char) w->text[w->at] : -1;
}

static void blank(struct walk *w, size_t begin, size_t end)
{
    for (size_t i = begin; w->plain && i < end; i++)
        if (w->plain[i] != '\n')
            w->plain[i] = ' ';
}

static bool skip_comment(struct walk *w)
{
    size_t begin = w->at, end = begin + 2;
    char kind = w->at + 1 < w->len ? w->text[w->at + 1] : '\0';

    if (kind == '/') {
        while (end < w->len && w->text[end] != '\n')
            end++;
    } else if (kind == '*') {
        while (end + 1 < w->len && (w->text[end] != '*' || w->text[end + 1] != '/'))
            end++;
        if (end + 1 >= w->len)
            return is_wrong(w, "a comment that does not end");
        end += 2;
    } else {
        return is_wrong(w, "a lone slash; comments begin with // or /*");
    }
    blank(w, begin, end);
    w->at = end;
    return true;
}

static bool skip_space(struct walk *w)
{
    for (;;) {
        int c = peek(w);
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
            w->at++;
        else if (c != '/')
            return true;
        else if (!skip_comment(w))
            return false;
    }
}

/* *span gets what is between the quotes; its escape sequences are json-c's business. */
static bool walk_string(struct walk *w, struct rules_span *span)
{
    size_t open = w->at++;

    span->begin = w->at;
    for (; peek(w) != '"'; w->at++) {
        w->at += peek(w) == '\\';
        if (peek(w) < 0 || peek(w) == '\n') {
            w->at = open;
            return is_wrong(w, "a string that does not end");
        }
        if (peek(w) < ' ' || peek(w) > '~')
            return is_wrong(w, "a character in a string that is not printable ASCII");
    }
    span->end = w->at++;
    return true;
}

/* A number, true, false or null: which of them json-c finds out, too. */
static bool walk_word(struct walk *w)
{
    size_t begin = w->at;

    while (peek(w) > ' ' && peek(w) <= '~' && !strchr("\",:[]{}/'", peek(w)))
        w->at++;
    return w->at > begin ||
           is_wrong(w, peek(w) < 0 ? "unexpected end of file" : "a value is expected");
}

static bool walk_value(struct walk *w, int matched);

/* How many steps lead to a member or an element, given how many lead to what it is in. */
static int match(const struct walk *w, int matched, const struct rules_span *key, int index)
{
    const char *name;

    if (!w->want || matched < 0 || matched >= w->want->depth)
        return -1;
    name = w->want->step[matched].key;
    if (!key || !name)
        return !key && !name && w->want->step[matched].index == index ? matched + 1 : -1;
    return strlen(name) == key->end - key->begin &&
                   !memcmp(w->text + key->begin, name, strlen(name))
               ? matched + 1
               : -1;
}

static bool note_key(struct walk *w, int keys, const struct rules_span *key)
{
    struct rules_span *known = w->key[w->depth - 1];
    size_t len = key->end - key->begin;

    w->at = key->begin - 1; /* for a message */
    if (memchr(w->text + key->begin, '\\', len))
        return is_wrong(w, "a key with an escape sequence");
    if (keys == RULES_KEYS_MAX)
        return is_wrong(w, "an object with more than 64 keys");
    for (int i = 0; i < keys; i++)
        if (known[i].end - known[i].begin == len &&
            !memcmp(w->text + known[i].begin, w->text + key->begin, len))
            return is_wrong(w, "this key is there twice");
    known[keys] = *key;
    w->at = key->end + 1;
    return true;
}

static bool walk_member(struct walk *w, int keys, int matched)
{
    struct rules_span key;

    if (peek(w) != '"')
        return is_wrong(w, peek(w) < 0 ? "unexpected end of file" : "a key in quotes is expected");
    if (!walk_string(w, &key) || !note_key(w, keys, &key) || !skip_space(w))
        return false;
    matched = match(w, matched, &key, -1);
    if (w->want && w->want_key && matched == w->want->depth) {
        w->span = (struct rules_span){key.begin - 1, key.end + 1};
        w->found = true;
    }
    if (peek(w) != ':')
        return is_wrong(w, "a colon is expected after the key");
    w->at++;
    return skip_space(w) && walk_value(w, matched);
}

/* After a member or an element: true and *more for a comma with something behind it. */
static bool walk_comma(struct walk *w, char close, bool *more)
{
    size_t comma = w->at;

    *more = peek(w) == ',';
    if (!*more)
        return peek(w) == close ? true
                                : is_wrong(w, peek(w) < 0    ? "unexpected end of file"
                                              : close == '}' ? "a comma or } is expected"
                                                             : "a comma or ] is expected");
    w->at++;
    if (!skip_space(w))
        return false;
    if (peek(w) == close) {
        blank(w, comma, comma + 1);
        *more = false;
    }
    return true;
}

static bool walk_container(struct walk *w, int matched)
{
    bool object = peek(w) == '{', more;
    char close = object ? '}' : ']';
    int n = 0;

    if (w->depth == RULES_DEPTH_MAX)
        return is_wrong(w, "nested more than 16 levels deep");
    w->depth++;
    w->at++;
    if (!skip_space(w))
        return false;
    more = peek(w) != close;
    for (; more; n++)
        if (!(object ? walk_member(w, n, matched) : walk_value(w, match(w, matched, NULL, n))) ||
            !skip_space(w) || !walk_comma(w, close, &more))
            return false;
    w->depth--;
    w->at++;
    return true;
}

static bool walk_value(struct walk *w, int matched)
{
    bool wanted = w->want && !w->want_key && matched == w->want->depth;
    size_t begin = w->at;
    struct rules_span span;
    int c = peek(w);
    bool fine = c == '{' || c == '[' ? walk_container(w, matched)
                : c == '"'           ? walk_string(w, &span)
                                     : walk_word(w);

    if (fine && wanted) {
        w->span = (struct rules_span){begin, w->at};
        w->found = true;
    }
    return fine;
}

/* ---- what others call ------------------------------------------------------------------------ */

const char *rules_place_scan(const char *text, size_t len, char *plain, size_t *at)
{
    struct walk w = {.text = text, .len = len, .plain = plain};

    if (plain)
        memcpy(plain, text, len);
    if (skip_space(&w) && walk_value(&w, -1) && skip_space(&w) && w.at < len)
        is_wrong(&w, "nothing may follow the end");
    *at = w.at;
    return w.why;
}

bool rules_place_find(const char *text, size_t len, const struct rules_path *path, bool key,
                      struct rules_span *span)
{
    struct walk w = {.text = text, .len = len, .want = path, .want_key = key};

    if (path->depth > RULES_DEPTH_MAX)
        return false;
    if (skip_space(&w))
        walk_value(&w, 0);
    *span = w.span;
    return w.found;
}

void rules_place_line(const char *text, size_t len, size_t at, int *line, int *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < at && i < len; i++) {
        *column = text[i] == '\n' ? 1 : *column + 1;
        *line += text[i] == '\n';
    }
}
