// Statistics: counters with a unit and a meaning, and the account of where a component's time went.
//
// Models only increment. A Group is a named node of the statistics tree; its members register
// themselves, in order of declaration. Ratios and rates are computed by the report, not here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arch/base/check.hpp"
#include "arch/base/enumerators.hpp"
#include "arch/base/units.hpp"

namespace tilesim::arch::base::stats {

enum class Unit { Count, Cycle, Byte, Femtosecond };
std::string_view name_of(Unit unit);

class Counter;
class StateAccount;

// A node of the tree; `path()` is the hierarchical name, e.g. "npu.tile(2,3).mm2s0". Components of
// one class are reported together: the third "dram_channel" is "memory.channel(2)". A component
// that is the only one of its kind is a class by its name.
class Group {
  public:
    explicit Group(std::string name) : path_(name), component_class_(std::move(name)) {}
    Group(Group& parent, std::string_view name) : Group(parent, name, name) {}
    Group(Group& parent, std::string_view name, std::string_view component_class);
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    const std::string& path() const { return path_; }
    const std::string& component_class() const { return component_class_; }
    const std::vector<Group*>& children() const { return children_; }
    const std::vector<Counter*>& counters() const { return counters_; }
    const std::vector<StateAccount*>& accounts() const { return accounts_; }

  private:
    friend class Counter;
    friend class StateAccount;
    std::string path_;
    std::string component_class_;
    std::vector<Group*> children_;
    std::vector<Counter*> counters_;
    std::vector<StateAccount*> accounts_;
};

class Counter {
  public:
    Counter(Group& group, std::string_view name, Unit unit, std::string_view description)
        : name_(name), unit_(unit), description_(description) {
        group.counters_.push_back(this);
    }
    Counter(const Counter&) = delete;
    Counter& operator=(const Counter&) = delete;

    Counter& operator+=(std::int64_t amount) {
        value_ += amount;
        return *this;
    }
    Counter& operator++() { return *this += 1; }

    std::string_view name() const { return name_; }
    Unit unit() const { return unit_; }
    std::string_view description() const { return description_; }
    std::int64_t value() const { return value_; }

  private:
    std::string_view name_;
    Unit unit_;
    std::string_view description_;
    std::int64_t value_ = 0;
};

// What a component's time can be charged to.
struct State {
    std::string_view name;         // "waiting_for_lock"
    std::string_view description;  // "stopped at a lock acquire"
};

// The texts of an enum of states, beside the enum and nowhere else. A row too few, too many or out
// of order does not compile:
//
//     enum class BusState { Idle, Read };
//     inline constexpr StateTable<BusState> kBusStates{{
//         {BusState::Idle, "idle", "nothing queued"},
//         {BusState::Read, "read", "read data on the bus"},
//     }};
template <class Enum>
class StateTable {
  public:
    static constexpr std::size_t kStates = enumerators<Enum>();
    struct Row {
        Enum state;
        std::string_view name;
        std::string_view description;
    };

    template <std::size_t rows>
    consteval explicit StateTable(const Row (&table)[rows]) {
        static_assert(rows == kStates, "one row for each value of the enum");
        for (std::size_t i = 0; i < rows; ++i) {
            if (table[i].state != static_cast<Enum>(i)) {
                throw "the rows stand in the order of the enum";
            }
            states_[i] = {table[i].name, table[i].description};
        }
    }

    constexpr const State& operator[](Enum state) const {
        return states_[static_cast<std::size_t>(state)];
    }
    constexpr const std::array<State, kStates>& states() const { return states_; }

  private:
    std::array<State, kStates> states_{};
};

// Where a component's time went. Exactly one state holds at a time, so the states add up to the
// elapsed time by construction. Times are in cycles of the component's own clock, or in
// femtoseconds for a component without one; `unit()` says which.
class StateAccount {
  public:
    using State = stats::State;

    template <class Enum>
    StateAccount(Group& group, std::string_view name, Unit unit, const StateTable<Enum>& table,
                 Enum initial = Enum{})
        : StateAccount(group, name, unit,
                       std::vector<State>(table.states().begin(), table.states().end()),
                       static_cast<std::size_t>(initial)) {}
    StateAccount(Group& group, std::string_view name, Unit unit, std::vector<State> states,
                 std::size_t initial = 0)
        : name_(name),
          unit_(unit),
          states_(std::move(states)),
          spent_(states_.size(), 0),
          current_(initial) {
        group.accounts_.push_back(this);
    }
    StateAccount(const StateAccount&) = delete;
    StateAccount& operator=(const StateAccount&) = delete;

    // Charges the time since the last call to the state that held until now, then changes state.
    template <class Enum>
    void enter(Enum state, std::int64_t now) {
        charge_until(now);
        current_ = static_cast<std::size_t>(state);
    }
    void charge_until(std::int64_t now) { charge(current_, now); }
    // Charges the time since the last call to this state, wherever the component is now.
    template <class Enum>
    void charge(Enum state, std::int64_t now) {
        SIM_DCHECK(now >= last_, "state account of time {} after {}", now, last_);
        spent_[static_cast<std::size_t>(state)] += now - last_;
        last_ = now;
    }

    // Time before `now` is nobody's.
    void begin(std::int64_t now) { last_ = now; }
    // Adds time to a state, or takes it back, where it is known only afterwards how long it lasts.
    template <class Enum>
    void add(Enum state, std::int64_t amount) {
        spent_[static_cast<std::size_t>(state)] += amount;
    }
    // Moves time already charged from one state to another, for causes known only afterwards.
    template <class Enum>
    void reclassify(Enum from, Enum to, std::int64_t amount) {
        add(from, -amount);
        add(to, amount);
    }

    std::string_view name() const { return name_; }
    Unit unit() const { return unit_; }
    const std::vector<State>& states() const { return states_; }
    // Stays where it is: waveforms follow it.
    const std::size_t& current() const { return current_; }
    std::int64_t since() const { return last_; }
    std::int64_t spent(std::size_t state) const { return spent_[state]; }
    std::int64_t total() const;

  private:
    std::string_view name_;
    Unit unit_;
    std::vector<State> states_;
    std::vector<std::int64_t> spent_;
    std::size_t current_;
    std::int64_t last_ = 0;
};

}  // namespace tilesim::arch::base::stats
