// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Tokio with traced tasks, and with locks, channels and timers that record what tasks wait for and which tasks hold it.
//!
//! ```
//! use ctp::TraceFutureExt;
//! use ctp_tokio::sync::Mutex; // instead of tokio::sync::Mutex
//! use ctp_tokio::Named;
//!
//! async fn pay(accounts: &Mutex<u32>) {
//!     *accounts.lock().await += 1; // if it waits, the trace says that it waits at this line, for this lock
//! }
//!
//! let accounts = Mutex::new(0).named("accounts");
//! let task = pay(&accounts).traced_named("payer"); // only traced tasks are recorded
//! # drop(task);
//! ```
//!
//! All of tokio is here. These are wrapped, with the methods of tokio 1.24: `spawn`, and of `task`, `spawn_local` and `JoinSet`; of
//! `sync`, `Mutex`, `RwLock`, `Semaphore`, `Notify`, and the channels `mpsc`, `oneshot` and `watch`; of `time`, `sleep`,
//! `sleep_until`, `timeout` and `timeout_at`.
//!
//! - Spawned tasks are traced, but not the body of `#[tokio::main]`, nor what a `Runtime`, a `Handle` or a `LocalSet` spawns.
//! - A wait is shown at the line of the call that waits: `lock()`, `recv()`, `sleep()`.
//! - Each wait is recorded as cancellable, because a future of tokio may be dropped at any time. So the report calls a circle of
//!   locks likely, never proved.
//! - A lock or a permit is held by the task that got it until its guard is dropped, whichever task drops it. Permits that were
//!   forgotten are held by the last task that forgot some, until permits are added.
//!
//! With the feature `off` every name here is tokio's own, and [`Named`] does nothing.

#![warn(missing_docs)]

pub use ::tokio::*;

#[cfg(not(feature = "off"))]
pub mod sync;
#[cfg(all(feature = "rt", not(feature = "off")))]
pub mod task;
#[cfg(not(feature = "off"))]
pub mod time;

#[cfg(all(feature = "rt", not(feature = "off")))]
pub use task::spawn;

mod named;
pub use named::Named;
