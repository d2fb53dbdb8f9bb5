#include "tune/gpu_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/process.h"

namespace ptxopt {
namespace {

using nlohmann::json;

constexpr std::size_t kOutputCap = std::size_t{16} << 20;
// Elements of a random buffer that are made up without a kernel for it: slowly, and there is no other way here.
constexpr uint64_t kMostFilled = uint64_t{1} << 26;

std::string lastLine(const std::string& text) {
  const std::size_t end = text.find_last_not_of("\r\n");
  if (end == std::string::npos) return {};
  const std::size_t begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? -1 : begin));
}

// "y[4]: 0x40fa9a86 (7.83) and 0x40fa9a81 (7.83); 16 of 64 elements differ"
std::string inWords(const json& d) {
  return fmt::format("{}[{}]{}: {} and {}; {} of {} elements differ", d.at("buffer").get<std::string>(),
                     d.at("index").get<uint64_t>(), d.at("beyond_end").get<bool>() ? ", beyond the end" : "",
                     d.at("before").get<std::string>(), d.at("after").get<std::string>(),
                     d.at("differing").get<uint64_t>(), d.at("of").get<uint64_t>());
}

}  // namespace

struct GpuBench::Answer {
  std::string status, error;  // error: in words, where there is no status
  json all;
};

GpuBench::GpuBench(GpuSettings settings) : settings_(std::move(settings)) {
  settings_.ptxas.keepsOutput = true;
  settings_.ptxas.cache = nullptr;  // it has figures alone
}

// The name of the file; empty with what ptxas says.
std::string GpuBench::writeImage(std::string_view text, const std::string& name, std::string& error) const {
  std::string image;
  if (settings_.driverAssembles) {
    image = text;
  } else {
    Assembly assembly = assemble(text, settings_.architecture, settings_.ptxas);
    if (!assembly || !assembly.output) {
      error = assembly ? "it is no whole program" : assembly.error;
      return {};
    }
    image = std::move(assembly.output->cubin);
  }
  std::ofstream out(folder_.file(name), std::ios::binary);
  out.write(image.data(), static_cast<std::streamsize>(image.size()));
  out.close();
  if (!out.fail()) return name;
  error = fmt::format("cannot write to the folder '{}'", folder_.path());
  return {};
}

GpuBench::Answer GpuBench::run(const std::vector<std::string>& images, bool isTimed) const {
  const GpuLaunch& l = settings_.launch;
  const json launches = json::array({{{"kernel", l.kernel},
                                      {"grid", l.grid},
                                      {"block", l.block},
                                      {"cluster", l.cluster},
                                      {"shared", l.shared},
                                      {"arguments", l.arguments}}});
  json variants = json::array();
  for (const std::string& image : images) variants.push_back({{"name", image}, {"image", image}});
  json job{{"variants", std::move(variants)},
           {"checks", json::array({{{"name", "compared"}, {"launches", launches}, {"inputs", settings_.inputs}}})},
           {"seed", settings_.seed},
           {"fill_above", kMostFilled}};
  if (isTimed) job["time"] = {{"launches", launches}, {"seconds", settings_.seconds}, {"control", false}};
  const std::string in = folder_.file("job.json"), out = folder_.file("answer.json");
  std::ofstream(in) << job.dump(-1, ' ', false, json::error_handler_t::replace);
  std::ofstream(out, std::ios::trunc);  // of the job before
  ProcessOptions options;
  options.timeoutSeconds = settings_.timeoutSeconds;
  options.outputCap = kOutputCap;
  const ProcessResult done =
      runProcess({settings_.python, settings_.folder + "/job.py", in, "--json", out}, options);
  Answer answer;
  if (done.end == ProcessResult::End::NotStarted || done.code == 127) {
    answer.error = fmt::format("there is no Python: {}: {}", settings_.python, done.describe());
    return answer;
  }
  std::ifstream file(out);
  answer.all = json::parse(file, nullptr, false);
  if (answer.all.is_object() && answer.all.contains("status")) {
    answer.status = answer.all.at("status").get<std::string>();
    answer.error = answer.all.value("error", "");
    return answer;
  }
  answer.error = fmt::format("{}: {}: {}", settings_.folder + "/job.py", done.describe(), lastLine(done.err));
  return answer;
}

std::string GpuBench::begin(std::string_view input) {
  if (!folder_.isValid()) return folder_.error();
  std::string error;
  input_ = writeImage(input, "input", error);
  if (input_.empty()) return error;
  const Answer answer = run({input_}, false);
  if (answer.status == "equal") {
    device_ = answer.all.at("device").value("name", "");
    return {};
  }
  if (answer.status == "no-driver") return answer.error;
  if (answer.status == "bad-job") return "the launch makes no sense: " + answer.error;
  if (answer.status == "base-failed") return "the input fails on the GPU: " + answer.error;
  if (answer.status == "undetermined")
    return "two runs of the input leave different bytes: there is nothing to compare with";
  return answer.error.empty() ? answer.status : answer.error;
}

DeviceTime GpuBench::time(std::string_view text) const {
  DeviceTime result;
  if (writeImage(text, "variant", result.detail).empty()) {
    result.rejected = "refused";
    return result;
  }
  const Answer answer = run({input_, "variant"}, true);
  try {
    if (answer.status == "different") {
      result.rejected = "different";
      for (const json& row : answer.all.at("comparisons"))
        for (const json& difference : row.at("differences"))
          if (result.detail.empty())
            result.detail = fmt::format("input {}: {}", row.at("input").get<uint64_t>(), inWords(difference));
      return result;
    }
    if (answer.status == "equal" || answer.status == "undetermined") {
      const json& ratio = answer.all.at("times").at("ratios").at("variant");
      result.verdict = ratio.at("verdict").get<std::string>();
      result.ratio = ratio.at("median").get<double>();
      result.low = ratio.at("low").is_null() ? result.ratio : ratio.at("low").get<double>();
      result.high = ratio.at("high").is_null() ? result.ratio : ratio.at("high").get<double>();
      if (answer.status == "equal") return result;
      result.rejected = "failed";
      result.detail = "two runs of the input leave different bytes";
      return result;
    }
    result.detail = answer.error;
  } catch (const json::exception& wrong) {
    result.detail = wrong.what();
  }
  result.rejected = "failed";
  return result;
}

}  // namespace ptxopt
