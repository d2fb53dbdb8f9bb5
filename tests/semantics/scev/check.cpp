// ptxopt_scev_check: runs kernels in the interpreter and checks what scalar evolution says of them at each step.
//
//     ptxopt_scev_check [--trials N] [--steps N] [--least-recurrences N] [--random N] [--first-seed N] FILE.ptx...
//
// --random adds N kernels of random_loops.h, whose texts are printed where something is wrong.
// Each kernel of each file runs on the inputs that `ptxopt verify` makes; runs that fail or take too long say
// something up to there. Where a file begins with the comments of generate_kernel, it is launched as these say.
// Prints what was compared. Exit codes: 0 all held, 1 something did not, 2 usage.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>

#include "random_loops.h"
#include "replay.h"
#include "text/parse.h"
#include "verify/run.h"

using namespace ptxopt;

namespace {

struct Options {
  unsigned trials = 4;
  uint64_t steps = 20'000;
  uint64_t leastRecurrences = 0;
  uint64_t firstSeed = 1, random = 0;
  std::vector<std::string> files;
};

bool readOptions(int count, char** arguments, Options& options) {
  for (int k = 1; k < count; ++k) {
    const std::string_view word = arguments[k];
    if (!word.starts_with("--")) {
      options.files.emplace_back(word);
      continue;
    }
    if (++k == count) return false;
    const uint64_t number = std::strtoull(arguments[k], nullptr, 10);
    if (word == "--trials")
      options.trials = static_cast<unsigned>(number);
    else if (word == "--random")
      options.random = number;
    else if (word == "--first-seed")
      options.firstSeed = number;
    else if (word == "--steps")
      options.steps = number;
    else if (word == "--least-recurrences")
      options.leastRecurrences = number;
    else
      return false;
  }
  return !options.files.empty() || options.random != 0;
}

struct Total {
  testing::EvolutionReplay::Counts counts;
  uint64_t wrongs = 0, kernels = 0;
};

// "grid=2,2,1 block=64,1,1 dynamic_shared=0" and "n=u32:64" in the comments at the start.
void readLaunch(std::string_view text, const verify::KernelUse& use, verify::Trial& trial) {
  const std::string head(text.substr(0, text.find(".version")));
  static const std::regex kSize("\\b(grid|block)=([0-9]+),([0-9]+),([0-9]+)"), kShared("dynamic_shared=([0-9]+)"),
      kScalar(" (\\w+)=u32:([0-9]+)");
  const auto number = [](const std::string& digits) { return static_cast<uint32_t>(std::stoul(digits)); };
  const std::sregex_iterator end;
  for (std::sregex_iterator m(head.begin(), head.end(), kSize); m != end; ++m) {
    const exec::Dim3 size{number((*m)[2]), number((*m)[3]), number((*m)[4])};
    ((*m)[1] == "grid" ? trial.grid : trial.block) = size;
  }
  std::smatch shared;
  if (std::regex_search(head, shared, kShared)) trial.dynamicShared = number(shared[1]);
  for (std::sregex_iterator m(head.begin(), head.end(), kScalar); m != end; ++m)
    for (std::size_t k = 0; k < use.fields.size(); ++k)
      if (use.fields[k].parameter == (*m)[1]) trial.fields[k].bits = number((*m)[2]);
}

void runKernel(const std::string& path, const std::string& text, const Module& module, const Function& f,
               exec::Machine& machine, const Options& options, Total& total) {
  const dump::ModuleView view(module);
  dump::FunctionView function(view, f);
  if (!function.usable()) return;
  const std::string name(module.text(f.name));
  const exec::Program& program = machine.kernel(name);
  testing::EvolutionReplay replay(function);
  const verify::KernelUse use = verify::findUse(module, f, program);
  for (unsigned number = 0; number < options.trials; ++number) {
    verify::Trial trial = verify::makeTrial(use, verify::shapeLimits(module, f), 1, number);
    readLaunch(text, use, trial);
    replay.restart();
    verify::runTrial(machine, name, use, trial, options.steps, {.observer = &replay});
  }
  for (const std::string& w : replay.wrong) fmt::print("{}: {}: {}\n", path, name, w);
  auto& all = total.counts;
  const auto& one = replay.counts;
  all.values += one.values;
  all.recurrences += one.recurrences;
  all.ranges += one.ranges;
  all.whole += one.whole;
  all.exact += one.exact;
  all.most += one.most;
  all.unseen += one.unseen;
  total.wrongs += replay.wrongs;
  ++total.kernels;
}

// False where the text is not PTX.
bool runText(const std::string& path, const std::string& text, const Options& options, Total& total) {
  auto parsed = text::parse(text, path);
  if (const auto* error = std::get_if<text::ParseError>(&parsed)) {
    fmt::print(stderr, "{}", text::render(*error, path));
    return false;
  }
  const Module& module = *std::get<0>(parsed);
  try {
    exec::Machine machine(module);
    for (const Function& f : module.functions)
      if (f.isEntry && f.hasBody) runKernel(path, text, module, f, machine, options, total);
  } catch (const exec::ExecError& error) {
    fmt::print("{}: not run: {}\n", path, error.what());
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  if (!readOptions(count, arguments, options)) {
    fmt::print(
        stderr,
        "usage: ptxopt_scev_check [--trials N] [--steps N] [--least-recurrences N] [--random N] [--first-seed N] "
        "FILE.ptx...\n");
    return 2;
  }
  Total total;
  for (const std::string& path : options.files) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file || !runText(path, text, options, total)) return 2;
  }
  for (uint64_t seed = options.firstSeed; seed < options.firstSeed + options.random; ++seed) {
    const std::string text = testing::RandomLoops(seed).make();
    const uint64_t before = total.wrongs;
    if (!runText(fmt::format("seed {}", seed), text, options, total)) return 2;
    if (total.wrongs != before) fmt::print("{}", text);
  }
  const auto& c = total.counts;
  fmt::print(
      "{} kernels: compared {} values, {} of them with recurrences ({} with a leaf that was not seen), {} ranges, "
      "{} proofs, {} exact trip counts, {} bounds: {} wrong\n",
      total.kernels, c.values, c.recurrences, c.unseen, c.ranges, c.whole, c.exact, c.most, total.wrongs);
  if (c.recurrences < options.leastRecurrences) fmt::print("too few recurrences were compared\n");
  return total.wrongs != 0 || c.recurrences < options.leastRecurrences;
}
