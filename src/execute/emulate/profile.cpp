#include "emulate/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <vector>

namespace ptxopt::emulate {

void ThreadInstructions::op(exec::Warp&, const exec::Routine&, const exec::Op&, exec::Mask, exec::Mask active) {
  warps += active != 0;
  threads += static_cast<uint64_t>(std::popcount(active));
}

double processorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void Profile::add(const std::string& kernel, const ThreadInstructions& instructions, double seconds) {
  Row& row = rows_[kernel];
  ++row.launches;
  row.warps += instructions.warps;
  row.threads += instructions.threads;
  row.seconds += seconds;
}

std::string Profile::table() const {
  std::vector<std::pair<std::string, Row>> rows(rows_.begin(), rows_.end());
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  Row all;
  for (const auto& [name, row] : rows) {
    all.launches += row.launches;
    all.warps += row.warps;
    all.threads += row.threads;
    all.seconds += row.seconds;
  }
  if (rows.size() > 1) rows.emplace_back("all", all);
  std::string out = fmt::format("{:>9} {:>10} {:>14} {:>16} {:>12}  kernel\n", "launches", "CPU s", "instructions",
                                "of threads", "M a second");
  for (const auto& [name, row] : rows)
    out +=
        fmt::format("{:>9} {:>10.3f} {:>14} {:>16} {:>12.0f}  {}\n", row.launches, row.seconds, row.warps,
                    row.threads, row.seconds > 0 ? static_cast<double>(row.threads) / row.seconds / 1e6 : 0, name);
  return out;
}

}  // namespace ptxopt::emulate
