// Which registers hold one value for a whole block: by hand, and against runs of random functions.
#include "analysis/values/uniform_registers.h"

#include <set>

#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

using NameSet = std::set<std::string>;

BitVector uniformOf(const Module& module, const Function& f) {
  const Cfg cfg(module, f);
  return findUniform(module, f, cfg, DominatorTree(cfg, DominatorTree::Direction::Dominators));
}
NameSet uniformIn(const Parsed& p, std::size_t function = 0) {
  const Function& f = p.function(function);
  NameSet names;
  uniformOf(*p, f).forEach([&](std::size_t r) { names.insert(std::string(p.name(f.registers[r].name))); });
  return names;
}
NameSet uniform(std::string_view body) { return uniformIn(Parsed(kernel(body))); }

}  // namespace

TEST_CASE("uniform: what comes from launch constants") {
  CHECK(uniform("ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %ctaid.x;\n"
                "mov.u32 %r2, %ntid.x;\nmad.lo.s32 %r3, %r1, %r2, 7;\nmov.u32 %r4, %tid.x;\n"
                "add.s32 %r5, %r3, %r4;\n") == NameSet{"%rd1", "%rd2", "%r1", "%r2", "%r3"});
}

TEST_CASE("uniform: what may differ between threads is not") {
  for (const char* source : {"%tid.x", "%tid.z", "%laneid", "%warpid", "%lanemask_lt", "%clock", "%clock64",
                             "%globaltimer_lo", "%current_graph_exec"}) {
    CAPTURE(source);
    const bool wide = std::string_view(source) == "%clock64" || std::string_view(source) == "%current_graph_exec";
    CHECK(uniform(std::string(wide ? "mov.u64 %rd1, " : "mov.u32 %r1, ") + source + ";\n") == NameSet{});
  }
  CHECK(uniform("mov.u32 %r1, %smid;\n") == NameSet{});  // a thread may be moved
  CHECK(uniform("mov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, 1;\nand.b32 %r3, %r2, 0;\n") == NameSet{});
  CHECK(uniform("mov.u32 %v1.x, 5;\n") == NameSet{});
  // What one thread computes is one value, but who else takes part may differ.
  CHECK(uniform("activemask.b32 %r1;\n") == NameSet{});
  CHECK(uniform("shfl.sync.idx.b32 %r1, 5, 0, 31, -1;\n") == NameSet{});
  CHECK(uniform("vote.sync.ballot.b32 %r1, %p1, -1;\n") == NameSet{});
  CHECK(uniform("redux.sync.add.s32 %r1, 5, -1;\n") == NameSet{});
  CHECK(uniform("{\n.reg .b64 %s;\nstacksave.u64 %s;\n}\n") == NameSet{});
  CHECK(uniform("frob.b32 %r1;\n") == NameSet{});
}

TEST_CASE("uniform: memory is, only where nobody can write") {
  CHECK(uniform("ld.const.u32 %r1, [16];\nld.const.u32 %r2, [%rd1];\n") == NameSet{"%r1"});
  CHECK(uniform("ld.param.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1];\nld.global.nc.u32 %r2, [%rd1];\n"
                "ld.volatile.global.u32 %r3, [%rd1];\nld.u32 %r4, [%rd1];\nldu.global.u32 %r5, [%rd1];\n"
                "atom.global.add.u32 %r6, [%rd1], 1;\n") == NameSet{"%rd1"});
  CHECK(uniform(".shared .b32 s;\n.local .b32 l;\nld.shared.u32 %r1, [s];\nld.local.u32 %r2, [l];\n") == NameSet{});
}

TEST_CASE("uniform: one definition, which every thread comes by") {
  // A guard: threads that skip it keep something else.
  CHECK(uniform("@%p1 mov.u32 %r1, 5;\n") == NameSet{});
  CHECK(uniform("mov.u32 %r1, 5;\n@%p1 mov.u32 %r1, 6;\n") == NameSet{});
  // Two definitions, one on each way of a branch that threads take differently; also a default and a change.
  CHECK(uniform("mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra A;\nmov.u32 %r1, 5;\nbra B;\n"
                "A:\nmov.u32 %r1, 6;\nB:\nadd.u32 %r3, %r1, 1;\n") == NameSet{});
  CHECK(uniform("mov.u32 %r1, 5;\n@%p1 bra A;\nmov.u32 %r1, 6;\nA:\nadd.u32 %r3, %r1, 1;\n") == NameSet{});
  CHECK(uniform("mov.u32 %r1, 5;\nmov.u32 %r1, 6;\n") == NameSet{});
  // A selection by a condition that differs, and by one that does not.
  CHECK(uniform("mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\nselp.b32 %r1, 5, 6, %p1;\n") == NameSet{});
  CHECK(uniform("mov.u32 %r2, %ctaid.x;\nsetp.eq.u32 %p1, %r2, 0;\nselp.b32 %r1, 5, 6, %p1;\n") ==
        NameSet{"%r1", "%r2"});
  // A counter: threads may leave a loop in different iterations. Also one that iterates through two registers.
  CHECK(uniform("L:\nadd.s32 %r1, %r1, 1;\n@%p1 bra L;\n") == NameSet{});
  CHECK(uniform("mov.u32 %r1, 0;\nL:\nadd.s32 %r2, %r1, 1;\nmov.u32 %r1, %r2;\n@%p1 bra L;\n") == NameSet{});
  CHECK(uniform("L:\nadd.s32 %r2, %r1, 1;\nadd.s32 %r1, %r2, 1;\nadd.s32 %r3, %r2, 1;\n@%p1 bra L;\n") ==
        NameSet{});
  // In a loop is as good as elsewhere when nothing changes from iteration to iteration.
  CHECK(uniform("mov.u32 %r1, %ctaid.x;\nL:\nadd.s32 %r2, %r1, 1;\n@%p1 bra L;\n") == NameSet{"%r1", "%r2"});
}

TEST_CASE("uniform: what a source is must be known on every way") {
  // Further down in the text, but before it on every way.
  CHECK(uniform("bra A;\nB:\nadd.s32 %r2, %r1, 1;\nret;\nA:\nmov.u32 %r1, %ctaid.x;\nbra B;\n") ==
        NameSet{"%r1", "%r2"});
  // Not in the first iteration, where it is what nobody wrote.
  CHECK(uniform("L:\nadd.s32 %r2, %r1, 1;\nmov.u32 %r1, 5;\n@%p1 bra L;\n") == NameSet{"%r1"});
  CHECK(uniform("L:\nadd.s32 %r2, %r1, 1;\n@%p2 bra M;\nM:\nmov.u32 %r1, 5;\n@%p1 bra L;\n") == NameSet{"%r1"});
  // Passed by, above it in the text.
  CHECK(uniform("@%p1 bra A;\nmov.u32 %r1, 5;\nA:\nadd.s32 %r2, %r1, 1;\n") == NameSet{"%r1"});
  CHECK(uniform("add.s32 %r2, %r1, 1;\n") == NameSet{});
}

TEST_CASE("uniform: predicates help, carries do not, and both have a file already") {
  CHECK(uniform("mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 1;\nnot.pred %p2, %p1;\n"
                "selp.b32 %r2, 1, 2, %p2;\n") == NameSet{"%r1", "%r2"});
  CHECK(uniform("add.cc.u32 %r1, 1, 2;\naddc.u32 %r2, 1, 2;\n") == NameSet{});
}

TEST_CASE("uniform: parameters of a kernel, not those of a function or of a call") {
  CHECK(uniform("ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [p+4];\n") == NameSet{"%rd1", "%r1"});
  CHECK(uniformIn(Parsed(kHeader + ".func f(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [a];\n"
                                   "mov.b32 %r2, 1;\nret;\n}\n")) == NameSet{"%r2"});
  CHECK(uniformIn(Parsed(kHeader + ".func f(.reg .b32 %a)\n{\n.reg .b32 %r<3>;\nadd.s32 %r1, %a, 1;\nret;\n}\n")) ==
        NameSet{});
  CHECK(uniformIn(Parsed(kHeader + ".func (.reg .b32 %o) f()\n{\nmov.b32 %o, 1;\nret;\n}\n")) == NameSet{});
  // What a call gave back comes by ld.param, too.
  CHECK(uniformIn(Parsed(kHeader + ".extern .func (.param .b32 o) f();\n.entry k()\n{\n.reg .b32 %r<3>;\n"
                                   ".param .b32 got;\ncall (got), f;\nld.param.b32 %r1, [got];\nret;\n}\n"),
                  1) == NameSet{});
}

TEST_CASE("uniform: addresses of variables, but for those of which each thread has its own") {
  CHECK(uniform(".shared .b32 s;\n.local .b32 l;\nmov.u64 %rd1, s;\nmov.u64 %rd2, l;\ncvta.local.u64 %rd3, %rd2;\n"
                "cvta.shared.u64 %rd4, %rd1;\n") == NameSet{"%rd1", "%rd4"});
}

TEST_CASE("uniform: a long chain, against the order of the text") {
  std::string body = "bra L0;\n";
  const int n = 20000;
  for (int b = n; b-- > 0;) {
    const std::string here = std::to_string(b), next = std::to_string(b + 1);
    body += "L" + here + ":\nadd.s32 %c" + next + ", %c" + here + ", 1;\n";
    body += b + 1 == n ? "ret;\n" : "bra L" + next + ";\n";
  }
  const Parsed p(kernel(".reg .b32 %c<" + std::to_string(n + 1) + ">;\nmov.u32 %c0, %ctaid.x;\n" + body));
  int uniform = 0;
  uniformOf(*p, p.function()).forEach([&](std::size_t) { ++uniform; });
  CHECK(uniform == n + 1);
}
