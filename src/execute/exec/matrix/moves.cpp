// Each form is described by one function from lane, register and position to row and bit offset, which loads and stores
// share. A transposition is a store of rows followed by a load of columns.
#include "exec/matrix/moves.h"

namespace ptxopt::exec::matrix {

namespace {

struct Words {
  std::string_view shape, type, source;
  unsigned matrices = 0;
  bool trans = false;
};

// Nothing when a word is unknown or given twice. Where in the text words stand does not matter to ptxas either.
std::optional<Words> readWords(std::span<const std::string_view> components) {
  Words w;
  const auto once = [](std::string_view& slot, std::string_view word) {
    const bool isFirst = slot.empty();
    slot = word;
    return isFirst;
  };
  for (const std::string_view word : components) {
    bool isFine = true;
    if (word == "m8n8" || word == "m8n16" || word == "m16n16" || word == "m16n8") {
      isFine = once(w.shape, word);
    } else if (word == "b16" || word == "b8" || word == "b8x16") {
      isFine = once(w.type, word);
    } else if (word == "b6x16_p32" || word == "b4x16_p64") {
      isFine = once(w.source, word);
    } else if (word == "x1" || word == "x2" || word == "x4") {
      isFine = w.matrices == 0;
      w.matrices = static_cast<unsigned>(word[1] - '0');
    } else if (word == "trans") {
      isFine = !w.trans;
      w.trans = true;
    } else {
      isFine = word == "sync" || word == "aligned" || word == "shared" || word == "shared::cta";
    }
    if (!isFine) return std::nullopt;
  }
  return w.matrices != 0 ? std::optional(w) : std::nullopt;
}

unsigned sourceBits(const Words& w) {
  if (w.type == "b8" && w.source.empty()) return 8;
  if (w.type != "b8x16") return 0;
  if (w.source == "b6x16_p32") return 6;
  return w.source == "b4x16_p64" ? 4 : 0;
}

std::optional<MatrixMove> move16(const Words& w) {
  if (w.shape != "m8n8" || w.type != "b16" || !w.source.empty()) return std::nullopt;
  return MatrixMove{w.trans ? MoveForm::Columns16 : MoveForm::Rows16, w.matrices, 16};
}

uint64_t readBits(const SharedRow& row, unsigned offset, unsigned count) {
  // An element lies in at most two bytes.
  const unsigned byte = offset / 8;
  const unsigned next = byte + 1 < row.size() ? row[byte + 1] : 0u;
  return (row[byte] | next << 8) >> (offset % 8) & ((1u << count) - 1);
}

}  // namespace

MatrixMove::Place MatrixMove::placeOf(unsigned lane, unsigned registerIndex, unsigned position) const {
  const unsigned group = lane / 4, member = lane % 4;
  switch (form) {
    case MoveForm::Rows16: return {8 * registerIndex + group, 16 * (2 * member + position)};
    case MoveForm::Columns16: return {8 * registerIndex + 2 * member + position, 16 * group};
    case MoveForm::RowsPacked: return {8 * registerIndex + group, memoryBits * (4 * member + position)};
    case MoveForm::Columns8:
      return {16 * (registerIndex / 2) + 4 * member + position, memoryBits * (group + 8 * (registerIndex % 2))};
    case MoveForm::StoreColumns8: break;
  }
  return {8 * registerIndex + 2 * member + position % 2, 8 * (group + 8 * (position / 2))};
}

std::optional<MatrixMove> ldmatrixShape(std::span<const std::string_view> components) {
  const auto w = readWords(components);
  if (!w) return std::nullopt;
  const unsigned width = sourceBits(*w);
  if (w->shape == "m8n16" && !w->trans && (width == 6 || width == 4)) {
    return MatrixMove{MoveForm::RowsPacked, w->matrices, width};
  }
  if (w->shape == "m16n16" && w->trans && width != 0 && w->matrices <= 2) {
    return MatrixMove{MoveForm::Columns8, w->matrices, width};
  }
  return move16(*w);
}

std::optional<MatrixMove> stmatrixShape(std::span<const std::string_view> components) {
  const auto w = readWords(components);
  if (!w) return std::nullopt;
  if (w->shape == "m16n8" && w->trans && sourceBits(*w) == 8)
    return MatrixMove{MoveForm::StoreColumns8, w->matrices, 8};
  return move16(*w);
}

void loadMatrices(const MatrixMove& move, std::span<const SharedRow> rows, std::span<Lanes> registers) {
  const unsigned width = move.registerBits();
  for (unsigned r = 0; r < move.registers(); ++r) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      uint64_t value = 0;
      for (unsigned j = 0; j < 32 / width; ++j) {
        const auto [row, offset] = move.placeOf(lane, r, j);
        value |= readBits(rows[row], offset, move.memoryBits) << (j * width);
      }
      registers[r][lane] = value;
    }
  }
}

void storeMatrices(const MatrixMove& move, std::span<const Lanes> registers, std::span<SharedRow> rows) {
  const unsigned width = move.registerBits();
  for (unsigned r = 0; r < move.registers(); ++r) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned j = 0; j < 32 / width; ++j) {
        const auto [row, offset] = move.placeOf(lane, r, j);
        const uint64_t value = registers[r][lane] >> (j * width);
        // Elements of a store are whole bytes.
        for (unsigned byte = 0; byte < width / 8; ++byte) {
          rows[row][offset / 8 + byte] = static_cast<uint8_t>(value >> (8 * byte));
        }
      }
    }
  }
}

void transposeMatrix(const Lanes& from, Lanes& to) {
  // A store of rows and a load of columns are the definition; the matrix is 8 rows of 16 bytes.
  std::array<SharedRow, 8> rows;
  const Lanes in = from;
  storeMatrices({MoveForm::Rows16, 1, 16}, {&in, 1}, rows);
  loadMatrices({MoveForm::Columns16, 1, 16}, rows, {&to, 1});
}

}  // namespace ptxopt::exec::matrix
