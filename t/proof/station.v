(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * station.v - the first rule of v1-station.c: event k was copied whole if, after the copy and an acquire fence, event k + 7 is not
 * published. It is for writers whose odd mark orders nothing, or that have none, and that have a full fence after each event.
 *
 * There is any number of stations, slots, payload words and threads. The reader copies a run of events one after the other, and
 * asks about one of them: if event k + slots - 1 is not published, k and all that come after it in the run are accepted.
 *
 * `marks` is the dialect: seqlock as in the field (an odd seq before the payload, seq 2 * lap + 2 after it), or plain (seq k + 1
 * after it). A plain writer begins with slot 1 where this one begins with slot 0: the slots have other names here.
 *
 * A coroutine may move to another thread (`moves`): one thread gives it away with a release store, the other gets it with an
 * acquire load. Then the fence was the other thread's, and C11 does not let it order the stores of this one. The rule is sound
 * only if the thread that gets it has a fence of its own (`taker_fence`), or if it does not move. moved_without_fence is the run
 * that shows it. By their own models no processor does that: on ARMv8 and x86 a store that is visible to one other thread is
 * visible to all, and on POWER a full fence is cumulative. (That is argued, not proved.)
 *
 *	step            C
 *	o_mark          write_seqlock (rawprobe.h): the odd seq
 *	o_word          put_payload
 *	o_publish       put_seq: the even seq, or the plain one
 *	o_fence         the full fence after it
 *	o_give, o_take  the scheduler of the program
 *	o_look, o_copy  copy_run (v1-station.c): seq_of, copy
 *	o_copied        keep_run: its acquire fence
 *	o_ask           overtaken, ctp_v1_station_recheck: published
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views laps runs.
Local Arguments Nat.mul : simpl never.
Local Arguments Nat.div : simpl never.
Local Arguments Nat.modulo : simpl never.

Inductive loc := Seq (st s : nat) | Pay (st s i : nat) | Hand (st : nat) | Other (n : nat).
#[global] Instance loc_eq : EqDec loc.
Proof. intros a b. decide equality; apply Nat.eq_dec. Defined.

Record style := Style {
  marks : bool;        (* seqlock, or plain *)
  mark : order;        (* of the store of the odd seq *)
  publish : order;     (* of the store of the seq of a complete event *)
  writer_fence : bool; (* the full fence after it *)
  moves : bool;        (* coroutines move from thread to thread *)
  taker_fence : bool;  (* a fence of the thread that gets one *)
  look : order;        (* of the loads of seq *)
  copy_fence : bool;   (* the acquire fence after the copy *)
  ahead : nat;         (* the rule asks for event k + ahead *)
}.

Inductive phase := Ready | Filling (words_done : nat) | Published | Taken.
Inductive holder := Held (t : tid) | Given (number : nat).
Record world := World { count : nat -> nat; phase_of : nat -> phase; hold : nat -> holder; gifts : nat -> nat }.

Definition set_phase (w : world) (st : nat) (p : phase) := World (count w) (upd (phase_of w) st p) (hold w) (gifts w).
Definition set_published (w : world) (st : nat) :=
  World (upd (count w) st (S (count w st))) (upd (phase_of w) st Published) (hold w) (gifts w).
Definition set_given (w : world) (st : nat) :=
  World (count w) (phase_of w) (upd (hold w) st (Given (S (gifts w st)))) (upd (gifts w) st (S (gifts w st))).
Definition set_taken (w : world) (st : nat) (t : tid) :=
  World (count w) (upd (phase_of w) st Taken) (upd (hold w) st (Held t)) (gifts w).

(* Where a reader is. Run: events base .. base + n - 1 of station st are copied. Took: k and those after it are accepted. *)
Definition rows := nat -> nat -> val.
Inductive place :=
| Idle
| Run (st base n : nat) (r : rows)
| Copying (st base n i : nat) (r : rows)
| Asking (st base n : nat) (r : rows)
| Took (st k base n : nat) (r : rows).

Definition set_row (r : rows) (e i : nat) (x : val) : rows := fun e' i' => if (e =? e') && (i =? i') then x else r e' i'.

Definition elsewhere (o : op loc) : Prop :=
  match o with
  | FenceAcq | FenceRel | FenceSc => True
  | BarrierCall _ | BarrierReturn | Register _ => False
  | _ => match place_of o with Some (Other _) => True | _ => False end
  end.

Lemma elsewhere_not o l : elsewhere o -> (forall n, l <> Other n) -> place_of o <> Some l.
Proof.
  destruct o as [? p|? p ?|p|p ?|? p ?|? p ?|? ? ? p ? ?| | | | | |]; simpl; intros H Hl; try congruence; destruct p; try tauto;
    intros E; inversion E; subst; eapply Hl; eauto.
Qed.

Section Program.
Variable slots words : nat.
Variable data : nat -> nat -> nat -> val. (* of station, event, word *)
Variable y : style.

Definition slot_of (k : nat) := k mod slots.
Definition lap_of (k : nat) := k / slots.
(* ctp_v1_station_want *)
Definition want (k : nat) : val := if marks y then 2 * lap_of k + 2 else S k.

Inductive does (t : tid) : place -> world -> op loc -> ret -> place -> world -> Prop :=
| o_mark r w st : hold w st = Held t -> phase_of w st = Ready -> marks y = true ->
    does t r w (Store (mark y) (Seq st (slot_of (count w st))) (2 * lap_of (count w st) + 1)) (0, true)
      r (set_phase w st (Filling 0))
| o_word r w st i : hold w st = Held t -> phase_of w st = Filling i -> i < words ->
    does t r w (Store Rlx (Pay st (slot_of (count w st)) i) (data st (count w st) i)) (0, true)
      r (set_phase w st (Filling (S i)))
| o_publish r w st : hold w st = Held t -> phase_of w st = Filling words ->
    does t r w (Store (publish y) (Seq st (slot_of (count w st))) (want (count w st))) (0, true) r (set_published w st)
| o_fence r w st : hold w st = Held t -> phase_of w st = Published -> writer_fence y = true ->
    does t r w FenceSc (0, true) r (set_phase w st Ready)
| o_give r w st : hold w st = Held t -> phase_of w st = Ready -> moves y = true ->
    does t r w (Store Rel (Hand st) (S (gifts w st))) (0, true) r (set_given w st)
| o_take r w st n : hold w st = Given n ->
    does t r w (Load Acq (Hand st)) (n, true) r (set_taken w st t)
| o_taker_fence r w st : hold w st = Held t -> phase_of w st = Taken -> taker_fence y = true ->
    does t r w FenceRel (0, true) r (set_phase w st Ready)
| o_other r w o x : elsewhere o -> does t r w o x r w
| o_look w st base n r : does t (Run st base n r) w (Load (look y) (Seq st (slot_of (base + n)))) (want (base + n), true)
    (Copying st base n 0 r) w
| o_copy w st base n i r x : i < words ->
    does t (Copying st base n i r) w (Load Rlx (Pay st (slot_of (base + n)) i)) (x, true)
      (Copying st base n (S i) (set_row r (base + n) i x)) w
| o_copied w st base n r : copy_fence y = true -> does t (Run st base n r) w FenceAcq (0, true) (Asking st base n r) w
| o_ask w st k base n r x : x < want (k + ahead y) ->
    does t (Asking st base n r) w (Load (look y) (Seq st (slot_of (k + ahead y)))) (x, true) (Took st k base n r) w
| o_ask_vain w st k base n r x :
    does t (Asking st base n r) w (Load (look y) (Seq st (slot_of (k + ahead y)))) (x, true) (Asking st base n r) w.

Inductive silent (t : tid) : place -> world -> place -> world -> Prop :=
| n_mark r w st : hold w st = Held t -> phase_of w st = Ready -> marks y = false -> silent t r w r (set_phase w st (Filling 0))
| n_fence r w st : hold w st = Held t -> phase_of w st = Published -> writer_fence y = false ->
    silent t r w r (set_phase w st Ready)
| n_taker r w st : hold w st = Held t -> phase_of w st = Taken -> taker_fence y = false -> silent t r w r (set_phase w st Ready)
| n_begin w st base r : silent t Idle w (Run st base 0 r) w
| n_next w st base n r : silent t (Copying st base n words r) w (Run st base (S n) r) w
| n_copied w st base n r : copy_fence y = false -> silent t (Run st base n r) w (Asking st base n r) w
| n_again p w : silent t p w Idle w.

Definition station : program loc place world := Program does silent.

Definition zeroed (junk : loc -> val) (l : loc) : val := match l with Seq _ _ | Hand _ => 0 | _ => junk l end.
Definition initial (threads : nat) (owner : nat -> tid) (junk : loc -> val) : state loc place world :=
  State (start threads (fun _ => false) (zeroed junk)) (fun _ => Idle)
        (World (fun _ => 0) (fun _ => Ready) (fun st => Held (owner st)) (fun _ => 0)).

End Program.

Ltac splits := repeat match goal with |- _ /\ _ => split end.
Ltac loaded := match goal with H : loadable _ _ _ _ _ |- _ => destruct H as [HL HL'] end.

Section Proof.
Variable slots words : nat.
Hypothesis slots_some : 0 < slots.
Variable data : nat -> nat -> nat -> val.
Variable y : style.
Hypothesis publish_rel : is_rel (publish y) = true.
Hypothesis look_acq : is_acq (look y) = true.
Hypothesis fenced : writer_fence y = true.
Hypothesis taker : moves y = false \/ taker_fence y = true.
Hypothesis copied : copy_fence y = true.
Hypothesis not_far : ahead y < slots.

Notation laps := (laps slots).
Notation slot_of := (slot_of slots).
Notation lap_of := (lap_of slots).
Notation want := (want slots y).

(* The message of a seq by which event k is published. *)
Definition index_of (k : nat) : nat := if marks y then 2 * lap_of k + 2 else S (lap_of k).
(* The value of message n of the seq of slot s. *)
Definition seq_value (s n : nat) : val := if marks y then n else match n with 0 => 0 | S j => S (j * slots + s) end.

(* Thread or message v knows that all events before k are published. *)
Definition knows_until (v : view loc) (st k : nat) : Prop := forall e, e < k -> index_of e <= v (At (Seq st (slot_of e))).

Definition good (l : loc) (n : nat) (g : message loc) : Prop :=
  match l with
  | Seq st s => value g = seq_value s n /\
      forall k, slot_of k = s -> n = index_of k -> forall i, i < words -> S (lap_of k) <= with_ g (At (Pay st s i))
  | Pay st s i => forall j, n = S j ->
      value g = data st (j * slots + s) i /\ knows_until (with_ g) st (j * slots + s)
  | Hand st => value g = n
  | Other _ => True
  end.

Definition seq_extra (w : world) (st s : nat) : nat :=
  match phase_of w st with Filling _ => if marks y && (slot_of (count w st) =? s) then 1 else 0 | _ => 0 end.
Definition pay_extra (w : world) (st s i : nat) : nat :=
  match phase_of w st with Filling n => if (slot_of (count w st) =? s) && (i <? n) then 1 else 0 | _ => 0 end.
Definition per_lap := if marks y then 2 else 1.

Definition lower (m : mem loc) (t : tid) (st k : nat) : Prop :=
  forall i, i < words -> S (lap_of k) <= cur (thr m t) (At (Pay st (slot_of k) i)).

Definition holder_knows (m : mem loc) (w : world) (st : nat) : Prop :=
  match hold w st with
  | Held t =>
    knows_until (cur (thr m t)) st (count w st) /\
    match phase_of w st with
    | Ready => knows_until (rel (thr m t)) st (count w st)
    | Filling n => n <= words /\ knows_until (rel (thr m t)) st (count w st) /\
        forall i, i < n -> S (lap_of (count w st)) <= cur (thr m t) (At (Pay st (slot_of (count w st)) i))
    | _ => True
    end
  | Given n => moves y = true /\ n = gifts w st /\ phase_of w st = Ready /\
      exists g, nth_error (hist m (Hand st)) n = Some g /\ knows_until (with_ g) st (count w st)
  end /\
  (phase_of w st = Taken -> moves y = true).

(* Word i of event e was copied from message p, which was event e2; v knows what was published before that. *)
Definition copied_from (m : mem loc) (v : view loc) (st e i : nat) (x : val) : Prop :=
  exists p, S (lap_of e) <= p /\ p < length (hist m (Pay st (slot_of e) i)) /\
    x = data st ((p - 1) * slots + slot_of e) i /\ knows_until v st ((p - 1) * slots + slot_of e).

Definition reader_knows (m : mem loc) (t : tid) (p : place) : Prop :=
  match p with
  | Idle => True
  | Run st base n r => forall e i, base <= e -> e < base + n -> i < words -> copied_from m (acq (thr m t)) st e i (r e i)
  | Copying st base n i r => lower m t st (base + n) /\
      (forall e i, base <= e -> e < base + n -> i < words -> copied_from m (acq (thr m t)) st e i (r e i)) /\
      forall i', i' < i -> copied_from m (acq (thr m t)) st (base + n) i' (r (base + n) i')
  | Asking st base n r => forall e i, base <= e -> e < base + n -> i < words -> copied_from m (cur (thr m t)) st e i (r e i)
  | Took st k base n r => forall e i, base <= e -> k <= e -> e < base + n -> i < words -> r e i = data st e i
  end.

Record inv (s : state loc place world) : Prop := Inv {
  i_wf : wf (memory s);
  i_good : all good (memory s);
  i_seq : forall st l, l < slots ->
    length (hist (memory s) (Seq st l)) = 1 + per_lap * laps (count (beside s) st) l + seq_extra (beside s) st l;
  i_pay : forall st l i, l < slots -> i < words ->
    length (hist (memory s) (Pay st l i)) = 1 + laps (count (beside s) st) l + pay_extra (beside s) st l i;
  i_hand : forall st, length (hist (memory s) (Hand st)) = S (gifts (beside s) st);
  i_holder : forall st, holder_knows (memory s) (beside s) st;
  i_reader : forall t, reader_knows (memory s) t (where_ s t);
}.

Lemma until_le v v' st k : (forall l, v (At l) <= v' (At l)) -> knows_until v st k -> knows_until v' st k.
Proof. intros H K e He. eapply Nat.le_trans; [apply K; auto | apply H]. Qed.

Lemma nth_grows (m m' : mem loc) l i g : grows m m' -> nth_error (hist m l) i = Some g -> nth_error (hist m' l) i = Some g.
Proof.
  intros G H. destruct (g_hist _ _ G l) as [more E]. rewrite E, nth_error_app1; eauto using nth_error_lt.
Qed.

Lemma copied_grows m m' v v' st e i x : grows m m' -> (forall l, v (At l) <= v' (At l)) ->
  copied_from m v st e i x -> copied_from m' v' st e i x.
Proof.
  intros G H (p & A & B & C & D). exists p. splits; eauto using until_le.
  assert (L := grows_length _ _ (Pay st (slot_of e) i) G). lia.
Qed.

Lemma reader_grows m m' t p : grows m m' -> reader_knows m t p -> reader_knows m' t p.
Proof.
  intros G. assert (A := fun l => g_acq _ _ G t (At l)). assert (C := fun l => g_cur _ _ G t (At l)).
  destruct p; simpl; auto.
  - intros H. intros. eapply copied_grows; eauto.
  - intros (H1 & H2 & H3). splits.
    + intros i' Hi. eapply Nat.le_trans; [exact (H1 i' Hi)|]. apply C.
    + intros. eapply copied_grows; eauto.
    + intros. eapply copied_grows; eauto.
  - intros H. intros. eapply copied_grows; eauto.
Qed.

Lemma holder_grows m m' w st : grows m m' -> holder_knows m w st -> holder_knows m' w st.
Proof.
  intros G [H H']. split; auto. clear H'. destruct (hold w st) as [t|n].
  - destruct H as [H1 H2]. assert (C := fun l => g_cur _ _ G t (At l)). assert (R := fun l => g_rel _ _ G t (At l)).
    split; eauto using until_le. destruct (phase_of w st); eauto using until_le.
    destruct H2 as (A & B & D). splits; eauto using until_le. intros i Hi. eapply Nat.le_trans; [exact (D i Hi)|apply C].
  - destruct H as (H1 & H2 & H3 & g & H4 & H5). splits; auto. exists g. eauto using nth_grows.
Qed.

Lemma slot_bound k : slot_of k < slots.
Proof. apply Nat.mod_upper_bound. lia. Qed.
Lemma laps_slot k : laps k (slot_of k) = lap_of k.
Proof. apply laps_own. auto. Qed.
Lemma event k : lap_of k * slots + slot_of k = k.
Proof. apply event_is. auto. Qed.
Lemma event_at j s : s < slots -> lap_of (j * slots + s) = j /\ slot_of (j * slots + s) = s.
Proof. intros. apply event_of; auto. Qed.

Lemma want_is k : want k = seq_value (slot_of k) (index_of k).
Proof. unfold station.want, seq_value, index_of. destruct (marks y); auto. rewrite event. auto. Qed.

Lemma seq_value_lt k n : seq_value (slot_of k) n < want k -> n < index_of k.
Proof.
  rewrite want_is. unfold seq_value, index_of. destruct (marks y); auto. destruct n; [lia|].
  intros. nia.
Qed.

Lemma seq_value_eq k n : seq_value (slot_of k) n = want k -> n = index_of k.
Proof.
  rewrite want_is. unfold seq_value, index_of. destruct (marks y); auto. destruct n; [lia|].
  intros. nia.
Qed.

(* A step that changes no station, and after which its thread is at r'. *)
Lemma frame m m' w r r' t : grows m m' -> wf m' ->
  (forall st l, hist m' (Seq st l) = hist m (Seq st l)) -> (forall st l i, hist m' (Pay st l i) = hist m (Pay st l i)) ->
  (forall st, hist m' (Hand st) = hist m (Hand st)) ->
  inv (State m r w) -> reader_knows m' t r' -> inv (State m' (upd r t r') w).
Proof.
  intros G W HS HP HH [] Hr. simpl in *. constructor; simpl; auto.
  - intros l i g. destruct l; [rewrite HS | rewrite HP | rewrite HH |]; intros H; [exact (i_good0 _ _ _ H)..|exact I].
  - intros. rewrite HS. auto.
  - intros. rewrite HP. auto.
  - intros. rewrite HH. auto.
  - intros. eauto using holder_grows.
  - intros u. unfold upd. destruct (eq_dec t u); subst; eauto using reader_grows.
Qed.

Lemma upd_id {B} (f : tid -> B) t b u : b = f t -> upd f t b u = f u.
Proof. intros. unfold upd. destruct (eq_dec t u); subst; auto. Qed.

Lemma inv_where m r r' w : (forall t, r t = r' t) -> inv (State m r w) -> inv (State m r' w).
Proof. intros E []. constructor; simpl in *; auto. intros. rewrite <- E. auto. Qed.

(* --- the writer ------------------------------------------------------------------------------------------------------------- *)

Lemma holder_held m w st t : hold w st = Held t -> holder_knows m w st <->
  (knows_until (cur (thr m t)) st (count w st) /\
   match phase_of w st with
   | Ready => knows_until (rel (thr m t)) st (count w st)
   | Filling n => n <= words /\ knows_until (rel (thr m t)) st (count w st) /\
       forall i, i < n -> S (lap_of (count w st)) <= cur (thr m t) (At (Pay st (slot_of (count w st)) i))
   | _ => True
   end) /\ (phase_of w st = Taken -> moves y = true).
Proof. intros H. unfold holder_knows. rewrite H. tauto. Qed.

Lemma phase_set w st p : phase_of (set_phase w st p) st = p.
Proof. simpl. apply upd_same. Qed.
Lemma phase_published w st : phase_of (set_published w st) st = Published.
Proof. simpl. apply upd_same. Qed.
Lemma count_published w st : count (set_published w st) st = S (count w st).
Proof. simpl. apply upd_same. Qed.

Lemma holder_given m w st : moves y = true -> phase_of w st = Ready ->
  (exists g, nth_error (hist m (Hand st)) (S (gifts w st)) = Some g /\ knows_until (with_ g) st (count w st)) ->
  holder_knows m (set_given w st) st.
Proof. intros. unfold holder_knows. simpl. rewrite !upd_same. repeat split; auto; congruence. Qed.

Lemma holder_taken m w st t : moves y = true -> knows_until (cur (thr m t)) st (count w st) ->
  holder_knows m (set_taken w st t) st.
Proof. intros. unfold holder_knows. simpl. rewrite !upd_same. auto. Qed.

Ltac other_stations st st' H G :=
  let E := fresh "E" in
  assert (E : holder_knows _ _ st') by (eapply holder_grows; [exact G | apply (H st')]);
  unfold holder_knows in *; simpl in *; rewrite ?upd_other by auto; exact E.

Lemma step_mark m r w t st : hold w st = Held t -> phase_of w st = Ready -> marks y = true -> inv (State m r w) ->
  inv (State (store m t false (mark y) (Seq st (slot_of (count w st))) (2 * lap_of (count w st) + 1)) r
             (set_phase w st (Filling 0))).
Proof.
  intros Hh Hp Hm [Wf Gd Sq Py Hn Ho Rd]. simpl in *. set (k := count w st) in *.
  destruct (store_grows m t false (mark y) (Seq st (slot_of k)) (2 * lap_of k + 1) Wf) as [G W].
  assert (Sk := Sq st (slot_of k) (slot_bound k)). unfold seq_extra, per_lap in Sk. rewrite Hp, Hm in Sk. fold k in Sk.
  rewrite laps_slot in Sk. set (m' := store _ _ _ _ _ _) in *. constructor; simpl; auto.
  - apply all_store; auto. rewrite Sk. split.
    + simpl. unfold seq_value. rewrite Hm. lia.
    + intros k' _ E. unfold index_of in E. rewrite Hm in E. lia.
  - intros st' l Hl. assert (Sq' := Sq st' l Hl). unfold seq_extra, per_lap in *. simpl. unfold m'. simpl. unfold upd.
    rewrite Hm in *. simpl in *. destruct (eq_dec (Seq st (slot_of k)) (Seq st' l)) as [E|E].
    + inversion E; subst st' l. rewrite app_length, Sk. simpl. destruct (eq_dec st st); [|congruence].
      unfold k. rewrite Nat.eqb_refl. fold k. rewrite laps_slot. lia.
    + rewrite Sq'. destruct (eq_dec st st'); auto. subst st'. rewrite Hp.
      destruct (Nat.eqb_spec (slot_of (count w st)) l); auto. unfold k in E. congruence.
  - intros st' l i Hl Hi. unfold m'. simpl. rewrite upd_other by congruence. rewrite Py by auto.
    unfold pay_extra. simpl. unfold upd. destruct (eq_dec st st'); auto. subst st'. rewrite Hp, andb_false_r. auto.
  - intros st'. destruct (Nat.eq_dec st st') as [<-|Hne]; [|other_stations st st' Ho G].
    assert (E : holder_knows m' w st) by (eapply holder_grows; eauto).
    apply (holder_held _ _ _ _ Hh) in E. rewrite Hp in E. destruct E as [(A & B) _].
    apply (holder_held _ (set_phase w st (Filling 0)) _ _ Hh). rewrite phase_set.
    splits; auto; try discriminate; intros; lia.
  - intros u. eauto using reader_grows.
Qed.

(* A step from phase to phase that stores nothing. *)
Lemma step_phase m m' r w t st p : grows m m' -> wf m' -> (forall l, hist m' l = hist m l) -> hold w st = Held t ->
  (phase_of w st = Ready /\ p = Filling 0 /\ marks y = false \/
   (phase_of w st = Published \/ phase_of w st = Taken) /\ p = Ready /\ forall l, cur (thr m t) (At l) <= rel (thr m' t) (At l)) ->
  inv (State m r w) -> inv (State m' r (set_phase w st p)).
Proof.
  intros G W HH Hh Hp [Wf Gd Sq Py Hn Ho Rd]. simpl in *. constructor; simpl; auto.
  - eapply all_same; eauto.
  - intros st' l Hl. rewrite HH, Sq by auto. unfold seq_extra. simpl. unfold upd. destruct (eq_dec st st'); auto. subst.
    destruct Hp as [(A & B & C)|([A|A] & B & C)]; subst; rewrite A, ?C; auto.
  - intros st' l i Hl Hi. rewrite HH, Py by auto. unfold pay_extra. simpl. unfold upd. destruct (eq_dec st st'); auto. subst.
    destruct Hp as [(A & B & C)|([A|A] & B & C)]; subst; rewrite A, ?andb_false_r; auto.
  - intros. rewrite HH. auto.
  - intros st'. destruct (Nat.eq_dec st st') as [<-|Hne]; [|other_stations st st' Ho G].
    assert (E : holder_knows m' w st) by (eapply holder_grows; eauto). assert (E0 := Ho st).
    apply (holder_held _ _ _ _ Hh) in E. apply (holder_held _ _ _ _ Hh) in E0. destruct E as [(A & B) _], E0 as [(A0 & _) _].
    apply (holder_held _ (set_phase w st p) _ _ Hh). rewrite phase_set.
    destruct Hp as [(Q & -> & _)|(_ & -> & C)].
    + rewrite Q in B. splits; auto; try discriminate; intros; lia.
    + splits; auto; try discriminate. eapply until_le; eauto.
  - intros u. eauto using reader_grows.
Qed.

Lemma step_word m r w t st n : hold w st = Held t -> phase_of w st = Filling n -> n < words -> inv (State m r w) ->
  inv (State (store m t false Rlx (Pay st (slot_of (count w st)) n) (data st (count w st) n)) r
             (set_phase w st (Filling (S n)))).
Proof.
  intros Hh Hp Hn [Wf Gd Sq Py Ha Ho Rd]. simpl in *. set (k := count w st) in *.
  destruct (store_grows m t false Rlx (Pay st (slot_of k) n) (data st k n) Wf) as [G W].
  assert (Pk := Py st (slot_of k) n (slot_bound k) Hn). unfold pay_extra in Pk. rewrite Hp in Pk. fold k in Pk.
  rewrite Nat.ltb_irrefl, andb_false_r, laps_slot in Pk.
  assert (E0 := Ho st). unfold holder_knows in E0. rewrite Hh, Hp in E0. destruct E0 as [(A0 & B0 & C0 & D0) _]. fold k in C0.
  set (m' := store _ _ _ _ _ _) in *. constructor; simpl; auto.
  - apply all_store; auto. rewrite Pk. simpl. intros j Hj. replace j with (lap_of k) by lia. rewrite event. split; auto.
    eapply until_le; [|exact C0]. intros. apply join_l.
  - intros st' l Hl. unfold m'. simpl. rewrite upd_other by congruence. rewrite Sq by auto.
    unfold seq_extra. simpl. unfold upd. destruct (eq_dec st st'); auto. subst. rewrite Hp. auto.
  - intros st' l i Hl Hi. assert (Py' := Py st' l i Hl Hi). unfold pay_extra in *. simpl.
    unfold m'. simpl. unfold upd. destruct (eq_dec (Pay st (slot_of k) n) (Pay st' l i)) as [Q|Q].
    + inversion Q; subst st' l i. rewrite app_length, Pk. simpl. destruct (eq_dec st st); [|congruence].
      fold k. rewrite Nat.eqb_refl. simpl. destruct (Nat.ltb_spec n (S n)); [|lia]. rewrite laps_slot. lia.
    + rewrite Py'. destruct (eq_dec st st'); auto. subst st'. rewrite Hp. fold k.
      destruct (Nat.eqb_spec (slot_of k) l); auto. simpl.
      assert (i <> n) by congruence. destruct (Nat.ltb_spec i n), (Nat.ltb_spec i (S n)); lia.
  - intros st'. destruct (Nat.eq_dec st st') as [<-|Hne]; [|other_stations st st' Ho G].
    assert (E : holder_knows m' w st) by (eapply holder_grows; eauto).
    apply (holder_held _ _ _ _ Hh) in E. rewrite Hp in E. destruct E as [(A & B & C & D) _].
    apply (holder_held _ (set_phase w st (Filling (S n))) _ _ Hh). rewrite phase_set.
    splits; auto; try discriminate. intros i Hi. change (count (set_phase w st (Filling (S n))) st) with k.
    destruct (Nat.eq_dec i n).
    + subst i. eapply Nat.le_trans; [|apply store_knows]. lia.
    + apply D. lia.
  - intros u. eauto using reader_grows.
Qed.

Lemma step_publish m r w t st : hold w st = Held t -> phase_of w st = Filling words -> inv (State m r w) ->
  inv (State (store m t false (publish y) (Seq st (slot_of (count w st))) (want (count w st))) r (set_published w st)).
Proof.
  intros Hh Hp [Wf Gd Sq Py Ha Ho Rd]. simpl in *. set (k := count w st) in *.
  destruct (store_grows m t false (publish y) (Seq st (slot_of k)) (want k) Wf) as [G W].
  assert (Sk := Sq st (slot_of k) (slot_bound k)). unfold seq_extra, per_lap in Sk. rewrite Hp in Sk. fold k in Sk.
  rewrite Nat.eqb_refl, andb_true_r, laps_slot in Sk.
  assert (Sk' : length (hist m (Seq st (slot_of k))) = index_of k)
    by (rewrite Sk; unfold index_of; destruct (marks y); lia).
  assert (E0 := Ho st). unfold holder_knows in E0. rewrite Hh, Hp in E0. destruct E0 as [(A0 & B0 & C0 & D0) _]. fold k in D0.
  set (m' := store _ _ _ _ _ _) in *. constructor; simpl; auto.
  - apply all_store; auto. rewrite Sk'. split; [simpl; apply want_is|].
    intros k' Hk Hi i Hw. simpl. rewrite publish_rel. eapply Nat.le_trans; [|apply touch_cur].
    replace (lap_of k') with (lap_of k) by (unfold index_of in Hi; destruct (marks y); lia). apply D0. auto.
  - intros st' l Hl. assert (Sq' := Sq st' l Hl). unfold seq_extra, per_lap in *. simpl.
    unfold m'. simpl. unfold upd. destruct (eq_dec (Seq st (slot_of k)) (Seq st' l)) as [Q|Q].
    + inversion Q; subst st' l. rewrite app_length, Sk. simpl. destruct (eq_dec st st); [|congruence]. fold k.
      simpl. fold (slot_of k). rewrite Nat.eqb_refl. rewrite laps_slot. destruct (marks y); lia.
    + rewrite Sq'. destruct (eq_dec st st'); auto. subst st'. rewrite Hp. fold k. simpl. fold (slot_of k).
      destruct (Nat.eqb_spec (slot_of k) l); [congruence|]. rewrite andb_false_r. destruct (marks y); lia.
  - intros st' l i Hl Hi. unfold m'. simpl. rewrite upd_other by congruence. rewrite Py by auto.
    unfold pay_extra. simpl. unfold upd. destruct (eq_dec st st'); auto. subst st'. rewrite Hp. fold k.
    simpl. fold (slot_of k). destruct (Nat.eqb_spec (slot_of k) l); simpl; [|lia].
    destruct (Nat.ltb_spec i words); lia.
  - intros st'. destruct (Nat.eq_dec st st') as [<-|Hne]; [|other_stations st st' Ho G].
    assert (E : holder_knows m' w st) by (eapply holder_grows; eauto).
    apply (holder_held _ _ _ _ Hh) in E. rewrite Hp in E. destruct E as [(A & B & C & D) _].
    apply (holder_held _ (set_published w st) _ _ Hh). rewrite phase_published, count_published.
    splits; auto; try discriminate. intros e He. destruct (Nat.eq_dec e k).
    + subst e. rewrite <- Sk'. apply store_knows.
    + apply A. lia.
  - intros u. eauto using reader_grows.
Qed.

Lemma step_give m r w t st : hold w st = Held t -> phase_of w st = Ready -> moves y = true -> inv (State m r w) ->
  inv (State (store m t false Rel (Hand st) (S (gifts w st))) r (set_given w st)).
Proof.
  intros Hh Hp Hm [Wf Gd Sq Py Ha Ho Rd]. simpl in *.
  destruct (store_grows m t false Rel (Hand st) (S (gifts w st)) Wf) as [G W].
  assert (E0 := Ho st). unfold holder_knows in E0. rewrite Hh, Hp in E0. destruct E0 as [(A0 & B0) _].
  set (m' := store _ _ _ _ _ _) in *. constructor; simpl; auto.
  - apply all_store; auto. simpl. rewrite Ha. auto.
  - intros st'. unfold m'. simpl. unfold upd.
    destruct (eq_dec (Hand st) (Hand st')) as [Q|Q], (eq_dec st st'); subst; try congruence; auto.
    rewrite app_length, Ha. simpl. lia.
  - intros st'. destruct (Nat.eq_dec st st') as [<-|Hne]; [|other_stations st st' Ho G].
    apply holder_given; auto. eexists. split.
    + rewrite <- Ha. apply store_newest.
    + simpl. eapply until_le; [|exact A0]. intros. apply touch_cur.
  - intros u. eauto using reader_grows.
Qed.

Lemma step_take m r w t st n i g : hold w st = Given n -> loadable m t (Hand st) i g -> value g = n -> inv (State m r w) ->
  inv (State (load m t false Acq (Hand st) i g) r (set_taken w st t)).
Proof.
  intros Hh [HL HL'] Hv [Wf Gd Sq Py Ha Ho Rd]. simpl in *.
  destruct (load_grows m t false Acq (Hand st) i g Wf) as [G W].
  assert (HH : forall l, hist (load m t false Acq (Hand st) i g) l = hist m l)
    by (intros l; simpl; unfold upd; destruct (eq_dec (Hand st) l); congruence).
  assert (i = n) by (rewrite <- Hv; symmetry; exact (Gd _ _ _ HL)). subst i.
  assert (E0 := Ho st). unfold holder_knows in E0. rewrite Hh in E0. destruct E0 as [(A0 & B0 & C0 & g' & D0 & F0) _].
  rewrite HL in D0. inversion D0; subst g'. clear D0.
  assert (Q := fun l => load_acquires m t false Acq (Hand st) n g (At l) eq_refl).
  set (m' := load _ _ _ _ _ _ _) in *. clearbody m'. constructor; simpl; auto.
  - eapply all_same; eauto.
  - intros st' l Hl. rewrite HH, Sq by auto. unfold seq_extra. simpl. unfold upd.
    destruct (eq_dec st st'); auto. subst st'. rewrite C0. auto.
  - intros st' l i Hl Hi. rewrite HH, Py by auto. unfold pay_extra. simpl. unfold upd.
    destruct (eq_dec st st'); auto. subst st'. rewrite C0. auto.
  - intros. rewrite HH. auto.
  - intros st'. destruct (Nat.eq_dec st st') as [<-|Hne]; [|other_stations st st' Ho G].
    apply holder_taken; auto. eapply until_le; [|exact F0]. auto.
  - intros u. eauto using reader_grows.
Qed.

(* --- the reader ------------------------------------------------------------------------------------------------------------- *)

Lemma kept : forall s s', inv s -> step (station slots words data y) s s' -> inv s'.
Proof.
  intros s s' HI HS. destruct HS as [m w x t o r l' x' m' Ht HD HM | m w x t l' x' Ht HD | m w x c t Hin].
  - assert (Wf := i_wf _ HI). simpl in Wf. destruct (mstep_grows _ _ _ _ _ HM Wf) as [G W].
    assert (HR := i_reader _ HI t). simpl in HR.
    assert (Same : (forall l, place_of o <> Some l -> hist m' l = hist m l)) by (intros; eapply mstep_elsewhere; eauto).
    assert (SR : stores o = false -> forall l, hist m' l = hist m l) by (intros; eapply mstep_reads; eauto).
    remember (w t) as r0 eqn:Er. destruct HD.
    + inversion HM; subst. eapply inv_where; [intros; symmetry; apply upd_id; auto|]. apply step_mark; auto.
    + inversion HM; subst. eapply inv_where; [intros; symmetry; apply upd_id; auto|]. apply step_word; auto.
    + inversion HM; subst. eapply inv_where; [intros; symmetry; apply upd_id; auto|]. apply step_publish; auto.
    + inversion HM; subst. eapply inv_where; [intros; symmetry; apply upd_id; auto|].
      apply step_phase with m t; auto. right. splits; auto. intros. apply fence_sc_rel; auto.
    + inversion HM; subst. eapply inv_where; [intros; symmetry; apply upd_id; auto|]. apply step_give; auto.
    + inversion HM; subst. eapply inv_where; [intros; symmetry; apply upd_id; auto|]. eapply step_take; eauto.
    + inversion HM; subst. eapply inv_where; [intros; symmetry; apply upd_id; auto|].
      apply step_phase with m t; auto. right. splits; auto. intros. apply fence_rel_gives.
    + apply frame with m; auto; try (intros; apply Same, elsewhere_not; auto; congruence). eapply reader_grows; eauto.
    + inversion HM; subst. loaded. apply frame with m; try (intros; apply SR; reflexivity); auto.
      destruct (i_good _ HI _ _ _ HL) as [Hv Hk]. assert (i = index_of (base + n)) by (apply seq_value_eq; congruence).
      assert (HR' := reader_grows _ _ t (Run st base n r) G HR). unfold reader_knows in HR' |- *.
      splits; auto; try (intros; lia). intros j Hj.
      eapply Nat.le_trans; [exact (Hk (base + n) eq_refl H j Hj)|]. apply load_acquires. auto.
    + inversion HM; subst. loaded. apply frame with m; try (intros; apply SR; reflexivity); auto.
      assert (HR' := reader_grows _ _ t (Copying st base n i r) G HR). destruct HR' as (A & B & C).
      unfold reader_knows. splits; auto.
      * intros e j H1 H2 H3. unfold set_row. destruct (Nat.eqb_spec (base + n) e); [lia|]. simpl. auto.
      * intros j Hj. unfold set_row. rewrite Nat.eqb_refl. simpl. destruct (Nat.eqb_spec i j); [|apply C; lia]. subst j.
        destruct HR as (A0 & _ & _). specialize (A0 i H). assert (Hi : S (lap_of (base + n)) <= i0) by lia.
        destruct (i_good _ HI _ _ _ HL (i0 - 1) ltac:(lia)) as [Hv Hk].
        exists i0. splits; auto.
        -- rewrite (SR eq_refl). eauto using nth_error_lt.
        -- eapply until_le; [|exact Hk]. intros l. exact (load_keeps m t false Rlx _ i0 g (At l)).
    + inversion HM; subst. apply frame with m; try (intros; apply SR; reflexivity); auto.
      intros e i H1 H2 H3. eapply copied_grows; [exact G| |apply HR; auto]. intros. apply fence_acq_gets.
    + inversion HM; subst. loaded. apply frame with m; try (intros; apply SR; reflexivity); auto.
      destruct (i_good _ HI _ _ _ HL) as [Hv _]. rewrite Hv in H. apply seq_value_lt in H.
      intros e j H1 H2 H3 H4. destruct (HR e j H1 H3 H4) as (p & A & B & C & D). rewrite C.
      assert (p - 1 = lap_of e).
      { destruct (Nat.eq_dec (p - 1) (lap_of e)); auto. exfalso.
        assert (K : index_of (k + ahead y) <= cur (thr m t) (At (Seq st (slot_of (k + ahead y))))).
        { apply D. assert (Ev := event e). nia. }
        lia. }
      rewrite H0, event. auto.
    + inversion HM; subst. apply frame with m; try (intros; apply SR; reflexivity); auto. eapply reader_grows; eauto.
  - assert (HR := i_reader _ HI t). simpl in HR. assert (Wf := i_wf _ HI). simpl in Wf.
    remember (w t) as r0 eqn:Er. destruct HD.
    + eapply inv_where; [intros; symmetry; apply upd_id; auto|]. apply step_phase with m t; auto using grows_refl.
    + congruence.
    + assert (T := proj2 (i_holder _ HI st)). simpl in T. destruct taker as [T'|T']; [|congruence].
      rewrite T in T' by auto. discriminate.
    + apply frame with m; auto using grows_refl. simpl. intros; lia.
    + apply frame with m; auto using grows_refl. simpl. destruct HR as (A & B & C). intros e i H1 H2 H3.
      destruct (Nat.eq_dec e (base + n)); [subst; auto | apply B; auto; lia].
    + congruence.
    + apply frame with m; auto using grows_refl; exact I.
  - assert (Wf := i_wf _ HI). simpl in Wf. destruct (reaches_grows m c t Wf) as [G W].
    destruct HI. simpl in *. constructor; simpl; auto.
    + intros st. eauto using holder_grows.
    + intros u. eauto using reader_grows.
Qed.

Lemma begins n owner junk : inv (initial n owner junk).
Proof.
  constructor; simpl; auto.
  - apply wf_start.
  - intros l i g. simpl. destruct i; simpl; [|destruct i; discriminate]. intros H. inversion H; subst. destruct l; simpl; auto.
    + split; [unfold seq_value; destruct (marks y); auto|]. intros k _ E. unfold index_of in E. destruct (marks y); lia.
    + intros; discriminate.
  - intros. unfold per_lap, seq_extra. simpl. destruct (marks y); lia.
  - intros. split; [|discriminate]. simpl. split; intros e He; simpl in He; lia.
Qed.

Theorem taken n owner junk s t st k base count r :
  steps (station slots words data y) (initial n owner junk) s -> where_ s t = Took st k base count r ->
  forall e i, base <= e -> k <= e -> e < base + count -> i < words -> r e i = data st e i.
Proof.
  intros HS HA. assert (HI : inv s) by (revert s HS HA; intros s HS _; revert s HS; apply always; eauto using begins, kept).
  assert (HR := i_reader _ HI t). rewrite HA in HR. exact HR.
Qed.

End Proof.

(* --- the theorem ------------------------------------------------------------------------------------------------------------ *)

(* What the reader has taken are events with the words that were written for them. *)
Definition whole (words : nat) (data : nat -> nat -> nat -> val) (s : state loc place world) : Prop :=
  forall t st k base n r, where_ s t = Took st k base n r ->
  forall e i, base <= e -> k <= e -> e < base + n -> i < words -> r e i = data st e i.

(*
 * Taking k, and all that comes after it, while k + slots - 1 is not published is sound. The writer has a full fence after each
 * event, and if the coroutine has moved, its new thread has one, too.
 *)
Theorem overrun_accepted slots words data y threads owner junk s :
  0 < slots -> is_rel (publish y) = true -> is_acq (look y) = true -> writer_fence y = true -> copy_fence y = true ->
  (moves y = false \/ taker_fence y = true) -> ahead y = slots - 1 ->
  steps (station slots words data y) (initial threads owner junk) s -> whole words data s.
Proof.
  intros Hs Hp Hl Hf Hc Ht Ha HS t st k base n r HA.
  apply (taken slots words Hs data y Hp Hl Hf Ht Hc ltac:(lia) _ _ _ _ _ _ _ _ _ _ HS HA).
Qed.

(* --- what goes wrong without -------------------------------------------------------------------------------------------------- *)

Inductive decision := Mark | Fill | Publish | Fence | Give | Take | Begin (base : nat) | On | Copied | Ask (k : nat).

Section Runs.
Variable slots words : nat.
Variable data : nat -> nat -> nat -> val.
Variable y : style.
Notation slot_of := (slot_of slots).
Notation lap_of := (lap_of slots).

Definition act (d : decision) (t : tid) (r : place) (w : world) : option (plan (loc := loc) (local := place) (world := world)) :=
  let go o r' w' : option (plan (loc := loc) (local := place) (world := world)) :=
    Some (inl (o, fun x : ret => if Nat.eqb (fst x) 0 && snd x then Some (r', w') else None)) in
  let held := match hold w 0 with Held u => Nat.eqb u t | _ => false end in
  let k := count w 0 in
  match d, phase_of w 0, r with
  | Mark, Ready, _ =>
    if held then if marks y then go (Store (mark y) (Seq 0 (slot_of k)) (2 * lap_of k + 1)) r (set_phase w 0 (Filling 0))
                 else Some (inr (r, set_phase w 0 (Filling 0))) else None
  | Fill, Filling i, _ =>
    if held && (i <? words) then go (Store Rlx (Pay 0 (slot_of k) i) (data 0 k i)) r (set_phase w 0 (Filling (S i))) else None
  | Publish, Filling i, _ =>
    if held && (i =? words) then go (Store (publish y) (Seq 0 (slot_of k)) (want slots y k)) r (set_published w 0) else None
  | Fence, Published, _ =>
    if held then if writer_fence y then go FenceSc r (set_phase w 0 Ready) else Some (inr (r, set_phase w 0 Ready)) else None
  | Fence, Taken, _ =>
    if held then if taker_fence y then go FenceRel r (set_phase w 0 Ready) else Some (inr (r, set_phase w 0 Ready)) else None
  | Give, Ready, _ => if held && moves y then go (Store Rel (Hand 0) (S (gifts w 0))) r (set_given w 0) else None
  | Take, _, _ =>
    match hold w 0 with
    | Given n => Some (inl (Load Acq (Hand 0), fun x : ret => if Nat.eqb (fst x) n && snd x then Some (r, set_taken w 0 t) else None))
    | _ => None
    end
  | Begin base, _, Idle => Some (inr (Run 0 base 0 (fun _ _ => 0), w))
  | On, _, Run st base n r =>
    Some (inl (Load (look y) (Seq st (slot_of (base + n))),
               fun x : ret => if Nat.eqb (fst x) (want slots y (base + n)) && snd x then Some (Copying st base n 0 r, w) else None))
  | On, _, Copying st base n i r =>
    if i <? words
    then Some (inl (Load Rlx (Pay st (slot_of (base + n)) i),
                    fun x : ret => if snd x then Some (Copying st base n (S i) (set_row r (base + n) i (fst x)), w) else None))
    else if i =? words then Some (inr (Run st base (S n) r, w)) else None
  | Copied, _, Run st base n r =>
    if copy_fence y then go FenceAcq (Asking st base n r) w else Some (inr (Asking st base n r, w))
  | Ask k, _, Asking st base n r =>
    Some (inl (Load (look y) (Seq st (slot_of (k + ahead y))),
               fun x : ret => if (fst x <? want slots y (k + ahead y)) && snd x then Some (Took st k base n r, w) else None))
  | _, _, _ => None
  end.

Lemma act_does d t l x o f r l' x' : act d t l x = Some (inl (o, f)) -> f r = Some (l', x') ->
  machine.does (station slots words data y) t l x o r l' x'.
Proof.
  unfold act. simpl. intros H F.
  destruct d, (phase_of x 0) eqn:?; try discriminate; try destruct l; crush; cbn [fst snd] in *; subst;
    try (econstructor; eauto; fail).
Qed.

Lemma act_silent d t l x l' x' : act d t l x = Some (inr (l', x')) ->
  machine.silent (station slots words data y) t l x l' x'.
Proof.
  unfold act. simpl. intros H.
  destruct d, (phase_of x 0) eqn:?; try discriminate; try destruct l; crush; cbn [fst snd] in *; subst;
    try (econstructor; eauto; fail).
Qed.
End Runs.

(* Two slots, one word; threads 0 and 2 write, thread 1 reads. *)
Definition example_data (st k i : nat) : val := 10 * (k + 1) + i.
Definition example (y : style) := station 2 1 example_data y.
Definition torn_now (s : state loc place world) : bool :=
  match where_ s 1 with
  | Took st k base n r => (base <=? k) && (k <? base + n) && negb (r k 0 =? example_data st k 0)
  | _ => false
  end.

Definition torn (y : style) : Prop :=
  exists s, steps (example y) (initial 3 (fun _ => 0) (fun _ => 0)) s /\ ~ whole 1 example_data s.

Lemma torn_by y moves :
  ends _ (act 2 1 example_data y) moves (initial 3 (fun _ => 0) (fun _ => 0)) torn_now = true -> torn y.
Proof.
  intros H. apply (ends_reached (example y)) in H; [|apply act_does|apply act_silent].
  destruct H as (s & HS & HT). exists s. split; auto. intros HW. unfold torn_now in HT.
  destruct (where_ s 1) eqn:E; try discriminate. crush.
  apply negb_true_iff, Nat.eqb_neq in H0. apply H0. apply Nat.leb_le in H. apply (HW 1 _ _ _ _ _ E); lia.
Qed.

Definition by_ (t : tid) (ds : list decision) : list (move decision) := map (fun d => Do t d 0) ds.
Definition one_event : list decision := [Mark; Fill; Publish; Fence].
Definition reads (ds : list (decision * nat)) : list (move decision) := map (fun d => Do 1 (fst d) (snd d)) ds.
Ltac shown_by moves := apply torn_by with moves; vm_compute; reflexivity.

(* Event 0 is published, its slot has the payload of event 2, and the reader sees that, and no seq of event 1. *)
Definition overrun (seq : nat) (ask : nat) : list (move decision) :=
  by_ 0 (one_event ++ one_event ++ [Mark; Fill]) ++ reads [(Begin 0, 0); (On, seq); (On, 2); (On, 0); (Copied, 0); (Ask 0, ask)].
(* The reader sees event 0 published, and its slot as it was before. *)
Definition early (seq : nat) : list (move decision) :=
  by_ 0 one_event ++ reads [(Begin 0, 0); (On, seq); (On, 0); (On, 0); (Copied, 0); (Ask 0, 0)].

Definition plain := Style false Rlx Rel true false false Acq true 1.
Definition field := Style true Rel Rel true false false Acq true 1.

Theorem plain_torn_without_writer_fence : torn (Style false Rlx Rel false false false Acq true 1).
Proof. shown_by (overrun 1 0). Qed.
Theorem field_torn_without_writer_fence : torn (Style true Rel Rel false false false Acq true 1).
Proof. shown_by (overrun 2 0). Qed.
Theorem plain_torn_without_publish : torn (Style false Rlx Rlx true false false Acq true 1).
Proof. shown_by (early 1). Qed.
Theorem plain_torn_without_look : torn (Style false Rlx Rel true false false Rlx true 1).
Proof. shown_by (early 1). Qed.
Theorem plain_torn_without_copy_fence : torn (Style false Rlx Rel true false false Acq false 1).
Proof. shown_by (overrun 1 0). Qed.
(* The rule itself: event k + slots is one too late. *)
Theorem plain_torn_by_later_slot : torn (Style false Rlx Rel true false false Acq true 2).
Proof. shown_by (overrun 1 1). Qed.

(* A coroutine that moves to a thread without a fence of its own. *)
Definition moved : list (move decision) :=
  by_ 0 (one_event ++ one_event ++ [Give]) ++ [Do 2 Take 1] ++ by_ 2 [Fence; Mark; Fill] ++
  reads [(Begin 0, 0); (On, 1); (On, 2); (On, 0); (Copied, 0); (Ask 0, 0)].
Theorem moved_without_fence : torn (Style false Rlx Rel true true false Acq true 1).
Proof. shown_by moved. Qed.

(* The rule does accept: event 0, before event 1 is published. *)
Theorem plain_accepts : exists s r, steps (example plain) (initial 3 (fun _ => 0) (fun _ => 0)) s /\ where_ s 1 = Took 0 0 0 1 r.
Proof.
  assert (H : ends _ (act 2 1 example_data plain)
      (by_ 0 one_event ++ reads [(Begin 0, 0); (On, 1); (On, 1); (On, 0); (Copied, 0); (Ask 0, 0)])
      (initial 3 (fun _ => 0) (fun _ => 0)) (fun s => match where_ s 1 with Took 0 0 0 1 _ => true | _ => false end) = true)
    by (vm_compute; reflexivity).
  apply (ends_reached (example plain)) in H; [|apply act_does|apply act_silent]. destruct H as (s & HS & HT).
  destruct (where_ s 1) as [| | | |st k b n r] eqn:E; try discriminate.
  destruct st, k, b, n as [|[|n]]; try discriminate. eauto.
Qed.
