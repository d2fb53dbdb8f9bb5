// Bodies are compared side by side without .loc and declarations; registers, labels and variables have to correspond
// one to one. The copy follows the kernel's end, with new registers and labels, and shares variables that the kernel
// declares at its outermost level.
#include "passes/versions/body_copy.h"

#include <algorithm>
#include <vector>

namespace ptxopt {
namespace {

bool isNumber(OperandKind kind) {
  return kind == OperandKind::WideInteger || kind == OperandKind::Float64 || kind == OperandKind::Decimal;
}

// Names of one function that stand for names of the other, one for one.
class Pairs {
 public:
  Pairs(std::size_t a, std::size_t b) : toB_(a, UINT32_MAX), toA_(b, UINT32_MAX) {}
  bool match(uint32_t a, uint32_t b) {
    if (toB_[a] == UINT32_MAX && toA_[b] == UINT32_MAX) {
      toB_[a] = b;
      toA_[b] = a;
    }
    return toB_[a] == b && toA_[b] == a;
  }

 private:
  std::vector<uint32_t> toB_, toA_;
};

class BodyComparison {
 public:
  BodyComparison(const Function& a, const Function& b)
      : a_(a),
        b_(b),
        registers_(a.registers.size(), b.registers.size()),
        labels_(a.labels.size(), b.labels.size()),
        variables_(a.variables.size(), b.variables.size()) {}

  bool run() {
    InstrId x = next(a_, a_.first), y = next(b_, b_.first);
    for (; x.valid() && y.valid(); x = next(a_, a_[x].next), y = next(b_, b_[y].next))
      if (!isSame(a_[x], b_[y])) return false;
    return !x.valid() && !y.valid();
  }

 private:
  // What says something to ptxas, but for declarations: a pass may have dropped some.
  static InstrId next(const Function& f, InstrId id) {
    while (id.valid() && (f[id].kind == InstrKind::Loc || f[id].kind == InstrKind::Declaration)) id = f[id].next;
    return id;
  }

  bool isSame(const Instruction& x, const Instruction& y) {
    if (x.kind != y.kind || x.operandCount != y.operandCount ||
        x.is(Instruction::Guarded) != y.is(Instruction::Guarded))
      return false;
    if (x.kind == InstrKind::Label) return labels_.match(x.payload, y.payload);
    if (x.kind == InstrKind::Verbatim) return x.sourceBegin == y.sourceBegin;
    if (x.payload != y.payload) return false;
    const auto p = a_.operandsOf(x), q = b_.operandsOf(y);
    for (std::size_t k = 0; k < p.size(); ++k)
      if (!isSame(p[k], q[k])) return false;
    return true;
  }

  bool isSame(const Operand& p, const Operand& q) {
    if (p.kind != q.kind || p.role != q.role || p.join != q.join || p.flags != q.flags) return false;
    if (p.kind == OperandKind::Register)
      return isSameKind(a_.registers[p.payload], b_.registers[q.payload]) && registers_.match(p.payload, q.payload);
    if (p.kind == OperandKind::Label) return labels_.match(p.payload, q.payload);
    if (p.kind == OperandKind::Variable) return variables_.match(p.payload, q.payload);
    if (isNumber(p.kind)) return a_.constants[p.payload] == b_.constants[q.payload];
    return p.payload == q.payload;
  }

  static bool isSameKind(const Register& a, const Register& b) { return a.type == b.type && a.lanes == b.lanes; }

  const Function &a_, &b_;
  Pairs registers_, labels_, variables_;
};

class BodyCopier {
 public:
  BodyCopier(const Module& module, Function& kernel, const Function& body, std::size_t ofBoth)
      : module_(module),
        f_(kernel),
        body_(body),
        registers_(body.registers.size()),
        labels_(body.labels.size()),
        variables_(body.variables.size()),
        ofBoth_(ofBoth) {}

  LabelId run() {
    endKernel(f_);
    const LabelId begin = f_.makeLabel();
    f_.insertLabel(InstrId(), begin);
    registers_[Function::kCarry.value] = Function::kCarry;
    findVariables();
    for (std::size_t l = 0; l < body_.labels.size(); ++l)
      if (const InstrId place = body_.labels[l].place; place.valid() && !body_[place].is(Instruction::Erased))
        labels_[l] = f_.makeLabelLike(body_, LabelId(l));
    std::size_t depth = 0;
    for (const InstrId id : body_) {
      const Instruction& i = body_[id];
      depth += i.kind == InstrKind::ScopeOpen;
      depth -= i.kind == InstrKind::ScopeClose;
      if (i.kind == InstrKind::Declaration && depth == 0) continue;
      if (i.kind == InstrKind::Label)
        f_.insertLabel(InstrId(), labels_[i.payload]);
      else
        f_.insertLike(InstrId(), i, copied(i));
    }
    endKernel(f_);
    return begin;
  }

 private:
  // So that what follows is reached by its label alone.
  void endKernel(Function& f) const {
    InstrId last = f.last;
    while (last.valid() && f[last].kind != InstrKind::Instruction && f[last].kind != InstrKind::Label)
      last = f[last].previous;
    if (last.valid() && f[last].isInstruction() && !f[last].is(Instruction::Guarded) &&
        module_.form(f[last]).is(effect::Return | effect::Exit) && f.last == last)
      return;
    f.insert(InstrId(), module_.synth.entry.exit, {});
  }

  // Those that have a name and are still declared at the kernel's outermost level mean the same in the copy.
  void findVariables() {
    std::vector<bool> isDeclared(module_.names.size());
    std::size_t depth = 0;
    for (const InstrId id : f_) {
      const Instruction& i = f_[id];
      depth += i.kind == InstrKind::ScopeOpen;
      depth -= i.kind == InstrKind::ScopeClose;
      if (i.kind != InstrKind::Declaration || depth != 0) continue;
      const Declaration& d = f_.declarations[i.payload];
      for (uint32_t k = 0; k < d.declaratorCount; ++k)
        isDeclared[f_.declarators[d.firstDeclarator + k].name.value] = true;
    }
    for (std::size_t v = 0; v < ofBoth_; ++v) {
      const Variable &mine = f_.variables[v], &its = body_.variables[v];
      const bool isOne =
          mine.name.valid()
              ? mine.name == its.name && (mine.isParameter || mine.isNested || isDeclared[mine.name.value])
              : !its.name.valid() && mine.form == its.form && mine.number == its.number &&
                    mine.declarator.elements == its.declarator.elements;
      if (isOne) variables_[v] = VariableId(v);
    }
  }

  std::vector<Operand> copied(const Instruction& i) {
    std::vector<Operand> operands;
    for (const Operand& o : body_.operandsOf(i)) operands.push_back(copied(o));
    return operands;
  }

  Operand copied(const Operand& o) {
    Operand made = o;
    switch (o.kind) {
      case OperandKind::Register: {
        RegId& to = registers_[o.payload];
        const Register& r = body_.registers[o.payload];
        if (!to.valid()) to = f_.makeRegister(r.type, r.lanes);
        made.payload = to.value;
        break;
      }
      case OperandKind::Label: made.payload = labels_[o.payload].value; break;
      case OperandKind::Variable: {
        VariableId& to = variables_[o.payload];
        const Variable& v = body_.variables[o.payload];
        if (!to.valid()) to = f_.makeVariable(v.form, v.declarator.elements);
        made.payload = to.value;
        break;
      }
      default:
        if (!isNumber(o.kind)) break;
        f_.constants.push_back(body_.constants[o.payload]);
        made.payload = static_cast<uint32_t>(f_.constants.size() - 1);
    }
    return made;
  }

  const Module& module_;
  Function& f_;
  const Function& body_;
  std::vector<RegId> registers_;
  std::vector<LabelId> labels_;
  std::vector<VariableId> variables_;
  const std::size_t ofBoth_;  // variables that were there before passes worked on them apart
};

}  // namespace

bool hasSameBody(const Function& a, const Function& b) { return BodyComparison(a, b).run(); }

LabelId appendBody(const Module& module, Function& kernel, const KernelVersion& version) {
  return BodyCopier(module, kernel, version.body, version.variables).run();
}

}  // namespace ptxopt
