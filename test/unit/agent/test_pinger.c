/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* How the agent has the fabric asked: by faultloc-fabric, and by others in its place that hang, die, or
 * print anything. */

#include "faultloc/agent/act/pinger.h"
#include "faultloc/base/clock.h"
#include "script.h"


#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

static struct faultloc_pinger pinger;

BEFORE_EACH
{
    script_begin();
    faultloc_pinger_init(&pinger, &program);
    strcpy(pinger.path, script);
}

AFTER_EACH
{
    faultloc_pinger_end(&pinger);
    script_end();
}

static void run_to_the_end(void)
{
    ftree_time limit = faultloc_now() + 60000 * FTREE_MS;

    while (faultloc_pinger_deadline(&pinger) != FTREE_NEVER && faultloc_now() < limit) {
        struct epoll_event e;
        epoll_wait(program.epoll, &e, 1, 5);
        faultloc_pinger_turn(&pinger, faultloc_now());
    }
    ck_assert_uint_eq(faultloc_pinger_deadline(&pinger), FTREE_NEVER);
}

/* ---- what it prints ---------------------------------------------------------------------------- */

static const struct {
    const char *line;
    enum faultloc_pinger_word word;
    enum ftree_fabric says;
    uint32_t us;
    const char *why;
} lines[] = {
    {"{\"address\": \"00ff\"}", FAULTLOC_PINGER_ADDRESS, FTREE_FABRIC_NONE, 0, ""},
    {"{\"fabric\": \"listens\"}", FAULTLOC_PINGER_LISTENS, FTREE_FABRIC_NONE, 0, ""},
    {"{\"fabric\": \"held\"}", FAULTLOC_PINGER_HELD, FTREE_FABRIC_NONE, 0, ""},
    {"{\"fabric\": \"over\", \"answered\": 2}", FAULTLOC_PINGER_OVER, FTREE_FABRIC_NONE, 0, ""},
    {"{\"fabric\": \"passes\", \"us\": 35}", FAULTLOC_PINGER_RESULT, FTREE_FABRIC_PASSES, 35, ""},
    {"{\"fabric\": \"passes\", \"us\": -1}", FAULTLOC_PINGER_RESULT, FTREE_FABRIC_PASSES, 0, ""},
    {"{\"fabric\": \"silent\"}", FAULTLOC_PINGER_RESULT, FTREE_FABRIC_SILENT, 0, ""},
    {"{\"fabric\": \"none\", \"why\": \"no\\u001bdevice\"}", FAULTLOC_PINGER_RESULT, FTREE_FABRIC_NONE, 0,
     "no?device"},
    {"{\"address\": \"\"}", FAULTLOC_PINGER_GARBAGE, FTREE_FABRIC_NONE, 0, ""},
    {"{\"address\": \"0\"}", FAULTLOC_PINGER_GARBAGE, FTREE_FABRIC_NONE, 0, ""},
    {"{\"address\": \"0x\"}", FAULTLOC_PINGER_GARBAGE, FTREE_FABRIC_NONE, 0, ""},
    {"{\"address\": 1}", FAULTLOC_PINGER_GARBAGE, FTREE_FABRIC_NONE, 0, ""},
    {"{\"fabric\": \"burns\"}", FAULTLOC_PINGER_GARBAGE, FTREE_FABRIC_NONE, 0, ""},
    {"[\"fabric\"]", FAULTLOC_PINGER_GARBAGE, FTREE_FABRIC_NONE, 0, ""},
    {"{", FAULTLOC_PINGER_GARBAGE, FTREE_FABRIC_NONE, 0, ""},
    {"", FAULTLOC_PINGER_GARBAGE, FTREE_FABRIC_NONE, 0, ""},
};

TEST_CASES(a_line_is_read, COUNT(lines))
{
    static struct faultloc_pinger_line out;

    faultloc_pinger_read(lines[_i].line, strlen(lines[_i].line), &out);
    ck_assert_int_eq(out.word, lines[_i].word);
    ck_assert_int_eq(out.says, lines[_i].says);
    ck_assert_uint_eq(out.us, lines[_i].us);
    ck_assert_str_eq(out.why, lines[_i].why);
}

TEST_CASE(an_address_is_bounded)
{
    static char line[2 * FTREE_FABRIC_BYTES + 100];
    static struct faultloc_pinger_line out;

    for (int more = 0; more < 2; more++) {
        int bytes = FTREE_FABRIC_BYTES + more;
        snprintf(line, sizeof(line), "{\"address\": \"%0*d\"}", 2 * bytes, 0);
        faultloc_pinger_read(line, strlen(line), &out);
        ck_assert_int_eq(out.word, more ? FAULTLOC_PINGER_GARBAGE : FAULTLOC_PINGER_ADDRESS);
        ck_assert_uint_eq(out.len, more ? 0 : FTREE_FABRIC_BYTES);
    }
}

/* ---- starting it ------------------------------------------------------------------------------- */

/* The address has a key, so it is no argument. */
TEST_CASE(it_is_told_the_address)
{
    static int32_t pids[64] = {4711, 4712};
    char text[200], path[120];

    program.job.job.rank_pid = pids;
    strcpy(program.board->over, "2/net/eth0");
    snprintf(path, sizeof(path), "%s/arguments", folder);
    snprintf(text, sizeof(text), "{ echo \"$@\"; cat; } >%s\n", path);
    write_script(text);
    ck_assert(faultloc_pinger_ask(&pinger, faultloc_now(), 7, (const uint8_t *) "\x01\xfe", 2));
    run_to_the_end();
    ck_assert_str_eq(suite_text_of(path), "ping --fd 3 --deadline 2000 --like 4711,4712 --over 2/net/eth0 -\n01fe");
}

static const char *const libraries[][2] = {
    {"", "UCX"}, {"2/tcp;ofi_rxm/eth0", "libfabric tcp;ofi_rxm"}, {"9/shm", "libfabric shm"}, {"2/", "libfabric "}};

TEST_CASES(the_library_has_a_name, COUNT(libraries))
{
    char name[64];

    faultloc_pinger_library(libraries[_i][0], name, sizeof(name));
    ck_assert_str_eq(name, libraries[_i][1]);
}

TEST_CASE(one_listens_at_a_time)
{
    write_script("sleep 100\n");
    ck_assert(faultloc_pinger_listen(&pinger, faultloc_now()));
    ck_assert(!faultloc_pinger_listen(&pinger, faultloc_now()));
}

TEST_CASE(what_it_has_said_is_not_read_again)
{
    ftree_time limit = faultloc_now() + 60000 * FTREE_MS;

    write_script("echo '{\"address\": \"00\"}' >&3\nsleep 100\n");
    ck_assert(faultloc_pinger_listen(&pinger, faultloc_now()));
    while (pinger.read == 0 && faultloc_now() < limit) {
        struct epoll_event e;
        epoll_wait(program.epoll, &e, 1, 5);
        faultloc_pinger_turn(&pinger, faultloc_now());
    }
    ck_assert_uint_gt(pinger.read, 0);
    ck_assert(!faultloc_pinger_listen(&pinger, faultloc_now()));
    ck_assert_uint_gt(pinger.read, 0);
}

TEST_CASE(some_ask_at_a_time)
{
    write_script("sleep 100\n");
    for (int i = 0; i < FAULTLOC_PINGER_ASKS; i++)
        ck_assert(faultloc_pinger_ask(&pinger, faultloc_now(), 7, (const uint8_t *) "a", 1));
    ck_assert(!faultloc_pinger_ask(&pinger, faultloc_now(), 7, (const uint8_t *) "a", 1));
}

/* Then it is not started any more: MPICH's device is another. */
TEST_CASE(where_it_does_not_exist_it_is_not_asked_again)
{
    ck_assert(faultloc_pinger_listen(&pinger, faultloc_now()));
    run_to_the_end();
    ck_assert(!faultloc_pinger_listen(&pinger, faultloc_now()));
    ck_assert(!faultloc_pinger_ask(&pinger, faultloc_now(), 7, (const uint8_t *) "a", 1));
}

static const char *const scripts[] = {
    "",
    "echo '{\"fabric\": \"silent\"}' >&3\n",
    "echo '{\"address\": \"00\"}' >&3\n",
    "echo nonsense >&3\n",
    "echo -n '{\"fabric\"' >&3\n",
    "kill -11 $$\n",
    "kill -19 $$\n",
    "exec yes >&3\n",
    "exec 3>&-; sleep 100\n",
    "exit 77\n",
};

/* Nobody has asked the core: that it is not harmed, and that all ends, is what is seen. */
TEST_CASES(whatever_it_does_is_over_in_the_end, COUNT(scripts))
{
    write_script(scripts[_i]);
    ck_assert(faultloc_pinger_listen(&pinger, faultloc_now()));
    ck_assert(faultloc_pinger_ask(&pinger, faultloc_now(), 7, (const uint8_t *) "a", 1));
    run_to_the_end();
}
