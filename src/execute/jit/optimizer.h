// Asks another process to optimize an image, for as long as the budget allows.
//
// In a process of its own nothing that goes wrong there is the program's: no crash, no memory, no signal. The program
// does not see it either: it is not a child of the program, so that no SIGCHLD and no wait() reports it, it has none of
// the program's descriptors, and it is not waited for when the budget is spent. It goes on then, and what it makes is
// in the cache for the next run.
//
// The way there is vfork's, whatever the size of the program: a child that shares its memory starts the other and ends.
// Needs Linux. Safe to call from several threads; no lock is held.
#pragma once

#include <string>

#include "jit/image.h"

namespace ptxopt::jit {

struct Request {
  Image image;
  std::vector<unsigned> devices;
  bool isLinked = false;
  unsigned mostRegisters = 0;  // 0: not said
};

struct Answer {
  bool isOptimized = false;
  std::string image;  // what to use: of isOptimized, with a zero after it
  std::string why;    // it is not, or what is to be said of it
  unsigned kernels = 0, changed = 0;
  bool isFromCache = false;
  std::vector<std::string> ofAnyBlock;  // kernels that changed, and say nothing of the threads of their blocks
  std::string originals;                // where launches are compared: what there is to compare (protocol.h)
  double seconds = 0;
};

Answer optimized(const Request& request);

// Launches of a kernel differed from those of its original: `keys` is what the answer has for that. Waits for nothing; false where it could
// not be said.
bool tellDifference(const std::string& keys, const std::string& kernel);

}  // namespace ptxopt::jit
