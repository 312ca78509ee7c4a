/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Handlers as processes: good ones, and such as hang, die, print anything, or ask for a terminal. */

#include "faultloc/base/clock.h"
#include "faultloc/site/site.h"
#include "suite.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))
#define SECOND (1000 * FTREE_MS)

static char folder[] = "/tmp/faultloc-ask-XXXXXX", script[64];
static struct site_config c;

BEFORE_EACH
{
    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(script, sizeof(script), "%s/handler", folder);
    memset(&c, 0, sizeof(c));
    signal(SIGCHLD, SIG_DFL);
}

AFTER_EACH
{
    site_config_free(&c);
    unlink(script);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void write_script(const char *lines)
{
    FILE *f = fopen(script, "w");

    ck_assert_ptr_nonnull(f);
    fprintf(f, "%s", lines);
    fclose(f);
    ck_assert_int_eq(chmod(script, 0700), 0);
}

static struct site_handler *add(const char *name, int deadline_ms)
{
    struct site_handler *h = &c.handler[c.n++];

    *h = (struct site_handler){.name = name, .program = script, .deadline_ms = deadline_ms};
    h->request = json_tokener_parse("{\"node\": \"c17\", \"password\": \"secret\"}");
    return h;
}

static const char *ask(int *failed)
{
    static char text[65536];
    char *out = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&out, &len);

    *failed = site_ask_all(&c, f);
    fclose(f);
    snprintf(text, sizeof(text), "%s", out);
    free(out);
    return text;
}

static const struct {
    const char *what, *script, *said;
    int failed;
} handlers[] = {
    {"finds something", "#!/bin/sh\necho '{\"symptom\": \"power-off\", \"text\": \"no power\"}'\n",
     "{\"handler\":\"h\",\"symptom\":\"power-off\",\"text\":\"no power\"}\n", 0},
    {"finds two things",
     "#!/bin/sh\necho '{\"text\": \"a\", \"value\": 1}'\necho '{\"text\": \"b\", \"x\": [1]}'\n",
     "{\"handler\":\"h\",\"text\":\"a\"}\n{\"handler\":\"h\",\"text\":\"b\"}\n", 0},
    {"says why not", "#!/bin/sh\necho '{\"why_not\": \"busy\"}'\n",
     "{\"handler\":\"h\",\"why_not\":\"busy\"}\n", 0},
    {"says nothing", "#!/bin/sh\nexit 0\n", "{\"handler\":\"h\",\"why_not\":\"said nothing\"}\n",
     1},
    {"fails", "#!/bin/sh\nexit 3\n", "{\"handler\":\"h\",\"why_not\":\"ended with code 3\"}\n", 1},
    {"dies", "#!/bin/sh\nkill -9 $$\n",
     "{\"handler\":\"h\",\"why_not\":\"was killed by signal 9\"}\n", 1},
    {"prints garbage", "#!/bin/sh\necho hello\n",
     "{\"handler\":\"h\",\"why_not\":\"printed no valid finding\"}\n", 1},
    {"prints no whole line", "#!/bin/sh\nprintf '{\"text\": \"a\"}'\n",
     "{\"handler\":\"h\",\"why_not\":\"printed no valid finding\"}\n", 1},
    {"has a symptom that there is not",
     "#!/bin/sh\necho '{\"symptom\": \"nonsense\", \"text\": \"a\"}'\n",
     "{\"handler\":\"h\",\"why_not\":\"printed no valid finding\"}\n", 1},
    {"has what a terminal would obey",
     "#!/bin/sh\necho '{\"text\": \"a\\u001b[2Jb\\u0000c\\u202e\"}'\n",
     "{\"handler\":\"h\",\"text\":\"a?[2Jb\"}\n", 0},
    {"finds something and dies", "#!/bin/sh\necho '{\"text\": \"a\"}'\nkill -11 $$\n",
     "{\"handler\":\"h\",\"text\":\"a\"}\n"
     "{\"handler\":\"h\",\"why_not\":\"was killed by signal 11\"}\n",
     1},
    {"prints without end", "#!/bin/sh\nexec yes\n",
     "{\"handler\":\"h\",\"why_not\":\"prints too much\"}\n", 1},
    {"prints a gigabyte without a newline", "#!/bin/sh\nexec head -c 1G /dev/zero\n",
     "{\"handler\":\"h\",\"why_not\":\"prints too much\"}\n", 1},
    {"has no interpreter", "#!/nowhere/at/all\n",
     "{\"handler\":\"h\",\"why_not\":\"cannot be executed, or is not installed\"}\n", 1},
    {"leaves one behind that holds its output",
     "#!/bin/sh\nsleep 1000 &\necho '{\"text\": \"a\"}'\n", "{\"handler\":\"h\",\"text\":\"a\"}\n",
     0},
    {"asks for a terminal",
     "#!/bin/sh\nif (: >/dev/tty) 2>/dev/null; then echo '{\"text\": \"has one\"}'; "
     "else echo '{\"text\": \"has none\"}'; fi\n",
     "{\"handler\":\"h\",\"text\":\"has none\"}\n", 0},
    {"reads its request",
     "#!/bin/sh\nread -r x\ncase $x in *'\"node\":\"c17\"'*secret*) "
     "echo '{\"text\": \"yes\"}';; esac\n",
     NULL, 0},
    {"looks at its environment and arguments",
     "#!/bin/sh\nif [ $# = 0 ] && ! env | grep -q secret; then echo '{\"text\": \"clean\"}'; fi\n",
     "{\"handler\":\"h\",\"text\":\"clean\"}\n", 0},
    {"has no other descriptors",
     "#!/bin/sh\nset -- /proc/self/fd/*\n[ $# -gt 5 ] || echo '{\"text\": \"none\"}'\n",
     "{\"handler\":\"h\",\"text\":\"none\"}\n", 0},
};

TEST_CASES(a_handler, COUNT(handlers))
{
    const char *said;
    int failed;

    write_script(handlers[_i].script);
    add("h", 20000);
    said = ask(&failed);
    if (handlers[_i].said)
        ck_assert_str_eq(said, handlers[_i].said);
    ck_assert_int_eq(failed, handlers[_i].failed);
}

TEST_CASE(one_that_hangs_is_ended_and_what_it_said_counts)
{
    ftree_time begin = faultloc_now();
    int failed;

    write_script("#!/bin/sh\necho '{\"text\": \"a\"}'\nsleep 100 &\nexec sleep 100\n");
    add("h", 300);
    ck_assert_str_eq(ask(&failed), "{\"handler\":\"h\",\"text\":\"a\"}\n"
                                   "{\"handler\":\"h\",\"why_not\":\"no answer in 300 ms\"}\n");
    ck_assert_int_eq(failed, 1);
    ck_assert_uint_lt(faultloc_now() - begin, 60 * SECOND);
}

static void find_and_hang(struct json_object *request, FILE *out)
{
    (void) request;
    fprintf(out, "{\"text\": \"a\"}\n");
    pause();
}

/* Of those that come with FaultLoc as well. */
TEST_CASE(one_of_ours_that_hangs_has_said_what_it_found)
{
    int failed;

    add("h", 300)->program = NULL;
    c.handler[0].run = find_and_hang;
    ck_assert_str_eq(ask(&failed), "{\"handler\":\"h\",\"text\":\"a\"}\n"
                                   "{\"handler\":\"h\",\"why_not\":\"no answer in 300 ms\"}\n");
    ck_assert_int_eq(failed, 1);
}

/* Its output is closed, and that is all. */
TEST_CASE(one_that_closes_its_output_and_hangs_is_ended)
{
    int failed;

    write_script("#!/bin/sh\necho '{\"text\": \"a\"}'\nexec sleep 100 >/dev/null\n");
    add("h", 20000);
    ck_assert_ptr_nonnull(strstr(ask(&failed), "{\"handler\":\"h\",\"text\":\"a\"}\n"));
}

TEST_CASE(all_are_asked_at_once_and_a_slow_one_holds_up_no_other)
{
    const char *said;
    int failed;

    write_script("#!/bin/sh\nread -r x\ncase $x in *slow*) sleep 100;; esac\n"
                 "echo '{\"text\": \"a\"}'\n");
    json_object_object_add(add("slow", 1500)->request, "is", json_object_new_string("slow"));
    add("quick", 20000);
    said = ask(&failed);
    ck_assert_ptr_eq(strstr(said, "{\"handler\":\"quick\",\"text\":\"a\"}\n"), said);
    ck_assert_ptr_nonnull(strstr(said, "{\"handler\":\"slow\",\"why_not\":\"no answer in 1500 ms\"}\n"));
    ck_assert_int_eq(failed, 1);
}

TEST_CASE(at_most_eight_lines_are_printed)
{
    int failed, lines = 0;

    write_script("#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9 10; do echo '{\"text\": \"a\"}'; done\n");
    add("h", 20000);
    for (const char *at = ask(&failed); (at = strchr(at, '\n')); at++)
        lines++;
    ck_assert_int_eq(lines, SITE_LINES_MAX);
}

TEST_CASE(lines_with_a_symptom_come_first_and_do_not_count)
{
    int failed, lines = 0;
    const char *said;

    write_script("#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9 10; do echo '{\"text\": \"a\"}'; done\n"
                 "echo '{\"symptom\": \"power-off\", \"text\": \"b\"}'\n");
    add("h", 20000);
    said = ask(&failed);
    ck_assert_ptr_eq(strstr(said, "{\"handler\":\"h\",\"symptom\":\"power-off\""), said);
    for (const char *at = said; (at = strchr(at, '\n')); at++)
        lines++;
    ck_assert_int_eq(lines, SITE_LINES_MAX + 1);
}

TEST_CASE(one_that_is_not_asked_says_why)
{
    struct site_handler *h = add("h", 1000);
    int failed;

    json_object_put(h->request);
    h->request = NULL;
    strcpy(h->why, "\"of_node\" has no \"port\" of this node");
    ck_assert_str_eq(
        ask(&failed),
        "{\"handler\":\"h\",\"why_not\":\"\\\"of_node\\\" has no \\\"port\\\" of this node\"}\n");
}
