// Warp operations, and operations of all threads on common words. The mask names all threads of the warp that
// exist; where a warp is not whole, no lane is read that does not exist.
#include "memory.h"
#include "statements.h"

namespace kernels {
namespace {

void emitShuffle(Body& body) {
  Random& random = body.random;
  const Class c = random.pick({Class::I32, Class::I32, Class::F32});
  const Reg x = body.source(c);
  std::string mode = random.pick({"idx", "up", "down", "bfly"}), lane, clamp;
  if (!body.wholeWarps) {
    mode = random.pick({"idx", "up"});
    lane = mode == "idx" ? "0" : fmt::format("{}", random.between(0, 31));
    clamp = mode == "idx" ? "31" : "0";
  } else {
    lane = random.chance(70) ? fmt::format("{}", random.between(0, 31)) : body.name(body.source(Class::I32));
    // Segments of 1 << s lanes.
    const int segment = 1 << random.pick({5, 5, 4, 3, 2, 1});
    clamp = fmt::format("0x{:x}", ((32 - segment) << 8) | (mode == "up" ? 0 : 31));
  }
  const bool flag = random.chance(40);
  const Reg to = body.temporary(c), valid = body.temporary(Class::Pred);
  body.line("shfl.sync.{}.b32 {}{}, {}, {}, {}, {};", mode, body.name(to), flag ? "|" + body.name(valid) : "",
            body.name(x), lane, clamp, body.members);
  body.regs.keep(to);
  if (flag) body.regs.keep(valid);
}

}  // namespace

void emitWarp(Body& body) {
  Random& random = body.random;
  switch (random.below(body.arch() >= 80 ? 7 : 6)) {
    case 0:
    case 1: emitShuffle(body); break;
    case 2: {
      const Reg p = body.source(Class::Pred);
      const std::string in = body.maybeNot(p);
      if (random.chance(50)) {
        const Reg to = body.destination(Class::I32);
        body.line("vote.sync.ballot.b32 {}, {}, {};", body.name(to), in, body.members);
      } else {
        const Reg to = body.destination(Class::Pred);
        body.line("vote.sync.{}.pred {}, {}, {};", random.pick({"all", "any", "uni"}), body.name(to), in,
                  body.members);
      }
      break;
    }
    case 3: {
      // A few bits: several lanes match.
      const Reg x = body.source(Class::I32), t = body.masked(x, 1 << random.between(0, 4));
      if (random.chance(60)) {
        const Reg to = body.destination(Class::I32);
        body.line("match.any.sync.b32 {}, {}, {};", body.name(to), body.name(t), body.members);
      } else {
        const Reg to = body.temporary(Class::I32), all = body.temporary(Class::Pred);
        body.line("match.all.sync.b32 {}|{}, {}, {};", body.name(to), body.name(all), body.name(t), body.members);
        body.regs.keep(to);
        body.regs.keep(all);
      }
      break;
    }
    case 4: {
      const Reg x = body.source(Class::I64), to = body.destination(Class::I32);
      body.line("match.any.sync.b64 {}, {}, {};", body.name(to), body.name(x), body.members);
      break;
    }
    case 5: {
      const Reg to = body.destination(Class::I32);
      body.line("bar.warp.sync {};", body.members);
      body.line("activemask.b32 {};", body.name(to));
      break;
    }
    default: {
      const Reg x = body.source(Class::I32), to = body.destination(Class::I32);
      const char* operation = random.pick(
          {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"});
      body.line("redux.sync.{} {}, {}, {};", operation, body.name(to), body.name(x), body.members);
      break;
    }
  }
}

void emitSharedAtomic(Body& body) {
  if (body.counters.empty()) return;
  Random& random = body.random;
  const Counters counters = random.pick(body.counters);
  const Class c = counters.width == 8 ? Class::I64 : Class::I32;
  Address address;
  if (counters.base.reg >= 0 && random.chance(75)) {
    const Reg x = body.number(false);
    const Reg index = body.masked(x, counters.count);
    address = indexed(body, counters.base, index, counters.width, 0);
  } else {
    address = at(body, counters.base, random.below(counters.count) * counters.width);
  }
  const std::string value = body.operand(c);
  std::string guard;
  if (body.has(Feature::Guards) && random.chance(20)) guard = "@" + body.maybeNot(body.source(Class::Pred)) + " ";
  const std::string order = random.pick({"", "", ".relaxed.gpu"});
  if (random.chance(60)) {
    body.line("{}red{}{}.{} [{}], {};", guard, order, counters.base.space, counters.operation, address.text, value);
  } else {
    // The old value depends on who came first: nothing reads it.
    const Reg old = body.temporary(c);
    body.line("{}atom{}{}.{} {}, [{}], {};", guard, order, counters.base.space, counters.operation, body.name(old),
              address.text, value);
  }
}

}  // namespace kernels
