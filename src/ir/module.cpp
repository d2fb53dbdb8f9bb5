#include "ir/module.h"

#include <algorithm>

namespace ptxopt {
namespace {

constexpr std::string_view kMadeOpcodes[] = {
#define PTX_MADE_OPCODE(id, text) text,
#include "ir/made_opcodes.def"
#undef PTX_MADE_OPCODE
};

uint32_t addSharedForm(Module& module, std::string_view text, ScalarType type) {
  module.declarationForms.push_back({.text = module.names.intern(text),
                                     .space = module.names.intern("shared"),
                                     .type = type,
                                     .alignment = info(type).bits / 8});
  return static_cast<uint32_t>(module.declarationForms.size() - 1);
}

}  // namespace

void Module::makeParts() {
  if (!made.opcodes.empty()) return;
  std::vector<uint32_t> known(names.size(), OpcodeId::kNone);
  for (uint32_t o = 0; o < opcodes.size(); ++o) known[opcodes[o].text.value] = o;
  for (const std::string_view text : kMadeOpcodes) {
    const NameId id = names.intern(text);
    const uint32_t has = id.value < known.size() ? known[id.value] : OpcodeId::kNone;
    made.opcodes.push_back(has != OpcodeId::kNone ? OpcodeId(has) : OpcodeId(opcodes.size()));
    if (has != OpcodeId::kNone) continue;
    opcodes.push_back(readOpcode(text));
    opcodes.back().text = id;
  }
  made.tid = {names.intern("%tid.x"), names.intern("%tid.y"), names.intern("%tid.z")};
  made.ntid = {names.intern("%ntid.x"), names.intern("%ntid.y"), names.intern("%ntid.z")};
  made.nctaid = names.intern("%nctaid.x");
  made.sharedWords = addSharedForm(*this, ".shared .align 4 .b32", ScalarType::b32);
  made.sharedPairs = addSharedForm(*this, ".shared .align 8 .b64", ScalarType::b64);
}

SourcePosition locate(std::string_view source, std::size_t offset) {
  offset = std::min(offset, source.size());
  SourcePosition position;
  const std::string_view before = source.substr(0, offset);
  position.line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t newline = before.rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  std::size_t end = source.find('\n', offset);
  if (end == std::string_view::npos) end = source.size();
  position.column = offset - start + 1;
  position.lineText = source.substr(start, end - start);
  if (position.lineText.ends_with('\r')) position.lineText.remove_suffix(1);
  return position;
}

}  // namespace ptxopt
