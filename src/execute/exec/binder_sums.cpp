// `r + 4` as a data operand, also of a special register: the sum, in the width of the register, lies in a place of its own
// in the frame, where an op before the instruction puts it.
//
// ptxas reads all that stands after the `+` as one constant expression: in `r + 6 & 3` it is 2. It takes the form of integer
// registers; what it makes of a predicate, a floating-point or a vector register with a constant has no meaning, or
// crashes it.
#include "exec/binder.h"
#include "exec/constant_expression.h"
#include "exec/lanes.h"

namespace ptxopt::exec {

namespace {

struct Sum {
  Arg to, from;
  uint64_t addend = 0;
};

template <typename T>
Step add(Warp& w, const Op& op, Mask active) {
  const Sum& s = *static_cast<const Sum*>(op.data);
  T* d = w.out<T>(s.to);
  const T* a = w.in<T>(s.from);
  const auto addend = static_cast<T>(s.addend);
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = static_cast<T>(a[i] + addend); });
  return Step::Next;
}

Handler adder(unsigned bytes) {
  switch (bytes) {
    case 1: return add<uint8_t>;
    case 2: return add<uint16_t>;
    case 4: return add<uint32_t>;
    case 8: return add<uint64_t>;
    default: return nullptr;
  }
}

bool isInteger(const Register& r) {
  switch (r.type) {
    case ScalarType::f16:
    case ScalarType::f16x2:
    case ScalarType::bf16:
    case ScalarType::bf16x2:
    case ScalarType::f32:
    case ScalarType::f64: return false;
    default: return r.lanes == 1;
  }
}

}  // namespace

// A place in the frame for what an op before the instruction makes.
Arg Binder::place(uint8_t bytes) {
  Arg result;
  result.base = Base::Frame;
  result.bytes = bytes;
  result.offset = (routine_.frameBytes + 63) & ~63u;
  routine_.frameBytes = result.offset + bytes * kLanes;
  return result;
}

// `entries` are a register or special register, whose lanes are at `a`, and what is added to it.
Arg Binder::sum(const Arg& a, std::span<const Operand> entries) {
  const Handler run = adder(a.bytes);
  const Operand& o = entries.front();  // a special register otherwise
  if (run == nullptr || o.is(Operand::Negated) || (o.isRegister() && !isInteger(function_.registers[o.payload])))
    unsupported("a constant added to such a register");
  Term t{};
  if (entries[1].join != Join::Plus || !evaluate(function_, program_.module(), entries.subspan(1), t))
    unsupported("arithmetic on a register that is not the sum of it and a constant");
  const Arg result = place(a.bytes);
  auto data = std::make_shared<Sum>(Sum{result, a, static_cast<uint64_t>(t.value)});
  Op op;
  op.run = run;
  op.data = data.get();
  keep(std::move(data));
  before_.push_back(op);
  return result;
}

}  // namespace ptxopt::exec
