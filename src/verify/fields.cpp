#include "verify/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace ptxopt::verify {

namespace {

using FieldSet = std::set<uint32_t>;

// Scalars mostly are sizes: what is larger is the bits of something.
constexpr uint64_t kMostConstant = 1u << 16;

// Taints of one function.
struct State {
  std::vector<FieldSet> registers;         // by RegId
  std::map<uint32_t, FieldSet> variables;  // .param variables of call sequences, by VariableId
  std::map<int64_t, FieldSet> cells;       // the stack frame, by constant offset
  std::vector<bool> isStack;               // by RegId: may hold an address of the stack frame
  // By RegId: the types of the instructions that read and write it, but as an address.
  std::vector<std::map<ScalarType, unsigned>> usedAs;
};

bool merge(FieldSet& into, const FieldSet& from) {
  const std::size_t before = into.size();
  into.insert(from.begin(), from.end());
  return into.size() != before;
}

class Analysis {
 public:
  Analysis(const Module& module, const Function& kernel, const exec::Program& program)
      : module_(module), kernel_(kernel), program_(program) {
    for (const auto& r : program.routines()) {
      State& s = states_[r->function];
      s.registers.resize(r->function->registers.size());
      s.isStack.resize(r->function->registers.size());
      s.usedAs.resize(r->function->registers.size());
    }
  }

  KernelUse run() {
    for (const auto& r : program_.routines()) collectReads(*r->function);
    for (bool changed = true; changed;) {
      changed_ = false;
      for (const auto& r : program_.routines()) propagate(*r->function);
      changed = changed_;
    }
    for (const auto& r : program_.routines()) findAccesses(*r->function);
    return result();
  }

 private:
  uint32_t fieldAt(uint32_t offset, uint32_t bytes, bool isFloat) {
    const auto [at, isNew] = fieldOf_.try_emplace(offset, static_cast<uint32_t>(fields_.size()));
    if (isNew) {
      fields_.emplace_back();
      fields_.back().offset = offset;
      fields_.back().bytes = bytes;
    }
    Field& f = fields_[at->second];
    f.bytes = std::max(f.bytes, bytes);
    f.isFloat = f.isFloat || isFloat;
    return at->second;
  }

  static std::span<const Operand> withoutGuard(const Function& f, const Instruction& i) {
    auto o = f.operandsOf(i);
    if (i.is(Instruction::Guarded)) o = o.subspan(1);
    return o;
  }

  // [variable + constant] or [register + constant] of a memory operand.
  struct Address {
    const Operand* base = nullptr;
    int64_t offset = 0;
    bool simple = true;
  };
  static Address addressOf(std::span<const Operand> operands, std::size_t memory) {
    Address a;
    const std::size_t n = operands[memory].inside();
    if (n == 0) return a;
    a.base = &operands[memory + 1];
    if (n >= 2 && operands[memory + 2].kind == OperandKind::Integer)
      a.offset =
          static_cast<int32_t>(operands[memory + 2].payload) * (operands[memory + 2].join == Join::Minus ? -1 : 1);
    a.simple = n <= 2;
    return a;
  }

  bool isKernelParameter(const Function& f, const Operand& o) const {
    return &f == &kernel_ && o.kind == OperandKind::Variable && f.variables[o.payload].isParameter;
  }

  const exec::KernelParameter* parameterOf(const Function& f, const Operand& o) const {
    const std::string_view name = module_.text(f.variables[o.payload].name);
    for (const auto& p : program_.parameters())
      if (p.name == name) return &p;
    return nullptr;
  }

  void collectReads(const Function& f) {
    State& s = states_[&f];
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      if (!i.isInstruction()) continue;
      const OpcodeForm& form = module_.form(i);
      const std::string_view text = module_.text(form.text);
      const bool compares = text.starts_with("setp") || text.starts_with("min.") || text.starts_with("max.") ||
                            text.starts_with("set.") || text.starts_with("mov.");
      std::size_t inAddress = 0;
      for (const Operand& o : withoutGuard(f, i)) {
        if (compares && o.kind == OperandKind::Integer && o.payload >= 2 && o.payload <= kMostConstant)
          constants_.insert(o.payload);
        if (o.kind == OperandKind::Memory) inAddress = o.inside() + 1;
        if (inAddress > 0) {
          --inAddress;
        } else if (o.isRegister()) {
          if (o.reads()) ++s.usedAs[o.payload][form.sourceType];
          if (o.writes()) ++s.usedAs[o.payload][form.type];
        }
        if (o.kind == OperandKind::SpecialRegister) {
          const std::string_view name = module_.text(NameId(o.payload));
          const bool ofBlock = name.ends_with("tid.y") || name.ends_with("tid.z");
          use_.gridX = use_.gridX || name.ends_with("ctaid.x");
          (ofBlock ? use_.y : use_.gridY) |= name.ends_with(".y");
          (ofBlock ? use_.z : use_.gridZ) |= name.ends_with(".z");
        }
        if (o.kind == OperandKind::Symbol || o.kind == OperandKind::Variable) {
          const Variable* v = o.kind == OperandKind::Variable ? &f.variables[o.payload] : nullptr;
          if (o.kind == OperandKind::Symbol && module_.symbols[o.payload].kind == SymbolKind::Variable)
            v = &module_.variables[module_.symbols[o.payload].index];
          if (v != nullptr && v->declarator.elements == 0 &&
              module_.text(module_.declarationForms[v->form].space) == "shared")
            use_.dynamicShared = true;
        }
      }
      if (text.starts_with("wgmma") || text.find(".shared") != std::string_view::npos) usesShared_ = true;
      if (text.starts_with("bar") || text.starts_with("mbarrier")) use_.barrier = true;
      if (text.starts_with("wgmma")) use_.warpGroup = true;
      if (form.is(effect::Convergent) && !text.starts_with("bar")) use_.warp = true;
    }
  }

  void taint(FieldSet& to, const FieldSet& from) { changed_ = merge(to, from) || changed_; }

  void propagate(const Function& f) {
    State& s = states_[&f];
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      if (!i.isInstruction()) continue;
      const OpcodeForm& form = module_.form(i);
      const std::string_view text = module_.text(form.text);
      const std::string_view base = text.substr(0, text.find('.'));
      const auto o = withoutGuard(f, i);
      if (base == "ld" || base == "st") {
        memory(f, s, base == "ld", form, text, o);
      } else if (form.is(effect::Call)) {
        call(f, s, o);
      } else if (base == "mov" || base == "add" || base == "sub" || base == "cvta" || base == "selp" ||
                 base == "cvt" || base == "shfl" || base == "or" || base == "and") {
        FieldSet all;
        bool stack = false, narrow = false;
        for (const Operand& x : o) {
          if (x.kind == OperandKind::Variable && !isKernelParameter(f, x)) stack = true;
          if (isKernelParameter(f, x)) whole(f, x);
          if (!x.isRegister()) continue;
          if (x.reads()) {
            merge(all, s.registers[x.payload]);
            stack = stack || s.isStack[x.payload];
            if (base == "cvta") viaCvta_.insert(s.registers[x.payload].begin(), s.registers[x.payload].end());
          } else {
            narrow = narrow || info(f.registers[x.payload].type).bits < 64;
          }
        }
        if (narrow) continue;
        for (const Operand& x : o)
          if (x.isRegister() && x.writes()) {
            taint(s.registers[x.payload], all);
            if (stack && !s.isStack[x.payload]) changed_ = s.isStack[x.payload] = true;
          }
      } else if (base == "mad" || base == "fma") {
        // The addend of an address.
        if (o.size() >= 4 && o[0].isRegister() && o[3].isRegister() &&
            info(f.registers[o[0].payload].type).bits == 64)
          taint(s.registers[o[0].payload], s.registers[o[3].payload]);
      }
    }
  }

  // A parameter whose address is taken is read in ways that cannot be seen: as words.
  void whole(const Function& f, const Operand& x) {
    const auto* p = parameterOf(f, x);
    if (p == nullptr) return;
    const uint32_t word = std::min<uint32_t>(p->place.bytes, p->place.alignment >= 8 ? 8 : 4);
    for (uint32_t at = 0; at + word <= p->place.bytes; at += word) {
      const uint32_t offset = p->place.offset + at;
      if (!fieldOf_.contains(offset)) {
        const uint32_t field = fieldAt(offset, word, false);
        if (word == 8) maybe_.insert(field);
      }
    }
  }

  void memory(const Function& f, State& s, bool isLoad, const OpcodeForm& form, std::string_view text,
              std::span<const Operand> o) {
    std::size_t at = 0;
    while (at < o.size() && o[at].kind != OperandKind::Memory) ++at;
    if (at == o.size()) return;
    const Address a = addressOf(o, at);
    if (a.base == nullptr) return;
    // The registers that are loaded or stored, in order.
    std::vector<const Operand*> values;
    for (std::size_t k = 0; k < o.size(); ++k) {
      if (k == at) {
        k += o[k].inside();
        continue;
      }
      if (o[k].isRegister()) values.push_back(&o[k]);
    }
    const uint32_t bytes = std::max(1u, info(form.type).bits / 8);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const int64_t offset = a.offset + static_cast<int64_t>(k * bytes);
      const Operand& value = *values[k];
      if (isLoad && isKernelParameter(f, *a.base)) {
        const auto* p = parameterOf(f, *a.base);
        if (p == nullptr) continue;
        const bool isFloat =
            form.type == ScalarType::f32 || form.type == ScalarType::f64 || isUsedAsFloat(s, value.payload);
        const uint32_t field = fieldAt(p->place.offset + static_cast<uint32_t>(offset), bytes, isFloat);
        if (bytes == 8) taint(s.registers[value.payload], {field});
      } else if (a.base->kind == OperandKind::Variable) {
        FieldSet& cell =
            text.find(".local") == std::string_view::npos ? s.variables[a.base->payload] : s.cells[offset];
        if (isLoad)
          taint(s.registers[value.payload], cell);
        else
          taint(cell, s.registers[value.payload]);
      } else if (a.base->isRegister() && s.isStack[a.base->payload]) {
        if (isLoad)
          taint(s.registers[value.payload], s.cells[offset]);
        else
          taint(s.cells[offset], s.registers[value.payload]);
      }
    }
  }

  void call(const Function& f, State& s, std::span<const Operand> o) {
    const Function* callee = nullptr;
    std::size_t at = 0;
    std::vector<const Operand*> results, arguments;
    const auto list = [&](std::vector<const Operand*>& out) {
      const std::size_t end = at + 1 + o[at].inside();
      for (++at; at < end; ++at) out.push_back(&o[at]);
    };
    if (at < o.size() && o[at].kind == OperandKind::Paren) list(results);
    if (at < o.size() && o[at].kind == OperandKind::Symbol &&
        module_.symbols[o[at].payload].kind == SymbolKind::Function)
      callee = &module_.functions[module_.symbols[o[at].payload].index];
    ++at;
    if (at < o.size() && o[at].kind == OperandKind::Paren) list(arguments);
    std::vector<const Function*> callees;
    if (callee != nullptr && states_.contains(callee)) callees = {callee};
    if (callee == nullptr)
      for (const auto& r : program_.routines())
        if (!r->function->isEntry) callees.push_back(r->function);
    const auto of = [&](const Operand& x) -> FieldSet* {
      if (x.isRegister()) return &s.registers[x.payload];
      if (x.kind == OperandKind::Variable) return &s.variables[x.payload];
      return nullptr;
    };
    for (const Function* c : callees) {
      State& t = states_[c];
      for (std::size_t k = 0; k < arguments.size() && k < c->parameters.size(); ++k)
        if (FieldSet* x = of(*arguments[k])) taint(t.variables[c->parameters[k].value], *x);
      for (std::size_t k = 0; k < results.size() && k < c->returns.size(); ++k)
        if (FieldSet* x = of(*results[k])) taint(*x, t.variables[c->returns[k].value]);
    }
    (void)f;
  }

  static bool isUsedAsFloat(const State& s, uint32_t reg) {
    const auto& types = s.usedAs[reg];
    return types.contains(ScalarType::f32) || types.contains(ScalarType::f64);
  }

  void findAccesses(const Function& f) {
    const State& s = states_[&f];
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      if (!i.isInstruction()) continue;
      const OpcodeForm& form = module_.form(i);
      const auto o = withoutGuard(f, i);
      for (std::size_t k = 0; k < o.size(); ++k) {
        if (o[k].kind != OperandKind::Memory) continue;
        const Address a = addressOf(o, k);
        if (a.base == nullptr || !a.base->isRegister()) continue;
        const FieldSet& from = s.registers[a.base->payload];
        ScalarType element = form.type;
        for (const Operand& x : o)
          if (x.isRegister() && &x != a.base)
            for (const ScalarType type : {ScalarType::f64, ScalarType::f32, ScalarType::f16x2, ScalarType::bf16x2,
                                          ScalarType::f16, ScalarType::bf16})
              if (info(element).bits == info(type).bits && s.usedAs[x.payload].contains(type)) element = type;
        for (const uint32_t field : from) {
          ++elements_[field][element];
          (from.size() == 1 || viaCvta_.contains(field) ? sure_ : maybe_).insert(field);
        }
      }
    }
  }

  KernelUse result() {
    // Parameters that nothing reads still need a value.
    for (const auto& p : program_.parameters()) {
      bool any = false;
      for (const Field& x : fields_)
        any = any || (x.offset >= p.place.offset && x.offset < p.place.offset + p.place.bytes);
      if (!any && !p.isArray) {
        const uint32_t field =
            fieldAt(p.place.offset, p.place.bytes, p.type == ScalarType::f32 || p.type == ScalarType::f64);
        if (p.isPointer) sure_.insert(field);
      }
    }
    KernelUse use;
    use.shape = use_;
    use.shape.bareShared = usesShared_ && !use_.dynamicShared && program_.staticShared() == 0;
    use.constants.assign(constants_.begin(), constants_.end());
    for (uint32_t k = 0; k < fields_.size(); ++k) {
      Field& x = fields_[k];
      x.use = sure_.contains(k)    ? Field::Use::Pointer
              : maybe_.contains(k) ? Field::Use::MaybePointer
                                   : Field::Use::Scalar;
      unsigned most = 0;
      for (const auto& [type, count] : elements_[k])
        if (count > most) {
          most = count;
          x.element = type;
        }
      for (const auto& p : program_.parameters())
        if (x.offset >= p.place.offset && x.offset < p.place.offset + p.place.bytes) {
          x.parameter = p.isArray ? fmt::format("{}+{}", p.name, x.offset - p.place.offset) : p.name;
          x.isFloat = x.isFloat || p.type == ScalarType::f32 || p.type == ScalarType::f64;
        }
      use.fields.push_back(x);
    }
    std::sort(use.fields.begin(), use.fields.end(),
              [](const Field& a, const Field& b) { return a.offset < b.offset; });
    return use;
  }

  const Module& module_;
  const Function& kernel_;
  const exec::Program& program_;
  std::map<const Function*, State> states_;
  std::vector<Field> fields_;
  std::map<uint32_t, uint32_t> fieldOf_;  // by offset
  std::map<uint32_t, std::map<ScalarType, unsigned>> elements_;
  std::set<uint32_t> sure_, maybe_, viaCvta_;
  ShapeUse use_;
  std::set<uint64_t> constants_;
  bool usesShared_ = false;
  bool changed_ = false;
};

}  // namespace

KernelUse findUse(const Module& module, const Function& kernel, const exec::Program& program) {
  return Analysis(module, kernel, program).run();
}

}  // namespace ptxopt::verify
