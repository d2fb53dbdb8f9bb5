# cpack -G DEB in a build folder: the packages ptxopt and libptxopt-dev.
#
# Needs dpkg-dev, which finds what shared libraries the program needs. Packaging is the part that is Debian's alone:
# what `cmake --install` puts into place is staged, and debian-stage.cmake makes of it what Debian asks for: compressed
# pages, a changelog, a copyright file.
set(PTXOPT_CONTACT "ptxopt developers <ptxopt@packages.invalid>" CACHE STRING "Who maintains the Debian packages")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ptxopt)
set(CPACK_PACKAGE_CONTACT "${PTXOPT_CONTACT}")
set(CPACK_PACKAGE_VENDOR ptxopt)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "optimizer from PTX to PTX")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL tool dev)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian-stage.cmake)
set(CPACK_PTXOPT_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_PTXOPT_REVISION ${revision_header})
set(CPACK_PTXOPT_CODE_OF ${PTXOPT_CODE_OF})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_DEBIAN_TOOL_PACKAGE_NAME ptxopt)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "nvidia-cuda-toolkit")
set(CPACK_DEBIAN_TOOL_DESCRIPTION "ptxopt reads PTX, the assembly language of NVIDIA's GPUs, as compilers write
it, makes it better for ptxas, and writes PTX. It can also run kernels in an
interpreter, without a GPU, and compare what two versions of them compute.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libptxopt-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
# The library is static: those that use it link what it uses (ptxoptConfig.cmake).
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libantlr4-runtime-dev (>= 4.9), libfmt-dev")
set(CPACK_DEBIAN_DEV_DESCRIPTION "ptxopt reads PTX, the assembly language of NVIDIA's GPUs, makes it better for
ptxas, and writes PTX. This is the static library behind the program, with its
header and its CMake package.")
include(CPack)
