// Remarks about the input, before any pass touches it.
#pragma once

#include <string>
#include <vector>

#include "api/report.h"
#include "ir/module.h"
#include "passes/manager/pass.h"
#include "ptxopt/ptxopt.h"

namespace ptxopt {

// Opcodes that the table does not have, each once, at its first place.
void remarkUnknownOpcodes(const Module& module, std::vector<Remark>& remarks);

// Whether no pass may touch a function, by its index, because of a store that may convert a number
// (ir/stored_numbers.h); each has a remark.
std::vector<bool> remarkNarrowNumberStores(const Module& module, std::vector<Remark>& remarks);

// A register that may be read before it is written.
struct UninitialisedRegister {
  NameId name;               // none: the carry flag
  uint32_t sourceBegin = 0;  // of the statement that reads it
  Loc line;                  // of the source that the PTX was made from, where `hasLine`
  bool hasLine = false;
};

// Those of one function, in the order of the text. When that takes more memory than liveness may, `tooLarge` is
// set. The analyses that this asks for are there for the passes too.
std::vector<UninitialisedRegister> findUninitialised(const Module& module, const Function& function,
                                                     const Knobs& knobs, Analyses& analyses, bool& tooLarge);
// Those of all functions, by function.
void remarkUninitialised(const Module& module, const std::vector<std::vector<UninitialisedRegister>>& registers,
                         std::vector<Remark>& remarks);

// What passes found of the loops of each function, by the place of the loop in the PTX.
void remarkLoops(const Module& module, const std::vector<FunctionReport>& reports, std::vector<Remark>& remarks);

}  // namespace ptxopt
