# libptxopt.so: the library and all commands, with the C functions of ptxopt_c.h and no other symbol. The Python package
# loads it, and in a wheel (wheel.cmake) the programs of the package are a few lines that call it.
#
# The C++ runtime is inside, so that it meets no other in the process that loads it.
if(PTXOPT_SANITIZED)
  return()  # Python cannot load a library under a sanitizer
endif()
file(GLOB c_api_sources CONFIGURE_DEPENDS src/commands/c_api/*.cpp)
set(exported ${PROJECT_SOURCE_DIR}/src/commands/c_api/exported.map)
enable_language(C)
add_library(ptxopt_shared SHARED ${c_api_sources} src/commands/c_api/program_archives.c)
target_link_libraries(ptxopt_shared PRIVATE ptxopt_commands fmt::fmt nlohmann_json::nlohmann_json)
target_link_options(ptxopt_shared PRIVATE -Wl,--version-script=${exported} -Wl,--no-undefined -Wl,--as-needed -Wl,--gc-sections)
set_target_properties(ptxopt_shared PROPERTIES OUTPUT_NAME ptxopt LINK_DEPENDS ${exported})
target_compile_options(ptxopt_shared PRIVATE ${PTXOPT_COLD})
ptxopt_warnings(ptxopt_shared)
ptxopt_hot_first(ptxopt_shared)
if(PTXOPT_STATIC_RUNTIME AND fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  target_sources(ptxopt_shared PRIVATE src/commands/tool/fmt_definitions.cpp)
  target_link_options(ptxopt_shared PRIVATE -static-libstdc++)
endif()

if(PTXOPT_WHEEL)
  target_sources(ptxopt_shared PRIVATE src/commands/c_api/old_glibc.c src/commands/c_api/elf_errors.c)
  # A value that is passed on is none that is read uninitialized, as GCC 12 has it of pthread_setspecific.
  set_source_files_properties(src/commands/c_api/old_glibc.c PROPERTIES COMPILE_OPTIONS -Wno-maybe-uninitialized)
  # Before 2.34 threads are a library of their own.
  target_link_libraries(ptxopt_shared PRIVATE -Wl,--push-state,--no-as-needed -l:libpthread.so.0 -Wl,--pop-state)
  foreach(program ptxopt ptxopt-ptxas)
    string(REPLACE "-" "_" target wheel_${program})
    add_executable(${target} src/commands/c_api/program.c src/commands/c_api/old_start.c)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY wheel
      INSTALL_RPATH "$ORIGIN/.." BUILD_RPATH_USE_ORIGIN ON)
    target_link_libraries(${target} PRIVATE ptxopt_shared)
  endforeach()
  target_compile_definitions(wheel_ptxopt_ptxas PRIVATE PTXOPT_MAIN=ptxopt_ptxas_main)
  add_custom_target(ptxopt_wheel DEPENDS ptxopt_shared ptxopt_jit wheel_ptxopt wheel_ptxopt_ptxas)
  install(TARGETS ptxopt_shared LIBRARY DESTINATION ptxopt COMPONENT python)
  install(FILES python/ptxopt_hooks.pth DESTINATION . COMPONENT python)
  # What is linked in, and the licenses of that.
  foreach(package IN LISTS PTXOPT_CODE_OF)
    if(EXISTS /usr/share/doc/${package}/copyright)
      install(FILES /usr/share/doc/${package}/copyright DESTINATION ptxopt/licenses RENAME ${package}.txt COMPONENT python)
    endif()
  endforeach()
  install(TARGETS wheel_ptxopt wheel_ptxopt_ptxas RUNTIME DESTINATION ptxopt/bin COMPONENT python)
endif()
