// Running another program: its arguments, a time limit, its output, how it ended.
//
// The program runs in a process group of its own with standard input from /dev/null. When it ends, or its time is
// over, or the caller cancels, everything that is left of the group is killed: a test script leaves no stray
// children. What a child moves into another group or session is out of reach.
// Output beyond the cap is read and thrown away, so that the program never blocks on a full pipe.
// Needs POSIX; on Linux it waits on a pidfd, elsewhere it looks every few milliseconds. Safe to call from several
// threads.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ptxopt {

struct ProcessOptions {
  double timeoutSeconds = 0;          // 0: none
  std::size_t outputCap = 64 * 1024;  // bytes kept of each stream; 0: both go to /dev/null
  std::function<bool()> cancelled;    // asked every 50 ms; true: kill it
  // NAME=VALUE, each besides what this process has in its environment, or instead of that.
  std::vector<std::string> environment;
};

struct ProcessResult {
  enum class End {
    Exited,     // code: the exit status
    Signalled,  // code: the signal
    TimedOut,
    Cancelled,
    NotStarted,  // error says why
  };
  End end = End::NotStarted;
  int code = 0;
  bool truncated = false;  // a stream was longer than the cap
  std::string out, err;
  std::string error;
  double seconds = 0;
  double cpuSeconds = 0;  // of the program and of the children that it waited for

  bool succeeded() const { return end == End::Exited && code == 0; }
  // "exit status 3", "signal 11 (Segmentation fault)", "no result within 5 s", ...
  std::string describe() const;
};

// arguments[0] is looked up in PATH unless it holds a slash.
ProcessResult runProcess(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

// From now on SIGINT, SIGTERM and SIGHUP, where they end this process, end the programs that runProcess() has running, too: these
// have process groups of their own, which Ctrl-C does not reach. For the main() of a program.
void endProgramsWithThisProcess();

}  // namespace ptxopt
