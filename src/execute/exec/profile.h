// Counts of what a launch executes: instructions per opcode and per basic block, divergence, loads and stores.
//
// A warp instruction is one that a path of a warp comes to with at least one active lane, a thread instruction one
// of its lanes. An instruction at which lanes wait counts once for each time that lanes come to it, not for each
// look whether they may go on. Instructions whose guards are all false count as skipped only. What lies in which
// space is taken from the opcode; a generic address is `generic`. Asynchronous and bulk copies are in the counts of
// opcodes only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/first_arrival_filter.h"
#include "exec/memory.h"
#include "exec/observer.h"
#include "ir/module.h"

namespace ptxopt::exec {

class Profile final : public Observer {
 public:
  explicit Profile(const Module& module) : module_(module) {}

  void op(Warp& warp, const Routine& routine, const Op& op, Mask mask, Mask active) override;

  struct Count {
    uint64_t warps = 0, threads = 0;
    void add(unsigned lanes) {
      ++warps;
      threads += lanes;
    }
    // Average active lanes.
    double lanes() const { return warps == 0 ? 0 : static_cast<double>(threads) / static_cast<double>(warps); }
  };
  struct BlockCount {
    std::string function, label;  // empty: it begins without one
    std::size_t line = 0;
    Count count;  // of its first instruction, however often it is guarded off
    Count instructions;
  };
  struct Traffic {
    Count count;
    uint64_t bytes = 0;
  };

  const Count& total() const { return total_; }
  uint64_t skipped() const { return skipped_; }  // warp instructions without an active lane
  uint64_t branches() const { return branches_; }
  uint64_t divergentBranches() const { return divergent_; }
  // From the most executed to the least.
  std::vector<std::pair<std::string, Count>> opcodes() const;
  std::vector<BlockCount> blocks() const;  // of the functions that ran, in the order of the text
  // "load global", "store shared", "atomic generic"
  const std::map<std::string, Traffic>& traffic() const { return traffic_; }

  std::string table() const;

 private:
  // What is known of an op before it is executed.
  struct Place {
    Count* opcode = nullptr;
    BlockCount* block = nullptr;
    bool beginsBlock = false;
    bool branches = false;
    Traffic* traffic = nullptr;
    unsigned bytes = 0;  // of a lane
  };
  const Place& place(const Routine& routine, const Op& op);
  void findBlocks(const Routine& routine);
  void findTraffic(const OpcodeForm& form, Place& place);

  const Module& module_;
  FirstArrivalFilter arrivals_;
  Count total_;
  uint64_t skipped_ = 0, branches_ = 0, divergent_ = 0;
  std::map<std::string, Count> opcodes_;
  std::map<std::string, Traffic> traffic_;
  std::map<uint32_t, BlockCount> blocks_;                               // by offset in the source
  std::unordered_map<const Function*, std::vector<uint32_t>> blockOf_;  // by InstrId: key in blocks_
  std::unordered_map<const Op*, Place> places_;
};

}  // namespace ptxopt::exec
