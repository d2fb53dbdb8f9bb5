// Each op has a Place, found on its first execution, with pointers to all counters that it adds to. Lanes that wait are
// counted when they arrive, which Arrivals keeps track of.
#include "exec/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "analysis/dataflow/cfg.h"
#include "exec/program.h"

namespace ptxopt::exec {
namespace {

// Nothing for what counts as no access: asynchronous and bulk copies, too.
const char* accessOf(ptxopt::Op op) {
  switch (op) {
    case ptxopt::Op::Ld:
    case ptxopt::Op::Ldu: return "load";
    case ptxopt::Op::St: return "store";
    case ptxopt::Op::Atom:
    case ptxopt::Op::Red: return "atomic";
    default: return nullptr;
  }
}

const char* spaceOf(StateSpace s) {
  switch (s) {
    case StateSpace::None: return "generic";
    case StateSpace::Global: return "global";
    case StateSpace::Shared:
    case StateSpace::SharedCta:
    case StateSpace::SharedCluster: return "shared";
    case StateSpace::Local: return "local";
    case StateSpace::Const: return "const";
    case StateSpace::Param:
    case StateSpace::ParamEntry:
    case StateSpace::ParamFunc: return "param";
  }
  return "generic";
}

}  // namespace

void Profile::findBlocks(const Routine& routine) {
  const Function& f = *routine.function;
  const Cfg cfg(module_, f);
  std::vector<uint32_t>& blockOf = blockOf_[&f];
  blockOf.assign(f.instructions.size(), UINT32_MAX);
  std::vector<uint32_t> key(cfg.size(), UINT32_MAX);
  std::vector<NameId> label(cfg.size());
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    const BlockId b = cfg.blockOf(id);
    if (i.kind == InstrKind::Label && !label[b.value].valid()) label[b.value] = f.labels[i.payload].name;
    if (!i.isInstruction()) continue;
    if (key[b.value] == UINT32_MAX) {
      key[b.value] = i.sourceBegin;
      BlockCount& count = blocks_[i.sourceBegin];
      count.function = module_.text(f.name);
      if (label[b.value].valid()) count.label = module_.text(label[b.value]);
      count.line = locate(module_.source, i.sourceBegin).line;
    }
    blockOf[id.value] = key[b.value];
  }
}

void Profile::findTraffic(const OpcodeForm& form, Place& place) {
  const char* const access = accessOf(form.op);
  if (access == nullptr) return;
  place.traffic = &traffic_[fmt::format("{} {}", access, spaceOf(form.space))];
  place.bytes = std::max(1u, info(form.type).bits / 8) * form.vector;
}

const Profile::Place& Profile::place(const Routine& routine, const Op& op) {
  const auto [known, isNew] = places_.try_emplace(&op);
  Place& p = known->second;
  if (!isNew || !standsForInstruction(module_, routine, op)) return p;
  const Function& f = *routine.function;
  if (!blockOf_.contains(&f)) findBlocks(routine);
  const Instruction& i = f.instructions[op.instruction];
  const OpcodeForm& form = module_.form(i);
  p.opcode = &opcodes_[std::string(module_.printedOpcode(i))];
  const uint32_t block = blockOf_[&f][op.instruction];
  p.block = &blocks_.at(block);
  p.beginsBlock = block == i.sourceBegin;
  p.branches = op.kind == OpKind::Branch || op.kind == OpKind::BranchIndexed;
  findTraffic(form, p);
  return p;
}

void Profile::op(Warp& warp, const Routine& routine, const Op& op, Mask mask, Mask active) {
  const Mask fresh = arrivals_.arriving(warp, op, mask);
  const Place& p = place(routine, op);
  if (p.opcode == nullptr || fresh == 0) return;
  if (p.beginsBlock) p.block->count.add(static_cast<unsigned>(std::popcount(fresh)));
  active &= fresh;
  const auto lanes = static_cast<unsigned>(std::popcount(active));
  if (p.branches) {
    ++branches_;
    if (active != 0 && active != fresh) {
      ++divergent_;
    } else if (active != 0 && op.kind == OpKind::BranchIndexed) {
      const uint32_t* index = warp.in<uint32_t>(op.args[0]);
      const uint32_t first = index[std::countr_zero(active)];
      bool diverges = false;
      for (Mask m = active; m != 0; m &= m - 1) diverges = diverges || index[std::countr_zero(m)] != first;
      divergent_ += diverges;
    }
  }
  if (active == 0) {
    ++skipped_;
    return;
  }
  total_.add(lanes);
  p.opcode->add(lanes);
  p.block->instructions.add(lanes);
  if (p.traffic != nullptr) {
    p.traffic->count.add(lanes);
    p.traffic->bytes += uint64_t{p.bytes} * lanes;
  }
}

std::vector<std::pair<std::string, Profile::Count>> Profile::opcodes() const {
  std::vector<std::pair<std::string, Count>> sorted;
  for (const auto& entry : opcodes_)
    if (entry.second.warps != 0) sorted.push_back(entry);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.threads > b.second.threads; });
  return sorted;
}

std::vector<Profile::BlockCount> Profile::blocks() const {
  std::vector<BlockCount> all;
  for (const auto& [offset, b] : blocks_) all.push_back(b);
  return all;
}

std::string Profile::table() const {
  std::string out;
  const auto row = [&](std::string_view name, const Count& c) {
    out += fmt::format("  {:<34} {:>14} {:>16} {:>7.2f}", name, c.warps, c.threads, c.lanes());
  };
  out += fmt::format("{:<36} {:>14} {:>16} {:>7}\n", "", "warps", "threads", "lanes");
  row("instructions", total_);
  out += fmt::format("\n  {:<34} {:>14}\n", "guarded off", skipped_);
  out += fmt::format("  {:<34} {:>14}\n  {:<34} {:>14}\n", "branches", branches_, "divergent", divergent_);
  out += "opcodes\n";
  for (const auto& [name, count] : opcodes()) {
    row(name, count);
    out += '\n';
  }
  out += fmt::format("{:<36} {:>14} {:>16} {:>7} {:>14}\n", "blocks", "entered", "by threads", "lanes",
                     "instructions");
  for (const BlockCount& b : blocks()) {
    if (b.count.warps == 0) continue;
    row(b.label.empty() ? fmt::format("{} line {}", b.function, b.line)
                        : fmt::format("{} {} line {}", b.function, b.label, b.line),
        b.count);
    out += fmt::format(" {:>14}\n", b.instructions.warps);
  }
  if (std::any_of(traffic_.begin(), traffic_.end(), [](const auto& t) { return t.second.count.warps != 0; }))
    out += fmt::format("{:<36} {:>14} {:>16} {:>7} {:>14}\n", "memory", "warps", "threads", "lanes", "bytes");
  for (const auto& [name, t] : traffic_) {
    if (t.count.warps == 0) continue;
    row(name, t.count);
    out += fmt::format(" {:>14}\n", t.bytes);
  }
  return out;
}

}  // namespace ptxopt::exec
