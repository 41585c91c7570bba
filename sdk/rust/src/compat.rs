// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! The other names of coroTracer's crate, so that a program only changes its dependency:
//!
//! ```toml
//! corotracer = { package = "ctp", path = "ctptools/sdk/rust" }
//! ```
//!
//! [`PollTrace`](crate::PollTrace) and [`TraceFutureExt`](crate::TraceFutureExt) are ours, with more methods. Their methods do the
//! same here, with two differences. The first poll is an event too, which tells a future that never ran from one that runs. The
//! address of a suspension is that of the future's code, so futures with the same code have the same address.

use crate::future::Traced;
use crate::probe;
use std::future::Future;

/// A future that is traced.
pub type TracedFuture<F> = Traced<F>;

/// Does what `.traced()` does.
#[track_caller]
pub fn trace_future<F: Future>(future: F) -> TracedFuture<F> {
    Traced::new(future)
}

/// [`init`](crate::init), without a result.
pub fn init_tracer() {
    probe::init();
}

/// [`init`](crate::init).
pub fn tracer_enabled() -> bool {
    probe::init()
}
