// setp and set of integers and bits.
#include "exec_lanes.h"
#include "exec_rows.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

__extension__ using Big = __int128;

struct ComparedType {
  const char* name;
  unsigned bits;
  char kind;  // b, u or s

  Big operator()(uint64_t v) const {
    const uint64_t u = bits == 64 ? v : v & ((uint64_t{1} << bits) - 1);
    return kind == 's' && (u >> (bits - 1) & 1) != 0 ? Big{u} - (Big{1} << bits) : Big{u};
  }
  std::string operands() const {
    const std::string suffix = bits == 64 ? "" : bits == 32 ? "r" : "h";
    return "%x" + suffix + ", %y" + suffix;
  }
};
constexpr ComparedType kTypes[] = {{"b16", 16, 'b'}, {"b32", 32, 'b'}, {"b64", 64, 'b'},
                                   {"u16", 16, 'u'}, {"u32", 32, 'u'}, {"u64", 64, 'u'},
                                   {"s16", 16, 's'}, {"s32", 32, 's'}, {"s64", 64, 's'}};

bool compare(const std::string& op, Big a, Big b) {
  if (op == "eq") return a == b;
  if (op == "ne") return a != b;
  if (op == "lt" || op == "lo") return a < b;
  if (op == "le" || op == "ls") return a <= b;
  if (op == "gt" || op == "hi") return a > b;
  return a >= b;
}

uint64_t combined(const std::string& op, bool a, bool b) {
  return op == ".and" ? a && b : op == ".or" ? a || b : op == ".xor" ? a != b : a;
}

std::vector<std::string> comparisons(char kind) {
  std::vector<std::string> ops = {"eq", "ne"};
  if (kind != 'b') ops.insert(ops.end(), {"lt", "le", "gt", "ge"});
  if (kind == 'u') ops.insert(ops.end(), {"lo", "ls", "hi", "hs"});
  return ops;
}

// Edges, and pairs of equal and of neighbouring values.
std::vector<Values> valuesOf(unsigned bits) {
  std::vector<Values> values = edgePairs(bits);
  for (const uint64_t x : edgeValues(bits))
    for (uint64_t i = 0; i < 6; ++i) values.push_back({x, x + i / 2 - 1, i, 0});
  return values;
}

}  // namespace

TEST_CASE("exec: setp of every type and comparison, with and without a second predicate") {
  for (const ComparedType& t : kTypes) {
    std::vector<LaneCase> cases;
    for (const std::string& op : comparisons(t.kind)) {
      const auto holds = [=](const Values& v) { return compare(op, t(v.x), t(v.y)); };
      const std::string tail = std::string(".") + t.name + " ";
      const std::string sources = ", " + t.operands();
      cases.push_back({"setp." + op + tail + "%p" + sources + ";", 'p', holds});
      cases.push_back({"setp." + op + tail + "%p|%q0" + sources + ";", 'p', holds});
      cases.push_back(
          {"setp." + op + tail + "%q0|%p" + sources + ";", 'p', [=](const Values& v) { return !holds(v); }});
      cases.push_back(
          {"setp." + op + tail + "_|%p" + sources + ";", 'p', [=](const Values& v) { return !holds(v); }});
      cases.push_back({"setp." + op + tail + "%p|_" + sources + ";", 'p', holds});
      for (const std::string with : {".and", ".or", ".xor"}) {
        cases.push_back({"setp." + op + with + tail + "%p" + sources + ", %zp;", 'p',
                         [=](const Values& v) { return combined(with, holds(v), (v.z & 1) != 0); }});
        cases.push_back({"setp." + op + with + tail + "%p|%q0" + sources + ", !%zp;", 'p',
                         [=](const Values& v) { return combined(with, holds(v), (v.z & 1) == 0); }});
        cases.push_back({"setp." + op + with + tail + "%q0|%p" + sources + ", %zp;", 'p',
                         [=](const Values& v) { return combined(with, !holds(v), (v.z & 1) != 0); }});
        // What is written first may be what is combined with.
        cases.push_back({"mov.pred %q0, %zp; setp." + op + with + tail + "%q0|%p" + sources + ", %q0;", 'p',
                         [=](const Values& v) { return combined(with, !holds(v), (v.z & 1) != 0); }});
      }
    }
    checkLanes(cases, valuesOf(t.bits));
  }
}

TEST_CASE("exec: set of every type and comparison") {
  for (const ComparedType& t : kTypes) {
    std::vector<LaneCase> cases;
    for (const std::string& op : comparisons(t.kind))
      for (const std::string with : {"", ".and", ".or", ".xor"})
        for (const std::string result : {"u32", "s32", "f32"}) {
          const uint64_t yes = result == "f32" ? 0x3F80'0000 : 0xFFFF'FFFF;
          const std::string d = result == "f32" ? "%f0" : "%r", after = result == "f32" ? " mov.b32 %r, %f0;" : "";
          const auto expected = [=](const Values& v) {
            return combined(with, compare(op, t(v.x), t(v.y)), (v.z & 1) != 0) != 0 ? yes : 0;
          };
          cases.push_back({"set." + op + with + "." + result + "." + t.name + " " + d + ", " + t.operands() +
                               (with.empty() ? "" : ", %zp") + ";" + after,
                           'r', expected});
        }
    checkLanes(cases, valuesOf(t.bits));
  }
}

TEST_CASE("exec: comparisons with constants, and the forms there are not") {
  checkLanes({{"setp.lt.s32 %p, %xr, -5;", 'p', [](const Values& v) { return kTypes[7](v.x) < -5; }},
              {"setp.gt.u16 %p, %xh, 0xFFF0;", 'p', [](const Values& v) { return (v.x & 0xFFFF) > 0xFFF0; }},
              {"setp.ge.u64 %p, %x, 0x100000000;", 'p', [](const Values& v) { return v.x >= uint64_t{1} << 32; }},
              {"setp.lt.s64 %p, %x, -1;", 'p', [](const Values& v) { return kTypes[8](v.x) < -1; }}},
             edgePairs(64));
  for (const std::string ptx : {"setp.lt.b32 %p, %xr, %yr;", "setp.lo.s32 %p, %xr, %yr;",
                                "setp.num.u32 %p, %xr, %yr;", "set.eq.u16.u32 %h, %xr, %yr;"}) {
    CAPTURE(ptx);
    CHECK_THROWS_AS(
        [&] {
          const Parsed parsed(kHeader + lanes::kernelOf({ptx, 'p', nullptr}, "k", false));
          exec::Machine machine(*parsed);
          auto& memory = machine.memory().allocate("all", 4096);
          exec::LaunchConfig config;
          config.parameters.resize(20);
          const uint32_t count = 1;
          std::memcpy(config.parameters.data(), &memory.base, 8);
          std::memcpy(config.parameters.data() + 8, &memory.base, 8);
          std::memcpy(config.parameters.data() + 16, &count, 4);
          config.observer = &exec::executedRows();
          machine.launch("k", config);
        }(),
        exec::ExecError);
  }
}
