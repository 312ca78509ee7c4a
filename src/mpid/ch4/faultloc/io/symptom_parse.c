/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/symptom_socket.h"

#include "ftree/base/text.h"
#include "ftree/report/report.h"
#include "ftree/topology/tree.h"

#include <json.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEPTH 3
#define AGE_MAX_MS 3600000
#define COUNT_MAX 1000000000

struct reader {
    const struct ftree_job *job;
    int32_t self;
    ftree_time now;
    struct ftree_symptom *s;
    const char *component; /* NULL: none was given */
    char *error;
};

static bool fail(const struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(const struct reader *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(r->error, FAULTLOC_SYMPTOM_ERROR, format, args);
    va_end(args);
    ftree_text_ascii(r->error);
    return false;
}

/* ---- members --------------------------------------------------------------------------------- */

static bool get_string(const struct reader *r, const char *key, struct json_object *v,
                       const char **out)
{
    if (!json_object_is_type(v, json_type_string))
        return fail(r, "\"%s\" must be a string", key);
    *out = json_object_get_string(v);
    if (strlen(*out) != (size_t) json_object_get_string_len(v))
        return fail(r, "\"%s\" has a zero byte", key);
    return true;
}

static bool get_number(const struct reader *r, const char *key, struct json_object *v,
                       int64_t least, int64_t most, int64_t *out)
{
    *out = json_object_get_int64(v);
    if (!json_object_is_type(v, json_type_int) || *out < least || *out > most)
        return fail(r, "\"%s\" must be a whole number from %lld to %lld", key, (long long) least,
                    (long long) most);
    return true;
}

static bool read_kind(struct reader *r, struct json_object *v)
{
    const char *name = NULL;
    int kind;

    if (!get_string(r, "kind", v, &name))
        return false;
    kind = ftree_symptom_by_name(name);
    if (kind < 0)
        return fail(r, "no such kind of symptom: \"%.60s\"; `faultloc symptom --list` lists them",
                    name);
    r->s->kind = (uint8_t) kind;
    return true;
}

static bool read_severity(struct reader *r, struct json_object *v)
{
    const char *name = NULL;
    int severity;

    if (!get_string(r, "severity", v, &name))
        return false;
    severity = ftree_severity_by_name(name);
    if (severity < 0)
        return fail(r,
                    "no such severity: \"%.60s\"; the severities are info, warning, error, fatal",
                    name);
    r->s->severity = (uint8_t) severity;
    return true;
}

static bool read_error(struct reader *r, struct json_object *v)
{
    const char *name = NULL;
    int64_t number;

    if (json_object_is_type(v, json_type_int)) {
        if (!get_number(r, "errno", v, 0, 4095, &number))
            return false;
        r->s->error = (int32_t) number;
        return true;
    }
    if (!get_string(r, "errno", v, &name))
        return false;
    r->s->error = ftree_report_errno_number(name);
    return r->s->error ? true : fail(r, "unknown errno \"%.60s\"; give its number", name);
}

static bool read_detail(struct reader *r, struct json_object *v)
{
    const char *text = NULL;

    if (!get_string(r, "detail", v, &text))
        return false;
    snprintf(r->s->detail, sizeof(r->s->detail), "%s", text);
    ftree_text_ascii(r->s->detail);
    return true;
}

static bool read_age(struct reader *r, struct json_object *v)
{
    int64_t ms;

    if (!get_number(r, "age_ms", v, 0, AGE_MAX_MS, &ms))
        return false;
    r->s->first = r->s->last =
        r->now > (ftree_time) ms * FTREE_MS ? r->now - (ftree_time) ms * FTREE_MS : 0;
    return true;
}

static bool read_count(struct reader *r, struct json_object *v)
{
    int64_t n;

    if (!get_number(r, "count", v, 1, COUNT_MAX, &n))
        return false;
    r->s->count = (uint32_t) n;
    return true;
}

static bool read_component(struct reader *r, struct json_object *v)
{
    return get_string(r, "component", v, &r->component);
}

static const struct {
    const char *name;
    bool (*read)(struct reader *r, struct json_object *v);
} members[] = {
    {"kind", read_kind},     {"component", read_component}, {"severity", read_severity},
    {"detail", read_detail}, {"errno", read_error},         {"age_ms", read_age},
    {"count", read_count},
};

/* ---- components ------------------------------------------------------------------------------ */

/* Up to `len` bytes of a name. */
static int32_t find_node(const struct ftree_job *job, const char *name, size_t len)
{
    char buf[16];

    for (int32_t n = 0; n < job->nodes; n++) {
        const char *is = ftree_node_name(job, n, buf, sizeof(buf));
        if (strlen(is) == len && !memcmp(is, name, len))
            return n;
    }
    return FTREE_NONE;
}

static bool about_rank(struct reader *r, const char *name)
{
    int64_t rank = 0;

    for (const char *c = name; *c; c++) {
        if (*c < '0' || *c > '9' || rank >= r->job->size)
            return fail(r, "the job has no rank \"%.40s\": it has ranks 0 to %d", name,
                        (int) r->job->size - 1);
        rank = 10 * rank + *c - '0';
    }
    if (!*name || rank >= r->job->size)
        return fail(r, "the job has no rank \"%.40s\": it has ranks 0 to %d", name,
                    (int) r->job->size - 1);
    r->s->about.rank = (int32_t) rank;
    r->s->about.node = r->job->rank_node ? r->job->rank_node[rank] : (int32_t) rank;
    return true;
}

static bool about_switch(struct reader *r, const char *name)
{
    const struct ftree_tree *t = r->job->tree;

    if (!t)
        return fail(r, "the job has no switches: it has no topology file "
                       "(MPIR_CVAR_FAULTLOC_TOPOLOGY)");
    for (int32_t i = 0; i < t->switches; i++) {
        if (strcmp(t->switch_name[i], name))
            continue;
        if (t->switch_head[i] == FTREE_NONE)
            return fail(r, "no node of the job is behind switch \"%.60s\"", name);
        r->s->about.switch_ = i;
        r->s->about.node = t->switch_head[i];
        return true;
    }
    return fail(r, "the topology file has no switch \"%.60s\"", name);
}

/* Puts the interface before the description. */
static void note_interface(struct ftree_symptom *s, const char *interface)
{
    char detail[FTREE_DETAIL_MAX];

    snprintf(detail, sizeof(detail), "%.20s%s%.70s", interface, s->detail[0] ? ": " : "",
             s->detail);
    memcpy(s->detail, detail, sizeof(s->detail));
    ftree_text_ascii(s->detail);
}

/* A node's name may have colons in it, an interface's does not begin after the first one alone. */
static bool about_node(struct reader *r, const char *name)
{
    bool with_interface = r->s->about.kind != FTREE_KIND_NODE;
    const char *colon = with_interface ? strrchr(name, ':') : NULL;

    r->s->about.node = find_node(r->job, name, strlen(name));
    if (r->s->about.node == FTREE_NONE && colon) {
        r->s->about.node = find_node(r->job, name, (size_t) (colon - name));
        note_interface(r->s, colon + 1);
    }
    return r->s->about.node != FTREE_NONE ? true : fail(r, "the job has no node \"%.60s\"", name);
}

static bool find_component(struct reader *r)
{
    char kind[16];
    size_t len = strcspn(r->component, " ");
    const char *name = r->component + len + (r->component[len] == ' ');
    int number;

    snprintf(kind, sizeof(kind), "%.*s", len < sizeof(kind) ? (int) len : 0, r->component);
    number = ftree_kind_by_name(kind);
    if (number < 0 || !*name)
        return fail(r,
                    "\"%.60s\" is not a component: \"node NAME\", \"rank N\", "
                    "\"nic NAME[:INTERFACE]\", \"link NAME[:INTERFACE]\" or \"switch NAME\"",
                    r->component);
    r->s->about.kind = (uint8_t) number;
    if (number == FTREE_KIND_RANK)
        return about_rank(r, name);
    return number == FTREE_KIND_SWITCH ? about_switch(r, name) : about_node(r, name);
}

/* Of the own node: what symptoms of this kind are about. */
static bool own_component(struct reader *r)
{
    const struct ftree_symptom_info *info = ftree_symptom_info(r->s->kind);
    const struct ftree_job *job = r->job;
    int32_t ranks = job->node_first ? job->node_first[r->self + 1] - job->node_first[r->self] : 1;

    r->s->about.node = r->self;
    r->s->about.kind = info->kind;
    if (info->kind == FTREE_KIND_RANK) {
        if (ranks != 1)
            return fail(r, "%s is about a rank, and this node has %d: give a \"component\"",
                        info->name, (int) ranks);
        r->s->about.rank = job->node_first ? job->node_ranks[job->node_first[r->self]] : r->self;
    }
    if (info->kind != FTREE_KIND_SWITCH)
        return true;
    r->s->about.switch_ = job->tree ? job->tree->node_switch[r->self] : FTREE_NONE;
    if (r->s->about.switch_ == FTREE_NONE)
        return fail(r,
                    "%s is about a switch, and the switch of this node is not known: give a "
                    "\"component\"",
                    info->name);
    r->s->about.node = job->tree->switch_head[r->s->about.switch_];
    return true;
}

/* ---- the datagram ---------------------------------------------------------------------------- */

static struct json_object *parse(const struct reader *r, const char *text, size_t len)
{
    struct json_tokener *tok = json_tokener_new_ex(DEPTH);
    enum json_tokener_error error;
    struct json_object *o;

    if (!tok) {
        fail(r, "out of memory");
        return NULL;
    }
    json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
    o = json_tokener_parse_ex(tok, text, (int) len);
    error = json_tokener_get_error(tok);
    if (error == json_tokener_continue)
        fail(r, "not JSON: unexpected end of file");
    else if (error != json_tokener_success)
        fail(r, "not JSON: %s", json_tokener_error_desc(error));
    else if (!json_object_is_type(o, json_type_object))
        fail(r, "not a JSON object");
    json_tokener_free(tok);
    if (error == json_tokener_success && json_object_is_type(o, json_type_object))
        return o;
    json_object_put(o);
    return NULL;
}

static bool read_members(struct reader *r, struct json_object *o)
{
    struct json_object *v;
    int known = 0;

    if (!json_object_object_get_ex(o, "kind", &v))
        return fail(r, "\"kind\" is missing");
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (!json_object_object_get_ex(o, members[i].name, &v))
            continue;
        known++;
        if (!members[i].read(r, v))
            return false;
        if (i == 0) /* which says what else is to be expected */
            r->s->severity = ftree_symptom_info(r->s->kind)->severity;
    }
    if (json_object_object_length(o) > known)
        return fail(r, "unknown member; the members are kind, component, severity, detail, errno, "
                       "age_ms and count");
    return r->component ? find_component(r) : own_component(r);
}

bool faultloc_symptom_parse(const struct ftree_job *job, int32_t self, ftree_time now,
                            const char *text, size_t len, struct ftree_symptom *s, char *error)
{
    struct reader r = {.job = job, .self = self, .now = now, .s = s, .error = error};
    struct json_object *o;
    bool fine;

    *s = (struct ftree_symptom){.about = {.rank = FTREE_NONE, .switch_ = FTREE_NONE},
                                .count = 1,
                                .first = now,
                                .last = now};
    /* json-c ends at a zero byte, and takes a number for whole only at one */
    if (memchr(text, '\0', len))
        return fail(&r, "not JSON: it has zero bytes");
    if (len > FAULTLOC_SYMPTOM_BYTES)
        return fail(&r, "longer than %d bytes", FAULTLOC_SYMPTOM_BYTES);
    o = parse(&r, text, len);
    if (!o)
        return false;
    fine = read_members(&r, o);
    json_object_put(o);
    return fine;
}

bool faultloc_component_parse(const struct ftree_job *job, int32_t self, const char *name,
                              struct ftree_component *out, char *error)
{
    struct ftree_symptom s = {.about = {.rank = FTREE_NONE, .switch_ = FTREE_NONE}};
    struct reader r = {.job = job, .self = self, .s = &s, .component = name, .error = error};
    bool fine = find_component(&r);

    *out = s.about;
    return fine;
}
