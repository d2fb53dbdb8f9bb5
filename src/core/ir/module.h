// A PTX module: the text it was read from, its top-level items in order, and what they declare.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/function.h"
#include "ir/kernel_facts.h"
#include "ir/kernel_version.h"
#include "ir/launch_profile.h"

namespace ptxopt {

enum class SymbolKind : uint8_t { Variable, Function, Alias };

// A module-level name.
struct Symbol {
  NameId name;
  SymbolKind kind = SymbolKind::Variable;
  uint32_t index =
      0;  // Variable: in Module::variables; Function: the latest in Module::functions; Alias: ir/aliases.h
};

enum class ItemKind : uint8_t { Directive, Declaration, Function, Section };

// One top-level item. `index` is in Module::functions for functions, otherwise unused.
struct Item {
  ItemKind kind = ItemKind::Directive;
  uint32_t index = 0;
  SourceRange source;
};

enum class SynthOpcode : uint8_t {
#define PTX_SYNTH_OPCODE(id, text) id,
#include "ir/synth_opcodes.def"
#undef PTX_SYNTH_OPCODE
};

// What passes may put into functions although the source does not have it. See synth_opcodes.def.
struct SynthParts {
  std::vector<OpcodeId> opcodes;              // by SynthOpcode; empty until Module::makeSynthParts
  std::array<NameId, 3> tid, ntid;            // %tid.x and so on
  NameId ctaid, nctaid;                       // %ctaid.x and so on
  uint32_t sharedWords = 0, sharedPairs = 0;  // declaration forms: `.shared .align 4 .b32`, `.shared .align 8 .b64`
  // By the OpcodeId of a generic memory access, for others nothing: the same access in Global, Shared, Local,
  // Const.
  std::vector<std::array<OpcodeId, 4>> spaced;
  // By the OpcodeId of an ld.param or st.param, for others nothing: the same access of .local memory.
  std::vector<OpcodeId> localAccess;
  // By the OpcodeId of a weak load of global memory, for others nothing: the same load with .nc.
  std::vector<OpcodeId> nonCoherent;
  // By the OpcodeId of a plain load or store of global or shared memory, for others nothing: the same of two and of four.
  std::vector<std::array<OpcodeId, 2>> vectors;
  std::array<uint32_t, 5> localBytes{};  // declaration forms: `.local .align 1 .b8`, 2, 4, 8, 16
  EntryOpcodes entry;                    // in a module with profiles
  bool mapsShared = false;               // the module asks for the shared memory of other blocks: mapa
};

class Module {
 public:
  std::string_view source;  // must outlive the module
  std::string fileName;     // for messages

  uint32_t versionMajor = 0, versionMinor = 0;
  std::vector<NameId> target;       // sm_90a, debug, ...
  uint32_t addressSize = 0;         // 32, 64, or 0 when the file does not say
  bool isDebug = false;             // .target ..., debug
  bool hasModuleRegisters = false;  // `.reg` outside functions: ptxas takes it without -c; operands are Symbols

  Interner names;
  std::vector<Item> items;
  std::deque<Function> functions;
  std::vector<Variable> variables;
  std::vector<DeclarationForm> declarationForms;
  std::vector<OpcodeForm> opcodes;    // by OpcodeId
  std::vector<Symbol> symbols;        // by SymbolId
  std::vector<bool> namedInSections;  // by NameId; may be shorter
  SynthParts synth;
  std::vector<KernelFacts> facts;       // what the user says of launches, by Function::index; empty: nothing
  std::vector<LaunchProfile> profiles;  // what launches were seen to have, by Function::index; empty: nothing
  std::deque<KernelVersion> versions;   // of kernels that are worked on; empty before version-kernels

  // What is known of the launches of a kernel, or of those that run a version of it; null: nothing.
  const KernelFacts* factsOf(const Function& f) const {
    if (f.version != 0) return &versions[f.version - 1].facts;
    return facts.empty() ? nullptr : &facts[f.index];
  }
  // Decodes an opcode that the module does not have yet, with the backslash that may stand before it. Not while functions are
  // worked on.
  OpcodeId addOpcode(NameId text);
  // Fills `synth`, once. Not while functions are worked on.
  void makeSynthParts();
  OpcodeId synthOpcode(SynthOpcode o) const { return synth.opcodes[static_cast<std::size_t>(o)]; }
  // The same access in a space; none when it is not a generic access or has no such form.
  OpcodeId spacedOpcode(OpcodeId o, AddressKind space) const {
    if (o.value >= synth.spaced.size() || !isSpace(space)) return {};
    return synth.spaced[o.value][static_cast<std::size_t>(space) - static_cast<std::size_t>(AddressKind::Global)];
  }
  // The same load as one of memory that nobody writes; none where there is no such form.
  OpcodeId nonCoherentOpcode(OpcodeId o) const {
    return o.value < synth.nonCoherent.size() ? synth.nonCoherent[o.value] : OpcodeId();
  }
  // The same access of 2 or 4 such values; none where there is no such form.
  OpcodeId vectorOpcode(OpcodeId o, unsigned lanes) const {
    return o.value < synth.vectors.size() ? synth.vectors[o.value][lanes == 4] : OpcodeId();
  }
  const OpcodeForm& form(const Instruction& i) const { return opcodes[i.payload]; }
  // The opcode as the source spells it, to be shown to a user. What it does, its form says: code outside ir and text
  // reads no spelling (tests/sources.py).
  std::string_view printedOpcode(const Instruction& i) const { return names[form(i).spelling]; }
  std::string_view text(NameId id) const { return names[id]; }
  std::string_view text(SourceRange r) const { return source.substr(r.begin, r.end - r.begin); }
  // ptxas takes control to what stands after a trap before release 12.3, which is the first that takes .version 8.3.
  bool trapFallsThrough() const { return versionMajor < 8 || (versionMajor == 8 && versionMinor < 3); }
  bool isNamedInSection(NameId id) const { return id.value < namedInSections.size() && namedInSections[id.value]; }
  // "sm_90a", or empty when the module has no .target.
  std::string_view architecture() const { return target.empty() ? std::string_view() : names[target.front()]; }
};

// Where a byte of the source stands, for messages. Lines and columns count from 1; columns are bytes.
struct SourcePosition {
  std::size_t line = 1, column = 1;
  std::string_view lineText;
};
SourcePosition locate(std::string_view source, std::size_t offset);

// The names that `.file` gives to numbers: `.file 1 "kernel.cu"`.
std::map<uint32_t, std::string_view> sourceFiles(const Module& module);

}  // namespace ptxopt
