// A finished piece of work draws the line if a second has passed since the start and a tenth since the line was last
// drawn. The logger calls back before each message to clear the line.
#include "tool/terminal/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/log.h"
#include "support/printable.h"
#include "tool/terminal/terminal.h"

namespace ptxopt::tool {
namespace {

constexpr std::chrono::milliseconds kQuiet(1000), kBetween(100);
constexpr std::size_t kBarWidth = 24;

std::string duration(double seconds) {
  const auto s = static_cast<long>(seconds + 0.5);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace

Progress::Progress(std::size_t total)
    : total_(total), terminal_(isTerminal(stderr) && terminalWidth(stderr, 80) > kBarWidth) {
  // A message takes the line away; the next piece of work that is done draws it again.
  if (terminal_) log::setAround({[this] { finish(); }, {}});
}

Progress::~Progress() {
  if (terminal_) log::setAround({});
  finish();
}

std::string Progress::line(std::size_t done, std::size_t total, double seconds, std::string_view name,
                           std::size_t width) {
  const std::size_t filled = total == 0 ? kBarWidth : kBarWidth * std::min(done, total) / total;
  std::string out =
      fmt::format("[{}{}] {}/{}", std::string(filled, '#'), std::string(kBarWidth - filled, '.'), done, total);
  if (done != 0 && done < total)
    out +=
        fmt::format(", {} left", duration(seconds / static_cast<double>(done) * static_cast<double>(total - done)));
  constexpr std::size_t kLeastName = 8;
  if (displayWidth(out) + 2 + kLeastName <= width && !name.empty())
    out += "  " + shortened(printable(name), width - displayWidth(out) - 2);
  return shortened(out, std::max<std::size_t>(width, 3));
}

void Progress::done(std::string_view name) {
  const std::scoped_lock lock(mutex_);
  ++done_;
  drawIfDue(name);
}

void Progress::show(std::size_t done, std::size_t total) {
  const std::scoped_lock lock(mutex_);
  done_ = done;
  total_ = total;
  drawIfDue({});
}

void Progress::drawIfDue(std::string_view name) {
  const Clock::time_point now = Clock::now();
  if (!terminal_ || now - start_ < kQuiet || (isDrawn_ && now - drawnAt_ < kBetween)) return;
  drawnAt_ = now;
  draw(name);
}

void Progress::finish() {
  const std::scoped_lock lock(mutex_);
  clear();
}

void Progress::draw(std::string_view name) {
  // A column less than there are: no terminal begins a new line then.
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  drawLine(line(done_, total_, seconds, name, terminalWidth(stderr, 80) - 1));
  isDrawn_ = true;
}

void Progress::clear() {
  if (isDrawn_) drawLine({});
  isDrawn_ = false;
}

}  // namespace ptxopt::tool
