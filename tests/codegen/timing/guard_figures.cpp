// What the guard's rule says of kernels that a GPU timed, for judge.py and record.py beside this.
//
//   guard_figures measure PTXAS ARCHITECTURE FILE.ptx [KERNEL THREADS BLOCKS]...
//                                                       the figures of what ptxas makes of it, as JSON, of kernels by the sizes of
//                                                       their launches, as the guard has them of facts
//   guard_figures judge RULE                            of each line of standard input, a record of gpu/*.jsonl, a line:
//                                                       {"sign":1,"by":"cycles","text":"L1 388 -> 342"}, or {"stale":"..."}
//
// A record is stale if its figures are not those of this build's model of time.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "ptxas/assemble.h"
#include "ptxas/compare.h"
#include "ptxas/measures_json.h"
#include "target/target.h"
#include "timing/kernel_time.h"

using namespace ptxopt;
using Json = nlohmann::ordered_json;

namespace {

Json measure(const std::string& ptxas, const std::string& architecture, const std::string& file,
             ptxas::LaunchSizes launches) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error(file + " cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  ptxas::PtxasSettings settings;
  settings.program = ptxas;
  settings.launches = std::move(launches);
  const ptxas::Assembly assembly = ptxas::assemble(text, architecture, settings);
  if (!assembly) throw std::runtime_error(fmt::format("{}: {}", file, assembly.error));
  return ptxas::toJson(assembly.measures);
}

ptxas::FunctionMeasures sideOf(const Json& record, const char* side) {
  const Json functions = Json::array({record.at(side)});
  return ptxas::measuresFrom({{"architecture", record.at("architecture")}, {"functions", functions}})
      .functions.front();
}

Json judge(const Json& record, ptxas::GuardRule rule) {
  const ptxas::FunctionMeasures before = sideOf(record, "before"), after = sideOf(record, "after");
  if (!before.time || !after.time) {
    const auto number = target::numberOf(record.at("architecture").get<std::string>());
    if (!number) throw std::runtime_error("architecture " + record.at("architecture").dump());
    const std::string current = timing::digestOf(target::Target(*number).machine());
    return {{"stale", fmt::format("figures of model {}, this build has {}",
                                  record.at("before").at("cycles").at("model").get<std::string>(), current)}};
  }
  const ptxas::Comparison by = compare(before, after, rule);
  return {{"sign", by.sign}, {"by", name(by.by)}, {"text", by.sign ? by.text() : ""}};
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() >= 4 && arguments.size() % 3 == 1 && arguments[0] == "measure") {
    ptxas::LaunchSizes launches;
    for (std::size_t k = 4; k < arguments.size(); k += 3)
      launches[arguments[k]] = {static_cast<uint32_t>(std::stoul(arguments[k + 1])), std::stoull(arguments[k + 2])};
    std::cout << measure(arguments[1], arguments[2], arguments[3], std::move(launches)).dump() << "\n";
    return 0;
  }
  const auto rule =
      arguments.size() == 2 && arguments[0] == "judge" ? ptxas::guardRuleNamed(arguments[1]) : std::nullopt;
  if (!rule) {
    std::cerr
        << "usage: guard_figures measure PTXAS ARCHITECTURE FILE.ptx [KERNEL THREADS BLOCKS]... | judge RULE\n";
    return 2;
  }
  for (std::string line; std::getline(std::cin, line);) std::cout << judge(Json::parse(line), *rule).dump() << "\n";
} catch (const std::exception& error) {
  std::cerr << "guard_figures: " << error.what() << "\n";
  return 2;
}
