/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What faultloc-handlers makes of its file and of a handler's line while it gets no memory. */

#include "faultloc/site/site.h"
#include "nomem_json.h"
#include "suite.h"

#define MOST 1000 /* allocations */

struct json_tokener *__real_json_tokener_new_ex(int depth);
struct json_tokener *__wrap_json_tokener_new_ex(int depth);
struct json_tokener *__wrap_json_tokener_new_ex(int depth)
{
    return nomem_fails() ? NULL : __real_json_tokener_new_ex(depth);
}

static const char line[] = "{\"symptom\": \"power-off\", \"text\": \"no power\"}";

/* It is whole, or there is none. */
TEST_CASE(a_line)
{
    for (long n = 0; n < MOST; n++) {
        struct json_object *o;
        bool none;
        nomem_begin(n);
        o = site_line("h", line, strlen(line));
        none = nomem_end();
        ck_assert(!none || o);
        if (o)
            ck_assert_str_eq(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN),
                             "{\"handler\":\"h\",\"symptom\":\"power-off\",\"text\":\"no power\"}");
        json_object_put(o);
        if (none)
            return;
    }
    ck_abort();
}

static const char file[] =
    "{\"handlers\": [{\"name\": \"h\", \"program\": \"/h\", \"settings\": {\"user\": \"u\", \"port\": null},"
    "\"of_node\": {\"address\": \"c[1-9] -> b[1-9]\"}}]}";

TEST_CASE(a_file)
{
    static const struct site_question q = {.node = "c7", .from = "c1"};
    struct site_config c;
    char why[SITE_WHY_MAX];

    for (long n = 0; n < MOST; n++) {
        struct json_object *root = json_tokener_parse(file);
        bool none, good;
        nomem_begin(n);
        good = site_config_read(&c, root, &q, why);
        none = nomem_end();
        ck_assert(!none || good);
        if (none) {
            ck_assert_str_eq(faultloc_text(c.handler[0].request, "address"), "b7");
            ck_assert(json_object_object_get_ex(c.handler[0].request, "port", NULL));
        }
        site_config_free(&c);
        if (none)
            return;
    }
    ck_abort();
}

TEST_CASE(words_of_a_handler)
{
    for (long n = 0; n < MOST; n++) {
        char *text = NULL;
        size_t len = 0;
        FILE *f = open_memstream(&text, &len);
        bool none;
        nomem_begin(n);
        site_say(f, "power-off", "no power");
        none = nomem_end();
        fclose(f);
        ck_assert(!none || strstr(text, "power-off"));
        free(text);
        if (none)
            return;
    }
    ck_abort();
}
