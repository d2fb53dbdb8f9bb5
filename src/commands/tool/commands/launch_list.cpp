// A list such as 3,5-7 is read part by part, and a part outside the record throws RecordError. Launches are chosen that
// both --launch and --kernel name.
#include "tool/commands/launch_list.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>

#include "support/demangle.h"

namespace ptxopt::tool {
namespace {

using record::RecordError;

// 0: it is none.
uint64_t numberOf(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

CLI::Option* RecordMemory::addTo(CLI::App& app) {
  return app
      .add_option("--max-memory", mib,
                  "the memory that a recorded launch may have [64 MiB, or 250 times the file if that is more]")
      ->type_name("MIB")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 24));
}

void LaunchList::addTo(CLI::App& app) {
  app.add_option("--launch", launches, "only these, from 1: 3,5-7")->type_name("LIST");
  app.add_option("--kernel", kernel, "only launches of this kernel")->type_name("NAME");
  memory.addTo(app);
}

std::vector<bool> LaunchList::chosen(const record::Record& record) const {
  std::vector<bool> chosen(record.launches.size(), launches.empty());
  const auto bad = [&] {
    return RecordError(
        fmt::format("--launch {}: the record has launches 1 to {}", launches, record.launches.size()));
  };
  std::string_view rest = launches;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const std::size_t dash = std::min(part.find('-'), part.size());
    const uint64_t first = numberOf(part.substr(0, dash));
    const uint64_t last = dash < part.size() ? numberOf(part.substr(dash + 1)) : first;
    if (first == 0 || last < first || last > chosen.size()) throw bad();
    for (uint64_t i = first; i <= last; ++i) chosen[i - 1] = true;
  }
  for (std::size_t i = 0; i < chosen.size() && !kernel.empty(); ++i) {
    const auto names = calledNames(record.launches[i].kernel);
    if (std::find(names.begin(), names.end(), kernel) == names.end()) chosen[i] = false;
  }
  return chosen;
}

std::string launchTitle(const record::RecordedLaunch& l) {
  return fmt::format("{}<<<{}, {}{}>>>", readableName(l.kernel), exec::toString(l.grid), exec::toString(l.block),
                     l.shared != 0 ? fmt::format(", {}", l.shared) : "");
}

}  // namespace ptxopt::tool
