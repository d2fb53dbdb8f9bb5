// ptxopt verify A.ptx B.ptx, and the check of `ptxopt IN -o OUT --verify`.
#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>

#include "facts/facts.h"
#include "record/record.h"
#include "support/demangle.h"
#include "support/json.h"
#include "text/parse.h"
#include "tool/commands/launch_list.h"
#include "tool/commands/shape.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/verify_output.h"
#include "tool/commands/verify_records.h"
#include "tool/files.h"
#include "tool/options/facts_option.h"
#include "tool/options/number_checks.h"
#include "tool/options/parse_arguments.h"
#include "tool/terminal/messages.h"
#include "tool/terminal/terminal.h"
#include "verify/ptxas_dependence.h"
#include "verify/verify.h"

namespace ptxopt::tool {
namespace {

using verify::KernelVerdict;
using verify::Verdict;

const char* name(Verdict v) {
  return v == Verdict::Equal ? "equal" : v == Verdict::Different ? "different" : "not compared";
}

std::string indented(const std::string& text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out + "\n";
}

// How many kernels were not compared, by the reason.
void printNotCompared(const std::vector<KernelVerdict>& verdicts) {
  std::map<std::string, unsigned> reasons;
  unsigned all = 0;
  for (const KernelVerdict& v : verdicts) {
    if (v.verdict != Verdict::Inconclusive) continue;
    ++reasons[v.reason];
    ++all;
  }
  if (all == 0) return;
  std::string list;
  for (const auto& [reason, count] : reasons)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, reason);
  fmt::print("{} of {} kernels {} not compared: {}\n", all, verdicts.size(), all == 1 ? "was" : "were", list);
}

// What each kernel of the first file does otherwise with some ptxas, by the kernel's name.
using Dependences = std::map<std::string, std::vector<std::string>>;
Dependences dependencesOf(const Module& module, const std::vector<KernelVerdict>& verdicts) {
  Dependences all;
  for (const KernelVerdict& v : verdicts) all[v.kernel];
  verify::PtxasDependences dependences(module);
  for (const Function& f : module.functions)
    if (const auto at = all.find(std::string(module.text(f.name))); f.isEntry && f.hasBody && at != all.end())
      at->second = dependences.of(f);
  return all;
}

// "490 inputs"; of a difference, how many were equal before it was found.
std::string inputs(const KernelVerdict& v) {
  std::string count = fmt::format("{} input{}", v.trials, v.trials == 1 ? "" : "s");
  if (v.verdict != Verdict::Different) return count;
  return v.trials == 0 ? "the first input that was compared" : "after " + count + " that gave equal results";
}

void printVerdicts(const std::vector<KernelVerdict>& verdicts, Dependences& dependences) {
  const bool colours = hasColours(stdout);
  for (const KernelVerdict& v : verdicts) {
    const Style style = v.verdict == Verdict::Equal       ? Style::Good
                        : v.verdict == Verdict::Different ? Style::Bad
                                                          : Style::Doubtful;
    const std::string word = styled(fmt::format("{:<12}", name(v.verdict)), style, colours);
    fmt::print("{}  {}  ({}", word, v.kernel, inputs(v));
    if (v.dropped != 0) fmt::print(", {} more on which the first file fails", v.dropped);
    fmt::print(")\n");
    if (!v.detail.empty()) printResult(indented(v.detail));
    for (const std::string& line : dependences[v.kernel]) printResult(indented("note: " + line));
  }
  printNotCompared(verdicts);
}

void printJson(const std::vector<KernelVerdict>& verdicts, Dependences& dependences, bool coverage) {
  Json all = Json::array();
  for (const KernelVerdict& v : verdicts) {
    all.push_back({{"kernel", v.kernel},
                   {"verdict", name(v.verdict)},
                   {"inputs", v.trials},
                   {"dropped", v.dropped},
                   {"detail", v.detail}});
    if (v.dropped != 0) all.back()["last_dropped"] = v.lastDropped;
    if (const auto& lines = dependences[v.kernel]; !lines.empty()) all.back()["depends_on_ptxas"] = lines;
    if (v.verdict == Verdict::Inconclusive) all.back()["reason"] = v.reason;
    if (coverage)
      all.back().update({{"reached", v.reached},
                         {"executed", v.executed},
                         {"changed", v.changed},
                         {"undetermined_differences", v.undeterminedDifferences},
                         {"undetermined", v.undetermined}});
  }
  fmt::print("{}\n", dumpJson(all, 2));
}

// 42, -1, 0x2a, 0f3F800000, 0d...
bool readBits(std::string_view text, uint64_t& bits) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int base = 10;
  const std::string_view prefix = text.substr(0, 2);
  if (prefix == "0x" || prefix == "0X" || prefix == "0f" || prefix == "0F" || prefix == "0d" || prefix == "0D") {
    if (negative && prefix[1] != 'x' && prefix[1] != 'X') return false;
    base = 16;
    text.remove_prefix(2);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, base);
  if (negative) bits = 0 - bits;
  return error == std::errc() && end == text.data() + text.size();
}

// Launches take and give back the same memory again and again: that the C library keeps it saves most of the time
// that the system takes.
void keepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
#endif
}

std::unique_ptr<Module> load(std::string_view text, const std::string& path, int& exitCode) {
  auto parsed = text::parse(text, path);
  if (const auto* error = std::get_if<text::ParseError>(&parsed)) {
    printError(text::render(*error, path));
    exitCode = static_cast<int>(Status::InvalidInput);
    return nullptr;
  }
  return std::move(std::get<0>(parsed));
}

// The command line of `ptxopt verify`, as written.
struct VerifyLine {
  std::string pathA, pathB;
  std::string grid, block, cluster;
  std::vector<std::string> scalars;
  uint32_t shared = 0;
  std::string nan = "exact", format = "text", records;
  RecordMemory memory;
  FactsLine facts;
  verify::VerifyOptions options;
};

void addFiles(CLI::App& app, VerifyLine& line) {
  app.add_option("A", line.pathA, "the reference, a PTX file")->type_name("FILE.ptx")->required();
  app.add_option("B", line.pathB, "the PTX file to compare with it")->type_name("FILE.ptx")->required();
  app.add_option("--kernel", line.options.kernel, "only this kernel")->type_name("NAME");
  app.add_option("--trials", line.options.trials,
                 "inputs for each kernel; twenty times as many follow, each with fewer steps [24]")
      ->type_name("N")
      ->check(CLI::Range(1u, 1000000u));
  app.add_option("--seed", line.options.seed, "seed of the generated inputs [1]")
      ->type_name("S")
      ->check(wholeNumber());
  app.add_option("--records", line.records,
                 "use the launches of a record, which ptxopt emulate writes, instead of generated inputs")
      ->type_name("FILE")
      ->excludes("--trials")
      ->excludes("--seed");
  line.memory.addTo(app)->needs("--records");
}

void addFixed(CLI::App& app, VerifyLine& line) {
  const char* const kFixed = "Inputs that are not generated";
  app.add_option("--grid", line.grid, "blocks")->type_name("X[,Y,Z]")->group(kFixed);
  app.add_option("--block", line.block, "threads of a block")->type_name("X[,Y,Z]")->group(kFixed);
  app.add_option("--cluster", line.cluster, "blocks of a cluster")->type_name("X[,Y,Z]")->group(kFixed);
  app.add_option("--shared", line.shared, "dynamic shared memory")->type_name("BYTES")->group(kFixed);
  app.add_option("--set", line.scalars, "a scalar parameter: an integer, or 0f.../0d... for the bits of a float")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group(kFixed);
  line.facts.addTo(app, kFixed);
}

void addOthers(CLI::App& app, VerifyLine& line) {
  app.add_option("--max-steps", line.options.stepLimit,
                 "stop a launch after N warp instructions [250000, up to 4000000 where no input ends within them]")
      ->type_name("N")
      ->check(positiveNumber());
  app.add_option("--nan", line.nan, "exact: compare the bits of NaNs; any: all NaNs are equal, in memory of floats")
      ->type_name("exact|any")
      ->check(CLI::IsMember({"exact", "any"}));
  app.add_option("--format", line.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT");
  app.add_flag(
      "--coverage", line.options.coverage,
      "with --format json: the lines of A that the inputs reach, those that some thread executes, and those that "
      "compute something else in B");
  app.add_option("-j,--jobs", line.options.jobs,
                 "kernels to run in parallel; 0: one per core; the verdicts do not depend on it")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
}

// False with a message.
bool takeShapes(const CLI::App& app, VerifyLine& line) {
  const struct {
    const char* option;
    const std::string& text;
    std::optional<exec::Dim3>& shape;
  } shapes[] = {{"--grid", line.grid, line.options.grid},
                {"--block", line.block, line.options.block},
                {"--cluster", line.cluster, line.options.cluster}};
  for (const auto& s : shapes) {
    if (app.get_option(s.option)->count() == 0) continue;
    s.shape = parseShape(s.text);
    if (s.shape) continue;
    fail(Status::Usage, shapeError(s.option, s.text));
    return false;
  }
  return true;
}

// False with a message.
bool takeScalars(VerifyLine& line) {
  for (const std::string& s : line.scalars) {
    const std::size_t equal = s.find('=');
    uint64_t bits = 0;
    if (equal == std::string::npos || !readBits(std::string_view(s).substr(equal + 1), bits)) {
      fail(Status::Usage, fmt::format("'{}' is not NAME=VALUE with an integer or 0f... or 0d...", s));
      return false;
    }
    line.options.scalars[s.substr(0, equal)] = bits;
  }
  return true;
}

// False when there is nothing to compare, with the exit code; what is wrong has been said.
bool readVerifyLine(int argc, char** argv, VerifyLine& line, int& exitCode) {
  CLI::App app(
      "Runs the kernels of two PTX files on the same generated inputs and compares what they leave in memory, bit "
      "for bit.\n"
      "Exit codes: 0 equal, 1 different, 2 some kernel could not be compared (or usage, or I/O), 3 not valid PTX.",
      "ptxopt verify");
  addFiles(app, line);
  addFixed(app, line);
  addOthers(app, line);
  if (!parseArguments(app, argc, argv, exitCode)) return false;
  line.options.anyNan = line.nan == "any";
  if (app.get_option("--shared")->count() != 0) line.options.dynamicShared = line.shared;
  if (app.get_option("--max-steps")->count() != 0) line.options.firstStepLimit = line.options.stepLimit;
  exitCode = static_cast<int>(Status::Usage);
  return takeShapes(app, line) && takeScalars(line);
}

int exitCodeOf(const std::vector<KernelVerdict>& verdicts) {
  const auto any = [&](Verdict v) {
    return std::any_of(verdicts.begin(), verdicts.end(), [&](const auto& k) { return k.verdict == v; });
  };
  return any(Verdict::Different)      ? static_cast<int>(Status::CheckFailed)
         : any(Verdict::Inconclusive) ? static_cast<int>(Status::Usage)
                                      : 0;
}

}  // namespace

int verifyCommand(int argc, char** argv) {
  VerifyLine line;
  int exitCode = 0;
  if (!readVerifyLine(argc, argv, line, exitCode)) return exitCode;

  FileText textA, textB;
  std::string error;
  if (!readFile(line.pathA, textA, error) || !readFile(line.pathB, textB, error)) return fail(Status::Usage, error);
  const auto a = load(textA, line.pathA, exitCode);
  const auto b = a == nullptr ? nullptr : load(textB, line.pathB, exitCode);
  if (b == nullptr) return exitCode;

  if (!line.facts.read(error) || !(error = line.facts.giveTo(*a)).empty()) return fail(Status::Usage, error);

  std::vector<std::string> kernels;
  for (const Function& f : a->functions)
    if (f.isEntry && f.hasBody) kernels.emplace_back(a->text(f.name));
  line.options.kernel = nameMeant(line.options.kernel, kernels);
  keepFreedMemory();
  std::vector<KernelVerdict> verdicts;
  try {
    verdicts = line.records.empty() ? verify::verify(*a, *b, line.options)
                                    : verifyRecords(*a, *b, {line.records, line.memory.bytes()}, line.options);
  } catch (const record::RecordError& e) {
    return fail(Status::Usage, e.what());
  }
  if (verdicts.empty() && !line.records.empty())
    return fail(Status::Usage,
                fmt::format("'{}' has no launches of the kernels of '{}'", line.records, line.pathA));
  if (verdicts.empty())
    return fail(Status::Usage, line.options.kernel.empty()
                                   ? fmt::format("'{}' has no kernels", line.pathA)
                                   : fmt::format("'{}' has no kernel '{}'", line.pathA, line.options.kernel));
  Dependences dependences = dependencesOf(*a, verdicts);
  if (line.format == "json")
    printJson(verdicts, dependences, line.options.coverage);
  else
    printVerdicts(verdicts, dependences);
  return exitCodeOf(verdicts);
}

OutputCheck verifyOutput(std::string_view input, const std::string& fileName, std::string_view output,
                         unsigned jobs, std::string_view facts) {
  OutputCheck check;
  auto a = text::parse(input, fileName), b = text::parse(output, "the output");
  if (const auto* error = std::get_if<text::ParseError>(&b)) {
    check.difference = "the output is not valid PTX: " + error->message;
    return check;
  }
  facts::readFacts(facts, "", *std::get<0>(a));
  verify::VerifyOptions options;
  options.jobs = jobs;
  keepFreedMemory();
  for (const KernelVerdict& v : verify::verify(*std::get<0>(a), *std::get<0>(b), options)) {
    if (v.verdict == Verdict::Different)
      check.difference += fmt::format("kernel '{}' computes something else:\n{}", v.kernel, indented(v.detail));
    if (v.verdict == Verdict::Inconclusive)
      check.notCompared.push_back(fmt::format("kernel '{}' could not be verified: {}", v.kernel, v.detail));
  }
  return check;
}

}  // namespace ptxopt::tool
