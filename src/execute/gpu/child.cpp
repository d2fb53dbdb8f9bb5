#include "gpu/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace ptxopt::gpu {

nlohmann::json inChild(const std::function<nlohmann::json()>& body, unsigned limitSeconds, std::string& error) {
  using nlohmann::json;
  int ends[2];
  std::fflush(nullptr);
  if (pipe2(ends, O_CLOEXEC) != 0) {
    error = std::strerror(errno);
    return nullptr;
  }
  const pid_t child = fork();
  if (child < 0) {
    error = std::strerror(errno);
    close(ends[0]);
    close(ends[1]);
    return nullptr;
  }
  if (child == 0) {
    alarm(limitSeconds);
    // What kernels print would come once for each repetition.
    if (const int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    const std::string text = body().dump(-1, ' ', false, json::error_handler_t::replace);
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t n = write(ends[1], text.data() + at, text.size() - at);
      if (n <= 0) break;
      at += static_cast<std::size_t>(n);
    }
    _exit(0);  // a driver that a kernel has harmed may not get through its end
  }
  close(ends[1]);
  std::string text;
  char piece[4096];
  for (ssize_t n; (n = read(ends[0], piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR);)
    if (n > 0) text.append(piece, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  json answer = json::parse(text, nullptr, false);
  if (!answer.is_discarded()) return answer;
  error = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? fmt::format("no answer within {} s", limitSeconds)
          : WIFSIGNALED(status) ? fmt::format("the process ended by signal {}", WTERMSIG(status))
                                : fmt::format("the process ended with exit status {}", WEXITSTATUS(status));
  return nullptr;
}

}  // namespace ptxopt::gpu
