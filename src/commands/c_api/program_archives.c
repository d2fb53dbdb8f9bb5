/* What it takes to link Debian's archive of ANTLR, which is compiled for programs, into a shared library. */
#include <stdlib.h>

/* Patterns of parse trees, in the place of ANTLR's own file for them. ptxopt makes no parse trees, but the parser names
 * these three functions, and their file brings another that cannot be in a shared library. Nothing calls them. */
#define MATCHER "_ZN6antlr44tree7pattern23ParseTreePatternMatcher"
_Noreturn void ptxopt_makeMatcher(void) __asm__(MATCHER "C1EPNS_5LexerEPNS_6ParserE");
_Noreturn void ptxopt_endMatcher(void) __asm__(MATCHER "D1Ev");
_Noreturn void ptxopt_compilePattern(void) __asm__(
    MATCHER "7compileERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEi");

void ptxopt_makeMatcher(void) { abort(); }
void ptxopt_endMatcher(void) { abort(); }
void ptxopt_compilePattern(void) { abort(); }

/* A variable of the C library, which programs may refer to as if it were their own. Where it is not zero, counts of
 * references may be changed without atomic operations; this one stays zero. */
char __libc_single_threaded = 0;
