#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# UCX 1.13.1 (Debian 1.13.1-1), tcp: ucp_worker_flush_nbx() succeeds where a peer was killed before it had the data.
#
# ucp.h says of it that all RMA operations of the worker "are completed both at the origin and at the target".  A
# guess: where the peer of a put is killed before, the flush of the worker ends with an error, as that of the endpoint
# does.
# Seen: of a put to a process that is stopped, and then killed, the put itself has ended with UCS_OK, and so does the flush
# of the worker, whether it began before the end of the peer or after it; the flush of the endpoint fails, and the error
# callback is called.  So: a program that ends its steps by a flush of the worker has lost data without knowing; it
# looks at what its error callback was told as well, or flushes each endpoint.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ucx.sh"

compile flush <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define FEATURES UCP_FEATURE_RMA
#include "pair.h"

#define ROOM (1 << 20)

static ucp_request_param_t plain;

static ucs_status_ptr_t put(ucp_ep_h ep, char *data, size_t n, char *there, ucp_rkey_h key)
{
    return ucp_put_nbx(ep, data, n, (uintptr_t) there, key, &plain);
}

int main(int argc, char **argv)
{
    size_t n = atoi(argv[1]), key_bytes;
    static char data[ROOM];
    struct {
        size_t bytes;
        char *there;
        char key[1024];
    } *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ucs_status_ptr_t before, worker_before, ep_before;
    ucp_rkey_h key;
    ucp_ep_h ep = pair();

    if (!peer) {
        ucp_mem_map_params_t m = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                  .address = data,
                                  .length = ROOM};
        ucp_mem_h memory;
        void *packed;

        if (ucp_mem_map(context, &m, &memory) || ucp_rkey_pack(context, memory, &packed, &key_bytes))
            _exit(1);
        memcpy(shared->key, packed, key_bytes);
        shared->there = data;
        __atomic_store_n(&shared->bytes, key_bytes, __ATOMIC_SEQ_CST);
        go_on(60);
        _exit(0);
    }
    while (!__atomic_load_n(&shared->bytes, __ATOMIC_SEQ_CST))
        ucp_worker_progress(worker);
    if (ucp_ep_rkey_unpack(ep, shared->key, &key))
        _exit(1);
    printf("%zu bytes\n", n);
    printf("  peer well: put %s, ", result(put(ep, data, n, shared->there, key), 10));
    printf("worker %s\n", result(ucp_worker_flush_nbx(worker, &plain), 10));
    kill(peer, SIGSTOP);
    before = put(ep, data, n, shared->there, key);
    worker_before = ucp_worker_flush_nbx(worker, &plain);
    ep_before = ucp_ep_flush_nbx(ep, &plain);
    kill(peer, SIGKILL);
    waitpid(peer, NULL, 0);
    go_on(2);
    printf("  killed: put %s, ", result(before, 10));
    printf("worker %s, ", result(worker_before, 10));
    printf("endpoint %s, ", UCS_PTR_IS_ERR(ep_before) || strcmp(result(ep_before, 10), "Success") ? "failed" : "Success");
    printf("worker again %s, ", result(ucp_worker_flush_nbx(worker, &plain), 10));
    printf("callback %s\n", lost ? "called" : "not called");
    fflush(stdout);
    _exit(0);
}
END
{
    for bytes in 8 4000; do timeout 60 ./flush $bytes; done
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
8 bytes
  peer well: put Success, worker Success
  killed: put Success, worker Success, endpoint failed, worker again Success, callback called
4000 bytes
  peer well: put Success, worker Success
  killed: put Success, worker Success, endpoint failed, worker again Success, callback called
END
echo "as seen with UCX $version"
