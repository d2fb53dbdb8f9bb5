// What:       Integer divisions and remainders by constants become multiplications, shifts and masks; those of 16
//             bits are made in 32, those of 64 bits in 32 where both operands are known to fit; signed ones become
//             unsigned where neither operand is negative; a remainder of what is divided too, in the same block, is
//             taken from the quotient. Float divisions by a power of two become multiplications.
// Algorithm:  formulas.h; ranges of values (value_range.h) in the block of the division, with the branches above it.
// Invariants: the results are the same for every divisor but 0, for which PTX promises nothing but that it does not
//             trap: a division by such a constant is not optimized. A guarded division becomes unguarded arithmetic,
//             which cannot trap, and a guarded copy. Floats: the reciprocal of a power of two is exact, so that both
//             round the same number; only where both are normal numbers, so that .ftz finds neither.
// Cost:       linear in the divisions and what their ranges cost.
#include "passes/arithmetic/divide/by_constants.h"

#include <bit>
#include <map>
#include <tuple>

#include "passes/arithmetic/divide/division.h"
#include "passes/arithmetic/divide/ptx_algebra.h"
#include "passes/util/insertion_places.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt::division {
namespace {

class SingleDivisions {
 public:
  SingleDivisions(Function& f, PassContext& context)
      : f_(f),
        context_(context),
        module_(context.module),
        cfg_(context.analyses.cfg()),
        ranges_(context.analyses.valueRanges()) {}

  bool run() {
    for (uint32_t n = 0; n < cfg_.size(); ++n) {
      if (!cfg_[BlockId(n)].reachable || context_.isDeclined(BlockId(n))) continue;
      block_ = BlockId(n);
      quotients_.clear();
      for (const InstrId id : context_.analyses.slotIndexes().instructions(block_)) {
        if (const auto d = integerDivision(module_, f_, id))
          replace(*d);
        else if (const auto real = floatDivision(module_, f_, id))
          replace(*real);
      }
    }
    missed_.tell(context_, "division");
    return changed_;
  }

 private:
  // A 16-bit number counts as its 32-bit extension.
  IntegerRange rangeOf(const Division& d, const Operand& o) {
    if (!o.isRegister()) return IntegerRange::constant(d.width, *immediate(f_, o) & maskOf(d.width));
    const ValueId v = ranges_.valueRead(o.reg(), d.at);
    if (!v.valid()) return IntegerRange::full(d.width);
    const IntegerRange r = ranges_.at(o.reg(), v, block_);
    return r.width() == d.width ? r : IntegerRange::full(d.width);
  }

  void replace(const Division& d) {
    const IntegerRange x = rangeOf(d, d.dividend), y = rangeOf(d, d.divisor);
    if (x.isConstant() && y.isConstant()) return missed_.add("constant");  // ptxas folds it
    if (y.isConstant() && y.least() == 0) return missed_.add("zero-divisor");
    if (y.isConstant()) return byConstant(d, x, y);
    if (d.width == 16) return in32(d, x, y, true);
    if (d.width == 64 && x.most() <= UINT32_MAX && y.most() <= UINT32_MAX) return in32(d, x, y, false);
    if (d.width == 64 && d.isSigned && fits(x) && fits(y)) return absoluteIn32(d);
    if (d.isSigned && x.isNeverNegative() && y.isNeverNegative()) return asUnsigned(d);
    if (d.width == 64) return share(d);  // those of 32 bits are by_reciprocals.h's
  }

  static bool fits(const IntegerRange& r) { return r.smallest() >= INT32_MIN && r.largest() <= INT32_MAX; }

  // ---- making it ----

  PtxAlgebra algebra(const Division& d) const {
    return PtxAlgebra(f_, module_, d.width == 64 ? 64 : 32, placeBefore(module_, f_, d.at));
  }

  RegId source(PtxAlgebra& a, const Operand& o) { return o.isRegister() ? o.reg() : a.constant(*immediate(f_, o)); }

  // In 32 bits, of 16.
  RegId widened(PtxAlgebra& a, const Division& d, const Operand& o) {
    if (!o.isRegister())
      return a.constant(d.isSigned ? static_cast<uint64_t>(static_cast<int16_t>(*immediate(f_, o)))
                                   : *immediate(f_, o) & 0xffff);
    return a.make(d.isSigned ? SynthOpcode::CvtS32S16 : SynthOpcode::CvtU32U16, ScalarType::b32, {o.reg()});
  }

  void finish(const Division& d, PtxAlgebra& a, RegId result, std::string_view counter) {
    const SynthOpcode copy = d.width == 16   ? SynthOpcode::CvtU16U32
                             : d.width == 32 ? SynthOpcode::MovB32
                                             : SynthOpcode::MovB64;
    a.put(copy, d.result, {result}, d.isGuarded ? &d.guard : nullptr);
    f_.erase(d.at);
    context_.count(counter);
    changed_ = true;
  }

  void byConstant(const Division& d, const IntegerRange& x, const IntegerRange& y) {
    PtxAlgebra a = algebra(d);
    const RegId value = d.width == 16 ? widened(a, d, d.dividend) : source(a, d.dividend);
    const bool isUnsigned = !d.isSigned || (x.isNeverNegative() && y.isNeverNegative());
    const uint64_t size = y.least();
    const int64_t number = y.smallest();
    if (isUnsigned ? size == 1 : number == 1 || number == -1) {
      const RegId result = d.isRemainder ? a.constant(0) : number == -1 && !isUnsigned ? a.negate(value) : value;
      return finish(d, a, result, "by-constant");
    }
    if (isUnsigned) {
      if (d.isRemainder && std::has_single_bit(size))
        return finish(d, a, unsignedRemainderOfPower(a, value, size), "by-constant");
      const RegId q = quotient(d, size, [&] { return unsignedQuotient(a, value, size, x.most()); });
      return finish(d, a, d.isRemainder ? remainder(a, value, q, size) : q, "by-constant");
    }
    const uint64_t magnitude =
        (number < 0 ? -static_cast<uint64_t>(number) : static_cast<uint64_t>(number)) & maskOf(a.width());
    if (d.isRemainder && std::has_single_bit(magnitude))
      return finish(d, a, signedRemainderOfPower(a, value, magnitude), "by-constant");
    const RegId q = quotient(d, size, [&] { return signedQuotient(a, value, number); });
    finish(d, a, d.isRemainder ? remainder(a, value, q, static_cast<uint64_t>(number)) : q, "by-constant");
  }

  // The quotient of a division further up in the block with the same operands, or a new one.
  template <typename Make>
  RegId quotient(const Division& d, uint64_t divisor, Make make) {
    if (!d.dividend.isRegister()) return make();
    const ValueId v = ranges_.valueRead(d.dividend.reg(), d.at);
    const auto key = std::tuple(d.dividend.payload, v.value, divisor, d.isSigned);
    if (const auto it = quotients_.find(key); v.valid() && it != quotients_.end()) return it->second;
    const RegId q = make();
    if (v.valid()) quotients_[key] = q;
    return q;
  }

  // Both fit in 32 bits: of 16 bits as they are extended, of 64 as unsigned numbers.
  void in32(const Division& d, const IntegerRange& x, const IntegerRange& y, bool extends) {
    const InstrId place = placeBefore(module_, f_, d.at);
    PtxAlgebra a(f_, module_, 32, place);
    const bool isSigned = extends && d.isSigned && !(x.isNeverNegative() && y.isNeverNegative());
    const auto part = [&](const Operand& o) {
      if (extends) return widened(a, d, o);
      return o.isRegister() ? a.make(SynthOpcode::CvtU32U64, ScalarType::b32, {o.reg()})
                            : a.constant(*immediate(f_, o));
    };
    const RegId left = part(d.dividend), right = part(d.divisor);
    const RegId q = a.divide(left, right, isSigned);
    RegId result = d.isRemainder ? a.subtract(left, a.multiply(q, right)) : q;
    if (!extends) result = a.make(SynthOpcode::CvtU64U32, ScalarType::b64, {result});
    finish(d, a, result, extends ? "from-16-bits" : "from-64-bits");
  }

  // -2^31 / -1 is not a signed number of 32 bits, but its size is an unsigned one.
  void absoluteIn32(const Division& d) {
    const InstrId place = placeBefore(module_, f_, d.at);
    PtxAlgebra a(f_, module_, 32, place), whole(f_, module_, 64, place);
    const auto part = [&](const Operand& o) {
      return o.isRegister() ? a.make(SynthOpcode::CvtU32U64, ScalarType::b32, {o.reg()})
                            : a.constant(*immediate(f_, o));
    };
    const RegId left = part(d.dividend), right = part(d.divisor);
    const RegId leftSize = a.absolute(left), rightSize = a.absolute(right);
    const RegId q = a.divide(leftSize, rightSize, false);
    const RegId size = d.isRemainder ? a.subtract(leftSize, a.multiply(q, rightSize)) : q;
    const RegId wide = a.make(SynthOpcode::CvtU64U32, ScalarType::b64, {size});
    const RegId sign =
        whole.make(SynthOpcode::CvtS64S32, ScalarType::b64, {d.isRemainder ? left : a.differ(left, right)});
    finish(d, a, whole.negateIfNegative(wide, sign), "from-64-bits");
  }

  void asUnsigned(const Division& d) {
    PtxAlgebra a = algebra(d);
    const RegId left = source(a, d.dividend), right = source(a, d.divisor);
    const RegId q = a.divide(left, right, false);
    finish(d, a, d.isRemainder ? a.subtract(left, a.multiply(q, right)) : q, "signed-to-unsigned");
  }

  // A division of 64 bits is a call of a routine: the second of a pair takes the quotient of the first.
  void share(const Division& d) {
    if (!d.dividend.isRegister() || !d.divisor.isRegister()) return missed_.add("variable-divisor");
    const ValueId x = ranges_.valueRead(d.dividend.reg(), d.at), y = ranges_.valueRead(d.divisor.reg(), d.at);
    const auto key = std::tuple(d.dividend.payload, x.value, d.divisor.payload, y.value, d.isSigned);
    if (!x.valid() || !y.valid()) return missed_.add("variable-divisor");
    const auto it = shared_.find(key);
    if (it == shared_.end() || block_ != it->second.block) {
      if (!hasPartner(d, x, y)) return missed_.add("variable-divisor");
      PtxAlgebra a = algebra(d);
      shared_[key] = {block_, a.divide(d.dividend.reg(), d.divisor.reg(), d.isSigned)};
    }
    const RegId q = shared_[key].quotient;
    PtxAlgebra a = algebra(d);
    finish(d, a, d.isRemainder ? a.subtract(d.dividend.reg(), a.multiply(q, d.divisor.reg())) : q, "shared");
  }

  // Whether another division of the same values follows in the block.
  bool hasPartner(const Division& d, ValueId x, ValueId y) {
    constexpr int kMostLooked = 200;
    int looked = 0;
    for (InstrId id = f_[d.at].next; id.valid() && cfg_.blockOf(id) == block_ && ++looked < kMostLooked;
         id = f_[id].next) {
      const auto other = integerDivision(module_, f_, id);
      if (other && other->width == d.width && other->isSigned == d.isSigned && other->dividend.isRegister() &&
          other->divisor.isRegister() && other->dividend.payload == d.dividend.payload &&
          other->divisor.payload == d.divisor.payload && ranges_.valueRead(other->dividend.reg(), id) == x &&
          ranges_.valueRead(other->divisor.reg(), id) == y)
        return true;
    }
    return false;
  }

  // ---- floats ----

  std::optional<uint64_t> floatBits(const FloatDivision& d) {
    const Operand& o = d.divisor;
    if (o.flags != 0 && o.kind != OperandKind::Decimal) return std::nullopt;
    switch (o.kind) {
      case OperandKind::Float32: return d.width == 32 ? std::optional<uint64_t>(o.payload) : std::nullopt;
      case OperandKind::Float64: return d.width == 64 ? std::optional(f_.constants[o.payload]) : std::nullopt;
      case OperandKind::Register: break;
      default: return std::nullopt;
    }
    const ValueId v = ranges_.valueRead(o.reg(), d.at);
    if (!v.valid() || info(f_.registers[o.payload].type).bits != d.width) return std::nullopt;
    const IntegerRange r = ranges_.of(o.reg(), v);
    return r.isConstant() ? std::optional(r.least()) : std::nullopt;
  }

  void replace(const FloatDivision& d) {
    const auto bits = floatBits(d);
    if (!bits) return missed_.add("variable-divisor");
    const unsigned fraction = d.width == 32 ? 23 : 52, exponents = d.width == 32 ? 8 : 11;
    const uint64_t sign = *bits & uint64_t{1} << (d.width - 1);
    const uint64_t exponent = *bits >> fraction & maskOf(exponents), bias = maskOf(exponents - 1);
    if ((*bits & maskOf(fraction)) != 0) return missed_.add("no-power-of-two");
    // The exponent of the reciprocal is 2 * bias - exponent.
    if (exponent == 0 || exponent >= 2 * bias) return missed_.add("subnormal-reciprocal");
    const uint64_t reciprocal = sign | (2 * bias - exponent) << fraction;
    std::vector<Operand> operands;
    for (const Operand& o : f_.operandsOf(f_[d.at])) operands.push_back(o);
    Operand& last = operands.back();
    last = {.kind = d.width == 32 ? OperandKind::Float32 : OperandKind::Float64, .join = Join::Comma};
    last.payload = static_cast<uint32_t>(d.width == 32 ? reciprocal : f_.constants.size());
    if (d.width == 64) f_.constants.push_back(reciprocal);
    f_.insert(placeBefore(module_, f_, d.at), module_.synthOpcode(multiplication(d)), operands);
    f_.erase(d.at);
    context_.count("float-by-power-of-two");
    changed_ = true;
  }

  static SynthOpcode multiplication(const FloatDivision& d) {
    using enum SynthOpcode;
    const std::size_t kind = d.width == 64 ? 2 : d.flushes ? 1 : 0;
    constexpr SynthOpcode kOpcodes[4][3] = {{MulRnF32, MulRnFtzF32, MulRnF64},
                                            {MulRzF32, MulRzFtzF32, MulRzF64},
                                            {MulRmF32, MulRmFtzF32, MulRmF64},
                                            {MulRpF32, MulRpFtzF32, MulRpF64}};
    const std::size_t mode = d.rounding == RoundingMode::Rn   ? 0
                             : d.rounding == RoundingMode::Rz ? 1
                             : d.rounding == RoundingMode::Rm ? 2
                                                              : 3;
    return kOpcodes[mode][kind];
  }

  struct Shared {
    BlockId block;
    RegId quotient;
  };

  Function& f_;
  PassContext& context_;
  const Module& module_;
  const Cfg& cfg_;
  ValueRanges& ranges_;
  MissedRemarks missed_;
  BlockId block_;
  std::map<std::tuple<uint32_t, uint32_t, uint64_t, bool>, RegId> quotients_;  // of this block
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, bool>, Shared> shared_;
  bool changed_ = false;
};

}  // namespace

bool replaceSingle(Function& f, PassContext& context) { return SingleDivisions(f, context).run(); }

}  // namespace ptxopt::division
