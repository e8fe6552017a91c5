// The program as a user calls it, and files to call it with.
#pragma once

#include <fstream>
#include <string>

#include "arch/base/shell_testing.hpp"
#include "arch/base/temporary_folder_testing.hpp"

namespace tilesim::validation {

inline const std::string kProgram = std::string{TILESIM_BINARY_DIR} + "/tilesim";
inline const std::string kConfigs = std::string{TILESIM_SOURCE_DIR} + "/configs";

using Output = arch::base::ShellOutput;  // stdout and stderr

inline Output call(const std::string& arguments) {
    return arch::base::shell(kProgram + " " + arguments + " 2>&1");
}

inline std::string scenario(const std::string& name) {
    return kConfigs + "/scenarios/" + name + ".yaml";
}

inline std::string program(const std::string& name) {
    return kConfigs + "/programs/" + name + ".yaml";
}

// A file of this test's own: each test is a process.
inline std::string scratch(const std::string& name) {
    static const arch::base::TemporaryFolder folder;
    return folder.path() / name;
}

inline std::string written(const std::string& text) {
    const std::string file = scratch("scenario.yaml");
    std::ofstream(file) << text;
    return file;
}

inline Output run_text(const std::string& text) {
    return call("run " + written(text));
}

inline const std::string kGood =
    "device: xdna\n"
    "workload: {gemm: {M: 128, K: 64, N: 128, a: int8, b: int8, c: int32}}\n"
    "mapping: {output_stationary: {m_ct: 32, k_ct: 32, n_ct: 32}}\n";

}  // namespace tilesim::validation
