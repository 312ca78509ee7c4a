/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_UCX_H_INCLUDED
#define FAULTLOC_UCX_H_INCLUDED

#include "faultloc/seam/faultloc_seam.h"
#include "faultloc/seam/faultloc_sums.h"

#include <ucp/api/ucp.h>

/*
 * The seam's part that needs UCX's types: what UCX says of a peer that it has lost
 * (mpi/transport.c).  With faultloc off nothing is asked of UCX, and a status that MPICH
 * ignores stays ignored.
 */

#if defined(ENABLE_FAULTLOC)

ucp_address_t *MPIDI_faultloc_ucx_address(ucp_address_t *address, size_t *len) MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_ucx_held(struct MPIR_Request *req, void *ucp_request, ucs_status_t status)
    MPIDI_FAULTLOC_HIDDEN;
struct MPIR_Request *MPIDI_faultloc_ucx_lost_send(struct MPIDI_av_entry *av, int vci,
                                                  ucs_status_t status, struct MPIR_Request *req)
    MPIDI_FAULTLOC_HIDDEN;

/* Wherever MPICH makes an endpoint and closes one.  Both get the endpoint's place in the table of
 * addresses, which tells whose it is.  In parentheses the names mean UCX's functions. */
ucs_status_t MPIDI_faultloc_ucx_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params,
                                          ucp_ep_h *ep) MPIDI_FAULTLOC_HIDDEN;
void *MPIDI_faultloc_ucx_disconnect(const ucp_ep_h *ep) MPIDI_FAULTLOC_HIDDEN;
#define ucp_ep_create(worker, params, ep) MPIDI_faultloc_ucx_ep_create(worker, params, ep)
#define ucp_disconnect_nb(ep) MPIDI_faultloc_ucx_disconnect(&(ep))

/* The address that all ranks are about to exchange: with faultloc on it says so (base/mark.h). */
#define MPIDI_FAULTLOC_UCX_ADDRESS(ctx) \
    do { \
        if (MPIR_CVAR_FAULTLOC) \
            (ctx).if_address = MPIDI_faultloc_ucx_address((ctx).if_address, &(ctx).addrname_len); \
    } while (0)

/* A receive has ended otherwise than well, or its peer was given up before.  The place for a request of
 * MPICH's in one of UCX's is used of sends alone; here it says that this is over. */
#define MPIDI_FAULTLOC_UCX_UNUSUAL(ucp_request, status) \
    (unlikely((status) != UCS_OK) || unlikely((ucp_request)->req != NULL))
#define MPIDI_FAULTLOC_UCX_RECV_ENDED(ucp_request, req, status, info) \
    MPIDI_faultloc_ucx_recv_ended(ucp_request, req, status, info)
void MPIDI_faultloc_ucx_recv_ended(void *ucp_request, struct MPIR_Request *req, ucs_status_t status,
                                   const ucp_tag_recv_info_t *info) MPIDI_FAULTLOC_HIDDEN;

/* An operation has ended: true if neither request is to be touched any more, because it is complete
 * (its peer was given up meanwhile), or it will be once the verdict about its peer is known. */
#define MPIDI_FAULTLOC_UCX_HELD(req, ucp_request, status) \
    ((unlikely((status) < 0) || unlikely(MPIR_Request_is_complete(req))) && \
     MPIDI_faultloc_ucx_held(req, ucp_request, status))

/* A send that UCX refuses: true if *out is now a request that will fail likewise. */
#if defined(MPIDI_FAULTLOC_PT2PT)
#define MPIDI_FAULTLOC_UCX_LOST_SEND(ptr, av, vci, out) \
    (unlikely(UCS_PTR_IS_ERR(ptr)) && \
     (req = MPIDI_faultloc_ucx_lost_send(av, vci, UCS_PTR_STATUS(ptr), req)) != NULL && \
     (*(out) = req, 1))
#else
#define MPIDI_FAULTLOC_UCX_LOST_SEND(ptr, av, vci, req) 0
#endif

/* What UCX does not keep of a send that lasts, and of a receive that is about to begin, and may end at
 * once. */
#if defined(MPIDI_FAULTLOC_PT2PT)
#define MPIDI_FAULTLOC_UCX_SEND(req, av, tag, comm, offset) \
    MPIDI_FAULTLOC_NOTE(req, av, FAULTLOC_KEY((comm)->context_id + (offset), tag))
#define MPIDI_FAULTLOC_UCX_RECV(req, av, tag, comm, offset) \
    MPIDI_FAULTLOC_NOTE(req, av, FAULTLOC_KEY((comm)->recvcontext_id + (offset), tag))

/* A receive has ended well: the message counts.  What UCX knows it by is its key and, between both
 * parts, its sender.  One test tells addresses of the world from those of other worlds and from
 * communicators, of which the usual ones, ordered as the world is, are dealt with here, too. */
#define MPIDI_FAULTLOC_UCX_RECEIVED(req, info) \
    do { \
        uintptr_t from_ = (uintptr_t) MPIDI_REQUEST(req, faultloc_av); \
        uintptr_t offset_ = from_ - MPIDI_faultloc_sums.first; \
        if (unlikely(offset_ >= MPIDI_faultloc_sums.bytes)) { \
            MPIR_Comm *comm_ = (MPIR_Comm *) (from_ - 1); \
            if (!(from_ & 1) || MPIDI_COMM(comm_, map).mode != MPIDI_RANK_MAP_DIRECT_INTRA) { \
                MPIDI_faultloc_ucx_received(req, (info)->sender_tag); \
                break; \
            } \
            offset_ = (uintptr_t) MPIDI_UCX_get_source((info)->sender_tag) * \
                sizeof(MPIDI_av_entry_t); \
        } \
        MPIDI_faultloc_count_received(MPIDI_faultloc_sums_behind(offset_), \
                                      (info)->sender_tag & ~MPIDI_UCX_RANK_MASK); \
    } while (0)
#else
#define MPIDI_FAULTLOC_UCX_SEND(req, av, tag, comm, offset) do { } while (0)
#define MPIDI_FAULTLOC_UCX_RECV(req, av, tag, comm, offset) do { } while (0)
#define MPIDI_FAULTLOC_UCX_RECEIVED(req, info) do { } while (0)
#endif
void MPIDI_faultloc_ucx_received(struct MPIR_Request *req, uint64_t sender_tag)
    MPIDI_FAULTLOC_HIDDEN;

#else

#define MPIDI_FAULTLOC_UCX_SEND(req, av, tag, comm, offset) do { } while (0)
#define MPIDI_FAULTLOC_UCX_RECV(req, av, tag, comm, offset) do { } while (0)
#define MPIDI_FAULTLOC_UCX_RECEIVED(req, info) do { } while (0)
#define MPIDI_FAULTLOC_UCX_ADDRESS(ctx) do { } while (0)
#define MPIDI_FAULTLOC_UCX_UNUSUAL(ucp_request, status) 0
#define MPIDI_FAULTLOC_UCX_RECV_ENDED(ucp_request, req, status, info) do { } while (0)
#define MPIDI_FAULTLOC_UCX_HELD(req, ucp_request, status) 0
#define MPIDI_FAULTLOC_UCX_LOST_SEND(ptr, av, vci, req) 0

#endif /* ENABLE_FAULTLOC */

#endif /* FAULTLOC_UCX_H_INCLUDED */
