// ANTLR's runtime finds places in parse trees by patterns, whose lexer reads its automaton before main(): a seventh of the
// instructions that starting takes. Nothing here uses patterns. With these symbols in the program, the linker leaves them in
// the runtime's archive.
#include <cstdlib>

namespace {
[[noreturn]] void noTreePatterns() { std::abort(); }
}  // namespace

// ParseTreePatternMatcher: its constructor, its destructor, and compile().
extern "C" {
[[gnu::used]] void ptxoptMatcherMade() asm(
    "_ZN6antlr44tree7pattern23ParseTreePatternMatcherC1EPNS_5LexerEPNS_6ParserE");
[[gnu::used]] void ptxoptMatcherDestroyed() asm("_ZN6antlr44tree7pattern23ParseTreePatternMatcherD1Ev");
[[gnu::used]] void ptxoptMatcherCompiles() asm(
    "_ZN6antlr44tree7pattern23ParseTreePatternMatcher7compileERKNSt7__cxx1112basic_stringIcSt11char_"
    "traitsIcESaIcEEEi");
void ptxoptMatcherMade() { noTreePatterns(); }
void ptxoptMatcherDestroyed() { noTreePatterns(); }
void ptxoptMatcherCompiles() { noTreePatterns(); }
}
