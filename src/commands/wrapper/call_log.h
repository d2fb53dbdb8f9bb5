// The log of calls that the drop-in ptxas keeps where $PTXOPT_LOG names a file: a line of JSON for each call with an
// input. `ptxopt doctor` finds in it whether a client called us.
//
// A line is added by one write at the end of the file, so that processes do not mix theirs. What is read back leaves
// out lines that are none of ours. Nothing is ever removed: the user who asks for the log removes it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ptxopt::wrapper {

struct CallRecord {
  std::string client;        // as Client::name
  std::string ptxas, why;    // the real one, and why that
  std::string architecture;  // asked for
  std::string notOptimized;  // why nothing was optimized
  std::string trouble;       // what went wrong
  std::size_t inputs = 0, changed = 0;
  std::string time{};  // "2026-01-31T12:00:00Z"; addToLog sets it
};

bool addToLog(const std::string& path, const CallRecord& record);
std::vector<CallRecord> readLog(const std::string& path);

}  // namespace ptxopt::wrapper
