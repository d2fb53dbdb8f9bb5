// Products of sums, multiplied summand by summand.
//
// What:       (x + y) << c  with x extended becomes  mul.wide x', 1<<c  plus  y << c, and the like with several
//             summands; the same modulo two to the 64, whether x + y leaves 32 bits or not. The sum of 64 bits is
//             two instructions, and goes into one or two IMAD.WIDE. Where one address comes of it the base is added
//             first, and the summand that is made last goes last: what does not vary in a loop stays outside.
//             Numbers go first, too, or last where they become part of an address.
// Declines:   not-extended, sum-needed (something else reads it), sum-elsewhere (in another loop), overwritten (a
//             summand is no longer there), no-gain, pressure (a loop without a register for the factor).
#include <algorithm>
#include <utility>

#include "analysis/values/scev_instructions.h"
#include "passes/arithmetic/wide/products.h"

namespace ptxopt {

// Whether all that reads it are products by constants.
bool WideProducts::isForProducts(ValueKey k) const {
  return values_.isAlone(k) && std::ranges::all_of(values_.uses(k), [&](const ValueUse& u) {
           const OpcodeForm& opcode = form(u.at);
           const auto operands = f_.operandsOf(f_[u.at]);
           return (isShift(opcode) || isMultiplication(opcode)) && !f_[u.at].is(Instruction::Guarded) &&
                  operands.size() == 3 && u.operand == 1 && immediate(f_, operands[2]).has_value();
         });
}

bool WideProducts::isProductForOne(ValueKey k) const {
  return values_.definition(k).valid() && values_.isAlone(k) && values_.uses(k).size() == 1 &&
         isMultiplication(form(values_.definition(k)));
}

// The summands of `sum`, as `product` finds them. False when it is none that may be taken apart.
bool WideProducts::collect(const Operand& sum, InstrId at, bool isSubtracted, std::vector<Term>& terms,
                           unsigned& additions) {
  const ValueKey k = values_.read(sum.reg(), at);
  const InstrId id = k.valid() ? values_.definition(k) : InstrId();
  if (!id.valid() || !isSum(id)) return false;
  const auto operands = f_.operandsOf(f_[id]);
  if (operands.size() != 3) return false;
  ++additions;
  for (std::size_t o = 1; o < 3; ++o) {
    const Operand& operand = operands[o];
    if (!operand.isRegister() || operand.flags != 0) return false;
    Term t{.operand = operand,
           .at = id,
           .narrow = narrow_.of(operand, id),
           .isSubtracted = isSubtracted != (o == 2 && isSubtraction(form(id))),
           .place = {}};
    const ValueKey source = values_.read(operand.reg(), id);
    if (!source.valid()) return false;
    t.place = values_.place(source);
    // ptxas adds to the product in the instruction that makes the product.
    if (!t.narrow.any() && additions != 0 && isProductForOne(source)) --additions;
    // A sum in the sum, that nothing else needs.
    const InstrId inner = values_.definition(source);
    if (!t.narrow.any() && inner.valid() && terms.size() + 2 < kMostTerms && values_.isAlone(source) &&
        values_.uses(source).size() == 1 && isSum(inner)) {
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
  if (u.isAddress || !isAddition(form(u.at)) || f_[u.at].is(Instruction::Guarded) || operands.size() != 3 ||
      isTaken_[u.at.value] || context_.analyses.cfg().blockOf(u.at) != context_.analyses.cfg().blockOf(id))
    return {};
  const Operand& other = operands[u.operand == 1 ? 2 : 1];
  return other.isRegister() && other.flags == 0 && other.reg() != result.reg() ? u.at : InstrId();
}

// factor * term, before `id`
Operand WideProducts::emitTerm(const Term& t, InstrId id, int64_t factor, unsigned shift) {
  const Operand product = edits_.temporary(ScalarType::b64);
  if (t.narrow.any()) {
    const bool isSigned = prefersSigned(t.operand, t.at, t.narrow);
    const Operand left = narrow_.lower(t.operand, t.at, id, edits_);
    edits_.insert(id, isSigned ? SynthOpcode::MulWideS32 : SynthOpcode::MulWideU32,
                  {product, left, Edits::number(t.isSubtracted ? -factor : factor)});
  } else if (shift != 0) {
    edits_.insert(id, SynthOpcode::ShlB64, {product, Edits::asUse(t.operand), Edits::number(shift)});
  } else {
    edits_.insert(id, SynthOpcode::MulLoS64, {product, Edits::asUse(t.operand), Edits::number(factor)});
  }
  return Edits::asUse(product);
}

bool WideProducts::isOnlyAddress(InstrId addition) const {
  const ValueKey k = values_.written(f_.operandsOf(f_[addition])[0].reg(), addition);
  return k.valid() && values_.isAlone(k) &&
         std::ranges::all_of(values_.uses(k), [](const ValueUse& u) { return u.isAddress; });
}

bool WideProducts::distribute(InstrId id, const Operand& sum, int64_t factor, unsigned shift) {
  const auto reject = [&](std::string_view why) {
    missed_.add(why);
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
    if (t.narrow.any()) {
      // Within 64 bits: both are within 32.
      if (const auto c = narrow_.constant(t.operand, t.at); c && fitsKind(*c * own, true)) t.constant = *c * own;
      continue;
    }
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
  // A product that is none by mul.wide is two instructions for each product.
  const auto products = static_cast<unsigned>(values_.uses(k).size());
  if (!hasRoom(id)) return reject("pressure");
  // IADD3 has three operands; all signs but one are extended by an instruction of their own.
  const auto signs = static_cast<unsigned>(
      std::ranges::count_if(terms, [](const Term& t) { return t.narrow.any() && !t.narrow.isUnsigned; }));
  const unsigned before = 2 * ((additions + 1) / 2) + 2 * products + (signs != 0 ? signs - 1 : 0);
  const InstrId addition = singleAddition(id);
  ProductUses::Counts base;
  if (addition.valid()) base = uses_.of(f_.operandsOf(f_[id])[0], id);
  const unsigned after = products * static_cast<unsigned>(terms.size() + others) + 2 * base.uniform;
  if (after >= before) return reject("no-gain");
  for (const Term& t : terms) {
    const ValueKey source = values_.read(t.operand.reg(), t.at);
    bool extends = false;
    if (!narrow_.mayRead(source, id, extends)) return reject("overwritten");
    if (extends && cfg.blockOf(t.at) != block && !budget_.grant(t.narrow.any() ? 1 : 2, slots_[t.at], slots_[id]))
      return reject("pressure");
  }
  // Numbers go where they are part of an address, or out of the loop.
  const bool numbersLast = addition.valid() && isOnlyAddress(addition);
  std::ranges::stable_sort(
      terms, {}, [&](const Term& t) { return std::pair(t.constant.has_value() == numbersLast, t.place); });
  if (!addition.valid() && terms[0].constant) std::swap(terms[0], terms[1]);
  needFactor(factor, base.parameters);
  for (const Term& t : terms) isGone_[t.at.value] = true;
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
    const Operand product =
        terms[t].constant ? Edits::number(*terms[t].constant) : emitTerm(terms[t], id, factor, shift);
    if (t + 1 == terms.size()) {
      edits_.replace(addition.valid() ? addition : id, SynthOpcode::AddS64, {at, product});
    } else {
      const Operand partial = edits_.temporary(ScalarType::b64);
      edits_.insert(addition.valid() ? addition : id, SynthOpcode::AddS64, {partial, at, product});
      at = Edits::asUse(partial);
    }
  }
  context_.count("distributed");
  return true;
}

}  // namespace ptxopt
