(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * seqlock.v - the slots of stations whose events are written between an odd and an even seq.
 *
 * There is any number of stations, slots, payload words and threads. A coroutine may be on another thread at each event, so any
 * thread that may write (`writes`) can begin the next event of a station, as long as no other is under way there: one honest
 * writer a station. A thread may begin an event of one station inside that of another, as a signal handler does. Any number of
 * threads read. Each attempt is for any event that the reader chooses, at any time. All threads may do whatever they like with
 * other locations, and execute fences, between these steps.
 *
 *	step            C
 *	d_mark          ctp_slot_write_: the odd seq (ctp.h); write_seqlock (rawprobe.h)
 *	d_mark_fence    ctp_slot_write_: its release fence, of a station that announces ORDERED
 *	d_word          ctp_slot_write_: timestamp, tid, addr, what; put_payload
 *	d_publish       ctp_slot_write_: the even seq
 *	d_other         ctp_tell_: the fence after the event; and all else
 *	d_look          shows (slots.c), the first; copy_run: seq_of (v1-station.c)
 *	d_call1, 2      ctp_slots_copy: ctp_membarrier; for the second also barrier_main (barrier.c)
 *	d_copy          ctp_slots_copy: the four loads; copy (v1-station.c)
 *	d_fence         ctp_slots_copy: its acquire fence; that of keep_run
 *	d_accept        shows, the second; rewritten (v1-station.c); ctp_v1_station_quiet
 *
 * Orders and fences are those of a style, so that each can be taken away.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views laps runs.
Local Arguments Nat.mul : simpl never.
Local Arguments Nat.div : simpl never.
Local Arguments Nat.modulo : simpl never.

Inductive loc := Seq (st s : nat) | Pay (st s i : nat) | Other (n : nat).
#[global] Instance loc_eq : EqDec loc.
Proof. intros a b. decide equality; apply Nat.eq_dec. Defined.

(* The orders and fences of a writer and its reader. A barrier: None, or Some whether it is the global one. *)
Record style := Style {
  mark : order;          (* of the store of the odd seq *)
  mark_fence : bool;     (* a release fence after it *)
  publish : order;       (* of the store of the even seq *)
  look : order;          (* of both loads of seq *)
  barrier1 : option bool; (* the reader's membarrier before its copy *)
  barrier2 : option bool; (* and after it *)
  copy_fence : bool;     (* the reader's acquire fence after its copy *)
}.

Inductive phase := Marked | Filling (words_done : nat).
Record world := World { count : nat -> nat; busy : nat -> option (tid * phase) }.
Definition set_busy (w : world) (st : nat) (b : option (tid * phase)) : world := World (count w) (upd (busy w) st b).
Definition set_published (w : world) (st : nat) : world :=
  World (upd (count w) st (S (count w st))) (upd (busy w) st None).

(* Where a reader is: with event k of station st. v: the words that it copied. *)
Inductive place :=
| Idle
| Looked (st k : nat)
| Waiting1 (st k : nat)
| Copying (st k n : nat) (v : nat -> val)
| Waiting2 (st k : nat) (v : nat -> val)
| Copied (st k : nat) (v : nat -> val)
| Fenced (st k : nat) (v : nat -> val)
| Accepted (st k : nat) (v : nat -> val).

(* What a thread may do at any time: fences, and accesses to locations that are no station's. *)
Definition elsewhere (o : op loc) : Prop :=
  match o with
  | FenceAcq | FenceRel | FenceSc => True
  | BarrierCall _ | BarrierReturn | Register _ => False
  | _ => match place_of o with Some (Other _) => True | _ => False end
  end.

Section Program.
Variable slots words : nat.
Variable data : nat -> nat -> nat -> val. (* of station, event, word: what is written *)
Variable writes : tid -> bool.
Variable y : style.

Definition slot_of (k : nat) := k mod slots.
Definition lap_of (k : nat) := k / slots.
Definition want (k : nat) : val := 2 * lap_of k + 2. (* ctp_slot_seq *)

Inductive does (t : tid) : place -> world -> op loc -> ret -> place -> world -> Prop :=
| d_mark r w st : writes t = true -> busy w st = None ->
    does t r w (Store (mark y) (Seq st (slot_of (count w st))) (2 * lap_of (count w st) + 1)) (0, true)
      r (set_busy w st (Some (t, Marked)))
| d_mark_fence r w st : mark_fence y = true -> busy w st = Some (t, Marked) ->
    does t r w FenceRel (0, true) r (set_busy w st (Some (t, Filling 0)))
| d_word r w st i : busy w st = Some (t, Filling i) -> i < words ->
    does t r w (Store Rlx (Pay st (slot_of (count w st)) i) (data st (count w st) i)) (0, true)
      r (set_busy w st (Some (t, Filling (S i))))
| d_publish r w st : busy w st = Some (t, Filling words) ->
    does t r w (Store (publish y) (Seq st (slot_of (count w st))) (want (count w st))) (0, true) r (set_published w st)
| d_other r w o x : elsewhere o -> does t r w o x r w
| d_look w st k : does t Idle w (Load (look y) (Seq st (slot_of k))) (want k, true) (Looked st k) w
| d_look_vain w st k x : does t Idle w (Load (look y) (Seq st (slot_of k))) (x, true) Idle w
| d_call1 w st k g : barrier1 y = Some g -> does t (Looked st k) w (BarrierCall g) (0, true) (Waiting1 st k) w
| d_return1 w st k v : does t (Waiting1 st k) w BarrierReturn (0, true) (Copying st k 0 v) w
| d_copy w st k n v x : n < words ->
    does t (Copying st k n v) w (Load Rlx (Pay st (slot_of k) n)) (x, true) (Copying st k (S n) (upd v n x)) w
| d_call2 w st k v g : barrier2 y = Some g -> does t (Copying st k words v) w (BarrierCall g) (0, true) (Waiting2 st k v) w
| d_return2 w st k v : does t (Waiting2 st k v) w BarrierReturn (0, true) (Copied st k v) w
| d_fence w st k v : copy_fence y = true -> does t (Copied st k v) w FenceAcq (0, true) (Fenced st k v) w
| d_accept w st k v :
    does t (Fenced st k v) w (Load (look y) (Seq st (slot_of k))) (want k, true) (Accepted st k v) w
| d_reject w st k v x : x <> want k ->
    does t (Fenced st k v) w (Load (look y) (Seq st (slot_of k))) (x, true) Idle w.

(* Where a style has no fence and no barrier, the thread goes on without. *)
Inductive silent (t : tid) : place -> world -> place -> world -> Prop :=
| q_mark r w st : mark_fence y = false -> busy w st = Some (t, Marked) ->
    silent t r w r (set_busy w st (Some (t, Filling 0)))
| q_call1 w st k v : barrier1 y = None -> silent t (Looked st k) w (Copying st k 0 v) w
| q_call2 w st k v : barrier2 y = None -> silent t (Copying st k words v) w (Copied st k v) w
| q_fence w st k v : copy_fence y = false -> silent t (Copied st k v) w (Fenced st k v) w
| q_again w st k v : silent t (Accepted st k v) w Idle w.

Definition seqlock : program loc place world := Program does silent.

(* A memory of zeros, but what is no seq may have any value. *)
Definition zeroed (junk : loc -> val) (l : loc) : val := match l with Seq _ _ => 0 | _ => junk l end.

Definition initial (threads : nat) (registered : tid -> bool) (junk : loc -> val) : state loc place world :=
  State (start threads registered (zeroed junk)) (fun _ => Idle) (World (fun _ => 0) (fun _ => None)).

End Program.

Lemma elsewhere_not o l : elsewhere o -> (forall n, l <> Other n) -> place_of o <> Some l.
Proof.
  destruct o as [? p|? p ?|p|p ?|? p ?|? p ?|? ? ? p ? ?| | | | | |]; simpl; intros H Hl; try congruence; destruct p; try tauto;
    intros E; inversion E; subst; eapply Hl; eauto.
Qed.

Ltac loaded := match goal with H : loadable _ _ _ _ _ |- _ => destruct H as [HL HL'] end.
Ltac splits := repeat match goal with |- _ /\ _ => split end.

Section Proof.
Variable slots words : nat.
Hypothesis slots_some : 0 < slots.
Variable data : nat -> nat -> nat -> val.
Variable writes : tid -> bool.
Variable y : style.
Variable registered : tid -> bool.

Notation laps := (laps slots).
Notation slot_of := (slot_of slots).
Notation lap_of := (lap_of slots).
Notation want := (want slots).

Definition first_ok := is_rel (publish y) = true /\ is_acq (look y) = true.
Definition second_ok := mark_fence y = true /\ copy_fence y = true.
(* The barrier reaches all that write. *)
Definition reaches (b : option bool) : Prop := exists g, b = Some g /\ forall t, writes t = true -> g || registered t = true.

Hypothesis first : first_ok \/ reaches (barrier1 y).
Hypothesis second : second_ok \/ reaches (barrier2 y).

(* What is true of each message. Message n of a seq is the n-th store there, and has this value. *)
Definition good (l : loc) (n : nat) (g : message loc) : Prop :=
  match l with
  | Seq st s => value g = n /\
      (is_rel (publish y) = true -> forall j i, n = 2 * j + 2 -> i < words -> S j <= with_ g (At (Pay st s i)))
  | Pay st s i => forall j, n = S j ->
      value g = data st (j * slots + s) i /\ (mark_fence y = true -> 2 * j + 1 <= with_ g (At (Seq st s)))
  | Other _ => True
  end.

Definition seq_extra (w : world) (st s : nat) : nat :=
  match busy w st with Some _ => if slot_of (count w st) =? s then 1 else 0 | None => 0 end.
Definition pay_extra (w : world) (st s i : nat) : nat :=
  match busy w st with
  | Some (_, Filling n) => if (slot_of (count w st) =? s) && (i <? n) then 1 else 0
  | _ => 0
  end.

Definition knows (m : mem loc) (t : tid) (l : loc) (n : nat) : Prop := n <= cur (thr m t) (At l).

Definition writer_knows (m : mem loc) (w : world) (st : nat) (t : tid) (p : phase) : Prop :=
  let k := count w st in
  writes t = true /\ t < nthr m /\ knows m t (Seq st (slot_of k)) (2 * lap_of k + 1) /\
  match p with
  | Marked => True
  | Filling n => n <= words /\
      (mark_fence y = true -> 2 * lap_of k + 1 <= rel (thr m t) (At (Seq st (slot_of k)))) /\
      forall i, i < n -> knows m t (Pay st (slot_of k) i) (S (lap_of k))
  end.

(* Word i of event k was copied from message p. *)
Definition copied_from (m : mem loc) (st k i : nat) (x : val) (p : nat) : Prop :=
  S (lap_of k) <= p /\ p < length (hist m (Pay st (slot_of k) i)) /\ x = data st ((p - 1) * slots + slot_of k) i.

Definition lower (m : mem loc) (t : tid) (st k : nat) : Prop :=
  forall i, i < words -> knows m t (Pay st (slot_of k) i) (S (lap_of k)).

Definition reader_knows (m : mem loc) (w : world) (t : tid) (p : place) : Prop :=
  match p with
  | Idle => True
  | Looked st k => k < count w st /\ (first_ok -> lower m t st k)
  | Waiting1 st k => k < count w st /\ (first_ok -> lower m t st k) /\
      (reaches (barrier1 y) -> forall i, i < words -> coming m t (Pay st (slot_of k) i) (S (lap_of k)))
  | Copying st k n v => k < count w st /\ lower m t st k /\ forall i, i < n -> exists p, copied_from m st k i (v i) p /\
      (second_ok -> 2 * p - 1 <= acq (thr m t) (At (Seq st (slot_of k))))
  | Waiting2 st k v => k < count w st /\ forall i, i < words -> exists p, copied_from m st k i (v i) p /\
      (second_ok -> 2 * p - 1 <= acq (thr m t) (At (Seq st (slot_of k)))) /\
      (reaches (barrier2 y) -> coming m t (Seq st (slot_of k)) (2 * p - 1))
  | Copied st k v => k < count w st /\ forall i, i < words -> exists p, copied_from m st k i (v i) p /\
      (second_ok -> 2 * p - 1 <= acq (thr m t) (At (Seq st (slot_of k)))) /\
      (reaches (barrier2 y) -> knows m t (Seq st (slot_of k)) (2 * p - 1))
  | Fenced st k v => k < count w st /\ forall i, i < words -> exists p, copied_from m st k i (v i) p /\
      knows m t (Seq st (slot_of k)) (2 * p - 1)
  | Accepted st k v => k < count w st /\ forall i, i < words -> v i = data st k i
  end.

Record inv (s : state loc place world) : Prop := Inv {
  i_wf : wf (memory s);
  i_reg : reg (memory s) = registered;
  i_good : all good (memory s);
  i_seq : forall st l, l < slots ->
    length (hist (memory s) (Seq st l)) = 1 + 2 * laps (count (beside s) st) l + seq_extra (beside s) st l;
  i_pay : forall st l i, l < slots -> i < words ->
    length (hist (memory s) (Pay st l i)) = 1 + laps (count (beside s) st) l + pay_extra (beside s) st l i;
  i_author : forall st l i p, 1 <= p -> p < length (hist (memory s) (Pay st l i)) ->
    exists u, writes u = true /\ u < nthr (memory s) /\ knows (memory s) u (Pay st l i) p /\
              knows (memory s) u (Seq st l) (2 * p - 1);
  i_writer : forall st t p, busy (beside s) st = Some (t, p) -> writer_knows (memory s) (beside s) st t p;
  i_reader : forall t, reader_knows (memory s) (beside s) t (where_ s t);
}.

Lemma knows_grows m m' t l n : grows m m' -> knows m t l n -> knows m' t l n.
Proof. unfold knows. intros G H. eapply Nat.le_trans; [exact H|]. apply (g_cur _ _ G). Qed.

Lemma copied_from_grows m m' st k i x p : grows m m' -> copied_from m st k i x p -> copied_from m' st k i x p.
Proof.
  unfold copied_from. intros G (A & B & C). repeat split; auto. assert (L := grows_length _ _ (Pay st (slot_of k) i) G). lia.
Qed.

Lemma lower_grows m m' t st k : grows m m' -> lower m t st k -> lower m' t st k.
Proof. unfold lower. eauto using knows_grows. Qed.

Lemma writer_grows m m' w st t p : grows m m' -> writer_knows m w st t p -> writer_knows m' w st t p.
Proof.
  intros G (A & B & C & D). split; auto. split; [rewrite (g_nthr _ _ G); auto|]. split; [eauto using knows_grows|].
  destruct p; auto. destruct D as (E & F & H). split; auto. split; [|eauto using knows_grows].
  intros. eapply Nat.le_trans; [apply F; auto|]. apply (g_rel _ _ G).
Qed.

Lemma reader_grows' m m' w w' t p : grows m m' -> (forall l n, coming m t l n -> coming m' t l n) ->
  (forall st, count w st <= count w' st) -> reader_knows m w t p -> reader_knows m' w' t p.
Proof.
  intros G E L. assert (A := fun l => g_acq _ _ G t (At l)).
  destruct p as [|st k|st k|st k n v|st k v|st k v|st k v|st k v]; simpl; auto; intros H; decompose [and] H; clear H;
    assert (L' := L st); splits; try lia; eauto using lower_grows, coming_grows;
    intros i Hi;
    match goal with H : forall i, _ -> exists p, _ |- _ => destruct (H i Hi) as [q Hq]; decompose [and] Hq; exists q end;
    splits; eauto using copied_from_grows, knows_grows, coming_grows;
    intros; (eapply Nat.le_trans; [|apply A]); auto.
Qed.

Lemma reader_grows m m' w w' t p : grows m m' -> pend m' t = pend m t -> (forall st, count w st <= count w' st) ->
  reader_knows m w t p -> reader_knows m' w' t p.
Proof. intros G E. apply reader_grows'; auto. eauto using coming_grows. Qed.

(* A step that stores to no station, and whose thread is where it should be afterwards. *)
Lemma frame m m' w r r' t : grows m m' -> wf m' ->
  (forall st l, hist m' (Seq st l) = hist m (Seq st l)) -> (forall st l i, hist m' (Pay st l i) = hist m (Pay st l i)) ->
  reg m' = reg m -> (forall u, u <> t -> pend m' u = pend m u) ->
  inv (State m r w) -> reader_knows m' w t r' -> inv (State m' (upd r t r') w).
Proof.
  intros G W HS HP HR Hp [] Hr. simpl in *. constructor; simpl; auto; try congruence.
  - intros l i g. destruct l; [rewrite HS | rewrite HP |]; intros H; [exact (i_good0 _ _ _ H)..|exact I].
  - intros. rewrite HS. auto.
  - intros. rewrite HP. auto.
  - intros st l i p H1 H2. rewrite HP in H2. destruct (i_author0 st l i p H1 H2) as (u & A & B & C & D).
    exists u. rewrite (g_nthr _ _ G). splits; eauto using knows_grows.
  - intros. eauto using writer_grows.
  - intros u. unfold upd. destruct (eq_dec t u); subst; auto. apply reader_grows with m w; auto.
Qed.

Lemma upd_id {B} (f : tid -> B) t b u : b = f t -> upd f t b u = f u.
Proof. intros. unfold upd. destruct (eq_dec t u); subst; auto. Qed.

Lemma inv_where m r r' w : (forall t, r t = r' t) -> inv (State m r w) -> inv (State m r' w).
Proof. intros E []. constructor; simpl in *; auto. intros. rewrite <- E. auto. Qed.

Lemma laps_slot k : laps k (slot_of k) = lap_of k.
Proof. apply laps_own. auto. Qed.

Lemma slot_bound k : slot_of k < slots.
Proof. apply Nat.mod_upper_bound. lia. Qed.

(* --- the writer ------------------------------------------------------------------------------------------------------------- *)

Lemma step_mark m r w t st : t < nthr m -> writes t = true -> busy w st = None -> inv (State m r w) ->
  inv (State (store m t false (mark y) (Seq st (slot_of (count w st))) (2 * lap_of (count w st) + 1)) r
             (set_busy w st (Some (t, Marked)))).
Proof.
  intros Ht Hw Hb [Wf Rg Gd Sq Py Au Wr Rd]. simpl in *. set (k := count w st) in *.
  destruct (store_grows m t false (mark y) (Seq st (slot_of k)) (2 * lap_of k + 1) Wf) as [G W].
  assert (Sk := Sq st (slot_of k) (slot_bound k)). unfold seq_extra in Sk. rewrite Hb in Sk. fold k in Sk.
  rewrite laps_slot in Sk.
  set (m' := store _ _ _ _ _ _) in *. constructor; simpl.
  - auto.
  - auto.
  - apply all_store; auto. rewrite Sk. split; [simpl; lia|]. intros; lia.
  - intros st' l Hl. unfold seq_extra. simpl.
    assert (Sq' := Sq st' l Hl). unfold seq_extra in Sq'.
    unfold m'. simpl. unfold upd. destruct (eq_dec (Seq st (slot_of k)) (Seq st' l)) as [E|E].
    + inversion E; subst st' l. rewrite app_length, Sk. simpl. destruct (eq_dec st st); [|congruence].
      unfold k. rewrite Nat.eqb_refl. fold k. rewrite laps_slot. lia.
    + rewrite Sq'. destruct (eq_dec st st'); auto. subst st'. rewrite Hb.
      destruct (Nat.eqb_spec (slot_of (count w st)) l); auto. unfold k in E. congruence.
  - intros st' l i Hl Hi. unfold m'. simpl. rewrite upd_other by congruence. rewrite Py by auto.
    unfold pay_extra. simpl. unfold upd. destruct (eq_dec st st'); auto. subst st'. rewrite Hb. auto.
  - intros st' l i p H1 H2. unfold m' in H2. simpl in H2. rewrite upd_other in H2 by congruence.
    destruct (Au st' l i p H1 H2) as (u & A & B & C & D). exists u. splits; eauto using knows_grows.
  - intros st' t' p. unfold upd. destruct (eq_dec st st').
    + subst st'. intros E. inversion E; subst t' p. unfold writer_knows. simpl. fold k. repeat split; auto.
      eapply Nat.le_trans; [|apply store_knows]. rewrite Sk. lia.
    + intros E. apply Wr in E. eapply writer_grows in E; eauto.
  - intros u. apply reader_grows with m w; auto.
Qed.

Lemma step_fence m m' r w t st : grows m m' -> wf m' -> (forall l, hist m' l = hist m l) -> reg m' = reg m ->
  (forall u, pend m' u = pend m u) ->
  (mark_fence y = true -> forall k, cur (thr m t) k <= rel (thr m' t) k) ->
  busy w st = Some (t, Marked) -> inv (State m r w) ->
  inv (State m' r (set_busy w st (Some (t, Filling 0)))).
Proof.
  intros G W HH HR Hp Hrel Hb [Wf Rg Gd Sq Py Au Wr Rd]. simpl in *.
  constructor; simpl; auto; try congruence.
  - eapply all_same; eauto.
  - intros st' l Hl. rewrite HH, Sq by auto. unfold seq_extra. simpl. unfold upd.
    destruct (eq_dec st st'); auto. subst. rewrite Hb. auto.
  - intros st' l i Hl Hi. rewrite HH, Py by auto. unfold pay_extra. simpl. unfold upd.
    destruct (eq_dec st st'); auto. subst. rewrite Hb, andb_false_r. auto.
  - intros st' l i p H1 H2. rewrite HH in H2. destruct (Au st' l i p H1 H2) as (u & A & B & C & D).
    exists u. rewrite (g_nthr _ _ G). splits; eauto using knows_grows.
  - intros st' t' p. unfold upd. destruct (eq_dec st st').
    + subst st'. intros E. inversion E; subst t' p. apply Wr in Hb. destruct Hb as (A & B & C & _).
      unfold writer_knows. simpl. rewrite (g_nthr _ _ G). repeat split; eauto using knows_grows; try lia.
      intros. eapply Nat.le_trans; [|apply Hrel; auto]. auto.
    + intros E. apply Wr in E. eapply writer_grows in E; eauto.
  - intros u. apply reader_grows with m w; auto.
Qed.

Lemma step_word m r w t st n : busy w st = Some (t, Filling n) -> n < words -> inv (State m r w) ->
  inv (State (store m t false Rlx (Pay st (slot_of (count w st)) n) (data st (count w st) n)) r
             (set_busy w st (Some (t, Filling (S n))))).
Proof.
  intros Hb Hn [Wf Rg Gd Sq Py Au Wr Rd]. simpl in *. set (k := count w st) in *.
  destruct (store_grows m t false Rlx (Pay st (slot_of k) n) (data st k n) Wf) as [G W].
  assert (Pk := Py st (slot_of k) n (slot_bound k) Hn). unfold pay_extra in Pk. rewrite Hb in Pk. fold k in Pk.
  rewrite Nat.ltb_irrefl, andb_false_r in Pk. rewrite laps_slot in Pk. destruct (Wr _ _ _ Hb) as (A & B & C & D & E & F). fold k in C, E, F.
  set (m' := store _ _ _ _ _ _) in *. constructor; simpl.
  - auto.
  - auto.
  - apply all_store; auto. rewrite Pk. simpl. intros j Hj. replace j with (lap_of k) by lia. split.
    + unfold lap_of, slot_of. rewrite event_is by auto. auto.
    + intros Hf. eapply Nat.le_trans; [apply E; auto|]. apply join_l.
  - intros st' l Hl. unfold m'. simpl. rewrite upd_other by congruence. rewrite Sq by auto.
    unfold seq_extra. simpl. unfold upd. destruct (eq_dec st st'); auto. subst. rewrite Hb. auto.
  - intros st' l i Hl Hi. assert (Py' := Py st' l i Hl Hi). unfold pay_extra in *. simpl.
    unfold m'. simpl. unfold upd. destruct (eq_dec (Pay st (slot_of k) n) (Pay st' l i)) as [Q|Q].
    + inversion Q; subst st' l i. rewrite app_length, Pk. simpl. destruct (eq_dec st st); [|congruence].
      fold k. rewrite Nat.eqb_refl. simpl. destruct (Nat.ltb_spec n (S n)); [|lia].
      rewrite laps_slot. lia.
    + rewrite Py'. destruct (eq_dec st st'); auto. subst st'. rewrite Hb. fold k.
      destruct (Nat.eqb_spec (slot_of k) l); auto. simpl.
      assert (i <> n) by congruence. destruct (Nat.ltb_spec i n), (Nat.ltb_spec i (S n)); lia.
  - intros st' l i p H1 H2. unfold m' in H2. simpl in H2. unfold upd in H2.
    destruct (eq_dec (Pay st (slot_of k) n) (Pay st' l i)) as [Q|Q].
    + inversion Q; subst st' l i. rewrite app_length in H2. simpl in H2.
      destruct (Nat.lt_ge_cases p (length (hist m (Pay st (slot_of k) n)))) as [L|L].
      * destruct (Au _ _ _ p H1 L) as (u & A' & B' & C' & D'). exists u. splits; eauto using knows_grows.
      * exists t. repeat split; auto.
        -- eapply Nat.le_trans; [|apply store_knows]. lia.
        -- apply (knows_grows m); auto. eapply Nat.le_trans; [|exact C]. lia.
    + destruct (Au st' l i p H1 H2) as (u & A' & B' & C' & D'). exists u. splits; eauto using knows_grows.
  - intros st' t' p. unfold upd. destruct (eq_dec st st').
    + subst st'. intros Q. inversion Q; subst t' p. unfold writer_knows. simpl. fold k.
      repeat split; auto.
      * eauto using knows_grows.
      * intros Hf. eapply Nat.le_trans; [apply E; auto|]. apply (g_rel _ _ G).
      * intros i Hi. destruct (Nat.eq_dec i n).
        -- subst i. eapply Nat.le_trans; [|apply store_knows]. lia.
        -- eapply knows_grows; eauto. apply F. lia.
    + intros Q. apply Wr in Q. eapply writer_grows in Q; eauto.
  - intros u. apply reader_grows with m w; auto.
Qed.

Lemma step_publish m r w t st : busy w st = Some (t, Filling words) -> inv (State m r w) ->
  inv (State (store m t false (publish y) (Seq st (slot_of (count w st))) (want (count w st))) r (set_published w st)).
Proof.
  intros Hb [Wf Rg Gd Sq Py Au Wr Rd]. simpl in *. set (k := count w st) in *.
  destruct (store_grows m t false (publish y) (Seq st (slot_of k)) (want k) Wf) as [G W].
  assert (Sk := Sq st (slot_of k) (slot_bound k)). unfold seq_extra in Sk. rewrite Hb in Sk. fold k in Sk.
  rewrite Nat.eqb_refl in Sk. rewrite laps_slot in Sk.
  destruct (Wr _ _ _ Hb) as (A & B & C & D & E & F). fold k in C, E, F.
  set (m' := store _ _ _ _ _ _) in *. constructor; simpl.
  - auto.
  - auto.
  - apply all_store; auto. rewrite Sk. split; [simpl; unfold want; lia|].
    intros Hr j i Hj Hi. simpl. rewrite Hr. eapply Nat.le_trans; [|apply touch_cur].
    replace (S j) with (S (lap_of k)) by lia. apply F; auto.
  - intros st' l Hl. assert (Sq' := Sq st' l Hl). unfold seq_extra in *. simpl.
    unfold m'. simpl. unfold upd. destruct (eq_dec (Seq st (slot_of k)) (Seq st' l)) as [Q|Q].
    + inversion Q; subst st' l. rewrite app_length, Sk. simpl. destruct (eq_dec st st); [|congruence]. fold k.
      simpl. fold (slot_of k). rewrite Nat.eqb_refl. rewrite laps_slot. lia.
    + rewrite Sq'. destruct (eq_dec st st'); auto. subst st'. rewrite Hb. fold k. simpl. fold (slot_of k).
      destruct (Nat.eqb_spec (slot_of k) l); [congruence|]. lia.
  - intros st' l i Hl Hi. unfold m'. simpl. rewrite upd_other by congruence. rewrite Py by auto.
    unfold pay_extra. simpl. unfold upd. destruct (eq_dec st st'); auto. subst st'. rewrite Hb. fold k.
    simpl. fold (slot_of k). destruct (Nat.eqb_spec (slot_of k) l); simpl; [|lia].
    destruct (Nat.ltb_spec i words); lia.
  - intros st' l i p H1 H2. unfold m' in H2. simpl in H2. rewrite upd_other in H2 by congruence.
    destruct (Au st' l i p H1 H2) as (u & A' & B' & C' & D'). exists u. splits; eauto using knows_grows.
  - intros st' t' p. unfold upd. destruct (eq_dec st st'); [discriminate|].
    intros Q. apply Wr in Q. eapply writer_grows in Q; eauto. unfold writer_knows in *. simpl. unfold upd.
    destruct (eq_dec st st'); [congruence|auto].
  - intros u. apply reader_grows with m w; auto. intros st'. simpl. unfold upd. destruct (eq_dec st st'); subst; auto.
Qed.

(* --- the reader ------------------------------------------------------------------------------------------------------------- *)

Lemma shown m r w st k i g : inv (State m r w) -> nth_error (hist m (Seq st (slot_of k))) i = Some g ->
  value g = want k -> i = 2 * lap_of k + 2 /\ k < count w st.
Proof.
  intros [Wf Rg Gd Sq Py Au Wr Rd] H V. simpl in *. destruct (Gd _ _ _ H) as [Hv _]. apply nth_error_lt in H.
  rewrite Sq in H by apply slot_bound. unfold want in V. split; [lia|]. apply (laps_published slots slots_some).
  fold (lap_of k) (slot_of k). unfold seq_extra in H. destruct (busy w st); [destruct (_ =? _)|]; lia.
Qed.

(* What a writer that the barrier reaches has written is on its way. *)
Lemma called m r w t b g st l i p : inv (State m r w) -> reaches b -> b = Some g -> 1 <= p ->
  p < length (hist m (Pay st l i)) ->
  coming (barrier_call m t g) t (Pay st l i) p /\ coming (barrier_call m t g) t (Seq st l) (2 * p - 1).
Proof.
  intros [Wf Rg Gd Sq Py Au Wr Rd] (g' & Hg & Hr) E H1 H2. simpl in *. assert (g' = g) by congruence. subst g'.
  destruct (Au st l i p H1 H2) as (u & A & B & C & D). specialize (Hr u A). rewrite <- Rg in Hr.
  split; apply coming_called with u; auto.
Qed.

Lemma kept : forall s s', inv s -> step (seqlock slots words data writes y) s s' -> inv s'.
Proof.
  intros s s' HI HS. destruct HS as [m w x t o r l' x' m' Ht HD HM | m w x t l' x' Ht HD | m w x c t Hin].
  - assert (Wf := i_wf _ HI). simpl in Wf. destruct (mstep_grows _ _ _ _ _ HM Wf) as [G W].
    assert (HR := i_reader _ HI t). simpl in HR.
    assert (Same : (forall l, place_of o <> Some l -> hist m' l = hist m l)) by (intros; eapply mstep_elsewhere; eauto).
    assert (SR : stores o = false -> forall l, hist m' l = hist m l) by (intros; eapply mstep_reads; eauto).
    assert (PO : forall u, u <> t -> pend m' u = pend m u) by (intros; eapply mstep_pend_other; eauto).
    remember (w t) as r0 eqn:Er. destruct HD.
    + inversion HM; subst. eapply inv_where; [intros; symmetry; apply upd_id; auto|]. apply step_mark; auto.
    + inversion HM; subst. eapply inv_where; [intros; symmetry; apply upd_id; auto|].
      apply step_fence with m; auto. intros. apply fence_rel_gives.
    + inversion HM; subst. eapply inv_where; [intros; symmetry; apply upd_id; auto|]. apply step_word; auto.
    + inversion HM; subst. eapply inv_where; [intros; symmetry; apply upd_id; auto|]. apply step_publish; auto.
    + assert (is_barrier o = false) by (destruct o; simpl in *; tauto).
      assert (is_register o = false) by (destruct o; simpl in *; tauto).
      apply frame with m; eauto using mstep_reg.
      * intros. apply Same, elsewhere_not; auto. intros n. congruence.
      * intros. apply Same, elsewhere_not; auto. intros n. congruence.
      * eapply reader_grows; eauto. erewrite mstep_pend; eauto.
    + inversion HM; subst. loaded. destruct (shown _ _ _ _ _ _ _ HI HL ltac:(congruence)) as [Hi Hk].
      apply frame with m; try (intros; apply SR; reflexivity); auto. split; auto. intros [Fr Fa] n Hn.
      eapply Nat.le_trans; [|apply load_acquires; auto].
      apply (proj2 (i_good _ HI _ _ _ HL) Fr (lap_of k) n); auto.
    + inversion HM; subst. apply frame with m; try (intros; apply SR; reflexivity); auto; exact I.
    + inversion HM; subst. destruct HR as [Hk Hl]. apply frame with m; try (intros; apply SR; reflexivity); auto.
      repeat split; eauto using lower_grows. intros Hr n Hn.
      assert (HP := i_pay _ HI st (slot_of k) n (slot_bound k) Hn). simpl in HP.
      apply (laps_published slots slots_some) in Hk. fold (lap_of k) (slot_of k) in Hk.
      apply (called _ _ _ t _ g st (slot_of k) n (S (lap_of k)) HI Hr H); lia.
    + inversion HM; subst. destruct HR as (Hk & Hl & Hc). apply frame with m; try (intros; apply SR; reflexivity); auto.
      repeat split; auto; [|intros; lia]. destruct first as [Hf|Hf]; [eauto using lower_grows|].
      intros n Hn. apply coming_returned; auto.
    + inversion HM; subst. destruct HR as (Hk & Hl & Hc). loaded. apply frame with m; try (intros; apply SR; reflexivity); auto.
      repeat split; eauto using lower_grows. intros j Hj. unfold upd. destruct (eq_dec n j).
      * subst j. specialize (Hl n H). unfold knows in Hl.
        assert (Hi : S (lap_of k) <= i) by lia. exists i. repeat split; auto.
        -- simpl. rewrite upd_same. eauto using nth_error_lt.
        -- destruct (i_good _ HI _ _ _ HL (i - 1) ltac:(lia)) as [Hv _]. auto.
        -- intros [Fm _]. destruct (i_good _ HI _ _ _ HL (i - 1) ltac:(lia)) as [_ Hv].
           eapply Nat.le_trans; [|apply load_keeps]. specialize (Hv Fm). lia.
      * destruct (Hc j ltac:(lia)) as (p & A & B). exists p. split; [eauto using copied_from_grows|].
        intros. eapply Nat.le_trans; [apply B; auto|]. apply (g_acq _ _ G).
    + inversion HM; subst. destruct HR as (Hk & Hl & Hc). apply frame with m; try (intros; apply SR; reflexivity); auto.
      split; auto. intros j Hj. destruct (Hc j Hj) as (p & A & B). exists p. split; [eauto using copied_from_grows|].
      split.
      * intros. eapply Nat.le_trans; [apply B; auto|]. apply (g_acq _ _ G).
      * intros Hr. destruct A as (A1 & A2 & A3).
        apply (proj2 (called _ _ _ t _ g st (slot_of k) j p HI Hr H ltac:(lia) A2)).
    + inversion HM; subst. destruct HR as (Hk & Hc). apply frame with m; try (intros; apply SR; reflexivity); auto.
      split; auto. intros j Hj. destruct (Hc j Hj) as (p & A & B & C). exists p. split; [eauto using copied_from_grows|].
      split.
      * intros. eapply Nat.le_trans; [apply B; auto|]. apply (g_acq _ _ G).
      * intros Hr. apply coming_returned; auto.
    + inversion HM; subst. destruct HR as (Hk & Hc). apply frame with m; try (intros; apply SR; reflexivity); auto.
      split; auto. intros j Hj. destruct (Hc j Hj) as (p & A & B & C). exists p. split; [eauto using copied_from_grows|].
      destruct second as [Hs|Hs]; [|eauto using knows_grows].
      eapply Nat.le_trans; [apply B; auto|]. apply fence_acq_gets.
    + inversion HM; subst. destruct HR as (Hk & Hc). loaded. apply frame with m; try (intros; apply SR; reflexivity); auto.
      split; auto. intros j Hj. destruct (Hc j Hj) as (p & (A1 & A2 & A3) & B). unfold knows in B.
      destruct (shown _ _ _ _ _ _ _ HI HL ltac:(congruence)) as [Hi _].
      assert (p - 1 = lap_of k) by lia. rewrite A3, H. unfold lap_of, slot_of. rewrite event_is by auto. auto.
    + inversion HM; subst. apply frame with m; try (intros; apply SR; reflexivity); auto; exact I.
  - assert (HR := i_reader _ HI t). simpl in HR. assert (Wf := i_wf _ HI). simpl in Wf.
    remember (w t) as r0 eqn:Er. destruct HD.
    + eapply inv_where; [intros; symmetry; apply upd_id; auto|]. apply step_fence with m; auto using grows_refl. congruence.
    + apply frame with m; auto using grows_refl. destruct HR as [Hk Hl]. repeat split; auto; [|intros; lia].
      destruct first as [Hf|(g & Hf & _)]; auto. congruence.
    + apply frame with m; auto using grows_refl. destruct HR as (Hk & Hl & Hc). split; auto.
      intros j Hj. destruct (Hc j Hj) as (p & A & B). exists p. repeat split; auto; try apply A.
      intros (g & Hf & _). congruence.
    + apply frame with m; auto using grows_refl. destruct HR as (Hk & Hc). split; auto.
      intros j Hj. destruct (Hc j Hj) as (p & A & B & C). exists p. split; auto.
      destruct second as [[_ Hs]|Hs]; auto. congruence.
    + apply frame with m; auto using grows_refl; exact I.
  - assert (Wf := i_wf _ HI). simpl in Wf. destruct (reaches_grows m c t Wf) as [G W].
    destruct HI as [Wf' Rg Gd Sq Py Au Wr Rd]. simpl in *. constructor; simpl; auto.
    + intros st l i p H1 H2. destruct (Au st l i p H1 H2) as (u & A & B & C & D).
      exists u. repeat split; auto; eapply knows_grows; eauto.
    + intros st u p H. apply Wr in H. eapply writer_grows; eauto.
    + intros u. destruct (Nat.eq_dec u c) as [->|Hn].
      * apply reader_grows' with m x; auto. intros. apply coming_reaches; auto.
      * eapply reader_grows; eauto. simpl. rewrite upd_other; auto.
Qed.

Lemma begins n junk : inv (initial n registered junk).
Proof.
  constructor; simpl; auto; try discriminate.
  - apply wf_start.
  - intros l i g. simpl. destruct i; simpl; [|destruct i; discriminate]. intros H. inversion H; subst. destruct l; simpl; auto.
    + split; auto. intros; lia.
    + intros; discriminate.
  - intros. lia.
Qed.

(* Whatever the reader accepts is one event, whole, and it was published. *)
Theorem accepted n junk s t st k v :
  steps (seqlock slots words data writes y) (initial n registered junk) s -> where_ s t = Accepted st k v ->
  k < count (beside s) st /\ forall i, i < words -> v i = data st k i.
Proof.
  intros HS HA. assert (HI : inv s) by (revert s HS HA; intros s HS _; revert s HS; apply always; eauto using begins, kept).
  assert (HR := i_reader _ HI t). rewrite HA in HR. exact HR.
Qed.

End Proof.

(* --- the theorems ----------------------------------------------------------------------------------------------------------- *)

(* What the reader has accepted is an event that was published, with each of the words that were written for it. *)
Definition whole (words : nat) (data : nat -> nat -> nat -> val) (s : state loc place world) : Prop :=
  forall t st k v, where_ s t = Accepted st k v -> k < count (beside s) st /\ forall i, i < words -> v i = data st k i.

(* ORDERED: the release fence after the odd mark and the reader's acquire fence; release of the even seq and acquire of the look. *)
Theorem accepted_is_written slots words data writes y registered threads junk s :
  0 < slots -> mark_fence y = true -> is_rel (publish y) = true -> is_acq (look y) = true -> copy_fence y = true ->
  steps (seqlock slots words data writes y) (initial threads registered junk) s -> whole words data s.
Proof.
  intros Hs Hm Hp Hl Hc HS t st k v HA.
  eapply (accepted slots words Hs data writes y registered); eauto; left; split; auto.
Qed.

(* BARRIER: no order at all in a writer that is registered, and a membarrier on both sides of the copy. *)
Theorem barrier_accepted slots words data writes y registered threads junk s g1 g2 :
  0 < slots -> (forall t, writes t = true -> registered t = true) -> barrier1 y = Some g1 -> barrier2 y = Some g2 ->
  steps (seqlock slots words data writes y) (initial threads registered junk) s -> whole words data s.
Proof.
  intros Hs Hw H1 H2 HS t st k v HA.
  eapply (accepted slots words Hs data writes y registered); eauto; right; eexists; split; eauto;
    intros u Hu; rewrite (Hw u Hu); apply orb_true_r.
Qed.

(* The quiet eighth: a field writer, whatever its odd mark is, and a global membarrier between copy and second look. *)
Theorem quiet_eighth slots words data writes y registered threads junk s :
  0 < slots -> is_rel (publish y) = true -> is_acq (look y) = true -> barrier2 y = Some true ->
  steps (seqlock slots words data writes y) (initial threads registered junk) s -> whole words data s.
Proof.
  intros Hs Hp Hl Hb HS t st k v HA.
  eapply (accepted slots words Hs data writes y registered); eauto; [left; split; auto | right; eexists; split; eauto].
Qed.

(* --- what goes wrong without -------------------------------------------------------------------------------------------------- *)

(* A run, move by move. *)
Inductive decision := Mark (st : nat) | Fill (st : nat) | Publish (st : nat) | Look (st k : nat) | On.

Definition act (slots words : nat) (data : nat -> nat -> nat -> val) (writes : tid -> bool) (y : style)
  (d : decision) (t : tid) (r : place) (w : world) : option (plan (loc := loc) (local := place) (world := world)) :=
  let go o r' w' : option (plan (loc := loc) (local := place) (world := world)) :=
    Some (inl (o, fun x : ret => if Nat.eqb (fst x) 0 && snd x then Some (r', w') else None)) in
  match d, r with
  | Mark st, _ =>
    match busy w st with
    | None => if writes t then go (Store (mark y) (Seq st (slot_of slots (count w st))) (2 * lap_of slots (count w st) + 1)) r
                                  (set_busy w st (Some (t, Marked))) else None
    | Some (u, Marked) =>
      if Nat.eqb u t then if mark_fence y then go FenceRel r (set_busy w st (Some (t, Filling 0)))
                          else Some (inr (r, set_busy w st (Some (t, Filling 0)))) else None
    | _ => None
    end
  | Fill st, _ =>
    match busy w st with
    | Some (u, Filling i) =>
      if Nat.eqb u t && (i <? words)
      then go (Store Rlx (Pay st (slot_of slots (count w st)) i) (data st (count w st) i)) r
              (set_busy w st (Some (t, Filling (S i)))) else None
    | _ => None
    end
  | Publish st, _ =>
    match busy w st with
    | Some (u, Filling i) =>
      if Nat.eqb u t && (i =? words)
      then go (Store (publish y) (Seq st (slot_of slots (count w st))) (want slots (count w st))) r (set_published w st) else None
    | _ => None
    end
  | Look st k, Idle =>
    Some (inl (Load (look y) (Seq st (slot_of slots k)),
               fun x : ret => if Nat.eqb (fst x) (want slots k) && snd x then Some (Looked st k, w) else None))
  | On, Looked st k =>
    match barrier1 y with Some g => go (BarrierCall g) (Waiting1 st k) w | None => Some (inr (Copying st k 0 (fun _ => 0), w)) end
  | On, Waiting1 st k => go BarrierReturn (Copying st k 0 (fun _ => 0)) w
  | On, Copying st k n v =>
    if n <? words
    then Some (inl (Load Rlx (Pay st (slot_of slots k) n),
                    fun x : ret => if snd x then Some (Copying st k (S n) (upd v n (fst x)), w) else None))
    else if n =? words
    then match barrier2 y with Some g => go (BarrierCall g) (Waiting2 st k v) w | None => Some (inr (Copied st k v, w)) end
    else None
  | On, Waiting2 st k v => go BarrierReturn (Copied st k v) w
  | On, Copied st k v => if copy_fence y then go FenceAcq (Fenced st k v) w else Some (inr (Fenced st k v, w))
  | On, Fenced st k v =>
    Some (inl (Load (look y) (Seq st (slot_of slots k)),
               fun x : ret => if Nat.eqb (fst x) (want slots k) && snd x then Some (Accepted st k v, w) else None))
  | _, _ => None
  end.

Lemma act_does slots words data writes y d t l x o f r l' x' :
  act slots words data writes y d t l x = Some (inl (o, f)) -> f r = Some (l', x') ->
  machine.does (seqlock slots words data writes y) t l x o r l' x'.
Proof.
  unfold act. simpl. intros H F. destruct d; [| | | |destruct l]; crush; cbn [fst snd] in *; subst; try (econstructor; eauto; fail).
Qed.

Lemma act_silent slots words data writes y d t l x l' x' :
  act slots words data writes y d t l x = Some (inr (l', x')) ->
  machine.silent (seqlock slots words data writes y) t l x l' x'.
Proof.
  unfold act. simpl. intros H. destruct d; [| | | |destruct l]; crush; cbn [fst snd] in *; subst; try (econstructor; eauto; fail).
Qed.

(* One slot, two words; thread 0 writes, thread 1 reads. *)
Definition example_data (st k i : nat) : val := 10 * (k + 1) + i.
Definition example_writes (t : tid) : bool := t =? 0.
Definition example (y : style) := seqlock 1 2 example_data example_writes y.
Definition torn_now (s : state loc place world) : bool :=
  match where_ s 1 with
  | Accepted st k v => existsb (fun i => negb (v i =? example_data st k i)) (seq 0 2)
  | _ => false
  end.

(* A run of the machine after which the reader has accepted what is no event. *)
Definition torn (y : style) (registered : tid -> bool) : Prop :=
  exists s, steps (example y) (initial 2 registered (fun _ => 0)) s /\ ~ whole 2 example_data s.

Lemma torn_by y registered moves :
  ends _ (act 1 2 example_data example_writes y) moves (initial 2 registered (fun _ => 0)) torn_now = true -> torn y registered.
Proof.
  intros H. apply (ends_reached (example y)) in H; [|apply act_does|apply act_silent].
  destruct H as (s & HS & HT). exists s. split; auto. intros HW. unfold torn_now in HT.
  destruct (where_ s 1) eqn:E; try discriminate. apply existsb_exists in HT. destruct HT as (i & Hi & HN).
  apply in_seq in Hi. apply negb_true_iff, Nat.eqb_neq in HN. apply HN. apply (HW 1 _ _ _ E). lia.
Qed.

Definition writer (d : decision) : move decision := Do 0 d 0.
Definition reader (d : decision) (choice : nat) : move decision := Do 1 d choice.
Definition event : list (move decision) := map writer [Mark 0; Mark 0; Fill 0; Fill 0; Publish 0].
(* Event 1 has begun, and its first word is there. *)
Definition begun : list (move decision) := map writer [Mark 0; Mark 0; Fill 0].

(* The reader sees event 0 complete, copies a word of event 1, and still sees the seq of event 0. *)
Definition sees_new_word : list (move decision) :=
  event ++ begun ++ [reader (Look 0 0) 2; reader On 0; reader On 2; reader On 1; reader On 0; reader On 0; reader On 2].
(* It sees event 0 complete, and a word as it was before. *)
Definition sees_old_word : list (move decision) :=
  event ++ [reader (Look 0 0) 2; reader On 0; reader On 0; reader On 1; reader On 0; reader On 0; reader On 2].

Definition nobody (t : tid) := false.
Definition everybody (t : tid) := true.
Ltac shown_by moves := apply torn_by with moves; vm_compute; reflexivity.

(*                                                  mark  fence publish look barrier1 barrier2     copy fence *)
(* The field's SDKs: the odd mark is a release store, which orders nothing after it. The same reader accepts a torn payload. *)
Theorem torn_with_release_mark : torn (Style Rel false Rel Acq None None true) nobody.
Proof. shown_by sees_new_word. Qed.
Theorem torn_without_mark_fence : torn (Style Rlx false Rel Acq None None true) nobody.
Proof. shown_by sees_new_word. Qed.
Theorem torn_without_publish : torn (Style Rlx true Rlx Acq None None true) nobody.
Proof. shown_by sees_old_word. Qed.
Theorem torn_without_look : torn (Style Rlx true Rel Rlx None None true) nobody.
Proof. shown_by sees_old_word. Qed.
Theorem torn_without_copy_fence : torn (Style Rlx true Rel Acq None None false) nobody.
Proof. shown_by sees_new_word. Qed.

(* With membarrier: the one before the copy, the one after it, and a writer that it does not reach. *)
Definition sees_old_word' : list (move decision) :=
  event ++ [reader (Look 0 0) 2; reader On 0; reader On 0; reader On 1; reader On 0; Reach 1 0; Reach 1 1; reader On 0;
            reader On 0; reader On 2].
Definition sees_new_word' : list (move decision) :=
  event ++ [reader (Look 0 0) 2; reader On 0; Reach 1 0; Reach 1 1; reader On 0] ++ begun ++
  [reader On 2; reader On 1; reader On 0; reader On 0; reader On 2].
Definition not_reached : list (move decision) :=
  event ++ [reader (Look 0 0) 2; reader On 0; reader On 0; reader On 0; reader On 1; reader On 0; reader On 0; reader On 0;
            reader On 2].

Theorem torn_without_barrier1 : torn (Style Rlx false Rlx Acq None (Some false) true) everybody.
Proof. shown_by sees_old_word'. Qed.
Theorem torn_without_barrier2 : torn (Style Rlx false Rlx Acq (Some false) None true) everybody.
Proof. shown_by sees_new_word'. Qed.
Theorem torn_without_registration : torn (Style Rlx false Rlx Acq (Some false) (Some false) true) nobody.
Proof. shown_by not_reached. Qed.

(* The quiet eighth: without the barrier it is torn_with_release_mark. It needs both orders of the seq. *)
Theorem quiet_torn_without_publish : torn (Style Rel false Rlx Acq None (Some true) true) nobody.
Proof. shown_by sees_old_word'. Qed.
Theorem quiet_torn_without_look : torn (Style Rel false Rel Rlx None (Some true) true) nobody.
Proof. shown_by sees_old_word'. Qed.

(* Where nothing is taken away the same reader accepts something: the theorems are about something. *)
Definition accepts (y : style) (registered : tid -> bool) : Prop :=
  exists s v, steps (example y) (initial 2 registered (fun _ => 0)) s /\ where_ s 1 = Accepted 0 0 v.
Definition accepted_now (s : state loc place world) : bool :=
  match where_ s 1 with Accepted 0 0 _ => true | _ => false end.

Lemma accepts_by y registered moves :
  ends _ (act 1 2 example_data example_writes y) moves (initial 2 registered (fun _ => 0)) accepted_now = true ->
  accepts y registered.
Proof.
  intros H. apply (ends_reached (example y)) in H; [|apply act_does|apply act_silent].
  destruct H as (s & HS & HT). unfold accepted_now in HT.
  destruct (where_ s 1) eqn:E; try discriminate. destruct st, k; try discriminate.
  exists s. eexists. split; eauto.
Qed.

Theorem ordered_accepts : accepts (Style Rlx true Rel Acq None None true) nobody.
Proof.
  apply accepts_by with
    (event ++ [reader (Look 0 0) 2; reader On 0; reader On 1; reader On 1; reader On 0; reader On 0; reader On 2]).
  vm_compute. reflexivity.
Qed.
Theorem barrier_accepts : accepts (Style Rlx false Rlx Acq (Some false) (Some false) true) everybody.
Proof.
  apply accepts_by with
    (event ++ [reader (Look 0 0) 2; reader On 0; Reach 1 0; Reach 1 1; reader On 0; reader On 1; reader On 1;
               reader On 0; Reach 1 1; Reach 1 0; reader On 0; reader On 0; reader On 2]).
  vm_compute. reflexivity.
Qed.
Theorem quiet_accepts : accepts (Style Rel false Rel Acq None (Some true) true) nobody.
Proof.
  apply accepts_by with
    (event ++ [reader (Look 0 0) 2; reader On 0; reader On 1; reader On 1;
               reader On 0; Reach 1 1; Reach 1 0; reader On 0; reader On 0; reader On 2]).
  vm_compute. reflexivity.
Qed.
