// Each launch runs in a child process, because a kernel that fails makes every later call of the driver fail; the
// result comes back as JSON. Images are loaded, compared on each input, and then timed.
#include "gpu/replay.h"

#include <fmt/format.h>

#include "gpu/child.h"
#include "record/replay.h"
#include "support/json.h"

namespace ptxopt::gpu {
namespace {

constexpr const char* kOutcomes[] = {"equal", "different", "undetermined", "failed", "refused", "no-driver"};

SortedJson summaryJson(const Summary& s) { return {s.median, s.low, s.high, s.hasInterval}; }
Summary summaryOfJson(const SortedJson& j) {
  return {j.at(0).get<double>(), j.at(1).get<double>(), j.at(2).get<double>(), j.at(3).get<bool>()};
}

SortedJson resultJson(const Result& r) {
  SortedJson j{{"outcome", static_cast<int>(r.outcome)},
               {"detail", r.detail},
               {"fromRecord", r.fromRecord},
               {"record", r.hasRecord},
               {"failed", r.failed}};
  if (r.times)
    j["times"] = {{"before", summaryJson(r.times->before)},
                  {"after", summaryJson(r.times->after)},
                  {"ratio", summaryJson(r.times->ratio)},
                  {"verdict", r.times->verdict},
                  {"iterations", r.times->iterations}};
  return j;
}

Result resultOfJson(const SortedJson& j) {
  Result r{static_cast<Outcome>(j.at("outcome").get<int>()),
           j.at("detail").get<std::string>(),
           j.at("fromRecord").get<std::string>(),
           j.at("record").get<bool>(),
           j.at("failed").get<std::string>(),
           std::nullopt};
  if (j.contains("times")) {
    const SortedJson& t = j.at("times");
    r.times = Times{summaryOfJson(t.at("before")), summaryOfJson(t.at("after")), summaryOfJson(t.at("ratio")),
                    t.at("verdict").get<std::string>(), t.at("iterations").get<unsigned>()};
  }
  return r;
}

class Run {
 public:
  Run(const GpuLaunch& launch, const Module& module, const std::vector<Image>& images, const ReplayOptions& options)
      : given_(launch),
        images_(images),
        options_(options),
        driver_(options.library, options.device),
        memory_(driver_, launch, module) {}

  Result run() {
    Result result;
    result.outcome = Outcome::Equal;
    try {
      for (const Image& image : images_) {
        now_ = &image;
        loaded_.push_back(memory_.load(image.bytes));
      }
      const std::vector<Left> left = compareOn(0, result);
      for (std::size_t i = 1; i <= given_.inputs.size() && result.outcome == Outcome::Equal; ++i) {
        memory_.setInput(i);
        compareOn(i, result);
      }
      // What is not determined is timed: its time still says something.
      if (options_.isTimed && (result.outcome != Outcome::Different || result.detail.empty())) time(left, result);
    } catch (const DriverError& e) {
      result.outcome = Outcome::Failed;
      result.failed = now_->name;
      result.detail = fmt::format("{}: {}{}", now_->name, where_, e.what());
    }
    return result;
  }

 private:
  using Left = std::vector<std::string>;  // by entry of memory

  Left leftBy(std::size_t image) {
    now_ = &images_[image];
    memory_.restore(loaded_[image]);
    memory_.launch(loaded_[image]);
    return memory_.read(loaded_[image]);
  }

  // What the images left, as far as they ran.
  std::vector<Left> compareOn(std::size_t input, Result& result) {
    if (!given_.inputs.empty()) where_ = fmt::format("input {}: ", input);
    std::vector<Left> left{leftBy(0)};
    if (!isDetermined(left[0], result)) return left;
    noteOutside(result);
    if (input == 0) compareWithRecord(left[0], result);
    for (std::size_t i = 1; i < images_.size() && result.outcome != Outcome::Undetermined; ++i) {
      left.push_back(leftBy(i));
      const auto difference = record::firstDifference(*given_.launch, left[0], left[i]);
      if (!difference) {
        noteOutside(result);
      } else if (isDetermined(left[0], result)) {  // two runs may have been alike by chance
        result.outcome = Outcome::Different;
        result.detail = fmt::format("{}: {}{}", images_[i].name, where_, *difference);
      }
    }
    return left;
  }

  // Whether the first image leaves the same once more.
  bool isDetermined(const Left& first, Result& result) {
    const auto difference = record::firstDifference(*given_.launch, first, leftBy(0));
    if (!difference) return true;
    result.outcome = Outcome::Undetermined;
    result.detail = fmt::format("{}two runs differ: {}", where_, *difference);
    return false;
  }

  void compareWithRecord(const Left& first, Result& result) {
    if (!result.detail.empty()) return;
    result.hasRecord = !memory_.recorded().empty();
    if (!result.hasRecord) return;
    if (auto difference = record::firstDifference(*given_.launch, memory_.recorded(), first)) {
      result.outcome = Outcome::Different;
      result.fromRecord = *difference;
    }
  }

  void noteOutside(Result& result) {
    const uint64_t address = memory_.writtenOutside();
    if (address == 0 || !result.detail.empty()) return;
    result.outcome = Outcome::Different;
    result.detail = fmt::format("{}: {}it writes at {:#x}, outside of its memory", now_->name, where_, address);
  }

  void time(const std::vector<Left>& left, Result& result) {
    if (!given_.inputs.empty()) {
      memory_.setInput(0);
      for (const LoadedImage& image : loaded_) memory_.restore(image);
    }
    memory_.restoreOnly(left);
    now_ = &images_.back();
    const Timer timer(driver_);
    result.times = measureTimes(
        [&](unsigned side, unsigned launches) {
          const LoadedImage& image = loaded_[std::min<std::size_t>(side, loaded_.size() - 1)];
          memory_.restoreQuickly(image);
          if (options_.timing.sampleMilliseconds > 0) memory_.launch(image);
          timer.start();
          for (unsigned i = 0; i < launches; ++i) memory_.launch(image);
          return timer.stop();
        },
        options_.timing);
  }

  const GpuLaunch& given_;
  const std::vector<Image>& images_;
  const ReplayOptions& options_;
  Driver driver_;
  LaunchMemory memory_;
  std::vector<LoadedImage> loaded_;
  const Image* now_ = nullptr;  // that runs
  std::string where_;           // "input 2: ", where there are several
};

Result replayHere(const GpuLaunch& launch, const Module& module, const std::vector<Image>& images,
                  const ReplayOptions& options) {
  const auto because = [](Outcome outcome, const std::exception& e) {
    return Result{outcome, e.what(), {}, false, {}, std::nullopt};
  };
  try {
    return Run(launch, module, images, options).run();
  } catch (const NoDriver& e) {
    return because(Outcome::NoDriver, e);
  } catch (const Refusal& e) {
    return because(Outcome::Refused, e);
  } catch (const AddressTaken& e) {
    return because(Outcome::Refused, e);
  } catch (const DriverError& e) {
    return because(Outcome::Refused, e);  // before anything ran: no memory for it, for instance
  } catch (const std::exception& e) {
    return because(Outcome::Failed, e);
  }
}

}  // namespace

const char* nameOf(Outcome outcome) { return kOutcomes[static_cast<int>(outcome)]; }

Result replayOnGpu(const GpuLaunch& launch, const Module& module, const std::vector<Image>& images,
                   const ReplayOptions& options) {
  std::string error;
  const SortedJson answer =
      inChild([&] { return resultJson(replayHere(launch, module, images, options)); }, options.limitSeconds, error);
  if (answer.is_null()) return {Outcome::Failed, error, {}, false, {}, std::nullopt};
  return resultOfJson(answer);
}

Device describeDevice(const ReplayOptions& options) {
  std::string error;
  const SortedJson answer = inChild(
      [&]() -> SortedJson {
        try {
          const Driver driver(options.library, options.device);
          const Device& d = driver.device();
          return {{"name", d.name}, {"driver", d.driver}, {"major", d.major}, {"minor", d.minor}};
        } catch (const std::exception& e) {
          return {{"error", e.what()}};
        }
      },
      options.limitSeconds, error);
  if (answer.is_null()) throw NoDriver("the CUDA driver: " + error);
  if (answer.contains("error")) throw NoDriver(answer.at("error").get<std::string>());
  return {answer.at("name").get<std::string>(), answer.at("driver").get<std::string>(), options.device,
          answer.at("major").get<int>(), answer.at("minor").get<int>()};
}

}  // namespace ptxopt::gpu
