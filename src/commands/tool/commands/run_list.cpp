#include "tool/commands/run_list.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "exec/opcode_support.h"

namespace ptxopt::tool {

std::string listExecutable() {
  std::string out;
  for (const exec::OpcodeSupport& s : exec::opcodeSupport()) {
    out += fmt::format("{:<40}{:<8}{}", s.row->key, exec::name(s.support), s.reason);
    while (out.back() == ' ') out.pop_back();
    out += '\n';
  }
  return out;
}

// Rows that are refused for one reason share a line.
std::string listNotExecutable() {
  std::vector<std::pair<std::string, std::string>> rows;  // what is refused, and for what opcodes
  std::map<std::string, std::size_t> rowOf;
  for (const exec::OpcodeSupport& s : exec::opcodeSupport()) {
    if (s.support == exec::Support::Full) continue;
    const std::string what =
        s.support == exec::Support::None ? fmt::format("all forms: {}", s.reason) : std::string(s.reason);
    const auto [at, isNew] = rowOf.emplace(what, rows.size());
    if (isNew) rows.emplace_back(what, "");
    std::string& keys = rows[at->second].second;
    keys += fmt::format("{}`{}`", keys.empty() ? "" : ", ", s.row->key);
  }
  std::string out = "| opcode | what is refused |\n|---|---|\n";
  for (const auto& [what, keys] : rows) out += fmt::format("| {} | {} |\n", keys, what);
  return out;
}

}  // namespace ptxopt::tool
