/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* The file that names handlers: who may read it, what is in it, what a handler is told of a node. */

#include "faultloc/site/site.h"
#include "suite.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

static struct site_config c;
static char why[SITE_WHY_MAX];
static const struct site_question question = {.node = "c17", .from = "c01", .since_ms = 4711};

static bool reads(const char *text)
{
    struct json_object *root = json_tokener_parse(text);

    ck_assert_ptr_nonnull(root);
    *why = '\0';
    return site_config_read(&c, root, &question, why);
}

AFTER_EACH
{
    site_config_free(&c);
    memset(&c, 0, sizeof(c));
}

/* ---- names that follow a node's -------------------------------------------------------------- */

static const struct {
    const char *text;
    enum site_map found;
    const char *name;
} maps[] = {
    {"c[01-64] -> bmc-c[01-64]", SITE_MAP_FOUND, "bmc-c17"},
    {"c[01-64] -> 10.1.0.[101-164]", SITE_MAP_FOUND, "10.1.0.117"},
    {"c[01-64] -> leaf1", SITE_MAP_FOUND, "leaf1"},
    {"c17 -> b", SITE_MAP_FOUND, "b"},
    {"c[01-16],c17 -> r[1-16],last", SITE_MAP_FOUND, "last"},
    {"r[1-2]n[1-8],c17 -> b[1-17]", SITE_MAP_FOUND, "b17"},
    {"c[17-18] -> a,b", SITE_MAP_FOUND, "a"},
    {"c[1-64] -> b[1-64]", SITE_MAP_FOUND, "b17"},
    {"d[1-64] -> b[1-64]", SITE_MAP_NOT_THERE, ""},
    {"d1 -> b", SITE_MAP_NOT_THERE, ""},
    {"c[01-64] -> bmc[01-63]", SITE_MAP_WRONG, NULL},
    {"c[01-64] -> bmc[01-65]", SITE_MAP_WRONG, NULL},
    {"d[01-64] -> bmc[01-63]", SITE_MAP_WRONG, NULL},
    {"c17", SITE_MAP_WRONG, NULL},
    {"", SITE_MAP_WRONG, NULL},
    {" -> ", SITE_MAP_WRONG, NULL},
    {"c17 -> ", SITE_MAP_WRONG, NULL},
    {"c[01-64 -> b", SITE_MAP_WRONG, NULL},
    {"c[1-99999999999999999999] -> b", SITE_MAP_WRONG, NULL},
    {"c[1-999999999] -> b", SITE_MAP_WRONG, NULL},
};

TEST_CASES(a_name_follows_the_nodes, COUNT(maps))
{
    char name[64];

    ck_assert_int_eq(site_map(maps[_i].text, "c17", name, sizeof(name)), maps[_i].found);
    if (maps[_i].name)
        ck_assert_str_eq(name, maps[_i].name);
}

TEST_CASE(a_name_that_has_no_room_is_none)
{
    char name[4];

    ck_assert_int_eq(site_map("c17 -> long-name", "c17", name, sizeof(name)), SITE_MAP_WRONG);
    ck_assert_int_eq(site_map_has("c[01-64]", "c17"), SITE_MAP_FOUND);
    ck_assert_int_eq(site_map_has("c[01-64]", "c65"), SITE_MAP_NOT_THERE);
    ck_assert_int_eq(site_map_has("c[", "c65"), SITE_MAP_WRONG);
}

/* ---- what is in it --------------------------------------------------------------------------- */

TEST_CASE(a_request_has_settings_and_what_follows_the_node)
{
    const struct site_handler *h = &c.handler[0];

    ck_assert_msg(
        reads("{\"handlers\": [{\"name\": \"bmc\", \"ask\": \"ipmi\", \"deadline_ms\": 900,"
              "\"settings\": {\"user\": \"u\", \"password\": \"p -> q\", \"since_unix_ms\": 1},"
              "\"of_node\": {\"address\": [\"d1 -> no\", \"c[01-64] -> bmc[01-64]\"]}}]}"),
        "%s", why);
    ck_assert_int_eq(c.n, 1);
    ck_assert_str_eq(h->name, "bmc");
    ck_assert_ptr_eq(h->run, site_ipmi);
    ck_assert_ptr_null(h->program);
    ck_assert_int_eq(h->deadline_ms, 900);
    ck_assert_str_eq(faultloc_text(h->request, "user"), "u");
    ck_assert_str_eq(faultloc_text(h->request, "password"), "p -> q");
    ck_assert_str_eq(faultloc_text(h->request, "address"), "bmc17");
    ck_assert_str_eq(faultloc_text(h->request, "node"), "c17");
    ck_assert_str_eq(faultloc_text(h->request, "schema"), "faultloc-handler-request/1");
    ck_assert_str_eq(json_object_to_json_string(json_object_object_get(h->request, "since_unix_ms")),
                     "4711");
}

TEST_CASE(a_handler_for_other_nodes_is_left_out)
{
    ck_assert_msg(reads("{\"handlers\": [{\"name\": \"a\", \"ask\": \"ipmi\", \"nodes\": \"d[1-9]\"},"
                        "{\"name\": \"b\", \"program\": \"/bin/true\", \"nodes\": \"c[01-64]\"}]}"),
                  "%s", why);
    ck_assert_int_eq(c.n, 1);
    ck_assert_str_eq(c.handler[0].name, "b");
    ck_assert_str_eq(c.handler[0].program, "/bin/true");
    ck_assert_int_eq(c.handler[0].deadline_ms, SITE_DEADLINE_MS);
}

static const struct {
    struct site_question question;
    const char *asked, *not_asked; /* in order */
} homes[] = {
    {{.node = "c17", .from = "c01"}, "bp", ""},
    {{.node = "c17", .from = "c17"}, "o", ""},
    {{.node = "c17", .from = "c17", .all = true}, "bop", ""},
    {{.node = "c17", .from = "c01", .all = true}, "bp", "o"},
};

/* What only the node itself knows is asked there, and nothing else. */
TEST_CASES(who_is_asked_where, COUNT(homes))
{
    char asked[8] = "", not_asked[8] = "";
    struct json_object *root =
        json_tokener_parse("{\"handlers\": [{\"name\": \"b\", \"ask\": \"ipmi\"},"
                           "{\"name\": \"o\", \"ask\": \"os\"}, {\"name\": \"p\", \"program\": \"/p\"}]}");

    ck_assert_msg(site_config_read(&c, root, &homes[_i].question, why), "%s", why);
    for (int i = 0; i < c.n; i++)
        strcat(c.handler[i].request ? asked : not_asked, c.handler[i].name);
    ck_assert_str_eq(asked, homes[_i].asked);
    ck_assert_str_eq(not_asked, homes[_i].not_asked);
}

TEST_CASE(one_that_may_not_be_asked_from_here_says_so)
{
    ck_assert_msg(reads("{\"handlers\": [{\"name\": \"a\", \"ask\": \"ipmi\", \"from\": \"login\"},"
                        "{\"name\": \"b\", \"ask\": \"snmp\", \"from\": \"c[01-02]\"},"
                        "{\"name\": \"c\", \"ask\": \"snmp\", \"of_node\": {\"port\": \"d1 -> p\"}}]}"),
                  "%s", why);
    ck_assert_int_eq(c.n, 3);
    ck_assert_ptr_null(c.handler[0].request);
    ck_assert_str_eq(c.handler[0].why, "not asked: \"from\" does not have the asking node");
    ck_assert_ptr_nonnull(c.handler[1].request);
    ck_assert_ptr_null(c.handler[2].request);
    ck_assert_str_eq(c.handler[2].why, "\"of_node\" has no \"port\" of this node");
}

#define ONE(rest) "{\"handlers\": [{\"name\": \"h\", " rest "}]}"

static const struct {
    const char *text, *why;
} wrong[] = {
    {"[]", "must be an object with a list"},
    {"{}", "must be an object with a list"},
    {"{\"handlers\": {}}", "must be an object with a list"},
    {"{\"handlers\": [], \"more\": 1}", "the file: there is no member \"more\""},
    {"{\"handlers\": [1]}", "needs a \"name\""},
    {"{\"handlers\": [{}]}", "needs a \"name\""},
    {"{\"handlers\": [{\"name\": \"\", \"ask\": \"ipmi\"}]}", "needs a \"name\""},
    {"{\"handlers\": [{\"name\": \"A B\", \"ask\": \"ipmi\"}]}", "needs a \"name\""},
    {"{\"handlers\": [{\"name\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\", \"ask\": \"ipmi\"}]}",
     "at most 32"},
    {ONE("\"ask\": \"ipmi\", \"pasword\": \"secret\""), "handler h: there is no member \"pasword\""},
    {ONE("\"deadline_ms\": 1000"), "needs \"ask\" (ipmi, redfish, snmp, slurm, pbs, os, gpu) or \"program\""},
    {ONE("\"ask\": \"telnet\""), "needs \"ask\" (ipmi, redfish, snmp, slurm, pbs, os, gpu) or \"program\""},
    {ONE("\"ask\": \"ipmi\", \"program\": \"/x\""), "needs \"ask\" (ipmi, redfish, snmp, slurm, pbs, os, gpu) or \"program\""},
    {ONE("\"program\": \"x\""), "\"program\" must begin with /"},
    {ONE("\"ask\": \"ipmi\", \"deadline_ms\": 99"), "\"deadline_ms\" must be 100 to 4500"},
    {ONE("\"ask\": \"ipmi\", \"deadline_ms\": 4501"), "\"deadline_ms\" must be 100 to 4500"},
    {ONE("\"ask\": \"ipmi\", \"deadline_ms\": \"1 s\""), "\"deadline_ms\" must be 100 to 4500"},
    {ONE("\"ask\": \"ipmi\", \"nodes\": 1"), "\"nodes\" must be a list of nodes"},
    {ONE("\"ask\": \"ipmi\", \"nodes\": \"c[\""), "\"nodes\" must be a list of nodes"},
    {ONE("\"ask\": \"ipmi\", \"from\": [\"c1\"]"), "\"from\" must be a list of nodes"},
    {ONE("\"ask\": \"ipmi\", \"settings\": \"secret\""), "\"settings\" must be an object"},
    {ONE("\"ask\": \"ipmi\", \"of_node\": \"secret\""), "\"of_node\" must be an object"},
    {ONE("\"ask\": \"ipmi\", \"of_node\": {\"address\": \"secret\"}"), "must be as c[1-9] -> b[1-9]"},
    {ONE("\"ask\": \"ipmi\", \"of_node\": {\"address\": [7]}"), "must be as c[1-9] -> b[1-9]"},
};

TEST_CASES(what_is_wrong_is_said_without_what_is_secret, COUNT(wrong))
{
    ck_assert(!reads(wrong[_i].text));
    ck_assert_msg(strstr(why, wrong[_i].why) != NULL, "%s", why);
    ck_assert_ptr_null(strstr(why, "secret"));
}

TEST_CASE(there_may_be_sixteen_handlers)
{
    char text[4096] = "{\"handlers\": [";

    for (int i = 0; i < SITE_HANDLERS_MAX; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "%s{\"name\": \"h%d\", \"ask\": \"ipmi\"}", i ? "," : "", i);
    strcat(text, "]}");
    ck_assert_msg(reads(text), "%s", why);
    ck_assert_int_eq(c.n, SITE_HANDLERS_MAX);
    site_config_free(&c);
    text[strlen(text) - 2] = '\0';
    strcat(text, ",{\"name\": \"x\", \"ask\": \"ipmi\"}]}");
    ck_assert(!reads(text));
    ck_assert_str_eq(why, "\"handlers\" has 17 elements, at most 16 are possible");
}

/* ---- who may read it ------------------------------------------------------------------------- */

static char path[] = "/tmp/faultloc-handlers-XXXXXX";

static struct json_object *load(const char *text, mode_t mode)
{
    struct json_object *o;
    int fd;

    strcpy(path + sizeof(path) - 7, "XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (int) strlen(text));
    ck_assert_int_eq(fchmod(fd, mode), 0);
    close(fd);
    *why = '\0';
    o = site_config_load(path, why);
    unlink(path);
    return o;
}

TEST_CASE(only_its_owner_may_have_access)
{
    static const mode_t open_to_others[] = {0640, 0604, 0610, 0601, 0620, 0602, 0666};
    struct json_object *o = load("{ // a comment\n \"handlers\": [], }", 0600);

    ck_assert_msg(o != NULL, "%s", why);
    json_object_put(o);
    o = load("{}", 0400);
    ck_assert_ptr_nonnull(o);
    json_object_put(o);
    for (int i = 0; i < COUNT(open_to_others); i++) {
        ck_assert_ptr_null(load("{}", open_to_others[i]));
        ck_assert_ptr_nonnull(strstr(why, "do: chmod 600"));
    }
}

/* json-c would take the last one, and nobody would know that another password is in the file. */
TEST_CASE(a_member_that_is_there_twice_is_refused)
{
    ck_assert_ptr_null(load("{\"handlers\": [{\"name\": \"a\",\n \"settings\": {\"password\": \"secret1\",\n"
                            "\"password\": \"secret2\"}}]}", 0600));
    ck_assert_str_eq(why, "line 3: this key is there twice");
}

TEST_CASE(of_another_user_it_is_not_read)
{
    int fd;

    if (geteuid() != 0)
        return;
    strcpy(path + sizeof(path) - 7, "XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_eq(fchown(fd, 12345, 12345), 0);
    close(fd);
    ck_assert_ptr_null(site_config_load(path, why));
    ck_assert_str_eq(why, "it belongs to another user");
    unlink(path);
}

TEST_CASE(what_is_no_file_is_not_read)
{
    ck_assert_ptr_null(site_config_load("/nowhere/at/all", why));
    ck_assert_str_eq(why, "No such file or directory");
    ck_assert_ptr_null(site_config_load("/tmp", why));
    ck_assert_str_eq(why, "it is not a file");
    ck_assert_ptr_null(site_config_load("/dev/zero", why));
    ck_assert_str_eq(why, "it is not a file");
}

TEST_CASE(an_error_has_its_line_and_nothing_of_the_text)
{
    ck_assert_ptr_null(load("{\n\"password\": \"secret\",\n secret }", 0600));
    ck_assert_ptr_nonnull(strstr(why, "line 3: "));
    ck_assert_ptr_null(strstr(why, "secret"));
    ck_assert_ptr_null(load("", 0600));
    ck_assert_ptr_null(load("{\"a\": [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]}", 0600));
}

TEST_CASE(one_that_is_too_large_is_not_read)
{
    char *text = malloc(SITE_FILE_MAX + 2);

    memset(text, ' ', SITE_FILE_MAX + 1);
    text[SITE_FILE_MAX + 1] = '\0';
    ck_assert_ptr_null(load(text, 0600));
    ck_assert_str_eq(why, "it is larger than 1 MiB");
    free(text);
}
