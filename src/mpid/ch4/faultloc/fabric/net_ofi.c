/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/fabric/net.h"

#include "faultloc/base/fabric.h"

#include <dlfcn.h>
#include <errno.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/*
 * libfabric, by messages (FI_MSG) of an endpoint FI_EP_RDM, as MPICH has it, of the provider and domain
 * that a rank has taken.  An ask says where the answer is to go, for not all providers can (FI_SOURCE).
 *
 * A send that is refused by -FI_EAGAIN is tried again: there is no connection yet, or will never be one.
 */

#define SLOTS 16 /* receives that are posted, and as many sends */
#define AGAIN_US 5000 /* each try may be a new connection */
#define ADDRESSES_MOST 4096 /* of those that ask */

/* One operation, and its memory. */
struct slot {
    struct fi_context2 context; /* the first */
    enum { FREE, WAITS, RUNS } state; /* it waits to be given to the library */
    fi_addr_t to;
    uint8_t bytes[PING_BYTES];
};

static struct {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_cq *cq;
    struct fid_av *av;
    struct fid_ep *ep;
    uint8_t address[PING_ADDRESS];
    size_t len;
    fi_addr_t peer; /* who is asked: only what is sent there matters */
    unsigned known; /* addresses of those that asked */
    struct slot receive[SLOTS], send[SLOTS];
    unsigned next; /* send */
    uint64_t again;
    const char *failure;
    bool unsent, deaf;
} o = {.peer = FI_ADDR_NOTAVAIL};

const char net_name[] = "libfabric";
const bool net_has_way_back = false;

void net_environment(void)
{
    unsetenv("FI_LOG_LEVEL"); /* its lines would be in the way */
}

/* libfabric 1.17 reads all of the kernel's symbols, twice, 0.2 s of the CPU that the ranks have, to know
 * whether verbs takes a GPU's memory.  Here it is not to be had. */
FILE *fopen(const char *path, const char *mode)
{
    FILE *(*const next)(const char *, const char *) = (FILE * (*) (const char *, const char *))
        dlsym(RTLD_NEXT, "fopen");

    errno = EACCES;
    return next && strcmp(path, "/proc/kallsyms") ? next(path, mode) : NULL;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Those of the provider; that of the domain is looked for among them, for its name and format as hints
 * are ignored (1.17). */
static int get_info(const char *provider, struct fi_info **list)
{
    struct fi_info *hints = fi_allocinfo();
    int rc = -FI_ENOMEM;

    if (!hints)
        return rc;
    hints->caps = FI_MSG;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    if (!*provider || (hints->fabric_attr->prov_name = strdup(provider)))
        rc = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, NULL, 0, hints, list);
    fi_freeinfo(hints);
    return rc;
}

/* "2/tcp;ofi_rxm/eth0": the format of addresses, the provider, the domain. */
static const char *find_info(const char *over)
{
    char provider[64] = "", domain[64] = "";
    unsigned format = FI_FORMAT_UNSPEC;
    struct fi_info *list;
    int rc;

    if (over && !*over)
        return "the ranks use UCX";
    if (over && sscanf(over, "%u/%63[^/]/%63[^\n]", &format, provider, domain) != 3)
        return "what the ranks use is not known";
    rc = get_info(provider, &list);
    if (rc)
        return fi_strerror(-rc);
    for (o.info = list; o.info && over; o.info = o.info->next)
        if (o.info->addr_format == format && !strcmp(o.info->domain_attr->name, domain))
            break;
    return o.info ? NULL : "what the ranks use is not there any more";
}

static int open_end(void)
{
    struct fi_av_attr av = {.type = o.info->domain_attr->av_type};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG};
    int rc = fi_fabric(o.info->fabric_attr, &o.fabric, NULL);

    if (av.type == FI_AV_UNSPEC)
        av.type = FI_AV_TABLE;
    o.len = sizeof(o.address);
    if (!rc)
        rc = fi_domain(o.fabric, o.info, &o.domain, NULL);
    if (!rc)
        rc = fi_endpoint(o.domain, o.info, &o.ep, NULL);
    if (!rc)
        rc = fi_cq_open(o.domain, &cq, &o.cq, NULL);
    if (!rc)
        rc = fi_av_open(o.domain, &av, &o.av, NULL);
    if (!rc)
        rc = fi_ep_bind(o.ep, &o.cq->fid, FI_SEND | FI_RECV);
    if (!rc)
        rc = fi_ep_bind(o.ep, &o.av->fid, 0);
    if (!rc)
        rc = fi_enable(o.ep);
    return rc ? rc : fi_getname(&o.ep->fid, o.address, &o.len);
}

const char *net_open(const char *over)
{
    const char *why = find_info(over);
    int rc = why ? 0 : open_end();

    for (int i = 0; i < SLOTS; i++)
        o.receive[i].state = WAITS;
    return rc ? fi_strerror(-rc) : why;
}

size_t net_address(uint8_t *bytes, size_t most)
{
    if (o.len > most)
        return 0;
    memcpy(bytes, o.address, o.len);
    return o.len;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Of one end of the same provider, as far as that shows: others may make it crash. */
static bool insert(const uint8_t *address, size_t len, fi_addr_t *to)
{
    uint32_t format = o.info->addr_format;
    bool has_family = format >= FI_SOCKADDR && format <= FI_SOCKADDR_IN6; /* it comes first */

    return len == o.len && (!has_family || !memcmp(address, o.address, sizeof(sa_family_t))) &&
           fi_av_insert(o.av, address, 1, to, 0, NULL) == 1;
}

const char *net_connect(const uint8_t *address, size_t len)
{
    return insert(address, len, &o.peer) ? NULL : "the address is none of the same provider";
}

static void try_to_send(struct slot *s)
{
    ssize_t rc = fi_send(o.ep, s->bytes, PING_BYTES, NULL, s->to, s);

    if (rc == -FI_EAGAIN)
        return;
    s->state = rc ? FREE : RUNS;
    if (rc && s->to == o.peer && !o.failure) {
        o.failure = fi_strerror((int) -rc);
        o.unsent = true;
    }
}

/* One that waits, for it has no connection, gives its place to what comes later. */
static bool send_to(fi_addr_t to, const uint8_t message[PING_BYTES])
{
    struct slot *s = &o.send[o.next++ % SLOTS];

    for (int i = 0; i < SLOTS && s->state == RUNS; i++)
        s = &o.send[o.next++ % SLOTS];
    if (s->state == RUNS)
        return false;
    memcpy(s->bytes, message, PING_BYTES);
    s->state = WAITS;
    s->to = to;
    try_to_send(s);
    return true;
}

void net_ask(uint8_t message[PING_BYTES])
{
    ping_put_address(message, o.address, o.len);
    send_to(o.peer, message);
}

bool net_reply(void *back, const uint8_t message[PING_BYTES])
{
    uint8_t address[PING_ADDRESS];
    size_t len = ping_address(back, address);
    fi_addr_t to;

    return len > 0 && o.known < ADDRESSES_MOST && insert(address, len, &to) && ++o.known &&
           send_to(to, message);
}

/* ---- what comes of it ------------------------------------------------------------------------ */

static bool is_receive(const struct slot *s)
{
    return s >= o.receive && s < o.receive + SLOTS;
}

static void end_slot(struct slot *s)
{
    if (s)
        s->state = is_receive(s) ? WAITS : FREE;
}

/* What else fails is this process's. */
static bool is_silence(int error)
{
    static const int all[] = {ETIMEDOUT, ECONNREFUSED, ECONNRESET, ECONNABORTED, EHOSTUNREACH,
                              ENETUNREACH, EHOSTDOWN, ENOTCONN};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i] == error)
            return true;
    return false;
}

/* Of a receive it is no matter: it is posted again. */
static void take_error(void)
{
    struct fi_cq_err_entry e = {.op_context = NULL};
    int error;

    if (fi_cq_readerr(o.cq, &e, 0) != 1)
        return;
    if (e.op_context && !is_receive(e.op_context) && ((struct slot *) e.op_context)->to == o.peer) {
        error = faultloc_fabric_errno("ofi", o.info->fabric_attr->prov_name, e.err, e.prov_errno);
        o.failure = strerror(error);
        o.unsent |= !is_silence(error);
    }
    end_slot(e.op_context);
}

static void try_again(uint64_t now)
{
    if (now < o.again)
        return;
    o.again = now + AGAIN_US;
    for (int i = 0; i < SLOTS; i++)
        if (o.send[i].state == WAITS)
            try_to_send(&o.send[i]);
}

/* Who cannot hear says so, and is not silent. */
static void post_receives(void)
{
    ssize_t rc;

    for (int i = 0; i < SLOTS; i++)
        if (o.receive[i].state == WAITS) {
            rc = fi_recv(o.ep, o.receive[i].bytes, PING_BYTES, NULL, FI_ADDR_UNSPEC, &o.receive[i]);
            o.receive[i].state = rc ? WAITS : RUNS;
            o.deaf |= rc && rc != -FI_EAGAIN;
        }
}

void net_turn(uint64_t now)
{
    struct fi_cq_msg_entry e;
    ssize_t n;

    try_again(now);
    post_receives();
    for (int i = 0; i < 2 * SLOTS && (n = fi_cq_read(o.cq, &e, 1)) != -FI_EAGAIN; i++) {
        struct slot *s = n == 1 ? e.op_context : NULL;
        if (n == -FI_EAVAIL)
            take_error();
        if (s && is_receive(s))
            net_heard(s->bytes, e.len, e.len == PING_BYTES ? s->bytes : NULL);
        end_slot(s);
    }
}

bool net_failed(void)
{
    return o.failure || o.deaf;
}

const char *net_why(bool *unsent)
{
    *unsent = o.unsent || o.deaf;
    for (int i = 0; i < SLOTS && !o.failure; i++)
        if (o.send[i].state == WAITS)
            return "no connection";
    return o.failure ? o.failure : o.deaf ? "no receive can be posted" : "";
}

bool net_close(void)
{
    return true; /* the kernel does, or the adapter */
}
