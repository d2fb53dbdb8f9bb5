#include "dump/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analysis/values/uniform_registers.h"

namespace ptxopt {

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

FunctionView::FunctionView(const ModuleView& moduleView, const Function& f)
    : view(moduleView), module(moduleView.module), function(f) {
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

std::size_t FunctionView::firstLine(BlockId block) const {
  const Block& b = (*cfg_)[block];
  for (InstrId id = b.first; id.valid(); id = function[id].next) {
    if (const std::size_t at = line(id); at != 0) return at;
    if (id == b.last) break;
  }
  return 0;
}

std::size_t FunctionView::lastLine(BlockId block) const {
  const Block& b = (*cfg_)[block];
  for (InstrId id = b.last; id.valid(); id = function[id].previous) {
    if (function[id].hasSource()) return view.line(function[id].sourceEnd - 1);
    if (id == b.first) break;
  }
  return 0;
}

std::string FunctionView::blockName(BlockId block) { return fmt::format("B{}", block.value); }

std::string FunctionView::blockTitle(BlockId block) const {
  const std::size_t first = firstLine(block), last = lastLine(block);
  if (first == 0) return blockName(block);
  if (first == last) return fmt::format("{} (line {})", blockName(block), first);
  return fmt::format("{} (lines {}-{})", blockName(block), first, last);
}

// ---- analyses ----

const Cfg& FunctionView::cfg() { return cfg_ ? *cfg_ : cfg_.emplace(module, function); }

const DominatorTree& FunctionView::dominators() {
  return dominators_ ? *dominators_ : dominators_.emplace(cfg(), DominatorTree::Direction::Dominators);
}

const DominatorTree& FunctionView::postDominators() {
  return postDominators_ ? *postDominators_
                         : postDominators_.emplace(cfg(), DominatorTree::Direction::PostDominators);
}

const Loops& FunctionView::loops() { return loops_ ? *loops_ : loops_.emplace(cfg()); }

const SlotIndexes& FunctionView::slots() { return slots_ ? *slots_ : slots_.emplace(function, cfg()); }

const LiveIntervals& FunctionView::intervals() {
  return intervals_ ? *intervals_ : intervals_.emplace(function, cfg(), slots(), &dominators());
}

ValueRanges& FunctionView::ranges() {
  return ranges_ ? *ranges_ : ranges_.emplace(module, function, cfg(), dominators(), slots(), intervals());
}

ScalarEvolution& FunctionView::evolution() {
  if (!evolution_)
    evolution_.emplace(module, function, cfg(), dominators(), loops(), slots(), intervals(), ranges());
  return *evolution_;
}

const RegisterFiles& FunctionView::registerFiles() {
  if (!files_) files_ = findRegisterFiles(module, function, cfg(), dominators());
  return *files_;
}

const Liveness& FunctionView::liveness() {
  if (!liveness_)
    liveness_.emplace(module, function, cfg(), registerFiles(), Liveness::Strength::Plain, Liveness::Limits{});
  return *liveness_;
}

const RegisterPressure& FunctionView::pressure() {
  return pressure_ ? *pressure_ : pressure_.emplace(module, function, cfg(), slots(), intervals(), registerFiles());
}

const RegisterEstimate& FunctionView::estimate() {
  if (!estimate_) estimate_ = estimateRegisters(module, function, pressure());
  return *estimate_;
}

}  // namespace ptxopt
