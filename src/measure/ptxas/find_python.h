// The ptxas that packages of Python bring: wheels of the toolkit, and Triton's two (python_ptxas.def).
//
// Looked for are the environments of $VIRTUAL_ENV and $CONDA_PREFIX, then each that has its python3 on the PATH, and the
// folders of $PTXOPT_PYTHON_PACKAGES and $PYTHONPATH. No Python is started: the folders of packages have fixed names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptxas/find.h"

namespace ptxopt::ptxas {

// Folders that hold packages: site-packages, dist-packages; without those of $PYTHONPATH, those whose *.pth Python reads.
enum class PackageFolders : uint8_t { All, WithoutPythonPath };
std::vector<std::string> pythonPackageFolders(PackageFolders which = PackageFolders::All);
std::vector<PtxasCandidate> ptxasOfPython();
// From one such folder.
std::vector<PtxasCandidate> ptxasOfPackages(const std::string& folder);

}  // namespace ptxopt::ptxas
