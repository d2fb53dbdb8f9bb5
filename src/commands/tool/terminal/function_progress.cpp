// The thread waits for two seconds, then draws four times a second, until it is stopped. A mutex keeps its line apart from
// messages, which take the line away.
#include "tool/terminal/function_progress.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "support/log.h"
#include "tool/terminal/terminal.h"

namespace ptxopt::tool {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kFirstPause(2000), kPause(250);

}  // namespace

FunctionProgress::FunctionProgress(bool asksPtxas)
    : asksPtxas_(asksPtxas), isShown_(isTerminal(stderr) && log::isEnabled(log::Level::Warn)) {
  if (!isShown_) return;
  log::setAround({[this] { clear(); }, {}});
  thread_ = std::jthread([this](const std::stop_token& stop) {
    const Clock::time_point start = Clock::now();
    std::unique_lock lock(mutex_);
    for (auto pause = kFirstPause;
         !ended_.wait_for(lock, stop, pause, [] { return false; }) && !stop.stop_requested(); pause = kPause) {
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      drawLine(shortened(line(done_, all_, asksPtxas_, seconds), terminalWidth(stderr, 80) - 1));
      isDrawn_ = true;
    }
  });
}

FunctionProgress::~FunctionProgress() {
  if (!isShown_) return;
  thread_.request_stop();
  thread_.join();
  log::setAround({});
  clear();
}

void FunctionProgress::show(std::size_t done, std::size_t all) {
  all_ = all;
  done_ = done;
}

std::string FunctionProgress::line(std::size_t done, std::size_t all, bool asksPtxas, double seconds) {
  if (all == 0) return fmt::format("ptxopt: reading, {:.0f} s", seconds);
  return fmt::format("ptxopt: {}/{} functions{}, {:.0f} s", done, all,
                     done < all  ? ""
                     : asksPtxas ? ", ptxas runs"
                                 : "",
                     seconds);
}

void FunctionProgress::clear() {
  const std::scoped_lock lock(mutex_);
  if (isDrawn_) drawLine({});
  isDrawn_ = false;
}

}  // namespace ptxopt::tool
