/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/command.h"

#include "sim/alarms.h"
#include "sim/result.h"
#include "sim/sim_memory.h"
#include "sim/units.h"
#include "ftree/report/report.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <json.h>
#include <limits.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NODES_MAX (1 << 24)
#define CHECKED_MAX 10000 /* nodes, where --check says nothing */

static const char usage[] =
    "Usage: faultloc simulate --nodes N [OPTION]...\n"
    "       faultloc simulate --topology STRING|FILE [OPTION]...\n"
    "       faultloc simulate --alarms HOURS [--program NAME] [--ranks R] [--seed S]\n"
    "                         [--json FILE|-]\n"
    "\n"
    "Runs FaultLoc's own code for every node of a job, over a simulated network, with faults that\n"
    "are known, and compares the verdicts with these faults.\n"
    "\n"
    "The job\n"
    "  --nodes N          from 1 to 16777216\n"
    "  --fanout K         children of a node in the tree (32)\n"
    "  --topology WHAT    a string such as 'switch:32 node:64 rank:2', or a file in the syntax of\n"
    "                     Slurm's topology.conf; all its nodes are nodes of the job\n"
    "  --ranks R          ranks of each node (1, or as in the string)\n"
    "The network and the agents\n"
    "  --latency L        latency of each link: '25us', '25us+uni10us', '25us+exp5us' (default)\n"
    "  --loss SHARE       share of the messages that are lost: '5%' or 0.05\n"
    "  --duplicate SHARE  share of the messages that arrive twice\n"
    "  --delay SHARE[:T]  share of the messages that take up to T (1s) longer, and may thus\n"
    "                     arrive in another order\n"
    "  --cost T           CPU time of an agent for each message, in or out (10us)\n"
    "Faults\n"
    "  --fault LINE       one line of a script; may be repeated (default: 'lose random node')\n"
    "  --script FILE      a script; '-' for standard input\n"
    "  --partners P       how many ranks begin to wait for each lost node (4)\n"
    "Ranks outside MPI\n"
    "  --program NAME[:T] ranks are in and out of MPI as in bt, cg, ft, hpcg, hpl, lu, mg or sp,\n"
    "                     for T (10m) when the simulation begins, and nodes take samples of\n"
    "                     that: a rank that does not return is hung\n"
    "  --alarms HOURS     no job is simulated: histories of S_out of --ranks (256) ranks are\n"
    "                     drawn, so long in all, and each is tested; a table of how often the\n"
    "                     test says that they hang, at three alphas, and after how many\n"
    "                     samples it finds that all wait for one rank (half of the hangs found\n"
    "                     by then; 0: never); without --program: for each of them, HOURS in all\n"
    "Runs\n"
    "  --runs R           number of runs (1), with the seeds S, S+1, ...\n"
    "  --seed S           the first seed (1); the same seed gives the same run (column hash)\n"
    "  --grace T          continue for this long after all faults were found (3s)\n"
    "  --limit T          end this long after the last fault if some were not found (60s)\n"
    "  --check yes|no     check every invariant after each event (yes for up to 10000 nodes)\n"
    "Output\n"
    "  --json FILE|-      write all numbers; with '-' the table goes to standard error\n"
    "  --trace FILE       write down what every node received and decided; for one run\n"
    "  --quiet            no progress, and only rows of runs that are not ok\n"
    "  --help             this text\n"
    "\n"
    "A line of a script is one of these, after 't=TIME' (default t=1s) and, except for return,\n"
    "heal and finalize, optionally followed by 'for TIME'; '#' begins a comment. The last three\n"
    "may have 'within TIME' (10ms) before that: all begin to wait within that time.\n"
    "  lose|kill|freeze TARGET       it loses power; its ranks end; all its processes are stopped\n"
    "  stop rank RANK                one process is stopped\n"
    "  finalize TARGET               its ranks have called MPI_Finalize\n"
    "  cut|partition TARGET [on data|mgmt]\n"
    "  down TARGET                   its data interface is down, and it reports that\n"
    "  cut node NODE from node NODE [on data|mgmt]\n"
    "  storm: all wait for TARGET\n"
    "  random waits every TIME of up to TIME\n"
    "  random phases every TIME of up to TIME   all wait for one that computes, sleeps or waits for a\n"
    "                                disk, and then returns\n"
    "  ring|knot|any source of N [scattered] ranks   a deadlock: each waits for the next; for one\n"
    "                                of two; for any of them\n"
    "  chain of N [scattered] ranks to TARGET, K chains of N [scattered] ranks to TARGET\n"
    "  collective: all but TARGET | TARGET sleeps | TARGET receives |\n"
    "                                TARGET has another root\n"
    "  return TARGET\n"
    "  heal\n"
    "TARGET is node LIST or switch LIST ('17', '1-4,9', names); root; root and K substitutes;\n"
    "[K] random nodes, [K] random switches or random fln and child (drawn for each run, and, if\n"
    "possible, different from the targets of the lines before); it (the target of the line\n"
    "before), or one of it.\n"
    "\n"
    "Example: faultloc simulate --nodes 100000 --fault 't=5s lose node 17' --runs 3\n"
    "\n"
    "Exit code: 0 every run is ok, 1 one is not, 2 wrong arguments or an invalid file.\n";

struct command {
    struct sim_options options;
    struct sim_topology topology;
    struct sim_script script;
    const char *what; /* topology */
    int32_t nodes, fanout, ranks, runs, alarms;
    uint64_t seed;
    int check; /* -1: not said */
    const char *json, *trace;
    const char **fault; /* lines of --fault and files of --script, in their order */
    bool *is_file;
    int faults;
    bool quiet, help;
    /* progress */
    int run;
    double shown, begun;
    bool on_terminal;
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static bool read_int(const char *text, int64_t min, int64_t max, int32_t *out)
{
    int64_t n;

    if (!sim_read_number(text, strlen(text), min, max, &n))
        return false;
    *out = (int32_t) n;
    return true;
}

static bool take_delay(struct command *c, const char *text)
{
    const char *colon = strchr(text, ':');

    if (colon && !sim_read_time(colon + 1, strlen(colon + 1), &c->options.delay_max))
        return false;
    return sim_read_share(text, colon ? (size_t) (colon - text) : strlen(text), &c->options.delay);
}

static bool take_program(struct command *c, const char *text)
{
    const char *colon = strchr(text, ':');

    if (colon && !sim_read_time(colon + 1, strlen(colon + 1), &c->options.ran))
        return false;
    c->options.program = sim_program_find(text, colon ? (size_t) (colon - text) : strlen(text));
    return c->options.program != NULL;
}

static bool take_latency(struct command *c, const char *text)
{
    return sim_latency_read(text, &c->options.link);
}

static bool take_seed(struct command *c, const char *text)
{
    int64_t n = 0;
    bool good = sim_read_number(text, strlen(text), 0, INT64_MAX, &n);

    c->seed = (uint64_t) n;
    return good;
}

static bool take_check(struct command *c, const char *text)
{
    c->check = strcmp(text, "yes") == 0;
    return c->check || strcmp(text, "no") == 0;
}

static bool add_fault(struct command *c, const char *text, bool is_file)
{
    c->fault = sim_realloc(c->fault, (size_t) c->faults + 1, sizeof(*c->fault));
    c->is_file = sim_realloc(c->is_file, (size_t) c->faults + 1, sizeof(*c->is_file));
    c->fault[c->faults] = text;
    c->is_file[c->faults++] = is_file;
    return true;
}

static bool take_fault(struct command *c, const char *text)
{
    return add_fault(c, text, false);
}

static bool take_script(struct command *c, const char *text)
{
    return add_fault(c, text, true);
}

#define AT(MEMBER) .at = offsetof(struct command, MEMBER)
#define NUMBER(MEMBER, LEAST, MOST) AT(MEMBER), .value = A_NUMBER, .least = LEAST, .most = MOST

static const struct known {
    const char *name;
    enum { A_NUMBER, A_TIME, A_SHARE, A_TEXT, A_FLAG } value; /* what there is no function for */
    bool (*take)(struct command *c, const char *text); /* false: that is none */
    size_t at; /* where in the command it goes */
    int32_t least, most;
} known[] = {
    {"nodes", NUMBER(nodes, 1, NODES_MAX)},
    {"fanout", NUMBER(fanout, 1, NODES_MAX)},
    {"topology", AT(what), .value = A_TEXT},
    {"ranks", NUMBER(ranks, 1, 1024)},
    {"latency", .take = take_latency},
    {"loss", AT(options.loss), .value = A_SHARE},
    {"program", .take = take_program},
    {"alarms", NUMBER(alarms, 1, 10000000)},
    {"duplicate", AT(options.duplicate), .value = A_SHARE},
    {"delay", .take = take_delay},
    {"cost", AT(options.cost), .value = A_TIME},
    {"fault", .take = take_fault},
    {"script", .take = take_script},
    {"partners", NUMBER(options.partners, 0, NODES_MAX)},
    {"runs", NUMBER(runs, 1, 1000000000)},
    {"seed", .take = take_seed},
    {"grace", AT(options.grace), .value = A_TIME},
    {"limit", AT(options.limit), .value = A_TIME},
    {"check", .take = take_check},
    {"json", AT(json), .value = A_TEXT},
    {"trace", AT(trace), .value = A_TEXT},
    {"quiet", AT(quiet), .value = A_FLAG},
    {"help", AT(help), .value = A_FLAG},
};
#define OPTIONS (sizeof(known) / sizeof(known[0]))

/* False: the option's value is none. */
static bool take_option(struct command *c, const struct known *k, const char *value)
{
    void *at = (char *) c + k->at;

    if (k->take)
        return k->take(c, value);
    switch (k->value) {
        case A_NUMBER:
            return read_int(value, k->least, k->most, at);
        case A_TIME:
            return sim_read_time(value, strlen(value), at);
        case A_SHARE:
            return sim_read_share(value, strlen(value), at);
        case A_TEXT:
            *(const char **) at = value;
            return true;
        default:
            *(bool *) at = true;
            return true;
    }
}

static int wrong_usage(const char *what, const char *which)
{
    sim_complain("faultloc simulate: %s%s; see --help", what, which);
    return 2;
}

/* -1: go on; else the exit code. */
static int read_arguments(struct command *c, int argc, char **argv)
{
    struct option options[OPTIONS + 1] = {{0}};
    int option, index = 0;

    for (size_t i = 0; i < OPTIONS; i++)
        options[i] = (struct option){.name = known[i].name, .has_arg = known[i].value != A_FLAG};
    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", options, &index)) != -1) {
        if (option == ':')
            return wrong_usage("missing value after ", argv[optind - 1]);
        if (option == '?')
            return wrong_usage("no such option: ", argv[optind - 1]);
        if (!take_option(c, &known[index], optarg)) {
            sim_complain("faultloc simulate: --%s: invalid value '%s'; see --help",
                         known[index].name, optarg);
            return 2;
        }
        if (c->help)
            return fputs(usage, stdout) < 0 || fflush(stdout) ? 2 : 0;
    }
    if (optind < argc)
        return wrong_usage("unknown argument: ", argv[optind]);
    if (c->alarms)
        return c->nodes || c->what ? wrong_usage("--alarms simulates no job", "") : -1;
    if (!c->nodes && !c->what)
        return wrong_usage("missing --nodes or --topology", "");
    if (c->trace && c->options.program)
        return wrong_usage("--trace has no samples in it: use it without --program", "");
    if (c->trace && c->runs > 1)
        return wrong_usage("--trace is of one run, without --runs", "");
    return -1;
}

/* ---- scripts --------------------------------------------------------------------------------- */

static int read_one(struct command *c, const char *text, bool is_file)
{
    struct sim_script_error e;
    size_t len;
    char *content = is_file ? sim_read_file("--script", text, &len) : NULL;
    int rc;

    if (is_file && !content)
        return 2;
    rc = sim_script_read(&c->script, is_file ? content : text, &c->topology, &e);
    if (rc && is_file)
        sim_complain("faultloc simulate: --script %s:%d:%d: %s", text, e.line, e.column, e.text);
    else if (rc)
        sim_complain("faultloc simulate: --fault '%s', line %d, column %d: %s", text, e.line,
                     e.column, e.text);
    free(content);
    return rc ? 2 : 0;
}

static int read_faults(struct command *c)
{
    sim_script_free(&c->script);
    for (int i = 0; i < c->faults; i++)
        if (read_one(c, c->fault[i], c->is_file[i]))
            return 2;
    return c->faults ? 0 : read_one(c, "lose random node", false);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void progress(void *ctx, const struct sim_run *r)
{
    struct command *c = ctx;
    double now = seconds();

    if (now - c->shown < (c->on_terminal ? 0.5 : 5))
        return;
    c->shown = now;
    fprintf(stderr,
            "%sfaultloc simulate: run %d of %d, %d nodes: t=%.3f s, %.1f M events, %d reports, "
            "%.0f s%s",
            c->on_terminal ? "\r" : "", c->run, (int) c->runs, (int) r->job.nodes,
            sim_seconds(r->now), (double) r->events / 1e6, (int) r->truth.reports, now - c->begun,
            c->on_terminal ? "\033[K" : "\n");
}

static void clear_progress(const struct command *c)
{
    if (c->on_terminal && !c->quiet)
        fputs("\r\033[K", stderr);
}

/* One run; its object of JSON is added to `list`.  Returns true if it is ok. */
static bool one_run(struct command *c, FILE *table, struct json_object *list)
{
    struct sim_result result;
    struct sim_run r;
    double begun = seconds();

    sim_run(&r, &c->options, c->seed + (uint64_t) c->run - 1);
    sim_result_take(&r, seconds() - begun, &result);
    clear_progress(c);
    if (!c->quiet || !result.ok)
        sim_result_row(table, c->run, &r, &result);
    json_object_array_add(list, sim_result_json(&r, &result));
    sim_run_free(&r);
    return result.ok;
}

static int all_runs(struct command *c, FILE *table, struct json_object *list)
{
    int code = 0;

    for (c->run = 1; c->run <= c->runs; c->run++)
        if (!one_run(c, table, list))
            code = 1;
    return code;
}

static int prepare(struct command *c)
{
    if (sim_topology_make(&c->topology, c->what, c->nodes, c->fanout, c->ranks, 0) || read_faults(c))
        return 2;
    c->options.topology = &c->topology;
    c->options.script = &c->script;
    c->options.check = c->check < 0 ? c->topology.job.nodes <= CHECKED_MAX : c->check;
    return 0;
}

static int run_job(struct command *c, FILE *table, struct json_object *list)
{
    int code = prepare(c);

    if (!code)
        code = all_runs(c, table, list);
    sim_topology_free(&c->topology);
    return code;
}

static void alarms_progress(void *ctx, uint64_t hours)
{
    struct command *c = ctx;
    double now = seconds();

    if (now - c->shown < (c->on_terminal ? 0.5 : 5))
        return;
    c->shown = now;
    fprintf(stderr, "%sfaultloc simulate: hour %" PRIu64 ", %.0f s%s", c->on_terminal ? "\r" : "",
            hours, now - c->begun, c->on_terminal ? "\033[K" : "\n");
}

static void run_alarms(struct command *c, FILE *table, struct json_object *list)
{
    uint64_t n = c->options.program ? 1 : SIM_PROGRAMS;

    sim_alarms_head(table);
    for (uint64_t i = 0; i < n; i++) {
        const struct sim_program *p = c->options.program;
        struct sim_alarms a = {.program = p ? p : &sim_programs[i],
                               .seed = c->seed,
                               .hours = ((uint64_t) c->alarms + n - 1) / n,
                               .ranks = c->ranks ? c->ranks : 256};
        sim_alarms(&a, c->quiet ? NULL : alarms_progress, c);
        clear_progress(c);
        sim_alarms_rows(table, &a);
        json_object_array_add(list, sim_alarms_json(&a));
    }
}

/* ---- output ---------------------------------------------------------------------------------- */

static bool write_json(const char *file, struct json_object *all)
{
    FILE *f = strcmp(file, "-") ? fopen(file, "w") : stdout;
    char *text =
        ftree_report_json_text(all, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
    bool good = f && text && fprintf(f, "%s\n", text) >= 0;

    free(text);
    if (f && (f == stdout ? fflush(f) : fclose(f)))
        good = false;
    if (!good)
        sim_complain("faultloc simulate: --json %s: %s", file, strerror(errno));
    return good;
}

static int run_all(struct command *c)
{
    struct json_object *all = json_object_new_object(), *list = json_object_new_array();
    FILE *table = c->json && !strcmp(c->json, "-") ? stderr : stdout;
    int code = 0;

    json_object_object_add(
        all, "schema",
        json_object_new_string(c->alarms ? "faultloc-alarms/1" : "faultloc-simulation/1"));
    json_object_object_add(all, c->alarms ? "programs" : "runs", list);
    if (!c->quiet && !c->alarms)
        sim_result_head(table);
    if (c->alarms)
        run_alarms(c, table, list);
    else
        code = run_job(c, table, list);
    if (code < 2 && c->json && !write_json(c->json, all))
        code = 2;
    json_object_put(all);
    return code;
}

static int open_trace(struct command *c)
{
    if (!c->trace)
        return 0;
    c->options.trace = fopen(c->trace, "w");
    if (!c->options.trace)
        sim_complain("faultloc simulate: --trace %s: %s", c->trace, strerror(errno));
    return c->options.trace ? 0 : 2;
}

static int close_trace(struct command *c, int code)
{
    if (!c->options.trace || (!ferror(c->options.trace) && !fclose(c->options.trace)))
        return code;
    sim_complain("faultloc simulate: --trace %s: %s", c->trace, strerror(errno));
    return 2;
}

int sim_command(int argc, char **argv)
{
    struct command c = {.fanout = 32,
                        .runs = 1,
                        .seed = 1,
                        .check = -1,
                        .options = {.ran = 600 * 1000 * FTREE_MS,
                                    .link = {25000, 5000, SIM_SPREAD_EXPONENTIAL},
                                    .delay_max = 1000 * FTREE_MS,
                                    .cost = 10000,
                                    .partners = 4,
                                    .grace = 3000 * FTREE_MS,
                                    .limit = 60000 * FTREE_MS}};
    int code = read_arguments(&c, argc, argv);

    /* the memory of one run is the next one's: to get a page from the kernel costs more than to use
     * it */
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, INT_MAX);
    c.begun = c.shown = seconds();
    c.on_terminal = isatty(STDERR_FILENO);
    c.options.progress = c.quiet ? NULL : progress;
    c.options.progress_ctx = &c;
    if (code < 0)
        code = open_trace(&c) ? 2 : close_trace(&c, run_all(&c));
    sim_script_free(&c.script);
    free(c.fault);
    free(c.is_file);
    return code;
}
