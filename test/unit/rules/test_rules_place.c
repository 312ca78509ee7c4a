/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/rules/rules_place.h"

#include "suite.h"

#include <stdio.h>
#include <string.h>

/* ---- what is well-formed --------------------------------------------------------------------- */

static const char *const fine[] = {
    "{}",
    "[]",
    " [ ] ",
    "0",
    "-0",
    "-1",
    "10.5",
    "1e9",
    "1E+9",
    "1.5e-9",
    "true",
    "false",
    "null",
    "\"\"",
    "\"a b\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\"",
    "[1,2]",
    "[1,2,]",
    "{\"a\":1}",
    "{\"a\":1,}",
    "{ \"a\" : { \"a\" : [ { \"a\" : 1 } ] } , \"b\" : 2 }",
    "// first\n{}// last",
    "/* first */{/**/}/***/",
    "[ // one\n 1, /* two */ 2 /* , */ , // three\n ]",
    "{ \"//\": \"/* no comment */\" }",
    "\r\n\t[\t]\r\n",
    "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]",
};

TEST_CASES(well_formed, COUNT(fine))
{
    size_t at, len = strlen(fine[_i]);
    const char *why = rules_place_scan(fine[_i], len, NULL, &at);

    ck_assert_msg(!why, "%s: at %zu: %s", fine[_i], at, why);
    ck_assert_uint_eq(at, len);
}

static const struct {
    const char *text;
    int at; /* byte */
    const char *why;
} bad[] = {
    {"", 0, "unexpected end of file"},
    {"// only", 7, "unexpected end of file"},
    {"{", 1, "unexpected end of file"},
    {"{\"a\"", 4, "a colon is expected after the key"},
    {"{\"a\":", 5, "unexpected end of file"},
    {"{\"a\":1", 6, "unexpected end of file"},
    {"{\"a\":1,", 7, "unexpected end of file"},
    {"[1", 2, "unexpected end of file"},
    {"[1}", 2, "a comma or ] is expected"},
    {"{\"a\":1]", 6, "a comma or } is expected"},
    {"{,}", 1, "a key in quotes is expected"},
    {"{a:1}", 1, "a key in quotes is expected"},
    {"{'a':1}", 1, "a key in quotes is expected"},
    {"[,]", 1, "a value is expected"},
    {"[1,,]", 3, "a value is expected"},
    {"[1 2]", 3, "a comma or ] is expected"},
    {"{} {}", 3, "nothing may follow the end"},
    {"{}x", 2, "nothing may follow the end"},
    {"tru", 0, "a value is expected"},
    {"True", 0, "a value is expected"},
    {"NaN", 0, "a value is expected"},
    {"-Infinity", 1, "a digit is expected"},
    {"+1", 0, "a value is expected"},
    {".5", 0, "a value is expected"},
    {"01", 1, "a number that begins with 0"},
    {"1.", 2, "a digit is expected"},
    {"1.e5", 2, "a digit is expected"},
    {"1e", 2, "a digit is expected"},
    {"1e+", 3, "a digit is expected"},
    {"-", 1, "a digit is expected"},
    {"\"abc", 0, "a string that does not end"},
    {"[\"abc\n\"]", 1, "a string that does not end"},
    {"\"abc\\\"", 0, "a string that does not end"},
    {"\"\\x\"", 2, "no escape sequence of JSON"},
    {"\"\\", 2, "no escape sequence of JSON"},
    {"\"\\u12\"", 5, "\\u needs four hexadecimal digits"},
    {"\"\\u12g4\"", 5, "\\u needs four hexadecimal digits"},
    {"\"\033[2J\"", 1, "a character in a string that is not printable ASCII"},
    {"\"\xc3\xa4\"", 1, "a character in a string that is not printable ASCII"},
    {"{\"a\":1,\"a\":2}", 7, "this key is there twice"},
    {"{\"\\u0061\":1}", 1, "a key with an escape sequence"},
    {"/ {}", 0, "a lone slash; comments begin with // or /*"},
    {"[1] /", 4, "a lone slash; comments begin with // or /*"},
    {"/* {}", 0, "a comment that does not end"},
    {"/*/", 0, "a comment that does not end"},
    {"# {}", 0, "a value is expected"},
    {"[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]", 16, "nested more than 16 levels deep"},
};

TEST_CASES(not_well_formed, COUNT(bad))
{
    size_t at;
    const char *why = rules_place_scan(bad[_i].text, strlen(bad[_i].text), NULL, &at);

    ck_assert_msg(why && !strcmp(why, bad[_i].why), "%s: %s", bad[_i].text, why ? why : "fine");
    ck_assert_msg((int) at == bad[_i].at, "%s: at %d", bad[_i].text, (int) at);
}

TEST_CASE(a_zero_byte_is_nothing_special)
{
    size_t at;

    ck_assert_ptr_nonnull(rules_place_scan("[\0]", 3, NULL, &at));
    ck_assert_uint_eq(at, 1);
    ck_assert_ptr_nonnull(rules_place_scan("\"\0\"", 3, NULL, &at));
    ck_assert_ptr_nonnull(rules_place_scan("[]\0", 3, NULL, &at));
}

TEST_CASE(an_object_has_64_keys_at_most)
{
    char text[4096];
    size_t len, at;

    for (int keys = RULES_KEYS_MAX; keys <= RULES_KEYS_MAX + 1; keys++) {
        len = (size_t) sprintf(text, "{");
        for (int i = 0; i < keys; i++)
            len += (size_t) sprintf(text + len, "\"k%d\":{\"k0\":1},", i);
        len += (size_t) sprintf(text + len, "}");
        ck_assert_int_eq(rules_place_scan(text, len, NULL, &at) == NULL, keys == RULES_KEYS_MAX);
    }
}

/* A copy of its own size, so that the sanitizers see a read behind it. */
TEST_CASE(whatever_the_length_nothing_behind_it_is_read)
{
    for (int i = 0; i < COUNT(fine); i++)
        for (size_t len = 0; len <= strlen(fine[i]); len++) {
            char *copy = malloc(len ? len : 1);
            size_t at;
            memcpy(copy, fine[i], len);
            rules_place_scan(copy, len, NULL, &at);
            REQUIRE(at <= len);
            free(copy);
        }
}

/* ---- plain JSON ------------------------------------------------------------------------------ */

static const struct {
    const char *text, *plain;
} plains[] = {
    {"[1, /* x */ 2, ]", "[1,         2  ]"},
    {"// x\n{\"a\": \"//\", // y,\n}", "    \n{\"a\": \"//\"       \n}"},
    {"/*\n*/{}", "  \n  {}"},
    {"[[1,],]", "[[1 ] ]"},
    {"[]/**/", "[]    "},
};

TEST_CASES(comments_and_needless_commas_become_blanks, COUNT(plains))
{
    size_t at, len = strlen(plains[_i].text);
    char plain[100] = "";

    ck_assert_ptr_null(rules_place_scan(plains[_i].text, len, plain, &at));
    ck_assert_str_eq(plain, plains[_i].plain);
}

/* ---- paths and places ------------------------------------------------------------------------ */

static const char document[] =
    "// a document\n"
    "{\n"
    "  \"name\": \"x\", \"if\": true,\n"
    "  \"rules\": [ // rules[0]: { \"name\": 1 }\n"
    "    { \"name\": \"a\" },\n"
    "    { \"name\": \"b\",\"if\": [ { \"kind\": [\"u\", \"v\" ] } ] },\n"
    "  ],\n"
    "  \"n\": -1.5e3\n"
    "}\n";

static const struct {
    const char *path; /* with blanks between steps: numbers are of an array */
    bool key;
    const char *text; /* there; NULL: there is none */
    int line, column;
} places[] = {
    {"name", false, "\"x\"", 3, 11},
    {"name", true, "\"name\"", 3, 3},
    {"if", false, "true", 3, 22},
    {"n", false, "-1.5e3", 8, 8},
    {"rules", true, "\"rules\"", 4, 3},
    {"rules 0", false, "{ \"name\": \"a\" }", 5, 5},
    {"rules 1 name", false, "\"b\"", 6, 15},
    {"rules 1 if 0 kind", true, "\"kind\"", 6, 29},
    {"rules 1 if 0 kind", false, "[\"u\", \"v\" ]", 6, 37},
    {"rules 1 if 0 kind 1", false, "\"v\"", 6, 43},
    {"rules 0 if", false, NULL, 0, 0},
    {"rules 2", false, NULL, 0, 0},
    {"rules name", false, NULL, 0, 0},
    {"name 0", false, NULL, 0, 0},
    {"rules 1 if 0 kind 1 x", false, NULL, 0, 0},
    {"nam", false, NULL, 0, 0},
    {"names", false, NULL, 0, 0},
};

static void make_path(struct rules_path *path, char *words)
{
    path->depth = 0;
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        if (*word >= '0' && *word <= '9')
            rules_path_index(path, atoi(word));
        else
            rules_path_key(path, word);
}

TEST_CASES(everything_has_its_place, COUNT(places))
{
    size_t len = strlen(document), n = places[_i].text ? strlen(places[_i].text) : 0;
    struct rules_path path;
    struct rules_span span;
    int line, column;
    char words[100];

    snprintf(words, sizeof(words), "%s", places[_i].path);
    make_path(&path, words);
    ck_assert_int_eq(rules_place_find(document, len, &path, places[_i].key, &span),
                     places[_i].text != NULL);
    if (!places[_i].text)
        return;
    ck_assert_uint_eq(span.end - span.begin, n);
    ck_assert_int_eq(strncmp(document + span.begin, places[_i].text, n), 0);
    rules_place_line(document, len, span.begin, &line, &column);
    ck_assert_int_eq(line, places[_i].line);
    ck_assert_int_eq(column, places[_i].column);
}

TEST_CASE(the_whole_has_its_place)
{
    struct rules_path path = {.depth = 0};
    struct rules_span span;

    ck_assert(rules_place_find(" [1] ", 5, &path, false, &span));
    ck_assert_uint_eq(span.begin, 1);
    ck_assert_uint_eq(span.end, 4);
    ck_assert(!rules_place_find("", 0, &path, false, &span));
    ck_assert(!rules_place_find("/", 1, &path, false, &span));
}

TEST_CASE(paths_as_people_write_them)
{
    struct rules_path path = {.depth = 0};
    char buf[100];

    ck_assert_str_eq(rules_path_text(&path, buf, sizeof(buf)), "");
    rules_path_key(&path, "rules");
    rules_path_index(&path, 3);
    rules_path_key(&path, "if");
    rules_path_index(&path, 0);
    rules_path_key(&path, "k\033nd");
    ck_assert_str_eq(rules_path_text(&path, buf, sizeof(buf)), "rules[3].if[0].k?nd");
    rules_path_leave(&path);
    ck_assert_str_eq(rules_path_text(&path, buf, sizeof(buf)), "rules[3].if[0]");
    ck_assert_str_eq(rules_path_text(&path, buf, 8), "rules[3");
    for (int i = 0; i < RULES_DEPTH_MAX; i++)
        rules_path_index(&path, 1);
    rules_path_text(&path, buf, sizeof(buf));
    for (int i = 0; i < RULES_DEPTH_MAX; i++)
        rules_path_leave(&path);
    ck_assert_str_eq(rules_path_text(&path, buf, sizeof(buf)), "rules[3].if[0]");
}

TEST_CASE(a_path_too_deep_leads_nowhere)
{
    struct rules_path path = {.depth = 0};
    struct rules_span span;

    for (int i = 0; i <= RULES_DEPTH_MAX; i++)
        rules_path_index(&path, 0);
    ck_assert(!rules_place_find("[]", 2, &path, false, &span));
}

TEST_CASE(lines_begin_behind_line_feeds)
{
    static const char text[] = "ab\n\ncd";
    static const int lines[] = {1, 1, 1, 2, 3, 3, 3}, columns[] = {1, 2, 3, 1, 1, 2, 3};
    int line, column;

    for (size_t at = 0; at < sizeof(text); at++) {
        rules_place_line(text, strlen(text), at, &line, &column);
        ck_assert_int_eq(line, lines[at]);
        ck_assert_int_eq(column, columns[at]);
    }
    rules_place_line(text, strlen(text), 1000, &line, &column);
    ck_assert_int_eq(line, 3);
}
