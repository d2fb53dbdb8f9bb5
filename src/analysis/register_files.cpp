#include "analysis/register_files.h"

#include <algorithm>

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
  const std::string_view space = module.text(module.declarationForms[variable.form].space);
  return space == "global" || space == "shared" || space == "const";
}

class UniformFinder {
 public:
  UniformFinder(const Module& module, const Function& function)
      : module_(module), f_(function), uniform_(function.registers.size()) {}

  BitVector run() {
    countDefinitions();
    for (const InstrId id : f_)
      if (const Instruction& i = f_[id]; i.isInstruction() && isUniform(i)) mark(i);
    return std::move(uniform_);
  }

 private:
  void countDefinitions() {
    definitions_.resize(f_.registers.size());
    for (const InstrId id : f_)
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister() && o.writes() && definitions_[o.payload] < 2) ++definitions_[o.payload];
    for (const RegId reg : f_.returnRegisters) definitions_[reg.value] = 2;
    for (std::size_t r = 0; r < definitions_.size(); ++r)
      if (f_.registers[r].isParameter) definitions_[r] = 2;
  }

  // Whether all threads that execute the instruction, whenever they do, get the same results.
  bool isUniform(const Instruction& i) const {
    if (i.is(Instruction::Guarded)) return false;
    const OpcodeForm& form = module_.form(i);
    if (form.row == nullptr || !form.knowsOperands()) return false;
    const std::string_view opcode = module_.text(form.text);
    const bool loadsParameter = f_.isEntry && opcode.starts_with("ld.param");
    const bool loads = loadsParameter || opcode.starts_with("ld.const");
    if (form.is(~(loads ? uint32_t{effect::Read} : uint32_t{effect::Pure}))) return false;
    for (const Operand& o : f_.operandsOf(i))
      if (!isUniformSource(o, loadsParameter)) return false;
    return true;
  }

  bool isUniformSource(const Operand& o, bool loadsParameter) const {
    switch (o.kind) {
      case OperandKind::Register: return o.role == Role::Def || (o.role == Role::Use && uniform_.test(o.payload));
      case OperandKind::SpecialRegister: return isUniformSpecial(module_.text(NameId(o.payload)));
      case OperandKind::Variable: {
        const Variable& variable = f_.variables[o.payload];
        return variable.isParameter ? loadsParameter : hasUniformAddress(module_, variable);
      }
      case OperandKind::Symbol: {
        const Symbol& symbol = module_.symbols[o.payload];
        return symbol.kind == SymbolKind::Variable && hasUniformAddress(module_, module_.variables[symbol.index]);
      }
      case OperandKind::Label: return false;
      default: return true;  // immediates, groups, selectors
    }
  }

  void mark(const Instruction& i) {
    for (const Operand& o : f_.operandsOf(i))
      if (o.isRegister() && o.role == Role::Def && definitions_[o.payload] == 1) uniform_.set(o.payload);
  }

  const Module& module_;
  const Function& f_;
  BitVector uniform_;
  std::vector<uint8_t> definitions_;  // up to 2
};

}  // namespace

std::string_view name(RegisterFile file) {
  switch (file) {
    case RegisterFile::Data: return "data";
    case RegisterFile::Predicate: return "predicate";
    case RegisterFile::Uniform: return "uniform";
  }
  return {};
}

RegisterFiles::RegisterFiles(const Function& function) {
  files_.reserve(function.registers.size());
  for (const Register& r : function.registers) {
    const RegisterClass c = r.registerClass();
    const bool isPredicate = c == RegisterClass::Pred || c == RegisterClass::Carry;
    files_.push_back(isPredicate ? RegisterFile::Predicate : RegisterFile::Data);
  }
  // Whatever type the flag's entry has.
  if (!files_.empty()) files_[Function::kCarry.value] = RegisterFile::Predicate;
}

void RegisterFiles::moveToUniform(const BitVector& registers) {
  registers.forEach([&](std::size_t r) {
    if (files_[r] == RegisterFile::Data) files_[r] = RegisterFile::Uniform;
  });
}

BitVector findUniform(const Module& module, const Function& function) {
  BitVector found = UniformFinder(module, function).run();
  const RegisterFiles files(function);
  for (std::size_t r = 0; r < function.registers.size(); ++r)
    if (files.of(RegId(r)) != RegisterFile::Data) found.reset(r);
  return found;
}

}  // namespace ptxopt
