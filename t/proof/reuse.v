(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * reuse.v - stations that are given again: the steps of those that give and take them, and of a collector that reads their
 * headers.
 *
 * There is any number of stations, threads and coroutines. A coroutine has a station; each of its events has the next number.
 * When it ends, the number after its last event is stored in the station, and the station is dead. Any thread may try to free it:
 * that of the coroutine, the collector, and one that does what a killed collector left undone; also one that saw an earlier death
 * of the same station and comes late. One succeeds, and pushes it on the stack of free stations. A thread that pops it goes on
 * with the number.
 *
 * `tenure` of a station is one word: its generation, which is how many coroutines have had the station, and a link, which is OWNED
 * while a coroutine has the station, and else index + 1 of the next one on the stack. To free a station is to exchange
 * (generation, OWNED) for (generation, link): so only the coroutine that has ended is freed, and never the next one.
 *
 * Idle is a thread that is in none of these calls. Each step is one operation on the memory, in the order of the C:
 *
 *	step                C
 *	r_new, r_new_not    ctp_station_new_ (ctp_take_next_): the compare-exchange of allocated_count. The station is all zeros
 *	r_look, r_look_none, r_next, r_pop, r_pop_fails, r_pop_none
 *	                    ctp_unfree_: the load of free, next_free, the compare-exchange of free
 *	r_number            ctp_birth_: the load of generation
 *	r_name, r_fence     ctp_birth_: the store of tenure (the next generation, OWNED), and the release fence after it
 *	r_read, r_header    ctp_birth_more_: the load of events; the store of first, or of any other word of the header
 *	r_announce, r_open  ctp_birth_: announce, is_dead = 0
 *	r_event             an event: co->events_ is counted up
 *	r_give, r_take      the scheduler hands the coroutine to another thread by a lock, or by what orders as much
 *	r_count, r_dead     ctp_death_: events, is_dead = 1. (death_ts is stored between them, and loaded, as events is)
 *	r_free              ctp_death_ where no collector reads the rings: it goes on with ctp_free_
 *	r_tell, r_told      ctp_note_: an entry of the death, or of something else, with the generation of the coroutine. Said stands
 *	                    for a ring, whose head is stored with release and loaded with acquire (ring.v)
 *	r_hear              ctp_coros_take: the collector takes such an entry
 *	r_ask               ctp_retire_, ctp_coros_release, read_header: the load of generation
 *	r_see, r_see_not    ctp_retire_, chain_add: the load of is_dead, which is 1, or not
 *	r_win, r_win_not    ctp_free_, chain_add: the compare-exchange of tenure
 *	r_mark              ctp_free_, chain_add: is_dead = 2
 *	r_top, r_link, r_push, r_push_fails, r_give_up
 *	                    ctp_free_, chain_push: the load of free, the store of tenure with the link of the last station of the
 *	                    chain, the compare-exchange of free. ctp_free_ has a chain of one station. chain_push gives up after some
 *	                    failures; then nobody has these stations any more
 *	h_generation, h_dead, h_announce, h_announce_not, h_header, h_events, h_fence, h_again, h_again_not
 *	                    read_header, in ctp_life_header: the collector loads generation, is_dead, announce, the header and events,
 *	                    and then looks at generation again
 *	x_other             what else a program does, elsewhere
 *
 * The C loads generation and next_free also alone, which are the halves of tenure. Here each is a load of all of it.
 * A value of free is a tag and an index: tag * (stations + 1) + index. A tenure is generation * (stations + 2) + link, and OWNED
 * is stations + 1. Neither the tag nor the generation wraps.
 *
 * What orders these steps in the C are the sites below. owner_needs and head_needs say which of them a theorem needs: the proofs
 * are in reusekept.v, reuseowner.v and reusehead.v. For each of these, reuseruns.v has a run without it that ends badly.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views.
Local Arguments Nat.mul : simpl never.
Local Arguments Nat.div : simpl never.
Local Arguments Nat.modulo : simpl never.

Inductive loc :=
| Top | Used | Tenure (i : nat) | Count (i : nat) | Header (i : nat) | Announce (i : nat) | Dead (i : nat)
| Hand (i : nat) | Said (i : nat) | Other (n : nat).
#[global] Instance loc_eq : EqDec loc.
Proof. intros a b. decide equality; apply Nat.eq_dec. Defined.

Inductive site :=
| Whole          (* the generation is in what is exchanged to free a station, and not only the link *)
| Tag            (* free has a tag that changes *)
| BirthRel       (* ctp_birth_: release of tenure, *)
| BirthFence     (* the release fence after it, *)
| AnnounceRel    (* release of announce, *)
| OpenRel        (* and of is_dead = 0 *)
| CountRel       (* ctp_death_: release of events, *)
| DeadRel        (* and of is_dead = 1 *)
| LinkRel        (* ctp_free_: release of tenure with the link. The collector's chain_push has none *)
| PushRel        (* ctp_free_, chain_push: release of the compare-exchange that pushes *)
| LookAcq        (* ctp_unfree_: acquire of the load of free, and of the compare-exchange that fails, *)
| PopAcq         (* and of that which pops *)
| AskAcq         (* ctp_retire_, ctp_coros_release: acquire of generation *)
| SeeAcq         (* ctp_retire_, chain_add: acquire of is_dead *)
| TellRel        (* a ring: release of head, *)
| HearAcq        (* and acquire of it *)
| HeadAcq        (* read_header: acquire of generation, *)
| HeadDeadAcq    (* of is_dead, *)
| HeadAnnounceAcq (* and of announce, *)
| HeadAnnounced  (* which must be there, *)
| HeadLives      (* as is_dead must be below 2; *)
| HeadFence      (* the acquire fence, *)
| HeadAgain      (* and the second look at generation *)
.
Definition site_eq (a b : site) : {a = b} + {a <> b}.
Proof. decide equality. Defined.

Definition style := site -> bool.
Definition as_in_c : style := fun _ => true.
Definition without (s : site) : style := fun s' => if site_eq s s' then false else true.
Definition release (b : bool) : order := if b then Rel else Rlx.
Definition acquire (b : bool) : order := if b then Acq else Rlx.

(* What is true of a station, which no thread reads. *)
Inductive status :=
| Fresh                (* never used *)
| Free                 (* on the stack *)
| Born (t : tid)       (* t has it, and will give it to a coroutine; *)
| New (t : tid)        (* and has stored the generation, *)
| Begun (t : tid)      (* and the header *)
| Live (t : tid)       (* of a coroutine that t has, *)
| Loose                (* or that is between two threads *)
| Dying (t : tid)      (* events is stored *)
| Ended                (* is_dead = 1 *)
| Won (t : tid)        (* t has exchanged tenure, *)
| Chain (t : tid).     (* and stored is_dead = 2 *)
Record world := World {
  stat : nat -> status;
  gen : nat -> nat;            (* how many coroutines have had a station *)
  total : nat -> nat;          (* how many events they had *)
  events_ : nat -> nat;        (* of the coroutine that has it: co->events_ *)
  ref_ : nat -> nat;           (* and the generation in its co->ref_ *)
  stack : list nat;            (* the free stations *)
  header : nat -> nat -> nat;  (* what the coroutine of a station and a generation stored as header, *)
  ended : nat -> nat -> nat;   (* and as events *)
  wrong : bool;                (* a station was won whose coroutine had not ended, or taken that was not free *)
}.
Definition is_ended (s : status) : bool := match s with Ended => true | _ => false end.
Definition is_free (s : status) : bool := match s with Fresh | Free => true | _ => false end.
Definition set_stat x i s := World (upd (stat x) i s) (gen x) (total x) (events_ x) (ref_ x) (stack x) (header x) (ended x) (wrong
  x).
Definition set_event x i :=
  World (stat x) (gen x) (upd (total x) i (S (total x i))) (upd (events_ x) i (S (events_ x i))) (ref_ x) (stack x)
        (header x) (ended x) (wrong x).
Definition set_counted x i t :=
  World (upd (stat x) i (Dying t)) (gen x) (total x) (events_ x) (ref_ x) (stack x) (header x)
        (upd (ended x) i (upd (ended x i) (gen x i) (events_ x i))) (wrong x).
Definition set_named x i t :=
  World (upd (stat x) i (New t)) (upd (gen x) i (S (gen x i))) (total x) (events_ x) (ref_ x) (stack x) (header x) (ended x)
    (wrong x).
Definition set_begun x i t v :=
  World (upd (stat x) i (Begun t)) (gen x) (total x) (events_ x) (ref_ x) (stack x)
        (upd (header x) i (upd (header x i) (gen x i) v)) (ended x) (wrong x).
Definition set_live x i t g k :=
  World (upd (stat x) i (Live t)) (gen x) (total x) (upd (events_ x) i k) (upd (ref_ x) i g) (stack x) (header x) (ended x) (wrong
    x).
Definition set_won x i t :=
  World (upd (stat x) i (Won t)) (gen x) (total x) (events_ x) (ref_ x) (stack x) (header x) (ended x)
        (wrong x || negb (is_ended (stat x i))).
Definition set_pushed x (c : list nat) :=
  World (fun j => if existsb (Nat.eqb j) c then Free else stat x j) (gen x) (total x) (events_ x) (ref_ x) (c ++ stack x)
        (header x) (ended x) (wrong x).
Definition set_taken x i t (r : list nat) :=
  World (upd (stat x) i (Born t)) (gen x) (total x) (events_ x) (ref_ x) r (header x) (ended x)
        (wrong x || negb (is_free (stat x i))).
Definition set_popped x i t := set_taken x i t (tl (stack x)).

(* c: the chain of stations that the thread has won, from the first on; lg: the generation of its last one. *)
Inductive place :=
| Has (c : list nat) (lg : nat)
| See (c : list nat) (lg i g : nat) | Win (c : list nat) (lg i g : nat) | Mark (c : list nat) (lg i g : nat)
| Link (c : list nat) (lg : nat) (v : val) | Push (c : list nat) (lg : nat) (v : val)
| Tell (i g : nat)
| PopNext (v : val) | PopCas (v : val) (next : nat)
| Number (i : nat) | Name (i g : nat) | Fence (i g : nat) | Read (i g : nat) | PutHeader (i g k : nat)
| PutAnnounce (i g k : nat) | Open (i g k : nat)
| HDead (i g : nat) | HAnnounce (i g d : nat) | HHeader (i g d : nat) | HEvents (i g d f : nat) | HFence (i g d f e : nat)
| HAgain (i g d f e : nat)
| Accepted (i g d f e : nat). (* of generation g: is_dead was d, the header f, and events e *)
Notation Idle := (Has [] 0).

Definition elsewhere (o : op loc) : Prop :=
  match o with
  | FenceAcq | FenceRel | FenceSc => True
  | BarrierCall _ | BarrierReturn | Register _ => False
  | _ => match place_of o with Some (Other _) => True | _ => False end
  end.

Section Program.
Variable stations : nat.
Variable collector : tid.
Variable y : style.

Definition tag (v : val) := v / S stations.
Definition index (v : val) := v mod S stations. (* of a station, plus 1; 0: none *)
Definition top (v : val) (i : nat) : val := (if y Tag then S (tag v) else tag v) * S stations + i.

Definition OWNED := S stations.
Definition tenure (g l : nat) : val := g * S OWNED + l.
Definition gen_of (v : val) := v / S OWNED.
Definition link_of (v : val) := v mod S OWNED.

(* The link to the first station of a list, or else e. *)
Definition first_or (c : list nat) (e : nat) : nat := match c with [] => e | i :: _ => S i end.

Inductive does (t : tid) : place -> world -> op loc -> ret -> place -> world -> Prop :=
| r_new x i : i < stations -> does t Idle x (Cas true Rlx Rlx Used i (S i)) (i, true) (Number i) (set_taken x i t (stack x))
| r_new_not x i v : does t Idle x (Cas true Rlx Rlx Used i (S i)) (v, false) Idle x
| r_look x v : index v <> 0 -> does t Idle x (Load (acquire (y LookAcq)) Top) (v, true) (PopNext v) x
| r_look_none x v : does t Idle x (Load (acquire (y LookAcq)) Top) (v, true) Idle x
| r_next x v n : does t (PopNext v) x (Load Rlx (Tenure (pred (index v)))) (n, true) (PopCas v (link_of n)) x
| r_pop x v n : does t (PopCas v n) x (Cas true (acquire (y PopAcq)) (acquire (y LookAcq)) Top v (top v n)) (v, true)
    (Number (pred (index v))) (set_popped x (pred (index v)) t)
| r_pop_fails x v n v' : index v' <> 0 ->
    does t (PopCas v n) x (Cas true (acquire (y PopAcq)) (acquire (y LookAcq)) Top v (top v n)) (v', false) (PopNext v') x
| r_pop_none x v n v' :
    does t (PopCas v n) x (Cas true (acquire (y PopAcq)) (acquire (y LookAcq)) Top v (top v n)) (v', false) Idle x
| r_number x i v : does t (Number i) x (Load Rlx (Tenure i)) (v, true) (Name i (S (gen_of v))) x
| r_name x i g :
    does t (Name i g) x (Store (release (y BirthRel)) (Tenure i) (tenure g OWNED)) (0, true) (Fence i g) (set_named x i t)
| r_fence x i g : y BirthFence = true -> does t (Fence i g) x FenceRel (0, true) (Read i g) x
| r_read x i g k : does t (Read i g) x (Load Rlx (Count i)) (k, true) (PutHeader i g k) x
| r_header x i g k v : does t (PutHeader i g k) x (Store Rlx (Header i) v) (0, true) (PutAnnounce i g k) (set_begun x i t v)
| r_announce x i g k :
    does t (PutAnnounce i g k) x (Store (release (y AnnounceRel)) (Announce i) 1) (0, true) (Open i g k) x
| r_open x i g k : does t (Open i g k) x (Store (release (y OpenRel)) (Dead i) 0) (0, true) Idle (set_live x i t g k)
| r_give x i : stat x i = Live t -> does t Idle x (Store Rel (Hand i) 1) (0, true) Idle (set_stat x i Loose)
| r_take x i v : stat x i = Loose -> does t Idle x (Exchange Acq (Hand i) 0) (v, true) Idle (set_stat x i (Live t))
| r_count x i : stat x i = Live t ->
    does t Idle x (Store (release (y CountRel)) (Count i) (events_ x i)) (0, true) Idle (set_counted x i t)
| r_dead x i : stat x i = Dying t ->
    does t Idle x (Store (release (y DeadRel)) (Dead i) 1) (0, true) (Tell i (ref_ x i)) (set_stat x i Ended)
| r_tell x i g : does t (Tell i g) x (Store (release (y TellRel)) (Said i) g) (0, true) Idle x
| r_told x i : stat x i = Live t -> does t Idle x (Store (release (y TellRel)) (Said i) (ref_ x i)) (0, true) Idle x
| r_hear x c lg i g : does t (Has c lg) x (Load (acquire (y HearAcq)) (Said i)) (g, true) (See c lg i g) x
| r_ask x c lg i v : does t (Has c lg) x (Load (acquire (y AskAcq)) (Tenure i)) (v, true) (See c lg i (gen_of v)) x
| r_see x c lg i g : does t (See c lg i g) x (Load (acquire (y SeeAcq)) (Dead i)) (1, true) (Win c lg i g) x
| r_see_not x c lg i g v : does t (See c lg i g) x (Load (acquire (y SeeAcq)) (Dead i)) (v, true) (Has c lg) x
| r_win x c lg i g g' : (y Whole = true -> g' = g) ->
    does t (Win c lg i g) x (Cas false Rlx Rlx (Tenure i) (tenure g' OWNED) (tenure g' (first_or c 0))) (tenure g' OWNED, true)
      (Mark c (match c with [] => g' | _ => lg end) i g') (set_won x i t)
| r_win_not x c lg i g v :
    does t (Win c lg i g) x (Cas false Rlx Rlx (Tenure i) (tenure g OWNED) (tenure g (first_or c 0))) (v, false) (Has c lg) x
| r_mark x c lg i g : does t (Mark c lg i g) x (Store Rlx (Dead i) 2) (0, true) (Has (i :: c) lg) (set_stat x i (Chain t))
| r_top x c lg v : c <> [] -> does t (Has c lg) x (Load Rlx Top) (v, true) (Link c lg v) x
| r_link x c lg v :
    does t (Link c lg v) x (Store (release (y LinkRel && negb (t =? collector))) (Tenure (last c 0)) (tenure lg (index v)))
      (0, true)
      (Push c lg v) x
| r_push x c lg v : does t (Push c lg v) x (Cas true (release (y PushRel)) Rlx Top v (top v (first_or c 0))) (v, true)
    Idle (set_pushed x c)
| r_push_fails x c lg v v' :
    does t (Push c lg v) x (Cas true (release (y PushRel)) Rlx Top v (top v (first_or c 0))) (v', false) (Link c lg v') x
| r_give_up x c lg v v' :
    does t (Push c lg v) x (Cas true (release (y PushRel)) Rlx Top v (top v (first_or c 0))) (v', false) Idle x
| h_generation x i v : t = collector ->
    does t Idle x (Load (acquire (y HeadAcq)) (Tenure i)) (v, true) (HDead i (gen_of v)) x
| h_dead x i g d : does t (HDead i g) x (Load (acquire (y HeadDeadAcq)) (Dead i)) (d, true) (HAnnounce i g d) x
| h_announce x i g d a : (y HeadAnnounced = true -> a <> 0) ->
    does t (HAnnounce i g d) x (Load (acquire (y HeadAnnounceAcq)) (Announce i)) (a, true) (HHeader i g d) x
| h_announce_not x i g d a :
    does t (HAnnounce i g d) x (Load (acquire (y HeadAnnounceAcq)) (Announce i)) (a, true) Idle x
| h_header x i g d f : does t (HHeader i g d) x (Load Rlx (Header i)) (f, true) (HEvents i g d f) x
| h_events x i g d f e : does t (HEvents i g d f) x (Load Rlx (Count i)) (e, true) (HFence i g d f e) x
| h_fence x i g d f e : y HeadFence = true -> does t (HFence i g d f e) x FenceAcq (0, true) (HAgain i g d f e) x
| h_again x i g d f e v : g <> 0 -> (y HeadLives = true -> d < 2) -> (y HeadAgain = true -> gen_of v = g) ->
    does t (HAgain i g d f e) x (Load Rlx (Tenure i)) (v, true) (Accepted i g d f e) x
| h_again_not x i g d f e v : does t (HAgain i g d f e) x (Load Rlx (Tenure i)) (v, true) Idle x
| x_other p x o v : elsewhere o -> does t p x o v p x.

Inductive silent (t : tid) : place -> world -> place -> world -> Prop :=
| r_event x i : stat x i = Live t -> silent t Idle x Idle (set_event x i)
| r_free x i g : silent t (Tell i g) x (Win [] 0 i g) x
| no_fence x i g : y BirthFence = false -> silent t (Fence i g) x (Read i g) x
| no_head_fence x i g d f e : y HeadFence = false -> silent t (HFence i g d f e) x (HAgain i g d f e) x
| h_accepted x i g d f e : silent t (Accepted i g d f e) x Idle x.

Definition reuse : program loc place world := Program does silent.

(* The memory is new: all zeros, but for what is elsewhere. *)
Definition zeroed (junk : loc -> val) (l : loc) : val := match l with Other _ => junk l | _ => 0 end.
Definition new_world : world :=
  World (fun _ => Fresh) (fun _ => 0) (fun _ => 0) (fun _ => 0) (fun _ => 0) [] (fun _ _ => 0) (fun _ _ => 0) false.
Definition initial (threads : nat) (registered : tid -> bool) (junk : loc -> val) : state loc place world :=
  State (start threads registered (zeroed junk)) (fun _ => Idle) new_world.
End Program.

(* --- what a thread has ------------------------------------------------------------------------------------------------------ *)

(* It is about to give station i to a coroutine. *)
Definition owns (p : place) (i : nat) : Prop :=
  match p with
  | Number j | Name j _ | Fence j _ | Read j _ | PutHeader j _ _ | PutAnnounce j _ _ | Open j _ _ => j = i
  | _ => False
  end.

(* It has won station i, and has not pushed it yet. *)
Definition frees (p : place) (i : nat) : Prop :=
  match p with
  | Has c _ | See c _ _ _ | Win c _ _ _ | Link c _ _ | Push c _ _ => In i c
  | Mark c _ j _ => j = i \/ In i c
  | _ => False
  end.

(* A coroutine has station i, and has not ended. *)
Definition lives (s : status) : Prop := match s with Live _ | Loose | Dying _ => True | _ => False end.

(* --- what is proved of it --------------------------------------------------------------------------------------------------- *)

(* What reuse_unique_owner needs of the C; and what header_is_its_own needs beside that. *)
Definition owner_needs : list site :=
  [Whole; Tag; BirthRel; DeadRel; PushRel; LookAcq; AskAcq; SeeAcq; TellRel; HearAcq].
Definition head_needs : list site :=
  [BirthFence; AnnounceRel; OpenRel; CountRel; LinkRel; HeadAcq; HeadDeadAcq; HeadAnnounceAcq; HeadAnnounced; HeadLives; HeadFence;
   HeadAgain].

(*
 * What reuse_unique_owner says of a state.
 * - No station was won whose coroutine had not ended, and none was taken that was not free.
 * - A station that a thread is about to give to a coroutine is not on the stack, no other thread is about to give it away, and
 *   none frees it. One that a thread frees is not on the stack, and no other frees it. One of a coroutine that lives is neither
 *   on the stack, nor about to be given away, nor freed.
 * - The number of the next event of a coroutine is how many events its station has had: no number is used twice. A new coroutine
 *   goes on from that number, and its generation is how many coroutines the station has had: none is used twice.
 * - No station is on the stack twice.
 *)
Definition one_owner (s : state loc place world) : Prop :=
  wrong (beside s) = false /\
  (forall t i, owns (where_ s t) i -> ~ In i (stack (beside s)) /\ (forall u, owns (where_ s u) i -> u = t) /\
     (forall u, ~ frees (where_ s u) i)) /\
  (forall t i, frees (where_ s t) i -> ~ In i (stack (beside s)) /\ (forall u, frees (where_ s u) i -> u = t)) /\
  (forall i, lives (stat (beside s) i) -> ~ In i (stack (beside s)) /\
     (forall u, ~ owns (where_ s u) i /\ ~ frees (where_ s u) i) /\
     events_ (beside s) i = total (beside s) i /\ ref_ (beside s) i = gen (beside s) i) /\
  (forall t i g k, where_ s t = PutHeader i g k -> k = total (beside s) i /\ g = gen (beside s) i) /\
  NoDup (stack (beside s)).

(*
 * What header_is_its_own says of a state. The header that the collector has accepted is that of the coroutine of this generation,
 * and if it took the coroutine for ended, so is the number of events.
 *)
Definition own_header (s : state loc place world) : Prop :=
  forall t i g d h e, where_ s t = Accepted i g d h e ->
    1 <= g <= gen (beside s) i /\ h = header (beside s) i g /\ (d = 1 -> e = ended (beside s) i g).
