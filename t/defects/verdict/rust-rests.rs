// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! rust-rests - healthy services whose load has ended or is uneven: what c-rests.c has in C. With `.here()` alone, as of an executor
//! without wrappers, and with wrappers that say what a wait is for.

#[path = "rust.rs"]
mod rust;

use ctp::TraceFutureExt;
use rust::*;
use std::sync::Arc;

// batches: items are collected and written together. Producers are busy at the beginning, then seldom.
fn batches() {
    run(2, async {
        let (item, items) = channel(64);
        spawn("batch worker", async move {
            while let Some(n) = at(items.receive()).await {
                let n: u64 = n;
                sleep(300 + n % 10).await;
            }
        });
        let mut producers = Vec::new();
        for i in 0..5 {
            let item = item.clone();
            producers.push(spawn(format!("producer {i}"), async move {
                for n in 0.. {
                    if over() {
                        break;
                    }
                    at(item.send(n)).await;
                    sleep(if after(800) { 700 + 400 * i } else { 30 }).await;
                }
            }));
        }
        drop(item);
        for producer in &producers {
            at(producer.result()).await;
        }
    })
}

// handlers: connections whose requests come by a channel from a plain thread, with nothing told but where each waits. Three of
// twelve are used in the end, and two close and come back.
fn handlers() {
    run(2, async {
        let mut connections = Vec::new();
        for i in 0..12 {
            let inbox = Arc::new(Monitor::new(0));
            connections.push(inbox.clone());
            let future = async move {
                loop {
                    inbox.until(0, |n, _| (*n > 0).then(|| *n -= 1)).here().await;
                    sleep(1).await;
                }
            };
            spawn(format!("connection {i}"), future);
        }
        std::thread::spawn(move || loop {
            let lively = if after(900) { 3 } else { 12 };
            for inbox in &connections[..lively] {
                inbox.change(0, 1, |n| *n += 1);
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        });
        while !over() {
            sleep(50).await;
        }
    })
}

fn main() {
    corpus_main(&[Scenario("batches", "healthy", batches), Scenario("handlers", "healthy", handlers)])
}
