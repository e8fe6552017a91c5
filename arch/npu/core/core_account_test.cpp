#include "arch/npu/core/core_account.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "arch/npu/core/core_testing.hpp"

namespace tilesim::arch::npu::core {
namespace {

using namespace base::literals;
using testing::spent;

struct Bench {
    testing::Timeline time;
    base::stats::Group root{""};
    CoreAccount account{time.scheduler, root};
};

TEST(CoreAccount, WhatACoreIsInIsChargedToItsPath) {
    constexpr std::pair<CoreState, PathPart> kParts[] = {
        {CoreState::Multiply, PathPart::Multiply},
        {CoreState::Zero, PathPart::Zero},
        {CoreState::Add, PathPart::Add},
        {CoreState::Vector, PathPart::Vector},
        {CoreState::Fixed, PathPart::Fixed},
        {CoreState::Call, PathPart::Locks},
        {CoreState::LockOperation, PathPart::Locks},
        {CoreState::Cascade, PathPart::Cascade},
        {CoreState::WaitingForCascade, PathPart::Cascade},
        {CoreState::Stream, PathPart::CoreStream},
        {CoreState::WaitingForStream, PathPart::CoreStream},
        {CoreState::ReadingC, PathPart::CTransfer},
        {CoreState::WritingC, PathPart::CTransfer},
    };
    for (const auto& [state, part] : kParts) {
        Bench b;
        b.account.critical_path()->begin(11_cyc);
        b.time.at(11, [&, in = state] { b.account.enter(in); });
        b.time.at(34, [&] { b.account.enter(CoreState::Done); });
        b.time.run();
        EXPECT_EQ(b.account.path().spent(part), 23) << kCoreStates[state].name;
        EXPECT_EQ(b.account.path().total(), 23) << kCoreStates[state].name;
    }
}

TEST(CoreAccount, WordsAreChargedAsTheyEnd) {
    Bench b;
    b.time.at(5, [&] { b.account.enter(CoreState::Stream); });
    b.time.at(34, [&] { b.account.charge_words(7, 5_cyc, CoreState::WaitingForStream); });
    b.time.run();
    EXPECT_EQ(spent(b.account.stats(), CoreState::Stream), 7);
    EXPECT_EQ(spent(b.account.stats(), CoreState::WaitingForStream), 22);
    EXPECT_EQ(b.account.path().spent(PathPart::CoreStream), 29);
    EXPECT_EQ(b.account.path().until(), 34_cyc);
}

}  // namespace
}  // namespace tilesim::arch::npu::core
