// Bitwise logic: and, or, xor, not, cnot, lop3, on numbers and, but for the last two, on predicates.
//
// Meaning from the PTX ISA's chapter on logic and shift instructions. lop3's table has the result for the bits a,
// b, c at index 4a + 2b + c. With .and or .or it also sets a predicate: is the result nonzero, combined with
// another.
#include "exec/binder.h"
#include "exec/instructions/bitwise.h"
#include "exec/instructions/integer_types.h"
#include "exec/instructions/lane_masks.h"
#include "exec/lanes.h"

namespace ptxopt::exec {

namespace {

using enum ScalarType;

template <typename T>
constexpr T complementOf(T a) {
  return static_cast<T>(~a);
}
template <typename T>
constexpr T isZero(T a) {
  return a == 0;
}

template <auto f>
Step predicateBinary(Warp& w, const Op& op, Mask active) {
  w.setPredicate(op.args[0], f(w.predicate(op.args[1]), w.predicate(op.args[2])), active);
  return Step::Next;
}

Step predicateNot(Warp& w, const Op& op, Mask active) {
  w.setPredicate(op.args[0], ~w.predicate(op.args[1]), active);
  return Step::Next;
}

// `f` makes the function for a type out of a TypeTag.
template <typename F>
void bindLogic(Binder& b, Handler onPredicates, F&& f) {
  const ScalarType type = takeTypeOf(b, {b16, b32, b64, pred});
  bindUniform(b, type, 2);
  b.handler(type == pred ? onPredicates : forUnsigned(b, type, f));
}

// A function of three bits, bit by bit: chosen by c, then by b, then by a.
class Table {
 public:
  explicit Table(unsigned table) {
    for (unsigned k = 0; k < 4; ++k) {
      always_[k] = ones(table >> (2 * k) & 1);
      onC_[k] = always_[k] ^ ones(table >> (2 * k + 1) & 1);
    }
  }
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const uint32_t v0 = always_[0] ^ (c & onC_[0]), v1 = always_[1] ^ (c & onC_[1]);
    const uint32_t v2 = always_[2] ^ (c & onC_[2]), v3 = always_[3] ^ (c & onC_[3]);
    const uint32_t w0 = v0 ^ (b & (v0 ^ v1)), w1 = v2 ^ (b & (v2 ^ v3));
    return w0 ^ (a & (w0 ^ w1));
  }

 private:
  static uint32_t ones(unsigned bit) { return bit != 0 ? ~uint32_t{0} : 0; }

  uint32_t always_[4], onC_[4];
};

Step lop3(Warp& w, const Op& op, Mask active) {
  uint32_t* d = w.out<uint32_t>(op.args[0]);
  const uint32_t* a = w.in<uint32_t>(op.args[1]);
  const uint32_t* b = w.in<uint32_t>(op.args[2]);
  const uint32_t* c = w.in<uint32_t>(op.args[3]);
  const Table table(op.small[0]);
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = table(a[i], b[i], c[i]); });
  return Step::Next;
}

// args: d, a, b, c, the predicate to set, the one to combine with.
template <bool kAnd>
Step lop3WithPredicate(Warp& w, const Op& op, Mask active) {
  uint32_t* d = w.out<uint32_t>(op.args[0]);
  const uint32_t* a = w.in<uint32_t>(op.args[1]);
  const uint32_t* b = w.in<uint32_t>(op.args[2]);
  const uint32_t* c = w.in<uint32_t>(op.args[3]);
  const Mask other = w.predicate(op.args[5]);
  const Table table(op.small[0]);
  const Mask nonzero = collectVectorized(active, [=](unsigned i) {
    d[i] = table(a[i], b[i], c[i]);
    return d[i] != 0;
  });
  w.setPredicate(op.args[4], kAnd ? nonzero & other : nonzero | other, active);
  return Step::Next;
}

}  // namespace

void bindAnd(Binder& b) {
  bindLogic(b, predicateBinary<bitAnd<Mask>>,
            []<typename T>(TypeTag<T>) -> Handler { return binary<T, T, T, bitAnd<T>>; });
}

void bindOr(Binder& b) {
  bindLogic(b, predicateBinary<bitOr<Mask>>,
            []<typename T>(TypeTag<T>) -> Handler { return binary<T, T, T, bitOr<T>>; });
}

void bindXor(Binder& b) {
  bindLogic(b, predicateBinary<bitXor<Mask>>,
            []<typename T>(TypeTag<T>) -> Handler { return binary<T, T, T, bitXor<T>>; });
}

void bindNot(Binder& b) {
  const ScalarType type = takeTypeOf(b, {b16, b32, b64, pred});
  bindUniform(b, type, 1);
  if (type == pred) return b.handler(predicateNot);
  b.handler(forUnsigned(b, type, []<typename T>(TypeTag<T>) -> Handler { return unary<T, T, complementOf<T>>; }));
}

void bindCnot(Binder& b) {
  const ScalarType type = takeTypeOf(b, {b16, b32, b64});
  bindUniform(b, type, 1);
  b.handler(forUnsigned(b, type, []<typename T>(TypeTag<T>) -> Handler { return unary<T, T, isZero<T>>; }));
}

void bindLop3(Binder& b) {
  const std::string_view combination = b.takeOneOf({"and", "or"});
  takeTypeOf(b, {b32});
  if (combination.empty())
    b.dest(0, b32);
  else
    b.pairDest(0, b32);
  for (std::size_t i = 1; i <= 3; ++i) b.source(i, b32);
  const int64_t table = b.immediate(4);
  if (table < 0 || table > 255) b.unsupported("a table beyond 8 bits");
  b.op().small[0] = static_cast<uint8_t>(table);
  if (combination.empty()) return b.handler(lop3);
  b.pairPredicate(0);
  b.predicate(5);
  b.handler(combination == "and" ? lop3WithPredicate<true> : lop3WithPredicate<false>);
}

}  // namespace ptxopt::exec
