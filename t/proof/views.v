(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * views.v - what every step of the machine keeps: views and histories only grow.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine.

Lemma upd_same {A B} `{EqDec A} (f : A -> B) a b : upd f a b a = b.
Proof. unfold upd. destruct (eq_dec a a); congruence. Qed.
Lemma upd_other {A B} `{EqDec A} (f : A -> B) a b x : a <> x -> upd f a b x = f x.
Proof. unfold upd. destruct (eq_dec a x); congruence. Qed.

Section Views.
Context {loc : Type} {loc_eq : EqDec loc}.
Implicit Types (m : mem loc) (v w : view loc).

Lemma join_l v w k : v k <= join v w k.
Proof. unfold join. lia. Qed.
Lemma join_r v w k : w k <= join v w k.
Proof. unfold join. lia. Qed.
Lemma one_at (k : key loc) n : one k n k = n.
Proof. unfold one. destruct (eq_dec k k); congruence. Qed.
Lemma one_other (k k' : key loc) n : k <> k' -> one k n k' = 0.
Proof. unfold one. destruct (eq_dec k k'); congruence. Qed.

Lemma touch_cur m t l i k : cur (thr m t) k <= touch m t l i k.
Proof. unfold touch. apply join_l. Qed.
Lemma touch_at m t l i : i <= touch m t l i (At l).
Proof. unfold touch, join. rewrite one_at. lia. Qed.

(* A thread's three views are ordered. *)
Definition wf m := forall t k, rel (thr m t) k <= cur (thr m t) k /\ cur (thr m t) k <= acq (thr m t) k.

Lemma wf_start n r vs : wf (start n r vs).
Proof. intros t k. simpl. unfold bottom. lia. Qed.

Record grows m m' : Prop := Grows {
  g_cur t k : cur (thr m t) k <= cur (thr m' t) k;
  g_acq t k : acq (thr m t) k <= acq (thr m' t) k;
  g_rel t k : rel (thr m t) k <= rel (thr m' t) k;
  g_sc l : sc m (At l) <= sc m' (At l);
  g_nthr : nthr m' = nthr m;
  g_hist l : exists more, hist m' l = hist m l ++ more;
}.

Lemma grows_refl m : grows m m.
Proof. constructor; auto. intros. exists []. rewrite app_nil_r. auto. Qed.

Definition vle v w := forall k, v k <= w k.

Lemma grows_after m t pl st l h (v : thread loc) :
  (exists more, h = hist m l ++ more) ->
  vle (cur (thr m t)) (cur v) -> vle (acq (thr m t)) (acq v) -> vle (rel (thr m t)) (rel v) ->
  grows m (after m t pl st l h v).
Proof.
  intros [more Hm] Hc Ha Hr.
  constructor; simpl; auto; try (intros u k; unfold upd; destruct (eq_dec t u); subst; auto; fail).
  intros l'. unfold upd. destruct (eq_dec l l'); subst; eauto. exists []. rewrite app_nil_r. auto.
Qed.

Lemma wf_after m t pl st l h (v : thread loc) : wf m -> (forall k, rel v k <= cur v k /\ cur v k <= acq v k) -> wf (after m t pl st l h v).
Proof. intros H Hv u k. simpl. unfold upd. destruct (eq_dec t u); auto. Qed.

Lemma load_grows m t pl o l i g : wf m -> grows m (load m t pl o l i g) /\ wf (load m t pl o l i g).
Proof.
  intros Hw. assert (Ht := touch_cur m t l i).
  split; [apply grows_after | apply wf_after]; auto; try (exists []; rewrite app_nil_r; auto; fail);
    intros k; simpl; specialize (Ht k); specialize (Hw t k); destruct (is_acq o); unfold join in *; lia.
Qed.

Lemma store_grows m t pl o l x : wf m -> grows m (store m t pl o l x) /\ wf (store m t pl o l x).
Proof.
  intros Hw. assert (Ht := touch_cur m t l (length (hist m l))).
  split; [apply grows_after | apply wf_after]; eauto;
    intros k; simpl; specialize (Ht k); specialize (Hw t k); unfold join in *; lia.
Qed.

Lemma rmw_grows m t o l g x : wf m -> grows m (rmw m t o l g x) /\ wf (rmw m t o l g x).
Proof.
  intros Hw. assert (Ht := touch_cur m t l (length (hist m l))).
  split; [apply grows_after | apply wf_after]; eauto;
    intros k; simpl; specialize (Ht k); specialize (Hw t k); destruct (is_acq o); unfold join in *; lia.
Qed.

Lemma with_thread_grows m t (v : thread loc) : wf m ->
  vle (cur (thr m t)) (cur v) -> vle (acq (thr m t)) (acq v) -> vle (rel (thr m t)) (rel v) ->
  (forall k, rel v k <= cur v k /\ cur v k <= acq v k) -> grows m (with_thread m t v) /\ wf (with_thread m t v).
Proof.
  intros Hw Hc Ha Hr Hv. split.
  - constructor; simpl; auto; try (intros u k; unfold upd; destruct (eq_dec t u); subst; auto; fail).
    intros l. exists []. rewrite app_nil_r. auto.
  - intros u k. simpl. unfold upd. destruct (eq_dec t u); auto.
Qed.

Lemma fence_acq_grows m t : wf m -> grows m (fence_acq m t) /\ wf (fence_acq m t).
Proof. intros Hw. apply with_thread_grows; auto; intros k; specialize (Hw t k); simpl; lia. Qed.
Lemma fence_rel_grows m t : wf m -> grows m (fence_rel m t) /\ wf (fence_rel m t).
Proof. intros Hw. apply with_thread_grows; auto; intros k; specialize (Hw t k); simpl; lia. Qed.

Lemma fence_sc_grows m t : wf m -> grows m (fence_sc m t) /\ wf (fence_sc m t).
Proof.
  intros Hw. split.
  - constructor; simpl; auto; try (intros u k; unfold upd; destruct (eq_dec t u); subst; auto; simpl;
      specialize (Hw u k); unfold join; lia).
    + intros l. unfold join, places. lia.
    + intros l. exists []. rewrite app_nil_r. auto.
  - intros u k. simpl. unfold upd. destruct (eq_dec t u); simpl; auto.
Qed.

Lemma with_pend_grows m t us : wf m -> grows m (with_pend m t us) /\ wf (with_pend m t us).
Proof. intros Hw. split; auto. constructor; simpl; auto. intros l. exists []. rewrite app_nil_r. auto. Qed.

Lemma grows_trans a b c : grows a b -> grows b c -> grows a c.
Proof.
  intros [] []. constructor; intros; eauto using Nat.le_trans; try congruence.
  destruct (g_hist0 l) as [x Hx], (g_hist1 l) as [y Hy]. exists (x ++ y). rewrite Hy, Hx, app_assoc. auto.
Qed.

Lemma reaches_grows m c t : wf m -> grows m (barrier_reaches m c t) /\ wf (barrier_reaches m c t).
Proof.
  intros Hw. destruct (fence_sc_grows m t Hw) as [G W].
  destruct (with_pend_grows (fence_sc m t) c (remove Nat.eq_dec t (pend m c)) W). eauto using grows_trans.
Qed.

Lemma mstep_grows m t o r m' : mstep m t o r m' -> wf m -> grows m m' /\ wf m'.
Proof.
  intros H Hw; destruct H; auto using load_grows, store_grows, rmw_grows, fence_acq_grows, fence_rel_grows, fence_sc_grows.
  - unfold barrier_call. destruct (fence_sc_grows m t Hw) as [G W].
    destruct (with_pend_grows (fence_sc m t) t (filter (fun u => g || reg m u) (seq 0 (nthr m))) W).
    eauto using grows_trans.
  - split; auto. constructor; simpl; auto. intros l. exists []. rewrite app_nil_r. auto.
Qed.

(* The location that an operation accesses. *)
Definition place_of (o : op loc) : option loc :=
  match o with
  | Load _ l | Store _ l _ | PlainLoad l | PlainStore l _ | Exchange _ l _ | FetchAdd _ l _ | Cas _ _ _ l _ _ => Some l
  | _ => None
  end.

Lemma mstep_elsewhere m t o r m' l : mstep m t o r m' -> place_of o <> Some l -> hist m' l = hist m l.
Proof.
  intros H Hl; destruct H; simpl in *; auto; unfold upd;
    match goal with |- context [eq_dec ?a ?b] => destruct (eq_dec a b); congruence end.
Qed.

Definition stores (o : op loc) : bool :=
  match o with Store _ _ _ | PlainStore _ _ | Exchange _ _ _ | FetchAdd _ _ _ | Cas _ _ _ _ _ _ => true | _ => false end.

Lemma mstep_reads m t o r m' l : mstep m t o r m' -> stores o = false -> hist m' l = hist m l.
Proof.
  intros H Hs; destruct H; simpl in *; try discriminate; auto; unfold upd;
    match goal with |- context [eq_dec ?a ?b] => destruct (eq_dec a b); congruence end.
Qed.

Lemma mstep_other_thread m t o r m' u : mstep m t o r m' -> u <> t -> thr m' u = thr m u.
Proof.
  intros H Hl; destruct H; simpl in *; auto; unfold upd;
    repeat match goal with |- context [eq_dec ?a ?b] => destruct (eq_dec a b) end; congruence.
Qed.

Definition is_barrier (o : op loc) := match o with BarrierCall _ | BarrierReturn => true | _ => false end.
Definition is_register (o : op loc) := match o with Register _ => true | _ => false end.

Lemma mstep_pend m t o r m' : mstep m t o r m' -> is_barrier o = false -> pend m' = pend m.
Proof. intros H; destruct H; simpl; congruence. Qed.

Lemma mstep_pend_other m t o r m' u : mstep m t o r m' -> u <> t -> pend m' u = pend m u.
Proof.
  intros H Hu; destruct H; simpl; auto.
  unfold barrier_call, with_pend. simpl. rewrite upd_other; auto.
Qed.

Lemma mstep_reg m t o r m' : mstep m t o r m' -> is_register o = false -> reg m' = reg m.
Proof. intros H; destruct H; simpl; congruence. Qed.

(* --- histories -------------------------------------------------------------------------------------------------------------- *)

(* Whatever is true of the message, its place and its number. *)
Definition all (P : loc -> nat -> message loc -> Prop) m := forall l i g, nth_error (hist m l) i = Some g -> P l i g.

Lemma all_store P m t pl o l (v : val) : all P m ->
  P l (length (hist m l)) (Message v (if is_rel o then touch m t l (length (hist m l))
                                      else join (rel (thr m t)) (one (At l) (length (hist m l))))) ->
  all P (store m t pl o l v).
Proof.
  intros HA HP l' i g. simpl. unfold upd. destruct (eq_dec l l') as [E|E]; [subst l'|apply HA].
  intros Hg. destruct (Nat.lt_ge_cases i (length (hist m l))).
  - rewrite nth_error_app1 in Hg by auto. apply HA; auto.
  - rewrite nth_error_app2 in Hg by auto.
    destruct (i - length (hist m l)) eqn:D; simpl in Hg; [|destruct n; discriminate].
    injection Hg as Hg. subst g. replace i with (length (hist m l)) by lia. auto.
Qed.

Lemma all_same P m m' : all P m -> (forall l, hist m' l = hist m l) -> all P m'.
Proof. intros HA HH l i g. rewrite HH. apply HA. Qed.

Lemma nth_error_lt {A} (h : list A) i g : nth_error h i = Some g -> i < length h.
Proof. intros. apply nth_error_Some. congruence. Qed.

Lemma store_length m t pl o l (v : val) : length (hist (store m t pl o l v) l) = S (length (hist m l)).
Proof. simpl. rewrite upd_same, app_length. simpl. lia. Qed.

Lemma store_hist m t pl o l (v : val) : hist (store m t pl o l v) l =
  hist m l ++ [Message v (if is_rel o then touch m t l (length (hist m l))
                          else join (rel (thr m t)) (one (At l) (length (hist m l))))].
Proof. simpl. apply upd_same. Qed.

Lemma store_newest m t pl o l (v : val) : nth_error (hist (store m t pl o l v) l) (length (hist m l)) =
  Some (Message v (if is_rel o then touch m t l (length (hist m l)) else join (rel (thr m t)) (one (At l) (length (hist m l))))).
Proof. rewrite store_hist, nth_error_app2, Nat.sub_diag by auto. reflexivity. Qed.

Lemma grows_length m m' l : grows m m' -> length (hist m l) <= length (hist m' l).
Proof. intros G. destruct (g_hist _ _ G l) as [x Hx]. rewrite Hx, app_length. lia. Qed.

(* --- what single operations give -------------------------------------------------------------------------------------------- *)

Lemma load_knows m t pl o l i g : i <= cur (thr (load m t pl o l i g) t) (At l).
Proof.
  simpl. rewrite upd_same. simpl. assert (H := touch_at m t l i).
  destruct (is_acq o); unfold join in *; lia.
Qed.
Lemma load_acquires m t pl o l i g k : is_acq o = true -> with_ g k <= cur (thr (load m t pl o l i g) t) k.
Proof. intros Ho. simpl. rewrite upd_same. simpl. rewrite Ho. apply join_r. Qed.
Lemma load_keeps m t pl o l i g k : with_ g k <= acq (thr (load m t pl o l i g) t) k.
Proof. simpl. rewrite upd_same. simpl. unfold join. lia. Qed.
Lemma store_knows m t pl o l (v : val) : length (hist m l) <= cur (thr (store m t pl o l v) t) (At l).
Proof. simpl. rewrite upd_same. simpl. apply touch_at. Qed.
Lemma fence_acq_gets m t k : acq (thr m t) k <= cur (thr (fence_acq m t) t) k.
Proof. simpl. rewrite upd_same. simpl. lia. Qed.
Lemma fence_rel_gives m t k : cur (thr m t) k <= rel (thr (fence_rel m t) t) k.
Proof. simpl. rewrite upd_same. simpl. lia. Qed.
Lemma fence_sc_gets m t l : sc m (At l) <= cur (thr (fence_sc m t) t) (At l).
Proof. simpl. rewrite upd_same. simpl. unfold join, places. lia. Qed.
Lemma fence_sc_gives m t k : wf m -> cur (thr m t) k <= sc (fence_sc m t) k.
Proof. intros Hw. specialize (Hw t k). simpl. unfold join. lia. Qed.
Lemma fence_sc_rel m t k : wf m -> cur (thr m t) k <= rel (thr (fence_sc m t) t) k.
Proof. intros Hw. specialize (Hw t k). simpl. rewrite upd_same. simpl. unfold join. lia. Qed.

(* Where a barrier has yet to reach a thread that knows n of l, or has reached it. *)
Definition coming m (t : tid) (l : loc) (n : nat) : Prop :=
  (exists u, In u (pend m t) /\ n <= cur (thr m u) (At l)) \/ n <= sc m (At l).

Lemma coming_grows m m' t l n : grows m m' -> pend m' t = pend m t -> coming m t l n -> coming m' t l n.
Proof.
  intros G E [[u [Hu Hn]]|Hn]; [left; exists u; rewrite E; split; auto | right];
    eauto using Nat.le_trans, g_cur, g_sc.
Qed.

Lemma coming_reaches m c u t l n : wf m -> In u (pend m c) -> coming m t l n -> coming (barrier_reaches m c u) t l n.
Proof.
  intros Hw Hin [[u' [Hu Hn]]|Hn].
  - destruct (Nat.eq_dec u' u) as [->|Hne].
    + right. simpl. apply (Nat.le_trans _ _ _ Hn). apply (fence_sc_gives m u (At l) Hw).
    + left. exists u'. split.
      * simpl. unfold upd. destruct (eq_dec c t); subst; auto. apply in_in_remove; auto.
      * eapply Nat.le_trans; [exact Hn|]. apply g_cur. apply reaches_grows; auto.
  - right. eapply Nat.le_trans; [exact Hn|]. apply g_sc. apply reaches_grows; auto.
Qed.

Lemma coming_called m t u g l n : wf m -> u < nthr m -> g || reg m u = true -> n <= cur (thr m u) (At l) ->
  coming (barrier_call m t g) t l n.
Proof.
  intros Hw Hu Hg Hn. left. exists u. split.
  - simpl. rewrite upd_same. apply filter_In. split; auto. apply in_seq. lia.
  - eapply Nat.le_trans; [exact Hn|]. apply (g_cur _ _ (proj1 (fence_sc_grows m t Hw))).
Qed.

Lemma coming_returned m t l n : coming m t l n -> pend m t = [] -> n <= cur (thr (fence_sc m t) t) (At l).
Proof.
  intros [[u [Hu _]]|Hn] E.
  - rewrite E in Hu. destruct Hu.
  - eapply Nat.le_trans; [exact Hn|]. apply fence_sc_gets.
Qed.

End Views.

(* --- races ------------------------------------------------------------------------------------------------------------------ *)

Section Races.
Context {loc : Type} {loc_eq : EqDec loc}.
Implicit Types m : mem loc.

Lemma ordered_intro m t pl st l :
  (forall u p s, u <> t -> (pl || p) && (st || s) = true -> clock m p s l u <= cur (thr m t) (Of u)) -> ordered m t pl st l = true.
Proof.
  intros H. unfold ordered. apply forallb_forall. intros u _. destruct (Nat.eqb_spec u t); auto. simpl.
  repeat (apply andb_true_intro; split); auto;
    match goal with |- negb ?b || _ = true => destruct b eqn:E; simpl; auto end;
    apply Nat.leb_le; apply H; auto.
Qed.

Lemma after_clock m t pl st l h v p s l' u :
  clock (after m t pl st l h v) p s l' u = S (cur (thr m t) (Of t)) /\ t = u /\ l = l' /\ pl = p /\ st = s \/
  clock (after m t pl st l h v) p s l' u = clock m p s l' u.
Proof.
  simpl. destruct (eq_dec l l'); auto. destruct (eq_dec t u); auto.
  destruct (Bool.eqb pl p && Bool.eqb st s) eqn:E; auto. apply andb_prop in E. destruct E as [A B].
  apply eqb_prop in A. apply eqb_prop in B. left. repeat split; auto.
Qed.

Lemma after_clock_other m t pl st l h v p s l' u : l <> l' -> clock (after m t pl st l h v) p s l' u = clock m p s l' u.
Proof. intros H. simpl. destruct (eq_dec l l'); congruence. Qed.

Lemma after_clock_same m t pl st l h v : clock (after m t pl st l h v) pl st l t = S (cur (thr m t) (Of t)).
Proof.
  simpl. destruct (eq_dec l l); [|congruence]. destruct (eq_dec t t); [|congruence]. rewrite !eqb_reflx. reflexivity.
Qed.

Lemma touch_clock m t l i : touch m t l i (Of t) = S (cur (thr m t) (Of t)).
Proof. unfold touch, join. rewrite one_at, one_other by congruence. lia. Qed.

(* No access of a thread has a clock that the thread has not reached. *)
Definition clocks m := forall p s l t, clock m p s l t <= cur (thr m t) (Of t).

Lemma clocks_start n r vs : clocks (start n r vs).
Proof. intros p s l t. simpl. lia. Qed.

Lemma clocks_after m t pl st l h v : clocks m -> (forall k, cur (thr m t) k <= cur v k) -> S (cur (thr m t) (Of t)) <= cur v (Of t) ->
  clocks (after m t pl st l h v).
Proof.
  intros C G S p s l' u.
  assert (E : cur (thr (after m t pl st l h v) u) (Of u) = if eq_dec t u then cur v (Of u) else cur (thr m u) (Of u))
    by (simpl; unfold upd; destruct (eq_dec t u); auto).
  rewrite E. destruct (after_clock m t pl st l h v p s l' u) as [(A & B & _)|A]; rewrite A.
  - subst u. destruct (eq_dec t t); congruence || lia.
  - specialize (C p s l' u). destruct (eq_dec t u); auto. subst u. specialize (G (Of t)). lia.
Qed.

Lemma clocks_other m m' : clocks m -> clock m' = clock m -> (forall t k, cur (thr m t) k <= cur (thr m' t) k) -> clocks m'.
Proof. intros C E G p s l t. rewrite E. eapply Nat.le_trans; [apply C|apply G]. Qed.

Lemma mstep_clocks m t o r m' : mstep m t o r m' -> wf m -> clocks m -> clocks m'.
Proof.
  intros H Hw C. assert (G := fun u k => g_cur _ _ (proj1 (mstep_grows _ _ _ _ _ H Hw)) u k).
  assert (T := touch_clock m t). assert (T' := fun l i k => touch_cur m t l i k).
  destruct H; try (eapply clocks_other; [exact C|reflexivity|exact G]);
    (apply clocks_after; [exact C| |]; simpl; intros; unfold join;
     try specialize (T' l i k); try specialize (T l i); try specialize (T' l (length (hist m l)) k);
     try specialize (T l (length (hist m l)));
     repeat match goal with |- context [is_acq ?o] => destruct (is_acq o) end; lia).
Qed.

Lemma mstep_clock m t o r m' p s l u : mstep m t o r m' -> place_of o <> Some l -> clock m' p s l u = clock m p s l u.
Proof.
  intros H Hl; destruct H; simpl in Hl; try reflexivity; apply after_clock_other; congruence.
Qed.

End Races.
