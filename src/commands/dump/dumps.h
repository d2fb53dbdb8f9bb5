// The dumps one by one; dump.h says what they have in common. They append to `out`. All but `appendCfg` need a
// usable graph.
#pragma once

#include <string>

#include "dump/view.h"

namespace ptxopt::dump {

// Graphviz: a box a block with its instructions, the way taken of a guarded branch labelled with the guard.
void appendCfg(std::string& out, FunctionView& view);
// Both trees, a block a line, indented by its depth.
void appendDominators(std::string& out, FunctionView& view);
// A loop a line, inner ones below, indented; then where it is entered from, iterates and is left.
void appendLoops(std::string& out, FunctionView& view);
// What each block owns, and the number of each instruction.
void appendSlots(std::string& out, FunctionView& view);
// The registers that are live where each block begins and ends, file by file.
void appendLiveness(std::string& out, FunctionView& view);
// The live range of each register that has one, as segments `[start,end:value)` and the values.
void appendIntervals(std::string& out, FunctionView& view);
// What the integers in registers may be, value by value; then, for each block that is entered under a guard, the
// comparisons that hold there, and what they say of the values in them.
void appendRanges(std::string& out, FunctionView& view);
// Scalar evolution: for each loop how often it iterates, and what registers hold in terms of its iterations.
void appendEvolution(std::string& out, FunctionView& view);
// For kernels: bounds of the addresses of global memory that each access reaches, and what they assume.
void appendFootprints(std::string& out, FunctionView& view);
// Live 32-bit units: the worst place of the function, of loops and of blocks, and at each instruction.
void appendPressure(std::string& out, FunctionView& view);
// What an SM holds of a kernel, by registers; estimates are called so.
void appendOccupancy(std::string& out, FunctionView& view);

}  // namespace ptxopt::dump
