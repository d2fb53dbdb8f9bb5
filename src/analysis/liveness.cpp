#include "analysis/liveness.h"

namespace ptxopt {

namespace {

bool isOpaque(const Module& module, const Variable& variable) {
  const DeclarationForm& form = module.declarationForms[variable.form];
  return form.type == ScalarType::texref || form.type == ScalarType::samplerref ||
         form.type == ScalarType::surfref || module.text(form.space) == "tex";
}

// Mentions that leave a trace in what ptxas makes of the function even when their result is dead: the address of a
// parameter puts that into memory; functions, textures, samplers and surfaces are listed for the driver.
bool leavesTrace(const Module& module, const Function& function, const Operand& o, bool insideMemory) {
  if (o.kind == OperandKind::Variable) {
    const Variable& variable = function.variables[o.payload];
    return (variable.isParameter && !insideMemory) || isOpaque(module, variable);
  }
  if (o.kind != OperandKind::Symbol) return false;
  const Symbol& symbol = module.symbols[o.payload];
  return symbol.kind != SymbolKind::Variable || isOpaque(module, module.variables[symbol.index]);
}

}  // namespace

bool isRemovable(const Module& module, const Function& function, const Instruction& instruction) {
  if (!instruction.isInstruction()) return false;
  const OpcodeForm& form = module.form(instruction);
  if (form.row == nullptr || form.is(effect::kKeep)) return false;
  bool hasResult = false;
  std::size_t memoryEnd = 0;
  const auto operands = function.operandsOf(instruction);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Operand& o = operands[k];
    if (o.kind == OperandKind::Memory) memoryEnd = k + 1 + o.inside();
    if (o.isRegister() && o.writes() && !o.is(Operand::Implicit)) hasResult = true;
    if (o.kind == OperandKind::SpecialRegister && o.is(Operand::VolatileRead)) return false;
    if (leavesTrace(module, function, o, k < memoryEnd)) return false;
  }
  return hasResult;
}

Liveness::Liveness(const Module& module, const Function& function, const Cfg& cfg, Strength strength,
                   std::size_t mostBytes)
    : module_(module), f_(function), cfg_(cfg), strength_(strength) {
  findGlobals();
  if ((globals_.size() + 63) / 64 * 8 * cfg_.size() > mostBytes) return;
  liveIn_.assign(cfg_.size(), BitVector(globals_.size()));
  solve();
  solved_ = true;
}

void Liveness::findGlobals() {
  constexpr uint32_t kNone = UINT32_MAX;
  index_.assign(f_.registers.size(), kNone);
  std::vector<uint32_t> writtenIn(f_.registers.size(), kNone);
  const auto makeGlobal = [&](RegId reg) {
    if (index_[reg.value] != kNone) return;
    index_[reg.value] = static_cast<uint32_t>(globals_.size());
    globals_.push_back(reg);
  };
  for (const InstrId id : f_) {
    const uint32_t block = cfg_.blockOf(id).value;
    const auto operands = f_.operandsOf(f_[id]);
    for (const Operand& o : operands)
      if (o.isRegister() && o.reads() && writtenIn[o.payload] != block) makeGlobal(o.reg());
    for (const Operand& o : operands)
      if (o.isRegister() && o.role == Role::Def) writtenIn[o.payload] = block;
  }
  for (const RegId reg : f_.returnRegisters) makeGlobal(reg);
  // The others begin at a word of their own.
  auto next = static_cast<uint32_t>((globals_.size() + 63) / 64 * 64);
  for (uint32_t& index : index_)
    if (index == kNone) index = next++;
  indices_ = next;
}

void Liveness::solve() {
  Walk walk(*this);
  std::vector<uint8_t> dirty(cfg_.size(), 1);
  for (bool again = true; again;) {
    again = false;
    for (const BlockId b : cfg_.postOrder()) {
      if (!dirty[b.value]) continue;
      dirty[b.value] = 0;
      walk.startAtEnd(b);
      const Block& block = cfg_[b];
      for (InstrId id = block.last; id.valid(); id = id == block.first ? InstrId() : f_[id].previous) {
        const Instruction& i = f_[id];
        if (strength_ == Strength::Plain || walk.writesLive(i) || !isRemovable(module_, f_, i)) walk.before(i);
      }
      if (!liveIn_[b.value].orPrefixIfChanged(walk.live_)) continue;
      for (const BlockId p : cfg_.predecessors(b)) {
        dirty[p.value] = 1;
        again = true;
      }
    }
  }
}

Liveness::Walk::Walk(const Liveness& liveness) : liveness_(liveness), live_(liveness.indices_) {}

void Liveness::Walk::startAtEnd(BlockId block) {
  live_.clearPrefix(liveness_.globals_.size());
  for (const BlockId s : liveness_.cfg_.successors(block)) live_.orIfChanged(liveness_.liveIn_[s.value]);
  // A return reads the return registers itself; the end of the text has no instruction for that.
  if (liveness_.cfg_[block].returns)
    for (const RegId reg : liveness_.f_.returnRegisters) live_.set(liveness_.index_[reg.value]);
}

bool Liveness::Walk::writesLive(const Instruction& i) const {
  for (const Operand& o : liveness_.f_.operandsOf(i))
    if (o.isRegister() && o.writes() && isLive(o.reg())) return true;
  return false;
}

void Liveness::Walk::before(const Instruction& i) {
  const auto operands = liveness_.f_.operandsOf(i);
  for (const Operand& o : operands)
    if (o.isRegister() && o.role == Role::Def) live_.reset(liveness_.index_[o.payload]);
  for (const Operand& o : operands)
    if (o.isRegister() && o.reads()) live_.set(liveness_.index_[o.payload]);
}

}  // namespace ptxopt
