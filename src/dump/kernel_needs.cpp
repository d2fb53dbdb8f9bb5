#include "dump/kernel_needs.h"

#include <algorithm>
#include <set>
#include <vector>

namespace ptxopt {
namespace {

class SharedMemory {
 public:
  explicit SharedMemory(const Module& module) : module_(module) {}

  void addFunction(const Function& first) {
    std::vector<const Function*> work{&first};
    while (!work.empty()) {
      const Function& f = *work.back();
      work.pop_back();
      if (!functions_.insert(&f).second) continue;
      for (const Variable& v : f.variables) add(v);
      for (const InstrId id : f)
        for (const Operand& o : f.operandsOf(f[id]))
          if (o.kind == OperandKind::Symbol) follow(module_.symbols[o.payload], work);
    }
  }
  uint64_t bytes() const { return bytes_; }

 private:
  void follow(const Symbol& symbol, std::vector<const Function*>& work) {
    if (symbol.kind == SymbolKind::Variable) {
      if (variables_.insert(symbol.index).second) add(module_.variables[symbol.index]);
    } else if (symbol.kind == SymbolKind::Function) {
      // A prototype may stand before the function itself, or behind it.
      for (const Function& f : module_.functions)
        if (f.name == symbol.name && f.hasBody) work.push_back(&f);
    }
  }

  void add(const Variable& v) {
    const DeclarationForm& form = module_.declarationForms[v.form];
    if (!form.space.valid() || form.isExtern || !module_.text(form.space).starts_with("shared")) return;
    const uint64_t element = std::max<uint64_t>(info(form.type).bits / 8, 1) * form.lanes;
    const uint64_t unit = std::max<uint64_t>(form.alignment, element);
    bytes_ = (bytes_ + unit - 1) / unit * unit + element * v.declarator.elements;
  }

  const Module& module_;
  std::set<const Function*> functions_;
  std::set<uint32_t> variables_;
  uint64_t bytes_ = 0;
};

}  // namespace

KernelNeeds kernelNeeds(const Module& module, const Function& kernel) {
  KernelNeeds needs;
  for (const FunctionDirective& d : kernel.directives) {
    const std::string_view name = module.text(d.name);
    if (d.valueCount == 0) continue;
    if (name == ".reqntid" || (name == ".maxntid" && !needs.threadsAreExact)) {
      uint64_t threads = 1;
      for (uint32_t i = 0; i < d.valueCount; ++i) threads = std::min<uint64_t>(threads * d.values[i], UINT32_MAX);
      needs.threads = static_cast<uint32_t>(threads);
      needs.threadsAreExact = name == ".reqntid";
    } else if (name == ".maxnreg") {
      needs.mostRegisters = d.values[0];
    } else if (name == ".minnctapersm") {
      needs.leastBlocks = d.values[0];
    }
  }
  SharedMemory shared(module);
  shared.addFunction(kernel);
  needs.sharedBytes = shared.bytes();
  return needs;
}

}  // namespace ptxopt
