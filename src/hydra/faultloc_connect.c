/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#define _GNU_SOURCE
#include "faultloc_connect.h"
#include "faultloc_holders.h"
#include "faultloc_process.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SYN_SENT 2 /* as include/net/tcp_states.h of Linux has it */
#define TRIES 3 /* after the first; these take 3 s at least */
#define DEPTH 4 /* a script, the script that it starts, ... */
#define ADDRESS INET6_ADDRSTRLEN

/* ---- where to -------------------------------------------------------------------------------- */

/* Of one line of a file of hosts; false: it has another address. */
static bool take_host(char *line, const char *address, char *name, size_t room)
{
    char *rest = line, *word;

    line[strcspn(line, "#\n")] = '\0';
    word = strsep(&rest, " \t");
    if (strcmp(word, address) || !rest)
        return false;
    rest += strspn(rest, " \t");
    rest[strcspn(rest, " \t")] = '\0';
    snprintf(name, room, "%s", rest);
    return *name != '\0';
}

/* No name server is asked: that may take long. */
static void find_name(const char *hosts, const char *address, char *name, size_t room)
{
    FILE *f = fopen(hosts, "re");
    char line[512];
    bool found = false;

    *name = '\0';
    while (f && !found && fgets(line, sizeof(line), f))
        found = take_host(line, address, name, room);
    if (f)
        fclose(f);
}

/* The kernel writes an address as words of this machine's own order. */
static bool read_address(const char *hex, char address[ADDRESS])
{
    uint32_t word[4];
    int n = 0;

    for (; n < 4 && sscanf(hex + 8 * n, "%8x", &word[n]) == 1; n++) {
        if (strspn(hex + 8 * n, "0123456789ABCDEFabcdef") < 8)
            return false;
        if (hex[8 * (n + 1)] == '\0')
            return inet_ntop(n ? AF_INET6 : AF_INET, word, address, ADDRESS) != NULL;
    }
    return false;
}

/* ---- which ----------------------------------------------------------------------------------- */

static bool has_socket(const char *proc, int pid, unsigned long inode)
{
    char wanted[64];

    snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
    return HYD_faultloc_has_open(proc, pid, wanted);
}

/* One line of /proc/PID/net/tcp: "0: 0100000A:C8CA 0200000A:A233 02 00000001:00000000 01:0000016A
 * 00000006 0 0 7427698 ..." */
static bool take_line(const char *line, const char *hosts, struct HYD_faultloc_connect *c)
{
    char to[33], address[ADDRESS], name[48];
    unsigned port, state, tries;

    if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%*x %32[0-9A-Fa-f]:%x %x %*x:%*x %*x:%*x %x %*u %*d %lu",
               to, &port, &state, &tries, &c->inode) != 5 ||
        state != SYN_SENT || tries < TRIES || !read_address(to, address))
        return false;
    find_name(hosts, address, name, sizeof(name));
    c->tries = (int) tries + 1;
    snprintf(c->to, sizeof(c->to), "%s%s%s%s, port %u", address, *name ? " (" : "", name,
             *name ? ")" : "", port);
    return true;
}

static int add_of(const char *proc, const char *file, const char *hosts, int pid,
                  struct HYD_faultloc_connect *c, int n)
{
    char path[256], line[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%d/net/%s", proc, pid, file);
    f = fopen(path, "re");
    while (f && n < HYD_FAULTLOC_CONNECTS_MAX && fgets(line, sizeof(line), f))
        n += take_line(line, hosts, &c[n]) && has_socket(proc, pid, c[n].inode);
    if (f)
        fclose(f);
    return n;
}

int HYD_faultloc_connects(const char *proc, const char *hosts, int pid,
                          struct HYD_faultloc_connect c[HYD_FAULTLOC_CONNECTS_MAX])
{
    int n = 0;

    for (int depth = 0; depth < DEPTH && pid > 0 && n == 0; depth++) {
        n = add_of(proc, "tcp", hosts, pid, c, n);
        n = add_of(proc, "tcp6", hosts, pid, c, n);
        pid = HYD_faultloc_child_of(proc, pid);
    }
    return n;
}
