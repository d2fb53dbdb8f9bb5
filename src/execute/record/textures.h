// Textures, surfaces and samplers of a launch: into a record, and out of it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exec/machine.h"
#include "record/record.h"

namespace ptxopt::record {

// The texels of arrays, by the address that they have in a record.
using Arrays = std::map<uint64_t, std::string_view>;

// The bindings of a machine. Texels lie in memory of the device, or in arrays, which are added to `arrays`; several bindings may
// be of one.
std::vector<RecordedTexture> recordedTextures(exec::Machine& machine, Arrays& arrays);

// Gives a machine the textures of a launch; `places` are where its memory lies, by entry. Throws RecordError for what makes no
// sense.
void bindTextures(const RecordedLaunch& launch, const std::vector<exec::Allocation*>& places,
                  exec::Machine& machine);

}  // namespace ptxopt::record
