// The two sides of a test are found by reachability in the control-flow graph. The code before each test is executed on
// values with known and unknown bits; an unknown test counts as passed, and shares follow the times of the classes.
#include "iterations/entry_bodies.h"

#include <algorithm>

#include "analysis/values/launch_sizes.h"
#include "ir/opcode_predicates.h"
#include "ir/parameter_loads.h"

namespace ptxopt::iterations {
namespace {

std::vector<bool> reachedFrom(const Cfg& cfg, BlockId first) {
  std::vector<bool> isReached(cfg.size());
  std::vector<BlockId> left{first};
  isReached[first.value] = true;
  while (!left.empty()) {
    const BlockId block = left.back();
    left.pop_back();
    for (const BlockId s : cfg.successors(block))
      if (!isReached[s.value]) {
        isReached[s.value] = true;
        left.push_back(s);
      }
  }
  return isReached;
}

// Bits, some of them known.
struct Bits {
  uint64_t known = 0, value = 0;

  static Bits of(uint64_t value, uint64_t mask) { return {mask, value & mask}; }
  uint64_t ones() const { return known & value; }
  uint64_t zeros() const { return known & ~value; }
};
Bits made(uint64_t ones, uint64_t zeros) { return {ones | zeros, ones}; }

uint64_t maskOf(uint32_t bytes) { return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << bytes * 8) - 1; }

// The tests of one kernel, with what a class of launches has.
class TestValues {
 public:
  TestValues(const EntryBodies& bodies, const LaunchClass& launches)
      : module_(*bodies.module), f_(*bodies.f), launches_(launches), values_(f_.registers.size()) {}

  // By the code before the branch; none: not known.
  std::optional<bool> holdsAt(InstrId branch) {
    for (; next_ != branch; next_ = f_[next_].next)
      if (f_[next_].isInstruction()) execute(f_[next_]);
    next_ = f_[branch].next;
    const Operand& guard = f_.operandsOf(f_[branch])[0];
    const Bits predicate = values_[guard.payload];
    if ((predicate.known & 1) == 0) return std::nullopt;
    return ((predicate.value & 1) != 0) != ((guard.flags & Operand::Not) != 0);
  }

  void begin(InstrId first) { next_ = first; }

 private:
  void execute(const Instruction& i) {
    const auto operands = f_.operandsOf(i);
    const Bits value = i.is(Instruction::Guarded) ? Bits() : valueOf(i, operands);
    for (const Operand& o : operands)
      if (o.isRegister() && o.writes()) values_[o.payload] = {};
    if (!operands.empty() && operands[0].isRegister() && operands[0].writes() && operands[0].flags == 0)
      values_[operands[0].payload] = value;
  }

  Bits valueOf(const Instruction& i, std::span<const Operand> operands) const {
    if (const auto part = loadedPart(module_, f_, i)) return valueOf(*part);
    const OpcodeForm& form = module_.form(i);
    if (operands.size() == 2 && form.op == Op::Mov && operands[1].kind == OperandKind::SpecialRegister) {
      const auto size = launchSizeOf(module_.text(NameId(operands[1].payload)));
      const bool isBlock = size && !size->isGrid && !size->isPlace;
      return isBlock ? Bits::of(launches_.block[size->component], maskOf(4)) : Bits();
    }
    if (operands.size() != 3) return {};
    const Bits a = valueOf(operands[1]), b = valueOf(operands[2]);
    const bool isBits = form.isExactly(form.op, ScalarType::b32) || form.isExactly(form.op, ScalarType::pred);
    if (form.op == Op::Xor && isBits)
      return made((a.ones() & b.zeros()) | (a.zeros() & b.ones()), (a.ones() & b.ones()) | (a.zeros() & b.zeros()));
    if (form.op == Op::And && isBits) return made(a.ones() & b.ones(), a.zeros() | b.zeros());
    if (form.op == Op::Or && isBits) return made(a.ones() | b.ones(), a.zeros() & b.zeros());
    if (form.isExactly(Op::Setp, ComparisonOperator::Eq, ScalarType::s32)) {
      const uint64_t differs = (a.ones() & b.zeros()) | (a.zeros() & b.ones()), all = a.known & b.known;
      if ((differs & maskOf(4)) != 0) return Bits::of(0, 1);
      if ((all & maskOf(4)) == maskOf(4)) return Bits::of(1, 1);
    }
    return {};
  }

  Bits valueOf(const Operand& o) const {
    if (o.isRegister()) return o.flags == 0 ? values_[o.payload] : Bits();
    const auto number = immediate(f_, o);
    return number ? Bits::of(*number, ~uint64_t{0}) : Bits();
  }

  Bits valueOf(const LoadedPart& load) const {
    for (const ParameterPart& part : launches_.parts) {
      if (part.parameter != load.parameter || load.offset < part.offset ||
          load.offset + load.bytes > part.offset + part.bytes)
        continue;
      const uint32_t shift = (load.offset - part.offset) * 8;
      if (const auto exact = part.number.exact(); exact && !part.isAddress)
        return Bits::of(static_cast<uint64_t>(*exact) >> shift, maskOf(load.bytes));
      const uint64_t multiple = part.number.multiple & (~part.number.multiple + 1);  // its power of two
      return shift == 0 && multiple != 0 ? Bits::of(0, (multiple - 1) & maskOf(load.bytes)) : Bits();
    }
    return {};
  }

  const Module& module_;
  const Function& f_;
  const LaunchClass& launches_;
  std::vector<Bits> values_;
  InstrId next_;
};

}  // namespace

EntryBodies entryBodiesOf(const Module& module, const Function& f, const Cfg& cfg) {
  EntryBodies found{.module = &module, .f = &f, .tests = {}, .blocks = {}};
  if (!cfg.complete() || cfg.size() == 0) return found;
  const auto blocksOf = [&](const std::vector<bool>& isReached, const std::vector<bool>& isOther) {
    std::vector<BlockId> blocks;
    for (uint32_t b = 0; b < cfg.size(); ++b)
      if (isReached[b] && !isOther[b]) blocks.emplace_back(b);
    return blocks;
  };
  const auto writesAny = [&](const std::vector<BlockId>& blocks) {
    return std::ranges::any_of(blocks, [&](BlockId b) {
      for (InstrId id = cfg[b].first;; id = f[id].next) {
        if (f[id].isInstruction() && module.form(f[id]).is(effect::Write)) return true;
        if (id == cfg[b].last) return false;
      }
    });
  };
  for (BlockId at(0u);;) {
    const Instruction& last = f[cfg[at].last];
    const bool isBranch = last.isInstruction() && last.is(Instruction::Guarded) &&
                          module.form(last).op == Op::Bra && module.form(last).has(ModifierFlag::Uniform);
    const auto successors = cfg.successors(at);
    if (!isBranch || successors.size() != 2) break;
    const auto label = std::ranges::find(f.operandsOf(last), OperandKind::Label, &Operand::kind);
    if (label == f.operandsOf(last).end()) break;
    const BlockId taken = cfg.blockOf(f.labels[label->payload].place);
    const BlockId other = successors[0] == taken ? successors[1] : successors[0];
    if (other == taken) break;
    const std::vector<bool> ofTaken = reachedFrom(cfg, taken), ofOther = reachedFrom(cfg, other);
    bool areApart = true;
    for (uint32_t b = 0; b < cfg.size(); ++b)
      areApart &= !ofTaken[b] || !ofOther[b] || cfg.successors(BlockId(b)).empty();
    std::vector<BlockId> special = blocksOf(ofTaken, ofOther), general = blocksOf(ofOther, ofTaken);
    if (!areApart || ofTaken[at.value] || ofOther[at.value] || !writesAny(special) || !writesAny(general)) break;
    if (!found.blocks.empty()) found.blocks.pop_back();
    found.tests.push_back(cfg[at].last);
    found.blocks.push_back(std::move(special));
    found.blocks.push_back(std::move(general));
    at = other;
  }
  return found;
}

std::vector<double> sharesOf(const EntryBodies& bodies, const LaunchProfile& profile) {
  double all = 0;
  for (const LaunchClass& launches : profile.classes) all += launches.time;
  all = std::max(all, profile.time);
  if (all <= 0 || bodies.blocks.empty()) return {};
  std::vector<double> shares(bodies.blocks.size());
  shares.back() = 1;
  for (const LaunchClass& launches : profile.classes) {
    TestValues values(bodies, launches);
    values.begin(bodies.f->first);
    for (std::size_t t = 0; t < bodies.tests.size(); ++t) {
      if (!values.holdsAt(bodies.tests[t]).value_or(true)) continue;
      shares[t] += launches.time / all;
      shares.back() -= launches.time / all;
      break;
    }
  }
  shares.back() = std::max(shares.back(), 0.0);
  return shares;
}

}  // namespace ptxopt::iterations
