/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_BASE_H_INCLUDED
#define FAULTLOC_BASE_H_INCLUDED

#include "faultloc_hydra.h"

/*
 * What differs between the releases of hydra that this is built with, and nothing else does.  To be
 * included after pmip.h in the proxy, after hydra_server.h and pmiserv.h in mpiexec.
 *
 * FAULTLOC_SHARED_PROXY, which a patch defines in hydra's header: a host has one proxy, for all
 * process groups; processes, proxies and groups are in arrays.  Without it each group has a proxy
 * of its own, and they are in lists.
 */

#ifdef PMIP_H_INCLUDED

struct pmip_pg;

/* Purpose: processes that the proxy has started together, whose ranks are counted together. */
struct HYD_faultloc_base {
    int count;
    const char *host;
#ifdef FAULTLOC_SHARED_PROXY
    int pgid, proxy_id;
    struct pmip_downstream *processes;
#endif
};

/* Purpose: what hydra keeps of the process with this local number. */
#ifdef FAULTLOC_SHARED_PROXY
#define HYD_FAULTLOC_AT(base, i, field) ((base)->processes[i].field)
#define HYD_FAULTLOC_STDIN(base, i) ((base)->processes[i].in)
#else
#define HYD_FAULTLOC_AT(base, i, field) (HYD_pmcd_pmip.downstream.field[i])
#define HYD_FAULTLOC_STDIN(base, i) (HYD_pmcd_pmip.downstream.in)
#endif

/* Purpose: those of `pg`, NULL where there is only one group.  Hydra may move a pmip_pg. */
static inline struct HYD_faultloc_base HYD_faultloc_base_of(const struct pmip_pg *pg)
{
#ifdef FAULTLOC_SHARED_PROXY
    return (struct HYD_faultloc_base){.count = pg->num_procs,
                                      .host = pg->hostname,
                                      .pgid = pg->pgid,
                                      .proxy_id = pg->proxy_id,
                                      .processes = pg->downstreams};
#else
    (void) pg;
    return (struct HYD_faultloc_base){.count = HYD_pmcd_pmip.local.proxy_process_count,
                                      .host = HYD_pmcd_pmip.local.hostname};
#endif
}

/* Purpose: true if these are the processes of `pg`. */
static inline bool HYD_faultloc_base_is(const struct HYD_faultloc_base *base,
                                        const struct pmip_pg *pg)
{
#ifdef FAULTLOC_SHARED_PROXY
    return pg && base->pgid == pg->pgid && base->proxy_id == pg->proxy_id;
#else
    (void) pg;
    return base->count > 0;
#endif
}

/* Purpose: the header of a message of `size` bytes to mpiexec. */
static inline struct HYD_pmcd_hdr HYD_faultloc_header(const struct HYD_faultloc_base *base,
                                                      size_t size)
{
    struct HYD_pmcd_hdr hdr;

    HYD_pmcd_init_header(&hdr);
    hdr.cmd = HYD_FAULTLOC_CMD;
    hdr.buflen = (int) size;
#ifdef FAULTLOC_SHARED_PROXY
    hdr.pgid = base->pgid;
    hdr.proxy_id = base->proxy_id;
#else
    (void) base;
#endif
    return hdr;
}

#endif /* PMIP_H_INCLUDED */

#ifdef PMISERV_H_INCLUDED

/* Purpose: the next process group, the first after NULL; NULL after the last.  Where hydra starts a
 * group it may move all others: nobody keeps such a pointer. */
static inline struct HYD_pg *HYD_faultloc_next_pg(const struct HYD_pg *pg)
{
#ifdef FAULTLOC_SHARED_PROXY
    return PMISERV_pg_by_id(pg ? pg->pgid + 1 : 0);
#else
    return pg ? pg->next : &HYD_server_info.pg_list;
#endif
}

/* Purpose: the group with this number; NULL: there is none. */
static inline struct HYD_pg *HYD_faultloc_pg(int pgid)
{
    struct HYD_pg *pg = HYD_faultloc_next_pg(NULL);

    while (pg && pg->pgid != pgid)
        pg = HYD_faultloc_next_pg(pg);
    return pg;
}

/* Purpose: the next proxy of a group, the first after NULL; NULL after the last. */
static inline struct HYD_proxy *HYD_faultloc_next_of(const struct HYD_pg *pg,
                                                     const struct HYD_proxy *proxy)
{
#ifdef FAULTLOC_SHARED_PROXY
    int i = proxy ? proxy->proxy_id + 1 : 0;

    return i < pg->proxy_count ? &pg->proxy_list[i] : NULL;
#else
    return proxy ? proxy->next : pg->proxy_list;
#endif
}

#define HYD_FAULTLOC_EACH_PG(pg) \
    for (struct HYD_pg *pg = HYD_faultloc_next_pg(NULL); pg; pg = HYD_faultloc_next_pg(pg))
#define HYD_FAULTLOC_EACH_OF(pg, proxy) \
    for (struct HYD_proxy *proxy = HYD_faultloc_next_of(pg, NULL); proxy; \
         proxy = HYD_faultloc_next_of(pg, proxy))

/* Purpose: the number of the group that a proxy's processes are of. */
static inline int HYD_faultloc_pgid(const struct HYD_proxy *proxy)
{
#ifdef FAULTLOC_SHARED_PROXY
    return proxy->pgid;
#else
    return proxy->pg->pgid;
#endif
}

/* Purpose: the rank of a proxy's process with this local number. */
static inline int HYD_faultloc_rank_of(const struct HYD_proxy *proxy, int local)
{
    const struct HYD_pg *pg = HYD_faultloc_pg(HYD_faultloc_pgid(proxy));
#ifdef FAULTLOC_SHARED_PROXY
    for (int rank = 0; rank < pg->pg_process_count; rank++)
        if (pg->rankmap[rank] == proxy->node->node_id && local-- == 0)
            return rank;
    return -1;
#else
    /* As HYD_pmcd_pmi_fill_in_exec_launch_info deals them out, and the proxy's local_to_global_id
     * takes them: first what fills up the nodes, then so many for each node in turn. */
    int fill = 0, all_fill = 0, cores = 0, all_cores = 0, past = 0, rest, per_turn;

    HYD_FAULTLOC_EACH_OF(pg, p)
    {
        past |= p == proxy;
        fill += past ? 0 : p->filler_processes;
        cores += past ? 0 : p->node->core_count;
        all_fill += p->filler_processes;
        all_cores += p->node->core_count;
    }
    if (local < proxy->filler_processes)
        return fill + local;
    rest = local - proxy->filler_processes;
    per_turn = proxy->node->core_count > 0 ? proxy->node->core_count : 1;
    return all_fill + cores + rest / per_turn * all_cores + rest % per_turn;
#endif
}

/* Purpose: the header of a message of `size` bytes to a proxy. */
static inline struct HYD_pmcd_hdr HYD_faultloc_header(const struct HYD_proxy *proxy, size_t size)
{
    struct HYD_pmcd_hdr hdr;

    HYD_pmcd_init_header(&hdr);
    hdr.cmd = HYD_FAULTLOC_CMD;
    hdr.buflen = (int) size;
#ifdef FAULTLOC_SHARED_PROXY
    hdr.pgid = proxy->pgid;
    hdr.proxy_id = proxy->proxy_id;
#else
    (void) proxy;
#endif
    return hdr;
}

/* Purpose: what has the connection to a proxy, which may be that to others, too. */
static inline const void *HYD_faultloc_connection(const struct HYD_proxy *proxy)
{
#ifdef FAULTLOC_SHARED_PROXY
    return proxy->node;
#else
    return proxy;
#endif
}

/* Purpose: launchers that hydra has started, HYD_bscu_pid_count of them. */
#ifdef FAULTLOC_SHARED_PROXY
extern struct HYD_proxy_pid *HYD_bscu_pid_list;
extern int HYD_bscu_pid_count;
#define HYD_FAULTLOC_LAUNCHER(i) (HYD_bscu_pid_list[i].pid)
#define HYD_FAULTLOC_LAUNCHED(i) (HYD_bscu_pid_list[i].proxy)
#else
#define HYD_FAULTLOC_LAUNCHER(i) (HYD_bscu_pid_list[i])
#define HYD_FAULTLOC_LAUNCHED(i) ((struct HYD_proxy *) NULL) /* it is not said */
#endif

#endif /* PMISERV_H_INCLUDED */

#endif /* FAULTLOC_BASE_H_INCLUDED */
