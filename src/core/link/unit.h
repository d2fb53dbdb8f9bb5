// One text to be linked: what it declares at module level, by items, and how its tokens are written out anew.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/module.h"
#include "link/link.h"

namespace ptxopt::link {

enum class Linkage : uint8_t { Own, Extern, Weak, Common, Visible };

// A declaration or definition at module level.
struct Declared {
  std::string_view name;
  Linkage linkage = Linkage::Own;
  bool isFunction = false, isDefinition = false;
  bool isAlias = false;                       // of a function, which defines the name, too
  bool isOpenShared = false;                  // .extern .shared: its size comes with a launch
  uint64_t bytes = 0;                         // of a variable; 0: not said
  uint32_t alignment = 0;                     // of a variable: as written, otherwise that of its type
  DeclaredSpace space = DeclaredSpace::None;  // of a variable
  std::size_t item = 0;                       // in Module::items
  const Function* function = nullptr;

  bool isLocal() const { return linkage == Linkage::Own; }
};

struct Unit {
  std::string fileName;
  std::unique_ptr<Module> module;
  std::vector<Declared> declared;
  std::unordered_map<std::string_view, std::size_t> first;  // in `declared`: the first of each name
  std::map<std::string_view, std::string> renamed;          // own names that others have, too
  uint32_t firstFile = 0;                                   // is added to the numbers of .file
  uint32_t files = 0;                                       // the largest of them

  const Declared* find(std::string_view name) const;

  // The name that `.alias name, function;` gives a function.
  std::string_view aliasIn(SourceRange directive) const;
  // The names in the initial values of a declaration.
  std::vector<std::string_view> namesInInitialValues(SourceRange declaration) const;
  // The tokens of a part of the source, with what changes: spaces and comments stay. An opcode is not a name:
  // statements begin at the brace at `body`. Throws Refused where a range, `r<8>`, has a name that changes.
  std::string written(SourceRange range, std::size_t body = SIZE_MAX) const;
  // The declaration of a kernel: up to its parameters, since ptxas takes no directives there.
  std::string prototypeOf(const Function& kernel) const;
};

// Thrown by all that link() calls.
struct Refused {
  std::string message;
};

// Throws Refused.
Unit readUnit(const Input& input);
// Throws Refused with a place in the text.
[[noreturn]] void refuse(const Unit& unit, std::size_t offset, const std::string& message);

}  // namespace ptxopt::link
