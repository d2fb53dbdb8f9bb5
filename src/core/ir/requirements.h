// The least .version and the targets that opcodes, special registers and directives need: requirements.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/module.h"

namespace ptxopt {

// Some of the targets of requirements.def. A target that is not in it counts as one of any set.
class TargetSet {
 public:
  static TargetSet all();
  // The targets that `text` means: "", "90+", "100a 103a".
  static TargetSet of(std::string_view text);

  bool has(std::string_view target) const;  // "sm_90a"
  bool empty() const { return bits_ == 0; }
  // "sm_90" where that and all above are in it; "sm_100a, sm_103a" where not. If there are many, the first ones.
  std::string text() const;
  // The one with the least number, of several the one that is older; "sm_90".
  std::string least() const;
  TargetSet operator&(TargetSet other) const { return TargetSet(bits_ & other.bits_); }
  friend bool operator==(TargetSet, TargetSet) = default;

 private:
  explicit TargetSet(uint64_t bits) : bits_(bits) {}
  uint64_t bits_;  // by place in the table
};

struct Requirement {
  uint32_t version = 20;  // 86: 8.6
  TargetSet targets = TargetSet::all();

  void add(const Requirement& other);
  bool isAny() const { return version <= 20 && targets == TargetSet::all(); }
};

// For an opcode with all its words. Cost: linear in the rows of its base opcode.
Requirement requirementOf(const Module& module, const OpcodeForm& form);
// The .version since which there is no such opcode on the target; none where it has not ended.
std::optional<uint32_t> endOf(const Module& module, const OpcodeForm& form, std::string_view target);
// `name` with its percent sign and component.
Requirement requirementOfSpecial(std::string_view name);
// `word` with its dot; nothing where it asks for nothing.
std::optional<Requirement> requirementOfDirective(std::string_view word);
// The .version since which there is this target, "sm_90a"; none where it is not in the table.
std::optional<uint32_t> versionOfTarget(std::string_view target);
// "8.6"
std::string versionText(uint32_t version);

}  // namespace ptxopt
