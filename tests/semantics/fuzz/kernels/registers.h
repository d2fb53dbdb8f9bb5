// The registers of one function body: which there are, which hold a value, and which values are the same in all
// threads of a block.
//
// Invariants that keep kernels defined: a register is `Live` only where every path from the entry has written it;
// values that a scope added are dropped where the scope ends, so a value written on one side of a branch is never
// read behind it. A `Temporary` belongs to the statement that asked for it. `Free` names are written before they
// are read again, so that one name carries several values. A uniform register is only ever written with uniform
// values, by all threads of the block together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "random.h"

namespace kernels {

// What a value is; one .b32 register may hold an I32 here and an F32 there.
// Bits32 and Bits64 are of any type of that width: only what operates on bits reads and writes them.
enum class Class : uint8_t { I16, I32, I64, F16, F32, F64, Bits32, Bits64, Pred };
constexpr int kClasses = 9;

int bits(Class c);
bool isFloat(Class c);
// "b32": the type for moves and selections.
std::string_view bitType(Class c);
// "f32", "u32", ...: a type that arithmetic on the class may have.
std::string_view arithmeticType(Class c);

// The declared type of a register.
enum class Declared : uint8_t { B16, U16, S16, F16, B32, U32, S32, F32, F16X2, B64, U64, S64, F64, Pred };
constexpr int kDeclared = 14;
std::string_view text(Declared d);
bool canHold(Declared d, Class c);

using Reg = int;

class Registers {
 public:
  // `reuse`: percent of new values that take a name that is free; `typed`: percent with .u or .s declarations.
  Registers(Random& random, int reuse, int typed) : random_(random), reuse_(reuse), typed_(typed) {
    frames_.emplace_back();
    scopes_.emplace_back();
  }

  std::string name(Reg r) const { return at(r).name; }
  Class classOf(Reg r) const { return at(r).held; }
  bool uniform(Reg r) const { return at(r).uniform; }

  // A register for the current statement, not yet written; `plain`: one that is declared as mere bits.
  Reg temporary(Class c, bool plain = false);
  // One of this type and a name of its own, whatever it is to hold.
  Reg declared(Declared d);
  // One of this type for the current statement that nothing else ever holds a value in.
  Reg own(Declared d, Class held);
  // The value of this temporary now counts: later statements may read it.
  void keep(Reg r, bool uniform = false);
  // As keep, and no statement overwrites it: loop counters, thread numbers.
  void keepFixed(Reg r, bool uniform = false);
  // No statement overwrites or hides the live register between the two calls, which nest.
  void lock(Reg r) { ++at(r).locks; }
  void unlock(Reg r) { --at(r).locks; }

  std::vector<Reg> live(Class c, bool onlyUniform) const;
  // Those that a statement may overwrite.
  std::vector<Reg> writable(Class c, bool uniform) const;
  // The live values that the innermost scope added.
  std::vector<Reg> added() const;
  void drop(Reg r);

  // The temporaries of a statement end with it.
  void beginStatement() { frames_.emplace_back(); }
  void endStatement();

  void beginScope() { scopes_.emplace_back(); }
  void endScope();

  // A `{ }` in the text: gives the declarations of its registers, which may hide outer ones of the same name.
  std::string openBraces(int count);
  void closeBraces();

  // The declarations of all registers outside braces.
  std::string declarations();

 private:
  enum class State : uint8_t { Free, Temporary, Live, Gone };
  struct Register {
    std::string name;
    Declared declared = Declared::B32;
    Class held = Class::I32;
    State state = State::Free;
    bool uniform = false;
    int locks = 0;
    int hidden = 0;  // by registers of the same name in inner braces
    int braces = 0;  // depth of the braces that declare it
  };
  Register& at(Reg r) { return all_[static_cast<std::size_t>(r)]; }
  const Register& at(Reg r) const { return all_[static_cast<std::size_t>(r)]; }
  Reg create(Declared d, std::string name);
  Declared declaredFor(Class c);

  Random& random_;
  int reuse_, typed_;
  std::vector<Register> all_;
  std::vector<std::vector<Reg>> frames_;
  std::vector<std::vector<Reg>> scopes_;
  struct Braces {
    std::vector<Reg> declared, hides;
  };
  std::vector<Braces> braces_;
  int count_[kDeclared] = {};
};

}  // namespace kernels
