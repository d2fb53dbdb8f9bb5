// `.pragma "used_bytes_mask 65520";` says which bytes of what the load after it reads are used. It belongs to that
// load: it goes with it, and nothing comes between the two but `.loc`.
#pragma once

#include "ir/module.h"

namespace ptxopt {

// `.pragma "nounroll";` asks ptxas not to unroll the loop whose header it stands in.
bool isNounroll(const Module& module, const Instruction& i);
// Whether one asks that of all loops: in the head of the function, or outside of functions. Those at the beginning of a body
// ask nothing of ptxas. Linear in the text outside of bodies.
bool areAllNounroll(const Module& module, const Function& f);

bool isUsedBytesMask(const Module& module, const Instruction& i);
// The one that describes an instruction; no id when none does.
InstrId usedBytesMaskOf(const Module& module, const Function& f, InstrId id);
// Erases an instruction with the one that describes it, which would describe what comes next.
void eraseWithPragma(const Module& module, Function& f, InstrId id);
// Its number, a bit for each byte; 0 where it cannot be read.
uint64_t usedBytes(const Module& module, const Instruction& pragma);

}  // namespace ptxopt
