#include <fmt/format.h>

#include "dump/dumps.h"

namespace ptxopt::dump {
namespace {

std::string valueName(const FunctionView& view, RegId r, ValueId v) {
  return fmt::format("{}:{}", view.registerName(r), v.value);
}

std::string reasonText(const FunctionView& view, const KnownRange& known) {
  std::string out(name(known.reason));
  if (!known.where.valid()) return out;
  const std::size_t line = view.line(known.where);
  return line != 0 ? fmt::format("{}, line {}", out, line) : out;
}

std::string operandText(const FunctionView& view, const ConditionOperand& o, const BranchCondition& c) {
  if (!o.isConstant()) return valueName(view, o.reg, o.value);
  const auto shifted = static_cast<int64_t>(o.constant << (64 - c.width));
  return c.isSigned ? fmt::format("{}", shifted >> (64 - c.width)) : fmt::format("{}", o.constant);
}

}  // namespace

void appendRanges(std::string& out, FunctionView& view) {
  const LiveIntervals& intervals = view.analyses.liveIntervals();
  ValueRanges& ranges = view.analyses.valueRanges();
  out += fmt::format("{}: value ranges, register:value with its bits, and why\n", view.name());
  for (uint32_t r = 0; r < intervals.size(); ++r)
    for (uint32_t v = 0; v < intervals[RegId(r)].values().size(); ++v)
      if (const KnownRange known = ranges.explain(RegId(r), ValueId(v)); !known.range.isFull())
        out += fmt::format("  {} {} ({})\n", valueName(view, RegId(r), ValueId(v)), known.range.toString(),
                           reasonText(view, known));
  for (uint32_t b = 0; b < view.analyses.cfg().size(); ++b) {
    bool isFirst = true;
    for (const BranchCondition& c : ranges.conditionsAt(BlockId(b))) {
      if (c.block != BlockId(b)) break;  // the others are those of a block above
      if (isFirst) out += fmt::format("  {}\n", view.blockTitle(BlockId(b)));
      isFirst = false;
      out +=
          fmt::format("    {} {} {}, {} bits{} (line {})\n", operandText(view, c.left, c), name(c.relation),
                      operandText(view, c.right, c), c.width, c.isSigned ? ", signed" : "", view.line(c.compare));
      for (const ConditionOperand& o : {c.left, c.right}) {
        if (o.isConstant()) continue;
        const KnownRange known = ranges.explainAt(o.reg, o.value, BlockId(b));
        if (known.range != ranges.of(o.reg, o.value))
          out += fmt::format("      {} {} ({})\n", valueName(view, o.reg, o.value), known.range.toString(),
                             reasonText(view, known));
      }
    }
  }
}

}  // namespace ptxopt::dump
