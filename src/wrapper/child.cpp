#include "wrapper/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

extern char** environ;

namespace ptxopt {
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

struct Spawn {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  Spawn() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

struct Pipe {
  int read = -1, write = -1;
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    closeRead();
    closeWrite();
  }
  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
  void closeRead() {
    if (read >= 0) ::close(std::exchange(read, -1));
  }
  void closeWrite() {
    if (write >= 0) ::close(std::exchange(write, -1));
  }
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
  std::array<char, 16 * 1024> buffer;
  int ended = -1;
#ifdef SYS_pidfd_open
  ended = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#endif
  bool hasEnded = false;
  while (first.read >= 0 || second.read >= 0) {
    pollfd polled[] = {{first.read, POLLIN, 0}, {second.read, POLLIN, 0}, {ended, POLLIN, 0}};
    const int ready = ::poll(polled, std::size(polled), hasEnded ? 0 : -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    // What it wrote before its end is in the pipes by now.
    if (polled[2].revents != 0) {
      hasEnded = true;
      ::close(std::exchange(ended, -1));
      continue;
    }
    for (std::size_t i = 0; i < std::size(streams); ++i) {
      const auto& [pipe, text] = streams[i];
      if (pipe->read < 0 || polled[i].revents == 0) continue;
      const ssize_t n = ::read(pipe->read, buffer.data(), buffer.size());
      if (n > 0)
        text->append(buffer.data(), static_cast<std::size_t>(n));
      else if (n == 0 || errno != EINTR)
        pipe->closeRead();
    }
  }
  if (ended >= 0) ::close(ended);
}

std::vector<char*> pointers(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  return argv;
}

}  // namespace

std::string Child::describe() const {
  if (!error.empty()) return error;
  if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

Child runChild(const std::vector<std::string>& arguments, const ChildOptions& options) {
  Child child;
  Spawn spawn;
  Pipe out, err;
  if (!options.input.empty())
    posix_spawn_file_actions_addopen(&spawn.actions, STDIN_FILENO, options.input.c_str(), O_RDONLY, 0);
  if (options.capturesOutput) {
    const bool isOne = areOneFile(STDOUT_FILENO, STDERR_FILENO);
    if (!out.open() || (!isOne && !err.open())) {
      child.error = std::strerror(errno);
      return child;
    }
    posix_spawn_file_actions_adddup2(&spawn.actions, out.write, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&spawn.actions, isOne ? out.write : err.write, STDERR_FILENO);
  }
  ::signal(SIGCHLD, SIG_DFL);  // whoever ignores it gets no status
  SignalsSentOn signals;
  wasSentOn = 0;
  posix_spawnattr_setsigmask(&spawn.attributes, &signals.mask());
  posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> argv = pointers(arguments);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv[0], &spawn.actions, &spawn.attributes, argv.data(), environ);
  signals.started(error == 0 ? pid : 0);
  if (error != 0) {
    child.error = std::strerror(error);
    return child;
  }
  out.closeWrite();
  err.closeWrite();
  if (options.capturesOutput) readAll(pid, out, child.out, err, child.err);
  while (::waitpid(pid, &child.status, 0) < 0 && errno == EINTR) {
  }
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
  std::vector<char*> argv = pointers(arguments);
  ::execvp(argv[0], argv.data());
  return std::strerror(errno);
}

}  // namespace ptxopt
