// Which instructions of a kernel, and of what it calls, launches come to.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "exec/observer.h"
#include "exec/program.h"
#include "ir/module.h"

namespace ptxopt::verify {

class Coverage final : public exec::Observer {
 public:
  explicit Coverage(const Module& module) : module_(module) {}

  void op(exec::Warp&, const exec::Routine& routine, const exec::Op& op, exec::Mask mask,
          exec::Mask active) override {
    auto& seen = seen_[&routine];
    if (seen.empty()) seen.resize(routine.function->instructions.size());
    uint8_t& bits = seen[op.instruction];
    bits = static_cast<uint8_t>(bits | (mask != 0 ? kReached : 0) | (active != 0 ? kExecuted : 0));
  }

  // Source lines of the instructions that a path came to, and of those that some lane executed; rising, each once.
  std::vector<std::size_t> reachedLines() const { return lines(kReached); }
  std::vector<std::size_t> executedLines() const { return lines(kExecuted); }

 private:
  static constexpr uint8_t kReached = 1, kExecuted = 2;
  std::vector<std::size_t> lines(uint8_t bit) const;

  const Module& module_;
  std::unordered_map<const exec::Routine*, std::vector<uint8_t>> seen_;  // by InstrId
};

}  // namespace ptxopt::verify
