// Each fact of a kernel becomes a few instructions at its start that read the number, compare it, and call __assertfail
// with the fact in words where it is broken. Names of the new variables begin with a prefix that no name of the module
// has.
#include "facts/check_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "facts/comments.h"
#include "facts/facts.h"

namespace ptxopt::facts {
namespace {

constexpr std::string_view kAssertFail =
    ".extern .func __assertfail (.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function,\n"
    "  .param .b64 size);\n";

constexpr std::string_view kName = "__assertfail";

// Throws std::invalid_argument where the module's __assertfail is another one than CUDA's.
void needAssertFail(const Module& module) {
  if (module.addressSize == 32) throw std::invalid_argument("facts are checked where addresses have 64 bits");
  bool isFunction = false;
  const auto need = [](bool holds) {
    if (!holds) throw std::invalid_argument("the file has a __assertfail that is not CUDA's");
  };
  for (const Function& f : module.functions) {
    if (module.text(f.name) != kName) continue;
    isFunction = true;
    need(!f.hasBody && !f.isEntry && f.returns.empty() && f.parameters.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
      const Variable& v = f.variables[f.parameters[i].value];
      const DeclarationForm& form = module.declarationForms[v.form];
      need(v.declarator.dimensions.empty() && form.lanes == 1 && info(form.type).bits == (i == 2 ? 32 : 64));
    }
  }
  for (const Symbol& s : module.symbols) need(isFunction || module.text(s.name) != kName);
}

// One fact, how its number is read into %ptxopt_v, of 64 bits, and what else sets %ptxopt_q where it is broken.
struct Check {
  std::string read;
  NumberFact fact;
  bool isUnsigned = false;  // of 64 bits
  std::string text;         // "block.x == 256"
  std::vector<std::string> more = {};
};

std::string inWords(const std::string& what, const NumberFact& fact) {
  if (const auto exact = fact.exact()) return fmt::format("{} == {}", what, *exact);
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : " && ") + text; };
  if (fact.least != INT64_MIN) add(fmt::format("{} >= {}", what, fact.least));
  if (fact.most != INT64_MAX) add(fmt::format("{} <= {}", what, fact.most));
  if (fact.multiple != 1) add(fmt::format("{} % {} == 0", what, fact.multiple));
  return out;
}

// That what the parameters lead to has no byte in common. An address of null leads nowhere.
std::string meeting(uint64_t bytes, uint64_t bytesOfOther) {
  std::string out = fmt::format("sub.u64 %ptxopt_s, %ptxopt_r, %ptxopt_v;\n  setp.lt.u64 %ptxopt_q, %ptxopt_s, {};",
                                std::max<uint64_t>(bytes, 1));
  if (bytesOfOther > 1)
    out += fmt::format(
        "\n  sub.u64 %ptxopt_s, %ptxopt_v, %ptxopt_r;\n  setp.lt.or.u64 %ptxopt_q, %ptxopt_s, {}, %ptxopt_q;",
        bytesOfOther);
  return out + "\n  setp.ne.and.u64 %ptxopt_q, %ptxopt_v, 0, %ptxopt_q;";
}

void addApart(const Module& module, const Function& f, std::vector<Check>& checks) {
  const KernelFacts& said = module.facts[f.index];
  for (const auto& [i, k] : pairsApart(module, f)) {
    const auto name = [&](std::size_t p) { return module.text(f.variables[f.parameters[p].value].name); };
    checks.push_back(
        {fmt::format("ld.param.u64 %ptxopt_v, [{}];\n  ld.param.u64 %ptxopt_r, [{}];", name(i), name(k)),
         {},
         true,
         fmt::format("{} and {} lead to other memory", name(i), name(k)),
         {meeting(said.pointers[i].bytes, said.pointers[k].bytes)}});
  }
}

std::vector<Check> checksOf(const Module& module, const Function& f) {
  std::vector<Check> checks;
  const KernelFacts &said = module.facts[f.index], all = factsOfAll(module, f);
  for (std::size_t i = 0; i < 3; ++i) {
    const char component = "xyz"[i];
    const auto size = [&](const char* name, const char* reg, const NumberFact& fact, const NumberFact& known) {
      if (fact == known) return;
      checks.push_back(
          {fmt::format("mov.u32 %ptxopt_w, %{}.{};\n  cvt.u64.u32 %ptxopt_v, %ptxopt_w;", reg, component), fact,
           false, inWords(fmt::format("{}.{}", name, component), fact)});
    };
    size("block", "ntid", said.block[i], all.block[i]);
    size("grid", "nctaid", said.grid[i], all.grid[i]);
  }
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    if (said.parameters[i] == all.parameters[i]) continue;
    const Variable& v = f.variables[f.parameters[i].value];
    const ScalarType type = module.declarationForms[v.form].type;
    const bool isSigned = isSignedType(type) || said.parameters[i].least < 0;
    const unsigned bits = info(type).bits;
    checks.push_back(
        {fmt::format("ld.param.{}{} %ptxopt_v, [{}];", isSigned ? 's' : 'u', bits, module.text(v.name)),
         said.parameters[i], !isSigned && bits == 64,
         inWords(fmt::format("{}", module.text(v.name)), said.parameters[i])});
  }
  addApart(module, f, checks);
  return checks;
}

class Writer {
 public:
  explicit Writer(const Module& module) : module_(module) {
    // Names of strings and arguments begin with what no name of the module begins with.
    for (bool isTaken = true; isTaken; prefix_ += '_') {
      isTaken = false;
      for (uint32_t n = 0; n < module.names.size(); ++n) isTaken |= module.names[NameId(n)].starts_with(prefix_);
      if (!isTaken) break;
    }
  }

  std::string write() {
    std::size_t at = 0;
    bool isDeclared = false;
    for (const Function& f : module_.functions) {
      isDeclared |= module_.text(f.name) == kName;
      if (!f.hasBody || !hasFacts(module_, f)) continue;
      const std::vector<Check> checks = checksOf(module_, f);
      if (checks.empty()) continue;
      out_ += module_.source.substr(at, f.source.begin - at);
      if (!isDeclared) out_ += declaration();
      isDeclared = true;
      const std::string name = string(module_.text(f.name)), file = string("facts");
      std::vector<std::string> messages;
      for (const Check& c : checks) messages.push_back(string(c.text));
      out_ += module_.source.substr(f.source.begin, f.body.begin + 1 - f.source.begin);
      out_ +=
          "\n{  // facts\n  .reg .pred %ptxopt_p, %ptxopt_q;\n  .reg .b32 %ptxopt_w;\n  .reg .b64 %ptxopt_v, "
          "%ptxopt_r, %ptxopt_s;\n";
      for (std::size_t i = 0; i < checks.size(); ++i) check(checks[i], i, messages[i], file, name);
      out_ += "}\n";
      at = f.body.begin + 1;
    }
    return out_ + std::string(module_.source.substr(at));
  }

 private:
  // For __assertfail, as the module declares it later.
  std::string declaration() const {
    for (const Function& f : module_.functions)
      if (module_.text(f.name) == kName) return std::string(module_.text(f.source)) + '\n';
    return std::string(kAssertFail);
  }

  // Declares the bytes of a text, and gives their name.
  std::string string(std::string_view text) {
    std::string name = fmt::format("{}{}", prefix_, strings_++);
    out_ += fmt::format(".global .align 1 .b8 {}[{}] = {{", name, text.size() + 1);
    for (const char c : text) out_ += fmt::format("{}, ", static_cast<unsigned char>(c));
    out_ += "0};\n";
    return name;
  }

  void check(const Check& c, std::size_t i, const std::string& message, const std::string& file,
             const std::string& name) {
    const char sign = c.isUnsigned ? 'u' : 's';
    out_ += fmt::format("  {}\n  setp.ne.b32 %ptxopt_p, 0, 0;\n", c.read);
    const auto also = [&](const std::string& test) {
      out_ += fmt::format("  {}\n  or.pred %ptxopt_p, %ptxopt_p, %ptxopt_q;\n", test);
    };
    if (c.fact.least != INT64_MIN) also(fmt::format("setp.lt.{}64 %ptxopt_q, %ptxopt_v, {};", sign, c.fact.least));
    if (c.fact.most != INT64_MAX) also(fmt::format("setp.gt.{}64 %ptxopt_q, %ptxopt_v, {};", sign, c.fact.most));
    if (c.fact.multiple != 1)
      also(fmt::format("rem.{0}64 %ptxopt_r, %ptxopt_v, {1};\n  setp.ne.s64 %ptxopt_q, %ptxopt_r, 0;", sign,
                       c.fact.multiple));
    for (const std::string& test : c.more) also(test);
    out_ += fmt::format("  @!%ptxopt_p bra $ptxopt_holds_{};\n  {{\n", i);
    const auto pass = [&](unsigned number, const std::string& string) {
      out_ += fmt::format(
          "    .param .b64 {2}p{0};\n    mov.u64 %ptxopt_v, {1};\n    cvta.global.u64 %ptxopt_v, %ptxopt_v;\n"
          "    st.param.b64 [{2}p{0}], %ptxopt_v;\n",
          number, string, prefix_);
    };
    pass(0, message);
    pass(1, file);
    out_ += fmt::format("    .param .b32 {0}p2;\n    st.param.b32 [{0}p2], 0;\n", prefix_);
    pass(3, name);
    out_ += fmt::format(
        "    .param .b64 {0}p4;\n    st.param.b64 [{0}p4], 1;\n    call.uni __assertfail, ({0}p0, {0}p1, {0}p2, "
        "{0}p3, "
        "{0}p4);\n  }}\n",
        prefix_);
    out_ += fmt::format("$ptxopt_holds_{}:\n", i);
  }

  const Module& module_;
  std::string out_, prefix_ = "ptxopt_fact_";
  unsigned strings_ = 0;
};

}  // namespace

std::string withFactChecks(const Module& module) {
  if (module.facts.empty()) return std::string(module.source);
  needAssertFail(module);
  return withoutFactsComments(Writer(module).write());
}

}  // namespace ptxopt::facts
