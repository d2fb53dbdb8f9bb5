// Each scope remembers how many nodes and ranges there were when it opened and pops down to these when it closes. An
// epoch makes all remembered meanings void at once.
#include "text/names.h"

#include <charconv>
#include <cstring>

namespace ptxopt::text {
namespace {

constexpr std::size_t kGrowth = 1024;

uint64_t key(uint32_t high, uint32_t low) { return static_cast<uint64_t>(high) << 32 | low; }

// `%r15` to `%r` and 15; the number is out of range, UINT32_MAX, when it has no digits or too many.
struct Numbered {
  std::string_view prefix;
  uint32_t number = UINT32_MAX;
};
Numbered splitNumber(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  Numbered result{name.substr(0, digits)};
  std::from_chars(name.data() + digits, name.data() + name.size(), result.number);
  return result;
}

}  // namespace

void Names::startFunction(Function& function) {
  while (!scopes_.empty()) {
    pop(scopes_.back());
    scopes_.pop_back();
  }
  function_ = &function;
  parents_.clear();
  labels_.clear();
  far_.clear();
  forget();
  parents_.push_back(kNone);
  scopes_.push_back({0, 0, 0});
}

void Names::openScope() {
  const auto id = static_cast<uint32_t>(parents_.size());
  parents_.push_back(scope());
  scopes_.push_back({id, nodes_.size(), ranges_.size()});
}

void Names::closeScope() {
  const Scope scope = scopes_.back();
  if (nodes_.size() != scope.nodes) forget();
  pop(scope);
  scopes_.pop_back();
}

void Names::pop(const Scope& scope) {
  while (nodes_.size() > scope.nodes) {
    heads_[nodes_.back().name.value].of(nodes_.back().kind) = nodes_.back().next;
    nodes_.pop_back();
  }
  ranges_.resize(scope.ranges);
}

void Names::push(NodeKind kind, NameId name, uint32_t id) {
  if (heads_.size() <= name.value) heads_.resize(std::max(interner_.size(), std::size_t{name.value} + 1));
  uint32_t& head = heads_[name.value].of(kind);
  nodes_.push_back({kind, name, scope(), head, id});
  head = static_cast<uint32_t>(nodes_.size() - 1);
}

bool Names::declare(NodeKind kind, NameId name, uint32_t id) {
  const uint32_t same = heads(name).exact;
  if (same != kNone && nodes_[same].scope == scope()) return false;
  if (kind != NodeKind::Label && labelIn(scope(), name).valid()) return false;
  const Numbered numbered = splitNumber(interner_[name]);
  if (numbered.number != UINT32_MAX) {
    const NameId prefix = interner_.intern(numbered.prefix);
    // `%r5` beside `%r<10>` in one scope is twice the same name, in either order.
    const uint32_t range = heads(prefix).range;
    if (kind == NodeKind::Register && range != kNone && nodes_[range].scope == scope() &&
        numbered.number < ranges_[nodes_[range].id].count)
      return false;
    push(NodeKind::Numbered, prefix, numbered.number);
  }
  push(kind, name, id);
  forget();
  return true;
}

bool Names::declareRegister(NameId name, RegId reg) { return declare(NodeKind::Register, name, reg.value); }
bool Names::declareVariable(NameId name, VariableId variable) {
  return declare(NodeKind::Variable, name, variable.value);
}

bool Names::declareLabel(NameId name, LabelId label) {
  if (!labels_.emplace(key(scope(), name.value), label).second) return false;
  // A label needs a declaration of its own only where it hides another name.
  return heads(name).exact == kNone || declare(NodeKind::Label, name, label.value);
}

bool Names::declareRange(NameId prefix, uint32_t count, ScalarType type, uint8_t lanes, bool isParameter) {
  const uint32_t same = heads(prefix).range;
  if (same != kNone && nodes_[same].scope == scope()) return false;
  for (uint32_t n = heads(prefix).numbered; n != kNone && nodes_[n].scope == scope(); n = nodes_[n].next)
    if (nodes_[n].id < count) return false;
  ranges_.push_back({count, type, lanes, isParameter, serial_++, {}});
  push(NodeKind::Range, prefix, static_cast<uint32_t>(ranges_.size() - 1));
  forget();
  return true;
}

RegId Names::member(Range& range, uint32_t index, NameId name) {
  // Indices that come about in order are kept in a vector; what lies far beyond goes to a map.
  std::vector<RegId>& near = range.members;
  if (index >= near.size() && index < near.size() * 2 + kGrowth)
    near.resize(std::min(near.size() * 2 + kGrowth, std::size_t{range.count}));
  RegId found;
  if (index < near.size()) found = near[index];
  if (!found.valid() && !far_.empty())
    if (const auto it = far_.find(key(range.serial, index)); it != far_.end()) found = it->second;
  if (!found.valid()) {
    found = RegId(function_->registers.size());
    function_->registers.push_back(
        {.name = name, .type = range.type, .lanes = range.lanes, .isParameter = range.isParameter});
    if (index >= near.size()) far_.emplace(key(range.serial, index), found);
  }
  if (index < near.size()) near[index] = found;
  return found;
}

Meaning Names::search(NameId name) {
  const uint32_t exact = heads(name).exact;
  const Numbered numbered = splitNumber(interner_[name]);
  uint32_t range = kNone;
  if (numbered.number != UINT32_MAX) {
    if (const NameId prefix = interner_.find(numbered.prefix); prefix.valid()) {
      range = heads(prefix).range;
      while (range != kNone && ranges_[nodes_[range].id].count <= numbered.number) range = nodes_[range].next;
    }
  }
  if (range != kNone && (exact == kNone || exact < range))
    return {Meaning::Register, member(ranges_[nodes_[range].id], numbered.number, name).value};
  if (exact == kNone) return {};
  const Node& node = nodes_[exact];
  return {node.kind == NodeKind::Register   ? Meaning::Register
          : node.kind == NodeKind::Variable ? Meaning::Variable
                                            : Meaning::Label,
          node.id};
}

Meaning Names::find(NameId name) {
  if (remembered_.size() <= name.value)
    remembered_.resize(std::max(interner_.size() + interner_.size() / 2, std::size_t{name.value} + 1));
  Remembered& known = remembered_[name.value];
  if (known.epoch != epoch_) {
    const Meaning meaning = search(name);
    if (meaning.kind == Meaning::Nothing) return meaning;
    remembered_[name.value] = {epoch_, meaning};
    return meaning;
  }
  return known.meaning;
}

// Whether all numbers after the prefix mean members of the range declared last: no other name is spelled so.
bool Names::remember(RecentPrefix& recent, std::string_view prefix, uint64_t packed) {
  const NameId name = interner_.find(prefix);
  if (!name.valid() || heads(name).range == kNone || heads(name).numbered != kNone) return false;
  const uint32_t range = nodes_[heads(name).range].id;
  recent = {packed, epoch_, range};
  return true;
}

RegId Names::findNumbered(std::string_view text) {
  constexpr uint32_t kHash = 0x9e3779b1;  // 2^32 by the golden ratio
  uint32_t first = 0, last = 0;
  if (text.size() < sizeof first || text.size() > 2 * sizeof first) return findByPrefix(text);
  std::memcpy(&first, text.data(), sizeof first);
  std::memcpy(&last, text.data() + text.size() - sizeof last, sizeof last);
  RecentRegister& recent = recentRegisters_[(first + last) * kHash >> (32 - kRecentBits)];
  if (recent.first == first && recent.last == last && recent.length == text.size() && recent.epoch == epoch_)
    return recent.reg;
  const RegId found = findByPrefix(text);
  if (found.valid()) recent = {first, last, static_cast<uint32_t>(text.size()), epoch_, found};
  return found;
}

RegId Names::findByPrefix(std::string_view text) {
  std::size_t digits = text.size();
  uint32_t number = 0, scale = 1;
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') {
    --digits;
    number += static_cast<uint32_t>(text[digits] - '0') * scale;
    scale *= 10;
  }
  constexpr std::size_t kMostDigits = 9;  // number and scale fit
  const std::size_t count = text.size() - digits;
  if (count == 0 || count > kMostDigits || digits == 0 || digits > 8 || (text[digits] == '0' && count > 1))
    return {};
  uint64_t packed = 0;
  for (std::size_t i = 0; i < digits; ++i) packed = packed << 8 | static_cast<unsigned char>(text[i]);
  RecentPrefix& recent = recent_[(packed ^ packed >> 8) % kRecent];
  if ((recent.packed != packed || recent.epoch != epoch_) && !remember(recent, text.substr(0, digits), packed))
    return {};
  Range& range = ranges_[recent.range];
  if (number >= range.count) return {};
  if (number < range.members.size() && range.members[number].valid()) return range.members[number];
  return member(range, number, interner_.intern(text));
}

bool Names::hidesVariable(NameId name, bool isRange) {
  if (!isRange) return heads(name).exact != kNone && find(name).kind == Meaning::Variable;
  return heads(name).numbered != kNone;  // or a register: these are few
}

LabelId Names::labelIn(uint32_t scope, NameId name) const {
  const auto it = labels_.find(key(scope, name.value));
  return it == labels_.end() ? LabelId() : it->second;
}

}  // namespace ptxopt::text
