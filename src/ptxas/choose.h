// Which of several ptxas is to assemble a file.
//
// The user's word is taken as it is. Otherwise the first candidate (find.h) that takes the file's `.version` and the
// architecture; where none does, the first of all, whose message then says what is wrong. Nothing is asked where there
// is no choice.
#pragma once

#include <string>
#include <vector>

#include "ptxas/abilities.h"
#include "ptxas/find.h"

namespace ptxopt {

struct PtxasChoice {
  std::string path;                     // empty: there is none
  std::string origin;                   // as of the candidate
  std::vector<std::string> passedOver;  // "/usr/bin/ptxas takes PTX up to 9.0", a line each

  // "PATH; /a/ptxas takes PTX up to 9.0"
  std::string why() const;
};

PtxasChoice choosePtxas(PtxasCandidates candidates, const PtxNeed& need, Cache* cache);

}  // namespace ptxopt
