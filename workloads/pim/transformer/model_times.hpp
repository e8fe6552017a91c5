// What the parts of a model take: one step of all sequences, and their prompts. Times in
// nanoseconds.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "workloads/pim/transformer/attention_times.hpp"
#include "workloads/pim/transformer/model_workload.hpp"
#include "workloads/pim/transformer/operators.hpp"

namespace tilesim::workloads::pim::transformer {

struct StepPart {
    Operator op;
    double ns = 0;                        // of one layer, or of the head
    double soc_ns = 0;                    // the same on the system on chip
    nlohmann::ordered_json mapping = {};  // in the banks
};

struct PromptPart {
    std::string name;
    Place place = Place::Soc;
    double times = 1;
    double ns = 0;
    double macs = 0;
    std::string cause;  // of its time
};

struct ModelTimes {
    std::vector<StepPart> step;
    AttentionTimes attention;  // of a layer, for one token of each sequence
    std::vector<PromptPart> prompt;
    std::vector<PromptPart> soc_prompt;  // the same on the system on chip
};

}  // namespace tilesim::workloads::pim::transformer
