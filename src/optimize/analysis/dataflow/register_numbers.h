// Numbers for the registers of a function, so that sets of live ones are small, and what each block does with them.
//
// A register is global when some block reads it before it writes it; a register of the return list is, too. Only
// these can be live where a block begins, so only these need bits there: the many that live and die in one block
// cost nothing. The global registers of each file are numbered from a multiple of 64, so that a set of all
// registers has a slice of whole words for each file; those of one block come after these. The walk that finds them
// also lists what each block reads and writes, which is where dataflow problems begin. Cost: one walk over the
// instructions.
#pragma once

#include <span>
#include <vector>

#include "analysis/dataflow/cfg.h"
#include "analysis/machine/register_files.h"
#include "support/bit_rows.h"

namespace ptxopt {

class RegisterNumbers {
 public:
  RegisterNumbers(const Function& function, const Cfg& cfg, const RegisterFiles& files);

  // All numbers are smaller.
  std::size_t size() const { return size_; }
  uint32_t operator[](RegId reg) const { return numbers_[reg.value]; }
  bool isGlobal(RegId reg) const { return numbers_[reg.value] < firstLocal_; }
  // Where the numbers of registers of one block begin.
  uint32_t firstLocal() const { return firstLocal_; }

  struct Slice {
    uint32_t first = 0;  // number of the first, a multiple of 64
    std::vector<RegId> registers;
    friend bool operator==(const Slice&, const Slice&) = default;
  };
  // The global registers of a file in the order of their numbers.
  const Slice& operator[](RegisterFile file) const { return slices_[static_cast<std::size_t>(file)]; }
  RegId registerOf(uint32_t global) const {
    const Slice& slice = (*this)[fileOf(global)];
    return slice.registers[global - slice.first];
  }
  RegisterFile fileOf(uint32_t number) const {
    return number < slices_[1].first   ? RegisterFile::Data
           : number < slices_[2].first ? RegisterFile::Predicate
                                       : RegisterFile::Uniform;
  }

  // What a block reads before it writes it in full, and what it writes in full; a register may be there several times.
  std::span<const RegId> exposedReads(BlockId b) const { return exposedReads_[b]; }
  std::span<const RegId> definitions(BlockId b) const { return definitions_[b]; }
  // The global registers that a block writes and does not read after that.
  std::span<const RegId> unreadGlobals(BlockId b) const { return unreadGlobals_[b]; }
  // Whether a block writes what nothing reads: it writes the register again in full before it reads it, or does not
  // read it any more, and no other block does.
  bool hasUnread(BlockId b) const { return hasUnread_[b.value] != 0; }

  friend bool operator==(const RegisterNumbers&, const RegisterNumbers&) = default;

 private:
  // Registers by block, as compressed rows.
  struct Rows {
    std::span<const RegId> operator[](BlockId b) const {
      return {all.data() + start[b.value], start[b.value + 1] - start[b.value]};
    }
    std::vector<RegId> all;
    std::vector<uint32_t> start;  // and the end of the last
    friend bool operator==(const Rows&, const Rows&) = default;
  };
  // A write that its block does not read any more.
  struct Unread {
    RegId reg;
    BlockId block;
  };
  void sortUnread(std::span<const Unread> unread, std::size_t blocks);

  std::vector<uint32_t> numbers_;  // by RegId
  std::array<Slice, kRegisterFiles.size()> slices_;
  uint32_t firstLocal_ = 0;
  std::size_t size_ = 0;
  Rows exposedReads_, definitions_, unreadGlobals_;
  std::vector<uint8_t> hasUnread_;  // by block
};

// The registers that are live at a point of a block, moved backward over its instructions.
class LivePoint {
 public:
  LivePoint(const Function& function, const RegisterNumbers& numbers)
      : f_(function), numbers_(numbers), live_(numbers.size()) {}

  bool isLive(RegId reg) const { return live_.test(numbers_[reg]); }
  // Whether a result of `i`, which stands before the point, is live.
  bool writesLive(const Instruction& i) const {
    for (const Operand& o : f_.operandsOf(i))
      if (o.isRegister() && o.writes() && isLive(o.reg())) return true;
    return false;
  }
  // Moves the point from after `i` to before it.
  void before(const Instruction& i) {
    const auto operands = f_.operandsOf(i);
    for (const Operand& o : operands)
      if (o.isRegister() && o.role == Role::Def) live_.reset(numbers_[o.reg()]);
    for (const Operand& o : operands)
      if (o.isRegister() && o.reads()) makeLive(numbers_[o.reg()]);
  }

  // To the end of another block, where nothing is live yet. The registers of one block are all dead again when the
  // point has come to its start.
  void restart() {
    if (isWide_)
      live_.clearPrefix(numbers_.firstLocal());
    else
      for (const uint32_t number : made_) live_.reset(number);
    isWide_ = false;
    made_.clear();
  }
  // Global registers, by number.
  void makeAllLive(const BitVector& globals) {
    live_.orAt(0, globals);
    isWide_ = true;
  }
  void makeLive(RegId reg) { makeLive(numbers_[reg]); }
  void makeLive(uint32_t number) {
    if (live_.test(number)) return;
    live_.set(number);
    if (!isWide_) made_.push_back(number);
  }
  void makeLive(RegisterFile file, const BitRows& byBlock, BlockId block) {
    byBlock.addTo(block.value, live_, numbers_[file].first);
    isWide_ = true;
  }
  const BitVector& set() const { return live_; }

 private:
  const Function& f_;
  const RegisterNumbers& numbers_;
  BitVector live_;  // by number
  // Since the last restart: whether sets were added, or else which single registers, so that the next one need not
  // clear all.
  bool isWide_ = false;
  std::vector<uint32_t> made_;
};

}  // namespace ptxopt
