// The options of assembling, of regressions and of limits are declared here once. A version instead of a path is looked
// up among the toolkits that are installed, and the candidates are passed on for texts that need a newer ptxas.
#include "tool/options/ptxas_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "diff/built.h"
#include "diff/collect.h"
#include "ptxas/find_version.h"
#include "tool/options/architecture_option.h"
#include "tool/options/environment.h"
#include "tool/options/number_checks.h"

namespace ptxopt::tool {
namespace {

constexpr const char* kPtxas = "How PTX is assembled";

}  // namespace

void PtxasLine::addTo(CLI::App& app) {
  addArchitectures(app, architectures,
                   "for these, one after the other, instead of each file's .target; cubins for others are left out")
      ->group(kPtxas);
  app.add_option("--only", only, "ptx or machine-code: the other is left out, of built files and folders [both]")
      ->check(CLI::IsMember({"ptx", "machine-code"}))
      ->type_name("KIND")
      ->group(kPtxas);
  app.add_option("--ptxas", program,
                 "the ptxas to use, or its version, such as 12.9 [$PTXOPT_PTXAS, $PTXAS, or the first one found]")
      ->type_name("PROGRAM")
      ->group(kPtxas);
  app.add_option("--ptxas-timeout", timeout, "give up on a file after SECONDS [600]")
      ->type_name("SECONDS")
      ->check(positiveNumber())
      ->group(kPtxas);
  app.add_option("--ptxas-option", arguments, "one more argument of ptxas, such as --ptxas-option=-maxrregcount=64")
      ->type_name("OPTION")
      ->allow_extra_args(false)
      ->group(kPtxas);
  app.add_option("-j,--jobs", jobs, "runs of ptxas at a time; 0: one per core, which is usual")
      ->type_name("N")
      ->check(CLI::Range(0, 1024))
      ->group(kPtxas);
}

void PtxasLine::addCompileTime(CLI::App& app) {
  app.add_flag("--compile-time", compileTime,
               "also the CPU time of ptxas for each kernel, in ms; it runs twice for each, so this takes its time; "
               "implied where --fail-on, a limit or --columns names it");
}

bool PtxasLine::keep(diff::Collected& side, std::string& error) const {
  if (only.empty() || side.isBaseline || diff::keepOnly(side.sources, only == "ptx")) return true;
  error = fmt::format("there is no {} in '{}'", only == "ptx" ? "PTX" : "machine code", side.side.name);
  return false;
}

bool programOf(std::string& word, std::string& error) {
  if (!ptxas::isPtxasVersion(word)) return true;
  word = ptxas::ptxasOfVersion(word, error);
  return !word.empty();
}

bool PtxasLine::options(diff::MeasureOptions& options, std::string& error) const {
  std::string given = program;
  if (!programOf(given, error)) return false;
  options.ptxas.program = findPtxasAloud(given);
  ptxas::PtxasSearch search;
  search.given = given;
  options.candidates = ptxas::ptxasCandidates(search);
  options.ptxas.arguments = arguments;
  options.ptxas.timeoutSeconds = timeout;
  options.ptxas.cache = &ptxas::Cache::user();
  options.architectures = architectures;
  std::sort(options.architectures.begin(), options.architectures.end());
  options.architectures.erase(std::unique(options.architectures.begin(), options.architectures.end()),
                              options.architectures.end());
  options.jobs = jobs != 0 ? jobs : std::max(std::thread::hardware_concurrency(), 1u);
  return true;
}

std::string whyNoPtxas(std::span<const diff::Collected> sides, const diff::MeasureOptions& options) {
  if (!options.ptxas.program.empty() || !diff::needsPtxas(sides, options)) return {};
  return "there is no ptxas to assemble PTX with; --ptxas names one";
}

void addFailOn(CLI::App& app, std::string& text) {
  app.add_option(
         "--fail-on", text,
         "what counts as a regression: notes (of ptxas), spills, warps, sass (machine instructions), inner "
         "(those of "
         "innermost loops), cycles (modelled), regs, stack, compile-time (50% unless said), each with what is "
         "tolerated (regs:1, sass:2%); code (that "
         "is not the same); missing; or none [spills,warps]")
      ->type_name("MEASURE[:N[%]],...");
}

void LimitLine::addTo(CLI::App& app) {
  app.add_option(
         "--limit", limits,
         "what a figure may be at most, or at least, whatever it was: 'spills<=0', 'attention*:registers<=128', "
         "'warps>=16'; any number of times")
      ->type_name("[KERNEL:]FIGURE<=N")
      ->allow_extra_args(false);
  app.add_option("--limits", files, "a file of limits (schemas/limits.schema.json)")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

std::optional<std::vector<diff::Bound>> LimitLine::bounds(std::string& error) const {
  std::vector<diff::Bound> bounds;
  for (const std::string& file : files) {
    std::string text;
    if (!diff::readBytes(file, text, error)) return std::nullopt;
    if (diff::readBounds(text, bounds, error)) continue;
    error = fmt::format("'{}' has no limits: {}", file, error);
    return std::nullopt;
  }
  for (const std::string& limit : limits) {
    auto bound = diff::parseBound(limit, error);
    if (!bound) return std::nullopt;
    bounds.push_back(*std::move(bound));
  }
  return bounds;
}

std::optional<diff::FailOn> failOnOf(const CLI::App& app, const std::string& text, std::string& error) {
  return app.get_option("--fail-on")->count() == 0 ? diff::usualFailOn() : diff::parseFailOn(text, error);
}

}  // namespace ptxopt::tool
