##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# What the generator of the bindings (binding_c.py), beside which it is put, writes into them: the
# call, where MPICH's lock is held, and the collective operation, behind which nothing is common to all.

from local_python import MPI_API_Global as G
from local_python.binding_common import split_line_with_break

import re

def is_noted(func):
    waits = func['name'] in ('MPI_Init', 'MPI_Init_thread', 'MPI_Finalize')
    looks = '_skip_global_cs' in func or func['dir'] in ('mpit', 'io') or func['name'] == 'MPI_Win_sync'
    return waits or not looks

def faultloc_call(func, end):
    if is_noted(func):
        early = '_EARLY' if end == 'ENTER' and '_skip_initcheck' in func else ''
        G.out.append("MPIDI_FAULTLOC_CALL_%s%s;" % (end, early))

# Whether MPI is initialized is asked when the call is noted.
def initialized_ordie(func):
    return "%s_INITIALIZED_ORDIE();" % ('MPIDI_FAULTLOC' if is_noted(func) else 'MPIR_ERRTEST')

def is_collective(func, has):
    return func['dir'] == 'coll' and 'comm' in has

# Those are, too, but their members agree upon less.
def makes_communicator(name):
    return re.match(r'MPI_(Comm_(create|i?dup(_with_info)?|split(_type)?|'
                    r'spawn(_multiple)?|accept|connect)|Intercomm_(create|merge)|Cart_sub|'
                    r'(Cart|Graph|Dist_graph)_create(_adjacent)?|'
                    r'Win_(create(_dynamic)?|allocate(_shared)?|fence|free))$', name)

# How much a member sends or receives that all must agree upon.
def sizes(name, has):
    at = "comm_ptr->rank %s root ? " % ('!=' if 'catter' in name else '==')
    for count, datatype in (('count', 'datatype'), ('recvcount', 'datatype'), ('sendcount', 'recvcount')):
        if count not in has or datatype not in has:
            continue
        if count == 'sendcount' and 'root' in has:
            count, datatype = at + 'recvcount : sendcount', at + 'recvtype : sendtype'
        elif count == 'sendcount':
            count, datatype = 'recvcount', 'recvtype'
        yield "SIZE(%s, %s)" % (count, datatype)

# at_end: behind the call, as for what only makes a request that is started later.
def faultloc_coll(func, at_end):
    name, has = func['name'], [p['name'] for p in func['c_parameters']]
    is_coll = is_collective(func, has)
    if at_end != name.endswith('_init') or not (is_coll or makes_communicator(name)):
        return
    what = ["REQUEST"] if 'request' in has else []
    what += ["ROOT(root)"] if is_coll and 'root' in has else []
    what += ["OP(op)"] if 'op' in has else []
    what += sizes(name, has) if is_coll and 'eighbor' not in name else []
    comm = [n for n in ('comm', 'comm_old', 'local_comm', 'intercomm', 'win') if n in has][0]
    comm += '_ptr->comm_ptr' if comm == 'win' else '_ptr'
    kind, of = ("COLL_INIT", 'request_ptr') if at_end else ("COLL", comm)
    what = " ".join(["MPIDI_FAULTLOC_HAS_" + w for w in what])
    G.out.extend(split_line_with_break("MPIDI_FAULTLOC_%s(%s, %s);" % (kind, of, what), '', 100))
