// The matrix products and the attention of a transformer's layer: operations, bytes, and what they
// take by the roofline of the system on chip.
#pragma once

#include <string>
#include <vector>

#include "arch/pim/pim_config.hpp"
#include "workloads/gemv.hpp"
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

// Nanoseconds of `tokens` tokens of a step on the system on chip: every matrix is read once.
double soc_ns(const arch::pim::SocConfig& soc, const Operator& op, double tokens);

// The cost of attention to `context` tokens for one new one of each sequence.
struct Attention {
    double macs = 0;
    double bytes = 0;  // keys and values
};
Attention attention_of(const ModelWorkload& workload, double context);

}  // namespace tilesim::workloads::pim::transformer
