#include "arch/host/host_profile.hpp"

namespace tilesim::arch::host {

using base::Cycles;
using base::Femtoseconds;
using base::Hertz;

namespace {

constexpr Femtoseconds microseconds(std::int64_t count) {
    constexpr std::int64_t kFemtoseconds = 1'000'000'000;
    return Femtoseconds{count * kFemtoseconds};
}
constexpr Hertz megahertz(std::int64_t count) {
    constexpr std::int64_t kHertz = 1'000'000;
    return Hertz{count * kHertz};
}

}  // namespace

const std::vector<HostProfile>& host_profiles() {
    static const std::vector<HostProfile> profiles{
        {"default"},
        // ARIES's bf16 table: its smallest launch less the array's own time; the driver's highest
        // step, which it takes where nobody asks for another.
        {"aries_phoenix", microseconds(120), megahertz(1600), megahertz(847)},
        // amd/IRON's continuous integration on Phoenix: 0.3 to 0.5 ms a launch, default power mode.
        // Of 2026, as mlir-air's: their mlir-aie sets AxCache 2 (its pull request 2559).
        {"iron_phoenix", microseconds(400), megahertz(1024), megahertz(600), {}, {}, true},
        // The same on Krackan: mem_copy of 32 KB takes 142 to 169 us.
        {"iron_krackan", microseconds(142), {}, {}, {}, {}, true},
        // mlir-air's kernel registry on Strix, power mode turbo: its smallest launch takes 70.7 us.
        // A descriptor is eight register words and the two of its address, which the processor adds
        // to what the host gave; 66 ns a word (amd/IRON FLM read-me, firmware of the same year).
        // Calibrated: its GEMV of 2048 x 2048 is met with 2.55 GHz, and with no more its external
        // GEMM of 2048 x 8192 x 2048 (-0.9 %): 40.8 GB/s, as 32 B at 1.28 GHz are.
        {"air_strix", microseconds(68), megahertz(1800), megahertz(1267), Cycles{840},
         megahertz(2550), true},
        // xdna-emu's captures on Phoenix in default mode, traced on the array.
        {"emu_phoenix", {}, megahertz(1028), megahertz(600)},
    };
    return profiles;
}

std::vector<std::pair<std::string_view, std::size_t>> host_profile_names() {
    std::vector<std::pair<std::string_view, std::size_t>> names;
    for (const HostProfile& profile : host_profiles()) {
        names.emplace_back(profile.name, names.size());
    }
    return names;
}

}  // namespace tilesim::arch::host
