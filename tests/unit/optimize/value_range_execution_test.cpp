// Value ranges against what the interpreter sees: in runs of the sample kernels and of the hazards on made-up
// inputs, each value read or written lies in its range, and each condition of a block holds there.
#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "analysis/values/value_range.h"
#include "exec/block.h"
#include "exec/launch.h"
#include "exec/observer.h"
#include "support.h"
#include "verify/run.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

int64_t toSigned(uint64_t bits, unsigned width) {
  return static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
}

bool holds(const BranchCondition& c, uint64_t left, uint64_t right) {
  const auto compare = [&](auto a, auto b) {
    switch (c.relation) {
      case Relation::Equal: return a == b;
      case Relation::NotEqual: return a != b;
      case Relation::Less: return a < b;
      case Relation::LessEqual: return a <= b;
      case Relation::Greater: return a > b;
      case Relation::GreaterEqual: return a >= b;
    }
    return false;
  };
  return c.isSigned ? compare(toSigned(left, c.width), toSigned(right, c.width)) : compare(left, right);
}

class Checker final : public exec::Observer {
 public:
  Checker(const Module& module, const Function& f)
      : f_(f),
        cfg_(module, f),
        dominators_(cfg_, DominatorTree::Direction::Dominators),
        slots_(f, cfg_),
        intervals_(f, cfg_, slots_, &dominators_),
        ranges_(module, f, cfg_, dominators_, slots_, intervals_) {}

  void op(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask,
          exec::Mask active) override {
    const InstrId id(op.instruction);
    if (routine.function != &f_ || !f_[id].isInstruction()) return;
    const BlockId b = cfg_.blockOf(id);
    for (const Operand& o : f_.operandsOf(f_[id]))
      if (o.isRegister() && o.reads() && !o.is(Operand::Implicit) && !o.is(Operand::Guard))
        if (const ValueId v = ranges_.valueRead(o.reg(), id); v.valid()) {
          see(warp, routine, id, o.reg(), ranges_.of(o.reg(), v), active, always);
          see(warp, routine, id, o.reg(), ranges_.at(o.reg(), v, b), active, inBlocks);
        }
    for (const BranchCondition& c : ranges_.conditionsAt(b)) {
      const auto isHere = [&](const ConditionOperand& o) {
        return o.isConstant() || ranges_.valueRead(o.reg, id) == o.value;
      };
      if (!isHere(c.left) || !isHere(c.right)) continue;
      for (exec::Mask m = active; m != 0; m &= m - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(m));
        const auto valueOf = [&](const ConditionOperand& o) {
          return o.isConstant() ? o.constant : warp.value(routine.registers[o.reg.value], lane);
        };
        ++conditions;
        if (!holds(c, valueOf(c.left), valueOf(c.right))) wrong("condition", id);
      }
    }
  }

  void after(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask active) override {
    const InstrId id(op.instruction);
    if (routine.function != &f_ || !f_[id].isInstruction()) return;
    for (const Operand& o : f_.operandsOf(f_[id]))
      if (o.isRegister() && o.writes() && !o.is(Operand::Implicit))
        if (const ValueId v = intervals_[o.reg()].valueOut(slots_[id]); v.valid())
          see(warp, routine, id, o.reg(), ranges_.of(o.reg(), v), active, always);
  }

  std::size_t always = 0, inBlocks = 0, conditions = 0;  // how often something was known, and tried
  std::string error;

 private:
  void see(exec::Warp& warp, const exec::Routine& routine, InstrId id, RegId r, const IntegerRange& range,
           exec::Mask active, std::size_t& count) {
    const exec::Arg& place = routine.registers[r.value];
    if (range.isFull() || place.bytes == 0 || place.bytes > 8) return;
    for (exec::Mask m = active; m != 0; m &= m - 1) {
      ++count;
      const uint64_t value = warp.value(place, static_cast<unsigned>(std::countr_zero(m)));
      if (!range.contains(value)) wrong(range.toString() + " does not hold " + std::to_string(value), id);
    }
  }
  void wrong(const std::string& what, InstrId id) {
    if (error.empty()) error = what + " at byte " + std::to_string(f_[id].sourceBegin);
  }

  const Function& f_;
  const Cfg cfg_;
  const DominatorTree dominators_;
  const SlotIndexes slots_;
  const LiveIntervals intervals_;
  ValueRanges ranges_;
};

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("value ranges: as the interpreter sees it, on the samples and the hazards" *
          doctest::test_suite("slow")) {
  std::size_t kernels = 0, always = 0, inBlocks = 0, conditions = 0;
  for (const char* name : {"../samples", "inputs/hazards"}) {
    const std::filesystem::path folder = std::filesystem::path(PTXOPT_TESTS_DIR) / name;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".ptx") continue;
      const Parsed p(read(entry.path()));
      exec::Machine machine(*p);
      for (const Function& f : p->functions) {
        if (!f.isEntry || !f.hasBody || !Cfg(*p, f).complete()) continue;
        const std::string kernel(p->text(f.name));
        CAPTURE(entry.path().filename().string());
        CAPTURE(kernel);
        ++kernels;
        const verify::KernelUse use = verify::findUse(*p, f, machine.kernel(kernel));
        Checker checker(*p, f);
        for (unsigned number = 0; number < 3; ++number)
          verify::runTrial(machine, kernel, use, verify::makeTrial(use, verify::shapeLimits(*p, f), 1, number),
                           20'000, {.observer = &checker});
        CHECK(checker.error == "");
        always += checker.always;
        inBlocks += checker.inBlocks;
        conditions += checker.conditions;
      }
    }
  }
  MESSAGE(kernels << " kernels, " << always << " values, " << inBlocks << " in blocks, " << conditions
                  << " conditions");
  CHECK(kernels >= 14);
  CHECK(always > 10'000);
  CHECK(inBlocks > 10'000);
  CHECK(conditions > 10'000);
}
