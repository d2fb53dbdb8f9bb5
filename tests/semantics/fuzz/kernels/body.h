// The body of one function while it is built: its text, its registers, the memory it may touch, and what control
// flow it is in.
//
// `uniform` is true where all threads of the block are known to come by together: only there may barriers and warp
// operations stand, and only there are uniform registers written. `work` is how often the innermost loops together
// may repeat a statement; loops keep it under a limit, so that every kernel ends soon.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "options.h"
#include "random.h"
#include "region.h"
#include "registers.h"

namespace kernels {

// The shape of the launch, and what the file's first lines say of it.
struct Launch {
  int grid[3] = {1, 1, 1};
  int block[3] = {32, 1, 1};
  int words = 256;  // of `in`; a power of two
  uint32_t a = 0, b = 0;
  float f = 0;
  int threads() const { return block[0] * block[1] * block[2]; }
  int blocks() const { return grid[0] * grid[1] * grid[2]; }
};

struct DeviceFunction;

// What the functions of a file share.
struct File {
  File(uint64_t seed, const Options& given);

  Random random;
  Options options;
  Launch launch;
  std::vector<DeviceFunction> functions;
  std::string globals;  // text before the kernel: variables and functions
  int labels = 0;
  int tables = 0;
  int apart = 0;  // statements of apart.h
  int kept = 0, stragglers = 0, vectors = 0;
  bool quiet = false;  // a kernel of sections: see sections.cpp
  int reuse, typed;    // as in Registers
};

class Body {
 public:
  Body(File& wholeFile, bool isKernel)
      : file(wholeFile),
        random(wholeFile.random),
        regs(random, wholeFile.reuse, wholeFile.typed),
        kernel(isKernel) {}

  // ---- text ----
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text += "  " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  std::string label();
  void place(const std::string& label) { text += label + ":\n"; }
  void branch(const std::string& label, bool together);
  // @%p1 or @!%p1.
  void branchIf(const std::string& condition, const std::string& label, bool together);

  // ---- values ----
  std::string name(Reg r) const { return regs.name(r); }
  // A live value; where there is none of the class, one is made.
  Reg source(Class c);
  // A live value or, now and then, a number.
  std::string operand(Class c);
  std::string immediate(Class c);
  // "%r1" or, now and then, "%r1 + 4", of a class of integers.
  std::string withAddend(Reg r);
  // The register that the next instruction writes: an old one, which gets a further definition, or a new one.
  // Choose the sources first.
  Reg destination(Class c);
  Reg temporary(Class c) { return regs.temporary(c); }
  // A new register with this number.
  Reg constant(Class c, uint64_t value);
  // A predicate that tends to be true in some threads and false in others; all the same where `together`.
  Reg condition(bool together);
  // "%p1" or "!%p1".
  std::string maybeNot(Reg predicate);
  // x & (count - 1), in a temporary; count is a power of two.
  Reg masked(Reg x, int count);
  // The same number for all threads, or one per thread.
  Reg number(bool together);
  // A float whose NaNs are all the same one; with Options::rawNan the register itself.
  Reg canonical(Reg r);
  // Mixes the value into the checksum.
  void fold(Reg r);
  void foldSome(int percent);

  bool has(Feature feature) const { return file.options.has(feature); }
  int arch() const { return file.options.arch; }

  File& file;
  Random& random;
  Registers regs;
  std::string text;
  std::vector<Region> regions;
  std::vector<Exchange> exchanges;
  std::vector<Counters> counters;
  const bool kernel;
  bool uniform = false;      // see above
  bool onlyUniform = false;  // the statement at hand computes with uniform values only
  int narrowStores = 0;      // of registers, so far
  bool late = false;         // behind the last barrier: threads may leave
  int work = 1;
  int depth = 0;
  bool ofFloats = false;  // the operation at hand takes literals of any form
  Reg checksum = -1;
  Reg tid = -1;         // of a kernel, within the block
  Reg words = -1;       // how many words `in` has, at run time
  std::string result;   // where an early exit leaves its checksum: "[%rd1+60]"
  std::string members;  // the mask of the warp's threads
  bool wholeWarps = true;
  int undefined = 0;           // registers that nothing writes, by Options::undefinedReads
  std::string undefinedNames;  // their declarations
  std::string variables;       // of the function
};

constexpr int kMostWork = 96;

}  // namespace kernels
