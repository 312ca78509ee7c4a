/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What scontrol and pbsnodes print of a node, and programs in their place that fail. */

#include "faultloc/site/site.h"
#include "suite.h"

#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))
#define NODE "NodeName=c17 Arch=x86_64 CPUTot=64 NodeAddr=c17 NodeHostName=c17 Boards=1 State="
#define REST " ThreadsPerCore=1 Partitions=p BootTime=None CurrentWatts=0"
#define SAID(symptom, words) "{\"symptom\":\"" symptom "\",\"text\":\"its state is " words "\"}\n"
#define WELL(state) "{\"text\":\"its state is " state ": no evidence, for a lost node is so at first\"}\n"

static char folder[] = "/tmp/faultloc-scheduler-XXXXXX", script[80];

static const struct {
    bool (*read)(const char *text, FILE *out);
    const char *text, *said;
} states[] = {
    /* as Slurm 22.05 has them */
    {site_slurm_state, NODE "IDLE" REST "\n", WELL("idle")},
    {site_slurm_state, NODE "ALLOCATED" REST "\n", WELL("allocated")},
    {site_slurm_state, NODE "MIXED+CLOUD" REST "\n", WELL("mixed+cloud")},
    {site_slurm_state, NODE "IDLE*" REST "\n", SAID("heartbeat-lost", "idle*")},
    {site_slurm_state, NODE "UNKNOWN" REST "\n", SAID("heartbeat-lost", "unknown")},
    {site_slurm_state, NODE "DOWN*" REST " Reason=Not responding [slurm@2026-01-31T12:00:00]\n",
     SAID("node-down", "down* (Not responding)")},
    {site_slurm_state, NODE "IDLE+DRAIN" REST " Reason=bad [x] memory State=IDLE [root@2026-01-31T12:00:00]\n",
     SAID("node-drained", "idle+drain (bad [x] memory State=IDLE)")},
    {site_slurm_state, NODE "DOWN+DRAIN" REST "\n", SAID("node-down", "down+drain")},
    {site_slurm_state, NODE "IDLE+NOT_RESPONDING" REST "\n", SAID("heartbeat-lost", "idle+not_responding")},
    {site_slurm_state, NODE "IDLE+POWERED_DOWN" REST "\n", WELL("idle+powered_down")},
    {site_slurm_state, NODE "\n", NULL},
    {site_slurm_state, "", NULL},
    {site_slurm_state, "Node c17 not found\n", NULL},
    {site_slurm_state, "NodeState=DOWN\n", NULL},
    {site_slurm_state, "State=\033DOWN\n", SAID("node-down", "?down")},
    /* OpenPBS, Torque */
    {site_pbs_state, "c17\n     Mom = c17\n     state = free\n     pcpus = 64\n", WELL("free")},
    {site_pbs_state, "c17\n     state = job-busy\n", WELL("job-busy")},
    {site_pbs_state, "c17\n     state = down,offline\n     comment = fan dead\n",
     SAID("node-down", "down,offline (fan dead)")},
    {site_pbs_state, "c17\n     state = offline\n     note = rack 4\n", SAID("node-drained", "offline (rack 4)")},
    {site_pbs_state, "c17\n     state = state-unknown,down\n", SAID("node-down", "state-unknown,down")},
    {site_pbs_state, "c17\n     ntype = PBS\n", NULL},
};

TEST_CASES(of_a_state, COUNT(states))
{
    char *out = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&out, &len);

    ck_assert_int_eq(states[_i].read(states[_i].text, f), states[_i].said != NULL);
    fclose(f);
    ck_assert_str_eq(out, states[_i].said ? states[_i].said : "");
    free(out);
}

/* ---- a program in the place of theirs -------------------------------------------------------- */

static const struct {
    const char *lines, *node, *said;
} programs[] = {
    {"[ \"$*\" = 'show node -o c17' ] && echo '" NODE "DOWN'\n", "c17", SAID("node-down", "down")},
    {"echo 'Node c17 not found'; exit 1\n", "c17", "{\"why_not\":\"the scheduler does not know the node\"}\n"},
    {"echo 'slurm_load_node error: Unable to contact slurm controller (connect failure)' >&2; exit 1\n", "c17",
     "{\"why_not\":\"the scheduler does not answer\"}\n"},
    {"echo 'error: If munged is up, restart with --num-threads=10' >&2; exit 1\n", "c17",
     "{\"why_not\":\"this user has no credential of munge here\"}\n"},
    {"echo nonsense\n", "c17", "{\"why_not\":\"the scheduler's program does not say the node's state\"}\n"},
    {"head -c 10000000 /dev/zero\n", "c17",
     "{\"why_not\":\"the scheduler's program does not say the node's state\"}\n"},
    {"kill -9 $$\n", "c17", "{\"why_not\":\"the scheduler's program does not say the node's state\"}\n"},
    {"echo 'State=DOWN'\n", "--all", "{\"why_not\":\"it needs the node's name\"}\n"},
};

/* The other one, and what the site's file may say beside the program; NULL: it is not there. */
static const struct {
    site_handler_fn *ask;
    const char *lines, *name, *said;
} others[] = {
    {site_pbs, "[ \"$*\" = c17 ] && printf 'c17\\n     state = down\\n'\n", NULL,
     SAID("node-down", "down")},
    {site_pbs, "[ \"$*\" = n-17 ] && printf 'n-17\\n     state = free\\n'\n", "n-17", WELL("free")},
    {site_pbs, "[ \"$PBS_CONF_FILE\" = /a/file ] && printf 'c17\\n     state = down\\n'\n", NULL,
     SAID("node-down", "down")},
    {site_pbs, "echo 'pbsnodes: Unknown node c17' >&2; exit 153\n", NULL,
     "{\"why_not\":\"the scheduler does not know the node\"}\n"},
    {site_pbs, "printf 'c17\\n     state = '\n", NULL,
     "{\"why_not\":\"the scheduler's program does not say the node's state\"}\n"},
    {site_pbs, NULL, NULL, "{\"why_not\":\"the scheduler's program is not installed here\"}\n"},
    {site_slurm, NULL, NULL, "{\"why_not\":\"the scheduler's program is not installed here\"}\n"},
    {site_slurm, "[ \"$SLURM_CONF\" = /a/file ] && echo '" NODE "DOWN'\n", NULL,
     SAID("node-down", "down")},
    {site_slurm, "[ \"$4\" = n-17 ] && echo '" NODE "DOWN'\n", "n-17", SAID("node-down", "down")},
};

static void expect_of(site_handler_fn *ask, const char *lines, const char *node, const char *name,
                      const char *said)
{
    struct json_object *request = json_object_new_object();
    char *out = NULL;
    size_t len = 0;
    FILE *f;

    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(script, sizeof(script), "%s/program", folder);
    f = lines ? fopen(script, "w") : NULL;
    if (f) {
        fprintf(f, "#!/bin/sh\n%s", lines);
        fclose(f);
        ck_assert_int_eq(chmod(script, 0700), 0);
    }
    json_object_object_add(request, "node", json_object_new_string(node));
    json_object_object_add(request, "program", json_object_new_string(script));
    json_object_object_add(request, "slurm_conf", json_object_new_string("/a/file"));
    json_object_object_add(request, "pbs_conf", json_object_new_string("/a/file"));
    if (name)
        json_object_object_add(request, "name", json_object_new_string(name));
    f = open_memstream(&out, &len);
    ask(request, f);
    fclose(f);
    ck_assert_str_eq(out, said);
    free(out);
    json_object_put(request);
    unlink(script);
    rmdir(folder);
}

TEST_CASES(of_a_program, COUNT(programs))
{
    expect_of(site_slurm, programs[_i].lines, programs[_i].node, NULL, programs[_i].said);
}

TEST_CASES(of_another, COUNT(others))
{
    expect_of(others[_i].ask, others[_i].lines, "c17", others[_i].name, others[_i].said);
}
