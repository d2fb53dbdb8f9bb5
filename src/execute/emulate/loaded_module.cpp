// The PTX is parsed, optimized and parsed again, and both texts are kept as files where that was asked for. A text that
// cannot be optimized runs as it is.
#include "emulate/loaded_module.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "emulate/fat_binary.h"
#include "emulate/optimize_by_tool.h"
#include "support/atomic_file.h"
#include "support/log.h"
#include "text/parse.h"

namespace ptxopt::emulate {
namespace {

void parseInto(LoadedVersion& version) {
  auto parsed = text::parse(version.text, version.fileName);
  if (const auto* wrong = std::get_if<text::ParseError>(&parsed))
    throw Failure{Code::InvalidPtx, text::render(*wrong, version.fileName)};
  version.module = std::move(std::get<0>(parsed));
}

// A link in the folder is replaced: what it leads to is not ours.
bool isKept(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  if (file.isOpen() && file.write(text) && file.commit()) return true;
  log::writeLines(log::Level::Error, log::kEmulate,
                  fmt::format("ptxopt emulate: cannot write '{}': {}\n", path, std::strerror(errno)));
  return false;
}

}  // namespace

std::unique_ptr<LoadedModule> loadModule(std::string text, unsigned number, Memory& memory,
                                         const Settings& settings) {
  auto loaded = std::make_unique<LoadedModule>();
  loaded->number = number;
  const auto nameOf = [&](const char* suffix) {
    const std::string name = fmt::format("module-{}{}.ptx", number, suffix);
    return settings.keep.empty() ? name : settings.keep + '/' + name;
  };
  LoadedVersion& plain = loaded->plain;
  plain.text = std::move(text);
  plain.fileName = nameOf("");
  if (!settings.keep.empty()) loaded->couldNotKeep = !isKept(plain.fileName, plain.text);
  parseInto(plain);
  plain.machine = std::make_unique<exec::Machine>(*plain.module, memory.shared());
  plain.machine->countsLoops = !settings.profileFolder.empty();
  if (!settings.optimizes) return loaded;
  std::string error;
  auto optimized = std::make_unique<LoadedVersion>();
  optimized->text = optimizedByTool(settings.tool, settings.optimize, plain.text, error);
  optimized->fileName = nameOf(".optimized");
  if (!error.empty()) {
    loaded->couldNotOptimize = true;
    log::writeLines(log::Level::Error, log::kEmulate,
                    fmt::format("ptxopt emulate: {} is not optimized: {}\n", plain.fileName, error));
    return loaded;
  }
  if (!settings.keep.empty()) loaded->couldNotKeep |= !isKept(optimized->fileName, optimized->text);
  if (optimized->text == plain.text) return loaded;
  parseInto(*optimized);
  optimized->machine = std::make_unique<exec::Machine>(
      *optimized->module, memory.shared(),
      [&](std::string_view name, uint64_t bytes) { return plain.machine->placeOf(name, bytes); });
  loaded->optimized = std::move(optimized);
  return loaded;
}

std::string describe(const exec::ExecError& error, const LoadedVersion& version) {
  const Module& module = *version.module;
  const std::string message = fmt::format("{}: {}", exec::name(error.kind), error.message);
  std::string out = error.source != 0 ? text::render({error.source, locate(module.source, error.source), message},
                                                     module.fileName)
                                      : fmt::format("{}: error: {}\n", module.fileName, message);
  if (!error.function.valid()) return out;
  return out +
         fmt::format("  in {}{}{}\n", module.text(error.function), error.thread.empty() ? "" : ", ", error.thread);
}

}  // namespace ptxopt::emulate
