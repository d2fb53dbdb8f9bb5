// A line at the foot of the terminal that says how far many like pieces of work are: `[####......] 12/200 name, 8 s
// left`.
//
// Only on a terminal, and only once the work has taken a second. Messages of the logger meanwhile stand above the line. From
// any thread; there is one at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

namespace ptxopt::tool {

class Progress {
 public:
  explicit Progress(std::size_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // One more is done; `name` is what was done last.
  void done(std::string_view name);
  // The numbers of what is done and of all, which may differ from those before.
  void show(std::size_t done, std::size_t total);
  // Takes the line away.
  void finish();

  // The line for a number done of a total after some time, in at most `width` columns (for tests).
  static std::string line(std::size_t done, std::size_t total, double seconds, std::string_view name,
                          std::size_t width);

 private:
  using Clock = std::chrono::steady_clock;
  void drawIfDue(std::string_view name);
  void draw(std::string_view name);
  void clear();

  std::size_t total_;
  const bool terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point drawnAt_ = start_;
  std::mutex mutex_;
  std::size_t done_ = 0;
  bool isDrawn_ = false;
};

}  // namespace ptxopt::tool
