// Each spelling of an opcode is decoded once, when it is added. The opcodes and declarations that passes need are found
// or made on the first request.
#include "ir/module.h"

#include <algorithm>
#include <charconv>

#include "ir/access_forms.h"
#include "ir/spaced_opcodes.h"

namespace ptxopt {
namespace {

constexpr std::string_view kSynthOpcodes[] = {
#define PTX_SYNTH_OPCODE(id, text) text,
#include "ir/synth_opcodes.def"
#undef PTX_SYNTH_OPCODE
};

uint32_t addForm(Module& module, std::string_view text, DeclaredSpace space, ScalarType type, uint32_t alignment) {
  module.declarationForms.push_back(
      {.text = module.names.intern(text), .space = space, .type = type, .alignment = alignment});
  return static_cast<uint32_t>(module.declarationForms.size() - 1);
}

constexpr std::string_view kLocalForms[] = {".local .align 1 .b8", ".local .align 2 .b8", ".local .align 4 .b8",
                                            ".local .align 8 .b8", ".local .align 16 .b8"};

// `ld.param.u32` and `ld.param::func.u32` to `ld.local.u32`; empty for what is not such an access.
std::string localAccess(std::string_view opcode) {
  if (!opcode.starts_with("ld.param") && !opcode.starts_with("st.param")) return {};
  std::string_view rest = opcode.substr(8);
  if (rest.starts_with("::func")) rest.remove_prefix(6);
  if (!rest.starts_with('.')) return {};
  return std::string(opcode.substr(0, 2)) + ".local" + std::string(rest);
}

}  // namespace

OpcodeId Module::addOpcode(NameId text) {
  const std::string written(names[text]);
  const bool isEscaped = written.starts_with('\\');
  opcodes.push_back(readOpcode(std::string_view(written).substr(isEscaped)));
  opcodes.back().spelling = isEscaped ? names.internCopy(written.substr(1)) : text;
  opcodes.back().isEscaped = isEscaped;
  if (trapFallsThrough()) opcodes.back().effects &= ~uint32_t{effect::NoReturn};
  return OpcodeId(opcodes.size() - 1);
}

void Module::makeSynthParts() {
  if (!synth.opcodes.empty()) return;
  std::vector<OpcodeId> known(names.size());
  for (uint32_t o = 0; o < opcodes.size(); ++o)
    if (!opcodes[o].isEscaped) known[opcodes[o].spelling.value] = OpcodeId(o);
  const auto make = [&](NameId text) {
    if (known.size() <= text.value) known.resize(text.value + std::size_t{1});
    OpcodeId& id = known[text.value];
    if (id.valid()) return id;
    return id = addOpcode(text);
  };
  for (const std::string_view text : kSynthOpcodes) synth.opcodes.push_back(make(names.intern(text)));
  constexpr AddressKind kSpaces[] = {AddressKind::Global, AddressKind::Shared, AddressKind::Local,
                                     AddressKind::Const};
  const std::size_t generic = opcodes.size();
  synth.spaced.resize(generic);
  for (std::size_t o = 0; o < generic; ++o) {
    const std::string_view text = names[opcodes[o].spelling];
    synth.mapsShared |= opcodes[o].op == Op::Mapa;
    if (!isGenericAccess(opcodes[o])) continue;
    for (std::size_t s = 0; s < std::size(kSpaces); ++s)
      if (const std::string spaced = ptxopt::spacedOpcode(text, kSpaces[s]); !spaced.empty())
        synth.spaced[o][s] = make(names.internCopy(spaced));
  }
  synth.tid = {names.intern("%tid.x"), names.intern("%tid.y"), names.intern("%tid.z")};
  synth.ntid = {names.intern("%ntid.x"), names.intern("%ntid.y"), names.intern("%ntid.z")};
  synth.ctaid = names.intern("%ctaid.x");
  synth.nctaid = names.intern("%nctaid.x");
  for (const std::string_view size : {"%nctaid.y", "%nctaid.z"}) names.intern(size);  // found by their names
  synth.localAccess.resize(generic);
  for (std::size_t o = 0; o < generic; ++o)
    if (const std::string local = localAccess(names[opcodes[o].spelling]);
        opcodes[o].row != nullptr && !local.empty())
      synth.localAccess[o] = make(names.internCopy(local));
  const bool mayHaveVersions = !profiles.empty();
  if (mayHaveVersions) {
    constexpr std::array kLoads{"ld.param.u8", "ld.param.u16", "ld.param.u32", "ld.param.u64"};
    synth.entry.branch = make(names.intern("bra.uni"));
    synth.entry.exit = make(names.intern("ret"));
    synth.entry.both = make(names.intern("and.pred"));
    for (std::size_t k = 0; k < kLoads.size(); ++k) synth.entry.loads[k] = make(names.intern(kLoads[k]));
  }
  const bool isAligned =
      mayHaveVersions || !facts.empty() || std::ranges::any_of(declarationForms, [](const DeclarationForm& d) {
        return d.pointeeAlignment >= 8 ||
               (d.alignment >= 8 && (d.space == DeclaredSpace::Shared || d.space == DeclaredSpace::Global));
      });
  if (mayHaveVersions || std::ranges::any_of(facts, [](const KernelFacts& k) { return k.saysOfMemory(); })) {
    synth.nonCoherent.resize(opcodes.size());
    for (std::size_t o = 0; o < synth.nonCoherent.size(); ++o)
      if (const std::string text = nonCoherentLoad(names[opcodes[o].spelling], opcodes[o]); !text.empty())
        synth.nonCoherent[o] = make(names.internCopy(text));
  }
  if (isAligned) {
    synth.vectors.resize(opcodes.size());
    for (std::size_t o = 0; o < synth.vectors.size(); ++o)
      for (const unsigned lanes : {2u, 4u})
        if (const std::string text = vectorAccess(names[opcodes[o].spelling], opcodes[o], lanes); !text.empty())
          synth.vectors[o][lanes == 4] = make(names.internCopy(text));
  }
  synth.sharedWords = addForm(*this, ".shared .align 4 .b32", DeclaredSpace::Shared, ScalarType::b32, 4);
  synth.sharedPairs = addForm(*this, ".shared .align 8 .b64", DeclaredSpace::Shared, ScalarType::b64, 8);
  for (std::size_t k = 0; k < synth.localBytes.size(); ++k)
    synth.localBytes[k] = addForm(*this, kLocalForms[k], DeclaredSpace::Local, ScalarType::b8, 1u << k);
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

std::map<uint32_t, std::string_view> sourceFiles(const Module& module) {
  std::map<uint32_t, std::string_view> names;
  for (const Item& item : module.items) {
    const std::string_view text = module.text(item.source);
    if (item.kind != ItemKind::Directive || !text.starts_with(".file")) continue;
    const std::size_t digit = text.find_first_of("0123456789"), open = text.find('"');
    if (digit == text.npos || open == text.npos || digit > open) continue;
    uint32_t number = 0;
    const std::size_t close = text.find('"', open + 1);
    if (std::from_chars(text.data() + digit, text.data() + open, number).ec == std::errc() && close != text.npos)
      names.emplace(number, text.substr(open + 1, close - open - 1));
  }
  return names;
}

}  // namespace ptxopt
