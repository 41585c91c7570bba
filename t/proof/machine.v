(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * machine.v - the memory of C11 as a machine that takes one step at a time.
 *
 * The memory does not hold one value for a location. It holds the history of all messages that were ever stored there, oldest
 * first. A load may return any message, as long as it is not older than one of which the thread knows. What a thread knows is a
 * view: for each location, the index of the oldest message that it may still load.
 *
 *	cur   bounds the loads of the thread
 *	acq   what cur becomes at the next acquire fence: cur, and all that came with messages loaded so far
 *	rel   cur as it was at the last release fence: what relaxed stores pass on
 *
 * Each message carries a view, too. A release store attaches cur, a relaxed store attaches rel; an acquire load adds the message's
 * view to cur, a relaxed load adds it to acq alone.
 *
 * A thread executes its operations in the order of its program. That is the compiler's promise and no more: the machine has no
 * order between two relaxed stores, because a reader may see the second and still load an old message instead of the first. (What
 * it does not have is a load that returns what is stored later: it makes no promises. See the README.)
 *
 * Views also have a clock for each thread. It counts the accesses of the thread, and is what happens-before is: access number n
 * of thread u happens before all that thread t does from now on, if cur of t has n or more for u. Two accesses to one location, of
 * which one is a store and one is plain, must be ordered so. If not, `racy` is set, and stays set.
 *
 * What a rule says is in the comment above it. mstep is the machine; exec is the same as a function, for the comparison with the
 * C runtime.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.

Class EqDec (A : Type) := eq_dec : forall a b : A, {a = b} + {a <> b}.
Global Instance EqDec_nat : EqDec nat := Nat.eq_dec.

Definition upd {A B} `{EqDec A} (f : A -> B) (a : A) (b : B) : A -> B := fun x => if eq_dec a x then b else f x.

Definition tid := nat.
Definition val := nat.

(* What an atomic access orders. C's seq_cst is used by fences alone. *)
Inductive order := Rlx | Acq | Rel | AcqRel.
Definition is_acq (o : order) := match o with Acq | AcqRel => true | _ => false end.
Definition is_rel (o : order) := match o with Rel | AcqRel => true | _ => false end.

Section Machine.
Context {loc : Type} {loc_eq : EqDec loc}.

(* --- views ------------------------------------------------------------------------------------------------------------------ *)

(* At l: the index of a message of location l. Of t: the clock of thread t. *)
Inductive key := At (l : loc) | Of (t : tid).

#[global] Instance key_eq : EqDec key.
Proof. intros a b. decide equality; apply eq_dec. Defined.

Definition view := key -> nat.
Definition bottom : view := fun _ => 0.
Definition join (a b : view) : view := fun k => max (a k) (b k).
Definition one (k : key) (n : nat) : view := fun k' => if eq_dec k k' then n else 0.
(* Without the clocks: what passes from fence to fence without a message orders loads, but nothing happens before by it. *)
Definition places (v : view) : view := fun k => match k with At _ => v k | Of _ => 0 end.

Record message := Message { value : val; with_ : view }.
Record thread := Thread { cur : view; acq : view; rel : view }.

(* --- the state -------------------------------------------------------------------------------------------------------------- *)

Record mem := Mem {
  nthr : nat;                               (* how many threads there are: 0 .. nthr - 1 *)
  hist : loc -> list message;               (* the messages of a location, oldest first: its modification order *)
  thr : tid -> thread;
  sc : view;                                (* the view that seq_cst fences pass to each other *)
  reg : tid -> bool;                        (* registered for the expedited membarrier *)
  pend : tid -> list tid;                   (* threads that the membarrier called by this thread has yet to reach *)
  clock : bool -> bool -> loc -> tid -> nat; (* [plain] [store] l t: the clock of t at its last such access to l *)
  racy : bool;                              (* there was a data race *)
}.

(* At the beginning each location has one message, and nobody knows of more. *)
Definition start (n : nat) (registered : tid -> bool) (values : loc -> val) : mem := {|
  nthr := n;
  hist := fun l => [Message (values l) bottom];
  thr := fun _ => Thread bottom bottom bottom;
  sc := bottom;
  reg := registered;
  pend := fun _ => [];
  clock := fun _ _ _ _ => 0;
  racy := false;
|}.

(* --- accesses --------------------------------------------------------------------------------------------------------------- *)

(*
 * Whether an access of thread t to l is ordered after all accesses of other threads that it conflicts with: of which one is a
 * store, and one is plain.
 *)
Definition ordered (m : mem) (t : tid) (plain store : bool) (l : loc) : bool :=
  forallb (fun u => (u =? t) ||
    forallb (fun k : bool * bool => negb ((plain || fst k) && (store || snd k)) ||
                                    (clock m (fst k) (snd k) l u <=? cur (thr m t) (Of u)))
            [(false, false); (false, true); (true, false); (true, true)])
          (seq 0 (nthr m)).

(* cur of a thread that accesses message i of l: it knows of that message, and its clock goes on. *)
Definition touch (m : mem) (t : tid) (l : loc) (i : nat) : view :=
  let c := cur (thr m t) in join c (join (one (At l) i) (one (Of t) (S (c (Of t))))).

(* The state after the access: history h of l, views v of t, the clock noted, and the race, if it was one. *)
Definition after (m : mem) (t : tid) (plain store : bool) (l : loc) (h : list message) (v : thread) : mem := {|
  nthr := nthr m;
  hist := upd (hist m) l h;
  thr := upd (thr m) t v;
  sc := sc m;
  reg := reg m;
  pend := pend m;
  clock := fun p s l' t' =>
    if eq_dec l l' then if eq_dec t t' then if Bool.eqb plain p && Bool.eqb store s
    then S (cur (thr m t) (Of t)) else clock m p s l' t' else clock m p s l' t' else clock m p s l' t';
  racy := racy m || negb (ordered m t plain store l);
|}.

(*
 * A load of message i, which is g. Acquire: cur learns what the message carries. Relaxed and plain: acq alone does, so that an
 * acquire fence that follows makes it known.
 *)
Definition load (m : mem) (t : tid) (plain : bool) (o : order) (l : loc) (i : nat) (g : message) : mem :=
  let c := touch m t l i in
  let c' := if is_acq o then join c (with_ g) else c in
  after m t plain false l (hist m l) (Thread c' (join (acq (thr m t)) (join c' (with_ g))) (rel (thr m t))).

(*
 * A store. Its message is the newest: it is appended. Release: the message carries cur. Relaxed and plain: it carries what the
 * thread knew at its last release fence, and itself.
 *)
Definition store (m : mem) (t : tid) (plain : bool) (o : order) (l : loc) (v : val) : mem :=
  let i := length (hist m l) in
  let c := touch m t l i in
  let w := if is_rel o then c else join (rel (thr m t)) (one (At l) i) in
  after m t plain true l (hist m l ++ [Message v w]) (Thread c (join (acq (thr m t)) c) (rel (thr m t))).

(*
 * A read-modify-write that reads g, the newest message, and stores v. Its message also carries what g carries, whatever its
 * order is: it continues the release sequence of g.
 *)
Definition rmw (m : mem) (t : tid) (o : order) (l : loc) (g : message) (v : val) : mem :=
  let i := length (hist m l) in
  let c := touch m t l i in
  let c' := if is_acq o then join c (with_ g) else c in
  let w := if is_rel o then c' else join (rel (thr m t)) (one (At l) i) in
  after m t false true l (hist m l ++ [Message v (join w (with_ g))])
        (Thread c' (join (acq (thr m t)) (join c' (with_ g))) (rel (thr m t))).

(* --- fences and membarrier -------------------------------------------------------------------------------------------------- *)

Definition with_thread (m : mem) (t : tid) (v : thread) : mem :=
  Mem (nthr m) (hist m) (upd (thr m) t v) (sc m) (reg m) (pend m) (clock m) (racy m).

(* Acquire: what came with messages loaded so far is known. *)
Definition fence_acq (m : mem) (t : tid) : mem :=
  with_thread m t (Thread (acq (thr m t)) (acq (thr m t)) (rel (thr m t))).

(* Release: what is known now goes with each later store. *)
Definition fence_rel (m : mem) (t : tid) : mem :=
  with_thread m t (Thread (cur (thr m t)) (acq (thr m t)) (cur (thr m t))).

(* Seq_cst: both, and all that threads knew at their earlier seq_cst fences is known, too. *)
Definition fence_sc (m : mem) (t : tid) : mem :=
  let c := join (acq (thr m t)) (places (sc m)) in
  Mem (nthr m) (hist m) (upd (thr m) t (Thread c c c)) c (reg m) (pend m) (clock m) (racy m).

(*
 * membarrier(2). The call is a seq_cst fence of the caller. Then each registered thread (global: each thread), in any order and
 * wherever it happens to be in its program, passes a seq_cst fence. The call returns when all have, with another fence of the
 * caller. A thread that is not registered gets none.
 *)
Definition with_pend (m : mem) (t : tid) (us : list tid) : mem :=
  Mem (nthr m) (hist m) (thr m) (sc m) (reg m) (upd (pend m) t us) (clock m) (racy m).

Definition barrier_call (m : mem) (t : tid) (global : bool) : mem :=
  with_pend (fence_sc m t) t (filter (fun u => global || reg m u) (seq 0 (nthr m))).

Definition barrier_reaches (m : mem) (caller t : tid) : mem :=
  with_pend (fence_sc m t) caller (remove Nat.eq_dec t (pend m caller)).

Definition register (m : mem) (us : list tid) : mem :=
  Mem (nthr m) (hist m) (thr m) (sc m) (fun t => existsb (Nat.eqb t) us || reg m t) (pend m) (clock m) (racy m).

(* --- operations ------------------------------------------------------------------------------------------------------------- *)

Inductive op :=
| Load (o : order) (l : loc)
| Store (o : order) (l : loc) (v : val)
| PlainLoad (l : loc)
| PlainStore (l : loc) (v : val)
| Exchange (o : order) (l : loc) (v : val)
| FetchAdd (o : order) (l : loc) (v : val)
| Cas (weak : bool) (ok failed : order) (l : loc) (expected desired : val)
| FenceAcq | FenceRel | FenceSc
| BarrierCall (global : bool) | BarrierReturn
| Register (us : list tid).

(* What an operation returns: a value, and for a compare-exchange whether it stored. *)
Definition ret := (val * bool)%type.

(* Thread t can load message i of l, which is g: it knows of no newer one. *)
Definition loadable (m : mem) (t : tid) (l : loc) (i : nat) (g : message) : Prop :=
  nth_error (hist m l) i = Some g /\ cur (thr m t) (At l) <= i.

(* The newest message, which is all that a read-modify-write can read. *)
Definition newest (m : mem) (l : loc) (g : message) : Prop := nth_error (hist m l) (pred (length (hist m l))) = Some g.

Inductive mstep (m : mem) (t : tid) : op -> ret -> mem -> Prop :=
| m_load o l i g : loadable m t l i g -> mstep m t (Load o l) (value g, true) (load m t false o l i g)
| m_store o l v : mstep m t (Store o l v) (0, true) (store m t false o l v)
| m_plain_load l i g : loadable m t l i g -> mstep m t (PlainLoad l) (value g, true) (load m t true Rlx l i g)
| m_plain_store l v : mstep m t (PlainStore l v) (0, true) (store m t true Rlx l v)
| m_exchange o l v g : newest m l g -> mstep m t (Exchange o l v) (value g, true) (rmw m t o l g v)
| m_add o l v g : newest m l g -> mstep m t (FetchAdd o l v) (value g, true) (rmw m t o l g (value g + v))
| m_cas w o f l e d g : newest m l g -> value g = e -> mstep m t (Cas w o f l e d) (value g, true) (rmw m t o l g d)
  (* A compare-exchange that fails is a load of its other order. A weak one may fail although the value is the expected one. *)
| m_cas_fails w o f l e d i g : loadable m t l i g -> w = true \/ value g <> e ->
    mstep m t (Cas w o f l e d) (value g, false) (load m t false f l i g)
| m_fence_acq : mstep m t FenceAcq (0, true) (fence_acq m t)
| m_fence_rel : mstep m t FenceRel (0, true) (fence_rel m t)
| m_fence_sc : mstep m t FenceSc (0, true) (fence_sc m t)
| m_barrier_call g : mstep m t (BarrierCall g) (0, true) (barrier_call m t g)
| m_barrier_return : pend m t = [] -> mstep m t BarrierReturn (0, true) (fence_sc m t)
| m_register us : mstep m t (Register us) (0, true) (register m us).

(* --- the same as a function ------------------------------------------------------------------------------------------------- *)

(* choice: for a load, the index of the message; for a compare-exchange, 0 to succeed, or else the index plus 1. *)
Definition can_load (m : mem) (t : tid) (l : loc) (i : nat) : option message :=
  if cur (thr m t) (At l) <=? i then nth_error (hist m l) i else None.

Definition last_of (m : mem) (l : loc) : option message := nth_error (hist m l) (pred (length (hist m l))).

Definition exec (m : mem) (t : tid) (o : op) (choice : nat) : option (ret * mem) :=
  match o with
  | Load o l => option_map (fun g => ((value g, true), load m t false o l choice g)) (can_load m t l choice)
  | Store o l v => Some ((0, true), store m t false o l v)
  | PlainLoad l => option_map (fun g => ((value g, true), load m t true Rlx l choice g)) (can_load m t l choice)
  | PlainStore l v => Some ((0, true), store m t true Rlx l v)
  | Exchange o l v => option_map (fun g => ((value g, true), rmw m t o l g v)) (last_of m l)
  | FetchAdd o l v => option_map (fun g => ((value g, true), rmw m t o l g (value g + v))) (last_of m l)
  | Cas w o f l e d =>
    match choice with
    | 0 => match last_of m l with
           | Some g => if value g =? e then Some ((value g, true), rmw m t o l g d) else None
           | None => None
           end
    | S i => match can_load m t l i with
             | Some g => if w || negb (value g =? e) then Some ((value g, false), load m t false f l i g) else None
             | None => None
             end
    end
  | FenceAcq => Some ((0, true), fence_acq m t)
  | FenceRel => Some ((0, true), fence_rel m t)
  | FenceSc => Some ((0, true), fence_sc m t)
  | BarrierCall g => Some ((0, true), barrier_call m t g)
  | BarrierReturn => match pend m t with [] => Some ((0, true), fence_sc m t) | _ => None end
  | Register us => Some ((0, true), register m us)
  end.

Lemma can_load_some m t l i g : can_load m t l i = Some g <-> loadable m t l i g.
Proof.
  unfold can_load, loadable. destruct (Nat.leb_spec (cur (thr m t) (At l)) i); split; intros; intuition; try discriminate; lia.
Qed.

Theorem exec_sound m t o c r m' : exec m t o c = Some (r, m') -> mstep m t o r m'.
Proof.
  destruct o; simpl; intros H;
    try (destruct (can_load m t l c) eqn:E; simpl in H; [apply can_load_some in E|discriminate]);
    try (destruct (last_of m l) eqn:E; simpl in H; [|discriminate]);
    try (inversion H; subst; constructor; assumption).
  - destruct c.
    + destruct (last_of m l) eqn:E; [|discriminate].
      destruct (Nat.eqb_spec (value m0) expected); inversion H; subst. constructor; auto.
    + destruct (can_load m t l c) eqn:E; [apply can_load_some in E|discriminate].
      destruct (weak || negb (value m0 =? expected)) eqn:B; inversion H; subst.
      constructor; auto. apply orb_prop in B. destruct B as [|B]; auto.
      right. apply negb_true_iff, Nat.eqb_neq in B. auto.
  - destruct (pend m t) eqn:E; inversion H; subst. constructor; auto.
Qed.

Theorem exec_complete m t o r m' : mstep m t o r m' -> exists c, exec m t o c = Some (r, m').
Proof.
  intros H. destruct H; simpl;
    try (exists i; rewrite (proj2 (can_load_some _ _ _ _ _) H); reflexivity);
    try (exists 0; unfold last_of, newest in *; rewrite ?H; reflexivity).
  - exists 0. unfold last_of, newest in *. rewrite H, H0, Nat.eqb_refl. subst. reflexivity.
  - exists (S i). rewrite (proj2 (can_load_some _ _ _ _ _) H). simpl.
    destruct (Nat.eqb_spec (value g) e); destruct w; simpl; auto. intuition congruence.
Qed.

(* --- programs --------------------------------------------------------------------------------------------------------------- *)

(*
 * A program: where a thread is (local), what else there is that is no memory (world: a socket, or what a proof writes down), and
 * which operations it may do next. It may have a choice. A step of the world alone is one that does nothing to the memory.
 *)
Context {local world : Type}.

Record program := Program {
  does : tid -> local -> world -> op -> ret -> local -> world -> Prop;
  silent : tid -> local -> world -> local -> world -> Prop;
}.

Record state := State { memory : mem; where_ : tid -> local; beside : world }.

Inductive step (p : program) : state -> state -> Prop :=
| s_does m w x t o r l' x' m' : t < nthr m -> does p t (w t) x o r l' x' -> mstep m t o r m' ->
    step p (State m w x) (State m' (upd w t l') x')
| s_silent m w x t l' x' : t < nthr m -> silent p t (w t) x l' x' -> step p (State m w x) (State m (upd w t l') x')
| s_barrier m w x c t : In t (pend m c) -> step p (State m w x) (State (barrier_reaches m c t) w x).

Inductive steps (p : program) : state -> state -> Prop :=
| none s : steps p s s
| more s s' s'' : steps p s s' -> step p s' s'' -> steps p s s''.

(* What holds at the beginning and is kept by each step holds always. *)
Lemma always (p : program) (i : state) (I : state -> Prop) :
  I i -> (forall s s', I s -> step p s s' -> I s') -> forall s, steps p i s -> I s.
Proof. intros H0 HS s H. induction H; eauto. Qed.

End Machine.

Arguments key : clear implicits.
Arguments view : clear implicits.
Arguments message : clear implicits.
Arguments thread : clear implicits.
Arguments mem : clear implicits.
Arguments op : clear implicits.
Arguments program : clear implicits.
Arguments state : clear implicits.
