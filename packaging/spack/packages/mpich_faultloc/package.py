# Copyright (C) by the FaultLoc authors
#     See COPYRIGHT in top-level directory

# spack repo add packaging/spack; spack install mpich-faultloc
# It builds what is committed in the checkout that this file is in.

import pathlib

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
from spack_repo.builtin.packages.mpich.package import MpichEnvironmentModifications

from spack.package import *


CHECKOUT = pathlib.Path(__file__).resolve().parents[4]
# release: SHA-256 of its tarball
BASES = {
    row[0]: row[3]
    for row in map(str.split, (CHECKOUT / "maint/bases").read_text().splitlines())
    if len(row) == 4 and row[2] == f"mpich-{row[0]}.tar.gz"
}


class MpichFaultloc(MpichEnvironmentModifications, AutotoolsPackage):
    """MPICH with FaultLoc, which names within seconds the node, process or link that broke a
    parallel job. FaultLoc's own build applies its patches, by release, to the MPICH that it gets."""

    homepage = "https://www.mpich.org"
    git = CHECKOUT.as_uri()

    license("ISC AND mpich2")

    version("main", branch="main")

    variant("base", default="4.0.2", values=tuple(BASES), description="MPICH release", multi=False)
    variant("netmod", default="ucx", values=("ucx", "ofi"), description="Network module",
            multi=False)
    variant("fortran", default=True, description="Fortran bindings")
    variant("stacks", default=True, description="Say where a rank is in its code")

    provides("mpi@:4.0", when="base=4.0.2")
    provides("mpi@:5.0", when="base=5.0.1")

    for release, digest in BASES.items():
        resource(
            name=f"mpich-{release}",
            url=f"https://www.mpich.org/static/downloads/{release}/mpich-{release}.tar.gz",
            sha256=digest,
            expand=False,
            destination="mpich",
            when=f"base={release}",
        )

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    for tool in ("autoconf", "automake", "libtool", "m4", "patch", "perl", "pkgconfig", "python",
                 "xz"):
        depends_on(tool, type="build")
    depends_on("check@0.13:", type="build")
    depends_on("hwloc@2:")
    depends_on("curl@7.85:")
    depends_on("json-c")
    depends_on("net-snmp")
    depends_on("libsodium")
    depends_on("ucx@1.12:", when="netmod=ucx")
    depends_on("libfabric", when="netmod=ofi")
    depends_on("elfutils", when="+stacks")

    def autoreconf(self, spec, prefix):
        Executable("./autogen.sh")()

    def configure_args(self):
        base = self.spec.variants["base"].value
        args = [
            f"--with-mpich={self.stage.source_path}/mpich/mpich-{base}.tar.gz",
            f"--with-device=ch4:{self.spec.variants['netmod'].value}",
        ]
        if self.spec.satisfies("~fortran"):
            args.append("--with-mpich-configure=--disable-fortran")
        return args
