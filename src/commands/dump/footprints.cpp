// Each access shows its first and last address as formulas over parameters and launch sizes, with the assumptions that
// the bounds need. A parameter is shown by its name, and with its offset where that is not 0.
#include <fmt/format.h>

#include "analysis/addresses/footprint.h"
#include "dump/dumps.h"

namespace ptxopt::dump {
namespace {

class FootprintDump {
 public:
  FootprintDump(std::string& out, FunctionView& view)
      : out_(out), view_(view), footprints_(view.module, view.function, view.analyses) {}

  void run() {
    out_ += fmt::format("{}: addresses of global memory that are read and written\n", view_.name());
    if (!footprints_.declined().empty()) {
      out_ += fmt::format("  declined: {}\n", footprints_.declined());
      return;
    }
    for (const Footprint& f : footprints_.all()) append(f);
  }

 private:
  void append(const Footprint& f) {
    out_ += fmt::format("  line {} {} through {}: ", view_.line(f.access), f.isWrite ? "writes" : "reads",
                        names(f.parameters));
    if (!f.isKnown()) {
      out_ += fmt::format("unknown ({})\n", f.why);
      return;
    }
    out_ += fmt::format("[{}, {})\n", text(f.least), text(f.end));
    for (const auto& [t, assumed] : f.assumptions.all())
      out_ += fmt::format("    if {}{}{}\n", assumed.least ? fmt::format("{} <= ", *assumed.least) : "", text(t),
                          assumed.most ? fmt::format(" <= {}", *assumed.most) : "");
  }

  std::string_view parameterName(std::size_t p) const {
    return view_.module.text(view_.function.variables[view_.function.parameters[p].value].name);
  }

  std::string names(ParameterMemory::Set parameters) const {
    std::string out;
    for (std::size_t p = 0; p < view_.function.parameters.size() && p < 63; ++p)
      if ((parameters >> p & 1) != 0) out += fmt::format("{}{}", out.empty() ? "" : ", ", parameterName(p));
    if ((parameters & ParameterMemory::kOther) != 0) out += out.empty() ? "something" : ", something";
    return out.empty() ? "numbers" : out;
  }

  std::string text(TermId t) const {
    const BoundTerms& terms = footprints_.terms();
    const Term& n = terms[t];
    switch (n.kind) {
      case TermKind::Constant: return std::to_string(n.constant);
      case TermKind::Parameter: {
        const std::string_view name = parameterName(n.parameter.index);
        return n.parameter.offset == 0 ? std::string(name) : fmt::format("{}[{}]", name, n.parameter.offset);
      }
      case TermKind::Size: return fmt::format("{}.{}", n.size.isGrid ? "nctaid" : "ntid", "xyz"[n.size.component]);
      case TermKind::Sum: {
        std::string out;
        for (const TermPart& p : terms.parts(t)) {
          if (!out.empty()) out += " + ";
          if (p.factor != 1) out += fmt::format("{}*", p.factor);
          out += text(p.term);
        }
        return n.constant == 0 ? out : fmt::format("{} + {}", out, n.constant);
      }
      case TermKind::Product: return fmt::format("{}*{}", text(n.left), text(n.right));
      case TermKind::Min: return fmt::format("min({}, {})", text(n.left), text(n.right));
      case TermKind::Max: return fmt::format("max({}, {})", text(n.left), text(n.right));
      case TermKind::ShiftRight: return fmt::format("({} >> {})", text(n.left), n.constant);
      case TermKind::And: return fmt::format("({} & {})", text(n.left), n.constant);
    }
    return {};
  }

  std::string& out_;
  FunctionView& view_;
  const Footprints footprints_;
};

}  // namespace

void appendFootprints(std::string& out, FunctionView& view) {
  if (!view.function.isEntry || !view.analyses.mayHaveLiveIntervals()) return;
  FootprintDump(out, view).run();
}

}  // namespace ptxopt::dump
