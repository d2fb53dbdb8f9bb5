// What the words of an opcode decode to.
#include <doctest/doctest.h>

#include "ir/opcodes.h"

using namespace ptxopt;

TEST_CASE("opcode fields: operation, type, and half") {
  const OpcodeForm wide = readOpcode("mul.wide.s32");
  CHECK(wide.op == Op::Mul);
  CHECK(wide.half == ProductHalf::Wide);
  CHECK(wide.isExactly(Op::Mul, ProductHalf::Wide, ScalarType::s32));
  CHECK_FALSE(wide.isExactly(Op::Mul, ProductHalf::Wide, ScalarType::u32));
  CHECK_FALSE(wide.isExactly(Op::Mul, ScalarType::s32));
  CHECK(readOpcode("add.s64").isExactly(Op::Add, ScalarType::s64));
  CHECK(readOpcode("cvt.s64.s32").isConversion(ScalarType::s64, ScalarType::s32));
  CHECK_FALSE(readOpcode("cvt.sat.s64.s32").isConversion(ScalarType::s64, ScalarType::s32));
}

TEST_CASE("opcode fields: what else an opcode says is never passed over") {
  for (const char* text : {"add.sat.s32", "add.cc.s32", "add.frob.s32", "add.s32.s32", "add.v2.s32", "add.rn.s32"})
    CHECK_FALSE(readOpcode(text).isExactly(Op::Add, ScalarType::s32));
  CHECK_FALSE(readOpcode("min.relu.s32").hasOnly(0));
  CHECK(readOpcode("min.relu.s32").has(ModifierFlag::Relu));
  CHECK_FALSE(readOpcode("mul.lo.lo.s32").hasOnly(field::Half));
  CHECK((readOpcode("frobnicate.global").op == Op::Unknown));
}

TEST_CASE("opcode fields: variants have the operation of their base") {
  for (const char* text : {"div.u32", "div.s64", "div.rn.f32", "div.full.f32"})
    CHECK(readOpcode(text).op == Op::Div);
  CHECK(readOpcode("bar.red.popc.u32").op == Op::BarRed);
  CHECK(readOpcode("barrier.cluster.arrive").op == Op::BarrierCluster);
  CHECK(readOpcode("cp.async.bulk.tensor.2d.shared::cluster.global.tile").op == Op::CpAsyncBulkTensor);
}

TEST_CASE("opcode fields: spaces, in whatever order the words stand") {
  CHECK(readOpcode("ld.u32").space == StateSpace::None);
  CHECK(readOpcode("ld.volatile.global.u32").space == StateSpace::Global);
  CHECK(readOpcode("ld.global.volatile.u32").order == MemoryOrder::Volatile);
  CHECK(readOpcode("ld.param.u64").space == StateSpace::Param);
  CHECK(isParameter(readOpcode("ld.param::entry.u64").space));
  CHECK(isOwnShared(readOpcode("ld.shared::cta.u32").space));
  CHECK_FALSE(isOwnShared(readOpcode("ld.shared::cluster.u32").space));
  const OpcodeForm copy = readOpcode("cp.async.ca.shared.global");
  CHECK(copy.space == StateSpace::Shared);
  CHECK(copy.secondSpace == StateSpace::Global);
  CHECK(readOpcode("ld.global.nc.f32").has(ModifierFlag::NonCoherent));
  CHECK(readOpcode("ld.mmio.relaxed.sys.global.u32").order == MemoryOrder::Relaxed);
  CHECK(readOpcode("ld.mmio.relaxed.sys.global.u32").scope == MemoryScope::Sys);
}

TEST_CASE("opcode fields: lo and hi are comparisons where something is compared") {
  CHECK(readOpcode("setp.lo.u32").comparison == ComparisonOperator::Lo);
  CHECK(readOpcode("setp.lo.u32").half == ProductHalf::None);
  CHECK(readOpcode("mul.hi.u32").half == ProductHalf::Hi);
  CHECK(readOpcode("mul.hi.u32").comparison == ComparisonOperator::None);
  const OpcodeForm both = readOpcode("setp.lt.and.s32");
  CHECK(both.comparison == ComparisonOperator::Lt);
  CHECK(both.operation == CombineOperation::And);
  CHECK(readOpcode("vote.sync.uni.pred").lanes == LaneSelection::Uniform);
  CHECK(readOpcode("bra.uni").has(ModifierFlag::Uniform));
  CHECK(readOpcode("shfl.sync.bfly.b32").lanes == LaneSelection::Butterfly);
  CHECK(readOpcode("atom.global.add.u32").operation == CombineOperation::Add);
}
