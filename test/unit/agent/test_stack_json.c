/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What faultloc-handler prints is checked. */

#include "faultloc/agent/report/node_stacks.h"
#include "ftree/report/report.h"
#include "ftree/stacks/stacks.h"
#include "suite.h"
#include "world.h"

static const char good[] =
    "{\"schema\":\"faultloc-handler/1\",\"pid\":77,\"stacks\":true,\"state\":\"S\",\"name\":\"app\","
    "\"cpu_s\":1.5,\"thread_count\":2,\"threads\":["
    "{\"tid\":77,\"name\":\"app\",\"state\":\"S\",\"wait_channel\":\"pipe_read\",\"cpu_s\":1.5,"
    "\"syscall\":\"read\",\"open_file\":{\"fd\":3,\"path\":\"/d/f\",\"mount_point\":\"/d\","
    "\"type\":\"nfs4\",\"source\":\"s:/d\",\"server\":\"s\"},\"frames\":["
    "{\"function\":\"progress\",\"module\":\"libmpi.so.12\"},"
    "{\"function\":\"MPI_Recv\",\"module\":\"libmpi.so.12\"},"
    "{\"function\":\"solve\",\"file\":\"/home/u/solver.c\",\"line\":120,\"module\":\"app\"},"
    "{\"function\":\"main\",\"file\":\"/home/u/app.c\",\"line\":40,\"module\":\"app\"},"
    "{\"function\":\"__libc_start_main\",\"module\":\"libc.so.6\"},"
    "{\"function\":\"_start\",\"module\":\"app\"}]},"
    "{\"tid\":78,\"name\":\"async\",\"frames\":[{\"function\":\"epoll_wait\"}]}]}";

static struct json_object *check(const char *text)
{
    return faultloc_stack_check(text, strlen(text));
}

TEST_CASE(what_is_good_stays)
{
    struct json_object *o = check(good), *again;
    const char *text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);

    ck_assert_ptr_nonnull(o);
    ck_assert_int_eq(faultloc_stack_pid(o), 77);
    ck_assert(faultloc_stack_is_whole(o));
    ck_assert_ptr_nonnull(strstr(text, "\"server\":\"s\""));
    ck_assert_ptr_nonnull(strstr(text, "\"cpu_s\":1.500"));
    again = check(text); /* it travels */
    ck_assert_str_eq(json_object_to_json_string_ext(again, JSON_C_TO_STRING_PLAIN), text);
    json_object_put(again);
    json_object_put(o);
}

TEST_CASE(calls_go_from_main_to_the_mpi_function)
{
    struct json_object *o = check(good);
    struct ftree_call call[8];

    ck_assert_int_eq(faultloc_stack_calls(o, 0, call, 8), 3);
    ck_assert_str_eq(call[0].function, "main");
    ck_assert_int_eq(call[1].line, 120);
    ck_assert_str_eq(call[2].function, "MPI_Recv");
    ck_assert_int_eq(faultloc_stack_calls(o, 0, call, 2), 2);
    ck_assert_int_eq(faultloc_stack_calls(o, 1, call, 8), 1);
    ck_assert_int_eq(faultloc_stack_calls(o, 2, call, 8), -1);
    ck_assert(!faultloc_stack_is_helper(o, 0) && faultloc_stack_is_helper(o, 1));
    faultloc_stack_add_lines(o);
    ck_assert_ptr_nonnull(
        strstr(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN),
               "\"stack\":\"main app.c:40 > solve solver.c:120 > MPI_Recv\""));
    json_object_put(o);
}

/* rows: a function of the program that MPI calls, a driver, a signal; and a transport, which is of no
 * interest.  The function of MPI may be that of a tool, which has called its own, or the library's. */
static const struct {
    const char *inner, *module, *mpi;
    int32_t calls;
} insides[] = {{"reduce", "app", "libmpi.so.12", 5},
               {"ibv_poll_cq", "libibverbs.so.1", "libmpi.so.12", 5},
               {"__restore_rt", "libc.so.6", "libmpi.so.12", 5},
               {"ucp_worker_progress", "libucp.so.0", "libmpi.so.12", 2},
               {"epoll_wait", "libc.so.6", "libmpi.so.12", 2},
               {"enter", "app", "app", 5},
               {"enter", "libmpiP.so", "libmpiP.so", 5},
               {"PMPI_Wait", "libmpi.so.12", "libmpiP.so", 2},
               {"PMPI_Wait", "libmpich.so.10", "app", 2}};

TEST_CASES(what_mpi_calls_is_shown, COUNT(insides))
{
    char text[512];
    struct json_object *o;
    struct ftree_call call[8];

    snprintf(text, sizeof(text),
             "{\"schema\":\"faultloc-handler/1\",\"threads\":[{\"frames\":["
             "{\"function\":\"pause\",\"module\":\"libc.so.6\"},"
             "{\"function\":\"%s\",\"module\":\"%s\"},"
             "{\"function\":\"progress\",\"module\":\"libmpi.so.12\"},"
             "{\"function\":\"MPI_Wait\",\"module\":\"%s\"},"
             "{\"function\":\"main\",\"module\":\"app\"}]}]}",
             insides[_i].inner, insides[_i].module, insides[_i].mpi);
    o = check(text);
    ck_assert_int_eq(faultloc_stack_calls(o, 0, call, 8), insides[_i].calls);
    ck_assert_str_eq(call[1].function, "MPI_Wait");
    json_object_put(o);
}

/* rows: an interpreter's functions and its glue are one call, also where it is called by a program, and
 * what is between two of them is shown; a program's own that use libffi stay. */
#define MODULES 6

static const struct {
    const char *module[MODULES], *stack; /* the innermost first */
} rows_of_scripts[] = {
    {{"libmpi.so.12", "libffi.so.8", "_ctypes.so", "python3.11", "python3.11", "python3.11"},
     "Python > MPI_Wait (py-spy dump --pid 77 shows the line)"},
    {{"libmpi.so.12", "MPI.abi3.so", "libpython3.so", "app"},
     "f > Python > MPI_Wait (py-spy dump --pid 77 shows the line)"},
    {{"libmpi.so.12", "python3", "solver.so", "python3"},
     "Python > f > Python > MPI_Wait (py-spy dump --pid 77 shows the line)"},
    {{"libmpi.so.12", "libR.so", "libR.so"}, "R > MPI_Wait"},
    {{"libmpi.so.12", "libffi.so.8", "app"}, "f > f > MPI_Wait"},
};

TEST_CASES(scripts_are_one_call, COUNT(rows_of_scripts))
{
    char text[1024] = "{\"schema\":\"faultloc-handler/1\",\"pid\":77,\"threads\":[{\"frames\":[",
         line[160];
    struct json_object *o;

    for (int i = 0; i < MODULES && rows_of_scripts[_i].module[i]; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "%s{\"function\":\"%s\",\"module\":\"%s\"}", i ? "," : "", i ? "f" : "MPI_Wait",
                 rows_of_scripts[_i].module[i]);
    strcat(text, "]}]}");
    o = check(text);
    faultloc_stack_add_lines(o);
    snprintf(line, sizeof(line), "\"stack\":\"%s\"", rows_of_scripts[_i].stack);
    ck_assert_msg(strstr(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN), line), "%s, not %s",
                  json_object_to_json_string(o), line);
    json_object_put(o);
}

static const char *const bad[] = {
    "", "null", "[]", "7", "{}", "{\"schema\":\"faultloc-handler/2\"}", "{\"schema\":7}",
    "{\"schema\":\"faultloc-handler/1\"} x",
    "{\"schema\":\"faultloc-handler/1\",\"threads\":[[[[[[[[[[[[]]]]]]]]]]]]}"};

TEST_CASES(what_is_none_is_refused, COUNT(bad))
{
    ck_assert_ptr_null(check(bad[_i]));
}

/* Members of another type are left out, and so is what is not known; numbers and texts are
 * bounded. */
TEST_CASE(what_is_odd_is_left_out)
{
    struct json_object *o =
        check("{\"schema\":\"faultloc-handler/1\",\"pid\":\"77\",\"state\":\"SS\",\"cpu_s\":-1.0,"
              "\"name\":\"a\\u001b[31m\\n\",\"more\":[1,2],\"threads\":[7,{\"frames\":{\"a\":1},"
              "\"tid\":1e300,\"open_file\":[]},{\"frames\":[[],{\"line\":-5,\"function\":9}]}]}");
    struct ftree_call call[4];

    ck_assert_str_eq(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN),
                     "{\"state\":\"S\",\"name\":\"a?[31m?\",\"schema\":\"faultloc-handler\\/1\","
                     "\"threads\":[{},{\"frames\":[{\"line\":-5}]}]}");
    ck_assert_int_eq(faultloc_stack_pid(o), 0);
    ck_assert_int_eq(faultloc_stack_calls(o, 1, call, 4), 1);
    ck_assert_int_eq(call[0].line, 0);
    json_object_put(o);
}

/* Each byte changed, and cut at each place. */
TEST_CASE(spoilt_bytes_do_no_harm)
{
    struct ftree_call call[8];
    struct json_object *o;
    char text[sizeof(good)];

    for (size_t i = 0; i < sizeof(good) - 1; i++) {
        char *copy = malloc(i + 1);
        memcpy(copy, good, i);
        o = faultloc_stack_check(copy, i); /* a byte more is not read */
        ck_assert_ptr_null(o);
        free(copy);
        for (int bit = 0; bit < 8; bit++) {
            memcpy(text, good, sizeof(good));
            text[i] = (char) (text[i] ^ 1 << bit);
            o = faultloc_stack_check(text, sizeof(good) - 1);
            for (int32_t t = 0; o && t < 3; t++)
                faultloc_stack_calls(o, t, call, 8);
            json_object_put(o);
        }
    }
}

TEST_CASE(ranks_without_a_stack_are_named)
{
    struct world *w = world_of((struct shape){.nodes = 2, .ranks = 2, .fanout = 2});
    struct faultloc_stack stack[] = {{.local = 0, .process = check(good)},
                                     {.local = 1, .why = "faultloc-handler was killed by signal 11"}};
    struct ftree *ft = w->node[1].ft;
    struct ftree_stacks s = {0};
    char *text;

    faultloc_stacks_collect(ft, &w->job, 1, stack, 2, true, &s);
    text = ftree_report_stacks(&s, "");
    ck_assert_str_eq(text, "1 rank (2)  main app.c:40 > solve solver.c:120 > MPI_Recv\n"
                           "1 rank (3)  no stack: faultloc-handler was killed by signal 11\n");
    ck_assert_int_eq(s.details, 1);
    ck_assert_int_eq(s.detail[0].rank, 2);
    free(text);
    json_object_put(stack[0].process);
    ftree_stacks_clear(ft, &s);
}
