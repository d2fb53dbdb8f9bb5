// Rows are indexed by base opcode, those that ask for more modifiers first; the first whose modifiers are all present
// is taken. Modifiers then add effects of their own.
#include "ir/opcodes.h"

#include <algorithm>
#include <string>

#include "support/table_index.h"

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

constexpr auto modifiersOf(std::string_view key) { return std::count(key.begin(), key.end(), '.'); }

// Among the rows of a base opcode, those that ask for more modifiers come first.
constexpr TableIndex kByBase(
    kTable, [](const OpcodeRow& row) { return row.base(); },
    [](const OpcodeRow& row) { return -modifiersOf(row.key); });

// Whether these have each modifier of the key.
bool hasAll(std::span<const std::string_view> modifiers, std::string_view key) {
  for (std::size_t dot = key.find('.'); dot != std::string_view::npos;) {
    key.remove_prefix(dot + 1);
    dot = key.find('.');
    if (std::ranges::find(modifiers, key.substr(0, dot)) == modifiers.end()) return false;
  }
  return true;
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
  parts.reserve(8);  // few have more
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
  const auto rows = kByBase.rows(parts.front());
  const auto match = std::ranges::find_if(rows, [&](const OpcodeRow& r) { return hasAll(modifiers, r.key); });
  if (match != rows.end()) row = &*match;
  if (!rows.empty() && modifiersOf(rows.back().key) == 0) family = rows.back().op;
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
