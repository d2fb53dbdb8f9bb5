#include <fmt/format.h>

#include "dump/dumps.h"

namespace ptxopt {
namespace {

std::string names(std::span<const BlockId> blocks) {
  std::string out;
  for (const BlockId b : blocks) out += fmt::format("{}B{}", out.empty() ? "" : " ", b.value);
  return out;
}

void appendLoop(std::string& out, FunctionView& view, LoopId id) {
  const Cfg& cfg = view.analyses.cfg();
  const Loops& loops = view.analyses.loops();
  const Loop& loop = loops[id];
  const std::string indent(2 * std::min<std::size_t>(loop.depth, 40), ' ');
  out += fmt::format("{}L{} depth {}{}: header {}, {} block{}: {}\n", indent, id.value, loop.depth,
                     loop.irreducible ? ", irreducible" : "", view.blockTitle(loop.header), loop.blockCount,
                     loop.blockCount == 1 ? "" : "s", names(loops.blocks(id)));
  const BlockId preheader = loops.preheader(cfg, id);
  out += fmt::format("{}  preheader {}", indent, preheader.valid() ? FunctionView::blockName(preheader) : "none");
  if (loop.irreducible) out += fmt::format("; entries {}", names(loops.entries(cfg, id)));
  out += fmt::format("; latches {}; exits", names(loops.latches(cfg, id)));
  const auto exits = loops.exits(cfg, id);
  for (const Loops::Exit& e : exits)
    out += fmt::format(" B{}->{}", e.from.value, e.to.valid() ? FunctionView::blockName(e.to) : "end");
  out += exits.empty() ? " none\n" : "\n";
}

}  // namespace

void appendLoops(std::string& out, FunctionView& view) {
  const Loops& loops = view.analyses.loops();
  out += fmt::format("{}: {} loop{}\n", view.name(), loops.size(), loops.size() == 1 ? "" : "s");
  // Depth first, in the order of the numbers: parents have smaller ones than their children.
  std::vector<std::vector<LoopId>> inside(loops.size() + 1);
  for (uint32_t l = 0; l < loops.size(); ++l) {
    const LoopId parent = loops[LoopId(l)].parent;
    inside[parent.valid() ? parent.value : loops.size()].push_back(LoopId(l));
  }
  std::vector<LoopId> work(inside.back().rbegin(), inside.back().rend());
  while (!work.empty()) {
    const LoopId l = work.back();
    work.pop_back();
    appendLoop(out, view, l);
    work.insert(work.end(), inside[l.value].rbegin(), inside[l.value].rend());
  }
}

}  // namespace ptxopt
