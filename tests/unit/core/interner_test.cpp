#include "support/interner.h"

#include <doctest/doctest.h>

#include <set>

using namespace ptxopt;

TEST_CASE("interner: ids count up in the order of first appearance") {
  Interner names;
  CHECK(names.intern("a").value == 0);
  CHECK(names.intern("b").value == 1);
  CHECK(names.intern("a").value == 0);
  CHECK(names.intern("").value == 2);
  CHECK(names.intern("").value == 2);
  CHECK(names.size() == 3);
  CHECK(names[NameId(1u)] == "b");
  CHECK(names[NameId(2u)].empty());
}

TEST_CASE("interner: find does not add") {
  Interner names;
  CHECK_FALSE(names.find("x").valid());
  CHECK(names.size() == 0);
  const NameId x = names.intern("x");
  CHECK(names.find("x") == x);
  CHECK_FALSE(names.find("xx").valid());
  CHECK_FALSE(names.find("").valid());
}

TEST_CASE("interner: strings that differ only in zero bytes or past a word are different") {
  using namespace std::string_view_literals;
  Interner names;
  const std::string_view texts[] = {"a"sv,
                                    "a\0"sv,
                                    "\0a"sv,
                                    "a\0\0"sv,
                                    ""sv,
                                    "\0"sv,
                                    "12345678"sv,
                                    "12345678\0"sv,
                                    "123456781"sv,
                                    "1234567812345678"sv,
                                    "1234567812345679"sv};
  std::set<uint32_t> ids;
  for (const auto text : texts) ids.insert(names.intern(text).value);
  CHECK(ids.size() == std::size(texts));
  for (std::size_t i = 0; i < std::size(texts); ++i) CHECK(names[NameId(i)] == texts[i]);
}

TEST_CASE("interner: ids survive growth") {
  Interner names;
  std::vector<std::string> texts;
  for (int i = 0; i < 50000; ++i) texts.push_back("%r" + std::to_string(i * 7));
  for (std::size_t i = 0; i < texts.size(); ++i) REQUIRE(names.intern(texts[i]).value == i);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    REQUIRE(names.find(std::string(texts[i])).value == i);
    REQUIRE(names[NameId(i)] == texts[i]);
  }
  CHECK(names.size() == texts.size());
}

TEST_CASE("interner: internCopy outlives its argument") {
  Interner names;
  NameId id;
  {
    std::string temporary = "a string that is too long for the short-string buffer";
    id = names.internCopy(temporary);
    temporary.assign(temporary.size(), '?');
  }
  CHECK(names[id] == "a string that is too long for the short-string buffer");
  const std::string again(names[id]);
  CHECK(names.internCopy(again) == id);
  for (int i = 0; i < 5000; ++i) names.internCopy("copy" + std::to_string(i));
  CHECK(names[id] == "a string that is too long for the short-string buffer");
  CHECK(names.find("copy4999").value == 5000);
}
