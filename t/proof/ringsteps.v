(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * ringsteps.v - the ring of one thread, its writer in ctp.h and its reader in rings.c: the steps. The theorems are in ring.v.
 *
 * There are any size, any number of laps and of words in an entry, and any schedule. Each entry is plain memory, so that there is
 * a data race as soon as one access is not ordered. (The collector loads them with relaxed atomics. That can only be less of a
 * race.) Thread 0 writes and thread 1 reads. Both, and any number of other threads, may execute fences between these steps, load
 * what is atomic, and do what they like elsewhere.
 *
 *	step            C
 *	w_put, w_ask    ctp_push_, ctp_event_quick_: whether head is at the limit
 *	w_count         ctp_room_: lost_events, said_events, lost_notes, said_notes
 *	w_room          ctp_room_: the load of tail, ctp_end_, and the limit; where there is room
 *	w_full          the same, where there is none: the entry is to be counted
 *	w_wait          the same, where ctp_wait_ waits and the look is repeated
 *	w_store         ctp_skip_; said_events, said_notes and gap_ts in ctp_room_
 *	w_gap           ctp_room_: gap_ts, for the entry that reports a gap
 *	w_word          ctp_publish_: ts, value, ref, what
 *	w_publish       ctp_publish_: the store of head
 *	w_miss          ctp_room_: the addition to lost_events or lost_notes
 *	w_over          the end of the thread, wherever it is: it has returned, or was killed
 *	r_over          all by which the collector learns of it, before ctp_harvest_last (gone)
 *	r_look          look_at: the load of head
 *	r_load          look_at: lost_events, lost_notes; see_skips: back_from, back_to, over_from, over_to
 *	r_skips         see_skips: which skips lie ahead; look_at: there is less than the ring can have
 *	r_anew          look_at: there is more, so the ring begins anew; the model ends here
 *	r_pass          has_next: a skip is passed
 *	r_begin, r_word take_from, take_threads, ns_after: an entry is read, of which not all need be taken
 *	r_drop          the same: it is not taken, because it is too new
 *	r_take          take_from: an entry is taken
 *	r_done          ctp_rings_take: the store of tail
 *
 * The numbers are those of arithmetic: 64 bits do not wrap in any time that there is. see_skip_wraps says that the comparisons
 * of see_skip, which are made modulo 2^64, mean what they mean here.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine lanes ringlogs.
Local Arguments Nat.div : simpl never.
Local Arguments Nat.modulo : simpl never.
Local Arguments Nat.mul : simpl never.

Inductive loc :=
| Head | Tail | BackFrom | BackTo | OverFrom | OverTo | Lost (note : bool) | Said (note : bool) | GapTs | Word (place j : nat)
| Gone               (* 1: the writer has ended *)
| Other (n : nat).   (* what is of no ring *)
#[global] Instance loc_eq : EqDec loc.
Proof. intros a b. decide equality; first [apply Nat.eq_dec | apply Bool.bool_dec]. Defined.

(*
 * The orders of the four accesses that order the rest: head by its writer and its reader, tail by its reader and its writer. And
 * how many entries the writer takes the ring to have beyond those that it has.
 *)
Record style := Style { publish : order; look : order; done : order; room : order; extra : nat }.
Definition as_in_c : style := Style Rel Acq Rel Acq 0.

Inductive wpc :=
| Idle
| Ask (e : entry) (note : bool) (got : list val)
| Puts (todo : list (loc * val)) (next : wpc)
| GapTime (e : entry) (events notes : nat)
| Fill (it : item) (j : nat) (next : option entry)
| Missed (note : bool)
| Ended (at_ : wpc).

Inductive rpc := Ready | Look (got : list val) | Copy (n : nat) (got : list (nat * val)) | Anew.

(* struct ctp_ring. *)
Record reader := Reader { next : nat; told : nat; top : nat; ahead : list (nat * nat); at_ : rpc }.

(*
 * lost_events and lost_notes of struct ctp_ring: counts. ended: it is known that the writer has ended. final: and the last look has
 * begun since.
 *)
Record tally := Tally { ended : bool; final : bool; counts : bool -> nat }.

Inductive local := Wr (a : lane) (c : wpc) | Rd (r : reader) (k : tally).

(* What happened. num, ent: number and text of the k-th entry. bk, ov: which skips there were, once so many were published. *)
Record world := World {
  log : list item; out : list entry; took : nat;
  count : nat; num : nat -> nat; ent : nat -> entry; bk : nat -> nat * nat; ov : nat -> nat * nat; skips : list (nat * nat);
}.

Definition counters : list loc := [Lost false; Said false; Lost true; Said true].
Definition look_words : list loc := [Lost false; Lost true; BackFrom; BackTo; OverFrom; OverTo].

Definition lost_of (got : list val) (b : bool) : nat :=
  if b then nth 2 got 0 - nth 3 got 0 else nth 0 got 0 - nth 1 got 0.
Definition need_of (got : list val) : nat := if lost_of got false + lost_of got true =? 0 then 1 else 2.

(* What ctp_skip_ stores. *)
Definition skip_words (w : went) (a : lane) : list (loc * val) :=
  match w with
  | Straight => []
  | Back => [(BackFrom, back_from a); (BackTo, back_to a)]
  | Over => [(OverFrom, over_from a); (OverTo, over_to a)]
  end.
Definition skips_words (ws : list went) (a : lane) : list (loc * val) := flat_map (fun w => skip_words w a) ws.

Definition said_words (got : list val) : list (loc * val) :=
  [(Said false, nth 1 got 0 + lost_of got false); (Said true, nth 3 got 0 + lost_of got true)].

(* see_skip; what it finds comes before head. *)
Definition see_skip (first from to head : nat) : list (nat * nat) :=
  if (first <=? from) && (from <? to) && (to <=? head) then [(from, to)] else [].
Definition see_skips (r : reader) (got : list val) : list (nat * nat) :=
  let back := see_skip (next r) (nth 2 got 0) (nth 3 got 0) (top r) in
  let first := match back with s :: _ => snd s | [] => next r end in
  back ++ see_skip first (nth 4 got 0) (nth 5 got 0) (top r).
Definition count_of (got : list val) (b : bool) : nat := nth (if b then 1 else 0) got 0.
Definition skipped (l : list (nat * nat)) : nat := fold_right (fun s n => snd s - fst s + n) 0 l.

Definition forward (a : lane) : lane :=
  Lane (S (head a)) (limit a) (back_from a) (back_to a) (over_from a) (over_to a) (seen a).

Definition set_at (r : reader) (c : rpc) : reader := Reader (next r) (told r) (top r) (ahead r) c.

Section Program.
Variable size turn words : nat.
Variable gap_text : nat -> nat -> nat -> entry. (* the entry that reports a gap *)
Variable y : style.

Definition with_log (x : world) (it : item) : world :=
  World (it :: log x) (out x) (took x) (count x) (num x) (ent x) (bk x) (ov x) (skips x).
Definition with_skips (x : world) (ss : list (nat * nat)) : world :=
  World (log x) (out x) (took x) (count x) (num x) (ent x) (bk x) (ov x) (ss ++ skips x).
Definition published (x : world) (a : lane) (it : item) : world :=
  World (it :: log x) (out x) (took x) (S (count x)) (upd (num x) (count x) (head a)) (upd (ent x) (count x) (text gap_text it))
        (upd (bk x) (S (count x)) (back_from a, back_to a)) (upd (ov x) (S (count x)) (over_from a, over_to a)) (skips x).
Definition taken (x : world) (e : entry) : world :=
  World (log x) (e :: out x) (S (took x)) (count x) (num x) (ent x) (bk x) (ov x) (skips x).

(* Nothing of the ring: a fence, a membarrier, an atomic load of which nothing becomes, or an access to what is of no ring. *)
Definition aside (o : op loc) : Prop :=
  match o with
  | PlainLoad _ | PlainStore _ _ => False
  | Load _ l => forall s j, l <> Word s j
  | Store _ l _ | Exchange _ l _ | FetchAdd _ l _ | Cas _ _ _ l _ _ => exists n, l = Other n
  | _ => True
  end.

Inductive does (t : tid) : local -> world -> op loc -> ret -> local -> world -> Prop :=
| any_aside l x o r : aside o -> does t l x o r l x
| w_count x a e note got l v : t = 0 -> nth_error counters (length got) = Some l ->
    does t (Wr a (Ask e note got)) x (Load Rlx l) (v, true) (Wr a (Ask e note (got ++ [v]))) x
| w_room x a e note got skipping tail b end_ ws : t = 0 -> length got = 4 -> (skipping = true -> turns_fit size turn) ->
    find_end (size + extra y) turn skipping a tail (need_of got) = (b, end_, ws) -> has_room b end_ (need_of got) = true ->
    does t (Wr a (Ask e note got)) x (Load (room y) Tail) (tail, true)
      (Wr (see b tail (new_limit turn skipping b end_ (need_of got)))
          (if need_of got =? 1 then Puts (skips_words ws b) (Fill (Put e) 0 None)
           else Puts (skips_words ws b ++ said_words got) (GapTime e (lost_of got false) (lost_of got true))))
      (with_skips x (made ws b))
| w_full x a e note got skipping tail b end_ ws ts : t = 0 -> length got = 4 -> (skipping = true -> turns_fit size turn) ->
    find_end (size + extra y) turn skipping a tail (need_of got) = (b, end_, ws) -> has_room b end_ (need_of got) = false ->
    does t (Wr a (Ask e note got)) x (Load (room y) Tail) (tail, true)
      (Wr (see b tail (limit b))
          (Puts (skips_words ws b ++ if need_of got =? 1 then [(GapTs, ts)] else []) (Missed note)))
      (with_skips x (made ws b))
| w_wait x a e note got skipping tail b end_ ws : t = 0 -> length got = 4 -> (skipping = true -> turns_fit size turn) ->
    find_end (size + extra y) turn skipping a tail (need_of got) = (b, end_, ws) -> has_room b end_ (need_of got) = false ->
    does t (Wr a (Ask e note got)) x (Load (room y) Tail) (tail, true)
      (Wr (see b tail (limit b)) (Puts (skips_words ws b) (Ask e note got))) (with_skips x (made ws b))
| w_store x a l v todo c : t = 0 ->
    does t (Wr a (Puts ((l, v) :: todo) c)) x (Store Rlx l v) (0, true) (Wr a (Puts todo c)) x
| w_gap x a e events notes ts : t = 0 ->
    does t (Wr a (GapTime e events notes)) x (Load Rlx GapTs) (ts, true) (Wr a (Fill (Gap ts events notes) 0 (Some e))) x
| w_word x a it j nx : t = 0 -> j < words ->
    does t (Wr a (Fill it j nx)) x (PlainStore (Word (head a mod size) j) (nth j (text gap_text it) 0)) (0, true)
      (Wr a (Fill it (S j) nx)) x
| w_publish x a it nx : t = 0 ->
    does t (Wr a (Fill it words nx)) x (Store (publish y) Head (S (head a))) (0, true)
      (Wr (forward a) match nx with Some e => Fill (Put e) 0 None | None => Idle end) (published x a it)
| w_miss x a note v : t = 0 ->
    does t (Wr a (Missed note)) x (FetchAdd Rlx (Lost note) 1) (v, true) (Wr a Idle) (with_log x (Miss note))
| w_over x a c : t = 0 -> does t (Wr a c) x (Store Rel Gone 1) (0, true) (Wr a (Ended c)) x
| r_over x r k v : t = 1 -> v <> 0 ->
    does t (Rd r k) x (Load Acq Gone) (v, true) (Rd r (Tally true (final k) (counts k))) x
| r_look x r k v : t = 1 -> at_ r = Ready ->
    does t (Rd r k) x (Load (look y) Head) (v, true)
      (Rd (Reader (next r) (told r) v [] (Look [])) (Tally (ended k) (ended k) (counts k))) x
| r_load x r k got l v : t = 1 -> at_ r = Look got -> nth_error look_words (length got) = Some l ->
    does t (Rd r k) x (Load Rlx l) (v, true) (Rd (set_at r (Look (got ++ [v]))) k) x
| r_word x r k n got j v : t = 1 -> at_ r = Copy n got -> j < words ->
    does t (Rd r k) x (PlainLoad (Word (n mod size) j)) (v, true) (Rd (set_at r (Copy n ((j, v) :: got))) k) x
| r_done x r k : t = 1 -> at_ r = Ready ->
    does t (Rd r k) x (Store (done y) Tail (next r)) (0, true) (Rd (Reader (next r) (next r) (top r) (ahead r) Ready) k) x.

Inductive silent (t : tid) : local -> world -> local -> world -> Prop :=
| w_put x a e : t = 0 -> head a <> limit a -> length e = words -> silent t (Wr a Idle) x (Wr a (Fill (Put e) 0 None)) x
| w_ask x a e note : t = 0 -> head a = limit a -> length e = words -> silent t (Wr a Idle) x (Wr a (Ask e note [])) x
| w_stored x a c : t = 0 -> silent t (Wr a (Puts [] c)) x (Wr a c) x
| r_skips x r k got : t = 1 -> at_ r = Look got -> length got = 6 ->
    top r - next r - skipped (see_skips r got) <= size ->
    silent t (Rd r k) x
      (Rd (Reader (next r) (told r) (top r) (see_skips r got) Ready) (Tally (ended k) (final k) (count_of got))) x
| r_anew x r k got : t = 1 -> at_ r = Look got -> length got = 6 ->
    size < top r - next r - skipped (see_skips r got) ->
    silent t (Rd r k) x (Rd (set_at r Anew) k) x
| r_pass x r k s rest : t = 1 -> at_ r = Ready -> ahead r = s :: rest -> next r = fst s ->
    silent t (Rd r k) x (Rd (Reader (snd s) (told r) (top r) rest Ready) k) x
| r_begin x r k n : t = 1 -> at_ r = Ready -> next r <= n < top r -> (forall s, In s (ahead r) -> ~ inside n s) ->
    silent t (Rd r k) x (Rd (set_at r (Copy n [])) k) x
| r_drop x r k n got : t = 1 -> at_ r = Copy n got -> silent t (Rd r k) x (Rd (set_at r Ready) k) x
| r_take x r k got e : t = 1 -> at_ r = Copy (next r) got -> length e = words ->
    (forall j, j < words -> In (j, nth j e 0) got) ->
    silent t (Rd r k) x (Rd (Reader (S (next r)) (told r) (top r) (ahead r) Ready) k) (taken x e).

Definition ring : program loc local world := Program does silent.

Definition nothing : world :=
  World [] [] 0 0 (fun _ => 0) (fun _ => []) (fun _ => (0, 0)) (fun _ => (0, 0)) [(0, 0)].

(* A memory of zeros, but entries may have any value. The writer has just claimed the ring: there is room for all of it. *)
Definition zeroed (junk : loc -> val) (l : loc) : val := match l with Word _ _ | Other _ => junk l | _ => 0 end.
Definition initial (threads : nat) (registered : tid -> bool) (junk : loc -> val) : state loc local world :=
  State (start threads registered (zeroed junk))
        (fun t => if t =? 0 then Wr (Lane 0 size 0 0 0 0 0) Idle
                  else Rd (Reader 0 0 0 [] Ready) (Tally false false (fun _ => 0))) nothing.

End Program.
