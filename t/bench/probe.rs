// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! probe-rust [EVENTS] - what it costs, in ns, that a future is traced: half of a poll that is in vain, which is a resumption
//! and a suspension, less the same without the probe. "rust_ns" or, where nobody traces it, "rust_untraced_ns".
//!
//! As in probe.c: 61 futures are polled in turn, in bursts that fit into the ring, which was written once before, with pauses
//! to drain it.

use ctp::TraceFutureExt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

const FUTURES: usize = 61;
const BURST_EVENTS: usize = 1 << 18;
const RING_EVENTS: usize = 1 << 20;
const BEFORE: usize = RING_EVENTS / BURST_EVENTS + 1;
const PAUSE: Duration = Duration::from_millis(100);

struct Never;

impl Future for Never {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

/// The mean time of an event, but for the slowest hundredth of the rounds, in which the system did something else.
fn measure(futures: &mut [Pin<Box<dyn Future<Output = ()>>>], bursts: usize) -> f64 {
    let waker = Waker::from(Arc::new(Nobody));
    let mut cx = Context::from_waker(&waker);
    let mut rounds = Vec::with_capacity(bursts * BURST_EVENTS / 2 / FUTURES);
    for burst in 0..BEFORE + bursts {
        thread::sleep(PAUSE);
        let mut start = Instant::now();
        for _ in 0..BURST_EVENTS / 2 / FUTURES {
            for future in futures.iter_mut() {
                let _ = future.as_mut().poll(&mut cx);
            }
            let stop = Instant::now();
            if burst >= BEFORE {
                rounds.push(stop.duration_since(start).as_nanos() as u64);
            }
            start = stop;
        }
    }
    rounds.sort_unstable();
    rounds.truncate(rounds.len() - rounds.len() / 100);
    rounds.iter().sum::<u64>() as f64 / rounds.len() as f64 / (2 * FUTURES) as f64
}

fn main() {
    let events = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10_000_000);
    let bursts = events / BURST_EVENTS + 1;
    let mut without: Vec<Pin<Box<dyn Future<Output = ()>>>> = Vec::new();
    let mut with: Vec<Pin<Box<dyn Future<Output = ()>>>> = Vec::new();
    for _ in 0..FUTURES {
        without.push(Box::pin(Never));
        with.push(Box::pin(Never.traced()));
    }
    let without_ns = measure(&mut without, bursts);
    let with_ns = measure(&mut with, bursts);
    let name = if ctp::is_recording() { "rust_ns" } else { "rust_untraced_ns" };
    println!("{} {:.3}", name, with_ns - without_ns);
}
