#include "analysis/machine/register_files.h"

namespace ptxopt {
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

}  // namespace ptxopt
