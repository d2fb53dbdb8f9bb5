// Which of two versions of a kernel the model of time prefers, and how that changes with its figures.
//
//   timing_order FIGURE...  with the cubins before and after on each line of standard input
//
// A figure is `use:KIND:UNIT`, `latency:KIND`, `memory-latency:SCENARIO` or `memory-bytes:SCENARIO`. For each kernel whose code
// is not the same and each figure, 0.8 and 1.2 times as large, prints
//
//   KERNEL base SIGN
//   KERNEL FIGURE=FACTOR SIGN       where the sign is another one
//
// SIGN is -1 where the version after is the better one by the guard's rule, 1 where it is the worse one, else 0.
//
//   timing_order --work     likewise
//
// What of both versions does the same (timing/loop_matching.h), by which measure, and how many of all measures agree:
//
//   KERNEL SIGN KIND WITNESS AGREE/ALL FIGURE...
//
// FIGURE is how many iterations of a loop before are in one of a loop after, for each loop of `iterations`, `runs` and
// `versions`; the iterations of the loop of `dissolved`; how often `together` does the same.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "ptxas/compare.h"
#include "ptxas/cubin.h"
#include "ptxas/machine_code.h"

using namespace ptxopt;

namespace {

struct Cubin {
  explicit Cubin(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
    measures = std::get<ptxas::Measures>(ptxas::readCubin(bytes));
    const auto read = ptxas::readCubinCode(bytes);
    for (const ptxas::FunctionCode& f : std::get<ptxas::CubinCode>(read).functions) code.emplace(f.name, f);
  }

  ptxas::FunctionMeasures with(const std::string& name, uint32_t architecture,
                               const target::Machine& machine) const {
    ptxas::FunctionMeasures f = *measures.find(name);
    const ptxas::FunctionCode& c = code.at(name);
    f.time = ptxas::timeMachineCode(c.text, architecture, c.branches, f, machine);
    f.time->model.clear();
    return f;
  }

  std::string bytes;
  ptxas::Measures measures;
  std::map<std::string, ptxas::FunctionCode> code;
};

uint32_t architectureOf(const Cubin& cubin) {
  return std::get<ptxas::CubinCode>(ptxas::readCubinCode(cubin.bytes)).architecture;
}

std::string figuresOf(const timing::WorkMatch& match) {
  using Kind = timing::WorkMatch::Kind;
  std::string all;
  const auto add = [&](double figure) { all += fmt::format(" {:.4g}", figure); };
  for (const double iterations : match.iterations) add(iterations);
  for (const auto& run : match.runs)
    for (const timing::LoopShare& share : run) add(share.copies);
  for (const auto& versions : match.versions)
    for (const timing::VersionOf& of : versions) add(of.copies);
  if (match.kind == Kind::Dissolved) add(match.dissolved.iterations);
  if (match.kind == Kind::Together) add(match.ratio.value);
  return all;
}

void printWork(const Cubin& a, const Cubin& b) {
  for (const ptxas::FunctionMeasures& f : a.measures.functions) {
    const ptxas::FunctionMeasures* const other = b.measures.find(f.name);
    if (!f.isKernel || other == nullptr || other->code == f.code) continue;
    const auto match = workMatchOf(f, *other);
    if (!match) continue;
    const int sign = compare(f, *other, ptxas::GuardRule::Time).sign;
    fmt::print("{} {} {} {} {}/{}{}\n", f.name, sign, nameOf(match->kind), nameOf(match->ratio.by),
               match->ratio.agree, match->ratio.all, figuresOf(*match));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, target::Machine> machines;
  std::string before, after;
  const bool printsWork = argc == 2 && std::string_view(argv[1]) == "--work";
  while (std::cin >> before >> after) {
    const Cubin a(before), b(after);
    if (printsWork) {
      printWork(a, b);
      continue;
    }
    const uint32_t architecture = architectureOf(a);
    if (machines.empty()) {
      machines.emplace("base", target::Machine(architecture));
      for (int i = 1; i < argc; ++i)
        for (const char* const factor : {"0.8", "1.2"}) {
          const std::string name = fmt::format("{}={}", argv[i], factor);
          const auto scaling = target::scalingFrom(name);
          if (!scaling) {
            fmt::print(stderr, "timing_order: '{}' is no figure\n", argv[i]);
            return 2;
          }
          machines.emplace(name, target::Machine(architecture, std::array{*scaling}));
        }
    }
    for (const ptxas::FunctionMeasures& f : a.measures.functions) {
      const ptxas::FunctionMeasures* const other = b.measures.find(f.name);
      if (!f.isKernel || other == nullptr || other->code == f.code) continue;
      const auto signWith = [&](const target::Machine& machine) {
        const ptxas::FunctionMeasures x = a.with(f.name, architecture, machine),
                                      y = b.with(f.name, architecture, machine);
        const ptxas::Comparison by = compare(x, y, ptxas::GuardRule::Time);
        return by.by == ptxas::Measure::Cycles ? by.sign : 0;
      };
      const int base = signWith(machines.at("base"));
      fmt::print("{} base {}\n", f.name, base);
      for (const auto& [name, machine] : machines)
        if (const int sign = signWith(machine); sign != base) fmt::print("{} {} {}\n", f.name, name, sign);
    }
  }
}
