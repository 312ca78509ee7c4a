/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "nomem.h"
#include "ftree/rules/rules.h"
#include "suite.h"

#include <json.h>

/* What the reader of rule bases asks for is refused, and json-c refuses the text. */

static int levels; /* that json-c is made to take; 0: as many as it is asked for */

struct json_tokener *__real_json_tokener_new_ex(int depth);
struct json_tokener *__wrap_json_tokener_new_ex(int depth);
struct json_tokener *__wrap_json_tokener_new_ex(int depth)
{
    return nomem_fails() ? NULL : __real_json_tokener_new_ex(levels ? levels : depth);
}

/* The built-in base has one of everything. */
TEST_CASE(an_allocation_fails)
{
    size_t len;
    const char *text = ftree_rules_builtin(&len);
    struct ftree_rules_error e;
    struct ftree_rules *rules;

    for (long n = 0;; n++) {
        long before = nomem_taken;
        int rc;
        nomem_begin(n);
        rc = ftree_rules_read(text, len, &rules, &e);
        if (nomem_end()) {
            ftree_rules_free(rules);
            ck_assert_int_eq(nomem_taken, before);
            ck_assert_int_eq(rc, FTREE_OK);
            ck_assert_int_eq(n, 3); /* the plain text, json-c's parser, the tables */
            break;
        }
        ck_assert_int_eq(nomem_taken, before);
        ck_assert_int_eq(rc, FTREE_ERR_NOMEM);
        ck_assert_ptr_null(rules);
        ck_assert_str_eq(e.text, ""); /* nothing is wrong with the file */
    }
}

/* What is wrong with a file as a whole is found before tables are asked for. */
TEST_CASE(a_bad_file_is_refused_without_tables)
{
    static const char text[] = "{ \"schema\": \"faultloc-rules/1\", \"name\": \"none\" }";
    struct ftree_rules_error e;
    struct ftree_rules *rules;
    long before = nomem_taken;
    bool none;
    int rc;

    nomem_begin(2);
    rc = ftree_rules_read(text, strlen(text), &rules, &e);
    none = nomem_end();
    ck_assert_int_eq(nomem_taken, before);
    ck_assert(none); /* the third, for the tables, was not asked for */
    ck_assert_int_eq(rc, FTREE_ERR_INVALID);
    ck_assert_str_eq(e.text, "the rule base: has no \"strategies\"");
}

/* The text is walked before json-c has it, which may find more. */
TEST_CASE(json_c_has_the_last_word)
{
    static const char text[] = "\n { \"schema\": [ [ [ ] ] ] }";
    struct ftree_rules_error e;
    struct ftree_rules *rules;
    long before = nomem_taken;
    int rc;

    levels = 2;
    rc = ftree_rules_read(text, strlen(text), &rules, &e);
    ck_assert_int_eq(nomem_taken, before);
    ck_assert_int_eq(rc, FTREE_ERR_INVALID);
    ck_assert_str_eq(e.text, "nesting too deep");
    ck_assert_int_eq(e.line, 2);
    ck_assert_ptr_null(rules);
    levels = 0;
    ck_assert_int_eq(ftree_rules_read(text, strlen(text), &rules, &e), FTREE_ERR_INVALID);
    ck_assert_str_eq(e.text, "schema: must be a string, is a list");
    ck_assert_int_eq(e.line, 2);
}
