// Addresses in regions, and the loads and stores that use them.
#pragma once

#include "body.h"

namespace kernels {

// An address as it stands in the brackets, and the state space that goes behind ld or st.
struct Address {
  std::string text;
  std::string space;
};

// Some address in the region, of `width` bytes and aligned to them.
Address addressIn(Body& body, const Region& region, int width);
// base + offset in a form that the base allows.
Address at(Body& body, const Base& base, int offset);
// base + index * width + offset, where index is a 32-bit register below 2^20; one of many ways to compute it.
Address indexed(Body& body, const Base& base, Reg index, int width, int offset);
// A region of that many bytes and so aligned, or nullptr.
const Region* pickRegion(Body& body, bool write, int width);
// A base of the region; with `inRegister` not the bare variable.
Base pickBase(Body& body, const Region& region, bool inRegister = false);

// A register with what a load of `width` bytes gives, for the checksum or live values.
void emitLoad(Body& body);
void emitStore(Body& body);
void emitVector(Body& body);
// One value in memory as halves of another, and the other way around.
void emitMixedWidths(Body& body);
// An atomic operation on memory that only this thread uses: its result is defined.
void emitPrivateAtomic(Body& body);

// Loads from this address, of `width` bytes, to a new live register. Floats only where `width` is 4 or 8.
Reg loadFrom(Body& body, const Address& address, int width, bool constant);
// Stores a value there.
void storeTo(Body& body, const Address& address, int width);

}  // namespace kernels
