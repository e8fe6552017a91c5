// The matrix products and the attention of a transformer's layer: operations, bytes, and what they
// take by the roofline of the system on chip.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/pim/pim_config.hpp"
#include "workloads/gemv.hpp"
#include "workloads/pim/gemv/pim_run.hpp"
#include "workloads/pim/transformer/model_workload.hpp"

namespace tilesim::workloads::pim::transformer {

// An operator of one layer, or the head, for one step of all sequences.
struct Operator {
    std::string name;
    Place place = Place::Soc;
    double uses = 1;     // products of one sequence's token
    double copies = 1;   // matrices in memory they choose from
    GemvProblem gemv{};  // of one token
    bool of_layer = true;
};

// Those of a layer in the order a token passes them, then the head; attention is not among them.
std::vector<Operator> operators_of(const ModelWorkload& workload);

// A product of the workload's types.
GemvProblem gemv_of(const ModelWorkload& workload, std::int64_t rows, std::int64_t columns);

// How many of the matrices `tokens` tokens read, each choosing evenly.
double copies_read(const Operator& op, double tokens);

// Of `tokens` tokens, those at each of the matrices read, on average.
std::int64_t tokens_of_each(const Operator& op, std::int64_t tokens);
// Passes over a matrix's weights, all matrices together, where up to `sharing` of the tokens that
// chose the same one share a pass.
double passes_of(const Operator& op, std::int64_t tokens, std::int64_t sharing);

// What is done and moved by whoever has every matrix cross the bus once.
struct Work {
    double macs = 0;
    double bytes = 0;
};
// Of `tokens` tokens of a step.
Work work_of(const Operator& op, double tokens);
// Of attention to `context` tokens for one new one of each sequence: its bytes are keys and values.
Work attention_of(const ModelWorkload& workload, double context);
// The same for all generated tokens, each with those before it.
Work attention_of_generated(const ModelWorkload& workload);

// Nanoseconds on the system on chip.
double soc_ns(const arch::pim::SocConfig& soc, const Work& work);
// What a reader would change to have it do the work faster.
inline constexpr const char* kSocCompute = "SoC: compute";
using gemv::kSocBandwidth;
const char* soc_cause(const arch::pim::SocConfig& soc, const Work& work);

}  // namespace tilesim::workloads::pim::transformer
