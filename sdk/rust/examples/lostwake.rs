// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! A server that loses a wake-up: what ctptools is for, in one program.
//!
//! Clients and handlers are futures on four threads. A client sends requests through its connection and waits for the replies;
//! its handler answers. One client goes away in the middle, and the cleanup closes the connection but forgets the handler that
//! waits there. Nothing is corrupt, no lock is held, no thread hangs: one future is suspended, and nothing will
//! ever wake it.
//!
//! ```text
//! ctp-collect -o lost.ctp cargo run --example lostwake
//! ```

mod pool;

use ctp::TraceFutureExt;
use pool::Pool;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

const CONNECTIONS: usize = 24;
const ROUNDS: usize = 50;
const UNLUCKY: usize = 17;

/// For one message at a time, with one reader.
#[derive(Default)]
struct Mailbox(Mutex<Slot>);

#[derive(Default)]
struct Slot {
    message: Option<usize>,
    is_closed: bool,
    reader: Option<Waker>,
    watcher: Option<Waker>, // waits until there is a waiting reader
}

impl Mailbox {
    fn put(&self, message: usize) {
        let mut slot = self.0.lock().unwrap();
        slot.message = Some(message);
        let reader = slot.reader.take();
        drop(slot);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn close(&self) {
        self.0.lock().unwrap().is_closed = true; // the bug: the reader is not woken
    }

    fn get(&self) -> Get<'_> {
        Get(self)
    }

    fn idle(&self) -> Idle<'_> {
        Idle(self)
    }
}

struct Get<'a>(&'a Mailbox);

impl Future for Get<'_> {
    type Output = Option<usize>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<usize>> {
        let mut slot = self.0 .0.lock().unwrap();
        if slot.message.is_some() || slot.is_closed {
            return Poll::Ready(slot.message.take());
        }
        slot.reader = Some(cx.waker().clone());
        if let Some(watcher) = slot.watcher.take() {
            watcher.wake();
        }
        Poll::Pending
    }
}

struct Idle<'a>(&'a Mailbox);

impl Future for Idle<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut slot = self.0 .0.lock().unwrap();
        if slot.reader.is_some() {
            return Poll::Ready(());
        }
        slot.watcher = Some(cx.waker().clone());
        Poll::Pending
    }
}

#[derive(Default)]
struct Connection {
    request: Mailbox,
    reply: Mailbox,
}

async fn client(connection: Arc<Connection>, rounds: usize) {
    for round in 0..rounds {
        connection.request.put(round);
        if connection.reply.get().here().await != Some(round * 2) {
            return;
        }
    }
    if rounds == ROUNDS {
        connection.request.put(usize::MAX); // the client ends in order
    } else {
        hang_up(&connection).traced_named("hang up").await;
    }
}

async fn hang_up(connection: &Connection) {
    connection.request.idle().here().await;
    connection.request.close();
}

async fn handler(connection: Arc<Connection>) {
    while let Some(request) = connection.request.get().here().await {
        if request == usize::MAX {
            return;
        }
        connection.reply.put(request * 2);
    }
}

fn main() {
    let pool = Arc::new(Pool::default());
    let done = Arc::new(AtomicUsize::new(0));
    for number in 0..CONNECTIONS {
        let connection = Arc::new(Connection::default());
        let rounds = if number == UNLUCKY { ROUNDS / 2 } else { ROUNDS };
        let (both, counted) = (connection.clone(), done.clone());
        pool.spawn(
            async move {
                handler(both).await;
                counted.fetch_add(1, Ordering::Relaxed);
            }
            .traced_named(format!("handler {}", number)),
        );
        let counted = done.clone();
        pool.spawn(
            async move {
                client(connection, rounds).await;
                counted.fetch_add(1, Ordering::Relaxed);
            }
            .traced_named(format!("client {}", number)),
        );
    }
    pool.run(4);
    println!("lostwake: {} futures, {} done", 2 * CONNECTIONS, done.load(Ordering::Relaxed));
}
