// A form is accepted by a table of types and shapes and by the modifiers that fit them. A product gathers A, B and C
// from registers into matrices, multiplies block by block, and scatters D.
#include "exec/matrix/mma.h"

#include <algorithm>

#include "exec/matrix/components.h"
#include "exec/matrix/wmma.h"

namespace ptxopt::exec::matrix {

namespace {

// A and C by rows, B by columns, so that a dot product walks both operands in step.
std::size_t placeOf(const FragmentShape& f, const Coordinate& at) {
  const std::size_t inBlock = f.matrix == Matrix::B ? std::size_t{at.column} * f.rows + at.row
                                                    : std::size_t{at.row} * f.columns + at.column;
  return std::size_t{at.block} * f.rows * f.columns + inBlock;
}

struct Form {
  Element a;
  unsigned m, k;  // n is 8
};

constexpr Form kForms[] = {
    {Element::F16, 16, 8},   {Element::F16, 16, 16}, {Element::Bf16, 16, 8}, {Element::Bf16, 16, 16},
    {Element::Tf32, 16, 4},  {Element::Tf32, 16, 8}, {Element::F64, 8, 4},   {Element::F64, 16, 4},
    {Element::F64, 16, 8},   {Element::F64, 16, 16}, {Element::S8, 8, 16},   {Element::S8, 16, 16},
    {Element::S8, 16, 32},   {Element::S4, 8, 32},   {Element::S4, 16, 32},  {Element::S4, 16, 64},
    {Element::B1, 8, 128},   {Element::B1, 16, 128}, {Element::B1, 16, 256}, {Element::E4m3, 16, 16},
    {Element::E4m3, 16, 32},
};

// The types that stand for each other in the table: signed for unsigned, e4m3 for e5m2.
Element family(Element e) {
  switch (e) {
    case Element::U8: return Element::S8;
    case Element::U4: return Element::S4;
    case Element::E5m2: return Element::E4m3;
    default: return e;
  }
}

bool areResults(const Components& c, Element type) { return c.types[0] == type && c.types[3] == type; }

// Types d, a, b, c and the modifiers that go with them; the shape is not looked at.
bool fitTogether(const Components& c) {
  const Element a = c.types[1], b = c.types[2];
  if (c.rounding && a != Element::F64) return false;
  if ((c.bitOperation || c.popc) && a != Element::B1) return false;
  if (c.satfinite && (isFloat(a) || a == Element::B1)) return false;
  if (c.kindF8f6f4 && !isTinyFloat(a)) return false;
  switch (family(a)) {
    case Element::F16: return b == a && (areResults(c, Element::F16) || areResults(c, Element::F32));
    case Element::Bf16:
    case Element::Tf32: return b == a && areResults(c, Element::F32);
    case Element::F64: return b == a && areResults(c, Element::F64);
    case Element::S8:
    case Element::S4: return family(b) == family(a) && areResults(c, Element::S32);
    case Element::B1: return b == a && areResults(c, Element::S32) && c.popc && c.bitOperation;
    default: {
      const bool haveKind = c.kindF8f6f4 || (family(a) == Element::E4m3 && family(b) == Element::E4m3);
      return haveKind && isTinyFloat(a) && isTinyFloat(b) &&
             (areResults(c, Element::F16) || areResults(c, Element::F32));
    }
  }
}

bool onlyWords(const Components& c, std::initializer_list<std::string_view> allowed) {
  return std::all_of(c.words.begin(), c.words.end(), [&](std::string_view word) {
    return std::find(allowed.begin(), allowed.end(), word) != allowed.end();
  });
}

Arithmetic arithmeticOf(const Components& c) {
  Arithmetic how;
  how.d = c.types[0], how.a = c.types[1], how.b = c.types[2], how.c = c.types[3];
  how.satfinite = c.satfinite;
  how.bitOperation = c.bitOperation.value_or(BitOperation::Xor);
  how.rounding = c.rounding.value_or(Rounding::Nearest);
  return how;
}

MmaShape sizedShape(const Components& c) {
  MmaShape shape;
  shape.m = c.m, shape.n = c.n, shape.k = c.k;
  shape.aLayout = c.layouts[0], shape.bLayout = c.layouts[1];
  shape.arithmetic = arithmeticOf(c);
  return shape;
}

FragmentShape quadFragment(Matrix matrix, Element element, Scheme scheme, unsigned rows, unsigned columns) {
  FragmentShape f;
  f.matrix = matrix;
  f.element = element;
  f.scheme = scheme;
  f.rows = rows, f.columns = columns;
  f.blocks = 4;
  f.slotBits = bits(element);
  f.elementsPerLane = f.distinctPerLane();
  return f;
}

std::optional<MmaShape> quadShape(const Components& c) {
  const Element d = c.types[0], accumulator = c.types[3];
  const auto isResult = [](Element e) { return e == Element::F16 || e == Element::F32; };
  if (c.types[2] != Element::F16 || !isResult(d) || !isResult(accumulator)) return std::nullopt;
  if (d == Element::F16 && accumulator == Element::F32) return std::nullopt;
  if (c.satfinite || c.popc || c.kindF8f6f4 || c.bitOperation || c.rounding) return std::nullopt;
  MmaShape shape = sizedShape(c);
  const auto scheme = [](Element e) { return e == Element::F32 ? Scheme::QuadF32 : Scheme::QuadRows; };
  const bool aByRows = shape.aLayout == Layout::Row, bByColumns = shape.bLayout == Layout::Column;
  shape.a = Operand(quadFragment(Matrix::A, Element::F16, aByRows ? Scheme::QuadRows : Scheme::QuadColumns, 8, 4));
  shape.b =
      Operand(quadFragment(Matrix::B, Element::F16, bByColumns ? Scheme::QuadRows : Scheme::QuadColumns, 4, 8));
  shape.c = Operand(quadFragment(Matrix::C, accumulator, scheme(accumulator), 8, 8));
  shape.d = Operand(quadFragment(Matrix::D, d, scheme(d), 8, 8));
  return shape;
}

}  // namespace

Operand::Operand(const FragmentShape& fragment) : fragment_(fragment) {
  const unsigned word = elementsInWord(fragment.element);
  size_ = std::size_t{fragment.rows} * fragment.columns * fragment.blocks / word;
  mask_ = ~uint64_t{0} >> (64 - bits(fragment.element) * word);
  const unsigned perLane = fragment.elementsPerLane / word;
  for (unsigned i = 0; i < perLane; ++i) {
    const unsigned index = i * word;
    slots_.push_back(
        {static_cast<uint8_t>(index / fragment.perRegister()), static_cast<uint8_t>(fragment.shiftOf(index))});
  }
  places_.reserve(std::size_t{32} * perLane);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < perLane; ++i) {
      const std::size_t place = placeOf(fragment, fragment.elementOf(lane, i * word));
      places_.push_back(static_cast<uint32_t>(place / word));
    }
  }
}

void Operand::gather(std::span<const Lanes> registers, std::span<uint64_t> matrix) const {
  const uint32_t* place = places_.data();
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (const Slot slot : slots_) matrix[*place++] = registers[slot.registerIndex][lane] >> slot.shift & mask_;
  }
}

void Operand::scatter(std::span<const uint64_t> matrix, std::span<Lanes> registers) const {
  for (Lanes& lanes : registers.first(this->registers())) lanes.fill(0);
  const uint32_t* place = places_.data();
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (const Slot slot : slots_) registers[slot.registerIndex][lane] |= (matrix[*place++] & mask_) << slot.shift;
  }
}

std::optional<MmaShape> mmaShape(std::span<const std::string_view> components) {
  const auto c = sortComponents(components);
  if (!c || c->layouts.size() != 2 || c->types.size() != 4 || c->n != 8 || !onlyWords(*c, {"sync", "aligned"})) {
    return std::nullopt;
  }
  const Element a = c->types[1];
  if (a == Element::F16 && c->m == 8 && c->k == 4) return quadShape(*c);
  if (c->layouts[0] != Layout::Row || c->layouts[1] != Layout::Column || !fitTogether(*c)) return std::nullopt;
  const bool isF8f6f4 = isTinyFloat(a);
  // The six types of kind::f8f6f4 have one shape, but e4m3 and e5m2 among themselves have two.
  const bool isFp8 = family(a) == Element::E4m3 && family(c->types[2]) == Element::E4m3;
  const Element key = isF8f6f4 ? Element::E4m3 : family(a);
  const bool isKnown = std::any_of(std::begin(kForms), std::end(kForms), [&](const Form& form) {
    return form.a == key && form.m == c->m && form.k == c->k;
  });
  if (!isKnown || (isF8f6f4 && !isFp8 && c->k != 32)) return std::nullopt;
  MmaShape shape = sizedShape(*c);
  const Arithmetic& how = shape.arithmetic;
  shape.a = Operand(tiledFragment(Matrix::A, how.a, c->m, c->k, isF8f6f4 ? 8 : bits(how.a)));
  shape.b = Operand(tiledFragment(Matrix::B, how.b, c->k, c->n, isF8f6f4 ? 8 : bits(how.b)));
  shape.c = Operand(tiledFragment(Matrix::C, how.c, c->m, c->n, bits(how.c)));
  shape.d = Operand(tiledFragment(Matrix::D, how.d, c->m, c->n, bits(how.d)));
  return shape;
}

std::optional<MmaShape> wmmaShape(std::span<const std::string_view> components) {
  auto c = sortComponents(components);
  if (!c || c->layouts.size() != 2 || !onlyWords(*c, {"mma", "sync", "aligned"})) return std::nullopt;
  // f16 products name the types of D and C, others all four.
  const bool isShort = c->types.size() == 2;
  if (isShort) c->types = {c->types[0], Element::F16, Element::F16, c->types[1]};
  if (c->types.size() != 4 || c->kindF8f6f4) return std::nullopt;
  const Element a = c->types[1];
  if ((a == Element::F16) != isShort) return std::nullopt;
  if (a != c->types[2]) return std::nullopt;
  if (a == Element::F16) {
    // Every pair of f16 and f32 is there.
    const auto isResult = [](Element e) { return e == Element::F16 || e == Element::F32; };
    if (!isResult(c->types[0]) || !isResult(c->types[3]) || c->rounding || c->bitOperation || c->popc ||
        c->satfinite) {
      return std::nullopt;
    }
  } else if (!fitTogether(*c)) {
    return std::nullopt;
  }
  const auto fragment = [&](Matrix matrix, Element type, Layout layout) {
    return wmmaFragment(matrix, type, layout, c->m, c->n, c->k);
  };
  const auto fa = fragment(Matrix::A, a, c->layouts[0]), fb = fragment(Matrix::B, a, c->layouts[1]);
  const auto fc = fragment(Matrix::C, c->types[3], Layout::Row), fd = fragment(Matrix::D, c->types[0], Layout::Row);
  if (!fa || !fb || !fc || !fd) return std::nullopt;
  MmaShape shape = sizedShape(*c);
  shape.a = Operand(*fa), shape.b = Operand(*fb), shape.c = Operand(*fc), shape.d = Operand(*fd);
  return shape;
}

void multiply(const MmaShape& shape, std::span<const Lanes> a, std::span<const Lanes> b, std::span<const Lanes> c,
              std::span<Lanes> d) {
  std::vector<uint64_t> left(shape.a.size()), right(shape.b.size()), sum(shape.c.size());
  shape.a.gather(a, left);
  shape.b.gather(b, right);
  shape.c.gather(c, sum);
  const unsigned blocks = shape.a.fragment().blocks;
  const std::size_t aSize = left.size() / blocks, bSize = right.size() / blocks, dSize = sum.size() / blocks;
  const auto k = static_cast<unsigned>(aSize / shape.m);
  for (unsigned block = 0; block < blocks; ++block) {
    const std::span<uint64_t> result = std::span(sum).subspan(block * dSize, dSize);
    multiplyAdd(shape.arithmetic, shape.m, shape.n, k, std::span(left).subspan(block * aSize, aSize),
                std::span(right).subspan(block * bSize, bSize), result, result);
  }
  shape.d.scatter(sum, d);
}

}  // namespace ptxopt::exec::matrix
