// A kernel with everything that the parts of lsr need, one at a time.
#pragma once

#include "passes/util/expander.h"
#include "passes/util/insertion_places.h"
#include "support.h"
#include "text/print.h"

namespace doctest {
template <>
struct StringMaker<std::vector<std::string>> {
  static String convert(const std::vector<std::string>& lines) {
    std::string all;
    for (const std::string& line : lines) all += line + '\n';
    return String(all.c_str());
  }
};
}  // namespace doctest

namespace ptxopt::testing {

class Reducible {
 public:
  explicit Reducible(std::string_view body)
      : parsed_(withParts(kernel(body))),
        f(parsed_.function()),
        analyses(*parsed_, f, livenessLimits(knobs_)),
        context{*parsed_, knobs_, analyses, facts_, report_},
        before_(lines()) {}

  RegId reg(std::string_view name) const {
    for (uint32_t r = 0; r < f.registers.size(); ++r)
      if (f.registers[r].name.valid() && parsed_->text(f.registers[r].name) == name) return RegId(r);
    FAIL("no register " << name);
    return {};
  }
  // The `index`-th real instruction.
  InstrId at(std::size_t index) const { return parsed_.at(index); }
  // What the last instruction that writes the register leaves there.
  ExprId written(std::string_view name) {
    ExprId found;
    for (const InstrId id : f)
      for (const Operand& o : f.operandsOf(f[id]))
        if (o.isRegister() && o.writes() && o.reg() == reg(name))
          found = analyses.scalarEvolution().written(o.reg(), id);
    REQUIRE(found.valid());
    return found;
  }
  // In front of the branch at the end of a block.
  ExpansionPlace endOf(uint32_t block) {
    return {BlockId(block), placeAtEnd(*parsed_, f, analyses.cfg()[BlockId(block)])};
  }
  ScevExpressions& expressions() { return analyses.scalarEvolution().expressions(); }
  std::string text(ExprId e) {
    if (!e.valid()) return "none";
    return analyses.scalarEvolution().toString(
        e, [&](RegId r, ValueId) { return std::string(parsed_.name(f.registers[r.value].name)); });
  }
  // The instructions that were not there at first, in order.
  std::vector<std::string> made() const {
    std::vector<std::string> found, old = before_;
    for (const std::string& line : lines()) {
      const auto known = std::find(old.begin(), old.end(), line);
      if (known == old.end())
        found.push_back(line);
      else
        old.erase(known);
    }
    return found;
  }

 private:
  // What passes make is made of these.
  static Parsed withParts(std::string text) {
    Parsed parsed(std::move(text));
    parsed->makeSynthParts();
    return parsed;
  }
  std::vector<std::string> lines() const {
    const std::string all = text::printFunction(*parsed_, f);
    std::vector<std::string> found;
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = std::min(all.find('\n', at), all.size());
      std::string line = all.substr(at, end - at);
      line.erase(0, line.find_first_not_of('\t'));
      if (line.ends_with(';') && !line.starts_with('.')) found.push_back(line);
      at = end + 1;
    }
    return found;
  }

  Parsed parsed_;
  Knobs knobs_;
  PassReport report_;
  ModuleAnalyses facts_ = moduleFacts(*parsed_, knobs_);

 public:
  Function& f;
  Analyses analyses;
  PassContext context;

 private:
  std::vector<std::string> before_;
};

}  // namespace ptxopt::testing
