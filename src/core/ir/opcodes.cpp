// Rows are indexed by base opcode, those that ask for more modifiers first; the first whose modifiers are all present
// is taken. Modifiers then add effects of their own.
#include "ir/opcodes.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace ptxopt {
namespace {

using namespace effect;

constexpr OpcodeRow kTable[] = {
#define PTX_OPCODE(op, key, operands, effects, summary) {Op::op, key, operands, (effects), summary},
#include "ir/opcodes.def"
};

// Modifiers that add effects to whatever they stand on.
struct ModifierEffect {
  std::string_view modifier;
  uint32_t effects;
};
constexpr ModifierEffect kModifierEffects[] = {
    {"cc", CarryOut},
    {"volatile", Volatile},
    {"relaxed", Volatile},
    {"mmio", Volatile},
    {"acquire", Volatile | Ordering},
    {"release", Volatile | Ordering},
    {"acq_rel", Volatile | Ordering},
    {"sc", Volatile | Ordering},
};

struct Key {
  std::vector<std::string_view> modifiers;
  const OpcodeRow* row;
};

// Base opcode -> its rows, those that ask for more first.
const std::unordered_map<std::string_view, std::vector<Key>>& rowsByBase() {
  static const auto index = [] {
    std::unordered_map<std::string_view, std::vector<Key>> map;
    for (const OpcodeRow& row : kTable) {
      auto parts = opcodeParts(row.key);
      const std::string_view base = parts.front();
      parts.erase(parts.begin());
      map[base].push_back({std::move(parts), &row});
    }
    for (auto& [base, keys] : map)
      std::stable_sort(keys.begin(), keys.end(),
                       [](const Key& a, const Key& b) { return a.modifiers.size() > b.modifiers.size(); });
    return map;
  }();
  return index;
}

}  // namespace

std::span<const OpcodeRow> opcodeTable() { return kTable; }

std::string effectNames(uint32_t effects) {
  static constexpr std::string_view kNames[] = {
      "read",   "write",           "side",   "convergent", "async",     "volatile", "ordering",  "carry-in",
      "branch", "indirect-branch", "return", "exit",       "no-return", "call",     "carry-out", "unknown"};
  std::string result;
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if ((effects >> i & 1) == 0) continue;
    if (!result.empty()) result += ',';
    result += kNames[i];
  }
  return result.empty() ? "pure" : result;
}

std::vector<std::string_view> opcodeParts(std::string_view opcode) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t dot = opcode.find('.');
    parts.push_back(opcode.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    opcode.remove_prefix(dot + 1);
  }
}

OpcodeForm readOpcode(std::string_view text) {
  const auto parts = opcodeParts(text);
  const std::span modifiers(parts.begin() + 1, parts.end());
  const OpcodeRow* row = nullptr;
  Op family = Op::Unknown;
  if (const auto it = rowsByBase().find(parts.front()); it != rowsByBase().end()) {
    for (const Key& key : it->second) {
      if (std::all_of(key.modifiers.begin(), key.modifiers.end(), [&](std::string_view wanted) {
            return std::find(modifiers.begin(), modifiers.end(), wanted) != modifiers.end();
          })) {
        row = key.row;
        break;
      }
    }
    if (const Key& last = it->second.back(); last.modifiers.empty()) family = last.row->op;
  }
  OpcodeForm form{decodeFields(row != nullptr ? row->op : Op::Unknown, modifiers)};
  form.family = family;
  form.row = row;
  if (row != nullptr)
    form.effects = form.row->effects;
  else
    form.effects = Read | Write | Side | Convergent | Async | Volatile | Ordering | CarryIn | CarryOut | Unknown;

  for (const std::string_view modifier : modifiers)
    for (const auto& [name, effects] : kModifierEffects)
      if (modifier == name) form.effects |= effects;
  return form;
}

}  // namespace ptxopt
