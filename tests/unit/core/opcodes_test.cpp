#include "ir/opcodes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

using namespace ptxopt;

namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::string join(const std::vector<std::string>& parts) {
  std::string text = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) text += "." + parts[i];
  return text;
}

std::string_view rowOf(std::string_view opcode) {
  const OpcodeForm form = readOpcode(opcode);
  return form.row == nullptr ? "(none)" : form.row->key;
}

}  // namespace

TEST_CASE("opcodes: each row is found by its own key, in any order of modifiers and among others") {
  std::mt19937 random(2);
  std::set<std::string_view> keys;
  for (const OpcodeRow& row : opcodeTable()) {
    CAPTURE(row.key);
    CHECK(keys.insert(row.key).second);
    CHECK_FALSE(row.summary.empty());
    CHECK(row.operands.find_first_not_of("dmul*") == std::string_view::npos);
    auto parts = split(row.key);
    for (int i = 0; i < 8; ++i) {
      CHECK(rowOf(join(parts)) == row.key);
      std::shuffle(parts.begin() + 1, parts.end(), random);
    }
    parts.insert(parts.begin() + 1, "zzz");
    parts.push_back("b32");
    CHECK(rowOf(join(parts)) == row.key);
  }
  CHECK(keys.size() > 150);
}

TEST_CASE("opcodes: of several rows the one that asks for most wins") {
  CHECK(rowOf("div.f32") == "div");
  CHECK(rowOf("div.approx.f32") == "div");
  CHECK(rowOf("div.rn.f32") == "div.rn");
  CHECK(rowOf("div.f32.rn") == "div.rn");
  CHECK(rowOf("div.s64") == "div.s64");
  CHECK(rowOf("div.s32") == "div");
  CHECK(rowOf("rsqrt.approx.f64") == "rsqrt.f64");
  CHECK(rowOf("rsqrt.approx.ftz.f64") == "rsqrt.ftz.f64");
  CHECK(rowOf("rsqrt.approx.ftz.f32") == "rsqrt");
  CHECK(rowOf("cp.async.ca.shared.global") == "cp.async");
  CHECK(rowOf("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes") ==
        "cp.async.bulk.tensor");
  CHECK(rowOf("cp.async.bulk.prefetch.tensor.2d.L2.global") == "cp.async.bulk.prefetch.tensor");
  CHECK(rowOf("cp.async.bulk.wait_group.read") == "cp.async.bulk.wait_group");
  CHECK(rowOf("tcgen05.wait::ld.sync.aligned") == "tcgen05.wait::ld");
  CHECK(rowOf("tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32") == "tcgen05.ld.red");
  CHECK(rowOf("mbarrier.arrive.expect_tx.shared.b64") == "mbarrier.arrive.expect_tx");
  CHECK(rowOf("ld.global.nc.L1::no_allocate.v4.f32") == "ld");
}

TEST_CASE("opcodes: components match whole or not at all") {
  CHECK(rowOf("add") == "add");
  CHECK(rowOf("addx.s32") == "(none)");
  CHECK(rowOf("ad.s32") == "(none)");
  CHECK(rowOf("ADD.s32") == "(none)");
  CHECK(rowOf("") == "(none)");
  CHECK(rowOf("div.rnd.f32") == "div");
  CHECK(rowOf("tcgen05.wait.ld.sync") == "tcgen05.ld");
}

TEST_CASE("opcodes: unknown ones have every effect and only mods") {
  const OpcodeForm form = readOpcode("frobnicate.sync.b32");
  CHECK(form.row == nullptr);
  CHECK_FALSE(form.knowsOperands());
  CHECK(form.role(0) == 'm');
  CHECK(form.role(7) == 'm');
  for (const uint32_t e : {effect::Read, effect::Write, effect::Side, effect::Convergent, effect::Async,
                           effect::Volatile, effect::Ordering, effect::CarryIn, effect::CarryOut, effect::Unknown})
    CHECK(form.is(e));
  CHECK(form.is(effect::kKeep));
  CHECK(form.type == ScalarType::b32);

  const OpcodeForm fallback = readOpcode("mbarrier.new_thing.b64");
  REQUIRE(fallback.row != nullptr);
  CHECK(fallback.row->operands == "*");
  CHECK_FALSE(fallback.knowsOperands());
  CHECK(fallback.role(0) == 'm');
  CHECK(fallback.role(3) == 'm');
  CHECK(fallback.is(effect::Convergent));
  CHECK_FALSE(fallback.is(effect::Unknown));
}

TEST_CASE("opcodes: roles of operands") {
  const OpcodeForm add = readOpcode("add.s32");
  CHECK(add.role(0) == 'd');
  CHECK(add.role(1) == 'u');
  CHECK(add.role(9) == 'u');
  CHECK(readOpcode("st.global.u32").role(0) == 'u');
  CHECK(readOpcode("bra.uni").role(0) == 'l');
  CHECK(readOpcode("brx.idx").role(0) == 'u');
  CHECK(readOpcode("brx.idx").role(1) == 'l');
  CHECK(readOpcode("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16").role(0) == 'm');
  CHECK(readOpcode("tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32").role(1) == 'd');
}

TEST_CASE("opcodes: effects that modifiers add") {
  CHECK(readOpcode("ld.global.u32").effects == effect::Read);
  CHECK(readOpcode("ld.volatile.global.u32").effects == (effect::Read | effect::Volatile));
  CHECK(readOpcode("ld.global.u32.volatile").effects == (effect::Read | effect::Volatile));
  CHECK(readOpcode("ld.relaxed.gpu.u32").effects == (effect::Read | effect::Volatile));
  CHECK(readOpcode("ld.mmio.relaxed.sys.u32").effects == (effect::Read | effect::Volatile));
  CHECK(readOpcode("ld.acquire.gpu.u32").effects == (effect::Read | effect::Volatile | effect::Ordering));
  CHECK(readOpcode("st.release.gpu.u32").effects == (effect::Write | effect::Volatile | effect::Ordering));
  CHECK(readOpcode("add.cc.u32").effects == effect::CarryOut);
  CHECK(readOpcode("add.u32").effects == effect::Pure);
  CHECK(readOpcode("addc.u32").effects == effect::CarryIn);
  CHECK(readOpcode("addc.cc.u32").effects == (effect::CarryIn | effect::CarryOut));
  CHECK(readOpcode("atom.global.add.u32").effects == (effect::Read | effect::Write));
  CHECK(readOpcode("atom.acq_rel.gpu.add.u32").is(effect::Ordering));
  CHECK(readOpcode("fence.sc.gpu").is(effect::Ordering));
  CHECK(readOpcode("ret.uni").effects == effect::Return);
  CHECK(readOpcode("exit").effects == effect::Exit);
}

TEST_CASE("opcodes: what may go when it is dead") {
  for (const char* text :
       {"add.s32", "ld.global.u32", "addc.cc.u32", "ld.param.b64", "tex.2d.v4.f32.f32", "mov.b32"})
    CHECK_FALSE(readOpcode(text).is(effect::kKeep));
  for (const char* text :
       {"st.global.u32", "ld.volatile.u32", "ld.acquire.gpu.u32", "atom.add.u32", "shfl.sync.idx.b32",
        "vote.sync.any.pred", "activemask.b32", "elect.sync", "bar.sync", "call", "bra", "ret", "exit", "trap",
        "div.rn.f32", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "unheard.of"})
    CHECK(readOpcode(text).is(effect::kKeep));
}

TEST_CASE("opcodes: types and vectors") {
  const OpcodeForm cvt = readOpcode("cvt.rn.f32.u64");
  CHECK(cvt.type == ScalarType::f32);
  CHECK(cvt.sourceType == ScalarType::u64);
  const OpcodeForm ld = readOpcode("ld.global.v4.f32");
  CHECK(ld.type == ScalarType::f32);
  CHECK(ld.sourceType == ScalarType::f32);
  CHECK(ld.vector == 4);
  CHECK(readOpcode("ld.v2.global.b64").vector == 2);
  CHECK(readOpcode("ld.global.v8.b32").vector == 8);
  CHECK(readOpcode("add.f32").vector == 1);
  CHECK(readOpcode("bar.sync").type == ScalarType::None);
  CHECK(readOpcode("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32").sourceType == ScalarType::f32);
}

TEST_CASE("opcodes: names of effects") {
  CHECK(effectNames(effect::Pure) == "pure");
  CHECK(effectNames(effect::Read | effect::Volatile) == "read,volatile");
  CHECK(effectNames(effect::CarryIn | effect::CarryOut) == "carry-in,carry-out");
  CHECK(effectNames(effect::Unknown) == "unknown");
  CHECK(effectNames(effect::IndirectBranch | effect::NoReturn | effect::Call) == "indirect-branch,no-return,call");
}
