/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/command.h"

#include "sim/replay.h"
#include "sim/units.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

static const char usage[] =
    "Usage: faultloc replay [--node N] [--quiet] TRACE\n"
    "\n"
    "Repeats a run from the trace that faultloc simulate --trace has written: each node's\n"
    "FaultLoc gets the same input at the same times, and must decide and send the same. The\n"
    "decisions of all nodes are printed.\n"
    "\n"
    "  --node N  print all that this node (a number) receives and does, and nothing else\n"
    "  --quiet   do not print the decisions\n"
    "  --help    this text\n"
    "\n"
    "TRACE may be - for standard input. Its first line describes the job; each other line is an\n"
    "input of one node (\"in\"), or, after it, what the node did.\n"
    "\n"
    "Example: faultloc simulate --nodes 30 --fault 'lose node 7' --trace t; faultloc replay t\n"
    "\n"
    "Exit code: 0 the same, 1 it differs (the first difference is printed, with its line of the\n"
    "file), 2 wrong arguments or an invalid file (the line is printed, with the reason).\n";

struct arguments {
    const char *trace;
    int32_t node;
    bool quiet;
};

static int wrong_usage(const char *what, const char *which)
{
    sim_complain("faultloc replay: %s%s; see --help", what, which);
    return 2;
}

/* -1: go on; else the exit code. */
static int read_arguments(struct arguments *a, int argc, char **argv)
{
    static const struct option options[] = {{"node", required_argument, NULL, 'n'},
                                            {"quiet", no_argument, NULL, 'q'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    int option;
    int64_t n;

    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (option == 'h')
            return fputs(usage, stdout) < 0 || fflush(stdout) ? 2 : 0;
        if (option == ':')
            return wrong_usage("missing value after ", argv[optind - 1]);
        if (option == '?')
            return wrong_usage("no such option: ", argv[optind - 1]);
        if (option == 'n' && !sim_read_number(optarg, strlen(optarg), 0, INT32_MAX, &n))
            return wrong_usage("not the number of a node: ", optarg);
        if (option == 'n')
            a->node = (int32_t) n;
        else
            a->quiet = true;
    }
    if (optind == argc)
        return wrong_usage("missing trace (a file that faultloc simulate --trace has written)", "");
    if (optind + 1 < argc)
        return wrong_usage("only one trace is possible, not ", argv[optind + 1]);
    a->trace = argv[optind];
    return -1;
}

static void say_outcome(const struct arguments *a, const struct sim_replay *r, int code)
{
    if (r->other_rules)
        sim_complain("faultloc replay: %s: made with other built-in rules than this program's",
                     a->trace);
    if (code == 2) {
        sim_complain("faultloc replay: %s:%lld: %s", a->trace, (long long) r->line, r->wrong);
    } else if (code == 1) {
        sim_complain("faultloc replay: %s:%lld: differs: node %d, %.6f s", a->trace,
                     (long long) r->line, (int) r->node, sim_seconds(r->now - r->begins));
        fprintf(stderr, "  expected: it %s\n  got:      it %s\n", r->expected, r->got);
    } else {
        printf("the same: %d of %d nodes received input; %llu inputs, %llu lines, %llu messages\n",
               (int) r->handles, (int) r->nodes, (unsigned long long) r->inputs,
               (unsigned long long) r->decisions, (unsigned long long) r->messages);
    }
}

int sim_replay_command(int argc, char **argv)
{
    struct arguments a = {.node = FTREE_NONE};
    int code = read_arguments(&a, argc, argv);
    struct sim_replay_options options = {.node = a.node};
    struct sim_replay r;
    FILE *f;

    if (code >= 0)
        return code;
    f = strcmp(a.trace, "-") ? fopen(a.trace, "r") : stdin;
    if (!f) {
        sim_complain("faultloc replay: %s: %s", a.trace, strerror(errno));
        return 2;
    }
    options.out = a.quiet ? NULL : stdout;
    code = sim_replay(f, &options, &r);
    if (f != stdin)
        fclose(f);
    say_outcome(&a, &r, code);
    if (code < 2 && a.node >= r.nodes)
        code = wrong_usage("--node: the job has fewer nodes", "");
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "faultloc replay: standard output: %s\n", strerror(errno));
        code = 2;
    }
    return code;
}
