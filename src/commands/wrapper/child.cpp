// Signals are blocked until the child's id is known, then handlers pass them on. Output is read by poll() from both
// pipes and a descriptor of the process, so that reading ends with the program even where a grandchild keeps a pipe
// open.
#include "wrapper/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "support/spawn.h"

namespace ptxopt::wrapper {
namespace {

constexpr int kNotStarted = 127;  // as of a shell
constexpr std::array kSentOn{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

volatile sig_atomic_t childPid = 0;
volatile sig_atomic_t wasSentOn = 0;

extern "C" void sendOn(int signal) {
  const int saved = errno;
  wasSentOn = 1;
  if (childPid > 0) ::kill(static_cast<pid_t>(childPid), signal);
  errno = saved;
}

// Sends signals on to the child while it lives. Those that are ignored stay ignored. They are blocked until the
// child's id is known, so that none is lost.
class SignalsSentOn {
 public:
  SignalsSentOn() {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int signal : kSentOn) sigaddset(&blocked, signal);
    ::sigprocmask(SIG_BLOCK, &blocked, &mask_);
    for (std::size_t i = 0; i < kSentOn.size(); ++i) {
      ::sigaction(kSentOn[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      struct sigaction action {};
      action.sa_handler = sendOn;
      action.sa_flags = SA_RESTART;
      ::sigaction(kSentOn[i], &action, nullptr);
    }
  }
  SignalsSentOn(const SignalsSentOn&) = delete;
  SignalsSentOn& operator=(const SignalsSentOn&) = delete;
  ~SignalsSentOn() {
    started(0);
    for (std::size_t i = 0; i < kSentOn.size(); ++i) ::sigaction(kSentOn[i], &before_[i], nullptr);
  }
  const sigset_t& mask() const { return mask_; }
  void started(pid_t pid) {
    childPid = pid;
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  sigset_t mask_;
  std::array<struct sigaction, kSentOn.size()> before_{};
};

bool areOneFile(int a, int b) {
  struct stat first {
  }, second{};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// Until the program has ended, or all ends for writing are closed where the system does not tell the former. What a
// child of the program may still write is lost.
void readAll(pid_t pid, Pipe& first, std::string& firstText, Pipe& second, std::string& secondText) {
  const std::pair<Pipe*, std::string*> streams[] = {{&first, &firstText}, {&second, &secondText}};
  constexpr std::size_t kSize = 16 * 1024;
  const auto buffer = std::make_unique_for_overwrite<char[]>(kSize);  // not on the stack, which may be small
  Descriptor ended(openPidDescriptor(pid));
  bool hasEnded = false;
  while (first.read.isOpen() || second.read.isOpen()) {
    pollfd polled[] = {{first.read.get(), POLLIN, 0}, {second.read.get(), POLLIN, 0}, {ended.get(), POLLIN, 0}};
    const int ready = ::poll(polled, std::size(polled), hasEnded ? 0 : -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    // What it wrote before its end is in the pipes by now.
    if (polled[2].revents != 0) {
      hasEnded = true;
      ended.close();
      continue;
    }
    for (std::size_t i = 0; i < std::size(streams); ++i) {
      const auto& [pipe, text] = streams[i];
      if (!pipe->read.isOpen() || polled[i].revents == 0) continue;
      const ssize_t n = ::read(pipe->read.get(), buffer.get(), kSize);
      if (n > 0)
        text->append(buffer.get(), static_cast<std::size_t>(n));
      else if (n == 0 || errno != EINTR)
        pipe->read.close();
    }
  }
}

}  // namespace

std::string Child::describe() const { return error.empty() ? describeEnd(status) : error; }

Child runChild(const std::vector<std::string>& arguments, const ChildOptions& options) {
  Child child;
  SpawnSettings settings;
  Pipe out, err;
  if (!options.input.empty())
    posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, options.input.c_str(), O_RDONLY, 0);
  if (options.capturesOutput) {
    const bool isOne = areOneFile(STDOUT_FILENO, STDERR_FILENO);
    if (!out.open() || (!isOne && !err.open())) {
      child.error = std::strerror(errno);
      return child;
    }
    posix_spawn_file_actions_adddup2(&settings.actions, out.write.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&settings.actions, (isOne ? out : err).write.get(), STDERR_FILENO);
  }
  ::signal(SIGCHLD, SIG_DFL);  // a process that ignores it gets no status
  SignalsSentOn signals;
  wasSentOn = 0;
  posix_spawnattr_setsigmask(&settings.attributes, &signals.mask());
  posix_spawnattr_setflags(&settings.attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int error = spawn(arguments, settings, pid);
  signals.started(error == 0 ? pid : 0);
  if (error != 0) {
    child.error = std::strerror(error);
    return child;
  }
  out.write.close();
  err.write.close();
  if (options.capturesOutput) readAll(pid, out, child.out, err, child.err);
  child.status = waitForEnd(pid);
  child.isInterrupted =
      wasSentOn != 0 || (WIFSIGNALED(child.status) &&
                         std::find(kSentOn.begin(), kSentOn.end(), WTERMSIG(child.status)) != kSentOn.end());
  return child;
}

void endLike(const Child& child) {
  if (!child.error.empty()) std::exit(kNotStarted);
  if (WIFSIGNALED(child.status)) {
    // Its memory was of interest, ours is not.
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::signal(WTERMSIG(child.status), SIG_DFL);
    ::raise(WTERMSIG(child.status));
    std::exit(128 + WTERMSIG(child.status));
  }
  std::exit(WEXITSTATUS(child.status));
}

std::string become(const std::vector<std::string>& arguments) {
  const std::vector<char*> argv = argumentPointers(arguments);
  ::execvp(argv[0], argv.data());
  return std::strerror(errno);
}

}  // namespace ptxopt::wrapper
