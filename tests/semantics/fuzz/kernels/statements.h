// The kinds of statement and their choice by weight.
#pragma once

#include "body.h"

namespace kernels {

// `count` statements in the scope at hand.
void emitStatements(Body& body, int count);
// As many in a scope of their own, which they leave their mark on the checksum of.
void emitScope(Body& body, int count);

// Control flow: control.cpp.
void emitBranch(Body& body);
void emitSwitch(Body& body);
void emitIrreducible(Body& body);
void emitBraces(Body& body);
void emitExit(Body& body);
// Loops: loops.cpp, pointer_loops.cpp.
void emitLoop(Body& body);
void emitPointerLoop(Body& body);
// Values in several instructions: sequences.cpp.
void emitCopies(Body& body);
void emitPack(Body& body);
void emitCarry(Body& body);
void emitWide(Body& body);
void emitHalfPair(Body& body);
void emitDead(Body& body);
void emitBitPack(Body& body);
// Threads together: warp.cpp, phases.cpp.
void emitWarp(Body& body);
void emitExchange(Body& body);
void emitSharedAtomic(Body& body);
// Calls: calls.cpp.
void emitCall(Body& body);
void emitVectorCall(Body& body);
// What is stored as a constant or a sum with one: constants.cpp.
void emitConstantStores(Body& body);
// Addresses in memory: kept.cpp.
void emitKept(Body& body);
// Lanes that part: sections.cpp.
void emitStragglers(Body& body);

}  // namespace kernels
