#include <fmt/format.h>

#include <algorithm>

#include "dump/dumps.h"

namespace ptxopt::dump {
namespace {

// Those of `registers`, in order and once each, file by file.
void appendSet(std::string& out, const FunctionView& view, const RegisterFiles& files, std::string_view where,
               std::vector<RegId> registers) {
  std::sort(registers.begin(), registers.end());
  registers.erase(std::unique(registers.begin(), registers.end()), registers.end());
  for (const RegisterFile file : kRegisterFiles) {
    const std::size_t before = out.size();
    for (const RegId r : registers) {
      if (files.of(r) != file) continue;
      if (out.size() == before) out += fmt::format("    {} {}:", where, name(file));
      out += fmt::format(" {}", view.registerName(r));
    }
    if (out.size() != before) out += '\n';
  }
}

}  // namespace

void appendLiveness(std::string& out, FunctionView& view) {
  const Cfg& cfg = view.analyses.cfg();
  const Liveness& liveness = view.analyses.liveness(Liveness::Strength::Plain);
  out += fmt::format("{}: liveness, {}\n", view.name(), liveness.howSolved());
  if (!liveness.solved()) return;
  if (!view.function.returnRegisters.empty()) {
    out += "  live where it returns:";
    for (const RegId r : view.function.returnRegisters) out += fmt::format(" {}", view.registerName(r));
    out += '\n';
  }
  for (uint32_t n = 0; n < cfg.size(); ++n) {
    const BlockId b(n);
    out += fmt::format("  {}{}\n", view.blockTitle(b), cfg[b].reachable ? "" : ", unreachable");
    std::vector<RegId> in, atEnd;
    liveness.forEachLiveIn(b, [&](RegId r) { in.push_back(r); });
    for (const BlockId to : cfg.successors(b)) liveness.forEachLiveIn(to, [&](RegId r) { atEnd.push_back(r); });
    appendSet(out, view, view.analyses.registerFiles(), "in ", std::move(in));
    appendSet(out, view, view.analyses.registerFiles(), "out", std::move(atEnd));
  }
}

}  // namespace ptxopt::dump
