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

static bool is_hex(int c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool walk_escape(struct walk *w)
{
    int c = peek(w);

    if (c < 0 || !strchr("\"\\/bfnrtu", c))
        return is_wrong(w, "no escape sequence of JSON");
    w->at++;
    for (int i = 0; i < 4 && c == 'u'; i++, w->at++)
        if (!is_hex(peek(w)))
            return is_wrong(w, "\\u needs four hexadecimal digits");
    return true;
}

/* *span gets what is between the quotes. */
static bool walk_string(struct walk *w, struct rules_span *span)
{
    size_t open = w->at++;

    span->begin = w->at;
    for (;;) {
        int c = peek(w);
        if (c < 0 || c == '\n') {
            w->at = open;
            return is_wrong(w, "a string that does not end");
        }
        if (c < ' ' || c > '~')
            return is_wrong(w, "a character in a string that is not printable ASCII");
        if (c == '"')
            break;
        w->at++;
        if (c == '\\' && !walk_escape(w))
            return false;
    }
    span->end = w->at++;
    return true;
}

static bool walk_digits(struct walk *w)
{
    if (peek(w) < '0' || peek(w) > '9')
        return is_wrong(w, "a digit is expected");
    while (peek(w) >= '0' && peek(w) <= '9')
        w->at++;
    return true;
}

static bool walk_number(struct walk *w)
{
    if (peek(w) == '-')
        w->at++;
    if (peek(w) == '0') {
        w->at++;
        if (peek(w) >= '0' && peek(w) <= '9')
            return is_wrong(w, "a number that begins with 0");
    } else if (!walk_digits(w)) {
        return false;
    }
    if (peek(w) == '.' && ++w->at && !walk_digits(w))
        return false;
    if (peek(w) != 'e' && peek(w) != 'E')
        return true;
    w->at++;
    if (peek(w) == '+' || peek(w) == '-')
        w->at++;
    return walk_digits(w);
}

static bool walk_word(struct walk *w)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t n = strlen(words[i]);
        if (w->len - w->at >= n && !memcmp(w->text + w->at, words[i], n)) {
            w->at += n;
            return true;
        }
    }
    return is_wrong(w, peek(w) < 0 ? "unexpected end of file" : "a value is expected");
}

static bool walk_value(struct walk *w, int matched);

static bool same_key(const struct walk *w, const struct rules_span *key, const char *name)
{
    size_t len = key->end - key->begin;

    return strlen(name) == len && !memcmp(w->text + key->begin, name, len);
}

/* How many steps lead to a member or an element, given how many lead to what it is in. */
static int match(const struct walk *w, int matched, const struct rules_span *key, int index)
{
    if (!w->want || matched < 0 || matched >= w->want->depth)
        return -1;
    if (key)
        return w->want->step[matched].key && same_key(w, key, w->want->step[matched].key)
                   ? matched + 1
                   : -1;
    return !w->want->step[matched].key && w->want->step[matched].index == index ? matched + 1 : -1;
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
    bool fine = c == '{' || c == '['                 ? walk_container(w, matched)
                : c == '"'                           ? walk_string(w, &span)
                : c == '-' || (c >= '0' && c <= '9') ? walk_number(w)
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
