// Branches, switches, irreducible loops, braces, and threads that leave early.
#include "statements.h"

namespace kernels {
namespace {

// The state that a stretch of divergent code changes.
class Divergence {
 public:
  Divergence(Body& body, bool together) : body_(body), before_(body.uniform) { body.uniform = before_ && together; }
  // Threads that left meanwhile are no longer there afterwards.
  ~Divergence() { body_.uniform = before_ && !body_.late; }
  Divergence(const Divergence&) = delete;
  Divergence& operator=(const Divergence&) = delete;

 private:
  Body& body_;
  bool before_;
};

int few(Body& body) { return body.random.between(1, body.depth < 2 ? 7 : 4); }

}  // namespace

void emitBranch(Body& body) {
  Random& random = body.random;
  const bool together = body.uniform && random.chance(50);
  const Reg p = body.condition(together);
  const std::string end = body.label(), other = body.label();
  const std::string when = body.maybeNot(p);
  const Divergence divergence(body, together);
  switch (random.below(4)) {
    case 0:  // if
      body.branchIf(when, end, together);
      emitScope(body, few(body));
      break;
    case 1:  // if, else
      body.branchIf(when, other, together);
      emitScope(body, few(body));
      body.branch(end, together);
      body.place(other);
      emitScope(body, few(body));
      break;
    case 2:  // two branches behind each other, both sides away from the fall-through
      body.branchIf(when, other, together);
      body.branch(end, together);
      body.place(other);
      emitScope(body, few(body));
      break;
    default: {  // a && b: two tests to one label
      body.branchIf(when, end, together);
      body.regs.beginScope();
      const Reg q = body.condition(together);
      const std::string also = body.maybeNot(q);
      body.branchIf(also, end, together);
      emitScope(body, few(body));
      body.regs.endScope();
      break;
    }
  }
  body.place(end);
}

void emitSwitch(Body& body) {
  Random& random = body.random;
  const bool together = body.uniform && random.chance(50);
  const int count = 1 << random.between(1, 3);
  const Reg x = body.number(together);
  const Reg index = body.masked(x, count);
  const std::string end = body.label(), table = body.label();
  std::vector<std::string> cases;
  for (int i = 0; i < count; ++i) cases.push_back(i > 0 && random.chance(25) ? random.pick(cases) : body.label());
  if (random.chance(25)) cases[0] = end;
  const Divergence divergence(body, together);
  if (random.chance(60)) {
    std::string list;
    for (const std::string& target : cases) list += (list.empty() ? "" : ", ") + target;
    body.text += table + ": .branchtargets " + list + ";\n";
    body.line("brx.idx{} {}, {};", together && random.chance(40) ? ".uni" : "", body.name(index), table);
  } else {
    for (int i = 0; i + 1 < count; ++i) {
      const Reg p = body.temporary(Class::Pred);
      body.line("setp.eq.{} {}, {}, {};", random.pick({"u32", "s32", "b32"}), body.name(p), body.name(index), i);
      body.branchIf(body.name(p), cases[static_cast<std::size_t>(i)], together);
    }
    body.branch(cases.back(), together);
  }
  std::vector<std::string> placed = {end};
  for (const std::string& target : cases) {
    bool again = false;
    for (const std::string& before : placed) again |= before == target;
    if (again) continue;
    placed.push_back(target);
    body.place(target);
    emitScope(body, random.between(1, 3));
    if (random.chance(70)) body.branch(end, together);  // else on to the next case
  }
  body.place(end);
}

// A loop with two entries. A counter that nothing else writes ends it.
void emitIrreducible(Body& body) {
  Random& random = body.random;
  const int trips = random.between(2, 4);
  if (body.work * trips > kMostWork) return;
  const Reg counter = body.temporary(Class::I32);
  body.line("mov.u32 {}, {};", body.name(counter), trips);
  const Reg p = body.condition(false);
  const std::string first = body.label() + "_irreducible", second = body.label();
  const std::string when = body.maybeNot(p);
  const Divergence divergence(body, false);
  body.work *= trips;
  body.branchIf(when, second, false);
  body.place(first);
  emitScope(body, random.between(1, 3));
  body.place(second);
  emitScope(body, random.between(1, 3));
  const Reg more = body.temporary(Class::Pred);
  body.line("add.s32 {}, {}, -1;", body.name(counter), body.name(counter));
  body.line("setp.gt.s32 {}, {}, 0;", body.name(more), body.name(counter));
  body.branchIf(body.name(more), random.chance(50) ? first : second, false);
  body.work /= trips;
}

void emitBraces(Body& body) {
  body.text += "  {\n";
  const std::string declarations = body.regs.openBraces(body.random.between(1, 5));
  for (std::size_t at = 0; at < declarations.size();) {
    const std::size_t end = declarations.find('\n', at);
    body.line("{}", std::string_view(declarations).substr(at, end - at));
    at = end + 1;
  }
  emitScope(body, body.random.between(2, 8));
  body.regs.closeBraces();
  body.text += "  }\n";
}

// Some threads leave, with their checksum in place. Only behind the last barrier.
void emitExit(Body& body) {
  if (!body.late || body.result.empty()) return;
  Random& random = body.random;
  const Reg p = body.condition(false);
  const std::string when = body.maybeNot(p);
  const char* leave = random.pick({"ret", "exit"});
  if (random.chance(60)) {
    body.line("@{} st.global.u32 {}, {};", when, body.result, body.name(body.checksum));
    body.line("@{} {};", when, leave);
    return;
  }
  const std::string stay = body.label();
  body.branchIf(when, stay, false);
  body.line("st.global.u32 {}, {};", body.result, body.name(body.checksum));
  body.line("{};", leave);
  body.place(stay);
}

}  // namespace kernels
