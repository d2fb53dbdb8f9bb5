// Each register with one definition gets a fate by the rules of the header, in the order of the text; spans of those
// that lend go to the register that lives instead. Spans of one value are then joined and sorted.
#include "analysis/values/allocated_values.h"

#include <algorithm>

namespace ptxopt {
namespace {

enum class Fate : uint8_t {
  Kept,
  Gone,   // costs nothing
  Lends,  // costs nothing, but its sources live as long
};

class Chooser {
 public:
  Chooser(const Module& module, const Function& f, const RegisterPressure& pressure)
      : module_(module), f_(f), pressure_(pressure), fates_(f.registers.size()), definition_(f.registers.size()) {}

  AllocatedValues run() {
    findUses();
    for (uint32_t r = 0; r < f_.registers.size(); ++r) {
      const RegisterClass c = f_.registers[r].registerClass();
      const bool isInteger = c == RegisterClass::B32 || c == RegisterClass::B64 || c == RegisterClass::B16;
      if (isInteger && pressure_.fileOf(RegId(r)) == RegisterFile::Uniform) fates_[r] = Fate::Gone;
    }
    // In the order of the text, so that what is known of sources helps, but for those that are defined further
    // down.
    for (const InstrId id : f_)
      if (f_[id].isInstruction() && f_[id].operandCount > 0)
        if (const Operand& o = f_.operandsOf(f_[id])[0]; o.isRegister() && o.role == Role::Def) decide(o.reg());
    return collect();
  }

 private:
  const OpcodeForm& formOf(const Instruction& i) const { return module_.form(i); }

  static bool isWideSum(const OpcodeForm& form) {
    return form.isExactly(Op::Add, ScalarType::s64) || form.isExactly(Op::Add, ScalarType::u64) ||
           form.isExactly(Op::Sub, ScalarType::s64) || form.isExactly(Op::Sub, ScalarType::u64);
  }
  static bool isWidening(const OpcodeForm& form) {
    return form.isConversion(ScalarType::s64, ScalarType::s32) ||
           form.isConversion(ScalarType::u64, ScalarType::u32) ||
           form.isExactly(Op::Mul, ProductHalf::Wide, ScalarType::s32) ||
           form.isExactly(Op::Mul, ProductHalf::Wide, ScalarType::u32);
  }
  static bool isScaling(const OpcodeForm& form) {
    return form.isExactly(Op::Shl, ScalarType::b64) || form.isExactly(Op::Mul, ProductHalf::Lo, ScalarType::s64) ||
           form.isExactly(Op::Mul, ProductHalf::Lo, ScalarType::u64);
  }

  void findUses() {
    definitions_.resize(f_.registers.size());
    addressOnly_.assign(f_.registers.size(), 1);
    sumOnly_.assign(f_.registers.size(), 1);
    for (const RegId r : f_.returnRegisters) definitions_[r.value] = 2;
    for (uint32_t r = 0; r < f_.registers.size(); ++r)
      if (f_.registers[r].isParameter) definitions_[r] = 2;
    for (const InstrId id : f_) {
      const Instruction& i = f_[id];
      if (!i.isInstruction()) continue;
      const OpcodeForm& form = formOf(i);
      const bool isSum =
          isWideSum(form) || isScaling(form) || (form.op == Op::Mad && form.half == ProductHalf::Wide);
      const auto operands = f_.operandsOf(i);
      std::size_t addressEnd = 0;
      for (std::size_t at = 0; at < operands.size(); ++at) {
        const Operand& o = operands[at];
        if (o.kind == OperandKind::Memory) addressEnd = at + 1 + o.inside();
        if (!o.isRegister()) continue;
        if (o.writes()) {
          if (definitions_[o.payload] < 2) ++definitions_[o.payload];
          if (o.role == Role::Mod) definitions_[o.payload] = 2;
          definition_[o.payload] = id;
        }
        if (o.reads()) {
          if (at >= addressEnd) addressOnly_[o.payload] = 0;
          if (!isSum) sumOnly_[o.payload] = 0;
        }
      }
    }
  }

  void decide(RegId r) {
    if (definitions_[r.value] == 1 && fates_[r.value] == Fate::Kept &&
        pressure_.fileOf(r) != RegisterFile::Predicate)
      fates_[r.value] = fateOf(r);
  }

  Fate fateOf(RegId r) const {
    const Instruction& i = f_[definition_[r.value]];
    if (i.is(Instruction::Guarded)) return Fate::Kept;
    const OpcodeForm& form = formOf(i);
    const auto operands = f_.operandsOf(i);
    if (operands.size() < 2 || !operands[0].isRegister()) return Fate::Kept;
    const Operand& source = operands[1];
    const bool isCopy = form.op == Op::Mov || form.op == Op::Cvta;
    if (isCopy && operands.size() == 2) {
      switch (source.kind) {
        case OperandKind::Integer:
        case OperandKind::WideInteger:
        case OperandKind::Float32:
        case OperandKind::Float64:
        case OperandKind::Decimal:
        case OperandKind::Variable:
        case OperandKind::Symbol: return Fate::Gone;
        case OperandKind::SpecialRegister: {
          std::string_view name = module_.text(NameId(source.payload));
          if (name.starts_with('%')) name.remove_prefix(1);
          return name.starts_with("ntid") || name.starts_with("nctaid") ? Fate::Gone : Fate::Kept;
        }
        case OperandKind::Register: return single(source) ? Fate::Lends : Fate::Kept;
        default: return Fate::Kept;
      }
    }
    const bool isFixed = (f_.isEntry && isParameter(form.space)) || form.space == StateSpace::Const;
    if (form.op == Op::Ld && isFixed &&
        std::none_of(operands.begin() + 1, operands.end(), [](const Operand& o) { return o.isRegister(); }))
      return Fate::Gone;
    if (operands.size() == 3 && isWideSum(form) && single(source) && isNumber(operands[2]) &&
        addressOnly_[r.value] != 0)
      return Fate::Lends;
    if (sumOnly_[r.value] != 0 && single(source)) {
      if (isWidening(form) && (operands.size() == 2 || isNumber(operands[2]))) return Fate::Lends;
      if (isScaling(form) && isNumber(operands[2]) && isLent(source.reg())) return Fate::Lends;
    }
    return Fate::Kept;
  }

  bool single(const Operand& o) const { return o.isRegister() && definitions_[o.payload] == 1; }
  bool isLent(RegId r) const { return fates_[r.value] != Fate::Kept; }
  static bool isNumber(const Operand& o) {
    return o.kind == OperandKind::Integer || o.kind == OperandKind::WideInteger;
  }

  RegisterSize sizeOf(RegId r) const {
    if (definitions_[r.value] == 1 &&
        formOf(f_[definition_[r.value]]).isConversion(ScalarType::u64, ScalarType::u32))
      return {1, false};
    return pressure_.sizeOf(r);
  }

  // The register that lives instead of `r`, which may be itself; none when it costs nothing. What lends is
  // made of one register, and that of another further up in the text; code that turns in circles is given up.
  RegId keptFor(RegId r) const {
    if (pressure_.fileOf(r) == RegisterFile::Predicate) return {};
    for (std::size_t steps = 0; steps < kMostSteps; ++steps) {
      if (fates_[r.value] == Fate::Kept) return r;
      if (fates_[r.value] == Fate::Gone) return {};
      for (const Operand& o : f_.operandsOf(f_[definition_[r.value]]))
        if (o.isRegister() && o.reads()) r = o.reg();
    }
    return {};
  }

  AllocatedValues collect() {
    struct Piece {
      RegId reg;
      AllocatedValue::Span span;
    };
    std::vector<RegId> kept(f_.registers.size());
    for (uint32_t r = 0; r < kept.size(); ++r) kept[r] = keptFor(RegId(r));
    // By register, in counted rows; the pieces of one come in order unless it lends to others.
    std::vector<Piece> unsorted;
    std::vector<uint32_t> start(f_.registers.size() + 1);
    for (const RegisterPressure::Span& s : pressure_.spans())
      if (const RegId r = kept[s.reg.value]; r.valid()) {
        unsorted.push_back({r, {s.first, s.last}});
        ++start[r.value + 1];
      }
    for (std::size_t r = 0; r + 1 < start.size(); ++r) start[r + 1] += start[r];
    std::vector<Piece> pieces(unsorted.size());
    std::vector<uint32_t> next(start.begin(), start.end() - 1);
    for (const Piece& p : unsorted) pieces[next[p.reg.value]++] = p;
    const auto isBefore = [](const Piece& a, const Piece& b) { return a.span.first < b.span.first; };
    for (std::size_t r = 0; r + 1 < start.size(); ++r) {
      const auto first = pieces.begin() + start[r], last = pieces.begin() + start[r + 1];
      if (!std::is_sorted(first, last, isBefore)) std::sort(first, last, isBefore);
    }
    AllocatedValues result;
    std::vector<AllocatedValue::Span>& spans = result.spans;
    spans.reserve(pieces.size());
    std::vector<AllocatedValue> byRegister;
    std::size_t first = 0;  // of the register at hand
    for (const Piece& p : pieces) {
      if (byRegister.empty() || byRegister.back().reg != p.reg) {
        byRegister.push_back({p.reg, sizeOf(p.reg), {}});
        first = spans.size();
      }
      if (spans.size() != first && p.span.first <= spans.back().last + 1)
        spans.back().last = std::max(spans.back().last, p.span.last);
      else
        spans.push_back(p.span);
      byRegister.back().spans = std::span(spans).subspan(first);
    }
    std::vector<uint64_t> order;  // by the first point, then by register
    for (std::size_t v = 0; v < byRegister.size(); ++v)
      order.push_back(uint64_t{byRegister[v].spans.front().first} << 32 | v);
    std::ranges::sort(order);
    std::vector<AllocatedValue>& values = result.values;
    values.reserve(order.size());
    for (const uint64_t v : order) values.push_back(byRegister[v & UINT32_MAX]);

    std::vector<uint32_t> number(f_.registers.size(), AllocatedValues::kNone);
    for (uint32_t v = 0; v < values.size(); ++v) number[values[v].reg.value] = v;
    result.valueOf.assign(f_.registers.size(), AllocatedValues::kNone);
    for (uint32_t r = 0; r < f_.registers.size(); ++r)
      if (kept[r].valid()) result.valueOf[r] = number[kept[r].value];
    return result;
  }

  static constexpr std::size_t kMostSteps = 64;

  const Module& module_;
  const Function& f_;
  const RegisterPressure& pressure_;
  std::vector<Fate> fates_;           // by register, like the others
  std::vector<InstrId> definition_;   // the last in the text
  std::vector<uint8_t> definitions_;  // up to 2
  std::vector<uint8_t> addressOnly_, sumOnly_;
};

}  // namespace

AllocatedValues allocatedValues(const Module& module, const Function& function, const RegisterPressure& pressure) {
  return Chooser(module, function, pressure).run();
}

std::vector<uint32_t> allocatedUnits(const AllocatedValues& allocated, std::size_t points) {
  std::vector<uint32_t> units(points + 1), halves(points + 1);  // first what begins and ends; wraps around and back
  for (const AllocatedValue& v : allocated.values)
    for (const AllocatedValue::Span& s : v.spans) {
      std::vector<uint32_t>& which = v.size.isHalf ? halves : units;
      const uint32_t size = v.size.isHalf ? 1 : v.size.units;
      which[s.first] += size;
      which[s.last + 1] -= size;
    }
  uint32_t whole = 0, half = 0;
  for (std::size_t p = 0; p < points; ++p) {
    whole += units[p];
    half += halves[p];
    units[p] = whole + (half + 1) / 2;
  }
  units.pop_back();
  return units;
}

}  // namespace ptxopt
