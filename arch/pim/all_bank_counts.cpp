#include "arch/pim/all_bank_counts.hpp"

namespace tilesim::arch::pim {

namespace {

void add_to(memory::port::BankCounts& counts, AllBankCommand command) {
    switch (command) {
        case AllBankCommand::Activate:
            ++counts.activates;
            break;
        case AllBankCommand::Mac:  // reads its word
        case AllBankCommand::ArrayRead:
            ++counts.reads;
            break;
        case AllBankCommand::ArrayWrite:
            ++counts.writes;
            break;
        default:
            break;
    }
}

}  // namespace

void AllBankCounts::add(AllBankCommand command, BankSet banks) {
    if (banks.all()) {
        add_to(of_all_, command);
        return;
    }
    const std::size_t first = banks.one()                    ? static_cast<std::size_t>(banks.which)
                              : banks.which == BankSet::kOdd ? 1
                                                             : 0;
    const std::size_t step = banks.one() ? of_bank_.size() : 2;
    for (std::size_t bank = first; bank < of_bank_.size(); bank += step) {
        add_to(of_bank_[bank], command);
    }
}

memory::port::BankCounts AllBankCounts::of(std::size_t bank) const {
    memory::port::BankCounts counts = of_all_;
    counts += of_bank_[bank];
    return counts;
}

}  // namespace tilesim::arch::pim
