// Each kernel with facts is copied textually after itself, under its name with the suffix and with its facts as a
// comment. A kernel that keeps state in variables of its own is refused.
#include "facts/specialize.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "facts/comments.h"
#include "facts/facts.h"
#include "support/json.h"
#include "text/lexer.h"

namespace ptxopt::facts {
namespace {

bool isSuffix(std::string_view suffix) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
  return !suffix.empty() && suffix.find_first_not_of(kLetters) == std::string_view::npos;
}

// Where the kernel's name stands: before its parameters and directives no other word is one.
std::size_t placeOfName(std::string_view text, std::string_view name) {
  text::Lexer lexer(text);
  text::Token token;
  do lexer.next(token);
  while (token.type != text::Token::kEnd && token.view() != name);
  return static_cast<std::size_t>(token.begin - text.data());
}

// Launches share what a kernel keeps in variables of its own; those of a copy would be others.
bool keepsState(const Module& module, const Function& f) {
  return std::ranges::any_of(f.variables, [&](const Variable& v) {
    const DeclaredSpace space = module.declarationForms[v.form].space;
    return space == DeclaredSpace::Global || space == DeclaredSpace::Const || space == DeclaredSpace::Tex;
  });
}

// The comment that says it.
std::string commentOf(const Module& module, const Function& f) {
  const KernelFacts &said = module.facts[f.index], all = factsOfAll(module, f);
  const auto number = [](const NumberFact& fact) {
    Json json = Json::object();
    if (fact.least != INT64_MIN) json["least"] = fact.least;
    if (fact.most != INT64_MAX) json["most"] = fact.most;
    if (fact.multiple != 1) json["multiple"] = fact.multiple;
    return json;
  };
  Json facts = Json::object();
  for (std::size_t i = 0; i < 3; ++i) {
    facts["block"].push_back(number(said.block[i]));
    facts["grid"].push_back(number(said.grid[i]));
  }
  if (said.iterations != 0) facts["iterations"] = said.iterations;
  for (const LoopFact& loop : said.loops)
    facts["loops"].push_back(
        {{"iterations", loop.iterations}, {"label", module.text(f.labels[loop.header.value].name)}});
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    const PointerFact& memory = said.pointers[i];
    if (said.parameters[i] == all.parameters[i] && memory == all.pointers[i]) continue;
    Json parameter = Json::object();
    if (memory.bytes != 0) parameter["bytes"] = memory.bytes;
    parameter["index"] = i;
    if (said.parameters[i] != all.parameters[i]) parameter.update(number(said.parameters[i]));
    if (memory.isNoalias) parameter["noalias"] = true;
    if (memory.isReadonly) parameter["readonly"] = true;
    facts["parameters"].push_back(parameter);
  }
  return fmt::format("{} {}", kFactsComment, dumpJson(facts));
}

}  // namespace

Specialized withSpecialized(const Module& module, std::string_view suffix) {
  if (!isSuffix(suffix))
    throw std::invalid_argument(fmt::format("'{}' cannot end a name: letters, digits, _ and $", suffix));
  Specialized made;
  std::size_t at = 0;
  for (const Function& f : module.functions) {
    if (!f.hasBody || !hasFacts(module, f)) continue;
    const std::string name(module.text(f.name)), copy = name + std::string(suffix);
    if (module.names.find(copy).valid())
      throw std::invalid_argument(fmt::format("the copy of '{}' would be '{}', which is there", name, copy));
    if (keepsState(module, f))
      throw std::invalid_argument(fmt::format("'{}' has a variable that lasts longer than a launch", name));
    const std::string_view text = module.text(f.source);
    const std::size_t place = placeOfName(text, name);
    made.text += module.source.substr(at, f.source.begin - at);
    made.text += withoutFactsComments(text);
    const std::size_t body = f.body.begin + 1 - f.source.begin, after = place + name.size();
    made.text += fmt::format("\n\n{}{}{}\n{}\n{}", text.substr(0, place), copy,
                             withoutFactsComments(text.substr(after, body - after)), commentOf(module, f),
                             withoutFactsComments(text.substr(body)));
    at = f.source.end;
    made.kernels.push_back(name);
  }
  made.text += module.source.substr(at);
  return made;
}

}  // namespace ptxopt::facts
