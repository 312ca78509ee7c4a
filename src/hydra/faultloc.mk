##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Included in hydra's Makefile.am; the paths are hydra's.  Some releases have their own
# headers in pm/pmiserv, others pass the places of theirs themselves.

AM_CPPFLAGS += -I$(top_srcdir)/faultloc -I$(top_srcdir)/pm/pmiserv -I$(top_srcdir)/../..

noinst_HEADERS += \
    faultloc/faultloc_arrival.h \
    faultloc/faultloc_base.h \
    faultloc/faultloc_barrier.h \
    faultloc/faultloc_cgroup.h \
    faultloc/faultloc_children.h \
    faultloc/faultloc_cleanup.h \
    faultloc/faultloc_connect.h \
    faultloc/faultloc_holders.h \
    faultloc/faultloc_hosts.h \
    faultloc/faultloc_hydra.h \
    faultloc/faultloc_incident.h \
    faultloc/faultloc_keepalive.h \
    faultloc/faultloc_late.h \
    faultloc/faultloc_lost.h \
    faultloc/faultloc_pending.h \
    faultloc/faultloc_process.h \
    faultloc/faultloc_proxy.h \
    faultloc/faultloc_server.h

hydra_pmi_proxy_SOURCES += \
    faultloc/faultloc_cgroup.c \
    faultloc/faultloc_children.c \
    faultloc/faultloc_cleanup.c \
    faultloc/faultloc_connect.c \
    faultloc/faultloc_holders.c \
    faultloc/faultloc_hydra.c \
    faultloc/faultloc_message.c \
    faultloc/faultloc_pending.c \
    faultloc/faultloc_process.c \
    faultloc/faultloc_proxy.c

# pthread_atfork, before glibc 2.34
hydra_pmi_proxy_LDADD += -lpthread

mpiexec_hydra_SOURCES += \
    faultloc/faultloc_arrival.c \
    faultloc/faultloc_barrier.c \
    faultloc/faultloc_children.c \
    faultloc/faultloc_hosts.c \
    faultloc/faultloc_hydra.c \
    faultloc/faultloc_incident.c \
    faultloc/faultloc_keepalive.c \
    faultloc/faultloc_late.c \
    faultloc/faultloc_lost.c \
    faultloc/faultloc_message.c \
    faultloc/faultloc_server.c \
    faultloc/faultloc_summary.c
