// Keys that cannot matter to a case, whatever it simulates, and why.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilesim::workloads {

struct UnfeltKey {
    std::string key;      // "mapping.amx.threads_n"
    std::string reason;   // what makes it so: other keys, the problem
    bool stated = false;  // it has another value than its default
};

// Collects those of one struct of keys, all below `prefix`.
template <class Keys>
class UnfeltKeys {
  public:
    UnfeltKeys(std::string prefix, const Keys& keys) : prefix_(std::move(prefix)), keys_(keys) {}

    template <class Value>
    void add(std::string_view key, Value Keys::*member, std::string reason) {
        list_.push_back(
            {prefix_ + std::string{key}, std::move(reason), keys_.*member != Keys{}.*member});
    }
    std::vector<UnfeltKey> take() { return std::move(list_); }

  private:
    std::string prefix_;
    const Keys& keys_;
    std::vector<UnfeltKey> list_;
};

inline std::vector<UnfeltKey> together(std::vector<UnfeltKey> keys,
                                       const std::vector<UnfeltKey>& more) {
    keys.insert(keys.end(), more.begin(), more.end());
    return keys;
}

}  // namespace tilesim::workloads
