// A launch that runs both ways: the original, and, from the same memory, what was made of it.
//
// The gate is closed and the device idle. All memory that the program has from the driver in this context, and the variables of the
// module, are copied; the original runs, and what it changed is kept and undone; the optimized kernel runs, and must have changed the same
// bytes to the same. Where it did not, all is undone again and the original runs once more: the program goes on with that. If the original
// differs from itself, its results vary, and nothing is said against the optimized kernel. Otherwise the original is
// launched from then on.
//
// No launch is compared that two runs could hurt, or that could write to what was not copied: it is launched once, as the program asks,
// and counted with the reason. That is so for memory of the host and of other contexts that parameters or memory lead to, for memory that
// was not followed, and for what cannot be read. A device that is not idle in time, because it waits for the host, is
// waited for no longer: the original has been launched then, once.
//
// Cost: the memory is read three times, five times where a difference is seen.
#pragma once

#include <functional>

namespace ptxopt::jit {

struct Launch {
  void* function = nullptr;
  void* const* parameters = nullptr;
  void* const* extra = nullptr;
  void* stream = nullptr;
  bool hasEvents = false;  // reports its progress to others
};

// `launch`: the driver's call, of a function.
using LaunchFunction = std::function<int(void* function)>;
int launched(const Launch& l, const LaunchFunction& launch);

// What to make a node of a graph of, instead of a kernel: its original, if it was found to differ.
void* inGraph(void* kernel);
// A stream begins to be captured, or is no more.
void noteCapture(bool begins);

}  // namespace ptxopt::jit
