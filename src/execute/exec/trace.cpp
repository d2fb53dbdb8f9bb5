// A line is held back until the next op begins: lanes that then wait at it are not shown yet. The text and the written
// registers of each op are made once.
#include "exec/trace.h"

#include <fmt/format.h>

#include <bit>

#include "exec/block.h"
#include "exec/launch.h"
#include "text/print.h"

namespace ptxopt::exec {

const Trace::Text& Trace::textOf(const Routine& routine, const Op& op) {
  const auto [known, isNew] = texts_.try_emplace(&op);
  Text& t = known->second;
  if (!isNew || !standsForInstruction(module_, routine, op)) return t;
  const Function& f = *routine.function;
  const Instruction& i = f.instructions[op.instruction];
  t.instruction = text::printInstruction(module_, f, i);
  t.place = fmt::format("line {}", locate(module_.source, i.sourceBegin).line);
  for (const Operand& o : f.operandsOf(i))
    if (o.isRegister() && o.writes() && !o.is(Operand::Implicit)) t.written.push_back(o.reg());
  return t;
}

// Does the op that was begun last stand for lanes that now wait there?
bool Trace::waits() const {
  for (const Path& p : warp_->paths())
    if (p.waiting && (p.mask & mask_) != 0 && &p.frame->routine->code[p.pc] == op_) return true;
  return false;
}

void Trace::flush() {
  if (op_ == nullptr) return;
  if (!waits()) sink_(line_ + '\n');
  op_ = nullptr;
}

void Trace::op(Warp& warp, const Routine& routine, const Op& op, Mask mask, Mask active) {
  const bool mayWait = op.kind == OpKind::Plain || op.kind == OpKind::Collective;
  if (mayWait && op_ == &op && warp_ == &warp && (mask & mask_) != 0)
    op_ = nullptr;  // a second look at once
  else
    flush();
  const Text& text = textOf(routine, op);
  if (text.instruction.empty()) return;
  const std::string line = fmt::format("block {} warp {} {:08x} {}: {}", toString(warp.block().id()), warp.index(),
                                       active, text.place, text.instruction);
  if (!mayWait || active == 0) return sink_(line + '\n');
  warp_ = &warp;
  op_ = &op;
  mask_ = mask;
  done_ = false;
  line_ = line;
}

void Trace::after(Warp& warp, const Routine& routine, const Op& op, Mask active) {
  if (op_ != &op) return;
  done_ = true;
  const Text& text = textOf(routine, op);
  // Lanes that came from other paths run a collective instruction with these.
  line_ = fmt::format("block {} warp {} {:08x} {}: {}", toString(warp.block().id()), warp.index(), active,
                      text.place, text.instruction) +
          values(warp, routine, text, active);
}

void Trace::finish() {
  if (op_ != nullptr) sink_(line_ + (done_ ? "\n" : "  ...\n"));
  op_ = nullptr;
}

std::string Trace::values(Warp& warp, const Routine& routine, const Text& text, Mask active) const {
  std::string out;
  for (const RegId r : text.written) {
    Arg a = routine.registers[r.value];
    const Register& reg = routine.function->registers[r.value];
    const auto one = [&](unsigned lane) {
      std::string v;
      for (unsigned c = 0; c < reg.lanes; ++c) {
        Arg part = a;
        part.offset += c * a.bytes * kLanes;
        if (c != 0) v += ':';
        if (a.bytes == 0) {
          v += fmt::format("{}", warp.value(part, lane));
        } else if (a.bytes == 16) {
          const auto* words = warp.in<uint64_t>(part) + std::size_t{2} * lane;
          v += words[1] != 0 ? fmt::format("{:#x}{:016x}", words[1], words[0]) : fmt::format("{:#x}", words[0]);
        } else {
          v += fmt::format("{:#x}", warp.value(part, lane));
        }
      }
      return v;
    };
    out += fmt::format("{}{} = ", out.empty() ? "  " : ", ", module_.text(reg.name));
    if (!allLanes_) {
      out += one(static_cast<unsigned>(std::countr_zero(active)));
      continue;
    }
    out += '{';
    bool first = true;
    for (Mask m = active; m != 0; m &= m - 1) {
      out += fmt::format("{}{}", first ? "" : ", ", one(static_cast<unsigned>(std::countr_zero(m))));
      first = false;
    }
    out += '}';
  }
  return out;
}

}  // namespace ptxopt::exec
