# ptxopt-ptxas: the drop-in ptxas as a program of its own. A build calls it once for each file, and half the time for a
# short file is the dynamic linker's work for the C++ runtime; so that is linked statically, and fmt with it.
add_executable(ptxopt_drop_in src/tool/ptxas_main.cpp)
set_target_properties(ptxopt_drop_in PROPERTIES OUTPUT_NAME ptxopt-ptxas)
target_link_libraries(ptxopt_drop_in PRIVATE ptxopt_commands)
ptxopt_warnings(ptxopt_drop_in)

# Debian has fmt as a shared library only, which needs the shared runtime. What of it is no template is compiled here, as
# version 9 has it; other versions are used as they are. Sanitizers bring a runtime of their own.
option(PTXOPT_STATIC_RUNTIME "Link the C++ runtime into ptxopt-ptxas" ON)
if(PTXOPT_STATIC_RUNTIME AND fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10
   AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  target_sources(ptxopt_drop_in PRIVATE src/tool/fmt_definitions.cpp)
  set_source_files_properties(src/tool/fmt_definitions.cpp PROPERTIES COMPILE_OPTIONS -w)
  target_link_options(ptxopt_drop_in PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed)
endif()

# Triton has a second ptxas of this name, and clients take one path each: the name says which one we stand for.
add_custom_command(TARGET ptxopt_drop_in POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E create_symlink ptxopt-ptxas ptxopt-ptxas-blackwell
  WORKING_DIRECTORY $<TARGET_FILE_DIR:ptxopt_drop_in> VERBATIM)
