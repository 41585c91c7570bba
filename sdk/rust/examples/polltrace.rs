// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! `PollTrace` by hand, for coroutines that are not futures: two state machines that take turns on one thread.

use ctp::PollTrace;

struct Player {
    trace: PollTrace,
    turns: u32,
}

impl Player {
    fn new(name: &'static str) -> Player {
        let mut trace = PollTrace::new();
        trace.set_name(name);
        Player { trace, turns: 0 }
    }

    /// Whether it has ended.
    fn turn(&mut self, other: &Player) -> bool {
        self.trace.on_resume();
        self.turns += 1;
        if self.turns == 3 {
            self.trace.on_ready();
            return true;
        }
        other.trace.task_ref().woken();
        self.trace.on_pending_addr(u64::from(self.turns));
        false
    }
}

fn main() {
    let (mut ping, mut pong) = (Player::new("ping"), Player::new("pong"));
    while !ping.turn(&pong) {
        pong.turn(&ping);
    }
    println!("polltrace: {} and {} turns", ping.turns, pong.turns);
}
