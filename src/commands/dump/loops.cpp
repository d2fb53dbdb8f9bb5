#include <fmt/format.h>

#include "dump/dumps.h"

namespace ptxopt::dump {
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
  for (uint32_t l = 0; l < loops.size(); ++l) appendLoop(out, view, LoopId(l));  // they stand in pre-order
}

}  // namespace ptxopt::dump
