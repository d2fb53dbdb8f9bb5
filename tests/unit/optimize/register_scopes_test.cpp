// Where registers may be named: the two ways to ask give the same answers.
#include "passes/util/register_scopes.h"

#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// Asks about each register before each instruction; says how often the answer was yes, and no.
std::pair<std::size_t, std::size_t> answers(std::string_view body) {
  const Parsed p(kernel(body));
  const Function& f = p.function();
  const RegisterScopes scopes(*p, f);
  const Occurrences occurrences(f);
  RegisterReach reaches(*p, f);
  std::size_t yes = 0, no = 0;
  for (std::size_t r = 0; r < f.registers.size(); ++r) {
    for (const InstrId id : f) {
      const bool answer = scopes.reaches(occurrences, RegId(r), id);
      CHECK(reaches(RegId(r), id) == answer);
      ++(answer ? yes : no);
    }
    CHECK(reaches(RegId(r), InstrId()) == scopes.reaches(occurrences, RegId(r), InstrId()));
  }
  return {yes, no};
}

}  // namespace

TEST_CASE("register scopes: one scope, where all may be named") {
  const auto [yes, no] = answers("mov.u32 %r1, 1;\nadd.u32 %r2, %r1, %r1;\nst.global.u32 [%rd1], %r2;\n");
  CHECK(yes != 0);
  CHECK(no == 0);
}

TEST_CASE("register scopes: registers of several scopes, mentioned in one, in two and in all") {
  const auto [yes, no] = answers(
      "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\n"
      "{\n.reg .b32 a;\nadd.u32 a, %r1, %r2;\nmov.u32 %r4, a;\n}\n"
      "mov.u32 %r5, %r4;\n"
      "{\n.reg .b32 a;\nadd.u32 a, %r1, %r1;\n{\n.reg .b32 b;\nadd.u32 b, a, %r1;\nmov.u32 %r6, b;\n}\nmov.u32 "
      "%r4, a;\n}\n"
      "st.global.u32 [%rd1], %r6;\nst.global.u32 [%rd1], %r1;\n");
  CHECK(yes != 0);
  CHECK(no != 0);
}

TEST_CASE("occurrences: an instruction that names a register twice is one") {
  const Parsed p(kernel("mov.u32 %r1, 1;\nadd.u32 %r1, %r1, %r1;\nst.global.u32 [%rd1], %r1;\n"));
  const Function& f = p.function();
  const Occurrences occurrences(f);
  for (std::size_t r = 0; r < f.registers.size(); ++r) {
    if (p.name(f.registers[r].name) != "%r1") continue;
    const auto all = occurrences.of(RegId(r));
    REQUIRE(all.size() == 3);
    CHECK((!all[0].reads && all[0].writes));
    CHECK((all[1].reads && all[1].writes));
    CHECK((all[2].reads && !all[2].writes));
  }
}
