// The functions of ptxopt_c.h. No exception leaves them: what is thrown becomes a result with a status.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "c_api/details_json.h"
#include "c_api/options_json.h"
#include "guard/report.h"
#include "ptxas/plain_cubin.h"
#include "ptxopt/ptxopt_c.h"
#include "support/json.h"
#include "support/log.h"
#include "text/parse.h"
#include "text/rewrite.h"
#include "tool/options/environment.h"
#include "tool/revision.h"
#include "tool/run_tool.h"

struct ptxopt_result {
  ptxopt::Status status = ptxopt::Status::Ok;
  std::string output, error, details = "{}";
  std::string cubin, messages;
};

namespace ptxopt::c_api {
namespace {

void fail(ptxopt_result& to, Status status, std::string error) {
  to.status = status;
  to.error = std::move(error);
  to.output.clear();
}

// What ptxas wrote, of a file of this name.
std::string messagesOf(const ptxas::PtxasOutput& made, const std::string& fileName) {
  std::string all = made.out + made.err;
  for (std::size_t at = all.find(made.input); at != std::string::npos; at = all.find(made.input, at)) {
    all.replace(at, made.input.size(), fileName);
    at += fileName.size();
  }
  return all;
}

// A message for each line.
void logLines(log::Level level, const log::Source& source, std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n') + 1);
    log::writeLines(level, source, line);
    lines.remove_prefix(line.size());
  }
}

// What the tool says of a result, but for what the user asks for.
void logResult(const Result& result, const guard::GuardReport& guard, const std::string& fileName) {
  using log::Level;
  if (log::isEnabled(Level::Warn)) logLines(Level::Warn, log::kGuard, guard::guardWarnings(guard, fileName));
  if (!log::isEnabled(Level::Info)) return;
  for (const Remark& r : result.remarks)
    if (r.pass.empty()) log::info(log::kPasses, fmt::format("{}: {} [{}]", r.place, r.message, r.name));
  logLines(Level::Info, log::kGuard, guard::ptxasAsked(guard, fileName));
  logLines(Level::Info, log::kGuard, guard::keptFunctions(guard, fileName));
  log::info(log::kTool, fmt::format("{}: {} functions, {} instructions -> {}, for {}", fileName, result.functions,
                                    result.instructions, result.instructionsAfter, result.architecture));
}

void optimizeInto(ptxopt_result& to, std::string_view text, const char* json) {
  if (text.data() == nullptr && !text.empty()) return fail(to, Status::Usage, "there is no text");
  CallOptions call;
  if (std::string error = readOptions(json == nullptr ? "" : json, call); !error.empty())
    return fail(to, Status::Usage, std::move(error));
  std::string stripped;
  if (call.stripsDebug)
    text = stripped = text::withoutDebug(text, call.options.fileName, call.options.optixExternals);
  // ptxas refuses functions of OptiX: there is nothing to compare.
  if (call.options.optixExternals && call.guard.mode != guard::GuardMode::Off && !call.guard.isInsistent &&
      text::callsOptix(text, call.options.fileName))
    call.guard.mode = guard::GuardMode::Off;
  guard::GuardedResult done = guard::optimizeGuarded(text, call.options, call.guard);
  to.status = done.result.status;
  to.error = std::move(done.result.error);
  if (to.status != Status::Ok) return;
  to.details = detailsJson(done, call.notOptimized);
  if (call.guard.isInsistent && done.guard.noVerdict)
    return fail(to, Status::CheckFailed, "guard ptxas: nothing to compare: " + done.guard.trouble);
  logResult(done.result, done.guard, call.options.fileName);
  to.output = std::move(done.result.output);
  if (!done.guard.output) return;
  // As of ptxas with the options that were given: the guard's -v stands in it, too.
  std::optional<std::string> cubin =
      call.isVerbose ? std::move(done.guard.output->cubin) : ptxas::cubinWithoutVerbose(done.guard.output->cubin);
  if (!cubin) return;
  to.cubin = *std::move(cubin);
  to.messages = messagesOf(*done.guard.output, call.options.fileName);
}

// No result; functions that ask about a result accept it.
const ptxopt_result& orNone(const ptxopt_result* result) {
  static const ptxopt_result none{Status::Usage, {}, "there is no result"};
  return result != nullptr ? *result : none;
}

ptxopt_result& outOfMemory() {
  static ptxopt_result result{Status::Usage, {}, "out of memory"};
  return result;
}

std::string describe() {
  Json passes = Json::array(), knobs = Json::array();
  for (const PassDescription& p : describePasses())
    passes.push_back({{"name", p.name}, {"level", p.level}, {"summary", p.summary}});
  for (const KnobDescription& k : describeKnobs()) {
    if (k.isForTests) continue;
    knobs.push_back({{"name", k.name},
                     {"default", k.defaultValue},
                     {"least", k.least},
                     {"most", k.most},
                     {"values", k.values},
                     {"summary", k.summary}});
  }
  Json sources = Json::array();
  for (const log::Source* source : log::kSources) sources.push_back(source->name);
  return dumpJson(Json{{"passes", passes}, {"knobs", knobs}, {"log_sources", sources}});
}

std::string environmentText() {
  try {
    return fmt::format("{}", fmt::join(tool::environmentWarnings(), "\n"));
  } catch (const std::exception&) {
    return {};
  }
}

constexpr log::Level kLogLevels[] = {log::Level::Trace, log::Level::Debug, log::Level::Info, log::Level::Warn,
                                     log::Level::Error, log::Level::Asked, log::Level::Off};
static_assert(std::size(kLogLevels) == PTXOPT_LOG_OFF + 1);

std::optional<log::Level> logLevel(int number) {
  if (number < 0 || number > PTXOPT_LOG_OFF) return std::nullopt;
  return kLogLevels[number];
}

int numberOf(log::Level level) {
  return static_cast<int>(std::ranges::find(kLogLevels, level) - std::begin(kLogLevels));
}

}  // namespace
}  // namespace ptxopt::c_api

using namespace ptxopt;

int ptxopt_abi() { return 4; }

const char* ptxopt_version() {
  static const std::string text(version());
  return text.c_str();
}

const char* ptxopt_version_line() {
  static const std::string text = tool::versionText();
  return text.c_str();
}

ptxopt_result* ptxopt_optimize(const char* text, size_t size, const char* options) {
  // Without memory there is still this one to return, which ptxopt_free() leaves.
  std::unique_ptr<ptxopt_result> result;
  try {
    result = std::make_unique<ptxopt_result>();
    try {
      c_api::optimizeInto(*result, {text, size}, options);
    } catch (const std::bad_alloc&) {
      return &c_api::outOfMemory();
    } catch (const std::exception& e) {
      c_api::fail(*result, Status::Internal, e.what());
    }
  } catch (...) {
    return &c_api::outOfMemory();
  }
  return result.release();
}

int ptxopt_status(const ptxopt_result* result) { return static_cast<int>(c_api::orNone(result).status); }

const char* ptxopt_output(const ptxopt_result* result, size_t* size) {
  const std::string& output = c_api::orNone(result).output;
  if (size != nullptr) *size = output.size();
  return output.c_str();
}

const char* ptxopt_cubin(const ptxopt_result* result, size_t* size) {
  const std::string& cubin = c_api::orNone(result).cubin;
  if (size != nullptr) *size = cubin.size();
  return cubin.data();
}

const char* ptxopt_messages(const ptxopt_result* result) { return c_api::orNone(result).messages.c_str(); }

const char* ptxopt_error(const ptxopt_result* result) { return c_api::orNone(result).error.c_str(); }

const char* ptxopt_details(const ptxopt_result* result) { return c_api::orNone(result).details.c_str(); }

void ptxopt_free(ptxopt_result* result) {
  if (result != &c_api::outOfMemory()) delete result;
}

const char* ptxopt_describe() {
  static const std::string text = c_api::describe();
  return text.c_str();
}

const char* ptxopt_environment_warnings() {
  static const std::string text = c_api::environmentText();
  return text.c_str();
}

int ptxopt_set_log(ptxopt_log_callback callback, void* user, int level) {
  const std::optional<log::Level> taken = c_api::logLevel(level);
  if (!taken) return static_cast<int>(Status::Usage);
  try {
    log::Callback call;
    if (callback != nullptr)
      call = [=](log::Level of, std::string_view source, std::string_view text) {
        callback(c_api::numberOf(of), std::string(source).c_str(), std::string(text).c_str(), user);
      };
    log::setCallback(*taken, std::move(call));
  } catch (const std::bad_alloc&) {
    return static_cast<int>(Status::Usage);
  }
  return 0;
}

int ptxopt_set_log_level(int level) {
  const std::optional<log::Level> taken = c_api::logLevel(level);
  if (!taken) return static_cast<int>(Status::Usage);
  log::setCallbackLevel(*taken);
  return 0;
}

int ptxopt_main(int argc, char** argv) { return tool::runTool(argc, argv); }

int ptxopt_ptxas_main(int argc, char** argv) { return tool::runDropIn(argc, argv); }
