#include "support/spawn.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char** environ;

namespace ptxopt {

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
  return ::posix_spawnp(&pid, argv[0], &settings.actions, &settings.attributes, argv.data(), environ);
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
