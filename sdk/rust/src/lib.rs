// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Traces futures: where each one is suspended, since when, and what woke it.
//!
//! ```
//! use ctp::TraceFutureExt;
//!
//! async fn fetch(id: u32) -> u32 {
//!     id * 2
//! }
//!
//! async fn serve(id: u32) -> u32 {
//!     fetch(id).here().await // if it waits, the trace says that it waits at this line
//! }
//!
//! let task = serve(21).traced_named("request 21"); // hand it to any executor
//! # drop(task);
//! ```
//!
//! There is nothing to start. A program that `ctp-collect` started finds it through its environment. Any other program creates a
//! memory file that `ctp-collect -p` can find later. If `CTP_RECORD=1` is set or [`record`] is called, it records the last states
//! of its coroutines there; otherwise each call costs a few loads and does nothing.
//!
//! The probe never panics, blocks or prints, takes no lock, raises no signal, and does not depend on the collector, which may be
//! slow, stopped or dead. (With `ctp-collect --lossless` it may wait, but never longer than that option allows.) It allocates once
//! for each future that is polled while it is traced, for its waker.
//!
//! # What the trace has for a future
//!
//! - Where it was spawned: the line of `.traced()`; and its parent: the traced future that was being polled on that thread.
//! - Its name, if it has one.
//! - When it runs, and on which thread: from the beginning of a poll to its end.
//! - Where it is suspended. A poll does not show which await in a future is not ready, but wrapped awaits do:
//!   `read(&file).here().await` records that the future around it waits at this line, and so does `read(&file).traced().await`,
//!   which is a traced future within another. The innermost one counts. If none is wrapped, the suspension has the place and type
//!   of the traced future itself.
//! - The coroutine that it waits for, if that is a traced future within it: the last one whose poll returned `Pending`.
//! - What it waits for, if that is recorded: a time, a descriptor, or an [`Object`] such as a lock or a queue. See [`Reason`] and
//!   [`Waits`]. The crate `ctp-tokio` next to this one records it for tokio's locks, channels and timers.
//! - When it was woken, and by which future: the one that was being polled on the thread that called its waker. A wake during a
//!   poll counts for the suspension that follows.
//! - When it ended: it was ready, was dropped, or panicked.
//!
//! The probe works on Linux on x86-64 and AArch64. Elsewhere, and with the feature `off`, all calls exist and do nothing.

#![warn(missing_docs)]

mod compat;
mod fact;
mod future;
mod object;
mod waiting;

#[cfg(all(not(feature = "off"), target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod probe;

#[cfg(not(all(not(feature = "off"), target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "noop.rs"]
mod probe;

pub use compat::{init_tracer, trace_future, tracer_enabled, TracedFuture};
pub use fact::{waits, within_timeout, Kind, Reason};
pub use future::{Here, PollTrace, TaskRef, TraceFutureExt, Traced};
pub use object::{Cause, Hold, Object};
pub use waiting::{For, Reasons, Waiting, Waits};

/// The version of this crate, such as "0.1.0".
pub const VERSION: &str = "0.1.0";

/// Attaches to a collector, or creates a memory that a collector can attach to, if that was not done yet. Returns whether anything
/// is recorded.
///
/// The first traced future does it too. A program that changes its environment or its root, or drops privileges, should call this
/// first.
pub fn init() -> bool {
    probe::init()
}

/// Keeps the last states of futures from now on, for a collector that attaches later, as `CTP_RECORD=1` does. False: not possible.
pub fn record() -> bool {
    probe::record()
}

/// Whether anything is recorded now.
pub fn is_recording() -> bool {
    probe::is_recording()
}
