// The graph is written in the DOT language, one node for each block with its instructions. An edge taken by a guarded
// branch has the guard as its label, and a graph with too many edges is written without them.
#include <fmt/format.h>

#include "dump/dumps.h"

namespace ptxopt::dump {
namespace {

// Inside a quoted string of the DOT language.
void appendQuoted(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  }
}

// The guard as written, when the last instruction of the block is a guarded branch.
std::string guardOfBranch(const FunctionView& view, const Instruction& i) {
  if (!i.is(Instruction::Guarded) || !i.isInstruction() || !view.module.form(i).is(effect::Branch)) return {};
  const Operand& guard = view.function.operandsOf(i)[0];
  return fmt::format("@{}{}", guard.is(Operand::Not) ? "!" : "", view.registerName(guard.reg()));
}

void appendBlock(std::string& out, FunctionView& view, BlockId b) {
  const Block& block = view.analyses.cfg()[b];
  out += fmt::format("  B{} [label=\"{}\\l", b.value, view.blockTitle(b));
  for (InstrId id = block.first; id.valid(); id = view.function[id].next) {
    const Instruction& i = view.function[id];
    if (i.isInstruction() || i.kind == InstrKind::Label) {
      out += i.isInstruction() ? "  " : "";
      appendQuoted(out, view.instructionText(id));
      out += "\\l";
    }
    if (id == block.last) break;
  }
  out += '"';
  if (block.leaves) out += ", peripheries=2";
  if (!block.reachable) out += ", style=dashed";
  out += "];\n";
}

void appendEdges(std::string& out, FunctionView& view, BlockId b) {
  const Cfg& cfg = view.analyses.cfg();
  if (!cfg[b].last.valid()) return;  // an empty function
  const std::string guard = guardOfBranch(view, view.function[cfg[b].last]);
  const auto successors = cfg.successors(b);
  for (const BlockId to : successors) {
    out += fmt::format("  B{} -> B{}", b.value, to.value);
    // With one edge the branch goes to what follows it anyway.
    if (!guard.empty() && successors.size() == 2 && to.value != b.value + 1) {
      out += " [label=\"";
      appendQuoted(out, guard);
      out += "\"]";
    }
    out += ";\n";
  }
}

}  // namespace

void appendCfg(std::string& out, FunctionView& view) {
  const Cfg& cfg = view.analyses.cfg();
  out += "digraph \"";
  appendQuoted(out, view.name());
  out += "\" {\n  label=\"";
  appendQuoted(out, view.name());
  out += "\";\n  node [shape=box, fontname=monospace];\n";
  for (uint32_t b = 0; b < cfg.size(); ++b) appendBlock(out, view, BlockId(b));
  if (!cfg.complete()) out += "  // The edges are left out: there are too many.\n";
  for (uint32_t b = 0; b < cfg.size() && cfg.complete(); ++b) appendEdges(out, view, BlockId(b));
  out += "}\n";
}

}  // namespace ptxopt::dump
