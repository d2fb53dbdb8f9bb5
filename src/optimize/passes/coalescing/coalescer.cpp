// Union-find over the values; each root has the joined range, the type and the fixed register of its web. Reads may
// also move to where the copied value came from, and a copied constant may be made again.
#include "passes/coalescing/coalescer.h"

#include <algorithm>
#include <numeric>

namespace ptxopt {

std::string_view name(Verdict verdict) {
  static constexpr std::string_view kNames[] = {"joined",     "same",    "interferes",     "classes", "tied",
                                                "fixed",      "partial", "large-interval", "budget",  "tuple",
                                                "convergent", "phi",     "critical-edge"};
  return kNames[static_cast<std::size_t>(verdict)];
}

const LiveRange Coalescer::kNowhere;

Coalescer::Coalescer(Function& f, PassContext& context, std::vector<Copy> copies, Limits limits)
    : f_(f),
      context_(context),
      cfg_(context.analyses.cfg()),
      slots_(context.analyses.slotIndexes()),
      limits_(limits),
      copies_(std::move(copies)),
      facts_(context.analyses.copyFacts()) {
  std::erase_if(copies_, [&](const Copy& c) { return !cfg_[cfg_.blockOf(c.instruction)].reachable; });
  if (copies_.size() > limits_.mostCopies) copies_.resize(limits_.mostCopies);
  std::vector<uint8_t> isCandidate(f.registers.size());
  for (const Copy& c : copies_)
    for (const RegId r : {c.to, c.from, c.via})
      if (r.valid() && isCandidate[r.value] == 0 && frozen(r) == Verdict::Joined) {
        isCandidate[r.value] = 1;
        candidates_.push_back(r);
      }
  std::ranges::sort(candidates_);
  intervals_ = std::make_unique<CandidateIntervals>(f, context.analyses, candidates_);
  values_ = std::make_unique<CopyValues>(f, cfg_, slots_, intervals(), candidates_, copies_);
  across_.assign(copies_.size(), false);
  numbers_.reserve(copies_.size());
  for (const Copy& c : copies_) numbers_.push_back(numbersOf(c));
  makeWebs();
}

Coalescer::CopyNumbers Coalescer::numbersOf(const Copy& c) const {
  const ValueId to = rangeOf(c.to).valueOut(slots_[c.instruction]);
  const ValueId from = rangeOf(c.from).valueIn(slots_[c.source()]);
  return {to.valid() ? values_->number(c.to, to) : CopyValues::kNone,
          from.valid() ? values_->number(c.from, from) : CopyValues::kNone};
}

void Coalescer::makeWebs() {
  sets_ = UnionFind(values_->size());
  for (Number n = 0; n < sets_.size(); ++n) {
    for (const Number s : values_->sources(n)) sets_.unite(n, s);
    // What is called from outside by one name stays one.
    if (f_.registers[values_->registerOf(n).value].isParameter)
      sets_.unite(n, values_->firstOf(values_->registerOf(n)));
  }
  webs_.resize(sets_.size());
  for (const RegId r : candidates_) {
    const Register& reg = f_.registers[r.value];
    const LiveRange& range = intervals()[r];
    // A parameter is there at the entry although nothing may read it: what is undefined there must not become it.
    if (const SlotIndex entry = slots_.start(BlockId(0u)); isArgument(r) && !range.empty() && entry < range.start())
      webs_[find(values_->firstOf(r))].range.append(
          {entry, SlotIndex(entry.raw() + 1), static_cast<Number>(values_->size())});
    for (const Segment& s : range.segments()) {
      const Number n = values_->number(r, s.value);
      Web& web = webs_[find(n)];
      web.range.append({s.start, s.end, limits_.byRangeOnly ? n : values_->root(n)});
      web.type = reg.type;
      if (reg.isParameter) web.fixed = r;
      web.isStoredNarrowly = facts_.stored().isStoredNarrowly[r.value];
      web.mayBeNumber = facts_.stored().mayBeNumber[r.value];
    }
  }
  for (Number n = 0; n < sets_.size(); ++n) {
    Web& web = webs_[find(n)];
    ++web.values;
    web.hasPartial = web.hasPartial || (*values_)[n].isPartial;
    web.hasPhi = web.hasPhi || (*values_)[n].kind == ValueKind::Phi;
  }
  moved_.assign(sets_.size(), CopyValues::kNone);
}

bool Coalescer::isArgument(RegId r) const {
  return f_.registers[r.value].isParameter &&
         std::find(f_.returnRegisters.begin(), f_.returnRegisters.end(), r) == f_.returnRegisters.end();
}

// The type that takes every use of both: a float may be in a .b32 register, not in a .u32 one. ptxas makes other
// code of addresses in .s64 registers, so these stay what they are.
ScalarType Coalescer::commonType(ScalarType a, ScalarType b) const {
  if (a == b) return a;
  if (a == ScalarType::s64 || b == ScalarType::s64) return ScalarType::None;
  if (info(a).bits != info(b).bits) return ScalarType::None;
  switch (info(a).bits) {
    case 16: return ScalarType::b16;
    case 32: return ScalarType::b32;
    case 64: return ScalarType::b64;
    default: return ScalarType::None;
  }
}

bool Coalescer::isTooLarge(const Web& web) const {
  return web.values > limits_.largeSize && web.joins >= limits_.largeFrequency;
}

Verdict Coalescer::join(Number a, Number b, bool really, bool isLimited) {
  a = find(a);
  b = find(b);
  if (a == b) return Verdict::Same;
  if (a > b) std::swap(a, b);
  Web& to = webs_[a];
  Web& from = webs_[b];
  if (to.fixed.valid() && from.fixed.valid()) return Verdict::Fixed;
  const ScalarType type = commonType(to.type, from.type);
  if (type == ScalarType::None || convertsAfter(to, from) || convertsAfter(from, to)) return Verdict::Classes;
  // The parameter list says what type a fixed register has.
  if (const RegId fixed = to.fixed.valid() ? to.fixed : from.fixed;
      fixed.valid() && type != f_.registers[fixed.value].type)
    return Verdict::Fixed;
  // One piece more in a large web is looked up and put in, whatever the web's size.
  const bool isSmall = std::min(to.range.size(), from.range.size()) <= 1;
  if (isLimited && !isSmall && (isTooLarge(to) || isTooLarge(from))) return Verdict::LargeInterval;
  if (isLimited && !limits_.joinPartial && (to.hasPartial || from.hasPartial)) return Verdict::Partial;
  if (to.range.conflicts(from.range)) return Verdict::Interferes;
  if (isLimited && joins_ >= limits_.mostJoins) return Verdict::Budget;
  if (!really) return Verdict::Joined;
  joins_ += isLimited;
  sets_.unite(a, b);
  to.range.join(std::move(from.range));
  to.type = type;
  if (from.fixed.valid()) to.fixed = from.fixed;
  to.hasPartial = to.hasPartial || from.hasPartial;
  to.isPlace = to.isPlace || from.isPlace;
  to.isRobbed = to.isRobbed || from.isRobbed;
  to.hasPhi = to.hasPhi || from.hasPhi;
  to.isStoredNarrowly = to.isStoredNarrowly || from.isStoredNarrowly;
  to.mayBeNumber = to.mayBeNumber || from.mayBeNumber;
  to.values += from.values;
  to.joins += from.joins + 1;
  return Verdict::Joined;
}

Verdict Coalescer::frozen(RegId r) {
  // The name of a parameter cannot be given up for one that is known in every scope.
  return f_.registers[r.value].isParameter && !isVisibleEverywhere(r) ? Verdict::Fixed : frozen(facts_, r);
}

Verdict Coalescer::frozen(const Copy& c) {
  const Verdict v = std::max(frozen(c.to), frozen(c.from));
  return c.via.valid() ? std::max(v, frozen(c.via)) : v;
}

Verdict Coalescer::tryJoin(const Copy& c, bool really) {
  if (const Verdict v = frozen(c); v != Verdict::Joined) return v;
  // Where control brings different values, ptxas goes on with an address that was converted before otherwise than
  // with one that the loop itself carries, and with a double otherwise than with 64 bits.
  const Number to = find(written(c)), from = find(read(c));
  if (to != from && !limits_.joinCriticalEdges && isOnCriticalEdge(c)) return Verdict::CriticalEdge;
  if (to != from && (webs_[to].hasPhi || webs_[from].hasPhi) && info(webs_[to].type).bits == 64 &&
      (c.family == CopyFamily::Address || webs_[to].type != webs_[from].type))
    return Verdict::Phi;
  return c.isAcross() ? joinAcross(c, really) : join(written(c), read(c), really);
}

bool Coalescer::isOnCriticalEdge(const Copy& c) const {
  if (!facts_.hasSeveralReads(c.from)) return false;
  const auto successors = cfg_.successors(cfg_.blockOf(c.instruction));
  const auto isLive = [&](BlockId s) { return rangeOf(c.to).isLiveAt(slots_.start(s)); };
  const auto live = std::count_if(successors.begin(), successors.end(), isLive);
  return live != 0 && static_cast<std::size_t>(live) != successors.size();
}

bool Coalescer::isLocal(const Copy& c) const {
  const BlockId b = cfg_.blockOf(c.instruction);
  const auto isWithin = [&](RegId r) {
    const LiveRange& range = rangeOf(r);
    return range.empty() || (range.start() >= slots_.start(b) && range.end() <= slots_.end(b));
  };
  return isWithin(c.to) && isWithin(c.from);
}

Verdict Coalescer::checkAll(std::span<const Number> values) {
  std::vector<Number> webs;
  for (const Number n : values) webs.push_back(find(n));
  std::sort(webs.begin(), webs.end(), [&](Number a, Number b) {
    return std::tuple(webs_[a].range.size(), a) < std::tuple(webs_[b].range.size(), b);
  });
  webs.erase(std::unique(webs.begin(), webs.end()), webs.end());
  if (webs.size() < 2) return Verdict::Same;
  ScalarType type = webs_[webs.front()].type;
  RegId fixed;
  bool isStoredNarrowly = false, mayBeNumber = false;
  for (const Number w : webs) {
    const Web& web = webs_[w];
    isStoredNarrowly = isStoredNarrowly || web.isStoredNarrowly;
    mayBeNumber = mayBeNumber || web.mayBeNumber;
    type = commonType(type, web.type);
    if (type == ScalarType::None) return Verdict::Classes;
    if (web.fixed.valid() && fixed.valid()) return Verdict::Fixed;
    if (web.fixed.valid()) fixed = web.fixed;
    if (isTooLarge(web)) return Verdict::LargeInterval;
    if (!limits_.joinPartial && web.hasPartial) return Verdict::Partial;
  }
  if (isStoredNarrowly && mayBeNumber) return Verdict::Classes;
  if (fixed.valid() && type != f_.registers[fixed.value].type) return Verdict::Fixed;
  if (limits_.mostJoins - joins_ < webs.size() - 1) return Verdict::Budget;
  // The largest is only looked at, so that the cost is that of the others.
  JoinedRange all;
  for (std::size_t k = 0; k + 1 < webs.size(); ++k) {
    JoinedRange next = webs_[webs[k]].range;
    if (all.conflicts(next)) return Verdict::Interferes;
    all.join(std::move(next));
  }
  return webs_[webs.back()].range.conflicts(all) ? Verdict::Interferes : Verdict::Joined;
}
Verdict Coalescer::check(const Copy& c) { return tryJoin(c, false); }
Verdict Coalescer::tryJoin(const Copy& c) { return tryJoin(c, true); }

bool Coalescer::interfere(Number a, Number b) {
  return find(a) != find(b) && webs_[find(a)].range.conflicts(webs_[find(b)].range);
}

void Coalescer::joinSameRegisters() {
  for (const RegId r : candidates_) {
    const Number first = values_->firstOf(r);
    for (std::size_t v = 1; v < intervals()[r].values().size(); ++v)
      join(first, first + static_cast<Number>(v), true, false);
  }
}

// ---- reads that move to where the value came from ----

void Coalescer::findReads() {
  std::vector<Read> unsorted;
  readStart_.assign(values_->size() + 1, 0);
  for (uint32_t b = 0; b < cfg_.size(); ++b) {
    if (!cfg_[BlockId(b)].reachable) continue;
    for (const InstrId id : slots_.instructions(BlockId(b))) {
      for (const Operand& o : f_.operandsOf(f_[id])) {
        if (!o.isRegister() || !o.reads() || values_->firstOf(o.reg()) == CopyValues::kNone) continue;
        const ValueId v = intervals()[o.reg()].valueIn(slots_[id]);
        if (!v.valid()) continue;
        const Number n = values_->number(o.reg(), v);
        unsorted.push_back({n, id, static_cast<uint32_t>(&o - f_.operands.data())});
        ++readStart_[n + 1];
      }
    }
  }
  std::partial_sum(readStart_.begin(), readStart_.end(), readStart_.begin());
  reads_.resize(unsorted.size());
  std::vector<uint32_t> end(readStart_.begin(), readStart_.end() - 1);
  for (const Read& r : unsorted) reads_[end[r.value]++] = r;
  using Key = std::pair<uint64_t, Number>;  // web and root; value
  std::vector<Key> keys;
  keys.reserve(values_->size());
  for (Number n = 0; n < values_->size(); ++n) keys.emplace_back(uint64_t{find(n)} << 32 | values_->root(n), n);
  std::ranges::sort(keys);
  members_.reserve(keys.size());
  for (const Key& k : keys) members_.push_back(k.second);
  groupOf_.resize(members_.size());
  for (uint32_t k = 0; k < members_.size(); ++k) {
    const Number n = members_[k];
    if (groups_.empty() || keys[k - 1].first != keys[k].first) groups_.push_back({.first = k});
    groups_.back().last = k + 1;
    groupOf_[n] = static_cast<uint32_t>(groups_.size() - 1);
  }
  for (Number n = 0; n < values_->size(); ++n) {
    if (values_->root(n) == n || (*values_)[n].kind == ValueKind::Entry) groups_[groupOf_[n]].isOfCopies = false;
    // An instruction that does more than this copy stays.
    if (const Copy* copy = values_->copyOf(n); copy != nullptr && (copy->isAcross() || copy->isLane()))
      groups_[groupOf_[n]].isOfCopies = false;
    // A phi or a partial definition that makes another value of it.
    for (const Number s : values_->sources(n))
      if (values_->root(s) != values_->root(n)) groups_[groupOf_[s]].isOfCopies = false;
  }
}

std::span<const Coalescer::Read> Coalescer::readsOf(Number n) const {
  return std::span(reads_).subspan(readStart_[n], readStart_[n + 1] - readStart_[n]);
}

// Whether each read of the group could as well read the web of `place`.
bool Coalescer::canRead(std::span<const Number> group, Number place) {
  const Web& web = webs_[find(place)];
  const Number root = values_->root(group.front());
  if (web.isRobbed || find(place) == find(group.front())) return false;
  const Web& own = webs_[find(group.front())];
  if (commonType(web.type, own.type) != web.type || convertsAfter(own, web)) return false;
  for (const Number n : group)
    for (const Read& r : readsOf(n)) {
      if (f_.operands[r.operand].role == Role::Mod && !f_[r.instruction].is(Instruction::Guarded)) return false;
      if (f_.operands[r.operand].is(Operand::Implicit)) return false;
      if (web.range.rootAt(slots_[r.instruction]) != root) return false;
    }
  return true;
}

bool Coalescer::forward(const Copy& c) {
  if (frozen(c) != Verdict::Joined || c.isAcross() || c.isLane()) return false;
  if (members_.empty()) findReads();
  const Number to = written(c), from = read(c);
  Web& web = webs_[find(to)];
  if (web.isPlace || values_->root(to) != values_->root(from)) return false;
  Group& all = groups_[groupOf_[to]];
  if (!all.isOfCopies || web.fixed.valid() || ++all.looks > kMostLooks) return false;
  const auto group = std::span<const Number>(members_).subspan(all.first, all.last - all.first);
  Number place = from;
  if (!canRead(group, place)) {
    place = values_->root(to);
    if (!canRead(group, place)) return false;
  }
  Web& placeWeb = webs_[find(place)];
  placeWeb.isPlace = true;
  placeWeb.isStoredNarrowly = placeWeb.isStoredNarrowly || web.isStoredNarrowly;
  web.isRobbed = true;
  for (const Number n : group) {
    moved_[n] = place;
    if ((*values_)[n].kind != ValueKind::Instruction) continue;
    gone_.push_back(slots_.instructionAt((*values_)[n].def));
  }
  return true;
}

namespace {

bool isUntyped(ScalarType t) { return t == ScalarType::b16 || t == ScalarType::b32 || t == ScalarType::b64; }

// Whether a mov of this form may have the constant for its source. `mov.f64 %fd1, 0f3F800000` and `mov.f32 %f1,
// 0d3FF0000000000000` exist, but a mov of bits takes floating-point literals of its own size only.
bool takes(const OpcodeForm& form, const Operand& constant) {
  if (form.op != Op::Mov || form.vector != 1) return false;
  const bool isFloat = constant.kind == OperandKind::Float32 || constant.kind == OperandKind::Float64;
  if (isFloat && (constant.kind == OperandKind::Float64 ? 64 : 32) != info(form.type).bits) return false;
  if (isUntyped(form.type)) return true;
  return isFloat ? form.type == ScalarType::f32 || form.type == ScalarType::f64 : isIntegerOrBits(form.type);
}

}  // namespace

bool Coalescer::rematerialize(const Copy& c) {
  if (frozen(c) != Verdict::Joined || c.isGuarded || c.isAcross() || c.isLane()) return false;
  if (c.family == CopyFamily::Select) return false;  // it has more operands
  const Number from = read(c);
  const Number root = values_->root(from);
  if ((*values_)[root].kind != ValueKind::Instruction || (*values_)[root].isPartial) return false;
  const Instruction& source = f_[slots_.instructionAt((*values_)[root].def)];
  const OpcodeForm& form = context_.module.form(source);
  if (form.op != Op::Mov || source.operandCount != 2) return false;
  const Operand constant = f_.operandsOf(source)[1];
  switch (constant.kind) {
    case OperandKind::Integer:
    case OperandKind::WideInteger:
    case OperandKind::Float32:
    case OperandKind::Float64: break;
    default: return false;
  }
  Instruction& copy = f_[c.instruction];
  // The copy's own opcode where it takes the constant: ptxas orders code otherwise after `mov.f32 %r1, 0f3F800000`
  // than after `mov.b32 %r1, 0f3F800000`. (An untyped mov takes every register.)
  if (!takes(context_.module.form(copy), constant)) {
    if (!isUntyped(form.type) && !areInterchangeable(f_.registers[c.to.value].type, form.type)) return false;
    if (info(form.type).bits != info(f_.registers[c.to.value].type).bits) return false;
    copy.payload = source.payload;
  }
  f_.operands[copy.firstOperand + 1] = constant;
  f_.touch(c.instruction);
  return true;
}

}  // namespace ptxopt
