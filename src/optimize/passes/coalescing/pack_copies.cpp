// Packs and unpacks with lanes of 32 bits are collected, and the roots of their values decide which are copies. Each
// copy found may make more values equal, so the search is repeated up to four times.
#include "passes/coalescing/pack_copies.h"

#include <algorithm>

namespace ptxopt {
namespace {

constexpr int kMostIterations = 4;
constexpr unsigned kLaneBits = 32;

class PackFinder {
 public:
  PackFinder(const Function& f, PassContext& context) : f_(f), context_(context) {}

  PackCopies find(std::span<const Copy> known) {
    collect();
    if (unpacks_.empty() || moves_.size() == unpacks_.size()) return std::move(result_);
    std::vector<Copy> all(known.begin(), known.end());
    const std::vector<RegId> candidates = findCandidates(known);
    const Cfg& cfg = context_.analyses.cfg();
    slots_ = &context_.analyses.slotIndexes();
    const CandidateIntervals intervals(f_, context_.analyses, candidates);
    intervals_ = &*intervals;
    found_.assign(f_.instructions.size(), false);
    for (int iteration = 0; iteration < kMostIterations; ++iteration) {
      const CopyValues values(f_, cfg, *slots_, *intervals_, candidates, all);
      values_ = &values;
      const std::size_t before = result_.copies.size();
      for (const Move& m : moves_) {
        if (found_[m.id.value] || !cfg[cfg.blockOf(m.id)].reachable) continue;
        if (m.isPack)
          findPack(m);
        else
          findUnpack(m);
      }
      if (result_.copies.size() == before) break;
      all.insert(all.end(), result_.copies.begin() + static_cast<std::ptrdiff_t>(before), result_.copies.end());
    }
    return std::move(result_);
  }

 private:
  struct Move {
    InstrId id;
    bool isPack;
  };

  // A pack's register stands before its lanes, an unpack's after them.
  RegId wholeOf(const Move& m) const {
    const auto operands = f_.operandsOf(f_[m.id]);
    return (m.isPack ? operands.front() : operands.back()).reg();
  }
  std::span<const Operand> lanesOf(const Move& m) const {
    const auto operands = f_.operandsOf(f_[m.id]);
    return m.isPack ? operands.subspan(2) : operands.subspan(1, operands.size() - 2);
  }

  void collect() {
    moveAt_.assign(f_.instructions.size(), UINT32_MAX);
    for (const InstrId id : f_) {
      const Instruction& i = f_[id];
      if (!i.isInstruction() || i.is(Instruction::Guarded) || i.operandCount < 4) continue;
      const OpcodeForm& form = context_.module.form(i);
      if (form.op != Op::Mov || form.vector != 1) continue;
      const auto operands = f_.operandsOf(i);
      const bool isPack = operands[1].kind == OperandKind::Vector;
      if (!isPack && operands[0].kind != OperandKind::Vector) continue;
      const std::size_t lanes = (isPack ? operands[1] : operands[0]).inside();
      if (operands.size() != lanes + 2) continue;
      const Move m{id, isPack};
      const Operand& whole = isPack ? operands.front() : operands.back();
      if (!whole.isRegister() || !takesPartInCopies(f_.registers[whole.payload])) continue;
      const unsigned bits = info(f_.registers[whole.payload].type).bits;
      if (info(form.type).bits != bits) continue;
      if (bits / lanes < kLaneBits) ++result_.halves;
      if (bits != kLaneBits * lanes || !areLanes(lanesOf(m), isPack)) continue;
      moveAt_[id.value] = static_cast<uint32_t>(moves_.size());
      moves_.push_back(m);
      if (!isPack) unpacks_.push_back(id);
    }
  }

  // Registers of one lane's size; destinations may be `_`, and none stands there twice.
  bool areLanes(std::span<const Operand> lanes, bool isPack) const {
    for (std::size_t k = 0; k < lanes.size(); ++k) {
      if (!isPack && lanes[k].kind == OperandKind::Sink) continue;
      if (!lanes[k].isRegister() || lanes[k].flags != 0) return false;
      const Register& r = f_.registers[lanes[k].payload];
      if (!takesPartInCopies(r) || info(r.type).bits != kLaneBits) return false;
      for (std::size_t other = 0; other < k && !isPack; ++other)
        if (lanes[other].isRegister() && lanes[other].payload == lanes[k].payload) return false;
    }
    return true;
  }

  std::vector<RegId> findCandidates(std::span<const Copy> known) const {
    std::vector<bool> isMentioned(f_.registers.size());
    for (const Copy& c : known) isMentioned[c.to.value] = isMentioned[c.from.value] = true;
    for (const Move& m : moves_)
      for (const Operand& o : f_.operandsOf(f_[m.id]))
        if (o.isRegister()) isMentioned[o.payload] = true;
    const CopyFacts& facts = context_.analyses.copyFacts();
    std::vector<RegId> candidates;
    for (std::size_t r = 0; r < isMentioned.size(); ++r)
      if (isMentioned[r] && Coalescer::frozen(facts, RegId(r)) == Verdict::Joined) candidates.emplace_back(r);
    return candidates;
  }

  // The root of the value that instruction `at` reads in `r`.
  CopyValues::Number rootIn(RegId r, InstrId at) const {
    if (values_->firstOf(r) == CopyValues::kNone) return CopyValues::kNone;
    const ValueId v = (*intervals_)[r].valueIn((*slots_)[at]);
    return v.valid() ? values_->root(values_->number(r, v)) : CopyValues::kNone;
  }

  // The pack or unpack that defines a value.
  const Move* moveOf(CopyValues::Number n) const {
    if (n == CopyValues::kNone || (*values_)[n].kind != ValueKind::Instruction) return nullptr;
    const InstrId id = slots_->instructionAt((*values_)[n].def);
    const uint32_t m = id.valid() ? moveAt_[id.value] : UINT32_MAX;
    return m == UINT32_MAX ? nullptr : &moves_[m];
  }

  bool isWithinBlock(const Move& m, const Move& before) {
    const Cfg& cfg = context_.analyses.cfg();
    if (cfg.blockOf(m.id) == cfg.blockOf(before.id)) return true;
    ++result_.acrossBlocks;
    found_[m.id.value] = true;
    return false;
  }

  void findUnpack(const Move& m) {
    const RegId whole = wholeOf(m);
    const Move* pack = moveOf(rootIn(whole, m.id));
    if (pack == nullptr || !pack->isPack) return;
    const auto to = lanesOf(m), from = lanesOf(*pack);
    if (to.size() != from.size() || !isWithinBlock(m, *pack)) return;
    for (std::size_t k = 0; k < to.size(); ++k)
      if (to[k].isRegister() && values_->firstOf(to[k].reg()) != CopyValues::kNone &&
          values_->firstOf(from[k].reg()) != CopyValues::kNone)
        result_.copies.push_back({m.id, to[k].reg(), from[k].reg(), CopyFamily::Unpack, false, pack->id, whole});
    found_[m.id.value] = true;
  }

  void findPack(const Move& m) {
    const auto lanes = lanesOf(m);
    const Move* unpack = nullptr;
    for (std::size_t k = 0; k < lanes.size(); ++k) {
      const CopyValues::Number root = rootIn(lanes[k].reg(), m.id);
      const Move* from = moveOf(root);
      if (from == nullptr || from->isPack || (k != 0 && from != unpack)) return;
      const auto itsLanes = lanesOf(*from);
      if (k >= itsLanes.size() || itsLanes.size() != lanes.size() || !itsLanes[k].isRegister() ||
          itsLanes[k].reg() != values_->registerOf(root))
        return;
      unpack = from;
    }
    if (!isWithinBlock(m, *unpack)) return;
    const RegId from = wholeOf(*unpack), to = wholeOf(m);
    if (values_->firstOf(from) == CopyValues::kNone || values_->firstOf(to) == CopyValues::kNone) return;
    result_.copies.push_back({m.id, to, from, CopyFamily::Pack, false, unpack->id, lanes[0].reg()});
    found_[m.id.value] = true;
  }

  const Function& f_;
  PassContext& context_;
  PackCopies result_;
  std::vector<Move> moves_;  // packs and unpacks, in the order of the text
  std::vector<InstrId> unpacks_;
  std::vector<uint32_t> moveAt_;  // by InstrId: in moves_
  std::vector<bool> found_;       // by InstrId
  const SlotIndexes* slots_ = nullptr;
  const LiveIntervals* intervals_ = nullptr;
  const CopyValues* values_ = nullptr;
};

}  // namespace

PackCopies findPackCopies(const Function& f, PassContext& context, std::span<const Copy> known) {
  return PackFinder(f, context).find(known);
}

}  // namespace ptxopt
