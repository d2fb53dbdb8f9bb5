#include "tool/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tool/messages.h"
#include "tool/terminal.h"

namespace ptxopt::tool {
namespace {

constexpr std::size_t kLongestBar = 40;

// A dumb terminal cannot go back in its line.
bool canGoBack() {
  const char* const term = std::getenv("TERM");
  return isTerminal(stderr) && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace

Progress::Progress(std::string what) : what_(std::move(what)), isOn_(canGoBack()) {}

void Progress::show(std::size_t done, std::size_t total) {
  if (!isOn_ || total == 0) return;
  const std::string figures = fmt::format("{}/{}", done, total);
  const std::size_t width = terminalWidth(stderr, 80);
  const std::size_t taken = displayWidth(what_) + figures.size() + 5;
  const std::size_t bar = taken >= width ? 0 : std::min(width - taken, kLongestBar);
  const std::size_t full = std::min(bar, bar * done / total);
  print(stderr,
        fmt::format("\r\x1b[K{} [{}{}] {}", what_, std::string(full, '#'), std::string(bar - full, '.'), figures));
  isShown_ = true;
}

void Progress::clear() {
  if (isShown_) print(stderr, "\r\x1b[K");
  isShown_ = false;
}

}  // namespace ptxopt::tool
