#include "tool/commands/jit_table.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/descriptor.h"
#include "tool/terminal/table.h"

namespace ptxopt::tool {
namespace {

using nlohmann::json;

}  // namespace

std::string jitTable(const std::string& log, std::uintmax_t from) {
  Table table({{"call"},
               {"module"},
               {"kernels", Table::Align::Right},
               {"changed", Table::Align::Right},
               {"used"},
               {"cached"},
               {"s", Table::Align::Right},
               {"why", Table::Align::Left, true}});
  std::ifstream in(log, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(from));
  unsigned modules = 0, optimized = 0;
  double seconds = 0;
  for (std::string text; std::getline(in, text);) {
    const json line = json::parse(text, nullptr, false);
    if (!line.is_object()) continue;
    // What was written by another version may have other members.
    const auto word = [&](const char* name) {
      return line.contains(name) && line.at(name).is_string() ? line.at(name).get<std::string>() : std::string();
    };
    const auto number = [&](const char* name) {
      return line.contains(name) && line.at(name).is_number() ? line.at(name).get<double>() : 0;
    };
    const bool isOptimized = word("used") == "optimized";
    const bool isCached = line.contains("from_cache") && line.at("from_cache") == true;
    ++modules;
    optimized += isOptimized ? 1 : 0;
    seconds += number("seconds");
    table.addRow({word("call"),
                  word("module"),
                  fmt::format("{:.0f}", number("kernels")),
                  fmt::format("{:.0f}", number("changed")),
                  {word("used"), isOptimized ? Style::Good : Style::Plain},
                  isCached ? "yes" : "no",
                  fmt::format("{:.3f}", number("seconds")),
                  word("why")});
  }
  if (modules == 0) return "ptxopt jit: no module was loaded\n";
  const std::string sum =
      fmt::format("ptxopt jit: {} of {} modules optimized, {:.3f} s\n", optimized, modules, seconds);
  return table.text({.colours = hasColours(stderr), .width = terminalWidth(stderr, 0)}) + sum;
}

std::string whyNotAppendable(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  return file.isOpen() ? std::string() : fmt::format("'{}': {}", path, std::strerror(errno));
}

}  // namespace ptxopt::tool
