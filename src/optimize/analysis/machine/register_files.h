// Which register file of the machine a register goes to.
//
// The analyses that keep a set for each file ask here, so that what is known of a register can grow without them.
// Predicates have a file of their own; the carry flag goes with them, since that is where the machine keeps
// carries. Barriers are not registers: they are order. The uniform file holds data that is one value for a whole
// warp; it is empty unless it was filled (uniform_registers.h).
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

}  // namespace ptxopt
