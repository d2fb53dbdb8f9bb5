#include "verify/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "verify/field_sets.h"

namespace ptxopt::verify {

namespace {

// Pointers behind pointers behind pointers ...: beyond this they count as leading to their own kind.
constexpr unsigned kMostDepth = 4;
// Pointers that loads may bring: where more seem to be, numbers are taken for pointers, and no load is followed.
constexpr std::size_t kMostLoaded = 256;

// Scalars mostly are sizes: what is larger is the bits of something.
constexpr uint64_t kMostConstant = 1u << 16;

// Taints of one function.
struct State {
  std::vector<FieldSet> registers;         // by RegId
  std::map<uint32_t, FieldSet> variables;  // .param variables of call sequences, by VariableId
  std::map<int64_t, FieldSet> cells;       // the stack frame, by constant offset
  std::vector<uint64_t> multiples;         // by RegId: all its values are multiples of this; 0: it has none yet
  std::vector<bool> isStack;               // by RegId: may hold an address of the stack frame
  // By RegId: the types of the instructions that read and write it, but as an address.
  std::vector<std::map<ScalarType, unsigned>> usedAs;
};

class Analysis {
 public:
  Analysis(const Module& module, const Function& kernel, const exec::Program& program, bool followsLoads)
      : module_(module), kernel_(kernel), program_(program), followsLoads_(followsLoads) {
    for (const auto& r : program.routines()) {
      State& s = states_[r->function];
      s.registers.resize(r->function->registers.size());
      s.isStack.resize(r->function->registers.size());
      s.usedAs.resize(r->function->registers.size());
      s.multiples.resize(r->function->registers.size());
    }
  }

  // Nothing where loads seem to bring too many pointers.
  std::optional<KernelUse> run() {
    for (const auto& r : program_.routines()) collectReads(*r->function);
    for (bool changed = true; changed;) {
      changed_ = false;
      for (const auto& r : program_.routines()) propagate(*r->function);
      changed = changed_;
      if (loadedOf_.size() > kMostLoaded) return std::nullopt;
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

  // What all values of an operand are multiples of; 0: of everything, as far as is known yet.
  static uint64_t multipleOf(const State& s, const Operand& o) {
    if (o.kind == OperandKind::Integer) return o.payload;
    return o.isRegister() ? s.multiples[o.payload] : 1;
  }

  // Strides come from the factors in an index.
  void multiples(State& s, std::string_view base, std::span<const Operand> o) {
    if (o.empty() || !o[0].isRegister() || !o[0].writes()) return;
    uint64_t m = 1;
    const auto of = [&](std::size_t k) { return k < o.size() ? multipleOf(s, o[k]) : 1; };
    if (o.size() == 2 && (base == "mov" || base == "cvt")) {
      m = of(1);
    } else if (o.size() == 3 && (base == "add" || base == "sub" || base == "or")) {
      m = std::gcd(of(1), of(2));
    } else if (o.size() == 3 && base == "mul") {
      m = std::min(of(1) * of(2), kMostConstant);
    } else if (o.size() == 3 && base == "shl") {
      m = o[2].kind == OperandKind::Integer && o[2].payload < 16 ? of(1) << o[2].payload : 1;
    } else if (o.size() == 4 && (base == "mad" || base == "fma")) {
      m = std::gcd(std::min(of(1) * of(2), kMostConstant), of(3));
    } else if (o.size() == 3 && base == "and") {
      m = o[2].kind == OperandKind::Integer && o[2].payload != 0 ? o[2].payload & (~o[2].payload + 1) : 1;
    }
    uint64_t& known = s.multiples[o[0].payload];
    const uint64_t all = std::gcd(known, m);
    changed_ = changed_ || all != known;
    known = all;
  }

  // A variable of the module that an operand names, or nullptr: those that kernels share with the host. What the module
  // itself puts into one, such as the addresses of functions, stays there.
  const Variable* sharedVariable(const Operand& o) const {
    if (o.kind != OperandKind::Symbol || module_.symbols[o.payload].kind != SymbolKind::Variable) return nullptr;
    const Variable& v = module_.variables[module_.symbols[o.payload].index];
    if (!v.declarator.initializer.empty()) return nullptr;
    const std::string_view space = module_.text(module_.declarationForms[v.form].space);
    return space == "global" || space == "const" ? &v : nullptr;
  }

  // Constants without values are what the host gives.
  bool isFilledByHost(const Variable& v) const {
    return v.declarator.initializer.empty() && module_.text(module_.declarationForms[v.form].space) == "const";
  }

  uint32_t variableField(const Variable& v) {
    const auto [at, isNew] = variableOf_.try_emplace(&v, static_cast<uint32_t>(fields_.size()));
    if (isNew) {
      fields_.emplace_back();
      fields_.back().place = Field::Place::Variable;
      fields_.back().bytes = 0;
      fields_.back().parameter = module_.text(v.name);
    }
    return at->second;
  }

  // The pointer that element `k` of a load brings from the memory of a field: one for each load, or the one that the
  // field itself rests on, for this is how lists are followed.
  uint32_t loadedField(const Instruction& i, std::size_t k, uint32_t holder) {
    unsigned depth = 0;
    for (uint32_t f = holder; fields_[f].place == Field::Place::Memory; f = origins_[f].holder) {
      if (origins_[f].load == &i && origins_[f].element == k) return f;
      if (++depth == kMostDepth) return f;
    }
    const auto [at, isNew] = loadedOf_.try_emplace({&i, k, holder}, static_cast<uint32_t>(fields_.size()));
    if (isNew) {
      fields_.emplace_back();
      fields_.back().place = Field::Place::Memory;
      fields_.back().bytes = 8;
      origins_[at->second] = {&i, k, holder};
    }
    return at->second;
  }

  void propagate(const Function& f) {
    State& s = states_[&f];
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      if (!i.isInstruction()) continue;
      const OpcodeForm& form = module_.form(i);
      const std::string_view text = module_.text(form.text);
      const std::string_view base = text.substr(0, text.find('.'));
      const auto o = withoutGuard(f, i);
      multiples(s, base, o);
      if (base == "ld" || base == "ldu" || base == "st") {
        memory(f, s, i, base != "st", form, text, o);
      } else if (form.is(effect::Call)) {
        call(f, s, o);
      } else if (base == "mov" || base == "add" || base == "sub" || base == "cvta" || base == "selp" ||
                 base == "cvt" || base == "shfl" || base == "or" || base == "and") {
        FieldSet all;
        bool stack = false, narrow = false;
        const bool adds = base == "add" || base == "sub" || base == "or" || base == "and";
        for (const Operand& x : o) {
          if (x.kind == OperandKind::Variable && !isKernelParameter(f, x)) stack = true;
          if (isKernelParameter(f, x)) whole(f, x);
          if (const Variable* v = sharedVariable(x)) merge(all, {{variableField(*v), {}}});
          if (!x.isRegister()) continue;
          if (x.reads()) {
            merge(all, adds ? sum(s, base, o, x) : s.registers[x.payload]);
            stack = stack || s.isStack[x.payload];
            if (base == "cvta")
              for (const auto& [field, spot] : s.registers[x.payload]) viaCvta_.insert(field);
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
          taint(s.registers[o[0].payload],
                moved(s.registers[o[3].payload], 0, multipleOf(s, o[1]) * multipleOf(s, o[2])));
      }
    }
  }

  // The fields of one term of a sum, moved by the others.
  static FieldSet sum(const State& s, std::string_view base, std::span<const Operand> o, const Operand& term) {
    FieldSet result = s.registers[term.payload];
    for (const Operand& x : o) {
      if (&x == &term || (x.isRegister() && !x.reads())) continue;
      if (x.kind == OperandKind::Integer && base != "and") {
        const auto by = static_cast<int64_t>(static_cast<int32_t>(x.payload));
        result = moved(result, base == "sub" ? -by : by, 0);
      } else {
        result = moved(result, 0, base == "and" ? 1 : multipleOf(s, x));
        if (x.isRegister() && !s.registers[x.payload].empty())
          for (auto& [field, spot] : result) spot.isTerm = true;
      }
    }
    return result;
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

  void memory(const Function& f, State& s, const Instruction& i, bool isLoad, const OpcodeForm& form,
              std::string_view text, std::span<const Operand> o) {
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
        if (bytes == 8) taint(s.registers[value.payload], {{field, {}}});
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
      } else if (const Variable* v = sharedVariable(*a.base); v != nullptr && isLoad && bytes == 8) {
        load(s, i, k, value, {{variableField(*v), {offset, 0}}});
      } else if (a.base->isRegister() && isLoad && bytes == 8) {
        load(s, i, k, value, moved(s.registers[a.base->payload], offset, 0));
      }
    }
  }

  // What a load of 8 bytes brings may be a pointer.
  void load(State& s, const Instruction& i, std::size_t k, const Operand& value, const FieldSet& from) {
    if (!followsLoads_) return;
    for (const auto& [holder, spot] : from) {
      if (loadedOf_.size() > kMostLoaded) return;
      const uint32_t field = loadedField(i, k, holder);
      const auto [known, isNew] = spots_.try_emplace({holder, field}, spot);
      if (!isNew) known->second = together(known->second, spot);
      taint(s.registers[value.payload], {{field, {}}});
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
        if (a.base == nullptr || image(s, form, *a.base)) continue;
        const Variable* const variable = sharedVariable(*a.base);
        if (variable == nullptr && !a.base->isRegister()) continue;
        const FieldSet from =
            variable != nullptr ? FieldSet{{variableField(*variable), {}}} : s.registers[a.base->payload];
        ScalarType element = form.type;
        for (const Operand& x : o)
          if (x.isRegister() && &x != a.base)
            for (const ScalarType type : {ScalarType::f64, ScalarType::f32, ScalarType::f16x2, ScalarType::bf16x2,
                                          ScalarType::f16, ScalarType::bf16})
              if (info(element).bits == info(type).bits && s.usedAs[x.payload].contains(type)) element = type;
        for (const auto& [field, spot] : from) {
          ++elements_[field][element];
          (isBase(from, field) ? sure_ : maybe_).insert(field);
        }
      }
    }
  }

  // Whether of all that an address rests on the field is what points: no term of a sum, or the only one that is not
  // loaded (what is loaded and added is an offset), or through cvta.
  bool isBase(const FieldSet& from, uint32_t field) const {
    const auto isLoaded = [&](uint32_t f) { return fields_[f].place == Field::Place::Memory; };
    const auto others = std::count_if(from.begin(), from.end(), [&](const auto& x) { return !isLoaded(x.first); });
    return viaCvta_.contains(field) || !from.at(field).isTerm || (!isLoaded(field) && others == 1);
  }

  // Whether it is an access to a texture or surface, which is then noted.
  bool image(const State& s, const OpcodeForm& form, const Operand& base) {
    const std::string_view text = module_.text(form.text), name = text.substr(0, text.find('.'));
    const bool isTexture = name == "tex" || name == "tld4" || name == "txq";
    if (!isTexture && name != "suld" && name != "sust" && name != "sured" && name != "suq") return false;
    Image image;
    image.kind = isTexture ? Image::Kind::Texture : Image::Kind::Surface;
    const auto has = [&](const char* modifier) { return text.find(modifier) != std::string_view::npos; };
    image.isArray = has(".a1d") || has(".a2d") || has(".acube");
    image.isCube = has("cube");
    image.dimensions = has("1d") ? 1 : has(".3d") ? 3 : 2;
    image.type = isTexture && (form.type == ScalarType::s32 || form.type == ScalarType::u32) ? form.type
                 : isTexture                                                                 ? ScalarType::f32
                                                                                             : ScalarType::u32;
    image.byTexels = isTexture && form.sourceType == ScalarType::s32;
    const bool isQuery = name == "txq" || name == "suq";
    const auto note = [&](Image one) {
      const auto same = [&](const Image& x) { return x.variable == one.variable && x.field == one.field; };
      const auto known = std::find_if(images_.begin(), images_.end(), same);
      if (known == images_.end())
        images_.push_back(std::move(one));
      else if (!isQuery)
        *known = std::move(one);
    };
    if (base.kind == OperandKind::Symbol) {
      image.variable = module_.text(module_.symbols[base.payload].name);
      note(image);
    } else if (base.isRegister()) {
      for (const auto& [field, spot] : s.registers[base.payload])
        if (fields_[field].place == Field::Place::Parameter) {
          image.field = field;
          handles_.insert(field);
          note(image);
        }
    }
    return true;
  }

  // Loads of one place of a holder bring the same pointer: by field the one that stands for it.
  std::vector<uint32_t> joinSlots(std::vector<Slot>& slots) {
    std::vector<uint32_t> same(fields_.size());
    for (uint32_t k = 0; k < same.size(); ++k) same[k] = k;
    const auto of = [&](uint32_t k) {
      while (same[k] != k) k = same[k];
      return k;
    };
    for (const auto& [pair, spot] : spots_) {
      const auto& [holder, target] = pair;
      if (!sure_.contains(target)) continue;
      Slot slot{holder, target, spot.at, spot.stride};
      // Accesses at any byte are to an array of pointers.
      if (slot.stride != 0 && slot.stride % 8 != 0) slot.stride = 8, slot.at = 0;
      slots.push_back(slot);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t x = 0; x < slots.size(); ++x)
        for (std::size_t y = x + 1; y < slots.size(); ++y) {
          Slot &a = slots[x], &b = slots[y];
          const uint64_t g = std::gcd(a.stride, b.stride);
          const auto apart = static_cast<uint64_t>(a.at < b.at ? b.at - a.at : a.at - b.at);
          if (of(a.holder) != of(b.holder) || (g == 0 ? apart != 0 : apart % g != 0)) continue;
          const uint32_t first = std::min(of(a.target), of(b.target)), last = std::max(of(a.target), of(b.target));
          same[last] = first;
          for (const auto& [type, count] : elements_[last]) elements_[first][type] += first == last ? 0 : count;
          const Spot all = together({a.at, a.stride}, {b.at, b.stride});
          a.at = all.at;
          a.stride = all.stride;
          slots.erase(slots.begin() + static_cast<std::ptrdiff_t>(y));
          changed = true;
          --y;
        }
    }
    for (uint32_t k = 0; k < same.size(); ++k) same[k] = of(k);
    for (Slot& slot : slots) slot.holder = same[slot.holder], slot.target = same[slot.target];
    return same;
  }

  KernelUse result() {
    // Parameters that nothing reads still need a value.
    for (const auto& p : program_.parameters()) {
      bool any = false;
      for (const Field& x : fields_)
        any = any || (x.place == Field::Place::Parameter && x.offset >= p.place.offset &&
                      x.offset < p.place.offset + p.place.bytes);
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
    const std::vector<uint32_t> same = joinSlots(use.slots);
    for (uint32_t k = 0; k < fields_.size(); ++k) describe(k);
    // Those in parameters by offset, then what slots need, holders first.
    std::vector<uint32_t> order;
    for (uint32_t k = 0; k < fields_.size(); ++k)
      if (fields_[k].place == Field::Place::Parameter) order.push_back(k);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return fields_[a].offset < fields_[b].offset; });
    std::set<uint32_t> needed;
    for (const Slot& slot : use.slots) needed.insert({slot.holder, slot.target});
    for (const auto& [variable, field] : variableOf_)
      if (isFilledByHost(*variable)) needed.insert(field);
    for (const uint32_t k : needed)
      if (fields_[k].place != Field::Place::Parameter) order.push_back(k);
    std::map<uint32_t, uint32_t> numberOf;
    for (const uint32_t k : order) {
      numberOf[k] = static_cast<uint32_t>(use.fields.size());
      use.fields.push_back(fields_[k]);
    }
    for (Slot& slot : use.slots) {
      slot.holder = numberOf[slot.holder];
      slot.target = numberOf[slot.target];
      Field& target = use.fields[slot.target];
      if (target.place == Field::Place::Memory && target.parameter.empty())
        target.parameter = fmt::format("*({}{:+}{})", use.fields[slot.holder].parameter, slot.at,
                                       slot.stride == 0 ? "" : fmt::format("+{}k", slot.stride));
    }
    use.images = images_;
    for (Image& image : use.images) image.field = image.variable.empty() ? numberOf[image.field] : 0;
    return use;
  }

  void describe(uint32_t k) {
    Field& x = fields_[k];
    x.use = handles_.contains(k) ? Field::Use::Handle
            : sure_.contains(k)  ? Field::Use::Pointer
            : maybe_.contains(k) ? Field::Use::MaybePointer
                                 : Field::Use::Scalar;
    unsigned most = 0;
    for (const auto& [type, count] : elements_[k])
      if (count > most) {
        most = count;
        x.element = type;
      }
    if (x.place == Field::Place::Variable) x.use = Field::Use::Pointer;
    if (x.place != Field::Place::Parameter) return;
    for (const auto& p : program_.parameters())
      if (x.offset >= p.place.offset && x.offset < p.place.offset + p.place.bytes) {
        x.parameter = p.isArray ? fmt::format("{}+{}", p.name, x.offset - p.place.offset) : p.name;
        x.isFloat = x.isFloat || p.type == ScalarType::f32 || p.type == ScalarType::f64;
      }
  }

  // Where a pointer in memory comes from: the load, the element of its vector, and the field behind which it lies.
  struct Origin {
    const Instruction* load = nullptr;
    std::size_t element = 0;
    uint32_t holder = 0;
  };
  const Module& module_;
  const Function& kernel_;
  const exec::Program& program_;
  const bool followsLoads_;
  std::map<const Function*, State> states_;
  std::vector<Field> fields_;
  std::map<uint32_t, uint32_t> fieldOf_;  // by offset
  std::map<const Variable*, uint32_t> variableOf_;
  std::map<std::tuple<const Instruction*, std::size_t, uint32_t>, uint32_t> loadedOf_;
  std::map<uint32_t, Origin> origins_;
  std::map<std::pair<uint32_t, uint32_t>, Spot> spots_;  // by holder and target
  std::vector<Image> images_;
  std::set<uint32_t> handles_;
  std::map<uint32_t, std::map<ScalarType, unsigned>> elements_;
  std::set<uint32_t> sure_, maybe_, viaCvta_;
  ShapeUse use_;
  std::set<uint64_t> constants_;
  bool usesShared_ = false;
  bool changed_ = false;
};

}  // namespace

KernelUse findUse(const Module& module, const Function& kernel, const exec::Program& program) {
  if (auto use = Analysis(module, kernel, program, true).run()) return *std::move(use);
  return Analysis(module, kernel, program, false).run().value();
}

}  // namespace ptxopt::verify
