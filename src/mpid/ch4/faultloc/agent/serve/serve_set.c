/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/serve/serve_set.h"

#include "faultloc/agent/report/json.h"
#include "faultloc/agent/report/reporter.h"
#include "faultloc/agent/act/stop_job.h"
#include "faultloc/base/say.h"
#include "faultloc/io/symptom_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the request ----------------------------------------------------------------------------- */

static const char *read_action(struct json_object *v, struct ftree_setting *s)
{
    const char *name = json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";

    s->changed |= FTREE_SET_ACTION;
    s->abort = !strcmp(name, "abort");
    return s->abort || !strcmp(name, "report") ? NULL : "action must be abort or report";
}

/* False: not a whole number of this range. */
static bool read_number(struct json_object *v, int64_t least, int64_t most, int64_t *n)
{
    *n = json_object_get_int64(v);
    return json_object_is_type(v, json_type_int) && *n >= least && *n <= most;
}

static const char *read_stall(struct json_object *v, struct ftree_setting *s)
{
    int64_t ms;

    if (!read_number(v, FTREE_STALL_MS_MIN, FTREE_STALL_MS_MAX, &ms))
        return "stall-ms must be a whole number from 100 to 3600000";
    s->changed |= FTREE_SET_STALL;
    s->stall_ms = (uint32_t) ms;
    return NULL;
}

static const char *read_rules(struct json_object *v, struct ftree_setting *s)
{
    int64_t bytes;

    if (!read_number(v, 0, FTREE_SET_RULES_MAX, &bytes))
        return "a rule base for all nodes can have up to 128 KiB";
    s->changed |= FTREE_SET_RULES;
    s->rules_len = (size_t) bytes;
    return NULL;
}

static const char *read_members(struct json_object *set, struct ftree_setting *s)
{
    const char *wrong = NULL;

    json_object_object_foreach (set, key, v) {
        wrong = !strcmp(key, "action")     ? read_action(v, s)
                : !strcmp(key, "stall_ms") ? read_stall(v, s)
                : !strcmp(key, "rules")    ? read_rules(v, s)
                                           : "unknown member; the members are action, stall_ms "
                                             "and rules";
        if (wrong)
            return wrong;
    }
    return s->changed ? NULL : "nothing is to be set";
}

static const char *read_request(const char *text, size_t len, struct ftree_setting *s)
{
    struct json_tokener *tok = json_tokener_new_ex(4);
    struct json_object *o = NULL, *set = NULL;
    const char *wrong = "not a request: {\"set\": {...}}";

    if (tok && !memchr(text, '\0', len)) {
        json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
        o = json_tokener_parse_ex(tok, text, (int) len);
    }
    if (json_object_is_type(o, json_type_object) && json_object_object_length(o) == 1 &&
        json_object_object_get_ex(o, "set", &set) && json_object_is_type(set, json_type_object))
        wrong = read_members(set, s);
    json_object_put(o);
    if (tok)
        json_tokener_free(tok);
    return wrong;
}

/* The rules lie there already, in one packet; what does not is not waited for. */
static const char *receive_rules(int fd, struct ftree_setting *s, char **text)
{
    ssize_t n;

    if (s->rules_len == 0)
        return NULL;
    *text = malloc(s->rules_len + 1);
    if (!*text)
        return "out of memory";
    n = recv(fd, *text, s->rules_len + 1, MSG_DONTWAIT);
    if (n != (ssize_t) s->rules_len)
        return "the request has no rule base";
    s->rules = *text;
    return NULL;
}

static const char *query(struct faultloc_sets *s, ftree_time now, const struct ftree_setting *set,
                         uint32_t *number)
{
    void *bytes = malloc(FTREE_SETTING_BYTES + set->rules_len);
    int rc = FTREE_ERR_NOMEM;

    if (bytes)
        rc = ftree_query(s->p->ft, now, FTREE_QUERY_SET, bytes, ftree_setting_encode(set, bytes),
                         number);
    free(bytes);
    return rc ? ftree_strerror(rc) : NULL;
}

static const char *pass_on(struct faultloc_sets *s, ftree_time now, const char *text, size_t len,
                           uid_t uid, int fd, char **rules, char *error, uint32_t *number)
{
    struct ftree_setting set = {.version = s->version, .uid = (uint32_t) uid};
    const char *wrong = read_request(text, len, &set);

    set.has = set.changed;
    if (!wrong)
        wrong = receive_rules(fd, &set, rules);
    if (!wrong && ftree_setting_check(&set, error, FAULTLOC_SYMPTOM_ERROR))
        wrong = error;
    return wrong ? wrong : query(s, now, &set, number);
}

const char *faultloc_sets_take(struct faultloc_sets *s, ftree_time now, const char *text,
                               size_t len, uid_t uid, int *reply, char *error)
{
    char *rules = NULL;
    const char *wrong;
    uint32_t number;

    if (*reply < 0)
        return "a request needs a socket for its answer";
    if (s->n == FAULTLOC_SETS_MAX)
        return "too many requests at once";
    wrong = pass_on(s, now, text, len, uid, *reply, &rules, error, &number);
    free(rules);
    if (wrong)
        return wrong;
    s->set[s->n++] = (struct faultloc_set){.reply = *reply, .number = number};
    *reply = -1;
    return "";
}

void faultloc_sets_answered(struct faultloc_sets *s, const struct ftree_query_result *r)
{
    struct json_object *o;
    char *text;

    for (int32_t i = 0; i < s->n; i++) {
        if (s->set[i].number != r->number)
            continue;
        o = json_object_new_object();
        faultloc_json_string(o, "schema", "faultloc-set/1");
        faultloc_json_number(o, "answered", r->answered.count);
        faultloc_json_number(o, "nodes", r->nodes - r->left.count);
        text = faultloc_json_text(o);
        faultloc_symptom_socket_reply(s->set[i].reply, r->refused[0] ? r->refused
                                                       : text        ? text
                                                                     : "out of memory");
        free(text);
        close(s->set[i].reply);
        s->set[i] = s->set[--s->n];
        return;
    }
}

/* ---- the setting ----------------------------------------------------------------------------- */

void faultloc_sets_came(struct faultloc_sets *s, const void *bytes, size_t len, bool reports)
{
    void *copy = malloc(len);

    if (!copy)
        return;
    memcpy(copy, bytes, len);
    free(s->bytes);
    s->bytes = copy;
    s->len = len;
    s->reports = reports;
}

static void use_rules(struct faultloc_sets *s, ftree_time now, const struct ftree_setting *set)
{
    int rc = s->use_rules(s->ctx, now, set->rules, set->rules_len);

    s->has_rules = s->has_rules || !rc;
    if (rc)
        faultloc_say("node %s: rules that were set cannot be used: %s; keeping the previous rules",
                     s->p->job.names[s->p->self], strerror(rc));
}

static void use_action(struct faultloc_sets *s, ftree_time now, const struct ftree_setting *set)
{
    struct faultloc_settings *to = &s->p->board->settings;

    to->action = set->abort ? FAULTLOC_ACTION_ABORT : FAULTLOC_ACTION_REPORT;
    faultloc_stop_job_action(s->stop, now, s->reports);
}

/* What an earlier one has set, which may not have come here, is used as well. */
static void use(struct faultloc_sets *s, ftree_time now, const struct ftree_setting *set)
{
    bool action = s->p->board->settings.action == FAULTLOC_ACTION_ABORT;

    if ((set->has & FTREE_SET_ACTION) && set->abort != action)
        use_action(s, now, set);
    if (set->has & FTREE_SET_STALL) {
        s->p->board->settings.stall = set->stall_ms * FTREE_MS;
        s->p->board->settings.stall_is_set = true;
    }
    if ((set->changed & FTREE_SET_RULES) || ((set->has & FTREE_SET_RULES) && !s->has_rules))
        use_rules(s, now, set);
}

void faultloc_sets_turn(struct faultloc_sets *s, ftree_time now)
{
    void *bytes = s->bytes;
    struct ftree_setting set;

    if (!bytes)
        return;
    s->bytes = NULL;
    if (!ftree_setting_decode(bytes, s->len, &set)) {
        s->version = set.version;
        use(s, now, &set);
        faultloc_board_keep_setting(s->p->board, s->p->board_fd, bytes, s->len);
        faultloc_reporter_change(s->reporter, now, &set, s->reports);
    }
    free(bytes);
}

int faultloc_sets_restore(struct faultloc_sets *s, ftree_time now)
{
    struct ftree_setting set;
    size_t len;
    void *bytes = faultloc_board_setting(s->p->board, s->p->board_fd, &len);
    int rc = 0;

    if (bytes && !ftree_setting_decode(bytes, len, &set)) {
        s->version = set.version;
        rc = ftree_restore_setting(s->p->ft, bytes, len);
        if (set.has & FTREE_SET_RULES)
            use_rules(s, now, &set);
    }
    free(bytes);
    return rc;
}
