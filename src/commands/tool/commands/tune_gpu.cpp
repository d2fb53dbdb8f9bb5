#include "tool/commands/tune_gpu.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "target/occupancy.h"
#include "tool/commands/shape.h"
#include "tool/commands/tune_records.h"
#include "tool/options/number_checks.h"
#include "tune/pieces.h"

namespace ptxopt::tool {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGroup = "On a GPU (--measure gpu), with the arguments of ptxopt run";
constexpr const char* kProgram = "job.py";
constexpr double kUsualSeconds = 600;

// Where the bench lies: as installed, or beside the program of a build.
std::string findBench(std::string& error) {
  if (const char* const named = std::getenv("PTXOPT_GPU_BENCH"); named != nullptr && *named != '\0') {
    if (fs::exists(fs::path(named) / kProgram)) return named;
    error = fmt::format("there is no {} in $PTXOPT_GPU_BENCH, '{}'", kProgram, named);
    return {};
  }
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& folder : {here / "../share/ptxopt/gpu", here / "share/ptxopt/gpu"})
    if (fs::exists(folder / kProgram, ignored)) return folder.lexically_normal().string();
  error =
      fmt::format("the GPU bench is not installed: there is no {}/share/ptxopt/gpu", here.parent_path().string());
  return {};
}

std::array<uint32_t, 3> numbers(const std::string& text) {
  const exec::Dim3 d = parseShape(text).value_or(exec::Dim3{});
  return {d.x, d.y, d.z};
}

// The bench reads files from a folder of its own.
std::string withWholePath(const std::string& argument) {
  const std::size_t at = argument.find(":@");
  if (at == std::string::npos) return argument;
  return argument.substr(0, at + 2) + fs::absolute(argument.substr(at + 2)).string();
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
      ->group(kGroup);
  app.add_option("--grid", grid, "blocks")->type_name("X[,Y,Z]")->check(shape("--grid"))->group(kGroup);
  app.add_option("--block", block, "threads of a block")
      ->type_name("X[,Y,Z]")
      ->check(shape("--block"))
      ->group(kGroup);
  app.add_option("--cluster", cluster, "blocks of a cluster")
      ->type_name("X[,Y,Z]")
      ->check(shape("--cluster"))
      ->group(kGroup);
  app.add_option("--shared", shared, "dynamic shared memory")->type_name("BYTES")->group(kGroup);
  app.add_option("--arg", arguments, "arguments")->type_name("ARGUMENT")->group(kGroup);
  app.add_option("--records", records,
                 "measure on the recorded launches of the kernel, in place of --grid, --block and --arg")
      ->type_name("FILE")
      ->group(kGroup);
  app.add_option("--launch", launches, "only these launches of the record: 3,5-7")
      ->type_name("LIST")
      ->group(kGroup);
  memory.addTo(app)->group(kGroup);
  app.add_option("--seed", seed, "of random buffers [0]")->type_name("N")->check(wholeNumber())->group(kGroup);
  app.add_option(
         "--inputs", inputs,
         "compare on so many inputs [4]: the first is what the arguments say, the others fill random buffers "
         "otherwise")
      ->type_name("N")
      ->check(CLI::Range(1, 8))
      ->group(kGroup);
  app.add_option("--seconds", seconds, "time each variant for so long [1]")
      ->type_name("SECONDS")
      ->check(positiveNumber())
      ->group(kGroup);
  app.add_option("--load", load, "what the driver gets: cubins of ptxas (the default), or PTX, which it assembles")
      ->type_name("cubin|ptx")
      ->check(CLI::IsMember({"cubin", "ptx"}))
      ->group(kGroup);
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
    if (o->get_group() == kGroup && o->count() != 0) return fmt::format("{} needs --measure gpu", o->get_name());
  return {};
}

std::optional<DeviceBench> TuneGpuLine::benchOfRecords(std::string_view text, const TuneOptions& options,
                                                       const std::string& architecture, std::string& error) const {
  RecordBenchSettings settings;
  settings.file = records;
  settings.launches = {launches, kernel, memory};
  settings.replay.timing.seconds = seconds;
  if (options.ptxas.timeoutSeconds > 0)
    settings.replay.limitSeconds =
        static_cast<unsigned>(std::min(options.ptxas.timeoutSeconds + 20 * seconds, 1e6));
  settings.driverAssembles = load == "ptx";
  settings.ptxas = options.ptxas;
  settings.architecture = architecture;
  try {
    const auto made = std::make_shared<RecordBench>(std::move(settings));
    error = made->begin(text);
    if (!error.empty()) return std::nullopt;
    return DeviceBench{made->device(), [made](std::string_view variant) { return made->time(variant); }};
  } catch (const record::RecordError& e) {
    error = e.what();
    return std::nullopt;
  }
}

std::optional<DeviceBench> TuneGpuLine::bench(std::string_view text, const TuneOptions& options,
                                              std::string& error) {
  const auto pieces = cut(text);
  if (!pieces) {
    error = "the text is not PTX";
    return std::nullopt;
  }
  std::vector<std::string> kernels;
  for (const FunctionPiece& piece : pieces->functions)
    if (piece.isKernel) kernels.push_back(piece.name);
  if (kernel.empty() && kernels.size() == 1) kernel = kernels[0];
  if (std::ranges::find(kernels, kernel) == kernels.end()) {
    error = kernel.empty() ? fmt::format("the file has {} kernels: --kernel names one", kernels.size())
                           : fmt::format("there is no kernel '{}'", kernel);
    return std::nullopt;
  }
  const std::string architecture =
      options.architecture.empty() ? architectureToAssemble(pieces->architecture) : options.architecture;
  if (!records.empty()) return benchOfRecords(text, options, architecture, error);
  GpuSettings settings;
  settings.folder = findBench(error);
  if (settings.folder.empty()) return std::nullopt;
  settings.launch.kernel = kernel;
  settings.launch.grid = numbers(grid);
  settings.launch.block = numbers(block);
  if (!cluster.empty()) settings.launch.cluster = numbers(cluster);
  settings.launch.shared = shared;
  std::ranges::transform(arguments, std::back_inserter(settings.launch.arguments), withWholePath);
  settings.seconds = seconds;
  settings.inputs = inputs;
  settings.seed = seed;
  settings.driverAssembles = load == "ptx";
  settings.timeoutSeconds =
      (options.ptxas.timeoutSeconds > 0 ? options.ptxas.timeoutSeconds : kUsualSeconds) + 20 * seconds;
  settings.ptxas = options.ptxas;
  settings.architecture = architecture;
  const auto made = std::make_shared<GpuBench>(std::move(settings));
  error = made->begin(text);
  if (!error.empty()) return std::nullopt;
  return DeviceBench{made->device(), [made](std::string_view variant) { return made->time(variant); }};
}

std::string gpuText(const TuneResult& result, const std::string& kernel, const std::string& device) {
  const auto found = std::ranges::find(result.functions, kernel, &TunedFunction::name);
  if (found == result.functions.end()) return {};
  std::string out;
  std::size_t timed = 0;
  for (const Trial& t : found->trials) {
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
