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

TEST_CASE("opcode fields: the family is the operation of the base opcode") {
  CHECK(readOpcode("st.global.u32").family == Op::St);
  CHECK(readOpcode("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32").family == Op::St);
  CHECK(readOpcode("barrier.cluster.wait.aligned").family == Op::Barrier);
  CHECK(readOpcode("mbarrier.try_wait.shared.b64").family == Op::Mbarrier);
  CHECK((readOpcode("frobnicate.global").family == Op::Unknown));
  for (const OpcodeRow& row : opcodeTable()) {
    CAPTURE(row.key);
    CHECK(readOpcode(row.key).family == readOpcode(row.base()).op);
    CHECK((readOpcode(row.key).family != Op::Unknown));
  }
}

TEST_CASE("opcode fields: the geometry of textures, surfaces and tensors") {
  CHECK(readOpcode("tex.1d.v4.f32.s32").geometry == Geometry::D1);
  CHECK(readOpcode("tex.a2dms.v4.f32.s32").geometry == Geometry::MultisampleArrayD2);
  CHECK(readOpcode("tld4.r.acube.v4.f32.f32").geometry == Geometry::ArrayCube);
  CHECK(readOpcode("sust.b.3d.b32.trap").geometry == Geometry::D3);
  CHECK(readOpcode("txq.width.b32").geometry == Geometry::None);
  CHECK(readOpcode("cp.async.bulk.tensor.5d.shared::cluster.global.tile").geometry == Geometry::D5);
  CHECK_FALSE(readOpcode("tex.1d.v4.f32.s32").hasOnly(field::Vector));
}

TEST_CASE("opcode fields: hints for caches are neither cache operators nor unknown words") {
  const OpcodeForm form = readOpcode("ld.global.L1::no_allocate.L2::128B.u32");
  CHECK(form.hasOnly(field::Space | field::CacheHint));
  CHECK_FALSE(form.hasOnly(field::Space));
  CHECK_FALSE(readOpcode("prefetch.global.L2").hasOnly(field::Space | field::CacheHint));
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
