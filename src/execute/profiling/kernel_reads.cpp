// Loads of parameter space are collected by parameter and offset. A value of a launch is an address where it lies in
// memory, and then only its alignment is kept, up to 256 bytes.
#include "profiling/kernel_reads.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "exec/kernel_parameters.h"
#include "ir/opcode_predicates.h"

namespace ptxopt::profiling {
namespace {

constexpr uint64_t kMostAlignment = 256;  // that cudaMalloc gives

// Where in which variable a load reads; none for other forms.
struct ReadPlace {
  VariableId variable;
  int64_t offset = 0;
};
std::optional<ReadPlace> readPlace(const Function& f, const Instruction& load) {
  const auto operands = f.operandsOf(load);
  const auto bracket = std::ranges::find(operands, OperandKind::Memory, &Operand::kind);
  if (bracket == operands.end() || bracket->payload == 0 || bracket->payload > 2) return std::nullopt;
  const Operand& name = bracket[1];
  if (name.kind != OperandKind::Variable) return std::nullopt;
  ReadPlace place{VariableId(name.payload), 0};
  if (bracket->payload == 1) return place;
  const auto offset = immediate(f, bracket[2]);
  if (!offset) return std::nullopt;
  place.offset = static_cast<int64_t>(*offset);
  return place;
}

int64_t extended(uint64_t bits, unsigned bytes, bool isSigned) {
  if (!isSigned) return static_cast<int64_t>(bits);
  const unsigned unused = 64 - 8 * bytes;
  return static_cast<int64_t>(bits << unused) >> unused;
}

ParameterPart valueOf(const ReadPart& part, std::span<const std::byte> parameters, const IsMemory& isMemory) {
  ParameterPart p{part.parameter, part.offset, part.bytes, false, {}};
  if (part.place + part.bytes > parameters.size()) return p;
  uint64_t bits = 0;
  std::memcpy(&bits, parameters.data() + part.place, part.bytes);
  if (part.mayBeAddress && bits != 0 && isMemory(bits)) {
    p.isAddress = true;
    p.number.multiple = std::min(kMostAlignment, bits & (~bits + 1));
  } else if (part.bytes == 8 && !part.isSigned && bits >= INT64_MAX) {
    p.number = {0, INT64_MAX};
  } else {
    p.number.least = p.number.most = extended(bits, part.bytes, part.isSigned);
  }
  return p;
}

}  // namespace

std::vector<ReadPart> readParts(const Module& module, const Function& kernel) {
  const std::vector<exec::KernelParameter> parameters = exec::kernelParameters(module, kernel);
  std::map<std::pair<uint32_t, uint32_t>, ReadPart> parts;
  if (kernel.hidesNames) return {};
  for (const InstrId id : kernel) {
    const Instruction& i = kernel[id];
    if (!i.isInstruction() || !isParameterLoad(module.form(i))) continue;
    const OpcodeForm& form = module.form(i);
    const auto place = readPlace(kernel, i);
    const uint32_t bytes = info(form.type).bits / 8;
    if (!place || bytes == 0 || bytes > 8) continue;
    const auto found = std::ranges::find(kernel.parameters, place->variable);
    if (found == kernel.parameters.end()) continue;
    const auto index = static_cast<uint32_t>(found - kernel.parameters.begin());
    const exec::KernelParameter& p = parameters[index];
    const bool isWhole = !p.isArray && p.elements == 1;
    for (uint32_t element = 0; element < std::max(1u, unsigned{form.vector}); ++element) {
      const int64_t offset = place->offset + int64_t{element} * bytes;
      if (offset < 0 || offset + bytes > p.place.bytes) continue;
      const auto at = static_cast<uint32_t>(offset);
      ReadPart& part = parts[{index, at}];
      if (part.bytes >= bytes) continue;
      part = {index,
              at,
              bytes,
              p.place.offset + at,
              isSignedType(isWhole ? p.type : form.type),
              bytes == 8 && isIntegerOrBits(form.type)};
    }
  }
  std::vector<ReadPart> list;
  for (const auto& [place, part] : parts) list.push_back(part);
  return list;
}

std::vector<ParameterPart> valuesOf(const std::vector<ReadPart>& parts, std::span<const std::byte> parameters,
                                    const IsMemory& isMemory) {
  std::vector<ParameterPart> values;
  values.reserve(parts.size());
  for (const ReadPart& part : parts) values.push_back(valueOf(part, parameters, isMemory));
  return values;
}

profile::SeenKernel unseenKernel(const Module& module, const Function& kernel) {
  return {.name = std::string(module.text(kernel.name)),
          .digest = profile::digestOf(module, kernel),
          .parameterBytes = profile::parameterBytes(module, kernel)};
}

}  // namespace ptxopt::profiling
