/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "agent_socket.h"

#include "faultloc/base/say.h"
#include "ftree/rules/rules.h"
#include "ftree/survey/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * faultloc set: changes settings of a running job, on all of its nodes.  What can be seen to be
 * wrong is refused here; a rule base is read here first, and then by the agent and by the acting
 * root.
 */

#define PATIENCE_MS 60000 /* the agent's is shorter */

const char tool_set_usage[] =
    "Usage: faultloc set [OPTION]... SETTING=VALUE...\n"
    "\n"
    "Changes settings of a running job, on all its nodes, until it ends. The job's owner and root may\n"
    "do so. Reports and the job's standard error say who has set what.\n"
    "\n"
    "  action=report|abort  what happens when a fault is located, as MPIR_CVAR_FAULTLOC_ACTION; abort\n"
    "                       ends the job because of verdicts that stand already, too, after\n"
    "                       MPIR_CVAR_FAULTLOC_PATIENCE_MS\n"
    "  stall-ms=N           as MPIR_CVAR_FAULTLOC_STALL_MS, 100 to 3600000\n"
    "  rules=FILE           the rule base, a file of this host, up to 128 KiB; from then on the job's own\n"
    "                       file (MPIR_CVAR_FAULTLOC_RULES) is not followed; rules= the built-in one\n"
    "  --job ID             the job (default: the only one of this user on this host)\n"
    "  --user USER          the owner of the job, a name or a number (default: this user; for root any\n"
    "                       user)\n"
    "  --node NAME          the node whose agent is asked (default: one on this host)\n"
    "  --help               this text\n"
    "\n"
    "Exit code: 0 set on all nodes, 1 refused, or not on all (those that come back get it then), 2 wrong\n"
    "usage, a file that cannot be read, no such job, or no answer.\n";

struct options {
    const char *action, *stall, *rules;
};

/* ---- rules ----------------------------------------------------------------------------------- */

/* All of a regular file, at most FTREE_SET_RULES_MAX bytes; NULL: *why says what is wrong. */
static char *read_file(const char *file, size_t *len, const char **why)
{
    char *text = NULL;
    struct stat st;
    int rc = stat(file, &st) ? errno : 0;

    *len = 0;
    *why = NULL;
    if (!rc && S_ISREG(st.st_mode))
        rc = faultloc_read_file(file, FTREE_SET_RULES_MAX, &text, len);
    if (!rc && *len > 0)
        return text;
    *why = rc == EFBIG              ? "is larger than 128 KiB, the limit here"
           : rc                     ? strerror(rc)
           : !S_ISREG(st.st_mode)   ? "is not a regular file"
                                    : "is empty";
    free(text);
    return NULL;
}

/* *text is then the caller's. */
static enum tool_exit take_rules(const char *file, char **text, size_t *len)
{
    struct ftree_setting s = {.changed = FTREE_SET_RULES};
    const char *reason;
    char why[320];

    if (!file || !*file)
        return TOOL_OK;
    *text = read_file(file, len, &reason);
    if (!*text) {
        tool_say(stderr, "faultloc set: %s: %s", file, reason);
        return TOOL_TROUBLE;
    }
    s.rules = *text;
    s.rules_len = *len;
    if (!ftree_setting_check(&s, why, sizeof(why)))
        return TOOL_OK;
    tool_say(stderr, "faultloc set: %s: %s", file, why);
    free(*text);
    *text = NULL;
    return TOOL_INVALID;
}

/* ---- the request ----------------------------------------------------------------------------- */

static void compose(const struct options *o, size_t rules_len, char *out, size_t room)
{
    int at = snprintf(out, room, FAULTLOC_SET_REQUEST "{");
    const char *comma = "";

    if (o->action)
        at += snprintf(out + at, room - (size_t) at, "\"action\": \"%s\"", o->action), comma = ", ";
    if (o->stall)
        at += snprintf(out + at, room - (size_t) at, "%s\"stall_ms\": %s", comma, o->stall),
            comma = ", ";
    if (o->rules)
        at += snprintf(out + at, room - (size_t) at, "%s\"rules\": %zu", comma, rules_len);
    snprintf(out + at, room - (size_t) at, "}}");
}

static enum tool_exit print_result(const struct agent_socket *d, const char *text)
{
    struct json_object *o = json_tokener_parse(text);
    int answered = json_object_get_int(tool_member(o, "answered"));
    int nodes = json_object_get_int(tool_member(o, "nodes"));
    bool is_result = json_object_is_type(o, json_type_object) && nodes > 0;

    json_object_put(o);
    if (!is_result) {
        tool_say(stderr, "faultloc set: refused by the agent of node %s of job %s: %s", d->node,
                 d->job, text);
        return TOOL_INVALID;
    }
    tool_say(stdout, "set on %d of %d %s of job %s%s", answered, nodes,
             nodes == 1 ? "node" : "nodes", d->job,
             answered < nodes ? "; the others do not answer, or are lost" : "");
    return answered < nodes ? TOOL_INVALID : TOOL_OK;
}

static enum tool_exit set(const struct agent_socket *d, const struct options *o, const char *rules,
                          size_t len)
{
    char request[256], *text;
    enum agent_answer answer;
    enum tool_exit code;

    compose(o, len, request, sizeof(request));
    answer = tool_agent_ask(d, request, rules, len, PATIENCE_MS, &text);
    if (answer == ANSWERED)
        code = print_result(d, text);
    else
        code = tool_agent_silent("set", d, answer,
                                 answer == NO_ANSWER_YET
                                     ? ", and may still set it"
                                     : ", or takes no requests from this user");
    free(text);
    return code;
}

/* ---- options --------------------------------------------------------------------------------- */

static bool is_stall(const char *text)
{
    size_t len = strlen(text);
    long ms;

    if (len == 0 || len > 7 || strspn(text, "0123456789") != len || text[0] == '0')
        return false;
    ms = strtol(text, NULL, 10);
    return ms >= FTREE_STALL_MS_MIN && ms <= FTREE_STALL_MS_MAX;
}

static enum tool_exit take_setting(struct options *o, const char *word)
{
    const struct {
        const char *name, **to;
    } known[] = {{"action=", &o->action}, {"stall-ms=", &o->stall}, {"rules=", &o->rules}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        size_t len = strlen(known[i].name);
        if (strncmp(word, known[i].name, len))
            continue;
        if (*known[i].to)
            return tool_wrong("set", "given twice: ", word);
        *known[i].to = word + len;
        return TOOL_OK;
    }
    return tool_wrong("set", "no such setting (action=, stall-ms=, rules=): ", word);
}

static enum tool_exit check(const struct options *o)
{
    if (!o->action && !o->stall && !o->rules)
        return tool_wrong("set", "missing SETTING=VALUE", "");
    if (o->action && strcmp(o->action, "abort") && strcmp(o->action, "report"))
        return tool_wrong("set", "action must be abort or report, not ", o->action);
    if (o->stall && !is_stall(o->stall))
        return tool_wrong("set", "stall-ms must be a whole number from 100 to 3600000, not ",
                          o->stall);
    return TOOL_OK;
}

static enum tool_exit read_options(int n, char **arguments, struct agent_choice *c,
                                   struct options *o)
{
    for (int i = 0; i < n; i++) {
        if (tool_agent_option(n, arguments, &i, c))
            continue;
        if (arguments[i][0] == '-')
            return tool_wrong("set", "no such option: ", arguments[i]);
        if (take_setting(o, arguments[i]))
            return TOOL_TROUBLE;
    }
    return tool_agent_check(c) ? TOOL_TROUBLE : check(o);
}

enum tool_exit tool_set(int n, char **arguments)
{
    struct agent_choice c = {.command = "set", .any_node = true};
    struct options o = {0};
    const struct agent_socket *d;
    char *rules = NULL;
    size_t len = 0;
    enum tool_exit code;

    if (read_options(n, arguments, &c, &o))
        return TOOL_TROUBLE;
    code = take_rules(o.rules, &rules, &len);
    if (code)
        return code;
    d = tool_agent_pick(&c);
    code = d ? set(d, &o, rules, len) : TOOL_TROUBLE;
    free(rules);
    return code;
}
