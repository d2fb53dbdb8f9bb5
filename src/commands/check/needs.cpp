// The least .version and .target: of opcodes, special registers and directives, by requirements.def. What each asks for holds
// wherever it stands, so that a text needs the most that anything in it needs.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "check/checkers.h"
#include "text/directives.h"

namespace ptxopt::check {
namespace {

class NeedsChecker {
 public:
  NeedsChecker(const Module& module, Findings& findings)
      : module_(module), findings_(findings), version_(module.versionMajor * 10 + module.versionMinor) {
    target_ = module.architecture();
  }

  Needs run() {
    const bool hasContent = !module_.functions.empty() || !module_.variables.empty();  // ptxas looks only then
    if (const auto since = versionOfTarget(target_); since && version_ < *since && hasContent)
      findings_.push_back({CheckId::TargetVersion, targetOffset(),
                           fmt::format(".target {} needs .version {}", target_, versionText(*since))});
    for (const text::Word& word : text::directivesOf(module_.source))
      if (const auto needs = requirementOfDirective(word.text)) look(*needs, word.text, word.offset);
    if (module_.isDebug) lookAtThing("debug", targetOffset());
    for (const Variable& v : module_.variables) lookAtInitializer(v.declarator.initializer);
    for (const Item& item : module_.items)
      if (item.kind == ItemKind::Section) lookAtSection(item.source);
    std::vector<std::optional<Requirement>> ofOpcode(module_.opcodes.size());
    for (const Function& f : module_.functions)
      for (const InstrId id : f) lookAt(f, f[id], ofOpcode);
    const std::string least = needs_.least.targets.least();
    if (const auto since = versionOfTarget(least); since && needs_.least.version < *since) {
      needs_.least.version = *since;
      needs_.versionReason = fmt::format(".target {}", least);
      needs_.versionOffset = needs_.targetOffset;
    }
    return std::move(needs_);
  }

 private:
  std::size_t targetOffset() const {
    for (const text::Word& word : text::directivesOf(module_.source))
      if (word.text == ".target") return word.offset;
    return 0;
  }

  void lookAtThing(std::string_view name, std::size_t offset) {
    if (const auto needs = requirementOfDirective(name)) look(*needs, name, offset);
  }

  void lookAtInitializer(SourceRange range) {
    const std::string_view text = module_.text(range);
    if (text.find("generic") != std::string_view::npos) lookAtThing("generic()", range.begin);
    for (std::size_t at = text.find('('); at != std::string_view::npos && at > 0; at = text.find('(', at + 1))
      if (std::isxdigit(static_cast<unsigned char>(text[at - 1])) != 0 &&
          text.substr(0, at).find("0x") != std::string_view::npos)
        return lookAtThing("a mask in an initializer", range.begin);
  }

  void lookAtSection(SourceRange range) {
    const std::string_view text = module_.text(range);
    if (text.find(':') != std::string_view::npos) lookAtThing("a label in a section", range.begin);
    if (text.find('-') != std::string_view::npos && text.find(':') != std::string_view::npos)
      lookAtThing("a difference of labels in a section", range.begin);
  }

  void lookAt(const Function& f, const Instruction& i, std::vector<std::optional<Requirement>>& ofOpcode) {
    if (i.kind == InstrKind::Pragma) {
      const std::string_view text = module_.text(NameId(i.payload));
      const std::size_t begin = text.find('"') + 1;
      const std::string_view word = text.substr(begin, text.find_first_of("\" ", begin) - begin);
      if (const auto needs = requirementOfDirective(word)) look(*needs, word, i.sourceBegin);
    }
    if (!i.isInstruction()) return;
    std::optional<Requirement>& needs = ofOpcode[i.payload];
    if (!needs) needs = requirementOf(module_, module_.form(i));
    if (!needs->isAny()) look(*needs, module_.printedOpcode(i), i.sourceBegin);
    if (const auto end = endOf(module_, module_.form(i), target_); end && version_ >= *end)
      findings_.push_back({CheckId::Ended, i.sourceBegin,
                           fmt::format("'{}' is not in .version {} and newer on {}", module_.printedOpcode(i),
                                       versionText(*end), target_)});
    for (const Operand& o : f.operandsOf(i))
      if (o.kind == OperandKind::SpecialRegister) {
        const std::string_view name = module_.text(NameId(o.payload));
        if (const Requirement special = requirementOfSpecial(name); !special.isAny())
          look(special, name, i.sourceBegin);
      }
  }

  void look(const Requirement& needs, std::string_view what, std::size_t offset) {
    if (needs.version > needs_.least.version) {
      needs_.versionReason = fmt::format("'{}'", what);
      needs_.versionOffset = offset;
    }
    if ((needs.targets & needs_.least.targets) != needs_.least.targets) {
      needs_.targetReason = fmt::format("'{}'", what);
      needs_.targetOffset = offset;
    }
    needs_.least.add(needs);
    if (needs.version > std::max(version_, 20u))  // older ones have no targets of today
      findings_.push_back(
          {CheckId::NeedsVersion, offset, fmt::format("'{}' needs .version {}", what, versionText(needs.version))});
    if (!needs.targets.has(target_))
      findings_.push_back(
          {CheckId::NeedsTarget, offset, fmt::format("'{}' needs .target {}", what, needs.targets.text())});
  }

  const Module& module_;
  Findings& findings_;
  uint32_t version_;
  std::string_view target_;
  Needs needs_;
};

}  // namespace

Needs checkNeeds(const Module& module, Findings& findings) { return NeedsChecker(module, findings).run(); }

}  // namespace ptxopt::check
