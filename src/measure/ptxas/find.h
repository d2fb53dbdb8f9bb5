// Where the real ptxas is.
//
// ptxas is not part of ptxopt and need not be there: who needs it says so when it is not. Where there are several, the
// user's word counts before all: an option, $PTXOPT_PTXAS, $PTXAS. Then comes what the client would have called, then
// those of the machine, in a fixed order, then those in Python environments; the first of these that takes the file is
// chosen (choose.h).
#pragma once

#include <string>
#include <vector>

namespace ptxopt::ptxas {

struct PtxasCandidate {
  std::string path;
  std::string origin;  // how it was found, in words: "PTXAS", "PATH", "Triton's own"
};

struct PtxasSearch {
  std::string given;                // an option says so; it is not looked at
  std::string givenBy = "--ptxas";  // ... which
  std::string name = "ptxas";       // as the client calls it: others of this name come before plain ptxas
  std::vector<PtxasCandidate> own;  // the client's, before any other of the machine
  bool all = false;                 // a variable does not end the search: an option asks for one among all
};

struct PtxasCandidates {
  std::vector<PtxasCandidate> all;  // usable, each file once, best first
  bool isExplicit = false;          // the user's word: it is not to be chosen among
  bool hasPython = false;           // those of Python environments are in it
  std::vector<std::string> wrong;   // a line for each variable that names no program
};

// `given` if that is not empty; then $PTXOPT_PTXAS or $PTXAS; then the client's own; then that of $CUDA_HOME or $CUDA_PATH,
// those in PATH and that of /usr/local/cuda; then those of Python environments. `$PTXOPT_PTXAS=none` says that there is none.
// Never a program of ours, by whatever name or link it is found: a variable that names one is right, since the user who sets it
// wants us to be called. Those of Python environments are in it only where there is no other: to find them, folders are read.
PtxasCandidates ptxasCandidates(const PtxasSearch& search);
// Adds these, after the others; unless the user's word is there.
void addPython(PtxasCandidates& to);

// What is wrong with a variable, and what is taken instead of its program.
std::string insteadOf(const std::string& why, const std::string& taken);

// What is wrong with a variable that names a program, "PTXAS is '/a': there is no such file"; empty where nothing is.
// A name without a slash is looked for in PATH, and only there.
std::string whyNoProgram(const char* variable, const std::string& value);
// The same of one that names the folder of a toolkit, whose bin/NAME is wanted.
std::string whyNoToolkit(const char* variable, const std::string& folder, const char* name);

// Whether the file is this program, or ptxopt or ptxopt-ptxas elsewhere.
bool isThisProgram(const std::string& path);

}  // namespace ptxopt::ptxas
