/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SITE_H_INCLUDED
#define FAULTLOC_SITE_H_INCLUDED

#include "faultloc/base/json_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The program faultloc-handlers: what services of the site say of a node.  It reads the file that
 * names them, starts a process for each handler, and prints what they find, one JSON object a line.
 *
 *     main.c      options, limits, the check for people
 *     config.c    the file: who may read it, what is in it
 *     map.c       "c[01-64] -> bmc[01-64]"
 *     ask.c       the processes: started with the request as input, read, ended at their deadline
 *     line.c      a line that one prints: checked
 *     ipmi.c      handler: a BMC, by ipmitool
 *     ipmi_read.c what ipmitool prints
 *     redfish.c   handler: a BMC, by libcurl
 *     scheduler.c handlers: Slurm, PBS
 *     output.c    a program that a handler runs
 *     snmp.c      handler: the node's port at its switch, by libnetsnmp
 *     snmp_read.c what the switch says of it
 *     os.c        handler: this node, by its kernel; os_log.c, os_mounts.c
 *     gpu.c       handler: this node's GPUs, by NVML; gpu_amd.c, by sysfs
 *
 * A password is in no argument, environment, message or core file.
 */

#define SITE_HANDLERS_MAX 16
#define SITE_NAME_MAX 32 /* of a handler */
#define SITE_FILE_MAX (1 << 20)
#define SITE_DEADLINE_MS 2500 /* of a handler whose entry says nothing else */
#define SITE_DEADLINE_MOST_MS 4500 /* the agent waits for 5 s */
#define SITE_OUTPUT_MAX (64 * 1024) /* of one handler */
#define SITE_LINE_MAX 1024
#define SITE_LINES_MAX 8 /* of one handler, without a symptom, that are printed */
#define SITE_SYMPTOMS_MAX 64 /* those with one */
#define SITE_WHY_MAX 256
/* The agent has kept no PATH of the program that started it. */
#define SITE_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* ---- config.c -------------------------------------------------------------------------------- */

/* A handler that comes with FaultLoc: prints lines about a request; runs in a process of its own. */
typedef void site_handler_fn(struct json_object *request, FILE *out);

struct site_handler {
    const char *name;
    const char *program; /* the site's; NULL: `run` */
    site_handler_fn *run;
    bool at_home; /* it is about the node that it runs on */
    int deadline_ms;
    struct json_object *request; /* what it gets; NULL: it is not asked, */
    char why[SITE_WHY_MAX]; /* because of this */
};

struct site_config {
    struct json_object *root;
    int n;
    struct site_handler handler[SITE_HANDLERS_MAX];
};

struct site_question {
    const char *node; /* about which it is */
    const char *from; /* the node that asks */
    int64_t since_ms; /* when the job began, Unix time; 0: not known */
    const char *ranks; /* "4711,4712": processes of the job on the node that asks; NULL: not known */
    const char *limits; /* "temperature-high>95,fan-failed<500": of the rule base; NULL: none */
    bool all; /* for people: a node that asks about itself has the others asked, too */
};

/* Purpose: reads a file that only its owner, the caller or root, may have access to.
 * Returns its object, to be freed; NULL: `why` says what is wrong, and holds nothing of the file but
 * names of its members. */
struct json_object *site_config_load(const char *path, char why[SITE_WHY_MAX]);

/* Purpose: checks all that is in the file, and makes the handlers' requests about a node; handlers
 * that are not for the node are left out.  Names are those of `root`, which is the config's from now on.
 * False: `why`, likewise. */
bool site_config_read(struct site_config *c, struct json_object *root,
                      const struct site_question *q, char why[SITE_WHY_MAX]);

void site_config_free(struct site_config *c);

/* ---- map.c ----------------------------------------------------------------------------------- */

enum site_map { SITE_MAP_FOUND, SITE_MAP_NOT_THERE, SITE_MAP_WRONG };

/* Purpose: whether a hostlist has the node. */
enum site_map site_map_has(const char *list, const char *node);

/* Purpose: of "c[01-64] -> bmc[01-64]" the name on the right that stands where the node stands on the
 * left; one name on the right is for all. */
enum site_map site_map(const char *text, const char *node, char *out, size_t room);

/* ---- ask.c, line.c --------------------------------------------------------------------------- */

/* Purpose: asks all handlers at once; prints what they say as they end, and for each that says nothing
 * why.  Returns how many failed. */
int site_ask_all(struct site_config *c, FILE *out);

/* Purpose: true if by the limits of a request ("limits", as in the question) the value is one of that
 * symptom. */
bool site_is_beyond(struct json_object *request, const char *symptom, double value);

/* Purpose: checks a line of a handler, and adds whose it is; to be freed.  NULL: it is none, or out of
 * memory. */
struct json_object *site_line(const char *handler, const char *line, size_t len);

/* Purpose: a line that says why a handler says nothing; likewise. */
struct json_object *site_failure(const char *handler, const char *why);

/* Purpose: prints a line of a handler.  `symptom`: as "faultloc symptom --list" has it, NULL: none.
 * age_s: so long ago; below 0: not known, or it is so now. */
void site_say(FILE *out, const char *symptom, const char *text);
void site_say_ago(FILE *out, const char *symptom, double age_s, const char *text);
void site_say_not(FILE *out, const char *why);

/* ---- handlers -------------------------------------------------------------------------------- */

/* The word of "ask", and whether it is about the node that it runs on. */
#define SITE_OWN(X) \
    X(ipmi, false) X(redfish, false) X(snmp, false) X(slurm, false) X(pbs, false) X(os, true) X(gpu, true)

#define SITE_DECLARE(name, at_home) extern site_handler_fn site_##name;
SITE_OWN(SITE_DECLARE)

#define SITE_SAID_MAX (32 * 1024)
struct site_said {
    char out[SITE_SAID_MAX], err[SITE_SAID_MAX];
    int code; /* -1: it did not end by itself; 127: it cannot be executed */
};

/* Purpose: runs a program and keeps what it prints, cut off where it is too much, without zeros.  It may
 * read `texts`, two at the most, NULL behind the last one (NULL: none), from its descriptors 3 and 4.
 * False: it cannot be started. */
bool site_run(const char *const *arguments, const char *const *texts, struct site_said *s);

/* Purpose: what `scontrol show node -o` or `pbsnodes` printed: prints the line.  False: no state in it.
 * And why it failed, by what it wrote, in words of our own. */
bool site_slurm_state(const char *text, FILE *out);
bool site_pbs_state(const char *text, FILE *out);
const char *site_scheduler_why(const char *text);

/* Purpose: what `ipmitool chassis power status` printed: prints the line.  False: nothing of use. */
bool site_ipmi_power(const char *text, FILE *out);

/* Purpose: what `ipmitool -c` printed of `sel list`: of each kind of fault the newest event, with the BMC's
 * date of it, and how long ago it was by what `sel time get` printed, the last line. */
void site_ipmi_events(const char *text, FILE *out);

/* Purpose: whether by `ipmitool sdr info` the BMC knows of any sensor. */
bool site_ipmi_has_sensors(const char *text);

/* Purpose: what `ipmitool -c sdr` printed, sensors that are out of bounds; at most two lines.  Without
 * power fans stand still. */
void site_ipmi_sensors(const char *text, bool has_power, struct json_object *request, FILE *out);

/* Purpose: why ipmitool -v failed, by what it wrote on standard error, in words of our own. */
const char *site_ipmi_why(const char *text);

/* The row of a port, as SNMP's IF-MIB has it; -1: not known. */
struct site_port {
    long admin, oper; /* 1 up, 2 down, 7 lowerLayerDown */
    long long errors, discards;
    double changed_s; /* how long ago it last changed */
};

/* Purpose: prints the line of a port. */
void site_snmp_port(const char *name, const struct site_port *p, FILE *out);

/* What is known of the node that the handler runs on. */
struct site_os {
    const char *proc, *sys, *log; /* where they are */
    int64_t since_ms;
    const char *ranks; /* as in the question */
    struct json_object *request;
    double age_s; /* of what is said; below 0: it is so now */
    FILE *out;
    int said;
    bool mounts_answer; /* there are some, and they do */
};

/* Purpose: prints a line; and notes what cannot be read, with the remedy. */
void site_os_say(struct site_os *o, const char *symptom, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void site_os_lacks(struct site_os *o, const char *what);

/* Purpose: prints what the kernel's log has; and which file systems do not answer. */
void site_os_log(struct site_os *o);
void site_os_mounts(struct site_os *o);

/* Purpose: prints what AMD's GPUs do, by sysfs.  False: there is none. */
bool site_gpu_amd(const char *sys, FILE *out);

/* Purpose: whether an Xid says that the GPU has failed, and not the program that uses it. */
bool site_xid_fails(unsigned long long xid);

#endif /* FAULTLOC_SITE_H_INCLUDED */
