// The loop polls both pipes and the process until the program ends, its time is over or the caller cancels; then the
// group is killed and what is left in the pipes is read. The program stays a zombie until then (WNOWAIT), which keeps
// its id valid.
#include "support/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "support/spawn.h"

namespace ptxopt {
namespace {

using Clock = std::chrono::steady_clock;

// For reading what is there, and no more.
bool openForDraining(Pipe& pipe) { return pipe.open() && ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) == 0; }

// Starts it; 0 or an errno.
int start(const std::vector<std::string>& arguments, const ProcessOptions& options, const Pipe& out,
          const Pipe& err, pid_t& pid) {
  SpawnSettings s;
  s.environment = options.environment;
  constexpr const char* kNull = "/dev/null";
  posix_spawn_file_actions_addopen(&s.actions, STDIN_FILENO, kNull, O_RDONLY, 0);
  const std::pair<const Pipe*, int> streams[] = {{&out, STDOUT_FILENO}, {&err, STDERR_FILENO}};
  for (const auto& [pipe, to] : streams) {
    if (pipe->write.isOpen())
      posix_spawn_file_actions_adddup2(&s.actions, pipe->write.get(), to);
    else
      posix_spawn_file_actions_addopen(&s.actions, to, kNull, O_WRONLY, 0);
  }
  // Signals that this program catches or blocks are the child's to decide on.
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD, SIGXFSZ}) sigaddset(&usual, signal);
  posix_spawnattr_setsigmask(&s.attributes, &none);
  posix_spawnattr_setsigdefault(&s.attributes, &usual);
  posix_spawnattr_setpgroup(&s.attributes, 0);
  posix_spawnattr_setflags(&s.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  return spawn(arguments, s, pid);
}

// Reads what is there. Closes the pipe at its end.
void drain(Pipe& pipe, std::string& text, std::size_t cap, bool& truncated) {
  constexpr std::size_t kSize = 16 * 1024;
  const auto buffer = std::make_unique_for_overwrite<char[]>(kSize);  // not on the stack, which may be small
  while (pipe.read.isOpen()) {
    const ssize_t n = ::read(pipe.read.get(), buffer.get(), kSize);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (n <= 0) {
      pipe.read.close();
      return;
    }
    const std::size_t kept = std::min(static_cast<std::size_t>(n), cap - std::min(cap, text.size()));
    text.append(buffer.get(), kept);
    if (kept < static_cast<std::size_t>(n)) truncated = true;
  }
}

// Whether it has ended. It stays a zombie, so that its id, and its group's, still mean it.
bool hasEnded(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

// For a signal's handler: the groups that run, 0 where none is, and how many programs are being started, whose groups are not
// there yet. More groups than these are not known to it.
std::array<std::atomic<pid_t>, 256> running;
std::atomic<int> starting, endingBy;  // endingBy: the signal that is to end this process
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);

void endWithPrograms(int signal) {
  for (const auto& place : running)
    if (const pid_t pid = place; pid != 0) ::kill(-pid, SIGKILL);
  ::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::raise(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);  // in its handler it is blocked
}

extern "C" void onEndingSignal(int signal) {
  const bool isFirst = endingBy.exchange(signal) == 0;
  if (starting == 0 || !isFirst) endWithPrograms(signal);  // otherwise the thread that starts one does
}

// A program that is started, and then runs, as long as this lives.
class Running {
 public:
  Running() { ++starting; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (isStarting_) started(0);
    ended();
  }

  // `pid`: 0 where it could not be started.
  void started(pid_t pid) {
    if (pid != 0)
      for (auto& place : running)
        if (pid_t none = 0; place.compare_exchange_strong(none, pid)) {
          place_ = &place;
          break;
        }
    isStarting_ = false;
    if (--starting == 0 && endingBy != 0) endWithPrograms(endingBy);
  }
  // Its id may be another's once it is waited for.
  void ended() {
    if (place_ != nullptr) *std::exchange(place_, nullptr) = 0;
  }

 private:
  std::atomic<pid_t>* place_ = nullptr;
  bool isStarting_ = true;
};

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

ProcessResult runProcess(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  using End = ProcessResult::End;
  ProcessResult result;
  if (arguments.empty()) {
    result.error = "no command";
    return result;
  }
  const auto begun = Clock::now();
  Pipe out, err;
  pid_t pid = -1;
  if (options.outputCap != 0 && (!openForDraining(out) || !openForDraining(err))) {
    result.error = std::strerror(errno);
    return result;
  }
  Running program;
  const int error = start(arguments, options, out, err, pid);
  program.started(error == 0 ? pid : 0);
  if (error != 0) {
    result.error = std::strerror(error);
    return result;
  }
  out.write.close();
  err.write.close();
  const Descriptor ended(openPidDescriptor(pid));

  // The end of the program counts, not that of the pipes: a child of it may hold these open.
  result.end = End::Exited;
  while (!hasEnded(pid)) {
    if (options.cancelled && options.cancelled()) {
      result.end = End::Cancelled;
      break;
    }
    const double left = options.timeoutSeconds - secondsSince(begun);
    if (options.timeoutSeconds > 0 && left <= 0) {
      result.end = End::TimedOut;
      break;
    }
    double wait = !ended.isOpen() ? 5e-3 : options.cancelled ? 50e-3 : 10;
    if (options.timeoutSeconds > 0) wait = std::min(wait, left);
    pollfd polled[] = {{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}, {ended.get(), POLLIN, 0}};
    ::poll(polled, std::size(polled), static_cast<int>(wait * 1e3) + 1);
    drain(out, result.out, options.outputCap, result.truncated);
    drain(err, result.err, options.outputCap, result.truncated);
  }
  ::kill(-pid, SIGKILL);
  program.ended();
  const int status = waitForEnd(pid, &result.cpuSeconds);
  drain(out, result.out, options.outputCap, result.truncated);
  drain(err, result.err, options.outputCap, result.truncated);
  result.seconds = secondsSince(begun);
  if (result.end != End::Exited) return result;
  if (WIFSIGNALED(status)) {
    result.end = End::Signalled;
    result.code = WTERMSIG(status);
  } else {
    result.code = WEXITSTATUS(status);
  }
  return result;
}

void endProgramsWithThisProcess() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {
    }, before{};
    ::sigaction(signal, nullptr, &before);
    action.sa_handler = onEndingSignal;
    if (before.sa_handler == SIG_DFL) ::sigaction(signal, &action, nullptr);  // nohup stays in force
  }
}

std::string ProcessResult::describe() const {
  switch (end) {
    case End::Exited: return fmt::format("exit status {}", code);
    case End::Signalled: return fmt::format("signal {} ({})", code, ::strsignal(code));
    case End::TimedOut: return fmt::format("no result within {:.3g} s", seconds);
    case End::Cancelled: return "cancelled";
    case End::NotStarted: return fmt::format("could not be started: {}", error);
  }
  return {};
}

}  // namespace ptxopt
