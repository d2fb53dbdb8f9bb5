#include "operations.h"

namespace kernels {
namespace {

// Replaces each {x|y} by one of its texts.
std::string choose(Random& random, std::string_view pattern) {
  std::string result;
  while (true) {
    const std::size_t open = pattern.find('{');
    result += pattern.substr(0, open);
    if (open == std::string_view::npos) return result;
    const std::size_t close = pattern.find('}', open);
    std::vector<std::string_view> texts;
    std::string_view inside = pattern.substr(open + 1, close - open - 1);
    while (true) {
      const std::size_t bar = inside.find('|');
      texts.push_back(inside.substr(0, bar));
      if (bar == std::string_view::npos) break;
      inside.remove_prefix(bar + 1);
    }
    result += random.pick(texts);
    pattern.remove_prefix(close + 1);
  }
}

Class classOf(char letter) {
  switch (letter) {
    case 's':
    case 'S': return Class::I16;
    case 'l':
    case 'L': return Class::I64;
    case 'h': return Class::F16;
    case 'f':
    case 'F': return Class::F32;
    case 'd':
    case 'D': return Class::F64;
    case 'p':
    case 'q':
    case 'P': return Class::Pred;
    case 'x':
    case 'X': return Class::Bits32;
    case 'y':
    case 'Y': return Class::Bits64;
    default: return Class::I32;
  }
}

// A divisor: usually a number; else a value that is made odd, and positive where signs count.
std::string divisor(Body& body, Class c, bool isSigned) {
  Random& random = body.random;
  if (random.chance(60)) {
    const int small = random.between(1, 20), mid = random.between(2, 32767), power = 1 << random.between(1, 14);
    int value = random.pick({small, mid, power});
    if (isSigned && random.chance(30)) value = -value - 1;
    return fmt::format("{}", value);
  }
  const Reg x = body.source(c), t = body.temporary(c);
  const std::string_view type = bitType(c);
  if (isSigned || random.chance(50)) {
    const int mask = random.pick({7, 255, 0x7FFF});
    body.line("and.{} {}, {}, {};", type, body.name(t), body.name(x), mask);
    body.line("or.{} {}, {}, 1;", type, body.name(t), body.name(t));
  } else {
    body.line("or.{} {}, {}, 1;", type, body.name(t), body.name(x));
  }
  return body.name(t);
}

std::string operandText(Body& body, char letter, bool& number) {
  Random& random = body.random;
  switch (letter) {
    case 'b': return fmt::format("{}", random.below(256));
    case 'a':
      if (random.chance(70)) return fmt::format("{}", random.below(random.chance(90) ? 32 : 70));
      return body.name(body.source(Class::I32));
    case 'n': return divisor(body, Class::I16, false);
    case 'm': return divisor(body, Class::I16, true);
    case 'N': return divisor(body, Class::I32, false);
    case 'M': return divisor(body, Class::I32, true);
    case 'W': return divisor(body, Class::I64, false);
    case 'V': return divisor(body, Class::I64, true);
    case 'P': return body.maybeNot(body.source(Class::Pred));
    default: break;
  }
  const Class c = classOf(letter);
  const bool registerOnly = letter >= 'A' && letter <= 'Z';
  if (registerOnly || number) return body.name(body.source(c));
  const std::string text = body.operand(c);
  number = text[0] != '%';
  return text;
}

const Operation& pickOperation(Body& body, Feature feature) {
  while (true) {
    const auto all = operations();
    const Operation& op = all[static_cast<std::size_t>(body.random.below(static_cast<int>(all.size())))];
    if (op.feature == feature && op.arch <= body.arch() && (!op.approximate || body.file.options.approximate))
      return op;
  }
}

}  // namespace

void emitOperation(Body& body, Feature feature) {
  Random& random = body.random;
  const Operation& op = pickOperation(body, feature);
  const std::string opcode = choose(random, op.opcode);
  const bool two = op.operands.starts_with("pq");
  std::string sources;
  bool number = false;
  body.ofFloats = opcode.ends_with("f32") || opcode.ends_with("f64");
  for (const char letter : op.operands.substr(two ? 2 : 1)) sources += ", " + operandText(body, letter, number);
  body.ofFloats = false;

  // A guarded definition leaves the old value where the guard is false: it needs one.
  const Class c = classOf(op.operands[0]);
  if (body.has(Feature::Guards) && random.chance(12)) {
    const std::vector<Reg> old = body.regs.writable(c, body.onlyUniform);
    const Reg guard = body.source(Class::Pred);
    if (!old.empty() && !two) {
      const Reg result = random.pick(old);
      const std::string when = body.maybeNot(guard);
      body.line("@{} {} {}{};", when, opcode, body.name(result), sources);
      if (random.chance(30)) {
        // The other side: together a full definition.
        const std::string otherwise = when[0] == '!' ? when.substr(1) : "!" + when;
        if (result != guard)
          body.line("@{} {} {}{};", otherwise, choose(random, op.opcode), body.name(result), sources);
      }
      return;
    }
  }

  const Reg result = body.destination(c);
  if (two) {
    const Reg second = body.temporary(Class::Pred);
    body.line("{} {}|{}{};", opcode, body.name(result), body.name(second), sources);
    body.regs.keep(second, body.onlyUniform);
    return;
  }
  body.line("{} {}{};", opcode, body.name(result), sources);
  // The same again, for passes that find what is computed already; or a chain of copies.
  if (random.chance(6)) {
    const Reg again = body.destination(c);
    body.line("{} {}{};", opcode, body.name(again), sources);
  } else if (random.chance(6) && c != Class::Pred) {
    const Reg one = body.temporary(c), other = body.destination(c);
    body.line("mov.{} {}, {};", bitType(c), body.name(one), body.name(result));
    body.line("mov.{} {}, {};", bitType(c), body.name(other), body.name(one));
  }
}

}  // namespace kernels
