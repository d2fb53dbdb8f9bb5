// The words of an opcode, to make another opcode of it: without its cache operator, or of half the vector width.
//
//     OpcodeWords words(module, instruction);     // ld.global.v4.L2::128B.f32
//     words.setVector(2);                         // ld.global.v2.L2::128B.f32
//
// What a word says is asked of its fields. The spelling goes in and comes out; nobody else reads it.
#pragma once

#include <string>
#include <vector>

#include "ir/module.h"

namespace ptxopt {

class OpcodeWords {
 public:
  OpcodeWords(const Module& module, const Instruction& i);

  // Words after the base opcode, those that were dropped as well.
  std::size_t size() const { return words_.size() - 1; }
  // What word `index` says by itself in an opcode of this operation.
  OpcodeFields fields(std::size_t index) const;
  void drop(std::size_t index) { words_[index + 1].clear(); }
  // The first vector width becomes 1 (no word), 2, 4 or 8. For an opcode that has one.
  void setVector(unsigned width);
  std::string spelling() const;

 private:
  Op op_;
  std::vector<std::string> words_;
};

}  // namespace ptxopt
