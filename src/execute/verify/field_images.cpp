// The opcode gives an image's kind, dimensions and type, and its handle, a name or a field, says which it is. A query
// leaves what another access has said.
#include <algorithm>
#include <optional>

#include "verify/field_facts.h"

namespace ptxopt::verify {
namespace {

struct ImageAccess {
  Image image;
  bool isQuery = false;  // a query does not say how texels are read
};

bool isArray(Geometry g) {
  switch (g) {
    case Geometry::ArrayD1:
    case Geometry::ArrayD2:
    case Geometry::ArrayCube:
    case Geometry::MultisampleArrayD2: return true;
    default: return false;
  }
}

bool isCube(Geometry g) { return g == Geometry::Cube || g == Geometry::ArrayCube; }

// A query says none: of two, as most images have.
unsigned dimensionsOf(Geometry g) {
  return g == Geometry::D1 || g == Geometry::ArrayD1 ? 1 : g == Geometry::D3 ? 3 : 2;
}

// Nothing for what is not an access to a texture or surface.
std::optional<ImageAccess> imageAccess(const OpcodeForm& form) {
  const bool isTexture = form.op == Op::Tex || form.op == Op::Tld4 || form.op == Op::Txq;
  if (!isTexture && form.op != Op::Suld && form.op != Op::Sust && form.op != Op::Sured && form.op != Op::Suq)
    return std::nullopt;
  Image image;
  image.kind = isTexture ? Image::Kind::Texture : Image::Kind::Surface;
  image.isArray = isArray(form.geometry);
  image.isCube = isCube(form.geometry);
  image.dimensions = dimensionsOf(form.geometry);
  image.type = isTexture && (form.type == ScalarType::s32 || form.type == ScalarType::u32) ? form.type
               : isTexture                                                                 ? ScalarType::f32
                                                                                           : ScalarType::u32;
  image.byTexels = isTexture && form.sourceType == ScalarType::s32;
  return ImageAccess{std::move(image), form.op == Op::Txq || form.op == Op::Suq};
}

void note(const ImageAccess& access, std::vector<Image>& images) {
  const Image& one = access.image;
  const auto same = [&](const Image& x) { return x.variable == one.variable && x.field == one.field; };
  const auto known = std::find_if(images.begin(), images.end(), same);
  if (known == images.end())
    images.push_back(one);
  else if (!access.isQuery)
    *known = one;
}

}  // namespace

bool noteImage(const FieldContext& context, const FunctionFacts& s, const OpcodeForm& form, const Operand& base,
               FieldFacts& facts) {
  const Module& m = context.module;
  std::optional<ImageAccess> access = imageAccess(form);
  if (!access) return false;
  if (base.kind == OperandKind::Symbol) {
    access->image.variable = m.text(m.symbols[base.payload].name);
    note(*access, facts.images);
  } else if (base.isRegister()) {
    for (const auto& [field, spot] : s.registers[base.payload]) {
      if (facts.fields[field].place != Field::Place::Parameter) continue;
      access->image.field = field;
      facts.handles.insert(field);
      note(*access, facts.images);
    }
  }
  return true;
}

}  // namespace ptxopt::verify
