/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* How the agent has services of the site asked: by faultloc-handlers, and by others in its place that
 * hang, die, or print anything. */

#include "faultloc/agent/act/handlers.h"
#include "faultloc/base/clock.h"
#include "ftree/base/symptom.h"
#include "ftree_inspect.h"
#include "script.h"

#include <poll.h>

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

static struct faultloc_handlers handlers;

BEFORE_EACH
{
    script_begin();
    strcpy(program.board->settings.handlers, "/etc/handlers.json");
    faultloc_handlers_init(&handlers, &program);
    strcpy(handlers.path, script);
}

AFTER_EACH
{
    faultloc_handlers_end(&handlers);
    script_end();
}

static void run_to_the_end(void)
{
    ftree_time limit = faultloc_now() + 60000 * FTREE_MS;

    while (faultloc_handlers_deadline(&handlers) != FTREE_NEVER && faultloc_now() < limit) {
        struct epoll_event e;
        epoll_wait(program.epoll, &e, 1, 5);
        faultloc_handlers_turn(&handlers, faultloc_now());
    }
    ck_assert_uint_eq(faultloc_handlers_deadline(&handlers), FTREE_NEVER);
}

TEST_CASE(without_a_file_nothing_is_started)
{
    *program.board->settings.handlers = '\0';
    ck_assert(!faultloc_handlers_ask(&handlers, faultloc_now(), 2));
    ck_assert_uint_eq(faultloc_handlers_deadline(&handlers), FTREE_NEVER);
}

TEST_CASE(it_is_told_of_whom_and_where_its_file_is)
{
    char lines[200], path[120];

    snprintf(path, sizeof(path), "%s/arguments", folder);
    snprintf(lines, sizeof(lines), "echo \"$@\" >%s\n", path);
    write_script(lines);
    ck_assert(faultloc_handlers_ask(&handlers, faultloc_now(), 2));
    run_to_the_end();
    ck_assert_ptr_nonnull(strstr(suite_text_of(path), "--file /etc/handlers.json --from "));
    ck_assert_ptr_nonnull(strstr(suite_text_of(path), " -- "));
}

static const char *const scripts[] = {
    "",
    "echo '{\"handler\": \"bmc\", \"symptom\": \"power-off\", \"text\": \"no power\"}' >&3\n",
    "echo nonsense >&3\n",
    "kill -11 $$\n",
    "exec yes >&3\n",
    "exec head -c 1G /dev/zero >&3\n",
    "exec 3>&-; sleep 100\n",
    "exit 77\n",
};

/* The core here examines nobody: that it is not harmed, and that all ends, is what is seen. */
TEST_CASES(whatever_it_does_is_over_in_the_end, COUNT(scripts))
{
    write_script(scripts[_i]);
    ck_assert(faultloc_handlers_ask(&handlers, faultloc_now(), 2));
    run_to_the_end();
}

static int running(void)
{
    int n = 0;

    for (int i = 0; i < FAULTLOC_HANDLERS_MAX; i++)
        n += handlers.child[i].pid > 0;
    return n;
}

/* The nodes of `program` are few: these have its names again and again. */
static void name_nodes(const char **names, int n)
{
    for (int i = 0; i < n; i++)
        names[i] = program.job.names[0];
    program.job.names = names;
}

/* A rack loses its power: each node is asked about once, so many at a time. */
TEST_CASE(a_thousand_nodes_have_their_turn)
{
    const char **before = program.job.names, *names[1000];
    char path[120], lines[200];
    int most = 0;

    snprintf(path, sizeof(path), "%s/arguments", folder);
    snprintf(lines, sizeof(lines), "echo x >>%s\n", path);
    write_script(lines);
    name_nodes(names, COUNT(names));
    for (int i = 0; i < COUNT(names); i++)
        ck_assert(faultloc_handlers_ask(&handlers, PROGRAM_NOW, i));
    ck_assert_int_eq(running(), FAULTLOC_HANDLERS_MAX);
    ck_assert_int_eq(handlers.waits, COUNT(names) - FAULTLOC_HANDLERS_MAX);
    while (running() > 0) {
        struct epoll_event e;
        epoll_wait(program.epoll, &e, 1, 5);
        faultloc_handlers_turn(&handlers, PROGRAM_NOW); /* time stands still: nobody is late */
        most = running() > most ? running() : most;
    }
    ck_assert_int_le(most, FAULTLOC_HANDLERS_MAX);
    ck_assert_int_eq(handlers.waits, 0);
    ck_assert_int_eq((int) strlen(suite_text_of(path)), 2 * COUNT(names));
    program.job.names = before;
}

TEST_CASE(who_waits_too_long_is_not_asked)
{
    const char **before = program.job.names, *names[100];

    write_script("sleep 100\n");
    name_nodes(names, COUNT(names));
    for (int i = 0; i < COUNT(names); i++)
        ck_assert(faultloc_handlers_ask(&handlers, PROGRAM_NOW, i));
    ck_assert(faultloc_handlers_ask(&handlers, PROGRAM_NOW, 99)); /* once */
    ck_assert_int_eq(handlers.waits, COUNT(names) - FAULTLOC_HANDLERS_MAX);
    ck_assert_uint_le(faultloc_handlers_deadline(&handlers), PROGRAM_NOW + FAULTLOC_HANDLERS_PATIENCE);
    for (int i = 0; i < FAULTLOC_HANDLERS_MAX; i++)
        handlers.child[i].until = FTREE_NEVER; /* they run on */
    faultloc_handlers_turn(&handlers, PROGRAM_NOW + FAULTLOC_HANDLERS_PATIENCE);
    ck_assert_int_eq(handlers.waits, 0);
    program.job.names = before;
}

TEST_CASE(more_than_can_wait_are_refused)
{
    const char **before = program.job.names, *names[FAULTLOC_HANDLERS_MAX + FAULTLOC_HANDLERS_WAIT_MAX + 1];

    write_script("sleep 100\n");
    name_nodes(names, COUNT(names));
    for (int i = 0; i < COUNT(names); i++)
        ck_assert_int_eq(faultloc_handlers_ask(&handlers, PROGRAM_NOW, i), i + 1 < COUNT(names));
    program.job.names = before;
}

TEST_CASE(what_comes_of_an_earlier_question_is_about_nobody)
{
    write_script("sleep 100\n");
    ck_assert(faultloc_handlers_ask(&handlers, faultloc_now(), 2));
    ck_assert(faultloc_handlers_ask(&handlers, faultloc_now(), 1));
    ck_assert(faultloc_handlers_ask(&handlers, faultloc_now(), 2));
    ck_assert_int_eq(handlers.node[0], FTREE_NONE);
    ck_assert_int_eq(handlers.node[1], 1);
    ck_assert_int_eq(handlers.node[2], 2);
}

/* Another node judges this one. */
TEST_CASE(what_they_find_of_the_own_node_is_a_symptom_and_they_are_not_asked_again_soon)
{
    write_script("echo '{\"handler\": \"os\", \"text\": \"well\"}' >&3\n"
                 "echo '{\"handler\": \"os\", \"symptom\": \"memory-pressure\", \"text\": \"short\"}' >&3\n"
                 "echo '{\"handler\": \"os\", \"symptom\": \"port-down\", \"text\": \"of a link\"}' >&3\n");
    ck_assert_int_eq(ftree_inspect_forwards(program.ft), 0);
    ck_assert(faultloc_handlers_ask_home(&handlers, PROGRAM_NOW));
    ck_assert(faultloc_handlers_ask_home(&handlers, PROGRAM_NOW)); /* it is about to answer */
    ck_assert_int_eq(handlers.node[0], 0);
    run_to_the_end();
    ck_assert_int_gt(ftree_inspect_forwards(program.ft), 0);
    ck_assert(!faultloc_handlers_ask_home(&handlers, PROGRAM_NOW + FAULTLOC_HANDLERS_PAUSE - 1));
    ck_assert_uint_eq(faultloc_handlers_deadline(&handlers), FTREE_NEVER);
    faultloc_handlers_ask_home(&handlers, PROGRAM_NOW + FAULTLOC_HANDLERS_PAUSE);
    ck_assert_uint_ne(faultloc_handlers_deadline(&handlers), FTREE_NEVER);
    for (int i = 0; i < 20; i++)
        faultloc_handlers_ask_home(&handlers, handlers.home_at);
    ck_assert_uint_eq(handlers.home_pause, FAULTLOC_HANDLERS_PAUSE_MAX);
}

static const struct {
    const char *line;
    bool good;
    int symptom;
    const char *text;
    int age_s;
} lines[] = {
    {"{\"handler\":\"bmc\",\"symptom\":\"fan-failed\",\"age_s\":40,\"text\":\"fan 2\"}", true,
     FTREE_SYMPTOM_FAN_FAILED, "bmc: fan-failed: fan 2", 40},
    {"{\"handler\":\"bmc\",\"age_s\":-1e300,\"text\":\"fan 2\"}", true, -1, "bmc: fan 2", 0},
    {"{\"handler\":\"bmc\",\"symptom\":\"power-off\",\"text\":\"no power\"}", true,
     FTREE_SYMPTOM_POWER_OFF, "bmc: power-off: no power", 0},
    {"{\"handler\":\"bmc\",\"text\":\"a\\u001bb\"}", true, -1, "bmc: a?b", 0},
    {"{\"handler\":\"bmc\",\"why_not\":\"busy\"}", true, -1, "bmc: busy", 0},
    {"{\"handler\":\"bmc\",\"symptom\":\"nonsense\",\"text\":\"x\"}", false, 0, "", 0},
    {"{\"symptom\":\"power-off\",\"text\":\"x\"}", false, 0, "", 0},
    {"{\"handler\":\"bmc\"}", false, 0, "", 0},
    {"{\"handler\":7,\"text\":\"x\"}", false, 0, "", 0},
    {"[]", false, 0, "", 0},
    {"", false, 0, "", 0},
    {"{", false, 0, "", 0},
};

TEST_CASES(a_line, COUNT(lines))
{
    char text[FTREE_DETAIL_MAX];
    ftree_time age;
    int symptom;

    ck_assert_int_eq(faultloc_handlers_read(lines[_i].line, strlen(lines[_i].line), &symptom, &age,
                                            text, sizeof(text)),
                     lines[_i].good);
    if (!lines[_i].good)
        return;
    ck_assert_int_eq(symptom, lines[_i].symptom);
    ck_assert_uint_eq(age, (ftree_time) lines[_i].age_s * 1000 * FTREE_MS);
    ck_assert_str_eq(text, lines[_i].text);
}
