#include "gpu/replay.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "gpu/child.h"
#include "gpu/launch_memory.h"
#include "record/replay.h"

namespace ptxopt::gpu {
namespace {

using nlohmann::json;

constexpr const char* kOutcomes[] = {"equal", "different", "undetermined", "failed", "refused", "no-driver"};

json summaryJson(const Summary& s) { return {s.median, s.low, s.high, s.hasInterval}; }
Summary summaryOfJson(const json& j) {
  return {j.at(0).get<double>(), j.at(1).get<double>(), j.at(2).get<double>(), j.at(3).get<bool>()};
}

json resultJson(const Result& r) {
  json j{{"outcome", static_cast<int>(r.outcome)},
         {"detail", r.detail},
         {"fromRecord", r.fromRecord},
         {"record", r.hasRecord},
         {"failed", r.failed}};
  if (r.times)
    j["times"] = {{"before", summaryJson(r.times->before)},
                  {"after", summaryJson(r.times->after)},
                  {"ratio", summaryJson(r.times->ratio)},
                  {"verdict", r.times->verdict},
                  {"rounds", r.times->rounds}};
  return j;
}

Result resultOfJson(const json& j) {
  Result r{static_cast<Outcome>(j.at("outcome").get<int>()),
           j.at("detail").get<std::string>(),
           j.at("fromRecord").get<std::string>(),
           j.at("record").get<bool>(),
           j.at("failed").get<std::string>(),
           std::nullopt};
  if (j.contains("times")) {
    const json& t = j.at("times");
    r.times = Times{summaryOfJson(t.at("before")), summaryOfJson(t.at("after")), summaryOfJson(t.at("ratio")),
                    t.at("verdict").get<std::string>(), t.at("rounds").get<unsigned>()};
  }
  return r;
}

class Run {
 public:
  Run(const record::Archive& archive, const record::RecordedLaunch& launch, const Module& module,
      const std::vector<Image>& images, const ReplayOptions& options)
      : launch_(launch),
        images_(images),
        options_(options),
        driver_(options.library, options.device),
        memory_(driver_, archive, launch, module) {}

  Result run() {
    Result result;
    const Image* now = &images_.front();
    try {
      for (const Image& image : images_) {
        now = &image;
        loaded_.push_back(memory_.load(image.bytes));
      }
      now = &images_.front();
      const std::vector<std::string> first = leftBy(loaded_[0]);
      compare(first, result);
      std::vector<std::string> other;
      for (std::size_t i = 1; i < images_.size() && result.outcome != Outcome::Undetermined; ++i) {
        now = &images_[i];
        other = leftBy(loaded_[i]);
        compareWithFirst(*now, first, other, result);
      }
      result.detail += undetermined_;
      if (!options_.isTimed || (result.outcome == Outcome::Different && !result.detail.empty())) return result;
      std::vector<const std::vector<std::string>*> changed{&first};
      if (!other.empty()) changed.push_back(&other);
      memory_.restoreOnly(changed);
      now = &images_.back();
      time(result);
    } catch (const DriverError& e) {
      result.outcome = Outcome::Failed;
      result.failed = now->name;
      result.detail = fmt::format("{}: {}", now->name, e.what());
    }
    return result;
  }

 private:
  std::vector<std::string> leftBy(const LoadedImage& image) {
    memory_.restore(image);
    memory_.launch(image);
    return memory_.read(image);
  }

  // The first image with itself, and with the record.
  void compare(const std::vector<std::string>& first, Result& result) {
    result.outcome = Outcome::Equal;
    if (auto difference = record::firstDifference(launch_, first, leftBy(loaded_[0]))) {
      // Nothing can be compared with it; its time still says something.
      result.outcome = Outcome::Undetermined;
      undetermined_ = "two runs differ: " + *difference;
      return;
    }
    if (const uint64_t address = memory_.writtenOutside(); address != 0)
      return noteOutside(images_[0], address, result);
    result.hasRecord = !memory_.recorded().empty();
    if (!result.hasRecord) return;
    if (auto difference = record::firstDifference(launch_, memory_.recorded(), first)) {
      result.outcome = Outcome::Different;
      result.fromRecord = *difference;
    }
  }

  void compareWithFirst(const Image& image, const std::vector<std::string>& first,
                        const std::vector<std::string>& other, Result& result) {
    if (auto difference = record::firstDifference(launch_, first, other)) {
      result.outcome = Outcome::Different;
      result.detail = fmt::format("{}: {}", image.name, *difference);
    } else if (const uint64_t address = memory_.writtenOutside(); address != 0 && result.detail.empty()) {
      noteOutside(image, address, result);
    }
  }

  static void noteOutside(const Image& image, uint64_t address, Result& result) {
    result.outcome = Outcome::Different;
    result.detail = fmt::format("{}: it writes at {:#x}, where nothing was recorded", image.name, address);
  }

  void time(Result& result) {
    const Timer timer(driver_);
    result.times = measureTimes(
        [&](unsigned side) {
          const LoadedImage& image = loaded_[std::min<std::size_t>(side, loaded_.size() - 1)];
          memory_.restoreQuickly(image);
          timer.start();
          memory_.launch(image);
          return timer.stop();
        },
        options_.timing);
  }

  const record::RecordedLaunch& launch_;
  const std::vector<Image>& images_;
  const ReplayOptions& options_;
  Driver driver_;
  LaunchMemory memory_;
  std::vector<LoadedImage> loaded_;
  std::string undetermined_;
};

Result replayHere(const std::string& path, uint64_t mostBytes, const record::RecordedLaunch& launch,
                  const Module& module, const std::vector<Image>& images, const ReplayOptions& options) {
  const auto because = [](Outcome outcome, const std::exception& e) {
    return Result{outcome, e.what(), {}, false, {}, std::nullopt};
  };
  try {
    const record::Archive archive(path, mostBytes);
    return Run(archive, launch, module, images, options).run();
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

Result replayOnGpu(const record::Archive& archive, const record::RecordedLaunch& launch, const Module& module,
                   const std::vector<Image>& images, const ReplayOptions& options) {
  std::string error;
  const json answer = inChild(
      [&] { return resultJson(replayHere(archive.path(), archive.mostBytes(), launch, module, images, options)); },
      options.limitSeconds, error);
  if (answer.is_null()) return {Outcome::Failed, error, {}, false, {}, std::nullopt};
  return resultOfJson(answer);
}

Device describeDevice(const ReplayOptions& options) {
  std::string error;
  const json answer = inChild(
      [&]() -> json {
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
