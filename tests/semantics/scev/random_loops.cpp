#include "random_loops.h"

#include <fmt/format.h>

namespace ptxopt::testing {
namespace {

std::string bits(unsigned width) { return std::to_string(width); }

}  // namespace

std::string RandomLoops::fresh(unsigned width) {
  return fmt::format("%{}{}", width == 16 ? "h" : width == 32 ? "r" : "d", registers_++);
}

// Near 0, or near the ends of the signed or unsigned numbers.
std::string RandomLoops::number(unsigned width) {
  const uint64_t half = uint64_t{1} << (width - 1);
  const uint64_t near = percent(50) ? 0 : half;
  const auto v = near + (percent(50) ? pick(12) : ~pick(12) + 1);
  const uint64_t masked = width == 64 ? v : v & ((uint64_t{1} << width) - 1);
  const bool isNegative = masked >= half;
  return isNegative ? fmt::format("-{}", width == 64 ? ~masked + 1 : (uint64_t{1} << width) - masked)
                    : fmt::format("{}", masked);
}

// A number that is not known when the kernel is compiled, perhaps known to be small, or near an end.
std::string RandomLoops::leaf(unsigned width, bool mayBeConstant) {
  if (mayBeConstant && percent(35)) {
    const std::string r = fresh(width);
    line(fmt::format("mov.b{} {}, {}", width, r, number(width)));
    return r;
  }
  if (!counters_.empty() && percent(40)) return converted(counters_[pick(counters_.size())], width);
  std::string r = fresh(32);
  if (percent(40))
    line(fmt::format("mov.u32 {}, {}", r, oneOf({"%tid.x", "%laneid", "%ctaid.x"})));
  else
    line(fmt::format("ld.param.u32 {}, [{}]", r, oneOf({"n", "a", "b"})));
  if (percent(40)) {
    const std::string s = fresh(32);
    line(fmt::format("and.b32 {}, {}, {}", s, r, oneOf({"7", "15", "3", "12"})));
    r = s;
  }
  r = converted({r, 32}, width);
  if (percent(30)) {
    const std::string s = fresh(width);
    line(fmt::format("add.s{} {}, {}, {}", width, s, r, number(width)));
    r = s;
  }
  return r;
}

std::string RandomLoops::converted(const Counter& from, unsigned width) {
  if (from.width == width) return from.reg;
  const std::string r = fresh(width);
  const char* const sign = oneOf({"s", "u"});
  if (from.width < width)
    line(fmt::format("cvt.{0}{1}.{0}{2} {3}, {4}", sign, width, from.width, r, from.reg));
  else
    line(fmt::format("cvt.u{}.u{} {}, {}", width, from.width, r, from.reg));
  return r;
}

// Something that a loop may compute with its counter.
void RandomLoops::computeWith(const Counter& c) {
  const std::string w = bits(c.width), wide = bits(2 * c.width), r = fresh(c.width);
  const std::string other = percent(50) ? number(c.width) : leaf(c.width);
  const char* const sign = oneOf({"s", "u"});
  switch (pick(c.width == 64 ? 9 : 13)) {
    case 0: return line(fmt::format("add.s{} {}, {}, {}", w, r, c.reg, other));
    case 1: return line(fmt::format("sub.s{} {}, {}, {}", w, r, other, c.reg));
    case 2: return line(fmt::format("mul.lo.s{} {}, {}, {}", w, r, c.reg, other));
    case 3: return line(fmt::format("mad.lo.s{} {}, {}, {}, {}", w, r, c.reg, c.reg, other));
    case 4: return line(fmt::format("shl.b{} {}, {}, {}", w, r, c.reg, pick(5)));
    case 5: return line(fmt::format("shr.{}{} {}, {}, {}", sign, w, r, c.reg, pick(5)));
    case 6: return line(fmt::format("and.b{} {}, {}, {}", w, r, c.reg, oneOf({"1", "7", "255", "6"})));
    case 7: return line(fmt::format("{}.{}{} {}, {}, {}", oneOf({"min", "max"}), sign, w, r, c.reg, other));
    case 8: {
      const std::string s = fresh(c.width);
      line(fmt::format("shl.b{} {}, {}, 3", w, s, c.reg));
      return line(fmt::format("or.b{} {}, {}, {}", w, r, s, pick(9)));
    }
    case 9: {
      const std::string s = fresh(2 * c.width);
      return line(fmt::format("mul.wide.{}{} {}, {}, {}", sign, w, s, c.reg, oneOf({"4", "8", "3"})));
    }
    case 10: {
      const std::string s = fresh(c.width), t = fresh(2 * c.width);
      line(fmt::format("add.s{} {}, {}, {}", w, s, c.reg, other));
      return line(fmt::format("cvt.{0}{1}.{0}{2} {3}, {4}", sign, wide, w, t, s));
    }
    case 11: {
      const std::string s = fresh(2 * c.width);
      return line(fmt::format("cvt.{0}{1}.{0}{2} {3}, {4}", sign, wide, w, s, c.reg));
    }
    default: return line(fmt::format("rem.u{} {}, {}, {}", w, r, c.reg, 1 + pick(9)));
  }
}

void RandomLoops::increment(const Counter& i, const std::string& step) {
  line(fmt::format("add.s{} {}, {}, {}", i.width, i.reg, i.reg, step));
}

void RandomLoops::loop(unsigned depth) {
  static constexpr unsigned kWidths[] = {16, 32, 32, 64};
  const Counter i{"", kWidths[pick(4)]};
  Counter c = i;
  c.reg = fresh(c.width);
  line(fmt::format("mov.b{} {}, {}", c.width, c.reg, percent(40) ? number(c.width) : leaf(c.width)));
  const std::string limit = percent(40) ? number(c.width) : leaf(c.width);
  const bool goesUp = percent(65);
  const std::string size = percent(55) ? "1" : std::to_string(1 + pick(9));
  std::string step = goesUp ? size : "-" + size;
  if (percent(10)) {  // one that is positive by its range only
    step = fresh(c.width);
    line(fmt::format("and.b{} {}, {}, 3", c.width, step, leaf(c.width, false)));
    line(fmt::format("add.s{} {}, {}, 1", c.width, step, step));
  }
  const char* const sign = oneOf({"s", "s", "u"});
  const char* const up[] = {"lt", "le", "ne"};
  const char* const down[] = {"gt", "ge", "ne"};
  const std::string relation =
      percent(90) ? (goesUp ? up[pick(3)] : down[pick(3)]) : oneOf({"lt", "le", "gt", "ge", "ne", "eq"});
  const auto test = [&](const std::string& p, const std::string& tested) {
    const bool swaps = percent(25) && limit[0] == '%';
    std::string r = relation;
    if (swaps) r = r == "lt" ? "gt" : r == "le" ? "ge" : r == "gt" ? "lt" : r == "ge" ? "le" : r;
    line(fmt::format("setp.{}.{}{} {}, {}, {}", r, sign, c.width, p, swaps ? limit : tested,
                     swaps ? tested : limit));
  };
  const std::string head = label(), end = label(), latch = label();
  const bool isTopTested = percent(40);
  if (percent(50)) {
    const std::string p = predicate();
    if (percent(75))
      test(p, c.reg);
    else
      line(fmt::format("setp.{}.{}{} {}, {}, {}", oneOf({"lt", "le", "gt", "ge", "ne"}), oneOf({"s", "u"}), c.width,
                       p, c.reg, limit));
    line(fmt::format("@!{} bra {}", p, end));
  }
  std::string second;  // counts along
  if (percent(50)) {
    second = fresh(32);
    line(fmt::format("mov.b32 {}, {}", second, leaf(32)));
  }
  body_ += head + ":\n";
  if (isTopTested) {
    const std::string p = predicate();
    test(p, c.reg);
    line(fmt::format("@!{} bra {}", p, end));
  }
  counters_.push_back(c);
  for (std::size_t n = pick(4); n-- > 0;) computeWith(counters_[pick(counters_.size())]);
  if (percent(12)) {
    const std::string p = predicate();
    line(fmt::format("setp.{}.u{} {}, {}, {}", oneOf({"eq", "gt", "lt"}), c.width, p, c.reg, leaf(c.width)));
    line(fmt::format("@{} bra {}", p, percent(50) ? end : latch));
  }
  if (depth < 3 && percent(45)) loop(depth + 1);
  if (!second.empty()) {
    if (percent(20)) {
      const std::string p = predicate();
      line(fmt::format("setp.ne.s32 {}, {}, 3", p, second));
      line(fmt::format("@{} add.s32 {}, {}, 2", p, second, second));
    } else {
      line(fmt::format("add.s32 {}, {}, {}", second, second, percent(50) ? "4" : leaf(32)));
    }
    counters_.push_back({second, 32});
    computeWith(counters_.back());
    counters_.pop_back();
  }
  body_ += latch + ":\n";
  const bool testsOld = percent(25);
  const std::string old = fresh(c.width);
  if (testsOld) line(fmt::format("mov.b{} {}, {}", c.width, old, c.reg));
  increment(c, step);
  if (isTopTested) {
    line(fmt::format("bra {}", head));
  } else {
    const std::string p = predicate();
    test(p, testsOld ? old : c.reg);
    line(fmt::format("@{} bra {}", p, head));
  }
  counters_.pop_back();
  body_ += end + ":\n";
  // What is read behind the loop is of the last iteration.
  if (percent(60)) computeWith(c);
}

std::string RandomLoops::make() {
  body_.clear();
  loop(1);
  std::string head = "// launch: grid=2,1,1 block=32,1,1 dynamic_shared=0";
  for (const char* const name : {"n", "a", "b"}) {
    const uint64_t near = percent(60) ? 0 : percent(50) ? uint64_t{1} << 31 : uint64_t{1} << 32;
    const uint64_t value = near + (near != 0 && percent(50) ? ~pick(12) + 1 : pick(12));
    head += fmt::format(" {}=u32:{}", name, value & 0xffffffff);
  }
  return head +
         "\n.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 n, .param .u32 a, "
         ".param .u32 b)\n.maxntid 32, 1, 1\n{\n" +
         fmt::format("  .reg .b16 %h<{0}>;\n  .reg .b32 %r<{0}>;\n  .reg .b64 %d<{0}>;\n  .reg .pred %p<{1}>;\n",
                     registers_ + 1, predicates_ + 1) +
         body_ + "  ret;\n}\n";
}

}  // namespace ptxopt::testing
