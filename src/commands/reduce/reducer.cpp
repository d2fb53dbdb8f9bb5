// The outer loop repeats all reductions while any of them makes the text smaller. A hash of 128 bits stands for each
// tried text, so that no candidate is tested twice, and the first --jobs chunks are tried at a time.
#include "reduce/reducer.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "ir/verify.h"
#include "reduce/reductions.h"
#include "support/demangle.h"
#include "text/parse.h"
#include "text/print.h"

namespace ptxopt::reduce {
namespace {

std::unique_ptr<Module> parsed(std::string_view text) {
  auto result = text::parse(text);
  auto* module = std::get_if<std::unique_ptr<Module>>(&result);
  return module != nullptr ? std::move(*module) : nullptr;
}

std::string reprinted(const Module& module) { return text::print(module, {.reprint = true}); }

// Stands for a text that was tried. Two texts with one hash would be taken for one, and the second would not be tried;
// of 128 bits that is unlikely enough.
using Digest = std::pair<XXH64_hash_t, XXH64_hash_t>;

Digest digestOf(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.high64, hash.low64};
}

// The text with the chosen opportunities taken, in the form of --reprint; none when it is not PTX.
std::optional<std::string> build(const std::string& base, const Reduction& reduction,
                                 const std::vector<bool>& taken) {
  const auto module = parsed(base);
  Edit edit(*module);
  Choices choices(taken);
  reduction.apply(edit, choices);
  std::string text;
  if (edit.hasCuts()) {
    const std::string cut = edit.cutText();
    const auto again = parsed(cut);
    if (!again) return std::nullopt;
    text = reprinted(*again);
  } else {
    text = reprinted(*module);
  }
  const auto result = parsed(text);
  if (!result || !verify(*result).empty()) return std::nullopt;
  return text;
}

class Reducer {
 public:
  Reducer(std::string text, const ReduceOptions& options) : options_(options), jobs_(std::max(options.jobs, 1u)) {
    result_.text = std::move(text);
    tried_.insert(digestOf(result_.text));
    instructions_ = countInstructions(result_.text);
  }

  ReduceResult run() {
    for (bool changed = true; changed && !ended_;) {
      ++result_.iterations;
      changed = false;
      for (const Reduction& reduction : reductions()) {
        if (ended_ || (reduction.changesInterface && !options_.interface)) continue;
        if (runReduction(reduction)) changed = true;
        report(reduction, false, true);
      }
    }
    return std::move(result_);
  }

 private:
  // A chunk of opportunities: indices into the live ones.
  struct Chunk {
    std::size_t begin, end;
  };

  struct Attempt {
    std::vector<bool> taken;
    std::optional<std::string> text;  // of a candidate that is to be tested
    Digest digest;
    enum class Kind { Invalid, Known, Tested } kind = Kind::Invalid;
    bool interesting = false;
    std::atomic<bool> cancel = false;
  };

  bool isStopped() const { return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed); }

  void end(ReduceResult::End why) {
    if (!ended_) result_.end = why;
    ended_ = true;
  }

  void report(const Reduction& reduction, bool accepted, bool finished) {
    options_.progress({.reduction = reduction.name,
                       .iteration = result_.iterations,
                       .tests = result_.tests,
                       .bytes = result_.text.size(),
                       .instructions = instructions_,
                       .accepted = accepted,
                       .finishedReduction = finished});
  }

  // Whether it made the text smaller.
  bool runReduction(const Reduction& reduction) {
    const std::string base = result_.text;  // opportunities are numbered in this one
    std::size_t count = 0;
    {
      const auto module = parsed(base);
      Edit edit(*module);
      Choices choices;
      reduction.apply(edit, choices);
      count = choices.asked();
    }
    std::vector<bool> taken(count);
    std::vector<std::size_t> live(count);
    for (std::size_t i = 0; i < count; ++i) live[i] = i;
    bool changed = false;
    for (std::size_t size = count; size > 0 && !ended_; size /= 2) {
      std::vector<Chunk> chunks;
      for (std::size_t at = 0; at < live.size(); at += size)
        chunks.push_back({at, std::min(at + size, live.size())});
      for (std::size_t next = 0; next < chunks.size() && !ended_;)
        next += tryChunks(reduction, base, live, std::span(chunks).subspan(next), taken, changed);
      std::erase_if(live, [&](std::size_t i) { return taken[i]; });
      size = std::min(size, live.size());
    }
    return changed;
  }

  // Tries the first `jobs` chunks at once. Returns how many of them are done with: up to the first interesting one.
  std::size_t tryChunks(const Reduction& reduction, const std::string& base, const std::vector<std::size_t>& live,
                        std::span<const Chunk> chunks, std::vector<bool>& taken, bool& changed) {
    const std::size_t n = std::min<std::size_t>(jobs_, chunks.size());
    std::deque<Attempt> attempts(n);
    for (std::size_t k = 0; k < n; ++k) {
      attempts[k].taken = taken;
      for (std::size_t i = chunks[k].begin; i < chunks[k].end; ++i) attempts[k].taken[live[i]] = true;
    }
    const auto work = [&](std::size_t k) {
      Attempt& a = attempts[k];
      a.text = build(base, reduction, a.taken);
      if (!a.text) return;
      a.digest = digestOf(*a.text);
      if (tried_.contains(a.digest)) {
        a.kind = Attempt::Kind::Known;
        return;
      }
      a.kind = Attempt::Kind::Tested;
      if (a.cancel || isStopped()) return;
      a.interesting = options_.test(*a.text, static_cast<unsigned>(k), a.cancel);
      if (a.interesting)
        for (std::size_t later = k + 1; later < n; ++later) attempts[later].cancel = true;
    };
    {
      std::vector<std::jthread> threads;
      for (std::size_t k = 1; k < n; ++k) threads.emplace_back(work, k);
      work(0);
    }
    if (isStopped()) {
      end(ReduceResult::End::Stopped);
      return n;
    }
    for (std::size_t k = 0; k < n; ++k) {
      Attempt& a = attempts[k];
      // The one before may have been the same text.
      if (a.kind == Attempt::Kind::Tested && tried_.contains(a.digest)) a.kind = Attempt::Kind::Known;
      if (a.kind == Attempt::Kind::Invalid) ++result_.invalid;
      if (a.kind == Attempt::Kind::Known) ++result_.known;
      if (a.kind != Attempt::Kind::Tested) continue;
      if (options_.maxTests != 0 && result_.tests == options_.maxTests) {
        end(ReduceResult::End::MaxTests);
        return n;
      }
      ++result_.tests;
      tried_.insert(a.digest);
      if (!a.interesting) {
        report(reduction, false, false);
        continue;
      }
      taken = std::move(a.taken);
      result_.text = std::move(*a.text);
      instructions_ = countInstructions(result_.text);
      changed = true;
      report(reduction, true, false);
      if (!options_.accept(result_.text)) end(ReduceResult::End::Stopped);
      return k + 1;
    }
    return n;
  }

  const ReduceOptions& options_;
  const std::size_t jobs_;
  ReduceResult result_;
  std::size_t instructions_ = 0;
  std::set<Digest> tried_;
  bool ended_ = false;
};

}  // namespace

ReduceResult reduceText(std::string text, const ReduceOptions& options) {
  return Reducer(std::move(text), options).run();
}

NormalizedText normalize(std::string_view text, std::string_view kernel, const std::string& fileName) {
  NormalizedText result;
  auto first = text::parse(text, fileName);
  if (const auto* error = std::get_if<text::ParseError>(&first)) {
    result.error = text::render(*error, fileName);
    result.isSyntax = true;
    return result;
  }
  Module& module = *std::get<0>(first);
  Edit edit(module);
  std::vector<std::string> kernels;
  for (const Function& f : module.functions)
    if (f.isEntry) kernels.emplace_back(module.text(f.name));
  if (!kernel.empty() && !keepOnlyKernel(edit, nameMeant(std::string(kernel), kernels))) {
    result.error = fmt::format("there is no kernel '{}' in '{}'", kernel, fileName);
    return result;
  }
  result.text = reprinted(module);
  const auto again = parsed(result.text);
  if (!again || !verify(*again).empty())
    result.error = kernel.empty() ? "the reprinted text does not parse"
                                  : fmt::format("without its other kernels '{}' is not valid PTX", fileName);
  return result;
}

std::size_t countInstructions(std::string_view text) {
  const auto module = parsed(text);
  std::size_t count = 0;
  if (module)
    for (const Function& f : module->functions)
      for (const InstrId id : f) count += f[id].isInstruction();
  return count;
}

}  // namespace ptxopt::reduce
