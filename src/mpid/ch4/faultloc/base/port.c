/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/port.h"

#include "faultloc/base/text_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_SIZE 24
#define PORTS_MAX 255

static const char *root_of(const char *sys_root)
{
    return sys_root ? sys_root : "/sys";
}

/* It becomes part of a path. */
static bool is_device(const char *name, size_t len)
{
    return len > 0 && len < DEVICE_SIZE && name[0] != '.' && !memchr(name, '/', len);
}

/* "mlx5_0:1". */
static bool parse(const char *text, size_t len, char device[DEVICE_SIZE], unsigned *number)
{
    const char *colon = memchr(text, ':', len);
    size_t digits = colon ? (size_t) (text + len - colon - 1) : 0;

    if (!colon || !is_device(text, (size_t) (colon - text)) || digits == 0 || digits > 3)
        return false;
    snprintf(device, DEVICE_SIZE, "%.*s", (int) (colon - text), text);
    *number = 0;
    for (size_t i = 1; i <= digits; i++) {
        if (colon[i] < '0' || colon[i] > '9')
            return false;
        *number = 10 * *number + (unsigned) (colon[i] - '0');
    }
    return *number > 0 && *number <= PORTS_MAX;
}

/* Its first line; false: there is none. */
static bool read_file(const char *sys_root, const char *port, const char *file, char *text,
                      size_t room)
{
    char device[DEVICE_SIZE];
    unsigned number;

    text[0] = '\0';
    if (parse(port, strlen(port), device, &number))
        faultloc_text_read(root_of(sys_root), text, room, "class/infiniband/%s/ports/%u/%s", device,
                           number, file);
    text[strcspn(text, "\n")] = '\0';
    return text[0];
}

/* ---- which ----------------------------------------------------------------------------------- */

static bool exists(const char *sys_root, const char *port)
{
    char text[32];

    return read_file(sys_root, port, "state", text, sizeof(text));
}

static void find_device(const char *sys_root, const char *iface, char device[DEVICE_SIZE])
{
    char path[512];
    struct dirent *e;
    DIR *d;

    device[0] = '\0';
    snprintf(path, sizeof(path), "%s/class/net/%s/device/infiniband", root_of(sys_root), iface);
    d = opendir(path);
    while (d && !device[0] && (e = readdir(d)))
        if (is_device(e->d_name, strlen(e->d_name)))
            snprintf(device, DEVICE_SIZE, "%.*s", DEVICE_SIZE - 1, e->d_name);
    if (d)
        closedir(d);
}

void faultloc_port_of_iface(const char *sys_root, const char *iface, char port[FAULTLOC_PORT_SIZE])
{
    char device[DEVICE_SIZE], text[16];

    port[0] = '\0';
    if (!is_device(iface, strlen(iface)))
        return;
    find_device(sys_root, iface, device);
    if (!device[0])
        return;
    faultloc_text_read(root_of(sys_root), text, sizeof(text), "class/net/%s/dev_port", iface);
    snprintf(port, FAULTLOC_PORT_SIZE, "%s:%u", device,
             ((unsigned) strtoul(text, NULL, 10) + 1) % (PORTS_MAX + 1));
    if (!exists(sys_root, port))
        port[0] = '\0';
}

void faultloc_port_named(const char *sys_root, const char *devices, char port[FAULTLOC_PORT_SIZE])
{
    char device[DEVICE_SIZE];
    unsigned number;

    port[0] = '\0';
    while (devices && *devices && *devices != '^' && !port[0]) {
        size_t len = strcspn(devices, ",");
        if (parse(devices, len, device, &number))
            snprintf(port, FAULTLOC_PORT_SIZE, "%s:%u", device, number);
        if (!exists(sys_root, port))
            port[0] = '\0';
        devices += len + (devices[len] == ',');
    }
}

/* ---- what it is like ------------------------------------------------------------------------- */

bool faultloc_port_is_infiniband(const char *sys_root, const char *port)
{
    char text[32];

    return read_file(sys_root, port, "link_layer", text, sizeof(text)) && !strcmp(text, "InfiniBand");
}

enum ftree_link faultloc_port_link(const char *sys_root, const char *port)
{
    char text[32];

    if (!read_file(sys_root, port, "state", text, sizeof(text)))
        return errno == ENOENT ? FTREE_LINK_GONE : FTREE_LINK_UNKNOWN;
    switch (atoi(text)) {
        case 1: /* down */
        case 2: /* initialized: no subnet manager has come */
        case 3: /* armed by it, and not active */
            return FTREE_LINK_NO_CARRIER;
        case 4:
        case 5: /* active, and the physical link is being mended */
            return FTREE_LINK_UP;
        default:
            return FTREE_LINK_UNKNOWN;
    }
}

/* "1: DOWN". */
static const char *word_of(const char *text)
{
    const char *colon = strstr(text, ": ");

    return colon ? colon + 2 : text;
}

void faultloc_port_words(const char *sys_root, const char *port, char *buf, size_t room)
{
    char state[32], physical[32];

    read_file(sys_root, port, "phys_state", physical, sizeof(physical));
    buf[0] = '\0';
    if (read_file(sys_root, port, "state", state, sizeof(state)))
        snprintf(buf, room, "%s%s%s", word_of(state), physical[0] ? ", " : "", word_of(physical));
}

/* "2.5 Gb/sec (1X SDR)". */
uint32_t faultloc_port_speed(const char *sys_root, const char *port)
{
    char text[48], *end;
    unsigned long gbps, tenths = 0;

    if (!read_file(sys_root, port, "rate", text, sizeof(text)) || text[0] < '0' || text[0] > '9')
        return 0;
    gbps = strtoul(text, &end, 10);
    if (*end == '.' && end[1] >= '0' && end[1] <= '9') {
        tenths = (unsigned long) (end[1] - '0');
        end += 2;
    }
    return gbps < 1000000 && !strncmp(end, " Gb/sec", 7) ? (uint32_t) (1000 * gbps + 100 * tenths) : 0;
}

uint64_t faultloc_port_counter(const char *sys_root, const char *port, const char *name)
{
    char device[DEVICE_SIZE];
    unsigned number;

    if (!parse(port, strlen(port), device, &number))
        return UINT64_MAX;
    return faultloc_text_number(root_of(sys_root), "class/infiniband/%s/ports/%u/counters/%s",
                                device, number, name);
}

/* "0x11" */
uint16_t faultloc_port_lid(const char *sys_root, const char *port)
{
    char text[16];
    unsigned long lid = 0;

    if (read_file(sys_root, port, "lid", text, sizeof(text)))
        lid = strtoul(text, NULL, 16);
    return lid <= UINT16_MAX ? (uint16_t) lid : 0;
}

/* The second half of "fe80:0000:0000:0000:506b:4b03:00c3:b1a2". */
uint64_t faultloc_port_guid(const char *sys_root, const char *port)
{
    unsigned part[4];
    char text[48];

    if (!faultloc_port_is_infiniband(sys_root, port) ||
        !read_file(sys_root, port, "gids/0", text, sizeof(text)) ||
        sscanf(text, "%*4x:%*4x:%*4x:%*4x:%4x:%4x:%4x:%4x", &part[0], &part[1], &part[2], &part[3]) != 4)
        return 0;
    return (uint64_t) part[0] << 48 | (uint64_t) part[1] << 32 | (uint64_t) part[2] << 16 | part[3];
}
