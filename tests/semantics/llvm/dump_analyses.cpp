// Prints what the analyses say of a PTX file, for compare_intervals.py: blocks go by their first label.
//
//     function NAME
//     dom BLOCK PARENT|-          likewise pdom
//     loop DEPTH natural|irreducible HEADER BLOCK...
//     phi REGISTER BLOCK
//     live REGISTER BLOCK FROM TO VALUE   a segment's part in a block: FROM in, TO out, or n.r at the n-th
//     instruction;
//                                         VALUE is where it begins: BLOCK.n.r, BLOCK.phi
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>

#include "analysis/dataflow/live_intervals.h"
#include "analysis/dataflow/loops.h"
#include "text/parse.h"

using namespace ptxopt;

namespace {

// Where a slot is in its block, counting instructions from 0: "3.r".
std::string place(const SlotIndexes& slots, BlockId b, SlotIndex at) {
  const auto& instructions = slots.instructions(b);
  for (std::size_t n = 0; n < instructions.size(); ++n)
    if (slots[instructions[n]] == at.base()) return std::to_string(n) + '.' + "Berd"[at.slot()];
  return "?";
}

template <typename Name>
void dumpLive(const std::string& reg, const LiveRange& range, const SlotIndexes& slots, Name name) {
  for (const Segment& s : range.segments()) {
    const LiveValue& value = range[s.value];
    const BlockId home = slots.blockAt(value.def);
    const std::string begin = value.kind == ValueKind::Phi     ? "phi"
                              : value.kind == ValueKind::Entry ? "entry"
                                                               : place(slots, home, value.def);
    for (BlockId b = slots.blockAt(s.start); slots.start(b) < s.end; b = BlockId(b.value + 1)) {
      const bool fromStart = s.start <= slots.start(b), toEnd = s.end >= slots.end(b);
      std::printf("live %s %s %s %s %s.%s\n", reg.c_str(), name(b).c_str(),
                  fromStart ? "in" : place(slots, b, s.start).c_str(),
                  toEnd ? "out" : place(slots, b, s.end).c_str(), name(home).c_str(), begin.c_str());
      if (toEnd && s.end == slots.lastOfFunction()) break;
    }
  }
}

void dump(const Module& module, const Function& f) {
  const Cfg cfg(module, f);
  const auto name = [&](BlockId b) -> std::string {
    if (!b.valid()) return "-";
    for (InstrId id = cfg[b].first; id.valid(); id = id == cfg[b].last ? InstrId() : f[id].next)
      if (f[id].kind == InstrKind::Label) return std::string(module.text(f.labels[f[id].payload].name));
    return "?";
  };
  std::printf("function %s\n", std::string(module.text(f.name)).c_str());
  const DominatorTree dominators(cfg, DominatorTree::Direction::Dominators);
  const DominatorTree postDominators(cfg, DominatorTree::Direction::PostDominators);
  for (const BlockId b : dominators.preOrder())
    std::printf("dom %s %s\n", name(b).c_str(), name(dominators.parent(b)).c_str());
  for (const BlockId b : postDominators.preOrder())
    std::printf("pdom %s %s\n", name(b).c_str(), name(postDominators.parent(b)).c_str());
  const Loops loops(cfg);
  for (uint32_t l = 0; l < loops.size(); ++l) {
    const Loop& loop = loops[LoopId(l)];
    std::printf("loop %u %s", loop.depth, loop.irreducible ? "irreducible" : "natural");
    for (const BlockId b : loops.blocks(LoopId(l))) std::printf(" %s", name(b).c_str());
    std::printf("\n");
  }
  const SlotIndexes slots(f, cfg);
  const LiveIntervals intervals(f, cfg, slots, &dominators);
  for (std::size_t r = 1; r < f.registers.size(); ++r) {
    const std::string reg(module.text(f.registers[r].name));
    for (const LiveValue& v : intervals[RegId(r)].values())
      if (v.kind == ValueKind::Phi) std::printf("phi %s %s\n", reg.c_str(), name(slots.blockAt(v.def)).c_str());
    dumpLive(reg, intervals[RegId(r)], slots, name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE.ptx\n", argv[0]);
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto parsed = text::parse(text, argv[1]);
  if (const auto* error = std::get_if<text::ParseError>(&parsed)) {
    std::fprintf(stderr, "%s\n", text::render(*error, argv[1]).c_str());
    return 1;
  }
  const Module& module = *std::get<0>(parsed);
  for (const Function& f : module.functions)
    if (f.hasBody) dump(module, f);
}
