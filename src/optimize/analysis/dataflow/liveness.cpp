// The dense solver iterates in post-order over blocks with news from a successor, either by walking their instructions
// or by gen and kill sets that are made after the first walk. The sparse solver is chosen by the size of the dense
// rows.
#include "analysis/dataflow/liveness.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

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

// The one place that chooses.
Liveness::Solver Liveness::solverFor(const Limits& limits) const {
  if (limits.form == Form::Sparse) return Solver::Sparse;
  if (limits.form == Form::BySize &&
      (denseBytes() > limits.mostBytes || denseBytes() > kDenseBytes * f_.instructions.size()))
    return Solver::Sparse;
  return limits.walkOnly || cfg_.size() == 1 || hasFewInstructions(f_, kFewInstructions) ? Solver::Walking
                                                                                         : Solver::Sets;
}

bool Liveness::solveSparse(const Module& module, Strength strength, std::size_t mostBytes, const Liveness* plain) {
  std::optional<std::vector<LiveRuns::Run>> runs;
  if (plain != nullptr && plain->solved_ && plain->isSparse() && *plain->numbers_ == *numbers_) {
    runs = plain->runs_.all();
    sweeps_ = plain->sweeps_;
  } else {
    runs = findLiveRuns(f_, cfg_, *numbers_, mostBytes, sweeps_);
  }
  if (runs && strength == Strength::Needed) runs = findNeededRuns(module, f_, cfg_, *numbers_, *runs, mostBytes);
  return runs && runs_.make(cfg_.size(), *runs, mostBytes);
}

bool Liveness::hasAtMost(std::size_t most) const {
  std::size_t all = 0;
  for (uint32_t b = 0; b < cfg_.size() && all <= most; ++b) forEachLiveIn(BlockId(b), [&](RegId) { ++all; });
  return all <= most;
}

std::string Liveness::howSolved() const {
  if (!solved_) return "not solved";
  constexpr std::string_view kNames[] = {"by walking", "by sets", "sparse"};
  return fmt::format("{}, {} sweep{}", kNames[static_cast<std::size_t>(solver_)], sweeps_, sweeps_ == 1 ? "" : "s");
}

bool operator==(const Liveness& a, const Liveness& b) {
  if (a.solved_ != b.solved_) return false;
  if (!a.solved_) return true;
  if (a.isSparse() == b.isSparse() && *a.numbers_ == *b.numbers_)
    return a.liveIn_ == b.liveIn_ && a.runs_ == b.runs_;
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

// Fills the rows of a solution, by sets or by walking.
class Liveness::DenseSolver {
 public:
  DenseSolver(Liveness& liveness, const Module& module, Strength strength)
      : l_(liveness),
        module_(module),
        cfg_(liveness.cfg_),
        numbers_(*liveness.numbers_),
        isNeeded_(strength == Strength::Needed),
        walk_(liveness) {
    if (liveness.solver_ == Solver::Sets) sets_.emplace(cfg_, numbers_);
  }

  void run() {
    if (isNeeded_) l_.unneeded_.assign(cfg_.size(), 1);
    if (!sets_ || isNeeded_) {
      sweep([&](BlockId b) { return sets_ ? stepOrWalk(b) : walk(b); });
      return;
    }
    for (uint32_t b = 0; b < cfg_.size(); ++b) addGenAndKill(BlockId(b));
    sweep([&](BlockId b) { return step(b); });
  }

 private:
  // For the solver by sets.
  struct Sets {
    Sets(const Cfg& cfg, const RegisterNumbers& numbers) : hasKill(cfg.size()) {
      for (const RegisterFile file : kRegisterFiles) {
        kill[static_cast<std::size_t>(file)] = BitRows(cfg.size(), numbers[file].registers.size());
        several[static_cast<std::size_t>(file)] = BitVector(numbers[file].registers.size());
      }
    }
    std::array<BitRows, kRegisterFiles.size()> kill;       // by block
    std::array<BitVector, kRegisterFiles.size()> several;  // for what several successors have live
    std::vector<uint8_t> hasKill;                          // by block, of `Needed`: the row is there
  };

  // Calls `update(block)` in post-order for blocks with news from a successor, all at first, until none is left.
  // `update` says whether there is news for the predecessors.
  template <typename Update>
  void sweep(Update update) {
    std::vector<uint8_t> dirty(cfg_.size(), 1);
    std::size_t left = cfg_.size();  // dirty ones
    for (; left != 0; ++l_.sweeps_) {
      for (const BlockId b : cfg_.postOrder()) {
        if (!dirty[b.value]) continue;
        dirty[b.value] = 0;
        --left;
        if (!update(b)) continue;
        for (const BlockId p : cfg_.predecessors(b)) {
          left += dirty[p.value] == 0 ? 1 : 0;
          dirty[p.value] = 1;
        }
      }
    }
  }

  template <typename Visit>
  void forGlobal(RegId reg, Visit visit) const {
    if (!numbers_.isGlobal(reg)) return;
    const uint32_t number = numbers_[reg];
    const RegisterFile file = numbers_.fileOf(number);
    visit(static_cast<std::size_t>(file), number - numbers_[file].first);
  }

  // Makes the block's row of kill, and adds gen to what is live at its start; whether something became live. What the
  // function returns counts as read at the end of a block that returns.
  bool addGenAndKill(BlockId b) {
    for (const RegId reg : numbers_.definitions(b))
      forGlobal(reg, [&](std::size_t file, std::size_t bit) { sets_->kill[file].set(b.value, bit); });
    bool changed = false;
    const auto read = [&](std::size_t file, std::size_t bit) {
      changed |= !l_.liveIn_[file].test(b.value, bit);
      l_.liveIn_[file].set(b.value, bit);
    };
    for (const RegId reg : numbers_.exposedReads(b)) forGlobal(reg, read);
    if (cfg_[b].returns)
      for (const RegId reg : l_.f_.returnRegisters)
        forGlobal(reg, [&](std::size_t file, std::size_t bit) {
          if (!sets_->kill[file].test(b.value, bit)) read(file, bit);
        });
    return changed;
  }

  // in(b) |= out(b) - kill(b), file by file.
  bool step(BlockId b) {
    const auto successors = cfg_.successors(b);
    bool changed = false;
    for (const RegisterFile file : kRegisterFiles) {
      if (numbers_[file].registers.empty()) continue;
      BitRows& in = l_.rows(file);
      const BitRows& kill = sets_->kill[static_cast<std::size_t>(file)];
      if (successors.size() == 1) {
        changed |= in.orWithAndNotIfChanged(b.value, successors[0].value, kill);
        continue;
      }
      BitVector& several = sets_->several[static_cast<std::size_t>(file)];
      several.clear();
      for (const BlockId s : successors) in.addTo(s.value, several, 0);
      changed |= in.orWithAndNotIfChanged(b.value, several, kill);
    }
    return changed;
  }

  bool walk(BlockId b) {
    const Function& f = l_.f_;
    walk_.startAtEnd(b);
    const Block& block = cfg_[b];
    bool isAllNeeded = true;
    for (InstrId id = block.last; id.valid(); id = id == block.first ? InstrId() : f[id].previous) {
      const Instruction& i = f[id];
      if (!isNeeded_ || walk_.writesLive(i) || !isRemovable(module_, f, i))
        walk_.before(i);
      else
        isAllNeeded = false;
    }
    // The last look at a block is with what its successors need in the end.
    if (isNeeded_) l_.unneeded_[b.value] = isAllNeeded ? 0 : 1;
    bool changed = false;
    for (const RegisterFile file : kRegisterFiles)
      changed |= l_.rows(file).orSliceIfChanged(b.value, walk_.set(), numbers_[file].first);
    return changed;
  }

  // For `Needed`: walks the block until all its instructions are needed.
  bool stepOrWalk(BlockId b) {
    if (sets_->hasKill[b.value] != 0) return step(b);
    if (!isAllNeeded(b)) return walk(b);
    l_.unneeded_[b.value] = 0;
    sets_->hasKill[b.value] = 1;
    const bool changed = addGenAndKill(b);
    return step(b) || changed;
  }

  // For `Needed`: whether each result of the block is read in it or live at its end. No instruction can then be the last
  // unneeded one, so all of them are needed.
  bool isAllNeeded(BlockId b) const {
    if (l_.unneeded_[b.value] == 0) return true;
    if (numbers_.hasUnread(b)) return false;
    return std::ranges::all_of(numbers_.unreadGlobals(b), [&](RegId reg) {
      const uint32_t number = numbers_[reg];
      const RegisterFile file = numbers_.fileOf(number);
      return std::ranges::any_of(cfg_.successors(b), [&](BlockId s) {
        return l_.rows(file).test(s.value, number - numbers_[file].first);
      });
    });
  }

  Liveness& l_;
  const Module& module_;
  const Cfg& cfg_;
  const RegisterNumbers& numbers_;
  const bool isNeeded_;
  Walk walk_;
  std::optional<Sets> sets_;  // none: it walks
};

Liveness::Liveness(const Module& module, const Function& function, const Cfg& cfg,
                   std::shared_ptr<const RegisterNumbers> numbers, Strength strength, Limits limits,
                   const Liveness* plain)
    : f_(function), cfg_(cfg), numbers_(std::move(numbers)) {
  solver_ = solverFor(limits);
  if (solver_ == Solver::Sparse) {
    solved_ = solveSparse(module, strength, limits.mostBytes, plain);
    if (solved_ || strength == Strength::Plain || limits.form == Form::Sparse) return;
    limits.form = Form::Dense;
    solver_ = solverFor(limits);
    sweeps_ = 0;
  }
  if (denseBytes() > limits.mostBytes) return;
  for (const RegisterFile file : kRegisterFiles)
    rows(file) = BitRows(cfg.size(), (*numbers_)[file].registers.size());
  DenseSolver(*this, module, strength).run();
  solved_ = true;
}

Liveness::Walk::Walk(const Liveness& liveness) : LivePoint(liveness.f_, *liveness.numbers_), liveness_(liveness) {}

void Liveness::Walk::startAtEnd(BlockId block) {
  restart();
  for (const BlockId s : liveness_.cfg_.successors(block))
    if (liveness_.isSparse())
      liveness_.runs_.forEach(s, [&](uint32_t number) { makeLive(number); });
    else
      for (const RegisterFile file : kRegisterFiles) makeLive(file, liveness_.rows(file), s);
  // A return reads the return registers itself; the end of the text has no instruction for that.
  if (liveness_.cfg_[block].returns)
    for (const RegId reg : liveness_.f_.returnRegisters) makeLive(reg);
}

}  // namespace ptxopt
