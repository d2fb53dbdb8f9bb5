# The library to preload that has PTX optimized before the driver gets it. It is loaded into every process that a program starts:
# it has nothing of ptxopt in it but what finds PTX, and the C++ runtime is inside, so that it meets no other.
file(GLOB jit_sources CONFIGURE_DEPENDS src/execute/jit/*.cpp src/execute/interpose/*.cpp)
# clang makes no last call of a function that nothing may be thrown out of (dlsym). The file declares the functions of its table, with no
# parameters: no other file of a batch may. It is of ptxopt_capture, too.
set_source_files_properties(src/execute/interpose/real.cpp PROPERTIES
  COMPILE_OPTIONS $<$<CXX_COMPILER_ID:Clang>:-fno-exceptions> SKIP_UNITY_BUILD_INCLUSION ON)
add_library(ptxopt_jit SHARED ${jit_sources} src/core/container/fat_layout.cpp)
target_include_directories(ptxopt_jit PRIVATE ${PTXOPT_GROUPS})
target_compile_definitions(ptxopt_jit PRIVATE INTERPOSED_FUNCTIONS="jit/functions.def"
  INTERPOSED_REQUEST="PTXOPT_JIT_COMPARE")
target_link_libraries(ptxopt_jit PRIVATE PkgConfig::xxhash ${CMAKE_DL_LIBS})
set_target_properties(ptxopt_jit PROPERTIES CXX_VISIBILITY_PRESET hidden
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/execute/interpose/exports.map)
target_compile_options(ptxopt_jit PRIVATE ${PTXOPT_COLD} -ffunction-sections -fdata-sections)
target_link_options(ptxopt_jit PRIVATE LINKER:--exclude-libs,ALL LINKER:-Bsymbolic-functions LINKER:--gc-sections LINKER:--as-needed
  LINKER:--version-script=${PROJECT_SOURCE_DIR}/src/execute/interpose/exports.map)
if(PTXOPT_WHEEL)
  # As libptxopt.so is (shared.cmake): of the C library what 2.27 has, and libgcc as it is there.
  enable_language(C)
  target_sources(ptxopt_jit PRIVATE src/commands/c_api/old_glibc.c)
  set_property(TARGET ptxopt_jit APPEND PROPERTY COMPILE_DEFINITIONS $<$<COMPILE_LANGUAGE:C>:PTXOPT_HAS_DLSYM>)
  target_link_libraries(ptxopt_jit PRIVATE -Wl,--push-state,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -Wl,--pop-state)
  target_link_options(ptxopt_jit PRIVATE -static-libstdc++)
elseif(PTXOPT_STATIC_RUNTIME AND NOT PTXOPT_SANITIZED)
  target_link_options(ptxopt_jit PRIVATE -static-libstdc++ -static-libgcc)
endif()
ptxopt_warnings(ptxopt_jit)
ptxopt_unity(ptxopt_jit 8)

if(PTXOPT_WHEEL)
  install(TARGETS ptxopt_jit LIBRARY DESTINATION ptxopt COMPONENT python)
else()
  install(TARGETS ptxopt_jit LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ptxopt COMPONENT tool)
endif()
