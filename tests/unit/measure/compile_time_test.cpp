// Compile times by kernel, by an assembler whose clock is made up: what is cut, what is subtracted, what counts once, what is
// declined. That a real process's CPU time is read is tests/cli/diff/times.py's.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "diff/compile_time.h"

using namespace ptxopt;
using namespace ptxopt::diff;

namespace {

constexpr std::string_view kHead = ".version 7.0\n.target sm_80\n.address_size 64\n.global .b32 table[4];\n";

std::string kernel(std::string_view name, std::string_view body = "") {
  return fmt::format(".visible .entry {}()\n{{\n{}  ret;\n}}\n", name, body);
}

// Takes 1 ms for a text, 20 ms for each `slow` in it, 300 ms for each call, `first` more for its first run.
class Clock {
 public:
  double first = 0;
  std::map<std::string, int> runs;

  ptxas::Assembly operator()(std::string_view text, std::string_view, const ptxas::PtxasSettings& settings) {
    const std::scoped_lock lock(mutex_);
    CHECK(settings.cache == nullptr);
    const auto count = [&](std::string_view word) {
      double n = 0;
      for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++n;
      return n;
    };
    ptxas::Assembly a;
    if (count("refused") != 0) {
      a.status = ptxas::Assembly::Status::Refused;
      a.error = "it is refused";
      return a;
    }
    a.status = ptxas::Assembly::Status::Ok;
    a.cpuSeconds = 0.001 + 0.020 * count("slow") + 0.300 * count("call ") + 100 * count("endless");
    if (++runs[std::string(text)] == 1) a.cpuSeconds += first;
    return a;
  }

 private:
  std::mutex mutex_;
};

struct Measured {
  std::vector<std::string> notes;
  std::vector<ptxas::Measures> measures;
  std::optional<uint64_t> at(std::size_t text, std::string_view name) const {
    const ptxas::FunctionMeasures* f = measures[text].find(name);
    REQUIRE(f != nullptr);
    return f->compileTime;
  }
};

// `kernels`: what ptxas made figures of.
Measured measured(const std::vector<std::string>& texts, const std::vector<std::string>& kernels, Clock& clock) {
  Measured result;
  for (std::size_t t = 0; t < texts.size(); ++t) {
    ptxas::Measures& m = result.measures.emplace_back();
    for (const std::string& name : kernels) {
      ptxas::FunctionMeasures& f = m.functions.emplace_back();
      f.name = name;
      f.isKernel = name != "helper";
    }
  }
  std::vector<TimedText> timed;
  for (std::size_t t = 0; t < texts.size(); ++t)
    timed.push_back({"a.ptx", texts[t], "sm_80", {}, &result.measures[t]});
  result.notes = addCompileTimes(timed, 2, std::ref(clock));
  return result;
}

TEST_CASE("a kernel is measured alone with what it reaches, less an empty one") {
  const std::string text = std::string(kHead) + ".func helper()\n{\n// slow\n  ret;\n}\n" +
                           kernel("a", "// slow slow\n") + kernel("b", "  call helper;\n") + kernel("c");
  Clock clock;
  const Measured m = measured({text}, {"a", "b", "c", "helper"}, clock);
  CHECK(m.notes.empty());
  CHECK(m.at(0, "a") == 40);
  CHECK(m.at(0, "b") == 320);
  CHECK(m.at(0, "c") == 0);
  CHECK_FALSE(m.at(0, "helper").has_value());
  CHECK(clock.runs.size() == 4);
  for (const auto& [asked, times] : clock.runs) {
    CHECK(times == 2);
    CHECK(asked.find("table[4]") != std::string::npos);
  }
}

TEST_CASE("the least of two runs counts, and equal texts run once") {
  const std::string text = std::string(kHead) + kernel("a", "// slow\n"),
                    other = text + kernel("b", "// slow slow\n");
  Clock clock;
  clock.first = 5;
  const Measured m = measured({text, other}, {"a", "b"}, clock);
  CHECK(m.at(0, "a") == 20);
  CHECK(m.at(1, "a") == 20);
  CHECK(m.at(1, "b") == 40);
  for (const auto& [asked, times] : clock.runs) CHECK(times == 2);
  // What takes long runs once.
  Clock patient;
  CHECK(measured({std::string(kHead) + kernel("a", "// endless\n")}, {"a"}, patient).at(0, "a") == 100000);
  int once = 0;
  for (const auto& [asked, times] : patient.runs) once += times == 1 ? 1 : 0;
  CHECK(once == 1);
}

TEST_CASE("what cannot be cut or assembled alone has no time, and a note") {
  const std::string table = "\n.global .u64 functions[1] = {helper};\n",
                    head = std::string(kHead) + ".func helper()\n{\n  ret;\n}\n" + table;
  Clock clock;
  Measured m = measured({head + kernel("a", "// slow\n") + kernel("b")}, {"a", "b"}, clock);
  CHECK_FALSE(m.at(0, "a").has_value());
  CHECK(m.notes ==
        std::vector<std::string>{
            "the compile time of the kernels of 'a.ptx' is not known: it takes the address of a function"});
  CHECK(clock.runs.empty());
  // One kernel is the module.
  m = measured({head + kernel("a", "// slow\n")}, {"a"}, clock);
  CHECK(m.at(0, "a") == 20);
  CHECK(m.notes.empty());
  m = measured({std::string(kHead) + kernel("a", "// slow\n") + kernel("b", "// refused\n")}, {"a", "b", "c"},
               clock);
  CHECK(m.at(0, "a") == 20);
  CHECK_FALSE(m.at(0, "b").has_value());
  CHECK(m.notes == std::vector<std::string>{
                       "the compile time of 'b' of 'a.ptx' is not known: it is refused",
                       "the compile time of 'c' of 'a.ptx' is not known: its place in the text is not known"});
}

}  // namespace
