/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "agent_socket.h"

#include "faultloc/base/number.h"
#include "ftree/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * faultloc symptom: finds the symptom sockets of the jobs on this host, picks one, and sends its
 * agent a symptom, with one end of a pair of sockets, on which the agent answers.
 */

#define ANSWER_MS 2000

const char tool_symptom_usage[] =
    "Usage: faultloc symptom --kind KIND [OPTION]...\n"
    "       faultloc symptom --list\n"
    "\n"
    "Reports to a running job what was observed elsewhere: by the scheduler, a hardware monitor,\n"
    "the manager of the network, a person. A symptom is a hint: the agents ask the component that\n"
    "it is about, and only what they find becomes a verdict.\n"
    "\n"
    "  --kind KIND           what was observed; --list lists the kinds\n"
    "  --component WHAT      what it is about: \"node NAME\", \"rank N\", \"switch NAME\",\n"
    "                        \"nic NAME[:INTERFACE]\" or \"link NAME[:INTERFACE]\" (default: the\n"
    "                        node of the agent that receives it)\n"
    "  --severity SEVERITY   info, warning, error or fatal (default: the usual one of KIND)\n"
    "  --detail TEXT         a description, at most 127 characters\n"
    "  --errno NAME          an error number, by name (EHOSTUNREACH) or as a number\n"
    "  --age MILLISECONDS    how long ago it was observed; up to an hour\n"
    "  --count N             how often it was observed\n"
    "  --job ID              the job (default: the only one of this user on this host)\n"
    "  --user USER           the owner of the job, a name or a number (default: this user; for\n"
    "                        root any user)\n"
    "  --node NAME           the node of the receiving agent (default: one on this host)\n"
    "  --list                print the table of kinds: name, source, component, severity, meaning\n"
    "  --help                this text\n"
    "\n"
    "Exit code: 0 accepted, 1 refused by the agent, 2 wrong usage, or no such job.\n";

struct options {
    const char *kind, *component, *severity, *detail, *error, *age, *count;
};

/* ---- the table ------------------------------------------------------------------------------- */

static enum tool_exit list_kinds(void)
{
    printf("%-18s %-16s %-9s %-8s %s\n", "KIND", "SOURCE", "COMPONENT", "SEVERITY", "MEANING");
    for (int i = 0; i < FTREE_SYMPTOM_COUNT; i++) {
        const struct ftree_symptom_info *info = ftree_symptom_info(i);
        printf("%-18s %-16s %-9s %-8s %s\n", info->name, ftree_source_name(info->source),
               ftree_kind_name(info->kind), ftree_severity_name(info->severity), info->meaning);
    }
    return TOOL_OK;
}

/* ---- options --------------------------------------------------------------------------------- */

static enum tool_exit check_number(const char *option, const char *text, int least, int most)
{
    char what[128];
    int n;

    if (!text || (faultloc_number_read(text, false, &n) && n >= least && n <= most))
        return TOOL_OK;
    snprintf(what, sizeof(what), "%s must be a whole number from %d to %d, not ", option, least,
             most);
    return tool_wrong("symptom", what, text);
}

static bool is_component(const char *text)
{
    char kind[16];
    size_t len = strcspn(text, " ");

    if (len >= sizeof(kind) || text[len] == '\0' || text[len + 1] == '\0')
        return false;
    memcpy(kind, text, len);
    kind[len] = '\0';
    return ftree_kind_by_name(kind) >= 0;
}

/* What can be seen to be wrong without an agent. */
static enum tool_exit check_options(const struct options *o)
{
    if (!o->kind)
        return tool_wrong("symptom", "missing --kind", "");
    if (ftree_symptom_by_name(o->kind) < 0)
        return tool_wrong("symptom", "unknown kind (see --list): ", o->kind);
    if (o->component && !is_component(o->component))
        return tool_wrong("symptom",
                          "not a component such as \"node h2\" or \"rank 5\": ", o->component);
    if (o->severity && ftree_severity_by_name(o->severity) < 0)
        return tool_wrong("symptom", "no such severity: ", o->severity);
    if (o->error && !ftree_report_errno_number(o->error))
        return tool_wrong("symptom", "no such error: ", o->error);
    if (o->detail && strlen(o->detail) >= FTREE_DETAIL_MAX)
        return tool_wrong("symptom", "--detail is longer than 127 characters", "");
    if (check_number("--age", o->age, 0, 3600000))
        return TOOL_TROUBLE;
    return check_number("--count", o->count, 1, 1000000000);
}

static enum tool_exit read_options(int n, char **arguments, struct agent_choice *c,
                                   struct options *o)
{
    const struct {
        const char *name, **to;
    } known[] = {
        {"--kind", &o->kind},         {"--component", &o->component},
        {"--severity", &o->severity}, {"--detail", &o->detail},
        {"--errno", &o->error},       {"--age", &o->age},
        {"--count", &o->count},
    };

    for (int i = 0; i < n && !c->no_value; i++) {
        size_t k = 0;
        if (tool_agent_option(n, arguments, &i, c))
            continue;
        while (k < sizeof(known) / sizeof(known[0]) && strcmp(arguments[i], known[k].name))
            k++;
        if (k == sizeof(known) / sizeof(known[0]))
            return tool_wrong("symptom", "no such option: ", arguments[i]);
        if (++i == n)
            return tool_wrong("symptom", "missing value after ", arguments[i - 1]);
        *known[k].to = arguments[i];
    }
    c->any_node = o->component != NULL;
    if (tool_agent_check(c))
        return TOOL_TROUBLE;
    return check_options(o);
}

/* ---- reporting ------------------------------------------------------------------------------- */

static void put(struct json_object *o, const char *key, const char *value)
{
    if (value)
        json_object_object_add(o, key, json_object_new_string(value));
}

static void put_number(struct json_object *o, const char *key, const char *value)
{
    if (value)
        json_object_object_add(o, key, json_object_new_int64(strtoll(value, NULL, 10)));
}

static struct json_object *compose(const struct options *o)
{
    struct json_object *j = json_object_new_object();

    put(j, "kind", o->kind);
    put(j, "component", o->component);
    put(j, "severity", o->severity);
    put(j, "detail", o->detail);
    if (o->error && *o->error >= '0' && *o->error <= '9')
        put_number(j, "errno", o->error);
    else
        put(j, "errno", o->error);
    put_number(j, "age_ms", o->age);
    put_number(j, "count", o->count);
    return j;
}

static enum tool_exit print_answer(const struct agent_socket *d, enum agent_answer answer,
                                   const char *word)
{
    switch (answer) {
        case NOT_ASKED:
            tool_say(stderr, "faultloc symptom: %s/%s: %s", d->folder, d->name, strerror(errno));
            return TOOL_TROUBLE;
        case NO_ANSWER_YET:
            tool_say(stderr,
                     "faultloc symptom: the agent of node %s has not answered yet: it may be "
                     "stopped or busy, and accepts the symptom when it runs again",
                     d->node);
            return TOOL_OK;
        case NO_ANSWER:
            return tool_agent_silent("symptom", d, answer, ", or accepts no symptoms from this user");
        case WRONG_USER:
            tool_say(stderr,
                     "faultloc symptom: the answer for node %s of job %s is not from user "
                     "%lu, who owns the job",
                     d->node, d->job, (unsigned long) d->uid);
            return TOOL_TROUBLE;
        case ANSWERED:
            break;
    }
    if (!strcmp(word, "ok"))
        return TOOL_OK;
    tool_say(stderr, "faultloc symptom: the agent of node %s of job %s refused it: %s", d->node,
             d->job, word);
    return TOOL_INVALID;
}

static enum tool_exit report(const struct agent_socket *d, const struct options *o)
{
    struct json_object *j = compose(o);
    const char *text =
        json_object_to_json_string_ext(j, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    char *word;
    enum agent_answer answer = tool_agent_ask(d, text, NULL, 0, ANSWER_MS, &word);
    enum tool_exit code = print_answer(d, answer, word);

    if (code == TOOL_OK)
        tool_say(stdout, "reported to the agent of node %s of job %s: %s of %s", d->node, d->job,
                 o->kind, o->component ? o->component : "its own node");
    free(word);
    json_object_put(j);
    return code;
}

enum tool_exit tool_symptom(int n, char **arguments)
{
    struct agent_choice choice = {.command = "symptom", .component = true};
    struct options o = {0};
    const struct agent_socket *d;
    enum tool_exit code;

    if (n == 1 && !strcmp(arguments[0], "--list"))
        return list_kinds();
    code = read_options(n, arguments, &choice, &o);
    if (code)
        return code;
    d = tool_agent_pick(&choice);
    return d ? report(d, &o) : TOOL_TROUBLE;
}
