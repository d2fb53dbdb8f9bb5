// loop-forms: the steps, products, sums and parameters of loops in the forms that take an iteration least.
//
// What:       whatever loops compute addresses from, ptxas makes of some forms what another form would spare: copies of
//             halves, moves of constants, products on the unit that is full. forms.def has the forms and says where
//             each is wanted.
// Algorithm:  the candidates of the function once (form_sites.h); then each form, in the order of forms.def, on the
//             loops as the forms before it left them. A form that only moves work from one unit to another is written
//             as often as makes the longest unit of an iteration shortest (loop_units.h).
// Why not in lsr: runtime-unroll, widen-accesses and schedule-loads stand between the two. They ask scalar evolution
//             what addresses are, which does not see through sums in 32-bit halves; and what an iteration takes is
//             known when they are done.
// Knobs:      one for each form: off, gain (by the target and the estimate), always (on all targets, whatever it
//             gains).
// Cost:       linear in the function, n log n in the candidates of a loop; the estimate once more where candidates need
//             it.
// Declines:   too-large, and by form, where the file of the form says so.
#include "passes/addressing/form_sites.h"

#include "ir/register_types.h"
#include "passes/addressing/address_opcodes.h"

namespace ptxopt {
namespace {

struct FormRow {
  std::string_view name;
  Knob knob;
  bool (*write)(Function&, PassContext&, const FormRules&);
  bool (*isWanted)(const target::Target&);
  double leastGain;
};
constexpr FormRow kForms[] = {
#define PTXOPT_LOOP_FORM(id, name, knob, function, wanted, least, text) \
  {name, Knob::knob, function, [](const target::Target& t) { return static_cast<void>(t), wanted; }, least},
#include "passes/addressing/forms.def"
};

enum Setting : int64_t { Off, Gain, Always };  // of the knob of a form

}  // namespace

FormSites::FormSites(Function& f, PassContext& context)
    : FunctionPass(f, context), loops_(context.analyses.loops()), machine_(context.target().machine()) {
  for (const InstrId id : f_) {
    if (!f_[id].isInstruction() || context.isDeclined(id)) continue;
    const OpcodeForm& form = module_.form(f_[id]);
    const bool isFused = isExactlyWide(form, Op::Mad);
    if (isFused || isExactlyWide(form, Op::Mul)) products_.push_back(id);
    if (isFused || isAddition(form) || isSubtraction(form)) sums_.push_back(id);
  }
}

std::vector<FormSites::Loop> FormSites::byLoop(std::span<const InstrId> sites) const {
  std::vector<Loop> all(loops_.size());
  for (const InstrId id : sites)
    if (const LoopId l = loops_.of(cfg_.blockOf(id)); l.valid()) all[l.value].sites.push_back(id);
  for (uint32_t l = 0; l < all.size(); ++l) all[l].id = LoopId(l);
  std::erase_if(all, [](const Loop& l) { return l.sites.empty(); });
  return all;
}

std::vector<FormSites::Loop> FormSites::byInnermostLoop(std::span<const InstrId> sites) const {
  std::vector<Loop> all = byLoop(sites);
  std::erase_if(all, [&](const Loop& l) { return !loops_.isInnermost(l.id); });
  return all;
}

LoopUnits& FormSites::units() {
  if (!units_) units_.emplace(module_, f_, cfg_, context_.analyses.dominators(), loops_, machine_);
  return *units_;
}

void FormSites::add(UnitCycles& to, target::Kind kind, double times) const {
  for (const target::Use& use : machine_.uses(kind)) to[use.unit] += use.cycles * times;
}

bool loopForms(Function& f, PassContext& context) {
  const target::Target target = context.target();
  if (!context.hasUsableGraph() || context.analyses.loops().size() == 0) return false;
  bool hasChanged = false;
  std::optional<FormSites> sites;
  for (const FormRow& form : kForms) {
    const int64_t setting = context.knobs[form.knob];
    if (setting == Off || (setting == Gain && !form.isWanted(target))) continue;
    if (!context.hasUsableIntervals()) break;
    if (!sites) sites.emplace(f, context);
    const bool isWritten = form.write(f, context, {*sites, setting == Always, form.leastGain});
    sites->missedLoops.tell(context, "loop", form.name);
    sites->missedSites.tell(context, "site", form.name);
    sites->missedLoops = sites->missedSites = {};
    if (!isWritten) continue;
    hasChanged = true;
    sites.reset();
    context.analyses.invalidate();
  }
  return hasChanged;
}

}  // namespace ptxopt
