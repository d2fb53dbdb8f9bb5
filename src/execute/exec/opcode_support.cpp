#include "exec/opcode_support.h"

#include <unordered_map>

#include "exec/binder.h"

namespace ptxopt::exec {

namespace {

struct Refusal {
  Support support;
  std::string_view reason;
};

const std::unordered_map<std::string_view, Refusal>& refusals() {
  static const std::unordered_map<std::string_view, Refusal> kRefusals = {
#define PTX_REFUSED(key, reason) {key, {Support::None, reason}},
#define PTX_PARTLY(key, reason) {key, {Support::Partial, reason}},
#include "exec/refused.def"
  };
  return kRefusals;
}

}  // namespace

const char* name(Support s) {
  switch (s) {
    case Support::Full: return "yes";
    case Support::Partial: return "partly";
    case Support::None: return "no";
  }
  return "?";
}

std::vector<OpcodeSupport> opcodeSupport() {
  constexpr uint32_t kDecodedDirectly =
      effect::Branch | effect::IndirectBranch | effect::Return | effect::Exit | effect::Call;
  std::vector<OpcodeSupport> list;
  for (const OpcodeRow& row : opcodeTable()) {
    if (row.summary.starts_with("fallback:")) continue;
    OpcodeSupport s;
    s.row = &row;
    const std::string_view base = row.base();
    if (const auto found = refusals().find(row.key); found != refusals().end()) {
      s.support = found->second.support;
      s.reason = found->second.reason;
    } else if ((row.effects & kDecodedDirectly) == 0 && findBinder(base) == nullptr) {
      s.support = Support::None;
      s.reason = "the interpreter does not have it";
    }
    list.push_back(s);
  }
  return list;
}

}  // namespace ptxopt::exec
