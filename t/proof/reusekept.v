(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * reusekept.v - what holds always of the steps of reuse.v, and what a step does not change of it.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views reuse.
Local Arguments Nat.mul : simpl never.
Local Arguments Nat.div : simpl never.
Local Arguments Nat.modulo : simpl never.

Ltac splits := repeat match goal with |- _ /\ _ => split end.

(* --- histories -------------------------------------------------------------------------------------------------------------- *)

Definition last_at (m : mem loc) (l : loc) := pred (length (hist m l)).
Definition last_is (m : mem loc) (l : loc) (v : val) : Prop := exists g, newest m l g /\ value g = v.

Lemma nth_app {A} (h : list A) a n b : nth_error (h ++ [a]) n = Some b -> nth_error h n = Some b \/ n = length h /\ b = a.
Proof.
  intros E. destruct (Nat.lt_ge_cases n (length h)) as [L|L].
  - rewrite nth_error_app1 in E by auto. auto.
  - rewrite nth_error_app2 in E by auto. destruct (n - length h) eqn:Z; [|destruct n0; discriminate].
    simpl in E. inversion E. right. split; auto. lia.
Qed.

Lemma last_same (m m' : mem loc) l : hist m' l = hist m l -> last_at m' l = last_at m l.
Proof. unfold last_at. intros ->. auto. Qed.
Lemma is_same (m m' : mem loc) l v : hist m' l = hist m l -> last_is m l v -> last_is m' l v.
Proof. unfold last_is, newest. intros ->. auto. Qed.
Lemma newest_same (m m' : mem loc) l g : hist m' l = hist m l -> newest m l g -> newest m' l g.
Proof. unfold newest. intros ->. auto. Qed.
Lemma newest_app (m m' : mem loc) l g : hist m' l = hist m l ++ [g] -> newest m' l g.
Proof.
  unfold newest. intros ->. rewrite app_length. simpl. rewrite nth_error_app2 by lia.
  replace (pred (length (hist m l) + 1) - length (hist m l)) with 0 by lia. reflexivity.
Qed.
Lemma is_app (m m' : mem loc) l v w : hist m' l = hist m l ++ [Message v w] -> last_is m' l v.
Proof. intros H. eexists. split; [eapply newest_app; eauto|]. reflexivity. Qed.
Lemma last_app (m m' : mem loc) l g : hist m' l = hist m l ++ [g] -> last_at m' l = length (hist m l).
Proof. unfold last_at. intros ->. rewrite app_length. simpl. lia. Qed.
Lemma length_app (m m' : mem loc) l g : hist m' l = hist m l ++ [g] -> length (hist m' l) = S (length (hist m l)).
Proof. intros ->. rewrite app_length. simpl. lia. Qed.
Lemma newest_one (m : mem loc) l a b : newest m l a -> newest m l b -> a = b.
Proof. unfold newest. congruence. Qed.

(* The newest message is what a thread loads that knows of it. *)
Lemma loads_newest (m : mem loc) t l i g : loadable m t l i g -> last_at m l <= cur (thr m t) (At l) -> newest m l g.
Proof.
  intros [L C] K. unfold last_at in K. assert (Q := nth_error_lt _ _ _ L). unfold newest.
  replace (pred (length (hist m l))) with i by lia. auto.
Qed.

(* What a store and a read-modify-write leave. *)
Definition appended (m m' : mem loc) (t : tid) (o : order) (l : loc) (v : val) (w : view loc) : Prop :=
  hist m' l = hist m l ++ [Message v w] /\ (forall l', l' <> l -> hist m' l' = hist m l') /\
  (is_rel o = true -> forall k, cur (thr m t) k <= w k) /\ (forall k, rel (thr m t) k <= w k) /\
  length (hist m l) <= cur (thr m' t) (At l).

Lemma store_appended m t o l v : wf m -> exists w, appended m (store m t false o l v) t o l v w.
Proof.
  intros W. eexists. unfold appended. splits.
  - apply store_hist.
  - intros. simpl. apply upd_other. congruence.
  - intros -> k. apply touch_cur.
  - intros k. destruct (is_rel o) eqn:E; unfold join; try lia.
    assert (T := touch_cur m t l (length (hist m l)) k). specialize (W t k). lia.
  - apply store_knows.
Qed.

Lemma rmw_appended m t o l g v : wf m -> exists w, appended m (rmw m t o l g v) t o l v w /\ (forall k, with_ g k <= w k) /\
  (is_acq o = true -> forall k, with_ g k <= cur (thr (rmw m t o l g v) t) k).
Proof.
  intros W. eexists. unfold appended. splits.
  - simpl. apply upd_same.
  - intros. simpl. apply upd_other. congruence.
  - intros E k. rewrite E. simpl. assert (T := touch_cur m t l (length (hist m l)) k). destruct (is_acq o); unfold join; lia.
  - intros k. assert (T := touch_cur m t l (length (hist m l)) k). specialize (W t k).
    destruct (is_rel o), (is_acq o); unfold join; lia.
  - simpl. rewrite upd_same. simpl. assert (T := touch_at m t l (length (hist m l))). destruct (is_acq o); unfold join; lia.
  - intros k. apply join_r.
  - intros E k. simpl. rewrite upd_same. simpl. rewrite E. apply join_r.
Qed.

(* --- tenures ---------------------------------------------------------------------------------------------------------------- *)

Lemma tenure_is stations g l : l <= OWNED stations -> gen_of stations (tenure stations g l) = g /\ link_of stations (tenure
  stations g l) = l.
Proof.
  intros H. unfold gen_of, link_of, tenure. split; symmetry; [apply Nat.div_unique with l | apply Nat.mod_unique with g]; lia.
Qed.

Lemma tenure_eq stations v : v = tenure stations (gen_of stations v) (link_of stations v).
Proof. unfold gen_of, link_of, tenure. rewrite Nat.mul_comm. apply Nat.div_mod. lia. Qed.

Lemma upd_self {B} (f : tid -> B) (t u : tid) : upd f t (f t) u = f u.
Proof. unfold upd. destruct (eq_dec t u); subst; auto. Qed.
Lemma upd_cases {B} (f : nat -> B) t b u : u = t /\ upd f t b u = b \/ u <> t /\ upd f t b u = f u.
Proof. unfold upd. destruct (eq_dec t u); auto. Qed.

Lemma tid_cases {B} (f : tid -> B) t b u : u = t /\ upd f t b u = b \/ u <> t /\ upd f t b u = f u.
Proof. unfold upd. destruct (eq_dec t u); auto. Qed.

(* --- what holds always ------------------------------------------------------------------------------------------------------ *)

(* The link of the station says that a coroutine has it. *)
Definition owned (s : status) : Prop := match s with New _ | Begun _ | Live _ | Loose | Dying _ | Ended => True | _ => False end.
(* Thread t counts on it that nobody else changes the station. *)
Definition holds (t : tid) (s : status) : Prop := s = Born t \/ s = New t \/ s = Begun t \/ s = Won t \/ s = Chain t.

(* Of how many coroutines there are messages, of events and of the header; and how many messages there are of is_dead. *)
Definition ncount (s : status) (g : nat) := match s with New _ | Begun _ | Live _ | Loose => g - 1 | _ => g end.
Definition nheader (s : status) (g : nat) := match s with New _ => g - 1 | _ => g end.
Definition ndead (s : status) (g : nat) :=
  match s with
  | New _ | Begun _ => 3 * (g - 1)
  | Live _ | Loose | Dying _ => 3 * (g - 1) + 1
  | Ended | Won _ => 3 * (g - 1) + 2
  | _ => 3 * g
  end.

(* Who has view w, and takes the station for one of generation g, knows that the former coroutine has ended, and more. *)
Definition sees (x : world) (w : view loc) (i g : nat) : Prop :=
  g <= gen x i /\ (g = gen x i -> owned (stat x i) -> 3 * (g - 1) <= w (At (Dead i))).
(* Who has it may try to free that generation. *)
Definition may_win (x : world) (w : view loc) (i g : nat) : Prop :=
  g <= gen x i /\ (g = gen x i -> owned (stat x i) -> stat x i = Ended /\ g <= w (At (Count i))).
(* It knows all of a station whose coroutine has ended. *)
Definition knows (m : mem loc) (x : world) (w : view loc) (i : nat) : Prop :=
  last_at m (Tenure i) <= w (At (Tenure i)) /\ gen x i <= w (At (Count i)) /\ 3 * gen x i <= w (At (Dead i)).

Section Proof.
Variable stations : nat.

Notation tag := (tag stations).
Notation index := (index stations).
Notation OWNED := (OWNED stations).
Notation tenure := (tenure stations).
Notation gen_of := (gen_of stations).
Notation link_of := (link_of stations).

Lemma index_le v : index v <= stations.
Proof. unfold reuse.index. assert (H := Nat.mod_upper_bound v (S stations)). lia. Qed.

Record station_ok (m : mem loc) (x : world) (i : nat) : Prop := StationOk {
  o_count : length (hist m (Count i)) = S (ncount (stat x i) (gen x i));
  o_header : length (hist m (Header i)) = S (nheader (stat x i) (gen x i));
  o_dead : length (hist m (Dead i)) = S (ndead (stat x i) (gen x i));
  o_deads : forall n g, nth_error (hist m (Dead i)) n = Some g ->
    (n = 0 -> value g = 0) /\ (forall k, n = 3 * k + 1 -> value g = 0) /\
    (forall k, n = 3 * k + 2 -> value g = 1 /\ S k <= with_ g (At (Count i))) /\ (forall k, n = 3 * k + 3 -> value g = 2);
  o_tenures : forall n g, nth_error (hist m (Tenure i)) n = Some g -> sees x (with_ g) i (gen_of (value g));
  o_said : forall n g, nth_error (hist m (Said i)) n = Some g -> sees x (with_ g) i (value g);
  o_tenure : exists g, newest m (Tenure i) g /\ gen_of (value g) = gen x i /\ (link_of (value g) = OWNED <-> owned (stat x i));
  o_total : match stat x i with Live _ | Loose => True | _ => last_is m (Count i) (total x i) end;
  o_co : lives (stat x i) -> events_ x i = total x i /\ ref_ x i = gen x i;
  o_gen : match stat x i with Fresh => gen x i = 0 /\ length (hist m (Tenure i)) = 1 | Born _ => True | _ => 1 <= gen x i end;
  o_who : match stat x i with
          | Live t => 3 * (gen x i - 1) <= cur (thr m t) (At (Dead i))
          | Loose => exists g, newest m (Hand i) g /\ 3 * (gen x i - 1) <= with_ g (At (Dead i))
          | Dying t => gen x i <= cur (thr m t) (At (Count i))
          | _ => True
          end;
}.

Fixpoint linked (m : mem loc) (x : world) (c : list nat) (e : nat) : Prop :=
  match c with [] => True | i :: r => last_is m (Tenure i) (tenure (gen x i) (first_or r e)) /\ linked m x r e end.

Definition chain (m : mem loc) (x : world) (t : tid) (c : list nat) (lg : nat) : Prop :=
  NoDup c /\ (forall j, In j c -> stat x j = Chain t /\ knows m x (cur (thr m t)) j) /\ (c <> [] -> lg = gen x (last c 0)).

Definition stands (m : mem loc) (x : world) (t : tid) (p : place) : Prop :=
  let w := cur (thr m t) in
  let now v := tag v = last_at m Top in
  match p with
  | Has c lg => chain m x t c lg /\ exists e, linked m x c e
  | See c lg i g => (chain m x t c lg /\ exists e, linked m x c e) /\ sees x w i g
  | Win c lg i g => (chain m x t c lg /\ exists e, linked m x c e) /\ may_win x w i g
  | Mark c lg i g => NoDup c /\ (forall j, In j c -> stat x j = Chain t /\ knows m x w j) /\
      (lg = match c with [] => g | _ => gen x (last c 0) end) /\ (exists e, linked m x c e) /\
      stat x i = Won t /\ g = gen x i /\ g <= w (At (Count i)) /\ last_at m (Tenure i) <= w (At (Tenure i)) /\
      last_is m (Tenure i) (tenure g (first_or c 0))
  | Link c lg v => (chain m x t c lg /\ exists e, linked m x c e) /\ c <> []
  | Push c lg v => chain m x t c lg /\ linked m x c (index v) /\ c <> []
  | Tell i g => sees x w i g /\ may_win x w i g
  | PopNext v => index v <> 0 /\ tag v < length (hist m Top) /\
      (now v -> index v = first_or (stack x) 0 /\ forall j, In j (stack x) -> knows m x w j)
  | PopCas v n => index v <> 0 /\ tag v < length (hist m Top) /\
      (now v -> index v = first_or (stack x) 0 /\ n = first_or (tl (stack x)) 0 /\ forall j, In j (stack x) -> knows m x w j)
  | Number i => stat x i = Born t /\ knows m x w i
  | Name i g => stat x i = Born t /\ knows m x w i /\ g = S (gen x i)
  | Fence i g | Read i g => stat x i = New t /\ g = gen x i /\ gen x i - 1 <= w (At (Count i))
  | PutHeader i g k => stat x i = New t /\ g = gen x i /\ k = total x i
  | PutAnnounce i g k | Open i g k => stat x i = Begun t /\ g = gen x i /\ k = total x i
  | _ => True
  end.

Record inv (s : state loc place world) : Prop := Inv {
  i_wf : wf (memory s);
  i_some : forall l, hist (memory s) l <> [];
  i_top : forall n g, nth_error (hist (memory s) Top) n = Some g -> tag (value g) = n;
  i_first : exists g, newest (memory s) Top g /\ index (value g) = first_or (stack (beside s)) 0 /\
    forall j, In j (stack (beside s)) -> knows (memory s) (beside s) (with_ g) j;
  i_stack : NoDup (stack (beside s)) /\ forall j, In j (stack (beside s)) <-> stat (beside s) j = Free;
  i_linked : linked (memory s) (beside s) (stack (beside s)) 0;
  i_used : exists g, newest (memory s) Used g /\ forall j, stat (beside s) j = Fresh <-> value g <= j \/ stations <= j;
  i_right : wrong (beside s) = false;
  i_station : forall i, station_ok (memory s) (beside s) i;
  i_stands : forall t, stands (memory s) (beside s) t (where_ s t);
}.

(* --- what a step does not change -------------------------------------------------------------------------------------------- *)

Definition of_station (i : nat) (l : loc) : Prop :=
  match l with Tenure j | Count j | Header j | Announce j | Dead j | Hand j | Said j => j = i | _ => False end.

(* Of station j, so far as another thread counts on it. *)
Definition same (m m' : mem loc) (x x' : world) (j : nat) : Prop :=
  hist m' (Tenure j) = hist m (Tenure j) /\ stat x' j = stat x j /\ gen x' j = gen x j /\ total x' j = total x j.
(* A station goes on: generations are counted up, and no coroutine has the station of one that has ended, but of a new generation.
  *)
Definition goes_on (x x' : world) (j : nat) : Prop :=
  gen x j <= gen x' j /\ (gen x' j = gen x j -> owned (stat x' j) -> owned (stat x j) /\ (stat x j = Ended -> stat x' j = Ended)).

Lemma knows_same m m' x x' w w' j : same m m' x x' j -> (forall k, w k <= w' k) -> knows m x w j -> knows m' x' w' j.
Proof.
  intros (A & B & C & D) H (K1 & K2 & K3). unfold knows. rewrite (last_same _ _ _ A), C.
  splits; eauto using Nat.le_trans.
Qed.

Lemma sees_on x x' w w' i g : goes_on x x' i -> (forall k, w k <= w' k) -> sees x w i g -> sees x' w' i g.
Proof.
  intros [A B] H [C D]. split; [lia|]. intros E O. assert (gen x' i = gen x i) by lia. destruct (B H0 O) as [P _].
  eapply Nat.le_trans; [apply D; auto; lia|apply H].
Qed.

Lemma wins_on x x' w w' i g : goes_on x x' i -> (forall k, w k <= w' k) -> may_win x w i g -> may_win x' w' i g.
Proof.
  intros [A B] H [C D]. split; [lia|]. intros E O. assert (gen x' i = gen x i) by lia. destruct (B H0 O) as [P Q].
  destruct (D ltac:(lia) P). split; auto. eauto using Nat.le_trans.
Qed.

Lemma linked_same m m' x x' c e : (forall j, In j c -> hist m' (Tenure j) = hist m (Tenure j) /\ gen x' j = gen x j) ->
  linked m x c e -> linked m' x' c e.
Proof.
  induction c as [|i c IH]; simpl; auto. intros H [A B]. destruct (H i (or_introl eq_refl)) as [H1 H2].
  split; [|apply IH; auto]. rewrite H2. eapply is_same; eauto.
Qed.

Lemma chain_same m m' x x' t c lg : (forall j, In j c -> same m m' x x' j) -> (forall k, cur (thr m t) k <= cur (thr m' t) k) ->
  chain m x t c lg -> chain m' x' t c lg.
Proof.
  intros H C (A & B & D). split; [auto|split].
  - intros j Hj. destruct (B j Hj) as [B1 B2]. split; [destruct (H j Hj) as (_ & E & _); congruence|].
    eapply knows_same; eauto.
  - intros N. rewrite (D N). assert (In (last c 0) c). { clear -N. induction c as [|a [|b c] IH]; [congruence|left; auto|right;
      apply IH; discriminate]. }
    destruct (H _ H0) as (_ & _ & E & _). auto.
Qed.

Lemma in_last c : c <> [] -> In (last c 0) c.
Proof. induction c as [|a [|b c] IH]; [congruence|left; auto|right; apply IH; discriminate]. Qed.

(* Where t stands, after a step of any thread. *)
Lemma stands_kept m m' x x' t p : grows m m' -> (forall j, holds t (stat x j) -> same m m' x x' j) -> (forall j, goes_on x x' j) ->
  hist m' Top = hist m Top /\ stack x' = stack x /\ (forall j, In j (stack x) -> same m m' x x' j) \/
  (exists g, hist m' Top = hist m Top ++ [g]) ->
  stands m x t p -> stands m' x' t p.
Proof.
  intros G H HG T. assert (C := fun k => g_cur _ _ G t k).
  assert (HC : forall c lg, chain m x t c lg -> forall j, In j c -> same m m' x x' j).
  { intros c lg (_ & B & _) j Hj. apply H. destruct (B j Hj). unfold holds. auto. }
  assert (CL : forall c lg, chain m x t c lg -> chain m' x' t c lg) by (intros; eapply chain_same; eauto).
  assert (LL : forall c lg e, chain m x t c lg -> linked m x c e -> linked m' x' c e).
  { intros. eapply linked_same; [|eauto]. intros j Hj. destruct (HC _ _ H0 j Hj) as (P & _ & Q & _). auto. }
  assert (CE : forall c lg, (chain m x t c lg /\ exists e, linked m x c e) -> (chain m' x' t c lg /\ exists e, linked m' x' c e))
    by (intros ? ? (P & e & Q); eauto).
  destruct p; simpl; auto.
  - intros [A B]. split; eauto using sees_on.
  - intros [A B]. split; eauto using wins_on.
  - intros (A & B & D & (e & E) & F & P & Q & R & U).
    assert (HB : forall j, In j c -> same m m' x x' j) by (intros j Hj; apply H; destruct (B j Hj); unfold holds; auto).
    destruct (H i ltac:(unfold holds; auto)) as (S1 & S2 & S3 & S4). rewrite S3, S2, (last_same _ _ _ S1).
    splits; auto.
    + intros j Hj. destruct (B j Hj). split; [destruct (HB j Hj) as (_ & -> & _); auto|]. eapply knows_same; eauto.
    + rewrite D. destruct c as [|a c]; auto. destruct (HB (last (a :: c) 0) ltac:(apply in_last;
        discriminate)) as (_ & _ & -> & _). auto.
    + exists e. eapply linked_same; [|eauto]. intros j Hj. destruct (HB j Hj) as (? & _ & ? & _). auto.
    + eauto using Nat.le_trans.
    + eauto using Nat.le_trans.
    + eapply is_same; eauto.
  - intros [A B]. split; auto.
  - intros (A & B & D). splits; eauto.
  - intros [A B]. split; eauto using sees_on, wins_on.
  - intros (A & B & D). destruct T as [(T1 & T2 & T3)|(g & T1)].
    + rewrite T1, T2, (last_same m m' Top T1). splits; auto. intros E. destruct (D E) as [D1 D2]. split; auto.
      intros j Hj. eapply knows_same; eauto.
    + rewrite (last_app m m' Top g T1), (length_app m m' Top g T1). splits; auto; intros; lia.
  - intros (A & B & D). destruct T as [(T1 & T2 & T3)|(g & T1)].
    + rewrite T1, T2, (last_same m m' Top T1). splits; auto. intros E. destruct (D E) as (D1 & D2 & D3). splits; auto.
      intros j Hj. eapply knows_same; eauto.
    + rewrite (last_app m m' Top g T1), (length_app m m' Top g T1). splits; auto; intros; lia.
  - intros [A B]. assert (S := H i ltac:(unfold holds; auto)). split; [destruct S as (_ & -> & _); auto|eapply knows_same; eauto].
  - intros (A & B & D). assert (S := H i ltac:(unfold holds; auto)). splits; [destruct S as (_ & -> & _); auto|eapply knows_same;
      eauto|].
    destruct S as (_ & _ & -> & _). auto.
  - intros (A & B & D). destruct (H i ltac:(unfold holds; auto)) as (_ & -> & -> & _). splits; eauto using Nat.le_trans.
  - intros (A & B & D). destruct (H i ltac:(unfold holds; auto)) as (_ & -> & -> & _). splits; eauto using Nat.le_trans.
  - intros (A & B & D). destruct (H i ltac:(unfold holds; auto)) as (_ & -> & -> & ->). auto.
  - intros (A & B & D). destruct (H i ltac:(unfold holds; auto)) as (_ & -> & -> & ->). auto.
  - intros (A & B & D). destruct (H i ltac:(unfold holds; auto)) as (_ & -> & -> & ->). auto.
Qed.

Lemma station_kept m m' x x' i : grows m m' -> (forall l, of_station i l -> hist m' l = hist m l) ->
  stat x' i = stat x i -> gen x' i = gen x i -> total x' i = total x i -> events_ x' i = events_ x i -> ref_ x' i = ref_ x i ->
  station_ok m x i -> station_ok m' x' i.
Proof.
  intros G H E1 E2 E3 E4 E5 []. assert (C := fun t k => g_cur _ _ G t k).
  assert (HG : goes_on x x' i) by (unfold goes_on; rewrite E1, E2; auto).
  constructor; rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?H by (simpl; auto); auto.
  - intros n g Hn. eapply sees_on; eauto.
  - intros n g Hn. eapply sees_on; eauto.
  - destruct o_tenure0 as (g & A & B). exists g. split; auto. eapply newest_same; [apply H; simpl; auto|auto].
  - destruct (stat x i); auto; eapply is_same; try apply H; simpl; auto.
  - destruct (stat x i); eauto using Nat.le_trans. destruct o_who0 as (g & A & B). exists g. split; auto.
    eapply newest_same; [apply H; simpl; auto|auto].
Qed.

(* A step that changes nothing but station i, which is not on the stack, and which no other thread counts on. *)
Lemma station_step m m' f t p x x' i : grows m m' -> wf m' -> (forall l, ~ of_station i l -> hist m' l = hist m l) ->
  stack x' = stack x -> (forall j, j <> i -> stat x' j = stat x j /\ gen x' j = gen x j /\ total x' j = total x j /\
    events_ x' j = events_ x j /\ ref_ x' j = ref_ x j) ->
  stat x i <> Free -> stat x' i <> Free -> stat x i <> Fresh -> stat x' i <> Fresh -> (forall u, u <> t -> ~ holds u (stat x i)) ->
  goes_on x x' i -> station_ok m' x' i -> (wrong x = false -> wrong x' = false) -> inv (State m f x) -> stands m' x' t p -> inv
    (State m' (upd f t p) x').
Proof.
  intros G W H HS HJ F1 F2 F3 F4 HU HG HO HW [] Hp. simpl in *. assert (C := fun t k => g_cur _ _ G t k).
  assert (NI : forall j, In j (stack x) -> j <> i) by (intros j Hj ->; apply (proj2 i_stack0) in Hj; tauto).
  assert (SJ : forall j, j <> i -> same m m' x x' j).
  { intros j N. destruct (HJ j N) as (A & B & D & _). unfold same. splits; auto. }
  assert (GJ : forall j, goes_on x x' j).
  { intros j. destruct (Nat.eq_dec j i) as [->|N]; auto. destruct (HJ j N) as (A & B & _). unfold goes_on. rewrite A, B. auto. }
  constructor; simpl; auto.
  - intros l. destruct (g_hist _ _ G l) as [more ->]. intros E. apply app_eq_nil in E. destruct E. eapply i_some0; eauto.
  - intros n g. rewrite H by (simpl; auto). auto.
  - rewrite HS. destruct i_first0 as (g & A & B & D). exists g. splits; auto; [eapply newest_same; [apply H; simpl; auto|auto]|].
    intros j Hj. eapply knows_same; eauto.
  - rewrite HS. destruct i_stack0 as [A B]. split; auto. intros j. rewrite B. destruct (Nat.eq_dec j i) as [->|N]; [tauto|].
    destruct (HJ j N) as (-> & _). tauto.
  - rewrite HS. eapply linked_same; [|eauto]. intros j Hj. destruct (SJ j (NI j Hj)) as (? & _ & ? & _). auto.
  - destruct i_used0 as (g & A & B). exists g. split; [eapply newest_same; [apply H; simpl; auto|auto]|]. intros j. rewrite <- B.
    destruct (Nat.eq_dec j i) as [->|N]; [tauto|]. destruct (HJ j N) as (-> & _). tauto.
  - intros j. destruct (Nat.eq_dec j i) as [->|N]; auto. destruct (HJ j N) as (E1 & E2 & E3 & E4 & E5).
    eapply station_kept; eauto. intros l Hl. apply H. destruct l; simpl in *; congruence.
  - intros u. destruct (tid_cases f t p u) as [(-> & E)|(N & E)]; rewrite E; auto.
    apply stands_kept with m x; auto.
    + intros j Hj. apply SJ. intros ->. apply (HU u); auto.
    + left. splits; auto.
Qed.

(* A step that changes no history but of entries, of announce, and of what is elsewhere. *)
Definition aside (l : loc) : Prop := match l with Said _ | Announce _ | Other _ => True | _ => False end.
Lemma frame m m' f p x t : grows m m' -> wf m' -> (forall l, ~ aside l -> hist m' l = hist m l) ->
  inv (State m f x) -> (forall i, station_ok m' x i) -> stands m' x t p -> inv (State m' (upd f t p) x).
Proof.
  intros G W H [] HO Hp. simpl in *.
  assert (SJ : forall j, same m m' x x j) by (intros j; unfold same; splits; auto; apply H; simpl; auto).
  constructor; simpl; auto.
  - intros l. destruct (g_hist _ _ G l) as [more ->]. intros E. apply app_eq_nil in E. destruct E. eapply i_some0; eauto.
  - intros n g. rewrite H by (simpl; auto). auto.
  - destruct i_first0 as (g & A & B & D). exists g. splits; auto; [eapply newest_same; [apply H; simpl; auto|auto]|].
    intros j Hj. eapply knows_same; eauto.
  - eapply linked_same; [|eauto]. intros j _. split; auto.
  - destruct i_used0 as (g & A & B). exists g. split; auto. eapply newest_same; [apply H; simpl; tauto|auto].
  - intros u. destruct (tid_cases f t p u) as [(-> & E)|(N & E)]; rewrite E; auto.
    apply stands_kept with m x; auto; unfold goes_on; auto.
Qed.

(* One that changes no history at all. *)
Lemma still m m' f p x t : grows m m' -> wf m' -> (forall l, hist m' l = hist m l) ->
  inv (State m f x) -> stands m' x t p -> inv (State m' (upd f t p) x).
Proof.
  intros G W H I Hp. apply frame with m; auto. intros i. eapply station_kept; eauto. apply (i_station _ I).
Qed.
End Proof.
Arguments o_count {stations m x i}.
Arguments o_header {stations m x i}.
Arguments o_dead {stations m x i}.
Arguments o_deads {stations m x i}.
Arguments o_tenures {stations m x i}.
Arguments o_said {stations m x i}.
Arguments o_tenure {stations m x i}.
Arguments o_total {stations m x i}.
Arguments o_co {stations m x i}.
Arguments o_gen {stations m x i}.
Arguments o_who {stations m x i}.
Arguments i_wf {stations s}.
Arguments i_some {stations s}.
Arguments i_top {stations s}.
Arguments i_first {stations s}.
Arguments i_stack {stations s}.
Arguments i_linked {stations s}.
Arguments i_used {stations s}.
Arguments i_right {stations s}.
Arguments i_station {stations s}.
Arguments i_stands {stations s}.
