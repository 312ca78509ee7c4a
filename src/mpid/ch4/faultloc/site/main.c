/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include <err.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef FAULTLOC_VERSION
#define FAULTLOC_VERSION "?"
#endif

static const char usage[] =
    "Usage: faultloc-handlers --file FILE [OPTION]... NODE\n"
    "\n"
    "Asks the services that FILE names about a node: its management controller, its switch port.\n"
    "Prints one JSON object a line. FaultLoc's agent starts it; faultloc handlers check is for people.\n"
    "\n"
    "  --file FILE   JSON; only its owner may have access to it (faultloc-handlers.schema.json)\n"
    "  --from NODE   the node that asks\n"
    "  --ranks PIDS  processes of the job on the node that asks, with commas between\n"
    "  --limits LIST values beyond which sensors are bad: temperature-high>95,fan-failed<500\n"
    "  --since MS    when the job began, Unix time in milliseconds\n"
    "  --fd N        prints to this descriptor\n"
    "  --check       prints text: what works, what does not and why, what a report would have\n"
    "  --version     the version\n"
    "  --help        this text\n"
    "\n"
    "Exit code: 0 all have answered, 1 one has not, or the file is refused, 2 wrong arguments.\n";

struct options {
    const char *file;
    struct site_question question;
    long fd;
    bool check;
};

static bool read_options(int n, char **arguments, struct options *o)
{
    static const struct option known[] = {{"file", 1, NULL, 'f'},  {"from", 1, NULL, 'b'},
                                          {"since", 1, NULL, 's'}, {"fd", 1, NULL, 'd'},
                                          {"ranks", 1, NULL, 'r'},  {"limits", 1, NULL, 'l'},
                                          {"check", 0, NULL, 'c'}, {NULL, 0, NULL, 0}};

    for (int c; (c = getopt_long(n, arguments, "", known, NULL)) != -1;) {
        if (c == 'f')
            o->file = optarg;
        else if (c == 'b')
            o->question.from = optarg;
        else if (c == 's')
            o->question.since_ms = strtoll(optarg, NULL, 10);
        else if (c == 'r')
            o->question.ranks = optarg;
        else if (c == 'l')
            o->question.limits = optarg;
        else if (c == 'd')
            o->fd = strtol(optarg, NULL, 10);
        else if (c == 'c')
            o->check = o->question.all = true;
        else
            return false;
    }
    if (!o->file || !*o->file || optind != n - 1) {
        warnx("needs --file and one node; see faultloc-handlers --help");
        return false;
    }
    o->question.node = arguments[optind];
    if (!o->question.from)
        o->question.from = o->question.node;
    return true;
}

/* Passwords are in this process's memory and its children's: no core file, and no other process of the
 * user looks in.  A limit of 0 does not keep the kernel from handing a core to a program, 1 does
 * (core(5); a file of one byte is not written either). */
static void set_limits(void)
{
    const struct rlimit none = {1, 1};

    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("PATH", SITE_PATH, 1);
    setenv("LC_ALL", "C", 1); /* what programs print is read */
    setenv("TZ", "UTC0", 1);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_line(const char *line)
{
    struct json_object *o = json_tokener_parse(line);
    const char *name = faultloc_text(o, "handler"), *symptom = faultloc_text(o, "symptom");
    const char *text = faultloc_text(o, "text"), *why = faultloc_text(o, "why_not");

    if (why)
        printf("%-12s says nothing: %s\n", name ? name : "", why);
    else
        printf("%-12s %s%s%s\n", name ? name : "", symptom ? symptom : "",
               symptom ? ": " : "", text ? text : "");
    json_object_put(o);
}

static int check_all(struct site_config *c, const char *node)
{
    char *text = NULL, *at, *end;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    int failed;

    if (!f)
        return 1;
    if (c->n == 0)
        printf("no handler is for node %s\n", node);
    failed = site_ask_all(c, f);
    fclose(f);
    for (at = text; at && (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        print_line(at);
    }
    free(text);
    return failed;
}

/* ---- running --------------------------------------------------------------------------------- */

static int refuse(const struct options *o, const char *why)
{
    char text[SITE_WHY_MAX + 32];
    struct json_object *line;

    snprintf(text, sizeof(text), "its file is refused: %s", why);
    line = o->check ? NULL : site_failure("handlers", text);
    if (o->check)
        warnx("%s: %s", o->file, why);
    else if (line)
        puts(json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN));
    json_object_put(line);
    return 1;
}

static int run(const struct options *o)
{
    static struct site_config c;
    char why[SITE_WHY_MAX] = "";
    struct json_object *root = site_config_load(o->file, why);
    int failed;

    if (!root)
        return refuse(o, why);
    if (!site_config_read(&c, root, &o->question, why))
        return refuse(o, why);
    failed = o->check ? check_all(&c, o->question.node) : site_ask_all(&c, stdout);
    site_config_free(&c);
    return failed > 0;
}

int main(int n, char **arguments)
{
    static struct options o = {.fd = STDOUT_FILENO};

    if (n == 2 && (!strcmp(arguments[1], "--help") || !strcmp(arguments[1], "-h")))
        return fputs(usage, stdout) < 0;
    if (n == 2 && !strcmp(arguments[1], "--version"))
        return puts("faultloc-handlers " FAULTLOC_VERSION) < 0;
    if (!read_options(n, arguments, &o))
        return 2;
    set_limits();
    if (o.fd != STDOUT_FILENO && dup2((int) o.fd, STDOUT_FILENO) < 0) {
        warn("descriptor %ld", o.fd);
        return 2;
    }
    return run(&o);
}
