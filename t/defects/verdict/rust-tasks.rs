// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! rust-tasks - locks, threads and the lives of tasks.

#[path = "rust.rs"]
mod rust;

use ctp::{Kind, PollTrace, TraceFutureExt};
use rust::*;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

async fn tick() {
    while !over() {
        sleep(5).await;
    }
}

// permit_forgotten: at most three uploads at once. On an error the permit goes into a structure that is handed to the log by
// mem::forget, so it is never given back; after three errors no task uploads.
fn permit_forgotten() {
    run(2, async {
        let permits = Semaphore::new(3);
        let mut uploads = Vec::new();
        for i in 0..6 {
            let permits = permits.clone();
            uploads.push(spawn(format!("uploader {i}"), async move {
                while !over() {
                    let permit = at(permits.acquire()).await; // HERE permit_forgotten
                    sleep(2).await;
                    if due() && faulty() {
                        bitten();
                        std::mem::forget(permit);
                    }
                }
            }));
        }
        for upload in &uploads {
            at(upload.result()).await;
        }
    })
}

// two_orders: a transfer takes the lock of its source, then that of its target. All went in one direction until a refund went
// the other way.
fn two_orders() {
    run(1, async {
        let (a, b) = (Semaphore::new(1), Semaphore::new(1));
        let (theirs_a, theirs_b) = (a.clone(), b.clone());
        let transfers = spawn("transfers", async move {
            while !over() {
                let first = at(theirs_a.acquire()).await;
                sleep(1).await;
                let second = at(theirs_b.acquire()).await; // HERE two_orders
                drop((first, second));
                sleep(1).await;
            }
        });
        let refunds = spawn("refunds", async move {
            while !over() {
                sleep(1).await;
                if due() && faulty() {
                    let first = at(b.acquire()).await;
                    sleep(5).await;
                    if a.is_taken() {
                        bitten();
                    }
                    let second = at(a.acquire()).await; // HERE two_orders
                    drop((first, second));
                } else {
                    let first = at(a.acquire()).await;
                    let second = at(b.acquire()).await;
                    drop((first, second));
                }
            }
        });
        at(transfers.result()).await;
        at(refunds.result()).await;
    })
}

// blocking_receive: a task receives from a channel of the standard library, which blocks the thread. It always found something
// there; today the sender is a task on the same thread.
fn blocking_receive() {
    run(1, async {
        let (sender, receiver) = std::sync::mpsc::sync_channel(4);
        spawn("reader", async move {
            loop {
                sleep(4).await; // HERE blocking_receive
                if faulty() {
                    let _: Result<u32, _> = receiver.recv();
                } else {
                    let _ = receiver.try_recv();
                }
            }
        });
        let ticker = spawn("ticker", tick());
        while !due() {
            let _ = sender.try_send(1);
            sleep(1).await;
        }
        bitten();
        at(ticker.result()).await;
        drop(sender);
    })
}

// spins: a task starts another one and waits for its flag in a loop. Both are on the same thread, and the pause that let the
// other one run was taken out, because the flag was always set at once.
fn spins() {
    run(1, async {
        let flag = Arc::new(AtomicBool::new(false));
        let ticker = spawn("ticker", tick());
        while !over() {
            sleep(2).await; // HERE spins
            let to = flag.clone();
            flag.store(false, Ordering::Release);
            spawn("setter", async move { to.store(true, Ordering::Release) });
            if due() && faulty() {
                bitten();
            } else {
                give_way().await; // HERE spins
            }
            while !flag.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
        }
        at(ticker.result()).await;
    })
}

// panicked: a parser panics at an empty line. The runtime catches that and drops the task; who waits for the parsed line waits
// on a condition that does not know of tasks.
fn panicked() {
    run(2, async {
        let (line, lines) = channel::<&'static str>(1);
        let parsed = Arc::new(Monitor::new(None));
        let to = parsed.clone();
        spawn("parser", async move {
            while let Some(line) = at(lines.receive()).await {
                if line.is_empty() {
                    bitten();
                }
                let first = if faulty() { line.as_bytes()[0] } else { *line.as_bytes().first().unwrap_or(&0) };
                to.change(0, 1, |p| *p = Some(first));
            }
        });
        while !over() {
            at(line.send(if due() { "" } else { "a line" })).await;
            at(parsed.until(0, |p, _| p.take())).await; // HERE panicked
            sleep(2).await;
        }
    })
}

// crash: an assertion in a library in C fails within a task, which ends the process.
fn crash() {
    run(2, async {
        spawn("ticker", tick());
        while !over() {
            sleep(3).await; // HERE crash
            if due() && faulty() {
                std::process::abort();
            }
        }
    })
}

// children_left: each request starts a task that refreshes its lease every second. A request that fails does not end it, so
// one more is left behind with each failure.
fn children_left() {
    run(2, async {
        while !over() {
            let refreshing = async {
                loop {
                    sleep(1000).await; // HERE children_left
                }
            };
            let lease = spawn("lease", refreshing); // HERE children_left
            sleep(2).await;
            if due() && faulty() {
                bitten();
            } else {
                lease.abort();
            }
        }
    })
}

// wakes_itself: a future that has to wait for another task looks around and wakes itself in each poll. The other one has given
// up, so it is polled thousands of times a second, for nothing.
fn wakes_itself() {
    run(2, async {
        let ticker = spawn("ticker", tick());
        while !over() {
            let is_there = Arc::new(AtomicBool::new(false));
            let to = is_there.clone();
            spawn("answer", async move {
                sleep(2).await;
                if due() && faulty() {
                    bitten();
                } else {
                    to.store(true, Ordering::Release);
                }
            });
            let there = poll_fn(|cx| {
                let _ = std::fs::read("/proc/self/status");
                if is_there.load(Ordering::Acquire) {
                    return Poll::Ready(());
                }
                waker(cx).wake();
                Poll::Pending
            });
            at(there).await; // HERE wakes_itself
            sleep(10).await;
        }
        at(ticker.result()).await;
    })
}

// abort_misses_child: a request is aborted by its time-out. The child that it had started goes on to wait for the parent's word,
// and keeps the connection that the next request needs.
fn abort_misses_child() {
    run(1, async {
        let connections = Semaphore::new(1);
        while !over() {
            let (theirs, go) = (connections.clone(), Arc::new(Monitor::new(())));
            let word = go.clone();
            let child = Arc::new(spawn("child", async move {
                let connection = at(theirs.acquire()).await;
                at(word.signal()).await; // HERE abort_misses_child
                drop(connection);
            }));
            let (of, is_slow) = (child.clone(), due());
            let parent = spawn("request", async move {
                sleep(if is_slow { 500 } else { 2 }).await;
                go.change(0, 1, |_| ());
                at(of.result()).await;
            });
            if is_slow {
                sleep(20).await;
                parent.abort();
                bitten();
                if !faulty() {
                    child.abort();
                }
            } else {
                at(parent.result()).await;
            }
            let connection = at(connections.acquire()).await;
            drop(connection);
        }
    })
}

// join_each_other: two services that are to end together. Each waits for the other before it ends.
fn join_each_other() {
    run(2, async {
        let handles = Arc::new(Monitor::new([None, None]));
        let mut services = Vec::new();
        for i in 0..2 {
            let theirs = handles.clone();
            let service = Arc::new(spawn(format!("service {i}"), async move {
                while !(if faulty() { due() } else { over() }) {
                    sleep(3 + i as u64).await;
                }
                let other: Arc<Join<()>> = at(theirs.until(0, |h, _| h[1 - i].clone())).await;
                bitten();
                if faulty() || i == 0 {
                    at(other.result()).await; // HERE join_each_other
                }
            }));
            handles.change(0, ALL, |h| h[i] = Some(service.clone()));
            services.push(service);
        }
        tick().await;
        at(services[0].result()).await;
    })
}

// gate: thirty tasks wait for a lock file of another program, for 1.8 s, and then go on one after the other.
fn gate() {
    run(2, async {
        let gate = flag();
        let mut tasks = Vec::new();
        for i in 0..30 {
            let gate = gate.clone();
            tasks.push(spawn(format!("waits {i}"), async move {
                at(gate.until(0, |is_open, _| is_open.then_some(()))).await;
                sleep(5 * i).await;
            }));
        }
        while !after(1800) {
            sleep(20).await;
        }
        gate.change(0, ALL, |is_open| *is_open = true);
        for task in &tasks {
            at(task.result()).await;
        }
        tick().await;
    })
}

// lock_chain: twelve tasks pass a lock on. One holds it for 1.2 s, with eleven behind it.
fn lock_chain() {
    run(2, async {
        let lock = Semaphore::new(1);
        let slow = Arc::new(AtomicBool::new(false));
        let mut tasks = Vec::new();
        for i in 0..12 {
            let (lock, slow) = (lock.clone(), slow.clone());
            tasks.push(spawn(format!("user {i}"), async move {
                while !over() {
                    let held = at(lock.acquire()).await;
                    let is_slow = due() && !slow.swap(true, Ordering::Relaxed);
                    sleep(if is_slow { 1200 } else { 1 }).await;
                    drop(held);
                }
            }));
        }
        for task in &tasks {
            at(task.result()).await;
        }
    })
}

// hedged: each request is sent twice, and the slower half is dropped where it waits.
fn hedged() {
    run(2, async {
        for i in 0u64.. {
            let fast = async move { sleep(1 + i % 3).await }.traced_named("fast replica");
            let slow = async move { sleep(700).await }.traced_named("slow replica");
            let _ = race(fast, slow).await;
            if over() {
                break;
            }
        }
    })
}

// lazy: futures are made for all that might be needed, and three of four are dropped without a poll; one is kept to the end.
fn lazy() {
    run(1, async {
        let kept = sleep(1).traced_named("just in case");
        for i in 0.. {
            let lookup = async move {
                sleep(2).await;
                i
            }
            .traced_named("lookup");
            if i % 4 == 0 {
                lookup.await;
            } else {
                sleep(1).await;
            }
            if over() {
                break;
            }
        }
        drop(kept);
    })
}

// aborted: searches are aborted while they wait, as soon as the next letter is typed.
fn aborted() {
    run(2, async {
        while !over() {
            let search = spawn("search", async {
                sleep(10).await;
                sleep(800).await;
            });
            sleep(30).await;
            search.abort();
        }
    })
}

// polite: a batch job gives way after each record, thousands of times a second, beside lively tasks.
fn polite() {
    run(1, async {
        let tickers: Vec<_> = (0..3).map(|i| spawn(format!("ticker {i}"), tick())).collect();
        let mut sum = 1u32;
        while !over() {
            for i in 0..20000u32 {
                sum = std::hint::black_box(sum.wrapping_mul(31) ^ i);
            }
            give_way().await;
        }
        for ticker in &tickers {
            at(ticker.result()).await;
        }
    })
}

// heartbeat: three tasks whose timers are set to 10 s, and to an hour, beside lively ones.
fn heartbeat() {
    run(2, async {
        for seconds in [10, 10, 3600] {
            spawn(format!("every {seconds} s"), async move {
                loop {
                    sleep(seconds * 1000).await;
                }
            });
        }
        tick().await;
    })
}

// long_computation: one of three threads computes for 1.4 s for a task that nobody waits for; two are left for the others.
fn long_computation() {
    run(3, async {
        spawn("training", async {
            sleep(700).await;
            let (start, mut sum) = (Instant::now(), 1u64);
            while start.elapsed() < Duration::from_millis(1400) {
                for i in 0..100000 {
                    sum = std::hint::black_box(sum.wrapping_mul(6364136223846793005) ^ i);
                }
            }
        });
        let tickers: Vec<_> = (0..4).map(|i| spawn(format!("ticker {i}"), tick())).collect();
        for ticker in &tickers {
            at(ticker.result()).await;
        }
    })
}

// runtime_dropped: a runtime is dropped at the end with forty tasks that wait for this and that.
fn runtime_dropped() {
    run(1, async {
        let never = Arc::new(Monitor::new(()));
        for i in 0..40 {
            let never = never.clone();
            spawn(format!("task {i}"), async move {
                sleep(i * 10).await;
                if i % 2 == 0 {
                    at(never.signal()).await;
                } else {
                    sleep(60000).await;
                }
            });
        }
        tick().await;
        if !stay() {
            drop_the_others();
        }
    })
}

// restarted: a task that panics now and then, and one that sees that and starts it again, once after a long pause.
fn restarted() {
    run(2, async {
        for lives in 0..u32::MAX {
            let fragile = spawn(format!("life {lives}"), async move {
                for _ in 0..10 + lives % 5 {
                    sleep(1).await;
                }
                if lives % 3 == 0 {
                    panic!("connection reset");
                }
            });
            let is_well = at(fragile.result()).await.is_some();
            sleep(if lives == 30 { 900 } else { 1 + 9 * !is_well as u64 }).await;
            if over() {
                break;
            }
        }
    })
}

// generators: state machines that are no futures, read for a few values each and then dropped in the middle. A last one is read
// once a second.
struct Numbers {
    trace: PollTrace,
    next: u64,
}

impl Numbers {
    fn new() -> Self {
        let mut trace = PollTrace::new();
        trace.set_name("numbers");
        Numbers { trace, next: 0 }
    }

    fn read(&mut self) -> u64 {
        self.trace.on_resume();
        self.next += 1;
        self.trace.on_pending_addr(Numbers::read as *const () as u64);
        self.next
    }
}

fn generators() {
    run(1, async {
        let mut rarely = Numbers::new();
        let mut seconds = 0;
        while !over() {
            let mut numbers = Numbers::new();
            while numbers.read() < 5 {}
            drop(numbers);
            if after(seconds * 1000) {
                rarely.read();
                seconds += 1;
            }
            sleep(3).await;
        }
    })
}

// slow_party: five tasks meet at a barrier, round after round; in one round the last one comes a second late.
fn slow_party() {
    run(2, async {
        let barrier = Arc::new(Monitor::told(Kind::Barrier, (0usize, 0u64, false), |_, _| ())); // arrived, round, whether it was the last
        let late = Arc::new(AtomicUsize::new(0));
        let mut parties = Vec::new();
        for i in 0..5 {
            let (barrier, late) = (barrier.clone(), late.clone());
            parties.push(spawn(format!("party {i}"), async move {
                loop {
                    let is_late = i == 4 && due() && late.fetch_add(1, Ordering::Relaxed) == 0;
                    sleep(if is_late { 1000 } else { 1 + i }).await;
                    let (round, is_last) = barrier.change(0, 0, |b| {
                        let before = *b;
                        *b = if before.0 < 4 { (before.0 + 1, before.1, false) } else { (0, before.1 + 1, over()) };
                        (before.1, before.0 == 4)
                    });
                    barrier.change(0, if is_last { ALL } else { 0 }, |_| ());
                    if at(barrier.until(0, |b, _| (b.1 != round).then_some(b.2))).await {
                        break;
                    }
                }
            }));
        }
        for party in &parties {
            at(party.result()).await;
        }
    })
}

fn main() {
    corpus_main(&[
        Scenario("permit_forgotten", "defect", permit_forgotten),
        Scenario("two_orders", "defect", two_orders),
        Scenario("blocking_receive", "defect long-run", blocking_receive),
        Scenario("spins", "defect long-run", spins),
        Scenario("panicked", "defect", panicked),
        Scenario("crash", "defect crash", crash),
        Scenario("children_left", "defect", children_left),
        Scenario("wakes_itself", "defect", wakes_itself),
        Scenario("abort_misses_child", "defect", abort_misses_child),
        Scenario("join_each_other", "defect", join_each_other),
        Scenario("gate", "healthy", gate),
        Scenario("lock_chain", "healthy", lock_chain),
        Scenario("hedged", "healthy", hedged),
        Scenario("lazy", "healthy", lazy),
        Scenario("aborted", "healthy", aborted),
        Scenario("polite", "healthy", polite),
        Scenario("heartbeat", "healthy", heartbeat),
        Scenario("long_computation", "healthy", long_computation),
        Scenario("runtime_dropped", "healthy", runtime_dropped),
        Scenario("restarted", "healthy", restarted),
        Scenario("generators", "healthy", generators),
        Scenario("slow_party", "healthy", slow_party),
    ])
}
