#include "analysis/dataflow/liveness.h"

#include <algorithm>

#include "analysis/dataflow/sparse_liveness.h"

namespace ptxopt {

namespace {

bool isOpaque(const Module& module, const Variable& variable) {
  const DeclarationForm& form = module.declarationForms[variable.form];
  return form.type == ScalarType::texref || form.type == ScalarType::samplerref ||
         form.type == ScalarType::surfref || form.space == DeclaredSpace::Tex;
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

namespace {

bool hasFewInstructions(const Function& f, std::size_t most) {
  std::size_t n = 0;
  for (const InstrId id : f)
    if (f[id].isInstruction() && ++n > most) return false;
  return true;
}

}  // namespace

Liveness::Liveness(const Module& module, const Function& function, const Cfg& cfg, const RegisterFiles& files,
                   Strength strength, Limits limits, const Liveness* plain)
    : f_(function), cfg_(cfg), numbers_(function, cfg, files) {
  const std::size_t bytes = std::size_t{numbers_.firstLocal()} / 8 * cfg.size();
  if (takesSparse(bytes, limits)) {
    isSparse_ = true;
    solved_ = solveSparse(module, strength, limits.mostBytes, plain);
    if (solved_ || strength == Strength::Plain || limits.form == Form::Sparse) return;
    isSparse_ = false;
  }
  if (bytes > limits.mostBytes) return;
  const bool walks = strength == Strength::Needed || limits.walkOnly || cfg.size() == 1 ||
                     hasFewInstructions(function, kFewInstructions);
  for (const RegisterFile file : kRegisterFiles) rows(file) = BitRows(cfg.size(), numbers_[file].registers.size());
  if (walks)
    solveByWalking(module, strength);
  else
    solveBySets();
  solved_ = true;
}

bool Liveness::takesSparse(std::size_t denseBytes, const Limits& limits) const {
  if (limits.form != Form::BySize) return limits.form == Form::Sparse;
  return denseBytes > limits.mostBytes || denseBytes > kDenseBytes * f_.instructions.size();
}

bool Liveness::solveSparse(const Module& module, Strength strength, std::size_t mostBytes, const Liveness* plain) {
  auto runs = plain != nullptr && plain->solved_ && plain->isSparse_ && plain->numbers_ == numbers_
                  ? plain->runs_.all()
                  : findLiveRuns(f_, cfg_, numbers_, mostBytes);
  if (runs && strength == Strength::Needed) runs = findNeededRuns(module, f_, cfg_, numbers_, *runs, mostBytes);
  return runs && runs_.make(cfg_.size(), *runs, mostBytes);
}

bool Liveness::isLiveIn(RegId reg, BlockId block) const {
  if (!numbers_.isGlobal(reg)) return false;
  if (isSparse_) return runs_.has(block, numbers_[reg]);
  const RegisterFile file = numbers_.fileOf(numbers_[reg]);
  return rows(file).test(block.value, numbers_[reg] - numbers_[file].first);
}

bool operator==(const Liveness& a, const Liveness& b) {
  if (a.solved_ != b.solved_ || a.numbers_ != b.numbers_) return false;
  if (!a.solved_) return true;
  if (a.isSparse_ == b.isSparse_) return a.liveIn_ == b.liveIn_ && a.runs_ == b.runs_;
  const auto liveIn = [](const Liveness& liveness, BlockId block) {
    std::vector<RegId> registers;
    liveness.forEachLiveIn(block, [&](RegId reg) { registers.push_back(reg); });
    std::sort(registers.begin(), registers.end());
    return registers;
  };
  for (uint32_t block = 0; block < a.cfg_.size(); ++block)
    if (liveIn(a, BlockId(block)) != liveIn(b, BlockId(block))) return false;
  return true;
}

// Calls `update(block)` in post-order for blocks with news from a successor, all at first, until none is left.
// `update` tells whether there is news for the predecessors.
template <typename Update>
void Liveness::sweep(Update update) const {
  std::vector<uint8_t> dirty(cfg_.size(), 1);
  for (bool again = true; again;) {
    again = false;
    for (const BlockId b : cfg_.postOrder()) {
      if (!dirty[b.value]) continue;
      dirty[b.value] = 0;
      if (!update(b)) continue;
      for (const BlockId p : cfg_.predecessors(b)) {
        dirty[p.value] = 1;
        again = true;
      }
    }
  }
}

void Liveness::solveBySets() {
  std::array<BitRows, kRegisterFiles.size()> kill;
  for (const RegisterFile file : kRegisterFiles)
    kill[static_cast<std::size_t>(file)] = BitRows(cfg_.size(), numbers_[file].registers.size());
  for (uint32_t b = 0; b < cfg_.size(); ++b) {
    const Block& block = cfg_[BlockId(b)];
    const auto forGlobal = [&](RegId reg, auto visit) {
      if (!numbers_.isGlobal(reg)) return;
      const RegisterFile file = numbers_.fileOf(numbers_[reg]);
      const auto k = static_cast<std::size_t>(file);
      visit(liveIn_[k], kill[k], numbers_[reg] - numbers_[file].first);
    };
    const auto read = [&](BitRows& gen, BitRows&, std::size_t bit) { gen.set(b, bit); };
    const auto write = [&](BitRows& gen, BitRows& killed, std::size_t bit) {
      gen.reset(b, bit);
      killed.set(b, bit);
    };
    if (block.returns)
      for (const RegId reg : f_.returnRegisters) forGlobal(reg, read);
    for (InstrId id = block.last; id.valid(); id = id == block.first ? InstrId() : f_[id].previous) {
      const auto operands = f_.operandsOf(f_[id]);
      for (const Operand& o : operands)
        if (o.isRegister() && o.role == Role::Def) forGlobal(o.reg(), write);
      for (const Operand& o : operands)
        if (o.isRegister() && o.reads()) forGlobal(o.reg(), read);
    }
  }
  for (const RegisterFile file : kRegisterFiles) solveFile(file, kill[static_cast<std::size_t>(file)]);
}

void Liveness::solveFile(RegisterFile file, const BitRows& kill) {
  if (numbers_[file].registers.empty()) return;
  BitRows& in = rows(file);
  BitVector several(numbers_[file].registers.size());
  sweep([&](BlockId b) {
    const auto successors = cfg_.successors(b);
    if (successors.size() == 1) return in.orWithAndNotIfChanged(b.value, successors[0].value, kill);
    several.clear();
    for (const BlockId s : successors) in.addTo(s.value, several, 0);
    return in.orWithAndNotIfChanged(b.value, several, kill);
  });
}

void Liveness::solveByWalking(const Module& module, Strength strength) {
  Walk walk(*this);
  if (strength == Strength::Needed) unneeded_.assign(cfg_.size(), 0);
  sweep([&](BlockId b) {
    walk.startAtEnd(b);
    const Block& block = cfg_[b];
    bool isAllNeeded = true;
    for (InstrId id = block.last; id.valid(); id = id == block.first ? InstrId() : f_[id].previous) {
      const Instruction& i = f_[id];
      if (strength == Strength::Plain || walk.writesLive(i) || !isRemovable(module, f_, i))
        walk.before(i);
      else
        isAllNeeded = false;
    }
    // The last look at a block is with what its successors need in the end.
    if (strength == Strength::Needed) unneeded_[b.value] = isAllNeeded ? 0 : 1;
    bool changed = false;
    for (const RegisterFile file : kRegisterFiles)
      changed |= rows(file).orSliceIfChanged(b.value, walk.set(), numbers_[file].first);
    return changed;
  });
}

Liveness::Walk::Walk(const Liveness& liveness) : LivePoint(liveness.f_, liveness.numbers_), liveness_(liveness) {}

void Liveness::Walk::startAtEnd(BlockId block) {
  restart();
  for (const BlockId s : liveness_.cfg_.successors(block))
    if (liveness_.isSparse_)
      liveness_.runs_.forEach(s, [&](uint32_t number) { makeLive(number); });
    else
      for (const RegisterFile file : kRegisterFiles) makeLive(file, liveness_.rows(file), s);
  // A return reads the return registers itself; the end of the text has no instruction for that.
  if (liveness_.cfg_[block].returns)
    for (const RegId reg : liveness_.f_.returnRegisters) makeLive(reg);
}

}  // namespace ptxopt
