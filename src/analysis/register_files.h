// Which register file of the machine a register goes to.
//
// The analyses that keep a set for each file ask here, so that what is known of a register can grow without them.
// Predicates have a file of their own; the carry flag goes with them, since that is where the machine keeps
// carries. Barriers are no registers: they are order. The uniform file holds data that is one value for a whole
// warp; it is empty unless `findUniform` filled it.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "support/bit_vector.h"

namespace ptxopt {

enum class RegisterFile : uint8_t { Data, Predicate, Uniform };
inline constexpr std::array kRegisterFiles{RegisterFile::Data, RegisterFile::Predicate, RegisterFile::Uniform};
std::string_view name(RegisterFile file);

class RegisterFiles {
 public:
  // By class alone.
  explicit RegisterFiles(const Function& function);

  RegisterFile of(RegId reg) const { return files_[reg.value]; }
  // Data registers of the set go to the uniform file.
  void moveToUniform(const BitVector& registers);

  friend bool operator==(const RegisterFiles&, const RegisterFiles&) = default;

 private:
  std::vector<RegisterFile> files_;  // by RegId
};

// Data registers that hold one value for all threads of a block wherever they are written: those with a single
// definition, not guarded, that computes from launch constants (parameters of a kernel, immediates, addresses,
// %ctaid, %ntid and the like, constant memory) and from registers found before. Two threads that read one after its
// definition read the same value, whatever way they came: nothing that it depends on differs between threads or
// between rounds of a loop. A sound beginning, not all there is: registers with several definitions are never
// taken, and one is missed when its source is defined further down in the text. Cost: linear.
BitVector findUniform(const Module& module, const Function& function);

}  // namespace ptxopt
