// `workload.model`: a transformer that answers prompts, and where each of its operators runs.
#pragma once

#include <cstdint>
#include <optional>

#include "workloads/gemv.hpp"
#include "workloads/machine.hpp"
#include "workloads/problem.hpp"
#include "workloads/transformer.hpp"

namespace tilesim::workloads::pim::transformer {

// Where an operator runs while tokens are generated.
enum class Place { Banks, Soc, Npu };
const char* name_of(Place place);

struct Places {
    Place qkv = Place::Banks;
    Place attention = Place::Soc;  // over the cache of keys and values
    Place projection = Place::Banks;
    Place router = Place::Soc;
    Place up = Place::Banks;    // of the feed-forward part, with its gate
    Place down = Place::Banks;  // of the feed-forward part
    Place head = Place::Soc;    // the vocabulary
};

// A transformer answering a prompt; its matrices' sizes replace those of `format`.
struct ModelWorkload {
    TransformerModel model;
    GemvProblem format;
    std::int64_t prompt = 0;  // tokens given
    // The NPU that takes the prompt's matrices, and the type of its products; none: roofline.
    std::optional<Device> prompt_device;
    std::optional<arch::base::DataType> prompt_result;
    std::int64_t generate = 1;  // tokens generated, one by one
    std::int64_t batch = 1;     // sequences side by side
    Places places;
};

// The key `place` below a model's.
void read_places(arch::base::config::Node& node, Places& places);

const ProblemKind& model_kind();

}  // namespace tilesim::workloads::pim::transformer
