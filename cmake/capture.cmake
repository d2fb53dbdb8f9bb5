# The library to preload that records launches of a program on a machine with a GPU. It is linked as the emulated driver is
# (emulation.cmake); of it, the driver's functions and dlsym() are seen outside.
file(GLOB capture_sources CONFIGURE_DEPENDS src/execute/capture/*.cpp src/execute/interpose/*.cpp)
list(APPEND capture_sources src/execute/record/record.cpp src/execute/record/archive.cpp src/execute/record/folder.cpp src/execute/emulate/error.cpp
  src/execute/emulate/fat_binary.cpp src/execute/emulate/limits.cpp)
add_library(ptxopt_capture SHARED ${capture_sources})
target_include_directories(ptxopt_capture PRIVATE ${PTXOPT_GROUPS})
target_compile_definitions(ptxopt_capture PRIVATE INTERPOSED_FUNCTIONS="capture/functions.def")
target_link_libraries(ptxopt_capture PRIVATE $<TARGET_FILE:ptxopt_tools> $<TARGET_FILE:ptxopt> antlr4_shared fmt::fmt
  nlohmann_json::nlohmann_json PkgConfig::libelf PkgConfig::xxhash PkgConfig::lz4 PkgConfig::zstd PkgConfig::minizip
  ${CMAKE_DL_LIBS})
set_target_properties(ptxopt_capture PROPERTIES CXX_VISIBILITY_PRESET hidden
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/execute/interpose/exports.map)
target_compile_options(ptxopt_capture PRIVATE ${PTXOPT_COLD})
target_link_options(ptxopt_capture PRIVATE LINKER:--exclude-libs,ALL LINKER:-Bsymbolic-functions
  LINKER:--version-script=${PROJECT_SOURCE_DIR}/src/execute/interpose/exports.map)
add_dependencies(ptxopt_capture ptxopt_tools ptxopt)
ptxopt_warnings(ptxopt_capture)
ptxopt_unity(ptxopt_capture 8)

install(TARGETS ptxopt_capture LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ptxopt COMPONENT tool)
