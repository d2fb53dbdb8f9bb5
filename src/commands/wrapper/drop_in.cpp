// The order of steps: the inputs are found, a ptxas is chosen, each input is optimized, and the real ptxas runs on
// temporary files. What it refuses is tried again as given. The guard's own output is used instead of a run where it is
// what the call asks for.
#include "wrapper/drop_in.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "ptxas/choose.h"
#include "ptxas/large_pages.h"
#include "support/atomic_file.h"
#include "support/heap.h"
#include "support/log.h"
#include "support/temporary_folder.h"
#include "wrapper/call_log.h"
#include "wrapper/child.h"
#include "wrapper/io.h"
#include "wrapper/made_output.h"
#include "wrapper/messages.h"
#include "wrapper/ptxas_command.h"
#include "wrapper/real_ptxas.h"
#include "wrapper/safety_net.h"
#include "wrapper/wrapper_input.h"

namespace ptxopt::wrapper {
namespace {

constexpr std::size_t kLongestArgument = 128 * 1024 - 1;  // of one argument, on Linux
constexpr const char* kUsualArchitecture = "sm_75";       // of ptxas 13
constexpr std::size_t kHead = 64 * 1024;                  // of a file, in which its version is said
constexpr double kMostCpuSeconds = 600;                   // the largest files take seconds

std::string baseName(const std::string& path) { return std::filesystem::path(path).filename().string(); }

class DropIn {
 public:
  DropIn(const ptxas::PtxasCandidates& candidates, const std::vector<std::string>& arguments,
         const WrapperOptions& options)
      : candidates_(candidates), arguments_(arguments), options_(options), command_(readPtxasCommand(arguments)) {}

  std::string run() {
    if (options_.leavesAlone) return becomePtxas();
    if (!command_.notOptimized.empty()) {
      say(command_.notOptimized + ": not optimized");
      if (!command_.inputs.empty()) {
        choose();
        tellWarnings();
        log(command_.notOptimized);
      } else if (asksVersion()) {
        sayVersion();
      }
    } else if (findInputs()) {
      if (const std::optional<Child> child = assemble()) {
        if (!child->error.empty()) return ptxas_ + ": " + child->error;
        endLike(*child);
      }
    }
    return becomePtxas();
  }

 private:
  std::string becomePtxas() {
    choose();
    return ptxas_ + ": " + become(call(arguments_));
  }

  // The ptxas for these inputs, as far as they have been read; once.
  void choose() {
    if (!ptxas_.empty()) return;
    std::vector<ptxas::PtxNeed> needs;
    for (const PtxasCommand::Input& place : command_.inputs)
      if (!options_.leavesAlone)
        needs.push_back({ptxas::versionNeededBy(textAt(place)), command_.architecture, wholeTextAt(place)});
    if (needs.empty()) needs.push_back({{}, command_.architecture});
    ptxas::PtxasChoice choice;
    {
      const WhileAsking asking(candidates_);
      choice = ptxas::choosePtxas(candidates_, needs, &ptxas::Cache::user());
    }
    for (const ptxas::KnownBadHit& hit : choice.knownBad)
      knownBad_.push_back(ptxas::warningOf(hit, choice.release));
    ptxas_ = choice.path;
    why_ = choice.why();
    noteCalled(ptxas_);
    ptxas::useLargePagesForPtxas();
    say(fmt::format("ptxas: {} ({})", ptxas_, why_));
  }

  // Calls without an input, such as for the version, are those of programs, which may read both streams.
  void say(const std::string& text) const {
    if (command_.inputs.empty())
      log::debug(log::kDropIn, [&] { return text; });
    else
      log::info(log::kDropIn, text);
  }

  // The text of an input, or its first part: `.version` comes first. Nothing of what can be read once only and was not.
  std::string textAt(const PtxasCommand::Input& place) const {
    const std::string& word = command_.words[place.word];
    if (place.isString) return word.substr(place.prefix);
    for (const WrapperInput& input : inputs_)
      if (input.place.word == place.word && !input.text.empty()) return input.text.substr(0, kHead);
    std::error_code ignored;
    return std::filesystem::is_regular_file(word, ignored) ? readHead(word, kHead) : std::string();
  }

  // The text of an input, where it was read.
  std::string_view wholeTextAt(const PtxasCommand::Input& place) const {
    for (const WrapperInput& input : inputs_)
      if (input.place.word == place.word) return input.text;
    return {};
  }

  bool asksVersion() const {
    return std::ranges::any_of(arguments_, [](const std::string& w) { return w == "--version" || w == "-V"; });
  }

  // A line after those of ptxas, for a client that has the output in the key of its cache.
  void sayVersion() {
    if (options_.versionLine.empty() || !options_.client.isKeyedByVersion) return;
    choose();
    const Child child = runChild(call(arguments_));
    if (child.succeeded()) writeAll(STDOUT_FILENO, options_.versionLine + '\n');
    if (child.error.empty()) endLike(child);
  }

  void log(std::string_view notOptimized) const {
    if (options_.log.empty()) return;
    CallRecord record{options_.client.name,      ptxas_, why_, command_.architecture,
                      std::string(notOptimized), {},     0,    0};
    for (const WrapperInput& input : inputs_) {
      ++record.inputs;
      record.changed += input.result.changed ? 1 : 0;
    }
    if (!trouble_.empty()) record.trouble = trouble_.front();
    if (command_.usesFile(options_.log) || !addToLog(options_.log, record))
      log::warn(log::kDropIn, fmt::format("cannot write '{}'", options_.log));
  }

  std::vector<std::string> call(const std::vector<std::string>& words) const {
    std::vector<std::string> out{ptxas_};
    out.insert(out.end(), words.begin(), words.end());
    return out;
  }

  // Reads nothing yet. False where something is not there: ptxas has to say so.
  bool findInputs() {
    int fromStandardInput = 0;
    std::error_code ignored;
    for (const PtxasCommand::Input& place : command_.inputs) {
      WrapperInput input;
      input.place = place;
      if (place.isString) {
        input.text = command_.words[place.word].substr(place.prefix);
      } else {
        input.path = command_.words[place.word];
        input.source = sourceOf(options_.client, input.path);
        if (input.isStandardInput())
          ++fromStandardInput;
        else if (::access(input.path.c_str(), R_OK) != 0 || std::filesystem::is_directory(input.path, ignored))
          return false;
      }
      inputs_.push_back(std::move(input));
    }
    return fromStandardInput <= 1;
  }

  // Nothing where ptxas may as well take our place. Whatever is made here is gone at its end.
  std::optional<Child> assemble() {
    const TemporaryFolder folder;
    folder.shareLock();
    if (!folder.isValid()) trouble_.push_back(folder.error() + kNotOptimized);
    const bool isLoaded = folder.isValid() && load(folder);
    choose();
    if (!isLoaded) return assembleGiven();
    optimizeAll();
    if (std::optional<Child> child = takeMade()) return child;
    if (std::any_of(inputs_.begin(), inputs_.end(), [](const WrapperInput& i) { return i.result.changed; })) {
      if (std::optional<Child> child = assembleOptimized(folder)) return child;
    } else if (trouble_.empty() && options_.warnings.empty() && options_.remarks.empty() && knownBad_.empty() &&
               candidates_.wrong.empty() && standardInput_.empty() && !hasCopies_) {
      writeSides();
      log({});
      return std::nullopt;
    }
    return assembleGiven();
  }

  // Keeps a copy of what can be read once only. False where that is not possible.
  bool load(const TemporaryFolder& folder) {
    std::vector<std::string> paths;
    for (const WrapperInput& input : inputs_)
      if (!input.isString()) paths.push_back(input.path);
    prepareHeap(paths);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      WrapperInput& input = inputs_[i];
      if (input.isString()) continue;
      std::optional<std::string> text = readBytes(input.path);
      if (!text) return false;
      input.text = std::move(*text);
      std::error_code ignored;
      if (!input.isStandardInput() && std::filesystem::is_regular_file(input.path, ignored)) continue;
      input.copy = folder.file(fmt::format("given{}/{}", i, baseName(input.path)));
      if (!writeBytes(input.copy, input.text)) return false;
      if (input.isStandardInput())
        standardInput_ = input.copy;
      else
        hasCopies_ = true;
    }
    return true;
  }

  // The call with the PTX as it was given.
  std::vector<std::string> givenCall() const {
    return call(hasCopies_ ? withPaths(command_.words, &WrapperInput::copy) : arguments_);
  }

  // Puts other paths in the places of the inputs that have some.
  std::vector<std::string> withPaths(std::vector<std::string> words, std::string WrapperInput::*path) const {
    for (const WrapperInput& input : inputs_)
      if (!input.isString() && !input.isStandardInput() && !(input.*path).empty())
        words[input.place.word] = input.*path;
    return words;
  }

  Child assembleGiven() {
    ChildOptions options;
    options.input = standardInput_;
    options.capturesOutput = hasCopies_;
    Child child = runChild(givenCall(), options);
    if (hasCopies_) {
      writeAll(STDOUT_FILENO, withNames(child.out, namesOfCopies()));
      writeAll(STDERR_FILENO, withNames(child.err, namesOfCopies()));
    }
    if (child.succeeded()) tell();
    log({});
    return child;
  }

  void optimizeAll() {
    for (WrapperInput& input : inputs_) input.result.text = input.text;
    if (!options_.mistake.empty()) return trouble_.push_back(options_.mistake + kNotOptimized);
    WrapperOptions options = options_;
    options.guard.architecture = command_.architecture.empty() ? kUsualArchitecture : command_.architecture;
    options.guard.ptxas.program = ptxas_;
    options.guard.candidates = {};
    options.guard.isWholeCall = true;
    if (command_.isLinked) options.optimizer.knobs.try_emplace("inline-weak", 0);
    options.guard.ptxas.arguments = command_.settings;
    options.guard.ptxas.keepsOutput = inputs_.size() == 1 && !inputs_.front().isString() &&
                                      !inputs_.front().isStandardInput() && command_.architectureWords.size() == 1;
    const SafetyNet net(givenCall(), standardInput_, kMostCpuSeconds);
    for (WrapperInput& input : inputs_) {
      input.result = optimizeInput(input.text, input.name(), command_.architecture, options);
      if (!input.result.trouble.empty()) trouble_.push_back(input.result.trouble);
      log::writeLines(log::Level::Asked, log::kDropIn, input.result.dumps);
      avoided_.insert(avoided_.end(), input.result.avoided.begin(), input.result.avoided.end());
      for (const std::string& note : input.result.notes) log::info(log::kDropIn, note);
    }
  }

  // What the guard's ptxas made of the only input, by the same arguments. Nothing where it is to be assembled.
  std::optional<Child> takeMade() {
    if (inputs_.size() != 1 || !trouble_.empty() || !inputs_.front().result.made) return std::nullopt;
    const std::optional<ptxas::PtxasOutput> made = asCalled(*inputs_.front().result.made, command_.isVerbose);
    const std::string place = placeOfCubin(command_.outputs);
    if (!made || place.empty() || !writeBytes(std::filesystem::path(place), made->cubin)) return std::nullopt;
    Child child;
    child.out = made->out;
    child.err = made->err;
    inputs_.front().resultFile = made->input;
    writeAll(STDOUT_FILENO, asGiven(child, &Child::out));
    writeAll(STDERR_FILENO, asGiven(child, &Child::err));
    log::info(log::kDropIn, "the cubin is the one that the guard's ptxas made");
    dropAvoided();
    tell();
    writeSides();
    log({});
    return child;
  }

  // Nothing where the PTX as given has to be tried.
  std::optional<Child> assembleOptimized(const TemporaryFolder& folder) {
    ChildOptions options;
    options.capturesOutput = true;
    options.input = standardInput_;
    std::vector<std::string> words = withPaths(command_.words, &WrapperInput::copy);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      WrapperInput& input = inputs_[i];
      if (!input.result.changed) continue;
      if (input.isString()) {
        std::string& word = words[input.place.word];
        if (input.place.prefix + input.result.text.size() <= kLongestArgument)
          word.replace(input.place.prefix, std::string::npos, input.result.text);
        continue;
      }
      input.resultFile = folder.file(fmt::format("{}/{}", i, baseName(input.path)));
      if (!writeBytes(input.resultFile, input.result.text)) {
        trouble_.push_back(fmt::format("cannot write '{}'{}", input.resultFile, kNotOptimized));
        return std::nullopt;
      }
      if (input.isStandardInput()) options.input = input.resultFile;
    }
    Child child = runChild(call(withPaths(std::move(words), &WrapperInput::resultFile)), options);
    if (child.isInterrupted) {
      writeAll(STDOUT_FILENO, child.out);
      writeAll(STDERR_FILENO, child.err);
      return child;
    }
    if (!child.succeeded()) {
      const std::string& said = child.err.empty() ? child.out : child.err;
      trouble_.push_back(fmt::format("ptxas refuses the optimized PTX ({}{}{}){}", child.describe(),
                                     said.empty() ? "" : ": ", said.substr(0, said.find('\n')), kNotOptimized));
      return std::nullopt;
    }
    writeAll(STDOUT_FILENO, asGiven(child, &Child::out));
    writeAll(STDERR_FILENO, asGiven(child, &Child::err));
    dropAvoided();
    tell();
    writeSides();
    log({});
    return child;
  }

  std::vector<RenamedInput> namesOfCopies() const {
    std::vector<RenamedInput> names;
    for (const WrapperInput& input : inputs_)
      if (!input.copy.empty() && !input.isStandardInput()) names.push_back({{}, input.copy, input.path});
    return names;
  }

  // What was written to a stream, as of the PTX that was given.
  std::string asGiven(const Child& child, std::string Child::*stream) const {
    std::vector<RenamedInput> names;
    for (const WrapperInput& input : inputs_)
      if (!input.resultFile.empty())
        names.push_back({input.resultFile, input.copy.empty() ? input.path : input.copy, input.path});
    return asOfOriginal(child.*stream, names, [&]() -> std::string {
      ChildOptions options;
      options.capturesOutput = true;
      options.input = standardInput_;
      std::vector<std::string> words = command_.wordsToReadOnly();
      if (words.empty()) return {};
      const Child reading = runChild(call(withPaths(std::move(words), &WrapperInput::copy)), options);
      return reading.succeeded() ? reading.*stream : std::string();
    });
  }

  // What was assembled is the optimized PTX.
  void dropAvoided() {
    std::erase_if(knownBad_,
                  [&](const std::string& known) { return std::ranges::find(avoided_, known) != avoided_.end(); });
  }

  // Who asks for the version, or for help, reads what ptxas says and no more: these are for calls with an input.
  void tellWarnings() const {
    for (const std::string& warning : options_.warnings) log::warn(log::kDropIn, warning);
    for (const std::string& wrong : candidates_.wrong) log::warn(log::kDropIn, ptxas::insteadOf(wrong, ptxas_));
    for (const std::string& known : knownBad_) log::warn(log::kDropIn, known);
  }

  // One warning, whatever happened, and those of the environment.
  void tell() const {
    tellWarnings();
    for (const std::string& remark : options_.remarks) log::remark(log::kDropIn, remark);
    if (trouble_.empty()) return;
    const std::string more = trouble_.size() > 1 ? fmt::format(" (and {} more)", trouble_.size() - 1) : "";
    log::warn(log::kDropIn, trouble_.front() + more);
  }

  void writeSides() const {
    for (const std::string& path : writeSideFiles(inputs_, command_, options_))
      log::warn(log::kDropIn, fmt::format("cannot write '{}'", path));
  }

  const ptxas::PtxasCandidates& candidates_;
  std::string ptxas_, why_;            // the chosen one
  std::vector<std::string> knownBad_;  // what it is known to make of the inputs, a warning each
  std::vector<std::string> avoided_;   // of these, what it does not make of the optimized inputs
  const std::vector<std::string>& arguments_;
  const WrapperOptions& options_;
  PtxasCommand command_;
  std::vector<WrapperInput> inputs_;
  std::string standardInput_;  // a copy of it, where it is an input
  bool hasCopies_ = false;     // of other inputs
  std::vector<std::string> trouble_;
};

}  // namespace

std::string runDropIn(const ptxas::PtxasCandidates& candidates, const std::vector<std::string>& arguments,
                      const WrapperOptions& options) {
  return DropIn(candidates, arguments, options).run();
}

}  // namespace ptxopt::wrapper
