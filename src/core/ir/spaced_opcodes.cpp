// A table says for each kind of access in which spaces it may be written, and where the space stands among the
// modifiers; the modifiers then rule out single forms.
#include "ir/spaced_opcodes.h"

#include <algorithm>
#include <vector>

#include "ir/opcodes.h"

namespace ptxopt {
namespace {

using Parts = std::vector<std::string_view>;

// What takes a state space, and in which ones it may be written.
struct Access {
  std::string_view base;
  bool global, shared, local, constant;
  bool spaceIsLate;  // the space stands before the type, which comes last
};
constexpr Access kAccesses[] = {
    {"ld", true, true, true, true, false},
    {"st", true, true, true, false, false},
    {"atom", true, true, false, false, false},
    {"red", true, true, false, false, false},
    {"ldu", true, false, false, false, false},
    {"prefetch", true, false, true, false, false},
    {"applypriority", true, false, false, false, false},
    {"discard", true, false, false, false, false},
    {"ldmatrix", false, true, false, false, true},
    {"stmatrix", false, true, false, false, true},
    {"wmma", true, true, false, false, true},
};

// Orders and scopes: the space comes after them.
constexpr std::string_view kOrders[] = {"weak", "volatile", "relaxed", "acquire", "release", "acq_rel",
                                        "mmio", "seq_cst",  "cta",     "cluster", "gpu",     "sys"};

const Access* find(const Parts& parts) {
  const auto access = std::ranges::find(kAccesses, parts.front(), &Access::base);
  if (access == std::end(kAccesses)) return nullptr;
  // wmma.mma has no address; red.async and st.async have spaces of their own, st.bulk is of shared memory.
  const std::string_view second = parts.size() > 1 ? parts[1] : std::string_view();
  if (parts.front() == "wmma" && second != "load" && second != "store") return nullptr;
  return second == "async" || second == "bulk" ? nullptr : access;
}

bool isSpaceName(std::string_view part) {
  const std::string_view name = part.substr(0, part.find(':'));
  return name == "global" || name == "shared" || name == "local" || name == "const" || name == "param";
}

bool isOrder(std::string_view part) { return std::ranges::find(kOrders, part) != std::end(kOrders); }

bool hasForm(const Parts& parts, const Access& access, AddressKind space) {
  // A tensor map may lie in global, constant or parameter memory; the form for constant memory is not for others.
  if (access.base == "prefetch" && std::ranges::find(parts, "tensormap") != parts.end()) return false;
  if (space == AddressKind::Global) return access.global;
  const bool isAtomic = access.base == "atom" || access.base == "red";
  // 256 bits at a time.
  const bool isWide = parts.back().ends_with("64") && std::ranges::find(parts, "v4") != parts.end();
  if (isWide || std::ranges::find(parts, "v8") != parts.end()) return false;
  for (const std::string_view p : parts) {
    if (p.starts_with("L1::") || p.starts_with("L2::") || p.starts_with("proxy::") || p == "mmio") return false;
    if (isAtomic && (p == "v2" || p == "v4" || p == "v8")) return false;
    // Weak is what there is without a word; local memory knows nothing else.
    if (space != AddressKind::Shared && isOrder(p) && p != "weak") return false;
  }
  return space == AddressKind::Shared  ? access.shared
         : space == AddressKind::Local ? access.local
                                       : access.constant;
}

}  // namespace

bool isGenericAccess(const OpcodeFields& opcode) {
  switch (opcode.op) {
    case Op::Ld:
    case Op::Ldu:
    case Op::St:
    case Op::Atom:
    case Op::Red:
    case Op::Prefetch:
    case Op::Applypriority:
    case Op::Discard:
    case Op::Ldmatrix:
    case Op::Stmatrix:
    case Op::WmmaLoad:
    case Op::WmmaStore: return opcode.space == StateSpace::None;
    default: return false;
  }
}

std::string spacedOpcode(std::string_view opcode, AddressKind space) {
  const Parts parts = opcodeParts(opcode);
  const Access* const access = find(parts);
  if (access == nullptr || std::ranges::any_of(parts, isSpaceName) || !hasForm(parts, *access, space)) return {};
  std::size_t at = 1;
  if (access->spaceIsLate)
    at = parts.size() - 1;
  else
    while (at < parts.size() && isOrder(parts[at])) ++at;
  std::string text;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (k == at) {
      text += space == AddressKind::Global   ? ".global"
              : space == AddressKind::Shared ? ".shared"
              : space == AddressKind::Local  ? ".local"
                                             : ".const";
    }
    if (k != 0) text += '.';
    text += parts[k];
  }
  return text;
}

}  // namespace ptxopt
