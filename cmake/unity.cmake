# Sources are compiled several at a time, as one file that includes them: most of the time to compile ours goes to headers,
# which a batch reads once. A whole build takes half the time; after a change to one file its whole batch is compiled, so
# that PTXOPT_UNITY=OFF is for the work on sources (preset debug). It also shows a file that does not include what it uses,
# or a name of an unnamed namespace that two files of a batch have.
option(PTXOPT_UNITY "Compile sources in batches: half the time for a whole build, more for a change to one file" ON)

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
  set(drop_in options/guard_options options/number_checks options/optimizer_options options/wrapper_options)
  set(files commands/diff commands/doctor commands/report commands/run_line commands/tune commands/verify
    options/ptxas_options)
  set(optimizer commands/as commands/baseline commands/nvcc commands/reduce manual/describe options/command_line
    options/parse_arguments)
  foreach(group drop_in files optimizer)
    list(TRANSFORM ${group} REPLACE "(.+)" "src/tool/\\1.cpp")
    set_source_files_properties(${${group}} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(ptxopt_commands PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
