# The C++ runtime inside the programs: half the time for a short file is the dynamic linker's work for it. fmt is linked the
# same way, which Debian has as a shared library only, and which needs the shared runtime. What of it is no template is
# compiled here, as version 9 has it; other versions are used as they are. Sanitizers bring a runtime of their own. The programs
# lie at a fixed address (-no-pie): 13,700 addresses in tables would be written at each start otherwise, and 43 pages more.
function(ptxopt_static_runtime target)
  if(NOT PTXOPT_SANITIZED)  # sanitizers have an operator new of their own
    target_sources(${target} PRIVATE src/commands/tool/block_cache.cpp)
  endif()
  if(PTXOPT_STATIC_RUNTIME AND fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10
     AND NOT PTXOPT_SANITIZED)
    target_sources(${target} PRIVATE src/commands/tool/fmt_definitions.cpp src/commands/tool/no_tree_patterns.cpp)
    set_source_files_properties(src/commands/tool/fmt_definitions.cpp PROPERTIES COMPILE_OPTIONS -w)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed -no-pie)
  endif()
endfunction()
