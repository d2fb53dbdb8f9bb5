// Counted loops: up and down, with constant trip counts and such as a register holds, tests at the top and at the
// bottom and in the middle, exits from the body, and values that change places at the back edge.
#include <algorithm>
#include "statements.h"

namespace kernels {
namespace {

struct Counter {
  Reg reg = -1;
  Class c = Class::I32;
  int step = 1;      // signed
  std::string last;  // what the test compares with
  std::string go;    // "lt.s32": goes on while counter `go` last
  std::string stop;  // the opposite
};

std::string opposite(const std::string& compare) {
  if (compare == "lt") return "ge";
  if (compare == "gt") return "le";
  if (compare == "le") return "gt";
  if (compare == "ge") return "lt";
  return "eq";
}

// A register with low <= trips <= most.
Reg runtimeTrips(Body& body, bool together, int low, int most) {
  int mask = 1;
  while (2 * mask + 1 <= most - low) mask = 2 * mask + 1;
  const Reg x = body.number(together);
  const Reg t = body.temporary(Class::I32);
  body.line("and.b32 {}, {}, {};", body.name(t), body.name(x), most - low < 1 ? 0 : mask);
  if (low > 0) body.line("add.s32 {}, {}, {};", body.name(t), body.name(t), low);
  return t;
}

// Initializes a counter that takes `trips` values, a number or the register `runtime`.
Counter start(Body& body, int trips, Reg runtime) {
  Random& random = body.random;
  Counter k;
  k.c = random.pick({Class::I32, Class::I32, Class::I32, Class::I64, Class::I16});
  if (runtime >= 0 && k.c == Class::I16) k.c = Class::I32;
  k.step = random.pick({1, 1, 1, 2, 3, 4, 7});
  const bool down = random.chance(35), isSigned = random.chance(50);
  const int size = bits(k.c);
  k.reg = body.temporary(k.c);
  const std::string i = body.name(k.reg);
  // Where the lowest value lies; `ne` also works where the numbers wrap around.
  const bool wraps = random.chance(15);
  int64_t low = random.pick({0, 0, 0, 1, 5});
  if (isSigned && random.chance(30)) low = -random.between(1, 20);
  if (wraps) low = random.pick({int64_t{0x7FFFFFF0}, int64_t{-3}, int64_t{-17}});
  if (k.c == Class::I16 && wraps) low = random.pick({int64_t{32760}, int64_t{-5}});
  std::string compare = down ? random.pick({"gt", "ne", "gt"}) : random.pick({"lt", "ne", "lt"});
  if (wraps || (down && !isSigned && low > 0)) compare = "ne";
  const std::string type = fmt::format("{}{}",
                                       compare == "ne" && random.chance(30) ? "b"
                                       : isSigned                           ? "s"
                                                                            : "u",
                                       size);

  if (runtime < 0) {
    const int64_t high = low + static_cast<int64_t>(trips) * k.step;
    const auto shown = [&](int64_t x) {
      if (k.c == Class::I64) return fmt::format("{}", x);
      if (k.c == Class::I16) return fmt::format("{}", static_cast<int16_t>(x));
      return fmt::format("{}", static_cast<int32_t>(x));
    };
    body.line("mov.{} {}, {};", bitType(k.c), i, shown(down ? high : low));
    k.last = shown(down ? low : high);
    // With a step, the exact end is not needed.
    if (compare == "lt" && k.step > 1 && random.chance(50)) k.last = shown(high - random.below(k.step));
  } else {
    const Reg end = body.temporary(k.c), other = body.temporary(k.c);
    const std::string e = body.name(end), o = body.name(other);
    const std::string t = body.name(runtime);
    if (k.c == Class::I64) {
      body.line("mul.wide.u32 {}, {}, {};", e, t, k.step);
      body.line("add.s64 {}, {}, {};", e, e, low);
    } else {
      body.line("mad.lo.s32 {}, {}, {}, {};", e, t, k.step, static_cast<int32_t>(low));
    }
    body.line("mov.{} {}, {};", bitType(k.c), o, k.c == Class::I64 ? low : static_cast<int32_t>(low));
    body.line("mov.{} {}, {};", bitType(k.c), i, down ? e : o);
    k.last = down ? o : e;
  }
  if (down) k.step = -k.step;
  k.go = compare + "." + type;
  k.stop = opposite(compare) + "." + type;
  return k;
}

void advance(Body& body, const Counter& k) {
  const std::string& i = body.name(k.reg);
  const int size = bits(k.c);
  if (k.step < 0 && body.random.chance(50))
    body.line("sub.s{} {}, {}, {};", size, i, i, -k.step);
  else
    body.line("add.{}{} {}, {}, {};", body.random.pick({"s", "u"}), size, i, i, k.step);
}

void test(Body& body, const Counter& k, bool stop, const std::string& target, bool together) {
  const Reg p = body.temporary(Class::Pred);
  const bool inverted = body.random.chance(25);
  const std::string& compare = stop != inverted ? k.stop : k.go;
  body.line("setp.{} {}, {}, {};", compare, body.name(p), body.name(k.reg), k.last);
  body.branchIf((inverted ? "!" : "") + body.name(p), target, together);
}

// Values that change places, or pass on, at the back edge.
void rotate(Body& body) {
  Random& random = body.random;
  const Class c = random.pick({Class::I32, Class::I32, Class::I64, Class::F32, Class::F64, Class::I16});
  std::vector<Reg> some = body.regs.writable(c, false);
  if (some.size() < 2) return;
  while (some.size() > static_cast<std::size_t>(random.between(2, 3)))
    some.erase(some.begin() + random.below(static_cast<int>(some.size())));
  if (some.size() < 2) return;
  const Reg t = body.temporary(c);
  const bool swap = random.chance(70);
  if (swap) body.line("mov.{} {}, {};", bitType(c), body.name(t), body.name(some[0]));
  for (std::size_t i = 0; i + 1 < some.size(); ++i)
    body.line("mov.{} {}, {};", bitType(c), body.name(some[i]), body.name(some[i + 1]));
  if (swap) body.line("mov.{} {}, {};", bitType(c), body.name(some.back()), body.name(t));
}

// The loop's body: in a part of it some threads may go on to the latch or leave.
void inside(Body& body, bool together, bool breaks, const std::string& latch, const std::string& exit) {
  Random& random = body.random;
  const int most = body.depth < 2 ? 6 : 3;
  const bool before = body.uniform;
  ++body.depth;
  body.regs.beginScope();
  int parts = random.pick({1, 1, 1, 2, 3});
  if (breaks && parts == 1) parts = 2;
  for (int part = 0; part < parts; ++part) {
    emitStatements(body, random.between(1, most));
    if (part + 1 == parts) break;
    bool leave = breaks && (part == 0 || random.chance(50));
    // What all do together must not be left by some: not behind a branch to the latch that some took.
    if (together && !body.uniform) leave = false;
    const bool same = body.uniform && random.chance(40);
    if (leave || random.chance(80)) {
      body.regs.beginStatement();
      const bool uniformBranch = leave ? together : same;
      const Reg p = body.condition(uniformBranch);
      body.branchIf(body.maybeNot(p), leave ? exit : latch, uniformBranch);
      body.regs.endStatement();
      if (!uniformBranch) body.uniform = false;
    }
  }
  body.regs.beginStatement();
  body.foldSome(40);
  body.regs.endStatement();
  body.regs.endScope();
  body.uniform = before;
  --body.depth;
}

}  // namespace

void emitLoop(Body& body) {
  Random& random = body.random;
  const int most = std::min(random.pick({3, 5, 9, 17}), kMostWork / body.work);
  if (most < 2) return;
  const bool runtime = random.chance(50);
  const bool before = body.uniform;
  bool together = before && random.chance(70);
  const bool breaks = random.chance(25);
  const int shape = random.below(4);
  const int low = shape == 0 || shape == 1 ? 1 : 0;
  Reg trips = -1;
  if (runtime) trips = runtimeTrips(body, together, low, most);
  // Breaks of single threads end what all do together.
  if (breaks && random.chance(60)) together = false;
  const int fixed = random.between(std::max(low, 1), most);
  const Counter k = start(body, fixed, trips);

  const bool allTogether = together || (!runtime && !breaks && before);
  body.uniform = before && allTogether;
  body.work *= most;
  const std::string head = body.label(), latch = body.label(), exit = body.label();
  body.regs.beginScope();
  body.regs.keepFixed(k.reg, body.uniform);
  const auto bottom = [&] {
    body.place(latch);
    if (body.has(Feature::Copies) && random.chance(45)) rotate(body);
    advance(body, k);
  };
  switch (shape) {
    case 0:  // do while
      body.place(head);
      inside(body, allTogether, breaks, latch, exit);
      bottom();
      test(body, k, false, head, body.uniform);
      break;
    case 1: {  // do, with the test in the middle: the second part runs once less
      body.place(head);
      inside(body, allTogether, breaks, latch, exit);
      bottom();
      test(body, k, true, exit, body.uniform);
      emitScope(body, random.between(1, 3));
      body.branch(head, body.uniform);
      break;
    }
    case 2:  // while
      body.place(head);
      test(body, k, true, exit, body.uniform);
      inside(body, allTogether, breaks, latch, exit);
      bottom();
      body.branch(head, body.uniform);
      break;
    default:  // while, rotated: a test before the loop and one at its end
      test(body, k, true, exit, body.uniform);
      body.place(head);
      inside(body, allTogether, breaks, latch, exit);
      bottom();
      test(body, k, false, head, body.uniform);
      break;
  }
  body.place(exit);
  body.regs.endScope();
  body.work /= most;
  body.uniform = before && !body.late;
}

}  // namespace kernels
