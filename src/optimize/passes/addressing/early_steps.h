// Steps of pointers, and the test of a carry, go before the iteration waits for what it loaded.
//
// A pointer that advances after a store cannot be written before the store has read it, and the store waits for what
// it stores. If the round only waits for memory, that makes it longer: on sm_100 a copy of floats takes 683 cycles a
// round where nothing is cached, and 672 with the step before the store, whose address then has the step taken off.
// ptxas does not move steps over accesses. It does put them anywhere between accesses, so nothing is moved where no
// access through the pointer stands in between. No load through the pointer gets a step before it: it would wait for
// that.
//
// Only steps that lsr has made products of (step.h) move: where ptxas adds 64 bits in one instruction, a step before
// its store costs a copy (sm_120: one instruction a round in 14 of 206 kernels).
#pragma once

#include <span>

#include "ir/module.h"

namespace ptxopt {

// `addition` adds `product`, which makes `bytes`, to `pointer`; both stand in the same block.
struct MadeStep {
  RegId pointer;
  InstrId product, addition;
  int64_t bytes = 0;
};

// Moves a comparison that reads nothing that its block writes.
void moveTestUp(const Module& module, Function& f, InstrId test);

// How many moved. Cost: linear in at most 512 instructions for each.
std::size_t moveStepsUp(const Module& module, Function& f, std::span<const MadeStep> steps);

}  // namespace ptxopt
