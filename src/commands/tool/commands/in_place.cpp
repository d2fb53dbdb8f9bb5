// Files are independent of each other: a worker reads, optimizes and replaces one, and keeps only the figures and
// messages of it. Those are shown as soon as all files before it are done. A file whose text stays the same is not
// written, so that its time stamp stays, for make. Cost: that of the files, and the memory of -j of them.
#include "tool/commands/in_place.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>

#include "support/files_below.h"
#include "support/json.h"
#include "support/log.h"
#include "support/parallel.h"
#include "tool/commands/optimize_text.h"
#include "tool/files.h"
#include "tool/manual/lists.h"
#include "tool/terminal/messages.h"
#include "tool/terminal/progress.h"
#include "tool/terminal/table.h"
#include "tool/terminal/terminal.h"

namespace ptxopt::tool {
namespace {

namespace fs = std::filesystem;

struct FileResult {
  std::string name;
  Status status = Status::Ok;
  bool isReplaced = false;
  uint64_t functions = 0, functionsChanged = 0, instructions = 0, instructionsAfter = 0;
  std::vector<log::Lines> messages;
  std::string error;
  std::string reportJson;
};

FileResult optimizeOne(const std::string& name, const CommandLine& line, unsigned jobs) {
  FileResult file;
  file.name = name;
  const auto fail = [&](Status status, std::string_view place, std::string_view reason) {
    file.status = status;
    file.error = fmt::format("{}: error: {}\n", place, reason);
    return file;
  };
  try {
    FileText text;
    std::string error = whyNotReplaceable(name);
    if (!error.empty() || !readFile(name, text, error)) return fail(Status::Usage, "ptxopt", error);
    Options options = line.options;
    options.fileName = name;
    options.jobs = jobs;
    Optimized optimized = optimizeText(text, line, options);
    Result& result = optimized.result;
    file.messages = std::move(optimized.messages);
    file.status = optimized.status;
    file.error = std::move(optimized.error);
    if (file.status != Status::Ok) return file;
    if (result.output != std::string_view(text)) {
      if (!writeFiles({{name, result.output}}, error)) return fail(Status::Usage, "ptxopt", error);
      file.isReplaced = true;
    }
    file.functions = result.functions;
    file.functionsChanged = result.functionsChanged;
    file.instructions = result.instructions;
    file.instructionsAfter = result.instructionsAfter;
    if (line.stats)
      file.messages.push_back({log::Level::Asked, &log::kTool, fmt::format("{}: {}", name, statistics(result))});
    file.reportJson = std::move(result.reportJson);
  } catch (const std::bad_alloc&) {
    return fail(Status::Usage, name, "out of memory");
  } catch (const std::exception& e) {
    return fail(Status::Internal, name, e.what());
  }
  return file;
}

// Optimizes the files and says what is to be said of each, in their order.
std::vector<FileResult> optimizeAll(const std::vector<std::string>& names, const CommandLine& line) {
  unsigned jobs = line.options.jobs;
  if (jobs == 0) jobs = std::max(1u, std::thread::hardware_concurrency());
  std::vector<FileResult> results(names.size());
  std::vector<bool> isDone(names.size(), false);
  std::size_t said = 0;
  std::mutex mutex;
  Progress progress(names.size());
  const auto work = [&](std::size_t i, unsigned threads) {
    FileResult result = optimizeOne(names[i], line, threads);
    const std::scoped_lock lock(mutex);
    results[i] = std::move(result);
    isDone[i] = true;
    for (; said < names.size() && isDone[said]; ++said) {
      for (const log::Lines& m : results[said].messages) log::writeLines(m.level, *m.source, m.text);
      printError(results[said].error);
    }
    progress.done(names[i]);
  };
  if (jobs == 1 || names.size() < 2) {
    for (std::size_t i = 0; i < names.size(); ++i) work(i, jobs);
    return results;
  }
  // More threads than cores would only take memory.
  const auto cores = std::max(1u, std::thread::hardware_concurrency());
  inParallel(std::min(jobs, cores), names.size(), [&](std::size_t i) { work(i, 1); });
  return results;
}

std::string change(uint64_t before, uint64_t after) {
  if (before == 0 || before == after) return "";
  return fmt::format(
      "{:+.1f}%", 100 * (static_cast<double>(after) - static_cast<double>(before)) / static_cast<double>(before));
}

void printTable(const std::vector<FileResult>& files, bool all) {
  using Align = Table::Align;
  Table table({{"file", Align::Left, true},
               {"functions", Align::Right},
               {"changed", Align::Right},
               {"instructions", Align::Right},
               {"after", Align::Right},
               {"", Align::Right}});
  const auto row = [&](Table::Cell name, const FileResult& f, Style plain) {
    const Style style = f.instructionsAfter < f.instructions   ? Style::Good
                        : f.instructionsAfter > f.instructions ? Style::Doubtful
                                                               : plain;
    table.addRow({std::move(name),
                  {fmt::format("{}", f.functions), plain},
                  {fmt::format("{}", f.functionsChanged), plain},
                  {fmt::format("{}", f.instructions), plain},
                  {fmt::format("{}", f.instructionsAfter), style},
                  {change(f.instructions, f.instructionsAfter), style}});
  };
  FileResult sum;
  std::size_t replaced = 0, failed = 0;
  for (const FileResult& f : files) {
    replaced += f.isReplaced;
    failed += f.status != Status::Ok;
    sum.functions += f.functions;
    sum.functionsChanged += f.functionsChanged;
    sum.instructions += f.instructions;
    sum.instructionsAfter += f.instructionsAfter;
    const Style plain = f.isReplaced ? Style::Plain : Style::Faint;
    if (f.status != Status::Ok && all)
      table.addRow({{f.name, Style::Bad}, {"failed", Style::Bad}});
    else if (f.status == Status::Ok && (f.isReplaced || all))
      row({f.name, plain}, f, plain);
  }
  if (!table.empty()) {
    table.addRule();
    row({fmt::format("{} file{}", files.size(), files.size() == 1 ? "" : "s"), Style::Strong}, sum, Style::Plain);
    printAsked(table.text({.colours = hasColours(stderr), .width = terminalWidth(stderr, 0)}));
  }
  std::string closing = fmt::format("{} of {} files changed", replaced, files.size());
  if (failed != 0) closing += styled(fmt::format(", {} failed", failed), Style::Bad, hasColours(stderr));
  log::asked(log::kTool, closing);
}

std::string reportOfAll(const std::vector<FileResult>& files) {
  Json all = {{"ptxopt", version()}, {"files", Json::array()}};
  for (const FileResult& f : files) {
    Json entry = {{"file", f.name}, {"status", static_cast<int>(f.status)}, {"replaced", f.isReplaced}};
    if (!f.error.empty()) entry["error"] = f.error;
    if (!f.reportJson.empty()) entry["report"] = parseJson(f.reportJson);
    all["files"].push_back(std::move(entry));
  }
  return dumpJson(all, 2) + "\n";
}

}  // namespace

std::vector<std::string> inputFiles(const std::vector<std::string>& names, std::vector<std::string>& errors) {
  std::vector<std::string> files;
  // By what it is: one file may have several names.
  std::set<std::pair<dev_t, ino_t>> seen;
  const auto add = [&](const std::string& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0 || seen.emplace(status.st_dev, status.st_ino).second)
      files.push_back(file);
  };
  for (const std::string& name : names) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      add(name);
      continue;
    }
    const FilesBelow below = filesBelow(name, [](const fs::path& path) { return path.extension() == ".ptx"; });
    errors.insert(errors.end(), below.problems.begin(), below.problems.end());
    if (below.files.empty() && below.problems.empty())
      errors.push_back(fmt::format("there is no *.ptx below '{}'", name));
    for (const fs::path& file : below.files) add(file.string());
  }
  return files;
}

int optimizeInPlace(const CommandLine& line) {
  std::vector<std::string> errors;
  const std::vector<std::string> names = inputFiles(line.inputs, errors);
  for (const std::string& name : names)
    if (const std::string why = whyOneFile({{"input", name}}, {{"report", line.report}}); !why.empty())
      return fail(Status::Usage, why);
  // What is wrong with the options is said once, not of each file.
  if (const Result none = optimize("", line.options); none.status == Status::Usage) {
    printError("ptxopt: error: " + none.error);
    return static_cast<int>(Status::Usage);
  }

  Status worst = errors.empty() ? Status::Ok : Status::Usage;
  for (const std::string& error : errors) fail(Status::Usage, error);
  const std::vector<FileResult> results = optimizeAll(names, line);
  if (!results.empty()) printTable(results, line.verbose);
  for (const FileResult& f : results) worst = std::max(worst, f.status);
  if (std::string error; !line.report.empty() && !writeFiles({{line.report, reportOfAll(results)}}, error))
    return std::max(fail(Status::Usage, error), static_cast<int>(worst));
  return static_cast<int>(worst);
}

}  // namespace ptxopt::tool
