// Device functions: scalars, arrays by value and pointers as arguments, one or several values as result, calls of
// other functions, of themselves and through pointers.
#include "calls.h"

#include "memory.h"
#include "statements.h"

namespace kernels {
namespace {

using Kind = DeviceFunction::Kind;
using Value = DeviceFunction::Value;

std::string declaration(const Value& v, const std::string& name) {
  if (v.kind == Kind::Array) return fmt::format(".param .align 16 .b8 {}[16]", name);
  const Class c = v.kind == Kind::Pointer ? Class::I64 : v.kind == Kind::Depth ? Class::I32 : v.c;
  return fmt::format(".param .{} {}", c == Class::F32 || c == Class::F64 ? arithmeticType(c) : bitType(c), name);
}

std::string_view accessType(Class c) { return c == Class::F32 || c == Class::F64 ? arithmeticType(c) : bitType(c); }

// The four words of an array, in some form.
void storeArray(Body& body, const std::string& name) {
  Random& random = body.random;
  if (random.chance(40)) {
    const Reg x = body.source(Class::I64), y = body.source(Class::I64);
    if (random.chance(50)) {
      body.line("st.param.v2.b64 [{}], {{{}, {}}};", name, body.name(x), body.name(y));
    } else {
      body.line("st.param.b64 [{}+0], {};", name, body.name(x));
      body.line("st.param.b64 [{}+8], {};", name, body.name(y));
    }
    return;
  }
  std::vector<std::string> words;
  for (int i = 0; i < 4; ++i) words.push_back(body.name(body.source(Class::I32)));
  if (random.chance(50)) {
    body.line("st.param.v4.b32 [{}+0], {{{}, {}, {}, {}}};", name, words[0], words[1], words[2], words[3]);
  } else {
    for (int i = 0; i < 4; ++i)
      body.line("st.param.b32 [{}+{}], {};", name, 4 * i, words[static_cast<std::size_t>(i)]);
  }
}

std::vector<Reg> loadArray(Body& body, const std::string& name) {
  Random& random = body.random;
  std::vector<Reg> result;
  if (random.chance(30)) {
    for (int i = 0; i < 2; ++i) {
      const Reg r = body.temporary(Class::I64);
      body.line("ld.param.b64 {}, [{}+{}];", body.name(r), name, 8 * i);
      result.push_back(r);
    }
    return result;
  }
  for (int i = 0; i < 4; ++i) result.push_back(body.temporary(Class::I32));
  if (random.chance(50)) {
    body.line("ld.param.v4.b32 {{{}, {}, {}, {}}}, [{}+0];", body.name(result[0]), body.name(result[1]),
              body.name(result[2]), body.name(result[3]), name);
  } else {
    for (int i = 0; i < 4; ++i)
      body.line("ld.param.b32 {}, [{}+{}];", body.name(result[static_cast<std::size_t>(i)]), name, 4 * i);
  }
  return result;
}

// A value as st.param takes it: a register, now and then a constant or a sum with one.
std::string scalar(Body& body, Class c) {
  if (!body.has(Feature::Expressions) || body.random.chance(70)) return body.name(body.source(c));
  body.ofFloats = true;
  const std::string text = body.operand(c);
  body.ofFloats = false;
  return text;
}

// What the function starts with: its parameters in registers, and memory.
Reg prologue(Body& body, const DeviceFunction& f) {
  Reg depth = -1;
  body.regs.beginStatement();
  body.checksum = body.temporary(Class::I32);
  body.line("mov.u32 {}, {};", body.name(body.checksum), body.random.below(1000));
  body.regs.keepFixed(body.checksum);
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    const Value& v = f.parameters[i];
    const std::string name = fmt::format("{}_param_{}", f.name, i);
    if (v.kind == Kind::Array) {
      for (const Reg r : loadArray(body, name)) body.regs.keep(r);
      continue;
    }
    const Class c = v.kind == Kind::Pointer ? Class::I64 : v.kind == Kind::Depth ? Class::I32 : v.c;
    const Reg r = body.temporary(c);
    body.line("ld.param.{} {}, [{}];", accessType(c), body.name(r), name);
    if (v.kind == Kind::Scalar) body.regs.keep(r);
    if (v.kind == Kind::Depth) depth = r;
    if (v.kind == Kind::Pointer) {
      Region region;
      region.name = "pointer";
      region.size = 32;
      region.bases = {Base{r, "", "", true, 0}};
      body.regions.push_back(region);
    }
  }
  return depth;
}

void storeResult(Body& body, const DeviceFunction& f, const std::string& name, const std::string& guard) {
  if (f.result.kind == Kind::None) return;
  if (f.result.kind == Kind::Array) return storeArray(body, name);
  const Class c = f.result.c;
  const std::string value = c == Class::I32 && body.random.chance(70) ? body.name(body.checksum) : scalar(body, c);
  body.line("{}st.param.{} [{}+0], {};", guard, accessType(c), name, value);
}

}  // namespace

std::string signature(const DeviceFunction& f, const std::string& result, const std::vector<std::string>& names,
                      const std::string& between) {
  std::string text;
  if (f.result.kind != Kind::None) text += "(" + declaration(f.result, result) + ") ";
  text += between + "(";
  for (std::size_t i = 0; i < f.parameters.size(); ++i)
    text += (i == 0 ? "" : ", ") + declaration(f.parameters[i], names.empty() ? "_" : names[i]);
  return text + ")";
}

void emitCallOf(Body& body, const DeviceFunction& f, const std::string& depth, const std::string& pointer,
                bool byTable) {
  Random& random = body.random;
  // Values first: what they need is written outside the braces.
  std::vector<std::string> values;
  for (const Value& v : f.parameters) values.push_back(v.kind == Kind::Scalar ? scalar(body, v.c) : "");
  for (int i = 0; i < 4; ++i) body.source(Class::I32);
  body.source(Class::I64);
  std::vector<Reg> results;

  body.text += "  {\n";
  std::string arguments;
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    const Value& v = f.parameters[i];
    const std::string name = fmt::format("param{}", i);
    arguments += (i == 0 ? "" : ", ") + name;
    body.line("{};", declaration(v, name));
    switch (v.kind) {
      case Kind::Array: storeArray(body, name); break;
      case Kind::Pointer: body.line("st.param.b64 [{}+0], {};", name, pointer); break;
      case Kind::Depth: body.line("st.param.b32 [{}+0], {};", name, depth); break;
      default: body.line("st.param.{} [{}+0], {};", accessType(v.c), name, values[i]); break;
    }
  }
  std::string target = f.name, prototype;
  if (byTable || (f.table.empty() && random.chance(12))) {
    const Reg address = body.temporary(Class::I64);
    if (byTable)
      body.line("ld.{}.u64 {}, {};", f.table.starts_with("[c") ? "const" : "global", body.name(address), f.table);
    else
      body.line("mov.u64 {}, {};", body.name(address), f.name);
    const std::string label = body.label();
    body.text += fmt::format("{}: .callprototype {};\n", label, signature(f, "_", {}, "_ "));
    target = body.name(address);
    prototype = ", " + label;
  }
  const std::string uniform = body.uniform && random.chance(50) ? ".uni" : "";
  if (f.result.kind == Kind::None) {
    body.line("call{} {}, ({}){};", uniform, target, arguments, prototype);
  } else {
    body.line("{};", declaration(f.result, "retval0"));
    body.line("call{} (retval0), {}, ({}){};", uniform, target, arguments, prototype);
    if (f.result.kind == Kind::Array) {
      results = loadArray(body, "retval0");
    } else {
      results.push_back(body.temporary(f.result.c));
      body.line("ld.param.{} {}, [retval0+0];", accessType(f.result.c), body.name(results[0]));
    }
  }
  body.text += "  }\n";
  for (const Reg r : results) body.regs.keep(r);
}

void emitCall(Body& body) {
  if (body.file.functions.empty() || body.work > 16) return;
  Random& random = body.random;
  const DeviceFunction f = random.pick(body.file.functions);
  std::string depth, pointer;
  const bool byTable = !f.table.empty() && random.chance(40);
  for (const Value& v : f.parameters) {
    if (v.kind == Kind::Depth) {
      const Reg x = body.number(false);
      // Functions that call each other multiply: shallow ones inside.
      depth = body.name(body.masked(x, body.kernel ? 4 : 2));
    }
    if (v.kind != Kind::Pointer) continue;
    std::vector<Reg> usable;
    for (const Region& region : body.regions)
      for (const Base& base : region.bases)
        if (region.writable && (byTable || f.table.empty() || region.name == f.home) && region.size >= 32 &&
            base.reg >= 0 && base.space.empty() && base.offset == 0)
          usable.push_back(base.reg);
    if (usable.empty()) return;
    pointer = body.name(random.pick(usable));
  }
  emitCallOf(body, f, depth, pointer, byTable);
}

void addFunction(File& file) {
  Random& random = file.random;
  DeviceFunction f;
  f.name = fmt::format("device_{}", file.functions.size());
  const auto scalar = [&] {
    const Class c =
        random.pick({Class::I32, Class::I32, Class::I32, Class::I64, Class::F32, Class::F64, Class::I16});
    return Value{Kind::Scalar, c};
  };
  f.result = random.chance(25)   ? Value{Kind::Array, Class::I32}
             : random.chance(10) ? Value{Kind::None, Class::I32}
                                 : scalar();
  for (int i = random.between(1, 4); i > 0; --i)
    f.parameters.push_back(random.chance(15) ? Value{Kind::Array, Class::I32} : scalar());
  const bool tabled = file.options.has(Feature::Tables) && random.chance(50);
  const bool pointer = f.result.kind == Kind::None || random.chance(tabled ? 70 : 35),
             recursive = random.chance(30);
  if (pointer) f.parameters.push_back(Value{Kind::Pointer, Class::I64});
  if (recursive) f.parameters.push_back(Value{Kind::Depth, Class::I32});

  const std::string table = fmt::format("{}s{}", random.pick({"call", "ops"}), file.functions.size());
  const int entries = random.between(1, 3), entry = random.below(entries);
  if (tabled) {
    f.table = entry == 0 ? fmt::format("[{}]", table) : fmt::format("[{}+{}]", table, 8 * entry);
    f.home = random.pick({"slot", "slot", "depot", "static_memory_own"});
  }

  std::vector<std::string> names;
  for (std::size_t i = 0; i < f.parameters.size(); ++i) names.push_back(fmt::format("{}_param_{}", f.name, i));
  const std::string resultName = fmt::format("{}_result", f.name);

  Body body(file, false);
  body.work = 12;
  const Reg depth = prologue(body, f);
  emitStatements(body, random.between(2, 7));
  // A result is there before an early return.
  if (f.result.kind == Kind::Scalar && random.chance(30)) {
    const Reg p = body.condition(false);
    const std::string when = body.maybeNot(p);
    storeResult(body, f, resultName, "@" + when + " ");
    body.line("@{} ret;", when);
  }
  if (recursive) {
    const Reg less = body.temporary(Class::I32), done = body.temporary(Class::Pred);
    const std::string end = body.label();
    body.line("setp.eq.u32 {}, {}, 0;", body.name(done), body.name(depth));
    body.branchIf(body.name(done), end, false);
    body.line("add.s32 {}, {}, -1;", body.name(less), body.name(depth));
    body.regs.beginScope();
    emitCallOf(body, f, body.name(less), pointer ? body.name(body.regions.back().bases[0].reg) : "");
    body.foldSome(80);
    body.regs.endScope();
    body.place(end);
  }
  emitStatements(body, random.between(1, 5));
  body.foldSome(40);
  storeResult(body, f, resultName, "");
  body.line("ret;");
  body.regs.endStatement();

  file.globals += fmt::format(".func {}\n{{\n", signature(f, resultName, names, f.name));
  file.globals += body.variables + body.regs.declarations() + body.undefinedNames + body.text + "}\n\n";
  if (tabled) {
    std::string list;
    for (int i = 0; i < entries; ++i) {
      const std::string& other = file.functions.empty() || i == entry ? f.name : random.pick(file.functions).name;
      list += (i == 0 ? "" : ", ") + (i == entry ? f.name : other);
    }
    file.globals += fmt::format(".{} .align 8 .u64 {}[{}] = {{{}}};\n\n", table[0] == 'c' ? "const" : "global",
                                table, entries, list);
  }
  file.functions.push_back(std::move(f));
}

}  // namespace kernels
