/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/wire/wire.h"
#include "sim/replay.h"
#include "sim/run.h"
#include "suite.h"

#include <unistd.h>

/*
 * Traces: what was written is the same when it is run again, what was changed in them is found, and
 * a file that is none does no harm.
 */

#define FILES 300

static char *trace;
static size_t trace_len;
static struct sim_replay replay;

/* Runs a script on a job; the trace is then in `trace`. */
static void record(const char *what, int32_t nodes, const char *lines, double loss)
{
    struct sim_topology topology;
    struct sim_script script = {0};
    struct sim_script_error e;
    struct sim_run run;
    struct sim_options options = {
        .topology = &topology,
        .script = &script,
        .link = {.base = 25000, .spread = 5000, .kind = SIM_SPREAD_EXPONENTIAL},
        .delay_max = 1000 * FTREE_MS,
        .cost = 10000,
        .partners = 4,
        .grace = 3000 * FTREE_MS,
        .limit = 60000 * FTREE_MS,
        .loss = loss,
        .duplicate = loss,
        .delay = loss};

    ck_assert_int_eq(sim_topology_make(&topology, what, nodes, 4, 0, 1), FTREE_OK);
    ck_assert_msg(!sim_script_read(&script, lines, &topology, &e), "%s", e.text);
    options.trace = open_memstream(&trace, &trace_len);
    sim_run(&run, &options, 3);
    fclose(options.trace);
    sim_run_free(&run);
    sim_script_free(&script);
    sim_topology_free(&topology);
}

static int run_again(const char *text, size_t len)
{
    struct sim_replay_options options = {.node = FTREE_NONE};
    FILE *f = len ? fmemopen((void *) (uintptr_t) text, len, "r") : fopen("/dev/null", "r");
    int code = sim_replay(f, &options, &replay);

    fclose(f);
    return code;
}

static void forget(void)
{
    free(trace);
    trace = NULL;
}

/* Where the n-th line begins, from 1. */
static char *line_at(int64_t n)
{
    char *p = trace;

    while (--n > 0)
        p = strchr(p, '\n') + 1;
    return p;
}

static int64_t line_of(const char *at)
{
    int64_t n = 1;

    for (const char *p = trace; p < at; p++)
        n += *p == '\n';
    return n;
}

TEST_CASES(the_same_comes_out, 15)
{
    static const struct {
        const char *what;
        int32_t nodes;
        const char *lines;
        double loss;
    } rows[] = {
        {NULL, 30, "lose node 7", 0},
        {NULL, 30, "lose root and 1 substitute", 0},
        {NULL, 30, "lose random fln and child", 0},
        {NULL, 30, "kill node 7", 0},
        {NULL, 30, "kill root", 0.05},
        {NULL, 30, "freeze node 7 for 20s", 0},
        {NULL, 30, "lose node 7\nt=20s return it", 0},
        {NULL, 30, "down node 7", 0},
        {NULL, 30, "storm: all wait for node 3", 0},
        {NULL, 40, "lose 3 random nodes", 0.05},
        {"switch:3 node:5 rank:3", 0, "cut node 7 on data", 0},
        {"switch:3 node:5 rank:3", 0, "stop rank 13", 0},
        {NULL, 20, "random waits every 1s of up to 5s for 5m", 0},
        {NULL, 30, "ring of 10 scattered ranks", 0.05},
        {"switch:3 node:5 rank:3", 0, "finalize root\ncollective: all but it", 0},
    };

    record(rows[_i].what, rows[_i].nodes, rows[_i].lines, rows[_i].loss);
    ck_assert_msg(run_again(trace, trace_len) == 0, "%s:%d: %s; expected %s, got %s",
                  rows[_i].lines, (int) replay.line, replay.wrong, replay.expected, replay.got);
    ck_assert_uint_gt(replay.inputs, 20);
    ck_assert_uint_gt(replay.messages, 20);
    ck_assert_uint_gt(replay.decisions, 10);
    ck_assert(!replay.other_rules);
    forget();
}

TEST_CASE(a_topology_file_travels_in_the_trace)
{
    char name[] = "/tmp/test_sim_replay.XXXXXX";
    static const char text[] = "# \"two\"\nSwitchName=a Nodes=c[1-9]\nSwitchName=b Nodes=d[1-9]\n";
    int fd = mkstemp(name);

    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t) strlen(text));
    close(fd);
    record(name, 0, "lose node d7", 0);
    unlink(name);
    ck_assert_int_eq(run_again(trace, trace_len), 0);
    ck_assert_int_eq(replay.nodes, 18);
    ck_assert_ptr_nonnull(strstr(trace, "node-outage of d7"));
    forget();
}

TEST_CASES(a_changed_line_is_found, 3)
{
    static const struct {
        const char *text; /* is looked for, */
        const char *change; /* and its beginning becomes this */
        const char *expected, *got;
    } rows[] = {
        {"learns node-outage", "lears", "says: lears", "says: learns node-outage"},
        {"\"send\": 0, ", "\"send\": 1, ", "sends", "to n0"},
        {"\"peer\": 7, ", "\"peer\": 8, ", "waits for rank 7", "waits for rank 8"},
    };
    int64_t line;
    char *at;

    record(NULL, 30, "lose node 7", 0);
    at = strstr(trace, rows[_i].text);
    ck_assert_ptr_nonnull(at);
    memcpy(at, rows[_i].change, strlen(rows[_i].change));
    line = line_of(at);
    ck_assert_int_eq(run_again(trace, trace_len), 1);
    ck_assert_int_ge(replay.line, line);
    ck_assert_int_le(replay.line, line + 2);
    ck_assert_msg(strstr(replay.expected, rows[_i].expected) != NULL, "%s", replay.expected);
    ck_assert_msg(strstr(replay.got, rows[_i].got) != NULL, "%s", replay.got);
    forget();
}

TEST_CASE(a_line_less_or_more_is_found)
{
    char *send, *end, *changed;
    size_t before, len;
    int64_t line;

    record(NULL, 30, "lose node 7", 0);
    send = strstr(trace, "\"send\": ");
    while (send[-1] != '\n')
        send--;
    line = line_of(send);
    end = strchr(send, '\n') + 1;
    before = (size_t) (send - trace);
    len = (size_t) (end - send);
    changed = malloc(trace_len + len);
    memcpy(changed, trace, before);
    memcpy(changed + before, end, trace_len - before - len);
    ck_assert_int_eq(run_again(changed, trace_len - len), 1);
    ck_assert_int_eq(replay.line, line);
    ck_assert_ptr_nonnull(strstr(replay.got, "sends"));

    memcpy(changed, trace, before + len);
    memcpy(changed + before + len, send, trace_len - before);
    ck_assert_int_eq(run_again(changed, trace_len + len), 1);
    ck_assert_int_eq(replay.line, line + 1);
    ck_assert_ptr_nonnull(strstr(replay.expected, "sends"));
    free(changed);
    forget();
}

TEST_CASE(a_truncated_file_is_no_trace)
{
    record(NULL, 10, "lose node 7", 0);
    for (size_t len = 0; len < trace_len; len += len < 1000 ? 37 : 997)
        ck_assert_msg(run_again(trace, len) == 2, "%zu bytes: %s", len, replay.got);
    ck_assert_int_eq(run_again(trace, (size_t) (line_at(20) - trace)), 2);
    ck_assert_int_eq(replay.line, 20);
    ck_assert_ptr_nonnull(strstr(replay.wrong, "cut off"));
    forget();
}

#define DIGITS_OF(number) #number
#define DIGITS(number) DIGITS_OF(number)
#define WIRE "\"wire\": " DIGITS(WIRE_VERSION)
#define HEAD \
    "{\"schema\": \"faultloc-trace/1\", " WIRE ", \"nodes\": 4, \"fanout\": 2, \"ranks\": 1, " \
    "\"begins\": 1000000000000, \"job_seed\": \"1\", \"topology\": null, \"topology_file\": null, " \
    "\"rules\": {\"hash\": \"0\"}, \"config\": {\"stall\": 1000000000, \"stall_repeat_max\": " \
    "10000000000, \"rto_min\": 150000000, \"rto_max\": 1000000000, \"silence\": 900000000, " \
    "\"settle\": 150000000, \"gather\": 400000000, \"late\": 200000000, \"linger\": 2000000000, " \
    "\"group_min\": 500000000, \"group_max\": 10000000000, \"recheck\": 1000000000, \"expire\": " \
    "10000000000, \"pending_max\": 256}}\n"
#define AT "{\"t\": 1000000000001, \"node\": 1, "
#define END "{\"t\": 1000000000002, \"end\": 1}\n"

TEST_CASES(malformed_files_are_refused, 26)
{
    static const struct {
        int line;
        const char *wrong;
        const char *text;
    } rows[] = {
        {1, "the file is empty", ""},
        {1, "cut off", "hello"},
        {1, "not JSON", "hello\n"},
        {1, "\"schema\" must be", "{}\n"},
        {1, "\"schema\" is \"x\"", "{\"schema\": \"x\"}\n"},
        {1, "not a JSON object", "[]\n"},
        {1, "version 1,", "{\"schema\": \"faultloc-trace/1\", \"wire\": 1}\n"},
        {2, "an empty line", HEAD "\n" END},
        {2, "not JSON", HEAD "{} {}\n"},
        {2, "does not end on its line", HEAD "{\n}\n"},
        {2, "\"t\" must be", HEAD "{}\n"},
        {2, "time goes back", HEAD "{\"t\": 5, \"end\": 1}\n"},
        {2, "outside 0 to 3", HEAD "{\"t\": 1000000000001, \"node\": 4, \"in\": \"tick\"}\n"},
        {2, "one of \"in\"", HEAD AT "\"x\": 1}\n"},
        {2, "not a known input", HEAD AT "\"in\": \"x\"}\n"},
        {2, "\"from\" must be", HEAD AT "\"in\": \"receive\"}\n"},
        {2, "even number",
         HEAD AT "\"in\": \"receive\", \"from\": 0, \"path\": 0, "
                 "\"bytes\": \"abc\"}\n"},
        {2, "not hexadecimal",
         HEAD AT "\"in\": \"receive\", \"from\": 0, \"path\": 0, "
                 "\"bytes\": \"abxy\"}\n"},
        {2, "\"path\" is 2", HEAD AT "\"in\": \"receive\", \"from\": 0, \"path\": 2}\n"},
        {2, "rank 2 is not on node 1", HEAD AT "\"in\": \"stall-over\", \"rank\": 2}\n"},
        {2, "\"peer\" is 4", HEAD AT "\"in\": \"stall\", \"rank\": 1, \"peer\": 4}\n"},
        {2, "before any input", HEAD AT "\"says\": \"x\"}\n" END},
        {3, "must be a letter",
         HEAD AT "\"in\": \"tick\"}\n" AT "\"look\": 1, \"phase\": 0, \"peer\": 0, \"waiting\": 0, "
                 "\"state\": \"RR\"}\n"},
        {3, "not [rank, phase, letter]",
         HEAD AT "\"in\": \"tick\"}\n" AT "\"state\": 1, \"ranks\": [[1, 2]]}\n"},
        {3, "without its input before it",
         HEAD AT "\"in\": \"tick\"}\n{\"t\": 1000000000001, \"node\": 2, \"says\": \"x\"}\n" END},
        {3, "behind the one with", HEAD END END},
    };

    ck_assert_int_eq(run_again(rows[_i].text, strlen(rows[_i].text)), 2);
    ck_assert_msg(strstr(replay.wrong, rows[_i].wrong) != NULL, "%s", replay.wrong);
    ck_assert_int_eq(replay.line, rows[_i].line);
}

TEST_CASES(numbers_of_the_first_line_are_within_bounds, 12)
{
    static const char *const rows[][2] = {
        {"\"nodes\": 4", "\"nodes\": 0"},
        {"\"nodes\": 4", "\"nodes\": 99999999"},
        {"\"nodes\": 4", "\"nodes\": \"4\""},
        {"\"fanout\": 2", "\"fanout\": 0"},
        {"\"ranks\": 1", "\"ranks\": 2000"},
        {"\"job_seed\": \"1\"", "\"job_seed\": \"x\""},
        {"\"stall\": 1000000000", "\"stall\": -1"},
        {"\"pending_max\": 256", "\"pending_max\": 0"},
        {"\"topology\": null", "\"topology\": \"/etc/passwd\""},
        {"\"topology\": null", "\"topology\": \"switch:2 node:4\""},
        {"\"topology_file\": null", "\"topology_file\": \"SwitchName=a Nodes=c[1-3]\""},
        {WIRE, "\"wire\": 2"},
    };
    static char text[4096];
    const char *at = strstr(HEAD END, rows[_i][0]);

    ck_assert_int_eq(run_again(HEAD END, strlen(HEAD END)), 0);
    ck_assert_ptr_nonnull(at);
    snprintf(text, sizeof(text), "%.*s%s%s", (int) (at - HEAD END), HEAD END, rows[_i][1],
             at + strlen(rows[_i][0]));
    ck_assert_int_eq(run_again(text, strlen(text)), 2);
    ck_assert_int_eq(replay.line, 1);
}

/* ---- traces with anything in them ------------------------------------------------------------ */

static struct draw state;

static uint32_t draw(uint32_t below)
{
    return (uint32_t) draw_below(&state, below);
}

static size_t change(char *text, size_t len)
{
    static const char *const words[] = {"0",  "-1", "99999999999", "null", "\"",  "{",    "}",
                                        "\n", "[",  "ff",          "1e9",  "\\u", "tick", "7"};
    const char *word = words[draw(COUNT(words))];
    size_t at = draw((uint32_t) len), n = strlen(word);

    switch (draw(4)) {
        case 0: /* another byte */
            text[at] = (char) draw(256);
            return len;
        case 1: /* a word in place of what is there */
            memcpy(text + at, word, at + n < len ? n : len - at);
            return len;
        case 2: /* a piece less */
            n = draw(200);
            n = n < len - at ? n : len - at;
            memmove(text + at, text + at + n, len - at - n);
            return len - n;
        default: /* a line elsewhere: what is told comes at another time */
            n = strcspn(text + at, "\n");
            memmove(text + at / 2, text + at, n < len - at ? n : len - at);
            return len;
    }
}

/* rows: changed_traces_do_no_harm 4.  What is found is one thing or another; that it is the right
 * one the tests above say. */
TEST_CASES(changed_traces_do_no_harm, 4)
{
    char *text;
    int codes[3] = {0};

    record(NULL, 8, _i % 2 ? "lose node 3" : "down node 3", 0);
    text = malloc(trace_len + 1);
    state = draw_stream(20260131, (uint64_t) _i);
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr)); /* topologies are told there */
    for (int i = 0; i < FILES; i++) {
        size_t len = trace_len;
        memcpy(text, trace, len + 1);
        for (uint32_t n = 1 + draw(3); n > 0 && len > 1; n--)
            text[len = change(text, len)] = 0;
        codes[run_again(text, len)]++;
        ck_assert(replay.line >= 0);
    }
    ck_assert_int_gt(codes[1], 0);
    ck_assert_int_gt(codes[2], 0);
    free(text);
    forget();
}
