(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * reusehead.v - what a collector takes from a station as the header and the end of a coroutine is of that coroutine, whichever
 * threads it was spawned and ended on (reuse.v). Whoever sees a message of a station knows which generation it is of: `good`.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views reuse reusekept reuseowner.
Local Arguments Nat.mul : simpl never.
Local Arguments Nat.div : simpl never.
Local Arguments Nat.modulo : simpl never.

Section Proof.
Variable stations : nat.
Variable collector : tid.
Variable y : style.
Hypothesis owner : forall n, In n owner_needs -> y n = true.
Hypothesis head : forall n, In n head_needs -> y n = true.

Notation gen_of := (gen_of stations).
Notation inv := (inv stations).

(* Who has view w knows that station i has had coroutine g. *)
Definition knows_gen (m : mem loc) (w : view loc) (i g : nat) : Prop :=
  exists q a, nth_error (hist m (Tenure i)) q = Some a /\ q <= w (At (Tenure i)) /\ g <= gen_of (value a).
Definition has (m : mem loc) (l : loc) (n : nat) (v : val) : Prop := exists a, nth_error (hist m l) n = Some a /\ value a = v.

(* Of message number n of location l, which is a. *)
Definition good (m : mem loc) (x : world) (l : loc) (n : nat) (a : message loc) : Prop :=
  match l with
  | Tenure i => (forall q b, q <= n -> nth_error (hist m (Tenure i)) q = Some b -> gen_of (value b) <= gen_of (value a)) /\
      (3 * (gen_of (value a) - 1) <= with_ a (At (Dead i)) \/ 3 * (gen_of (value a) - 1) <= cur (thr m collector) (At (Dead i)))
  | Dead i => forall k, n = 3 * k + 1 \/ n = 3 * k + 2 -> S k <= with_ a (At (Header i)) /\ knows_gen m (with_ a) i (S k)
  | Header i => 1 <= n -> value a = header x i n /\ knows_gen m (with_ a) i n
  | Count i => 1 <= n -> value a = ended x i n /\ knows_gen m (with_ a) i n
  | Announce i => value a <> 0 -> 1 <= with_ a (At (Header i))
  | _ => True
  end.

Definition who (m : mem loc) (x : world) (i : nat) : Prop :=
  let of w := gen x i <= w (At (Header i)) /\ knows_gen m w i (gen x i) in
  match stat x i with
  | New t => knows_gen m (cur (thr m t)) i (gen x i)
  | Begun t | Live t | Dying t => of (cur (thr m t))
  | Loose => exists a, newest m (Hand i) a /\ of (with_ a)
  | _ => True
  end.

Definition reads (m : mem loc) (t : tid) (p : place) : Prop :=
  let w := cur (thr m t) in
  let ends i g d := d = 1 -> g <= w (At (Count i)) in
  match p with
  | Read i g | PutHeader i g _ => knows_gen m (rel (thr m t)) i g
  | HDead i g => t = collector /\ 3 * (g - 1) <= w (At (Dead i))
  | HAnnounce i g d => t = collector /\ (d < 2 -> (g <= w (At (Header i)) \/ g <= 1) /\ ends i g d)
  | HHeader i g d => t = collector /\ (d < 2 -> g <= w (At (Header i)) /\ ends i g d)
  | HEvents i g d f => t = collector /\ (g <> 0 -> d < 2 -> (has m (Header i) g f \/ knows_gen m (acq (thr m t)) i (S g)) /\ ends
    i g d)
  | HFence i g d f e => t = collector /\ (g <> 0 -> d < 2 ->
      (has m (Header i) g f \/ knows_gen m (acq (thr m t)) i (S g)) /\
      (d = 1 -> has m (Count i) g e \/ knows_gen m (acq (thr m t)) i (S g)))
  | HAgain i g d f e => t = collector /\ (g <> 0 -> d < 2 ->
      (has m (Header i) g f \/ knows_gen m w i (S g)) /\ (d = 1 -> has m (Count i) g e \/ knows_gen m w i (S g)))
  | Accepted i g d f e => g <> 0 /\ has m (Header i) g f /\ (d = 1 -> has m (Count i) g e)
  | _ => True
  end.

Record hinv (s : state loc place world) : Prop := Hinv {
  h_good : forall l n a, nth_error (hist (memory s) l) n = Some a -> good (memory s) (beside s) l n a;
  h_who : forall i, who (memory s) (beside s) i;
  h_reads : forall t, reads (memory s) t (where_ s t);
}.

(* --- what a step does not change -------------------------------------------------------------------------------------------- *)

Lemma nth_grows (m m' : mem loc) l n a : grows m m' -> nth_error (hist m l) n = Some a -> nth_error (hist m' l) n = Some a.
Proof.
  intros G H. destruct (g_hist _ _ G l) as [more ->]. rewrite nth_error_app1; auto. eapply nth_error_lt; eauto.
Qed.

Lemma nth_back (m m' : mem loc) l n a : grows m m' -> nth_error (hist m' l) n = Some a -> n < length (hist m l) -> nth_error (hist
  m l) n = Some a.
Proof. intros G H L. destruct (g_hist _ _ G l) as [more E]. rewrite E, nth_error_app1 in H; auto. Qed.

Lemma knows_gen_grows m m' w w' i g : grows m m' -> (forall k, w k <= w' k) -> knows_gen m w i g -> knows_gen m' w' i g.
Proof. intros G H (q & a & A & B & C). exists q, a. splits; eauto using nth_grows, Nat.le_trans. Qed.

Lemma has_grows m m' l n v : grows m m' -> has m l n v -> has m' l n v.
Proof. intros G (a & A & B). exists a. eauto using nth_grows. Qed.

Lemma reads_grows m m' t p : grows m m' -> reads m t p -> reads m' t p.
Proof.
  intros G. assert (C := fun k => g_cur _ _ G t k). assert (R := fun k => g_rel _ _ G t k). assert (Q := fun k => g_acq _ _ G t k).
  assert (L : forall n l, n <= cur (thr m t) l -> n <= cur (thr m' t) l) by eauto using Nat.le_trans.
  assert (HG := fun l n v => has_grows m m' l n v G). assert (KC := fun i g => knows_gen_grows _ _ _ _ i g G C).
  assert (KA := fun i g => knows_gen_grows _ _ _ _ i g G Q).
  destruct p; simpl; auto; try (apply knows_gen_grows; auto); intuition eauto.
Qed.

Lemma who_same m m' x x' i : grows m m' -> stat x' i = stat x i -> gen x' i = gen x i -> (stat x i = Loose -> hist m' (Hand i) =
  hist m (Hand i)) ->
  who m x i -> who m' x' i.
Proof.
  intros G E1 E2 H. assert (C := fun t k => g_cur _ _ G t k). unfold who. rewrite E1, E2.
  assert (K : forall t, gen x i <= cur (thr m t) (At (Header i)) /\ knows_gen m (cur (thr m t)) i (gen x i) ->
    gen x i <= cur (thr m' t) (At (Header i)) /\ knows_gen m' (cur (thr m' t)) i (gen x i)).
  { intros t [A B]. split; [eapply Nat.le_trans; [exact A|apply C]|]. eapply knows_gen_grows; [exact G|apply C|exact B]. }
  destruct (stat x i); auto.
  - apply knows_gen_grows; auto.
  - intros (a & A & B & D). exists a. splits; auto.
    + eapply newest_same; [apply H; auto|exact A].
    + eapply knows_gen_grows; [exact G|auto|exact D].
Qed.

Lemma good_same m m' x x' l n a : grows m m' -> nth_error (hist m l) n = Some a ->
  (forall i, l = Header i -> header x' i n = header x i n) -> (forall i, l = Count i -> ended x' i n = ended x i n) ->
  good m x l n a -> good m' x' l n a.
Proof.
  intros G H HB HE. assert (C := fun k => g_cur _ _ G collector k). assert (Q := nth_error_lt _ _ _ H).
  destruct l; simpl; auto.
  - intros [A B]. split.
    + intros q b L Hb. apply (A q b L). eapply nth_back; eauto. lia.
    + destruct B as [B|B]; [left; auto|right; eauto using Nat.le_trans].
  - intros A L. destruct (A L). rewrite HE by auto. split; auto. eapply knows_gen_grows; eauto.
  - intros A L. destruct (A L). rewrite HB by auto. split; auto. eapply knows_gen_grows; eauto.
  - intros A k K. destruct (A k K). split; auto. eapply knows_gen_grows; eauto.
Qed.

Lemma hframe m m' f t p x x' : hinv (State m f x) -> grows m m' ->
  (forall i n, n < length (hist m (Header i)) -> header x' i n = header x i n) ->
  (forall i n, n < length (hist m (Count i)) -> ended x' i n = ended x i n) ->
  (forall l n a, nth_error (hist m' l) n = Some a -> nth_error (hist m l) n = Some a \/ good m' x' l n a) ->
  (forall i, who m' x' i) -> reads m' t p -> hinv (State m' (upd f t p) x').
Proof.
  intros [A B C] G HB HE HN HW Hp. constructor; simpl in *; auto.
  - intros l n a H. destruct (HN l n a H) as [O|O]; auto. assert (Q := nth_error_lt _ _ _ O).
    apply good_same with m x; auto; intros i E; subst l; auto.
  - intros u. destruct (tid_cases f t p u) as [(-> & E)|(N & E)]; rewrite E; auto. eapply reads_grows; eauto.
Qed.

(* A step that stores nothing. *)
Lemma hstill m m' f t p x : hinv (State m f x) -> grows m m' -> (forall l, hist m' l = hist m l) -> reads m' t p ->
  hinv (State m' (upd f t p) x).
Proof.
  intros H G E Hp. eapply hframe; eauto.
  - intros l n a Hn. rewrite E in Hn. auto.
  - intros i. eapply who_same; eauto. apply (h_who _ H).
Qed.

(* One that stores to l, where the world changes at station i at most. *)
Lemma hstore m m' f t p x x' i l v w : hinv (State m f x) -> grows m m' -> hist m' l = hist m l ++ [Message v w] ->
  (forall l', l' <> l -> hist m' l' = hist m l') ->
  (forall j n, n < length (hist m (Header j)) -> header x' j n = header x j n) ->
  (forall j n, n < length (hist m (Count j)) -> ended x' j n = ended x j n) ->
  (forall j, j <> i -> stat x' j = stat x j /\ gen x' j = gen x j /\ l <> Hand j) ->
  good m' x' l (length (hist m l)) (Message v w) -> who m' x' i -> reads m' t p -> hinv (State m' (upd f t p) x').
Proof.
  intros H G HH HS HB HE HJ HN HW Hp. eapply hframe; eauto.
  - intros l' n a Hn. destruct (loc_eq l' l) as [->|N]; [|rewrite HS in Hn by auto; auto].
    rewrite HH in Hn. apply nth_app in Hn. destruct Hn as [Hn|[-> ->]]; auto.
  - intros j. destruct (Nat.eq_dec j i) as [->|N]; auto. destruct (HJ j N) as (E1 & E2 & E3).
    apply who_same with m x; auto. apply (h_who _ H).
Qed.

(* --- each step -------------------------------------------------------------------------------------------------------------- *)

Lemma own m m' t o l v w : appended m m' t o l v w -> grows m m' ->
  nth_error (hist m' l) (length (hist m l)) = Some (Message v w) /\ length (hist m l) <= cur (thr m' t) (At l).
Proof.
  intros (HH & _ & _ & _ & K) G. split; auto. rewrite HH, nth_error_app2, Nat.sub_diag by auto. reflexivity.
Qed.

(* What is stored with release knows what its thread knows. *)
Lemma carries m m' t o l v w i g : appended m m' t o l v w -> grows m m' -> is_rel o = true ->
  knows_gen m (cur (thr m t)) i g -> knows_gen m' w i g.
Proof. intros (_ & _ & R & _) G E K. eapply knows_gen_grows; [exact G|exact (R E)|exact K]. Qed.

Lemma need_owner n : In n owner_needs -> y n = true. Proof. apply owner. Qed.
Lemma need_head n : In n head_needs -> y n = true. Proof. apply head. Qed.
Ltac need := first [apply need_owner; simpl; tauto | apply need_head; simpl; tauto].

(* The newest tenure is of the newest generation. *)
Lemma newest_gen f m x i : inv (State m f x) -> forall q b,
  nth_error (hist m (Tenure i)) q = Some b -> gen_of (value b) <= gen x i.
Proof. intros I q b H. apply (o_tenures (i_station I i) _ _ H). Qed.

Lemma new_tenure f m m' x i a : inv (State m f x) -> hist m' (Tenure i) = hist m (Tenure i) ++ [a] -> gen x i <= gen_of (value a)
  ->
  forall q b, q <= length (hist m (Tenure i)) -> nth_error (hist m' (Tenure i)) q = Some b -> gen_of (value b) <= gen_of (value a).
Proof.
  intros I E L q b _ Hq. rewrite E in Hq. apply nth_app in Hq. destruct Hq as [Hq|[_ ->]]; auto.
  eapply Nat.le_trans; [eapply newest_gen; eauto|auto].
Qed.

(* The message is appended, and the world changes at station i at most. *)
Ltac stored A i := destruct A as (HH & HS & RE & RR & KK); eapply (hstore _ _ _ _ _ _ _ i); eauto; simpl; auto;
  try (intros j N; rewrite ?upd_other by auto; splits; auto; congruence).
Ltac at_i := unfold who; simpl; rewrite ?upd_same; auto.
Ltac memo m' := match goal with |- hinv (State ?m _ _) => set (m' := m) in * end; clearbody m'.

Lemma hkept : forall s s', inv s -> hinv s -> step (reuse stations collector y) s s' -> hinv s'.
Proof.
  intros s s' I H HS. destruct HS as [m f x t o v p x' m' Ht HD HM | m f x t p x' Ht HD | m f x c t Hin].
  - assert (Wf := i_wf I). simpl in Wf. assert (S := i_stands I t). assert (R := h_reads _ H t). simpl in S, R.
    remember (f t) as q eqn:Ef. symmetry in Ef. destruct (mstep_grows _ _ _ _ _ HM Wf) as [G W].
    assert (C := fun u k => g_cur _ _ G u k).
    destruct HD; lazymatch goal with HE : elsewhere _ |- _ => idtac | _ => inversion HM; subst; clear HM end;
      try (match goal with L : loadable _ _ _ _ _ |- _ => assert (LD := L); destruct L as [HL HL'] end);
      try (apply hstill with m; auto using hist_load; exact Logic.I; fail).
    + (* new *) destruct (rmw_appended m t Rlx Used g (Datatypes.S (value g)) Wf) as (w & A & _). memo m'. stored A (value g).
        at_i.
    + (* pop *) destruct (rmw_appended m t (acquire (y PopAcq)) Top g (top stations y (value g) n) Wf) as (w & A & _). memo m'.
      stored A (pred (index stations (value g))). at_i.
    + (* name *) destruct S as (S1 & (S2 & S3 & S4) & S5).
      destruct (store_appended m t (release (y BirthRel)) (Tenure i) (tenure stations g (OWNED stations)) Wf) as (w & A). memo m'.
      destruct (own _ _ _ _ _ _ _ A G) as [N1 N2]. destruct (tenure_is stations g (OWNED stations) (le_n _)) as [V1 V2].
      assert (B : y BirthRel = true) by need. rewrite B in *. stored A i.
      * rewrite V1. split; [intros q b L Hq; rewrite <- V1; apply (new_tenure f m m' x i _ I HH) with q; auto; simpl; rewrite V1;
          lia|].
        left. specialize (RE eq_refl (At (Dead i))). lia.
      * at_i. eexists _, _. split; [exact N1|]. split; auto. simpl. rewrite V1. lia.
    + (* fence *) apply hstill with m; auto. simpl. rewrite upd_same. simpl. destruct S as (S1 & S2 & _).
      assert (K := h_who _ H i). unfold who in K. simpl in K. rewrite S1, <- S2 in K. exact K.
    + (* read *) apply hstill with m; auto using hist_load. exact (reads_grows _ _ _ (Read i g) G R).
    + (* first *) destruct S as (S1 & S2 & S3). assert (K := h_who _ H i). unfold who in K. simpl in K. rewrite S1 in K.
      assert (OF := o_header (i_station I i)). assert (OG := o_gen (i_station I i)). simpl in OF, OG. rewrite S1 in OF, OG.
        simpl in OF.
      destruct (store_appended m t Rlx (Header i) v Wf) as (w & A). memo m'. stored A i.
      * intros j n L. destruct (Nat.eq_dec j i) as [->|N]; [|rewrite upd_other; auto]. rewrite upd_same, upd_other; auto. lia.
      * intros _. rewrite upd_same. replace (length (hist m (Header i))) with (gen x i) by lia. rewrite upd_same. split; auto.
        rewrite <- S2. eapply knows_gen_grows; [exact G|exact RR|exact R].
      * at_i. split; [lia|]. eapply knows_gen_grows; [exact G|apply C|exact K].
    + (* announce *) destruct S as (S1 & S2 & S3). assert (K := h_who _ H i). assert (K' := K). unfold who in K. simpl in K.
        rewrite S1 in K.
      assert (OG := o_gen (i_station I i)). simpl in OG. rewrite S1 in OG.
      destruct (store_appended m t (release (y AnnounceRel)) (Announce i) 1 Wf) as (w & A). memo m'.
      assert (B : y AnnounceRel = true) by need. rewrite B in *. stored A i.
      * intros _. specialize (RE eq_refl (At (Header i))). lia.
      * apply who_same with m x; auto. intros _. apply HS. discriminate.
    + (* open *) destruct S as (S1 & S2 & S3). assert (K := h_who _ H i). unfold who in K. simpl in K. rewrite S1 in K.
        destruct K as [K1 K2].
      assert (OD := o_dead (i_station I i)). assert (OG := o_gen (i_station I i)). simpl in OD, OG. rewrite S1 in OD, OG.
        simpl in OD.
      destruct (store_appended m t (release (y OpenRel)) (Dead i) 0 Wf) as (w & A). memo m'.
      assert (B : y OpenRel = true) by need. rewrite B in *. stored A i.
      * intros k0 L. assert (Datatypes.S k0 = gen x i) as -> by lia. split; [eapply Nat.le_trans; [exact K1|apply RE; auto]|].
        eapply knows_gen_grows; [exact G|exact (RE eq_refl)|exact K2].
      * at_i. split; [eapply Nat.le_trans; [exact K1|apply C]|]. eapply knows_gen_grows; [exact G|apply C|exact K2].
    + (* give *) match goal with Q : stat x i = _ |- _ => rename Q into S1 end.
      assert (K := h_who _ H i). unfold who in K. simpl in K. rewrite S1 in K. destruct K as [K1 K2].
      destruct (store_appended m t Rel (Hand i) 1 Wf) as (w & A). memo m'. stored A i. at_i.
      eexists. split; [eapply newest_app; eauto|]. simpl. split; [eapply Nat.le_trans; [exact K1|apply RE; auto]|].
      eapply knows_gen_grows; [exact G|exact (RE eq_refl)|exact K2].
    + (* take *) match goal with Q : stat x i = _ |- _ => rename Q into S1 end.
      assert (K := h_who _ H i). unfold who in K. simpl in K. rewrite S1 in K. destruct K as (h & K0 & K1 & K2).
      match goal with Q : newest m (Hand i) g |- _ => rewrite (newest_one _ _ _ _ K0 Q) in * end.
      destruct (rmw_appended m t Acq (Hand i) g 0 Wf) as (w & A & _ & AC). memo m'. specialize (AC eq_refl). stored A i. at_i.
      split; [eapply Nat.le_trans; [exact K1|apply AC]|]. eapply knows_gen_grows; [exact G|exact AC|exact K2].
    + (* count *) match goal with Q : stat x i = _ |- _ => rename Q into S1 end.
      assert (K := h_who _ H i). unfold who in K. simpl in K. rewrite S1 in K. destruct K as [K1 K2].
      assert (OC := o_count (i_station I i)). assert (OG := o_gen (i_station I i)). simpl in OC, OG. rewrite S1 in OC, OG.
        simpl in OC.
      destruct (store_appended m t (release (y CountRel)) (Count i) (events_ x i) Wf) as (w & A). memo m'.
      assert (B : y CountRel = true) by need. rewrite B in *. stored A i.
      * intros j n L. destruct (Nat.eq_dec j i) as [->|N]; [|rewrite upd_other; auto]. rewrite upd_same, upd_other; auto. lia.
      * intros _. rewrite upd_same. replace (length (hist m (Count i))) with (gen x i) by lia. rewrite upd_same. split; auto.
        eapply knows_gen_grows; [exact G|exact (RE eq_refl)|exact K2].
      * at_i. split; [eapply Nat.le_trans; [exact K1|apply C]|]. eapply knows_gen_grows; [exact G|apply C|exact K2].
    + (* dead *) match goal with Q : stat x i = _ |- _ => rename Q into S1 end.
      assert (K := h_who _ H i). unfold who in K. simpl in K. rewrite S1 in K. destruct K as [K1 K2].
      assert (OD := o_dead (i_station I i)). assert (OG := o_gen (i_station I i)). simpl in OD, OG. rewrite S1 in OD, OG.
        simpl in OD.
      destruct (store_appended m t (release (y DeadRel)) (Dead i) 1 Wf) as (w & A). memo m'.
      assert (B : y DeadRel = true) by need. rewrite B in *. stored A i.
      * intros k0 L. assert (Datatypes.S k0 = gen x i) as -> by lia. split; [eapply Nat.le_trans; [exact K1|apply RE; auto]|].
        eapply knows_gen_grows; [exact G|exact (RE eq_refl)|exact K2].
      * at_i.
    + (* tell *) destruct (store_appended m t (release (y TellRel)) (Said i) g Wf) as (w & A). memo m'. stored A i.
      apply who_same with m x; auto; [intros _; apply HS; discriminate|apply (h_who _ H)].
    + (* told *) destruct (store_appended m t (release (y TellRel)) (Said i) (ref_ x i) Wf) as (w & A). memo m'. stored A i.
      apply who_same with m x; auto; [intros _; apply HS; discriminate|apply (h_who _ H)].
    + (* win *) match goal with Q : newest m (Tenure i) g0 |- _ => rename Q into HN end.
      match goal with Q : value g0 = tenure stations _ _ |- _ => rename Q into V end.
      assert (FL : first_or c 0 <= stations).
      { destruct S as (((_ & S2 & _) & _) & _). eapply first_le; [exact I|]. intros j Hj. destruct (S2 j Hj). congruence. }
      destruct (tenure_is stations g' (OWNED stations) (le_n _)) as [V1 _].
      destruct (tenure_is stations g' (first_or c 0)) as [V3 _]; [unfold OWNED; lia|].
      assert (GG := h_good _ H _ _ _ HN). simpl in GG. destruct GG as [_ GG]. rewrite V, V1 in GG.
      destruct (o_tenure (i_station I i)) as (h & N1 & N2 & _). simpl in N1, N2. rewrite (newest_one _ _ _ _ N1 HN), V, V1 in N2.
      destruct (rmw_appended m t Rlx (Tenure i) g0 (tenure stations g' (first_or c 0)) Wf) as (w & A & WG & _). memo m'.
        stored A i; [|at_i].
      rewrite V3. split.
      * intros q b L Hq. rewrite <- V3. apply (new_tenure f m m' x i _ I HH) with q; auto. simpl. rewrite V3. lia.
      * destruct GG as [GG|GG]; [left|right]; eapply Nat.le_trans; eauto.
    + (* mark *) destruct S as (_ & _ & _ & _ & S1 & _).
      assert (OD := o_dead (i_station I i)). assert (OG := o_gen (i_station I i)). simpl in OD, OG. rewrite S1 in OD, OG.
        simpl in OD.
      destruct (store_appended m t Rlx (Dead i) 2 Wf) as (w & A). memo m'. stored A i; [intros; lia|at_i].
    + (* link *) destruct S as (((_ & S2 & S3) & _) & S5). specialize (S3 S5). destruct (S2 _ (in_last c S5)) as [S6 (_ & _ & S7)].
      assert (IL := index_le stations v). destruct (tenure_is stations lg (index stations v)) as [V1 _]; [unfold OWNED; lia|].
      remember (last c 0) as i. remember (release (y LinkRel && negb (t =? collector))) as o.
      destruct (store_appended m t o (Tenure i) (tenure stations lg (index stations v)) Wf) as (w & A). memo m'. stored A i.
      * rewrite V1. split; [intros q b L Hq; rewrite <- V1; apply (new_tenure f m m' x i _ I HH) with q; auto; simpl; rewrite V1;
          lia|].
        assert (B : y LinkRel = true) by need. rewrite B in Heqo. destruct (Nat.eqb_spec t collector) as [->|N].
        -- right. specialize (C collector (At (Dead i))). lia.
        -- left. subst o. specialize (RE eq_refl (At (Dead i))). lia.
      * apply who_same with m x; auto; [intros _; apply HS; discriminate|apply (h_who _ H)].
    + (* push *) destruct (rmw_appended m t (release (y PushRel)) Top g (top stations y (value g) (first_or c 0)) Wf) as (w & A &
        _). memo m'.
      destruct A as (HH & HS & _). eapply hframe; eauto; simpl; auto.
      * intros l n a Hn. destruct (loc_eq l Top) as [->|N]; [|rewrite HS in Hn by auto; auto]. simpl. auto.
      * intros j. unfold who. simpl. destruct (existsb (Nat.eqb j) c); auto.
        apply (who_same m m' x x j); auto; [intros _; apply HS; discriminate|apply (h_who _ H)].
    + (* generation *) apply hstill with m; auto using hist_load. split; auto.
      assert (B : y HeadAcq = true) by need. rewrite B in *. destruct (h_good _ H _ _ _ HL) as [_ [K|K]]; simpl in K.
      * eapply Nat.le_trans; [exact K|]. apply load_acquires. auto.
      * eapply Nat.le_trans; [exact K|apply C].
    + (* is_dead *) apply hstill with m; auto using hist_load. destruct R as [R1 R2]. split; auto. intros L.
      assert (B : y HeadDeadAcq = true) by need. rewrite B in *. change (acquire true) with Acq in *.
        destruct (o_deads (i_station I i) _ _ HL) as (D0 & D1 & D2 & D3).
      assert (P := fun l => load_acquires m t false Acq (Dead i) i0 g0 (At l) eq_refl). assert (GG := h_good _ H _ _ _ HL).
        simpl in GG, HL'.
      assert (Z : i0 = 0 \/ exists k, i0 = 3 * k + 1 \/ i0 = 3 * k + 2 \/ i0 = 3 * k + 3).
      { destruct i0 as [|z]; auto. right. exists (z / 3). assert (Q := Nat.div_mod z 3 ltac:(lia)).
        assert (Q' := Nat.mod_upper_bound z 3 ltac:(lia)). lia. }
      destruct Z as [->|(k & [->|[->| ->]])].
      * rewrite (D0 eq_refl). split; [right; lia|discriminate].
      * rewrite (D1 k eq_refl) in *. split; [left|discriminate]. destruct (GG k (or_introl eq_refl)). specialize (P (Header i)).
          lia.
      * destruct (D2 k eq_refl) as [-> Q]. destruct (GG k (or_intror eq_refl)).
        assert (P1 := P (Header i)). assert (P2 := P (Count i)). split; [left; lia|intros _; lia].
      * rewrite (D3 k eq_refl) in L. lia.
    + (* announce *) apply hstill with m; auto using hist_load. destruct R as [R1 R2]. split; auto. intros L.
        destruct (R2 L) as [R3 R4].
      assert (B : y HeadAnnounceAcq = true) by need. rewrite B in *. change (acquire true) with Acq in *.
        assert (B' : y HeadAnnounced = true) by need.
      match goal with Q : y HeadAnnounced = true -> _ |- _ => specialize (Q B'); assert (GG := h_good _ H _ _ _ HL Q) end.
      assert (P := load_acquires m t false Acq (Announce i) i0 g0 (At (Header i)) eq_refl).
      assert (C1 := C t (At (Header i))). assert (C2 := C t (At (Count i))). split; [|intros E; specialize (R4 E)]; lia.
    + (* first *) apply hstill with m; auto using hist_load. destruct R as [R1 R2]. split; auto. intros N L.
        destruct (R2 L) as [R3 R4].
      split; [|intros E; specialize (R4 E); specialize (C t (At (Count i))); lia]. simpl in HL'.
      destruct (Nat.eq_dec i0 g) as [->|N0]; [left; exists g0; rewrite hist_load; auto|right].
      destruct (h_good _ H _ _ _ HL ltac:(lia)) as [_ (q & a & K1 & K2 & K3)]. exists q, a. rewrite hist_load. splits; auto;
        [|lia].
      eapply Nat.le_trans; [exact K2|apply load_keeps].
    + (* events *) apply hstill with m; auto using hist_load. destruct R as [R1 R2]. split; auto. intros N L.
        destruct (R2 N L) as [R3 R4].
      assert (Q := fun k => g_acq _ _ G t k). split.
      * destruct R3 as [R3|R3]; [left; eapply has_grows; eauto|right; eapply knows_gen_grows; [exact G|exact Q|exact R3]].
      * intros E. specialize (R4 E). simpl in HL'. destruct (Nat.eq_dec i0 g) as [->|N0]; [left; exists g0; rewrite hist_load;
          auto|right].
        destruct (h_good _ H _ _ _ HL ltac:(lia)) as [_ (q & a & K1 & K2 & K3)]. exists q, a. rewrite hist_load. splits; auto;
          [|lia].
        eapply Nat.le_trans; [exact K2|apply load_keeps].
    + (* fence *) apply hstill with m; auto. destruct R as [R1 R2]. split; auto. intros N L. destruct (R2 N L) as [R3 R4].
      simpl. rewrite upd_same. simpl. split; auto.
    + (* again *) apply hstill with m; auto using hist_load. destruct R as [R1 R2]. simpl in HL'.
      assert (B : y HeadLives = true) by need. assert (B' : y HeadAgain = true) by need.
      assert (NK : ~ knows_gen m (cur (thr m t)) i (Datatypes.S g)).
      { intros (q & a & K1 & K2 & K3). destruct (h_good _ H _ _ _ HL) as [GG _]. simpl in GG. specialize (GG q a ltac:(lia) K1).
        match goal with Q : y HeadAgain = true -> _ |- _ => specialize (Q B') end. lia. }
      match goal with Q : y HeadLives = true -> _ |- _ => specialize (Q B) end. destruct (R2 ltac:(auto) ltac:(auto)) as [R3 R4].
      assert (R5 : forall l n v, has m l n v -> has (load m t false Rlx (Tenure i) i0 g0) l n v) by (intros; eapply has_grows;
        eauto).
      simpl. splits; auto.
      * destruct R3 as [R3|R3]; [auto|tauto].
      * intros E. destruct (R4 E) as [R6|R6]; [auto|tauto].
    + (* elsewhere *) assert (E' : forall l, (forall n, l <> Other n) -> hist m' l = hist m l).
      { intros l Hl. eapply mstep_elsewhere; eauto. intros Q. destruct o; simpl in *; inversion Q; subst; try tauto; destruct l;
        try tauto; eapply Hl; eauto. }
      eapply hframe; eauto.
      * intros l n a Hn. destruct l; try (rewrite E' in Hn by discriminate; auto). right. exact Logic.I.
      * intros i. apply who_same with m x; auto; [intros _; apply E'; discriminate|apply (h_who _ H)].
      * eapply reads_grows; eauto.
  - assert (S := i_stands I t). assert (R := h_reads _ H t). simpl in S, R.
    remember (f t) as q eqn:Ef. symmetry in Ef. destruct HD; try (apply hstill with m; auto using grows_refl; exact Logic.I; fail).
    + (* event *) eapply hframe; eauto using grows_refl; simpl; auto.
      intros i0. assert (K := h_who _ H i0). exact K.
    + assert (B : y BirthFence = true) by need. congruence.
    + assert (B : y HeadFence = true) by need. congruence.
  - assert (Wf := i_wf I). simpl in Wf. destruct (reaches_grows m c t Wf) as [G W].
    assert (H' : hinv (State (barrier_reaches m c t) (upd f t (f t)) x)).
    { apply hstill with m; auto. eapply reads_grows; eauto. apply (h_reads _ H). }
    destruct H'. simpl in *. constructor; simpl; auto. intros u. specialize (h_reads0 u). rewrite upd_self in h_reads0. auto.
Qed.

Lemma hbegins n registered junk : hinv (initial n registered junk).
Proof.
  constructor; simpl; auto; [|intros i; exact Logic.I].
  intros l [|q] a; simpl; [|destruct q; discriminate]. intros E. inversion E; subst. destruct l; simpl; auto; try lia.
  unfold reuse.gen_of. rewrite Nat.div_0_l by lia. split; [|left; lia].
  intros [|q] b _; simpl; [|destruct q; discriminate]. intros E'. inversion E'. simpl. rewrite Nat.div_0_l by lia. auto.
Qed.

Lemma hholds n registered junk s : steps (reuse stations collector y) (initial n registered junk) s -> inv s /\ hinv s.
Proof.
  apply (always (reuse stations collector y) (initial n registered junk) (fun s => inv s /\ hinv s)).
  - split; [apply begins|apply hbegins].
  - intros s0 s1 [I H] HS. split; [exact (kept stations collector y owner _ _ I HS)|exact (hkept _ _ I H HS)].
Qed.
End Proof.

(* --- the theorem ------------------------------------------------------------------------------------------------------------ *)

Theorem header_is_its_own stations collector y threads registered junk s :
  (forall n, In n owner_needs -> y n = true) -> (forall n, In n head_needs -> y n = true) ->
  steps (reuse stations collector y) (initial threads registered junk) s ->
  own_header s.
Proof.
  intros HO HH HS. destruct (hholds stations collector y HO HH _ _ _ _ HS) as [I H].
  intros t i g d h e E. assert (R := h_reads _ _ _ H t). rewrite E in R. simpl in R. destruct R as (R1 & (a & R2 & R3) & R4).
  destruct (h_good _ _ _ H _ _ _ R2 ltac:(lia)) as [V (q & b & Q1 & _ & Q3)]. splits; try lia.
  - destruct (o_tenures (i_station I i) _ _ Q1). lia.
  - intros D. destruct (R4 D) as (c & A & B). destruct (h_good _ _ _ H _ _ _ A ltac:(lia)) as [V' _]. congruence.
Qed.
