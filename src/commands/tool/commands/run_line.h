// The command line of `ptxopt run`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/shape.h"
#include "tool/options/facts_option.h"

namespace ptxopt::tool {

struct RunLaunch {
  std::string kernel;  // empty: the file's only one
  exec::Dim3 grid, block, cluster;
  bool hasGrid = false, hasBlock = false, hasCluster = false;
  uint32_t shared = 0;
  std::vector<std::string> arguments;  // as written
};

struct RunDump {
  std::string name, file;  // no file: printed
};

struct RunLine {
  std::string input;
  std::vector<RunLaunch> launches;  // at least one
  std::vector<std::string> buffers;
  std::vector<RunDump> dumps;
  bool profile = false, trace = false, traceLanes = false;
  std::string profileFile, traceFile;  // empty: standard output
  std::string profileFacts;
  std::string recordFile;  // empty: none
  bool checkRaces = false, checkUninitialised = false;
  uint64_t maxSteps = UINT64_MAX;
  unsigned jobs = 1;
  uint64_t seed = 0;
  FactsLine facts;
  bool listOpcodes = false, markdown = false;
};

// False when there is nothing to run, with the exit code; what is wrong has been said.
bool readRunLine(int argc, char** argv, RunLine& line, int& exitCode);

}  // namespace ptxopt::tool
