/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include "faultloc/base/say.h"
#include "ftree/rules/rules_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_MEMORY "out of memory"

static bool wrong(char why[SITE_WHY_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool wrong(char why[SITE_WHY_MAX], const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, SITE_WHY_MAX, format, args);
    va_end(args);
    return false;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool may_be_used(int fd, char why[SITE_WHY_MAX])
{
    struct stat s;

    if (fstat(fd, &s))
        return wrong(why, "%s", strerror(errno));
    if (!S_ISREG(s.st_mode))
        return wrong(why, "it is not a file");
    if (s.st_uid != geteuid() && s.st_uid != 0)
        return wrong(why, "it belongs to another user");
    if (s.st_mode & (S_IRWXG | S_IRWXO))
        return wrong(why, "others than its owner have access to it (mode %04o); do: chmod 600",
                     (unsigned) (s.st_mode & 07777));
    return true;
}

/* Of two members of one name json-c takes the last and says nothing, so the text is looked through as a
 * rule base is.  Neither quotes the text. */
static struct json_object *parse(const char *text, size_t len, char why[SITE_WHY_MAX])
{
    struct json_tokener *t;
    struct json_object *o;
    int line, column;
    size_t at;
    const char *what = rules_place_scan(text, len, NULL, &at);

    if (what) {
        rules_place_line(text, len, at, &line, &column);
        wrong(why, "line %d: %s", line, what);
        return NULL;
    }
    t = json_tokener_new_ex(RULES_DEPTH_MAX);
    o = t ? json_tokener_parse_ex(t, text, (int) len + 1) : NULL;
    if (!o)
        wrong(why, "%s", t ? json_tokener_error_desc(json_tokener_get_error(t)) : NO_MEMORY);
    if (t)
        json_tokener_free(t);
    return o;
}

struct json_object *site_config_load(const char *path, char why[SITE_WHY_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
    struct json_object *o = NULL;
    char *text = NULL;
    size_t len;

    if (fd < 0) {
        wrong(why, "%s", strerror(errno));
        return NULL;
    }
    if (may_be_used(fd, why)) {
        rc = faultloc_read_whole(fd, SITE_FILE_MAX, &text, &len);
        if (rc)
            wrong(why, "%s", rc == EFBIG ? "it is larger than 1 MiB" : strerror(rc));
        else
            o = parse(text, len, why);
    }
    if (text)
        explicit_bzero(text, len);
    free(text);
    close(fd);
    return o;
}

/* ---- what is in it --------------------------------------------------------------------------- */

static bool has_only(struct json_object *o, const char *const *keys, const char *where,
                     char why[SITE_WHY_MAX])
{
    json_object_object_foreach(o, key, value) {
        size_t i = 0;
        (void) value;
        while (keys[i] && strcmp(keys[i], key))
            i++;
        if (!keys[i])
            return wrong(why, "%s: there is no member \"%.40s\"", where, key);
    }
    return true;
}

static const struct {
    const char *name;
    site_handler_fn *run;
    bool at_home;
} own[] = {
#define ROW(word, home) {#word, site_##word, home},
    SITE_OWN(ROW)
#undef ROW
};

#define WORD(word, home) #word ", "
static const char words[] = SITE_OWN(WORD);
#undef WORD

static bool read_program(struct site_handler *h, struct json_object *o, char why[SITE_WHY_MAX])
{
    const char *ask = faultloc_text(o, "ask");

    h->program = faultloc_text(o, "program");
    for (size_t i = 0; ask && i < sizeof(own) / sizeof(own[0]); i++)
        if (!strcmp(ask, own[i].name))
            h->run = own[i].run, h->at_home = own[i].at_home;
    if (!h->program == !h->run)
        return wrong(why, "handler %s: it needs \"ask\" (%.*s) or \"program\"", h->name,
                     (int) sizeof(words) - 3, words);
    return !h->program || *h->program == '/' ||
           wrong(why, "handler %s: \"program\" must begin with /", h->name);
}

static bool read_deadline(struct site_handler *h, struct json_object *o, char why[SITE_WHY_MAX])
{
    struct json_object *v;

    h->deadline_ms = SITE_DEADLINE_MS;
    if (!json_object_object_get_ex(o, "deadline_ms", &v))
        return true;
    h->deadline_ms = json_object_is_type(v, json_type_int) ? json_object_get_int(v) : 0;
    return (h->deadline_ms >= 100 && h->deadline_ms <= SITE_DEADLINE_MOST_MS) ||
           wrong(why, "handler %s: \"deadline_ms\" must be 100 to %d", h->name,
                 SITE_DEADLINE_MOST_MS);
}

/* A handler for other nodes is no error: *fits. */
static bool read_list(const struct site_handler *h, struct json_object *o, const char *key,
                      const char *node, bool *fits, char why[SITE_WHY_MAX])
{
    struct json_object *v;
    const char *list = faultloc_text(o, key);
    enum site_map found = list ? site_map_has(list, node) : SITE_MAP_FOUND;

    if (found == SITE_MAP_WRONG || (!list && json_object_object_get_ex(o, key, &v)))
        return wrong(why, "handler %s: \"%s\" must be a list of nodes, as c[01-64]", h->name, key);
    *fits = found == SITE_MAP_FOUND;
    return true;
}

/* A setting may be null. */
static bool add_copy(struct json_object *request, const char *key, struct json_object *v)
{
    struct json_object *copy = NULL;

    if (v && json_object_deep_copy(v, &copy, NULL))
        return false;
    return v ? faultloc_json_set(request, key, copy) : !json_object_object_add(request, key, NULL);
}

/* Of a string or of several the first that has the node. */
static bool add_mapped(struct site_handler *h, const char *key, struct json_object *v,
                       const char *node, char why[SITE_WHY_MAX])
{
    bool several = json_object_is_type(v, json_type_array), added = false;
    size_t n = several ? json_object_array_length(v) : 1;
    char name[256];

    for (size_t i = 0; i < n; i++) {
        struct json_object *one = several ? json_object_array_get_idx(v, i) : v;
        const char *text =
            json_object_is_type(one, json_type_string) ? json_object_get_string(one) : "";
        enum site_map found = site_map(text, node, name, sizeof(name));
        if (found == SITE_MAP_WRONG)
            return wrong(why, "handler %s: \"%.40s\" of \"of_node\" must be as c[1-9] -> b[1-9]",
                         h->name, key);
        if (found == SITE_MAP_FOUND && !added &&
            !(added = faultloc_json_set(h->request, key, json_object_new_string(name))))
            return wrong(why, NO_MEMORY);
    }
    if (!added)
        snprintf(h->why, sizeof(h->why), "\"of_node\" has no \"%.40s\" of this node", key);
    return true;
}

static bool add_settings(struct site_handler *h, struct json_object *o, const char *node,
                         char why[SITE_WHY_MAX])
{
    struct json_object *settings, *of_node;

    if (json_object_object_get_ex(o, "settings", &settings)) {
        if (!json_object_is_type(settings, json_type_object))
            return wrong(why, "handler %s: \"settings\" must be an object", h->name);
        json_object_object_foreach(settings, key, value)
            if (!add_copy(h->request, key, value))
                return wrong(why, NO_MEMORY);
    }
    if (!json_object_object_get_ex(o, "of_node", &of_node))
        return true;
    if (!json_object_is_type(of_node, json_type_object))
        return wrong(why, "handler %s: \"of_node\" must be an object", h->name);
    json_object_object_foreach(of_node, name, v)
        if (!add_mapped(h, name, v, node, why))
            return false;
    return true;
}

static bool make_request(struct site_handler *h, struct json_object *o,
                         const struct site_question *q, char why[SITE_WHY_MAX])
{
    struct json_object *r = h->request = json_object_new_object();
    bool whole;

    if (!r)
        return wrong(why, NO_MEMORY);
    if (!add_settings(h, o, q->node, why))
        return false;
    whole = faultloc_json_set(r, "schema", json_object_new_string("faultloc-handler-request/1")) &&
            faultloc_json_set(r, "node", json_object_new_string(q->node)) &&
            faultloc_json_set(r, "deadline_ms", json_object_new_int(h->deadline_ms)) &&
            faultloc_json_set(r, "since_unix_ms", json_object_new_int64(q->since_ms));
    if (q->limits && *q->limits)
        whole &= faultloc_json_set(r, "limits", json_object_new_string(q->limits));
    json_object_object_del(r, "ranks");
    if (q->ranks && h->at_home)
        whole &= faultloc_json_set(r, "ranks", json_object_new_string(q->ranks));
    if (*h->why) {
        json_object_put(r);
        h->request = NULL;
    }
    return whole || wrong(why, NO_MEMORY);
}

static bool read_name(struct site_handler *h, struct json_object *o, char why[SITE_WHY_MAX])
{
    h->name = json_object_is_type(o, json_type_object) ? faultloc_text(o, "name") : NULL;
    return (h->name && *h->name && strlen(h->name) <= SITE_NAME_MAX &&
            strspn(h->name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == strlen(h->name)) ||
           wrong(why, "each of \"handlers\" needs a \"name\", a-z, 0-9, - and _, at most %d",
                 SITE_NAME_MAX);
}

static bool read_handler(struct site_config *c, struct json_object *o,
                         const struct site_question *q, char why[SITE_WHY_MAX])
{
    static const char *const keys[] = {"name",     "ask",     "program", "deadline_ms", "nodes",
                                       "from",     "settings", "of_node", NULL};
    struct site_handler *h = &c->handler[c->n];
    bool of_node = true, from = true, at_home = !strcmp(q->node, q->from);
    char where[64];

    *h = (struct site_handler){.name = NULL};
    if (!read_name(h, o, why))
        return false;
    snprintf(where, sizeof(where), "handler %s", h->name);
    if (!has_only(o, keys, where, why) || !read_program(h, o, why) || !read_deadline(h, o, why) ||
        !read_list(h, o, "nodes", q->node, &of_node, why) ||
        !read_list(h, o, "from", q->from, &from, why))
        return false;
    if (!of_node || (!q->all && h->at_home != at_home))
        return true;
    c->n++;
    if (h->at_home && !at_home) {
        snprintf(h->why, sizeof(h->why), "asked on the node itself alone");
        return true;
    }
    if (from)
        return make_request(h, o, q, why);
    snprintf(h->why, sizeof(h->why), "not asked: \"from\" does not have the asking node");
    return true;
}

bool site_config_read(struct site_config *c, struct json_object *root,
                      const struct site_question *q, char why[SITE_WHY_MAX])
{
    static const char *const keys[] = {"handlers", NULL};
    struct json_object *list = NULL;
    size_t n;

    *c = (struct site_config){.root = root};
    if (!json_object_is_type(root, json_type_object) ||
        !json_object_object_get_ex(root, "handlers", &list) ||
        !json_object_is_type(list, json_type_array))
        return wrong(why, "it must be an object with a list \"handlers\"");
    n = json_object_array_length(list);
    if (n > SITE_HANDLERS_MAX)
        return wrong(why, "\"handlers\" has %zu elements, at most %d are possible", n,
                     SITE_HANDLERS_MAX);
    if (!has_only(root, keys, "the file", why))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!read_handler(c, json_object_array_get_idx(list, i), q, why))
            return false;
    return true;
}

void site_config_free(struct site_config *c)
{
    for (int i = 0; i < SITE_HANDLERS_MAX; i++)
        json_object_put(c->handler[i].request);
    json_object_put(c->root);
}
