##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the findings about Open MPI 4.1.4: it is unpacked in a temporary folder, in which the script goes on.
. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
version=4.1.4-3+b1
unpack "Open MPI $version" openmpi-bin=$version openmpi-common=4.1.4-3 libopenmpi3=$version libpmix2=4.2.2-1+deb12u1 \
    libhwloc15=2.9.0-1 libevent-core-2.1-7=2.1.12-stable-8+deb12u1 libevent-pthreads-2.1-7=2.1.12-stable-8+deb12u1
export LD_LIBRARY_PATH=$libraries:$libraries/openmpi/lib:$libraries/pmix2/lib
export OPAL_PREFIX=$PWD/usr OPAL_LIBDIR=$libraries/openmpi/lib OPAL_PKGLIBDIR=$libraries/openmpi/lib/openmpi3
export OPAL_DATADIR=$PWD/usr/share OPAL_PKGDATADIR=$PWD/usr/share/openmpi
export PMIX_MCA_mca_base_component_path=$libraries/pmix2/lib/pmix
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=false TMPDIR=$PWD
