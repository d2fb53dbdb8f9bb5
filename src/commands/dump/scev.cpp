// Each loop shows its trip count and exit tests, then the phis and definitions in its own blocks as expressions; inner
// loops follow as their own entries.
#include <fmt/format.h>

#include "dump/dumps.h"

namespace ptxopt::dump {
namespace {

class ScevDump {
 public:
  ScevDump(std::string& out, FunctionView& view)
      : out_(out), view_(view), evolution_(view.analyses.scalarEvolution()) {}

  void run() {
    const Loops& loops = view_.analyses.loops();
    out_ += fmt::format("{}: scalar evolution, register:value for what is not looked into\n", view_.name());
    for (uint32_t l = 0; l < loops.size(); ++l) appendLoop(LoopId(l));
  }

 private:
  std::string text(ExprId e) const {
    return evolution_.toString(
        e, [&](RegId r, ValueId v) { return fmt::format("{}:{}", view_.registerName(r), v.value); });
  }

  std::string tripText(const TripCount& trip) const {
    std::string out = trip.exact.valid() ? text(trip.exact) : fmt::format("unknown ({})", trip.unknown);
    if (trip.most) out += fmt::format(", at most {}", *trip.most);
    return trip.test.valid() ? fmt::format("{}; test in line {}", out, view_.line(trip.test)) : out;
  }

  void appendLoop(LoopId l) {
    const Loop& loop = view_.analyses.loops()[l];
    const std::string indent(2 * std::min<std::size_t>(loop.depth, 40), ' ');
    out_ += fmt::format("{}L{} depth {}: header {}\n{}  backedges taken: {}\n", indent, l.value, loop.depth,
                        view_.blockTitle(loop.header), indent, tripText(evolution_.tripCount(l)));
    for (const ExitTest& t : evolution_.exitTests(l))
      out_ += fmt::format("{}  goes on while {} {} {}{} (line {})\n", indent, text(t.tested), name(t.comparison),
                          text(t.limit), t.isSigned ? ", signed" : "", view_.line(t.test));
    for (const BlockId b : view_.analyses.loops().blocks(l)) {
      if (view_.analyses.loops().of(b) != l) continue;
      appendPhis(b, indent);
      for (const InstrId id : view_.analyses.slotIndexes().instructions(b)) appendInstruction(id, indent);
    }
  }

  void appendPhis(BlockId b, const std::string& indent) {
    const LiveIntervals& intervals = view_.analyses.liveIntervals();
    for (uint32_t r = 0; r < intervals.size(); ++r)
      for (uint32_t v = 0; v < intervals[RegId(r)].values().size(); ++v) {
        const LiveValue& value = intervals[RegId(r)].values()[v];
        if (value.kind != ValueKind::Phi || view_.analyses.slotIndexes().start(b) != value.def.base()) continue;
        appendValue(RegId(r), ValueId(v), fmt::format("B{}", b.value), indent);
      }
  }

  void appendInstruction(InstrId id, const std::string& indent) {
    for (const Operand& o : view_.function.operandsOf(view_.function[id])) {
      if (!o.isRegister() || !o.writes()) continue;
      const ValueId v = view_.analyses.liveIntervals()[o.reg()].valueOut(view_.analyses.slotIndexes()[id]);
      if (v.valid()) appendValue(o.reg(), v, fmt::format("line {}", view_.line(id)), indent);
    }
  }

  void appendValue(RegId r, ValueId v, const std::string& where, const std::string& indent) {
    const ExprId e = evolution_.of(r, v);
    if (!e.valid()) return;
    const Expr n = evolution_.expressions()[e];
    if (n.kind == ExprKind::Value && n.reg() == r && n.value() == v) return;
    out_ += fmt::format("{}  {}: {}:{} = {}", indent, where, view_.registerName(r), v.value, text(e));
    if (n.kind == ExprKind::Recurrence) {
      for (const bool isSigned : {true, false})
        if (const auto proof = evolution_.whyNoWrap(e, isSigned))
          out_ += fmt::format(" {}({})", isSigned ? "nsw" : "nuw", name(proof->kind));
      if (const IntegerRange range = evolution_.range(e); !range.isFull()) out_ += " in " + range.toString();
    }
    out_ += '\n';
  }

  std::string& out_;
  FunctionView& view_;
  ScalarEvolution& evolution_;
};

}  // namespace

void appendEvolution(std::string& out, FunctionView& view) { ScevDump(out, view).run(); }

}  // namespace ptxopt::dump
