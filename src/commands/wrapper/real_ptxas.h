// The ptxas that the drop-in one calls, and how the two do not call each other for ever.
//
// ptxasCandidates() never has this program. But a copy of it, or a script that calls it, may be what it finds: so all
// that was called is noted in $PTXOPT_AS_CALLED, one after the other with colons between. Who finds that set was
// called by the drop-in ptxas: it changes nothing any more and hands on to the next ptxas that is not in the list.
#pragma once

#include <string>

#include "ptxas/find.h"
#include "wrapper/client.h"

namespace ptxopt::wrapper {

// Whether the drop-in ptxas called us.
bool isCalledByOurselves();
// Which there are for this client, that beside the link we were called by among them: NAME.real. `given` and `givenBy`:
// as in PtxasSearch.
ptxas::PtxasCandidates realPtxas(const std::string& given, const std::string& givenBy, const std::string& calledAs,
                                 const Client& client);
// While one lives, all candidates count as called: one that leads back to us, and is asked what it takes, finds no other
// and does not answer.
class WhileAsking {
 public:
  explicit WhileAsking(const ptxas::PtxasCandidates& candidates);
  WhileAsking(const WhileAsking&) = delete;
  WhileAsking& operator=(const WhileAsking&) = delete;
  ~WhileAsking();

 private:
  std::string before_;
};
// Notes in the environment of this process which one is called.
void noteCalled(const std::string& ptxas);

}  // namespace ptxopt::wrapper
