/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>

/*
 * What BMCs, schedulers, handlers and their file say may be anything.  The first byte chooses who reads it.
 * Whatever a reader prints are lines that the agent takes; the file is refused in words that can be printed.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -Isrc/mpid/ch4 -Isrc/util -Itest/lib \
 *         $(pkg-config --cflags json-c) test/unit/site/fuzz_site.c \
 *         src/mpid/ch4/faultloc/site/{ipmi_read,scheduler,output,line,map,config}.c ... -o fuzz_site
 *     test/unit/site/test_fuzz_site --corpus corpus && ./fuzz_site corpus
 *
 * test_fuzz_site runs it with texts changed at random, from a fixed seed.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OF_POWER, OF_EVENTS, OF_SENSORS, OF_SLURM, OF_PBS, OF_LINE, OF_MAP, OF_FILE, READERS };

/* Its lines are what site_line() takes, and the last one is whole. */
static void check_lines(const char *text, size_t len)
{
    MUST(len == 0 || text[len - 1] == '\n');
    for (const char *at = text, *end; at < text + len; at = end + 1) {
        struct json_object *o;
        end = strchr(at, '\n');
        MUST(end);
        o = site_line("h", at, (size_t) (end - at));
        MUST(o);
        json_object_put(o);
    }
}

static void check_line(const char *text, size_t len)
{
    struct json_object *o = site_line("h", text, len);
    const char *line = o ? json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN) : "";

    for (const char *c = line; *c; c++)
        MUST(*c >= ' ' && *c <= '~');
    json_object_put(o);
}

static void check_map(const char *text)
{
    char out[64] = "";
    enum site_map found = site_map(text, "c17", out, sizeof(out));

    MUST(memchr(out, '\0', sizeof(out)));
    MUST(found != SITE_MAP_FOUND || *out);
    site_map_has(text, "c17");
}

static void check_file(const char *text)
{
    static struct site_config c;
    const struct site_question q = {.node = "c17", .from = "c1", .all = true};
    char why[SITE_WHY_MAX] = "";
    struct json_object *root = json_tokener_parse(text);

    if (!json_object_is_type(root, json_type_object)) {
        json_object_put(root);
        return;
    }
    if (site_config_read(&c, root, &q, why))
        MUST(c.n <= SITE_HANDLERS_MAX);
    else
        MUST(*why && memchr(why, '\0', sizeof(why)));
    site_config_free(&c);
}

static void read_text(int who, const char *text, FILE *out)
{
    if (who == OF_POWER)
        site_ipmi_power(text, out), site_ipmi_why(text);
    else if (who == OF_EVENTS)
        site_ipmi_events(text, out);
    else if (who == OF_SENSORS)
        site_ipmi_sensors(text, *text & 1, NULL, out), site_ipmi_has_sensors(text);
    else if (who == OF_SLURM)
        site_slurm_state(text, out), site_scheduler_why(text);
    else if (who == OF_PBS)
        site_pbs_state(text, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = size ? malloc(size) : NULL, *said = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&said, &len);
    int who = size ? data[0] % READERS : 0;

    MUST(out);
    if (text) {
        memcpy(text, data + 1, size - 1); /* on the heap, with its end in sight */
        text[size - 1] = '\0';
        read_text(who, text, out);
        if (who == OF_LINE)
            check_line(text, size - 1);
        else if (who == OF_MAP)
            check_map(text);
        else if (who == OF_FILE)
            check_file(text);
    }
    fclose(out);
    check_lines(said, len);
    free(said);
    free(text);
    return 0;
}
