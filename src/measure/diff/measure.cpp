// The order of steps: all sources of both sides are surveyed, units are planned by architecture, a ptxas is chosen, the
// jobs run in parallel, and compile times are measured for all at once.
#include "diff/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <unordered_map>

#include "diff/built.h"
#include "diff/compile_time.h"
#include "ptxas/choose.h"
#include "ptxas/cubin.h"
#include "support/parallel.h"
#include "target/target.h"

namespace ptxopt::diff {
namespace {

// What a source is, before ptxas is asked.
struct Survey {
  const Source* source = nullptr;
  Unit unit;  // of a cubin or of what could not be read
  bool isPtx = false;
  std::string version;                     // of the ptxas that made a cubin
  ptxas::PtxVersion needed;                // of PTX
  std::vector<std::string> target;         // the words
  std::vector<std::string> architectures;  // to assemble for
};

bool textOf(const Source& source, std::string& text, std::string& error) {
  error = source.error;
  if (!error.empty()) return false;
  if (source.module) {
    auto contents = container::contentsOf(*source.module);
    if (const auto* wrong = std::get_if<container::Broken>(&contents)) {
      error = wrong->message;
      return false;
    }
    text = std::get<std::string>(std::move(contents));
    return true;
  }
  if (!source.text) return readBytes(source.path, text, error);
  text = *source.text;
  return true;
}

// Whether it begins with bytes that no text has.
bool isBinary(std::string_view text) {
  constexpr std::size_t kLookedAt = 256;
  return std::ranges::any_of(text.substr(0, kLookedAt), [](char c) { return c >= '\0' && c < '\t'; });
}

// Which module of a built file an error is of.
void nameModule(const Source& source, std::string& error) {
  if (source.module && !error.empty()) error = container::nameOf(*source.module) + ": " + error;
}

Survey survey(const Source& source, bool keepsCode) {
  Survey result;
  result.source = &source;
  result.unit.file = source.file;
  std::string text;
  if (!textOf(source, text, result.unit.error)) {
    if (source.module) result.unit.measures.architecture = fmt::format("sm_{}", source.module->entry.architecture);
    nameModule(source, result.unit.error);
    return result;
  }
  if (!ptxas::isElf(text) && isBinary(text)) {
    result.unit.error = "neither PTX nor a cubin, nor a file with device code";
    nameModule(source, result.unit.error);
    return result;
  }
  if (source.module ? source.module->entry.isPtx() : !ptxas::isElf(text)) {
    result.isPtx = true;
    result.needed = ptxas::versionNeededBy(text);
    result.target = targetWords(text);
    return result;
  }
  auto read = ptxas::readCubin(text);
  if (const auto* wrong = std::get_if<ptxas::CubinError>(&read))
    result.unit.error = "not a cubin that can be read: " + wrong->message;
  else
    result.unit.measures = std::get<ptxas::Measures>(std::move(read));
  nameModule(source, result.unit.error);
  result.version = ptxas::ptxasVersionOfCubin(text);
  if (keepsCode) result.unit.cubin = std::move(text);
  return result;
}

// Modules of machine code of one side: those that the other side has too, byte by byte, are not measured again.
class KnownModules {
 public:
  explicit KnownModules(std::span<const Survey> surveys) {
    for (const Survey& s : surveys)
      if (s.source->module && !s.isPtx && s.unit.error.empty()) known_.emplace(s.source->module->entry.stored, &s);
  }
  std::optional<Survey> find(const Source& source) const {
    if (!source.module || known_.empty()) return std::nullopt;
    const container::FatEntry& entry = source.module->entry;
    const auto it = known_.find(entry.stored);
    if (it == known_.end() || it->second->source->module->entry.flags != entry.flags || entry.isPtx())
      return std::nullopt;
    Survey same = *it->second;
    same.source = &source;
    same.unit.file = source.file;
    return same;
  }

 private:
  std::unordered_map<std::string_view, const Survey*> known_;
};

bool isWanted(const MeasureOptions& options, const std::string& architecture) {
  return options.architectures.empty() || std::find(options.architectures.begin(), options.architectures.end(),
                                                    architecture) != options.architectures.end();
}

// The architectures of the units that are there without ptxas: of those called alike, or else of all.
std::vector<std::string> fixedArchitectures(const std::string& file, const Side& other) {
  std::set<std::string> same, alike, all;
  for (const Unit& unit : other.units) {
    if (!unit.error.empty() || unit.measures.functions.empty()) continue;
    const std::string& architecture = unit.measures.architecture;
    all.insert(architecture);
    if (unit.file == file) same.insert(architecture);
    if (stemOf(unit.file) == stemOf(file)) alike.insert(architecture);
  }
  const auto& chosen = !same.empty() ? same : !alike.empty() ? alike : all;
  return {chosen.begin(), chosen.end()};
}

// A unit for each architecture, yet without figures.
void plan(Survey& s, const Superseded& superseded, Side& side, const Collected* other, bool otherHasPtx,
          const MeasureOptions& options) {
  const std::string target = s.target.empty() ? std::string() : s.target.front();
  const std::string own = ptxas::architectureToAssemble(target);
  std::vector<std::string> wanted = options.architectures;
  if (wanted.empty() && other != nullptr) {
    wanted = fixedArchitectures(s.source->file, other->side);
    // Where the other side has PTX too, only a file of this name or kind of name decides.
    if (otherHasPtx && std::none_of(other->side.units.begin(), other->side.units.end(),
                                    [&](const Unit& unit) { return stemOf(unit.file) == stemOf(s.source->file); }))
      wanted.clear();
  }
  // PTX of a built file is there for what its machine code is not for.
  const bool isModule = s.source->module.has_value();
  if (wanted.empty() ||
      (isModule && otherHasPtx && options.architectures.empty() && std::ranges::find(wanted, own) == wanted.end()))
    wanted.push_back(own);
  for (const std::string& architecture : wanted)
    if (superseded.contains(*s.source, architecture)) {
      continue;
    } else if (target::runsOn(target, architecture)) {
      s.architectures.push_back(architecture);
    } else if (!isModule || !options.architectures.empty()) {
      std::string note = fmt::format("'{}' is for {}: not assembled for {}", s.source->file, target, architecture);
      if (std::ranges::find(side.notes, note) == side.notes.end()) side.notes.push_back(std::move(note));
    }
}

struct Job {
  std::size_t side;
  const Survey* of;
  std::string architecture;
  Unit unit;
  std::string program;  // the ptxas
};

// Chooses the ptxas of each job. Returns a note where that is not simply the first.
std::string choosePrograms(std::vector<Job>& all, const MeasureOptions& options) {
  const auto end = std::stable_partition(all.begin(), all.end(),
                                         [&](const Job& job) { return options.against.empty() || job.side == 0; });
  std::for_each(end, all.end(), [&](Job& job) { job.program = options.against; });
  const std::span<Job> jobs(all.begin(), end);
  if (options.candidates.all.empty() || jobs.empty()) {
    for (Job& job : jobs) job.program = options.ptxas.program;
    return {};
  }
  std::vector<ptxas::PtxNeed> needs;
  for (const Job& job : jobs) needs.push_back({job.of->needed, job.architecture});
  const ptxas::PtxasChoice choice = ptxas::choosePtxas(options.candidates, needs, options.ptxas.cache);
  for (std::size_t n = 0; n < jobs.size(); ++n)
    jobs[n].program =
        choice.takesAll ? choice.path : ptxas::choosePtxas(options.candidates, needs[n], options.ptxas.cache).path;
  return choice.passedOver.empty() ? std::string() : fmt::format("ptxas: {} ({})", choice.path, choice.why());
}

ptxas::PtxasSettings settingsOf(const Job& job, const MeasureOptions& options) {
  ptxas::PtxasSettings settings = options.ptxas;
  settings.program = job.program;
  settings.keepsOutput = options.keepsCode;
  if (options.keepsCode) settings.cache = nullptr;
  const auto& words = job.of->target;
  if (std::find(words.begin(), words.end(), "debug") != words.end())
    settings.arguments.insert(settings.arguments.end(), {"-g", "-O0"});
  return settings;
}

void run(Job& job, const MeasureOptions& options) {
  job.unit.file = job.of->source->file;
  job.unit.measures.architecture = job.architecture;
  std::string text;
  if (!textOf(*job.of->source, text, job.unit.error)) return;
  ptxas::Assembly assembly = ptxas::assemble(text, job.architecture, settingsOf(job, options));
  if (!assembly) {
    job.unit.error = assembly.error;
    nameModule(*job.of->source, job.unit.error);
    return;
  }
  job.unit.measures = std::move(assembly.measures);
  if (assembly.output) job.unit.cubin = std::move(assembly.output->cubin);
}

// For all sides together, so that what both have is measured once.
void timeKernels(std::vector<Job>& jobs, std::span<Collected> sides, const MeasureOptions& options) {
  std::vector<TimedText> texts;
  for (Job& job : jobs) {
    std::string text;
    if (!job.unit.error.empty() || !textOf(*job.of->source, text, job.unit.error)) continue;
    texts.push_back(
        {job.unit.file, std::move(text), job.architecture, settingsOf(job, options), &job.unit.measures});
  }
  auto& notes = sides.back().side.notes;
  std::ranges::move(addCompileTimes(texts, options.jobs), std::back_inserter(notes));
  if (texts.empty()) notes.push_back("there is no PTX to measure the compile time of, only machine code");
}

// For each side; none where it is said what to assemble for.
std::vector<BesideCode> besideCode(std::span<const Collected> sides, const MeasureOptions& options) {
  std::vector<BesideCode> result;
  if (options.architectures.empty())
    for (std::size_t i = 0; i < sides.size(); ++i)
      result.emplace_back(sides[i], sides.size() == 2 ? &sides[1 - i] : nullptr);
  return result;
}

void forgetTimes(Side& side) {
  for (Unit& unit : side.units)
    for (ptxas::FunctionMeasures& f : unit.measures.functions) f.compileTime.reset();
}

}  // namespace

bool needsPtxas(std::span<const Collected> sides, const MeasureOptions& options) {
  const std::vector<BesideCode> beside = besideCode(sides, options);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const Superseded superseded(sides[i].sources);
    for (const Source& source : sides[i].sources) {
      if (source.module && source.module->entry.isPtx() && !superseded.contains(source) &&
          (beside.empty() || !beside[i].contains(source)))
        return true;
      if (source.module) continue;
      std::string text, ignored;
      if (textOf(source, text, ignored) && !ptxas::isElf(text)) return true;
    }
  }
  return false;
}

void measure(std::span<Collected> sides, const MeasureOptions& options) {
  std::vector<std::vector<Survey>> surveys(sides.size());
  std::vector<Superseded> superseded;
  std::vector<BesideCode> beside = besideCode(sides, options);
  for (std::size_t i = 0; i < beside.size(); ++i) beside[i].remove(sides[i].sources);
  if (!beside.empty())
    if (std::string note = BesideCode::note(beside.front(), beside.back()); !note.empty())
      sides.back().side.notes.push_back(std::move(note));
  for (std::size_t i = 0; i < sides.size(); ++i) {
    superseded.emplace_back(sides[i].sources);
    std::erase_if(sides[i].sources, [&](const Source& source) {
      return source.module && !source.module->entry.isPtx() && superseded[i].contains(source);
    });
    surveys[i].resize(sides[i].sources.size());
    const KnownModules known(i == 0 ? std::span<const Survey>() : surveys[0]);
    inParallel(options.jobs, surveys[i].size(), [&](std::size_t n) {
      const Source& source = sides[i].sources[n];
      surveys[i][n] = known.find(source).value_or(Survey());
      if (surveys[i][n].source == nullptr) surveys[i][n] = survey(source, options.keepsCode);
    });
  }
  for (std::size_t i = 0; i < sides.size(); ++i)
    for (Survey& s : surveys[i])
      if (!s.isPtx) sides[i].side.units.push_back(std::move(s.unit));
  const auto hasPtx = [](const std::vector<Survey>& all) {
    return std::any_of(all.begin(), all.end(), [](const Survey& s) { return s.isPtx; });
  };

  std::vector<Job> jobs;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const bool hasOther = sides.size() == 2;
    for (Survey& s : surveys[i]) {
      if (!s.isPtx) continue;
      plan(s, superseded[i], sides[i].side, hasOther ? &sides[1 - i] : nullptr, hasOther && hasPtx(surveys[1 - i]),
           options);
      for (const std::string& architecture : s.architectures) jobs.push_back({i, &s, architecture, {}, {}});
    }
  }
  if (std::string note = choosePrograms(jobs, options); !note.empty())
    sides.back().side.notes.push_back(std::move(note));
  inParallel(options.jobs, jobs.size(), [&](std::size_t n) { run(jobs[n], options); });
  if (options.measuresTime) timeKernels(jobs, sides, options);

  std::vector<std::set<std::string>> asked(sides.size());  // programs
  for (Job& job : jobs) {
    if (job.unit.error.empty()) asked[job.side].insert(job.program);
    sides[job.side].side.units.push_back(std::move(job.unit));
  }
  for (std::size_t i = 0; i < sides.size(); ++i) {
    Side& side = sides[i].side;
    std::set<std::string> versions;
    if (!side.ptxas.empty()) versions.insert(side.ptxas);
    for (const std::string& program : asked[i])
      if (std::string version = ptxas::versionOfPtxas(program); !version.empty())
        versions.insert(std::move(version));
    for (const Survey& s : surveys[i])
      if (!s.version.empty()) versions.insert(s.version);
    side.ptxas = fmt::format("{}", fmt::join(versions, ", "));
    if (!asked[i].empty()) side.ptxasOptions = options.ptxas.arguments;
    std::erase_if(side.units, [&](const Unit& unit) {
      return unit.error.empty() && !isWanted(options, unit.measures.architecture);
    });
    mergeUnits(side.units);
    if (!options.measuresTime) forgetTimes(side);
    side.sortUnits();
  }
}

}  // namespace ptxopt::diff
