# Sources are compiled in batches: one file includes several. Most of the time to compile ours goes to headers, which a batch
# reads once; a whole build takes a third less. A change to one file compiles its batch, so PTXOPT_UNITY=OFF, as in preset
# debug, suits work on sources. OFF also shows which file does not include what it uses; ON, which names of unnamed
# namespaces collide.
option(PTXOPT_UNITY "Compile sources in batches: a third off a whole build, more for a change to one file" ON)

# ptxopt_unity(TARGET BATCH): so many files at a time.
function(ptxopt_unity target batch)
  if(PTXOPT_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  endif()
endfunction()

# ptxopt_unity_commands(): the files that include CLI11 are compiled in three pieces, with PTXOPT_UNITY or without. Each of
# them by itself takes ten times as long as its own lines need: CLI11 is headers alone, and GCC emits hundreds of its
# functions into each object, precompiled or not.
#
# `drop_in` has what ptxopt-ptxas needs: one object takes all that it was compiled with into a program.
function(ptxopt_unity_commands)
  set(drop_in options/cache_key options/config options/environment options/facts_option options/guard_options
    options/log_options options/mistakes options/number_checks options/optimizer_options options/profile_option
    options/wrapper_options)
  set(files commands/diff commands/doctor commands/extract commands/report commands/run_line commands/tune commands/verify
    options/ptxas_options)
  set(optimizer commands/as commands/baseline commands/nvcc commands/reduce manual/describe options/architecture_option
    options/command_line options/line_assembly options/parse_arguments run_tool)
  foreach(group drop_in files optimizer)
    list(TRANSFORM ${group} REPLACE "(.+)" "src/commands/tool/\\1.cpp")
    set_source_files_properties(${${group}} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  if(PTXOPT_UNITY)
    # Of the rest, those in folders that only the tool needs.
    get_target_property(rest ptxopt_commands SOURCES)
    list(FILTER rest INCLUDE REGEX "/(tool/commands|tool/manual|execute/gpu|execute/record)/.*\\.cpp$")
    list(FILTER rest EXCLUDE REGEX "/(as_ptxas|diff_.*|run_.*|completion_zsh)\\.cpp$")
    foreach(file IN LISTS drop_in files optimizer)
      list(REMOVE_ITEM rest ${PROJECT_SOURCE_DIR}/${file})
    endforeach()
    set(number 0)
    foreach(file IN LISTS rest)
      math(EXPR batch "${number} / 8")
      math(EXPR number "${number} + 1")
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP commands_${batch})
    endforeach()
  endif()
  set_target_properties(ptxopt_commands PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
