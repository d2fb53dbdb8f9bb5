// A data-flow analysis to a fixed point over all routines: which parameter, variable or loaded word each register may
// point to, at which offset and stride. Loads are followed until there seem to be too many pointers.
#include <algorithm>
#include <numeric>

#include "verify/field_facts.h"

namespace ptxopt::verify {
namespace {

// Pointers that loads may bring: where more seem to be, numbers are taken for pointers, and no load is followed.
constexpr std::size_t kMostLoaded = 256;

// What all values of an operand are multiples of; 0: of everything, as far as is known yet.
uint64_t multipleOf(const FunctionFacts& s, const Operand& o) {
  if (o.kind == OperandKind::Integer) return o.payload;
  return o.isRegister() ? s.multiples[o.payload] : 1;
}

uint64_t multipleOfResult(const FunctionFacts& s, Op op, std::span<const Operand> o) {
  const auto of = [&](std::size_t k) { return multipleOf(s, o[k]); };
  const auto product = [&] { return std::min(of(1) * of(2), kMostConstant); };
  if (o.size() == 2 && (op == Op::Mov || op == Op::Cvt)) return of(1);
  if (o.size() == 4 && (op == Op::Mad || op == Op::Fma)) return std::gcd(product(), of(3));
  if (o.size() != 3) return 1;
  if (op == Op::Add || op == Op::Sub || op == Op::Or) return std::gcd(of(1), of(2));
  if (op == Op::Mul) return product();
  if (o[2].kind != OperandKind::Integer) return 1;
  if (op == Op::Shl) return o[2].payload < 16 ? of(1) << o[2].payload : 1;
  if (op == Op::And) return o[2].payload != 0 ? o[2].payload & (~o[2].payload + 1) : 1;
  return 1;
}

// The fields of one term of a sum, moved by the others.
FieldSet termOfSum(const FunctionFacts& s, Op op, std::span<const Operand> o, const Operand& term) {
  FieldSet result = s.registers[term.payload];
  for (const Operand& x : o) {
    if (&x == &term || (x.isRegister() && !x.reads())) continue;
    if (x.kind == OperandKind::Integer && op != Op::And) {
      const auto by = static_cast<int64_t>(static_cast<int32_t>(x.payload));
      result = moved(result, op == Op::Sub ? -by : by, 0);
    } else {
      result = moved(result, 0, op == Op::And ? 1 : multipleOf(s, x));
      if (x.isRegister() && !s.registers[x.payload].empty())
        for (auto& [field, spot] : result) spot.isTerm = true;
    }
  }
  return result;
}

bool addsUp(Op op) { return op == Op::Add || op == Op::Sub || op == Op::Or || op == Op::And; }

bool passesPointersOn(Op op) {
  return addsUp(op) || op == Op::Mov || op == Op::Cvta || op == Op::Selp || op == Op::Cvt || op == Op::Shfl;
}

bool isUsedAsFloat(const FunctionFacts& s, uint32_t reg) {
  const auto& types = s.usedAs[reg];
  return types.contains(ScalarType::f32) || types.contains(ScalarType::f64);
}

class Flow {
 public:
  Flow(const FieldContext& context, bool followsLoads, FieldFacts& facts)
      : context_(context), followsLoads_(followsLoads), facts_(facts) {}

  bool run() {
    do {
      changed_ = false;
      for (const auto& r : context_.program.routines()) propagate(*r->function);
      if (facts_.fields.countOfLoaded() > kMostLoaded) return false;
    } while (changed_);
    return true;
  }

 private:
  struct Access {
    const Instruction& instruction;
    const OpcodeForm& form;
    bool isLoad, isLocal;
    FieldAddress address;
    uint32_t bytes;  // of each value
  };

  void taint(FieldSet& to, const FieldSet& from) { changed_ = merge(to, from) || changed_; }

  void propagate(const Function& f) {
    FunctionFacts& s = facts_.functions.at(&f);
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      if (!i.isInstruction()) continue;
      const OpcodeForm& form = context_.module.form(i);
      const auto o = withoutGuard(f, i);
      multiples(s, form.op, o);
      if (form.op == Op::Ld || form.op == Op::Ldu || form.family == Op::St) {
        memory(f, s, i, form.family != Op::St, o);
      } else if (form.is(effect::Call)) {
        call(s, o);
      } else if (passesPointersOn(form.op)) {
        values(f, s, form.op, o);
      } else if (form.op == Op::Mad || form.op == Op::Fma) {
        addend(f, s, o);
      }
    }
  }

  // Strides come from the factors in an index.
  void multiples(FunctionFacts& s, Op op, std::span<const Operand> o) {
    if (o.empty() || !o[0].isRegister() || !o[0].writes()) return;
    uint64_t& known = s.multiples[o[0].payload];
    const uint64_t all = std::gcd(known, multipleOfResult(s, op, o));
    changed_ = changed_ || all != known;
    known = all;
  }

  void values(const Function& f, FunctionFacts& s, Op op, std::span<const Operand> o) {
    FieldSet all;
    bool stack = false, narrow = false;
    for (const Operand& x : o) {
      if (x.kind == OperandKind::Variable && !context_.isKernelParameter(f, x)) stack = true;
      if (context_.isKernelParameter(f, x)) whole(f, x);
      if (const Variable* v = context_.sharedVariable(x)) merge(all, {{variableField(*v), {}}});
      if (!x.isRegister()) continue;
      if (x.reads()) {
        merge(all, addsUp(op) ? termOfSum(s, op, o, x) : s.registers[x.payload]);
        stack = stack || s.isStack[x.payload];
        if (op == Op::Cvta)
          for (const auto& [field, spot] : s.registers[x.payload]) facts_.viaCvta.insert(field);
      } else {
        narrow = narrow || info(f.registers[x.payload].type).bits < 64;
      }
    }
    if (narrow) return;
    for (const Operand& x : o) {
      if (!x.isRegister() || !x.writes()) continue;
      taint(s.registers[x.payload], all);
      if (stack && !s.isStack[x.payload]) changed_ = s.isStack[x.payload] = true;
    }
  }

  // The addend of an address.
  void addend(const Function& f, FunctionFacts& s, std::span<const Operand> o) {
    if (o.size() < 4 || !o[0].isRegister() || !o[3].isRegister()) return;
    if (info(f.registers[o[0].payload].type).bits != 64) return;
    const uint64_t stride = multipleOf(s, o[1]) * multipleOf(s, o[2]);
    taint(s.registers[o[0].payload], moved(s.registers[o[3].payload], 0, stride));
  }

  // A parameter whose address is taken is read in ways that cannot be seen: as words.
  void whole(const Function& f, const Operand& x) {
    const auto* p = context_.parameterOf(f, x);
    if (p == nullptr) return;
    const uint32_t word = std::min<uint32_t>(p->place.bytes, p->place.alignment >= 8 ? 8 : 4);
    for (uint32_t at = 0; at + word <= p->place.bytes; at += word) {
      const uint32_t offset = p->place.offset + at;
      if (facts_.fields.hasAt(offset)) continue;
      const uint32_t field = facts_.fields.inParameters(offset, word, false);
      if (word == 8) facts_.maybe.insert(field);
    }
  }

  void memory(const Function& f, FunctionFacts& s, const Instruction& i, bool isLoad, std::span<const Operand> o) {
    std::size_t at = 0;
    while (at < o.size() && o[at].kind != OperandKind::Memory) ++at;
    if (at == o.size()) return;
    const OpcodeForm& form = context_.module.form(i);
    const Access access{
        i, form, isLoad, form.space == StateSpace::Local, addressOf(o, at), std::max(1u, info(form.type).bits / 8)};
    if (access.address.base == nullptr) return;
    // The registers that are loaded or stored, in order.
    std::size_t number = 0;
    for (std::size_t k = 0; k < o.size(); ++k) {
      if (k == at)
        k += o[k].inside();
      else if (o[k].isRegister())
        element(f, s, access, number++, o[k]);
    }
  }

  // One value of a load or store.
  void element(const Function& f, FunctionFacts& s, const Access& a, std::size_t k, const Operand& value) {
    const Operand& base = *a.address.base;
    const int64_t offset = a.address.offset + static_cast<int64_t>(k * a.bytes);
    FieldSet& reg = s.registers[value.payload];
    const auto cell = [&](FieldSet& place) { a.isLoad ? taint(reg, place) : taint(place, reg); };
    if (a.isLoad && context_.isKernelParameter(f, base)) {
      parameter(f, s, a, offset, value);
    } else if (base.kind == OperandKind::Variable) {
      cell(a.isLocal ? s.cells[offset] : s.variables[base.payload]);
    } else if (base.isRegister() && s.isStack[base.payload]) {
      cell(s.cells[offset]);
    } else if (!a.isLoad || a.bytes != 8) {
      return;
    } else if (const Variable* v = context_.sharedVariable(base)) {
      load(s, a.instruction, k, value, {{variableField(*v), {offset, 0}}});
    } else if (base.isRegister()) {
      load(s, a.instruction, k, value, moved(s.registers[base.payload], offset, 0));
    }
  }

  void parameter(const Function& f, FunctionFacts& s, const Access& a, int64_t offset, const Operand& value) {
    const auto* p = context_.parameterOf(f, *a.address.base);
    if (p == nullptr) return;
    const bool isFloat =
        a.form.type == ScalarType::f32 || a.form.type == ScalarType::f64 || isUsedAsFloat(s, value.payload);
    const uint32_t at = p->place.offset + static_cast<uint32_t>(offset);
    const uint32_t field = facts_.fields.inParameters(at, a.bytes, isFloat);
    if (a.bytes == 8) taint(s.registers[value.payload], {{field, {}}});
  }

  // What a load of 8 bytes brings may be a pointer.
  void load(FunctionFacts& s, const Instruction& i, std::size_t k, const Operand& value, const FieldSet& from) {
    if (!followsLoads_) return;
    for (const auto& [holder, spot] : from) {
      if (facts_.fields.countOfLoaded() > kMostLoaded) return;
      const uint32_t field = facts_.fields.loaded(i, k, holder);
      const auto [known, isNew] = facts_.spots.try_emplace({holder, field}, spot);
      if (!isNew) known->second = together(known->second, spot);
      taint(s.registers[value.payload], {{field, {}}});
    }
  }

  void call(FunctionFacts& s, std::span<const Operand> o) {
    std::size_t at = 0;
    std::vector<const Operand*> results, arguments;
    const auto list = [&](std::vector<const Operand*>& out) {
      if (at >= o.size() || o[at].kind != OperandKind::Paren) return;
      const std::size_t end = at + 1 + o[at].inside();
      for (++at; at < end; ++at) out.push_back(&o[at]);
    };
    list(results);
    const std::vector<const Function*> callees = calleesOf(at < o.size() ? &o[at] : nullptr);
    ++at;
    list(arguments);
    const auto of = [&](const Operand& x) -> FieldSet* {
      if (x.isRegister()) return &s.registers[x.payload];
      if (x.kind == OperandKind::Variable) return &s.variables[x.payload];
      return nullptr;
    };
    for (const Function* c : callees) {
      FunctionFacts& t = facts_.functions.at(c);
      for (std::size_t k = 0; k < arguments.size() && k < c->parameters.size(); ++k)
        if (FieldSet* x = of(*arguments[k])) taint(t.variables[c->parameters[k].value], *x);
      for (std::size_t k = 0; k < results.size() && k < c->returns.size(); ++k)
        if (FieldSet* x = of(*results[k])) taint(*x, t.variables[c->returns[k].value]);
    }
  }

  // The function that is called, if it has a body here; through a register, all that may be.
  std::vector<const Function*> calleesOf(const Operand* o) const {
    const auto& symbols = context_.module.symbols;
    if (o != nullptr && o->kind == OperandKind::Symbol && symbols[o->payload].kind == SymbolKind::Function) {
      const Function* callee = &context_.program.calledFunction(symbols[o->payload]);
      if (!facts_.functions.contains(callee)) return {};
      return {callee};
    }
    std::vector<const Function*> all;
    for (const auto& r : context_.program.routines())
      if (!r->function->isEntry) all.push_back(r->function);
    return all;
  }

  uint32_t variableField(const Variable& v) { return facts_.fields.ofVariable(v, context_.module.text(v.name)); }

  const FieldContext& context_;
  const bool followsLoads_;
  FieldFacts& facts_;
  bool changed_ = false;
};

}  // namespace

bool propagateFields(const FieldContext& context, bool followsLoads, FieldFacts& facts) {
  return Flow(context, followsLoads, facts).run();
}

}  // namespace ptxopt::verify
