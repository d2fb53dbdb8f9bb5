// Constants as texts, and stores of them. What is computed here is computed by the compiler of the text: operators,
// signs and widths follow its rules.
#include "constants.h"

#include <fmt/format.h>

#include "memory.h"
#include "statements.h"

namespace kernels {
namespace {

std::string number(Random& random) {
  switch (random.below(6)) {
    case 0: return fmt::format("{}", random.between(0, 9));
    case 1: return fmt::format("{}U", random.between(0, 40));
    case 2: return fmt::format("0x{:x}", random.word() >> random.below(28));
    case 3: return fmt::format("-{}", random.between(1, 20));
    case 4: return fmt::format("0{:o}", random.between(1, 99));
    default: return fmt::format("{}", random.between(0, 1000));
  }
}

std::string floatLiteral(Random& random) {
  // Values that are the same in both widths, and not.
  switch (random.below(3)) {
    case 0: return random.pick({"2.5", "0.1", "3.0", "1e3", "-0.75", "16777217.0"});
    case 1: return random.pick({"0f3F800000", "0f40490FDB", "0f00000001"});
    default: return random.pick({"0d4008000000000000", "0d3FB999999999999A", "0dC059000000000000"});
  }
}

}  // namespace

std::string integerExpression(Random& random, int depth) {
  if (depth == 0 || random.chance(20)) return number(random);
  const auto part = [&] {
    const std::string inner = integerExpression(random, depth - 1);
    return random.chance(75) && depth > 1 ? "(" + inner + ")" : inner;
  };
  switch (random.below(8)) {
    case 0: return fmt::format("~{}", random.between(0, 99));
    case 1: return fmt::format("(-({}))", part());
    case 2: return fmt::format("(({}) {} {})", part(), random.pick({"/", "%"}), random.between(1, 30));
    case 3: return fmt::format("(({}) {} {})", part(), random.pick({"<<", ">>"}), random.between(0, 31));
    case 4: {
      const std::string x = part(), y = part();
      return fmt::format("(({}) {} ({}))", x, random.pick({"<", "<=", ">", ">=", "==", "!="}), y);
    }
    case 5: {
      const std::string x = part(), y = part(), z = part();
      return fmt::format("(({}) ? ({}) : ({}))", x, y, z);
    }
    default: {
      const std::string x = part(), y = part();
      return fmt::format("({}) {} ({})", x, random.pick({"+", "-", "*", "&", "|", "^"}), y);
    }
  }
}

std::string unusualConstant(Random& random, Class c, bool ofFloats) {
  switch (c) {
    case Class::I16: return fmt::format("{} + {}", random.between(0, 99), random.between(0, 99));
    case Class::Bits32:
    case Class::Bits64:
    case Class::I32:
    case Class::I64:
      return random.chance(40) ? fmt::format("{} {} {}", random.between(0, 99), random.pick({"+", "-", "*"}),
                                             random.between(0, 99))
                               : integerExpression(random, random.between(1, 3));
    case Class::F32:
    case Class::F64: return ofFloats ? floatLiteral(random) : "";
    default: return "";
  }
}

std::string addend(Random& random, Class c) {
  const int small = random.between(1, 40);
  switch (random.below(c == Class::I16 ? 2 : 5)) {
    case 0: return fmt::format("{}", small);
    case 1: return fmt::format("-{}", small);
    case 2: return fmt::format("({} + 4)", small);
    case 3: return fmt::format("0x{:x}", random.word() >> 1);
    default: return fmt::format("{} + 3", small);
  }
}

// What is stored is a constant or a sum of a register and one; it is read back whole or in part.
void emitConstantStores(Body& body) {
  if (!body.has(Feature::Memory)) return;
  Random& random = body.random;
  const Region* region = pickRegion(body, true, 8);
  if (!region) return;
  const Base base = pickBase(body, *region);
  const int at8 = random.below(region->size / 8) * 8;
  for (int i = random.between(1, 2); i > 0; --i) {
    const int half = 4 * random.below(2);
    const auto store = [&](const std::string& type, int offset, const std::string& what) {
      const Address address = at(body, base, at8 + offset);
      body.line("st{}.{} [{}], {};", address.space, type, address.text, what);
    };
    switch (random.below(9)) {
      case 0:
        store(random.pick({"u32", "b32", "s32"}), half, integerExpression(random, random.between(1, 3)));
        break;
      case 1: store(random.pick({"u64", "b64", "s64"}), 0, integerExpression(random, random.between(1, 3))); break;
      case 2: store("f32", half, floatLiteral(random)); break;
      case 3: store("f64", 0, floatLiteral(random)); break;
      case 4: {
        const Reg r = body.source(Class::I32);
        store(random.pick({"u32", "b32", "u8", "u16"}), half,
              fmt::format("{} + {}", body.name(r), addend(random, Class::I32)));
        break;
      }
      case 5: {
        const Reg r = body.source(Class::I64);
        store(random.pick({"u64", "b64"}), 0, fmt::format("{} + {}", body.name(r), addend(random, Class::I64)));
        break;
      }
      case 6:
        store(random.pick({"u8", "s8", "u16", "b16"}), random.below(4) * 2,
              fmt::format("{} {} {}", random.between(-90, 90), random.pick({"+", "-"}), random.between(0, 90)));
        break;
      case 7: {
        const std::string x = integerExpression(random, 1), y = integerExpression(random, 2);
        store(random.pick({"v2.u32", "v2.b32"}), 0, fmt::format("{{{}, {}}}", x, y));
        break;
      }
      default: store("b32", half, random.pick({"0f3F800000", "0fBF000000"})); break;
    }
  }
  const int width = random.pick({1, 2, 4, 4, 4, 8});
  loadFrom(body, at(body, base, at8 + random.below(8 / width) * width), width, false);
}

}  // namespace kernels
