// Loops that only count: nothing but the test at the end reads the counter, which has 16, 32 or 64 bits, wraps around or
// not, and goes by any step. They stand where control falls into them from a divergent branch, after loads of parameters
// that only they read, or that others read, too.
#include <algorithm>

#include "memory.h"
#include "statements.h"

namespace kernels {
namespace {

struct Countdown {
  Class c = Class::I32;
  Reg reg = -1;
  int64_t step = 1;
  std::string compare;  // "ne.s32"
  std::string limit;
};

std::string shown(Class c, int64_t x) {
  if (c == Class::I16) return fmt::format("{}", static_cast<int16_t>(x));
  if (c == Class::I32) return fmt::format("{}", static_cast<int32_t>(x));
  return fmt::format("{}", x);
}

std::string opposite(const std::string& compare) {
  const std::string type = compare.substr(2);
  const std::string is = compare.substr(0, 2);
  return (is == "lt" ? "ge" : is == "gt" ? "le" : is == "le" ? "gt" : is == "ge" ? "lt" : "eq") + type;
}

std::string swapped(const std::string& compare) {
  const std::string type = compare.substr(2);
  const std::string is = compare.substr(0, 2);
  return (is == "lt" ? "gt" : is == "gt" ? "lt" : is == "le" ? "ge" : is == "ge" ? "le" : is) + type;
}

// A counter that begins before the loop and, moved on at the end of each round, ends it after `fixed` rounds, or as many
// as the register says: at least one.
Countdown begin(Body& body, int fixed, Reg runtime) {
  Random& random = body.random;
  Countdown k;
  k.c = random.pick({Class::I32, Class::I32, Class::I64, Class::I64, Class::I64, Class::I16});
  if (runtime >= 0 && k.c == Class::I16) k.c = Class::I64;
  const int size = bits(k.c);
  const bool meets = random.chance(50);  // ends where it is equal, also past the end of the numbers
  const bool isSigned = random.chance(50), down = random.chance(40);
  k.step = random.pick<int64_t>({1, 1, 1, 2, 3, 4, 7, 24});
  int64_t start = random.pick<int64_t>({0, 0, 1, 5, 100});
  if (meets) {
    if (random.chance(30))
      k.step = random.pick<int64_t>({0x1001, 0x7ff3, 0x300001, 0x7fffffff, 0x100000003, 0x4000000000});
    if (size == 32) k.step = static_cast<int32_t>(k.step) | (k.step >> 32 != 0 ? 1 : 0);
    if (size == 16) k.step = k.step & 0x7ff;
    if (k.step == 0) k.step = 1;
    start = random.pick<int64_t>(
        {0, -1, -3, 0x7fffffff, 0x7ffffffffffffffa, static_cast<int64_t>(random.word()) * 0x100000001});
  } else if (down) {
    start += k.step * 40;  // the lowest of at most 32 rounds lies above 0
  } else if (isSigned && random.chance(50)) {
    start -= 300;
  }
  if (down) k.step = -k.step;
  const bool inclusive = !meets && random.chance(30);
  k.compare = fmt::format("{}.{}{}",
                          meets  ? "ne"
                          : down ? (inclusive ? "ge" : "gt")
                                 : (inclusive ? "le" : "lt"),
                          meets && random.chance(30) ? "b"
                          : isSigned                 ? "s"
                                                     : "u",
                          size);
  k.reg = body.temporary(k.c);
  body.line("mov.{} {}, {};", bitType(k.c), body.name(k.reg), shown(k.c, start));
  const int64_t less = inclusive ? k.step : 0;
  if (runtime < 0) {
    k.limit = shown(k.c, start + k.step * fixed - less);
    return k;
  }
  const Reg end = body.temporary(k.c);
  const std::string e = body.name(end);
  if (k.c == Class::I64) {
    body.line("cvt.u64.u32 {}, {};", e, body.name(runtime));
    // Twice turned round, the number is as small as before, but not known to be.
    for (int i = random.chance(50) ? 2 : 0; i > 0; --i) body.line("brev.b64 {}, {};", e, e);
    body.line("mad.lo.s64 {}, {}, {}, {};", e, e, k.step, body.name(k.reg));
  } else {
    body.line("mad.lo.s32 {}, {}, {}, {};", e, body.name(runtime), k.step, body.name(k.reg));
  }
  if (less != 0) body.line("add.s{} {}, {}, {};", size, e, e, -less);
  k.limit = e;
  return k;
}

// What is loaded before the loop, for it.
struct Given {
  std::vector<Reg> values;
  Base in;  // no register: not loaded
};

void loadParameters(Body& body, Given& given) {
  Random& random = body.random;
  for (const char* parameter : {"a", "b"}) {
    if (random.chance(50)) continue;
    const Reg r = body.temporary(Class::I32);
    body.line("ld.param.u32 {}, [{}];", body.name(r), parameter);
    given.values.push_back(r);
    if (random.chance(70)) continue;
    const Reg copy = body.temporary(Class::I32);
    body.line("mov.u32 {}, {};", body.name(copy), body.name(r));
    given.values.push_back(copy);
  }
  if (random.chance(30)) return;
  Reg in = body.temporary(Class::I64);
  body.line("ld.param.u64 {}, [in];", body.name(in));
  if (random.chance(60)) {
    const Reg global = random.chance(50) ? in : body.temporary(Class::I64);
    body.line("cvta.to.global.u64 {}, {};", body.name(global), body.name(in));
    in = global;
  }
  given.in = Base{in, "", ".global", true, 0};
}

void useParameters(Body& body, const Given& given) {
  for (const Reg r : given.values)
    if (body.random.chance(80)) body.fold(r);
  if (given.in.reg < 0) return;
  const int words = body.file.launch.words;
  const Reg index = body.masked(body.checksum, words);
  body.fold(loadFrom(body, indexed(body, given.in, index, 4, 0), 4, true));
}

// At the end of each round.
void end(Body& body, const Countdown& k, const std::string& head, bool testsEarly) {
  Random& random = body.random;
  const std::string i = body.name(k.reg);
  if (k.step < 0 && random.chance(50))
    body.line("sub.s{} {}, {}, {};", bits(k.c), i, i, -k.step);
  else
    body.line("add.{}{} {}, {}, {};", random.pick({"s", "u"}), bits(k.c), i, i, k.step);
  const Reg more = body.temporary(Class::Pred);
  const bool leaves = random.chance(30);
  const std::string compare = leaves ? opposite(k.compare) : k.compare;
  if (random.chance(25))
    body.line("setp.{} {}, {}, {};", swapped(compare), body.name(more), k.limit, i);
  else
    body.line("setp.{} {}, {}, {};", compare, body.name(more), i, k.limit);
  if (testsEarly) emitScope(body, random.between(1, 2));
  if (leaves && random.chance(50)) {
    const std::string out = body.label();
    body.branchIf(body.name(more), out, body.uniform);
    body.branch(head, body.uniform);
    body.place(out);
  } else {
    body.branchIf((leaves ? "!" : "") + body.name(more), head, body.uniform);
  }
}

}  // namespace

void emitRounds(Body& body) {
  Random& random = body.random;
  const int most = std::min(random.pick({1, 2, 4, 8, 16}), kMostWork / body.work);
  if (most < 1) return;
  const bool before = body.uniform, guarded = random.chance(60), runtime = random.chance(50);
  const bool together = before && !guarded && random.chance(60);
  Given given;
  if (body.kernel && random.chance(70)) loadParameters(body, given);
  Reg rounds = -1;
  if (runtime) {
    int count = 1;
    while (2 * count <= most) count *= 2;
    const Reg x = body.number(together);
    rounds = body.temporary(Class::I32);
    body.line("and.b32 {}, {}, {};", body.name(rounds), body.name(x), count - 1);
    if (!guarded || random.chance(40)) body.line("add.s32 {}, {}, 1;", body.name(rounds), body.name(rounds));
  }
  const Countdown k = begin(body, random.between(1, most), rounds);
  const std::string head = body.label(), over = body.label();
  if (guarded) {
    // Whoever has no round must not enter.
    Reg skip = body.condition(false);
    if (runtime) {
      skip = body.temporary(Class::Pred);
      body.line("setp.eq.s32 {}, {}, 0;", body.name(skip), body.name(rounds));
    }
    body.branchIf(body.name(skip), over, false);
  }
  body.uniform = before && !guarded && (together || !runtime);
  body.work *= most;
  ++body.depth;
  body.place(head);
  if (random.chance(60)) body.line(".pragma \"nounroll\";");
  body.regs.beginScope();
  useParameters(body, given);
  if (random.chance(40)) emitStatements(body, random.between(1, 3));
  body.foldSome(40);
  body.regs.endScope();
  end(body, k, head, random.chance(20));
  --body.depth;
  body.work /= most;
  body.place(over);
  body.uniform = before && !body.late;
  // Some are read after the loop as well.
  if (random.chance(15)) body.fold(k.reg);
  for (const Reg r : given.values)
    if (random.chance(15)) body.fold(r);
}

}  // namespace kernels
