#include "passes/cse/memory_model.h"

#include <algorithm>

namespace ptxopt::cse {
namespace {

// What the modifiers of a load or store say.
struct Access {
  enum class Space : uint8_t { Generic, Shared, Constant, Elsewhere, Cluster };
  Space space = Space::Generic;
  bool isPlain = true;  // nothing but a space, a vector and a type
};

Access readModifiers(std::string_view opcode) {
  Access a;
  for (std::size_t at = opcode.find('.'); at != std::string_view::npos;) {
    const std::size_t next = opcode.find('.', at + 1);
    const std::string_view word = opcode.substr(at + 1, next == std::string_view::npos ? next : next - at - 1);
    at = next;
    if (word == "shared" || word == "shared::cta")
      a.space = Access::Space::Shared;
    else if (word == "shared::cluster")
      a.space = Access::Space::Cluster;
    else if (word == "const")
      a.space = Access::Space::Constant;
    else if (word == "global" || word == "local" || word.starts_with("param"))
      a.space = Access::Space::Elsewhere;
    else if (word != "weak" && word != "v2" && word != "v4" && word != "v8" && scalarType(word) == ScalarType::None)
      a.isPlain = false;
  }
  return a;
}

// Orders no memory and writes none, whatever its row says else.
bool isHarmless(const OpcodeForm& form) {
  const std::string_view base = form.row->base();
  // Kept by ptxas when dead, which is all that Side means here; their result depends on which threads run.
  constexpr std::string_view kNoMemory[] = {"div",      "rem",        "rcp",   "rsqrt",    "sqrt",
                                            "isspacep", "activemask", "elect", "prefetch", "prefetchu"};
  if (std::ranges::find(kNoMemory, base) != std::end(kNoMemory)) return true;
  constexpr uint32_t kNoMemoryEffects = effect::Read | effect::CarryIn | effect::CarryOut | effect::Convergent |
                                        effect::Branch | effect::IndirectBranch | effect::Return | effect::Exit;
  return !form.is(~kNoMemoryEffects) || base == "trap";
}

}  // namespace

MemoryOperation memoryOperation(std::string_view opcode, const OpcodeForm& form) {
  MemoryOperation o;
  if (form.row == nullptr || form.is(effect::Unknown)) return o;
  const std::string_view key = form.row->key;
  if ((key != "ld" && key != "st") || form.is(effect::Volatile | effect::Ordering)) {
    o.effect = isHarmless(form) ? MemoryEffect::None : MemoryEffect::Wall;
    return o;
  }
  const Access access = readModifiers(opcode);
  const bool isStore = key == "st";
  const bool isTracked = access.isPlain && form.type != ScalarType::None && info(form.type).bits % 8 == 0;
  o.effect = isStore ? MemoryEffect::Wall : MemoryEffect::None;
  o.type = form.type;
  o.lanes = form.vector;
  switch (access.space) {
    case Access::Space::Shared:
      if (isTracked) o.effect = isStore ? MemoryEffect::Store : MemoryEffect::Load;
      break;
    case Access::Space::Constant:
      if (isTracked && !isStore) {
        o.effect = MemoryEffect::Load;
        o.space = TrackedSpace::Constant;
      }
      break;
    case Access::Space::Elsewhere: o.effect = MemoryEffect::None; break;
    case Access::Space::Generic:
    case Access::Space::Cluster: break;
  }
  return o;
}

const MemoryOperation& MemoryModel::of(const Instruction& i) {
  Known& k = known_[i.payload];
  if (!k.isRead) {
    const OpcodeForm& form = module_.form(i);
    k = {true, memoryOperation(module_.text(form.text), form)};
  }
  return k.operation;
}

}  // namespace ptxopt::cse
