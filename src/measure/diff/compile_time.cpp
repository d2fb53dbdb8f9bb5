// Each kernel and each module's empty kernel become a piece, with a hash of its text and settings as key. Pieces are
// timed once for each key, in parallel; the difference of two pieces is the figure.
#include "diff/compile_time.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "cut/closure.h"
#include "cut/cut.h"
#include "ptxopt/ptxopt.h"
#include "support/parallel.h"

namespace ptxopt::diff {
namespace {

constexpr double kLong = 10;  // seconds: a second run would say no more
constexpr int kRuns = 2;

// What ptxas is given, as far as its time depends on it.
using Key = std::pair<uint64_t, uint64_t>;

struct CutModule {
  std::vector<FunctionOutcome> functions;
  ptxas::PtxasSettings settings;
  std::string whole;  // why nothing is cut; empty: it is
  std::string error;  // why no kernel has a time
};

// To be assembled: a kernel of a module, or the empty one.
struct Piece {
  std::size_t module;
  uint32_t function;  // kNone: the empty one
  std::optional<double> seconds;
  std::string error;
};

CutModule moduleOf(const TimedText& text) {
  CutModule m;
  m.settings = text.settings;
  m.settings.cache = nullptr;
  Options options;
  options.level = 0;
  options.outcomes = true;
  ptxopt::Result result = optimize(text.text, options);
  m.functions = std::move(result.outcomes);
  if (result.status != Status::Ok) m.error = result.error;
  if (!m.error.empty()) return m;
  m.whole = cut::whyWhole(text.text, m.functions);
  if (!m.whole.empty() && std::ranges::count(m.functions, true, &FunctionOutcome::isKernel) > 1) m.error = m.whole;
  // As the whole is assembled where functions of other files are called.
  auto& arguments = m.settings.arguments;
  const bool isRelocatable = std::ranges::any_of(m.functions, [](const auto& f) { return !f.elsewhere.empty(); });
  if (isRelocatable && std::ranges::find(arguments, "-c") == arguments.end()) arguments.emplace_back("-c");
  return m;
}

// Its first directives, up to .address_size.
std::string headerOf(std::string_view text) {
  std::string header;
  for (const std::string_view directive : {"\n.version", "\n.target", "\n.address_size"}) {
    const std::string_view bare = directive.substr(1);
    std::size_t at = text.starts_with(bare) ? 0 : text.find(directive);
    if (at == std::string_view::npos) continue;
    if (text[at] == '\n') ++at;
    header += std::string(text.substr(at, text.find('\n', at) - at)) + "\n";
  }
  return header;
}

std::string textOf(const TimedText& text, const CutModule& m, uint32_t function) {
  const std::string_view all = cut::withoutMark(text.text);
  if (function != cut::CallGraph::kNone)
    return m.whole.empty() ? cut::alone(all, m.functions, cut::CallGraph(m.functions), function) : std::string(all);
  const std::string rest = m.whole.empty()
                               ? cut::alone(all, m.functions, cut::CallGraph(m.functions), cut::CallGraph::kNone)
                               : headerOf(all);
  std::string name = "ptxopt_empty";
  while (all.find(name) != std::string_view::npos) name += '_';
  return fmt::format("{}\n.visible .entry {}()\n{{\n  ret;\n}}\n", rest, name);
}

Key keyOf(const TimedText& text, const CutModule& m, uint32_t function) {
  std::string all = textOf(text, m, function);
  all += '\0' + text.architecture + '\0' + m.settings.program;
  for (const std::string& argument : m.settings.arguments) all += '\0' + argument;
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return {hash.high64, hash.low64};
}

void time(Piece& piece, const TimedText& text, const CutModule& m, const Assembler& assembler) {
  const std::string alone = textOf(text, m, piece.function);
  for (int run = 0; run < kRuns && piece.seconds.value_or(0) < kLong; ++run) {
    const ptxas::Assembly assembly = assembler(alone, text.architecture, m.settings);
    if (!assembly) {
      piece.error = assembly.error;
      return;
    }
    piece.seconds = std::min(piece.seconds.value_or(assembly.cpuSeconds), assembly.cpuSeconds);
  }
}

}  // namespace

std::vector<std::string> addCompileTimes(std::span<TimedText> texts, unsigned jobs, const Assembler& assembler) {
  std::vector<CutModule> modules(texts.size());
  std::vector<std::vector<Key>> keys(texts.size());  // of the empty one, then of each function
  inParallel(jobs, texts.size(), [&](std::size_t t) {
    modules[t] = moduleOf(texts[t]);
    if (!modules[t].error.empty()) return;
    keys[t].push_back(keyOf(texts[t], modules[t], cut::CallGraph::kNone));
    for (uint32_t f = 0; f < modules[t].functions.size(); ++f)
      keys[t].push_back(modules[t].functions[f].isKernel ? keyOf(texts[t], modules[t], f) : Key());
  });
  std::map<Key, std::size_t> places;
  std::vector<Piece> pieces;
  const auto add = [&](const Key& key, std::size_t t, uint32_t f) {
    if (places.emplace(key, pieces.size()).second) pieces.push_back({t, f, {}, {}});
  };
  for (std::size_t t = 0; t < texts.size(); ++t) {
    if (!modules[t].error.empty()) continue;
    add(keys[t][0], t, cut::CallGraph::kNone);
    for (uint32_t f = 0; f < modules[t].functions.size(); ++f)
      if (modules[t].functions[f].isKernel) add(keys[t][f + 1], t, f);
  }
  inParallel(jobs, pieces.size(), [&](std::size_t p) {
    time(pieces[p], texts[pieces[p].module], modules[pieces[p].module], assembler);
  });

  std::vector<std::string> notes;
  const auto unknown = [&](const std::string& what, const TimedText& text, const std::string& why) {
    std::string note = fmt::format("the compile time of {} of '{}' is not known: {}", what, text.file, why);
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
  };
  for (std::size_t t = 0; t < texts.size(); ++t) {
    if (!modules[t].error.empty()) {
      unknown("the kernels", texts[t], modules[t].error);
      continue;
    }
    const Piece& empty = pieces[places.at(keys[t][0])];
    for (ptxas::FunctionMeasures& measures : texts[t].measures->functions) {
      const auto& functions = modules[t].functions;
      const auto it = std::ranges::find(functions, measures.name, &FunctionOutcome::name);
      if (!measures.isKernel) continue;
      if (it == functions.end()) {
        unknown(fmt::format("'{}'", measures.name), texts[t], "its place in the text is not known");
        continue;
      }
      const Piece& piece = pieces[places.at(keys[t][static_cast<std::size_t>(it - functions.begin()) + 1])];
      if (piece.seconds && empty.seconds)
        measures.compileTime =
            static_cast<uint64_t>(std::llround(std::max(*piece.seconds - *empty.seconds, 0.0) * 1000));
      else
        unknown(fmt::format("'{}'", measures.name), texts[t], piece.seconds ? empty.error : piece.error);
    }
  }
  return notes;
}

}  // namespace ptxopt::diff
