(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * ring.v - a ring of entries between one writer and one reader: no data race, nothing twice, nothing out of order, and what is
 * lost is told where it is missing.
 *
 * The ring has any number of cells, an entry any number of words. Entries are plain memory, on both sides. (The collector loads
 * them with relaxed atomics. That can only be less of a race.) The writer makes attempts 0, 1, 2 ...; an attempt for which there
 * is no room is counted, and the next entry that has room is preceded by one that tells how many were lost before it. Other threads do
 * what they like elsewhere.
 *
 * It is the ring without skips (CTP_MODE_SKIPS unset), of one owner: for skips see t/model/skips.pml.
 *
 *	step            C
 *	w_quick         ctp_event_quick_, ctp_push_: lane->head != lane->limit
 *	w_look          ctp_room_: the load of tail
 *	w_room, w_gap   ctp_room_, ctp_end_: there is room for need entries; need 2 is the gap and the entry
 *	w_lost          ctp_room_: fetch_add of lost_events
 *	w_word          ctp_publish_: the four stores
 *	w_publish       ctp_publish_: the store of head
 *	w_over          the end of the thread, and all by which the collector learns of it
 *	r_look, r_lost  look_at (rings.c): head, lost_events
 *	r_copy, r_done  take_from: an entry
 *	r_tail          ctp_rings_take: the store of tail
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views runs.
Local Arguments Nat.mul : simpl never.
Local Arguments Nat.div : simpl never.
Local Arguments Nat.modulo : simpl never.

Inductive loc := Head | Tail | Lost | Over | Cell (c i : nat) | Other (n : nat).
#[global] Instance loc_eq : EqDec loc.
Proof. intros a b. decide equality; apply Nat.eq_dec. Defined.

Record style := Style {
  publish : order;  (* of the store of head *)
  look : order;     (* of the reader's load of it *)
  done : order;     (* of the reader's store of tail *)
  room : order;     (* of the writer's load of it *)
  extra : nat;      (* entries that the writer takes the ring to have beyond its cells *)
}.

(* What is in an entry: attempt k, or that n attempts were lost. *)
Inductive content := Event (k : nat) | Gap (n : nat).
Definition size_of (c : content) : nat := match c with Event _ => 1 | Gap n => n end.
Definition gap_of (c : content) : nat := match c with Event _ => 0 | Gap n => n end.

Inductive wphase := WIdle | WRoom (tail : nat) | WFill (i : nat) | WOver.
Inductive rphase := RIdle | RLost (head : nat) | RCopy (head i : nat).

Record world := World {
  (* the writer *)
  wr : wphase;
  head : nat;             (* entries that are published *)
  limit : nat;            (* up to here there certainly is room *)
  tries : nat;            (* attempts that are over: in the ring, or lost *)
  lost : nat;             (* of these, all that were lost *)
  pending : nat;          (* of these, those that no entry tells yet *)
  ent : nat -> content;   (* the entries, by number, as the writer meant them *)
  wrote : nat -> nat -> nat; (* of a cell and word: 1 + the entry that was stored last; 0: none *)
  (* the reader *)
  rd : rphase;
  taken : nat;            (* entries that it has taken *)
  told : nat;             (* lost, as it has read it *)
  ended : bool;           (* it knows that the writer has ended *)
  last : bool;            (* and has begun a look since *)
  rows : nat -> nat -> val; (* of entry and word: what it has copied *)
  seen : nat -> nat -> nat; (* of a cell and word: 1 + the entry that was copied last; 0: none *)
}.

Definition upd2 {A} (f : nat -> nat -> A) (a b : nat) (x : A) : nat -> nat -> A :=
  fun a' b' => if (a =? a') && (b =? b') then x else f a' b'.

Definition set_wr x p := World p (head x) (limit x) (tries x) (lost x) (pending x) (ent x) (wrote x)
  (rd x) (taken x) (told x) (ended x) (last x) (rows x) (seen x).
Definition set_fill x l p c := World (WFill 0) (head x) l (tries x) (lost x) p (upd (ent x) (head x) c) (wrote x)
  (rd x) (taken x) (told x) (ended x) (last x) (rows x) (seen x).
Definition set_lost x := World WIdle (head x) (limit x) (S (tries x)) (S (lost x)) (S (pending x)) (ent x) (wrote x)
  (rd x) (taken x) (told x) (ended x) (last x) (rows x) (seen x).
Definition set_word x c i := World (WFill (S i)) (head x) (limit x) (tries x) (lost x) (pending x) (ent x)
  (upd2 (wrote x) c i (S (head x))) (rd x) (taken x) (told x) (ended x) (last x) (rows x) (seen x).
Definition set_event x := World WIdle (S (head x)) (limit x) (S (tries x)) (lost x) (pending x) (ent x) (wrote x)
  (rd x) (taken x) (told x) (ended x) (last x) (rows x) (seen x).
Definition set_gap x := World (WFill 0) (S (head x)) (limit x) (tries x) (lost x) (pending x)
  (upd (ent x) (S (head x)) (Event (tries x))) (wrote x) (rd x) (taken x) (told x) (ended x) (last x) (rows x) (seen x).
Definition set_rd x p := World (wr x) (head x) (limit x) (tries x) (lost x) (pending x) (ent x) (wrote x)
  p (taken x) (told x) (ended x) (last x) (rows x) (seen x).
Definition set_ended x := World (wr x) (head x) (limit x) (tries x) (lost x) (pending x) (ent x) (wrote x)
  (rd x) (taken x) (told x) true (last x) (rows x) (seen x).
Definition set_looked x j := World (wr x) (head x) (limit x) (tries x) (lost x) (pending x) (ent x) (wrote x)
  (RLost j) (taken x) (told x) (ended x) (ended x) (rows x) (seen x).
Definition set_told x j n := World (wr x) (head x) (limit x) (tries x) (lost x) (pending x) (ent x) (wrote x)
  (RCopy j 0) (taken x) n (ended x) (last x) (rows x) (seen x).
Definition set_copied x j i c v := World (wr x) (head x) (limit x) (tries x) (lost x) (pending x) (ent x) (wrote x)
  (RCopy j (S i)) (taken x) (told x) (ended x) (last x) (upd2 (rows x) (taken x) i v) (upd2 (seen x) c i (S (taken x))).
Definition set_taken x j := World (wr x) (head x) (limit x) (tries x) (lost x) (pending x) (ent x) (wrote x)
  (RCopy j 0) (S (taken x)) (told x) (ended x) (last x) (rows x) (seen x).

(* What a thread may do elsewhere. *)
Definition elsewhere (o : op loc) : Prop :=
  match o with
  | FenceAcq | FenceRel | FenceSc => True
  | BarrierCall _ | BarrierReturn | Register _ | PlainLoad _ | PlainStore _ _ => False
  | _ => match place_of o with Some (Other _) => True | _ => False end
  end.

Section Program.
Variable cells words : nat.
Variable word : content -> nat -> val. (* how a content is written *)
Variable w r : tid.
Variable y : style.

Definition cell_of (e : nat) := e mod cells.

Inductive does (t : tid) : unit -> world -> op loc -> ret -> unit -> world -> Prop :=
| w_look u x n : t = w -> wr x = WIdle -> head x = limit x ->
    does t u x (Load (room y) Tail) (n, true) u (set_wr x (WRoom n))
| w_lost u x n v : t = w -> wr x = WRoom n -> n + cells + extra y < head x + (if pending x =? 0 then 1 else 2) ->
    does t u x (FetchAdd Rlx Lost 1) (v, true) u (set_lost x)
| w_word u x i : t = w -> wr x = WFill i -> i < words ->
    does t u x (PlainStore (Cell (cell_of (head x)) i) (word (ent x (head x)) i)) (0, true) u
      (set_word x (cell_of (head x)) i)
| w_publish u x k : t = w -> wr x = WFill words -> ent x (head x) = Event k ->
    does t u x (Store (publish y) Head (S (head x))) (0, true) u (set_event x)
| w_publish_gap u x n : t = w -> wr x = WFill words -> ent x (head x) = Gap n ->
    does t u x (Store (publish y) Head (S (head x))) (0, true) u (set_gap x)
| w_over u x : t = w -> wr x = WIdle -> does t u x (Store Rel Over 1) (0, true) u (set_wr x WOver)
| r_over u x : t = r -> rd x = RIdle -> does t u x (Load Acq Over) (1, true) u (set_ended x)
| r_look u x j : t = r -> rd x = RIdle -> does t u x (Load (look y) Head) (j, true) u (set_looked x j)
| r_lost u x j n : t = r -> rd x = RLost j -> does t u x (Load Rlx Lost) (n, true) u (set_told x j n)
| r_copy u x j i v : t = r -> rd x = RCopy j i -> taken x < j -> i < words ->
    does t u x (PlainLoad (Cell (cell_of (taken x)) i)) (v, true) u (set_copied x j i (cell_of (taken x)) v)
| r_tail u x j : t = r -> rd x = RCopy j 0 ->
    does t u x (Store (done y) Tail (taken x)) (0, true) u (set_rd x RIdle)
| x_other u x o v : elsewhere o -> does t u x o v u x.

Inductive silent (t : tid) : unit -> world -> unit -> world -> Prop :=
| w_quick u x : t = w -> wr x = WIdle -> head x < limit x ->
    silent t u x u (set_fill x (limit x) (pending x) (Event (tries x)))
| w_room u x n : t = w -> wr x = WRoom n -> pending x = 0 -> head x + 1 <= n + cells + extra y ->
    silent t u x u (set_fill x (n + cells + extra y) 0 (Event (tries x)))
| w_gap u x n : t = w -> wr x = WRoom n -> pending x <> 0 -> head x + 2 <= n + cells + extra y ->
    silent t u x u (set_fill x (n + cells + extra y) 0 (Gap (pending x)))
| w_again u x n : t = w -> wr x = WRoom n -> silent t u x u (set_wr x WIdle)
| r_done u x j : t = r -> rd x = RCopy j words -> taken x < j -> silent t u x u (set_taken x j).

Definition ring : program loc unit world := Program does silent.

Definition zeroed (junk : loc -> val) (l : loc) : val := match l with Cell _ _ | Other _ => junk l | _ => 0 end.
Definition initial (threads : nat) (registered : tid -> bool) (junk : loc -> val) : state loc unit world :=
  State (start threads registered (zeroed junk)) (fun _ => tt)
    (World WIdle 0 (cells + extra y) 0 0 0 (fun _ => Event 0) (fun _ _ => 0)
           RIdle 0 0 false false (fun _ _ => 0) (fun _ _ => 0)).

End Program.

(* How many attempts entries 0 .. e - 1 stand for, and how many of them were lost. *)
Fixpoint sum (f : content -> nat) (ent : nat -> content) (e : nat) : nat :=
  match e with 0 => 0 | S e => sum f ent e + f (ent e) end.

Lemma sum_upd f ent n c : forall e, e <= n -> sum f (upd ent n c) e = sum f ent e.
Proof.
  induction e as [|e IH]; simpl; intros; auto. rewrite IH by lia. rewrite upd_other by lia. auto.
Qed.

Lemma sum_mono f ent a b : a <= b -> sum f ent a <= sum f ent b.
Proof. induction 1; simpl; lia. Qed.

Ltac splits := repeat match goal with |- _ /\ _ => split end.
Ltac loaded := match goal with H : loadable _ _ _ _ _ |- _ => destruct H as [HL HL'] end.

Section Proof.
Variable cells words : nat.
Hypothesis cells_some : 0 < cells.
Variable word : content -> nat -> val.
Variable w r : tid.
Hypothesis apart : w <> r.
Variable y : style.
Hypothesis publish_rel : is_rel (publish y) = true.
Hypothesis look_acq : is_acq (look y) = true.
Hypothesis done_rel : is_rel (done y) = true.
Hypothesis room_acq : is_acq (room y) = true.
Hypothesis exact_room : extra y = 0.

Notation cell_of := (cell_of cells).

Definition newest_at (m : mem loc) (l : loc) := pred (length (hist m l)).

(* v (a thread's or a message's view) knows all that was stored in cells up to entry j: that it happened, and which message it is. *)
Definition knows_entries (m : mem loc) (x : world) (v : view loc) (j : nat) : Prop :=
  forall c i, wrote x c i <= j -> clock m true true (Cell c i) w <= v (Of w) /\ newest_at m (Cell c i) <= v (At (Cell c i)).
(* v knows all that was copied of entries before n. *)
Definition knows_copies (m : mem loc) (x : world) (v : view loc) (n : nat) : Prop :=
  forall c i, seen x c i <= n -> clock m true false (Cell c i) r <= v (Of r).

Definition known (m : mem loc) (x : world) (l : loc) (n : nat) (g : message loc) : Prop :=
  match l with
  | Head => value g = n /\ knows_entries m x (with_ g) n /\ sum gap_of (ent x) n <= with_ g (At Lost)
  | Tail => value g <= taken x /\ knows_copies m x (with_ g) (value g)
  | Lost => value g = n
  | Over => value g = 0 /\ n = 0 \/
      value g = 1 /\ wr x = WOver /\ head x <= with_ g (At Head) /\ lost x <= with_ g (At Lost)
  | _ => True
  end.

Definition filling (x : world) (i : nat) : Prop :=
  head x < limit x /\ i <= words /\ (forall j, j < i -> wrote x (cell_of (head x)) j = S (head x)) /\
  match ent x (head x) with
  | Event k => k = tries x /\ pending x = 0
  | Gap n => S (head x) < limit x /\ pending x = 0
  end.

(* The sizes of all entries, with the one that is being written. *)
Definition sizes (x : world) : nat :=
  sum size_of (ent x) (head x) + match wr x with WFill _ => gap_of (ent x (head x)) | _ => 0 end.
Definition gaps (x : world) : nat :=
  sum gap_of (ent x) (head x) + match wr x with WFill _ => gap_of (ent x (head x)) | _ => 0 end.

(* The head that the reader has seen last. *)
Definition mark (x : world) : nat := match rd x with RIdle => taken x | RLost j | RCopy j _ => j end.

Record inv (s : state loc unit world) : Prop := Inv {
  i_wf : wf (memory s);
  i_clocks : clocks (memory s);
  i_quiet : racy (memory s) = false;
  i_known : forall l n g, nth_error (hist (memory s) l) n = Some g -> known (memory s) (beside s) l n g;
  (* who accesses what *)
  i_atomic : forall l st t, (forall c i, l <> Cell c i) -> clock (memory s) true st l t = 0;
  i_plain : forall c i p st t, clock (memory s) p st (Cell c i) t <> 0 ->
    p = true /\ (st = true /\ t = w \/ st = false /\ t = r);
  (* histories *)
  i_head : length (hist (memory s) Head) = S (head (beside s));
  i_lost : length (hist (memory s) Lost) = S (lost (beside s));
  i_cell : forall c i e, wrote (beside s) c i = S e ->
    cell_of e = c /\ e < limit (beside s) /\ i < words /\
    (e < head (beside s) \/ e = head (beside s) /\ exists n, wr (beside s) = WFill n /\ i < n) /\
    exists g, nth_error (hist (memory s) (Cell c i)) (newest_at (memory s) (Cell c i)) = Some g /\
              value g = word (ent (beside s) e) i;
  i_wrote : forall e i, e < head (beside s) -> i < words -> S e <= wrote (beside s) (cell_of e) i;
  i_unwrote : forall c i, wrote (beside s) c i = 0 -> length (hist (memory s) (Cell c i)) = 1;
  i_seen : forall c i e, seen (beside s) c i = S e -> cell_of e = c /\ e < head (beside s) /\ e <= taken (beside s);
  (* the writer *)
  i_limits : head (beside s) <= limit (beside s) /\ cells <= limit (beside s) <= taken (beside s) + cells;
  i_room : match wr (beside s) with
           | WRoom n => head (beside s) = limit (beside s) /\ n <= taken (beside s) /\
                        knows_copies (memory s) (beside s) (cur (thr (memory s) w)) n
           | WFill i => filling (beside s) i
           | _ => True
           end;
  i_copies : forall c i, seen (beside s) c i + cells <= limit (beside s) ->
    clock (memory s) true false (Cell c i) r <= cur (thr (memory s) w) (Of r);
  i_mine : forall c i, newest_at (memory s) (Cell c i) <= cur (thr (memory s) w) (At (Cell c i));
  i_my_lost : lost (beside s) <= cur (thr (memory s) w) (At Lost) /\ head (beside s) <= cur (thr (memory s) w) (At Head);
  i_pending : pending (beside s) <> 0 -> head (beside s) = limit (beside s);
  i_sizes : sizes (beside s) + pending (beside s) = tries (beside s);
  i_gaps : gaps (beside s) + pending (beside s) = lost (beside s);
  i_order : forall e k, e < head (beside s) -> ent (beside s) e = Event k -> k = sum size_of (ent (beside s)) e;
  (* the reader *)
  i_taken : taken (beside s) <= head (beside s);
  i_reader : match rd (beside s) with
             | RIdle => True
             | RLost j => taken (beside s) <= j <= head (beside s) /\
                 knows_entries (memory s) (beside s) (cur (thr (memory s) r)) j /\
                 sum gap_of (ent (beside s)) j <= cur (thr (memory s) r) (At Lost)
             | RCopy j i => taken (beside s) <= j <= head (beside s) /\ i <= words /\
                 knows_entries (memory s) (beside s) (cur (thr (memory s) r)) j /\
                 sum gap_of (ent (beside s)) j <= told (beside s) <= lost (beside s) /\
                 (i <> 0 -> taken (beside s) < j) /\
                 forall j, j < i -> rows (beside s) (taken (beside s)) j = word (ent (beside s) (taken (beside s))) j
             end;
  i_told : sum gap_of (ent (beside s)) (mark (beside s)) <= cur (thr (memory s) r) (At Lost);
  i_saw : mark (beside s) <= cur (thr (memory s) r) (At Head);
  i_rows : forall e i, e < taken (beside s) -> i < words -> rows (beside s) e i = word (ent (beside s) e) i;
  i_ended : ended (beside s) = true -> wr (beside s) = WOver /\ head (beside s) <= cur (thr (memory s) r) (At Head) /\
    lost (beside s) <= cur (thr (memory s) r) (At Lost);
  i_last : last (beside s) = true -> ended (beside s) = true /\
    match rd (beside s) with RLost j => j = head (beside s)
    | RCopy j _ => j = head (beside s) /\ told (beside s) = lost (beside s) | RIdle => told (beside s) = lost (beside s) end;
}.


(* --- what stays when nothing of the ring changes ------------------------------------------------------------------------------ *)

Lemma entries_mono m m' x x' v v' j :
  (forall c i, wrote x' c i = wrote x c i /\ clock m' true true (Cell c i) w = clock m true true (Cell c i) w /\
               hist m' (Cell c i) = hist m (Cell c i)) ->
  (forall k, v k <= v' k) -> knows_entries m x v j -> knows_entries m' x' v' j.
Proof.
  intros E V K c i Hw. destruct (E c i) as (A & B & C). rewrite A in Hw. destruct (K c i Hw) as [K1 K2].
  unfold newest_at in *. rewrite B, C. split; eapply Nat.le_trans; eauto.
Qed.

Lemma copies_mono m m' x x' v v' n :
  (forall c i, seen x' c i = seen x c i /\ clock m' true false (Cell c i) r = clock m true false (Cell c i) r) ->
  (forall k, v k <= v' k) -> knows_copies m x v n -> knows_copies m' x' v' n.
Proof.
  intros E V K c i Hw. destruct (E c i) as (A & B). rewrite A in Hw. rewrite B.
  eapply Nat.le_trans; [exact (K c i Hw)|apply V].
Qed.

Definition inside (l : loc) : Prop := forall n, l <> Other n.

Lemma frame m m' f f' x : grows m m' -> wf m' -> clocks m' -> racy m' = false ->
  (forall l, inside l -> hist m' l = hist m l) ->
  (forall l p st u, p = true \/ (exists c i, l = Cell c i) -> clock m' p st l u = clock m p st l u) ->
  inv (State m f x) -> inv (State m' f' x).
Proof.
  intros G W C R H K []. simpl in *.
  assert (HC : forall c i, hist m' (Cell c i) = hist m (Cell c i)) by (intros; apply H; intros n; congruence).
  assert (KC : forall c i p st u, clock m' p st (Cell c i) u = clock m p st (Cell c i) u) by (intros; apply K; eauto).
  assert (CW := g_cur _ _ G w). assert (CR := g_cur _ _ G r).
  constructor; simpl; auto.
  - intros l n g E. assert (D : inside l \/ exists n, l = Other n) by (destruct l; eauto; left; intros ?; congruence).
    destruct D as [D|[n' ->]]; [|exact I]. rewrite H in E by auto. specialize (i_known0 _ _ _ E).
    destruct l; simpl in *; auto.
    + destruct i_known0 as (A & B & D'). splits; auto. eapply entries_mono; eauto.
    + destruct i_known0 as (A & B). split; auto. eapply copies_mono; eauto.
  - intros. rewrite K; auto.
  - intros c i p st t. rewrite KC. apply i_plain0.
  - rewrite H by (intros ?; congruence). auto.
  - rewrite H by (intros ?; congruence). auto.
  - intros c i e E. destruct (i_cell0 c i e E) as (A1 & A2 & A3 & A4 & g & A5). splits; auto. exists g.
    unfold newest_at in *. rewrite HC. auto.
  - intros. rewrite HC. auto.
  - destruct (wr x); auto. destruct i_room0 as (A & B & D). splits; auto. eapply copies_mono; eauto.
  - intros c i Hs. rewrite KC. eapply Nat.le_trans; [apply i_copies0; auto|]. apply CW.
  - intros c i. unfold newest_at in *. rewrite HC. eapply Nat.le_trans; [apply i_mine0|]. apply CW.
  - destruct i_my_lost0. split; eapply Nat.le_trans; eauto.
  - destruct (rd x); auto.
    + destruct i_reader0 as (A & B & D). splits; try tauto; [eapply entries_mono; eauto|]. eapply Nat.le_trans; eauto.
    + destruct i_reader0 as (A & B & D & E & F). splits; try tauto. eapply entries_mono; eauto.
  - eapply Nat.le_trans; eauto.
  - eapply Nat.le_trans; eauto.
  - intros E. destruct (i_ended0 E) as (A & B & D). splits; auto; eapply Nat.le_trans; eauto.
Qed.

Lemma ordered_atomic (m : mem loc) t st l : (forall s u, clock m true s l u = 0) -> ordered m t false st l = true.
Proof.
  intros H. apply ordered_intro. intros u p s _ E. destruct p; [rewrite H; lia|]. simpl in E. discriminate.
Qed.

Definition no_cell (l : loc) : Prop := forall c i, l <> Cell c i.

Lemma load_frame m t o l i g f f' x : no_cell l -> loadable m t l i g -> inv (State m f x) ->
  inv (State (load m t false o l i g) f' x).
Proof.
  intros N L I. assert (Wf := i_wf _ I). simpl in Wf.
  destruct (load_grows m t false o l i g Wf) as [G W]. apply frame with m f; auto.
  - apply (mstep_clocks _ _ _ _ _ (m_load m t o l i g L)); auto. apply (i_clocks _ I).
  - simpl. rewrite ordered_atomic by (intros; apply (i_atomic _ I); auto). rewrite (i_quiet _ I : racy m = false). auto.
  - intros l' _. apply (mstep_reads _ _ _ _ _ l' (m_load m t o l i g L)). auto.
  - intros l' p st u [->|(c & j & ->)].
    + unfold load. destruct (after_clock m t false false l (hist m l)
        (Thread (if is_acq o then join (touch m t l i) (with_ g) else touch m t l i)
          (join (acq (thr m t)) (join (if is_acq o then join (touch m t l i) (with_ g) else touch m t l i) (with_ g)))
          (rel (thr m t))) true st l' u) as [(_ & _ & _ & E & _)|E]; [discriminate|exact E].
    + apply after_clock_other. apply N.
Qed.

Lemma other_frame m t o v m' f f' x : elsewhere o -> mstep m t o v m' -> inv (State m f x) -> inv (State m' f' x).
Proof.
  intros El HM I. assert (Wf := i_wf _ I). simpl in Wf. destruct (mstep_grows _ _ _ _ _ HM Wf) as [G W].
  assert (At : forall l, place_of o = Some l -> no_cell l /\ ~ inside l).
  { intros l E. destruct o; simpl in *; inversion E; subst; try tauto; destruct l; try tauto; split;
      try (intros ? ?; congruence); intros Q; eapply Q; eauto. }
  apply frame with m f; auto.
  - eapply mstep_clocks; eauto. apply (i_clocks _ I).
  - assert (R : racy m = false) by apply (i_quiet _ I).
    destruct HM; simpl in *; auto; try tauto; rewrite R; simpl;
      rewrite ordered_atomic; auto; intros; apply (i_atomic _ I); apply (At l); auto.
  - intros l Hl. eapply mstep_elsewhere; eauto. intros E. apply At in E. tauto.
  - intros l p st u [->|(c & j & ->)].
    + destruct HM; simpl in El; try tauto; try reflexivity;
        match goal with |- clock (after ?m ?t false ?s ?l ?h ?v) true ?st ?l' ?u = _ =>
          destruct (after_clock m t false s l h v true st l' u) as [(_ & _ & _ & E & _)|E]; [discriminate|exact E]
        | |- clock (?f ?m ?t ?a ?o ?l ?i ?g) true _ _ _ = _ => idtac
        | _ => idtac end;
        try (unfold load, store, rmw;
          match goal with |- clock (after ?m ?t false ?s ?l ?h ?v) true ?st ?l' ?u = _ =>
          destruct (after_clock m t false s l h v true st l' u) as [(_ & _ & _ & E & _)|E]; [discriminate|exact E] end).
    + eapply mstep_clock; eauto. intros E. destruct (At _ E) as [A _]. eapply A; eauto.
Qed.

(* --- arithmetic -------------------------------------------------------------------------------------------------------------- *)

Lemma cell_next a b : cell_of a = cell_of b -> a < b -> a + cells <= b.
Proof.
  unfold ring.cell_of. intros E L. assert (A := Nat.div_mod a cells ltac:(lia)). assert (B := Nat.div_mod b cells ltac:(lia)).
  rewrite E in A. assert (a / cells < b / cells) by nia. nia.
Qed.

Lemma cell_same a b : cell_of a = cell_of b -> a <= b -> b < a + cells -> a = b.
Proof. intros E L U. destruct (Nat.eq_dec a b); auto. assert (H := cell_next a b E). lia. Qed.

(* --- steps of the writer that do not access the memory ------------------------------------------------------------------------ *)

Definition resting (p : wphase) : Prop := match p with WIdle | WRoom _ => True | _ => False end.

Lemma to_rest m f x p : inv (State m f x) -> resting (wr x) -> resting p ->
  match p with
  | WRoom n => head x = limit x /\ n <= taken x /\ knows_copies m x (cur (thr m w)) n
  | _ => True
  end -> inv (State m f (set_wr x p)).
Proof.
  intros [] Hw Hp Hr. simpl in *. constructor; simpl; auto.
  - intros l n g E. specialize (i_known0 _ _ _ E). destruct l; simpl in *; auto.
    destruct i_known0 as [A|(_ & A & _)]; auto. rewrite A in Hw. destruct Hw.
  - intros c i e E. destruct (i_cell0 c i e E) as (A1 & A2 & A3 & [A4|(A4 & n & A5 & A6)] & g & A7).
    + splits; eauto.
    + rewrite A5 in Hw. destruct Hw.
  - destruct p; auto; destruct Hp.
  - unfold sizes in *. simpl. destruct (wr x); try (destruct Hw; fail); destruct p; try (destruct Hp; fail); auto.
  - unfold gaps in *. simpl. destruct (wr x); try (destruct Hw; fail); destruct p; try (destruct Hp; fail); auto.
  - intros E. destruct (i_ended0 E) as (A & _). rewrite A in Hw. destruct Hw.
Qed.

Lemma to_fill m f x l c : inv (State m f x) -> resting (wr x) -> head x < l -> limit x <= l -> l <= taken x + cells ->
  (forall c i, seen x c i + cells <= l -> clock m true false (Cell c i) r <= cur (thr m w) (Of r)) ->
  gap_of c = pending x ->
  match c with Event k => k = tries x | Gap _ => S (head x) < l end -> inv (State m f (set_fill x l 0 c)).
Proof.
  intros [] Hw H1 H2 H3 H4 H5 H6. simpl in *.
  assert (SG : forall f e, e <= head x -> sum f (upd (ent x) (head x) c) e = sum f (ent x) e) by (intros; apply sum_upd; auto).
  assert (EU : forall e, e < head x -> upd (ent x) (head x) c e = ent x e) by (intros; apply upd_other; lia).
  constructor; simpl; auto.
  - intros l' n g E. specialize (i_known0 _ _ _ E). destruct l'; simpl in *; auto.
    + apply nth_error_lt in E. rewrite i_head0 in E. rewrite SG by lia. auto.
    + destruct i_known0 as [A|(_ & A & _)]; auto. rewrite A in Hw. destruct Hw.
  - intros c' i e E. destruct (i_cell0 c' i e E) as (A1 & A2 & A3 & [A4|(A4 & n & A5 & A6)] & g & A7).
    + splits; auto; [lia|]. exists g. rewrite EU by auto. auto.
    + rewrite A5 in Hw. destruct Hw.
  - lia.
  - unfold filling. simpl. rewrite upd_same. splits; auto; try lia. destruct c; auto.
  - intros. lia.
  - unfold sizes in *. simpl. rewrite upd_same, SG by auto. destruct (wr x); try (destruct Hw; fail); lia.
  - unfold gaps in *. simpl. rewrite upd_same, SG by auto. destruct (wr x); try (destruct Hw; fail); lia.
  - intros e k He. rewrite EU, SG by lia. auto.
  - destruct (rd x); auto.
    + destruct i_reader0 as (A & B & D). rewrite SG by lia. auto.
    + destruct i_reader0 as (A & B & D & E & F & H). rewrite SG by lia. splits; auto; try lia.
      intros j Hj. rewrite EU; auto. lia.
  - change (sum gap_of (upd (ent x) (head x) c) (mark x) <= cur (thr m r) (At Lost)). rewrite SG; auto.
    unfold mark. destruct (rd x); lia.
  - intros e i He Hi. rewrite EU by lia. auto.
  - intros E. destruct (i_ended0 E) as (A & _). rewrite A in Hw. destruct Hw.
Qed.

(* --- steps of the writer that store -------------------------------------------------------------------------------------------- *)

Lemma step_lost m f f' x n g : inv (State m f x) -> wr x = WRoom n -> newest m Lost g ->
  inv (State (rmw m w Rlx Lost g (value g + 1)) f' (set_lost x)).
Proof.
  intros I Hw HN. assert (I' := I). destruct I'. simpl in *. rewrite Hw in i_room0. destruct i_room0 as (Hl & _ & _).
  assert (Ha : ordered m w false true Lost = true) by (apply ordered_atomic; intros; apply i_atomic0; congruence).
  destruct (rmw_grows m w Rlx Lost g (value g + 1) i_wf0) as [G W].
  assert (CL := mstep_clocks _ _ _ _ _ (m_add m w Rlx Lost 1 g HN) i_wf0 i_clocks0).
  assert (Hg : value g = lost x) by (unfold newest in HN; rewrite i_lost0 in HN; exact (i_known0 _ _ _ HN)).
  assert (HH : hist (rmw m w Rlx Lost g (value g + 1)) Lost = hist m Lost ++ [Message (value g + 1)
      (join (join (rel (thr m w)) (one (At Lost) (length (hist m Lost)))) (with_ g))]) by (simpl; apply upd_same).
  assert (HS : forall l, l <> Lost -> hist (rmw m w Rlx Lost g (value g + 1)) l = hist m l)
    by (intros; simpl; apply upd_other; congruence).
  assert (HK : S (lost x) <= cur (thr (rmw m w Rlx Lost g (value g + 1)) w) (At Lost)).
  { simpl. rewrite upd_same. simpl. rewrite <- i_lost0. apply touch_at. }
  assert (KC : forall l p st u, p = true \/ (exists c i, l = Cell c i) ->
      clock (rmw m w Rlx Lost g (value g + 1)) p st l u = clock m p st l u).
  { intros l p st u [->|(c & i & ->)].
    - unfold rmw. match goal with |- clock (after ?m ?t false ?s ?l ?h ?v) true ?st ?l' ?u = _ =>
        destruct (after_clock m t false s l h v true st l' u) as [(_ & _ & _ & E & _)|E]; [discriminate|exact E] end.
    - apply after_clock_other. congruence. }
  assert (HR : racy (rmw m w Rlx Lost g (value g + 1)) = false) by (simpl; rewrite i_quiet0, Ha; auto).
  set (m' := rmw _ _ _ _ _ _) in *. clearbody m'.
  assert (HC : forall c i, hist m' (Cell c i) = hist m (Cell c i)) by (intros; apply HS; congruence).
  assert (KC' : forall c i p st u, clock m' p st (Cell c i) u = clock m p st (Cell c i) u) by (intros; apply KC; eauto).
  assert (CW := g_cur _ _ G w). assert (CR := g_cur _ _ G r).
  constructor; simpl; auto.
  - intros l k h E. destruct (loc_eq Lost l) as [<-|N].
    + rewrite HH in E. destruct (Nat.lt_ge_cases k (length (hist m Lost))).
      * rewrite nth_error_app1 in E by auto. exact (i_known0 _ _ _ E).
      * rewrite nth_error_app2 in E by auto. destruct (k - length (hist m Lost)) eqn:D; [|destruct n0; discriminate].
        simpl in E. inversion E; subst h. simpl. lia.
    + rewrite HS in E by auto. specialize (i_known0 _ _ _ E). destruct l; simpl in *; auto; try congruence.
      * destruct i_known0 as (A & B & D). splits; auto. eapply entries_mono; eauto.
      * destruct i_known0 as (A & B). splits; auto. eapply copies_mono; eauto.
      * destruct i_known0 as [A|(_ & A & _)]; auto. congruence.
  - intros. rewrite KC; auto.
  - intros c i p st t. rewrite KC'. apply i_plain0.
  - rewrite HS by congruence. auto.
  - rewrite HH, app_length. simpl. lia.
  - intros c i e E. destruct (i_cell0 c i e E) as (A1 & A2 & A3 & [A4|(A4 & k & A5 & A6)] & h & A7); [|congruence].
    splits; auto. exists h. unfold newest_at in *. rewrite HC. auto.
  - intros. rewrite HC. auto.
  - intros c i Hs. rewrite KC'. eapply Nat.le_trans; [apply i_copies0; auto|]. apply CW.
  - intros c i. unfold newest_at in *. rewrite HC. eapply Nat.le_trans; [apply i_mine0|]. apply CW.
  - split; auto. destruct i_my_lost0. eapply Nat.le_trans; eauto.
  - unfold sizes in *. simpl. rewrite Hw in *. lia.
  - unfold gaps in *. simpl. rewrite Hw in *. lia.
  - destruct (rd x); auto.
    + destruct i_reader0 as (A & B & D). splits; try tauto; [eapply entries_mono; eauto|]. eapply Nat.le_trans; eauto.
    + destruct i_reader0 as (A & B & D & E & F). splits; try tauto; try lia. eapply entries_mono; eauto.
  - eapply Nat.le_trans; eauto.
  - eapply Nat.le_trans; eauto.
  - intros E. destruct (i_ended0 E) as (A & _). congruence.
  - intros E. destruct (i_last0 E) as (A & _). destruct (i_ended0 A) as (B & _). congruence.
Qed.

Lemma upd2_same {A} (f : nat -> nat -> A) a b v : upd2 f a b v a b = v.
Proof. unfold upd2. rewrite !Nat.eqb_refl. auto. Qed.
Lemma upd2_cases {A} (f : nat -> nat -> A) a b v a' b' :
  (a' = a /\ b' = b /\ upd2 f a b v a' b' = v) \/ ((a', b') <> (a, b) /\ upd2 f a b v a' b' = f a' b').
Proof.
  unfold upd2. destruct (Nat.eqb_spec a a'), (Nat.eqb_spec b b'); simpl; subst; auto; right; split; auto; congruence.
Qed.

Lemma step_word m f f' x i : inv (State m f x) -> wr x = WFill i -> i < words ->
  inv (State (store m w true Rlx (Cell (cell_of (head x)) i) (word (ent x (head x)) i)) f' (set_word x (cell_of (head x)) i)).
Proof.
  intros I Hw Hi. assert (I' := I). destruct I'. simpl in *. rewrite Hw in i_room0. destruct i_room0 as (F1 & F2 & F3 & F4).
  set (c := cell_of (head x)) in *. set (v := word (ent x (head x)) i).
  assert (Ha : ordered m w true true (Cell c i) = true).
  { apply ordered_intro. intros u p st Hu _. destruct (Nat.eq_dec (clock m p st (Cell c i) u) 0) as [E|E]; [lia|].
    destruct (i_plain0 _ _ _ _ _ E) as (-> & [(_ & ->)|(-> & ->)]); [congruence|]. apply i_copies0.
    destruct (seen x c i) as [|e] eqn:S; [lia|]. destruct (i_seen0 _ _ _ S) as (A & B & _).
    assert (N := cell_next e (head x) A B). lia. }
  destruct (store_grows m w true Rlx (Cell c i) v i_wf0) as [G W].
  assert (CL := mstep_clocks _ _ _ _ _ (m_plain_store m w (Cell c i) v) i_wf0 i_clocks0).
  assert (HN := store_newest m w true Rlx (Cell c i) v). simpl is_rel in HN. cbn iota in HN.
  assert (HL := store_length m w true Rlx (Cell c i) v).
  assert (HS : forall l, l <> Cell c i -> hist (store m w true Rlx (Cell c i) v) l = hist m l)
    by (intros; simpl; apply upd_other; congruence).
  assert (HK := store_knows m w true Rlx (Cell c i) v).
  assert (KC : forall p st l u, (p, st, l, u) <> (true, true, Cell c i, w) ->
      clock (store m w true Rlx (Cell c i) v) p st l u = clock m p st l u).
  { intros p st l u N. unfold store. match goal with |- clock (after ?m ?t true ?s ?l ?h ?v) ?p ?st ?l' ?u = _ =>
      destruct (after_clock m t true s l h v p st l' u) as [(_ & A & B & D & E)|E]; [|exact E] end. congruence. }
  assert (HR : racy (store m w true Rlx (Cell c i) v) = false) by (simpl; rewrite i_quiet0, Ha; auto).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'.
  assert (CW := g_cur _ _ G w). assert (CR := g_cur _ _ G r).
  assert (EN : forall v v' j, j <= head x -> (forall k, v k <= v' k) -> knows_entries m x v j ->
      knows_entries m' (set_word x c i) v' j).
  { intros a b j Hj Hv K c' i' Hc. simpl in Hc. destruct (upd2_cases (wrote x) c i (S (head x)) c' i') as [(_ & _ & E)|(N & E)];
      rewrite E in Hc; [lia|]. destruct (K c' i' Hc) as [K1 K2]. unfold newest_at in *.
    rewrite KC, HS by congruence. split; eapply Nat.le_trans; eauto. }
  assert (CN : forall v v' n, (forall k, v k <= v' k) -> knows_copies m x v n -> knows_copies m' (set_word x c i) v' n).
  { intros a b n Hv. apply copies_mono; auto. intros. split; auto. apply KC. congruence. }
  constructor; simpl; auto.
  - intros l k g E. destruct (loc_eq (Cell c i) l) as [<-|N]; [exact Logic.I|].
    rewrite HS in E by congruence. assert (Q := nth_error_lt _ _ _ E). specialize (i_known0 _ _ _ E). destruct l; simpl in *; auto.
    + destruct i_known0 as (A & B & D). splits; auto. eapply EN; eauto. lia.
    + destruct i_known0 as (A & B). splits; auto. eapply CN; eauto.
    + destruct i_known0 as [A|(_ & A & _)]; auto. congruence.
  - intros l st t N. rewrite KC; auto. intros E. inversion E. eapply N; eauto.
  - intros c' i' p st t H. destruct p, st; try (rewrite KC in H by congruence; eauto; fail).
    destruct (Nat.eq_dec t w); [auto|]. rewrite KC in H by congruence. eauto.
  - rewrite HS by congruence. auto.
  - rewrite HS by congruence. auto.
  - intros c' i' e E. destruct (upd2_cases (wrote x) c i (S (head x)) c' i') as [(-> & -> & Q)|(N & Q)]; rewrite Q in E.
    + inversion E; subst e. splits; auto; [right; split; eauto|]. eexists. unfold newest_at. rewrite HL. simpl. split; eauto.
    + destruct (i_cell0 c' i' e E) as (A1 & A2 & A3 & A4 & g & A7). splits; auto.
      * destruct A4 as [A4|(A4 & n & A5 & A6)]; auto. right. split; auto. exists (S i). split; auto.
        rewrite Hw in A5. inversion A5. lia.
      * exists g. unfold newest_at in *. rewrite HS by congruence. auto.
  - intros e i' H1 H2. destruct (upd2_cases (wrote x) c i (S (head x)) (cell_of e) i') as [(_ & _ & Q)|(N & Q)]; rewrite Q; [lia|auto].
  - intros c' i' E. destruct (upd2_cases (wrote x) c i (S (head x)) c' i') as [(_ & _ & Q)|(N & Q)]; rewrite Q in E; [lia|].
    rewrite HS by congruence. auto.
  - unfold filling. simpl. splits; auto. intros j Hj.
    destruct (upd2_cases (wrote x) c i (S (head x)) (cell_of (head x)) j) as [(_ & _ & Q)|(N & Q)]; rewrite Q; auto.
    apply F3. assert (j <> i) by (unfold c in N; congruence). lia.
  - intros c' i' Hs. rewrite KC by congruence. eapply Nat.le_trans; [apply i_copies0; auto|]. apply CW.
  - intros c' i'. unfold newest_at in *. destruct (loc_eq (Cell c i) (Cell c' i')) as [E|N].
    + inversion E; subst c' i'. rewrite HL. simpl. auto.
    + rewrite HS by congruence. eapply Nat.le_trans; [apply i_mine0|]. apply CW.
  - destruct i_my_lost0. split; eapply Nat.le_trans; eauto.
  - unfold sizes in *. simpl. rewrite Hw in *. auto.
  - unfold gaps in *. simpl. rewrite Hw in *. auto.
  - destruct (rd x); auto.
    + destruct i_reader0 as (A & B & D). splits; try tauto; [eapply EN; eauto; lia|]. eapply Nat.le_trans; eauto.
    + destruct i_reader0 as (A & B & D & E & F). splits; try tauto; try lia. eapply EN; eauto. lia.
  - eapply Nat.le_trans; eauto.
  - eapply Nat.le_trans; eauto.
  - intros E. destruct (i_ended0 E) as (A & _). congruence.
Qed.

(* What a store of head, tail or over leaves as it was. *)
Lemma store_frame m t l o v f x : no_cell l -> inv (State m f x) ->
  let m' := store m t false o l v in
  grows m m' /\ wf m' /\ clocks m' /\ racy m' = false /\
  (forall l', l' <> l -> hist m' l' = hist m l') /\
  (forall l p st u, p = true \/ (exists c i, l = Cell c i) -> clock m' p st l u = clock m p st l u) /\
  (forall k, cur (thr m t) k <= touch m t l (length (hist m l)) k).
Proof.
  intros N I. cbv zeta. assert (Wf := i_wf _ I). simpl in Wf. destruct (store_grows m t false o l v Wf) as [G W]. splits; auto.
  - apply (mstep_clocks _ _ _ _ _ (m_store m t o l v)); auto. apply (i_clocks _ I).
  - simpl. rewrite ordered_atomic by (intros; apply (i_atomic _ I); auto). rewrite (i_quiet _ I : racy m = false). auto.
  - intros. simpl. apply upd_other. congruence.
  - intros l' p st u [->|(c & i & ->)].
    + unfold store. match goal with |- clock (after ?m ?t false ?s ?l ?h ?v) true ?st ?l' ?u = _ =>
        destruct (after_clock m t false s l h v true st l' u) as [(_ & _ & _ & E & _)|E]; [discriminate|exact E] end.
    + apply after_clock_other. apply N.
  - intros. apply touch_cur.
Qed.

Definition next_world (x : world) : world := match ent x (head x) with Event _ => set_event x | Gap _ => set_gap x end.

Lemma step_publish m f f' x : inv (State m f x) -> wr x = WFill words ->
  inv (State (store m w false (publish y) Head (S (head x))) f' (next_world x)).
Proof.
  intros I Hw. assert (I' := I). destruct I'. simpl in *. rewrite Hw in i_room0. destruct i_room0 as (F1 & F2 & F3 & F4).
  destruct (store_frame m w Head (publish y) (S (head x)) f x ltac:(intros ? ?; congruence) I)
    as (G & W & CL & HR & HS & KC & TC).
  assert (HH := store_hist m w false (publish y) Head (S (head x))). rewrite publish_rel in HH.
  assert (HK := store_knows m w false (publish y) Head (S (head x))). rewrite i_head0 in HK.
  assert (TO := touch_clock m w Head (length (hist m Head))).
  set (tv := touch m w Head (length (hist m Head))) in *. clearbody tv.
  set (m' := store _ _ _ _ _ _) in *. clearbody m'.
  assert (HC : forall c i, hist m' (Cell c i) = hist m (Cell c i)) by (intros; apply HS; congruence).
  assert (KC' : forall c i p st u, clock m' p st (Cell c i) u = clock m p st (Cell c i) u) by (intros; apply KC; eauto).
  assert (CW := g_cur _ _ G w). assert (CR := g_cur _ _ G r).
  unfold sizes in i_sizes0. unfold gaps in i_gaps0. rewrite Hw in i_sizes0, i_gaps0.
  set (x' := next_world x).
  assert (X1 : head x' = S (head x) /\ limit x' = limit x /\ wrote x' = wrote x /\ seen x' = seen x /\ taken x' = taken x /\
    lost x' = lost x /\ pending x' = 0 /\ told x' = told x /\ ended x' = ended x /\ last x' = last x /\ rd x' = rd x /\
    rows x' = rows x).
  { unfold x', next_world. destruct (ent x (head x)); simpl; destruct F4; splits; auto; lia. }
  destruct X1 as (X1 & X2 & X3 & X4 & X5 & X6 & X7 & X8 & X9 & X10 & X11 & X12).
  assert (EU : forall e, e <= head x -> ent x' e = ent x e).
  { intros e He. unfold x', next_world. destruct (ent x (head x)); simpl; auto. apply upd_other. lia. }
  assert (SG : forall f e, e <= S (head x) -> sum f (ent x') e = sum f (ent x) e).
  { intros f0 e. unfold x', next_world. destruct (ent x (head x)); simpl; auto. intros. apply sum_upd. auto. }
  assert (XW : wr x' = WIdle \/ wr x' = WFill 0 /\ ent x' (S (head x)) = Event (tries x') /\ S (head x) < limit x).
  { unfold x', next_world. destruct (ent x (head x)); simpl; [left; auto|right]. destruct F4. rewrite upd_same. auto. }
  assert (XS : sum size_of (ent x) (S (head x)) = tries x').
  { unfold x', next_world. simpl. destruct (ent x (head x)); simpl in *; destruct F4; lia. }
  assert (XG : sum gap_of (ent x) (S (head x)) = lost x) by (simpl; destruct (ent x (head x)); destruct F4; lia).
  assert (XZ : match wr x' with WFill _ => gap_of (ent x' (S (head x))) | _ => 0 end = 0).
  { destruct XW as [E|(E & E' & _)]; rewrite E; auto. rewrite E'. auto. }
  assert (EN : forall v v' j, (forall k, v k <= v' k) -> knows_entries m x v j -> knows_entries m' x' v' j).
  { intros v v' j. apply entries_mono. rewrite X3. auto. }
  assert (CN : forall v v' n, (forall k, v k <= v' k) -> knows_copies m x v n -> knows_copies m' x' v' n).
  { intros v v' n. apply copies_mono. rewrite X4. auto. }
  clearbody x'.
  constructor; simpl; auto; rewrite ?X1, ?X2, ?X3, ?X4, ?X5, ?X6, ?X7, ?X8, ?X9, ?X10, ?X11, ?X12; auto; try lia.
  - intros l k g E. destruct (loc_eq Head l) as [<-|N].
    + rewrite HH in E. destruct (Nat.lt_ge_cases k (length (hist m Head))) as [Q|Q].
      * rewrite nth_error_app1 in E by auto. destruct (i_known0 _ _ _ E) as (A & B & D).
        rewrite i_head0 in Q. simpl. rewrite SG by lia. splits; auto. eapply EN; eauto.
      * rewrite nth_error_app2 in E by auto. destruct (k - length (hist m Head)) eqn:D; [|destruct n; discriminate].
        simpl in E. inversion E; subst g. simpl. rewrite i_head0 in *. assert (k = S (head x)) by lia. subst k.
        rewrite SG by lia. splits; auto.
        -- intros c i _. rewrite KC'. unfold newest_at. rewrite HC. split.
           ++ rewrite TO. specialize (i_clocks0 true true (Cell c i) w). lia.
           ++ eapply Nat.le_trans; [apply i_mine0|]. apply TC.
        -- change (sum gap_of (ent x) (S (head x)) <= tv (At Lost)). rewrite XG.
           eapply Nat.le_trans; [apply (proj1 i_my_lost0)|]. apply TC.
    + rewrite HS in E by congruence. specialize (i_known0 _ _ _ E). destruct l; simpl in *; auto; try congruence.
      * rewrite X5. destruct i_known0 as (A & B). split; auto. eapply CN; eauto.
      * destruct i_known0 as [A|(_ & A & _)]; auto. congruence.
  - intros. rewrite KC; auto.
  - intros c i p st t. rewrite KC'. apply i_plain0.
  - rewrite HH, app_length. simpl. lia.
  - rewrite HS by congruence. auto.
  - intros c i e E. destruct (i_cell0 c i e E) as (A1 & A2 & A3 & A4 & g & A7). splits; auto.
    + left. destruct A4 as [A4|(A4 & _)]; lia.
    + exists g. unfold newest_at in *. rewrite HC, EU; auto. destruct A4 as [A4|(A4 & _)]; lia.
  - intros e i He Hi. destruct (Nat.eq_dec e (head x)) as [->|N]; [rewrite F3; auto|]. apply i_wrote0; lia.
  - intros. rewrite HC. auto.
  - intros c i e E. destruct (i_seen0 c i e E) as (A & B & D). splits; auto; lia.
  - destruct XW as [E|(E & E' & L)]; rewrite E; auto. unfold filling. rewrite X1, X2, X3, X7, E'. splits; auto; try lia.
  - intros c i Hs. rewrite KC'. eapply Nat.le_trans; [apply i_copies0; auto|]. apply CW.
  - intros c i. unfold newest_at in *. rewrite HC. eapply Nat.le_trans; [apply i_mine0|]. apply CW.
  - split; auto. eapply Nat.le_trans; [apply (proj1 i_my_lost0)|]. apply CW.
  - unfold sizes. rewrite X1, XZ, SG by lia. lia.
  - unfold gaps. rewrite X1, XZ, SG by lia. lia.
  - intros e k He. rewrite EU, SG by lia. intros Ek. destruct (Nat.eq_dec e (head x)) as [->|N]; [|apply i_order0; auto; lia].
    rewrite Ek in *. simpl in *. destruct F4. lia.
  - destruct (rd x); auto.
    + destruct i_reader0 as (A & B & D). rewrite SG by lia. splits; try lia; [eapply EN; eauto|]. eapply Nat.le_trans; eauto.
    + destruct i_reader0 as (A & B & D & E & F & H). rewrite SG by lia. splits; try tauto; try lia.
      * eapply EN; eauto.
      * intros j Hj. rewrite EU by lia. auto.
  - assert (XM : mark x' = mark x) by (unfold mark; rewrite X11, X5; auto).
    rewrite XM, SG by (unfold mark; destruct (rd x); lia). eapply Nat.le_trans; eauto.
  - assert (XM : mark x' = mark x) by (unfold mark; rewrite X11, X5; auto). rewrite XM. eapply Nat.le_trans; eauto.
  - intros e i He Hi. rewrite EU by lia. auto.
  - intros E. destruct (i_ended0 E) as (A & _). congruence.
  - intros E. destruct (i_last0 E) as (A & _). destruct (i_ended0 A) as (B & _). congruence.
Qed.

Lemma step_over m f f' x : inv (State m f x) -> wr x = WIdle ->
  inv (State (store m w false Rel Over 1) f' (set_wr x WOver)).
Proof.
  intros I Hw. assert (I' := I). destruct I'. simpl in *.
  destruct (store_frame m w Over Rel 1 f x ltac:(intros ? ?; congruence) I) as (G & W & CL & HR & HS & KC & TC).
  assert (HH := store_hist m w false Rel Over 1). simpl is_rel in HH. cbn iota in HH.
  set (tv := touch m w Over (length (hist m Over))) in *. clearbody tv.
  set (m' := store _ _ _ _ _ _) in *. clearbody m'.
  assert (HC : forall c i, hist m' (Cell c i) = hist m (Cell c i)) by (intros; apply HS; congruence).
  assert (KC' : forall c i p st u, clock m' p st (Cell c i) u = clock m p st (Cell c i) u) by (intros; apply KC; eauto).
  assert (CW := g_cur _ _ G w). assert (CR := g_cur _ _ G r).
  constructor; simpl; auto.
  - intros l k g E. destruct (loc_eq Over l) as [<-|N].
    + rewrite HH in E. destruct (Nat.lt_ge_cases k (length (hist m Over))) as [Q|Q].
      * rewrite nth_error_app1 in E by auto. destruct (i_known0 _ _ _ E) as [A|(_ & A & _)]; [left; auto|congruence].
      * rewrite nth_error_app2 in E by auto. destruct (k - length (hist m Over)) eqn:D; [|destruct n; discriminate].
        simpl in E. inversion E; subst g. simpl. right. destruct i_my_lost0. splits; auto; eapply Nat.le_trans; eauto.
    + rewrite HS in E by congruence. specialize (i_known0 _ _ _ E). destruct l; simpl in *; auto; try congruence.
      * destruct i_known0 as (A & B & D). splits; auto. eapply entries_mono; eauto.
      * destruct i_known0 as (A & B). splits; auto. eapply copies_mono; eauto.
  - intros. rewrite KC; auto.
  - intros c i p st t. rewrite KC'. apply i_plain0.
  - rewrite HS by congruence. auto.
  - rewrite HS by congruence. auto.
  - intros c i e E. destruct (i_cell0 c i e E) as (A1 & A2 & A3 & [A4|(A4 & k & A5 & A6)] & h & A7); [|congruence].
    splits; auto. exists h. unfold newest_at in *. rewrite HC. auto.
  - intros. rewrite HC. auto.
  - intros c i Hs. rewrite KC'. eapply Nat.le_trans; [apply i_copies0; auto|]. apply CW.
  - intros c i. unfold newest_at in *. rewrite HC. eapply Nat.le_trans; [apply i_mine0|]. apply CW.
  - destruct i_my_lost0. split; eapply Nat.le_trans; eauto.
  - unfold sizes in *. simpl. rewrite Hw in *. auto.
  - unfold gaps in *. simpl. rewrite Hw in *. auto.
  - destruct (rd x); auto.
    + destruct i_reader0 as (A & B & D). splits; try tauto; [eapply entries_mono; eauto|]. eapply Nat.le_trans; eauto.
    + destruct i_reader0 as (A & B & D & E & F). splits; try tauto. eapply entries_mono; eauto.
  - eapply Nat.le_trans; eauto.
  - eapply Nat.le_trans; eauto.
  - intros E. destruct (i_ended0 E) as (A & _). congruence.
Qed.

(* --- steps of the reader ------------------------------------------------------------------------------------------------------ *)

Lemma step_tail m f f' x j : inv (State m f x) -> rd x = RCopy j 0 ->
  inv (State (store m r false (done y) Tail (taken x)) f' (set_rd x RIdle)).
Proof.
  intros I Hr. assert (I' := I). destruct I'. simpl in *.
  destruct (store_frame m r Tail (done y) (taken x) f x ltac:(intros ? ?; congruence) I) as (G & W & CL & HR & HS & KC & TC).
  assert (HH := store_hist m r false (done y) Tail (taken x)). rewrite done_rel in HH.
  assert (TO := touch_clock m r Tail (length (hist m Tail))).
  set (tv := touch m r Tail (length (hist m Tail))) in *. clearbody tv.
  set (m' := store _ _ _ _ _ _) in *. clearbody m'.
  assert (HC : forall c i, hist m' (Cell c i) = hist m (Cell c i)) by (intros; apply HS; congruence).
  assert (KC' : forall c i p st u, clock m' p st (Cell c i) u = clock m p st (Cell c i) u) by (intros; apply KC; eauto).
  assert (CW := g_cur _ _ G w). assert (CR := g_cur _ _ G r).
  constructor; simpl; auto.
  - intros l k g E. destruct (loc_eq Tail l) as [<-|N].
    + rewrite HH in E. destruct (Nat.lt_ge_cases k (length (hist m Tail))) as [Q|Q].
      * rewrite nth_error_app1 in E by auto. destruct (i_known0 _ _ _ E) as [A B]. split; auto. eapply copies_mono; eauto.
      * rewrite nth_error_app2 in E by auto. destruct (k - length (hist m Tail)) eqn:D; [|destruct n; discriminate].
        simpl in E. inversion E; subst g. simpl. split; auto. intros c i _. rewrite KC', TO.
        specialize (i_clocks0 true false (Cell c i) r). lia.
    + rewrite HS in E by congruence. specialize (i_known0 _ _ _ E). destruct l; simpl in *; auto; try congruence.
      destruct i_known0 as (A & B & D). splits; auto. eapply entries_mono; eauto.
  - intros. rewrite KC; auto.
  - intros c i p st t. rewrite KC'. apply i_plain0.
  - rewrite HS by congruence. auto.
  - rewrite HS by congruence. auto.
  - intros c i e E. destruct (i_cell0 c i e E) as (A1 & A2 & A3 & A4 & h & A7).
    splits; auto. exists h. unfold newest_at in *. rewrite HC. auto.
  - intros. rewrite HC. auto.
  - destruct (wr x); auto. destruct i_room0 as (A & B & D). splits; auto. eapply copies_mono; eauto.
  - intros c i Hs. rewrite KC'. eapply Nat.le_trans; [apply i_copies0; auto|]. apply CW.
  - intros c i. unfold newest_at in *. rewrite HC. eapply Nat.le_trans; [apply i_mine0|]. apply CW.
  - destruct i_my_lost0. split; eapply Nat.le_trans; eauto.
  - unfold mark in *. simpl. rewrite Hr in *. assert (Q := sum_mono gap_of (ent x) (taken x) j ltac:(lia)).
    specialize (CR (At Lost)). lia.
  - unfold mark in *. simpl. rewrite Hr in *. specialize (CR (At Head)). lia.
  - intros E. destruct (i_ended0 E) as (A & B & D). splits; auto; eapply Nat.le_trans; eauto.
  - intros E. rewrite Hr in i_last0. destruct (i_last0 E) as (A & B & D). auto.
Qed.

Lemma step_copy m f f' x j i k g : inv (State m f x) -> rd x = RCopy j i -> taken x < j -> i < words ->
  loadable m r (Cell (cell_of (taken x)) i) k g ->
  inv (State (load m r true Rlx (Cell (cell_of (taken x)) i) k g) f' (set_copied x j i (cell_of (taken x)) (value g))).
Proof.
  intros I Hr Hj Hi [HL HL']. assert (I' := I). destruct I'. simpl in *. rewrite Hr in *.
  destruct i_reader0 as (R1 & R2 & R3 & R4 & R5 & R6). set (c := cell_of (taken x)) in *.
  (* What was stored there last is the entry that is wanted. *)
  assert (Hc : wrote x c i = S (taken x)).
  { assert (L := i_wrote0 (taken x) i ltac:(lia) Hi). fold c in L. destruct (wrote x c i) as [|e] eqn:E; [lia|].
    destruct (i_cell0 c i e E) as (A & B & _). f_equal. symmetry. apply cell_same; auto; try lia. }
  destruct (R3 c i ltac:(lia)) as [K1 K2].
  assert (Hk : k = newest_at m (Cell c i)).
  { assert (Q := nth_error_lt _ _ _ HL). unfold newest_at in *. lia. }
  destruct (i_cell0 c i (taken x) Hc) as (_ & _ & _ & _ & h & H1 & H2). subst k. rewrite HL in H1. inversion H1; subst h.
  assert (Ha : ordered m r true false (Cell c i) = true).
  { apply ordered_intro. intros u p st Hu Hs. simpl in Hs. subst st.
    destruct (Nat.eq_dec (clock m p true (Cell c i) u) 0) as [E|E]; [lia|].
    destruct (i_plain0 _ _ _ _ _ E) as (-> & [(_ & ->)|(Q & _)]); [auto|discriminate]. }
  assert (LD : loadable m r (Cell c i) (newest_at m (Cell c i)) g) by (split; auto).
  destruct (load_grows m r true Rlx (Cell c i) (newest_at m (Cell c i)) g i_wf0) as [G W].
  assert (CL := mstep_clocks _ _ _ _ _ (m_plain_load m r (Cell c i) _ g LD) i_wf0 i_clocks0).
  assert (HS := fun l => mstep_reads _ _ _ _ _ l (m_plain_load m r (Cell c i) _ g LD) eq_refl).
  assert (KC : forall p st l u, (p, st, l, u) <> (true, false, Cell c i, r) ->
      clock (load m r true Rlx (Cell c i) (newest_at m (Cell c i)) g) p st l u = clock m p st l u).
  { intros p st l u N. unfold load. match goal with |- clock (after ?m ?t true ?s ?l ?h ?v) ?p ?st ?l' ?u = _ =>
      destruct (after_clock m t true s l h v p st l' u) as [(_ & A & B & D & E)|E]; [|exact E] end. congruence. }
  assert (HR : racy (load m r true Rlx (Cell c i) (newest_at m (Cell c i)) g) = false) by (simpl; rewrite i_quiet0, Ha; auto).
  set (m' := load _ _ _ _ _ _ _) in *. clearbody m'.
  assert (CW := g_cur _ _ G w). assert (CR := g_cur _ _ G r).
  assert (EN : forall v v' n, (forall k, v k <= v' k) -> knows_entries m x v n ->
      knows_entries m' (set_copied x j i c (value g)) v' n).
  { intros a b n. apply entries_mono. intros. splits; auto. apply KC. congruence. }
  assert (CN : forall v v' n, n <= taken x -> (forall k, v k <= v' k) -> knows_copies m x v n ->
      knows_copies m' (set_copied x j i c (value g)) v' n).
  { intros a b n Hn V K c' i' Hs. simpl in Hs. destruct (upd2_cases (seen x) c i (S (taken x)) c' i') as [(_ & _ & E)|(N & E)];
      rewrite E in Hs; [lia|]. rewrite KC by congruence. eapply Nat.le_trans; [exact (K c' i' Hs)|apply V]. }
  constructor; simpl; auto.
  - intros l n h E. rewrite HS in E. specialize (i_known0 _ _ _ E). destruct l; simpl in *; auto.
    + destruct i_known0 as (A & B & D). splits; auto. eapply EN; eauto.
    + destruct i_known0 as (A & B). splits; auto. eapply CN; eauto.
  - intros l st t N. rewrite KC; auto. intros E. inversion E. eapply N; eauto.
  - intros c' i' p st t H. destruct p, st; try (rewrite KC in H by congruence; eauto; fail).
    destruct (Nat.eq_dec t r); [auto|]. rewrite KC in H by congruence. eauto.
  - rewrite HS. auto.
  - rewrite HS. auto.
  - intros c' i' e E. destruct (i_cell0 c' i' e E) as (A1 & A2 & A3 & A4 & h & A7). splits; auto. exists h.
    unfold newest_at in *. rewrite HS. auto.
  - intros. rewrite HS. auto.
  - intros c' i' e E. destruct (upd2_cases (seen x) c i (S (taken x)) c' i') as [(-> & -> & Q)|(N & Q)]; rewrite Q in E.
    + inversion E; subst e. splits; auto; lia.
    + exact (i_seen0 _ _ _ E).
  - destruct (wr x); auto. destruct i_room0 as (A & B & D). splits; auto. eapply CN; eauto.
  - intros c' i' Hs. destruct (upd2_cases (seen x) c i (S (taken x)) c' i') as [(-> & -> & Q)|(N & Q)]; rewrite Q in Hs; [lia|].
    rewrite KC by congruence. eapply Nat.le_trans; [apply i_copies0; auto|]. apply CW.
  - intros c' i'. unfold newest_at in *. rewrite HS. eapply Nat.le_trans; [apply i_mine0|]. apply CW.
  - destruct i_my_lost0. split; eapply Nat.le_trans; eauto.
  - splits; try tauto; try lia; [eapply EN; eauto|].
    intros j' Hj'. destruct (upd2_cases (rows x) (taken x) i (value g) (taken x) j') as [(_ & -> & Q)|(N & Q)]; rewrite Q; auto.
    apply R6. assert (j' <> i) by congruence. lia.
  - unfold mark in *. rewrite Hr in *. simpl. eapply Nat.le_trans; eauto.
  - unfold mark in *. rewrite Hr in *. simpl. eapply Nat.le_trans; eauto.
  - intros e i' He Hi'. destruct (upd2_cases (rows x) (taken x) i (value g) e i') as [(-> & _ & Q)|(N & Q)]; [lia|]. rewrite Q. auto.
  - intros E. destruct (i_ended0 E) as (A & B & D). splits; auto; eapply Nat.le_trans; eauto.
Qed.

(* A change of what the reader has written down, but for its copies. *)
Lemma to_ended m f x : inv (State m f x) -> wr x = WOver -> head x <= cur (thr m r) (At Head) ->
  lost x <= cur (thr m r) (At Lost) -> inv (State m f (set_ended x)).
Proof.
  intros [] H1 H2 H3. simpl in *. constructor; simpl; auto. intros E. destruct (i_last0 E) as (A & B). auto.
Qed.

Lemma to_looked m f x j : inv (State m f x) -> rd x = RIdle -> taken x <= j <= head x ->
  knows_entries m x (cur (thr m r)) j -> sum gap_of (ent x) j <= cur (thr m r) (At Lost) ->
  j <= cur (thr m r) (At Head) -> (ended x = true -> j = head x) -> inv (State m f (set_looked x j)).
Proof. intros [] H1 H2 H3 H4 H5 H6. simpl in *. constructor; simpl; auto. Qed.

Lemma to_told m f x j n : inv (State m f x) -> rd x = RLost j -> sum gap_of (ent x) j <= n <= lost x ->
  (last x = true -> n = lost x) -> inv (State m f (set_told x j n)).
Proof.
  intros [] H1 H2 H3. simpl in *. rewrite H1 in *. destruct i_reader0 as (A & B & D). constructor; simpl; auto.
  - splits; auto; try lia; congruence.
  - unfold mark in *. rewrite H1 in *. auto.
  - intros E. destruct (i_last0 E) as (P & Q). auto.
Qed.

Lemma to_taken m f x j : inv (State m f x) -> rd x = RCopy j words -> taken x < j -> inv (State m f (set_taken x j)).
Proof.
  intros [] H1 H2. simpl in *. rewrite H1 in *. destruct i_reader0 as (A & B & D & E & F & H). constructor; simpl; auto; try lia.
  - intros l n g Q. specialize (i_known0 _ _ _ Q). destruct l; simpl in *; auto. destruct i_known0. split; auto.
  - intros c i e Q. destruct (i_seen0 c i e Q) as (P1 & P2 & P3). splits; auto.
  - destruct (wr x); auto. destruct i_room0 as (P1 & P2 & P3). splits; auto.
  - splits; auto; try lia.
  - unfold mark in *. simpl. rewrite H1 in *. auto.
  - unfold mark in *. simpl. rewrite H1 in *. auto.
  - intros e i He Hi. destruct (Nat.eq_dec e (taken x)) as [->|N]; [apply H; auto|]. apply i_rows0; auto. lia.
Qed.

(* --- all steps ----------------------------------------------------------------------------------------------------------------- *)

Lemma inv_where m f f' x : inv (State m f x) -> inv (State m f' x).
Proof. intros []. constructor; auto. Qed.

Lemma kept : forall s s', inv s -> step (ring cells words word w r y) s s' -> inv s'.
Proof.
  intros s s' I HS. destruct HS as [m f x t o v u x' m' Ht HD HM | m f x t u x' Ht HD | m f x c t Hin].
  - destruct HD; subst.
    + inversion HM; subst. loaded. assert (I' := load_frame m w (room y) Tail i g f (upd f w u) x
        ltac:(intros ? ?; congruence) (conj HL HL') I).
      apply to_rest; auto; [rewrite H0; exact Logic.I | exact Logic.I |]. splits; auto.
      * apply (i_known _ I _ _ _ HL).
      * destruct (i_known _ I' Tail i g) as [_ K]; [simpl; rewrite upd_same; auto|].
        eapply copies_mono; [|intros k; apply load_acquires; auto|exact K]. auto.
    + inversion HM; subst. eapply step_lost; eauto.
    + inversion HM; subst. apply step_word with f; auto.
    + inversion HM; subst. assert (Q := step_publish m f (upd f w u) x I H0). unfold next_world in Q. rewrite H1 in Q. exact Q.
    + inversion HM; subst. assert (Q := step_publish m f (upd f w u) x I H0). unfold next_world in Q. rewrite H1 in Q. exact Q.
    + inversion HM; subst. apply step_over with f; auto.
    + inversion HM; subst. loaded. assert (I' := load_frame m r Acq Over i g f (upd f r u) x
        ltac:(intros ? ?; congruence) (conj HL HL') I).
      destruct (i_known _ I _ _ _ HL) as [[A _]|(_ & A & B & C)]; [congruence|].
      apply to_ended; auto; (eapply Nat.le_trans; [|apply load_acquires; auto]); auto.
    + inversion HM; subst. loaded. assert (I' := load_frame m r (look y) Head i g f (upd f r u) x
        ltac:(intros ? ?; congruence) (conj HL HL') I).
      destruct (i_known _ I _ _ _ HL) as (A & B & C). rewrite A.
      assert (Q := nth_error_lt _ _ _ HL). rewrite (i_head _ I : length (hist m Head) = S (head x)) in Q.
      assert (S := i_saw _ I). simpl in S. unfold mark in S. rewrite H0 in S.
      apply to_looked; auto; try lia.
      * destruct (i_known _ I' Head i g) as (_ & K & _); [simpl; rewrite upd_same; auto|].
        eapply entries_mono; [|intros k; apply load_acquires; auto|exact K]. auto.
      * eapply Nat.le_trans; [exact C|]. apply load_acquires. auto.
      * apply load_knows.
      * intros E. destruct (i_ended _ I E) as (_ & D & _). simpl in D. lia.
    + inversion HM; subst. loaded. assert (I' := load_frame m r Rlx Lost i g f (upd f r u) x
        ltac:(intros ? ?; congruence) (conj HL HL') I).
      assert (A : value g = i) by exact (i_known _ I _ _ _ HL). rewrite A.
      assert (Q := nth_error_lt _ _ _ HL). rewrite (i_lost _ I : length (hist m Lost) = S (lost x)) in Q.
      assert (S := i_told _ I). simpl in S. unfold mark in S. rewrite H0 in S.
      apply to_told; auto; try lia.
      intros E. destruct (i_last _ I E) as (E' & _). destruct (i_ended _ I E') as (_ & _ & D). simpl in D. lia.
    + inversion HM; subst. apply step_copy with f; auto.
    + inversion HM; subst. apply step_tail with f j; auto.
    + eapply other_frame; eauto.
  - destruct HD; subst; apply inv_where with f.
    + assert (P : pending x = 0) by (destruct (Nat.eq_dec (pending x) 0); auto; assert (Q := i_pending _ I n); simpl in Q; lia).
      rewrite P. destruct (i_limits _ I) as (A & B). simpl in A, B.
      apply to_fill; simpl; auto; try lia; [rewrite H0; exact Logic.I | exact (i_copies _ I)].
    + destruct (i_limits _ I) as (A & B). simpl in A, B. assert (Q := i_room _ I). simpl in Q. rewrite H0 in Q.
      destruct Q as (Q1 & Q2 & Q3). rewrite exact_room in *.
      apply to_fill; simpl; auto; try lia; [rewrite H0; exact Logic.I |].
      intros c i Hs. apply Q3. lia.
    + destruct (i_limits _ I) as (A & B). simpl in A, B. assert (Q := i_room _ I). simpl in Q. rewrite H0 in Q.
      destruct Q as (Q1 & Q2 & Q3). rewrite exact_room in *.
      apply to_fill; simpl; auto; try lia; [rewrite H0; exact Logic.I |].
      intros c i Hs. apply Q3. lia.
    + apply to_rest; auto; [rewrite H0; exact Logic.I | exact Logic.I].
    + apply to_taken; auto.
  - assert (Wf := i_wf _ I). simpl in Wf. destruct (reaches_grows m c t Wf) as [G W].
    apply frame with m f; auto; try (apply (i_quiet _ I)).
    eapply clocks_other; [apply (i_clocks _ I)|reflexivity|]. intros. apply (g_cur _ _ G).
Qed.

Lemma begins n registered junk : inv (initial cells y n registered junk).
Proof.
  constructor; simpl; auto; try (intros; lia); try (intros; discriminate).
  - apply wf_start.
  - apply clocks_start.
  - intros l i g. simpl. destruct i; simpl; [|destruct i; discriminate]. intros H. inversion H; subst.
    destruct l; simpl; auto; splits; auto; try lia; try (intros c i _; simpl; lia).
    intros c i _. simpl. unfold newest_at. simpl. auto.
Qed.

Lemma holds n registered junk s : steps (ring cells words word w r y) (initial cells y n registered junk) s -> inv s.
Proof. apply always; eauto using begins, kept. Qed.

End Proof.

(* --- the theorems --------------------------------------------------------------------------------------------------------------- *)

Definition ordered_style (y : style) : Prop :=
  is_rel (publish y) = true /\ is_acq (look y) = true /\ is_rel (done y) = true /\ is_acq (room y) = true /\ extra y = 0.

Section Theorems.
Variable cells words : nat.
Hypothesis cells_some : 0 < cells.
Variable word : content -> nat -> val.
Variable w r : tid.
Hypothesis apart : w <> r.
Variable y : style.
Hypothesis orders : ordered_style y.
Variable n : nat.
Variable registered : tid -> bool.
Variable junk : loc -> val.
Variable s : state loc unit world.
Hypothesis reached : steps (ring cells words word w r y) (initial cells y n registered junk) s.

Lemma holds_now : inv cells words word w r s.
Proof. destruct orders as (A & B & C & D & E). eapply holds; eauto. Qed.

Theorem ring_race_free : racy (memory s) = false.
Proof. apply (i_quiet _ _ _ _ _ _ holds_now). Qed.

(*
 * What the reader has taken as entry e is what the writer put there as entry e, word by word. If it is attempt k, then the entries
 * before it stand for exactly k attempts: each of 0 .. k - 1 once, taken or told lost, and all before it.
 *)
Theorem ring_fifo : forall e, e < taken (beside s) -> e < head (beside s) /\
  (forall i, i < words -> rows (beside s) e i = word (ent (beside s) e) i) /\
  (forall k, ent (beside s) e = Event k -> k = sum size_of (ent (beside s)) e).
Proof.
  intros e He. assert (I := holds_now). assert (T := i_taken _ _ _ _ _ _ I). splits; [lia| |].
  - intros. apply (i_rows _ _ _ _ _ _ I); auto.
  - intros. apply (i_order _ _ _ _ _ _ I); auto. lia.
Qed.

(* How many attempts the entries from a to b stand for. *)
Definition between (f : content -> nat) (a b : nat) : nat := sum f (ent (beside s)) b - sum f (ent (beside s)) a.

(*
 * Always: what was delivered and told lost, and what is still in the ring, in the hand of the writer, or lost and not yet told by an
 * entry, is all that was tried. And no more is told by entries than the reader's own count of losses has.
 *)
Theorem ring_accounting :
  sum size_of (ent (beside s)) (taken (beside s)) +
  (between size_of (taken (beside s)) (head (beside s)) +
   match wr (beside s) with WFill _ => gap_of (ent (beside s) (head (beside s))) | _ => 0 end + pending (beside s)) =
  tries (beside s).
Proof.
  assert (I := holds_now). assert (T := i_taken _ _ _ _ _ _ I). assert (Z := i_sizes _ _ _ _ _ _ I). unfold sizes in Z.
  unfold between. assert (M := sum_mono size_of (ent (beside s)) _ _ T). lia.
Qed.

Theorem told_no_more : rd (beside s) = RIdle -> sum gap_of (ent (beside s)) (taken (beside s)) <= lost (beside s).
Proof.
  intros _. assert (I := holds_now). assert (T := i_taken _ _ _ _ _ _ I). assert (Z := i_gaps _ _ _ _ _ _ I). unfold gaps in Z.
  assert (M := sum_mono gap_of (ent (beside s)) _ _ T). lia.
Qed.

(*
 * The last sweep: a look that began when the reader knew that the writer has ended, and after which all entries below its head are
 * taken. Then nothing is left: the delivered ones, those that entries told, and what the count of losses has beyond these, are all.
 *)
Theorem ring_accounting_at_the_end : last (beside s) = true -> rd (beside s) = RIdle -> taken (beside s) = head (beside s) ->
  sum size_of (ent (beside s)) (taken (beside s)) +
  (told (beside s) - sum gap_of (ent (beside s)) (taken (beside s))) = tries (beside s).
Proof.
  intros L R T. assert (I := holds_now). destruct (i_last _ _ _ _ _ _ I L) as (E & Q). rewrite R in Q.
  destruct (i_ended _ _ _ _ _ _ I E) as (O & _). assert (A := i_sizes _ _ _ _ _ _ I). assert (B := i_gaps _ _ _ _ _ _ I).
  unfold sizes in A. unfold gaps in B. rewrite O in *. rewrite T. lia.
Qed.

End Theorems.

(* --- what goes wrong without ------------------------------------------------------------------------------------------------------ *)

Inductive decision := Quick | LookTail | Room | Lose | Word | Publish | Finish | Ended | LookHead | LookLost | Copy | StoreTail | Done.

Section Runs.
Variable cells words : nat.
Variable word : content -> nat -> val.
Variable w r : tid.
Variable y : style.

Definition act (d : decision) (t : tid) (u : unit) (x : world) : option (plan (loc := loc) (local := unit) (world := world)) :=
  let go (o : op loc) (x' : val -> world) : option (plan (loc := loc) (local := unit) (world := world)) :=
    Some (inl (o, fun v : ret => if snd v then Some (u, x' (fst v)) else None)) in
  let put (o : op loc) (x' : world) : option (plan (loc := loc) (local := unit) (world := world)) :=
    Some (inl (o, fun v : ret => if (fst v =? 0) && snd v then Some (u, x') else None)) in
  if t =? w then
    match d, wr x with
    | Quick, WIdle => if head x <? limit x then Some (inr (u, set_fill x (limit x) (pending x) (Event (tries x)))) else None
    | LookTail, WIdle => if head x =? limit x then go (Load (room y) Tail) (fun n => set_wr x (WRoom n)) else None
    | Room, WRoom n =>
      if pending x =? 0
      then if head x + 1 <=? n + cells + extra y
           then Some (inr (u, set_fill x (n + cells + extra y) 0 (Event (tries x)))) else None
      else None
    | Lose, WRoom n =>
      if n + cells + extra y <? head x + (if pending x =? 0 then 1 else 2)
      then go (FetchAdd Rlx Lost 1) (fun _ => set_lost x) else None
    | Word, WFill i =>
      if i <? words then put (PlainStore (Cell (cell_of cells (head x)) i) (word (ent x (head x)) i))
                             (set_word x (cell_of cells (head x)) i) else None
    | Publish, WFill i =>
      if i =? words then match ent x (head x) with
                         | Event _ => put (Store (publish y) Head (S (head x))) (set_event x)
                         | Gap _ => put (Store (publish y) Head (S (head x))) (set_gap x)
                         end else None
    | Finish, WIdle => put (Store Rel Over 1) (set_wr x WOver)
    | _, _ => None
    end
  else if t =? r then
    match d, rd x with
    | Ended, RIdle => Some (inl (Load Acq Over, fun v : ret => if (fst v =? 1) && snd v then Some (u, set_ended x) else None))
    | LookHead, RIdle => go (Load (look y) Head) (set_looked x)
    | LookLost, RLost j => go (Load Rlx Lost) (set_told x j)
    | Copy, RCopy j i => if (taken x <? j) && (i <? words)
                         then go (PlainLoad (Cell (cell_of cells (taken x)) i)) (set_copied x j i (cell_of cells (taken x))) else None
    | StoreTail, RCopy j 0 => put (Store (done y) Tail (taken x)) (set_rd x RIdle)
    | Done, RCopy j i => if (taken x <? j) && (i =? words) then Some (inr (u, set_taken x j)) else None
    | _, _ => None
    end
  else None.

Ltac crush' := repeat match goal with
  | H : Nat.leb _ _ = true |- _ => apply Nat.leb_le in H
  | H : Nat.eqb _ _ = false |- _ => apply Nat.eqb_neq in H
  end; crush; cbn [fst snd] in *; subst.

Lemma act_does d t l x o f v l' x' : act d t l x = Some (inl (o, f)) -> f v = Some (l', x') ->
  machine.does (ring cells words word w r y) t l x o v l' x'.
Proof.
  unfold act. simpl. intros H F.
  destruct (t =? w) eqn:T; [|destruct (t =? r) eqn:T'; [|discriminate]]; apply Nat.eqb_eq in T || apply Nat.eqb_eq in T';
    destruct d; try discriminate; try (destruct (wr x) eqn:?); try (destruct (rd x) eqn:?); crush';
    try (econstructor; eauto; fail).
Qed.

Lemma act_silent d t l x l' x' : act d t l x = Some (inr (l', x')) ->
  machine.silent (ring cells words word w r y) t l x l' x'.
Proof.
  unfold act. simpl. intros H.
  destruct (t =? w) eqn:T; [|destruct (t =? r) eqn:T'; [|discriminate]]; apply Nat.eqb_eq in T || apply Nat.eqb_eq in T';
    destruct d; try discriminate; try (destruct (wr x) eqn:?); try (destruct (rd x) eqn:?); crush';
    repeat match goal with H : Nat.leb _ _ = true |- _ => apply Nat.leb_le in H end;
    try (econstructor; eauto; fail).
Qed.
End Runs.

(* One cell of one word; thread 0 writes, thread 1 reads. *)
Definition example_word (c : content) (i : nat) : val := match c with Event k => 10 + k | Gap n => 1000 + n end.
Definition example (y : style) := ring 1 1 example_word 0 1 y.
Definition races (y : style) : Prop :=
  exists s, steps (example y) (initial 1 y 2 (fun _ => false) (fun _ => 0)) s /\ racy (memory s) = true.

Lemma races_by y moves :
  ends _ (act 1 1 example_word 0 1 y) moves (initial 1 y 2 (fun _ => false) (fun _ => 0)) (fun s => racy (memory s)) = true -> races y.
Proof. intros H. apply (ends_reached (example y)) in H; [exact H|apply act_does|apply act_silent]. Qed.

Definition by_ (t : tid) (ds : list (decision * nat)) : list (move decision) := map (fun d => Do t (fst d) (snd d)) ds.
Definition first_entry : list (move decision) := by_ 0 [(Quick, 0); (Word, 0); (Publish, 0)].
Definition its_copy : list (move decision) := by_ 1 [(LookHead, 1); (LookLost, 0); (Copy, 1); (Done, 0); (StoreTail, 0)].
Definition second_entry : list (move decision) := by_ 0 [(LookTail, 1); (Room, 0); (Word, 0)].
Ltac shown_by moves := apply races_by with moves; vm_compute; reflexivity.

Theorem races_without_publish : races (Style Rlx Acq Rel Acq 0).
Proof. shown_by (first_entry ++ by_ 1 [(LookHead, 1); (LookLost, 0); (Copy, 0)]). Qed.
Theorem races_without_look : races (Style Rel Rlx Rel Acq 0).
Proof. shown_by (first_entry ++ by_ 1 [(LookHead, 1); (LookLost, 0); (Copy, 0)]). Qed.
Theorem races_without_done : races (Style Rel Acq Rlx Acq 0).
Proof. shown_by (first_entry ++ its_copy ++ second_entry). Qed.
Theorem races_without_room : races (Style Rel Acq Rel Rlx 0).
Proof. shown_by (first_entry ++ its_copy ++ second_entry). Qed.
Theorem races_with_one_too_many : races (Style Rel Acq Rel Acq 1).
Proof. shown_by (first_entry ++ by_ 1 [(LookHead, 1); (LookLost, 0); (Copy, 1)] ++ by_ 0 [(Quick, 0); (Word, 0)]). Qed.

(* With one entry too many, the reader also takes the second entry for the first. *)
Theorem wrong_with_one_too_many : let y := Style Rel Acq Rel Acq 1 in
  exists s, steps (example y) (initial 1 y 2 (fun _ => false) (fun _ => 0)) s /\
            taken (beside s) = 1 /\ rows (beside s) 0 0 <> example_word (ent (beside s) 0) 0.
Proof.
  intros y. assert (H : ends _ (act 1 1 example_word 0 1 y)
    (first_entry ++ by_ 0 [(Quick, 0); (Word, 0)] ++ by_ 1 [(LookHead, 1); (LookLost, 0); (Copy, 2); (Done, 0)])
    (initial 1 y 2 (fun _ => false) (fun _ => 0))
    (fun s => (taken (beside s) =? 1) && negb (rows (beside s) 0 0 =? example_word (ent (beside s) 0) 0)) = true)
    by (vm_compute; reflexivity).
  apply (ends_reached (example y)) in H; [|apply act_does|apply act_silent]. destruct H as (s & HS & HT). exists s.
  apply andb_prop in HT. destruct HT as [A B]. apply Nat.eqb_eq in A. apply negb_true_iff, Nat.eqb_neq in B. auto.
Qed.

(*
 * The end without the end: the reader has taken all that it saw, and does not know whether the writer has ended. Then what it
 * delivered and what it told is not all: the count of losses that it loaded was an old one.
 *)
Theorem short_without_the_end : let y := Style Rel Acq Rel Acq 0 in
  exists s, steps (example y) (initial 1 y 2 (fun _ => false) (fun _ => 0)) s /\
            wr (beside s) = WOver /\ rd (beside s) = RIdle /\ taken (beside s) = head (beside s) /\
            sum size_of (ent (beside s)) (taken (beside s)) +
            (told (beside s) - sum gap_of (ent (beside s)) (taken (beside s))) <> tries (beside s).
Proof.
  intros y. assert (H : ends _ (act 1 1 example_word 0 1 y)
    (first_entry ++ by_ 0 [(LookTail, 0); (Lose, 0); (Finish, 0)] ++ its_copy)
    (initial 1 y 2 (fun _ => false) (fun _ => 0))
    (fun s => match wr (beside s), rd (beside s) with WOver, RIdle => true | _, _ => false end &&
              (taken (beside s) =? head (beside s)) &&
              negb (sum size_of (ent (beside s)) (taken (beside s)) +
                    (told (beside s) - sum gap_of (ent (beside s)) (taken (beside s))) =? tries (beside s))) = true)
    by (vm_compute; reflexivity).
  apply (ends_reached (example y)) in H; [|apply act_does|apply act_silent]. destruct H as (s & HS & HT). exists s.
  apply andb_prop in HT. destruct HT as [A C]. apply andb_prop in A. destruct A as [A B].
  apply Nat.eqb_eq in B. apply negb_true_iff, Nat.eqb_neq in C.
  destruct (wr (beside s)) eqn:?, (rd (beside s)) eqn:?; try discriminate. auto.
Qed.
