// posix_spawnp() starts programs, with the environment of this process in which the given variables replace those of
// the same name. wait4() gives the CPU time with the status.
#include "support/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

extern char** environ;

namespace ptxopt {
namespace {

// Ours, but for what `more` says. Valid as long as the strings are.
std::vector<char*> environmentWith(const std::vector<std::string>& more) {
  std::vector<char*> envp;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const std::string name = std::string(entry.substr(0, entry.find('='))) + '=';
    if (std::ranges::none_of(more, [&](const std::string& m) { return m.starts_with(name); })) envp.push_back(*at);
  }
  for (const std::string& m : more) envp.push_back(const_cast<char*>(m.c_str()));
  envp.push_back(nullptr);
  return envp;
}

}  // namespace

bool Pipe::open() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  read.reset(ends[0]);
  write.reset(ends[1]);
  return true;
}

SpawnSettings::SpawnSettings() {
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
}

SpawnSettings::~SpawnSettings() {
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
}

std::vector<char*> argumentPointers(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  return argv;
}

int spawn(const std::vector<std::string>& arguments, const SpawnSettings& settings, pid_t& pid) {
  const std::vector<char*> argv = argumentPointers(arguments);
  std::vector<char*> envp = environmentWith(settings.environment);
  return ::posix_spawnp(&pid, argv[0], &settings.actions, &settings.attributes, argv.data(), envp.data());
}

int waitForEnd(pid_t pid, double* cpuSeconds) {
  int status = 0;
  rusage used{};
  while (::wait4(pid, &status, 0, &used) < 0 && errno == EINTR) {
  }
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  if (cpuSeconds != nullptr) *cpuSeconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  return status;
}

std::string describeEnd(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

int openPidDescriptor(pid_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#else
  static_cast<void>(pid);
  return -1;
#endif
}

}  // namespace ptxopt
