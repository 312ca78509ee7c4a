/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

/* What a switch says of a port, in words. */

static const char *symptom_of(const struct site_port *p)
{
    return p->admin == 2                   ? "port-disabled"
           : p->admin != 1                 ? NULL
           : p->oper == 1                  ? "port-up"
           : p->oper == 2 || p->oper == 7 ? "port-down"
                                           : NULL;
}

void site_snmp_port(const char *name, const struct site_port *p, FILE *out)
{
    const char *symptom = symptom_of(p);
    char text[128], since[40] = "", counts[64] = "";

    if (!symptom) {
        site_say_not(out, "the switch says neither that the port is up nor that it is down");
        return;
    }
    if (p->changed_s >= 0)
        snprintf(since, sizeof(since), " since %.0f s", p->changed_s);
    if (p->errors > 0 || p->discards > 0)
        snprintf(counts, sizeof(counts), ", %lld errors, %lld discards", p->errors > 0 ? p->errors : 0,
                 p->discards > 0 ? p->discards : 0);
    snprintf(text, sizeof(text), "port %.32s is %s%s%s", name,
             p->admin == 2 ? "switched off" : p->oper == 1 ? "up" : "down", since, counts);
    site_say(out, symptom, text);
}
