// Integers of 128 bits: an extension of GCC and Clang, marked as one for -Wpedantic.
#pragma once

namespace ptxopt {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

}  // namespace ptxopt
