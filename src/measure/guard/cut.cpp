#include "guard/cut.h"

#include <algorithm>

#include "guard/closure.h"

namespace ptxopt {
namespace {

constexpr std::string_view kEmptyBody = "{\n\tret;\n}";

// These functions, and all that reach one of them.
BitVector whoReach(const std::vector<FunctionOutcome>& functions, BitVector found) {
  std::vector<std::vector<uint32_t>> mentionedBy(functions.size());
  for (uint32_t f = 0; f < functions.size(); ++f)
    for (const uint32_t to : functions[f].mentions) mentionedBy[to].push_back(f);
  std::vector<uint32_t> work;
  found.forEach([&](std::size_t f) { work.push_back(static_cast<uint32_t>(f)); });
  while (!work.empty()) {
    const uint32_t f = work.back();
    work.pop_back();
    for (const uint32_t by : mentionedBy[f]) {
      if (found.test(by)) continue;
      found.set(by);
      work.push_back(by);
    }
  }
  return found;
}

}  // namespace

std::string_view withoutMark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

BitVector cuttableKernels(const std::vector<FunctionOutcome>& functions) {
  if (std::ranges::any_of(functions, &FunctionOutcome::takesAddress)) return BitVector(functions.size());
  const BitVector leaves = functionsThat(functions, [](const FunctionOutcome& f) { return !f.elsewhere.empty(); });
  return functionsThat(functions, &FunctionOutcome::isKernel).andNot(whoReach(functions, leaves));
}

BitVector unaffectedKernels(const std::vector<FunctionOutcome>& functions) {
  return cuttableKernels(functions).andNot(
      whoReach(functions, functionsThat(functions, &FunctionOutcome::changed)));
}

uint64_t bytesOf(const std::vector<FunctionOutcome>& functions, const BitVector& which) {
  uint64_t bytes = 0;
  which.forEach([&](std::size_t f) { bytes += functions[f].end - functions[f].body; });
  return bytes;
}

std::string cutText(std::string_view input, const std::vector<FunctionOutcome>& functions, const BitVector& which) {
  input = withoutMark(input);
  std::string text;
  std::size_t at = 0;
  which.forEach([&](std::size_t f) {
    text += input.substr(at, functions[f].body - at);
    text += kEmptyBody;
    at = functions[f].end;
  });
  text += input.substr(at);
  return text;
}

}  // namespace ptxopt
