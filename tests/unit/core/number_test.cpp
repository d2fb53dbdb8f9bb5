#include "text/number.h"

#include <doctest/doctest.h>

#include <string>

using ptxopt::text::parseInteger;

namespace {

// The value, or UINT64_MAX - 1 for what is refused; no test below has that value.
constexpr uint64_t kRefused = UINT64_MAX - 1;
uint64_t read(std::string_view text) {
  uint64_t value = 0;
  return parseInteger(text, value) ? value : kRefused;
}

}  // namespace

TEST_CASE("numbers: the four bases") {
  CHECK(read("0") == 0);
  CHECK(read("7") == 7);
  CHECK(read("1234567890") == 1234567890);
  CHECK(read("017") == 15);
  CHECK(read("00") == 0);
  CHECK(read("0x1f") == 31);
  CHECK(read("0XFF") == 255);
  CHECK(read("0xdeadBEEF") == 0xdeadbeef);
  CHECK(read("0b101") == 5);
  CHECK(read("0B11") == 3);
}

TEST_CASE("numbers: the suffix U") {
  CHECK(read("4U") == 4);
  CHECK(read("0x10U") == 16);
  CHECK(read("017U") == 15);
  CHECK(read("0U") == 0);
}

TEST_CASE("numbers: digits that the base does not have") {
  CHECK(read("09") == kRefused);
  CHECK(read("08") == kRefused);
  CHECK(read("0b2") == kRefused);
  CHECK(read("12a") == kRefused);
  CHECK(read("0xg") == kRefused);
  CHECK(read("5u") == kRefused);
  CHECK(read("") == kRefused);
  CHECK(read("0x") == kRefused);
}

TEST_CASE("numbers: 64 bits, a little more wraps, much more is refused") {
  CHECK(read("18446744073709551615") == UINT64_MAX);
  CHECK(read("0xFFFFFFFFFFFFFFFF") == UINT64_MAX);
  CHECK(read("18446744073709551616") == 0);
  CHECK(read("18446744073709551621") == 5);
  CHECK(read("99999999999999999999") == 7766279631452241919ull);  // what ptxas makes of it
  CHECK(read("99999999999999999999999") == kRefused);
  CHECK(read("0x10000000000000000000") == kRefused);
  CHECK(read(std::string(400, '9')) == kRefused);
  CHECK(read(std::string(400, '0')) == 0);
}
