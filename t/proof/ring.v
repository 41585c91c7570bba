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
  i_told : sum gap_of (ent (beside s)) (taken (beside s)) <= cur (thr (memory s) r) (At Lost);
  i_saw : taken (beside s) <= cur (thr (memory s) r) (At Head);
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
  - rewrite SG by lia. auto.
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
  - rewrite SG by lia. eapply Nat.le_trans; eauto.
  - eapply Nat.le_trans; eauto.
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
  - eapply Nat.le_trans; eauto.
  - eapply Nat.le_trans; eauto.
  - intros E. destruct (i_ended0 E) as (A & B & D). splits; auto; eapply Nat.le_trans; eauto.
  - intros E. rewrite Hr in i_last0. destruct (i_last0 E) as (A & B & D). auto.
Qed.

End Proof.
