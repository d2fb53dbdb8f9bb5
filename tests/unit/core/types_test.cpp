#include "ir/types.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace ptxopt;

TEST_CASE("types: names both ways") {
  std::size_t count = 0;
#define PTX_TYPE(type, width, cls)                                   \
  CHECK(scalarType(#type) == ScalarType::type);                      \
  CHECK(info(ScalarType::type).name == #type);                       \
  CHECK(info(ScalarType::type).bits == width);                       \
  CHECK(info(ScalarType::type).registerClass == RegisterClass::cls); \
  ++count;
#include "ir/types.def"
#undef PTX_TYPE
  CHECK(count == 31);
  for (const char* text : {"", ".b32", "b", "b33", "B32", "b32 ", "v2", "reg", "None"})
    CHECK(scalarType(text) == ScalarType::None);
}

TEST_CASE("types: widths and classes that ptxas decides by") {
  const auto is = [](std::string_view type, unsigned bits, RegisterClass c) {
    CAPTURE(type);
    CHECK(info(scalarType(type)).bits == bits);
    CHECK(info(scalarType(type)).registerClass == c);
  };
  is("pred", 1, RegisterClass::Pred);
  is("s8", 8, RegisterClass::B8);
  is("f16", 16, RegisterClass::B16);
  is("bf16", 16, RegisterClass::B16);
  is("f16x2", 32, RegisterClass::B32);
  is("u32", 32, RegisterClass::B32);
  is("f32", 32, RegisterClass::F32);
  is("s64", 64, RegisterClass::B64);
  is("f64", 64, RegisterClass::F64);
  is("b128", 128, RegisterClass::B128);
  is("e2m1", 4, RegisterClass::B8);
  is("texref", 64, RegisterClass::B64);
}

TEST_CASE("types: class names are all different") {
  std::set<std::string_view> names;
  for (const RegisterClass c :
       {RegisterClass::Pred, RegisterClass::B8, RegisterClass::B16, RegisterClass::B32, RegisterClass::B64,
        RegisterClass::B128, RegisterClass::F32, RegisterClass::F64, RegisterClass::Carry})
    names.insert(name(c));
  CHECK(names.size() == 9);
  CHECK(name(RegisterClass::Pred) == "pred");
  CHECK(name(RegisterClass::B128) == "b128");
  CHECK(name(RegisterClass::Carry) == "carry");
}

TEST_CASE("special registers") {
  const SpecialRegisterInfo* tid = specialRegister("%tid");
  REQUIRE(tid != nullptr);
  CHECK(tid->bits == 32);
  CHECK_FALSE(tid->isVolatile);
  CHECK(specialRegister("tid") == tid);
  CHECK(specialRegister("%tid.x") == nullptr);
  CHECK(specialRegister("%r1") == nullptr);
  CHECK(specialRegister("") == nullptr);
  CHECK(specialRegister("%") == nullptr);
  CHECK(specialRegister("%envreg31") != nullptr);
  CHECK(specialRegister("%envreg32") == nullptr);

  REQUIRE(specialRegister("%clock64") != nullptr);
  CHECK(specialRegister("%clock64")->bits == 64);
  for (const char* text : {"%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi",
                           "%smid", "%warpid", "%pm0", "%pm7", "%pm0_64"}) {
    CAPTURE(text);
    REQUIRE(specialRegister(text) != nullptr);
    CHECK(specialRegister(text)->isVolatile);
  }
  for (const char* text : {"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%lanemask_lt", "%gridid",
                           "%cluster_ctarank", "%dynamic_smem_size", "%total_smem_size"}) {
    CAPTURE(text);
    REQUIRE(specialRegister(text) != nullptr);
    CHECK_FALSE(specialRegister(text)->isVolatile);
  }
}
