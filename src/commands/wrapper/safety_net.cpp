// The handlers use only what was prepared when the object was made: the words of the other program, its input file and
// the alternate stack. The timer of CPU time is ITIMER_PROF.
#include "wrapper/safety_net.h"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

namespace ptxopt::wrapper {
namespace {

constexpr std::size_t kStackSize = 64 * 1024;

char* const* program = nullptr;
const char* inputFile = nullptr;

void setTimer(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

void writeError(const char* text) {
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

extern "C" void becomeTheOther(int signal) {
  setTimer(0);
  writeError(signal == SIGPROF ? "ptxopt: warning: no end in sight; the PTX is left as it is\n"
                               : "ptxopt: warning: crashed; the PTX is left as it is\n");
  if (inputFile != nullptr) {
    const int file = ::open(inputFile, O_RDONLY);
    if (file >= 0) ::dup2(file, STDIN_FILENO);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv(program[0], program);
  ::_exit(127);
}

}  // namespace

SafetyNet::SafetyNet(const std::vector<std::string>& arguments, const std::string& input, double cpuSeconds)
    : arguments_(arguments), input_(input), stack_(std::make_unique<char[]>(kStackSize)) {
  for (std::string& argument : arguments_) argv_.push_back(argument.data());
  argv_.push_back(nullptr);
  program = argv_.data();
  inputFile = input_.empty() ? nullptr : input_.c_str();
  stack_t stack{};
  stack.ss_sp = stack_.get();
  stack.ss_size = kStackSize;
  ::sigaltstack(&stack, &stackBefore_);
  struct sigaction action {};
  action.sa_handler = becomeTheOther;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
  setTimer(cpuSeconds);
}

SafetyNet::~SafetyNet() {
  setTimer(0);
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  ::sigaltstack(&stackBefore_, nullptr);
}

}  // namespace ptxopt::wrapper
