// Operands as a Binder gives them: values, destinations, vectors, addresses. The opcode and the rest: binder.cpp.
#include <fmt/format.h>

#include <bit>

#include "exec/binder.h"
#include "exec/constant_expression.h"
#include "exec/machine.h"

namespace ptxopt::exec {

namespace {

// Bytes of a lane of a register.
uint8_t laneBytes(ScalarType type) {
  const unsigned bits = info(type).bits;
  return type == ScalarType::pred ? 0 : static_cast<uint8_t>(bits < 8 ? 1 : bits / 8);
}

// A literal of 64 bits is rounded to where it is used.
uint64_t bitsOf(double value, unsigned bytes) {
  return bytes == 4 ? std::bit_cast<uint32_t>(static_cast<float>(value)) : std::bit_cast<uint64_t>(value);
}

// Those for which ptxas means the number by a floating-point literal; where it lets one pass for another, in a vector, it
// stores something else.
bool takesLiterals(ScalarType t) {
  return t == ScalarType::f32 || t == ScalarType::f64 || t == ScalarType::b32 || t == ScalarType::b64;
}

bool isFloat(ScalarType t) { return t == ScalarType::f16 || t == ScalarType::f32 || t == ScalarType::f64; }

}  // namespace

Arg Binder::registerArg(const Operand& o, std::span<const Operand> rest) {
  const Register& r = function_.registers[o.payload];
  Arg a = routine_.registers[o.payload];
  if (!rest.empty() && rest.front().kind == OperandKind::Selector && r.lanes > 1) {
    const std::string_view s = program_.module().text(NameId(rest.front().payload));
    const std::size_t lane = std::string_view("xyzw").find(s.empty() ? ' ' : s.front());
    const std::size_t other = std::string_view("rgba").find(s.empty() ? ' ' : s.front());
    const std::size_t which = lane != std::string_view::npos ? lane : other;
    if (s.size() != 1 || which >= r.lanes) unsupported(fmt::format("selector .{}", s));
    a.offset += static_cast<uint32_t>(which * a.bytes * kLanes);
  }
  if (o.is(Operand::Not)) a.negated = true;
  return a;
}

Arg Binder::special(std::string_view name, unsigned bytes) {
  if (name.starts_with('%')) name.remove_prefix(1);
  const SpecialRegisterInfo* known = specialRegister(name.substr(0, name.find('.')));
  if (known == nullptr) unsupported(fmt::format("special register %{}", name));
  usesVolatileSpecial_ = usesVolatileSpecial_ || known->isVolatile;
  Arg a;
  a.base = Base::Special;
  a.bytes = static_cast<uint8_t>(bytes);
  for (const SpecialUse& use : program_.specials_) {
    if (use.name != name || use.bytes != bytes) continue;
    a.offset = use.offset;
    return a;
  }
  a.offset = program_.specialBytes_;
  program_.specialBytes_ += std::max(64u, bytes * kLanes);
  program_.specials_.push_back({std::string(name), a.offset, static_cast<uint8_t>(bytes), known->isVolatile});
  return a;
}

// The address of a variable or function as a constant; what lies in the stack frame is not a constant.
Arg Binder::symbolAddress(const Operand& o, int64_t offset, unsigned bytes) {
  uint64_t address = 0;
  const Module& m = program_.module();
  if (o.kind == OperandKind::Symbol) {
    const Symbol& s = m.symbols[o.payload];
    const auto shared = program_.sharedSymbols_.find(o.payload);
    if (shared != program_.sharedSymbols_.end()) {
      address = shared->second;
    } else if (s.kind == SymbolKind::Function) {
      const auto routine = program_.routineOf_.find(&program_.calledFunction(s));
      if (routine == program_.routineOf_.end())
        unsupported(fmt::format("the address of '{}', which has no body", m.text(s.name)));
      address = kCodeWindow + 16 * routine->second->index;
    } else {
      address = machine_.addressOf(SymbolId(o.payload));
      if (address == 0) unsupported(fmt::format("'{}' is defined nowhere", m.text(s.name)));
    }
  } else if (o.kind == OperandKind::Variable) {
    const auto place = program_.variablePlace(function_, o.payload);
    if (!place) unsupported("the address of this variable");
    address = *place;
  } else {
    unsupported("the address of a label as a value");
  }
  return constant(address + static_cast<uint64_t>(offset), static_cast<uint8_t>(bytes));
}

Arg Binder::sourceOf(std::span<const Operand> entries, ScalarType type, bool loose) {
  const Operand& o = entries.front();
  const uint8_t wanted = laneBytes(type);
  const bool single = entries.size() == 1;
  switch (o.kind) {
    case OperandKind::Register: {
      const Arg a = registerArg(o, entries.subspan(1));
      const bool hasSelector = !single && entries[1].kind == OperandKind::Selector;
      if (function_.registers[o.payload].lanes > 1 && !hasSelector)
        unsupported("a vector register where a scalar is wanted");
      if (a.bytes == 0 && wanted != 0) unsupported("a predicate where a number is wanted");
      if (a.bytes != wanted && !(loose && a.bytes > wanted && wanted != 0))
        unsupported(fmt::format("a register of {} bits for a value of {}", a.bytes * 8, info(type).bits));
      if (o.is(Operand::Complement) || (o.is(Operand::Negated) && !allowsMinus_)) unsupported("a negated register");
      if (o.is(Operand::Not) && wanted != 0) unsupported("`!` before a number");
      return single || hasSelector ? a : sum(a, entries);
    }
    case OperandKind::SpecialRegister: {
      const std::string_view text = program_.module().text(NameId(o.payload));
      const Arg a = special(text, wanted);
      return single ? a : sum(a, entries);
    }
    case OperandKind::Float32:
      if (!takesLiterals(type)) unsupported("a floating-point constant for an integer");
      // ptxas takes the bits also where an f64 is wanted.
      if (!single || (wanted != 4 && wanted != 8)) unsupported("a 0f literal here");
      return constant(o.payload, wanted);
    case OperandKind::Float64:
      if (!takesLiterals(type)) unsupported("a floating-point constant for an integer");
      if (!single || (wanted != 4 && wanted != 8)) unsupported("a 0d literal here");
      return constant(bitsOf(std::bit_cast<double>(function_.constants[o.payload]), wanted), wanted);
    case OperandKind::Symbol:
    case OperandKind::Variable:
    case OperandKind::Label: {
      int64_t offset = 0;
      if (!single) {
        Term t{};
        const Join j = entries[1].join;
        if ((j != Join::Plus && j != Join::Minus) || !evaluate(function_, program_.module(), entries.subspan(1), t))
          unsupported("this address expression");
        offset = j == Join::Plus ? t.value : -t.value;
      }
      return symbolAddress(o, offset, wanted);
    }
    default: {
      Term t{};
      if (!evaluateNumber(function_, program_.module(), entries, t)) unsupported("this operand");
      if (t.isDouble) {
        if (!takesLiterals(type)) unsupported("a floating-point constant for an integer");
        if (wanted != 4 && wanted != 8) unsupported("a floating-point constant of this width");
        return constant(bitsOf(t.number, wanted), wanted);
      }
      if (isFloat(type)) {
        // ptxas takes an integer there as the number, not as bits.
        const double value =
            t.isUnsigned ? static_cast<double>(static_cast<uint64_t>(t.value)) : static_cast<double>(t.value);
        if (wanted == 4) return constant(std::bit_cast<uint32_t>(static_cast<float>(value)), 4);
        if (wanted == 8) return constant(std::bit_cast<uint64_t>(value), 8);
        unsupported("an integer constant for an f16");
      }
      if (wanted == 16) {
        Arg a = constant(static_cast<uint64_t>(t.value), 16);
        if (t.value < 0 && !t.isUnsigned) unsupported("a negative 128-bit constant");
        return a;
      }
      return constant(static_cast<uint64_t>(t.value), wanted);
    }
  }
}

Arg Binder::destOf(std::span<const Operand> entries, ScalarType type, bool loose) {
  const Operand& o = entries.front();
  const uint8_t wanted = laneBytes(type);
  if (o.kind == OperandKind::Sink) return sink(wanted);
  if (o.kind != OperandKind::Register) unsupported("this destination");
  const Arg a = registerArg(o, entries.subspan(1));
  const bool hasSelector = entries.size() > 1 && entries[1].kind == OperandKind::Selector;
  if (entries.size() > 1 && !hasSelector) unsupported("this destination");
  if (function_.registers[o.payload].lanes > 1 && !hasSelector)
    unsupported("a vector register where a scalar is wanted");
  if (a.bytes != wanted && !(loose && a.bytes > wanted && wanted != 0))
    unsupported(fmt::format("a destination of {} bits for a value of {}", a.bytes * 8, info(type).bits));
  return a;
}

Arg Binder::source(std::size_t i, ScalarType type) {
  const Arg a = sourceOf(operand(i).entries, type, false);
  append(a);
  return a;
}
Arg Binder::looseSource(std::size_t i, ScalarType type) {
  const Arg a = sourceOf(operand(i).entries, type, true);
  append(a);
  return a;
}
Arg Binder::dest(std::size_t i, ScalarType type) {
  const Arg a = destOf(operand(i).entries, type, false);
  append(a);
  return a;
}
Arg Binder::looseDest(std::size_t i, ScalarType type) {
  const Arg a = destOf(operand(i).entries, type, true);
  append(a);
  return a;
}
Arg Binder::predicate(std::size_t i) { return source(i, ScalarType::pred); }
Arg Binder::predicateDest(std::size_t i) { return dest(i, ScalarType::pred); }

namespace {
std::span<const Operand> half(std::span<const Operand> entries, bool second) {
  std::size_t at = 0;
  while (at < entries.size() && (at == 0 || entries[at].join != Join::Pipe)) at += 1 + entries[at].inside();
  return second ? entries.subspan(at) : entries.first(at);
}
}  // namespace

Arg Binder::pairDest(std::size_t i, ScalarType type) {
  const Arg a = destOf(half(operand(i).entries, false), type, false);
  append(a);
  return a;
}
Arg Binder::pairFirstPredicate(std::size_t i) { return pairDest(i, ScalarType::pred); }
Arg Binder::pairPredicate(std::size_t i) {
  const auto second = half(operand(i).entries, true);
  const Arg a = second.empty() ? sink(0) : destOf(second, ScalarType::pred, false);
  append(a);
  return a;
}

std::vector<Arg> Binder::list(std::size_t i, ScalarType type, bool loose, bool isDest) {
  // `p|q` is a destination; between constants it is the operator.
  const auto entries = isDest ? half(operand(i).entries, false) : operand(i).entries;
  const Operand& o = entries.front();
  std::vector<Arg> result;
  if (o.kind == OperandKind::Vector) {
    for (const auto& run : split(entries.subspan(1, o.inside())))
      result.push_back(isDest ? destOf(run, type, loose) : sourceOf(run, type, loose));
  } else if (o.kind == OperandKind::Register && function_.registers[o.payload].lanes > 1 && entries.size() == 1) {
    const Arg all = routine_.registers[o.payload];
    const uint8_t wanted = laneBytes(type);
    if (all.bytes < wanted || (all.bytes > wanted && !loose)) unsupported("lanes of another width");
    for (unsigned lane = 0; lane < function_.registers[o.payload].lanes; ++lane) {
      Arg one = all;
      one.offset += lane * all.bytes * kLanes;
      result.push_back(one);
    }
  } else {
    result.push_back(isDest ? destOf(entries, type, loose) : sourceOf(entries, type, loose));
  }
  for (const Arg& a : result) append(a);
  return result;
}
std::vector<Arg> Binder::sources(std::size_t i, ScalarType type, bool loose) { return list(i, type, loose, false); }
std::vector<Arg> Binder::dests(std::size_t i, ScalarType type, bool loose) { return list(i, type, loose, true); }

AddressArg Binder::addressOf(std::span<const Operand> entries, Space space) {
  AddressArg result;
  result.space = space;
  const Operand& o = entries.front();
  if (entries.size() > 1) {
    Term t{};
    const Join j = entries[1].join;
    if ((j == Join::Plus || j == Join::Minus) &&
        (o.isRegister() || o.kind == OperandKind::Symbol || o.kind == OperandKind::Variable)) {
      if (!evaluate(function_, program_.module(), entries.subspan(1), t)) unsupported("this address expression");
      result.offset = j == Join::Plus ? t.value : -t.value;
      entries = entries.first(1);
    }
  }
  if (o.isRegister()) {
    result.base = registerArg(o, {});
    if (result.base.bytes != 4 && result.base.bytes != 8) unsupported("an address of this width");
    if (result.base.bytes == 4) result.offset = static_cast<int32_t>(result.offset);  // the sum has 32 bits
    return result;
  }
  if (o.kind == OperandKind::Variable) {
    if (const auto place = program_.stackPlace(function_, o.payload)) {
      const Variable& v = function_.variables[o.payload];
      if (v.declarator.elements != 0) {
        const int64_t size = measure(program_.module(), v).bytes;
        result.available = result.offset < 0 ? 0 : size - result.offset;
        result.variable = program_.module().text(v.name);
      }
      result.base = Arg{0, Base::Frame, 4, false, false};  // the lane's stack base
      result.offset += *place;
      if (space == Space::Param || space == Space::Generic) result.space = Space::Local;
      return result;
    }
  }
  if (o.kind == OperandKind::Variable || o.kind == OperandKind::Symbol) {
    if (space == Space::Generic) {
      // A symbol without a space says by itself where it lies.
      result.space = program_.spaceOf(function_, o);
    }
    result.base = symbolAddress(o, result.offset, 8);
    result.offset = 0;
    return result;
  }
  Term t{};
  if (!evaluate(function_, program_.module(), entries, t)) unsupported("this address");
  result.base = constant(static_cast<uint64_t>(t.value), 8);
  return result;
}

AddressArg Binder::address(std::size_t i, Space space) {
  auto entries = operand(i).entries;
  if (entries.front().kind == OperandKind::Memory) {
    const std::size_t inside = entries.front().inside();
    if (entries.size() > 1 + inside) {
      // [a].unified
      const Operand& after = entries[1 + inside];
      if (after.kind != OperandKind::Selector || program_.module().text(NameId(after.payload)) != "unified")
        unsupported("this address");
    }
    entries = entries.subspan(1, inside);
    if (split(entries).size() != 1) unsupported("several entries in an address");
  }
  const AddressArg a = addressOf(entries, space);
  append(a.base);
  return a;
}

std::size_t Binder::memoryParts(std::size_t i) {
  const auto entries = operand(i).entries;
  if (entries.front().kind != OperandKind::Memory) unsupported("an operand without brackets");
  return split(entries.subspan(1, entries.front().inside())).size();
}

AddressArg Binder::memoryAddress(std::size_t i, std::size_t part, Space space) {
  const auto entries = operand(i).entries;
  const auto parts = split(entries.subspan(1, entries.front().inside()));
  if (part >= parts.size()) unsupported("too few entries in an address");
  const AddressArg a = addressOf(parts[part], space);
  append(a.base);
  return a;
}

std::vector<Arg> Binder::memoryValues(std::size_t i, std::size_t part, ScalarType type) {
  const auto entries = operand(i).entries;
  const auto parts = split(entries.subspan(1, entries.front().inside()));
  if (part >= parts.size()) unsupported("too few entries in an address");
  std::vector<Arg> result;
  const auto run = parts[part];
  if (run.front().kind == OperandKind::Vector) {
    for (const auto& one : split(run.subspan(1, run.front().inside())))
      result.push_back(sourceOf(one, type, false));
  } else {
    result.push_back(sourceOf(run, type, false));
  }
  for (const Arg& a : result) append(a);
  return result;
}

std::string_view Binder::selector(std::size_t i) {
  operand(i).selectorTaken = true;
  for (const Operand& o : operands_[i].entries)
    if (o.kind == OperandKind::Selector) return program_.module().text(NameId(o.payload));
  return {};
}

bool Binder::takeMinus(std::size_t i) {
  OperandRun& run = operand(i);
  if (!run.entries.front().isRegister() || !run.entries.front().is(Operand::Negated)) return false;
  return run.minusTaken = true;
}

int64_t Binder::immediate(std::size_t i) {
  Term t{};
  if (!evaluate(function_, program_.module(), operand(i).entries, t))
    unsupported("an operand that is not a constant");
  return t.value;
}

void Binder::ignore(std::size_t i) { operand(i); }

}  // namespace ptxopt::exec
