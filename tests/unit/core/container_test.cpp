// Fat binaries and the files that they lie in: what is made is read again, and broken bytes are values.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "container/built_file.h"

using namespace ptxopt;
using container::FatEntry;

namespace {

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string entryOf(uint16_t kind, uint32_t architecture, std::string contents, uint64_t flags = 0x11) {
  std::string out;
  put<uint16_t>(out, kind), put<uint16_t>(out, 0x101), put<uint32_t>(out, 64);
  contents.resize((contents.size() + 7) / 8 * 8, '\0');
  put<uint64_t>(out, contents.size()), put<uint64_t>(out, 0), put<uint32_t>(out, 8);
  put<uint32_t>(out, architecture), put<uint64_t>(out, 0);
  put<uint64_t>(out, flags), put<uint64_t>(out, 0), put<uint64_t>(out, 0);
  return out + contents;
}

std::string fatWith(const std::vector<std::string>& entries) {
  std::string head;
  put<uint32_t>(head, container::kFatMagic), put<uint16_t>(head, 1), put<uint16_t>(head, 16),
      put<uint64_t>(head, 0);
  return container::fatOf(head, entries);
}

std::string archiveOf(const std::string& name, const std::string& body) {
  std::string head(58, ' ');
  head.replace(0, name.size() + 1, name + "/")
      .replace(48, std::to_string(body.size()).size(), std::to_string(body.size()));
  return "!<arch>\n" + head + "`\n" + body;
}

std::vector<container::Module> modules(std::string_view bytes) {
  auto read = container::modulesOf(bytes);
  REQUIRE(std::holds_alternative<std::vector<container::Module>>(read));
  return std::get<0>(std::move(read));
}

std::string contents(const container::Module& m) {
  auto read = container::contentsOf(m);
  REQUIRE(std::holds_alternative<std::string>(read));
  return std::get<0>(std::move(read));
}

const std::string kText = ".version 8.0\n.target sm_80\n" + std::string(900, 'x');

}  // namespace

TEST_CASE("fat binaries: entries, in order") {
  const std::string fat = fatWith({entryOf(2, 80, "code"), entryOf(1, 90, kText), entryOf(8, 90, "other")});
  const auto found = modules(fat);
  REQUIRE(found.size() == 2);
  CHECK_FALSE(found[0].entry.isPtx());
  CHECK(found[0].entry.architecture == 80);
  CHECK(found[1].entry.isPtx());
  CHECK(contents(found[1]) == kText);  // without the zeros after it
  CHECK(nameOf(found[1]) == "PTX 1 for sm_90");
}

TEST_CASE("fat binaries: several, with zeros between them, in an archive") {
  const std::string two =
      fatWith({entryOf(1, 80, kText)}) + std::string(24, '\0') + fatWith({entryOf(1, 90, kText)});
  const std::string archive = archiveOf("a.o", two);
  const auto found = modules(archive);
  REQUIRE(found.size() == 2);
  CHECK(nameOf(found[1]) == "a.o: PTX 2 for sm_90");
}

TEST_CASE("fat binaries: what is replaced is read again, packed and not") {
  for (const uint64_t flags : {0x11, 0x2011, 0x8011})
    for (const bool pack : {false, true}) {
      const std::string old = fatWith({entryOf(1, 80, "x", flags), entryOf(1, 90, kText)});
      const auto read = container::fatEntries(old);
      const auto& entries = std::get<std::vector<FatEntry>>(read);
      const std::string made =
          container::fatOf(old, {container::repacked(entries[0], kText, pack), std::string(entries[1].whole)});
      const auto found = modules(made);
      REQUIRE(found.size() == 2);
      CHECK(contents(found[0]) == kText);
      CHECK(contents(found[1]) == kText);
      CHECK(found[0].entry.isPacked() == (pack || flags != 0x11));
      if (found[0].entry.isPacked()) CHECK(found[0].entry.stored.size() < kText.size() / 2);
    }
}

TEST_CASE("fat binaries: each cut is an error, or leaves whole entries") {
  const std::string whole = archiveOf("a.o", fatWith({entryOf(2, 80, "code"), entryOf(1, 90, kText)}));
  for (std::size_t n = 1; n < whole.size(); ++n) {
    if (n == 8) continue;                         // an archive without members
    const std::string part = whole.substr(0, n);  // of its own, for a sanitizer to see its end
    if (container::isBuilt(part)) CHECK(std::holds_alternative<container::Broken>(container::modulesOf(part)));
  }
}

TEST_CASE("fat binaries: bytes by chance") {
  std::mt19937 random(1);
  const std::string whole =
      archiveOf("a.o", fatWith({entryOf(2, 80, "code", 0x2011), entryOf(1, 90, kText, 0x8011)}));
  for (int i = 0; i < 3000; ++i) {
    std::string bad = whole;
    for (int k = 0; k < 3; ++k) bad[random() % (i % 2 == 0 ? 240 : bad.size())] = static_cast<char>(random());
    const auto read = container::modulesOf(bad);
    if (const auto* found = std::get_if<std::vector<container::Module>>(&read))
      for (const container::Module& m : *found) (void)container::contentsOf(m);
  }
}
