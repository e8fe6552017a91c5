// What a user may have meant by a mapping that cannot be.
#pragma once

#include <string>

#include "workloads/dataflow.hpp"

namespace tilesim::sim {

// The numbers of a refused mapping changed as little as makes it one that can be, "m_ct: 32, k_mt:
// 64"; empty where a search of some thousand others finds none, those that `tune` would try among
// them. Takes some tenths of a second, up to two where much is wrong.
// `dataflow`: which refuses it; the mapping may be that of a part of it.
std::string nearest_mapping(const workloads::Dataflow& dataflow, const workloads::Case& refused);

}  // namespace tilesim::sim
