// Products of extended numbers as mul.wide.
//
// Product:      shl.b64 d, x, c ; mul.lo.s64 d, x, y ; mad.lo.s64 d, x, y, z  with x, and y if it is no constant,
// extended
//               in the same way from 32 bits, becomes  mul.wide.s32 d, x', y'  and an addition; mad.wide is taken
//               apart the same way. ptxas makes one IMAD.WIDE of mul.wide and the addition that reads it, where a
//               shift is LEA and LEA.HI.X and a product of 64 bits four instructions; mad.wide it makes three of.
// Distribution: (x + y) << c  with x extended becomes  mul.wide x', 1<<c  plus  y << c, and the like with up to
// four
//               summands; the same modulo two to the 64, whether x + y leaves 32 bits or not. The sum of 64 bits is
//               two instructions, and goes into one or two IMAD.WIDE. Where one address comes of it the base is
//               added first, and the summand that is made last goes last: what does not vary in a loop stays
//               outside.
// Declines:     trivial (by 0 or 1), shift-out (32 or more), constant (none of 32 bits of the kind), not-extended,
//               mixed-signs, low-half-only (addresses of shared memory, truncations: ptxas computes the lower half
//               only); of sums: sum-needed (something else reads it), sum-elsewhere (in another loop),
//               overwritten (a summand is no longer there), no-gain; of all: pressure (a loop without a
//               register for the factor).
#include "passes/wide/products.h"

#include <algorithm>
#include <bit>

#include "analysis/scev_instructions.h"

namespace ptxopt {
namespace {

bool isAddition(std::string_view opcode) { return opcode == "add.s64" || opcode == "add.u64"; }
bool isSubtraction(std::string_view opcode) { return opcode == "sub.s64" || opcode == "sub.u64"; }
bool isMultiplication(std::string_view opcode) { return opcode == "mul.lo.s64" || opcode == "mul.lo.u64"; }

bool fitsKind(int64_t factor, bool isSigned) {
  return isSigned ? factor >= INT32_MIN && factor <= INT32_MAX : factor >= 0 && factor <= int64_t{UINT32_MAX};
}

std::span<const Operand> withoutGuard(const Function& f, InstrId id) {
  return f.operandsOf(f[id]).subspan(f[id].is(Instruction::Guarded) ? 1 : 0);
}

}  // namespace

WideProducts::WideProducts(const Function& f, PassContext& context, const AddressValues& values,
                           NarrowValues& narrow, Edits& edits, Declines& declines)
    : f_(f),
      context_(context),
      module_(context.module),
      slots_(context.analyses.slotIndexes()),
      values_(values),
      narrow_(narrow),
      edits_(edits),
      declines_(declines),
      room_(f, context),
      loopRoom_(f, context),
      isTaken_(f.instructions.size()) {}

// Whether anything needs more than the lower half of the value. Where it cannot be seen, yes.
bool WideProducts::needsUpper(ValueKey k, unsigned depth) const {
  if (depth == kMostDepth || !values_.isAlone(k)) return true;
  for (const ValueUse& u : values_.uses(k)) {
    if (u.isAddress) {
      if (u.space != MemorySpace::Shared) return true;
      continue;
    }
    const std::string_view opcode = text(u.at);
    if (!u.isPlain || f_[u.at].is(Instruction::Guarded)) return true;
    if (opcode.starts_with("cvt.") && opcode.size() > 7 && opcode.ends_with("64") &&
        info(module_.form(f_[u.at]).type).bits <= 32)
      continue;
    const bool keeps = isAddition(opcode) || isSubtraction(opcode) || isMultiplication(opcode) ||
                       opcode == "and.b64" || opcode == "mov.u64" || opcode == "mov.b64" ||
                       opcode == "cvta.to.shared.u64" || (opcode == "shl.b64" && u.operand == 1);
    const auto operands = f_.operandsOf(f_[u.at]);
    if (!keeps || !operands[0].isRegister()) return true;
    const ValueKey made = values_.written(operands[0].reg(), u.at);
    if (!made.valid() || needsUpper(made, depth + 1)) return true;
  }
  return false;
}

// Whether the loop has a register for the factor, which IMAD.WIDE reads from one.
bool WideProducts::hasRoom(InstrId id) {
  const LoopId l = context_.analyses.loops().of(context_.analyses.cfg().blockOf(id));
  if (!l.valid()) return true;
  if (roomOf_.empty()) roomOf_.resize(context_.analyses.loops().size());
  std::optional<int>& known = roomOf_[l.value];
  if (!known) known = loopRoom_.of(l);
  return *known > 0;
}

// Of a number that is extended either way: as it is extended, so that equal products stay equal.
bool WideProducts::prefersSigned(const Operand& o, InstrId at, Narrow n) const {
  if (n.isSigned != n.isUnsigned) return n.isSigned;
  const InstrId id = narrow_.extension(o, at);
  return id.valid() && text(id).ends_with("s32");
}

bool WideProducts::look(InstrId id) {
  const std::string_view opcode = text(id);
  const bool shifts = opcode == "shl.b64", multiplies = isMultiplication(opcode);
  const bool adds = opcode == "mad.lo.s64" || opcode == "mad.lo.u64";
  const bool isWide = opcode == "mad.wide.s32" || opcode == "mad.wide.u32";
  if (!shifts && !multiplies && !adds && !isWide) return false;
  const auto operands = withoutGuard(f_, id);
  if (operands.size() != (shifts || multiplies ? 3u : 4u) || !operands[0].isRegister() || !operands[0].writes())
    return false;
  const auto reject = [&](std::string_view why) {
    declines_.add(why);
    return true;
  };
  const auto isPlain = [&](const Operand& o) {
    return (o.isRegister() && o.flags == 0) || immediate(f_, o).has_value();
  };
  if (!std::ranges::all_of(operands.subspan(1), isPlain)) return reject("not-extended");
  if (const ValueKey made = values_.written(operands[0].reg(), id); made.valid() && !needsUpper(made, 0))
    return reject("low-half-only");
  if (isWide) {
    splitWide(id, operands, opcode.ends_with("s32"));
    return true;
  }
  Operand a = operands[1], b = operands[2];
  if (immediate(f_, a) && !shifts) std::swap(a, b);
  if (!a.isRegister()) return reject("trivial");
  const auto constant = immediate(f_, b);
  if (shifts) {
    if (!constant) return reject("not-extended");
    if (*constant >= 32) return reject("shift-out");
    b = Edits::number(0);
  }
  const Operand* added = adds ? &operands[3] : nullptr;
  if (!constant) {
    const Narrow x = narrow_.of(a, id), y = x.any() ? narrow_.of(b, id) : Narrow();
    const Narrow both = x & y;
    if (!y.any()) return reject("not-extended");
    if (!both.any()) return reject("mixed-signs");
    emitProduct(id, a, b, prefersSigned(a, id, both), added);
    return true;
  }
  const int64_t factor = shifts ? int64_t{1} << *constant : static_cast<int64_t>(*constant);
  if (factor == 0 || factor == 1) return reject("trivial");
  const Narrow x = narrow_.of(a, id);
  if (x.any() && !hasRoom(id)) return reject("pressure");
  const Narrow kind{x.isSigned && fitsKind(factor, true), x.isUnsigned && fitsKind(factor, false)};
  if (kind.any()) {
    emitProduct(id, a, Edits::number(factor), prefersSigned(a, id, kind), added);
    return true;
  }
  if (x.any() || !fitsKind(factor, true)) return reject("constant");
  if (adds || f_[id].is(Instruction::Guarded)) return reject("not-extended");
  distribute(id, a, factor, shifts ? static_cast<unsigned>(*constant) : 0);
  return true;
}

void WideProducts::emitProduct(InstrId id, const Operand& a, const Operand& b, bool isSigned,
                               const Operand* added) {
  const MadeOpcode opcode = isSigned ? MadeOpcode::MulWideS32 : MadeOpcode::MulWideU32;
  const Operand left = narrow_.lower(a, id, id, edits_);
  const Operand right = b.isRegister() ? narrow_.lower(b, id, id, edits_) : b;
  if (added == nullptr) {
    edits_.replace(id, opcode, {left, right});
  } else {
    const Operand product = edits_.temporary(ScalarType::b64);
    edits_.insert(id, opcode, {product, left, right});
    edits_.replace(id, MadeOpcode::AddS64, {Edits::asUse(*added), Edits::asUse(product)});
  }
  context_.count("products");
}

void WideProducts::splitWide(InstrId id, std::span<const Operand> operands, bool isSigned) {
  const Operand product = edits_.temporary(ScalarType::b64);
  edits_.insert(id, isSigned ? MadeOpcode::MulWideS32 : MadeOpcode::MulWideU32,
                {product, Edits::asUse(operands[1]), Edits::asUse(operands[2])});
  edits_.replace(id, MadeOpcode::AddS64, {Edits::asUse(operands[3]), Edits::asUse(product)});
  context_.count("split");
}

// ---- sums ----

// Whether all that reads it are products by constants.
bool WideProducts::isForProducts(ValueKey k) const {
  return values_.isAlone(k) && std::ranges::all_of(values_.uses(k), [&](const ValueUse& u) {
           const std::string_view opcode = text(u.at);
           const auto operands = f_.operandsOf(f_[u.at]);
           return (opcode == "shl.b64" || isMultiplication(opcode)) && !f_[u.at].is(Instruction::Guarded) &&
                  operands.size() == 3 && u.operand == 1 && immediate(f_, operands[2]).has_value();
         });
}

// The summands of `sum`, as `product` finds them. False when it is none that may be taken apart.
bool WideProducts::collect(const Operand& sum, InstrId at, bool isSubtracted, std::vector<Term>& terms,
                           unsigned& additions) {
  const ValueKey k = values_.read(sum.reg(), at);
  const InstrId id = k.valid() ? values_.definition(k) : InstrId();
  if (!id.valid() || !(isAddition(text(id)) || isSubtraction(text(id)))) return false;
  const auto operands = f_.operandsOf(f_[id]);
  if (operands.size() != 3) return false;
  ++additions;
  for (std::size_t o = 1; o < 3; ++o) {
    const Operand& operand = operands[o];
    if (!operand.isRegister() || operand.flags != 0) return false;
    Term t{.operand = operand,
           .at = id,
           .narrow = narrow_.of(operand, id),
           .isSubtracted = isSubtracted != (o == 2 && isSubtraction(text(id))),
           .place = {}};
    const ValueKey source = values_.read(operand.reg(), id);
    if (!source.valid()) return false;
    t.place = values_.place(source);
    // A sum in the sum, that nothing else needs.
    const InstrId inner = values_.definition(source);
    if (!t.narrow.any() && inner.valid() && terms.size() + 2 < kMostTerms && values_.isAlone(source) &&
        values_.uses(source).size() == 1 && (isAddition(text(inner)) || isSubtraction(text(inner)))) {
      std::vector<Term> below = terms;
      unsigned more = additions;
      if (collect(operand, id, t.isSubtracted, below, more) &&
          std::any_of(below.begin() + static_cast<std::ptrdiff_t>(terms.size()), below.end(),
                      [](const Term& b) { return b.narrow.any(); })) {
        terms = std::move(below);
        additions = more;
        continue;
      }
    }
    terms.push_back(t);
  }
  return true;
}

// The addition that is all that reads the result of a product, in the same block.
InstrId WideProducts::singleAddition(InstrId id) const {
  const Operand& result = f_.operandsOf(f_[id])[0];
  const ValueKey k = values_.written(result.reg(), id);
  if (!k.valid() || !values_.isAlone(k) || values_.uses(k).size() != 1) return {};
  const ValueUse& u = values_.uses(k)[0];
  const auto operands = f_.operandsOf(f_[u.at]);
  if (u.isAddress || !isAddition(text(u.at)) || f_[u.at].is(Instruction::Guarded) || operands.size() != 3 ||
      isTaken_[u.at.value] || context_.analyses.cfg().blockOf(u.at) != context_.analyses.cfg().blockOf(id))
    return {};
  const Operand& other = operands[u.operand == 1 ? 2 : 1];
  return other.isRegister() && other.flags == 0 && other.reg() != result.reg() ? u.at : InstrId();
}

// factor * term, in front of `id`
Operand WideProducts::emitTerm(const Term& t, InstrId id, int64_t factor, unsigned shift) {
  const Operand product = edits_.temporary(ScalarType::b64);
  if (t.narrow.any()) {
    const bool isSigned = prefersSigned(t.operand, t.at, t.narrow);
    const Operand left = narrow_.lower(t.operand, t.at, id, edits_);
    edits_.insert(id, isSigned ? MadeOpcode::MulWideS32 : MadeOpcode::MulWideU32,
                  {product, left, Edits::number(t.isSubtracted ? -factor : factor)});
  } else if (shift != 0) {
    edits_.insert(id, MadeOpcode::ShlB64, {product, Edits::asUse(t.operand), Edits::number(shift)});
  } else {
    edits_.insert(id, MadeOpcode::MulLoS64, {product, Edits::asUse(t.operand), Edits::number(factor)});
  }
  return Edits::asUse(product);
}

bool WideProducts::distribute(InstrId id, const Operand& sum, int64_t factor, unsigned shift) {
  const auto reject = [&](std::string_view why) {
    declines_.add(why);
    return false;
  };
  std::vector<Term> terms;
  unsigned additions = 0;
  if (!collect(sum, id, false, terms, additions)) return reject("not-extended");
  const ValueKey k = values_.read(sum.reg(), id);
  if (!isForProducts(k)) return reject("sum-needed");
  unsigned others = 0;
  for (Term& t : terms) {
    // What is subtracted needs the negative factor.
    const int64_t own = t.isSubtracted ? -factor : factor;
    t.narrow = {t.narrow.isSigned && fitsKind(own, true), t.narrow.isUnsigned && fitsKind(own, false)};
    if (t.narrow.any()) continue;
    if (t.isSubtracted) return reject("not-extended");
    ++others;
  }
  if (others == terms.size()) return reject("not-extended");
  // One IMAD.WIDE for half an addition: what ptxas makes of the rest otherwise is as much.
  if (terms.size() - others < 2) return reject("no-gain");
  const Cfg& cfg = context_.analyses.cfg();
  const Loops& loops = context_.analyses.loops();
  const BlockId block = cfg.blockOf(id);
  if (loops.of(slots_.blockAt(values_.place(k))) != loops.of(block)) return reject("sum-elsewhere");
  // Each addition is two instructions, and a product that is none by mul.wide two for each product.
  const auto products = static_cast<unsigned>(values_.uses(k).size());
  if (!hasRoom(id)) return reject("pressure");
  const unsigned before = 2 * additions + 2 * products;
  const unsigned after = products * static_cast<unsigned>(terms.size() + others);
  if (after >= before) return reject("no-gain");
  for (const Term& t : terms) {
    const ValueKey source = values_.read(t.operand.reg(), t.at);
    bool extends = false;
    if (!narrow_.mayRead(source, id, extends)) return reject("overwritten");
    if (extends && cfg.blockOf(t.at) != block && !room_.grant(t.narrow.any() ? 1 : 2, slots_[t.at], slots_[id]))
      return reject("pressure");
  }
  std::ranges::stable_sort(terms, {}, &Term::place);
  const InstrId addition = singleAddition(id);
  const Operand result = f_.operandsOf(f_[id])[0];
  Operand at;
  std::size_t first = 0;
  if (addition.valid()) {
    const auto operands = f_.operandsOf(f_[addition]);
    at = Edits::asUse(operands[operands[1].reg() == result.reg() ? 2 : 1]);
    isTaken_[addition.value] = true;
  } else {
    at = emitTerm(terms[0], id, factor, shift);
    first = 1;
  }
  for (std::size_t t = first; t < terms.size(); ++t) {
    const Operand product = emitTerm(terms[t], id, factor, shift);
    if (t + 1 == terms.size()) {
      edits_.replace(addition.valid() ? addition : id, MadeOpcode::AddS64, {at, product});
    } else {
      const Operand partial = edits_.temporary(ScalarType::b64);
      edits_.insert(addition.valid() ? addition : id, MadeOpcode::AddS64, {partial, at, product});
      at = Edits::asUse(partial);
    }
  }
  context_.count("distributed");
  return true;
}

}  // namespace ptxopt
