// Files that appear whole or not at all, folders of processes that are gone, and words that are nearly right.
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "support/atomic_file.h"
#include "support/nearest.h"
#include "support/temporary_folder.h"

namespace ptxopt {
namespace {

namespace fs = std::filesystem;

std::string contentOf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t filesIn(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST_CASE("atomic file: there after commit() and not before") {
  const TemporaryFolder folder;
  const fs::path target = folder.file("target");
  {
    AtomicFile file(target);
    REQUIRE(file.isOpen());
    CHECK(file.write("lost"));
  }
  CHECK(filesIn(folder.path()) == 0);
  for (const char* text : {"new", "replaced"}) {
    AtomicFile file(target);
    std::ofstream(file.path(), std::ios::app) << text;  // another writer, by its path
    CHECK(contentOf(target) != text);
    CHECK(file.commit());
    CHECK(contentOf(target) == text);
    CHECK(filesIn(folder.path()) == 1);
  }
  AtomicFile named(target);
  CHECK(named.write("kept"));
  CHECK(named.nameIt());
  const std::string name = named.name();
  CHECK(AtomicFile::isNameFor(fs::path(name).filename().string(), "target"));
  CHECK_FALSE(AtomicFile::isNameFor("target", "target"));
  CHECK(contentOf(name) == "kept");
  CHECK(contentOf(target) == "replaced");
  CHECK_FALSE(AtomicFile(folder.file("none/target")).isOpen());
}

TEST_CASE("atomic file: modes, links, and what is no file") {
  const TemporaryFolder folder;
  const auto modeOf = [](const fs::path& path) { return static_cast<unsigned>(fs::status(path).permissions()); };
  const mode_t mask = ::umask(027);
  CHECK(writeWhole(folder.file("new"), "a"));
  CHECK(modeOf(folder.file("new")) == 0640);
  fs::permissions(folder.file("new"), static_cast<fs::perms>(0600));
  CHECK(writeWhole(folder.file("new"), "b"));
  CHECK(modeOf(folder.file("new")) == 0600);
  ::umask(mask);
  fs::create_symlink("new", folder.file("link"));
  CHECK(writeWhole(folder.file("link"), "c"));
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(contentOf(folder.file("new")) == "c");
  CHECK(writeWhole("/dev/null", "d"));
  CHECK_FALSE(writeWhole(folder.path(), "e"));
}

TEST_CASE("temporary folder: those of processes that are gone go, and no others") {
  const TemporaryFolder base;
  const std::string text = "ptxopt temporary folder\n", digits = "0123456789ab";
  const auto make = [&](const std::string& number, const std::string& lock) {
    fs::create_directory(base.file("ptxopt-" + number));
    std::ofstream(base.file("ptxopt-" + number + "/file")) << "text";
    std::ofstream(base.file(".ptxopt.ptxopt-" + number)) << lock;
  };
  make("000000000000", text);       // gone
  make("111111111111", text);       // lives: somebody holds the lock
  make("222222222222", "notes\n");  // not ours
  make("333333333333", "");         // cannot be locked there
  make("12345", text);              // another name
  fs::create_directory(base.file("mine"));
  fs::create_directory_symlink(base.file("mine"), base.file("ptxopt-" + digits));
  std::ofstream(base.file(".ptxopt.ptxopt-" + digits)) << text;
  const Descriptor lock(::open(base.file(".ptxopt.ptxopt-111111111111").c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::flock(lock.get(), LOCK_EX) == 0);
  removeAbandonedFolders(base.path());
  CHECK_FALSE(fs::exists(base.file("ptxopt-000000000000")));
  CHECK_FALSE(fs::exists(base.file(".ptxopt.ptxopt-000000000000")));
  for (const char* number : {"111111111111", "222222222222", "333333333333", "12345"}) {
    CHECK(fs::exists(base.file("ptxopt-" + std::string(number) + "/file")));
    CHECK(fs::exists(base.file(".ptxopt.ptxopt-" + std::string(number))));
  }
  CHECK(fs::is_symlink(base.file("ptxopt-" + digits)));
  CHECK(fs::exists(base.file("mine")));
}

TEST_CASE("temporary folder: of a process that is killed") {
  const TemporaryFolder base;
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "/tmp" : before;
  ::setenv("TMPDIR", base.path().c_str(), 1);
  const pid_t child = ::fork();
  if (child == 0) {
    const TemporaryFolder left;
    ::_exit(left.isValid() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  {
    const TemporaryFolder own;
    CHECK(filesIn(base.path()) == 4);
    removeAbandonedFolders(base.path());
    CHECK(filesIn(base.path()) == 2);
    CHECK(fs::exists(own.path()));
  }
  ::setenv("TMPDIR", kept.c_str(), 1);
  CHECK(filesIn(base.path()) == 0);
}

TEST_CASE("nearest: what may have been meant") {
  const std::vector<std::string> words{"run", "verify", "guard", "guard-rule", "ptxas"};
  CHECK(nearest("rnu", words) == "run");
  CHECK(nearest("guad", words) == "guard");
  CHECK(nearest("guards", words) == "guard");
  CHECK(nearest("veri", words) == "verify");
  CHECK(nearest("nope", words).empty());
  CHECK(nearest("", words).empty());
  CHECK(nearest(std::string(10'000'000, 'x'), words).empty());
  CHECK(orNearest("guad", words) == "; is guard meant?");
  CHECK(orNearest("x", words).empty());
}

}  // namespace
}  // namespace ptxopt
