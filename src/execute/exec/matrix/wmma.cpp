// The forms are accepted by type and size; the place in memory follows from the fragment's row and column, the layout
// and the stride.
#include "exec/matrix/wmma.h"

#include <algorithm>

#include "exec/matrix/components.h"

namespace ptxopt::exec::matrix {

namespace {

struct Size {
  unsigned m, n, k;
  friend bool operator==(const Size&, const Size&) = default;
};

bool isK16(const Size& s) { return s == Size{16, 16, 16} || s == Size{8, 32, 16} || s == Size{32, 8, 16}; }

bool isOperandForm(Element e, const Size& s) {
  switch (e) {
    case Element::F16:
    case Element::Bf16:
    case Element::S8:
    case Element::U8: return isK16(s);
    case Element::Tf32: return s == Size{16, 16, 8};
    case Element::F64: return s == Size{8, 8, 4};
    case Element::S4:
    case Element::U4: return s == Size{8, 8, 32};
    case Element::B1: return s == Size{8, 8, 128};
    default: return false;
  }
}

bool isResultForm(Element e, const Size& s) {
  switch (e) {
    case Element::F16: return isK16(s);
    case Element::F32: return isK16(s) || s == Size{16, 16, 8};
    case Element::S32: return isK16(s) || s == Size{8, 8, 32} || s == Size{8, 8, 128};
    case Element::F64: return s == Size{8, 8, 4};
    default: return false;
  }
}

std::optional<Matrix> matrixNamed(std::string_view word, bool isStore) {
  if (isStore) return word == "d" ? std::optional(Matrix::D) : std::nullopt;
  if (word == "a") return Matrix::A;
  if (word == "b") return Matrix::B;
  if (word == "c") return Matrix::C;
  return std::nullopt;
}

}  // namespace

std::optional<FragmentShape> wmmaFragment(Matrix matrix, Element element, Layout layout, unsigned m, unsigned n,
                                          unsigned k) {
  const Size size{m, n, k};
  const unsigned width = bits(element);
  if (matrix == Matrix::C || matrix == Matrix::D) {
    if (!isResultForm(element, size)) return std::nullopt;
    return tiledFragment(matrix, element, m, n, width);
  }
  if (!isOperandForm(element, size)) return std::nullopt;
  const Layout natural = matrix == Matrix::A ? Layout::Row : Layout::Column;
  if (width < 8 && layout != natural) return std::nullopt;
  FragmentShape f = matrix == Matrix::A ? tiledFragment(matrix, element, m, k, width)
                                        : tiledFragment(matrix, element, k, n, width);
  if (element == Element::F16) f.elementsPerLane = 16;
  return f;
}

uint64_t WmmaMove::bitOffset(unsigned lane, unsigned index, uint64_t stride) const {
  const Coordinate at = fragment.elementOf(lane, index);
  const uint64_t offset = layout == Layout::Row ? at.row * stride + at.column : at.column * stride + at.row;
  return offset * bits(fragment.element);
}

std::optional<WmmaMove> wmmaMove(std::span<const std::string_view> components) {
  const auto c = sortComponents(components);
  if (!c || c->layouts.size() != 1 || c->types.size() != 1 || c->words.size() < 2) return std::nullopt;
  if (c->satfinite || c->popc || c->kindF8f6f4 || c->bitOperation || c->rounding) return std::nullopt;
  const bool isStore = c->words[0] == "store";
  if (!isStore && c->words[0] != "load") return std::nullopt;
  const auto matrix = matrixNamed(c->words[1], isStore);
  if (!matrix) return std::nullopt;
  const bool areKnown = std::all_of(c->words.begin() + 2, c->words.end(), [](std::string_view word) {
    return word == "sync" || word == "aligned" || word == "global" || word == "shared" || word == "shared::cta";
  });
  if (!areKnown) return std::nullopt;
  const auto fragment = wmmaFragment(*matrix, c->types[0], c->layouts[0], c->m, c->n, c->k);
  if (!fragment) return std::nullopt;
  return WmmaMove{*fragment, c->layouts[0], isStore};
}

}  // namespace ptxopt::exec::matrix
