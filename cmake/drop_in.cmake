# ptxopt-ptxas: the drop-in ptxas as a program of its own, which a build calls once for each file.
add_executable(ptxopt_drop_in src/commands/tool/ptxas_main.cpp)
set_target_properties(ptxopt_drop_in PROPERTIES OUTPUT_NAME ptxopt-ptxas)
target_link_libraries(ptxopt_drop_in PRIVATE ptxopt_commands)
ptxopt_warnings(ptxopt_drop_in)

ptxopt_static_runtime(ptxopt_drop_in)
ptxopt_hot_first(ptxopt_drop_in)

# Triton has a second ptxas of this name, and clients take one path each: the name says which one we stand for.
add_custom_command(TARGET ptxopt_drop_in POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E create_symlink ptxopt-ptxas ptxopt-ptxas-blackwell
  WORKING_DIRECTORY $<TARGET_FILE_DIR:ptxopt_drop_in> VERBATIM)
