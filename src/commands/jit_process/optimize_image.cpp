// The key of a cached result covers settings, the ptxas programs with their times of change, the devices and the image.
// A watching thread stores that a result is late once its time is over; the finished result then overwrites that entry.
#include "jit_process/optimize_image.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <regex>
#include <thread>

#include "container/fat_binary.h"
#include "jit_process/originals.h"
#include "ptxas/cache.h"
#include "support/environment.h"

namespace ptxopt::jit_process {
namespace {

using ptxas::Cache;

std::string oneLine(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

// "sm_90" for a text of sm_80 on such a device; empty, which means the text's own: no device, several, or a target with a suffix,
// whose code is for that very device.
std::string architectureFor(std::string_view text, const std::vector<unsigned>& devices) {
  static const std::regex target(R"(\.target\s+sm_(\d+)([a-z]?))");
  std::cmatch found;
  if (devices.size() != 1 || !std::regex_search(text.data(), text.data() + text.size(), found, target)) return {};
  return found[2].length() == 0 ? fmt::format("sm_{}", devices.front()) : std::string();
}

// What it says before its body.
bool saysBlock(std::string_view text, const FunctionOutcome& f) {
  if (f.begin > f.body || f.body > text.size()) return false;
  const std::string_view head = text.substr(f.begin, f.body - f.begin);
  return head.find(".maxntid") != std::string_view::npos || head.find(".reqntid") != std::string_view::npos;
}

void addReason(ImageAnswer& answer, const char* why) {
  if (!answer.why.empty()) answer.why += "; ";
  answer.why += why;
}

ImageAnswer optimizeText(std::string_view text, const ImageRequest& request, const wrapper::WrapperOptions& given) {
  wrapper::WrapperOptions options = given;
  options.optimizer.outcomes = true;
  const std::string architecture = architectureFor(text, request.devices);
  options.guard.architecture = architecture;
  options.guard.isWholeCall = !request.isLinked;
  if (request.isLinked) {
    options.optimizer.knobs.try_emplace("inline-weak", 0);
    options.guard.ptxas.arguments.emplace_back("-c");
  }
  if (request.mostRegisters != 0)
    options.guard.ptxas.arguments.push_back(fmt::format("-maxrregcount={}", request.mostRegisters));
  wrapper::OptimizedInput made = wrapper::optimizeInput(text, "PTX", architecture, options);
  ImageAnswer answer;
  // A kernel may have the code of functions that it calls in it.
  const bool isFunctionChanged =
      std::ranges::any_of(made.outcomes, [](const FunctionOutcome& f) { return !f.isKernel && f.changed; });
  for (const FunctionOutcome& f : made.outcomes) {
    if (!f.isKernel) continue;
    ++answer.kernels;
    answer.changed += f.changed ? 1 : 0;
    if ((f.changed || isFunctionChanged) && made.changed && !saysBlock(text, f)) answer.ofAnyBlock += f.name + ' ';
  }
  answer.why = oneLine(made.trouble);
  for (const std::string& note : made.notes)
    if (answer.why.empty() && note.ends_with("[guard]")) answer.why = oneLine(note);
  answer.isOptimized = made.changed;
  if (!made.changed) return answer;
  answer.image = std::move(made.text);
  if (!request.isCompared) return answer;
  WithOriginals both;
  if (!request.isLinked) both = withOriginals(text, answer.image, made.outcomes);
  if (both.text.empty()) {
    addReason(answer, request.isLinked ? "launches of linked code are not compared"
                                       : "launches are not compared: the originals cannot stand beside it");
    return answer;
  }
  answer.image = std::move(both.text);
  answer.originals = std::move(both.description);
  return answer;
}

// Those of the newest PTX that a device takes: the driver compiles one of these.
ImageAnswer optimizeFatBinary(std::string_view container, const ImageRequest& request,
                              const wrapper::WrapperOptions& options) {
  ImageAnswer answer;
  const auto entries = container::fatEntries(container);
  if (const auto* wrong = std::get_if<container::Broken>(&entries)) {
    answer.why = wrong->message;
    return answer;
  }
  std::vector<unsigned> wanted;
  for (const unsigned device : request.devices) {
    unsigned newest = 0;
    for (const container::FatEntry& e : std::get<0>(entries))
      if (e.isPtx() && e.architecture <= device) newest = std::max(newest, e.architecture);
    wanted.push_back(newest);
  }
  std::vector<std::string> all;
  for (const container::FatEntry& e : std::get<0>(entries)) {
    all.emplace_back(e.whole);
    if (!e.isPtx() || std::ranges::find(wanted, e.architecture) == wanted.end()) continue;
    auto text = container::contentsOf(e);
    if (const auto* wrong = std::get_if<container::Broken>(&text)) {
      answer.why = wrong->message;
      continue;
    }
    ImageAnswer part = optimizeText(std::get<std::string>(text), request, options);
    answer.kernels += part.kernels;
    answer.changed += part.changed;
    answer.ofAnyBlock += part.ofAnyBlock;
    if (answer.why.empty()) answer.why = std::move(part.why);
    if (!part.isOptimized) continue;
    // Which of several the driver takes is not known.
    if (answer.isOptimized && request.isCompared) addReason(answer, "launches of several texts are not compared");
    answer.originals = answer.isOptimized ? std::string() : std::move(part.originals);
    answer.isOptimized = true;
    all.back() = container::repacked(e, part.image, false);
  }
  if (answer.isOptimized) answer.image = container::fatOf(container, all);
  return answer;
}

// ---- the cache ----

constexpr std::string_view kLate = "late";

std::string entryOf(const ImageAnswer& a) {
  return fmt::format("{}\n{} {}\n{}\n{}\n{}\n{}", a.isOptimized ? "optimized" : "same", a.kernels, a.changed, a.why,
                     a.ofAnyBlock, a.originals, a.image);
}

std::string_view cutLine(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

ImageAnswer answerOf(std::string_view entry) {
  ImageAnswer a;
  a.isFromCache = true;
  a.isOptimized = cutLine(entry) == "optimized";
  if (std::sscanf(std::string(cutLine(entry)).c_str(), "%u %u", &a.kernels, &a.changed) != 2) a.kernels = 0;
  a.why = cutLine(entry);
  a.ofAnyBlock = cutLine(entry);
  a.originals = cutLine(entry);
  a.image = entry;
  return a;
}

// The program and its time of change stand for what it answers.
std::string programs(const wrapper::WrapperOptions& options) {
  std::string all = options.guard.ptxas.program;
  for (const auto& candidate : options.guard.candidates.all) all += '\n' + candidate.path;
  std::string out;
  for (std::string_view rest = all; !rest.empty();) {
    const std::string path(cutLine(rest));
    struct stat status {};
    if (!path.empty() && ::stat(path.c_str(), &status) == 0)
      out += fmt::format("{} {} {}\n", path, status.st_size, status.st_mtim.tv_sec);
  }
  return out;
}

// Says in the cache that the result takes longer than is waited for it, once it does.
class Lateness {
 public:
  Lateness(std::string key, double seconds)
      : key_(std::move(key)), seconds_(seconds), thread_([this] { watch(); }) {}
  Lateness(const Lateness&) = delete;
  Lateness& operator=(const Lateness&) = delete;
  ~Lateness() {
    {
      const std::lock_guard guard(mutex_);
      isDone_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::duration<double>(seconds_), [&] { return isDone_; }))
      Cache::user().put(key_, fmt::format("{}\n{}\n", kLate, seconds_));
  }

  std::string key_;
  double seconds_;
  bool isDone_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

std::string keyOf(std::string_view image, const ImageRequest& request, const wrapper::WrapperOptions& options,
                  const std::string& settings) {
  std::string devices;
  for (const unsigned d : request.devices) devices += fmt::format("{} ", d);
  return Cache::key(fmt::format("jit\n{}\n{}{}{} {} {} {}\n{}\n", settings, programs(options), devices,
                                request.isFatBinary, request.isLinked, request.mostRegisters, request.isCompared,
                                options.optimizer.facts + '\n' + options.optimizer.profile) +
                    std::string(image));
}

}  // namespace

KnownAnswer findAnswer(std::string_view image, const ImageRequest& request, const wrapper::WrapperOptions& options,
                       const std::string& settings) {
  KnownAnswer found;
  found.key = keyOf(image, request, options, settings);
  const auto entry = Cache::user().find(found.key);
  if (!entry) return found;
  std::string_view rest = *entry;
  if (cutLine(rest) != kLate) {
    found.answer = answerOf(*entry);
  } else if (std::strtod(std::string(cutLine(rest)).c_str(), nullptr) >= request.budget) {
    found.isLate = true;
  }
  return found;
}

std::string keysOf(std::string_view image, ImageRequest request, const wrapper::WrapperOptions& options,
                   const std::string& settings) {
  // With launches compared, and without.
  const std::string key = keyOf(image, request, options, settings);
  request.isCompared = !request.isCompared;
  return key + ',' + keyOf(image, request, options, settings);
}

void noteDifference(const std::string& keys, std::string_view kernel) {
  ImageAnswer answer;
  answer.why = oneLine(fmt::format("launches of {} differed in an earlier run", kernel));
  for (const std::string& key : partsOf(keys, ',')) Cache::user().put(key, entryOf(answer));
}

ImageAnswer optimizeImage(std::string_view image, const ImageRequest& request,
                          const wrapper::WrapperOptions& options, const std::string& key) {
  ImageAnswer answer;
  {
    const Lateness lateness(key, request.budget);
    answer =
        request.isFatBinary ? optimizeFatBinary(image, request, options) : optimizeText(image, request, options);
  }
  Cache::user().put(key, entryOf(answer));
  return answer;
}

}  // namespace ptxopt::jit_process
