// The analyses of a whole module that passes may ask for: a row of passes.def says which.
//
// They are made of the module as it was read, before functions are worked on at the same time. What they say is of what
// functions do, which passes keep: they hold after any pass.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "analysis/manager/module_analyses.h"
#include "ir/module.h"
#include "passes/manager/knobs.h"

namespace ptxopt {

enum class ModuleFact : uint8_t {
  AddressFacts,  // ModuleAddressFacts
  CalledNeeds,   // ModuleCalledNeeds
  CallBodies,    // passes/inline/call_bodies.h
};

class ModuleFactSet {
 public:
  constexpr ModuleFactSet() = default;
  constexpr ModuleFactSet(std::initializer_list<ModuleFact> facts) {
    for (const ModuleFact fact : facts) bits_ |= bit(fact);
  }
  constexpr bool has(ModuleFact fact) const { return (bits_ & bit(fact)) != 0; }
  constexpr ModuleFactSet& operator|=(ModuleFactSet other) {
    bits_ |= other.bits_;
    return *this;
  }

 private:
  static constexpr uint8_t bit(ModuleFact fact) { return static_cast<uint8_t>(1u << static_cast<unsigned>(fact)); }
  uint8_t bits_ = 0;
};

// Makes those of `facts` that `analyses` does not have yet. Module::makeSynthParts has been called.
void makeModuleFacts(const Module& module, const Knobs& knobs, ModuleFactSet facts, ModuleAnalyses& analyses);

}  // namespace ptxopt
