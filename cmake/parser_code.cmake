# cmake -D CODE=PtxParser.cpp -D HEADER=PtxParser.h -P parser_code.cmake: what is changed in the parser that ANTLR makes.
function(change file from to)
  file(READ ${file} code)
  string(REPLACE "${from}" "${to}" changed "${code}")
  if(changed STREQUAL code)
    message(FATAL_ERROR "${file} has no '${from}'")
  endif()
  file(WRITE ${file} "${changed}")
endfunction()

# ANTLR makes the parser's tables before main() runs. An LL(1) parser reads them for error messages only, and they cost
# more than parsing a small file, so that they are made on request here.
change(${CODE} "PtxParser::Initializer PtxParser::_init;"
  "void PtxParser::makeTables() { static const Initializer made; }")
# The first error ends the parse: nothing is in need of being synchronized.
change(${CODE} "_errHandler->sync(this);" "")
change(${CODE} "_errHandler->reportMatch(this);" "")
# The end of a rule is no std::function, and no call is virtual.
change(${CODE} "auto onExit = finally([=] {\n    exitRule();\n  });" "const OnExit onExit{this};")
change(${HEADER} "class  PtxParser : public" "class  PtxParser final : public")
