// Each half is followed back through copies and shuffles within the block, noting the shuffles on the way. The two ways
// have to end at one unpacking and have equal shuffles in pairs.
#include "analysis/values/sent_halves.h"

#include <array>

#include "analysis/values/plain_operands.h"
#include "ir/opcode_predicates.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostSteps = 8;

bool isWholeRegister(const Operand* o) { return o != nullptr && o->isRegister() && o->flags == 0; }

// `{a, b}` of two different registers.
bool isPair(std::span<const Operand> o) {
  return o.size() == 3 && o[0].kind == OperandKind::Vector && isWholeRegister(&o[1]) && isWholeRegister(&o[2]) &&
         o[1].reg() != o[2].reg();
}

// The way of one half back to where it was taken off.
struct Way {
  InstrId unpack;
  std::size_t half = 0;
  std::array<InstrId, kMostSteps> shuffles{};
  std::size_t count = 0;
};

class Tracer {
 public:
  Tracer(const Module& module, const Function& f, const Cfg& cfg, const SlotIndexes& slots,
         const LiveIntervals& intervals)
      : module_(module), f_(f), cfg_(cfg), slots_(slots), intervals_(intervals) {}

  SentHalves of(InstrId id) const {
    if (!isMove64(id) || f_[id].is(Instruction::Guarded)) return {};
    const PlainOperands operands(f_.operandsOf(f_[id]));
    if (operands.size() != 2 || !isPair(operands[1])) return {};
    const Way low = wayOf(operands[1][1].reg(), id), high = wayOf(operands[1][2].reg(), id);
    if (!low.unpack.valid() || low.unpack != high.unpack || low.half != 1 || high.half != 2 ||
        low.count != high.count)
      return {};
    for (std::size_t k = 0; k < low.count; ++k)
      if (!isSameWay(low.shuffles[k], high.shuffles[k])) return {};
    return {low.unpack, PlainOperands(f_.operandsOf(f_[low.unpack])).single(1)};
  }

 private:
  bool isMove64(InstrId id) const {
    return f_[id].isInstruction() && module_.form(f_[id]).isExactly(Op::Mov, ScalarType::b64);
  }

  Way wayOf(RegId r, InstrId at) const {
    Way way;
    const BlockId block = cfg_.blockOf(at);
    for (std::size_t step = 0; step < kMostSteps; ++step) {
      const ValueId v = intervals_[r].valueIn(slots_[at]);
      if (!v.valid() || intervals_[r][v].kind != ValueKind::Instruction || intervals_[r][v].isPartial) return {};
      at = slots_.instructionAt(intervals_[r][v].def);
      if (!at.valid() || f_[at].is(Instruction::Guarded) || cfg_.blockOf(at) != block) return {};
      const PlainOperands operands(f_.operandsOf(f_[at]));
      if (isMove64(at) && operands.size() == 2 && isPair(operands[0]) && isWholeRegister(operands.single(1))) {
        way.unpack = at;
        way.half = operands[0][1].reg() == r ? 1 : 2;
        return way;
      }
      const OpcodeForm& form = module_.form(f_[at]);
      const bool isShuffle = isSyncShuffle(form) && operands.size() == 5;
      const bool isCopy = form.op == Op::Mov && operands.size() == 2;
      if ((!isShuffle && !isCopy) || !isWholeRegister(operands.single(0)) || !isWholeRegister(operands.single(1)))
        return {};
      if (isShuffle) way.shuffles[way.count++] = at;
      r = operands.single(1)->reg();
    }
    return {};
  }

  // 32 bits: -1 and 0xffffffff are one mask.
  std::optional<uint32_t> number(const Operand* o) const {
    const auto value = o != nullptr ? immediate(f_, *o) : std::nullopt;
    return value ? std::optional(static_cast<uint32_t>(*value)) : std::nullopt;
  }

  bool isSameWay(InstrId a, InstrId b) const {
    if (f_[a].payload != f_[b].payload) return false;
    const PlainOperands x(f_.operandsOf(f_[a])), y(f_.operandsOf(f_[b]));
    for (std::size_t k = 2; k < 5; ++k)
      if (!number(x.single(k)) || number(x.single(k)) != number(y.single(k))) return false;
    return true;
  }

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
};

}  // namespace

SentHalves sentHalves(const Module& module, const Function& f, const Cfg& cfg, const SlotIndexes& slots,
                      const LiveIntervals& intervals, InstrId id) {
  return Tracer(module, f, cfg, slots, intervals).of(id);
}

}  // namespace ptxopt
