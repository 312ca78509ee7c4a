/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "tool.h"

#include "faultloc/base/say.h"
#include "ftree/base/text.h"
#include "ftree/report/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A file becomes a JSON document.  json-c parses; before it does, one pass over the bytes looks for
 * what json-c accepts or cannot bound: a key that is there twice, of which it silently takes the
 * last, raw control characters in strings, and more arrays, levels or keys than a report can have.
 */

struct bytes {
    char *at;
    size_t len;
};

/* ---- looking over the bytes ------------------------------------------------------------------ */

struct key {
    const char *at;
    size_t len;
};

struct level {
    bool object;
    bool key_next; /* a string here is a key */
    int keys;
    struct key key[TOOL_KEYS_MAX];
};

struct scan {
    const char *p, *end;
    unsigned line;
    unsigned containers;
    int depth;
    struct level level[TOOL_DEPTH_MAX];
    char error[160]; /* empty: none */
};

static void note_key(struct scan *s, const char *at, size_t len)
{
    struct level *l = &s->level[s->depth - 1];

    l->key_next = false;
    if (memchr(at, '\\', len))
        snprintf(s->error, sizeof(s->error), "a key with an escape sequence");
    else if (l->keys == TOOL_KEYS_MAX)
        snprintf(s->error, sizeof(s->error), "an object with more than %d keys", TOOL_KEYS_MAX);
    for (int i = 0; i < l->keys && !*s->error; i++)
        if (l->key[i].len == len && !memcmp(l->key[i].at, at, len))
            snprintf(s->error, sizeof(s->error), "the key \"%.*s\" is there twice",
                     len < 64 ? (int) len : 64, at);
    if (!*s->error)
        l->key[l->keys++] = (struct key){.at = at, .len = len};
}

/* s->p is behind the opening quote, and then behind the closing one. */
static void scan_string(struct scan *s)
{
    const char *at = s->p;

    while (s->p < s->end && *s->p != '"') {
        if ((unsigned char) *s->p < ' ') {
            snprintf(s->error, sizeof(s->error), "a control character (0x%02x) in a string",
                     (unsigned char) *s->p);
            return;
        }
        s->p += *s->p == '\\' && s->p + 1 < s->end ? 2 : 1;
    }
    if (s->depth > 0 && s->level[s->depth - 1].key_next)
        note_key(s, at, (size_t) (s->p - at));
    s->p++;
}

static void open_container(struct scan *s, bool object)
{
    if (s->depth == TOOL_DEPTH_MAX) {
        snprintf(s->error, sizeof(s->error), "nested more than %d levels deep", TOOL_DEPTH_MAX);
    } else if (++s->containers > TOOL_CONTAINERS_MAX) {
        snprintf(s->error, sizeof(s->error), "more than %d arrays and objects",
                 TOOL_CONTAINERS_MAX);
    } else {
        s->level[s->depth].object = s->level[s->depth].key_next = object;
        s->level[s->depth++].keys = 0;
    }
}

/* Whether the brackets fit is left to the parser. */
static void scan_one(struct scan *s)
{
    char c = *s->p++;

    if (c == '\n')
        s->line++;
    else if (c == '"')
        scan_string(s);
    else if (c == '{' || c == '[')
        open_container(s, c == '{');
    else if ((c == '}' || c == ']') && s->depth > 0)
        s->depth--;
    else if (c == ',' && s->depth > 0)
        s->level[s->depth - 1].key_next = s->level[s->depth - 1].object;
}

static bool look_over(const char *file, const struct bytes *b)
{
    struct scan s = {.p = b->at, .end = b->at + b->len, .line = 1};

    while (s.p < s.end && !*s.error)
        scan_one(&s);
    if (*s.error)
        tool_say(stderr, "faultloc: %s: line %u: %s", file, s.line, s.error);
    return !*s.error;
}

/* ---- parsing --------------------------------------------------------------------------------- */

static void say_where(const char *file, const struct bytes *b, size_t at, const char *what)
{
    unsigned line = 1, column = 1;

    for (size_t i = 0; i < at && i < b->len; i++) {
        column = b->at[i] == '\n' ? 1 : column + 1;
        line += b->at[i] == '\n';
    }
    tool_say(stderr, "faultloc: %s: line %u, column %u: not JSON: %s", file, line, column, what);
}

static enum tool_exit parse(const char *file, const struct bytes *b, struct json_object **out)
{
    struct json_tokener *tok = json_tokener_new_ex(TOOL_DEPTH_MAX + 2);
    enum json_tokener_error error;

    if (!tok) {
        tool_say(stderr, "faultloc: %s: out of memory", file);
        return TOOL_TROUBLE;
    }
    json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    /* with the zero byte, which ends what is a number only */
    *out = json_tokener_parse_ex(tok, b->at, (int) b->len + 1);
    error = json_tokener_get_error(tok);
    if (error == json_tokener_continue || error == json_tokener_error_parse_eof)
        say_where(file, b, b->len, "unexpected end of file");
    else if (error != json_tokener_success)
        say_where(file, b, json_tokener_get_parse_end(tok), json_tokener_error_desc(error));
    json_tokener_free(tok);
    if (error == json_tokener_success)
        return TOOL_OK;
    json_object_put(*out);
    *out = NULL;
    return TOOL_INVALID;
}

enum tool_exit tool_read(const char *file, struct json_object **out)
{
    struct bytes b = {0};
    enum tool_exit code = TOOL_INVALID;
    int rc = faultloc_read_file(file, TOOL_BYTES_MAX, &b.at, &b.len);

    *out = NULL;
    if (rc == EFBIG) {
        tool_say(stderr, "faultloc: %s: larger than %u MiB, the limit for a report", file,
                 TOOL_BYTES_MAX / 1024 / 1024);
    } else if (rc) {
        tool_say(stderr, "faultloc: %s: %s", file, strerror(rc));
        code = TOOL_TROUBLE;
    } else if (memchr(b.at, '\0', b.len)) {
        tool_say(stderr, "faultloc: %s: not JSON: it has zero bytes", file);
    } else if (look_over(file, &b)) {
        code = parse(file, &b, out);
    }
    free(b.at);
    return code;
}

char *tool_clean(char *s)
{
    ftree_text_ascii(s);
    return s;
}

void tool_say(FILE *to, const char *format, ...)
{
    char line[8192];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    fprintf(to, "%s\n", tool_clean(line));
}

bool tool_print_json(struct json_object *o, int flags)
{
    char *text = ftree_report_json_text(o, flags | JSON_C_TO_STRING_NOSLASHESCAPE);

    if (text)
        puts(text);
    free(text);
    return text != NULL;
}

struct json_object *tool_member(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;

    json_object_object_get_ex(object, key, &value);
    return value;
}

const char *tool_string(struct json_object *object, const char *key)
{
    struct json_object *member = tool_member(object, key);

    return json_object_is_type(member, json_type_string) ? json_object_get_string(member) : "";
}

enum tool_exit tool_wrong(const char *command, const char *what, const char *which)
{
    tool_say(stderr, "faultloc %s: %s%.200s; see faultloc %s --help", command, what, which,
             command);
    return TOOL_TROUBLE;
}
