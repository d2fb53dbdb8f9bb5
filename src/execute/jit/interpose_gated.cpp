// The functions of the driver that wait while a launch is compared (gated.def). Whatever they are given is a word for each parameter.
#include <cstdint>
#include <utility>

#include "interpose/gate.h"
#include "interpose/real.h"

#pragma GCC diagnostic ignored "-Wmissing-declarations"

using namespace ptxopt::interpose;

namespace {

template <typename... Words>
int passed(void* function, Words... words) {
  const Gate::Passage passage;
  return call(reinterpret_cast<int (*)(Words...)>(function), words...);
}

}  // namespace

#define WORDS_1 uint64_t a
#define WORDS_2 WORDS_1, uint64_t b
#define WORDS_3 WORDS_2, uint64_t c
#define WORDS_4 WORDS_3, uint64_t d
#define WORDS_5 WORDS_4, uint64_t e
#define WORDS_6 WORDS_5, uint64_t f
#define WORDS_7 WORDS_6, uint64_t g
#define WORDS_8 WORDS_7, uint64_t h
#define WORDS_9 WORDS_8, uint64_t i
#define NAMES_1 a
#define NAMES_2 NAMES_1, b
#define NAMES_3 NAMES_2, c
#define NAMES_4 NAMES_3, d
#define NAMES_5 NAMES_4, e
#define NAMES_6 NAMES_5, f
#define NAMES_7 NAMES_6, g
#define NAMES_8 NAMES_7, h
#define NAMES_9 NAMES_8, i
#define GATED_FUNCTION(name, words) \
  INTERPOSED name(WORDS_##words) { return passed(realFunction(Id::name), NAMES_##words); }
#include "jit/gated.def"
