#include "statements.h"

#include <algorithm>

#include "memory.h"
#include "operations.h"

namespace kernels {
namespace {

struct Kind {
  Feature feature;
  int weight;
  void (*emit)(Body&);
  bool nests = false;     // holds statements itself
  bool together = false;  // all threads must come by
  bool inKernel = false;  // not in device functions
};

template <Feature feature>
void operation(Body& body) {
  // A value that all threads share, now and then: trip counts and branches use them.
  body.onlyUniform =
      body.uniform && (feature == Feature::Arithmetic || feature == Feature::Predicates) && body.random.chance(20);
  emitOperation(body, feature);
  body.onlyUniform = false;
}

using enum Feature;
constexpr Kind kKinds[] = {
    {Arithmetic, 24, operation<Arithmetic>},
    {Floats, 14, operation<Floats>},
    {Halves, 4, operation<Halves>},
    {Halves, 2, emitHalfPair},
    {Convert, 10, operation<Convert>},
    {Predicates, 8, operation<Predicates>},
    {Copies, 4, operation<Copies>},
    {Copies, 3, emitCopies},
    {Packs, 5, emitPack},
    {Carry, 4, emitCarry},
    {Wide, 5, emitWide},
    {Memory, 9, emitLoad},
    {Memory, 7, emitStore},
    {Memory, 3, emitMixedWidths},
    {Vectors, 6, emitVector},
    {Branches, 9, emitBranch, true},
    {Switch, 3, emitSwitch, true},
    {Irreducible, 1, emitIrreducible, true},
    {Loops, 8, emitLoop, true},
    {Pointers, 7, emitPointerLoop, true},
    {Exits, 4, emitExit, false, false, true},
    {Scopes, 3, emitBraces, true},
    {Shared, 2, emitExchange, true, true, true},
    {Exchange, 2, emitExchange, true, true, true},
    {Warp, 7, emitWarp, false, true, true},
    {Atomics, 3, emitPrivateAtomic},
    {Atomics, 4, emitSharedAtomic, false, false, true},
    {Calls, 5, emitCall},
    {Dead, 3, emitDead},
    {Bits, 10, operation<Bits>},
    {Bits, 3, emitBitPack},
    {Expressions, 4, emitConstantStores},
    {Kept, 5, emitKept},
    {Sections, 2, emitStragglers, false, true, true},
    {Aggregates, 3, emitVectorCall},
};

const Kind& pickKind(Body& body) {
  const auto weight = [&](const Kind& kind) {
    if ((kind.nests && body.depth >= 4) || (kind.together && !body.uniform) || (kind.inKernel && !body.kernel))
      return 0;
    return kind.weight * body.file.options.weight[static_cast<std::size_t>(kind.feature)];
  };
  int total = 0;
  for (const Kind& kind : kKinds) total += weight(kind);
  if (total == 0) return kKinds[0];
  int at = body.random.below(total);
  for (const Kind& kind : kKinds) {
    at -= weight(kind);
    if (at < 0) return kind;
  }
  return kKinds[0];
}

// Keeps the number of live values, and with it the pressure on registers, within bounds.
void dropSome(Body& body) {
  for (int c = 0; c < kClasses; ++c) {
    const std::vector<Reg> live = body.regs.live(static_cast<Class>(c), false);
    if (live.size() < 14) continue;
    const std::vector<Reg> added = body.regs.added();
    const Reg r = body.random.pick(live);
    if (std::find(added.begin(), added.end(), r) == added.end()) continue;
    if (body.random.chance(50)) body.fold(r);
    body.regs.drop(r);
  }
}

}  // namespace

void emitStatements(Body& body, int count) {
  while (count > 0) {
    const Kind& kind = pickKind(body);
    body.regs.beginStatement();
    kind.emit(body);
    dropSome(body);
    body.regs.endStatement();
    count -= kind.nests ? 4 : 1;
  }
}

void emitScope(Body& body, int count) {
  ++body.depth;
  body.regs.beginScope();
  emitStatements(body, count);
  body.regs.beginStatement();
  body.foldSome(50);
  body.regs.endStatement();
  body.regs.endScope();
  --body.depth;
}

}  // namespace kernels
