// Which register, variable or label a name means at this point of a function.
//
// PTX scopes nest, and an inner declaration hides an outer one from its place on. `.reg .b32 %r<100>` declares a
// hundred names at once; registers of a range come into being when they are first used, so `%r<4000000000>` costs
// nothing. As ptxas has it: the range of `%r15` is looked for under `%r` (all trailing digits off), `%r07` is `%r7`
// when no register is spelled so, an inner range hides only the indices it has, and registers, variables and labels
// of one scope share their names.
//
// Algorithm: declarations form a stack, threaded by name into lists whose heads are found by NameId; leaving a
// scope pops it. What a name was last found to mean is remembered until a declaration or the end of a scope may
// change it, so nearly every look-up is one array access; for members of ranges, with the prefix as the key, not
// even a hash.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/function.h"

namespace ptxopt::text {

struct Meaning {
  enum Kind : uint8_t { Nothing, Register, Variable, Label };
  Kind kind = Nothing;
  uint32_t id = 0;
};

class Names {
 public:
  explicit Names(Interner& interner) : interner_(interner) {}

  void startFunction(Function& function);
  void openScope();
  void closeScope();  // not the outermost
  std::size_t depth() const { return scopes_.size(); }
  uint32_t scope() const { return scopes_.back().id; }
  // The scope around `scope`; Id::kNone for the outermost.
  uint32_t parentOf(uint32_t scope) const { return parents_[scope]; }

  // These return false when the scope already has the name.
  [[nodiscard]] bool declareRegister(NameId name, RegId reg);
  [[nodiscard]] bool declareRange(NameId prefix, uint32_t count, ScalarType type, uint8_t lanes, bool isParameter);
  [[nodiscard]] bool declareVariable(NameId name, VariableId variable);
  [[nodiscard]] bool declareLabel(NameId name, LabelId label);

  Meaning find(NameId name);
  // The register that `text` (`%r15`) means as a member of a range, found without interning it; no id when that
  // takes a closer look by `find`.
  RegId findNumbered(std::string_view text);
  // Whether a declaration of `name`, or of names that begin with it, here hides a variable of the function.
  bool hidesVariable(NameId name, bool isRange);
  // The label `name` of just this scope, open or closed.
  LabelId labelIn(uint32_t scope, NameId name) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // Range and Numbered stand under the prefix: `%r` for `%r<10>`, and for a register declared as `%r5`.
  enum class NodeKind : uint8_t { Register, Variable, Label, Range, Numbered };
  struct Heads {
    uint32_t exact = kNone, range = kNone, numbered = kNone;
    uint32_t& of(NodeKind kind) {
      return kind == NodeKind::Range ? range : kind == NodeKind::Numbered ? numbered : exact;
    }
  };
  struct Node {
    NodeKind kind;
    NameId name;
    uint32_t scope;
    uint32_t next;  // the node of this name and list declared before
    uint32_t id;    // Register, Variable, Label: its id; Range: index in ranges_; Numbered: the number
  };
  struct Range {
    uint32_t count;
    ScalarType type;
    uint8_t lanes;
    bool isParameter;
    uint32_t serial;
    std::vector<RegId> members;  // by index, those that came about in order
  };
  struct Scope {
    uint32_t id;
    std::size_t nodes;  // height of the stacks on entry
    std::size_t ranges;
  };
  struct Remembered {
    uint32_t epoch = 0;
    Meaning meaning;
  };

  bool declare(NodeKind kind, NameId name, uint32_t id);
  void push(NodeKind kind, NameId name, uint32_t id);
  void pop(const Scope& scope);
  Heads heads(NameId name) const { return name.value < heads_.size() ? heads_[name.value] : Heads(); }
  Meaning search(NameId name);
  RegId member(Range& range, uint32_t index, NameId name);
  void forget() { ++epoch_; }

  // Prefixes like `%rd` whose numbers all mean members of one range, by their packed characters.
  struct RecentPrefix {
    uint64_t packed = 0;
    uint32_t epoch = 0;
    uint32_t range = 0;
  };
  static constexpr std::size_t kRecent = 16;
  bool remember(RecentPrefix& recent, std::string_view prefix, uint64_t packed);
  RecentPrefix recent_[kRecent];

  // A register that `findNumbered` found, by its first and its last four characters. Most are mentioned again soon.
  struct RecentRegister {
    uint32_t first = 0, last = 0;
    uint32_t length = 0;
    uint32_t epoch = 0;
    RegId reg;
  };
  static constexpr unsigned kRecentBits = 8;
  RegId findByPrefix(std::string_view text);
  RecentRegister recentRegisters_[1 << kRecentBits];

  Interner& interner_;
  Function* function_ = nullptr;
  std::vector<Node> nodes_;
  std::vector<Heads> heads_;  // by NameId
  std::vector<Range> ranges_;
  std::vector<Scope> scopes_;
  std::vector<uint32_t> parents_;                 // by scope id
  std::unordered_map<uint64_t, LabelId> labels_;  // by scope id and name
  std::unordered_map<uint64_t, RegId> far_;       // range members of large index, by serial and index
  std::vector<Remembered> remembered_;            // by NameId
  uint32_t epoch_ = 0;
  uint32_t serial_ = 0;
};

}  // namespace ptxopt::text
