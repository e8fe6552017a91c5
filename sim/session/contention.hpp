// Who slows whom down on a memory that several agents share: what each channel did while somebody's
// requests waited there, and whose rows were closed for whose.
//
// Models:  a channel works for one agent at a time, the one whose column command comes next; a lent
//          channel works for the agent it is lent to. All the while it keeps every other agent with
//          a request there waiting. A row is lost to another when an agent opens the row it had
//          opened last in a bank again, and the last row opened there was the other's. Where
//          several ask for one row, a command is of the one whose burst has waited longest for it.
// Ignores: what a waiting request would have cost without the others.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "arch/base/clock.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "arch/memory/device/address_map.hpp"
#include "arch/memory/port/memory_window.hpp"
#include "workloads/run.hpp"

namespace tilesim::sim::session {

class Contention final : public arch::memory::controller::CommandListener {
  public:
    // `next` hears every command as well; may be null.
    Contention(const arch::memory::controller::MemorySystem& memory, std::size_t agents,
               arch::memory::controller::CommandListener* next);

    // What tells of an agent's requests.
    arch::memory::port::WindowListener& of(std::size_t agent) { return asking_[agent]; }
    // An agent that is lent channels, whose commands nobody hears.
    void set_guest(std::size_t agent) { guest_ = agent; }

    bool has_guest() const { return guest_.has_value(); }
    // An agent that hears, until it is forgotten, every command, and the requests of the others.
    void tell(std::size_t agent, const workloads::HearingBesideOthers& hearing) {
        asking_[agent].hearing = hearing;
    }
    void forget(std::size_t agent) { asking_[agent].hearing = {}; }

    // CK for which channels worked for `other` while requests of `agent` waited there, over all
    // channels; of `other` = `agent`: for its own.
    std::int64_t waited(std::size_t agent, std::size_t other) const {
        return waited_[agent * agents_ + other];
    }
    // Rows of `agent` that were opened again because `other` had closed them.
    std::int64_t rows_lost(std::size_t agent, std::size_t other) const {
        return rows_lost_[agent * agents_ + other];
    }
    std::int64_t bytes(std::size_t agent) const { return asking_[agent].bytes; }

    void on_command(std::size_t channel, arch::memory::device::Command command, std::size_t bank,
                    std::int64_t row, std::int64_t now) override;
    void on_column(std::size_t channel, arch::memory::device::Command command, std::size_t bank,
                   std::int64_t row, std::int64_t now,
                   const arch::memory::policy::Burst& burst) override;

  private:
    struct Asking final : arch::memory::port::WindowListener {
        void on_request(const arch::memory::port::MemoryRequest& request) override;
        Contention* all = nullptr;
        std::size_t agent = 0;
        std::int64_t bytes = 0;
        workloads::HearingBesideOthers hearing;
    };
    struct Bank {
        std::optional<std::size_t> last;  // who opened a row in it last
        std::vector<std::int64_t> rows;   // that each agent opened last; -1: none
    };
    struct Channel {
        std::int64_t until = 0;                       // CK to which its time has been charged
        std::int64_t lent = 0;                        // CK it had been lent until then
        std::vector<std::deque<std::int64_t>> asked;  // of each agent: arrivals not yet served, CK
        std::vector<Bank> banks;
    };
    // A burst that has not had its command.
    struct Asked {
        std::int64_t arrival;  // CK
        std::size_t agent;
    };
    // Of a row, one kind, in order of arrival.
    using Waiting = std::vector<Asked>;
    static std::uint64_t key_of(std::size_t channel, std::size_t bank, std::int64_t row,
                                bool write);
    const Waiting* find(std::uint64_t key) const;
    // For whom a row is opened.
    std::optional<std::size_t> first_of_row(std::size_t channel, std::size_t bank,
                                            std::int64_t row) const;
    // Who has the row's next command of this kind.
    std::optional<std::size_t> take_first(std::uint64_t key);
    void ask(std::size_t agent, const arch::memory::port::MemoryRequest& request);
    void serve(std::size_t channel, std::size_t agent, std::int64_t now);
    void charge(const Channel& channel, std::size_t worked_for, std::int64_t from,
                std::int64_t until);
    void open(Bank& bank, std::size_t agent, std::int64_t row);

    const arch::memory::controller::MemorySystem& memory_;
    std::size_t agents_;
    arch::memory::controller::CommandListener* next_;
    arch::memory::device::AddressMap map_;
    arch::base::Clock clock_;
    std::vector<Asking> asking_;
    std::optional<std::size_t> guest_;
    std::vector<Channel> channels_;
    std::unordered_map<std::uint64_t, Waiting> waiting_;
    std::vector<std::int64_t> waited_;  // by agent, then by other
    std::vector<std::int64_t> rows_lost_;
};

}  // namespace tilesim::sim::session
