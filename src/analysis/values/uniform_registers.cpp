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
      : module_(module),
        f_(function),
        cfg_(cfg),
        dominators_(dominators),
        definition_(function.registers.size()),
        order_(function.registers.size()),
        states_(function.registers.size(), State::Unknown) {}

  BitVector run() {
    findDefinitions();
    BitVector uniform(f_.registers.size());
    for (uint32_t r = 0; r < f_.registers.size(); ++r) {
      settle(RegId(r));
      if (states_[r] == State::Uniform) uniform.set(r);
    }
    return uniform;
  }

 private:
  enum class State : uint8_t {
    Unknown,
    Open,  // being looked at
    Uniform,
    Differs,
  };

  void findDefinitions() {
    uint32_t order = 0;
    for (const InstrId id : f_) {
      ++order;
      for (const Operand& o : f_.operandsOf(f_[id])) {
        if (!o.isRegister() || !o.writes()) continue;
        const bool isFirst = !definition_[o.payload].valid();
        if (!isFirst || o.role != Role::Def) states_[o.payload] = State::Differs;
        definition_[o.payload] = id;
        order_[o.payload] = order;
      }
    }
    for (std::size_t r = 0; r < f_.registers.size(); ++r)
      if (f_.registers[r].isParameter || !definition_[r].valid()) states_[r] = State::Differs;
  }

  // Finds the state of a register, and of those that it is computed from.
  void settle(RegId reg) {
    open(reg);
    while (!work_.empty()) {
      Step& step = work_.back();
      const RegId r = step.reg;
      const Instruction& i = f_[definition_[r.value]];
      const auto operands = f_.operandsOf(i);
      State& state = states_[r.value];
      RegId source;
      for (; state == State::Open && step.next < operands.size(); ++step.next) {
        const Operand& o = operands[step.next];
        if (!o.isRegister()) {
          if (!isUniformSource(module_, f_, o, step.loadsParameter)) state = State::Differs;
        } else if (o.reads()) {
          if (states_[o.payload] == State::Unknown) {
            source = o.reg();
            break;
          }
          // An open one needs this one.
          if (states_[o.payload] != State::Uniform || !isWrittenBefore(o.reg(), r)) state = State::Differs;
        }
      }
      if (source.valid()) {
        open(source);  // then this operand again
        continue;
      }
      if (state == State::Open) state = State::Uniform;
      work_.pop_back();
    }
  }

  void open(RegId r) {
    if (states_[r.value] != State::Unknown) return;
    const Instruction& i = f_[definition_[r.value]];
    const OpcodeForm& form = module_.form(i);
    states_[r.value] = State::Differs;
    if (!i.isInstruction() || i.is(Instruction::Guarded) || !form.knowsOperands()) return;
    const bool loadsParameter = f_.isEntry && isParameterLoad(form);
    const bool loads = loadsParameter || isConstantLoad(form);
    if (form.is(~(loads ? uint32_t{effect::Read} : uint32_t{effect::Pure}))) return;
    states_[r.value] = State::Open;
    work_.push_back({r, 0, loadsParameter});
  }

  // Whether every way to the definition of `r` leads through that of `source`.
  bool isWrittenBefore(RegId source, RegId r) const {
    const BlockId from = cfg_.blockOf(definition_[source.value]), to = cfg_.blockOf(definition_[r.value]);
    return from == to ? order_[source.value] < order_[r.value] : dominators_.dominates(from, to);
  }

  struct Step {
    RegId reg;
    uint32_t next;  // operand of its definition
    bool loadsParameter;
  };

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  const DominatorTree& dominators_;
  std::vector<InstrId> definition_;  // by register, like the others: the last in the text
  std::vector<uint32_t> order_;      // of definitions in the text
  std::vector<State> states_;
  std::vector<Step> work_;  // each needed by the one before
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
  files.moveToUniform(findUniform(module, function, cfg, dominators));
  return files;
}

}  // namespace ptxopt
