dnl Copyright (C) by the FaultLoc authors
dnl     See COPYRIGHT in top-level directory
dnl
dnl FaultLoc's version, read by its own configure.ac and by its part of MPICH's configure.
m4_define([FAULTLOC_VERSION_m4],[0.1])
