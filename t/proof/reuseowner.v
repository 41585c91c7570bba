(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * reuseowner.v - a station has one owner at a time, and its numbers and generations go on (reuse.v).
 *
 * Each step is gone through once: what reusekept.v says of the memory holds after it, too.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views reuse reusekept.
Local Arguments Nat.mul : simpl never.
Local Arguments Nat.div : simpl never.
Local Arguments Nat.modulo : simpl never.

Section Proof.
Variable stations : nat.
Variable collector : tid.
Variable y : style.
Hypothesis needs : forall n, In n owner_needs -> y n = true.
Lemma whole : y Whole = true. Proof. apply needs. simpl. tauto. Qed.
Lemma tagged : y Tag = true. Proof. apply needs. simpl. tauto. Qed.
Lemma birth_rel : y BirthRel = true. Proof. apply needs. simpl. tauto. Qed.
Lemma dead_rel : y DeadRel = true. Proof. apply needs. simpl. tauto. Qed.
Lemma push_rel : y PushRel = true. Proof. apply needs. simpl. tauto. Qed.
Lemma look_acq : y LookAcq = true. Proof. apply needs. simpl. tauto. Qed.
Lemma ask_acq : y AskAcq = true. Proof. apply needs. simpl. tauto. Qed.
Lemma see_acq : y SeeAcq = true. Proof. apply needs. simpl. tauto. Qed.
Lemma tell_rel : y TellRel = true. Proof. apply needs. simpl. tauto. Qed.
Lemma hear_acq : y HearAcq = true. Proof. apply needs. simpl. tauto. Qed.

Notation tag := (tag stations).
Notation index := (index stations).
Notation top := (top stations y).
Notation OWNED := (OWNED stations).
Notation tenure := (tenure stations).
Notation gen_of := (gen_of stations).
Notation link_of := (link_of stations).
Notation station_ok := (station_ok stations).
Notation linked := (linked stations).
Notation stands := (stands stations).
Notation inv := (inv stations).

Lemma top_is v i : i <= stations -> tag (top v i) = S (tag v) /\ index (top v i) = i.
Proof.
  intros H. unfold reuse.tag, reuse.index, reuse.top. rewrite tagged. split.
  - symmetry. apply Nat.div_unique with i; unfold reuse.tag; lia.
  - symmetry. apply Nat.mod_unique with (S (v / S stations)); unfold reuse.tag; lia.
Qed.

Ltac open_station O :=
  destruct O as [o_count0 o_header0 o_dead0 o_deads0 o_tenures0 o_said0 o_tenure0 o_total0 o_co0 o_gen0 o_who0].
Ltac open_inv I := destruct I as [i_wf0 i_some0 i_top0 i_first0 i_stack0 i_linked0 i_used0 i_right0 i_station0 i_stands0].

(* --- each step -------------------------------------------------------------------------------------------------------------- *)

Lemma link_is g l : l <= OWNED -> gen_of (tenure g l) = g /\ link_of (tenure g l) = l.
Proof. apply tenure_is. Qed.

Lemma holds_one t u s : u <> t -> holds t s -> ~ holds u s.
Proof. intros N [->|[->|[->|[->| ->]]]] [E|[E|[E|[E|E]]]]; congruence. Qed.

Ltac go_on Hk := unfold goes_on; simpl; rewrite ?upd_same, ?Hk; simpl; split; [lia|]; intros; try contradiction;
  try (exfalso; lia); try (split; auto; intros; discriminate).

(* Station i after a store to one of its locations: what is not of this location, or only counted. *)
Ltac kept HH HS HG := constructor; simpl; rewrite ?upd_same; simpl; rewrite ?HS by (clear; congruence); auto;
  try match goal with
  | |- length (hist _ _) = _ => rewrite ?(length_app _ _ _ _ HH); simpl; lia
  | |- forall n g, nth_error _ n = Some g -> sees _ _ _ _ => intros ? ? ?; eapply sees_on; eauto; fail
  | A : exists g, newest _ (Tenure _) g /\ _ |- exists g, newest _ (Tenure _) g /\ _ =>
    destruct A as (?g & ?A & ?B); eexists; split; [eapply newest_same; [apply HS; clear; congruence|eassumption]|exact B]
  | |- last_is _ _ _ => eapply is_same; [apply HS; clear; congruence|]; auto; fail
  end.
Ltac mine HS := intros l N; apply HS; intros ->; apply N; simpl; auto.
Ltac others := let j := fresh in let N := fresh in intros j N; rewrite ?upd_other by auto; auto.

Lemma idle_stands m x t : stands m x t Idle.
Proof. simpl. unfold chain. splits; try (constructor; fail); try (simpl; tauto). exists 0. exact Logic.I. Qed.

Lemma step_count m f t x i : inv (State m f x) -> stat x i = Live t ->
  inv (State (store m t false (release (y CountRel)) (Count i) (events_ x i)) (upd f t Idle) (set_counted x i t)).
Proof.
  intros I Hk. assert (Wf := i_wf I). simpl in Wf. assert (O := i_station I i). simpl in O.
  destruct (store_grows m t false (release (y CountRel)) (Count i) (events_ x i) Wf) as [G W].
  destruct (store_appended m t (release (y CountRel)) (Count i) (events_ x i) Wf) as (w & HH & HS & _ & _ & KK).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'.
  assert (HG : goes_on x (set_counted x i t) i) by go_on Hk.
  apply station_step with m x i; auto; simpl; rewrite ?upd_same, ?Hk; try discriminate.
  - mine HS.
  - others.
  - intros u N [E|[E|[E|[E|E]]]]; discriminate.
  - open_station O. rewrite Hk in *. simpl in *. kept HH HS HG.
    + rewrite (proj1 (o_co0 Logic.I)) in HH. eapply is_app; eauto.
    + lia.
  - apply idle_stands.
Qed.

Lemma step_dead m f t x i : inv (State m f x) -> stat x i = Dying t ->
  inv (State (store m t false (release (y DeadRel)) (Dead i) 1) (upd f t (Tell i (ref_ x i))) (set_stat x i Ended)).
Proof.
  intros I Hk. assert (Wf := i_wf I). simpl in Wf. assert (O := i_station I i). simpl in O. rewrite dead_rel.
  destruct (store_grows m t false Rel (Dead i) 1 Wf) as [G W].
  destruct (store_appended m t Rel (Dead i) 1 Wf) as (w & HH & HS & RE & _ & KK). specialize (RE eq_refl).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'. simpl release.
  assert (HG : goes_on x (set_stat x i Ended) i) by go_on Hk. assert (C := fun t k => g_cur _ _ G t k).
  apply station_step with m x i; auto; simpl; rewrite ?upd_same, ?Hk; try discriminate.
  - mine HS.
  - others.
  - intros u N [E|[E|[E|[E|E]]]]; discriminate.
  - open_station O. rewrite Hk in *. simpl in *. kept HH HS HG.
    + intros n g E. rewrite HH in E. apply nth_app in E. destruct E as [E|[E ->]]; [auto|]. rewrite o_dead0 in E. simpl.
      splits; intros; try lia. split; auto. assert (k = gen x i - 1) by lia. specialize (RE (At (Count i))). lia.
  - open_station O. rewrite Hk in *. simpl in *. destruct (o_co0 Logic.I) as [_ E]. unfold sees, may_win. simpl.
    rewrite upd_same. splits; intros; try lia; auto. specialize (C t (At (Count i))). split; [auto|lia].
Qed.

Lemma step_said m f t x i g : inv (State m f x) -> sees x (cur (thr m t)) i g ->
  inv (State (store m t false (release (y TellRel)) (Said i) g) (upd f t Idle) x).
Proof.
  intros I Hs. assert (Wf := i_wf I). simpl in Wf. rewrite tell_rel.
  destruct (store_grows m t false Rel (Said i) g Wf) as [G W].
  destruct (store_appended m t Rel (Said i) g Wf) as (w & HH & HS & RE & _ & KK). specialize (RE eq_refl).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'. simpl release.
  apply frame with m; auto using idle_stands.
  - intros l N. apply HS. intros ->. apply N. simpl. auto.
  - intros j. assert (O := i_station I j). simpl in O. destruct (Nat.eq_dec j i) as [->|N].
    + assert (HG : goes_on x x i) by (unfold goes_on; auto). assert (C := fun t k => g_cur _ _ G t k). open_station O.
      kept HH HS HG.
      * intros n h E. rewrite HH in E. apply nth_app in E. destruct E as [E|[E ->]]; [eapply sees_on; eauto|]. simpl.
        eapply sees_on; eauto.
      * destruct (stat x i); auto; eapply is_same; try apply HS; try congruence; auto.
      * destruct (stat x i); eauto using Nat.le_trans. destruct o_who0 as (h & A & B). exists h. split; auto.
        eapply newest_same; [apply HS; congruence|auto].
    + eapply station_kept; eauto. intros l Hl. apply HS. destruct l; simpl in *; congruence.
Qed.

Lemma step_announce m f t x i g k o : inv (State m f x) -> f t = PutAnnounce i g k ->
  inv (State (store m t false o (Announce i) 1) (upd f t (Open i g k)) x).
Proof.
  intros I Hf. assert (Wf := i_wf I). simpl in Wf. assert (S := i_stands I t). simpl in S. rewrite Hf in S. simpl in S.
  destruct (store_grows m t false o (Announce i) 1 Wf) as [G W].
  destruct (store_appended m t o (Announce i) 1 Wf) as (w & HH & HS & _ & _ & KK).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'.
  apply frame with m; auto.
  - intros l N. apply HS. intros ->. apply N. simpl. auto.
  - intros j. assert (O := i_station I j). simpl in O. destruct (Nat.eq_dec j i) as [->|N].
    + assert (HG : goes_on x x i) by (unfold goes_on; auto). destruct S as (S1 & S2 & S3). open_station O. rewrite S1 in *.
        simpl in *.
      constructor; rewrite ?S1; simpl; rewrite ?HS by (clear; congruence); auto.
      * destruct o_tenure0 as (h & A & B). exists h. split; [eapply newest_same; [apply HS; congruence|auto]|exact B].
      * eapply is_same; [apply HS; congruence|auto].
    + eapply station_kept; eauto. intros l Hl. apply HS. destruct l; simpl in *; congruence.
Qed.

Lemma step_give m f t x i : inv (State m f x) -> stat x i = Live t ->
  inv (State (store m t false Rel (Hand i) 1) (upd f t Idle) (set_stat x i Loose)).
Proof.
  intros I Hk. assert (Wf := i_wf I). simpl in Wf. assert (O := i_station I i). simpl in O.
  destruct (store_grows m t false Rel (Hand i) 1 Wf) as [G W].
  destruct (store_appended m t Rel (Hand i) 1 Wf) as (w & HH & HS & RE & _ & KK). specialize (RE eq_refl).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'.
  assert (HG : goes_on x (set_stat x i Loose) i) by go_on Hk.
  apply station_step with m x i; auto using idle_stands; simpl; rewrite ?upd_same, ?Hk; try discriminate.
  - mine HS.
  - others.
  - intros u N [E|[E|[E|[E|E]]]]; discriminate.
  - open_station O. rewrite Hk in *. simpl in *. kept HH HS HG.
    exists (Message 1 w). split; [eapply newest_app; eauto|]. simpl. eauto using Nat.le_trans.
Qed.

Lemma step_take m f t x i g : inv (State m f x) -> stat x i = Loose -> newest m (Hand i) g ->
  inv (State (rmw m t Acq (Hand i) g 0) (upd f t Idle) (set_stat x i (Live t))).
Proof.
  intros I Hk HN. assert (Wf := i_wf I). simpl in Wf. assert (O := i_station I i). simpl in O.
  destruct (rmw_grows m t Acq (Hand i) g 0 Wf) as [G W].
  destruct (rmw_appended m t Acq (Hand i) g 0 Wf) as (w & (HH & HS & _ & _ & KK) & _ & AC). specialize (AC eq_refl).
  set (m' := rmw _ _ _ _ _ _) in *. clearbody m'.
  assert (HG : goes_on x (set_stat x i (Live t)) i) by go_on Hk.
  apply station_step with m x i; auto using idle_stands; simpl; rewrite ?upd_same, ?Hk; try discriminate.
  - mine HS.
  - others.
  - intros u N [E|[E|[E|[E|E]]]]; discriminate.
  - open_station O. rewrite Hk in *. simpl in *. kept HH HS HG.
    destruct o_who0 as (h & A & B). rewrite (newest_one _ _ _ _ HN A) in *. eauto using Nat.le_trans.
Qed.

Lemma step_name m f t x i g : inv (State m f x) -> f t = Name i g ->
  inv (State (store m t false (release (y BirthRel)) (Tenure i) (tenure g OWNED)) (upd f t (Fence i g)) (set_named x i t)).
Proof.
  intros I Hf. assert (Wf := i_wf I). simpl in Wf. assert (O := i_station I i). simpl in O. rewrite birth_rel.
  assert (S := i_stands I t). simpl in S. rewrite Hf in S. simpl in S. destruct S as (Hk & (K1 & K2 & K3) & Hg).
  destruct (store_grows m t false Rel (Tenure i) (tenure g OWNED) Wf) as [G W].
  destruct (store_appended m t Rel (Tenure i) (tenure g OWNED) Wf) as (w & HH & HS & RE & _ & KK). specialize (RE eq_refl).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'. simpl release. assert (C := fun t k => g_cur _ _ G t k).
  assert (HG : goes_on x (set_named x i t) i) by go_on Hk. destruct (link_is g OWNED (le_n _)) as [V1 V2].
  apply station_step with m x i; auto; simpl; rewrite ?upd_same, ?Hk; try discriminate.
  - mine HS.
  - others.
  - intros u N. apply holds_one with t; auto. unfold holds. auto.
  - open_station O. rewrite Hk in *. simpl in *. kept HH HS HG; try lia.
    + intros n h E. rewrite HH in E. apply nth_app in E. destruct E as [E|[E ->]]; [eapply sees_on; eauto|].
      simpl. rewrite V1. unfold sees. simpl. rewrite upd_same. split; [lia|]. intros _ _. specialize (RE (At (Dead i))). lia.
    + exists (Message (tenure g OWNED) w). splits; [eapply newest_app; eauto|simpl; lia|]. simpl. tauto.
  - splits; auto. specialize (C t (At (Count i))). lia.
Qed.

Lemma step_header m f t x i g k v : inv (State m f x) -> f t = PutHeader i g k ->
  inv (State (store m t false Rlx (Header i) v) (upd f t (PutAnnounce i g k)) (set_begun x i t v)).
Proof.
  intros I Hf. assert (Wf := i_wf I). simpl in Wf. assert (O := i_station I i). simpl in O.
  assert (S := i_stands I t). simpl in S. rewrite Hf in S. simpl in S. destruct S as (Hk & S2 & S3).
  destruct (store_grows m t false Rlx (Header i) v Wf) as [G W].
  destruct (store_appended m t Rlx (Header i) v Wf) as (w & HH & HS & _ & _ & KK).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'.
  assert (HG : goes_on x (set_begun x i t v) i) by go_on Hk.
  apply station_step with m x i; auto; simpl; rewrite ?upd_same, ?Hk; try discriminate; auto.
  - mine HS.
  - others.
  - intros u N. apply holds_one with t; auto. unfold holds. auto.
  - open_station O. rewrite Hk in *. simpl in *. kept HH HS HG.
Qed.

Lemma step_open m f t x i g k o : inv (State m f x) -> f t = Open i g k ->
  inv (State (store m t false o (Dead i) 0) (upd f t Idle) (set_live x i t g k)).
Proof.
  intros I Hf. assert (Wf := i_wf I). simpl in Wf. assert (O := i_station I i). simpl in O.
  assert (S := i_stands I t). simpl in S. rewrite Hf in S. simpl in S. destruct S as (Hk & S2 & S3).
  destruct (store_grows m t false o (Dead i) 0 Wf) as [G W].
  destruct (store_appended m t o (Dead i) 0 Wf) as (w & HH & HS & _ & _ & KK).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'.
  assert (HG : goes_on x (set_live x i t g k) i) by go_on Hk.
  apply station_step with m x i; auto using idle_stands; simpl; rewrite ?upd_same, ?Hk; try discriminate; auto.
  - mine HS.
  - intros j N. rewrite !upd_other by auto. auto.
  - intros u N. apply holds_one with t; auto. unfold holds. auto.
  - open_station O. rewrite Hk in *. simpl in *. kept HH HS HG.
    + intros n h E. rewrite HH in E. apply nth_app in E. destruct E as [E|[E ->]]; [auto|]. rewrite o_dead0 in E. simpl.
      splits; intros; try lia.
    + lia.
Qed.

Lemma step_mark m f t x c lg i g : inv (State m f x) -> f t = Mark c lg i g ->
  inv (State (store m t false Rlx (Dead i) 2) (upd f t (Has (i :: c) lg)) (set_stat x i (Chain t))).
Proof.
  intros I Hf. assert (Wf := i_wf I). simpl in Wf. assert (O := i_station I i). simpl in O.
  assert (S := i_stands I t). simpl in S. rewrite Hf in S. simpl in S.
    destruct S as (S1 & S2 & S3 & (e & S4) & Hk & S6 & S7 & S8 & S9).
  destruct (store_grows m t false Rlx (Dead i) 2 Wf) as [G W].
  destruct (store_appended m t Rlx (Dead i) 2 Wf) as (w & HH & HS & _ & _ & KK).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'. assert (C := fun t k => g_cur _ _ G t k).
  assert (HG : goes_on x (set_stat x i (Chain t)) i) by go_on Hk.
  assert (NI : forall j, In j c -> j <> i) by (intros j Hj ->; destruct (S2 i Hj); congruence).
  apply station_step with m x i; auto; simpl; rewrite ?upd_same, ?Hk; try discriminate; auto.
  - mine HS.
  - others.
  - intros u N. apply holds_one with t; auto. unfold holds. auto.
  - open_station O. rewrite Hk in *. simpl in *. kept HH HS HG.
    + intros n h E. rewrite HH in E. apply nth_app in E. destruct E as [E|[E ->]]; [auto|]. rewrite o_dead0 in E. simpl.
      splits; intros; try lia.
  - assert (SJ : forall j, j <> i -> same m m' x (set_stat x i (Chain t)) j).
    { intros j N. unfold same. simpl. rewrite upd_other by auto. splits; auto. apply HS. congruence. }
    split; [unfold chain; splits|].
    + constructor; auto. intros Hj. apply (NI i Hj). auto.
    + intros j [<-|Hj].
      * simpl. rewrite upd_same. split; auto. unfold knows. simpl. rewrite (last_same m m') by (apply HS; congruence).
        open_station O. rewrite Hk in *. simpl in *. splits; [eauto using Nat.le_trans| |lia]. specialize (C t (At (Count i))).
          lia.
      * simpl. rewrite upd_other by (intro Q; apply (NI j Hj); auto). destruct (S2 j Hj). split; auto. eapply knows_same; eauto.
    + intros _. rewrite S3. simpl. destruct c; [lia|reflexivity].
    + exists (match c with [] => 0 | _ => e end). split.
      * simpl. replace (first_or c match c with [] => 0 | _ => e end) with (first_or c 0) by (destruct c; auto).
        rewrite <- S6. eapply is_same; [apply HS; congruence|auto].
      * destruct c as [|a c]; [exact Logic.I|]. eapply linked_same; [|exact S4]. intros j Hj. simpl.
        split; auto. apply HS. congruence.
Qed.

Lemma is_in f m x i : inv (State m f x) -> stat x i <> Fresh -> i < stations.
Proof.
  intros I N. destruct (i_used I) as (g & A & B). simpl in B. destruct (Nat.lt_ge_cases i stations); auto.
  exfalso. apply N, B. auto.
Qed.

Lemma first_le f m x c : inv (State m f x) -> (forall j, In j c -> stat x j <> Fresh) -> first_or c 0 <= stations.
Proof.
  intros I H. destruct c as [|a c]; simpl; [lia|]. assert (Q := is_in _ _ _ a I (H a (or_introl eq_refl))). lia.
Qed.

Lemma step_win m f t x c lg i g h : inv (State m f x) -> f t = Win c lg i g -> newest m (Tenure i) h -> value h = tenure g OWNED ->
  inv (State (rmw m t Rlx (Tenure i) h (tenure g (first_or c 0)))
             (upd f t (Mark c (match c with [] => g | _ => lg end) i g)) (set_won x i t)).
Proof.
  intros I Hf HN V. assert (Wf := i_wf I). simpl in Wf. assert (O := i_station I i). simpl in O.
  assert (S := i_stands I t). simpl in S. rewrite Hf in S. simpl in S. destruct S as (((S1 & S2 & S3) & e & S4) & S5 & S6).
  assert (FL : first_or c 0 <= stations).
  { eapply first_le; eauto. intros j Hj. destruct (S2 j Hj). congruence. }
  destruct (link_is g OWNED (le_n _)) as [V1 V2]. destruct (link_is g (first_or c 0)) as [V3 V4]; [unfold reuse.OWNED; lia|].
  destruct (o_tenure O) as (h' & N1 & N2 & N3). rewrite (newest_one _ _ _ _ N1 HN) in *. rewrite V in *. rewrite V1 in N2.
  assert (Ow : owned (stat x i)) by (apply N3; auto). destruct (S6 N2 Ow) as [Hk Kc].
  destruct (rmw_grows m t Rlx (Tenure i) h (tenure g (first_or c 0)) Wf) as [G W].
  destruct (rmw_appended m t Rlx (Tenure i) h (tenure g (first_or c 0)) Wf) as (w & (HH & HS & _ & _ & KK) & _ & _).
  set (m' := rmw _ _ _ _ _ _) in *. clearbody m'. assert (C := fun t k => g_cur _ _ G t k).
  assert (HG : goes_on x (set_won x i t) i) by go_on Hk.
  assert (NI : forall j, In j c -> j <> i) by (intros j Hj ->; destruct (S2 i Hj); congruence).
  assert (SJ : forall j, In j c -> same m m' x (set_won x i t) j).
  { intros j Hj. assert (N := NI j Hj). unfold same. simpl. rewrite upd_other by auto. splits; auto. apply HS. congruence. }
  apply station_step with m x i; auto; simpl; rewrite ?upd_same, ?Hk; try discriminate; auto.
  - mine HS.
  - others.
  - intros u N [E|[E|[E|[E|E]]]]; discriminate.
  - open_station O. rewrite Hk in *. simpl in *. kept HH HS HG.
    + intros n h0 E. rewrite HH in E. apply nth_app in E. destruct E as [E|[E ->]]; [eapply sees_on; eauto|].
      simpl. rewrite V3. unfold sees. simpl. rewrite upd_same. simpl. split; [lia|tauto].
    + exists (Message (tenure g (first_or c 0)) w). splits; [eapply newest_app; eauto|simpl; lia|]. simpl. rewrite V4.
      unfold reuse.OWNED. split; [lia|tauto].
  - intros ->. reflexivity.
  - splits; auto.
    + intros j Hj. destruct (S2 j Hj). simpl. rewrite upd_other by (intro Q; apply (NI j Hj); auto). split; auto.
        eapply knows_same; eauto.
    + destruct c; auto. apply S3. discriminate.
    + exists e. eapply linked_same; [|eauto]. intros j Hj. destruct (SJ j Hj) as (? & _ & ? & _). auto.
    + eauto using Nat.le_trans.
    + rewrite (last_app _ _ _ _ HH). auto.
    + eapply is_app; eauto.
Qed.

Lemma linked_last m m' x c e e' : c <> [] -> NoDup c -> linked m x c e ->
  (forall j, In j c -> j <> last c 0 -> hist m' (Tenure j) = hist m (Tenure j)) ->
  last_is m' (Tenure (last c 0)) (tenure (gen x (last c 0)) e') -> linked m' x c e'.
Proof.
  induction c as [|a [|b c] IH]; [congruence| |].
  - intros _ _ _ _ V. split; [exact V|exact Logic.I].
  - intros _ N [L1 L2] H V. inversion N; subst. split.
    + assert (a <> last (b :: c) 0) by (intros E; apply H2; rewrite E; apply in_last; discriminate).
      eapply is_same; [apply H; [left; auto|exact H0]|exact L1].
    + apply IH; auto; [discriminate|]. intros j Hj. apply H. right. auto.
Qed.

Lemma step_link m f t x c lg v o : inv (State m f x) -> f t = Link c lg v ->
  inv (State (store m t false o (Tenure (last c 0)) (tenure lg (index v))) (upd f t (Push c lg v)) x).
Proof.
  intros I Hf. assert (Wf := i_wf I). simpl in Wf. remember (last c 0) as i. assert (O := i_station I i). simpl in O.
  assert (S := i_stands I t). simpl in S. rewrite Hf in S. simpl in S. destruct S as (((S1 & S2 & S3) & e & S4) & S5).
  specialize (S3 S5). rewrite <- Heqi in S3. assert (Hi := in_last c S5). rewrite <- Heqi in Hi. destruct (S2 i Hi) as [Hk Ki].
  assert (IL := index_le stations v). destruct (link_is lg (index v)) as [V1 V2]; [unfold reuse.OWNED; lia|].
  destruct (store_grows m t false o (Tenure i) (tenure lg (index v)) Wf) as [G W].
  destruct (store_appended m t o (Tenure i) (tenure lg (index v)) Wf) as (w & HH & HS & _ & _ & KK).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'. assert (C := fun t k => g_cur _ _ G t k).
  assert (HG : goes_on x x i) by (unfold goes_on; auto).
  apply station_step with m x i; auto; simpl; rewrite ?Hk; try discriminate; auto.
  - mine HS.
  - intros u N. apply holds_one with t; auto. unfold holds. auto 6.
  - open_station O. rewrite Hk in *. simpl in *. constructor; rewrite ?Hk; simpl; rewrite ?HS by congruence; auto.
    + intros n h0 E. rewrite HH in E. apply nth_app in E. destruct E as [E|[E ->]]; [eapply sees_on; eauto|].
      simpl. rewrite V1. unfold sees. rewrite Hk. simpl. split; [lia|tauto].
    + exists (Message (tenure lg (index v)) w). splits; [eapply newest_app; eauto|simpl; lia|]. simpl. rewrite V2.
      unfold reuse.OWNED. split; [lia|tauto].
    + eapply is_same; [apply HS; congruence|auto].
  - splits; auto; [unfold chain; splits; auto|].
    + intros j Hj. destruct (S2 j Hj) as [E K]. split; auto. destruct (Nat.eq_dec j i) as [->|N].
      * destruct K as (K1 & K2 & K3). unfold knows. rewrite (last_app _ _ _ _ HH). splits; eauto using Nat.le_trans.
      * eapply knows_same; eauto. unfold same. splits; auto. apply HS. congruence.
    + intros _. rewrite <- Heqi. auto.
    + eapply linked_last; eauto.
      * intros j _ N. apply HS. congruence.
      * rewrite <- Heqi, <- S3. eapply is_app; eauto.
Qed.

(* The station changes hands, and nothing else of it. *)
Lemma station_passed m m' x x' i : grows m m' -> (forall l, of_station i l -> hist m' l = hist m l) ->
  gen x' i = gen x i -> total x' i = total x i -> events_ x' i = events_ x i -> ref_ x' i = ref_ x i ->
  match stat x i with Fresh | Free | Chain _ => True | _ => False end ->
  match stat x' i with Born _ => True | Free => 1 <= gen x i | _ => False end ->
  station_ok m x i -> station_ok m' x' i.
Proof.
  intros G H E2 E3 E4 E5 P Q O. open_station O.
  assert (NO : ~ owned (stat x i)) by (destruct (stat x i); simpl; tauto).
  assert (NO' : ~ owned (stat x' i)) by (destruct (stat x' i); simpl; tauto).
  assert (HG : goes_on x x' i) by (unfold goes_on; rewrite E2; split; [lia|tauto]).
  assert (C1 : ncount (stat x' i) (gen x i) = ncount (stat x i) (gen x i))
    by (destruct (stat x i); try contradiction; destruct (stat x' i); try contradiction; auto).
  assert (C2 : nheader (stat x' i) (gen x i) = nheader (stat x i) (gen x i))
    by (destruct (stat x i); try contradiction; destruct (stat x' i); try contradiction; auto).
  assert (C3 : ndead (stat x' i) (gen x i) = ndead (stat x i) (gen x i))
    by (destruct (stat x i); try contradiction; destruct (stat x' i); try contradiction; auto).
  constructor; rewrite ?E2, ?E3, ?E4, ?E5, ?C1, ?C2, ?C3, ?H by (simpl; auto); auto.
  - intros n g Hn. eapply sees_on; eauto.
  - intros n g Hn. eapply sees_on; eauto.
  - destruct o_tenure0 as (g & A & B & D). exists g. splits; auto; [eapply newest_same; [apply H; simpl; auto|auto]|]. tauto.
  - assert (L : last_is m (Count i) (total x i)) by (destruct (stat x i); tauto).
    assert (L' : last_is m' (Count i) (total x i)) by (eapply is_same; [apply H; simpl; auto|auto]). destruct (stat x' i); auto.
  - intros L. destruct (stat x' i); simpl in *; tauto.
  - destruct (stat x' i); tauto.
  - destruct (stat x' i); tauto.
Qed.

Lemma linked_app m x c s e : linked m x c (first_or s e) -> linked m x s e -> linked m x (c ++ s) e.
Proof.
  induction c as [|a c IH]; simpl; auto. intros [A B] L. split; auto. destruct c as [|b c]; simpl in *; auto.
Qed.

Lemma NoDup_both (c s : list nat) : NoDup c -> NoDup s -> (forall j, In j c -> ~ In j s) -> NoDup (c ++ s).
Proof.
  induction c as [|a c IH]; simpl; auto. intros N M H. inversion N; subst. constructor.
  - rewrite in_app_iff. intros [Q|Q]; [auto|]. apply (H a (or_introl eq_refl) Q).
  - apply IH; auto.
Qed.

Lemma in_chain c j : existsb (Nat.eqb j) c = true <-> In j c.
Proof.
  rewrite existsb_exists. split; [intros (k & A & B); apply Nat.eqb_eq in B; congruence|]. intros A. exists j.
    rewrite Nat.eqb_refl. auto.
Qed.

Lemma step_push m f t x c lg v g : inv (State m f x) -> f t = Push c lg v -> newest m Top g -> value g = v ->
  inv (State (rmw m t (release (y PushRel)) Top g (top v (first_or c 0))) (upd f t Idle) (set_pushed x c)).
Proof.
  intros I Hf HN V. assert (Wf := i_wf I). simpl in Wf. rewrite push_rel. simpl release.
  assert (S := i_stands I t). simpl in S. rewrite Hf in S. simpl in S. destruct S as ((S1 & S2 & S3) & S4 & S5).
  assert (FL : first_or c 0 <= stations).
  { eapply first_le; eauto. intros j Hj. destruct (S2 j Hj). congruence. }
  destruct (rmw_grows m t Rel Top g (top v (first_or c 0)) Wf) as [G W].
  destruct (rmw_appended m t Rel Top g (top v (first_or c 0)) Wf) as (w & (HH & HS & RE & _ & _) & WG & _).
    specialize (RE eq_refl).
  set (m' := rmw _ _ _ _ _ _) in *. clearbody m'. assert (C := fun t k => g_cur _ _ G t k).
  destruct (top_is v (first_or c 0) FL) as [T1 T2].
  open_inv I. simpl in *. destruct i_first0 as (h & A & B & D). rewrite (newest_one _ _ _ _ A HN) in *. clear h A.
  destruct i_stack0 as [N1 N2].
  assert (IN : forall j, In j c -> stat (set_pushed x c) j = Free) by (intros j Hj; simpl; rewrite (proj2 (in_chain c j) Hj);
    auto).
  assert (OUT : forall j, ~ In j c -> stat (set_pushed x c) j = stat x j).
  { intros j Hj. simpl. destruct (existsb (Nat.eqb j) c) eqn:E; auto. apply in_chain in E. tauto. }
  assert (DJ : forall j, In j c -> ~ In j (stack x)) by (intros j Hj Q; apply N2 in Q; destruct (S2 j Hj); congruence).
  assert (SM : forall j, ~ In j c -> same m m' x (set_pushed x c) j).
  { intros j Hj. unfold same. rewrite (OUT j Hj). splits; auto. apply HS. discriminate. }
  assert (KN : forall w0 w1 j, (forall k, w0 k <= w1 k) -> knows m x w0 j -> knows m' (set_pushed x c) w1 j).
  { intros w0 w1 j Q (K1 & K2 & K3). unfold knows. simpl. rewrite (last_same m m') by (apply HS; discriminate).
    splits; eauto using Nat.le_trans. }
  assert (IC : forall j, In j c \/ ~ In j c) by (intros j; destruct (in_dec Nat.eq_dec j c); auto).
  constructor; simpl; auto.
  - intros l. destruct (g_hist _ _ G l) as [more ->]. intros E. apply app_eq_nil in E. destruct E. eapply i_some0; eauto.
  - intros n h. rewrite HH. intros E. apply nth_app in E. destruct E as [E|[E ->]]; auto.
    simpl. rewrite T1. specialize (i_top0 _ _ HN). rewrite V in i_top0. rewrite i_top0.
    assert (L := i_some0 Top). destruct (hist m Top); [congruence|]. simpl in *. lia.
  - exists (Message (top v (first_or c 0)) w). splits; [eapply newest_app; eauto|simpl; rewrite T2; destruct c;
      [congruence|auto]|].
    intros j Hj. apply in_app_or in Hj. destruct Hj as [Hj|Hj].
    + destruct (S2 j Hj). eapply KN; [exact RE|auto].
    + eapply KN; [exact WG|auto].
  - split; [apply NoDup_both; auto|]. intros j. rewrite in_app_iff. destruct (IC j) as [Hj|Hj].
    + split; auto. intros _. apply (IN j Hj).
    + assert (F := OUT j Hj). simpl in F. rewrite F, N2. tauto.
  - apply linked_app.
    + rewrite <- B, V. eapply linked_same; [|eauto]. intros j _. split; auto. apply HS. discriminate.
    + eapply linked_same; [|eauto]. intros j _. split; auto. apply HS. discriminate.
  - destruct i_used0 as (h & P & Q). exists h. split; [eapply newest_same; [apply HS; discriminate|auto]|]. intros j. rewrite <- Q.
    destruct (IC j) as [Hj|Hj].
    + destruct (S2 j Hj) as [E _]. assert (F := IN j Hj). simpl in F. rewrite F, E. split; discriminate.
    + assert (F := OUT j Hj). simpl in F. rewrite F. tauto.
  - intros j. assert (HL : forall l, of_station j l -> hist m' l = hist m l) by (intros l Hl; apply HS; destruct l; simpl in *;
      congruence).
    destruct (IC j) as [Hj|Hj].
    + apply station_passed with m x; auto.
      * destruct (S2 j Hj) as [-> _]. auto.
      * rewrite (IN j Hj). assert (Q := o_gen (i_station0 j)). destruct (S2 j Hj) as [E _]. rewrite E in Q. auto.
    + apply station_kept with m x; auto.
  - intros u. destruct (tid_cases f t Idle u) as [(-> & E)|(N & E)]; rewrite E; [apply idle_stands|].
    apply stands_kept with m x; eauto.
    + intros j Hj. apply SM. intros Q. destruct (S2 j Q) as [E' _]. rewrite E' in Hj. revert Hj. apply holds_one with t; auto.
      unfold holds. auto 6.
    + intros j. unfold goes_on. simpl. split; auto. intros _. destruct (IC j) as [Hj|Hj].
      * assert (F := IN j Hj). simpl in F. rewrite F. simpl. tauto.
      * assert (F := OUT j Hj). simpl in F. rewrite F. auto.
Qed.

Lemma step_pop m f t x v n g o : inv (State m f x) -> f t = PopCas v n -> newest m Top g -> value g = v ->
  inv (State (rmw m t o Top g (top v n)) (upd f t (Number (pred (index v)))) (set_popped x (pred (index v)) t)).
Proof.
  intros I Hf HN V. assert (Wf := i_wf I). simpl in Wf. assert (S := i_stands I t). simpl in S. rewrite Hf in S.
  destruct S as (Hi & Hl & Hnow). destruct (rmw_grows m t o Top g (top v n) Wf) as [G W].
  destruct (rmw_appended m t o Top g (top v n) Wf) as (w & (HH & HS & _ & _ & _) & WG & _).
  set (m' := rmw _ _ _ _ _ _) in *. clearbody m'. assert (C := fun t k => g_cur _ _ G t k).
  assert (II := I). open_inv I. simpl in *.
  destruct i_first0 as (h & A & B & D). rewrite (newest_one _ _ _ _ A HN) in *. clear h A.
  assert (TN : tag v = last_at m Top) by (rewrite <- V; exact (i_top0 _ _ HN)).
  destruct (Hnow TN) as (E1 & E2 & E3). destruct (stack x) as [|i r] eqn:ES; [simpl in E1; congruence|]. simpl in E1, E2.
  rewrite E1. simpl pred. destruct i_stack0 as [N1 N2]. inversion N1; subst.
  assert (Hst : stat x i = Free) by (apply N2; left; auto).
  assert (Hn : first_or r 0 <= stations).
  { eapply first_le; eauto. intros j Hj. assert (Q := proj1 (N2 j) (or_intror Hj)). congruence. }
  destruct (top_is (value g) (first_or r 0) Hn) as [T1 T2].
  assert (SM : forall j, j <> i -> same m m' x (set_popped x i t) j).
  { intros j Hj. unfold same. simpl. rewrite upd_other by auto. splits; auto. apply HS. discriminate. }
  assert (KN : forall w0 w1 j, (forall k, w0 k <= w1 k) -> knows m x w0 j -> knows m' (set_popped x i t) w1 j).
  { intros w0 w1 j Q (K1 & K2 & K3). unfold knows. simpl. rewrite (last_same m m') by (apply HS; discriminate).
    splits; eauto using Nat.le_trans. }
  constructor; simpl; rewrite ?ES; simpl; auto.
  - intros l. destruct (g_hist _ _ G l) as [more ->]. intros E. apply app_eq_nil in E. destruct E. eapply i_some0; eauto.
  - intros q h. rewrite HH. intros E. apply nth_app in E. destruct E as [E|[E ->]]; auto.
    simpl. rewrite T1, TN. unfold last_at. assert (L := i_some0 Top). destruct (hist m Top); [congruence|]. simpl in *. lia.
  - exists (Message (top (value g) (first_or r 0)) w). splits; [eapply newest_app; eauto|auto|]. intros j Hj. eapply KN; eauto.
    apply D. right. auto.
  - split; auto. intros j. destruct (upd_cases (stat x) i (Born t) j) as [(-> & E)|(N & E)]; rewrite E.
    + split; [tauto|discriminate].
    + rewrite <- N2. simpl. split; auto. intros [Q|Q]; congruence || auto.
  - destruct i_linked0 as [_ L]. eapply linked_same; [|eauto]. intros j _. split; auto. apply HS. discriminate.
  - destruct i_used0 as (h & P & Q). exists h. split; [eapply newest_same; [apply HS; discriminate|auto]|]. intros j. rewrite <- Q.
    destruct (upd_cases (stat x) i (Born t) j) as [(-> & E)|(N & E)]; rewrite E; [rewrite Hst; split; discriminate|tauto].
  - rewrite i_right0, Hst. reflexivity.
  - intros j. assert (HL : forall l, of_station j l -> hist m' l = hist m l) by (intros l Hl'; apply HS; destruct l; simpl in *;
      congruence).
    destruct (Nat.eq_dec j i) as [->|N].
    + apply station_passed with m x; auto; [rewrite Hst; auto|simpl; rewrite upd_same; auto].
    + apply station_kept with m x; auto. simpl. apply upd_other. auto.
  - intros u. destruct (tid_cases f t (Number i) u) as [(-> & E)|(N & E)]; rewrite E.
    + simpl. rewrite upd_same. split; auto. eapply KN; [exact (C t)|]. apply E3. left. auto.
    + apply stands_kept with m x; eauto.
      * intros j Hj. apply SM. intros ->. rewrite Hst in Hj. destruct Hj as [Q|[Q|[Q|[Q|Q]]]]; discriminate.
      * intros j. unfold goes_on. simpl. split; auto. intros _. destruct (upd_cases (stat x) i (Born t) j) as [(-> & F)|(_ & F)];
          rewrite F; auto.
        simpl. tauto.
Qed.

Lemma step_new m f t x i g : inv (State m f x) -> i < stations -> newest m Used g -> value g = i ->
  inv (State (rmw m t Rlx Used g (S i)) (upd f t (Number i)) (set_taken x i t (stack x))).
Proof.
  intros I Hi HN V. assert (Wf := i_wf I). simpl in Wf. destruct (rmw_grows m t Rlx Used g (S i) Wf) as [G W].
  destruct (rmw_appended m t Rlx Used g (S i) Wf) as (w & (HH & HS & _ & _ & _) & _ & _).
  set (m' := rmw _ _ _ _ _ _) in *. clearbody m'. assert (C := fun t k => g_cur _ _ G t k).
  open_inv I. simpl in *. destruct i_used0 as (h & A & B). rewrite (newest_one _ _ _ _ A HN) in *. clear h A. rewrite V in B.
  assert (Hst : stat x i = Fresh) by (apply B; auto).
  assert (SM : forall j, j <> i -> same m m' x (set_taken x i t (stack x)) j).
  { intros j Hj. unfold same. simpl. rewrite upd_other by auto. splits; auto. apply HS. discriminate. }
  assert (NI : forall j, In j (stack x) -> j <> i) by (intros j Hj ->; apply (proj2 i_stack0) in Hj; congruence).
  constructor; simpl; auto.
  - intros l. destruct (g_hist _ _ G l) as [more ->]. intros E. apply app_eq_nil in E. destruct E. eapply i_some0; eauto.
  - intros n h. rewrite HS by discriminate. auto.
  - destruct i_first0 as (h & P & Q & R). exists h. splits; auto; [eapply newest_same; [apply HS; discriminate|auto]|].
    intros j Hj. eapply knows_same; eauto.
  - destruct i_stack0 as [P Q]. split; auto. intros j. rewrite Q.
    destruct (upd_cases (stat x) i (Born t) j) as [(-> & E)|(N & E)]; rewrite E; [rewrite Hst; split; discriminate|tauto].
  - eapply linked_same; [|eauto]. intros j Hj. destruct (SM j (NI j Hj)) as (? & _ & ? & _). auto.
  - exists (Message (S i) w). split; [eapply newest_app; eauto|]. intros j. simpl.
    destruct (upd_cases (stat x) i (Born t) j) as [(-> & E)|(N & E)]; rewrite E; [split; [discriminate|lia]|]. rewrite B. lia.
  - rewrite i_right0, Hst. reflexivity.
  - intros j. assert (HL : forall l, of_station j l -> hist m' l = hist m l) by (intros l Hl'; apply HS; destruct l; simpl in *;
      congruence).
    destruct (Nat.eq_dec j i) as [->|N].
    + apply station_passed with m x; auto; [rewrite Hst; auto|simpl; rewrite upd_same; auto].
    + apply station_kept with m x; auto. simpl. apply upd_other. auto.
  - intros u. destruct (tid_cases f t (Number i) u) as [(-> & E)|(N & E)]; rewrite E.
    + simpl. rewrite upd_same. split; auto. assert (Q := o_gen (i_station0 i)). rewrite Hst in Q. destruct Q as [Q1 Q2].
      unfold knows. simpl. unfold last_at. rewrite HS by discriminate. rewrite Q1, Q2. simpl. lia.
    + apply stands_kept with m x; eauto.
      * intros j Hj. apply SM. intros ->. rewrite Hst in Hj. destruct Hj as [Q|[Q|[Q|[Q|Q]]]]; discriminate.
      * intros j. unfold goes_on. simpl. split; auto. intros _. destruct (upd_cases (stat x) i (Born t) j) as [(-> & F)|(_ & F)];
          rewrite F; auto.
        simpl. tauto.
      * left. splits; auto. apply HS. discriminate.
Qed.

Lemma hist_load m t pl o l i g l' : hist (load m t pl o l i g) l' = hist m l'.
Proof. simpl. unfold upd. destruct (eq_dec l l'); congruence. Qed.

Lemma stands_still m m' x t p : grows m m' -> (forall l, hist m' l = hist m l) -> stands m x t p -> stands m' x t p.
Proof.
  intros G H. apply stands_kept; auto; [unfold same; auto|unfold goes_on; auto|]. left. unfold same. splits; auto.
Qed.

Lemma load_still m t o l i g f p x : inv (State m f x) -> stands (load m t false o l i g) x t p ->
  inv (State (load m t false o l i g) (upd f t p) x).
Proof.
  intros I. assert (Wf := i_wf I). simpl in Wf. destruct (load_grows m t false o l i g Wf). intros.
  apply still with m; auto. intros. apply hist_load.
Qed.

Lemma load_stands m t o l i g f p x : inv (State m f x) -> stands m x t p -> stands (load m t false o l i g) x t p.
Proof.
  intros I. assert (Wf := i_wf I). simpl in Wf. destruct (load_grows m t false o l i g Wf).
  apply stands_still; auto. intros. apply hist_load.
Qed.

(* A look at the stack, by a load of it or by a compare-exchange that fails. *)
Lemma look_stands m f t x i g v : inv (State m f x) -> nth_error (hist m Top) i = Some g -> index (value g) <> 0 -> v = value g ->
  stands (load m t false (acquire (y LookAcq)) Top i g) x t (PopNext v).
Proof.
  intros I HL Hi ->. assert (L := nth_error_lt _ _ _ HL). unfold stands. rewrite hist_load, look_acq. splits; auto.
  - rewrite (i_top I _ _ HL). auto.
  - rewrite (last_same m) by apply hist_load. rewrite (i_top I _ _ HL). intros E.
    destruct (i_first I) as (h & A & B & D). simpl in A, B, D. unfold newest in A. unfold last_at in E. rewrite <- E, HL in A.
    inversion A; subst h. split; auto. intros j Hj. eapply knows_same; [|intros k; apply load_acquires; auto|apply D; auto].
    unfold same. splits; auto using hist_load.
Qed.

Lemma kept : forall s s', inv s -> step (reuse stations collector y) s s' -> inv s'.
Proof.
  intros s s' I HS. destruct HS as [m f x t o v p x' m' Ht HD HM | m f x t p x' Ht HD | m f x c t Hin].
  - assert (Wf := i_wf I). simpl in Wf. assert (S := i_stands I t). simpl in S.
    remember (f t) as q eqn:Ef. symmetry in Ef.
    destruct HD; lazymatch goal with H : elsewhere _ |- _ => idtac | _ => inversion HM; subst; clear HM end;
      try (match goal with H : loadable _ _ _ _ _ |- _ => assert (LD := H); destruct H as [HL HL'] end);
      try (apply load_still; [auto|exact Logic.I]; fail);
      try (apply load_still; [auto|apply idle_stands]; fail).
    + apply step_new; auto.
    + apply load_still; auto. eapply look_stands; eauto.
    + (* next *) apply load_still; auto. destruct S as (S1 & S2 & S3). unfold stands. rewrite hist_load. splits; auto.
      rewrite (last_same m) by apply hist_load. intros E. destruct (S3 E) as [S4 S5]. splits; auto.
      * destruct (stack x) as [|j r] eqn:ES; [simpl in S4; congruence|]. simpl in S4. rewrite S4 in *. simpl in *.
        assert (L := i_linked I). simpl in L. rewrite ES in L. destruct L as [(h & L1 & L2) _].
        destruct (S5 j (or_introl eq_refl)) as (S6 & _). rewrite (newest_one _ _ _ _ (loads_newest _ _ _ _ _ LD S6) L1), L2.
        apply link_is. eapply Nat.le_trans; [eapply first_le; [exact I|]|unfold reuse.OWNED; lia].
        intros k Hk. assert (Q := proj1 (proj2 (i_stack I) k)). simpl in Q. rewrite ES in Q. rewrite (Q (or_intror Hk)).
          discriminate.
      * intros j Hj. eapply knows_same; [|apply (g_cur _ _ (proj1 (load_grows m t false Rlx (Tenure (pred (index v))) i g
          Wf)))|apply S5; auto].
        unfold same. splits; auto using hist_load.
    + eapply step_pop; eauto.
    + apply load_still; auto. eapply look_stands; eauto.
    + (* number *) apply load_still; auto. destruct S as (S1 & S2). assert (S3 := S2). destruct S2 as (S4 & _).
      destruct (o_tenure (i_station I i)) as (h & A & B & _). simpl in A, B.
      rewrite (newest_one _ _ _ _ (loads_newest _ _ _ _ _ LD S4) A), B. unfold stands. splits; auto.
      eapply knows_same; [|apply (g_cur _ _ (proj1 (load_grows m t false Rlx (Tenure i) i0 _ Wf)))|exact S3].
      unfold same. splits; auto using hist_load.
    + apply step_name; auto.
    + destruct (fence_rel_grows m t Wf) as [G W]. apply still with m; auto. simpl in *. rewrite upd_same. simpl. tauto.
    + (* read *) apply load_still; auto. destruct S as (S1 & S2 & S3). simpl. splits; auto.
      assert (O := i_station I i). simpl in O. assert (OC := o_count O). assert (OT := o_total O). rewrite S1 in OC, OT.
      simpl in OC. destruct OT as (h & A & B). rewrite (newest_one _ _ _ _ (loads_newest _ _ _ _ _ LD ltac:(unfold last_at;
        rewrite OC; auto)) A). auto.
    + apply step_header; auto.
    + apply step_announce; auto.
    + apply step_open; auto.
    + apply step_give; auto.
    + apply step_take; auto.
    + apply step_count; auto.
    + apply step_dead; auto.
    + apply step_said; auto. destruct S; auto.
    + apply step_said; auto. assert (O := i_station I i). simpl in O. assert (OW := o_who O). assert (OC := o_co O).
      rewrite H in OW, OC. destruct (OC Logic.I) as [_ ->]. unfold sees. auto.
    + (* hear *) apply load_still; auto. rewrite hear_acq. split; [exact (load_stands _ _ _ _ _ _ f (Has c lg) x I S)|].
      eapply sees_on; [unfold goes_on; auto|intros k; apply load_acquires; auto|]. exact (o_said (i_station I i) _ _ HL).
    + (* ask *) apply load_still; auto. rewrite ask_acq. split; [exact (load_stands _ _ _ _ _ _ f (Has c lg) x I S)|].
      eapply sees_on; [unfold goes_on; auto|intros k; apply load_acquires; auto|]. exact (o_tenures (i_station I i) _ _ HL).
    + (* see *) apply load_still; auto. rewrite see_acq. destruct S as [SC [S1 S2]].
      split; [exact (load_stands _ _ _ _ _ _ f (Has c lg) x I SC)|]. split; auto. intros E Ow. specialize (S2 E Ow). simpl in HL'.
      assert (O := i_station I i). simpl in O. destruct (o_deads O _ _ HL) as (D0 & D1 & D2 & D3).
      assert (OD := o_dead O). assert (OG := o_gen O). assert (Q := nth_error_lt _ _ _ HL). rewrite OD in Q.
      assert (P := load_acquires m t false Acq (Dead i) i0 g0 (At (Count i)) eq_refl).
      specialize (D1 (gen x i - 1)). specialize (D2 (gen x i - 1)). destruct (gen x i - 1) as [|z] eqn:Z.
      * destruct (stat x i); simpl in *; try tauto; try (assert (i0 = 0 \/ i0 = 1 \/ i0 = 2) as [->|[->| ->]] by lia; simpl in *;
          intuition (try discriminate); lia).
      * specialize (D3 z). destruct (stat x i); simpl in *; try tauto;
          assert (i0 = 3 * z + 3 \/ i0 = 3 * S z + 1 \/ i0 = 3 * S z + 2) as [->|[->| ->]] by lia; intuition (try discriminate;
            try lia).
    + apply load_still; auto. destruct S as [SC _]. exact (load_stands _ _ _ _ _ _ f (Has c lg) x I SC).
    + (* win *) assert (g' = g) by auto using whole. subst g'. eapply step_win; eauto.
    + apply load_still; auto. destruct S as [SC _]. exact (load_stands _ _ _ _ _ _ f (Has c lg) x I SC).
    + eapply step_mark; eauto.
    + apply load_still; auto. split; auto. exact (load_stands _ _ _ _ _ _ f (Has c lg) x I S).
    + apply step_link; auto.
    + eapply step_push; eauto.
    + apply load_still; auto. destruct S as (S1 & S2 & S3). split; auto.
      exact (load_stands _ _ _ _ _ _ f (Has c lg) x I (conj S1 (ex_intro _ _ S2))).
    + destruct (fence_acq_grows m t Wf) as [G W]. apply still with m; auto; exact Logic.I.
    + destruct (mstep_grows _ _ _ _ _ HM Wf) as [G W].
      assert (E : forall l, ~ aside l -> place_of o <> Some l).
      { intros l Hl E. destruct o; simpl in *; inversion E; subst; try tauto; destruct l; simpl in *; tauto. }
      assert (E' : forall l, (forall n, l <> Other n) -> hist m' l = hist m l).
      { intros l Hl. eapply mstep_elsewhere; eauto. intros Q. destruct o; simpl in *; inversion Q; subst; try tauto; destruct l;
        try tauto; eapply Hl; eauto. }
      apply frame with m; auto.
      * intros l Hl. eapply mstep_elsewhere; eauto.
      * intros i. eapply station_kept; eauto; [|apply (i_station I)]. intros l Hl. apply E'. destruct l; simpl in *; congruence.
      * apply stands_kept with m x; auto; [|unfold goes_on; auto|].
        -- intros j _. unfold same. splits; auto. apply E'. discriminate.
        -- left. splits; auto; [apply E'; discriminate|]. intros j _. unfold same. splits; auto. apply E'. discriminate.
  - assert (Wf := i_wf I). simpl in Wf. assert (S := i_stands I t). simpl in S.
    remember (f t) as q eqn:Ef. symmetry in Ef. destruct HD.
    + (* event *) assert (SJ : forall j, j <> i -> same m m x (set_event x i) j).
      { intros j N. unfold same. simpl. rewrite upd_other by auto. auto. }
      apply station_step with m x i; auto using idle_stands, grows_refl; simpl; rewrite ?H; try discriminate; auto.
      * intros j N. rewrite !upd_other by auto. auto.
      * intros u N [E|[E|[E|[E|E]]]]; discriminate.
      * unfold goes_on. simpl. auto.
      * assert (O := i_station I i). simpl in O. open_station O. constructor; simpl; rewrite ?upd_same; auto.
        -- rewrite H. auto.
        -- intros L. destruct (o_co0 L). auto.
    + apply still with m; auto using grows_refl. destruct S. split; auto. exact (idle_stands m x t).
    + apply still with m; auto using grows_refl.
    + apply still with m; auto using grows_refl; exact Logic.I.
    + apply still with m; auto using grows_refl, idle_stands.
  - assert (Wf := i_wf I). simpl in Wf. destruct (reaches_grows m c t Wf) as [G W].
    assert (I' : inv (State (barrier_reaches m c t) (upd f t (f t)) x)).
    { apply still with m; auto. apply stands_still with m; auto. apply (i_stands I). }
    open_inv I'. simpl in *. constructor; simpl; auto. intros u. specialize (i_stands0 u). rewrite upd_self in i_stands0. auto.
Qed.

Lemma begins n registered junk : inv (initial n registered junk).
Proof.
  constructor; simpl; auto; try discriminate.
  - apply wf_start.
  - intros n0 g. destruct n0; simpl; [|destruct n0; discriminate]. intros E. inversion E; subst. simpl.
    unfold reuse.tag. apply Nat.div_0_l. lia.
  - eexists. splits; [reflexivity| |tauto]. simpl. unfold reuse.index. apply Nat.mod_0_l. lia.
  - split; [constructor|]. intros j. split; [tauto|discriminate].
  - eexists. split; [reflexivity|]. simpl. intros j. split; auto. lia.
  - intros i. constructor; simpl; auto; try tauto.
    + intros [|q] g; simpl; [|destruct q; discriminate]. intros E. inversion E; subst. simpl. splits; intros; lia.
    + intros [|q] g; simpl; [|destruct q; discriminate]. intros E. inversion E; subst. simpl.
      unfold reuse.gen_of. rewrite Nat.div_0_l by lia. unfold sees. simpl. lia.
    + intros [|q] g; simpl; [|destruct q; discriminate]. intros E. inversion E; subst. unfold sees. simpl. lia.
    + eexists. splits; [reflexivity| |]; simpl.
      * unfold reuse.gen_of. apply Nat.div_0_l. lia.
      * unfold reuse.link_of, reuse.OWNED. rewrite Nat.mod_0_l by lia. split; [lia|tauto].
    + eexists. split; reflexivity.
  - intros t. apply idle_stands.
Qed.

Lemma holds_always n registered junk s : steps (reuse stations collector y) (initial n registered junk) s -> inv s.
Proof. apply always; eauto using begins, kept. Qed.
End Proof.

(* --- the theorem ------------------------------------------------------------------------------------------------------------ *)

Theorem reuse_unique_owner stations collector y threads registered junk s :
  (forall n, In n owner_needs -> y n = true) ->
  steps (reuse stations collector y) (initial threads registered junk) s ->
  one_owner s.
Proof.
  intros H HS. assert (I : inv stations s) by exact (holds_always stations collector y H _ _ _ _ HS).
  assert (O : forall t i, owns (where_ s t) i -> let b := stat (beside s) i in b = Born t \/ b = New t \/ b = Begun t).
  { intros t i Ho. assert (S := i_stands I t). destruct (where_ s t); simpl in *; subst; tauto. }
  assert (F : forall t i, frees (where_ s t) i -> let b := stat (beside s) i in b = Won t \/ b = Chain t).
  { intros t i Ho. assert (S := i_stands I t). destruct (where_ s t); simpl in *; unfold chain in S; try tauto;
      try (right; apply S; auto; fail). destruct Ho as [->|Ho]; [left; tauto|right; apply S; auto]. }
  assert (K : forall i, In i (stack (beside s)) -> stat (beside s) i = Free) by (intros i; apply (proj2 (i_stack I))).
  unfold one_owner. splits.
  - apply (i_right I).
  - intros t i Ho. apply O in Ho. simpl in Ho. splits.
    + intros Hi. apply K in Hi. destruct Ho as [E|[E|E]]; congruence.
    + intros u Hu. apply O in Hu. simpl in Hu. destruct Ho as [E|[E|E]], Hu as [E'|[E'|E']]; congruence.
    + intros u Hu. apply F in Hu. simpl in Hu. destruct Ho as [E|[E|E]], Hu as [E'|E']; congruence.
  - intros t i Ho. apply F in Ho. simpl in Ho. splits.
    + intros Hi. apply K in Hi. destruct Ho; congruence.
    + intros u Hu. apply F in Hu. simpl in Hu. destruct Ho as [E|E], Hu as [E'|E']; congruence.
  - intros i L. destruct (o_co (i_station I i) L). splits; auto.
    + intros Hi. apply K in Hi. rewrite Hi in L. auto.
    + intros u. split; intros Hu; [apply O in Hu; destruct Hu as [E|[E|E]]|apply F in Hu; destruct Hu as [E|E]]; rewrite E in L;
        auto.
  - intros t i g k E. assert (S := i_stands I t). rewrite E in S. simpl in S. tauto.
  - apply (i_stack I).
Qed.
