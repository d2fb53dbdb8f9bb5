#include "check/check.h"

#include <algorithm>

#include "check/checkers.h"
#include "text/parse.h"

namespace ptxopt::check {
namespace {

constexpr CheckInfo kChecks[] = {
#define PTXOPT_CHECK(id, name, severity, summary) {name, Severity::severity, summary},
#include "check/checks.def"
};

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool isOfName(std::string_view message) { return message.starts_with("undefined "); }

}  // namespace

std::span<const CheckInfo> checkTable() { return kChecks; }

Checked checkText(std::string_view text, const std::string& fileName, bool optix) {
  Checked result;
  const text::Recovered read = text::parseAll(text, fileName, optix);
  for (const text::ParseError& error : read.errors) {
    const bool isName = isOfName(error.message);
    result.hasSyntaxErrors |= !isName;
    result.findings.push_back({isName ? CheckId::UndefinedName : CheckId::Syntax, error.offset, error.message});
  }
  if (text.starts_with(kByteOrderMark)) {
    result.hasSyntaxErrors = true;
    result.findings.push_back({CheckId::Syntax, 0, "a byte order mark, which ptxas refuses"});
  }
  if (read.module == nullptr || read.module->versionMajor == 0 || read.module->target.empty()) return result;
  const Module& module = *read.module;
  result.version = versionText(module.versionMajor * 10 + module.versionMinor);
  result.target = module.architecture();
  result.isRead = read.errors.empty();
  Findings found;
  checkInstructions(module, found);
  result.needs = checkNeeds(module, found);
  if (result.isRead) {
    checkFlow(module, found);
    checkKnownBad(module, found);
  }
  const auto skipped = static_cast<std::size_t>(module.source.data() - text.data());  // a byte order mark
  for (Finding& finding : found) finding.offset += skipped;
  result.needs.versionOffset += skipped;
  result.needs.targetOffset += skipped;
  std::ranges::move(found, std::back_inserter(result.findings));
  std::ranges::stable_sort(result.findings, {}, &Finding::offset);
  return result;
}

}  // namespace ptxopt::check
