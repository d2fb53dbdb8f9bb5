// parseAll() goes on after errors: it finds the one that parse() ends with, and none where that finds none.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support.h"
#include "text/parse.h"
#include "text/rewrite.h"

namespace ptxopt {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void compare(std::string_view source) {
  const auto first = text::parse(source);
  const text::Recovered all = text::parseAll(source);
  const auto* error = std::get_if<text::ParseError>(&first);
  CHECK((error != nullptr) == !all.errors.empty());
  if (error == nullptr || all.errors.size() == text::Recovered::kMostErrors) return;
  CHECK(std::ranges::any_of(all.errors, [&](const text::ParseError& e) {
    return e.offset == error->offset && e.message == error->message;
  }));
  CHECK(std::ranges::is_sorted(all.errors, {}, &text::ParseError::offset));
}

TEST_CASE("parse all: what the inputs of the syntax are") {
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(PTXOPT_TESTS_DIR) / "inputs/syntax")) {
    if (entry.path().extension() != ".ptx") continue;
    CAPTURE(entry.path().string());
    compare(read(entry.path()));
    ++files;
  }
  CHECK(files > 100);
}

TEST_CASE("parse all: a text that ends anywhere, and one without any one word") {
  const std::string text = read(std::filesystem::path(PTXOPT_TESTS_DIR) / "../samples/saxpy.ptx");
  REQUIRE(text.size() > 1000);
  for (std::size_t size = 0; size < text.size(); size += 3) compare(std::string_view(text).substr(0, size));
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = text.find_first_of(" \t\n;,{}[]()", at + 1);
    if (end == std::string::npos) break;
    compare(text.substr(0, at) + text.substr(end));
    at = end;
  }
}

TEST_CASE("parse all: each error once, and the statements after them") {
  const std::string text =
      ".version 8.0\n.target sm_80\n.visible .entry k()\n{\n.reg .b32 %r<3>;\nadd.s32 %r1 %r2;\nadd.s32 %x, %x, "
      "%r1;\n"
      "bra L;\nst.u32 [{%r1}], %r2;\nmov.u32 %r1, 5;\nret\n}\n.global .b32 a[ = ;\n.visible .entry "
      "j()\n{\nret;\n}\n";
  const text::Recovered all = text::parseAll(text);
  std::vector<std::size_t> lines;
  for (const auto& e : all.errors) lines.push_back(e.position.line);
  CHECK(lines == std::vector<std::size_t>{6, 7, 8, 12, 13});
  REQUIRE(all.module != nullptr);
  CHECK(all.module->functions.size() == 2);
}

TEST_CASE("rewrite: a header, and debug information") {
  const std::string text =
      "// .version 1.0\n.version 8.0\n.target sm_80, debug // x\n.file 1 \"a\"\n.visible .entry k()\n{\n\t.loc 1 1 "
      "1\n"
      "\tret; .loc 1 2 2\n}\n.section .debug_str\n{\n.b8 0\n}\n.section .other\n{\n.b8 0\n}\n";
  CHECK(text::withHeader(text, "7.0", "").substr(0, 30) == "// .version 1.0\n.version 7.0\n.");
  CHECK(text::withHeader(text, "", "sm_90a").find(".target sm_90a, debug // x\n") != std::string::npos);
  const auto parsed = text::parse(text);
  REQUIRE(std::holds_alternative<std::unique_ptr<Module>>(parsed));
  CHECK(text::withoutDebug(*std::get<0>(parsed)) ==
        "// .version 1.0\n.version 8.0\n.target sm_80 // x\n.visible .entry k()\n{\n\tret; \n}\n.section "
        ".other\n{\n.b8 0\n}\n");
}

TEST_CASE("parse: a text calls OptiX where its functions are all that is missing") {
  const auto calls = [](const std::string& statement) {
    return text::callsOptix(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<2>;\n" + statement +
        "\nret;\n}\n");
  };
  CHECK(calls("call (%r0), _optix_get_launch_index_x, ();"));
  CHECK(calls("call (%r0), _rt_potential_intersection, ();"));
  CHECK_FALSE(calls("mov.u32 %r0, 1;"));
  CHECK_FALSE(calls("// _optix_get_launch_index_x"));
  CHECK_FALSE(calls("call (%r0), my_optix_function, ();"));
  CHECK_FALSE(calls("call (%r0), _optix_get_launch_index_x, ();\nadd.u32 %r0 %r1;"));
}

}  // namespace
}  // namespace ptxopt
