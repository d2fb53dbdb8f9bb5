// What the words of an opcode say: `mul.wide.s32` is Op::Mul with ProductHalf::Wide of ScalarType::s32.
//
// An opcode is decoded once, when a module first contains its spelling; what is not text, ir or the interpreter's
// binding asks for the operation and for fields, and never reads the spelling (tests/sources.py). The rows are in
// opcodes.def and modifiers.def.
//
// Exact forms: modifiers that a pass does not know may change what an instruction does (`min.relu.s32`), and new ones come
// with each version of PTX. So code that relies on the meaning asks with `isExactly` or `hasOnly`, which fail where the
// opcode says anything else; `op` alone is for what holds whatever the modifiers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/types.h"

namespace ptxopt {

enum class Op : uint16_t {
  Unknown,  // not in the table
#define PTX_OPCODE(op, key, operands, effects, summary) op,
#define PTX_OPCODE_VARIANT(op, key, operands, effects, summary)  // has the operation of another row
#include "ir/opcodes.def"
};

enum class StateSpace : uint8_t {
  None,  // not said: a generic address, or no memory at all
  Global,
  Shared,
  SharedCta,
  SharedCluster,
  Local,
  Const,
  Param,
  ParamEntry,
  ParamFunc,
};
// Shared memory of this block, however it is said; parameters of any kind.
constexpr bool isOwnShared(StateSpace s) { return s == StateSpace::Shared || s == StateSpace::SharedCta; }
constexpr bool isParameter(StateSpace s) { return s >= StateSpace::Param; }

enum class MemoryOrder : uint8_t {
  None,
  Weak,
  Volatile,
  Relaxed,
  Acquire,
  Release,
  AcquireRelease,
  SequentiallyConsistent
};
enum class MemoryScope : uint8_t { None, Cta, Cluster, Gpu, Sys };
enum class CacheOperator : uint8_t {
  None,
  AllLevels,
  Global,
  Streaming,
  LastUse,
  NoCache,
  WriteBack,
  WriteThrough
};
enum class ProductHalf : uint8_t { None, Lo, Hi, Wide };
enum class RoundingMode : uint8_t { None, Rn, Rz, Rm, Rp, Rna, Rs, Rni, Rzi, Rmi, Rpi };
enum class ComparisonOperator : uint8_t {
  None,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Lo,
  Ls,
  Hi,
  Hs,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};
enum class CombineOperation : uint8_t {
  None,
  Add,
  Increment,
  Decrement,
  Min,
  Max,
  And,
  Or,
  Xor,
  Exchange,
  CompareAndSwap,
  Count
};
enum class LaneSelection : uint8_t { None, Up, Down, Butterfly, Index, All, Any, Uniform, Ballot };
// For a texture, a surface or a tensor.
enum class Geometry : uint8_t {
  None,
  D1,
  D2,
  D3,
  D4,
  D5,
  Cube,
  ArrayD1,
  ArrayD2,
  ArrayCube,
  MultisampleD2,
  MultisampleArrayD2
};
enum class ModifierFlag : uint8_t {
  NonCoherent,
  FlushToZero,
  Saturate,
  SaturateFinite,
  CarryOut,
  Approximate,
  FullRange,
  Relu,
  PropagatesNan,
  XorSign,
  Uniform,
  Sync,
  Aligned,
  Arrive,
  Reduce,
  Warp,
  To,
  Mmio,
  Async,
  Pack
};

// The fields, as bits of OpcodeFields::present.
namespace field {
enum : uint16_t {
  Space = 1u << 0,
  Order = 1u << 1,
  Scope = 1u << 2,
  Cache = 1u << 3,
  Half = 1u << 4,
  Rounding = 1u << 5,
  Comparison = 1u << 6,
  Operation = 1u << 7,
  Lanes = 1u << 8,
  Flag = 1u << 9,
  Geometry = 1u << 10,
  Vector = 1u << 11,
  CacheHint = 1u << 12,  // L1::, L2::
  Other = 1u << 13,      // a word that is not in the tables, or a second one of a field
};
}  // namespace field

struct OpcodeFields {
  Op op = Op::Unknown;
  uint16_t present = 0;                      // which fields the opcode says
  ScalarType type = ScalarType::None;        // the first type: of the result, mostly
  ScalarType sourceType = ScalarType::None;  // the last one: of the source, for conversions
  uint8_t typeCount = 0;
  uint8_t vector = 1;  // 2, 4 or 8 for .v2, .v4, .v8
  StateSpace space = StateSpace::None;
  StateSpace secondSpace = StateSpace::None;  // of a copy: the source's
  MemoryOrder order = MemoryOrder::None;
  MemoryScope scope = MemoryScope::None;
  CacheOperator cache = CacheOperator::None;
  ProductHalf half = ProductHalf::None;
  RoundingMode rounding = RoundingMode::None;
  ComparisonOperator comparison = ComparisonOperator::None;
  CombineOperation operation = CombineOperation::None;
  LaneSelection lanes = LaneSelection::None;
  Geometry geometry = Geometry::None;
  uint32_t flags = 0;

  bool has(ModifierFlag f) const { return (flags >> static_cast<unsigned>(f) & 1u) != 0; }
  // Whether nothing is said but types and the fields of `allowed`.
  bool hasOnly(unsigned allowed) const { return (present & ~allowed) == 0; }
  // `add.s64`, `mov.b32`: the operation and one type, nothing else.
  bool isExactly(Op o, ScalarType t) const { return op == o && present == 0 && typeCount == 1 && type == t; }
  // `mul.wide.s32`
  bool isExactly(Op o, ProductHalf h, ScalarType t) const {
    return op == o && present == field::Half && half == h && typeCount == 1 && type == t;
  }
  // `setp.lt.s32`
  bool isExactly(Op o, ComparisonOperator c, ScalarType t) const {
    return op == o && present == field::Comparison && comparison == c && typeCount == 1 && type == t;
  }
  // `cvt.s64.s32`
  bool isConversion(ScalarType to, ScalarType from) const {
    return op == Op::Cvt && present == 0 && typeCount == 2 && type == to && sourceType == from;
  }
};

// Decodes the words after the first dot of an opcode of operation `op`. Cost: linear in the words.
OpcodeFields decodeFields(Op op, std::span<const std::string_view> words);

}  // namespace ptxopt
