#include "analysis/register_files.h"

#include <set>

#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

std::set<std::string> uniformIn(const Parsed& p) {
  const Function& f = p.function();
  std::set<std::string> names;
  findUniform(*p, f).forEach([&](std::size_t r) { names.insert(std::string(p.name(f.registers[r].name))); });
  return names;
}
std::set<std::string> uniform(std::string_view body) { return uniformIn(Parsed(kernel(body))); }
using Names = std::set<std::string>;

}  // namespace

TEST_CASE("register files: by class") {
  const Parsed p(kernel("add.cc.u32 %r1, 1, 2;\nsetp.eq.u32 %p1, %r1, 0;\nmov.f64 %fd1, 0d0000000000000000;\n"));
  const Function& f = p.function();
  RegisterFiles files(f);
  CHECK(files.of(Function::kCarry) == RegisterFile::Predicate);
  BitVector all(f.registers.size(), true);
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

TEST_CASE("uniform: what comes from launch constants") {
  CHECK(uniform("ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %ctaid.x;\n"
                "mov.u32 %r2, %ntid.x;\nmad.lo.s32 %r3, %r1, %r2, 7;\nmov.u32 %r4, %tid.x;\n"
                "add.s32 %r5, %r3, %r4;\n") == Names{"%rd1", "%rd2", "%r1", "%r2", "%r3"});
}

TEST_CASE("uniform: what may differ between threads is not") {
  CHECK(uniform("mov.u32 %r1, %laneid;\n") == Names{});
  CHECK(uniform("mov.u32 %r1, %smid;\n") == Names{});  // a thread may be moved
  CHECK(uniform("mov.u32 %r1, %clock;\n") == Names{});
  CHECK(uniform("ld.global.u32 %r1, [4096];\n") == Names{});
  CHECK(uniform("atom.global.add.u32 %r1, [4096], 1;\n") == Names{});
  CHECK(uniform("activemask.b32 %r1;\n") == Names{});
  CHECK(uniform("frob.b32 %r1;\n") == Names{});
  // A guard: threads that skip it keep something else. Two definitions: which one came last may differ.
  CHECK(uniform("@%p1 mov.u32 %r1, 5;\n") == Names{});
  CHECK(uniform("mov.u32 %r1, 5;\nmov.u32 %r1, 6;\n") == Names{});
  // A counter: threads may leave a loop in different rounds.
  CHECK(uniform("L:\nadd.s32 %r1, %r1, 1;\n@%p1 bra L;\n") == Names{});
  CHECK(uniform("mov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, 1;\n") == Names{});
  CHECK(uniform("mov.u32 %v1.x, 5;\n") == Names{});
  // Predicates and the carry have a file already.
  CHECK(uniform("setp.eq.u32 %p1, 1, 1;\nadd.cc.u32 %r1, 1, 2;\n") == Names{});
}

TEST_CASE("uniform: parameters of a function are not those of a launch") {
  CHECK(uniformIn(Parsed(kHeader + ".func f(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [a];\n"
                                   "mov.b32 %r2, 1;\nret;\n}\n")) == Names{"%r2"});
  CHECK(uniformIn(Parsed(kHeader + ".func f(.reg .b32 %a)\n{\n.reg .b32 %r<3>;\nadd.s32 %r1, %a, 1;\nret;\n}\n")) ==
        Names{});
}

TEST_CASE("uniform: addresses of variables, but for those of which each thread has its own") {
  CHECK(uniform(".shared .b32 s;\n.local .b32 l;\nmov.u64 %rd1, s;\nmov.u64 %rd2, l;\n") == Names{"%rd1"});
}
