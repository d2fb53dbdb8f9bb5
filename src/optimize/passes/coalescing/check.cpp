// The two lists of instructions are aligned, and the values of registers flow forward until nothing changes. A last
// walk over the blocks then compares what aligned instructions read, and reports the first difference.
#include "passes/coalescing/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "analysis/dataflow/cfg.h"
#include "analysis/dataflow/liveness.h"
#include "passes/coalescing/check_steps.h"
#include "passes/coalescing/check_values.h"

namespace ptxopt {
namespace {

using coalescing::Class;
using coalescing::CopyStep;
using coalescing::CopyStepKind;
using coalescing::kMostParts;
using coalescing::KnownNames;
using coalescing::Name;
using coalescing::NameClasses;
using coalescing::readStep;

class CoalescingCheck {
 public:
  CoalescingCheck(const Module& module, const Function& before, const Function& after)
      : module_(module),
        before_(before),
        after_(after),
        cfg_(module, before),
        registers_(std::max(before.registers.size(), after.registers.size())) {}

  std::string run() {
    if (!cfg_.complete()) return {};
    align();
    if (!error_.empty()) return error_;
    findConstants();
    classes_.emplace(2 * registers_ + constants_.size(), static_cast<Name>(2 * registers_));
    findLive();
    solve();
    isChecking_ = true;
    for (uint32_t b = 0; b < cfg_.size() && error_.empty(); ++b)
      if (known_[b].isReached) block(BlockId(b));
    return error_;
  }

 private:
  // ---- the two lists side by side ----

  // What is left of the instructions before must stand in the order that it had; what is new is remembered with
  // what it follows.
  void align() {
    std::vector<uint32_t> place(before_.instructions.size(), UINT32_MAX);
    uint32_t n = 0;
    for (const InstrId id : before_) place[id.value] = n++;
    isLeft_.assign(before_.instructions.size(), false);
    follow_.resize(before_.instructions.size());
    InstrId last;
    for (const InstrId id : after_) {
      if (id.value >= place.size() || place[id.value] == UINT32_MAX) {
        if (after_[id].isInstruction()) (last.valid() ? follow_[last.value] : front_).push_back(id);
        continue;
      }
      if (last.valid() && place[id.value] < place[last.value])
        return fail(after_, id, "stands elsewhere than before");
      isLeft_[id.value] = true;
      last = id;
    }
  }

  // ---- names ----

  void findConstants() {
    for (const Function* f : {&before_, &after_})
      for (const InstrId id : *f)
        if (const CopyStep s = readStep(module_, *f, id); s.kind == CopyStepKind::Constant)
          constants_.try_emplace(s.constant, 0);
    Name next = static_cast<Name>(2 * registers_);
    for (auto& [key, name] : constants_) name = next++;
  }

  bool isBefore(const Function& f) const { return &f == &before_; }
  Name nameOf(const Function& f, RegId r) const {
    return static_cast<Name>(isBefore(f) ? r.value : registers_ + r.value);
  }
  Class classOf(const Function& f, RegId r) { return (*classes_)[nameOf(f, r)]; }

  void findLive() {
    live_.resize(cfg_.size());
    const Cfg after(module_, after_);
    for (const Function* f : {&before_, &after_}) {
      const Cfg& cfg = isBefore(*f) ? cfg_ : after;
      const Liveness liveness(module_, *f, cfg, RegisterFiles(*f), Liveness::Strength::Plain, {});
      for (uint32_t b = 0; b < cfg_.size(); ++b) {
        // Where the first instruction of a block is gone, the block begins with the next one that is left.
        InstrId first = cfg_[BlockId(b)].first;
        while (first.valid() && !isBefore(*f) && !isLeft_[first.value]) first = before_[first].next;
        if (first.valid()) addLive(*f, liveness, cfg, first, live_[b]);
      }
    }
    for (auto& names : live_) {
      std::sort(names.begin(), names.end());
      names.erase(std::unique(names.begin(), names.end()), names.end());
    }
  }

  // What is live before instruction `at`: what is live at the start of its block, or, where something was put in
  // between, whatever there is.
  void addLive(const Function& f, const Liveness& liveness, const Cfg& cfg, InstrId at, std::vector<Name>& names) {
    const BlockId b = cfg.blockOf(at);
    const auto add = [&](RegId r) { names.push_back(nameOf(f, r)); };
    InstrId first = cfg[b].first;
    while (first != at && !f[first].isInstruction()) first = f[first].next;
    if (first == at) return liveness.forEachLiveIn(b, add);
    for (std::size_t r = 0; r < f.registers.size(); ++r) add(RegId(r));
  }

  // ---- the dataflow ----

  void solve() {
    known_.resize(cfg_.size());
    std::vector<uint32_t> order(cfg_.size());
    const auto& post = cfg_.postOrder();
    for (std::size_t k = 0; k < post.size(); ++k) order[post[k].value] = static_cast<uint32_t>(post.size() - 1 - k);
    std::set<uint32_t> queue;  // places in reverse post-order
    changed_ = [&](BlockId b) { queue.insert(order[b.value]); };
    for (const BlockId b : cfg_.roots()) enter(b);
    while (!queue.empty()) {
      const BlockId b = post[post.size() - 1 - *queue.begin()];
      queue.erase(queue.begin());
      block(b);
    }
    changed_ = nullptr;
  }

  void enter(BlockId b) {
    classes_->load({});
    const Class nothing = classes_->fresh();
    for (std::size_t r = 0; r < registers_; ++r) {
      const bool isParameter = r < before_.registers.size() && before_.registers[r].isParameter &&
                               std::find(before_.returnRegisters.begin(), before_.returnRegisters.end(),
                                         RegId(r)) == before_.returnRegisters.end();
      const Class c = isParameter || RegId(r) == Function::kCarry ? classes_->fresh() : nothing;
      classes_->set(static_cast<Name>(r), c);
      classes_->set(static_cast<Name>(registers_ + r), c);
    }
    if (b.value == 0)
      for (const InstrId id : front_) step({}, id);
    leave(b);
  }

  void leave(BlockId to) {
    if (!changed_) return;
    if (known_[to.value].meet(classes_->save(live_[to.value]))) changed_(to);
  }

  void block(BlockId b) {
    classes_->load(known_[b.value]);
    const Block& block = cfg_[b];
    if (!block.last.valid()) return;
    for (InstrId id = block.first;; id = before_[id].next) {
      step(id, isLeft_[id.value] ? id : InstrId());
      const bool isControl =
          before_[id].isInstruction() && module_.form(before_[id]).is(effect::kControl | effect::Unknown);
      if (id == block.last && isControl) return leaveBlock(b, id);
      for (const InstrId put : follow_[id.value]) step({}, put);
      if (id == block.last) return leaveBlock(b, {});
    }
  }

  // What was put in after the branch that ends a block stands on the way that falls through only.
  void leaveBlock(BlockId b, InstrId branch) {
    if (isChecking_ && b.value + 1 == cfg_.size() && cfg_[b].returns) checkResults();
    const bool onlyFalls = branch.valid() && !follow_[branch.value].empty();
    for (const BlockId s : cfg_.successors(b))
      if (!onlyFalls || s.value != b.value + 1 || branchesTo(branch, s)) leave(s);
    if (!onlyFalls) return;
    for (const InstrId put : follow_[branch.value]) step({}, put);
    for (const BlockId s : cfg_.successors(b))
      if (s.value == b.value + 1) leave(s);
  }

  bool branchesTo(InstrId branch, BlockId target) const {
    const auto operands = before_.operandsOf(before_[branch]);
    return std::any_of(operands.begin(), operands.end(), [&](const Operand& o) {
      return o.kind == OperandKind::Label && cfg_.blockOf(before_.labels[o.payload].place) == target;
    });
  }

  void checkResults() {
    for (const RegId r : before_.returnRegisters)
      if (classOf(before_, r) != classOf(after_, r))
        fail(after_, after_.last, fmt::format("result {} need not be what it was", spell(after_, r)));
  }

  // ---- one instruction on both sides, or on one ----

  void step(InstrId old, InstrId now) {
    const CopyStep a = old.valid() ? readStep(module_, before_, old) : CopyStep();
    const CopyStep b = now.valid() ? readStep(module_, after_, now) : CopyStep();
    if (a.kind == CopyStepKind::None && b.kind == CopyStepKind::None) return;
    // A move matters where what it writes is read: another one may stand in its place. So do the parts that are unpacked.
    const bool isMove = a.kind == CopyStepKind::Move || a.kind == CopyStepKind::Moves;
    const bool isUnpack = a.kind == CopyStepKind::Unpack && b.kind == CopyStepKind::Unpack && a.count == b.count;
    if (isUnpack && isChecking_ && classOf(before_, a.whole) != classOf(after_, b.whole))
      return fail(after_, now, "need not unpack the value that was unpacked before");
    if (a.kind == CopyStepKind::Opaque || b.kind == CopyStepKind::Opaque ||
        (old.valid() && now.valid() && a.kind == b.kind && !isMove && !isUnpack)) {
      if (!now.valid()) return fail(before_, old, "is not a copy and is gone");
      if (!old.valid()) return fail(after_, now, "is not a copy and was put in");
      if (!compare(old, now)) return;
    } else if (old.valid() && now.valid() && a.kind != b.kind && isChecking_) {
      if (a.isGuarded != b.isGuarded || a.isNot != b.isNot ||
          (a.isGuarded && classOf(before_, a.guard) != classOf(after_, b.guard)))
        return fail(after_, now, "has another guard");
      if (evaluate(before_, a) != evaluate(after_, b))
        return fail(after_, now, "need not write the value that was written before");
    }
    if (a.kind == CopyStepKind::Opaque) return define(old, now);
    const Values va = evaluate(before_, a), vb = evaluate(after_, b);
    assign(before_, a, va);
    assign(after_, b, vb);
  }

  using Values = std::array<Class, kMostParts>;

  Values evaluate(const Function& f, const CopyStep& s) {
    Values v{};
    switch (s.kind) {
      case CopyStepKind::None:
      case CopyStepKind::Opaque: return v;
      case CopyStepKind::Move: v[0] = classOf(f, s.parts[0]); break;
      case CopyStepKind::Moves:
        for (uint32_t k = 0; k < s.count; ++k)
          if (s.parts[k].valid()) v[k] = classOf(f, s.sources[k]);
        return v;
      case CopyStepKind::Select: {
        const Class first = classOf(f, s.parts[0]), second = classOf(f, s.parts[1]), guard = classOf(f, s.guard);
        v[0] = s.isNot ? classes_->select(guard, second, first) : classes_->select(guard, first, second);
        return v;
      }
      case CopyStepKind::Constant: v[0] = (*classes_)[constants_.at(s.constant)]; break;
      case CopyStepKind::Pack: {
        std::array<Class, kMostParts> parts{};
        for (uint32_t k = 0; k < s.count; ++k) parts[k] = classOf(f, s.parts[k]);
        v[0] = classes_->pack({parts.data(), s.count});
        break;
      }
      case CopyStepKind::Unpack:
        for (uint32_t k = 0; k < s.count; ++k) v[k] = classes_->part(classOf(f, s.whole), s.count, k);
        break;
    }
    if (s.isGuarded) {
      const Class guard = classOf(f, s.guard), old = classOf(f, s.whole);
      v[0] = s.isNot ? classes_->select(guard, old, v[0]) : classes_->select(guard, v[0], old);
    }
    return v;
  }

  void assign(const Function& f, const CopyStep& s, const Values& v) {
    if (s.kind == CopyStepKind::None) return;
    if (s.kind != CopyStepKind::Unpack && s.kind != CopyStepKind::Moves)
      return classes_->set(nameOf(f, s.whole), v[0]);
    for (uint32_t k = 0; k < s.count; ++k)
      if (s.parts[k].valid()) classes_->set(nameOf(f, s.parts[k]), v[k]);
  }

  // What instructions that are alike write is the same on both sides, whatever it is.
  void define(InstrId old, InstrId now) {
    const auto a = before_.operandsOf(before_[old]), b = after_.operandsOf(after_[now]);
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (!a[k].isRegister() || !a[k].writes()) continue;
      const Class c = classes_->fresh();
      classes_->set(nameOf(before_, a[k].reg()), c);
      classes_->set(nameOf(after_, b[k].reg()), c);
    }
  }

  // Whether two instructions are alike but for their registers; when checking, whether what they read is, too.
  bool compare(InstrId old, InstrId now) {
    const Instruction &i = before_[old], &j = after_[now];
    const auto a = before_.operandsOf(i), b = after_.operandsOf(j);
    const bool alike = i.kind == j.kind && i.payload == j.payload && a.size() == b.size() &&
                       std::equal(a.begin(), a.end(), b.begin(), [](const Operand& x, const Operand& y) {
                         return x.kind == y.kind && x.role == y.role && x.join == y.join && x.flags == y.flags &&
                                (x.isRegister() || x.payload == y.payload);
                       });
    if (!alike) return fail(after_, now, "is another instruction than before"), false;
    if (!isChecking_) return true;
    const OpcodeForm& form = module_.form(i);
    const bool isConstant = readStep(module_, before_, old).kind == CopyStepKind::Constant;
    const bool keepsNames = !form.knowsOperands() || (form.is(effect::Async) && form.is(effect::Convergent));
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (!a[k].isRegister()) continue;
      const RegId x = a[k].reg(), y = b[k].reg();
      if (keepsNames && x != y)
        return fail(after_, now, fmt::format("operand {} must stay {}", k + 1, spell(before_, x))), false;
      // What a guarded constant leaves in its destination matters where that is read.
      if (a[k].reads() && !(isConstant && a[k].role == Role::Mod) && classOf(before_, x) != classOf(after_, y))
        return fail(after_, now,
                    fmt::format("operand {} reads {}, which need not hold what {} held", k + 1, spell(after_, y),
                                spell(before_, x))),
               false;
      if (!a[k].writes()) continue;
      for (std::size_t m = 0; m < k; ++m)
        if (a[m].isRegister() && a[m].writes() && (a[m].reg() == x) != (b[m].reg() == y))
          return fail(after_, now,
                      fmt::format("operands {} and {} write one register, {}", m + 1, k + 1,
                                  spell(a[m].reg() == x ? before_ : after_, a[m].reg() == x ? x : y))),
                 false;
    }
    return true;
  }

  // ---- errors ----

  std::string spell(const Function& f, RegId r) const {
    const Register& reg = f.registers[r.value];
    if (r == Function::kCarry) return "the carry flag";
    return reg.name.valid() ? std::string(module_.text(reg.name))
                            : fmt::format("made register {} of .{}", reg.number, info(reg.type).name);
  }

  void fail(const Function& f, InstrId id, const std::string& what) {
    if (!error_.empty()) return;
    std::size_t place = 0;
    for (const InstrId at : f) {
      if (f[at].isInstruction()) ++place;
      if (at == id) break;
    }
    const bool isInstruction = id.valid() && f[id].isInstruction();
    error_ = fmt::format("instruction {} {}({}): {}", place, isBefore(f) ? "before coalescing " : "",
                         isInstruction ? module_.printedOpcode(f[id]) : "no instruction", what);
  }

  const Module& module_;
  const Function &before_, &after_;
  const Cfg cfg_;  // of the function before
  const std::size_t registers_;
  std::vector<bool> isLeft_;                  // by InstrId of `before`
  std::vector<std::vector<InstrId>> follow_;  // by InstrId of `before`: what was put in after it
  std::vector<InstrId> front_;                // ... before everything
  std::map<std::array<uint64_t, 3>, Name> constants_;
  std::optional<NameClasses> classes_;
  std::vector<std::vector<Name>> live_;  // by block, sorted
  std::vector<KnownNames> known_;        // by block: at its start
  std::function<void(BlockId)> changed_;
  bool isChecking_ = false;
  std::string error_;
};

}  // namespace

std::string checkCoalescing(const Module& module, const Function& before, const Function& after) {
  return CoalescingCheck(module, before, after).run();
}

}  // namespace ptxopt
