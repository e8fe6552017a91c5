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
    banks.for_each(std::ssize(of_bank_), [&](std::int64_t bank) {
        add_to(of_bank_[static_cast<std::size_t>(bank)], command);
    });
}

memory::port::BankCounts AllBankCounts::of(std::size_t bank) const {
    memory::port::BankCounts counts = of_all_;
    counts += of_bank_[bank];
    return counts;
}

}  // namespace tilesim::arch::pim
