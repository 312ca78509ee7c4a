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
 * (mpi/observe/transport.c).  With faultloc off nothing is asked of UCX, and a status that MPICH
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
void MPIDI_faultloc_ucx_release_address(ucp_worker_h worker, ucp_address_t *address)
    MPIDI_FAULTLOC_HIDDEN;
#define ucp_worker_release_address(worker, address) \
    MPIDI_faultloc_ucx_release_address(worker, address)
#define ucp_ep_create(worker, params, ep) MPIDI_faultloc_ucx_ep_create(worker, params, ep)
#define ucp_disconnect_nb(ep) MPIDI_faultloc_ucx_disconnect(&(ep))

/* The address that all ranks are about to exchange: with faultloc on it says so (base/mark.h). */
#define MPIDI_FAULTLOC_UCX_ADDRESS(ctx) \
    do { \
        if (MPIR_CVAR_FAULTLOC) \
            (ctx).if_address = MPIDI_faultloc_ucx_address((ctx).if_address, &(ctx).addrname_len); \
    } while (0)

/* A receive has ended otherwise than well, or its peer was given up before.  The place for a
 * request of MPICH's in one of UCX's is used of sends alone; here it says that this is over. */
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

/* One-sided operations and active messages.  Whose endpoint it is that has failed is not known to who
 * looks at the status.  In parentheses the names mean UCX's functions. */
extern __thread ucp_ep_h MPIDI_faultloc_ucx_to MPIDI_FAULTLOC_HIDDEN;
static inline ucs_status_t MPIDI_faultloc_ucx_tried(ucs_status_t status, ucp_ep_h ep)
{
    if (unlikely(status < 0))
        MPIDI_faultloc_ucx_to = ep;
    return status;
}
static inline ucs_status_ptr_t MPIDI_faultloc_ucx_began(ucs_status_ptr_t request, ucp_ep_h ep)
{
    if (unlikely(UCS_PTR_IS_ERR(request)))
        MPIDI_faultloc_ucx_to = ep;
    return request;
}
#define ucp_put(ep, from, n, to, key) \
    MPIDI_faultloc_ucx_tried((ucp_put)(ep, from, n, to, key), ep)
#define ucp_put_nbi(ep, from, n, to, key) \
    MPIDI_faultloc_ucx_tried((ucp_put_nbi)(ep, from, n, to, key), ep)
#define ucp_get_nbi(ep, to, n, from, key) \
    MPIDI_faultloc_ucx_tried((ucp_get_nbi)(ep, to, n, from, key), ep)
#define ucp_put_nb(ep, from, n, to, key, cb) \
    MPIDI_faultloc_ucx_began((ucp_put_nb)(ep, from, n, to, key, cb), ep)
#define ucp_get_nb(ep, to, n, from, key, cb) \
    MPIDI_faultloc_ucx_began((ucp_get_nb)(ep, to, n, from, key, cb), ep)
#define ucp_am_send_nb(ep, id, from, n, type, cb, flags) \
    MPIDI_faultloc_ucx_began((ucp_am_send_nb)(ep, id, from, n, type, cb, flags), ep)
#define ucp_am_send_nbx(ep, id, header, len, from, n, param) \
    MPIDI_faultloc_ucx_began((ucp_am_send_nbx)(ep, id, header, len, from, n, param), ep)

/* UCX waits for all that is under way, and lost ranks keep it waiting, or have it fail for all. */
ucs_status_t MPIDI_faultloc_ucx_ep_flush(ucp_ep_h ep) MPIDI_FAULTLOC_HIDDEN;
ucs_status_t MPIDI_faultloc_ucx_flush(struct MPIR_Win *win, int vci) MPIDI_FAULTLOC_HIDDEN;
#define ucp_ep_flush(ep) MPIDI_faultloc_ucx_ep_flush(ep)
#define MPIDI_FAULTLOC_UCX_FLUSH(win, vci) \
    (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes) ? MPIDI_faultloc_ucx_flush(win, vci) : \
     MPIDI_UCX_flush(vci))

/* UCX has refused something: if the peer is lost, that is the error, once it is known. */
int MPIDI_faultloc_ucx_error(ucs_status_t status) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_UCX_ERROR(status) \
    do { \
        if (unlikely((status) < 0) && MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes)) { \
            mpi_errno = MPIDI_faultloc_ucx_error(status); \
            MPIR_ERR_CHECK(mpi_errno); \
        } \
    } while (0)

/* A put or get with a request has ended; who asked for it has noted its peer. */
#define MPIDI_FAULTLOC_UCX_RMA_REQUEST(req, av) (MPIDI_REQUEST(req, faultloc_peer) = (av))
#define MPIDI_FAULTLOC_UCX_RMA_HELD(ucp_request, status) \
    ((ucp_request)->req && MPIDI_FAULTLOC_UCX_HELD((ucp_request)->req, ucp_request, status))

/* A send that UCX refuses: true if *out is now a request that will fail likewise. */
#if defined(MPIDI_FAULTLOC_PT2PT)
#define MPIDI_FAULTLOC_UCX_LOST_SEND(ptr, av, vci, out) \
    (unlikely(UCS_PTR_IS_ERR(ptr)) && \
     (req = MPIDI_faultloc_ucx_lost_send(av, vci, UCS_PTR_STATUS(ptr), req)) != NULL && \
     (*(out) = req, 1))
#else
#define MPIDI_FAULTLOC_UCX_LOST_SEND(ptr, av, vci, req) 0
#endif

/* What UCX does not keep of a send that lasts, and of a receive that is about to begin, and may end
 * at once. */
#if defined(MPIDI_FAULTLOC_PT2PT)
#define MPIDI_FAULTLOC_UCX_SEND(req, av, tag, comm, offset) \
    MPIDI_FAULTLOC_NOTE(req, av, tag, (uint32_t) ((comm)->context_id + (offset)))
#define MPIDI_FAULTLOC_UCX_RECV(req, peer, tag, comm, offset) \
    MPIDI_FAULTLOC_NOTE(req, peer, tag, (uint32_t) ((comm)->recvcontext_id + (offset)))
#define MPIDI_FAULTLOC_UCX_RECEIVED(req, info) \
    MPIDI_FAULTLOC_UCX_COUNT(req, (info)->sender_tag)
#else
#define MPIDI_FAULTLOC_UCX_SEND(req, av, tag, comm, offset) do { } while (0)
#define MPIDI_FAULTLOC_UCX_RECV(req, peer, tag, comm, offset) do { } while (0)
#define MPIDI_FAULTLOC_UCX_RECEIVED(req, info) do { } while (0)
#endif

/* A receive has ended well: the message counts.  What UCX knows it by is its key and, between both
 * parts, its sender. */
#if MPIDI_FAULTLOC_ROWS
#define MPIDI_FAULTLOC_UCX_COUNT(req, sender_tag_) \
    do { \
        uintptr_t peer_ = (uintptr_t) MPIDI_REQUEST(req, faultloc_peer); \
        if (unlikely(peer_ & 1)) \
            peer_ = (uintptr_t) MPIDI_faultloc_sums_in((MPIR_Comm *) (peer_ - 1), \
                                                       MPIDI_UCX_get_source(sender_tag_)); \
        MPIDI_faultloc_count_received((struct MPIDI_faultloc_sums *) peer_, \
                                      (sender_tag_) & MPIDI_faultloc_sums.key); \
    } while (0)
#else
#define MPIDI_FAULTLOC_UCX_COUNT(req, sender_tag) do { } while (0)
#endif

#else

#define MPIDI_FAULTLOC_UCX_SEND(req, av, tag, comm, offset) do { } while (0)
#define MPIDI_FAULTLOC_UCX_RECV(req, av, tag, comm, offset) do { } while (0)
#define MPIDI_FAULTLOC_UCX_RECEIVED(req, info) do { } while (0)
#define MPIDI_FAULTLOC_UCX_ADDRESS(ctx) do { } while (0)
#define MPIDI_FAULTLOC_UCX_UNUSUAL(ucp_request, status) 0
#define MPIDI_FAULTLOC_UCX_RECV_ENDED(ucp_request, req, status, info) do { } while (0)
#define MPIDI_FAULTLOC_UCX_HELD(req, ucp_request, status) 0
#define MPIDI_FAULTLOC_UCX_LOST_SEND(ptr, av, vci, req) 0
#define MPIDI_FAULTLOC_UCX_FLUSH(win, vci) MPIDI_UCX_flush(vci)
#define MPIDI_FAULTLOC_UCX_ERROR(status) do { } while (0)
#define MPIDI_FAULTLOC_UCX_RMA_REQUEST(req, av) do { } while (0)
#define MPIDI_FAULTLOC_UCX_RMA_HELD(ucp_request, status) 0

#endif /* ENABLE_FAULTLOC */

#endif /* FAULTLOC_UCX_H_INCLUDED */
