// A bar on standard error that says how far a long run is. Only on a terminal: elsewhere nothing is written.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace ptxopt::tool {

class Progress {
 public:
  explicit Progress(std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void show(std::size_t done, std::size_t total);
  // Takes the bar away, so that something else can be written.
  void clear();

 private:
  std::string what_;
  bool isOn_;
  bool isShown_ = false;
};

}  // namespace ptxopt::tool
