// Does the list of what the interpreter executes tell the truth? Every instruction of tests/inputs/opcodes is decoded, and
// a row counts as refused where the decoder refuses all its forms, as partly refused where some.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "exec/error.h"
#include "exec/machine.h"
#include "exec/opcode_support.h"
#include "text/parse.h"

namespace ptxopt::exec {
namespace {

struct Forms {
  unsigned good = 0, refused = 0;
  std::string example;  // of a refusal
};

void count(const std::string& path, std::map<std::string, Forms>& rows) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  const std::string source = text.str();
  auto parsed = text::parse(source, path);
  REQUIRE(std::holds_alternative<std::unique_ptr<Module>>(parsed));
  const Module& m = *std::get<0>(parsed);
  Machine machine(m);
  for (const std::string& kernel : machine.kernels()) {
    const Program& p = machine.kernel(kernel);
    std::map<uint32_t, std::string> refused;
    for (const auto& [offset, why] : p.unsupported()) {
      CHECK_FALSE(why.empty());
      refused[offset] = why;
    }
    for (const auto& r : p.routines())
      for (const InstrId id : *r->function) {
        const Instruction& i = (*r->function)[id];
        if (!i.isInstruction() || m.form(i).row == nullptr) continue;
        Forms& f = rows[std::string(m.form(i).row->key)];
        if (const auto found = refused.find(i.sourceBegin); found != refused.end()) {
          ++f.refused;
          f.example = found->second;
        } else {
          ++f.good;
        }
      }
  }
}

}  // namespace

TEST_CASE("exec: the list of opcodes that cannot be executed is that of the decoder") {
  std::map<std::string, Forms> rows;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(PTXOPT_TESTS_DIR "/inputs/opcodes"))
    if (entry.path().extension() == ".ptx") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() > 50);
  for (const std::string& file : files) {
    CAPTURE(file);
    try {
      count(file, rows);
    } catch (const ExecError& e) {
      FAIL_CHECK(e.message);
    }
  }
  std::set<std::string> listed;
  for (const OpcodeSupport& s : opcodeSupport()) {
    const std::string key(s.row->key);
    listed.insert(key);
    CAPTURE(key);
    const auto found = rows.find(key);
    CHECK_MESSAGE(found != rows.end(), "no line in tests/inputs/opcodes");
    if (found == rows.end()) continue;
    const Forms& f = found->second;
    CAPTURE(f.good);
    CAPTURE(f.refused);
    CAPTURE(f.example);
    const Support real = f.refused == 0 ? Support::Full : f.good == 0 ? Support::None : Support::Partial;
    CHECK(std::string(name(s.support)) == std::string(name(real)));
    CHECK((s.support == Support::Full) == s.reason.empty());
  }
  for (const auto& [key, forms] : rows) {
    CAPTURE(key);
    if (!key.starts_with("brx")) CHECK(listed.contains(key));
  }
}

}  // namespace ptxopt::exec
