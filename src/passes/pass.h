// What a pass is, and what it is given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cfg.h"
#include "analysis/liveness.h"
#include "ir/module.h"

namespace ptxopt {

// ---- knobs ----

struct KnobInfo {
  std::string_view name;
  int64_t defaultValue, least, most;
  std::string_view summary;
};
std::span<const KnobInfo> knobTable();

// The values of all knobs.
class Knobs {
 public:
  Knobs();
  int64_t operator[](std::string_view name) const;
  // An error in words, or an empty string.
  std::string set(std::string_view name, int64_t value);

 private:
  std::vector<int64_t> values_;  // in the order of the table
};

// ---- what a pass tells ----

// Why a pass left something as it was. `reason` is one of a fixed set of names.
struct Decline {
  std::string_view reason;
  std::string detail;
};

struct PassReport {
  std::string_view pass;
  bool changed = false;
  std::map<std::string_view, uint64_t> counters;
  std::vector<Decline> declines;
  double seconds = 0;  // CPU time of the thread
};

// What still holds after a pass changed the function.
enum class Preserves : uint8_t { Nothing, ControlFlow };

// ---- the analyses of one function, made when first asked for ----

class Analyses {
 public:
  Analyses(const Module& module, const Function& function, const Knobs& knobs)
      : module_(module), function_(function), knobs_(knobs) {}

  const Cfg& cfg();
  const Liveness& liveness(Liveness::Strength strength);
  void invalidate(Preserves preserved = Preserves::Nothing);

 private:
  const Module& module_;
  const Function& function_;
  const Knobs& knobs_;
  std::optional<Cfg> cfg_;
  std::optional<Liveness> plain_, needed_;
};

// ---- passes ----

struct PassContext {
  const Module& module;
  const Knobs& knobs;
  Analyses& analyses;
  PassReport& report;

  void count(std::string_view counter, uint64_t n = 1) { report.counters[counter] += n; }
  void decline(std::string_view reason, std::string detail = {}) {
    report.declines.push_back({reason, std::move(detail)});
  }
};

// Whether the pass changed the function; if it did, the analyses that it does not preserve are made anew.
using PassFunction = bool (*)(Function&, PassContext&);

constexpr int kOnRequest = 100;

struct PassInfo {
  std::string_view name;
  PassFunction run;
  int level;
  Preserves preserves;
  std::string_view summary;
};
std::span<const PassInfo> passTable();
const PassInfo* findPass(std::string_view name);

#define PTXOPT_PASS(name, function, level, preserves, summary) bool function(Function&, PassContext&);
#include "passes/passes.def"
#undef PTXOPT_PASS

}  // namespace ptxopt
