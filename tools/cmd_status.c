/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "agent_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * faultloc status: asks the agent of a node what the ranks of the job do, or those of its node, and
 * what verdicts it knows.  Of the answer nothing is believed, and text is made safe for the terminal.
 */

const char tool_status_usage[] =
    "Usage: faultloc status [JOB] [OPTION]...\n"
    "\n"
    "Says what the nodes and ranks of a running job do, on any of its nodes, as its owner or root.  The\n"
    "agents of all nodes are asked: which have answered, which ranks are in which MPI function, for whom\n"
    "they wait and for how long; who is suspected; the verdicts so far.\n"
    "\n"
    "  JOB          the job (default: the only one of this user on this host)\n"
    "  --ranks      all ranks, however many lines and characters that takes\n"
    "  --stacks     where the ranks are in their code: the stacks of all, merged, with function, file and\n"
    "               line; those of ranks that do the same are one line\n"
    "  --here       only this host: its agent alone is asked\n"
    "  --json       one JSON object: schema faultloc-status/2, with --stacks faultloc-stacks/1\n"
    "  --watch [S]  again every S seconds (default: 2, at least 0.2), until it is interrupted or the\n"
    "               job ends\n"
    "  --user USER  the owner of the job, a name or a number (default: this user; for root any\n"
    "               user)\n"
    "  --node NAME  the node whose agent is asked, where this host is several (default: any; with --here\n"
    "               the only one)\n"
    "  --help       this text\n"
    "\n"
    "Exit code: 0 all nodes have answered, have left, or are known to be lost; 1 some are silent;\n"
    "2 wrong usage, no such job, or no answer.\n";

#define PATIENCE_MS 12000 /* longer than the agents' own, */
#define PATIENCE_STACKS_MS 20000 /* with the time that stacks may take */
#define PATIENCE_HERE_MS 2000 /* nobody else is asked */
#define WATCH_S 2

struct options {
    bool json, ranks, here, stacks;
    double watch; /* seconds, 0: once */
};

/* ---- asking ---------------------------------------------------------------------------------- */

static enum tool_exit no_status(const struct agent_socket *d)
{
    tool_say(stderr,
             "faultloc status: the agent of node %s of job %s is of another version: its answer is no "
             "status",
             d->node, d->job);
    return TOOL_TROUBLE;
}

/* As the agent has it: "text", "json-ranks" and so on. */
static void make_question(const struct options *o, char *out, size_t room)
{
    snprintf(out, room, FAULTLOC_STATUS_REQUEST "\"%s%s\"}", o->json ? "json" : "text",
             o->here     ? "-here"
             : o->stacks ? "-stacks"
             : o->ranks  ? "-ranks"
                         : "");
}

static bool begins_with(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

/* What is no plain text could spoil the terminal. */
static void print_line(char *line, bool colour)
{
    const char *on = !colour                          ? ""
                     : begins_with(line, "verdict")   ? "\033[31m"
                     : begins_with(line, "suspected") ? "\033[33m"
                     : begins_with(line, "job ")      ? "\033[1m"
                                                      : "";

    printf("%s%s%s\n", on, tool_clean(line), *on ? "\033[0m" : "");
}

static enum tool_exit print_text(const struct agent_socket *d, char *text, bool colour)
{
    char *rest = NULL;
    bool silent = false;

    if (!begins_with(text, "job "))
        return no_status(d);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        silent = silent || (begins_with(line, "nodes: ") && strstr(line, " silent ("));
        print_line(line, colour);
    }
    return silent ? TOOL_INVALID : TOOL_OK;
}

static enum tool_exit print_json(const struct agent_socket *d, const char *text)
{
    struct json_object *o = json_tokener_parse(text);
    struct json_object *nodes = tool_member(o, "node_states");
    struct json_object *silent = tool_member(tool_member(nodes, "silent"), "count");
    enum tool_exit code = json_object_get_int(silent) > 0 ? TOOL_INVALID : TOOL_OK;

    if (json_object_is_type(o, json_type_object))
        tool_print_json(o, JSON_C_TO_STRING_PLAIN);
    else
        code = no_status(d);
    json_object_put(o);
    return code;
}

static enum tool_exit print_answer(const struct agent_socket *d, const struct options *o,
                                   char *text)
{
    bool terminal = isatty(STDOUT_FILENO);

    if (text[0] != '{' && !begins_with(text, "job ")) {
        tool_say(stderr, "faultloc status: job %s: %.200s", d->job, text);
        return TOOL_TROUBLE;
    }
    if (o->watch > 0 && terminal)
        fputs("\033[H\033[2J", stdout);
    return o->json ? print_json(d, text) : print_text(d, text, terminal);
}

static enum tool_exit ask_once(const struct agent_socket *d, const struct options *o)
{
    int ms = o->here ? PATIENCE_HERE_MS : o->stacks ? PATIENCE_STACKS_MS : PATIENCE_MS;
    char question[64], *text;
    enum agent_answer answer;
    enum tool_exit code;

    make_question(o, question, sizeof(question));
    answer = tool_agent_ask(d, question, NULL, 0, ms, &text);
    code = answer == ANSWERED ? print_answer(d, o, text)
                              : tool_agent_silent("status", d, answer, "");
    free(text);
    return code;
}

static enum tool_exit ask_status(const struct agent_socket *d, const struct options *o)
{
    struct timespec pause = {.tv_sec = (time_t) o->watch,
                             .tv_nsec = (long) ((o->watch - (double) (time_t) o->watch) * 1e9)};
    enum tool_exit code;

    for (;;) {
        code = ask_once(d, o);
        if (fflush(stdout))
            return TOOL_TROUBLE;
        if (o->watch == 0 || code == TOOL_TROUBLE)
            return code;
        nanosleep(&pause, NULL);
    }
}

/* ---- options --------------------------------------------------------------------------------- */

/* A number may follow. */
static bool read_watch(int n, char **arguments, int *i, struct options *o)
{
    char *end = NULL;

    o->watch = WATCH_S;
    if (*i + 1 == n || !strchr("0123456789.", arguments[*i + 1][0]))
        return true;
    o->watch = strtod(arguments[++*i], &end);
    return !*end && o->watch >= 0.2 && o->watch <= 86400;
}

static bool read_flag(const char *argument, struct options *o)
{
    bool *flag = !strcmp(argument, "--json")    ? &o->json
                 : !strcmp(argument, "--ranks") ? &o->ranks
                 : !strcmp(argument, "--here")  ? &o->here
                 : !strcmp(argument, "--stacks") ? &o->stacks
                                                : NULL;

    if (flag)
        *flag = true;
    return flag != NULL;
}

static enum tool_exit read_options(int n, char **arguments, struct agent_choice *c,
                                   struct options *o)
{
    for (int i = 0; i < n; i++) {
        if (tool_agent_option(n, arguments, &i, c))
            continue;
        if (!strcmp(arguments[i], "--watch")) {
            if (!read_watch(n, arguments, &i, o))
                return tool_wrong("status",
                                  "not a number of seconds, 0.2 to 86400: ", arguments[i]);
        } else if (arguments[i][0] != '-' && !c->job) {
            c->job = arguments[i];
        } else if (!read_flag(arguments[i], o)) {
            return tool_wrong("status", "no such option: ", arguments[i]);
        }
    }
    if (o->stacks && (o->here || o->ranks))
        return tool_wrong("status", "--stacks is of the whole job, and goes without ",
                          o->here ? "--here" : "--ranks");
    c->any_node = !o->here;
    return tool_agent_check(c);
}

enum tool_exit tool_status(int n, char **arguments)
{
    struct agent_choice c = {.command = "status"};
    const struct agent_socket *d;
    struct options o = {0};

    if (read_options(n, arguments, &c, &o))
        return TOOL_TROUBLE;
    d = tool_agent_pick(&c);
    return d ? ask_status(d, &o) : TOOL_TROUBLE;
}
