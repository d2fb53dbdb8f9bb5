#include "gpu/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "support/json.h"
#include "support/spawn.h"

namespace ptxopt::gpu {

SortedJson inChild(const std::function<SortedJson()>& body, unsigned limitSeconds, std::string& error) {
  Pipe pipe;
  std::fflush(nullptr);
  const pid_t child = pipe.open() ? fork() : -1;
  if (child < 0) {
    error = std::strerror(errno);
    return nullptr;
  }
  if (child == 0) {
    alarm(limitSeconds);
    // What kernels print would come once for each repetition.
    if (const int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    const std::string text = dumpJson(body());
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t n = write(pipe.write.get(), text.data() + at, text.size() - at);
      if (n <= 0) break;
      at += static_cast<std::size_t>(n);
    }
    _exit(0);  // a driver that a kernel has harmed may not get through its end
  }
  pipe.write.close();
  std::string text;
  char piece[4096];
  for (ssize_t n; (n = read(pipe.read.get(), piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR);)
    if (n > 0) text.append(piece, static_cast<std::size_t>(n));
  const int status = waitForEnd(child);
  SortedJson answer = parseSortedJsonOrDiscard(text);
  if (!answer.is_discarded()) return answer;
  error = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM
              ? fmt::format("no result within {} s", limitSeconds)
              : fmt::format("the process ended with {}", describeEnd(status));
  return nullptr;
}

}  // namespace ptxopt::gpu
