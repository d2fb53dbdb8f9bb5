// A line for each instruction that a warp executes:
//
//     block (0,0,0) warp 0 ffffffff line 28: mad.lo.s32 %r10, %r7, %r1, %r8;  %r10 = 0x20
//
// The mask has the active lanes; with none, the instruction was guarded off. The values are those of the first
// active lane, or of all: `%r10 = {0x20, 0x21, ...}`, predicates 0 or 1. What waits, waits silently, and is shown
// when it is done; of an instruction that failed the line ends in `...`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "exec/first_arrival_filter.h"
#include "exec/observer.h"
#include "ir/module.h"

namespace ptxopt::exec {

class Trace final : public Observer {
 public:
  using Sink = std::function<void(std::string_view)>;
  Trace(const Module& module, bool allLanes, Sink sink)
      : module_(module), allLanes_(allLanes), sink_(std::move(sink)) {}

  void op(Warp& warp, const Routine& routine, const Op& op, Mask mask, Mask active) override;
  void after(Warp& warp, const Routine& routine, const Op& op, Mask active) override;
  // After a launch, or when one failed.
  void finish();

 private:
  struct Text {
    std::string instruction, place;
    std::vector<RegId> written;
  };
  const Text& textOf(const Routine& routine, const Op& op);
  bool waits() const;
  void flush();
  std::string values(Warp& warp, const Routine& routine, const Text& text, Mask active) const;

  const Module& module_;
  bool allLanes_;
  Sink sink_;
  std::unordered_map<const Op*, Text> texts_;
  // The op that was begun last.
  Warp* warp_ = nullptr;
  const Op* op_ = nullptr;
  std::string line_;
  Mask mask_ = 0;
  bool done_ = false;
};

}  // namespace ptxopt::exec
