// Each kind of remark has a function that returns early where nothing is found. Places are computed in ascending order
// of offsets, so that the source is read once.
#include "api/remarks.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/dataflow/uninitialised.h"
#include "ir/stored_numbers.h"

namespace ptxopt {
namespace {

// FILE:LINE:COL of offsets in ascending order, in one pass over the source.
class Places {
 public:
  explicit Places(const Module& module) : module_(module) {}
  std::string of(std::size_t offset) {
    for (; at_ < offset; ++at_) {
      if (module_.source[at_] != '\n') continue;
      ++line_;
      lineStart_ = at_ + 1;
    }
    return fmt::format("{}:{}:{}", module_.fileName, line_, offset - lineStart_ + 1);
  }

 private:
  const Module& module_;
  std::size_t line_ = 1, lineStart_ = 0, at_ = 0;
};

}  // namespace

void remarkUnknownOpcodes(const Module& module, std::vector<Remark>& remarks) {
  if (std::none_of(module.opcodes.begin(), module.opcodes.end(),
                   [](const OpcodeForm& f) { return f.row == nullptr; }))
    return;
  std::vector<bool> reported(module.opcodes.size());
  Places places(module);
  for (const Function& f : module.functions) {
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      if (!i.isInstruction() || module.form(i).row != nullptr || reported[i.payload]) continue;
      reported[i.payload] = true;
      remarks.push_back({"unknown-opcode", places.of(i.sourceBegin),
                         fmt::format("'{}' is not known; it is kept as it is, and nothing moves over it",
                                     module.printedOpcode(i))});
    }
  }
}

std::vector<bool> remarkNarrowNumberStores(const Module& module, std::vector<Remark>& remarks) {
  std::vector<bool> isFound(module.functions.size());
  Places places(module);
  for (const Function& f : module.functions) {
    const InstrId store = findNarrowNumberStore(module, f);
    isFound[f.index] = store.valid();
    if (store.valid())
      remarks.push_back(
          {"narrow-number-store", places.of(f[store].sourceBegin),
           fmt::format("whether ptxas stores the low bits or converts a number depends on what stands "
                       "around it; the function '{}' is left as it is",
                       module.text(f.name))});
  }
  return isFound;
}

std::vector<UninitialisedRegister> findUninitialised(const Module& module, const Function& f, const Knobs& knobs,
                                                     Analyses& analyses, bool& tooLarge) {
  const Cfg& cfg = analyses.cfg();
  const Liveness* liveness = cfg.complete() ? &analyses.liveness(Liveness::Strength::Plain) : nullptr;
  UninitialisedReads found{.complete = false, .reads = {}};
  if (liveness != nullptr && liveness->solved())
    found = findUninitialisedReads(module, f, cfg, *liveness,
                                   static_cast<std::size_t>(knobs[Knob::LivenessMemoryMb]) << 20);
  tooLarge = !found.complete;
  std::vector<UninitialisedRegister> result;
  const Loc* line = nullptr;
  auto next = found.reads.begin();
  for (InstrId id = f.first; id.valid() && next != found.reads.end(); id = f[id].next) {
    if (const Loc* loc = f.lineOf(f[id])) line = loc;
    for (; next != found.reads.end() && next->instruction == id; ++next)
      result.push_back({.name = next->reg == Function::kCarry ? NameId() : f.registers[next->reg.value].name,
                        .sourceBegin = f[id].sourceBegin,
                        .line = line == nullptr ? Loc() : *line,
                        .hasLine = line != nullptr});
  }
  return result;
}

void remarkUninitialised(const Module& module, const std::vector<std::vector<UninitialisedRegister>>& registers,
                         std::vector<Remark>& remarks) {
  if (std::all_of(registers.begin(), registers.end(), [](const auto& r) { return r.empty(); })) return;
  const auto files = sourceFiles(module);
  Places places(module);
  for (const auto& ofFunction : registers) {
    for (const UninitialisedRegister& r : ofFunction) {
      std::string message = fmt::format("{} may be read before it is written",
                                        r.name.valid() ? module.text(r.name) : "the carry flag");
      if (const auto file = files.find(r.line.file); r.hasLine && file != files.end())
        message += fmt::format(" ({}:{}:{})", file->second, r.line.line, r.line.column);
      remarks.push_back({"uninitialised-register", places.of(r.sourceBegin), std::move(message)});
    }
  }
}

void remarkLoops(const Module& module, const std::vector<FunctionReport>& reports, std::vector<Remark>& remarks) {
  struct Found {
    const PassReport* pass;
    const LoopReport* loop;
    const LoopReport::Group* group;  // of the loop, left out; none: the loop itself
    uint32_t place;
  };
  std::vector<Found> found;
  for (const FunctionReport& report : reports)
    for (const PassReport& pass : report.passes)
      for (const LoopReport& loop : pass.loops) {
        found.push_back({&pass, &loop, nullptr, loop.sourceBegin});
        for (const LoopReport::Group& group : loop.groups)
          if (!group.declined.empty()) found.push_back({&pass, &loop, &group, group.sourceBegin});
      }
  std::ranges::stable_sort(found, {}, &Found::place);
  const auto files = sourceFiles(module);
  Places places(module);
  const auto addresses = [](const LoopReport::Group& group) {
    return fmt::format("{} {} address{}", group.uses, group.space, group.uses == 1 ? "" : "es");
  };
  for (const Found& f : found) {
    const LoopReport& loop = *f.loop;
    std::string message;
    if (f.group != nullptr) {
      remarks.push_back(
          {.name = std::string(f.group->declined),
           .place = places.of(f.place),
           .message = fmt::format("{} of a loop of depth {} left as {}: {}", addresses(*f.group), loop.depth,
                                  f.group->uses == 1 ? "it is" : "they are", f.group->declined),
           .pass = std::string(f.pass->pass),
           .missed = true});
      continue;
    }
    if (!loop.declined.empty()) {
      message = fmt::format("loop of depth {} left as it is: {}", loop.depth, loop.declined);
    } else {
      message = fmt::format("loop of depth {}: ", loop.depth);
      message += loop.instructions ? fmt::format("integer instructions an iteration {:.4g} -> {:.4g}",
                                                 loop.instructions->before, loop.instructions->after)
                                   : "ends by another test";
      for (const LoopReport::Group& group : loop.groups)
        for (const LoopReport::Form& form : group.forms)
          if (form.chosen && form.name != "keep") message += fmt::format("; {}: {}", addresses(group), form.name);
    }
    message += fmt::format("; backedges: {}", loop.tripCount);
    if (const auto file = files.find(loop.line.file); loop.line.line != 0 && file != files.end())
      message += fmt::format(" ({}:{}:{})", file->second, loop.line.line, loop.line.column);
    remarks.push_back({.name = std::string(loop.declined.empty() ? "loop" : loop.declined),
                       .place = places.of(f.place),
                       .message = std::move(message),
                       .pass = std::string(f.pass->pass),
                       .missed = !loop.declined.empty()});
  }
}

}  // namespace ptxopt
