// The tests' own main: doctest's, which also remembers whether the command line left tests out.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "everything.h"

namespace ptxopt::testing {
bool runsEverything = false;
}

int main(int argc, char** argv) {
  ptxopt::testing::runsEverything = argc == 1;
  doctest::Context context(argc, argv);
  return context.run();
}
