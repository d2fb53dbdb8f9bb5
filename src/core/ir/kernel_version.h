// A second body of a kernel, for launches that have what the body relies on, as a test at its entry shows.
//
// Made by version-kernels and put into the kernel by join-versions; between the two, function passes work on it as on
// any function. It is a copy of its kernel: Function::index, parameters and variables are those of the kernel, so that
// what is known of the kernel by its index holds of it as well. What is known of its launches, Module::factsOf says.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "ir/function.h"
#include "ir/kernel_facts.h"
#include "ir/launch_profile.h"

namespace ptxopt {

class Module;

// What the entry of a kernel with versions is made of, beside SynthOpcode.
struct EntryOpcodes {
  OpcodeId branch, exit, both;    // `bra.uni`, `ret`, `and.pred`
  std::array<OpcodeId, 4> loads;  // ld.param.u8, .u16, .u32, .u64
};

// A condition beyond numbers: that memory is apart. It depends on nothing but values that all threads of the grid share
// (parameters, sizes of the block and of the grid), so that the branch on it is uniform.
struct EntryCondition {
  std::string_view name;  // for the report
  // Puts code before `where`, at the entry of the kernel, that computes a predicate: true where the condition holds.
  // Opcodes come from Module::synth.
  std::function<RegId(const Module&, Function&, InstrId where)> emit;
};

// What the test at entry shows. It shows all that the body's facts say beyond those of the kernel.
struct EntryTest {
  std::array<NumberFact, 3> block;   // of those that are said: exact
  std::vector<ParameterPart> parts;  // `number` is exact, or a multiple that is a power of two
  std::vector<EntryCondition> conditions;

  bool isEmpty() const {
    for (const NumberFact& size : block)
      if (size.isSaid()) return false;
    return parts.empty() && conditions.empty();
  }
};

struct KernelVersion {
  Function body;
  std::size_t variables = 0;  // that the kernel had when it was copied: they are those of both
  KernelFacts facts;
  EntryTest test;
  double share = 0;       // of the time of the kernel's launches, by the profile
  bool isJoined = false;  // it is part of the kernel
};

}  // namespace ptxopt
