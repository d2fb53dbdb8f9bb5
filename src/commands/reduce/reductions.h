// The ways to make a module smaller or simpler, coarse to fine.
//
// Each reduction finds opportunities in a module and takes those that it is asked to take; that the result is still
// PTX is checked by the caller. Every one lowers a measure that no later one raises (functions and items, then
// statements, then instructions that are not mov, labels, register operands, distinct registers, bits of
// immediates, ...), so that repeating all of them ends.
#pragma once

#include <span>
#include <string_view>

#include "reduce/edit.h"

namespace ptxopt::reduce {

struct Reduction {
  std::string_view name;
  void (*apply)(Edit& edit, Choices& choices);
  bool changesInterface = false;  // only on request: another launch is needed for the kernel
};

// In the order in which they run.
std::span<const Reduction> reductions();

// Reductions of a module (reductions_module.cpp).
void dropFunctions(Edit&, Choices&);
void dropBodies(Edit&, Choices&);
void dropPrototypes(Edit&, Choices&);
void dropDirectives(Edit&, Choices&);
void dropLineInfo(Edit&, Choices&);
void dropModuleVariables(Edit&, Choices&);
void dropFunctionDirectives(Edit&, Choices&);
void dropInitializers(Edit&, Choices&);
void shrinkDimensionsToOne(Edit&, Choices&);
void halveDimensions(Edit&, Choices&);
void dropParameters(Edit&, Choices&);
// Leaves this one of the entries; false when there is none of this name.
bool keepOnlyKernel(Edit& edit, std::string_view name);

// Reductions of control flow (reductions_flow.cpp).
void emptyBlocks(Edit&, Choices&);
void dropBranches(Edit&, Choices&);
void takeBranchesAlways(Edit&, Choices&);
void directIndirectBranches(Edit&, Choices&);
void threadJumps(Edit&, Choices&);

// Reductions of statements (reductions_statements.cpp).
void dropStatements(Edit&, Choices&);
void dropUnusedLabels(Edit&, Choices&);
void dropScopes(Edit&, Choices&);
void dropGuards(Edit&, Choices&);
void bypass(Edit&, Choices&);
void replaceByMoveOfZero(Edit&, Choices&);
void replaceByMoveOfSource(Edit&, Choices&);
void shortenVectors(Edit&, Choices&);
void dropModifiers(Edit&, Choices&);

// Reductions of operands (reductions_operands.cpp).
void operandsToZero(Edit&, Choices&);
void operandsToOne(Edit&, Choices&);
void operandsToFirst(Edit&, Choices&);
void immediatesToZero(Edit&, Choices&);
void immediatesToOne(Edit&, Choices&);
void halveImmediates(Edit&, Choices&);
void dropOffsets(Edit&, Choices&);

// Reductions of registers and declarations (reductions_registers.cpp).
void dropUnusedDeclarations(Edit&, Choices&);
void mergeRegisters(Edit&, Choices&);
void renumberRegisters(Edit&, Choices&);

// Reductions of names (reductions_names.cpp).
void shortenNames(Edit&, Choices&);
void shortenKernelNames(Edit&, Choices&);

}  // namespace ptxopt::reduce
