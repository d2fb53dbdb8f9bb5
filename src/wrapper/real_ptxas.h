// The ptxas that stands behind the drop-in one, and how the two do not call each other for ever.
//
// findPtxas never finds this program. But a copy of it, or a script that calls it, may be what it finds: so all
// that was called is noted in $PTXOPT_AS_CALLED, one after the other with colons between. Who finds that set was
// called by the drop-in ptxas: it changes nothing any more and hands on to the next ptxas that is not in the list.
#pragma once

#include <string>
#include <vector>

namespace ptxopt {

// Whether the drop-in ptxas called us.
bool isCalledByOurselves();
// Notes the one found in the environment of this process. `given` and `passedOver`: as in findPtxas. Empty: there is
// none.
std::string takeRealPtxas(const std::string& given, std::vector<std::string>& passedOver);

}  // namespace ptxopt
