// Lines are found by binary search among the offsets of line starts. Registers of one name in different scopes get a
// suffix, #2 for the second, and made registers get the names that the printer would give them.
#include "dump/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace ptxopt::dump {

// ---- the module ----

ModuleView::ModuleView(const Module& m, std::string_view arch)
    : module(m), made(m), architecture(arch.empty() ? m.architecture() : arch) {
  lineStart_.push_back(0);
  for (std::size_t at = 0; (at = m.source.find('\n', at)) != std::string_view::npos;) lineStart_.push_back(++at);
}

std::size_t ModuleView::line(std::size_t offset) const {
  const auto after = std::upper_bound(lineStart_.begin(), lineStart_.end(), offset);
  return static_cast<std::size_t>(after - lineStart_.begin());
}

std::string_view ModuleView::lineText(std::size_t line) const {
  const std::size_t begin = lineStart_[line - 1];
  std::size_t end = line < lineStart_.size() ? lineStart_[line] - 1 : module.source.size();
  if (end > begin && module.source[end - 1] == '\r') --end;
  return module.source.substr(begin, end - begin);
}

// ---- a function ----

std::string FunctionView::spelling(const Register& reg) const {
  if (&reg == function.registers.data()) return "cc";
  if (reg.name.valid()) return std::string(module.text(reg.name));
  std::string made;
  view.made.append(made, reg);
  return made;
}

FunctionView::FunctionView(const ModuleView& moduleView, const Function& f, Liveness::Limits limits)
    : view(moduleView), module(moduleView.module), function(f), analyses(module, f, limits) {
  std::unordered_map<std::string, unsigned> seen;
  names_.reserve(f.registers.size());
  for (const Register& reg : f.registers) {
    const std::string spelled = spelling(reg);
    const unsigned count = ++seen[spelled];
    names_.push_back(count == 1 ? spelled : fmt::format("{}#{}", spelled, count));
  }
}

std::string FunctionView::instructionText(InstrId id) const {
  std::string out;
  text::InstructionPrinter(out, module, function, view.made).print(function[id]);
  return out;
}

std::size_t FunctionView::line(InstrId id) const {
  const Instruction& i = function[id];
  return i.hasSource() ? view.line(i.sourceBegin) : 0;
}

std::size_t FunctionView::firstLine(BlockId block) {
  const Block& b = analyses.cfg()[block];
  for (InstrId id = b.first; id.valid(); id = function[id].next) {
    if (const std::size_t at = line(id); at != 0) return at;
    if (id == b.last) break;
  }
  return 0;
}

std::size_t FunctionView::lastLine(BlockId block) {
  const Block& b = analyses.cfg()[block];
  for (InstrId id = b.last; id.valid(); id = function[id].previous) {
    if (function[id].hasSource()) return view.line(function[id].sourceEnd - 1);
    if (id == b.first) break;
  }
  return 0;
}

std::string FunctionView::blockName(BlockId block) { return fmt::format("B{}", block.value); }

std::string FunctionView::blockTitle(BlockId block) {
  const std::size_t first = firstLine(block), last = lastLine(block);
  if (first == 0) return blockName(block);
  if (first == last) return fmt::format("{} (line {})", blockName(block), first);
  return fmt::format("{} (lines {}-{})", blockName(block), first, last);
}

}  // namespace ptxopt::dump
