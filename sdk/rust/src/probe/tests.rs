// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! The probe against a memory that the tests read themselves, with rings small enough to be filled.

use super::arena::Shape;
use super::ring::Thread;
use super::*;
use crate::{PollTrace, Reasons, TaskRef, TraceFutureExt, Waits};
use std::future::Future;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, Once};
use std::task::{Context, Poll, Wake, Waker};

mod facts;
mod unkind;

const RECORD: u32 = MODE_RECORD;
const FOLLOW: u32 = MODE_RECORD | MODE_RINGS;

/// Does what a collector does before it starts this program; then runs one test at a time, in that mode.
fn collect(mode: u32) -> MutexGuard<'static, ()> {
    static MADE: Once = Once::new();
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(|poison| poison.into_inner());
    MADE.call_once(|| {
        let arena = Arena::make(Shape::new(256, 256, 64, 4096, 11), 0, 0).unwrap();
        std::env::set_var("CTP_SHM_PATH", format!("/proc/self/fd/{}", arena.fd.0));
        std::env::set_var("CTP_MAX_STATIONS", "256");
        crate::init();
    });
    for ring in (0..64).filter_map(|index| probe().ring(index)) {
        ring.tail.store(ring.head.load(Acquire), Release);
        ring.said_events.store(ring.lost_events.load(Relaxed), Relaxed);
        ring.said_notes.store(ring.lost_notes.load(Relaxed), Relaxed);
    }
    free_the_dead(); // of other tests, so that there is a station left for this one
    probe().header().mode.store(mode, Relaxed);
    guard
}

fn probe() -> &'static Probe {
    Probe::peek().unwrap()
}

/// As a collector does.
fn free_the_dead() {
    let used = probe().header().allocated_count.load(Relaxed).min(probe().shape.max_stations);
    for (index, station) in (0..used).filter_map(|index| Some((index, probe().station(index)?))) {
        if station.is_dead.load(Acquire) == 1 {
            probe().station_free(index, station, station.generation());
        }
    }
}

fn last_wake(station: &Station) -> &layout::Wake {
    &station.wakes[(station.nwakes.load(Relaxed) - 1) as usize % station.wakes.len()]
}

fn station_of(trace: &PollTrace) -> &'static Station {
    probe().station(reference_index(reference_of(trace))).unwrap()
}

fn reference_of(trace: &PollTrace) -> u64 {
    trace.task_ref().0.reference()
}

/// What this thread has written to its rings since the last call.
fn entries() -> Vec<Entry> {
    let mut all = Vec::new();
    let me = u64::from(probe().pid) << 32 | sys::tid();
    for index in 0..64 {
        let ring = probe().ring(index).unwrap();
        if ring.owner.load(Relaxed) == me {
            let (tail, head) = (ring.tail.load(Relaxed), ring.head.load(Acquire));
            let at = probe().entries(index).unwrap();
            all.extend((tail..head).map(|i| unsafe { at.add((i % 2048) as usize).read() }));
            ring.tail.store(head, Release);
        }
    }
    all
}

fn kinds(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.what >> 56).filter(|kind| *kind != ENTRY_THREAD).collect()
}

fn site_text(number: u32) -> (String, u32) {
    let site = probe().site(number.wrapping_sub(1)).expect("a site");
    let bytes = site.file_bytes.load(Relaxed) + site.function_bytes.load(Relaxed);
    let text = site.text[..bytes as usize].iter().map(|byte| byte.load(Relaxed)).collect();
    (String::from_utf8(text).unwrap(), site.line.load(Relaxed))
}

/// Of this coroutine's event number k, from 0.
fn slot_site(trace: &PollTrace, k: u64) -> (String, u32) {
    let station = station_of(trace);
    site_text((station.slots[((station.first.load(Relaxed) + k) % 8) as usize].what.load(Relaxed) >> 32) as u32 & 0xff_ffff)
}

struct Flag;

impl Wake for Flag {
    fn wake(self: Arc<Self>) {}
}

/// Pending this number of times, then ready.
struct Later(u32);

impl Future for Later {
    type Output = u32;

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<u32> {
        if self.0 == 0 {
            return Poll::Ready(7);
        }
        self.0 -= 1;
        Poll::Pending
    }
}

#[test]
fn events_go_to_slots_and_rings() {
    let _one = collect(FOLLOW);
    entries();
    let mut trace = PollTrace::new();
    for turn in 0..5 {
        trace.on_resume();
        trace.on_pending_addr(100 + turn);
    }
    let station = station_of(&trace);
    let first = station.first.load(Relaxed);
    for k in 2..10 {
        let event = first + k;
        let slot = &station.slots[(event % 8) as usize];
        assert_eq!(slot.seq.load(Relaxed), 2 * (event / 8 + 1));
        assert_eq!(slot.addr.load(Relaxed), if k % 2 == 0 { 0 } else { 100 + k / 2 });
        assert_eq!(slot.what.load(Relaxed) >> 56, (k + 1) % 2);
        assert_eq!(slot.tid.load(Relaxed), sys::tid());
    }
    let reference = reference_of(&trace);
    trace.on_ready();
    trace.on_resume();
    let entries = entries();
    assert_eq!(kinds(&entries), [3, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 4]);
    assert!(entries.iter().all(|entry| entry.reference == reference || entry.what >> 56 == ENTRY_THREAD));
    let numbers = entries.iter().filter(|entry| entry.what >> 56 <= 1).map(|entry| entry.what & 0xffff_ffff);
    assert!(numbers.eq(first..first + 10));
    assert!(entries.windows(2).all(|pair| pair[0].ts <= pair[1].ts));
    assert_eq!(station.events.load(Relaxed), first + 10);
    assert_eq!(station.is_dead.load(Relaxed), 1); // the collector frees it
}

#[test]
fn stations_are_used_again() {
    let _one = collect(RECORD);
    let mut trace = PollTrace::new();
    trace.set_name("old");
    trace.on_resume();
    let (old, station) = (reference_of(&trace), station_of(&trace));
    let (stale, events) = (trace.task_ref(), station.first.load(Relaxed) + 1);
    drop(trace);
    assert_eq!(station.is_dead.load(Relaxed), 2);
    let trace = PollTrace::new();
    assert!(std::ptr::eq(station_of(&trace), station));
    assert_eq!(reference_of(&trace), old + (1 << 32));
    assert_eq!(station.first.load(Relaxed), events);
    assert_eq!(station.name_bytes.load(Relaxed), 0);
    assert_eq!(station.is_dead.load(Relaxed), 0);
    let wakes = station.nwakes.load(Relaxed);
    stale.woken();
    assert_eq!(station.nwakes.load(Relaxed), wakes);
    trace.task_ref().woken();
    assert_eq!(last_wake(station).generation.load(Relaxed), (old >> 32) + 1);
}

#[test]
fn who_waits_for_whom() {
    let _one = collect(FOLLOW);
    let (mut trace, target, mut gone) = (PollTrace::new(), PollTrace::new(), PollTrace::new());
    gone.mark_dead();
    trace.on_resume();
    entries();
    trace.waits_for(target.task_ref());
    trace.on_pending_addr(1);
    trace.waits_for(gone.task_ref());
    let (station, reference) = (station_of(&trace), reference_of(&trace));
    assert_eq!(station.awaits.load(Relaxed), reference_of(&target));
    assert_eq!(station.await_event.load(Relaxed), station.first.load(Relaxed) + 1);
    assert_eq!(station.await_generation.load(Relaxed), (reference >> 32) as u32);
    let entries = entries();
    assert_eq!(kinds(&entries), [ENTRY_AWAIT, ENTRY_SUSPEND]);
    assert_eq!((entries[0].reference, entries[0].value), (reference_of(&trace), reference_of(&target)));
}

#[test]
fn all_stations_taken() {
    let _one = collect(RECORD);
    let mut traces: Vec<_> = (0..300).map(|_| PollTrace::new()).collect();
    assert!(traces.iter().filter(|trace| trace.is_enabled()).count() <= 256);
    assert!(!traces[299].is_enabled());
    traces[299].on_resume();
    traces[299].on_pending_addr(1);
    traces.clear();
    assert!(PollTrace::new().is_enabled());
}

#[test]
fn full_rings_count_and_tell() {
    let _one = collect(FOLLOW);
    let mut trace = PollTrace::new();
    entries();
    for _ in 0..1500 {
        trace.on_resume();
        trace.on_pending_addr(1);
    }
    trace.set_name("lost");
    assert_eq!(kinds(&entries()).len(), 2048);
    trace.on_resume();
    let entries = entries();
    assert_eq!(kinds(&entries), [ENTRY_GAP, ENTRY_RESUME]);
    assert_eq!((entries[0].value, entries[0].what & 0xffff_ffff), (3000 - 2048, 1));
    assert!(entries[0].ts < entries[1].ts);
}

#[test]
fn lossless_waits_once() {
    let _one = collect(FOLLOW | MODE_LOSSLESS);
    probe().header().wait_us.store(2000, Relaxed);
    let mut trace = PollTrace::new();
    entries();
    let begin = sys::monotonic();
    for _ in 0..1030 {
        trace.on_resume();
        trace.on_pending_addr(1);
    }
    assert!(sys::monotonic() - begin >= 2_000_000);
    assert_eq!(kinds(&entries()).len(), 2048);
    trace.on_resume();
    assert_eq!(entries()[0].value, 12);
}

#[test]
fn a_handler_has_its_own_ring() {
    let _one = collect(FOLLOW);
    let mut trace = PollTrace::new();
    entries();
    let thread = Thread::of(probe());
    let depth = thread.enter();
    trace.on_resume();
    let entries = entries();
    assert_eq!(kinds(&entries), [ENTRY_RESUME]);
    thread.enter();
    trace.on_pending_addr(1); // a handler in a handler: its event is counted as lost
    thread.leave(depth, ring::UNUSUAL);
    let lost = (0..64)
        .map(|index| probe().ring(index).unwrap())
        .map(|ring| ring.lost_events.load(Relaxed) - ring.said_events.load(Relaxed));
    assert_eq!(lost.sum::<u64>(), 1);
}

#[test]
fn rings_of_threads_that_are_gone_are_used_again() {
    let _one = collect(FOLLOW);
    for _ in 0..200 {
        std::thread::spawn(|| {
            assert!(PollTrace::new().is_enabled());
            let entries = entries();
            assert_eq!(entries[0].what >> 56, ENTRY_THREAD);
            assert_eq!(kinds(&entries), [ENTRY_BIRTH, ENTRY_DEATH]);
        })
        .join()
        .unwrap();
    }
    free_the_dead();
    assert!(probe().header().rings_used.load(Relaxed) < 64);
}

#[test]
fn recording_may_begin_late() {
    let _one = collect(0);
    let mut trace = PollTrace::new();
    let line = line!() - 1;
    trace.set_name("late");
    trace.on_resume();
    trace.on_pending_addr(1);
    assert!(!trace.is_enabled());
    probe().header().mode.store(RECORD, Relaxed);
    trace.on_resume();
    let station = station_of(&trace);
    assert_eq!(station.birth_ts.load(Relaxed), 0);
    assert_eq!(station.parent.load(Relaxed), 0);
    assert_eq!(site_text(station.spawn_site.load(Relaxed)), (file!().to_string(), line));
    assert_eq!(station.name_bytes.load(Relaxed), 4);
    probe().header().mode.store(0, Relaxed);
    trace.on_pending_addr(2);
    assert_eq!(current(), 0);
}

#[test]
fn futures_within_futures() {
    let _one = collect(RECORD);
    let flag = Waker::from(Arc::new(Flag));
    let mut cx = Context::from_waker(&flag);
    let (outer_line, await_line) = (line!() + 1, line!() + 5);
    let mut outer = Box::pin(TraceFutureExt::traced(async {
        let mut inner = Later(1).traced();
        assert_eq!(station_of(inner.trace_mut()).parent.load(Relaxed), current());
        assert_eq!(std::mem::replace(&mut inner, Later(1).traced()).await, 7); // line A
        Later(1).here().await; // line B
        Later(1).await
    }));
    assert!(outer.as_mut().poll(&mut cx).is_pending());
    let (_, line) = slot_site(unsafe { outer.as_mut().get_unchecked_mut() }.trace_mut(), 1);
    assert_eq!(line, await_line - 3);
    assert!(outer.as_mut().poll(&mut cx).is_pending());
    let trace = unsafe { outer.as_mut().get_unchecked_mut() }.trace_mut();
    let (text, line) = slot_site(trace, 3);
    assert_eq!((text.ends_with("::Later"), line), (true, await_line));
    assert!(outer.as_mut().poll(&mut cx).is_pending());
    let trace = unsafe { outer.as_mut().get_unchecked_mut() }.trace_mut();
    let (text, line) = slot_site(trace, 5);
    assert_eq!((text.ends_with("::futures_within_futures"), line), (true, outer_line));
    let station = station_of(trace);
    assert!(outer.as_mut().poll(&mut cx).is_ready());
    assert_eq!(station.is_dead.load(Relaxed), 2);
    assert_eq!(current(), 0);
}

fn current() -> u64 {
    Thread::of(probe()).current.get()
}

#[test]
fn of_those_that_wait_the_last_counts() {
    let _one = collect(RECORD);
    let flag = Waker::from(Arc::new(Flag));
    let mut cx = Context::from_waker(&flag);
    let mut trace = PollTrace::new();
    let mut first = Later(9).here();
    let mut second = Later(0).here();
    let mut third = Later(9).here();
    let line = line!() - 1;
    trace.on_resume();
    assert!(Pin::new(&mut first).poll(&mut cx).is_pending());
    assert!(Pin::new(&mut second).poll(&mut cx).is_ready());
    trace.on_pending_addr(1);
    assert_eq!(slot_site(&trace, 1).1, line - 2);
    trace.on_resume();
    assert!(Pin::new(&mut first).poll(&mut cx).is_pending());
    assert!(Pin::new(&mut third).poll(&mut cx).is_pending());
    trace.on_pending_addr(1);
    assert_eq!(slot_site(&trace, 3).1, line);
    trace.on_resume();
    assert!(Pin::new(&mut third).poll(&mut cx).is_pending());
    drop(third);
    trace.on_pending_addr(1);
    assert_eq!(slot_site(&trace, 5).1, line!() - 1);
    trace.on_resume();
    let mut child = Later(9).traced();
    assert!(Pin::new(&mut child).poll(&mut cx).is_pending());
    drop(child);
    trace.on_pending_addr(1);
    assert_eq!(slot_site(&trace, 7).1, line!() - 1);
}

/// Ready, even if the other is not.
struct Race<'a, F>(&'a mut F);

impl<F: Future + Unpin> Future for Race<'_, F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let _ = Pin::new(&mut *self.0).poll(cx);
        Poll::Ready(())
    }
}

#[test]
fn who_polls_in_vain_waits_for_that_one() {
    let _one = collect(FOLLOW);
    let flag = Waker::from(Arc::new(Flag));
    let mut cx = Context::from_waker(&flag);
    let (mut trace, other) = (PollTrace::new(), PollTrace::new());
    let (mut first, mut ready, mut third) = (Later(9).traced(), Later(0).traced(), Later(9).traced());
    let mut untraced = Later(9).here();
    let targets = |trace: &mut PollTrace| -> Vec<u64> {
        trace.on_pending_addr(1);
        let reference = reference_of(trace);
        let awaits = |entry: &&Entry| entry.what >> 56 == ENTRY_AWAIT && entry.reference == reference;
        entries().iter().filter(awaits).map(|entry| entry.value).collect()
    };
    entries();
    trace.on_resume();
    assert!(Pin::new(&mut first).poll(&mut cx).is_pending());
    assert!(Pin::new(&mut ready).poll(&mut cx).is_ready());
    assert_eq!(targets(&mut trace), [reference_of(first.trace_mut())], "not one that is ready");
    trace.on_resume();
    assert_eq!(targets(&mut trace), [], "not one of an earlier turn");
    trace.on_resume();
    assert!(Pin::new(&mut first).poll(&mut cx).is_pending());
    assert!(Pin::new(&mut Race(&mut third).here()).poll(&mut cx).is_ready());
    assert_eq!(targets(&mut trace), [reference_of(first.trace_mut())], "not one that lost a race");
    trace.on_resume();
    assert!(Pin::new(&mut first).poll(&mut cx).is_pending());
    assert!(Pin::new(&mut third).poll(&mut cx).is_pending());
    assert_eq!(targets(&mut trace), [reference_of(third.trace_mut())], "the last one");
    trace.on_resume();
    assert!(Pin::new(&mut third).poll(&mut cx).is_pending());
    assert!(Pin::new(&mut untraced).poll(&mut cx).is_pending());
    assert_eq!(targets(&mut trace), [], "the last one is not traced");
    trace.on_resume();
    assert!(Pin::new(&mut third).poll(&mut cx).is_pending());
    trace.waits_for(other.task_ref());
    assert_eq!(targets(&mut trace), [reference_of(&other)], "what the program says");
    trace.on_resume();
    assert!(Pin::new(&mut third).poll(&mut cx).is_pending());
    drop(third);
    assert_eq!(targets(&mut trace), [], "not one that is gone");
    assert!(Pin::new(&mut first).poll(&mut cx).is_pending());
    trace.on_resume();
    assert_eq!(targets(&mut trace), [], "not one that nobody polled");
    struct Joins(TaskRef);
    impl Future for Joins {
        type Output = ();
        fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
            Poll::Pending
        }
    }
    impl Waits for Joins {
        fn reasons(&self, reasons: &mut Reasons<'_>) {
            reasons.waits_for(self.0);
        }
    }
    let (mut join, mut here) = (Joins(other.task_ref()).here_waits(), Joins(other.task_ref()).waits().here());
    trace.on_resume();
    assert!(Pin::new(&mut join).poll(&mut cx).is_pending());
    assert_eq!(targets(&mut trace), [reference_of(&other)], "what a future says");
    trace.on_resume();
    assert!(Pin::new(&mut here).poll(&mut cx).is_pending());
    assert_eq!(targets(&mut trace), [reference_of(&other)], "that another one knows the place of");
    trace.on_resume();
    assert!(Pin::new(&mut untraced).poll(&mut cx).is_pending());
    let mut loser = Joins(other.task_ref()).waits();
    assert!(Pin::new(&mut loser).poll(&mut cx).is_pending());
    drop(loser);
    assert_eq!(targets(&mut trace), [], "but not what is dropped");
}

#[test]
fn wakers_tell_and_outlive() {
    struct Keep(Arc<Mutex<Option<Waker>>>);
    impl Future for Keep {
        type Output = ();
        fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            let mut kept = self.0.lock().unwrap();
            if let Some(waker) = kept.as_ref() {
                assert!(waker.will_wake(cx.waker()));
            }
            *kept = Some(cx.waker().clone());
            Poll::Pending
        }
    }
    let _one = collect(RECORD);
    let kept = Arc::new(Mutex::new(None));
    let mut task = Keep(kept.clone()).traced();
    let flag = Waker::from(Arc::new(Flag));
    for _ in 0..3 {
        assert!(Pin::new(&mut task).poll(&mut Context::from_waker(&flag)).is_pending());
    }
    let station = station_of(task.trace_mut());
    let wakes = station.nwakes.load(Relaxed);
    let mut waking = PollTrace::new();
    waking.on_resume();
    kept.lock().unwrap().as_ref().unwrap().wake_by_ref();
    assert_eq!(last_wake(station).waker.load(Relaxed), reference_of(&waking));
    assert_eq!(last_wake(station).generation.load(Relaxed), station.generation() as u64);
    drop(task);
    let mut next = PollTrace::new();
    assert!(std::ptr::eq(station_of(&next), station));
    kept.lock().unwrap().take().unwrap().wake();
    assert_eq!(station.nwakes.load(Relaxed), wakes + 1);
    next.mark_dead();
}

#[test]
fn panics_are_deaths() {
    let _one = collect(RECORD);
    let mut task = Box::pin(async { panic!("for the test") }.traced());
    let station = station_of(unsafe { task.as_mut().get_unchecked_mut() }.trace_mut());
    let flag = Waker::from(Arc::new(Flag));
    let result: Result<Poll<()>, _> = catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(&mut Context::from_waker(&flag))));
    assert!(result.is_err());
    assert_eq!(station.is_dead.load(Relaxed), 2);
    assert_eq!(current(), 0);
}

#[test]
fn send_and_sync_as_the_future() {
    fn is<T: Send + Sync + Unpin>(_: &T) {}
    let _one = collect(0);
    is(&Later(0).traced());
    is(&Later(0).here());
    is(&PollTrace::new());
    is(&PollTrace::new().task_ref());
}
