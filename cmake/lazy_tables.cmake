# cmake -D PARSER=PtxParser.cpp -P lazy_tables.cmake: ANTLR makes the parser's tables before main() runs. An LL(1) parser
# reads them for error messages only, and they cost more than parsing a small file, so that they are made on request here.
set(eager "PtxParser::Initializer PtxParser::_init;")
set(lazy "void PtxParser::makeTables() { static const Initializer made; }")
file(READ ${PARSER} code)
string(REPLACE "${eager}" "${lazy}" changed "${code}")
if(changed STREQUAL code)
  message(FATAL_ERROR "${PARSER} has no line '${eager}'")
endif()
file(WRITE ${PARSER} "${changed}")
