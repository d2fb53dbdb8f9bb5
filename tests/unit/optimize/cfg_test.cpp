#include "analysis/dataflow/cfg.h"

#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// One line a block: its number, what it holds (labels with a colon, opcodes), `!` when it is not reachable, its
// successors, and `leaves` or `returns`.
std::string describe(const Parsed& p, std::size_t function = 0) {
  const Function& f = p.function(function);
  const Cfg cfg(*p, f);
  std::string text;
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    const Block& block = cfg[BlockId(b)];
    text += std::to_string(b) + (block.reachable ? "" : "!");
    for (InstrId id = block.first; id.valid(); id = id == block.last ? InstrId() : f[id].next) {
      CHECK(cfg.blockOf(id) == BlockId(b));
      if (f[id].kind == InstrKind::Label) text += " " + std::string(p.name(f.labels[f[id].payload].name)) + ":";
      if (f[id].isInstruction()) text += " " + std::string(p->printedOpcode(f[id]));
    }
    for (const BlockId s : cfg.successors(BlockId(b))) {
      text += (s == cfg.successors(BlockId(b)).front() ? " -> " : ",") + std::to_string(s.value);
      std::size_t back = 0;
      for (const BlockId q : cfg.predecessors(s)) back += q == BlockId(b);
      CHECK(back >= 1);
    }
    if (block.leaves) text += block.returns ? " returns" : " leaves";
    text += '\n';
  }
  // Every block once in post-order.
  std::vector<bool> seen(cfg.size());
  CHECK(cfg.postOrder().size() == cfg.size());
  for (const BlockId b : cfg.postOrder()) {
    CHECK_FALSE(seen[b.value]);
    seen[b.value] = true;
  }
  return text;
}

std::string cfgOf(std::string_view body) {
  return describe(Parsed(kHeader + ".entry k()\n{\n" + std::string(body) + "}\n"));
}
const std::string kRegisters = ".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n";

}  // namespace

TEST_CASE("cfg: one block") {
  CHECK(cfgOf("") == "0 returns\n");
  CHECK(cfgOf("ret;\n") == "0 ret returns\n");
  CHECK(cfgOf("bar.sync 0;\n") == "0 bar.sync returns\n");
  CHECK(cfgOf("exit;\n") == "0 exit leaves\n");
  CHECK(cfgOf("trap;\n") == "0 trap leaves\n");
}

TEST_CASE("cfg: labels begin blocks, several in a row share one") {
  CHECK(cfgOf("A:\nB:\nbar.sync 0;\nC:\nret;\n") == "0 A: B: bar.sync -> 1\n1 C: ret returns\n");
  CHECK(cfgOf("bar.sync 0;\nA: .loc 1 1 1\nB:\nret;\n") == "0 bar.sync -> 1\n1 A: -> 2\n2 B: ret returns\n");
}

TEST_CASE("cfg: branches") {
  CHECK(cfgOf(kRegisters + "@%p bra B;\nbar.sync 0;\nbra C;\nB:\nmembar.gl;\nC:\nret;\n") ==
        "0 bra -> 2,1\n1 bar.sync bra -> 3\n2 B: membar.gl -> 3\n3 C: ret returns\n");
  CHECK(cfgOf(kRegisters + "L:\n@%p bra L;\nret;\n") == "0 -> 1\n1 L: bra -> 1,2\n2 ret returns\n");
  CHECK(cfgOf(kRegisters + "@%p bra.uni L;\nL:\nret;\n") == "0 bra.uni -> 1\n1 L: ret returns\n");
}

TEST_CASE("cfg: guarded ret, exit and trap fall through") {
  CHECK(cfgOf(kRegisters + "@%p ret;\n@!%p exit;\n@%p trap;\nbar.sync 0;\n") ==
        "0 ret -> 1 returns\n1 exit -> 2 leaves\n2 trap -> 3 leaves\n3 bar.sync returns\n");
  CHECK(cfgOf(kRegisters + "@%p exit;\n") == "0 exit returns\n");
}

// ptxas of release 12.3 ends a block at a trap, those before it do not.
TEST_CASE("cfg: a trap ends a block from .version 8.3 on") {
  const auto of = [](const std::string& version) {
    return describe(
        Parsed(".version " + version + "\n.target sm_75\n.address_size 64\n.entry k()\n{\ntrap;\nexit;\n}\n"));
  };
  CHECK(of("8.3") == "0 trap leaves\n1! exit leaves\n");
  CHECK(of("9.0") == "0 trap leaves\n1! exit leaves\n");
  CHECK(of("8.2") == "0 trap exit leaves\n");
  CHECK(of("7.0") == "0 trap exit leaves\n");
}

TEST_CASE("cfg: what nothing reaches") {
  CHECK(cfgOf("ret;\nbar.sync 0;\nL:\nmembar.gl;\nbra L;\n") ==
        "0 ret returns\n1! bar.sync -> 2\n2! L: membar.gl bra -> 2\n");
  CHECK(cfgOf("bra B;\nA:\nmembar.gl;\nB:\nret;\n") == "0 bra -> 2\n1! A: membar.gl -> 2\n2 B: ret returns\n");
}

TEST_CASE("cfg: brx.idx goes to all names of its list") {
  CHECK(cfgOf(kRegisters + "T: .branchtargets A, C;\nbrx.idx %r1, T;\nA:\nB:\nret;\nC:\nexit;\nD:\nret;\n") ==
        "0 -> 1\n1 T: brx.idx -> 2,3\n2 A: B: ret returns\n3 C: exit leaves\n4! D: ret returns\n");
  CHECK(cfgOf(kRegisters + "T: .branchtargets A, A;\n@%p brx.idx %r1, T;\nA:\nret;\n") ==
        "0 -> 1\n1 T: brx.idx -> 2\n2 A: ret returns\n");
}

TEST_CASE("cfg: a label used as a value is reachable") {
  CHECK(cfgOf(kRegisters + "mov.u64 %rd1, B;\nret;\nA:\nret;\nB:\nexit;\n") ==
        "0 mov.u64 ret returns\n1! A: ret returns\n2 B: exit leaves\n");
}

TEST_CASE("cfg: loops with two entries") {
  CHECK(cfgOf(kRegisters + "@%p bra B;\nA:\nbar.sync 0;\nB:\nmembar.gl;\n@%p bra A;\nret;\n") ==
        "0 bra -> 2,1\n1 A: bar.sync -> 2\n2 B: membar.gl bra -> 1,3\n3 ret returns\n");
}

TEST_CASE("cfg: post-order has each block before those that reach it only through it") {
  const Parsed p(kHeader + ".entry k()\n{\n" + kRegisters +
                 "@%p bra B;\nbra C;\nB:\nbra D;\nC:\nD:\nret;\nU:\nret;\n}\n");
  const Cfg cfg(*p, p.function());
  std::vector<std::size_t> place(cfg.size());
  for (std::size_t i = 0; i < cfg.size(); ++i) place[cfg.postOrder()[i].value] = i;
  CHECK(place[3] < place[1]);
  CHECK(place[3] < place[2]);
  CHECK(place[1] < place[0]);
  CHECK(place[2] < place[0]);
  CHECK(place[4] == cfg.size() - 1);  // not reachable
}

TEST_CASE("cfg: calls do not end blocks, unknown opcodes do") {
  CHECK(describe(Parsed(kHeader + ".func g()\n;\n.entry k()\n{\ncall g;\nbar.sync 0;\n}\n"), 1) ==
        "0 call bar.sync returns\n");
  CHECK(cfgOf(kRegisters + "frob.x %r1;\nbar.sync 0;\n") == "0 frob.x -> 1\n1 bar.sync returns\n");
}

// Every effect is assumed of an unknown opcode, so also that it jumps to a label that it names: what that label's
// block reads is live there.
TEST_CASE("cfg: an unknown opcode may go to the labels that it names") {
  CHECK(cfgOf(kRegisters + "frob.x L;\nbar.sync 0;\nret;\nL:\nexit;\n") ==
        "0 frob.x -> 2,1\n1 bar.sync ret returns\n2 L: exit leaves\n");
}

TEST_CASE("cfg: scopes and many blocks") {
  CHECK(cfgOf("{\nL:\nbra M;\n}\nM:\nret;\n") == "0 -> 1\n1 L: bra -> 3\n2! -> 3\n3 M: ret returns\n");
  std::string body;
  for (int i = 0; i < 100000; ++i) body += "L" + std::to_string(i) + ": bar.sync 0;\n";
  const Parsed p(kHeader + ".entry k()\n{\n" + body + "}\n");
  const Cfg cfg(*p, p.function());
  CHECK(cfg.size() == 100000);
  CHECK(cfg[BlockId(99999u)].reachable);
  CHECK(cfg.postOrder().front() == BlockId(99999u));
}

TEST_CASE("cfg: an update takes over the edges where branches and labels stay, and only there") {
  const std::string body =
      "@%p bra A;\nadd.s32 %r1, %r2, 1;\nadd.s32 %r3, %r1, 1;\nbra B;\nA:\nmov.u32 %r4, 0;\nB:\nret;\n";
  const auto hasSameEdgesAfter = [&](auto change) {
    const Parsed p(kHeader + ".entry k()\n{\n" + kRegisters + body + "}\n");
    Function& f = p.function();
    std::vector<InstrId> code;
    for (const InstrId id : f)
      if (f[id].isInstruction()) code.push_back(id);
    Cfg before(*p, f);
    change(f, code);
    bool hasSameEdges = false;
    CHECK(Cfg(*p, f, std::move(before), hasSameEdges) == Cfg(*p, f));
    return hasSameEdges;
  };
  using Code = std::vector<InstrId>;
  CHECK(hasSameEdgesAfter([](Function&, const Code&) {}));
  CHECK(hasSameEdgesAfter([](Function& f, const Code& code) { f.erase(code[1]); }));  // a block begins elsewhere
  CHECK(hasSameEdgesAfter([](Function& f, const Code& code) { f.erase(code[2]); }));
  // A branch that is no more, guarded or not, and one that goes elsewhere.
  CHECK_FALSE(hasSameEdgesAfter([](Function& f, const Code& code) { f.erase(code[0]); }));
  CHECK_FALSE(hasSameEdgesAfter([](Function& f, const Code& code) { f.erase(code[3]); }));
  CHECK_FALSE(hasSameEdgesAfter([](Function& f, const Code& code) {
    for (Operand& o : f.operandsOf(f[code[3]]))
      if (o.kind == OperandKind::Label) o.payload = 1 - o.payload;
    f.touch(code[3]);
  }));
  // A branch that becomes another instruction in its place.
  CHECK_FALSE(hasSameEdgesAfter([](Function& f, const Code& code) {
    f[code[3]].payload = f[code[4]].payload;
    f.touch(code[3]);
  }));
}
