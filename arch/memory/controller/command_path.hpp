// What led to the end of a stream of requests: to the last command the one it had to wait for, to
// that the one before, so on back to the first request.
//
// Models:  of the rules that held a command back until it went, the one that did so longest: the
//          command goes on with the path of the one behind which that rule had it wait. Where none
//          did so until then, it waited for its request, and that for the answer to another one, as
//          streams that keep a number of requests under way have it. The parts of the last one's
//          path add up to the time.
//          Beside others, whose commands are heard as well, what one of these waited for its
//          request is theirs.
// Ignores: paths that are nearly as long; which of several requests of a CK a command is for;
//          channels lent to processing in memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/base/enumerators.hpp"
#include "arch/memory/controller/channel.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/port/request_listener.hpp"

namespace tilesim::arch::memory::controller {

enum class MemoryPart : std::size_t {
    DataBus,    // data, and columns kept apart by tCCD
    Rows,       // of one bank: tRCD, tRAS, tRP, tRC, tRTP, tWR
    Activates,  // of all banks: tRRD, tFAW
    Turns,      // of the data bus between reads, writes and ranks
    Refresh,
    CommandBus,
    Requests,  // on their way, answers on theirs, and none there yet
    Others,    // until a request of somebody else came, for which a command was in front
};

class MemoryPath {
  public:
    static constexpr std::size_t kParts = base::enumerators<MemoryPart>();

    explicit MemoryPath(std::int64_t from = kLongAgo) : until_(from) {}

    // CK at which what it leads to is there.
    std::int64_t until() const { return until_; }
    std::int64_t spent(MemoryPart part) const { return spent_[static_cast<std::size_t>(part)]; }
    // Of all that time, what requests took from when they came until the next came for them, but
    // for what they waited for others: with twice as many under way half of it would do.
    std::int64_t in_turn() const { return in_turn_; }

    void charge(MemoryPart part, std::int64_t until) {
        spent_[static_cast<std::size_t>(part)] += until - until_;
        until_ = until;
    }
    // The same of what no other request has a part in.
    void charge_own(MemoryPart part, std::int64_t until) {
        own_ += until - until_;
        charge(part, until);
    }
    // The next request comes for it.
    void come(std::int64_t when) {
        charge_own(MemoryPart::Requests, when);
        in_turn_ += own_;
        own_ = 0;
    }

    static constexpr std::int64_t kLongAgo = INT64_MIN / 4;

  private:
    std::array<std::int64_t, kParts> spent_{};
    std::int64_t until_;
    std::int64_t own_ = 0;  // since it came
    std::int64_t in_turn_ = 0;
};

// What a channel's parts need for the commands it has had, however little they wait for others. CK.
struct ChannelNeeds {
    std::int64_t data_bus = 0;
    std::int64_t turns = 0;  // of it
    std::int64_t activates = 0;
    std::int64_t rows = 0;  // of the bank that needs most
    std::int64_t command_bus = 0;
    std::int64_t refresh = 0;  // of all banks at once
};

class CommandPath final : public CommandListener, public port::RequestListener {
  public:
    // `next` hears every command as well; may be null.
    CommandPath(const device::MemoryConfig& config, CommandListener* next);

    // Commands before are not heard.
    void on_first_request(std::int64_t arrival) override {
        begun_ = true;
        from_ = arrival;
        arrivals_.at(arrival) = MemoryPath(arrival);
    }
    // To be told at once: the last command heard has made room for a write that was done later than
    // it came.
    void on_next_request(bool was_write, std::int64_t done, std::int64_t arrival) override;
    void on_last_answer(bool was_write, std::int64_t done) override;
    // One of somebody else, who uses the memory meanwhile.
    void on_other_request(std::int64_t arrival);
    void on_command(std::size_t channel, device::Command command, std::size_t bank,
                    std::int64_t row, std::int64_t now) override;
    void on_column(std::size_t channel, device::Command command, std::size_t bank, std::int64_t row,
                   std::int64_t now, const policy::Burst& burst) override;

    // To the end of the last data.
    MemoryPath path() const;
    // To the last answer: what others go on to ask for comes later.
    MemoryPath to_last_answer() const { return last_answer_; }
    std::vector<ChannelNeeds> needs() const;

  private:
    // Paths to different CKs, of which those of the latest are kept.
    class Recent {
      public:
        explicit Recent(std::int64_t cycles);
        std::size_t size() const { return paths_.size(); }
        MemoryPath& at(std::int64_t when) {
            return paths_[static_cast<std::size_t>(when) & (paths_.size() - 1)];
        }
        // Null where none is known.
        const MemoryPath* find(std::int64_t when) {
            const MemoryPath& path = at(when);
            return path.until() == when ? &path : nullptr;
        }

      private:
        std::vector<MemoryPath> paths_;
    };
    // What a command may have to wait for.
    struct Wait {
        const MemoryPath* behind = nullptr;
        std::int64_t until = MemoryPath::kLongAgo;
        MemoryPart part = MemoryPart::Requests;
        std::int64_t data = 0;  // CK of it that data are on the bus
        bool own = false;       // no other request has a part in it
        std::int64_t bus = 0;   // CK at its end for which the command bus was another's
    };
    struct Bank {
        MemoryPath activate, precharge, read, write, refresh;
        std::int64_t refreshed = MemoryPath::kLongAgo;  // CK at which its last one ends
        std::int64_t closing = 0;                       // CK from its PRE to the next ACT
        bool open = false;
        bool written = false;  // since its row opened
        std::int64_t need = 0;
    };
    static constexpr std::size_t kNobody = device::kMaxBanks;
    // Banks of the last commands of each kind; kNobody: none yet.
    struct Lasts {
        std::size_t read = kNobody;
        std::size_t write = kNobody;
        std::size_t of(bool writes) const { return writes ? write : read; }
    };
    struct Rank {
        Lasts columns;
        std::array<std::size_t, 4> activated{kNobody, kNobody, kNobody, kNobody};
        std::array<std::int64_t, 4> activates{};  // their CKs
        std::size_t oldest = 0;
        MemoryPath partial_refresh;
    };
    struct Channel {
        std::vector<Bank> banks;
        std::vector<Lasts> groups;
        std::vector<std::int64_t> group_columns;  // CK that a group needs for them
        std::vector<Rank> ranks;
        const MemoryPath* last_precharge = nullptr;
        bool last_write = false;
        const MemoryPath* last_column = nullptr;
        std::int64_t data_end = 0;  // its data's
        ChannelNeeds needs;
        std::int64_t row_commands = 0;  // CK on the command bus
        std::int64_t column_commands = 0;
    };
    struct Bus {  // for row commands, or for column commands
        const MemoryPath* last = nullptr;
        std::int64_t free = 0;
    };

    static void consider(Wait& wait, const Wait& other) {
        if (other.until > wait.until) {
            wait = other;
        }
    }
    std::optional<MemoryPath> answer_at(bool was_write, std::int64_t done);
    const Channel* answered_at(std::int64_t done) const;
    bool came_for_others(std::int64_t now) const;
    MemoryPath answer_of(const Channel& channel) const;
    static Wait behind(const MemoryPath& path, base::Cycles delay, MemoryPart part);
    void wait_for_bus(Wait& wait, std::size_t channel, bool column) const;
    void wait_for_columns(Wait& wait, const Channel& channel, std::size_t bank, bool write) const;
    void wait_for_activates(Wait& wait, const Channel& channel, std::size_t bank) const;
    void lead(MemoryPath& path, const Wait& wait, std::int64_t now);
    void carry(std::size_t channel, bool column, const MemoryPath& path, base::Cycles length);
    void hear(std::size_t channel, device::Command command, std::size_t bank, std::int64_t now);
    void activate(std::size_t channel, std::size_t bank, std::int64_t now);
    void precharge(std::size_t channel, std::size_t bank, std::int64_t now);
    void precharge_all(std::size_t channel, std::size_t bank, std::int64_t now);
    void refresh(std::size_t channel, device::Command command, std::size_t bank, std::int64_t now);
    void column(std::size_t channel, std::size_t bank, bool write, std::int64_t now);
    void wait_for_row(Wait& wait, const Bank& bank) const;
    // Its row is closed; another may open CK `takes` later.
    void close(Bank& bank, std::int64_t takes) const;
    std::int64_t visit(const Bank& bank) const;
    base::Cycles opening(bool write) const {
        return write && t_.tRCD_WR.count() > 0 ? t_.tRCD_WR : t_.tRCD;
    }
    std::size_t rank_of(std::size_t bank) const { return bank / banks_per_rank_; }
    // The banks that such a refresh is of, given the first.
    template <class Action>
    void for_refreshed(device::Command command, std::size_t first, Action action) const;

    const device::DramTiming t_;
    CommandListener* next_;
    std::size_t banks_per_group_;
    std::size_t banks_per_rank_;
    std::size_t channels_per_bus_;
    bool pairs_;  // a refresh of some banks is of two
    std::vector<Channel> channels_;
    std::vector<std::array<Bus, 2>> buses_;  // both are one where they are not split
    bool split_;
    bool begun_ = false;
    std::int64_t from_ = 0;  // arrival of the first request
    MemoryPath last_answer_{0};
    Recent arrivals_;                      // of requests
    std::vector<std::int64_t> others_;     // arrivals of theirs, likewise
    const MemoryPath* heard_ = nullptr;    // to the last command
    const Channel* last_heard_ = nullptr;  // with a column command
};

}  // namespace tilesim::arch::memory::controller
