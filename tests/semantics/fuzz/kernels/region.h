// A piece of memory that a function body may touch.
//
// Invariant: for every thread, all bytes of a region are initialised, and no other thread writes them while this
// region may be read, nor touches them while it may be written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "registers.h"

namespace kernels {

// How an address of a region is held.
struct Base {
  Reg reg = -1;  // -1: the variable `symbol` itself
  std::string symbol;
  std::string space;  // ".global", ".shared", ".local", ".const", or "" for a generic address
  bool wide = true;   // 64 bits; else 32
  int offset = 0;     // the register points this far behind the region's start
};

struct Region {
  std::string name;
  int size = 0;    // bytes
  int align = 16;  // of the start
  bool writable = true;
  bool constant = false;  // nothing writes it while the kernel runs: .nc loads are right
  std::vector<Base> bases;
};

// A region per thread that the block's threads may exchange through: between two barriers nobody writes it, and
// `all` may be read in its stead.
struct Exchange {
  std::string own;  // name of the thread's own region
  Region all;
  bool busy = false;
};

// Words that all threads change by one commutative operation only.
struct Counters {
  std::string operation;  // "add.u32"
  int width = 4, count = 16;
  Base base;
};

}  // namespace kernels
