// Launches come from a record, or one is made of the options; options of one kind are refused beside those of the
// other. A made launch keeps what it refers to alive for as long as the bench.
#include "tool/commands/tune_gpu.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "exec/error.h"
#include "record/archive.h"
#include "support/demangle.h"
#include "target/occupancy.h"
#include "text/parse.h"
#include "tool/commands/run_values.h"
#include "tool/commands/shape.h"
#include "tool/commands/tune_bench.h"
#include "tool/commands/tune_launch.h"
#include "tool/options/number_checks.h"
#include "tune/pieces.h"

namespace ptxopt::tool {
namespace {

constexpr const char* kMeasureGroup = "On a GPU (--measure gpu), with the arguments of ptxopt run";
// For the launches of a sample, where these are made of options: kernels that take microseconds are distinguished, too.
constexpr double kSampleMilliseconds = 0.5;
constexpr double kMostSeconds = 1e6;

// For --records, as each launch was.
void addRecords(const std::string& file, const LaunchList& wanted, GpuBenchSettings& settings) {
  const auto archive = std::make_shared<const record::Archive>(file, wanted.memory.bytes());
  const auto& launches = archive->record().launches;
  const std::vector<bool> chosen = wanted.chosen(archive->record());
  for (std::size_t i = 0; i < launches.size(); ++i)
    if (chosen[i])
      settings.launches.push_back({fmt::format("launch {}: ", i + 1), gpu::gpuLaunchOf(*archive, launches[i])});
  if (settings.launches.empty())
    throw record::RecordError(fmt::format("'{}' has no such launches of '{}'", file, wanted.kernel));
  settings.owner = archive;
}

void addMade(const TuneLaunch& wanted, GpuBenchSettings& settings) {
  const auto made = std::make_shared<const MadeLaunch>(*settings.module, wanted);
  settings.launches.push_back({"", made->launch()});
  settings.owner = made;
  settings.replay.timing.sampleMilliseconds = kSampleMilliseconds;
}

}  // namespace

void TuneGpuLine::addTo(CLI::App& app) {
  app.add_option(
         "--measure", measure,
         "what variants are chosen by: the objective, from ptxas's figures (the default), or their times on "
         "this machine's GPU, where each is also compared with the input, bit for bit")
      ->type_name("model|gpu")
      ->check(CLI::IsMember({"model", "gpu"}));
  const auto shape = [](const char* option) {
    return
        [option](const std::string& text) { return parseShape(text) ? std::string() : shapeError(option, text); };
  };
  app.add_option("--kernel", kernel, "the kernel; a file with one needs none. Others stay as they are")
      ->type_name("NAME")
      ->group(kMeasureGroup);
  app.add_option("--grid", grid, "blocks")->type_name("X[,Y,Z]")->check(shape("--grid"))->group(kMeasureGroup);
  app.add_option("--block", block, "threads of a block")
      ->type_name("X[,Y,Z]")
      ->check(shape("--block"))
      ->group(kMeasureGroup);
  app.add_option("--cluster", cluster, "blocks of a cluster")
      ->type_name("X[,Y,Z]")
      ->check(shape("--cluster"))
      ->group(kMeasureGroup);
  app.add_option("--shared", shared, "dynamic shared memory")->type_name("BYTES")->group(kMeasureGroup);
  app.add_option("--arg", arguments, "arguments")->type_name("ARGUMENT")->group(kMeasureGroup);
  app.add_option("--records", records,
                 "measure on the recorded launches of the kernel, instead of --grid, --block and --arg")
      ->type_name("FILE")
      ->group(kMeasureGroup);
  app.add_option("--launch", launches, "only these launches of the record: 3,5-7")
      ->type_name("LIST")
      ->group(kMeasureGroup);
  memory.addTo(app)->group(kMeasureGroup);
  app.add_option("--seed", seed, "of random buffers [0]")
      ->type_name("N")
      ->check(wholeNumber())
      ->group(kMeasureGroup);
  app.add_option(
         "--inputs", inputs,
         "compare on that many inputs [4]: the first is what the arguments say, the others fill random buffers "
         "otherwise")
      ->type_name("N")
      ->check(CLI::Range(1, 8))
      ->group(kMeasureGroup);
  app.add_option("--seconds", seconds, "time each variant for SECONDS [1]")
      ->type_name("SECONDS")
      ->check(positiveNumber())
      ->group(kMeasureGroup);
  app.add_option("--load", load, "what the driver gets: cubins of ptxas (the default), or PTX, which it assembles")
      ->type_name("cubin|ptx")
      ->check(CLI::IsMember({"cubin", "ptx"}))
      ->group(kMeasureGroup);
}

std::string TuneGpuLine::whatIsWrong(const CLI::App& app) const {
  if (isAsked() && !records.empty()) {
    for (const char* const name : {"--grid", "--block", "--cluster", "--shared", "--arg", "--seed", "--inputs"})
      if (app.count(name) != 0) return fmt::format("{} is of a launch; --records has launches", name);
    return {};
  }
  if (isAsked() && !launches.empty()) return "--launch needs --records";
  if (isAsked() && memory.mib != 0) return "--max-memory needs --records";
  if (isAsked()) return grid.empty() || block.empty() ? "--measure gpu needs --grid and --block, or --records" : "";
  for (const CLI::Option* o : app.get_options())
    if (o->get_group() == kMeasureGroup && o->count() != 0)
      return fmt::format("{} needs --measure gpu", o->get_name());
  return {};
}

std::optional<DeviceBench> TuneGpuLine::bench(std::string_view text, const tune::TuneOptions& options,
                                              std::string& error) {
  const auto pieces = tune::cut(text);
  auto parsed = text::parse(text, options.fileName);
  if (!pieces || std::holds_alternative<text::ParseError>(parsed)) {
    error = "the text is not PTX";
    return std::nullopt;
  }
  std::vector<std::string> kernels;
  for (const tune::FunctionPiece& piece : pieces->functions)
    if (piece.isKernel) kernels.push_back(piece.name);
  kernel = kernel.empty() && kernels.size() == 1 ? kernels[0] : nameMeant(kernel, kernels);
  if (std::ranges::find(kernels, kernel) == kernels.end()) {
    error = kernel.empty() ? fmt::format("the file has {} kernels: --kernel names one", kernels.size())
                           : fmt::format("there is no kernel '{}'", kernel);
    return std::nullopt;
  }
  GpuBenchSettings settings;
  settings.module = std::move(std::get<0>(parsed));
  settings.replay.timing.seconds = seconds;
  settings.replay.timing.seed = seed;
  settings.replay.limitSeconds =
      static_cast<unsigned>(std::min(options.ptxas.timeoutSeconds + 20 * seconds, kMostSeconds));
  settings.driverAssembles = load == "ptx";
  settings.ptxas = options.ptxas;
  settings.architecture =
      options.architecture.empty() ? ptxas::architectureToAssemble(pieces->architecture) : options.architecture;
  try {
    if (!records.empty())
      addRecords(records, {launches, kernel, memory}, settings);
    else
      addMade({kernel, *parseShape(grid), *parseShape(block), parseShape(cluster).value_or(exec::Dim3{}), shared,
               arguments, seed, inputs},
              settings);
  } catch (const record::RecordError& e) {
    error = e.what();
    return std::nullopt;
  } catch (const RunError& e) {
    error = fmt::format("the launch makes no sense: {}", e.what());
    return std::nullopt;
  } catch (const exec::ExecError& e) {
    error = fmt::format("the launch cannot be made: {}", e.message);
    return std::nullopt;
  }
  const auto made = std::make_shared<GpuBench>(std::move(settings));
  error = made->begin(text);
  if (!error.empty()) return std::nullopt;
  return DeviceBench{made->device(), [made](std::string_view variant) { return made->time(variant); }};
}

std::string gpuText(const tune::TuneResult& result, const std::string& kernel, const std::string& device) {
  const auto found = std::ranges::find(result.functions, kernel, &tune::TunedFunction::name);
  if (found == result.functions.end()) return {};
  std::string out;
  std::size_t timed = 0;
  for (const tune::Trial& t : found->trials) {
    if (!t.device) continue;
    ++timed;
    if (!t.device->rejected.empty())
      out += fmt::format("  {:<14} {}: {}\n", t.variant, t.device->rejected, t.device->detail);
    else
      out += fmt::format("  {:<14} x{:.3f} [{:.3f}, {:.3f}] {}{}\n", t.variant, t.device->ratio, t.device->low,
                         t.device->high, t.device->verdict, t.rejected.empty() ? ", chosen" : "");
  }
  return fmt::format("{} on {}: {} variants by time / that of the input\n{}", kernel, device, timed, out);
}

}  // namespace ptxopt::tool
