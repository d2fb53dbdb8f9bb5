# The build of a wheel, by scikit-build-core (pyproject.toml): programs and library that need the C library alone, and of
# that only what version 2.27 has.
#
# Debian's libelf, minizip, zlib, lz4 and zstd are linked from their archives (archives.cmake). What of the C library is newer than
# 2.27 is given by src/commands/c_api/old_glibc.c in terms of what is older: the same symbols, which the linker takes first.
option(PTXOPT_WHEEL "Build for a Python wheel: without libraries of the system but libc" ${SKBUILD})
