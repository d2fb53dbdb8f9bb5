// The log is read from the offset at which this run began. Members may be missing or have another type, since another
// version may have written the line; lines with a kernel go to the table of comparisons, all others to that of modules.
#include "tool/commands/jit_table.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "support/descriptor.h"
#include "support/json.h"
#include "tool/terminal/table.h"

namespace ptxopt::tool {
namespace {

// What was written by another version may have other members.
std::string wordIn(const SortedJson& line, const char* name) {
  return line.contains(name) && line.at(name).is_string() ? line.at(name).get<std::string>() : std::string();
}
double numberIn(const SortedJson& line, const char* name) {
  return line.contains(name) && line.at(name).is_number() ? line.at(name).get<double>() : 0;
}
std::string shown(double number) { return fmt::format("{:.0f}", number); }

Table::TextOptions layout() { return {.colours = hasColours(stderr), .width = terminalWidth(stderr, 0)}; }

class ModuleTable {
 public:
  void add(const SortedJson& line) {
    const bool isOptimized = wordIn(line, "used") == "optimized";
    const bool isCached = line.contains("from_cache") && line.at("from_cache") == true;
    ++modules_;
    optimized_ += isOptimized ? 1 : 0;
    seconds_ += numberIn(line, "seconds");
    table_.addRow({wordIn(line, "call"),
                   wordIn(line, "module"),
                   shown(numberIn(line, "kernels")),
                   shown(numberIn(line, "changed")),
                   {wordIn(line, "used"), isOptimized ? Style::Good : Style::Plain},
                   isCached ? "yes" : "no",
                   fmt::format("{:.3f}", numberIn(line, "seconds")),
                   wordIn(line, "why")});
  }
  std::string text() const {
    if (modules_ == 0) return "ptxopt jit: no module was loaded\n";
    return table_.text(layout()) +
           fmt::format("ptxopt jit: {} of {} modules optimized, {:.3f} s\n", optimized_, modules_, seconds_);
  }

 private:
  Table table_{{{"call"},
                {"module"},
                {"kernels", Table::Align::Right},
                {"changed", Table::Align::Right},
                {"used"},
                {"cached"},
                {"s", Table::Align::Right},
                {"why", Table::Align::Left, true}}};
  unsigned modules_ = 0, optimized_ = 0;
  double seconds_ = 0;
};

// For the launches of kernels that were compared. Empty where nothing was.
class KernelTable {
 public:
  void add(const SortedJson& line) {
    const double equal = numberIn(line, "equal"), different = numberIn(line, "different"),
                 varying = numberIn(line, "varying");
    std::string reasons;
    double left = 0;
    if (line.contains("not_compared") && line.at("not_compared").is_object())
      for (const auto& [why, count] : line.at("not_compared").items()) {
        const double number = count.is_number() ? count.get<double>() : 0;
        left += number;
        reasons += fmt::format("{}{:.0f}: {}", reasons.empty() ? "" : "; ", number, why);
      }
    ++kernels_;
    different_ += different != 0 ? 1 : 0;
    compared_ += equal + different + varying;
    notCompared_ += left;
    table_.addRow({wordIn(line, "kernel"),
                   wordIn(line, "module"),
                   shown(numberIn(line, "launches")),
                   shown(equal),
                   {shown(different), different != 0 ? Style::Bad : Style::Plain},
                   shown(varying),
                   shown(left),
                   reasons});
  }
  std::string text() const {
    if (kernels_ == 0) return {};
    return table_.text(layout()) + fmt::format(
                                       "ptxopt jit: {:.0f} launches of {} kernels compared, {} kernels differ; "
                                       "{:.0f} launches not compared\n",
                                       compared_, kernels_, different_, notCompared_);
  }

 private:
  Table table_{{{"kernel"},
                {"module"},
                {"launches", Table::Align::Right},
                {"equal", Table::Align::Right},
                {"different", Table::Align::Right},
                {"varying", Table::Align::Right},
                {"not compared", Table::Align::Right},
                {"why", Table::Align::Left, true}}};
  unsigned kernels_ = 0, different_ = 0;
  double compared_ = 0, notCompared_ = 0;
};

}  // namespace

std::string jitTable(const std::string& log, std::uintmax_t from) {
  std::ifstream in(log, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(from));
  ModuleTable modules;
  KernelTable kernels;
  for (std::string text; std::getline(in, text);) {
    const SortedJson line = parseSortedJsonOrDiscard(text);
    if (!line.is_object()) continue;
    if (line.contains("kernel"))
      kernels.add(line);
    else
      modules.add(line);
  }
  return modules.text() + kernels.text();
}

std::string whyNotAppendable(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  return file.isOpen() ? std::string() : fmt::format("'{}': {}", path, std::strerror(errno));
}

}  // namespace ptxopt::tool
