#include <algorithm>
#include <optional>

#include "verify/field_facts.h"

namespace ptxopt::verify {
namespace {

struct ImageAccess {
  Image image;
  bool isQuery = false;  // a query does not say how texels are read
};

// Nothing for what is no access to a texture or surface.
std::optional<ImageAccess> imageAccess(const OpcodeForm& form, std::string_view text) {
  const std::string_view name = text.substr(0, text.find('.'));
  const bool isTexture = name == "tex" || name == "tld4" || name == "txq";
  if (!isTexture && name != "suld" && name != "sust" && name != "sured" && name != "suq") return std::nullopt;
  Image image;
  image.kind = isTexture ? Image::Kind::Texture : Image::Kind::Surface;
  const auto has = [&](const char* modifier) { return text.find(modifier) != std::string_view::npos; };
  image.isArray = has(".a1d") || has(".a2d") || has(".acube");
  image.isCube = has("cube");
  image.dimensions = has("1d") ? 1 : has(".3d") ? 3 : 2;
  image.type = isTexture && (form.type == ScalarType::s32 || form.type == ScalarType::u32) ? form.type
               : isTexture                                                                 ? ScalarType::f32
                                                                                           : ScalarType::u32;
  image.byTexels = isTexture && form.sourceType == ScalarType::s32;
  return ImageAccess{std::move(image), name == "txq" || name == "suq"};
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
  std::optional<ImageAccess> access = imageAccess(form, m.text(form.text));
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
