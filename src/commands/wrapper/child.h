// Running another program in our place: its streams are ours, and we end as it ended.
//
// The child stays in our process group and has our standard input unless another one is given. SIGINT, SIGTERM,
// SIGHUP and SIGQUIT that reach us are sent on to it, and we wait on for its end, so that temporary files can be
// removed. One child at a time. Needs POSIX.
#pragma once

#include <string>
#include <vector>

namespace ptxopt::wrapper {

struct ChildOptions {
  std::string input;            // a file to be its standard input; empty: ours
  bool capturesOutput = false;  // keep what it writes instead of letting it through
};

struct Child {
  std::string error;  // why it could not be started
  int status = 0;     // as of waitpid
  // Whether a signal was sent on to it, or it ended by one of these: nobody is to try again.
  bool isInterrupted = false;
  // What it wrote. Where both of our streams are one file, all of it is in `out`, in its order.
  std::string out, err;

  bool succeeded() const { return error.empty() && status == 0; }
  // "exit status 3", "signal 11"
  std::string describe() const;
};

// arguments[0] is a path, or is looked up in PATH.
Child runChild(const std::vector<std::string>& arguments, const ChildOptions& options = {});

// Ends this process with the exit code of the child, or by its signal. What has to be removed must be gone before.
[[noreturn]] void endLike(const Child& child);

// Becomes that program. Returns the reason when that fails.
std::string become(const std::vector<std::string>& arguments);

}  // namespace ptxopt::wrapper
