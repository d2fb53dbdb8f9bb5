// Footprints against the addresses that the interpreter reaches: of random kernels with guards, loops and indices of all
// kinds, in random launches, each address lies within the bounds of its access wherever what they assume holds.
#include <bit>
#include <cstring>
#include <random>

#include "analysis/addresses/footprint.h"
#include "exec/block.h"
#include "exec/error.h"
#include "exec/launch.h"
#include "exec/observer.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// A kernel of what nvcc makes of index arithmetic, and of what it never makes.
class RandomKernel {
 public:
  explicit RandomKernel(uint64_t seed) : random_(seed) {
    text_ = kHeader +
            ".visible .entry k(.param .u64 p, .param .u32 n, .param .u32 m, .param .u32 w, .param .u64 big)\n{\n"
            "\t.reg .pred %p<999>;\n\t.reg .b32 %r<999>;\n\t.reg .b64 %rd<999>;\n";
    line("ld.param.u64 %rd0, [p];");
    for (const char* of : {"%tid.x", "%tid.y", "%ctaid.x", "%ctaid.y", "%ntid.x", "%nctaid.x"})
      line("mov.u32 " + fresh() + ", " + of + ";");
    for (const char* of : {"n", "m", "w"}) line("ld.param.u32 " + fresh() + ", [" + std::string(of) + "];");
    line("mad.lo.s32 " + fresh() + ", %r3, %r5, %r1;");
    line("mad.lo.s32 " + fresh() + ", %r4, %r5, %r2;");
    line("mul.lo.s32 " + fresh() + ", %r5, %r6;");
    block(3);
    access();
    text_ += "\tret;\n}\n";
  }
  const std::string& text() const { return text_; }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::string any(std::initializer_list<const char*> of) {
    return of.begin()[below(static_cast<unsigned>(of.size()))];
  }
  void line(const std::string& s) { text_ += "\t" + s + "\n"; }
  std::string fresh() {
    values_.push_back("%r" + std::to_string(++registers_));
    return values_.back();
  }
  // Newer values more often.
  std::string value() {
    const auto n = static_cast<unsigned>(values_.size());
    return values_[below(2) == 0 ? below(n) : n - 1 - below(std::min(n, 4u))];
  }
  std::string valueOrNumber() {
    return below(3) == 0 ? any({"0", "1", "2", "3", "4", "7", "16", "-1", "-4"}) : value();
  }

  void compute() {
    const std::string a = value(), b = valueOrNumber(), c = value();
    const std::string d = "%r" + std::to_string(++registers_);
    switch (below(14)) {
      case 0:
      case 1: line("add.s32 " + d + ", " + a + ", " + b + ";"); break;
      case 2: line("sub.s32 " + d + ", " + a + ", " + b + ";"); break;
      case 3: line("mul.lo.s32 " + d + ", " + a + ", " + b + ";"); break;
      case 4: line("mad.lo.s32 " + d + ", " + a + ", " + b + ", " + c + ";"); break;
      case 5: line("shl.b32 " + d + ", " + a + ", " + any({"1", "2", "4"}) + ";"); break;
      case 6: line(any({"shr.u32 ", "shr.s32 "}) + d + ", " + a + ", " + any({"1", "2", "31"}) + ";"); break;
      case 7: line("and.b32 " + d + ", " + a + ", " + any({"1", "3", "7", "-4", "-2", c.c_str()}) + ";"); break;
      case 8: line(any({"or.b32 ", "xor.b32 "}) + d + ", " + a + ", " + b + ";"); break;
      case 9: line(any({"min.s32 ", "max.s32 ", "min.u32 ", "max.u32 "}) + d + ", " + a + ", " + b + ";"); break;
      case 10:
        line(any({"div.u32 ", "rem.u32 ", "div.s32 ", "rem.s32 "}) + d + ", " + a + ", " +
             any({"2", "3", "4", "7"}) + ";");
        break;
      case 11: {
        const std::string p = compare();
        line("selp.b32 " + d + ", " + a + ", " + b + ", " + p + ";");
        break;
      }
      case 12: line("mul.hi.u32 " + d + ", " + a + ", -1431655765;"); break;
      default: {
        line("mov.u32 " + d + ", " + a + ";");
        const std::string p = compare();
        line("@" + p + " add.s32 " + d + ", " + b + ", 1;");
      }
    }
    values_.push_back(d);
  }

  std::string compare() {
    const std::string p = "%p" + std::to_string(++predicates_);
    line("setp." + any({"lt", "le", "gt", "ge", "lt", "lt", "eq", "ne"}) + any({".s32 ", ".u32 "}) + p + ", " +
         value() + ", " + valueOrNumber() + ";");
    return p;
  }

  void access() {
    const std::string index = value();
    const std::string address = "%rd" + std::to_string(++wide_);
    if (below(3) == 0) {
      const std::string extended = "%rd" + std::to_string(++wide_);
      line(any({"cvt.s64.s32 ", "cvt.u64.u32 "}) + extended + ", " + index + ";");
      line("shl.b64 " + extended + ", " + extended + ", 2;");
      line("add.s64 " + address + ", %rd0, " + extended + ";");
    } else {
      line(any({"mad.wide.s32 ", "mad.wide.u32 "}) + address + ", " + index + ", 4, %rd0;");
    }
    line("ld.global.b32 %r0, [" + address + any({"", "+4", "+-8"}) + "];");
  }

  void block(unsigned depth) {
    const unsigned statements = 2 + below(5);
    for (unsigned s = 0; s < statements; ++s) {
      const unsigned kind = below(10);
      if (kind < 4 || registers_ > 900)
        compute();
      else if (kind < 6)
        access();
      else if (depth == 0)
        compute();
      else if (kind < 8)
        branch(depth);
      else
        loop(depth);
    }
  }

  // Values made inside are not read outside, but variables may be written.
  void branch(unsigned depth) {
    const std::string label = "$L" + std::to_string(++labels_);
    const std::string p = compare();
    line(any({"@", "@!"}) + p + " bra " + label + ";");
    const std::size_t before = values_.size();
    block(depth - 1);
    access();
    if (below(3) == 0) line("mov.u32 " + values_[below(static_cast<unsigned>(before))] + ", " + value() + ";");
    values_.resize(before);
    text_ += label + ":\n";
  }

  void loop(unsigned depth) {
    const std::string label = "$L" + std::to_string(++labels_), end = label + "e";
    const std::string j = "%r" + std::to_string(++registers_), limit = valueOrNumber();
    const std::string step = any({"1", "1", "2", "4", "-1", value().c_str()});
    const std::string comparison = any({"lt", "lt", "le", "gt", "ge", "ne"}) + any({".s32", ".u32"});
    const std::string test =
        "setp." + comparison + " %p" + std::to_string(++predicates_) + ", " + j + ", " + limit + ";";
    const std::string p = "%p" + std::to_string(predicates_);
    const std::string pointer = "%rd" + std::to_string(++wide_);
    line("mov.u32 " + j + ", " + valueOrNumber() + ";");
    line("mad.wide.s32 " + pointer + ", " + any({j.c_str(), value().c_str()}) + ", 4, %rd0;");
    const bool isTop = below(2) == 0;
    if (!isTop && below(2) == 0) {
      line(test);
      line("@!" + p + " bra " + end + ";");
    }
    text_ += label + ":\n";
    if (isTop) {
      line(test);
      line("@!" + p + " bra " + end + ";");
    }
    const std::size_t before = values_.size();
    values_.push_back(j);
    if (below(2) == 0) access();
    if (below(2) == 0) line("ld.global.b32 %r0, [" + pointer + "];");
    block(depth - 1);
    if (below(6) == 0) line("mov.u32 " + values_[below(static_cast<unsigned>(before))] + ", " + value() + ";");
    const bool isEarly = below(4) == 0;
    if (!isTop && isEarly) line(test);
    line("add.s32 " + j + ", " + j + ", " + step + ";");
    line("add.s64 " + pointer + ", " + pointer + ", " + any({"4", "8", "-4", "16"}) + ";");
    if (isTop) {
      line("bra " + label + ";");
    } else {
      if (!isEarly) line(test);
      line("@" + p + " bra " + label + ";");
    }
    values_.resize(before);
    text_ += end + ":\n";
    access();
  }

  std::mt19937_64 random_;
  std::string text_;
  std::vector<std::string> values_;
  unsigned registers_ = 0, predicates_ = 0, wide_ = 0, labels_ = 0;
};

class Reached final : public exec::Observer {
 public:
  Reached(const Function& f, const Footprints& footprints) : f_(f), byInstruction_(f.instructions.size()) {
    for (const Footprint& p : footprints.all()) byInstruction_[p.access.value] = &p;
  }

  struct Bound {
    bool holds = false;
    int64_t least = 0, end = 0;
  };
  std::vector<Bound> bounds;  // by InstrId

  void op(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask,
          exec::Mask active) override {
    const InstrId id(op.instruction);
    if (routine.function != &f_ || byInstruction_[id.value] == nullptr || !bounds[id.value].holds) return;
    const auto operands = f_.operandsOf(f_[id]);
    const auto memory = std::ranges::find(operands, OperandKind::Memory, &Operand::kind);
    int64_t offset = 0;
    if (memory->inside() == 2) offset = static_cast<int64_t>(*immediate(f_, *(memory + 2)));
    for (exec::Mask m = active; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      const auto address =
          static_cast<int64_t>(warp.value(routine.registers[(memory + 1)->payload], lane)) + offset;
      ++seen;
      const Bound& b = bounds[id.value];
      isTight |= address == b.least;
      if (address >= b.least && address + byInstruction_[id.value]->bytes <= b.end) continue;
      if (error.empty())
        error = std::to_string(address) + " is not in [" + std::to_string(b.least) + ", " + std::to_string(b.end) +
                ") at byte " + std::to_string(f_[id].sourceBegin);
    }
  }

  std::size_t seen = 0;
  bool isTight = false;
  std::string error;

 private:
  const Function& f_;
  std::vector<const Footprint*> byInstruction_;
};

constexpr int32_t kNumbers[] = {0,  1,  2,   3,    4,  5,  7,  8,         9,         16,
                                31, 33, 100, 1000, -1, -2, -7, INT32_MAX, INT32_MIN, 1 << 20};

}  // namespace

TEST_CASE("footprints: each address that the interpreter reaches is within the bounds") {
  std::size_t known = 0, unknown = 0, holding = 0, seen = 0;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    const RandomKernel kernel(seed);
    CAPTURE(seed);
    const Parsed p(kernel.text());
    const Function& f = p.function();
    Analyses analyses(*p, f);
    const Footprints footprints(*p, f, analyses);
    REQUIRE(footprints.declined() == "");
    for (const Footprint& print : footprints.all()) (print.isKnown() ? known : unknown)++;
    exec::Machine machine(*p);
    Reached reached(f, footprints);
    std::mt19937_64 random(seed);
    for (unsigned launch = 0; launch < 6; ++launch) {
      exec::LaunchConfig config;
      config.grid = {1 + static_cast<uint32_t>(random() % 3), 1 + static_cast<uint32_t>(random() % 2)};
      config.block = {1 + static_cast<uint32_t>(random() % 8), 1 + static_cast<uint32_t>(random() % 3)};
      config.stepLimit = 4000;
      config.isLenient = true;
      config.observer = &reached;
      uint64_t pointer = 0x7f0000000000;
      if (random() % 16 == 0) pointer = 0xfffffffffffffff0;
      int32_t numbers[3];
      // Small ones most of the time.
      for (int32_t& n : numbers) n = kNumbers[random() % (random() % 4 == 0 ? std::size(kNumbers) : 14)];
      const exec::Program& program = machine.kernel("k");
      config.parameters.resize(program.parameterBytes());
      std::memcpy(config.parameters.data() + program.parameters()[0].place.offset, &pointer, 8);
      for (std::size_t k = 0; k < 3; ++k)
        std::memcpy(config.parameters.data() + program.parameters()[k + 1].place.offset, &numbers[k], 4);
      const auto leaf = [&](const Term& t) -> int64_t {
        if (t.kind == TermKind::Size)
          return t.size.component == 0 ? (t.size.isGrid ? config.grid.x : config.block.x)
                                       : (t.size.isGrid ? config.grid.y : config.block.y);
        if (t.parameter.index == 0) return static_cast<int64_t>(pointer);
        const int32_t n = numbers[t.parameter.index - 1];
        return t.parameter.isSigned ? n : static_cast<int64_t>(static_cast<uint32_t>(n));
      };
      const BoundTerms& terms = footprints.terms();
      reached.bounds.assign(f.instructions.size(), {});
      for (const Footprint& print : footprints.all()) {
        if (!print.isKnown()) continue;
        Reached::Bound& b = reached.bounds[print.access.value];
        b.holds = std::ranges::all_of(print.assumptions.all(), [&](const auto& a) {
          const int64_t value = terms.evaluate(a.first, leaf);
          return (!a.second.least || value >= *a.second.least) && (!a.second.most || value <= *a.second.most);
        });
        holding += b.holds;
        b.least = terms.evaluate(print.least, leaf);
        b.end = terms.evaluate(print.end, leaf);
      }
      try {
        machine.launch("k", config);
      } catch (const exec::ExecError&) {  // it ran too long; what was seen was seen
      }
    }
    seen += reached.seen;
    INFO(kernel.text());
    CHECK(reached.error == "");
    if (!reached.error.empty()) break;
  }
  MESSAGE(known << " accesses with bounds, " << unknown << " without, " << holding << " hold, " << seen
                << " addresses");
  CHECK(known > 2000);
  CHECK(seen > 100'000);
}
