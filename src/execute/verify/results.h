// What the instructions of a launch compute, folded into one number for each line of the source: where two modules
// differ in one line, whether that line ever did something else (it is infected, as mutation testing has it).
//
// For an instruction that only writes registers these are the registers and their values in the active lanes. For one
// that does more (stores, branches, atomics, calls) they are also what it reads, and its text without the names of
// registers: such an instruction does something else when it is another one, or gone, and some lane executes it.
// Launches whose instructions all do the same run the same, for an observed launch has one order of its threads.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "exec/observer.h"
#include "exec/program.h"
#include "ir/module.h"

namespace ptxopt::verify {

class Results final : public exec::Observer {
 public:
  // Passes the calls on to `next`, if there is one.
  explicit Results(const Module& module, exec::Observer* next = nullptr) : module_(module), next_(next) {}

  void op(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask mask,
          exec::Mask active) override;
  void after(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask active) override;

  const std::unordered_map<std::size_t, uint64_t>& byLine() const { return byLine_; }

 private:
  struct Known {
    uint64_t* result = nullptr;  // in byLine_; null: stands for no instruction
    bool hasEffects = false;     // more than that it writes registers
    uint64_t text = 0;
    std::vector<RegId> written, read;
  };
  Known& known(const exec::Routine& routine, const exec::Op& op);
  static uint64_t valuesOf(const exec::Warp& warp, const exec::Routine& routine,
                           const std::vector<RegId>& registers, exec::Mask active, bool named);

  const Module& module_;
  exec::Observer* next_;
  std::unordered_map<const exec::Op*, Known> known_;
  std::unordered_map<std::size_t, uint64_t> byLine_;
};

}  // namespace ptxopt::verify
