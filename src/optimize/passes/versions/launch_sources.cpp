// Two sweeps in the order of the blocks give each register the set of sources that its value is made of, as bits of one
// number. A third adds what each instruction would save, by its opcode and the assumed count of its block, to all
// sources that it reads.
#include "passes/versions/launch_sources.h"

#include <algorithm>
#include <bit>

#include "analysis/values/launch_sizes.h"
#include "ir/opcode_predicates.h"
#include "passes/util/unguarded.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostSources = 63;
constexpr uint64_t kDivision = 20, kConversion = 4;

bool isFloat(ScalarType type) {
  const RegisterClass c = info(type).registerClass;
  return c == RegisterClass::F32 || c == RegisterClass::F64;
}

class SourceFinder {
 public:
  SourceFinder(const Module& module, const Function& f, Analyses& analyses)
      : module_(module), f_(f), cfg_(analyses.cfg()), loops_(analyses.loops()), known_(f.registers.size()) {}

  std::vector<LaunchSource> run() {
    for (unsigned sweep = 0; sweep < 2; ++sweep)
      for (uint32_t b = 0; b < cfg_.size(); ++b) forEach(BlockId(b), [&](InstrId id) { follow(id); });
    for (uint32_t b = 0; b < cfg_.size(); ++b)
      if (cfg_[BlockId(b)].reachable) forEach(BlockId(b), [&](InstrId id) { count(id, BlockId(b)); });
    return std::move(sources_);
  }

 private:
  using Set = uint64_t;  // of sources

  template <typename Work>
  void forEach(BlockId b, Work&& work) const {
    for (InstrId id = cfg_[b].first; id.valid(); id = f_[id].next) {
      if (f_[id].isInstruction()) work(id);
      if (id == cfg_[b].last) break;
    }
  }

  Set add(const LaunchSource& s) {
    const auto same = [&](const LaunchSource& o) {
      return o.isBlock == s.isBlock && o.component == s.component && o.part.parameter == s.part.parameter &&
             o.part.offset == s.part.offset && o.part.bytes == s.part.bytes;
    };
    auto at = std::ranges::find_if(sources_, same);
    if (at == sources_.end()) {
      if (sources_.size() == kMostSources) return 0;
      at = sources_.insert(at, s);
    }
    return Set{1} << (at - sources_.begin());
  }

  // What the instruction reads of the launch itself.
  Set read(InstrId id) {
    if (const auto part = loadedPart(module_, f_, f_[id])) return add({.part = *part});
    const auto operands = unguarded(f_, id);
    if (module_.form(f_[id]).op != Op::Mov || operands.size() != 2 ||
        operands[1].kind != OperandKind::SpecialRegister)
      return 0;
    const auto size = launchSizeOf(module_.text(NameId(operands[1].payload)));
    return size && !size->isGrid && !size->isPlace ? add({.isBlock = true, .component = size->component}) : 0;
  }

  void follow(InstrId id) {
    const OpcodeForm& form = module_.form(f_[id]);
    const auto operands = unguarded(f_, id);
    if (operands.empty() || !operands[0].isRegister() || !operands[0].writes()) return;
    Set made = read(id);
    if (made == 0 && form.knowsOperands() && !form.is(~uint32_t{effect::Side}) && form.op != Op::Ld) {
      bool isKnown = true;
      for (const Operand& o : operands.subspan(1)) {
        if (o.isRegister() && o.reads()) {
          isKnown &= known_[o.payload] != 0;
          made |= known_[o.payload];
        }
        isKnown &= o.kind != OperandKind::SpecialRegister && o.kind != OperandKind::Symbol &&
                   o.kind != OperandKind::Variable;
      }
      if (!isKnown) made = 0;
    }
    known_[operands[0].payload] |= made;
  }

  void count(InstrId id, BlockId b) {
    const OpcodeForm& form = module_.form(f_[id]);
    const auto operands = unguarded(f_, id);
    Set of = 0;
    for (const Operand& o : operands)
      if (o.isRegister() && o.reads()) of |= known_[o.payload];
    if (of == 0) return;
    const uint64_t times = loops_.assumedCount(b);
    const bool isInLoop = loops_.of(b).valid();
    uint64_t worth = 0, worthIfUnit = 0;
    switch (form.op) {
      case Op::Div:
      case Op::Rem: worth = isFloat(form.type) ? 0 : kDivision; break;
      case Op::Setp: worth = isInLoop || isFloat(form.type) ? 1 : 0; break;
      case Op::Cvt: worth = isFloat(form.type) != isFloat(form.sourceType) ? kConversion : 0; break;
      case Op::Add:
      case Op::Sub:
      case Op::Mul:
      case Op::Mad:
      case Op::Fma: (isFloat(form.type) ? worthIfUnit : worth) = 1; break;
      case Op::Shl:
      case Op::Shr: worth = 1; break;
      default: break;
    }
    for (; of != 0; of &= of - 1) {
      LaunchSource& s = sources_[static_cast<std::size_t>(std::countr_zero(of))];
      s.worth += worth * times;
      s.worthIfUnit += worthIfUnit * times;
    }
  }

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  const Loops& loops_;
  std::vector<Set> known_;  // by register: what its value is made of
  std::vector<LaunchSource> sources_;
};

}  // namespace

std::vector<LaunchSource> launchSources(const Module& module, const Function& f, Analyses& analyses) {
  return SourceFinder(module, f, analyses).run();
}

}  // namespace ptxopt
