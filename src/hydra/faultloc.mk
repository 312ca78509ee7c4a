##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Included at the end of pm/pmiserv/Makefile.mk; the paths are hydra's.

noinst_HEADERS += \
    pm/pmiserv/faultloc_arrival.h \
    pm/pmiserv/faultloc_barrier.h \
    pm/pmiserv/faultloc_cgroup.h \
    pm/pmiserv/faultloc_children.h \
    pm/pmiserv/faultloc_cleanup.h \
    pm/pmiserv/faultloc_connect.h \
    pm/pmiserv/faultloc_holders.h \
    pm/pmiserv/faultloc_hosts.h \
    pm/pmiserv/faultloc_hydra.h \
    pm/pmiserv/faultloc_incident.h \
    pm/pmiserv/faultloc_keepalive.h \
    pm/pmiserv/faultloc_late.h \
    pm/pmiserv/faultloc_lost.h \
    pm/pmiserv/faultloc_pending.h \
    pm/pmiserv/faultloc_process.h \
    pm/pmiserv/faultloc_proxy.h \
    pm/pmiserv/faultloc_server.h

hydra_pmi_proxy_SOURCES += \
    pm/pmiserv/faultloc_cgroup.c \
    pm/pmiserv/faultloc_children.c \
    pm/pmiserv/faultloc_cleanup.c \
    pm/pmiserv/faultloc_connect.c \
    pm/pmiserv/faultloc_holders.c \
    pm/pmiserv/faultloc_hydra.c \
    pm/pmiserv/faultloc_message.c \
    pm/pmiserv/faultloc_pending.c \
    pm/pmiserv/faultloc_process.c \
    pm/pmiserv/faultloc_proxy.c

# pthread_atfork, before glibc 2.34
hydra_pmi_proxy_LDADD += -lpthread

libpm_la_SOURCES += \
    pm/pmiserv/faultloc_arrival.c \
    pm/pmiserv/faultloc_barrier.c \
    pm/pmiserv/faultloc_children.c \
    pm/pmiserv/faultloc_hosts.c \
    pm/pmiserv/faultloc_hydra.c \
    pm/pmiserv/faultloc_incident.c \
    pm/pmiserv/faultloc_keepalive.c \
    pm/pmiserv/faultloc_late.c \
    pm/pmiserv/faultloc_lost.c \
    pm/pmiserv/faultloc_message.c \
    pm/pmiserv/faultloc_server.c \
    pm/pmiserv/faultloc_summary.c
