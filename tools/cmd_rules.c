/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "tool_rules.h"

#include "faultloc/base/say.h"
#include "ftree/rules/rules_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char tool_rules_usage[] =
    "Usage: faultloc rules check FILE...\n"
    "       faultloc rules print [FILE]\n"
    "       faultloc rules explain CLASS|RULE [FILE]\n"
    "       faultloc rules learn [--rules FILE] REPORT...\n"
    "\n"
    "Works on rule bases (schema faultloc-rules/1; man 5 faultloc-rules), outside a job.\n"
    "\n"
    "  check      say whether a file is a valid rule base; for an invalid one print the error:\n"
    "             file, line, column, reason\n"
    "  print      print the built-in rule base, or the one in FILE, without comments, as other\n"
    "             programs can read it\n"
    "  explain    explain in words what the built-in rule base, or the one in FILE, has about a\n"
    "             fault (a class or a model: \"node-outage\"), a rule (\"stalled-peer\"), a sign,\n"
    "             named as in reports (\"node-outage/both-paths-silent\"), or \"well\"\n"
    "  learn      read reports in which people have confirmed verdicts; print the built-in rule\n"
    "             base, or the one in FILE, with new prior weights, and, to standard error, a\n"
    "             table of what went wrong; no file is changed\n"
    "  --help     this text\n"
    "\n"
    "FILE may be - for standard input. At most 1 MiB is read of a rule base.\n"
    "\n"
    "Exit code: 0 done, all files are valid; 1 a file is not; 2 wrong usage, or a file that\n"
    "cannot be read.\n";

/* ---- a rule base ----------------------------------------------------------------------------- */

static int copy_builtin(struct rules_file *f)
{
    const char *text = ftree_rules_builtin(&f->len);

    f->text = malloc(f->len + 1);
    if (!f->text)
        return ENOMEM;
    memcpy(f->text, text, f->len + 1);
    return 0;
}

/* `name`: "-" is standard input, NULL the built-in one.  To be closed also after an error, of which a
 * line on stderr says what is wrong and where. */
static enum tool_exit open_rules(struct rules_file *f, const char *name)
{
    struct ftree_rules_error e;
    int rc;

    *f = (struct rules_file){.name = name ? name : "built-in rules"};
    rc = name ? faultloc_read_file(name, RULES_FILE_MAX, &f->text, &f->len) : copy_builtin(f);
    if (rc && rc != EFBIG) { /* of what is too large its reader says so */
        tool_say(stderr, "faultloc: %s: %s", f->name, strerror(rc));
        return TOOL_TROUBLE;
    }
    rc = ftree_rules_read(f->text, f->len, &f->rules, &e);
    if (rc == FTREE_OK)
        return TOOL_OK;
    if (rc == FTREE_ERR_INVALID && e.line)
        tool_say(stderr, "faultloc: %s: line %d, column %d: %s", f->name, e.line, e.column, e.text);
    else
        tool_say(stderr, "faultloc: %s: %s", f->name,
                 rc == FTREE_ERR_INVALID ? e.text : ftree_strerror(rc));
    return rc == FTREE_ERR_INVALID ? TOOL_INVALID : TOOL_TROUBLE;
}

static void close_rules(struct rules_file *f)
{
    ftree_rules_free(f->rules);
    free(f->text);
}

/* ---- check ----------------------------------------------------------------------------------- */

static int count_signs(const struct rules_sign *sign, int32_t signs)
{
    int n = 0;

    for (int32_t i = 0; i < signs; i++)
        n += i == 0 || strcmp(sign[i].name, sign[i - 1].name);
    return n;
}

/* What is no error, but perhaps not meant. */
static void print_notes(const struct rules_file *f)
{
    const struct ftree_rules *rules = f->rules;
    uint64_t models = 0;
    uint32_t strategies = 0;

    for (int32_t r = 0; r < rules->rules; r++) {
        if (rules->rule[r].strategy >= 0)
            strategies |= (uint32_t) 1 << rules->rule[r].strategy;
        for (int32_t i = 0; i < rules->rule[r].candidates; i++)
            models |= (uint64_t) 1 << rules->rule[r].candidate[i].model;
    }
    for (int32_t m = 0; m < rules->models; m++)
        if (!(models >> m & 1) && !rules->model[m].leads_to && !ftree_rules_by_waits(rules, m))
            tool_say(stdout, "%s: note: no rule leads to model \"%s\"", f->name,
                     rules->model[m].name);
    for (int32_t s = 0; s < rules->strategies; s++)
        if (!(strategies >> s & 1))
            tool_say(stdout, "%s: note: no rule uses strategy \"%s\"", f->name,
                     rules->strategy[s].name);
}

static enum tool_exit check(const char *name)
{
    struct rules_file f;
    enum tool_exit code = open_rules(&f, name);
    int signs = 0;

    if (code == TOOL_OK) {
        for (int32_t m = 0; m < f.rules->models; m++)
            signs += count_signs(f.rules->model[m].sign, f.rules->model[m].signs);
        tool_say(stdout,
                 "%s: a valid rule base, \"%s\": %d rules, %d strategies, %d models with %d signs,"
                 " %d signs that all is well",
                 name, f.rules->name, (int) f.rules->rules, (int) f.rules->strategies,
                 (int) f.rules->models, signs, count_signs(f.rules->well, f.rules->wells));
        print_notes(&f);
    }
    close_rules(&f);
    return code;
}

/* ---- print ----------------------------------------------------------------------------------- */

/* The file is valid, so nothing can be wrong but that memory is short. */
static enum tool_exit print_plain(const struct rules_file *f)
{
    char *plain = calloc(1, f->len + 1);
    struct json_object *root = NULL;
    bool printed;
    size_t at;

    if (plain && !rules_place_scan(f->text, f->len, plain, &at))
        root = json_tokener_parse(plain);
    printed = tool_print_json(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED);
    if (!printed)
        tool_say(stderr, "faultloc: %s: out of memory", f->name);
    json_object_put(root);
    free(plain);
    return printed ? TOOL_OK : TOOL_TROUBLE;
}

static enum tool_exit print(const char *name)
{
    struct rules_file f;
    enum tool_exit code = open_rules(&f, name);

    if (code == TOOL_OK && name)
        code = print_plain(&f);
    else if (code == TOOL_OK)
        fwrite(f.text, 1, f.len, stdout);
    close_rules(&f);
    return code;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static enum tool_exit do_check(int n, char **arguments)
{
    enum tool_exit worst = TOOL_OK;

    if (n == 0)
        return tool_wrong("rules", "missing file after ", "check");
    for (int i = 0; i < n; i++) {
        enum tool_exit code = check(arguments[i]);
        worst = code > worst ? code : worst;
    }
    return worst;
}

static enum tool_exit do_print(int n, char **arguments)
{
    if (n > 1)
        return tool_wrong("rules", "more than one file after ", "print");
    return print(n ? arguments[0] : NULL);
}

static enum tool_exit do_explain(int n, char **arguments)
{
    struct rules_file f;
    enum tool_exit code;

    if (n == 0)
        return tool_wrong("rules", "missing class, rule or sign after ", "explain");
    if (n > 2)
        return tool_wrong("rules", "more than one file after ", "explain CLASS");
    code = open_rules(&f, n == 2 ? arguments[1] : NULL);
    if (code == TOOL_OK)
        code = tool_rules_explain(&f, arguments[0]);
    close_rules(&f);
    return code;
}

static enum tool_exit do_learn(int n, char **arguments)
{
    bool own = n > 0 && !strcmp(arguments[0], "--rules");
    struct rules_file f;
    enum tool_exit code;
    int first = own ? 2 : 0;

    if (n == 1 && own)
        return tool_wrong("rules", "missing file after ", "--rules");
    if (n == first)
        return tool_wrong("rules", "missing report after ", "learn");
    code = open_rules(&f, own ? arguments[1] : NULL);
    if (code == TOOL_OK)
        code = tool_rules_learn(&f, n - first, arguments + first);
    close_rules(&f);
    return code;
}

static const struct {
    const char *name;
    enum tool_exit (*run)(int n, char **arguments);
} commands[] = {
    {"check", do_check},
    {"print", do_print},
    {"explain", do_explain},
    {"learn", do_learn},
};

enum tool_exit tool_rules(int n, char **arguments)
{
    const char *command = n > 0 ? arguments[0] : "";
    bool learn = !strcmp(command, "learn");

    if (!*command)
        return tool_wrong("rules", "missing command: check, print, explain or learn", "");
    for (int i = 1; i < n; i++)
        if (arguments[i][0] == '-' && arguments[i][1] &&
            !(learn && i == 1 && !strcmp(arguments[i], "--rules")))
            return tool_wrong("rules", "no such option: ", arguments[i]);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (!strcmp(commands[i].name, command))
            return commands[i].run(n - 1, arguments + 1);
    return tool_wrong("rules", "no such command: ", command);
}
