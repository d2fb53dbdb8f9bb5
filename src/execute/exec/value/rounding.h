// Rounding modes of PTX arithmetic and conversions.
//
// Nearest is round to nearest, ties to even (.rn, .rni); Zero is .rz/.rzi; Down is .rm/.rmi (towards minus
// infinity); Up is .rp/.rpi (towards plus infinity). Modes that only one conversion has (.rna, .rs) are not here:
// they belong to that conversion.
#pragma once

#include <cstdint>

namespace ptxopt::exec {

enum class Rounding : uint8_t { Nearest, Zero, Down, Up };

}  // namespace ptxopt::exec
