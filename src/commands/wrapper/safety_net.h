// If this process crashes, or computes without end, it becomes another program instead.
//
// While one of these lives, SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, and the end of a limit of CPU time, say so
// in a line on standard error and call that program. The handlers have a stack of their own, for when the usual one
// has overflown, and do only what signal handlers may. One at a time; needs POSIX.
#pragma once

#include <signal.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace ptxopt::wrapper {

class SafetyNet {
 public:
  // `input`: the file that is to be its standard input; empty: ours.
  SafetyNet(const std::vector<std::string>& arguments, const std::string& input, double cpuSeconds);
  SafetyNet(const SafetyNet&) = delete;
  SafetyNet& operator=(const SafetyNet&) = delete;
  ~SafetyNet();

  static constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};

 private:
  std::vector<std::string> arguments_;
  std::vector<char*> argv_;
  std::string input_;
  std::unique_ptr<char[]> stack_;
  stack_t stackBefore_{};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace ptxopt::wrapper
