// Which ptxas: what a text needs, what ptxas says that it takes, and the choice; the name by which the drop-in is called.
#include <doctest/doctest.h>

#include "ptxas/abilities.h"
#include "ptxas/choose.h"
#include "tool/options/config.h"
#include "wrapper/client.h"
#include "wrapper/made_output.h"

using namespace ptxopt;

TEST_CASE("abilities: the version that a text needs") {
  CHECK(ptxas::versionNeededBy(".version 8.4\n.target sm_80") == ptxas::PtxVersion{8, 4});
  CHECK(ptxas::versionNeededBy("\n// .version 1.0\n/* .version 2.0\n*/ .version /**/ 9.5") ==
        ptxas::PtxVersion{9, 5});
  CHECK(ptxas::versionNeededBy(".version 10.12") == ptxas::PtxVersion{10, 12});
  for (const char* none :
       {"", "//", "/* .version 8.0", ".target sm_80\n.version 8.0", ".version", ".version 8", ".version x.1"})
    CHECK_MESSAGE(!ptxas::versionNeededBy(none).isKnown(), none);
  CHECK(ptxas::PtxVersion{8, 10} > ptxas::PtxVersion{8, 9});
}

TEST_CASE("abilities: what ptxas says") {
  const std::string help =
      "--entry (-e)\n  Allowed values for this option:  'sm_1'.\n"
      "--gpu-name <gpu name>  (-arch)\n  PTX for .target sm_XY can be compiled.\n"
      "  Allowed values for this option:  'compute_80','lto_80','sm_100','sm_100a',\n  'sm_75','sm_90'.\n"
      "--help\n  Allowed values for this option:  'sm_2'.\n";
  CHECK(ptxas::architecturesListed(help) == std::vector<std::string>{"sm_75", "sm_90", "sm_100", "sm_100a"});
  CHECK(ptxas::architecturesListed("no such option").empty());
  CHECK(
      ptxas::newestVersionSaid("ptxas a, line 1; fatal   : Unsupported .version 99.9; current version is '9.4'") ==
      ptxas::PtxVersion{9, 4});
  CHECK_FALSE(ptxas::newestVersionSaid("Segmentation fault").isKnown());
  const ptxas::PtxasAbilities abilities{{8, 8}, {"sm_80", "sm_90a"}};
  CHECK(ptxas::whyNot(abilities, {{8, 8}, "sm_80"}).empty());
  CHECK(ptxas::whyNot(abilities, {{}, ""}).empty());
  CHECK(ptxas::whyNot(abilities, {{8, 8}, "compute_50"}).empty());
  CHECK(ptxas::whyNot(abilities, {{9, 0}, "sm_80"}) == "takes PTX up to 8.8");
  CHECK(ptxas::whyNot(abilities, {{8, 0}, "sm_90"}) == "makes no code for sm_90");
  CHECK(ptxas::whyNot({}, {{9, 9}, "sm_999"}).empty());
}

TEST_CASE("abilities: a program that does not answer is never passed over") {
  CHECK_FALSE(ptxas::abilitiesOf("/bin/true", nullptr).isKnown());
  ptxas::PtxasCandidates candidates;
  candidates.hasPython = true;
  CHECK(ptxas::choosePtxas(candidates, {{9, 0}, "sm_80"}, nullptr).path.empty());
  candidates.all = {{"/bin/true", "first"}, {"/bin/false", "second"}};
  const ptxas::PtxasChoice choice = ptxas::choosePtxas(candidates, {{9, 0}, "sm_80"}, nullptr);
  CHECK(choice.path == "/bin/true");
  CHECK(choice.why() == "first");
}

TEST_CASE("client: the ptxas meant by a name") {
  CHECK(wrapper::ptxasMeantBy("/usr/bin/ptxas") == "ptxas");
  CHECK(wrapper::ptxasMeantBy("ptxopt-ptxas") == "ptxas");
  CHECK(wrapper::ptxasMeantBy("./ptxas-blackwell") == "ptxas-blackwell");
  CHECK(wrapper::ptxasMeantBy("/a/ptxopt-ptxas-blackwell") == "ptxas-blackwell");
  for (const char* other : {"ptxopt", "/usr/bin/ptxopt", "as", "ptxasx", "ptxopt-nvcc", ""})
    CHECK_MESSAGE(wrapper::ptxasMeantBy(other).empty(), other);
}

TEST_CASE("config: settings, and the place of a mistake") {
  std::vector<std::string> mistakes;
  const auto settings = tool::readConfig(R"({"guard": "off", "cache_size": 7})", "F", mistakes);
  CHECK(mistakes.empty());
  REQUIRE(settings.size() == 2);
  CHECK(settings[0] == std::pair<std::string, std::string>("PTXOPT_GUARD", "off"));
  CHECK(settings[1] == std::pair<std::string, std::string>("PTXOPT_CACHE_SIZE", "7"));
  CHECK(tool::readConfig(" \n", "F", mistakes).empty());
  CHECK(mistakes.empty());
  tool::readConfig("{\"nvcc\": \"guard\",\n  \"guard\" : 1, \"log\": []}", "F", mistakes);
  CHECK(mistakes == std::vector<std::string>{"F:2:3: error: 'guard' is to be a string",
                                             "F:2:16: error: 'log' is to be a string"});
  for (const char* negative : {R"({"cache_size": -1})", R"({"cache_size": 1.5})", R"({"cache_size": null})"}) {
    mistakes.clear();
    tool::readConfig(negative, "F", mistakes);
    CHECK(mistakes == std::vector<std::string>{"F:1:2: error: 'cache_size' is to be a whole number"});
  }
}

TEST_CASE("made output: the lines of -v go, others stay, and what may be either declines") {
  const std::string verbose =
      "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function 'k' for 'sm_80'\n"
      "ptxas info    : Function properties for k\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill "
      "loads\n"
      "ptxas-blackwell info    : Used 8 registers, used 0 barriers\nptxas info    : Compile time = 1.2 ms\n";
  CHECK(wrapper::withoutVerbose(verbose) == "");
  const std::string warning = "ptxas warning : Stack size cannot be known\n    of k\n";
  CHECK(wrapper::withoutVerbose(warning + verbose + warning) == warning + warning);
  CHECK_FALSE(
      wrapper::withoutVerbose(verbose + "ptxas info    : (C7510) Potential Performance Loss: wgmma\n").has_value());
  const ptxas::PtxasOutput made{"cubin", "", verbose, "in.ptx"};
  CHECK(wrapper::asCalled(made, true)->err == verbose);
  CHECK_FALSE(wrapper::asCalled(made, false).has_value());  // -v cannot be taken out of what is no cubin
  CHECK_FALSE(wrapper::asCalled({"cubin", "a\n", "b\n", "in.ptx"}, true).has_value());
  CHECK(wrapper::placeOfCubin({}) == "elf.o");
  CHECK(wrapper::placeOfCubin({"out.cubin"}) == "out.cubin");
  for (const char* elsewhere : {"", "-", "/dev/null", "/tmp", "/nothing/here/out"})
    CHECK(wrapper::placeOfCubin({elsewhere}).empty());
  CHECK(wrapper::placeOfCubin({"a", "b"}).empty());
}
