# The parser generator and its runtime, as Debian packages them (antlr4 4.7.2, libantlr4-runtime-dev 4.9).
# The package's own antlr4_generate() wants a jar that Debian does not have, so the tool is called here.
find_package(antlr4-runtime 4.9 REQUIRED CONFIG)
find_program(ANTLR4_TOOL antlr4 REQUIRED DOC "the ANTLR 4 tool (Debian: antlr4)")

set(PTXOPT_GENERATED ${PROJECT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${PTXOPT_GENERATED})

function(ptxopt_generate grammar depends)
  add_custom_command(
    OUTPUT ${PTXOPT_GENERATED}/${grammar}.cpp ${PTXOPT_GENERATED}/${grammar}.h ${PTXOPT_GENERATED}/${grammar}.tokens
    COMMAND ${ANTLR4_TOOL} -Werror -Dlanguage=Cpp -no-listener -no-visitor -package ptxopt::text::grammar
            -lib ${PTXOPT_GENERATED} -o ${PTXOPT_GENERATED} -Xexact-output-dir ${grammar}.g4
    ${ARGN}
    DEPENDS ${PROJECT_SOURCE_DIR}/grammar/${grammar}.g4 ${depends}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/grammar
    VERBATIM)
endfunction()
ptxopt_generate(PtxLexer "")
ptxopt_generate(PtxParser "${PTXOPT_GENERATED}/PtxLexer.tokens;${PROJECT_SOURCE_DIR}/cmake/parser_code.cmake"
  COMMAND ${CMAKE_COMMAND} -D CODE=${PTXOPT_GENERATED}/PtxParser.cpp -D HEADER=${PTXOPT_GENERATED}/PtxParser.h -P ${PROJECT_SOURCE_DIR}/cmake/parser_code.cmake)

# Generated code: not ours to warn about.
function(ptxopt_grammar_library name source)
  add_library(${name} OBJECT ${PTXOPT_GENERATED}/${source})
  target_include_directories(${name} SYSTEM PUBLIC ${ANTLR4_INCLUDE_DIR} ${PTXOPT_GENERATED})
  target_include_directories(${name} PRIVATE ${PTXOPT_GROUPS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition> -w -fno-char8_t)  # the 4.7 tool writes u8"" literals as char
endfunction()
ptxopt_grammar_library(ptxopt_lexer_grammar PtxLexer.cpp)
ptxopt_grammar_library(ptxopt_grammar PtxParser.cpp)

# The lexer that the library has is a table. ANTLR's own is in the program that makes it, and in a test.
add_executable(make_lexer_table grammar/make_lexer_table.cpp)
target_link_libraries(make_lexer_table PRIVATE ptxopt_lexer_grammar antlr4_static)
foreach(target ptxopt_lexer_grammar make_lexer_table)
  target_compile_options(${target} PRIVATE ${PTXOPT_COLD})
endforeach()
add_custom_command(
  OUTPUT ${PTXOPT_GENERATED}/lexer_table.inc
  COMMAND make_lexer_table ${PTXOPT_GENERATED}/lexer_table.inc
  DEPENDS make_lexer_table
  VERBATIM)
# A target of its own: as a source of the library the table would wait for all that the library links.
add_custom_target(ptxopt_lexer_table DEPENDS ${PTXOPT_GENERATED}/lexer_table.inc)
