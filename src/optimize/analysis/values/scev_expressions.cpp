// Nodes are interned in a hash table with open addressing. Each notes its size and the innermost loop in which it
// varies, so that most questions of invariance are answered without a walk.
#include "analysis/values/scev_expressions.h"

#include <algorithm>
#include <bit>

namespace ptxopt {
namespace {

uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 29);
}

uint64_t hashOf(const Expr& n, std::span<const ExprTerm> terms) {
  uint64_t h = mix(uint64_t{n.loop.value} << 16 | static_cast<uint64_t>(n.kind) << 8 | n.width, n.constant);
  h = mix(h, uint64_t{n.first} << 32 | n.second);
  for (const ExprTerm& t : terms) h = mix(h, t.factor + (uint64_t{t.expr.value} << 32));
  return h ^ h >> 32;
}

}  // namespace

bool ScevExpressions::isInside(LoopId inner, LoopId outer) const {
  return loops_.contains(outer, loops_[inner].header);
}

void ScevExpressions::noteLoop(Expr& node, LoopId loop) const {
  if (!loop.valid()) return;
  if (!node.varies || isInside(loop, node.innermost))
    node.innermost = loop;
  else if (!isInside(node.innermost, loop))
    node.isMixed = true;
  node.varies = true;
}

void ScevExpressions::noteVarying(Expr& node, ExprId part) const {
  const Expr& p = (*this)[part];
  node.size = static_cast<uint16_t>(std::min<uint32_t>(node.size + uint32_t{p.size}, UINT16_MAX));
  if (!p.varies) return;
  noteLoop(node, p.innermost);
  node.isMixed |= p.isMixed;
}

void ScevExpressions::grow() {
  std::vector<Slot> old(table_.size() * 2);
  old.swap(table_);
  const std::size_t mask = table_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.node == ExprId::kNone) continue;
    std::size_t at = slot.hash & mask;
    while (table_[at].node != ExprId::kNone) at = (at + 1) & mask;
    table_[at] = slot;
  }
}

ExprId ScevExpressions::intern(Expr& node, std::span<const ExprTerm> terms) {
  if (nodes_.size() * 2 >= table_.size()) grow();
  const std::size_t mask = table_.size() - 1;
  const auto hash = static_cast<uint32_t>(hashOf(node, terms));
  std::size_t at = hash & mask;
  for (; table_[at].node != ExprId::kNone; at = (at + 1) & mask) {
    if (table_[at].hash != hash) continue;
    const Expr& known = nodes_[table_[at].node];
    if (known.kind == node.kind && known.width == node.width && known.constant == node.constant &&
        known.first == node.first && known.second == node.second && known.loop == node.loop &&
        std::ranges::equal(this->terms(ExprId(table_[at].node)), terms))
      return ExprId(table_[at].node);
  }
  noteLoop(node, node.loop);
  switch (node.kind) {
    case ExprKind::Constant:
    case ExprKind::Value: break;
    case ExprKind::Sum:
    case ExprKind::Product: break;
    case ExprKind::SignExtend:
    case ExprKind::ZeroExtend:
    case ExprKind::Truncate: noteVarying(node, node.operand()); break;
    default: noteVarying(node, node.left()); noteVarying(node, node.right());
  }
  for (const ExprTerm& t : terms) noteVarying(node, t.expr);
  node.firstTerm = static_cast<uint32_t>(terms_.size());
  node.termCount = static_cast<uint32_t>(terms.size());
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  nodes_.push_back(node);
  table_[at] = {static_cast<uint32_t>(nodes_.size() - 1), hash};
  return ExprId(nodes_.size() - 1);
}

ExprId ScevExpressions::constant(uint64_t bits, unsigned width) {
  Expr n;
  n.kind = ExprKind::Constant;
  n.width = static_cast<uint8_t>(width);
  n.constant = maskTo(bits, width);
  ExprId& last = constants_[(n.constant + width) % constants_.size()];
  if (!last.valid() || nodes_[last.value].constant != n.constant || nodes_[last.value].width != n.width)
    last = intern(n, {});
  return last;
}

ExprId ScevExpressions::value(RegId reg, ValueId value, unsigned width, LoopId loop) {
  Expr n;
  n.kind = ExprKind::Value;
  n.width = static_cast<uint8_t>(width);
  n.first = reg.value;
  n.second = value.value;
  // Not the node's loop, which is part of what it is, but where it varies.
  const std::size_t before = nodes_.size();
  const ExprId e = intern(n, {});
  if (nodes_.size() != before) noteLoop(nodes_.back(), loop);
  return e;
}

bool ScevExpressions::isInvariant(ExprId e, LoopId l) const {
  const Expr& n = (*this)[e];
  if (!n.varies) return true;
  if (!n.isMixed) return !isInside(n.innermost, l);
  if (n.loop.valid() && isInside(n.loop, l)) return false;
  switch (n.kind) {
    case ExprKind::Constant:
    case ExprKind::Value: return !isInside(n.innermost, l);
    case ExprKind::Sum:
    case ExprKind::Product:
      return std::ranges::all_of(terms(e), [&](const ExprTerm& t) { return isInvariant(t.expr, l); });
    case ExprKind::SignExtend:
    case ExprKind::ZeroExtend:
    case ExprKind::Truncate: return isInvariant(n.operand(), l);
    default: return isInvariant(n.left(), l) && isInvariant(n.right(), l);
  }
}

ExprId ScevExpressions::extend(ExprKind kind, ExprId a, unsigned width) {
  Expr n;
  n.kind = kind;
  n.width = static_cast<uint8_t>(width);
  n.first = a.value;
  return intern(n, {});
}

ExprId ScevExpressions::signExtend(ExprId a, unsigned width) {
  const Expr n = (*this)[a];
  if (n.width == width) return a;
  if (n.kind == ExprKind::Constant) return constant(static_cast<uint64_t>(signedAt(n.constant, n.width)), width);
  if (n.kind == ExprKind::SignExtend) return signExtend(n.operand(), width);
  if (n.kind == ExprKind::ZeroExtend) return zeroExtend(n.operand(), width);
  return extend(ExprKind::SignExtend, a, width);
}

ExprId ScevExpressions::zeroExtend(ExprId a, unsigned width) {
  const Expr n = (*this)[a];
  if (n.width == width) return a;
  if (n.kind == ExprKind::Constant) return constant(n.constant, width);
  if (n.kind == ExprKind::ZeroExtend) return zeroExtend(n.operand(), width);
  return extend(ExprKind::ZeroExtend, a, width);
}

ExprId ScevExpressions::truncate(ExprId a, unsigned width) {
  const Expr n = (*this)[a];
  if (n.width == width) return a;
  switch (n.kind) {
    case ExprKind::Constant: return constant(n.constant, width);
    case ExprKind::Truncate: return truncate(n.operand(), width);
    case ExprKind::SignExtend:
    case ExprKind::ZeroExtend: {
      const unsigned inner = (*this)[n.operand()].width;
      if (inner >= width) return truncate(n.operand(), width);
      return n.kind == ExprKind::SignExtend ? signExtend(n.operand(), width) : zeroExtend(n.operand(), width);
    }
    case ExprKind::Recurrence: {
      const ExprId start = truncate(n.start(), width);
      return recurrence(n.loop, start, truncate(n.step(), width));
    }
    case ExprKind::Sum: {
      ExprId all = constant(n.constant, width);
      for (uint32_t k = 0; k < n.termCount; ++k) {
        const ExprTerm t = terms_[n.firstTerm + k];
        all = add(all, scale(truncate(t.expr, width), t.factor));
      }
      return all;
    }
    case ExprKind::Product: {
      ExprId all = constant(1, width);
      for (uint32_t k = 0; k < n.termCount; ++k) all = multiply(all, truncate(terms_[n.firstTerm + k].expr, width));
      return all;
    }
    default: return extend(ExprKind::Truncate, a, width);
  }
}

ExprId ScevExpressions::minMax(ExprKind kind, ExprId a, ExprId b) {
  if (a == b) return a;
  const unsigned width = (*this)[a].width;
  if (isConstant(a) && isConstant(b)) {
    const uint64_t x = (*this)[a].constant, y = (*this)[b].constant;
    const int64_t sx = signedAt(x, width), sy = signedAt(y, width);
    switch (kind) {
      case ExprKind::UnsignedMin: return x < y ? a : b;
      case ExprKind::UnsignedMax: return x > y ? a : b;
      case ExprKind::SignedMin: return sx < sy ? a : b;
      default: return sx > sy ? a : b;
    }
  }
  if (b < a) std::swap(a, b);
  Expr n;
  n.kind = kind;
  n.width = static_cast<uint8_t>(width);
  n.first = a.value;
  n.second = b.value;
  return intern(n, {});
}

ExprId ScevExpressions::divide(ExprId a, ExprId b) {
  const unsigned width = (*this)[a].width;
  if (isConstant(b) && (*this)[b].constant != 0) {
    const uint64_t d = (*this)[b].constant;
    if (d == 1) return a;
    if (isConstant(a)) return constant((*this)[a].constant / d, width);
  }
  Expr n;
  n.kind = ExprKind::UnsignedDivide;
  n.width = static_cast<uint8_t>(width);
  n.first = a.value;
  n.second = b.value;
  return intern(n, {});
}

ExprId ScevExpressions::remainder(ExprId a, ExprId b) {
  const unsigned width = (*this)[a].width;
  if (isConstant(b) && (*this)[b].constant != 0) {
    const uint64_t d = (*this)[b].constant;
    if (d == 1) return constant(0, width);
    if (isConstant(a)) return constant((*this)[a].constant % d, width);
    // What is left of a power of two are the lowest bits.
    if (std::has_single_bit(d) && d != 1)
      return zeroExtend(truncate(a, static_cast<unsigned>(std::countr_zero(d))), width);
  }
  Expr n;
  n.kind = ExprKind::UnsignedRemainder;
  n.width = static_cast<uint8_t>(width);
  n.first = a.value;
  n.second = b.value;
  return intern(n, {});
}

ExprId ScevExpressions::recurrence(LoopId loop, ExprId start, ExprId step) {
  if (isConstant(step, 0)) return start;
  Expr n;
  n.kind = ExprKind::Recurrence;
  n.width = (*this)[start].width;
  n.loop = loop;
  n.first = start.value;
  n.second = step.value;
  return intern(n, {});
}

unsigned ScevExpressions::trailingZeros(ExprId e) const {
  const Expr& n = (*this)[e];
  const auto ofConstant = [&](uint64_t c) {
    return std::min<unsigned>(static_cast<unsigned>(std::countr_zero(c)), n.width);
  };
  switch (n.kind) {
    case ExprKind::Constant: return ofConstant(n.constant);
    case ExprKind::Sum: {
      unsigned least = ofConstant(n.constant);
      for (const ExprTerm& t : terms(e)) least = std::min(least, trailingZeros(t.expr) + ofConstant(t.factor));
      return std::min<unsigned>(least, n.width);
    }
    case ExprKind::Product: {
      unsigned all = 0;
      for (const ExprTerm& t : terms(e)) all += trailingZeros(t.expr);
      return std::min<unsigned>(all, n.width);
    }
    case ExprKind::SignExtend:
    case ExprKind::ZeroExtend: {
      const unsigned inner = trailingZeros(n.operand());
      return inner == (*this)[n.operand()].width ? n.width : inner;
    }
    case ExprKind::Truncate: return std::min<unsigned>(trailingZeros(n.operand()), n.width);
    case ExprKind::Recurrence:
    case ExprKind::UnsignedMin:
    case ExprKind::UnsignedMax:
    case ExprKind::SignedMin:
    case ExprKind::SignedMax: return std::min(trailingZeros(n.left()), trailingZeros(n.right()));
    default: return 0;
  }
}

bool ScevExpressions::contains(ExprId e, ExprId what) const {
  if (e == what) return true;
  const Expr& n = (*this)[e];
  switch (n.kind) {
    case ExprKind::Constant:
    case ExprKind::Value: return false;
    case ExprKind::Sum:
    case ExprKind::Product:
      return std::ranges::any_of(terms(e), [&](const ExprTerm& t) { return contains(t.expr, what); });
    case ExprKind::SignExtend:
    case ExprKind::ZeroExtend:
    case ExprKind::Truncate: return contains(n.operand(), what);
    default: return contains(n.left(), what) || contains(n.right(), what);
  }
}

}  // namespace ptxopt
