#include "passes/util/split_places.h"

#include "ir/stored_numbers.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/pragmas.h"

namespace ptxopt {

// ---- occurrences ----

Occurrences::Occurrences(const Function& f) : start_(f.registers.size() + 1), count_(f.registers.size()) {
  std::vector<InstrId> latest(f.registers.size());
  const auto forEach = [&](const auto& visit) {
    latest.assign(f.registers.size(), InstrId());
    for (const InstrId id : f) {
      if (!f[id].isInstruction()) continue;
      for (const Operand& o : f.operandsOf(f[id])) {
        if (!o.isRegister()) continue;
        visit(id, o, latest[o.payload] != id);
        latest[o.payload] = id;
      }
    }
  };
  forEach([&](InstrId, const Operand& o, bool first) { start_[o.payload + 1] += first; });
  for (std::size_t r = 0; r < count_.size(); ++r) start_[r + 1] += start_[r];
  all_.resize(start_.back());
  forEach([&](InstrId id, const Operand& o, bool first) {
    Occurrence* const of = all_.data() + start_[o.payload];
    if (first) of[count_[o.payload]++].instruction = id;
    Occurrence& latestOf = of[count_[o.payload] - 1];
    latestOf.reads |= o.reads();
    latestOf.writes |= o.writes();
  });
}

// ---- zones ----

Zones::Zones(const Module& module, const Function& f) {
  std::vector<uint32_t> zone(f.instructions.size()), outer;
  uint32_t current = 0, latest = 0;
  bool nested = false;
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    zone[id.value] = current;
    if (i.kind == InstrKind::ScopeOpen) outer.push_back(current);
    if (i.kind == InstrKind::ScopeClose) {
      current = outer.back();
      outer.pop_back();
    }
    const bool isDeclaration = i.kind == InstrKind::Declaration &&
                               module.text(module.declarationForms[f.declarations[i.payload].form].space) == "reg";
    // Declarations at the top of the function begin no zone of their own: nothing is named before them.
    if (isDeclaration && (nested || !outer.empty())) current = ++latest;
    nested |= i.isInstruction();
  }
  if (latest != 0) zone_ = std::move(zone);
}

bool Zones::reaches(const Occurrences& occurrences, RegId r, InstrId place) const {
  if (zone_.empty()) return true;
  const uint32_t wanted = before(place);
  return std::ranges::any_of(occurrences.of(r),
                             [&](const Occurrence& o) { return zone_[o.instruction.value] == wanted; });
}

// ---- what may be split ----

std::vector<std::string_view> whyUnsplittable(const Module& module, const Function& f,
                                              const LiveIntervals& intervals) {
  std::vector<std::string_view> why(f.registers.size());
  const StoredNumbers stored = findStoredNumbers(module, f);
  for (std::size_t r = 0; r < why.size(); ++r) {
    const Register& reg = f.registers[r];
    const RegisterClass c = reg.registerClass();
    const bool isNumber = c == RegisterClass::B16 || c == RegisterClass::B32 || c == RegisterClass::B64 ||
                          c == RegisterClass::F32 || c == RegisterClass::F64;
    // What a narrow store converts would be bits after a copy.
    const bool isConverted = stored.isStoredNarrowly[r] && stored.mayBeNumber[r];
    if (r == Function::kCarry.value || reg.lanes != 1 || (!isNumber && c != RegisterClass::Pred) || isConverted)
      why[r] = "register-class";
    else if (reg.isParameter)
      why[r] = "parameter";
    else if (std::ranges::any_of(intervals[RegId(r)].values(),
                                 [](const LiveValue& v) { return v.kind == ValueKind::Entry; }))
      why[r] = "undefined";
  }
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    if (!i.isInstruction() || !module.form(i).is(effect::Async | effect::Unknown)) continue;
    for (const Operand& o : f.operandsOf(i))
      if (o.isRegister()) why[o.payload] = module.form(i).is(effect::Unknown) ? "unknown-opcode" : "async";
  }
  return why;
}

bool isOnlyCopied(const Module& module, const Function& f, const Occurrences& occurrences, RegId r) {
  return std::ranges::all_of(occurrences.of(r), [&](const Occurrence& o) {
    const auto operands = f.operandsOf(f[o.instruction]);
    return operands.size() == 2 && operands[0].isRegister() && operands[1].isRegister() &&
           module.form(f[o.instruction]).op == Op::Mov;
  });
}

void Declines::tell(PassContext& context, std::string_view what) const {
  for (const auto& [reason, n] : counts_)
    context.decline(reason, fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"));
}

// ---- places ----

namespace {

bool isControl(const Module& module, const Instruction& i) { return module.form(i).is(effect::kControl); }

}  // namespace

InstrId placeBefore(const Module& module, const Function& f, InstrId id) {
  const InstrId pragma = usedBytesMaskOf(module, f, id);
  return pragma.valid() ? pragma : id;
}

InstrId placeAtStart(const Module& module, const Function& f, const Block& block) {
  InstrId id = block.first;
  while (id.valid() && f[id].kind == InstrKind::Label && id != block.last) id = f[id].next;
  while (id.valid() && f[id].kind == InstrKind::Pragma && !isUsedBytesMask(module, f[id]) && id != block.last)
    id = f[id].next;
  const bool isPast =
      f[id].kind == InstrKind::Label || (f[id].kind == InstrKind::Pragma && !isUsedBytesMask(module, f[id]));
  return isPast ? f[id].next : id;
}

InstrId placeAtEnd(const Module& module, const Function& f, const Block& block) {
  for (InstrId id = block.last;; id = f[id].previous) {
    if (f[id].isInstruction()) return isControl(module, f[id]) ? id : f[id].next;
    if (f[id].kind == InstrKind::Label || id == block.first) return placeAtStart(module, f, block);
  }
}

bool placeBetween(const Module& module, const Function& f, const Cfg& cfg, BlockId from, BlockId to,
                  InstrId& place) {
  if (to.value != from.value + 1) return false;
  const Instruction& last = f[cfg[from].last];
  if (!last.isInstruction() || !last.is(Instruction::Guarded) ||
      module.form(last).is(effect::IndirectBranch | effect::Unknown))
    return false;
  for (const Operand& o : f.operandsOf(last))
    if (o.kind == OperandKind::Label && cfg.blockOf(f.labels[o.payload].place) == to) return false;
  place = last.next;
  return true;
}

// ---- instructions ----

void insertCopy(const Module& module, Function& f, RegId to, RegId from, InstrId place,
                const std::optional<Operand>& guard) {
  MadeOpcode opcode = MadeOpcode::MovB32;
  switch (f.registers[from.value].registerClass()) {
    case RegisterClass::Pred: opcode = MadeOpcode::MovPred; break;
    case RegisterClass::B16: opcode = MadeOpcode::MovB16; break;
    case RegisterClass::B64:
    case RegisterClass::F64: opcode = MadeOpcode::MovB64; break;
    default: break;
  }
  // Under a guard the register keeps what it holds where that is false.
  const Operand operands[] = {guard.value_or(Operand()), registerOperand(to, guard ? Role::Mod : Role::Def),
                              registerOperand(from, Role::Use, Join::Comma)};
  f.insert(place, module.madeOpcode(opcode), std::span(operands).subspan(guard ? 0 : 1));
}

}  // namespace ptxopt
