// ptxopt run: kernels of a PTX file in the interpreter (exec/machine.h).
//
// All arguments are read before anything runs. Files are written together after the last launch, or none is; when
// a kernel fails, only the profile and the trace up to there.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "exec/machine.h"
#include "exec/profile.h"
#include "exec/trace.h"
#include "profiling/launch_profiler.h"
#include "profiling/profile_json.h"
#include "record/archive.h"
#include "record/recorder.h"
#include "support/demangle.h"
#include "support/temporary_folder.h"
#include "text/parse.h"
#include "tool/commands/profile_file.h"
#include "tool/commands/run_line.h"
#include "tool/commands/run_list.h"
#include "tool/commands/run_memory.h"
#include "tool/commands/subcommands.h"
#include "tool/files.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {
namespace {

using exec::ExecError;
using exec::FaultKind;

// `FILE:LINE:COL: error: KIND: MESSAGE`, the line, a caret, and in which kernel and thread.
std::string errorText(const ExecError& error, const Module& module) {
  const std::string message = fmt::format("{}: {}", exec::name(error.kind), error.message);
  std::string out;
  if (error.source != 0)
    out = text::render({error.source, locate(module.source, error.source), message}, module.fileName);
  else
    out = fmt::format("{}: error: {}\n", module.fileName, message);
  if (!error.function.valid()) return out;
  const auto f = std::find_if(module.functions.begin(), module.functions.end(),
                              [&](const Function& g) { return g.name == error.function; });
  const bool isKernel = f != module.functions.end() && f->isEntry;
  out += fmt::format("  in {} {}", isKernel ? "kernel" : "function", module.text(error.function));
  return out + (error.thread.empty() ? "\n" : fmt::format(", {}\n", error.thread));
}

Status statusOf(const ExecError& error) {
  return error.kind == FaultKind::Unsupported || error.kind == FaultKind::BadLaunch ? Status::Usage
                                                                                    : Status::CheckFailed;
}

// Calls two observers.
class Observers final : public exec::Observer {
 public:
  explicit Observers(std::vector<exec::Observer*> list) : list_(std::move(list)) {}
  void op(exec::Warp& w, const exec::Routine& r, const exec::Op& op, exec::Mask mask, exec::Mask active) override {
    for (exec::Observer* o : list_) o->op(w, r, op, mask, active);
  }
  void after(exec::Warp& w, const exec::Routine& r, const exec::Op& op, exec::Mask active) override {
    for (exec::Observer* o : list_) o->after(w, r, op, active);
  }

 private:
  std::vector<exec::Observer*> list_;
};

struct Prepared {
  std::string kernel;
  exec::LaunchConfig config;
};

// Cluster shape and block size that the kernel's directives ask for.
void applyDirectives(const Module& module, const RunLaunch& launch, Prepared& p) {
  for (const Function& f : module.functions) {
    if (!f.isEntry || module.text(f.name) != p.kernel) continue;
    for (const FunctionDirective& d : f.directives) {
      const auto shape = [&] {
        exec::Dim3 s;
        if (d.valueCount > 0) s.x = d.values[0];
        if (d.valueCount > 1) s.y = d.values[1];
        if (d.valueCount > 2) s.z = d.values[2];
        return s;
      };
      const std::string_view name = module.text(d.name);
      if (name == ".reqnctapercluster" && !launch.hasCluster) p.config.cluster = shape();
      if (name == ".reqntid" && !(p.config.block == shape()))
        throw RunError(fmt::format("'{}' asks for blocks of {}: .reqntid", p.kernel, exec::toString(shape())));
      if (name == ".maxntid" && p.config.block.count() > shape().count())
        throw RunError(
            fmt::format("'{}' allows blocks of at most {} threads: .maxntid", p.kernel, shape().count()));
    }
  }
}

std::vector<Prepared> prepare(const RunLine& line, exec::Machine& machine, RunMemory& memory) {
  const std::vector<std::string> kernels = machine.kernels();
  for (const std::string& buffer : line.buffers) memory.declare(buffer);
  std::vector<Prepared> launches;
  for (const RunLaunch& launch : line.launches) {
    Prepared p;
    p.kernel = nameMeant(launch.kernel, kernels);
    if (kernels.empty()) throw RunError("there is no kernel in the file");
    if (p.kernel.empty() && kernels.size() > 1)
      throw RunError(fmt::format("--kernel is one of {}", fmt::join(kernels, ", ")));
    if (p.kernel.empty()) p.kernel = kernels.front();
    if (std::find(kernels.begin(), kernels.end(), p.kernel) == kernels.end())
      throw RunError(fmt::format("there is no kernel '{}'; there is {}", p.kernel, fmt::join(kernels, ", ")));
    p.config.grid = launch.grid;
    p.config.block = launch.block;
    p.config.cluster = launch.cluster;
    p.config.dynamicShared = launch.shared;
    p.config.jobs = line.jobs;
    p.config.limitSteps(line.maxSteps);
    p.config.checkRaces = p.config.checkGlobalRaces = line.checkRaces;
    p.config.checkUninitialised = line.checkUninitialised;
    p.config.parameters = memory.parameters(p.kernel, machine.kernel(p.kernel).parameters(), launch.arguments);
    applyDirectives(machine.module(), launch, p);
    launches.push_back(std::move(p));
  }
  return launches;
}

void checkFiles(const RunLine& line, const RunMemory& memory) {
  std::vector<std::string> files;
  for (const RunDump& dump : line.dumps) {
    if (memory.find(dump.name).allocation == nullptr)
      throw RunError(fmt::format("--dump {}: there is no such buffer or variable", dump.name));
    files.push_back(dump.file);
  }
  files.push_back(line.profileFile);
  files.push_back(line.profileFacts);
  files.push_back(line.traceFile);
  std::sort(files.begin(), files.end());
  const auto twice = std::adjacent_find(files.begin(), files.end(),
                                        [](const auto& a, const auto& b) { return !a.empty() && a == b; });
  if (twice != files.end()) throw RunError(fmt::format("two outputs are one file, '{}'", *twice));
  files.push_back(line.recordFile);
  std::vector<NamedFile> inputs{{"input", line.input}, {"facts", line.facts.path}};
  for (const std::string& file : memory.files()) inputs.push_back({"argument", file});
  for (const std::string& file : files)
    if (const std::string why = whyOneFile(inputs, {{"output", file}}); !why.empty()) throw RunError(why);
}

class Run {
 public:
  Run(const RunLine& line, const Module& module)
      : line_(line),
        module_(module),
        machine_(module),
        memory_(machine_, line.seed),
        profile_(module),
        trace_(module, line.traceLanes, [this](std::string_view text) { traced(text); }) {
    machine_.print = [](std::string_view text) { printResult(text); };
    if (line.checkUninitialised) machine_.memory().trackWrites();
    machine_.countsLoops = !line.profileFacts.empty();
  }

  int operator()() {
    std::vector<Prepared> launches;
    try {
      launches = prepare(line_, machine_, memory_);
      checkFiles(line_, memory_);
      if (!line_.recordFile.empty()) record::needWritable(line_.recordFile);
      if (const std::string why = line_.profileFacts.empty() ? "" : whyNotWritten(line_.profileFacts); !why.empty())
        throw RunError(why);
    } catch (const RunError& e) {
      return fail(Status::Usage, e.what());
    } catch (const record::RecordError& e) {
      return fail(Status::Usage, e.what());
    }
    std::vector<exec::Observer*> watching;
    if (line_.profile) watching.push_back(&profile_);
    if (line_.trace) watching.push_back(&trace_);
    Observers observers(watching);
    Status status = Status::Ok;
    std::optional<TemporaryFolder> folder;
    if (!line_.recordFile.empty()) folder.emplace();
    if (folder && !folder->isValid()) return fail(Status::Usage, folder->error());
    record::Recorder recorder({folder ? folder->path() : "", "", UINT64_MAX});
    try {
      for (Prepared& p : launches) {
        if (!watching.empty()) p.config.observer = &observers;
        const bool isRecorded = recorder.begin(module_, p.kernel, p.config, machine_);
        const auto launch = [&](exec::LaunchConfig& config) { machine_.launch(p.kernel, config); };
        if (line_.profileFacts.empty())
          launch(p.config);
        else
          profiler_.launch(machine_, p.kernel, p.config, launch);
        if (isRecorded) recorder.end(machine_);
      }
    } catch (const record::RecordError& e) {
      return fail(Status::Usage, e.what());
    } catch (const ExecError& e) {
      status = statusOf(e);
      trace_.finish();
      std::fflush(stdout);
      printError(errorText(e, module_));
    }
    trace_.finish();
    try {
      if (folder) record::packFolder(folder->path(), line_.recordFile);
    } catch (const record::RecordError& e) {
      return fail(Status::Usage, e.what());
    }
    return write(status);
  }

 private:
  void traced(std::string_view text) {
    if (line_.traceFile.empty())
      printResult(text);
    else
      traceText_ += text;
  }

  int write(Status status) {
    std::string json;
    std::vector<OutputFile> files;
    if (status == Status::Ok)
      for (const RunDump& dump : line_.dumps) {
        const RunMemory::View v = memory_.find(dump.name);
        if (!dump.file.empty())
          files.push_back({dump.file, {reinterpret_cast<const char*>(v.allocation->data), v.allocation->size}});
        else
          printResult(fmt::format("{}: {}[{}]\n{}", dump.name, info(v.type).name,
                                  v.allocation->size / bytesOf(v.type),
                                  formatValues(v.type, {v.allocation->data, v.allocation->size})));
      }
    if (line_.profile && line_.profileFile.empty()) printResult(profile_.table());
    std::fflush(stdout);
    if (!line_.profileFile.empty()) files.push_back({line_.profileFile, json = profiling::toJson(profile_)});
    if (!line_.traceFile.empty()) files.push_back({line_.traceFile, traceText_});
    std::string error;
    if (!writeFiles(files, error)) return fail(Status::Usage, error);
    if (!line_.profileFacts.empty() && !writeProfile(line_.profileFacts, profiler_.file(), error))
      return fail(Status::Usage, error);
    return static_cast<int>(status);
  }

  const RunLine& line_;
  const Module& module_;
  exec::Machine machine_;
  RunMemory memory_;
  exec::Profile profile_;
  profiling::LaunchProfiler profiler_;
  exec::Trace trace_;
  std::string traceText_;
};

}  // namespace

int runCommand(int argc, char** argv) {
  RunLine line;
  int exitCode = 0;
  if (!readRunLine(argc, argv, line, exitCode)) return exitCode;
  if (line.listOpcodes) {
    printResult(line.markdown ? listNotExecutable() : listExecutable());
    return 0;
  }
  FileText text;
  std::string error;
  if (!readFile(line.input, text, error)) return fail(Status::Usage, error);
  const std::string fileName = line.input == "-" ? "<stdin>" : line.input;
  auto parsed = text::parse(text, fileName);
  if (const auto* wrong = std::get_if<text::ParseError>(&parsed)) {
    printError(text::render(*wrong, fileName));
    return static_cast<int>(Status::InvalidInput);
  }
  if (!line.facts.read(error) || !(error = line.facts.giveTo(*std::get<0>(parsed))).empty())
    return fail(Status::Usage, error);
  const Module& module = *std::get<0>(parsed);
  try {
    Run run(line, module);
    return run();
  } catch (const ExecError& e) {
    printError(errorText(e, module));
    return static_cast<int>(statusOf(e));
  }
}

}  // namespace ptxopt::tool
