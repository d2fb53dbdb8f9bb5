#include "analysis/machine/register_files.h"

#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

TEST_CASE("register files: by class") {
  const Parsed p(kernel("add.cc.u32 %r1, 1, 2;\nsetp.eq.u32 %p1, %r1, 0;\nmov.f64 %fd1, 0d0000000000000000;\n"));
  const Function& f = p.function();
  RegisterFiles files(f);
  CHECK(files.of(Function::kCarry) == RegisterFile::Predicate);
  BitVector all(f.registers.size());
  for (std::size_t r = 0; r < all.size(); ++r) all.set(r);
  for (std::size_t r = 1; r < f.registers.size(); ++r)
    CHECK((files.of(RegId(r)) == RegisterFile::Predicate) ==
          (f.registers[r].registerClass() == RegisterClass::Pred));
  // Only data moves.
  files.moveToUniform(all);
  for (std::size_t r = 1; r < f.registers.size(); ++r)
    CHECK(files.of(RegId(r)) == (f.registers[r].registerClass() == RegisterClass::Pred ? RegisterFile::Predicate
                                                                                       : RegisterFile::Uniform));
  CHECK(files.of(Function::kCarry) == RegisterFile::Predicate);
}
