// Vector registers: as parameters and results of functions that take them in registers.
#include <algorithm>
#include "memory.h"
#include "statements.h"

namespace kernels {
namespace {

struct Shape {
  int lanes;  // 0: a scalar
  std::string type;
};

struct VectorFunction {
  std::string name;
  Shape result;
  std::vector<Shape> parameters;
};

constexpr const char* kLanes[] = {"x", "y", "z", "w"};

Class classOf(const std::string& type) {
  if (type == "f32") return Class::F32;
  return type.ends_with("64") ? Class::I64 : type.ends_with("16") ? Class::I16 : Class::I32;
}

std::string declaration(const Shape& s, const std::string& name) {
  return fmt::format(".reg {}.{} {}", s.lanes == 0 ? "" : fmt::format(".v{} ", s.lanes), s.type, name);
}

Shape drawShape(Random& random) {
  const int lanes = random.pick({0, 2, 2, 4});
  std::string type = random.pick({"u32", "u32", "s32", "b32", "f32", "u64", "u16"});
  if ((lanes == 4 && type == "u64") || (lanes == 0 && type == "u16")) type = "u32";
  return {lanes, type};
}

std::string part(const std::string& name, const Shape& s, int lane) {
  return s.lanes == 0 ? name : fmt::format("{}.{}", name, kLanes[lane]);
}

// Mixes a part into the accumulator %acc of 32 bits.
std::string mixed(Random& random, const std::string& from, const std::string& type) {
  std::string text;
  const Class c = classOf(type);
  if (c == Class::I64) text += fmt::format("  cvt.u32.u64 %part, {};\n", from);
  if (c == Class::I16) text += fmt::format("  cvt.u32.u16 %part, {};\n", from);
  if (c == Class::I32 || c == Class::F32) text += fmt::format("  mov.b32 %part, {};\n", from);
  return text + fmt::format("  mad.lo.u32 %acc, %acc, {}, %part;\n", random.between(2, 40));
}

std::string written(Random& random, const std::string& to, const std::string& type) {
  const int more = random.between(1, 50);
  std::string text = fmt::format("  add.u32 %acc, %acc, {};\n", more);
  switch (classOf(type)) {
    case Class::I64: return text + fmt::format("  cvt.u64.u32 {}, %acc;\n", to);
    case Class::I16: return text + fmt::format("  cvt.u16.u32 {}, %acc;\n", to);
    // Not the bits of any float: NaNs are not distinguished.
    case Class::F32: return text + fmt::format("  and.b32 %part, %acc, 1023;\n  cvt.rn.f32.u32 {}, %part;\n", to);
    default: return text + fmt::format("  mov.b32 {}, %acc;\n", to);
  }
}

void define(File& file, const VectorFunction& f) {
  Random& random = file.random;
  std::string text = fmt::format(".func ({}) {}(", declaration(f.result, "%result"), f.name);
  for (std::size_t i = 0; i < f.parameters.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", declaration(f.parameters[i], fmt::format("%given{}", i)));
  text += ")\n{\n  .reg .b32 %acc;\n  .reg .b32 %part;\n  mov.b32 %acc, 1;\n";
  for (std::size_t i = 0; i < f.parameters.size(); ++i)
    for (int lane = 0; lane < std::max(1, f.parameters[i].lanes); ++lane)
      text += mixed(random, part(fmt::format("%given{}", i), f.parameters[i], lane), f.parameters[i].type);
  for (int lane = 0; lane < std::max(1, f.result.lanes); ++lane)
    text += written(random, part("%result", f.result, lane), f.result.type);
  file.globals += text + "  ret;\n}\n\n";
}

}  // namespace

void emitVectorCall(Body& body) {
  if (body.work > 16) return;
  Random& random = body.random;
  File& file = body.file;
  VectorFunction f;
  f.name = fmt::format("vector_{}", file.vectors++);
  f.result = drawShape(random);
  for (int i = random.between(1, 3); i > 0; --i) f.parameters.push_back(drawShape(random));
  if (std::none_of(f.parameters.begin(), f.parameters.end(), [](const Shape& s) { return s.lanes > 0; }))
    f.parameters[0].lanes = 2;
  define(file, f);

  // Values first: what they need is written outside the braces.
  std::vector<std::vector<Reg>> values;
  for (const Shape& s : f.parameters) {
    values.emplace_back();
    for (int lane = 0; lane < std::max(1, s.lanes); ++lane) {
      const Reg value = body.source(classOf(s.type));
      values.back().push_back(body.canonical(value));
    }
  }
  std::vector<Reg> results;
  for (int lane = 0; lane < std::max(1, f.result.lanes); ++lane)
    results.push_back(body.temporary(classOf(f.result.type)));

  const int number = file.vectors;
  const auto given = [&](std::size_t i) { return fmt::format("%given{}x{}", number, i); };
  const std::string result = fmt::format("%result{}", number);
  body.text += "  {\n";
  body.line("{};", declaration(f.result, result));
  std::string arguments;
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    const Shape& s = f.parameters[i];
    body.line("{};", declaration(s, given(i)));
    std::string list;
    for (const Reg r : values[i]) list += (list.empty() ? "" : ", ") + body.name(r);
    if (s.lanes > 0 && random.chance(50)) {
      body.line("mov.v{}.{} {}, {{{}}};", s.lanes, s.type, given(i), list);
    } else {
      for (int lane = 0; lane < std::max(1, s.lanes); ++lane)
        body.line("mov.{} {}, {};", s.type, part(given(i), s, lane),
                  body.name(values[i][static_cast<std::size_t>(lane)]));
    }
    arguments += (arguments.empty() ? "" : ", ") + given(i);
  }
  body.line("call ({}), {}, ({});", result, f.name, arguments);
  for (std::size_t lane = 0; lane < results.size(); ++lane)
    body.line("mov.{} {}, {};", f.result.type, body.name(results[lane]),
              part(result, f.result, static_cast<int>(lane)));
  body.text += "  }\n";
  for (const Reg r : results) body.regs.keep(r);
}

}  // namespace kernels
