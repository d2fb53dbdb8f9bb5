// A line at the foot of the terminal while one file takes long: `12/480 functions`, then `480/480 functions, ptxas runs`.
//
// Only where standard error is a terminal that takes warnings, and only after two seconds. A thread of its own draws it, so
// that it also moves while ptxas runs; the workers only store two numbers. Messages of the logger take it away.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace ptxopt::tool {

class FunctionProgress {
 public:
  // `asksPtxas`: what comes after the functions is the guard.
  explicit FunctionProgress(bool asksPtxas);
  FunctionProgress(const FunctionProgress&) = delete;
  FunctionProgress& operator=(const FunctionProgress&) = delete;
  ~FunctionProgress();

  bool isShown() const { return isShown_; }
  // From any thread.
  void show(std::size_t done, std::size_t all);

  // What the line says (for tests).
  static std::string line(std::size_t done, std::size_t all, bool asksPtxas, double seconds);

 private:
  void clear();

  const bool asksPtxas_, isShown_;
  std::atomic<std::size_t> done_ = 0, all_ = 0;
  std::mutex mutex_;  // of what follows
  std::condition_variable_any ended_;
  bool isDrawn_ = false;
  std::jthread thread_;  // last: it uses all of these
};

}  // namespace ptxopt::tool
