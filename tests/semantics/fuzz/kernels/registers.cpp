#include "registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kernels {
namespace {

struct DeclaredInfo {
  std::string_view text, prefix;
};
constexpr std::array<DeclaredInfo, kDeclared> kInfo = {{{"b16", "%rs"},
                                                        {"u16", "%us"},
                                                        {"s16", "%ss"},
                                                        {"f16", "%h"},
                                                        {"b32", "%r"},
                                                        {"u32", "%u"},
                                                        {"s32", "%s"},
                                                        {"f32", "%f"},
                                                        {"f16x2", "%hh"},
                                                        {"b64", "%rd"},
                                                        {"u64", "%ul"},
                                                        {"s64", "%sl"},
                                                        {"f64", "%fd"},
                                                        {"pred", "%p"}}};

const DeclaredInfo& info(Declared d) { return kInfo[static_cast<std::size_t>(d)]; }

Declared plainDeclared(Class c) {
  switch (bits(c)) {
    case 16: return Declared::B16;
    case 32: return Declared::B32;
    case 64: return Declared::B64;
    default: return Declared::Pred;
  }
}

}  // namespace

int bits(Class c) {
  switch (c) {
    case Class::I16:
    case Class::F16: return 16;
    case Class::I32:
    case Class::F32:
    case Class::Bits32: return 32;
    case Class::I64:
    case Class::F64:
    case Class::Bits64: return 64;
    case Class::Pred: return 1;
  }
  return 0;
}

bool isFloat(Class c) { return c == Class::F16 || c == Class::F32 || c == Class::F64; }

std::string_view bitType(Class c) {
  switch (bits(c)) {
    case 16: return "b16";
    case 32: return "b32";
    case 64: return "b64";
    default: return "pred";
  }
}

std::string_view arithmeticType(Class c) {
  constexpr std::array<std::string_view, kClasses> kTypes = {"u16", "u32", "u64", "f16", "f32",
                                                             "f64", "b32", "b64", "pred"};
  return kTypes[static_cast<std::size_t>(c)];
}

std::string_view text(Declared d) { return info(d).text; }

bool canHold(Declared d, Class c) {
  switch (c) {
    case Class::I16: return d == Declared::B16 || d == Declared::U16 || d == Declared::S16;
    case Class::I32: return d == Declared::B32 || d == Declared::U32 || d == Declared::S32;
    case Class::I64: return d == Declared::B64 || d == Declared::U64 || d == Declared::S64;
    case Class::F16: return d == Declared::B16 || d == Declared::F16;
    case Class::F32: return d == Declared::B32 || d == Declared::F32;
    case Class::F64: return d == Declared::B64 || d == Declared::F64;
    case Class::Bits32: return d >= Declared::B32 && d <= Declared::F16X2;
    case Class::Bits64: return d >= Declared::B64 && d <= Declared::F64;
    case Class::Pred: return d == Declared::Pred;
  }
  return false;
}

Declared Registers::declaredFor(Class c) {
  const bool typed = random_.chance(typed_), second = random_.chance(50);
  switch (c) {
    case Class::I16: return !typed ? Declared::B16 : second ? Declared::S16 : Declared::U16;
    case Class::I32: return !typed ? Declared::B32 : second ? Declared::S32 : Declared::U32;
    case Class::I64: return !typed ? Declared::B64 : second ? Declared::S64 : Declared::U64;
    case Class::F16: return second ? Declared::F16 : Declared::B16;
    case Class::F32: return second ? Declared::F32 : Declared::B32;
    case Class::F64: return second ? Declared::F64 : Declared::B64;
    case Class::Bits32:
      return random_.pick(
          {Declared::F32, Declared::F32, Declared::F16X2, Declared::B32, Declared::U32, Declared::S32});
    case Class::Bits64:
      return random_.pick({Declared::F64, Declared::F64, Declared::B64, Declared::U64, Declared::S64});
    case Class::Pred: return Declared::Pred;
  }
  return Declared::B32;
}

Reg Registers::create(Declared d, std::string name) {
  Register r;
  r.name = std::move(name);
  r.declared = d;
  r.braces = static_cast<int>(braces_.size());
  all_.push_back(std::move(r));
  return static_cast<Reg>(all_.size()) - 1;
}

Reg Registers::temporary(Class c, bool plain) {
  Reg result = -1;
  if (random_.chance(reuse_)) {
    std::vector<Reg> free;
    for (Reg r = 0; r < static_cast<Reg>(all_.size()); ++r)
      if (at(r).state == State::Free && at(r).hidden == 0 && canHold(at(r).declared, c) &&
          (!plain || at(r).declared == plainDeclared(c)))
        free.push_back(r);
    if (!free.empty()) result = random_.pick(free);
  }
  if (result < 0) {
    // Names outside braces are declared at the function's top, where braces may not hide them: their numbers are
    // above all that openBraces takes.
    const Declared d = plain ? plainDeclared(c) : declaredFor(c);
    result = create(d, fmt::format("{}{}", info(d).prefix, ++count_[static_cast<int>(d)]));
    at(result).braces = 0;
  }
  at(result).state = State::Temporary;
  at(result).held = c;
  at(result).uniform = false;
  frames_.back().push_back(result);
  return result;
}

Reg Registers::declared(Declared d) {
  const Reg result = create(d, fmt::format("{}{}", info(d).prefix, ++count_[static_cast<int>(d)]));
  at(result).braces = 0;
  at(result).state = State::Temporary;
  frames_.back().push_back(result);
  return result;
}

Reg Registers::own(Declared d, Class held) {
  const Reg result = create(d, fmt::format("{}{}", info(d).prefix, ++count_[static_cast<int>(d)]));
  at(result).braces = 0;
  at(result).state = State::Gone;
  at(result).held = held;
  return result;
}

void Registers::keep(Reg r, bool uniform) {
  if (at(r).state == State::Live) return;
  at(r).state = State::Live;
  at(r).uniform = uniform;
  scopes_.back().push_back(r);
}

void Registers::keepFixed(Reg r, bool uniform) {
  keep(r, uniform);
  lock(r);
}

std::vector<Reg> Registers::live(Class c, bool onlyUniform) const {
  std::vector<Reg> result;
  for (const auto& scope : scopes_)
    for (const Reg r : scope)
      if (at(r).state == State::Live && at(r).held == c && at(r).hidden == 0 && (!onlyUniform || at(r).uniform))
        result.push_back(r);
  return result;
}

std::vector<Reg> Registers::writable(Class c, bool uniform) const {
  std::vector<Reg> result = live(c, false);
  std::erase_if(result, [&](Reg r) { return at(r).locks > 0 || at(r).uniform != uniform; });
  return result;
}

std::vector<Reg> Registers::added() const {
  std::vector<Reg> result = scopes_.back();
  std::erase_if(result, [&](Reg r) { return at(r).state != State::Live || at(r).hidden > 0; });
  return result;
}

void Registers::drop(Reg r) {
  if (at(r).state == State::Live && at(r).locks == 0) {
    at(r).state = State::Free;
    for (auto& scope : scopes_) std::erase(scope, r);
  }
}

void Registers::endStatement() {
  for (const Reg r : frames_.back())
    if (at(r).state == State::Temporary) at(r).state = State::Free;
  frames_.pop_back();
}

void Registers::endScope() {
  for (const Reg r : scopes_.back()) {
    if (at(r).state != State::Live) continue;
    at(r).state = State::Free;
    at(r).locks = 0;
  }
  scopes_.pop_back();
}

std::string Registers::openBraces(int count) {
  Braces braces;
  std::string declarations;
  for (int i = 0; i < count; ++i) {
    // Half of the names hide one outside, where a value may wait for the end of the braces.
    std::vector<Reg> candidates;
    for (Reg r = 0; r < static_cast<Reg>(all_.size()); ++r) {
      const Register& outer = at(r);
      const bool usable = outer.state == State::Free || (outer.state == State::Live && outer.locks == 0);
      if (usable && outer.hidden == 0) candidates.push_back(r);
    }
    const Class c = static_cast<Class>(random_.below(kClasses));
    const Declared d = declaredFor(c);
    std::string name = fmt::format("{}x{}", info(d).prefix, i);
    if (!candidates.empty() && random_.chance(50)) name = at(random_.pick(candidates)).name;
    const auto declared = [&](Reg r) { return at(r).name == name; };
    const auto needed = [&](const Register& outer) {
      return outer.name == name && outer.hidden == 0 &&
             (outer.state == State::Temporary || (outer.state == State::Live && outer.locks > 0));
    };
    if (std::any_of(braces.declared.begin(), braces.declared.end(), declared) ||
        std::any_of(all_.begin(), all_.end(), needed))
      continue;
    declarations += fmt::format(".reg .{} {};\n", text(d), name);
    for (Reg r = 0; r < static_cast<Reg>(all_.size()); ++r) {
      if (at(r).name != name || at(r).state == State::Gone) continue;
      ++at(r).hidden;
      braces.hides.push_back(r);
    }
    braces.declared.push_back(create(d, name));
  }
  braces_.push_back(std::move(braces));
  for (const Reg r : braces_.back().declared) at(r).braces = static_cast<int>(braces_.size());
  return declarations;
}

void Registers::closeBraces() {
  for (const Reg r : braces_.back().declared) at(r).state = State::Gone;
  for (const Reg r : braces_.back().hides) --at(r).hidden;
  braces_.pop_back();
}

std::string Registers::declarations() {
  std::string result;
  for (int i = 0; i < kDeclared; ++i) {
    if (count_[i] == 0) continue;
    const auto& [type, prefix] = kInfo[static_cast<std::size_t>(i)];
    if (random_.chance(75)) {
      result += fmt::format("  .reg .{} {}<{}>;\n", type, prefix, count_[i] + 1);
    } else {
      result += fmt::format("  .reg .{}", type);
      for (int k = 1; k <= count_[i]; ++k) result += fmt::format("{} {}{}", k == 1 ? "" : ",", prefix, k);
      result += ";\n";
    }
  }
  return result;
}

}  // namespace kernels
