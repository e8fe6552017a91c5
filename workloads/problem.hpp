// What is computed: a problem of one of the kinds in catalogue/catalogue.cpp.
#pragma once

#include <any>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "arch/base/config.hpp"
#include "workloads/device.hpp"

namespace tilesim::workloads {

class ProblemKind;

class Problem {
  public:
    Problem() = default;
    template <class Value>
    Problem(const ProblemKind& kind, Value value) : kind_(&kind), value_(std::move(value)) {}

    const ProblemKind& kind() const { return *kind_; }
    bool empty() const { return kind_ == nullptr; }
    // The problem itself where it is of this type (GemmProblem, GemvProblem ...), else nullptr.
    template <class Value>
    const Value* find() const {
        return std::any_cast<Value>(&value_);
    }
    template <class Value>
    const Value& get() const {
        return *std::any_cast<Value>(&value_);
    }

  private:
    const ProblemKind* kind_ = nullptr;
    std::any value_;
};

// Where a problem is read from.
struct ProblemSource {
    arch::base::config::Document& document;
    arch::base::config::Node& node;  // the map that holds the kind's key
    std::string file;                // which relative names lie beside
    std::string& device;             // the scenario's; a design may name its own
    // Other devices a problem names. Throws ConfigError.
    std::function<Device(const std::string&)> load_device;
};

class ProblemKind {
  public:
    virtual ~ProblemKind() = default;
    // The key that holds it, below `workload` or at the root of the file.
    virtual std::string_view key() const = 0;
    virtual bool at_root() const { return false; }
    // Whether the map holds a problem of this kind; the kinds are asked in their order.
    virtual bool found(const arch::base::config::Node& node) const { return node.has(key()); }
    virtual Problem read(ProblemSource& source) const = 0;
    // Whether it depends on the device: then `bind` is called once that is known. Errors go to
    // `root`.
    virtual bool binds() const { return false; }
    virtual void bind(Problem&, arch::base::config::Node& /*root*/, const Device&) const {}
    // What to say where no dataflow of the device runs it.
    virtual std::string hint() const { return ""; }
    // As results print it: {"gemm": {"M": ...}}.
    virtual nlohmann::ordered_json describe(const Problem& problem) const = 0;
    // Text of files it was read from beside the scenario, for the provenance.
    virtual std::string source_text(const Problem&) const { return ""; }
};

}  // namespace tilesim::workloads
