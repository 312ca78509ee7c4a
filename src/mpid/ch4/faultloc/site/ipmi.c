/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include <string.h>

/*
 * Handler: the BMC of a node, by ipmitool: has it power, are its sensors well.  -N 1 -R 1: the BMC is
 * asked twice within 2 s, and no more; -C 3: the cipher suite that all have; -v: else a refused login
 * reads like a dead BMC (but with it lists are no tables, whatever -c says).  The password is in a file in
 * memory, which no argument shows.  Power is a question of its own: what is killed at its deadline has
 * printed nothing.
 *
 * -L USER: who only reads needs no more, and ipmitool writes where it may: "sdr" clears a repository
 * of sensors that is empty, and makes it anew.  So that is looked at first.
 */

struct login {
    const char *address, *port, *user, *password;
};

/* `commands`: for exec; NULL: none. */
static bool ask_bmc(const struct login *l, const char *const *command, const char *commands,
                    struct site_said *s)
{
    const char *arguments[32] = {"ipmitool", "-I", "lanplus", "-C",       "3",     "-N",
                                 "1",        "-R", "1",       "-L",       "USER",  "-H",
                                 l->address, "-p", l->port,   "-U",       l->user, "-f",
                                 "/proc/self/fd/3"};
    const char *const texts[] = {l->password, commands, NULL};
    int n = 19;

    while (*command && n < 31)
        arguments[n++] = *command++;
    return site_run(arguments, texts, s);
}

/* In one session, for each takes a while; one that fails does not stop the others.  The BMC's own
 * clock tells how long ago events were. */
static void ask_more(const struct login *l, bool has_power, struct json_object *request,
                     struct site_said *s, FILE *out)
{
    static const char *const exec[] = {"-c", "exec", "/proc/self/fd/4", NULL};
    static const char *const sensors[] = {"-c", "sdr", NULL};

    if (!ask_bmc(l, exec, "sel list last 16\nsdr info\nsel time get\n", s))
        return;
    site_ipmi_events(s->out, out);
    if (site_ipmi_has_sensors(s->out) && ask_bmc(l, sensors, NULL, s) && s->code == 0)
        site_ipmi_sensors(s->out, has_power, request, out);
}

void site_ipmi(struct json_object *request, FILE *out)
{
    static const char *const power[] = {"-v", "chassis", "power", "status", NULL};
    static struct site_said s;
    struct login l = {faultloc_text(request, "address"), faultloc_text(request, "port"),
                      faultloc_text(request, "user"), faultloc_text(request, "password")};

    if (!l.address || !l.user || !l.password) {
        site_say_not(out, "it needs address, user and password, as strings");
        return;
    }
    l.port = l.port ? l.port : "623";
    if (!ask_bmc(&l, power, NULL, &s))
        site_say_not(out, "ipmitool cannot be started");
    else if (s.code == 127)
        site_say_not(out, "ipmitool is not installed");
    else if (s.code != 0 || !site_ipmi_power(s.out, out))
        site_say_not(out, site_ipmi_why(s.err));
    else
        ask_more(&l, strstr(s.out, "is on") != NULL, request, &s, out);
}
