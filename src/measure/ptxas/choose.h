// Which of several ptxas is to assemble a file.
//
// The user's word is taken as it is. Otherwise the first candidate (find.h) that takes the file's `.version` and the
// architecture; where none does, the first of all, whose message then says what is wrong. One that is known to make wrong code
// of the file (known_bad.h: a trigger, on this architecture) is passed over where another takes the file and is not: those
// after it are asked then, and those of Python environments. Where all are known to, the first is taken, as if nothing were
// known. Rows that may concern any file, or say only a part of what the fault needs, decide nothing. Nothing is asked where there
// is no choice. Files that are to be compared are assembled by one ptxas, if there is one that takes them all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ptxas/abilities.h"
#include "ptxas/find.h"

namespace ptxopt::ptxas {

struct PtxasChoice {
  std::string path;                     // empty: there is none
  std::string origin;                   // as of the candidate
  std::vector<std::string> passedOver;  // "/usr/bin/ptxas takes PTX up to 9.0", a line each
  bool takesAll = true;                 // as far as is known: not the first of all for want of a better one

  // Where its text was given: the rows that concern it, of the one that is taken.
  std::vector<KnownBadHit> knownBad;
  Release release;  // of the one that is taken, where there are such rows

  // "PATH; /a/ptxas takes PTX up to 9.0"
  std::string why() const;
};

PtxasChoice choosePtxas(PtxasCandidates candidates, const PtxNeed& need, Cache* cache);
// The rows that concern any of the texts, each once.
std::vector<KnownBadHit> knownBadOf(const Release& release, std::span<const PtxNeed> needs);
// One for all that is needed.
PtxasChoice choosePtxas(PtxasCandidates candidates, std::span<const PtxNeed> needs, Cache* cache);

}  // namespace ptxopt::ptxas
