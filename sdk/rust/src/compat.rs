//! The names of coroTracer's crate that are not ours anyway, so that a program moves over by changing its dependency:
//!
//! ```toml
//! corotracer = { package = "ctp", path = "ctptools/sdk/rust" }
//! ```
//!
//! [`PollTrace`](crate::PollTrace) and [`TraceFutureExt`](crate::TraceFutureExt) are ours, with more methods; what theirs do
//! is the same, but for two things. The first poll is an event too, so that who never ran can be told from who runs; and the
//! address of a suspension is that of the future's code, so that those that do the same have the same.

use crate::future::Traced;
use crate::probe;
use std::future::Future;

/// A future that is traced.
pub type TracedFuture<F> = Traced<F>;

/// What `.traced()` does.
#[track_caller]
pub fn trace_future<F: Future>(future: F) -> TracedFuture<F> {
    Traced::new(future)
}

/// [`init`](crate::init), without an answer.
pub fn init_tracer() {
    probe::init();
}

/// [`init`](crate::init).
pub fn tracer_enabled() -> bool {
    probe::init()
}
