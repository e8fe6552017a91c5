// What modules report, for tests: refusals as they come, errors by who raises them.
#pragma once

#include <functional>
#include <string>
#include <systemc>
#include <vector>

namespace tilesim::arch::systemc {

// "ddr: the address lies outside ...": every warning from its construction to its end.
class Warnings {
  public:
    Warnings() {
        texts().clear();
        sc_core::sc_report_handler::set_handler(
            [](const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
                if (report.get_severity() == sc_core::SC_WARNING) {
                    texts().push_back(std::string{report.get_msg_type()} + ": " + report.get_msg());
                } else {
                    sc_core::sc_report_handler::default_handler(report, actions);
                }
            });
    }
    Warnings(const Warnings&) = delete;
    Warnings& operator=(const Warnings&) = delete;
    ~Warnings() { sc_core::sc_report_handler::set_handler(nullptr); }

    static std::vector<std::string>& texts() {
        static std::vector<std::string> kept;
        return kept;
    }
};

// "bus: second at 0x1fff ...": the error that doing so raises; "no error" where there is none.
inline std::string error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const sc_core::sc_report& report) {
        return std::string{report.get_msg_type()} + ": " + report.get_msg();
    }
    return "no error";
}

}  // namespace tilesim::arch::systemc
