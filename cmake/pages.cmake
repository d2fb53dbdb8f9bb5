# The pages of `ptxopt report` and `ptxopt diff --format html`: src/commands/report/NAME/page.html with the style and the scripts that it
# names as @FILE@, each on a line of its own, and with a place for the data, @data@. page.html is the only list of these files.
#
# Run as a script, -D PAGE=... -D NAME=... -D CODE=... -P, it writes the C++ file that has the page as text
# (src/commands/report/page.h).
if(CMAKE_SCRIPT_MODE_FILE)
  get_filename_component(folder ${PAGE} DIRECTORY)
  file(READ ${PAGE} page)
  while(page MATCHES "\n@([a-z_./]+)@\n")
    set(place "${CMAKE_MATCH_0}")
    file(READ ${folder}/${CMAKE_MATCH_1} text)
    string(REPLACE "${place}" "\n${text}" page "${page}")
  endwhile()
  string(REPLACE "@data@" ")page\",\n      R\"page(" code "${page}")
  if(code STREQUAL page)
    message(FATAL_ERROR "${PAGE} has no place for the data")
  endif()
  file(WRITE ${CODE} "#include \"report/page.h\"\n\nnamespace ptxopt::report {\n\n"
    "Page ${NAME}() {\n  return {\n      R\"page(${code})page\"};\n}\n\n}  // namespace ptxopt::report\n")
  return()
endif()

set(pages)
file(GLOB_RECURSE page_files CONFIGURE_DEPENDS src/commands/report/page/* src/commands/report/diff_page/*)
foreach(page page:reportPage diff_page:diffPage)
  string(REPLACE ":" ";" page ${page})
  list(GET page 0 folder)
  list(GET page 1 name)
  set(code ${PTXOPT_GENERATED}/${folder}_text.cpp)
  add_custom_command(OUTPUT ${code}
    COMMAND ${CMAKE_COMMAND} -D PAGE=${PROJECT_SOURCE_DIR}/src/commands/report/${folder}/page.html -D NAME=${name} -D CODE=${code}
            -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${page_files} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
  list(APPEND pages ${code})
endforeach()
# A target of its own: as sources of ptxopt_tools they would wait for all that it links, and it for them.
add_library(ptxopt_pages OBJECT ${pages})
set_target_properties(ptxopt_pages PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(ptxopt_pages PRIVATE ${PTXOPT_GROUPS})
target_compile_options(ptxopt_pages PRIVATE ${PTXOPT_COLD})
target_link_libraries(ptxopt_pages PRIVATE nlohmann_json::nlohmann_json)
ptxopt_warnings(ptxopt_pages)
ptxopt_unity(ptxopt_pages)
