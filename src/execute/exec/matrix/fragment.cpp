// Two functions compute the place of an element, one for the scheme of tiles and one for the quads of m8n8k4; both work
// on the element's number among the distinct ones of a lane.
#include "exec/matrix/fragment.h"

namespace ptxopt::exec::matrix {

namespace {

Coordinate tiled(const FragmentShape& f, unsigned lane, unsigned index) {
  const unsigned group = lane / 4, member = lane % 4;
  const bool isOperand = f.matrix == Matrix::A || f.matrix == Matrix::B;
  if (!isOperand) {
    unsigned rest = index / 2, row = group;
    if (f.rows >= 16) {
      row += 8 * (rest & 1);
      rest /= 2;
    }
    const unsigned steps = f.columns / 8;
    return {row + 16 * (rest / steps), 2 * member + (index & 1) + 8 * (rest % steps)};
  }
  const unsigned p = f.perRegister();
  const unsigned inStep = member * p + index % p;
  unsigned rest = index / p;
  if (f.matrix == Matrix::B) {
    const unsigned steps = f.rows / (4 * p);
    return {inStep + 4 * p * (rest % steps), group + 8 * (rest / steps)};
  }
  unsigned row = group;
  if (f.rows >= 16) {
    row += 8 * (rest & 1);
    rest /= 2;
  }
  const unsigned steps = f.columns / (4 * p);
  return {row + 16 * (rest / steps), inStep + 4 * p * (rest % steps)};
}

Coordinate quad(const FragmentShape& f, unsigned lane, unsigned index) {
  const unsigned high = lane < 16 ? 0 : 4;
  const unsigned block = lane % 16 / 4;
  const unsigned own = lane % 4 + high;
  switch (f.scheme) {
    case Scheme::QuadF32: return {(lane & 1) + (index & 2) + high, (index & 4) + (lane & 2) + (index & 1), block};
    case Scheme::QuadRows:
      return f.matrix == Matrix::B ? Coordinate{index, own, block} : Coordinate{own, index, block};
    default:
      return f.matrix == Matrix::B ? Coordinate{lane % 4, index + high, block}
                                   : Coordinate{index + high, lane % 4, block};
  }
}

}  // namespace

Coordinate FragmentShape::elementOf(unsigned lane, unsigned index) const {
  index %= distinctPerLane();
  return scheme == Scheme::Tiled ? tiled(*this, lane, index) : quad(*this, lane, index);
}

FragmentShape tiledFragment(Matrix matrix, Element element, unsigned rows, unsigned columns, unsigned container) {
  FragmentShape f;
  f.matrix = matrix;
  f.element = element;
  f.rows = rows;
  f.columns = columns;
  f.slotBits = container;
  f.slotShift = element == Element::E2m1 && container == 8 ? 2 : 0;
  f.registerBits = container == 64 ? 64 : 32;
  f.elementsPerLane = rows * columns / 32;
  return f;
}

}  // namespace ptxopt::exec::matrix
