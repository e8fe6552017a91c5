// What a core runs between lock operations, as a program names it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "arch/base/data_type.hpp"
#include "arch/base/file_place.hpp"
#include "arch/base/name_table.hpp"

namespace tilesim::arch::npu {

// Every room of the array speaks of these.
using base::bits_of;
using base::bytes_of;
using base::DataType;
using base::kDataTypes;
using base::name_of;

}  // namespace tilesim::arch::npu

namespace tilesim::arch::npu::program {

enum class KernelKind {
    Multiply,  // C += A * B on one core tile
    Zero,      // C = 0
    Add,       // C = A + B, element by element
    AddValue,  // C = A + value, element by element
    Fixed,     // takes `cycles`, moves no data: for hand-written programs
    Inline,    // the same for the script's own instructions: no call
    Matvec,    // C += A * B, where B has one column: A row by row, as it lies in DRAM
    Vector,    // C = operation(A), or operation(A, B), element by element or row by row
    // C += A * B where only B (k x n, row by row) lies in the core's memory: A (m x k, column by
    // column) comes on stream input 0, C (m x n, column by column) on stream input 1 and leaves on
    // stream output 0.
    Stream
};

inline constexpr base::NameTable<KernelKind> kKernelKinds{{
    {"multiply", KernelKind::Multiply},
    {"stream", KernelKind::Stream},
    {"zero", KernelKind::Zero},
    {"add", KernelKind::Add},
    {"add_value", KernelKind::AddValue},
    {"fixed", KernelKind::Fixed},
    {"inline", KernelKind::Inline},
    {"matvec", KernelKind::Matvec},
    {"vector", KernelKind::Vector},
}};
std::string_view name_of(KernelKind kind);

// What a Vector kernel does with m rows of n elements.
enum class VectorOperation {
    Add,                // A + B
    Multiply,           // A * B
    Silu,               // A / (1 + exp(-A))
    Copy,               // A
    Relu,               // A, 0 where it is negative
    Sigmoid,            // 1 / (1 + exp(-A))
    Tanh,               // (1 - exp(-2 A)) / (1 + exp(-2 A))
    Gelu,               // A / (1 + exp(-1.596 (A + 0.0447 A^3))), Hendrycks and Gimpel's form of it
    RmsNorm,            // A / sqrt(mean of A * A), row by row, times B (one row)
    UnweightedRmsNorm,  // the same without B
    LayerNorm,          // (A - its mean) / its standard deviation, row by row
    Softmax,            // exp(A - greatest A) / their sum, row by row
    Rope,               // pairs of A turned by the angles whose cosines and sines are B's pairs
    Dequantise,         // integers times the scale factors that follow each row of A
    Cast,               // A in C's type
};
inline constexpr base::NameTable<VectorOperation> kVectorOperations{{
    {"add", VectorOperation::Add},
    {"multiply", VectorOperation::Multiply},
    {"silu", VectorOperation::Silu},
    {"copy", VectorOperation::Copy},
    {"relu", VectorOperation::Relu},
    {"sigmoid", VectorOperation::Sigmoid},
    {"tanh", VectorOperation::Tanh},
    {"gelu", VectorOperation::Gelu},
    {"rms_norm", VectorOperation::RmsNorm},
    {"unweighted_rms_norm", VectorOperation::UnweightedRmsNorm},
    {"layer_norm", VectorOperation::LayerNorm},
    {"softmax", VectorOperation::Softmax},
    {"rope", VectorOperation::Rope},
    {"dequantise", VectorOperation::Dequantise},
    {"cast", VectorOperation::Cast},
}};
std::string_view name_of(VectorOperation operation);
// What it reads beside A: nothing, one row that goes with all of A's, or a row for each.
enum class SecondOperand { None, Row, Rows };
SecondOperand second_operand(VectorOperation operation);
// On what of A an element of C depends: the one in its place alone, others near it, or its row.
enum class Reach { Element, Neighbours, Row };
Reach reach_of(VectorOperation operation);

struct Kernel {
    std::string name;
    KernelKind kind = KernelKind::Fixed;
    std::int64_t m = 0, k = 0, n = 0;  // core tile
    DataType a = DataType::Int8, b = DataType::Int8, c = DataType::Int8;
    bool b_column_major = true;
    std::optional<std::int64_t> cycles;  // overrides the timing model; needed for Fixed
    std::int64_t value = 0;              // AddValue
    std::string mode = {};        // Multiply: that of several of the same types; "": the first
    bool c_column_major = false;  // Multiply: C is stored for a column-major matrix
    VectorOperation operation = VectorOperation::Add;  // Vector
    // Matvec and Dequantise: elements of A that share a scale factor; 0: there are none.
    std::int64_t scale_block = 0;
    // A cast's: elements of an iteration of its loop, where the compiler lets none begin before the
    // one before has ended; 0: iterations overlap. Such an iteration may take its vector apart.
    std::int64_t iteration_lanes = 0;
    bool by_element = false;
    bool as_modelled = false;  // `cycles` are a stated share of the timing model's, and follow it
    bool estimated = false;    // `cycles` are a guess: nobody has stated them
    bool marked = true;        // its code tells trace units of its begin and end
    base::FilePlace where = {};
};
// Bytes of one row of a Matvec's or Dequantise's A: its elements, then their bf16 scale factors.
std::int64_t row_bytes(const Kernel& kernel, std::int64_t elements);

}  // namespace tilesim::arch::npu::program
