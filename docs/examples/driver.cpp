// A driver: writes operands to memory, programs the array through its registers, waits for its
// interrupt and reads the product back.
//
// C (32 x 32) = A (32 x 64) B (64 x 32), int8, on the core that gemm.yaml has loaded. Operands lie
// tile by tile, tiles in the 8 x 8 blocks of the core's multiplication.
#include <tlm_utils/simple_initiator_socket.h>

#include <iostream>
#include <systemc>
#include <vector>

#include "arch/npu/control/channel_words.hpp"
#include "arch/npu/control/descriptor_words.hpp"
#include "arch/npu/control/register_map.hpp"
#include "arch/npu/program/program_reader.hpp"
#include "arch/systemc/array/npu.hpp"
#include "workloads/catalogue/catalogue.hpp"

using namespace tilesim::arch;
namespace control = npu::control;
using npu::program::Direction;
using npu::program::TileKind;

constexpr int kM = 32, kK = 64, kN = 32, kTileM = 16, kTileK = 32, kTileN = 16;
constexpr int kA = 0, kB = 0x10000, kC = 0x20000;  // in DRAM
constexpr npu::program::TileCoordinate kShim{0, 0}, kCore{0, 2};

int a_of(int m, int k) {
    return (m * 7 + k * 3) % 11 - 5;
}
int b_of(int k, int n) {
    return (k * 5 + n * 2) % 9 - 4;
}
// Where row and column of a matrix of so many columns lie, in tiles of rows x columns.
std::size_t place(int row, int column, int all, int rows, int columns) {
    const int tile = row / rows * (all / columns) + column / columns;
    const int r = row % rows, c = column % columns;
    return static_cast<std::size_t>(tile * rows * columns + (r / 8 * (columns / 8) + c / 8) * 64 +
                                    r % 8 * 8 + c % 8);
}

struct Driver : sc_core::sc_module {
    using Socket = tlm_utils::simple_initiator_socket<Driver>;
    SC_HAS_PROCESS(Driver);
    explicit Driver(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        SC_THREAD(run);
    }
    Socket memory{"memory"}, registers{"registers"};
    sc_core::sc_in<bool> interrupt{"interrupt"};
    int wrong = -1;

    void transfer(Socket& to, bool write, std::uint64_t address, void* data, std::size_t bytes) {
        tlm::tlm_generic_payload payload;
        payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
        payload.set_address(address);
        payload.set_data_ptr(static_cast<unsigned char*>(data));
        payload.set_data_length(static_cast<unsigned>(bytes));
        payload.set_streaming_width(static_cast<unsigned>(bytes));
        sc_core::sc_time delay;
        to->b_transport(payload, delay);
        sc_core::wait(delay);
        if (payload.is_response_error()) {
            SC_REPORT_ERROR(name(), payload.get_response_string().c_str());
        }
    }
    void set(npu::program::TileCoordinate tile, std::int64_t offset, std::uint32_t value) {
        transfer(registers, true, control::join(tile, offset), &value, sizeof value);
    }
    // Writes a descriptor of the shim and pushes a task that runs it once.
    void start(Direction direction, int channel, int id, int address, int bytes, bool token) {
        control::RegisterDescriptor descriptor;
        descriptor.descriptor.length = bytes / 4;
        descriptor.address = address;
        auto words = control::encode_descriptor(TileKind::Shim, descriptor);
        transfer(registers, true,
                 control::join(kShim, control::descriptor_offset(TileKind::Shim, id)), words.data(),
                 words.size() * sizeof words[0]);
        set(kShim, control::queue_offset(TileKind::Shim, {direction, channel, true}),
            control::encode_task({id, 1, token}));
    }
    void run() {
        std::vector<signed char> a(kM * kK), b(kK * kN), c(kM * kN);
        for (int m = 0; m < kM; ++m) {
            for (int k = 0; k < kK; ++k) {
                a[place(m, k, kK, kTileM, kTileK)] = static_cast<signed char>(a_of(m, k));
            }
        }
        for (int n = 0; n < kN; ++n) {  // B by its columns
            for (int k = 0; k < kK; ++k) {
                b[place(n, k, kK, kTileN, kTileK)] = static_cast<signed char>(b_of(k, n));
            }
        }
        transfer(memory, true, kA, a.data(), a.size());
        transfer(memory, true, kB, b.data(), b.size());
        set(kCore, 4096, 4);  // parameter 0: C tiles
        set(kCore, control::register_map_of(TileKind::Core).locks + 6 * 16, 1);  // go
        for (int tile = 0; tile < 4; ++tile) {
            start(Direction::MM2S, 0, tile, kA + tile / 2 * kTileM * kK, kTileM * kK, false);
            start(Direction::MM2S, 1, 4 + tile, kB + tile % 2 * kTileN * kK, kTileN * kK, false);
            start(Direction::S2MM, 0, 8 + tile, kC + tile * kTileM * kTileN, kTileM * kTileN,
                  tile == 3);
        }
        while (!interrupt.read()) {
            sc_core::wait(interrupt.value_changed_event());
        }
        transfer(memory, false, kC, c.data(), c.size());
        wrong = 0;
        for (int m = 0; m < kM; ++m) {
            for (int n = 0; n < kN; ++n) {
                int sum = 0;
                for (int k = 0; k < kK; ++k) {
                    sum += a_of(m, k) * b_of(k, n);
                }
                wrong += c[place(m, n, kN, kTileM, kTileN)] != static_cast<signed char>(sum);
            }
        }
    }
};

int sc_main(int argc, char* argv[]) {
    const std::string program = argc > 1 ? argv[1] : GEMM_PROGRAM;
    const auto device = tilesim::workloads::catalogue::load_device("xdna2", {});
    const auto& config = device.get<npu::NpuConfig>();
    auto document = base::config::Document::load(program);
    auto root = document.root();
    const auto loaded =
        systemc::array::prepare_for_driver(npu::program::read_program(root), config);
    systemc::TimeLine time_line("time_line");
    systemc::dram::Dram ddr("ddr", time_line, device.memory);
    systemc::array::Npu npu("npu", ddr, config, device.get<fabric::FabricConfig>(), loaded,
                            {.bytes = true});
    Driver driver("driver");
    sc_core::sc_signal<bool> interrupt("interrupt_line");
    driver.memory.bind(ddr.socket);
    driver.registers.bind(npu.control);
    driver.interrupt.bind(interrupt);
    npu.interrupt.bind(interrupt);
    sc_core::sc_start();
    std::cout << "C after " << sc_core::sc_time_stamp() << ": " << driver.wrong
              << " of 1024 elements wrong\n";
    return driver.wrong == 0 ? 0 : 1;
}
