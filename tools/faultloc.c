/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "tool.h"

#include "sim/command.h"

#include <stdio.h>
#include <string.h>

#ifndef FAULTLOC_VERSION
#define FAULTLOC_VERSION "?"
#endif

static const char usage[] =
    "Usage: faultloc report [--verbose] FILE...\n"
    "       faultloc check FILE...\n"
    "       faultloc rules check|print|explain|learn [ARGUMENT]... | --help\n"
    "       faultloc replay [--node N] [--quiet] TRACE | --help\n"
    "       faultloc simulate --nodes N [OPTION]... | --help\n"
    "       faultloc symptom --kind KIND [OPTION]... | --list | --help\n"
    "       faultloc status [JOB] [OPTION]... | --help\n"
    "       faultloc ask NODE|rank N [OPTION]... | --help\n"
    "       faultloc set [OPTION]... SETTING=VALUE... | --help\n"
    "       faultloc handlers check [OPTION]... NODE | --help\n"
    "\n"
    "Works on the reports that MPICH with FaultLoc writes (faultloc-JOB.json), and on rule bases,\n"
    "running jobs and simulated ones.\n"
    "\n"
    "  report     print a report as the text that was on the job's standard error; --verbose:\n"
    "             also the table of nodes, and the last decisions of the reporting node\n"
    "  check      say whether a file is a valid report (schema faultloc-report/1); for an invalid\n"
    "             one print each error: file, place, reason\n"
    "  symptom    report to a running job what was observed elsewhere; see\n"
    "             faultloc symptom --help\n"
    "  status     say what the nodes and ranks of a running job do; see\n"
    "             faultloc status --help\n"
    "  ask        examine a node or a rank of a running job now, and print the result; see\n"
    "             faultloc ask --help\n"
    "  set        change settings of a running job, on all its nodes; see faultloc set --help\n"
    "  handlers   ask the site's services about a node; see faultloc handlers --help\n"
    "  rules      check, print and explain rule bases, and learn priors from reports; see\n"
    "             faultloc rules --help\n"
    "  simulate   run FaultLoc's own code on up to millions of simulated nodes, with faults; see\n"
    "             faultloc simulate --help\n"
    "  replay     repeat a simulated run from its trace, and compare; see faultloc replay --help\n"
    "  --help     this text\n"
    "  --version  the version\n"
    "\n"
    "FILE may be - for standard input. At most 64 MiB are read.\n"
    "\n"
    "Exit code: 0 every file is a valid report, 1 one is not, 2 wrong usage, or a file that\n"
    "cannot be read.\n"
    "\n"
    "See also: man faultloc, man 7 faultloc (the variables that control FaultLoc in a job).\n";

static enum tool_exit one_file(const char *file, bool print, bool verbose)
{
    struct tool_findings f = {.file = file};
    struct json_object *report;
    enum tool_exit code = tool_read(file, &report);

    if (code)
        return code;
    tool_check(&f, report);
    if (f.count > TOOL_FINDINGS_MAX)
        tool_say(stderr, "faultloc: %s: and more", file);
    if (f.count == 0 && print)
        tool_print(report, file, verbose);
    else if (f.count == 0)
        tool_say(stdout, "%s: a valid report", file);
    json_object_put(report);
    return f.count ? TOOL_INVALID : TOOL_OK;
}

static enum tool_exit wrong_usage(const char *what, const char *which)
{
    tool_say(stderr, "faultloc: %s%s; see faultloc --help", what, which);
    return TOOL_TROUBLE;
}

/* What was printed must have arrived: a full disk is no success. */
static enum tool_exit finish(enum tool_exit code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    perror("faultloc: standard output");
    return TOOL_TROUBLE;
}

static enum tool_exit all_files(int n, char **files, bool print, bool verbose)
{
    enum tool_exit worst = TOOL_OK;

    for (int i = 0; i < n; i++) {
        enum tool_exit code = one_file(files[i], print, verbose);
        worst = code > worst ? code : worst;
    }
    return finish(worst);
}

static bool is_help(const char *argument)
{
    return !strcmp(argument, "--help") || !strcmp(argument, "-h");
}

static enum tool_exit print_usage(const char *text)
{
    return fputs(text, stdout) < 0 ? TOOL_TROUBLE : finish(TOOL_OK);
}

static const struct command {
    const char *name, *usage;
    enum tool_exit (*run)(int n, char **arguments);
} commands[] = {{"rules", tool_rules_usage, tool_rules},
                {"symptom", tool_symptom_usage, tool_symptom},
                {"status", tool_status_usage, tool_status},
                {"ask", tool_ask_usage, tool_ask},
                {"set", tool_set_usage, tool_set},
                {"handlers", tool_handlers_usage, tool_handlers}};

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";
    bool verbose;
    int first;

    if (is_help(command))
        return print_usage(usage);
    if (!strcmp(command, "--version"))
        return puts("faultloc " FAULTLOC_VERSION) < 0 ? TOOL_TROUBLE : finish(TOOL_OK);
    if (!*command)
        return wrong_usage("missing command", "");
    if (!strcmp(command, "simulate"))
        return sim_command(argc - 1, argv + 1);
    if (!strcmp(command, "replay"))
        return sim_replay_command(argc - 1, argv + 1);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (!strcmp(command, commands[i].name))
            return argc == 3 && is_help(argv[2]) ? print_usage(commands[i].usage)
                                                 : finish(commands[i].run(argc - 2, argv + 2));
    if (strcmp(command, "report") && strcmp(command, "check"))
        return wrong_usage("no such command: ", command);
    verbose = argc > 2 && command[0] == 'r' && !strcmp(argv[2], "--verbose");
    first = verbose ? 3 : 2;
    if (argc <= first)
        return wrong_usage("missing file after ", argv[first - 1]);
    for (int i = first; i < argc; i++)
        if (argv[i][0] == '-' && argv[i][1])
            return wrong_usage("no such option: ", argv[i]);
    return all_files(argc - first, argv + first, command[0] == 'r', verbose);
}
