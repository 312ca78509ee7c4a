/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/fabric/net.h"

#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

/*
 * UCX, by active messages.  The error mode is PEER, though ranks have none: without it UCX 1.13.1 was
 * seen to abort (an assertion) where a connection was refused.
 */

/* MPICH 4.2 and later have handlers of such messages, too, with id 0 alone.  Should a rank have the port of
 * an end that is gone: UCX 1.13.1 was seen to crash it for what has id 1, but not for this one. */
#define AM_ID 7
#define WRITES_MOST 16 /* replies under way; more are not answered */

static struct {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    ucs_status_t failure;
    uint8_t reply[WRITES_MOST][PING_BYTES];
    void *reply_request[WRITES_MOST];
} u = {.failure = UCS_OK};

const char net_name[] = "UCX";
const bool net_has_way_back = true;

/* Lines and backtraces would be in the way, and a connect to a silent host must not block. */
void net_environment(void)
{
    setenv("UCX_LOG_LEVEL", "fatal", 1);
    setenv("UCX_HANDLE_ERRORS", "none", 1);
    setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 1);
    setenv("UCX_TCP_CONN_NB", "y", 1);
    setenv("UCX_LOG_FILE", "", 1); /* else that of the ranks is emptied, */
    setenv("UCX_STATS_DEST", "", 1); /* and these are written */
    setenv("UCX_PROFILE_MODE", "", 1);
    setenv("UCX_VFS_ENABLE", "n", 1);
}

static void note_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void) arg, (void) ep;
    u.failure = status;
}

bool net_failed(void)
{
    return u.failure != UCS_OK;
}

/* What else fails is this process's. */
static bool is_silence(ucs_status_t status)
{
    static const ucs_status_t all[] = {UCS_OK, UCS_ERR_ENDPOINT_TIMEOUT, UCS_ERR_CONNECTION_RESET,
                                       UCS_ERR_UNREACHABLE, UCS_ERR_NOT_CONNECTED, UCS_ERR_REJECTED};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i] == status)
            return true;
    return false;
}

const char *net_why(bool *unsent)
{
    *unsent = !is_silence(u.failure);
    return u.failure == UCS_OK ? "" : ucs_status_string(u.failure);
}

/* Of one that asked nobody minds how it ends. */
static int place_of_reply(void)
{
    for (int i = 0; i < WRITES_MOST; i++) {
        if (u.reply_request[i] && ucp_request_check_status(u.reply_request[i]) != UCS_INPROGRESS) {
            ucp_request_free(u.reply_request[i]);
            u.reply_request[i] = NULL;
        }
        if (!u.reply_request[i])
            return i;
    }
    return -1;
}

bool net_reply(void *back, const uint8_t message[PING_BYTES])
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags = UCP_AM_SEND_FLAG_EAGER};
    int i = place_of_reply();
    void *request;

    if (i < 0)
        return false;
    memcpy(u.reply[i], message, PING_BYTES);
    request = ucp_am_send_nbx(back, AM_ID, NULL, 0, u.reply[i], PING_BYTES, &param);
    u.reply_request[i] = UCS_PTR_IS_PTR(request) ? request : NULL;
    return !UCS_PTR_IS_ERR(request);
}

/* What comes by a rendezvous was sent by nobody of ours. */
static ucs_status_t heard(void *arg, const void *header, size_t header_len, void *data, size_t len,
                          const ucp_am_recv_param_t *param)
{
    (void) arg, (void) header, (void) header_len;
    if (!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV))
        net_heard(data, len,
                  param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP ? param->reply_ep : NULL);
    return UCS_OK;
}

const char *net_open(const char *over)
{
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_AM};
    const ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                               .thread_mode = UCS_THREAD_MODE_SINGLE};
    const ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
        .id = AM_ID,
        .flags = UCP_AM_FLAG_WHOLE_MSG,
        .cb = heard};
    ucp_config_t *config;
    ucs_status_t status;

    if (over && *over)
        return "the ranks use libfabric";
    status = ucp_config_read(NULL, NULL, &config);
    if (status == UCS_OK) {
        status = ucp_init(&params, config, &u.context);
        ucp_config_release(config);
    }
    if (status == UCS_OK)
        status = ucp_worker_create(u.context, &worker_params, &u.worker);
    if (status == UCS_OK)
        status = ucp_worker_set_am_recv_handler(u.worker, &handler);
    return status == UCS_OK ? NULL : ucs_status_string(status);
}

void net_turn(uint64_t now)
{
    (void) now;
    ucp_worker_progress(u.worker);
}

size_t net_address(uint8_t *bytes, size_t most)
{
    ucp_address_t *address;
    size_t len;

    if (ucp_worker_get_address(u.worker, &address, &len) != UCS_OK || len > most)
        return 0;
    memcpy(bytes, address, len);
    return len;
}

const char *net_connect(const uint8_t *address, size_t len)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
        .address = (const ucp_address_t *) address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = note_failure}};
    ucs_status_t status = ucp_ep_create(u.worker, &params, &u.ep);

    (void) len; /* the library has it in the address */
    if (status != UCS_OK) { /* not all transports have that mode */
        params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
        status = ucp_ep_create(u.worker, &params, &u.ep);
    }
    return status == UCS_OK ? NULL : ucs_status_string(status);
}

void net_ask(uint8_t message[PING_BYTES])
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY};
    void *request = ucp_am_send_nbx(u.ep, AM_ID, NULL, 0, message, PING_BYTES, &param);

    if (UCS_PTR_IS_ERR(request))
        u.failure = UCS_PTR_STATUS(request);
}

/* Else the other end finds out by errors, in which UCX 1.13.1 was seen to abort. */
bool net_close(void)
{
    const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags = UCP_EP_CLOSE_FLAG_FORCE};
    static void *request;

    if (!request)
        request = ucp_ep_close_nbx(u.ep, &force);
    return !UCS_PTR_IS_PTR(request) || ucp_request_check_status(request) != UCS_INPROGRESS;
}
