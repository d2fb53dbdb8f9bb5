// Decoding a kernel: see program.h.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "analysis/dataflow/cfg.h"
#include "exec/align.h"
#include "exec/binder.h"
#include "exec/builtins.h"
#include "exec/machine.h"
#include "exec/reconvergence.h"
#include "exec/warp.h"

namespace ptxopt::exec {

namespace {

Step throwUnsupported(Warp&, const Op& op, Mask) {
  throw ExecError(FaultKind::Unsupported, *static_cast<const std::string*>(op.data));
}

Step refreshSpecials(Warp& w, const Op& op, Mask) {
  w.refreshSpecials(op);
  return Step::Next;
}

}  // namespace

Placement measure(const Module& module, const Variable& v) {
  const DeclarationForm& form = module.declarationForms[v.form];
  const uint64_t element = std::max(1u, info(form.type).bits / 8) * uint64_t{form.lanes};
  const uint64_t count = v.declarator.isRange ? 1 : v.declarator.elements;
  if (element * count > UINT32_MAX)
    throw ExecError(FaultKind::Unsupported, fmt::format("'{}' is larger than 4 GB", module.text(v.name)));
  Placement p;
  p.bytes = static_cast<uint32_t>(element * count);
  p.alignment = form.alignment != 0 ? form.alignment : static_cast<uint32_t>(element);
  return p;
}

class Decoder {
 public:
  explicit Decoder(Program& program) : program_(program), module_(program.module_) {}

  void run() {
    findRoutines();
    for (const auto& r : program_.routines_) layOut(*r);
    layOutKernelParameters();
    program_.staticShared_ = static_cast<uint32_t>(roundUp(program_.staticShared_, 16));
    placeDynamicShared();
    for (const auto& r : program_.routines_) decode(*r);
    alignConstants();
  }

 private:
  // ---- what the kernel can reach ----

  void findRoutines() {
    const auto add = [&](const Function& f) {
      if (!f.hasBody || program_.routineOf_.contains(&f)) return;
      auto r = std::make_unique<Routine>();
      r->function = &f;
      r->index = indexOf(f);
      program_.routineOf_.emplace(&f, r.get());
      program_.routines_.push_back(std::move(r));
    };
    add(program_.kernel_);
    bool indirect = false;
    for (std::size_t next = 0; next < program_.routines_.size(); ++next) {
      const Function& f = *program_.routines_[next]->function;
      for (const InstrId id : f) {
        const Instruction& i = f[id];
        if (!i.isInstruction()) continue;
        const bool isCall = module_.form(i).is(effect::Call);
        for (const Operand& o : f.operandsOf(i)) {
          if (o.kind == OperandKind::Symbol && module_.symbols[o.payload].kind == SymbolKind::Function)
            add(program_.calledFunction(module_.symbols[o.payload]));
          if (o.kind == OperandKind::Register && isCall && !indirect && isCallee(f, i, o)) {
            // The address may come from anywhere, a table in memory included.
            indirect = true;
            for (const Function& g : module_.functions)
              if (!g.isEntry) add(g);
          }
        }
      }
    }
  }

  uint32_t indexOf(const Function& f) const {
    for (std::size_t i = 0; i < module_.functions.size(); ++i)
      if (&module_.functions[i] == &f) return static_cast<uint32_t>(i);
    return 0;
  }

  static bool isCallee(const Function& f, const Instruction& i, const Operand& o) {
    for (const auto& run : Binder::split(callEntries(f, i)))
      if (&run.front() == &o) return true;
    return false;
  }

  static std::span<const Operand> callEntries(const Function& f, const Instruction& i) {
    auto entries = f.operandsOf(i);
    if (i.is(Instruction::Guarded)) entries = entries.subspan(1);
    while (!entries.empty() && entries.back().is(Operand::Implicit)) entries = entries.first(entries.size() - 1);
    return entries;
  }

  // ---- where things lie ----

  void layOut(Routine& r) {
    const Function& f = *r.function;
    uint64_t frame = kLanes * sizeof(uint32_t);
    for (const Register& reg : f.registers) {
      Arg a;
      a.base = Base::Frame;
      if (reg.registerClass() == RegisterClass::Pred || reg.registerClass() == RegisterClass::Carry ||
          &reg == &f.registers.front()) {
        frame = roundUp(frame, 4);
        a.offset = static_cast<uint32_t>(frame);
        frame += 4;
      } else {
        const unsigned bits = info(reg.type).bits;
        a.bytes = static_cast<uint8_t>(std::max(1u, bits / 8));
        frame = roundUp(frame, 64);
        a.offset = static_cast<uint32_t>(frame);
        frame += uint64_t{a.bytes} * kLanes * reg.lanes;
      }
      if (frame > UINT32_MAX / 2) throw ExecError(FaultKind::Unsupported, "too many registers");
      r.registers.push_back(a);
    }
    r.frameBytes = static_cast<uint32_t>(roundUp(frame, 64));

    auto& places = program_.variablePlaces_[&f];
    places.resize(f.variables.size());
    uint64_t stack = 0;
    for (std::size_t i = 0; i < f.variables.size(); ++i) {
      const Variable& v = f.variables[i];
      const DeclarationForm& form = module_.declarationForms[v.form];
      const std::string_view space = module_.text(form.space);
      const Placement p = measure(module_, v);
      auto& place = places[i];
      if (space == "shared") {
        place = {Space::Shared, false, placeShared(v, form, p)};
      } else if (space == "global" || space == "const") {
        place = {space == "const" ? Space::Const : Space::Global, false, program_.machine_.placeVariable(v)};
      } else if (f.isEntry && v.isParameter) {
        place = {Space::Param, false, 0};  // layOutKernelParameters
      } else if (space == "local" || space == "param") {
        stack = roundUp(stack, std::max(1u, p.alignment));
        r.stackAlignment = std::max(r.stackAlignment, p.alignment);
        place = {Space::Local, true, stack};
        stack += p.bytes;
      }
    }
    if (stack > UINT32_MAX / 4) throw ExecError(FaultKind::Unsupported, "too much local memory");
    r.stackBytes = static_cast<uint32_t>(roundUp(stack, 16));

    if (f.isEntry) return;
    // Registers and variables may be mixed; the results come first in the text.
    std::vector<VariableId> variables = f.returns;
    variables.insert(variables.end(), f.parameters.begin(), f.parameters.end());
    std::size_t nextVariable = 0, nextRegister = 1;
    for (const bool isRegister : areRegisters(module_.text(f.header))) {
      ParameterPlace p;
      bool isResult = false;
      if (isRegister) {
        while (nextRegister < f.registers.size() && !f.registers[nextRegister].isParameter) ++nextRegister;
        if (nextRegister == f.registers.size()) break;
        p.isRegister = true;
        p.lanes = f.registers[nextRegister].lanes;
        p.reg = r.registers[nextRegister];
        isResult = std::find(f.returnRegisters.begin(), f.returnRegisters.end(), RegId(nextRegister)) !=
                   f.returnRegisters.end();
        ++nextRegister;
      } else {
        if (nextVariable == variables.size()) break;
        const VariableId id = variables[nextVariable];
        const Variable& v = f.variables[id.value];
        p.memory = measure(module_, v);
        p.memory.offset = static_cast<uint32_t>(places[id.value].address);
        isResult = nextVariable++ < f.returns.size();
      }
      (isResult ? r.returns : r.parameters).push_back(p);
    }
  }

  // Of each result and parameter in a function's header, whether it is a register.
  static std::vector<bool> areRegisters(std::string_view header) {
    std::vector<bool> result;
    for (std::size_t at = 0; at < header.size();) {
      const std::string_view rest = header.substr(at);
      const auto startsWord = [&](std::string_view word) {
        if (!rest.starts_with(word)) return false;
        const char after = rest.size() > word.size() ? rest[word.size()] : ' ';
        return std::isalnum(static_cast<unsigned char>(after)) == 0 && after != '_' && after != '$' && after != ':';
      };
      if (rest.starts_with("//")) {
        at = std::min(header.find('\n', at), header.size());
      } else if (rest.starts_with("/*")) {
        const std::size_t end = header.find("*/", at + 2);
        at = end == std::string_view::npos ? header.size() : end + 2;
      } else {
        if (startsWord(".reg")) result.push_back(true);
        if (startsWord(".param")) result.push_back(false);
        ++at;
      }
    }
    return result;
  }

  uint64_t placeShared(const Variable& v, const DeclarationForm& form, const Placement& p) {
    // Without a size it is the dynamic part, which begins where the static one ends.
    if (v.declarator.elements == 0 && !v.declarator.isRange) {
      dynamicAlignment_ = std::max(dynamicAlignment_, p.alignment);
      (void)form;
      return kDynamic;
    }
    const uint64_t at = roundUp(program_.staticShared_, std::max(1u, p.alignment));
    if (at + p.bytes > (uint64_t{1} << kSharedRankShift))
      throw ExecError(FaultKind::Unsupported, "more than 16 MB of static shared memory");
    program_.staticShared_ = static_cast<uint32_t>(at + p.bytes);
    return at;
  }

  // Module-level shared variables first come when a function names them.
  void placeSharedSymbols() {
    for (const auto& r : program_.routines_) {
      const Function& f = *r->function;
      for (const InstrId id : f) {
        if (!f[id].isInstruction()) continue;
        for (const Operand& o : f.operandsOf(f[id])) {
          if (o.kind != OperandKind::Symbol || program_.sharedSymbols_.contains(o.payload)) continue;
          const Symbol& s = module_.symbols[o.payload];
          if (s.kind != SymbolKind::Variable) continue;
          const Variable& v = module_.variables[s.index];
          const DeclarationForm& form = module_.declarationForms[v.form];
          if (module_.text(form.space) != "shared") continue;
          program_.sharedSymbols_[o.payload] = static_cast<uint32_t>(placeShared(v, form, measure(module_, v)));
        }
      }
    }
  }

  void placeDynamicShared() {
    placeSharedSymbols();
    program_.staticShared_ =
        static_cast<uint32_t>(roundUp(program_.staticShared_, std::max(16u, dynamicAlignment_)));
    for (auto& [id, offset] : program_.sharedSymbols_)
      if (offset == static_cast<uint32_t>(kDynamic)) offset = program_.staticShared_;
    for (auto& [f, places] : program_.variablePlaces_)
      for (auto& place : places)
        if (place.space == Space::Shared && place.address == kDynamic) place.address = program_.staticShared_;
  }

  void layOutKernelParameters() {
    const Function& f = program_.kernel_;
    uint64_t at = 0;
    for (const VariableId id : f.parameters) {
      const Variable& v = f.variables[id.value];
      const DeclarationForm& form = module_.declarationForms[v.form];
      KernelParameter p;
      p.name = module_.text(v.name);
      p.type = form.type;
      p.isArray = v.declarator.dimensions.begin != v.declarator.dimensions.end;
      p.elements = v.declarator.elements * form.lanes;
      p.isPointer = module_.text(form.text).find(".ptr") != std::string_view::npos;
      p.place = measure(module_, v);
      // .ptr .align is about what the pointer points to.
      if (p.isPointer) p.place.alignment = std::max(1u, info(form.type).bits / 8);
      at = roundUp(at, std::max(1u, p.place.alignment));
      p.place.offset = static_cast<uint32_t>(at);
      program_.variablePlaces_[&f][id.value].address = at;
      at += p.place.bytes;
      program_.parameters_.push_back(std::move(p));
    }
    program_.parameterBytes_ = static_cast<uint32_t>(at);
  }

  // ---- code ----

  void decode(Routine& r) {
    const Function& f = *r.function;
    const Cfg cfg(module_, f);
    if (!cfg.complete()) throw ExecError(FaultKind::Unsupported, "a function with too many branch targets");
    const Reconvergence meeting(cfg);
    const LabelTables tables(f);

    std::vector<uint32_t> start(cfg.size());  // by block: the op it begins with
    std::vector<uint32_t> joinOp(cfg.size(), UINT32_MAX);
    struct Fixup {
      std::size_t op;
      BlockId block;
    };
    std::vector<Fixup> branches;
    const auto blockOf = [&](LabelId l) { return cfg.blockOf(f.labels[l.value].place); };

    uint32_t block = UINT32_MAX;
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      if (const uint32_t b = cfg.blockOf(id).value; b != block) {
        block = b;
        start[b] = static_cast<uint32_t>(r.code.size());
        if (meeting.isMeetingPoint(BlockId(b))) {
          joinOp[b] = start[b];
          Op join;
          join.kind = OpKind::Join;
          join.instruction = id.value;
          r.code.push_back(join);
        }
      }
      if (!i.isInstruction()) continue;
      const uint32_t effects = module_.form(i).effects;
      try {
        if ((effects & (effect::Branch | effect::IndirectBranch | effect::Return | effect::Exit | effect::Call)) !=
                0 &&
            (effects & effect::Unknown) == 0) {
          Binder b(program_, program_.machine_, r, i);
          Op op = b.op_;
          op.instruction = id.value;
          const auto entries = callEntries(f, i);
          if (effects & effect::Branch) {
            op.kind = OpKind::Branch;
            branches.push_back({r.code.size(), blockOf(LabelId(entries.front().payload))});
          } else if (effects & effect::IndirectBranch) {
            op = indexed(b, f, i, entries, tables, blockOf);
          } else if (effects & effect::Return) {
            op.kind = f.isEntry ? OpKind::Exit : OpKind::Return;
          } else if (effects & effect::Exit) {
            op.kind = OpKind::Exit;
          } else {
            op = callOp(b, r, i, entries);
          }
          prepare(r, b, id);
          op.instruction = id.value;
          r.code.push_back(op);
          continue;
        }
        Binder b(program_, program_.machine_, r, i);
        const BindFunction bind = findBinder(b.base());
        if (bind == nullptr) b.unsupported("the interpreter does not have this instruction");
        bind(b);
        b.finish();
        if (b.usesVolatileSpecial_) {
          Op refresh;
          refresh.run = refreshSpecials;
          refresh.instruction = id.value;
          refresh.prepares = true;
          r.code.push_back(refresh);
        }
        prepare(r, b, id);
        b.op_.instruction = id.value;
        r.code.push_back(b.op_);
      } catch (const ExecError& e) {
        if (e.kind != FaultKind::Unsupported) throw;
        r.code.push_back(unsupportedOp(r, i, id, e.message));
      }
    }
    Op end;
    end.kind = f.isEntry ? OpKind::Exit : OpKind::Return;
    end.instruction = f.last.valid() ? f.last.value : 0;
    r.code.push_back(end);

    for (const Fixup& x : branches) r.code[x.op].target = start[x.block.value];
    for (BranchTable* t : tables_)
      for (uint32_t& target : t->targets) target = start[target];
    tables_.clear();
    // Where the lanes of a branch meet again.
    for (Op& op : r.code) {
      if (op.kind != OpKind::Branch && op.kind != OpKind::BranchIndexed) continue;
      const BlockId meet = meeting.of(cfg.blockOf(InstrId(op.instruction)));
      if (meet.valid()) op.join = joinOp[meet.value];
    }
  }

  // What makes the operands of the op to come.
  static void prepare(Routine& r, const Binder& b, InstrId id) {
    for (Op op : b.before_) {
      op.guard = b.op_.guard;
      op.guardNegated = b.op_.guardNegated;
      op.instruction = id.value;
      op.prepares = true;
      r.code.push_back(op);
    }
  }

  Op unsupportedOp(Routine& r, const Instruction& i, InstrId id, const std::string& message) {
    Op op;
    op.run = throwUnsupported;
    op.instruction = id.value;
    program_.unsupported_.emplace_back(i.sourceBegin, message);
    auto text = std::make_shared<std::string>(message);
    op.data = text.get();
    program_.data_.push_back(std::move(text));
    if (i.is(Instruction::Guarded)) {
      const Operand& g = r.function->operandsOf(i).front();
      op.guard = r.registers[g.payload].offset;
      op.guardNegated = g.is(Operand::Not);
    }
    return op;
  }

  template <typename BlockOf>
  Op indexed(Binder& b, const Function& f, const Instruction&, std::span<const Operand> entries,
             const LabelTables& tables, const BlockOf& blockOf) {
    b.take("idx");
    b.take("uni");
    b.source(0, ScalarType::u32);
    b.ignore(1);
    const Operand& list = entries.back();
    if (list.kind != OperandKind::Label) b.unsupported("a table that is no list of labels");
    BranchTable table;
    for (const Operand& target : tables.targets(f, LabelId(list.payload))) {
      if (target.kind != OperandKind::Label) b.unsupported("a table with other things than labels");
      table.targets.push_back(blockOf(LabelId(target.payload)).value);
    }
    tables_.push_back(&b.data(std::move(table)));
    b.op_.kind = OpKind::BranchIndexed;
    b.handler(throwUnsupported);  // never run; finish() wants one
    b.finish();
    return b.op_;
  }

  // ---- calls ----

  // An argument or result of a call; `type` is that of the parameter, None where the function is not known.
  ParameterPlace place(Binder& b, Routine& r, std::span<const Operand> entries, ScalarType type) {
    ParameterPlace p;
    const Operand& o = entries.front();
    if (o.kind == OperandKind::Variable) {
      const auto offset = program_.stackPlace(*r.function, o.payload);
      if (!offset || entries.size() != 1) b.unsupported("this argument");
      p.memory = measure(module_, r.function->variables[o.payload]);
      p.memory.offset = *offset;
      return p;
    }
    p.isRegister = true;
    if (o.isRegister()) {
      p.reg = b.registerArg(o, entries.subspan(1));
      if (entries.size() == 1) p.lanes = r.function->registers[o.payload].lanes;
      if (o.is(Operand::Compound) && entries[1].kind != OperandKind::Selector) p.reg = b.sum(p.reg, entries);
    } else if (o.kind == OperandKind::Sink) {
      p.reg = b.sink(8);
    } else if (type != ScalarType::None) {
      p.reg = b.sourceOf(entries, type, false);
    } else {
      if (o.kind == OperandKind::Decimal || o.kind == OperandKind::Float32 || o.kind == OperandKind::Float64)
        b.unsupported("a floating-point constant for a function that is not known here");
      p.reg = b.sourceOf(entries, ScalarType::b64, false);
    }
    return p;
  }

  // Of the parameters of the function that a call names, where it has a body.
  std::vector<ScalarType> parameterTypes(const Operand& callee) const {
    std::vector<ScalarType> types;
    if (callee.kind != OperandKind::Symbol || module_.symbols[callee.payload].kind != SymbolKind::Function)
      return types;
    const Function& f = program_.calledFunction(module_.symbols[callee.payload]);
    const auto routine = program_.routineOf_.find(&f);
    if (routine == program_.routineOf_.end()) return types;
    std::size_t variable = 0;
    for (const ParameterPlace& p : routine->second->parameters) {
      if (p.isRegister) {
        const auto& all = routine->second->registers;
        const auto isThis = [&](const Arg& a) { return a.base == p.reg.base && a.offset == p.reg.offset; };
        const auto at = static_cast<std::size_t>(std::find_if(all.begin(), all.end(), isThis) - all.begin());
        types.push_back(f.registers[at].type);
      } else {
        types.push_back(module_.declarationForms[f.variables[f.parameters[variable++].value].form].type);
      }
    }
    return types;
  }

  Op callOp(Binder& b, Routine& r, const Instruction&, std::span<const Operand> entries) {
    b.take("uni");
    CallSite site;
    auto runs = Binder::split(entries);
    std::size_t at = 0;
    const auto list = [&](std::vector<ParameterPlace>& out, const std::vector<ScalarType>& types) {
      const auto run = runs[at++];
      for (const auto& one : Binder::split(run.subspan(1, run.front().inside())))
        out.push_back(place(b, r, one, out.size() < types.size() ? types[out.size()] : ScalarType::None));
    };
    if (runs[at].front().kind == OperandKind::Paren) list(site.results, {});
    if (at == runs.size()) b.unsupported("a call without a function");
    const Operand& callee = runs[at++].front();
    if (at < runs.size() && runs[at].front().kind == OperandKind::Paren) {
      const std::vector<ScalarType> types = parameterTypes(callee);
      list(site.arguments, types);
    }
    for (std::size_t i = 0; i < b.operands(); ++i) b.ignore(i);

    b.op_.kind = OpKind::Call;
    if (callee.kind == OperandKind::Symbol) {
      const Symbol& s = module_.symbols[callee.payload];
      if (s.kind != SymbolKind::Function) b.unsupported("this callee");
      const Function& f = program_.calledFunction(s);
      const auto routine = program_.routineOf_.find(&f);
      if (routine != program_.routineOf_.end()) {
        site.callee = routine->second;
        if (site.arguments.size() != site.callee->parameters.size() ||
            site.results.size() != site.callee->returns.size())
          b.unsupported("a call with more or fewer arguments than the function has");
      } else {
        site.builtin = findBuiltin(module_.text(f.name));
        if (site.builtin == nullptr)
          b.unsupported(fmt::format("'{}' has no body here and is no built-in", module_.text(f.name)));
        b.op_.kind = OpKind::Plain;
      }
    } else if (callee.isRegister()) {
      b.append(b.registerArg(callee, {}));
    } else {
      b.unsupported("this callee");
    }
    b.handler(site.builtin != nullptr ? site.builtin : throwUnsupported);
    b.data(std::move(site));
    b.finish();
    return b.op_;
  }

  void alignConstants() {
    const std::size_t bytes = program_.constants_.size();
    program_.constantStorage_ = std::make_unique<std::byte[]>(bytes + 64);
    program_.constantLanes_ = align64(program_.constantStorage_.get());
    if (bytes != 0) std::memcpy(program_.constantLanes_, program_.constants_.data(), bytes);
  }

  static constexpr uint64_t kDynamic = UINT32_MAX;

  Program& program_;
  const Module& module_;
  uint32_t dynamicAlignment_ = 1;
  std::vector<BranchTable*> tables_;
};

Program::Program(Machine& machine, const Function& kernel)
    : machine_(machine), module_(machine.module()), kernel_(kernel) {
  Decoder(*this).run();
}

Program::~Program() = default;

const Function& Program::calledFunction(const Symbol& function) const {
  return module_.functions[machine_.calledFunction(function)];
}

const Routine* Program::routineAt(uint64_t address) const {
  const uint64_t offset = address - kCodeWindow;
  if (offset % 16 != 0 || offset / 16 >= module_.functions.size()) return nullptr;
  const auto found = routineOf_.find(&module_.functions[offset / 16]);
  return found == routineOf_.end() ? nullptr : found->second;
}

std::optional<uint64_t> Program::variablePlace(const Function& f, uint32_t variable) const {
  const VariablePlace& p = variablePlaces_.at(&f)[variable];
  if (p.inStack) return std::nullopt;
  return p.address;
}

std::optional<uint32_t> Program::stackPlace(const Function& f, uint32_t variable) const {
  const VariablePlace& p = variablePlaces_.at(&f)[variable];
  if (!p.inStack) return std::nullopt;
  return static_cast<uint32_t>(p.address);
}

Space Program::spaceOf(const Function& f, const Operand& o) const {
  if (o.kind == OperandKind::Variable) return variablePlaces_.at(&f)[o.payload].space;
  const Symbol& s = module_.symbols[o.payload];
  if (s.kind != SymbolKind::Variable) return Space::Generic;
  const std::string_view space = module_.text(module_.declarationForms[module_.variables[s.index].form].space);
  return space == "shared" ? Space::Shared : space == "const" ? Space::Const : Space::Global;
}

}  // namespace ptxopt::exec
