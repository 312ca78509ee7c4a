/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include <stdlib.h>
#include <string.h>

/*
 * Handlers: what the scheduler says of a node, by scontrol of Slurm, by pbsnodes of PBS.  A scheduler
 * learns late that a node is lost: "idle" and "allocated" are no evidence, and are said to be none.
 */

#define REASON_MAX 60

static bool has(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = words; (at = strstr(at, word)); at += n)
        if ((at == words || !strchr("abcdefghijklmnopqrstuvwxyz_", at[-1])) &&
            !(at[n] >= 'a' && at[n] <= 'z'))
            return true; /* "powered_down" is not "down" */
    return false;
}

/* The first that a state has counts. */
static const struct {
    const char *word, *symptom;
} states[] = {
    {"down", "node-down"},
    {"fail", "node-down"},
    {"error", "node-down"},
    {"not_responding", "heartbeat-lost"},
    {"no_respond", "heartbeat-lost"},
    {"state-unknown", "heartbeat-lost"},
    {"unknown", "heartbeat-lost"},
    {"stale", "heartbeat-lost"},
    {"drain", "node-drained"},
    {"drained", "node-drained"},
    {"draining", "node-drained"},
    {"offline", "node-drained"},
};

/* Slurm's "*" behind a state: it does not respond. */
static const char *symptom_of(const char *state)
{
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        if (has(state, states[i].word))
            return states[i].symptom;
    return strchr(state, '*') ? "heartbeat-lost" : NULL;
}

static void say(FILE *out, const char *state, const char *reason)
{
    char small[64] = "", text[200];
    const char *symptom;

    for (size_t i = 0; i < sizeof(small) - 1 && state[i]; i++)
        small[i] = (char) (state[i] >= 'A' && state[i] <= 'Z' ? state[i] + 'a' - 'A' : state[i]);
    symptom = symptom_of(small);
    snprintf(text, sizeof(text), "its state is %s%s%.*s%s", small, *reason ? " (" : "", REASON_MAX,
             reason,
             *reason    ? ")"
             : !symptom ? ": no evidence, for a lost node is so at first"
                        : "");
    site_say(out, symptom, text);
}

/* The value behind a key, to one of `ends`; a key begins a word. */
static bool value_of(const char *text, const char *key, const char *ends, char *out, size_t room)
{
    size_t n;

    for (const char *at = text; (at = strstr(at, key)); at++)
        if (at == text || strchr(" \t\n", at[-1])) {
            at += strlen(key);
            at += strspn(at, " ");
            n = strcspn(at, ends);
            snprintf(out, room, "%.*s", (int) n, at);
            return n > 0;
        }
    *out = '\0';
    return false;
}

/* "NodeName=c17 ... State=DOWN*+DRAIN ... Reason=Not responding [slurm@2026-01-31T12:00:00]" */
bool site_slurm_state(const char *text, FILE *out)
{
    char state[64], reason[200], *who;

    if (!value_of(text, "State=", " \n", state, sizeof(state)))
        return false;
    if (value_of(text, "Reason=", "\n", reason, sizeof(reason)) && (who = strrchr(reason, '[')) &&
        who > reason)
        who[-1] = '\0';
    say(out, state, reason);
    return true;
}

/* "     state = down,offline", "     comment = ..." or "note = ..." */
bool site_pbs_state(const char *text, FILE *out)
{
    char state[64], reason[200];

    if (!value_of(text, "state =", "\n", state, sizeof(state)))
        return false;
    if (!value_of(text, "comment =", "\n", reason, sizeof(reason)))
        value_of(text, "note =", "\n", reason, sizeof(reason));
    say(out, state, reason);
    return true;
}

static const struct {
    const char *says, *why;
} reasons[] = {
    {"not found", "the scheduler does not know the node"},
    {"Unknown node", "the scheduler does not know the node"},
    {"slurm.conf", "there is no slurm.conf here; name it: slurm_conf"},
    {"configuration", "there is no slurm.conf here; name it: slurm_conf"},
    {"Unable to contact", "the scheduler does not answer"},
    {"annot connect", "the scheduler does not answer"},
    {"munge", "this user has no credential of munge here"},
    {"uthent", "this user has no credential here"},
    {"ermission", "this user may not ask"},
    {"ccess", "this user may not ask"},
};

const char *site_scheduler_why(const char *text)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (strstr(text, reasons[i].says))
            return reasons[i].why;
    return "the scheduler's program does not say the node's state";
}

/* A name that begins with "-" would be an option. */
static void ask_program(const char *const *arguments, const char *node,
                        bool (*read)(const char *text, FILE *out), FILE *out)
{
    static struct site_said s;

    if (!node || *node == '-' || strlen(node) > 255)
        site_say_not(out, "it needs the node's name");
    else if (!site_run(arguments, NULL, &s) || s.code == 127)
        site_say_not(out, "the scheduler's program is not installed here");
    else if (s.code != 0 || !read(s.out, out))
        site_say_not(out, site_scheduler_why(*s.err ? s.err : s.out));
}

static const char *name_of(struct json_object *request)
{
    const char *name =
        faultloc_text(request, "name"); /* of_node, where the scheduler has other names */

    return name ? name : faultloc_text(request, "node");
}

void site_slurm(struct json_object *request, FILE *out)
{
    const char *program = faultloc_text(request, "program"),
               *conf = faultloc_text(request, "slurm_conf");
    const char *node = name_of(request);
    const char *const arguments[] = {
        program ? program : "scontrol", "show", "node", "-o", node, NULL};

    if (conf)
        setenv("SLURM_CONF", conf, 1);
    ask_program(arguments, node, site_slurm_state, out);
}

void site_pbs(struct json_object *request, FILE *out)
{
    const char *program = faultloc_text(request, "program"),
               *conf = faultloc_text(request, "pbs_conf");
    const char *node = name_of(request), *const arguments[] = {program ? program : "pbsnodes", node,
                                                               NULL};

    if (conf)
        setenv("PBS_CONF_FILE", conf, 1);
    ask_program(arguments, node, site_pbs_state, out);
}
