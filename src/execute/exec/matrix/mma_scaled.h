// Block-scaled mma.sync: D = (A * scale_A) * (B * scale_B) + C for kind::mxf8f6f4, mxf4 and mxf4nvf4.
//
// Each row of A and each column of B is cut along k into 1, 2 or 4 blocks, and each block has one scale: ue8m0, the
// power of two 2^(x - 127) with 255 for NaN, or ue4m3, e4m3 without a sign. Scales are bytes of one register of
// each lane; the immediate pair {byte-id, thread-id} selects some:
//   A  row m, block i: byte byte-id + i of lane 4 * (m % 8) + 2 * thread-id + m / 8
//   B  column n, block i: byte byte-id + i of lane 4 * n + thread-id
// thread-id is 0 or 1 for A and 0 to 3 for B; byte-id is 0 to 3 with one block, 0 or 2 with two, 0 with four.
//
// Operands lie as in kind::f8f6f4 (mxf8f6f4) or as four-bit integers do (the others). Scaled elements are exact,
// and their products and the sum are as in product.h, rounded once to f32.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "exec/matrix/mma.h"

namespace ptxopt::exec::matrix {

enum class Scale : uint8_t { Ue8m0, Ue4m3 };

struct ScaledMmaShape {
  MmaShape mma;
  Scale scale = Scale::Ue8m0;
  unsigned blocks = 1;
};

struct ScaleOperand {
  Lanes data{};
  unsigned byteId = 0, threadId = 0;
};

// From the components after `mma`; nothing for forms without scaling.
std::optional<ScaledMmaShape> scaledMmaShape(std::span<const std::string_view> components);

// Whether the selectors are among those listed above; others are undefined behaviour.
bool areSelectors(const ScaledMmaShape& shape, Matrix matrix, const ScaleOperand& scale);

void multiplyScaled(const ScaledMmaShape& shape, std::span<const Lanes> a, const ScaleOperand& scaleA,
                    std::span<const Lanes> b, const ScaleOperand& scaleB, std::span<const Lanes> c,
                    std::span<Lanes> d);

}  // namespace ptxopt::exec::matrix
