// Registers with one full definition are noted with its block first. The sweep then asks of each source whether it is
// uniform and its definition dominates the place.
#include "analysis/values/uniform_registers.h"

#include <algorithm>

#include "ir/opcode_predicates.h"

namespace ptxopt {
namespace {

// The same for all threads of a block, for as long as the kernel runs.
bool isUniformSpecial(std::string_view name) {
  static constexpr std::string_view kUniform[] = {"ntid",
                                                  "ctaid",
                                                  "nctaid",
                                                  "gridid",
                                                  "is_explicit_cluster",
                                                  "clusterid",
                                                  "nclusterid",
                                                  "cluster_ctaid",
                                                  "cluster_nctaid",
                                                  "cluster_ctarank",
                                                  "cluster_nctarank",
                                                  "total_smem_size",
                                                  "dynamic_smem_size",
                                                  "aggr_smem_size",
                                                  "nwarpid"};
  if (name.starts_with('%')) name.remove_prefix(1);
  return std::find(std::begin(kUniform), std::end(kUniform), name.substr(0, name.find('.'))) != std::end(kUniform);
}

// The address of a variable is one number, but for those that each thread has a copy of.
bool hasUniformAddress(const Module& module, const Variable& variable) {
  const DeclaredSpace space = module.declarationForms[variable.form].space;
  return space == DeclaredSpace::Global || space == DeclaredSpace::Shared || space == DeclaredSpace::Const;
}

class UniformFinder {
 public:
  UniformFinder(const Module& module, const Function& function, const Cfg& cfg, const DominatorTree& dominators)
      : module_(module), f_(function), cfg_(cfg), dominators_(dominators), home_(function.registers.size()) {}

  BitVector run() {
    findHomes();
    BitVector uniform(f_.registers.size());
    const std::vector<BlockId>& postOrder = cfg_.postOrder();
    for (auto b = postOrder.rbegin(); b != postOrder.rend(); ++b)
      for (InstrId id = cfg_[*b].first; id.valid(); id = f_[id].next) {
        look(f_[id], *b, uniform);
        if (id == cfg_[*b].last) break;
      }
    return uniform;
  }

 private:
  // The block of the only definition of each register that has one, which is neither partial nor on entry.
  void findHomes() {
    std::vector<uint8_t> isWritten(f_.registers.size());
    for (uint32_t b = 0; b < cfg_.size(); ++b)
      for (InstrId id = cfg_[BlockId(b)].first; id.valid(); id = f_[id].next) {
        for (const Operand& o : f_.operandsOf(f_[id])) {
          if (!o.isRegister() || !o.writes()) continue;
          const bool isOnly = isWritten[o.payload] == 0 && o.role == Role::Def;
          home_[o.payload] = isOnly ? BlockId(b) : BlockId();
          isWritten[o.payload] = 1;
        }
        if (id == cfg_[BlockId(b)].last) break;
      }
    for (std::size_t r = 0; r < f_.registers.size(); ++r)
      if (f_.registers[r].isParameter) home_[r] = BlockId();
  }

  // What dominates an instruction was looked at before.
  void look(const Instruction& i, BlockId block, BitVector& uniform) const {
    if (!i.isInstruction() || i.is(Instruction::Guarded)) return;
    const auto operands = f_.operandsOf(i);
    for (const Operand& o : operands)
      if (o.isRegister() && o.reads() && (!uniform.test(o.payload) || !isWrittenBefore(o.reg(), block))) return;
    const OpcodeForm& form = module_.form(i);
    if (!form.knowsOperands()) return;
    const bool loadsParameter = f_.isEntry && isParameterLoad(form);
    const bool loads = loadsParameter || isConstantLoad(form);
    if (form.is(~(loads ? uint32_t{effect::Read} : uint32_t{effect::Pure}))) return;
    for (const Operand& o : operands)
      if (!o.isRegister() && !isUniformSource(module_, f_, o, loadsParameter)) return;
    for (const Operand& o : operands)
      if (o.isRegister() && o.writes() && home_[o.payload].valid()) uniform.set(o.payload);
  }

  // Whether every way to a place in the block leads through the definition of `source`, which was looked at before.
  bool isWrittenBefore(RegId source, BlockId block) const {
    const BlockId from = home_[source.value];
    return from == block || dominators_.dominates(from, block);
  }

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  const DominatorTree& dominators_;
  std::vector<BlockId> home_;  // by register
};

}  // namespace

bool isUniformSource(const Module& module, const Function& function, const Operand& o, bool loadsParameter) {
  switch (o.kind) {
    case OperandKind::SpecialRegister: return isUniformSpecial(module.text(NameId(o.payload)));
    case OperandKind::Variable: {
      const Variable& variable = function.variables[o.payload];
      return variable.isParameter ? loadsParameter : hasUniformAddress(module, variable);
    }
    case OperandKind::Symbol: {
      const Symbol& symbol = module.symbols[o.payload];
      return symbol.kind == SymbolKind::Variable && hasUniformAddress(module, module.variables[symbol.index]);
    }
    case OperandKind::Label: return false;
    default: return true;  // immediates, groups, selectors
  }
}

BitVector findUniform(const Module& module, const Function& function, const Cfg& cfg,
                      const DominatorTree& dominators) {
  BitVector found = UniformFinder(module, function, cfg, dominators).run();
  const RegisterFiles files(function);
  for (std::size_t r = 0; r < function.registers.size(); ++r)
    if (files.of(RegId(r)) != RegisterFile::Data) found.reset(r);
  return found;
}

RegisterFiles findRegisterFiles(const Module& module, const Function& function, const Cfg& cfg,
                                const DominatorTree& dominators) {
  RegisterFiles files(function);
  files.moveToUniform(UniformFinder(module, function, cfg, dominators).run());
  return files;
}

}  // namespace ptxopt
