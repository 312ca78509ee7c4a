/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/rank/rank.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/number.h"
#include "faultloc/base/say.h"
#include "faultloc/board/action.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

categories:
    - name        : FAULTLOC
      description : cvars of fault localization

cvars:
    - name        : MPIR_CVAR_FAULTLOC
      category    : FAULTLOC
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If 1, faults of the job (a lost node, a stopped or crashed process) are located and
        reported while it runs. Must be the same on all ranks.

    - name        : MPIR_CVAR_FAULTLOC_FANOUT
      category    : FAULTLOC
      type        : int
      default     : 32
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Number of children of a node in the fault localization tree, 1 to 1024. A node that is the
        first of several switches (see MPIR_CVAR_FAULTLOC_TOPOLOGY) may have so many for each.

    - name        : MPIR_CVAR_FAULTLOC_TOPOLOGY
      category    : FAULTLOC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        A file that lists which nodes are behind which switch, in the syntax of Slurm's
        topology.conf; rank 0 reads it. Nodes behind one switch are then in one subtree of the
        fault localization tree. A string such as "switch:2 node:4" (two switches of four nodes
        each, in the order of their first ranks) is also possible. If empty or wrong, only
        MPIR_CVAR_FAULTLOC_FANOUT determines the tree.

    - name        : MPIR_CVAR_FAULTLOC_DATA_IFACE
      category    : FAULTLOC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The interface of the data path, by name (ib0) or subnet (10.0.0.0/16). If empty, it is the
        one that the transport has taken, or that UCX_NET_DEVICES names, or else the first one with
        an address.

    - name        : MPIR_CVAR_FAULTLOC_MGMT_IFACE
      category    : FAULTLOC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The interface of the management path, by name or subnet; "none" if there is none. If
        empty, it is the next interface on another subnet than that of the data path.

    - name        : MPIR_CVAR_FAULTLOC_STALL_MS
      category    : FAULTLOC
      type        : int
      default     : 1000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        How long a rank may wait, in milliseconds, before the node of the rank it waits for is
        asked; 100 to 3600000. Unless it is set, that is asked after 200 ms where waits are short. A
        question is cheap and accuses nobody.

    - name        : MPIR_CVAR_FAULTLOC_SAMPLE_MS
      category    : FAULTLOC
      type        : int
      default     : 400
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Mean time between two looks of an agent at the ranks of its own node, in milliseconds; 10
        to 60000. A look sends no message.

    - name        : MPIR_CVAR_FAULTLOC_ALPHA
      category    : FAULTLOC
      type        : string
      default     : "0.001"
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The significance of a verdict that a rank hangs outside MPI, and of ranks that wait longer
        than before: what was observed must have a smaller probability than this if the job is
        healthy; from 1e-12 to 0.1. A smaller value needs more samples, and a verdict comes that
        much later.

    - name        : MPIR_CVAR_FAULTLOC_REPORT
      category    : FAULTLOC
      type        : string
      default     : "faultloc-%j.json"
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The file for the report, which is written once there is a verdict; %j is the job's id, %h
        the name of the reporting node. If empty, no file is written.

    - name        : MPIR_CVAR_FAULTLOC_ACTION
      category    : FAULTLOC
      type        : string
      default     : "report"
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        What happens once a fault is located, words between commas: "report" only reports it; "abort"
        also ends the job after MPIR_CVAR_FAULTLOC_PATIENCE_MS, except for straggler, gpu-fault,
        network-degraded, node-at-risk, unknown, and for a process that a debugger holds;
        "exec:/PROGRAM" also runs that program once per verdict on the reporting node, as the job's
        user, with the report as JSON on its standard input and the main facts in its environment,
        for at most 10 s.

    - name        : MPIR_CVAR_FAULTLOC_SILENCE_MS
      category    : FAULTLOC
      type        : int
      default     : 900
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        How long a node that is asked must be silent before it is accused, in milliseconds, 300 to
        60000; more if round trips take long. A larger value tolerates longer silences of the
        network, and an outage is located later by the same amount.

    - name        : MPIR_CVAR_FAULTLOC_PATIENCE_MS
      category    : FAULTLOC
      type        : int
      default     : 4000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        How long a verdict must have stood, in milliseconds, 0 to 600000, before it has effects
        that cannot be undone. With MPIR_CVAR_FAULTLOC_ACTION=abort the job is ended, after the
        component was asked once more. A lost node is given up: operations that wait for its ranks
        fail with MPIX_ERR_PROC_FAILED. A process that ended without MPI_Finalize is given up at
        once.

    - name        : MPIR_CVAR_FAULTLOC_GRACE_MS
      category    : FAULTLOC
      type        : int
      default     : 3000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        How long a failing job may wait for its verdict, in milliseconds, 0 to 60000: mpiexec
        before it cleans up, and a rank before it aborts because of an error of the transport. The
        wait ends as soon as the verdict is there.

    - name        : MPIR_CVAR_FAULTLOC_NODE_NAME
      category    : FAULTLOC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The name of this node in reports. Ranks of one host with different names count as ranks of
        different nodes. If empty, it is the host's name.

    - name        : MPIR_CVAR_FAULTLOC_TRACE
      category    : FAULTLOC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        A file to which every agent appends a line for each decision; %j is the job's id, %h the
        node's name. If empty, there is no trace.

    - name        : MPIR_CVAR_FAULTLOC_RULES
      category    : FAULTLOC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The rule base, a JSON file ("faultloc rules print" prints the built-in one); %j is the
        job's id, %h the node's name. It is read again when it changes while the job runs. If
        empty, the built-in rule base is used.

    - name        : MPIR_CVAR_FAULTLOC_HANDLERS
      category    : FAULTLOC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        A JSON file that names the programs that are asked about a silent node (its management
        controller, its switch port), with addresses and passwords; only its owner may have access
        to it; %j is the job's id, %h the node's name. If empty, none is asked.

    - name        : MPIR_CVAR_FAULTLOC_SYSFS
      category    : FAULTLOC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The root of sysfs, as a container may have it elsewhere. If empty, /sys.

    - name        : MPIR_CVAR_FAULTLOC_SYMPTOMS
      category    : FAULTLOC
      type        : int
      default     : 1
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If 1, the agent of each node accepts symptoms from other software of the same user or of
        root on a Unix socket ("faultloc symptom"). If 0, it does not.

    - name        : MPIR_CVAR_FAULTLOC_VERBOSE
      category    : FAULTLOC
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If 1, a report on standard error includes the table of nodes (name, addresses, alive or
        not) and the last decisions of the reporting node, and the JSON file includes the whole
        table of nodes, however large the job is.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

/* ---- numbers as MPICH reads them ------------------------------------------------------------- */

/* What is no number, until the rank is known that says so. MPICH reads each of its variables by
 * three names. */
#define UNREAD_MAX 32
static struct {
    const char *name;
    const int *value;           /* what is used instead */
} unread[UNREAD_MAX];
static int unreads;
static bool stall_is_set;

/* Behind the prefix; NULL: it is no variable of faultloc's. */
static const char *own_name(const char *variable)
{
    static const char *const prefixes[] = { "MPIR_CVAR_", "MPIR_PARAM_", "MPICH_" };

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        const char *name = variable + strlen(prefixes[i]);
        if (!strncmp(variable, prefixes[i], strlen(prefixes[i])) &&
            !strncmp(name, "FAULTLOC", strlen("FAULTLOC")))
            return name;
    }
    return NULL;
}

static bool is_switch(const char *name)
{
    return !strcmp(name, "FAULTLOC") || !strcmp(name, "FAULTLOC_SYMPTOMS") ||
        !strcmp(name, "FAULTLOC_VERBOSE");
}

/* An empty one counts as not set. */
int MPIDI_faultloc_env2int(const char *variable, int *value)
{
    const char *name = own_name(variable), *text = name ? getenv(variable) : NULL;

    if (!name)
        return (MPL_env2int) (variable, value);
    if (!text || !*text)
        return 0;
    if (faultloc_number_read(text, is_switch(name), value)) {
        stall_is_set |= !strcmp(name, "FAULTLOC_STALL_MS");
        return 1;
    }
    if (unreads < UNREAD_MAX) {
        unread[unreads].name = variable;
        unread[unreads++].value = value;
    }
    return 0;
}

/* With faultloc off, which that of the switch may be the reason for, the others do not count. */
void MPIDI_faultloc_say_unread(void)
{
    for (int i = 0; i < unreads && MPIR_Process.rank == 0; i++) {
        const char *variable = unread[i].name, *text = getenv(variable);
        int value = *unread[i].value;

        if (is_switch(own_name(variable)))
            faultloc_say("%s=%s is neither 1 (on) nor 0 (off); using %d", variable,
                         text ? text : "", value);
        else if (MPIR_CVAR_FAULTLOC)
            faultloc_say("%s=%s is not a whole number that fits; using %d", variable,
                         text ? text : "", value);
    }
    unreads = 0;
}

/* ---- what is read of them -------------------------------------------------------------------- */

static int in_range(const char *name, int value, int least, int most, int otherwise)
{
    if (value >= least && value <= most)
        return value;
    if (MPIR_Process.rank == 0)
        faultloc_say("%s=%d is out of range %d..%d; using %d", name, value, least, most, otherwise);
    return otherwise;
}

static double read_alpha(void)
{
    const double least = 1e-12, most = 0.1, otherwise = 0.001;
    const char *text = MPIR_CVAR_FAULTLOC_ALPHA;
    char *end;
    double alpha = strtod(text, &end);

    if (end > text && !*end && alpha >= least && alpha <= most)
        return alpha;
    if (MPIR_Process.rank == 0)
        faultloc_say("%s=%s is out of range %g..%g; using %g", "MPIR_CVAR_FAULTLOC_ALPHA", text, least,
                     most, otherwise);
    return otherwise;
}

int32_t MPIDI_faultloc_read_fanout(void)
{
    return in_range("MPIR_CVAR_FAULTLOC_FANOUT", MPIR_CVAR_FAULTLOC_FANOUT, 1, 1024, 32);
}

/* Only rank 0 looks for the program: not all ranks at once are to ask a file system. */
static void read_action(struct faultloc_settings *s)
{
    char word[FAULTLOC_ACTION_WORD];
    const char *wrong = faultloc_action_read(MPIR_CVAR_FAULTLOC_ACTION, &s->action, s->program, word);

    if (MPIR_Process.rank != 0)
        return;
    if (wrong)
        faultloc_say("MPIR_CVAR_FAULTLOC_ACTION=%s: \"%s\" %s; it is ignored",
                     MPIR_CVAR_FAULTLOC_ACTION, word, wrong);
    if (s->program[0] && access(s->program, X_OK)) {
        faultloc_say("MPIR_CVAR_FAULTLOC_ACTION=%s: \"%s\" cannot be executed: %s; it is ignored",
                     MPIR_CVAR_FAULTLOC_ACTION, s->program, strerror(errno));
        s->program[0] = '\0';
    }
}

/* A file name as given, but whole, because the program may change its directory. */
static void read_path(const char *cvar, const char *pattern, const char *job_id, const char *node,
                      char *out)
{
    char name[FAULTLOC_PATH_ROOM], cwd[FAULTLOC_PATH_ROOM];
    bool fits = faultloc_expand(pattern, job_id, node, name, sizeof(name));

    out[0] = '\0';
    if (!pattern[0])
        return;
    if (fits && name[0] != '/' && getcwd(cwd, sizeof(cwd)))
        fits = snprintf(out, FAULTLOC_PATH_ROOM, "%s/%s", cwd, name) < FAULTLOC_PATH_ROOM;
    else if (fits)
        memcpy(out, name, sizeof(name));
    if (fits)
        return;
    out[0] = '\0';
    if (MPIR_Process.rank == 0)
        faultloc_say("%s=%s is too long, or has a %% that is not %%j, %%h or %%%%; the file is not "
                     "used", cvar, pattern);
}

void MPIDI_faultloc_read_settings(struct faultloc_settings *s, const char *job_id,
                                  const char *node)
{
    const char *launcher;

    memset(s, 0, sizeof(*s));
    s->stall = FTREE_MS * (ftree_time) in_range("MPIR_CVAR_FAULTLOC_STALL_MS",
                                                MPIR_CVAR_FAULTLOC_STALL_MS, 100, 3600000, 1000);
    s->stall_is_set = stall_is_set;
    s->sample = FTREE_MS * (ftree_time) in_range("MPIR_CVAR_FAULTLOC_SAMPLE_MS",
                                                 MPIR_CVAR_FAULTLOC_SAMPLE_MS, 10, 60000, 400);
    s->grace = FTREE_MS * (ftree_time) in_range("MPIR_CVAR_FAULTLOC_GRACE_MS",
                                                MPIR_CVAR_FAULTLOC_GRACE_MS, 0, 60000, 3000);
    s->silence = FTREE_MS * (ftree_time) in_range("MPIR_CVAR_FAULTLOC_SILENCE_MS",
                                                  MPIR_CVAR_FAULTLOC_SILENCE_MS, 300, 60000, 900);
    s->patience = FTREE_MS * (ftree_time) in_range("MPIR_CVAR_FAULTLOC_PATIENCE_MS",
                                                   MPIR_CVAR_FAULTLOC_PATIENCE_MS, 0, 600000,
                                                   4000);
    s->alpha = read_alpha();
    read_action(s);
    faultloc_walltime_read(faultloc_unix_ms(), &s->walltime);
    launcher = getenv(FAULTLOC_LAUNCHER_ENV);
    if (launcher && (launcher[0] == '/' || launcher[0] == '@') && strlen(launcher) < sizeof(s->launcher))
        MPL_strncpy(s->launcher, launcher, sizeof(s->launcher));
    read_path("MPIR_CVAR_FAULTLOC_REPORT", MPIR_CVAR_FAULTLOC_REPORT, job_id, node, s->report);
    read_path("MPIR_CVAR_FAULTLOC_TRACE", MPIR_CVAR_FAULTLOC_TRACE, job_id, node, s->trace);
    read_path("MPIR_CVAR_FAULTLOC_RULES", MPIR_CVAR_FAULTLOC_RULES, job_id, node, s->rules);
    read_path("MPIR_CVAR_FAULTLOC_HANDLERS", MPIR_CVAR_FAULTLOC_HANDLERS, job_id, node,
              s->handlers);
    read_path("MPIR_CVAR_FAULTLOC_SYSFS", MPIR_CVAR_FAULTLOC_SYSFS, job_id, node, s->sysfs);
    s->symptoms = MPIR_CVAR_FAULTLOC_SYMPTOMS;
    s->verbose = MPIR_CVAR_FAULTLOC_VERBOSE;
}

/* The scheduler's number for the job where there is one, and for its step; else PMI's name for it,
 * of which hydra's, kvs_PID_..., is known by the process id of mpiexec alone. */
void MPIDI_faultloc_read_job_id(char *out, size_t room)
{
    static const char *const variables[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"};
    const char *id = MPIR_pmi_job_id(), *step = getenv("SLURM_STEP_ID"), *number;
    int pid, world;

    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        number = getenv(variables[i]);
        if (!number || !number[0])
            continue;
        snprintf(out, room, "%s%s%s", number, i == 0 && step ? "." : "",
                 i == 0 && step ? step : "");
        return;
    }
    if (id && sscanf(id, "kvs_%d_%d_", &pid, &world) == 2) {
        if (world == 0)
            snprintf(out, room, "%d", pid);
        else
            snprintf(out, room, "%d-%d", pid, world);
        return;
    }
    MPL_strncpy(out, id && id[0] ? id : "job", room);
}

void MPIDI_faultloc_read_node_name(char *name)
{
    size_t n;

    memset(name, 0, FAULTLOC_NAME_SIZE);
    if (MPIR_CVAR_FAULTLOC_NODE_NAME && MPIR_CVAR_FAULTLOC_NODE_NAME[0])
        MPL_strncpy(name, MPIR_CVAR_FAULTLOC_NODE_NAME, FAULTLOC_NAME_SIZE);
    else if (gethostname(name, FAULTLOC_NAME_SIZE - 1))
        MPL_strncpy(name, "?", FAULTLOC_NAME_SIZE);
    n = strcspn(name, ".");
    if (n > 0 && !(name[0] >= '0' && name[0] <= '9'))
        name[n] = '\0';         /* the short name, unless it is an address */
    faultloc_clean_name(name);
}
