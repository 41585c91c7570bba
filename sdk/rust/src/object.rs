// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! What coroutines wait for and hold: locks, pools, queues.

use crate::fact::{Kind, MARK_CLOSED, MARK_GONE, MARK_MADE, MARK_OWNED};
use crate::future::{Place, TaskRef};
use crate::probe;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr;
use std::slice;
use std::str;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicU8, AtomicUsize, Ordering::*};

/// Numbers of objects. They are never reused, and differ from all addresses, which identify objects of C.
static NEXT: AtomicU64 = AtomicU64::new(0x4354_5000_0000_0001);

/// Something that coroutines wait for: a lock, a pool, a queue. Make it a member of that type.
///
/// Record each change before you wake a coroutine because of it. Dropping it records that it is gone.
///
/// ```
/// use ctp::{Kind, Object, Reason, TraceFutureExt};
///
/// let pool = Object::new(Kind::Permits, 2).named("db pool");
/// let one = pool.hold(1); // the running coroutine holds one of the two
/// let another = pool.hold(1);
/// pool.available(0);
/// let task = std::future::pending::<()>().here_for(Reason::of(&pool, 1));
/// drop(task);
/// drop(one); // it is about to give it back
/// pool.available(1);
/// # drop(another);
/// ```
///
/// A collector that attaches later gets the object and its holders if the program recorded when they changed; otherwise it gets the
/// object at its next change.
pub struct Object {
    id: AtomicU64,
    kind: Kind,
    marks: AtomicU8, // MARK_OWNED, MARK_CLOSED
    location: Option<&'static Location<'static>>,
    name: Name,
    recorded_for: AtomicU64, // the collector that has a record of it: see follower
    available: AtomicU64,
    room: AtomicU64, // of a queue; UNKNOWN: it has no limit
}

const UNKNOWN: u64 = u64::MAX;

/// A text that is set once.
struct Name {
    bytes: AtomicPtr<u8>, // null: not set
    len: AtomicUsize,
    is_set: AtomicBool,
}

impl Name {
    const fn none() -> Name {
        Name { bytes: AtomicPtr::new(ptr::null_mut()), len: AtomicUsize::new(0), is_set: AtomicBool::new(false) }
    }

    fn set(&self, name: &'static str) -> bool {
        let is_first = !self.is_set.swap(true, Relaxed);
        if is_first {
            self.len.store(name.len(), Relaxed);
            self.bytes.store(name.as_ptr() as *mut u8, Release); // pairs with the load in get: the length is there
        }
        is_first
    }

    fn get(&self) -> Option<&'static str> {
        let bytes = self.bytes.load(Acquire);
        if bytes.is_null() {
            return None;
        }
        // SAFETY: both belong to one text that exists as long as the program, because only the first is set.
        Some(unsafe { str::from_utf8_unchecked(slice::from_raw_parts(bytes, self.len.load(Relaxed))) })
    }
}

impl Object {
    /// It is made here, and this much of it is available. A queue has [`Kind::Item`].
    #[track_caller]
    pub fn new(kind: Kind, available: u64) -> Object {
        let mut object = Object::const_new(kind, available);
        object.location = Some(Location::caller());
        if let Some(follower) = probe::follower() {
            object.recorded_for.store(follower, Relaxed);
            object.tell_whole(MARK_MADE);
        }
        object
    }

    /// The same for a static, without a place.
    pub const fn const_new(kind: Kind, available: u64) -> Object {
        Object {
            id: AtomicU64::new(0),
            kind,
            marks: AtomicU8::new(0),
            location: None,
            name: Name::none(),
            recorded_for: AtomicU64::new(0),
            available: AtomicU64::new(available),
            room: AtomicU64::new(UNKNOWN),
        }
    }

    /// Names it for people.
    pub fn named(self, name: &'static str) -> Object {
        self.set_name(name);
        self
    }

    /// The same. The first name counts.
    pub fn set_name(&self, name: &'static str) {
        if self.name.set(name) && self.is_known() {
            probe::object_name(self.id(), name);
        }
    }

    /// Only the coroutine that holds some of it gives that back. This is true for every lock, but any coroutine may release permits
    /// unless this is set.
    pub fn owned(self) -> Object {
        self.set_owned();
        self
    }

    /// The same, from now on.
    pub fn set_owned(&self) {
        let before = self.marks.fetch_or(MARK_OWNED as u8, Relaxed);
        if u32::from(before) & MARK_OWNED == 0 && self.is_known() {
            self.tell_whole(0);
        }
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// This much of it is available now. Call it when that becomes 0 and when it stops being 0; other changes are not recorded.
    #[inline]
    pub fn available(&self, n: u64) {
        let before = self.available.swap(n, Relaxed);
        if (before == 0) != (n == 0) && self.make_known() {
            self.tell(self.kind, n);
        }
    }

    /// The same for the room in a queue with a limit.
    #[inline]
    pub fn room(&self, n: u64) {
        let before = self.room.swap(n, Relaxed);
        let changes = before == UNKNOWN || (before == 0) != (n == 0);
        if changes && self.make_known() {
            self.tell(Kind::Room, n);
        }
    }

    /// It will never be available again, and coroutines that wait for it should be resumed without it.
    pub fn close(&self) {
        let before = self.marks.fetch_or(MARK_CLOSED as u8, Relaxed);
        if u32::from(before) & MARK_CLOSED == 0 && self.make_known() {
            self.tell_marks(MARK_CLOSED);
        }
    }

    /// The coroutine that runs on this thread holds `n` of it from now on, until the [`Hold`] is dropped. Call it after the
    /// coroutine got them. It got them here.
    #[inline]
    #[track_caller]
    pub fn hold(&self, n: u32) -> Hold {
        self.hold_at(n, Location::caller())
    }

    /// The same, for a lock or a pool that knows where its caller got them.
    #[inline]
    pub fn hold_at(&self, n: u32, at: &'static Location<'static>) -> Hold {
        let hold = Hold { object: self.id(), n: n as i32, task: TaskRef::current(), at };
        self.make_known();
        hold.begin();
        hold
    }

    /// Wakes on this thread are for this object, until the [`Cause`] is dropped.
    #[inline]
    pub fn cause(&self) -> Cause {
        Cause { before: probe::put_cause(self.id()), stays: PhantomData }
    }

    /// Its number in the trace, in place of the address of an object in C.
    #[inline]
    pub fn id(&self) -> u64 {
        match self.id.load(Relaxed) {
            0 => self.take_id(),
            id => id,
        }
    }

    #[cold]
    fn take_id(&self) -> u64 {
        let id = NEXT.fetch_add(1, Relaxed);
        self.id.compare_exchange(0, id, Relaxed, Relaxed).err().unwrap_or(id)
    }

    fn is_known(&self) -> bool {
        probe::follower().map_or(false, |follower| self.recorded_for.load(Relaxed) == follower)
    }

    /// Records the state for a collector that attached later. False: there is none.
    #[inline]
    pub(crate) fn make_known(&self) -> bool {
        let follower = match probe::follower() {
            Some(follower) => follower,
            None => return false,
        };
        if self.recorded_for.load(Relaxed) != follower && self.recorded_for.swap(follower, Relaxed) != follower {
            self.tell_late();
        }
        true
    }

    /// Not as new: coroutines may hold some of it already.
    #[cold]
    fn tell_late(&self) {
        self.tell_whole(0);
        let room = self.room.load(Relaxed);
        if room != UNKNOWN {
            self.tell(Kind::Room, room);
        }
        if u32::from(self.marks.load(Relaxed)) & MARK_CLOSED != 0 {
            self.tell_marks(MARK_CLOSED);
        }
    }

    fn tell_whole(&self, marks: u32) {
        let owned = u32::from(self.marks.load(Relaxed)) & MARK_OWNED;
        let place = self.location.map(|location| Place { location, future: "" });
        let number = probe::reason_number(self.kind as u32, marks | owned, 0);
        probe::object_tell(self.id(), number, self.available.load(Relaxed), self.name.get(), place);
    }

    fn tell(&self, kind: Kind, available: u64) {
        probe::object_tell(self.id(), probe::reason_number(kind as u32, 0, 0), available, None, None);
    }

    fn tell_marks(&self, marks: u32) {
        probe::object_tell(self.id(), probe::reason_number(0, marks, 0), 0, None, None);
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        let recorded_for = *self.recorded_for.get_mut();
        if recorded_for != 0 {
            probe::object_end(self.id(), probe::reason_number(0, MARK_GONE, 0), recorded_for);
        }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("kind", &self.kind).field("name", &self.name.get()).finish()
    }
}

/// What one coroutine holds of an [`Object`]. Drop it before that is given back. Any thread may drop it, because it knows its
/// coroutine.
#[must_use = "what is held is given back when this is dropped"]
pub struct Hold {
    object: u64,
    n: i32,
    task: TaskRef,
    at: &'static Location<'static>,
}

impl Hold {
    fn begin(&self) {
        self.task.0.holds(self.object, self.n, Some(Place { location: self.at, future: "" }));
    }

    fn end(&self) {
        self.task.0.holds(self.object, -self.n, None);
    }

    /// Another coroutine holds it from now on. It got it here.
    #[track_caller]
    pub fn hand(&mut self, to: TaskRef) {
        self.end();
        self.task = to;
        self.at = Location::caller();
        self.begin();
    }

    /// How many it holds.
    pub fn count(&self) -> u32 {
        self.n as u32
    }

    /// Another one for `n` of them. This one keeps the rest.
    pub fn split(&mut self, n: u32) -> Hold {
        let n = (n as i32).min(self.n);
        self.n -= n;
        Hold { n, ..*self }
    }

    /// Adds what the other one holds to this one. They may belong to two coroutines.
    ///
    /// It is recorded as a whole: only few holders of an object are kept, and a part may have been counted with the others.
    pub fn merge(&mut self, other: Hold) {
        let n = other.n;
        drop(other);
        self.end();
        self.n += n;
        self.begin();
    }
}

impl Drop for Hold {
    #[inline]
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold").field("count", &self.n).finish()
    }
}

/// The object that wakes on this thread are for: see [`Object::cause`].
#[must_use = "it counts until it is dropped"]
pub struct Cause {
    before: u64,
    stays: PhantomData<*const ()>, // on its thread
}

impl Drop for Cause {
    #[inline]
    fn drop(&mut self) {
        probe::put_cause(self.before);
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cause")
    }
}
