// What passes over addresses ask of opcodes: passes/addressing/address_opcodes.h.
#include "passes/addressing/address_opcodes.h"

#include <doctest/doctest.h>

using namespace ptxopt;

TEST_CASE("address opcodes: exact forms take no other modifier") {
  for (const char* text : {"add.s64", "add.u64"}) CHECK(isAddition(readOpcode(text)));
  for (const char* text : {"add.cc.u64", "add.s32", "add.f64", "addc.s64", "sub.s64"})
    CHECK_FALSE(isAddition(readOpcode(text)));
  for (const char* text : {"mul.lo.s64", "mul.lo.u64"}) CHECK(isMultiplication(readOpcode(text)));
  for (const char* text : {"mul.hi.s64", "mul.lo.s32", "mad.lo.s64", "mul.wide.s32"})
    CHECK_FALSE(isMultiplication(readOpcode(text)));
  for (const char* text : {"mov.b64", "mov.u64", "mov.s64"}) CHECK(isMove64(readOpcode(text)));
  for (const char* text : {"mov.b32", "mov.f64", "movmatrix.sync.aligned.m8n8.trans.b16"})
    CHECK_FALSE(isMove64(readOpcode(text)));
  for (const char* text : {"cvt.s64.s32", "cvt.u64.s32"}) CHECK(isExtension(readOpcode(text)));
  for (const char* text : {"cvt.u32.u64", "cvt.s64.s16", "cvt.rzi.s64.f32"})
    CHECK_FALSE(isExtension(readOpcode(text)));
  CHECK(isExactlyWide(readOpcode("mad.wide.u32"), Op::Mad));
  CHECK_FALSE(isExactlyWide(readOpcode("mad.wide.u16"), Op::Mad));
}

TEST_CASE("address opcodes: kinds, whatever the type") {
  CHECK(isWideProduct(readOpcode("mul.wide.u16")));
  CHECK_FALSE(isWideProduct(readOpcode("mad.wide.s32")));
  CHECK(isFreeCopy(readOpcode("cvta.to.global.u64")));
  CHECK(isFreeCopy(readOpcode("mov.f32")));
  CHECK_FALSE(isFreeCopy(readOpcode("movmatrix.sync.aligned.m8n8.trans.b16")));
  CHECK(isParameterLoad(readOpcode("ld.param::entry.u64")));
  CHECK(isParameterLoad(readOpcode("ld.param.v4.u32")));
  CHECK_FALSE(isParameterLoad(readOpcode("st.param.u64")));
  CHECK_FALSE(isParameterLoad(readOpcode("ld.global.u64")));
}
