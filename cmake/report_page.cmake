# The page of `ptxopt report`: src/commands/report/page/page.html with the style and the scripts that it names as @FILE@, each on
# a line of its own, and with a place for the data, @data@. page.html is the only list of these files.
#
# Run as a script, -D PAGE=... -D CODE=... -P, it writes the C++ file that has the page as text (src/commands/report/page.h).
if(CMAKE_SCRIPT_MODE_FILE)
  get_filename_component(folder ${PAGE} DIRECTORY)
  file(READ ${PAGE} page)
  while(page MATCHES "\n@([a-z_]+[.][a-z]+)@\n")
    set(place "${CMAKE_MATCH_0}")
    file(READ ${folder}/${CMAKE_MATCH_1} text)
    string(REPLACE "${place}" "\n${text}" page "${page}")
  endwhile()
  string(REPLACE "@data@" ")page\";\n}\nstd::string_view pageAfterData() {\n  return R\"page(" code "${page}")
  if(code STREQUAL page)
    message(FATAL_ERROR "${PAGE} has no place for the data")
  endif()
  file(WRITE ${CODE} "#include \"report/page.h\"\n\nnamespace ptxopt::report {\n\n"
    "std::string_view pageBeforeData() {\n  return R\"page(${code})page\";\n}\n\n}  // namespace ptxopt::report\n")
  return()
endif()

set(report_page ${PTXOPT_GENERATED}/report_page.cpp)
file(GLOB report_page_files CONFIGURE_DEPENDS src/commands/report/page/*)
add_custom_command(OUTPUT ${report_page}
  COMMAND ${CMAKE_COMMAND} -D PAGE=${PROJECT_SOURCE_DIR}/src/commands/report/page/page.html -D CODE=${report_page}
          -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${report_page_files} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
