// A module and a function as dumps and reports show them: names and lines, beside their analyses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/manager/analyses.h"
#include "text/instruction_printer.h"

namespace ptxopt::dump {

// What all functions of a module share.
class ModuleView {
 public:
  explicit ModuleView(const Module& module, std::string_view architecture = {});

  const Module& module;
  const text::MadeNames made;
  const std::string architecture;  // "sm_90a"; empty when nobody said

  // Lines of the module's text, from 1.
  std::size_t line(std::size_t offset) const;
  // Where a line begins in the text.
  std::size_t lineStart(std::size_t line) const { return lineStart_[line - 1]; }
  // Without its line end.
  std::string_view lineText(std::size_t line) const;

 private:
  std::vector<std::size_t> lineStart_;
};

class FunctionView {
 public:
  FunctionView(const ModuleView& module, const Function& function, Liveness::Limits limits = {});
  FunctionView(const FunctionView&) = delete;

  const ModuleView& view;
  const Module& module;
  const Function& function;

  std::string_view name() const { return module.text(function.name); }
  // As spelled; of several registers with one spelling, in nested scopes, the second is `%r1#2`. The carry flag is
  // `cc`.
  std::string_view registerName(RegId reg) const { return names_[reg.value]; }
  // One line, as --reprint has it.
  std::string instructionText(InstrId id) const;
  // The line where it begins; 0 for what has no source.
  std::size_t line(InstrId id) const;
  // Lines of the first and the last thing in the block that has a source.
  std::size_t firstLine(BlockId block);
  std::size_t lastLine(BlockId block);
  // "B3 (lines 12-20)"
  std::string blockTitle(BlockId block);
  static std::string blockName(BlockId block);

  // Made when first asked for.
  Analyses analyses;
  // False when the graph has too many edges to be used: no other analysis must be asked for then.
  bool usable() { return analyses.cfg().complete(); }

 private:
  std::string spelling(const Register& reg) const;

  std::vector<std::string> names_;  // by RegId
};

}  // namespace ptxopt::dump
