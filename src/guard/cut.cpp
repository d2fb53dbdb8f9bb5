#include "guard/cut.h"

#include <algorithm>

namespace ptxopt {
namespace {

constexpr std::string_view kEmptyBody = "{\n\tret;\n}";

// The functions for which `is` holds, and all that reach one of them.
template <typename Is>
std::vector<bool> whoReach(const std::vector<FunctionOutcome>& functions, Is is) {
  std::vector<std::vector<uint32_t>> mentionedBy(functions.size());
  for (uint32_t f = 0; f < functions.size(); ++f)
    for (const uint32_t to : functions[f].mentions) mentionedBy[to].push_back(f);
  std::vector<bool> found(functions.size());
  std::vector<uint32_t> work;
  const auto add = [&](uint32_t f) {
    if (found[f]) return;
    found[f] = true;
    work.push_back(f);
  };
  for (uint32_t f = 0; f < functions.size(); ++f)
    if (is(functions[f])) add(f);
  while (!work.empty()) {
    const uint32_t f = work.back();
    work.pop_back();
    for (const uint32_t by : mentionedBy[f]) add(by);
  }
  return found;
}

}  // namespace

std::string_view withoutMark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

std::vector<bool> cuttableKernels(const std::vector<FunctionOutcome>& functions) {
  std::vector<bool> found(functions.size());
  if (std::ranges::any_of(functions, &FunctionOutcome::takesAddress)) return found;
  const std::vector<bool> stays =
      whoReach(functions, [](const FunctionOutcome& f) { return !f.elsewhere.empty(); });
  for (std::size_t f = 0; f < functions.size(); ++f) found[f] = functions[f].isKernel && !stays[f];
  return found;
}

std::vector<bool> unaffectedKernels(const std::vector<FunctionOutcome>& functions) {
  std::vector<bool> found = cuttableKernels(functions);
  const std::vector<bool> isAffected = whoReach(functions, [](const FunctionOutcome& f) { return f.changed; });
  for (std::size_t f = 0; f < functions.size(); ++f) found[f] = found[f] && !isAffected[f];
  return found;
}

uint64_t bytesOf(const std::vector<FunctionOutcome>& functions, const std::vector<bool>& which) {
  uint64_t bytes = 0;
  for (std::size_t f = 0; f < functions.size(); ++f)
    if (which[f]) bytes += functions[f].end - functions[f].body;
  return bytes;
}

std::string cutText(std::string_view input, const std::vector<FunctionOutcome>& functions,
                    const std::vector<bool>& which) {
  input = withoutMark(input);
  std::string text;
  std::size_t at = 0;
  for (std::size_t f = 0; f < functions.size(); ++f) {
    if (!which[f]) continue;
    text += input.substr(at, functions[f].body - at);
    text += kEmptyBody;
    at = functions[f].end;
  }
  text += input.substr(at);
  return text;
}

}  // namespace ptxopt
