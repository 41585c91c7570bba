//! Traces futures: who is suspended where, since when, and who woke it.
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
//! There is nothing to start. A program that was started by `ctp-collect` finds it through its environment. Any other leaves a
//! memory file where `ctp-collect -p` can find it later, records the last states of its coroutines there if `CTP_RECORD=1` is
//! set or [`record`] is called, and else runs as if these calls were not there, at the cost of a few loads each.
//!
//! The probe never panics, blocks or prints, takes no lock, raises no signal, and does not care whether the collector is slow,
//! stopped or dead. (It may wait where a collector was told to be lossless, and never for longer than was allowed.) It
//! allocates once for each future that is polled while it is traced: the waker that it gives it.
//!
//! # What is known of a future
//!
//! - Where it was made, and by whom: the line that says `.traced()`, and the traced future that was being polled on that thread.
//! - Its name, if it has one.
//! - When it runs, and on which thread: from when it is polled until the poll returns.
//! - Where it is suspended. A poll does not tell which of the awaits in a future was in vain. Those that are wrapped do:
//!   `read(&file).here().await` says that the future around it waits at this line, and so does `read(&file).traced().await`,
//!   which is a traced future within another. Of several the innermost counts. Where none is wrapped, the suspension has the
//!   place and type of the traced future itself.
//! - For whom it waits, where that is a traced future within it: the last one that was polled in vain.
//! - What it waits for, where that is said: a time, a descriptor, or an [`Object`] such as a lock or a queue. See [`Reason`] and
//!   [`Waits`]. The crate `ctp-tokio` beside this one says it for tokio's locks, channels and timers.
//! - Who woke it, and when: the future that was being polled on the thread that called its waker. A future may be woken while
//!   its poll still runs; that counts for the suspension which follows.
//! - When it was gone: it was ready, or was dropped, or panicked.
//!
//! Made for Linux on x86-64 and AArch64. Elsewhere, and with the feature `off`, the calls are there and do nothing.

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

/// Attaches to a collector, or makes what one can attach to, if that was not done yet; tells whether something is recorded.
///
/// The first future that is traced does it too. A program that changes its environment or its root, or drops privileges,
/// should do it before.
pub fn init() -> bool {
    probe::init()
}

/// As if `CTP_RECORD=1` had been set: futures leave their last states for a collector that may come. False: that cannot be.
pub fn record() -> bool {
    probe::record()
}

/// Whether something is recorded now.
pub fn is_recording() -> bool {
    probe::is_recording()
}
