/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "agent_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * faultloc ask: has an agent of the job ask a node or a rank now, and waits for what comes of it.
 * Of the answer, one JSON object, nothing is believed: members of another type count as missing,
 * and text is made safe for the terminal.
 */

#define PATIENCE_MS 20000 /* the agent's is 15 s */
#define MESSAGES_SHOWN 5

const char tool_ask_usage[] =
    "Usage: faultloc ask NODE [OPTION]...\n"
    "       faultloc ask rank N [OPTION]...\n"
    "\n"
    "Has a node or a rank of a running job examined now, and waits for the answer: that it is well,\n"
    "with the state of the node and the last messages of its ranks, or the verdict. Of a rank also the\n"
    "stack of each thread, with function, file and line, and what it waits for. Where it is not well and\n"
    "there is no verdict, the answer comes after 15 s.\n"
    "\n"
    "  NODE         name of a node, as in reports\n"
    "  N            a rank of MPI_COMM_WORLD\n"
    "  --job ID     the job (default: the only one of this user on this host)\n"
    "  --user USER  the owner of the job, a name or a number (default: this user; for root any\n"
    "               user)\n"
    "  --node NAME  the node whose agent asks (default: one on this host)\n"
    "  --json       print what the agent answered: one JSON object, schema faultloc-ask/1\n"
    "  --help       this text\n"
    "\n"
    "Exit code: 0 it is well, and there is no verdict about it, 1 it is not, or nothing was heard of\n"
    "it, 2 wrong usage, no such job, node or rank, or no answer of the agent.\n";

/* ---- the answer in words --------------------------------------------------------------------- */

static bool is_true(struct json_object *o, const char *key)
{
    struct json_object *member = tool_member(o, key);

    return json_object_is_type(member, json_type_boolean) && json_object_get_boolean(member);
}

static double number(struct json_object *o, const char *key)
{
    return json_object_get_double(tool_member(o, key));
}

static struct json_object *at(struct json_object *o, const char *key, size_t i)
{
    struct json_object *list = tool_member(o, key);

    return json_object_is_type(list, json_type_array) && i < json_object_array_length(list)
               ? json_object_array_get_idx(list, i)
               : NULL;
}

static bool has_verdict(struct json_object *o)
{
    return at(o, "verdicts", 0) != NULL;
}

static void print_head(struct json_object *o)
{
    char what[128] = "", took[48] = "";

    if (tool_member(o, "rank"))
        snprintf(what, sizeof(what), "rank %d on ", (int) number(o, "rank"));
    if (is_true(o, "answered") && tool_member(o, "took_ms") &&
        *tool_string(at(o, "paths", 0), "path"))
        snprintf(took, sizeof(took), ", after %.1f ms", number(o, "took_ms"));
    tool_say(stdout, "%snode %s: %s%s%s%s, asked by %s", what, tool_string(o, "node"),
             is_true(o, "answered") ? "its agent answers" : "its agent does not answer", took,
             is_true(o, "well") && !has_verdict(o) ? "; it is well" : "",
             is_true(o, "leaving") ? "; it is in MPI_Finalize" : "", tool_string(o, "by"));
}

static void print_paths(struct json_object *o)
{
    struct json_object *path;

    for (size_t i = 0; (path = at(o, "paths", i)); i++)
        tool_say(stdout, "  over %s: %s%s%s", tool_string(path, "path"), tool_string(path, "agent"),
                 *tool_string(path, "deputy") ? "; its deputy: " : "", tool_string(path, "deputy"));
}

static void print_state(struct json_object *s)
{
    char memory[96] = "";

    if (!s)
        return;
    if (tool_member(s, "memory_bytes"))
        snprintf(memory, sizeof(memory), ", memory %.1f GiB of %.1f GiB free",
                 number(s, "memory_available_bytes") / (1 << 30),
                 number(s, "memory_bytes") / (1 << 30));
    tool_say(stdout, "  state: %d CPUs, load %.2f%s, data interface %s", (int) number(s, "cpus"),
             number(s, "load"), memory, tool_string(s, "data_interface"));
}

static void print_rank(struct json_object *o, struct json_object *rank)
{
    char peer[32] = "", pid[32] = "";

    if (tool_member(o, "rank") && tool_member(o, "peer"))
        snprintf(peer, sizeof(peer), ", for rank %d", (int) number(o, "peer"));
    if (tool_member(rank, "pid"))
        snprintf(pid, sizeof(pid), " (pid %d)", (int) number(rank, "pid"));
    tool_say(stdout, "  rank %d%s: %s%s%s%s", (int) number(rank, "rank"), pid,
             tool_string(rank, "state"), peer,
             *tool_string(rank, "process") ? ", process state " : "", tool_string(rank, "process"));
}

static void print_messages(struct json_object *log)
{
    struct json_object *m;
    char peer[32];

    if (!at(log, "messages", 0))
        tool_say(stdout, "  messages of rank %d: none", (int) number(log, "rank"));
    for (size_t i = 0; i < MESSAGES_SHOWN && (m = at(log, "messages", i)); i++) {
        snprintf(peer, sizeof(peer), "peer %d", (int) number(m, "peer"));
        tool_say(stdout, "  message of rank %d, %.1f s ago: %s of %.0f bytes, %s, tag %d",
                 (int) number(log, "rank"), number(m, "age_s"), tool_string(m, "type"),
                 number(m, "bytes"), tool_member(m, "peer") ? peer : "any source",
                 (int) number(m, "tag"));
    }
}

/* ---- what a rank's threads do ---------------------------------------------------------------- */

static void print_file(struct json_object *f)
{
    char where[600] = "";

    if (*tool_string(f, "mount_point"))
        snprintf(where, sizeof(where), ", on %s (%s%s%s)", tool_string(f, "mount_point"),
                 tool_string(f, "type"), *tool_string(f, "server") ? " of " : "",
                 tool_string(f, "server"));
    tool_say(stdout, "      file: %s%s", tool_string(f, "path"), where);
}

/* "thread 4712 (app): sleeping in read (pipe_read), 1.5 s of CPU time" */
static void print_thread(struct json_object *t)
{
    char in[160] = "", cpu[48] = "";

    if (*tool_string(t, "syscall"))
        snprintf(in, sizeof(in), " in %s%s%s%s", tool_string(t, "syscall"),
                 *tool_string(t, "wait_channel") ? " (" : "", tool_string(t, "wait_channel"),
                 *tool_string(t, "wait_channel") ? ")" : "");
    if (tool_member(t, "cpu_s"))
        snprintf(cpu, sizeof(cpu), ", %.1f s of CPU time", number(t, "cpu_s"));
    tool_say(stdout, "    thread %d (%s): state %s%s%s", (int) number(t, "tid"),
             tool_string(t, "name"), tool_string(t, "state"), in, cpu);
    if (*tool_string(t, "stack"))
        tool_say(stdout, "      %s", tool_string(t, "stack"));
    if (*tool_string(t, "why_not"))
        tool_say(stdout, "      no stack, or not all of it: %s", tool_string(t, "why_not"));
    if (tool_member(t, "open_file"))
        print_file(tool_member(t, "open_file"));
}

static void print_process(struct json_object *o)
{
    struct json_object *process = tool_member(o, "process"), *thread;

    for (size_t i = 0; (thread = at(process, "threads", i)); i++)
        print_thread(thread);
    if (*tool_string(o, "no_stack"))
        tool_say(stdout, "  no stack, or not all: %s", tool_string(o, "no_stack"));
}

static void print_answer(struct json_object *o)
{
    struct json_object *item;

    print_head(o);
    print_paths(o);
    print_state(tool_member(o, "state"));
    for (size_t i = 0; (item = at(o, "ranks", i)); i++)
        print_rank(o, item);
    print_process(o);
    for (size_t i = 0; (item = at(o, "messages", i)); i++)
        print_messages(item);
    for (size_t i = 0; (item = at(o, "verdicts", i)); i++)
        tool_say(stdout, "  %s", tool_string(item, "line"));
    if (!has_verdict(o))
        tool_say(stdout, "  no verdict");
}

/* ---- asking ---------------------------------------------------------------------------------- */

static enum tool_exit show(const struct agent_socket *d, const char *text, bool json)
{
    struct json_object *o = json_tokener_parse(text);
    enum tool_exit code = TOOL_INVALID;

    if (!json_object_is_type(o, json_type_object)) {
        tool_say(stderr, "faultloc ask: the agent of node %s of job %s refused it: %s", d->node,
                 d->job, text);
        json_object_put(o);
        return TOOL_TROUBLE;
    }
    if (json)
        tool_print_json(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED);
    else
        print_answer(o);
    if (is_true(o, "well") && !has_verdict(o))
        code = TOOL_OK;
    json_object_put(o);
    return code;
}

static enum tool_exit ask_component(const struct agent_socket *d, const char *component, bool json)
{
    char question[512], *text;
    enum agent_answer answer;
    enum tool_exit code;

    snprintf(question, sizeof(question), FAULTLOC_ASK_QUESTION "%s\"}", component);
    answer = tool_agent_ask(d, question, NULL, 0, PATIENCE_MS, &text);
    if (answer == ANSWERED)
        code = show(d, text, json);
    else
        code = tool_agent_silent("ask", d, answer,
                                 answer == NO_ANSWER_YET
                                     ? "" : ", or accepts no questions from this user");
    free(text);
    return code;
}

/* ---- options --------------------------------------------------------------------------------- */

struct options {
    char component[256];
    bool json;
};

/* What it is about: "h2", "node h2", "rank 3", or these as one argument. */
static bool add_word(struct options *o, const char *word)
{
    size_t len = strlen(o->component);

    if (strpbrk(word, "\"\\") || len + strlen(word) + 6 > sizeof(o->component))
        return false;
    if (len > 0 && o->component[len - 1] != ' ')
        return false;
    if (!strcmp(word, "rank") || !strcmp(word, "node"))
        return len == 0 && snprintf(o->component, sizeof(o->component), "%s ", word) > 0;
    if (len == 0 && strncmp(word, "rank ", 5) && strncmp(word, "node ", 5))
        len = (size_t) snprintf(o->component, sizeof(o->component), "node ");
    snprintf(o->component + len, sizeof(o->component) - len, "%s", word);
    return *word != '\0';
}

static bool is_whole(const char *component)
{
    size_t len = strlen(component);

    return len > 0 && component[len - 1] != ' ';
}

static enum tool_exit read_options(int n, char **arguments, struct agent_choice *c,
                                   struct options *o)
{
    for (int i = 0; i < n; i++) {
        if (tool_agent_option(n, arguments, &i, c))
            continue;
        if (!strcmp(arguments[i], "--json"))
            o->json = true;
        else if (arguments[i][0] == '-')
            return tool_wrong("ask", "no such option: ", arguments[i]);
        else if (!add_word(o, arguments[i]))
            return tool_wrong("ask", "neither NODE nor \"rank N\": ", arguments[i]);
    }
    if (tool_agent_check(c))
        return TOOL_TROUBLE;
    return is_whole(o->component) ? TOOL_OK : tool_wrong("ask", "missing NODE or rank N", "");
}

enum tool_exit tool_ask(int n, char **arguments)
{
    struct agent_choice c = {.command = "ask", .any_node = true};
    struct options o = {.json = false};
    const struct agent_socket *d;

    if (read_options(n, arguments, &c, &o))
        return TOOL_TROUBLE;
    d = tool_agent_pick(&c);
    return d ? ask_component(d, o.component, o.json) : TOOL_TROUBLE;
}
