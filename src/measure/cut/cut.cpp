// Kernels that reach no changed function and no function of another file are marked by bit vectors over the call graph,
// and their ranges are left out of the text.
#include "cut/cut.h"

#include <fmt/format.h>

#include <algorithm>

namespace ptxopt::cut {

std::string_view withoutMark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

BitVector cuttableKernels(const std::vector<FunctionOutcome>& functions) {
  if (std::ranges::any_of(functions, &FunctionOutcome::takesAddress)) return BitVector(functions.size());
  const BitVector leaves = functionsThat(functions, [](const FunctionOutcome& f) { return !f.elsewhere.empty(); });
  return functionsThat(functions, &FunctionOutcome::isKernel).andNot(CallGraph(functions).whoReach(leaves));
}

BitVector unaffectedKernels(const std::vector<FunctionOutcome>& functions) {
  return cuttableKernels(functions).andNot(
      CallGraph(functions).whoReach(functionsThat(functions, &FunctionOutcome::changed)));
}

uint64_t bytesOf(const std::vector<FunctionOutcome>& functions, const BitVector& which) {
  uint64_t bytes = 0;
  which.forEach([&](std::size_t f) { bytes += functions[f].end - functions[f].begin; });
  return bytes;
}

std::string cutText(std::string_view input, const std::vector<FunctionOutcome>& functions, const BitVector& which) {
  input = withoutMark(input);
  std::string text;
  std::size_t at = 0;
  which.forEach([&](std::size_t f) {
    text += input.substr(at, functions[f].begin - at);
    at = functions[f].end;
  });
  text += input.substr(at);
  return text;
}

std::string whyWhole(std::string_view text, const std::vector<FunctionOutcome>& functions) {
  if (std::ranges::any_of(functions, &FunctionOutcome::takesAddress)) return "it takes the address of a function";
  if (text.find(".alias") != std::string_view::npos) return "it has an alias";
  if (text.find(".debug_info") != std::string_view::npos) return "it has debug information";
  return {};
}

std::string alone(std::string_view text, const std::vector<FunctionOutcome>& functions, const CallGraph& calls,
                  uint32_t function) {
  BitVector others(functions.size());
  for (std::size_t f = 0; f < functions.size(); ++f) others.set(f);
  if (function != CallGraph::kNone)
    for (const uint32_t f : calls.closure(function)) others.reset(f);
  return cutText(text, functions, others);
}

std::string renamedKernel(std::string_view text, const FunctionOutcome& kernel, std::string_view name) {
  constexpr std::string_view kEntry = ".entry", kBlanks = " \t\r\n";
  const std::string_view all = withoutMark(text).substr(kernel.begin, kernel.end - kernel.begin);
  const std::size_t entry = all.find(kEntry);
  const std::size_t at = entry < kernel.body - kernel.begin ? all.find_first_not_of(kBlanks, entry + kEntry.size())
                                                            : std::string_view::npos;
  if (at == std::string_view::npos || !all.substr(at).starts_with(kernel.name)) return {};
  const std::string_view rest = all.substr(at + kernel.name.size());
  if (rest.find_first_of("({ \t\r\n.") != 0) return {};  // another name, which begins so
  return fmt::format("{}{}{}\n", all.substr(0, at), name, rest);
}

}  // namespace ptxopt::cut
