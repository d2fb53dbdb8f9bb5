// What starting another program takes: pipes, posix_spawn's settings, its arguments, and a descriptor of its end.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "support/descriptor.h"

namespace ptxopt {

struct Pipe {
  Descriptor read, write;
  // Closed in children by themselves: another thread may be starting one. False with errno.
  bool open();
};

// posix_spawn's two structures, freed in any case, and what the environment has besides.
struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  std::vector<std::string> environment;  // NAME=VALUE, besides ours or instead of it
  SpawnSettings();
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings();
};

// arguments[0] is looked up in PATH unless it holds a slash. 0 or an errno.
int spawn(const std::vector<std::string>& arguments, const SpawnSettings& settings, pid_t& pid);

// As exec and posix_spawn want them; valid as long as the strings are.
std::vector<char*> argumentPointers(const std::vector<std::string>& arguments);

// Waits for the end of a child. Its status, as of waitpid; `cpuSeconds`: CPU time of it and of the children that it waited for.
int waitForEnd(pid_t pid, double* cpuSeconds = nullptr);
// "exit status 3", "signal 11 (Segmentation fault)"
std::string describeEnd(int status);

// Readable when the process has ended; -1 where the system has no such thing.
int openPidDescriptor(pid_t pid);

}  // namespace ptxopt
