// What running a variant of a kernel on a device says of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace ptxopt::tune {

struct DeviceTime {
  // "different": it leaves other bytes than the input; "failed": on the device; "refused": by ptxas. Empty: it was timed.
  std::string rejected;
  std::string detail;  // of these, in words
  // The ratio of its time to that of the input: the median, and an interval around it.
  double ratio = 0, low = 0, high = 0;
  std::string verdict;  // "faster", "slower", "cannot be distinguished"

  bool isFaster() const { return rejected.empty() && verdict == "faster"; }
};

struct DeviceOptions {
  std::string kernel;  // as mangled; others stay as they are
  // Compares a text with the input and times both. Called by one thread.
  std::function<DeviceTime(std::string_view text)> time;
};

}  // namespace ptxopt::tune
