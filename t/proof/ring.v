(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * ring.v - what a reader gets out of a ring, and that it gets it without a data race.
 *
 * The steps of both are in ringsteps.v, what each of them keeps in ringkept.v and ringtold.v. Here this is put on the memory, and the
 * theorems follow.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views runs lanes ringlogs ringsteps ringkept ringtold.
Local Arguments Nat.div : simpl never.
Local Arguments Nat.modulo : simpl never.
Local Arguments Nat.mul : simpl never.

Section Ring.
Variable size turn words : nat.
Hypothesis size_some : 0 < size.
Variable gap_text : nat -> nat -> nat -> entry.
Hypothesis gap_length : forall ts events notes, length (gap_text ts events notes) = words.
Variable y : style.
Hypothesis publish_rel : is_rel (publish y) = true.
Hypothesis look_acq : is_acq (look y) = true.
Hypothesis done_rel : is_rel (done y) = true.
Hypothesis room_acq : is_acq (room y) = true.
Hypothesis exact_room : extra y = 0.

Notation ring := (ring size turn words gap_text y).

(* --- data races ------------------------------------------------------------------------------------------------------------- *)

(* Only words of entries are plain; thread 0 stores to them and thread 1 loads them. *)
Record tidy (m : mem loc) : Prop := Tidy {
  t_racy : racy m = false;
  t_wf : wf m;
  t_atomic : forall s l t, ~ plain_word l -> clock m true s l t = 0;
  t_word : forall s i j t, clock m false s (Word i j) t = 0;
  t_store : forall i j t, t <> 0 -> clock m true true (Word i j) t = 0;
  t_load : forall i j t, t <> 1 -> clock m true false (Word i j) t = 0;
}.

Lemma tidy_atomic m t st l h v : tidy m -> ~ plain_word l -> wf (after m t false st l h v) -> tidy (after m t false st l h v).
Proof.
  intros [] NW W. constructor; simpl; auto.
  - rewrite t_racy0. apply negb_false_iff. apply ordered_intro. intros u p s _ E. simpl in E.
    destruct p; [|discriminate]. rewrite t_atomic0; auto. lia.
  - intros s l' t' NW'. destruct (eq_dec l l'), (eq_dec t t'); simpl; auto.
  - intros s i j t'. destruct (eq_dec l (Word i j)) as [->|]; auto. exfalso. apply NW. eexists _, _. eauto.
  - intros i j t' N. destruct (eq_dec l (Word i j)), (eq_dec t t'); simpl; auto.
  - intros i j t' N. destruct (eq_dec l (Word i j)), (eq_dec t t'); simpl; auto.
Qed.

(* --- what holds always ------------------------------------------------------------------------------------------------------ *)

Definition cw (m : mem loc) (i j : nat) : nat := clock m true true (Word i j) 0.
Definition cr (m : mem loc) (i j : nat) : nat := clock m true false (Word i j) 1.

Notation mtold m c r k x := (tally_ok (hist m) (cur (thr m 1)) c r k x).
Notation mcore m a c r x := (core size turn words gap_text (hist m) (cur (thr m 0)) (cur (thr m 1)) (cw m) (cr m) a c r x).

Record holds (m : mem loc) (l0 l1 : local) (x : world) : Prop := Holds {
  h_tidy : tidy m;
  h_texts : forall k, k < count x -> length (ent x k) = words;
  h_core : exists a c r k, l0 = Wr a c /\ l1 = Rd r k /\ mcore m a c r x /\ mtold m c r k x;
}.

Definition inv (s : state loc local world) : Prop := holds (memory s) (where_ s 0) (where_ s 1) (beside s).

(* A step of the memory alone that stores nothing of the ring. *)
Lemma calm m m' l0 l1 x : holds m l0 l1 x -> grows m m' -> wf m' -> racy m' = racy m -> (forall l, mine l -> hist m' l = hist m l) ->
  (forall s l t, clock m' true s l t = clock m true s l t) -> (forall s i j t, clock m' false s (Word i j) t = clock m false s (Word i j) t) ->
  holds m' l0 l1 x.
Proof.
  intros [T X (a & c & r & k & E0 & E1 & C & Y)] G W R H K K'. constructor; auto.
  - destruct T. constructor; auto; intros; rewrite ?K, ?K'; auto. congruence.
  - exists a, c, r, k. split; auto. split; auto. split.
    + eapply (core_mono size turn words size_some gap_text); [exact C| | | | |]; auto; try (intros q; apply (g_cur _ _ G)).
      * intros. unfold cw. apply K.
      * intros. unfold cr. apply K.
    + eapply (tally_mono (hist m)); [exact Y| | | | |]; auto; try (intros q; apply (g_cur _ _ G)).
      intros l Hl. apply H. destruct l; simpl in *; tauto.
Qed.

Lemma plain_clock (m : mem loc) t st l h v s l' u : clock (after m t false st l h v) true s l' u = clock m true s l' u.
Proof. simpl. destruct (eq_dec l l'), (eq_dec t u); auto. Qed.

Lemma word_clock (m : mem loc) t st l h v p s i j u : ~ plain_word l ->
  clock (after m t false st l h v) p s (Word i j) u = clock m p s (Word i j) u.
Proof.
  intros NW. simpl. destruct (eq_dec l (Word i j)) as [->|]; auto. exfalso. apply NW. eexists _, _. eauto.
Qed.

(* An access to what is no word of an entry, which stores nothing of the ring. *)
Lemma calm_after m t st l h v l0 l1 x : holds m l0 l1 x -> ~ plain_word l -> (mine l -> h = hist m l) ->
  grows m (after m t false st l h v) -> wf (after m t false st l h v) -> holds (after m t false st l h v) l0 l1 x.
Proof.
  intros Hd NW Hh G W. assert (T := h_tidy _ _ _ _ Hd). apply (calm m); auto.
  - rewrite (t_racy _ T). apply tidy_atomic; auto.
  - intros l' M. simpl. unfold upd. destruct (eq_dec l l') as [<-|]; auto.
  - intros. apply plain_clock.
  - intros. apply word_clock. auto.
Qed.

Lemma calm_load m t o l i g l0 l1 x : holds m l0 l1 x -> ~ plain_word l -> holds (load m t false o l i g) l0 l1 x.
Proof.
  intros Hd NW. destruct (load_grows m t false o l i g (t_wf _ (h_tidy _ _ _ _ Hd))). apply calm_after; auto.
Qed.

Lemma calm_reaches m c t l0 l1 x : holds m l0 l1 x -> holds (barrier_reaches m c t) l0 l1 x.
Proof.
  intros Hd. destruct (reaches_grows m c t (t_wf _ (h_tidy _ _ _ _ Hd))). apply (calm m); auto.
Qed.

Lemma not_plain l : (forall s j, l <> Word s j) -> ~ plain_word l.
Proof. intros H (s & j & E). destruct (H s j E). Qed.

Ltac decide_eq := repeat match goal with |- context [@eq_dec ?A ?I ?a ?b] => destruct (@eq_dec A I a b) end.
Ltac notplain := apply not_plain; intros; discriminate.

Lemma calm_aside m t o r m' l0 l1 x : holds m l0 l1 x -> aside o -> mstep m t o r m' -> holds m' l0 l1 x.
Proof.
  intros Hd A H. destruct (mstep_grows _ _ _ _ _ H (t_wf _ (h_tidy _ _ _ _ Hd))) as [G W].
  destruct H; simpl in A; try tauto; try (apply (calm m); auto; fail);
    try (destruct A as [n ->]; apply calm_after; auto; [notplain | intros []]; fail).
  - apply calm_load; auto. apply not_plain. auto.
  - destruct A as [n' ->]. apply calm_load; auto. notplain.
Qed.

(* The writer stores or adds to what is no word of an entry. *)
Lemma put_appended m t pl o l (v : val) : appended (hist m) (hist (store m t pl o l v)) l
  (Message v (if is_rel o then touch m t l (length (hist m l)) else join (rel (thr m t)) (one (At l) (length (hist m l))))).
Proof. split; simpl; [apply upd_same|]. intros l' N. apply upd_other. auto. Qed.

Lemma put_elsewhere h h' l g : appended h h' l g -> ~ telling_of l -> forall l', telling_of l' -> h' l' = h l'.
Proof. intros [_ E] N l' T. apply E. congruence. Qed.

Lemma step_store m a c r k x l v todo : holds m (Wr a (Puts ((l, v) :: todo) c)) (Rd r k) x ->
  holds (store m 0 false Rlx l v) (Wr a (Puts todo c)) (Rd r k) x.
Proof.
  intros [T X (a' & c' & r' & k' & E0 & E1 & C & Y)]. injection E0 as <- <-. injection E1 as <- <-.
  destruct (store_grows m 0 false Rlx l v (t_wf _ T)) as [G W].
  assert (NW : ~ plain_word l).
  { assert (Wr := c_writer _ _ _ _ _ _ _ _ _ _ _ _ _ C). assert (Td := w_todo _ _ _ _ _ _ _ _ _ _ Wr l v (or_introl eq_refl)).
    apply todo_ok_not in Td. apply Td. }
  constructor; auto.
  - apply tidy_atomic; auto.
  - assert (Te : ~ telling_of l).
    { apply c_writer in C. destruct (todo_ok_not _ _ _ _ (w_todo _ _ _ _ _ _ _ _ _ _ C l v (or_introl eq_refl))) as (T1 & _ & _ & T4 & T5).
      destruct l; simpl; try tauto; intros _; eapply T4; eauto. }
    exists a, (Puts todo c), r, k. split; auto. split; auto. split; [|
      eapply (tally_mono (hist m)); [exact Y | | intros q; apply (g_cur _ _ G) | | |]; auto;
      apply (put_elsewhere _ _ _ _ (put_appended m 0 false Rlx l v) Te)].
    assert (CS := core_store size turn words size_some gap_text _ _ _ (cur (thr (store m 0 false Rlx l v) 0)) _ _ _ _ _ _ _ l v todo _ C
                    (put_appended m 0 false Rlx l v) eq_refl (g_cur _ _ G 0) (store_knows m 0 false Rlx l v)).
    eapply (core_mono size turn words size_some gap_text); [exact CS| | | | |]; intros; auto; try (intros q; auto).
    + unfold cw, store. apply word_clock. auto.
    + unfold cr, store. apply word_clock. auto.
Qed.

Lemma step_miss m a r k x note g : holds m (Wr a (Missed note)) (Rd r k) x -> newest m (Lost note) g ->
  holds (rmw m 0 Rlx (Lost note) g (value g + 1)) (Wr a Idle) (Rd r k) (with_log x (Miss note)).
Proof.
  intros [T X (a' & c' & r' & k' & E0 & E1 & C & Y)] Hg. injection E0 as <- <-. injection E1 as <- <-.
  destruct (rmw_grows m 0 Rlx (Lost note) g (value g + 1) (t_wf _ T)) as [G W].
  assert (NW : ~ plain_word (Lost note)) by notplain.
  set (m' := rmw _ _ _ _ _ _) in *.
  constructor; auto.
  - apply tidy_atomic; auto.
  - exists a, Idle, r, k. split; auto. split; auto.
    assert (Ap : exists g', appended (hist m) (hist m') (Lost note) g' /\ value g' = value g + 1).
    { unfold m', rmw. simpl. eexists. split; [split|].
      - apply upd_same.
      - intros l' N. apply upd_other. auto.
      - reflexivity. }
    destruct Ap as (g' & Ap & Ev).
    assert (Old : value g = newest_at (hist m) (Lost note)) by (apply (nth_newest _ (pred (length (hist m (Lost note))))); auto; lia).
    split; [|apply (tally_miss (hist m) (hist m') (cur (thr m 1)) (Missed note) Idle r k x note g'); auto;
             rewrite Ev, Old, (w_lost _ _ _ _ _ _ _ _ _ _ (c_writer _ _ _ _ _ _ _ _ _ _ _ _ _ C)); auto].
    assert (CS : core size turn words gap_text (hist m') (cur (thr m' 0)) (cur (thr m 1)) (cw m) (cr m) a Idle r (with_log x (Miss note))).
    { eapply (core_miss size turn words size_some gap_text); eauto.
      - rewrite Ev, Old. auto.
      - intros q. apply (g_cur _ _ G).
      - unfold m'. simpl. apply touch_at. }
    eapply (core_mono size turn words size_some gap_text); [exact CS| | | | |]; intros; auto; try (intros q; auto).
    all: unfold cw, cr, m', rmw; apply word_clock; auto.
Qed.

(* The writer stores a word of an entry. *)
Lemma step_word m a it j nx r k x : holds m (Wr a (Fill it j nx)) (Rd r k) x -> j < words ->
  holds (store m 0 true Rlx (Word (head a mod size) j) (nth j (text gap_text it) 0)) (Wr a (Fill it (S j) nx)) (Rd r k) x.
Proof.
  intros [T X (a' & c' & r' & k' & E0 & E1 & C & Y)] J. injection E0 as <- <-. injection E1 as <- <-.
  set (l := Word (head a mod size) j). set (v := nth j (text gap_text it) 0). destruct (store_grows m 0 true Rlx l v (t_wf _ T)) as [G W].
  assert (K : cr m (head a mod size) j <= cur (thr m 0) (Of 1)).
  { destruct C as [N M Wo R O A B]. destruct Wo. simpl in w_place. destruct w_place as (P1 & _).
    destruct (w_loads (head a mod size) j) as [|(n & K1 & K2 & K3)]; auto. exfalso.
    apply (lo_room _ _ _ _ _ (n_lane _ _ _ _ _ N) (head a) (num x n)); auto; try lia. exists n. auto. }
  set (m' := store _ _ _ _ _ _) in *.
  constructor; auto.
  - destruct T. constructor; simpl; auto.
    + rewrite t_racy0. apply negb_false_iff. apply ordered_intro. intros u p s Hn _. unfold l.
      destruct p; [|rewrite t_word0; lia]. destruct s; [rewrite t_store0; lia|].
      destruct (Nat.eq_dec u 1) as [->|]; [exact K | rewrite t_load0; lia].
    + intros s l' t' NW. destruct (eq_dec l l') as [<-|]; auto. exfalso. apply NW. eexists _, _. reflexivity.
    + intros s i j' t'. decide_eq; simpl; auto.
    + intros i j' t' N. decide_eq; simpl; auto. lia.
    + intros i j' t' N. decide_eq; simpl; auto.
  - exists a, (Fill it (S j) nx), r, k. split; auto. split; auto.
    split; [|eapply (tally_mono (hist m)); [exact Y | | intros q; apply (g_cur _ _ G) | | |]; auto;
             apply (put_elsewhere _ _ _ _ (put_appended m 0 true Rlx l v)); intros []].
    assert (CS := core_word size turn words size_some gap_text _ (hist m') _ (cur (thr m' 0)) _ _ _ _ _ _ _ _ _ _ (S (cur (thr m 0) (Of 0))) C J
                    (put_appended m 0 true Rlx l v) eq_refl (g_cur _ _ G 0) (store_knows m 0 true Rlx l v)).
    eapply (core_mono size turn words size_some gap_text); [apply CS| | | | |]; intros; auto; try (intros q; auto).
    + simpl. unfold touch, join. rewrite one_at. lia.
    + unfold cw, m'. simpl. unfold set2. fold l. destruct (eq_dec l (Word s j0)); auto.
Qed.

Lemma texts_at (m : mem loc) a it nx r x : mcore m a (Fill it words nx) r x -> length (text gap_text it) = words.
Proof. intros C. apply c_writer in C. destruct C. simpl in w_place. tauto. Qed.

Lemma publish_facts m a it nx r k x : mcore m a (Fill it words nx) r x -> mtold m (Fill it words nx) r k x ->
  honest (it :: log x) /\ match it with Miss _ => False | _ => True end /\ entries (log x) = count x /\ top r <= head a /\
  (forall i g, nth_error (hist m Head) i = Some g -> value g <= head a) /\
  forall b, misses b (log x) <= cur (thr m 0) (At (Lost b)).
Proof.
  intros [N M W R O _ _] Y. destruct W, R. simpl in w_place. destruct w_place as (_ & _ & _ & _ & P5 & P6).
  destruct r_seen as (i & (I1 & _) & Q & _). assert (H := fun i => hv_head size turn size_some a x (told r) i N).
  split; auto. split; [destruct it; auto|]. split; [|split; [|split]].
  - rewrite <- (texts_length gap_text), <- w_texts, map_length, seq_length. auto.
  - rewrite Q. auto.
  - intros i' g Hg. rewrite (proj1 (m_head _ _ _ _ _ _ _ M _ _ Hg)). apply H.
    apply nth_error_lt in Hg. rewrite (m_count _ _ _ _ _ _ _ M) in Hg. lia.
  - intros b. assert (X := O (Lost b) ltac:(discriminate) I). rewrite (y_lost _ _ _ _ _ _ Y) in X. lia.
Qed.

Lemma step_publish m a it nx r k x : holds m (Wr a (Fill it words nx)) (Rd r k) x ->
  holds (store m 0 false (publish y) Head (S (head a)))
        (Wr (forward a) match nx with Some e => Fill (Put e) 0 None | None => Idle end) (Rd r k) (published gap_text x a it).
Proof.
  intros [T X (a' & c' & r' & k' & E0 & E1 & C & Y)]. injection E0 as <- <-. injection E1 as <- <-.
  destruct (store_grows m 0 false (publish y) Head (S (head a)) (t_wf _ T)) as [G W].
  assert (NW : ~ plain_word Head) by notplain.
  set (m' := store _ _ _ _ _ _) in *.
  constructor; auto.
  - apply tidy_atomic; auto.
  - intros n K. simpl in *. unfold upd. destruct (eq_dec (count x) n); [eapply texts_at; eauto|]. apply X. lia.
  - eexists _, _, r, k. split; [reflexivity|]. split; auto. split; [|
      destruct (publish_facts _ _ _ _ _ _ _ C Y) as (F1 & F2 & F3 & F4 & F5 & F6);
      eapply (tally_publish gap_text (hist m) (hist m') (cur (thr m 1)) (Fill it words nx));
        [exact Y | exact (fun o => o) | apply put_appended | reflexivity | | exact F1 | exact F2 | exact F3 | exact F4 | exact F5];
      simpl; rewrite publish_rel; intros b; eapply Nat.le_trans; [apply F6 | apply touch_cur]].
    assert (CS : core size turn words gap_text (hist m') (cur (thr m' 0)) (cur (thr m 1)) (cw m) (cr m) (forward a)
                   match nx with Some e => Fill (Put e) 0 None | None => Idle end r (published gap_text x a it)).
    { eapply (core_publish size turn words size_some gap_text); [exact C | apply put_appended | reflexivity | | exact (g_cur _ _ G 0) | apply store_knows].
      simpl. rewrite publish_rel. intros q. apply touch_cur. }
    eapply (core_mono size turn words size_some gap_text); [exact CS| | | | |]; intros; auto; try (intros q; auto).
    all: unfold cw, cr, m', store; apply word_clock; auto.
Qed.

(* A load of the writer. *)
Lemma load_core m o l i g t : tidy m -> ~ plain_word l ->
  let m' := load m t false o l i g in
  tidy m' /\ (forall l, hist m' l = hist m l) /\ (forall i j, cw m' i j = cw m i j) /\ (forall i j, cr m' i j = cr m i j) /\ grows m m'.
Proof.
  intros T NW m'. destruct (load_grows m t false o l i g (t_wf _ T)) as [G W]. split; [|split; [|split; [|split]]]; auto.
  - apply tidy_atomic; auto.
  - intros l'. unfold m'. simpl. unfold upd. decide_eq; congruence.
  - intros. unfold cw, m', load. apply word_clock. auto.
  - intros. unfold cr, m', load. apply word_clock. auto.
Qed.

Lemma own_value m a c r x l i g : mcore m a c r x -> l <> Tail -> mine l -> loadable m 0 l i g ->
  value g = newest_at (hist m) l.
Proof.
  intros C N Hm [H L]. apply (nth_newest _ i); auto. assert (O := c_own _ _ _ _ _ _ _ _ _ _ _ _ _ C l N Hm). lia.
Qed.

(* Nothing is stored. *)
Lemma told_on h h' c1 c1' c c' r k x : tally_ok h c1 c r k x -> (forall l, h' l = h l) -> vle c1 c1' -> (over c -> over c') ->
  tally_ok h' c1' c' r k x.
Proof. intros Y E V O. eapply tally_mono; eauto. Qed.

(* A load that changes where the writer is, and nothing else. *)
Lemma writer_place h c0 c1 kw kr a c c' r x : core size turn words gap_text h c0 c1 kw kr a c r x ->
  todo_of c' = todo_of c -> telling c' = telling c -> place_ok size words gap_text h a c' x ->
  core size turn words gap_text h c0 c1 kw kr a c' r x.
Proof.
  intros [N M W R O A B] E1 E2 P. constructor; auto. destruct W. constructor; auto; rewrite ?E1, ?E2; auto.
Qed.

Lemma step_count m a e note got r k x l i g o : holds m (Wr a (Ask e note got)) (Rd r k) x ->
  nth_error counters (length got) = Some l -> loadable m 0 l i g ->
  holds (load m 0 false o l i g) (Wr a (Ask e note (got ++ [value g]))) (Rd r k) x.
Proof.
  intros Hd Hl Hg. assert (Hd' := Hd). destruct Hd' as [T X (a' & c' & r' & k' & E0 & E1 & C & Y)].
  injection E0 as <- <-. injection E1 as <- <-.
  assert (NT : l <> Tail /\ ~ plain_word l /\ mine l).
  { destruct got as [|? [|? [|? [|? got]]]]; simpl in Hl; [injection Hl as <- ..|destruct (length got); discriminate];
      repeat split; try discriminate; notplain. }
  destruct NT as (NT & NW & NM). assert (V := own_value _ _ _ _ _ _ _ _ C NT NM Hg).
  assert (Hn := calm_load m 0 o l i g _ _ _ Hd NW). destruct Hn as [T' X' (a' & c' & r' & k' & E0 & E1 & C' & Y')].
  injection E0 as <- <-. injection E1 as <- <-.
  constructor; auto. eexists _, _, r, k. split; [reflexivity|]. split; auto.
  split; [|apply (told_on _ _ _ _ _ _ _ _ _ Y'); auto; try (intros q; auto); intros []].
  eapply writer_place; [exact C' | reflexivity | reflexivity |].
  apply c_writer in C'. destruct C'. simpl in *. destruct w_place as (P1 & P2 & P3). repeat (split; auto).
  intros n v Hn. apply nth_snoc in Hn. destruct Hn as [[_ Hn]|[-> ->]]; auto.
  apply c_writer in C. destruct C. simpl in *.
  assert (L0 := w_lost0 false). assert (L1 := w_lost0 true). assert (S0 := w_said0 false). assert (S1 := w_said0 true).
  rewrite V.
  destruct got as [|? [|? [|? [|? got]]]]; simpl in Hl; [injection Hl as <- ..|destruct (length got); discriminate]; simpl; auto.
Qed.

Lemma step_gap m a e ev no r k x i g o : holds m (Wr a (GapTime e ev no)) (Rd r k) x -> loadable m 0 GapTs i g ->
  holds (load m 0 false o GapTs i g) (Wr a (Fill (Gap (value g) ev no) 0 (Some e))) (Rd r k) x.
Proof.
  intros Hd Hg. assert (Hn := calm_load m 0 o GapTs i g _ _ _ Hd ltac:(notplain)).
  destruct Hn as [T' X' (a' & c' & r' & k' & E0 & E1 & C' & Y')].
  injection E0 as <- <-. injection E1 as <- <-.
  constructor; auto. eexists _, _, r, k. split; [reflexivity|]. split; auto.
  split; [|apply (told_on _ _ _ _ _ _ _ _ _ Y'); auto; try (intros q; auto); intros []].
  eapply writer_place; [exact C' | reflexivity | reflexivity |].
  apply c_writer in C'. destruct C'. simpl in *. destruct w_place as (P1 & P2 & P3 & P4 & P5). repeat (split; auto); try lia.
Qed.

Lemma step_room m a e note got r k x i g skipping b end_ ws a' c' : holds m (Wr a (Ask e note got)) (Rd r k) x ->
  loadable m 0 Tail i g -> length got = 4 -> (skipping = true -> turns_fit size turn) ->
  find_end size turn skipping a (value g) (need_of got) = (b, end_, ws) ->
  (has_room b end_ (need_of got) = true /\ a' = see b (value g) (new_limit turn skipping b end_ (need_of got)) /\
   c' = (if need_of got =? 1 then Puts (skips_words ws b) (Fill (Put e) 0 None)
         else Puts (skips_words ws b ++ said_words got) (GapTime e (lost_of got false) (lost_of got true))) \/
   has_room b end_ (need_of got) = false /\ a' = see b (value g) (limit b) /\
   ((exists ts, c' = Puts (skips_words ws b ++ if need_of got =? 1 then [(GapTs, ts)] else []) (Missed note)) \/
    c' = Puts (skips_words ws b) (Ask e note got))) ->
  holds (load m 0 false (room y) Tail i g) (Wr a' c') (Rd r k) (with_skips x (made ws b)).
Proof.
  intros [T X (a0 & c0 & r' & k' & E0 & E1 & C & Y)] [Hg Hi] L4 TF F Cs. injection E0 as <- <-. injection E1 as <- <-.
  destruct (load_core m (room y) Tail i g 0 T ltac:(notplain)) as (T' & H' & Kw & Kr & G).
  set (m' := load _ _ _ _ _ _ _) in *.
  assert (Hi' : i <= cur (thr m' 0) (At Tail)) by apply load_knows.
  assert (V := g_cur _ _ G 0). assert (Vg : vle (with_ g) (cur (thr m' 0))) by (intros q; apply load_acquires; auto).
  destruct (room_facts size turn words size_some gap_text _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ C Hg Hi Hi' L4 F TF) as (Fd & Eh & Sn & Le).
  assert (P := c_writer _ _ _ _ _ _ _ _ _ _ _ _ _ C). destruct P. simpl in w_place. destruct w_place as (_ & _ & P3).
  destruct (got_lost size size_some x got false L4 P3) as [Gf _]. destruct (got_lost size size_some x got true L4 P3) as [Gt _].
  constructor; auto. eexists _, _, r, k. split; [reflexivity|]. split; auto.
  split; [|apply tally_skips; apply (told_on _ _ _ _ _ _ _ _ _ Y H' (g_cur _ _ G 1)); intros []].
  eapply (core_mono size turn words size_some gap_text (hist m) (hist m') (cur (thr m' 0)) (cur (thr m' 0)) (cur (thr m 1)));
    [| intros; apply H' | intros q; auto | exact (g_cur _ _ G 1) | exact Kw | exact Kr].
  destruct Cs as [(HR & -> & ->)|(HR & -> & Cs)].
  - assert (HL' : head b + need_of got <= new_limit turn skipping b end_ (need_of got) <= end_).
    { apply limit_between with size; auto; [|unfold has_room in HR; apply Nat.leb_le in HR; auto].
      destruct skipping; auto. left. apply TF. auto. }
    destruct (need_is size size_some got) as [(Nd & N0 & N1)|(Nd & N0)].
    + replace (need_of got =? 1) with true by (rewrite Nd; reflexivity).
      eapply (core_room size turn words size_some gap_text) with (said := []); eauto.
      intros Hb. simpl. repeat (split; auto); try lia.
    + replace (need_of got =? 1) with false by (rewrite Nd; reflexivity).
      eapply (core_room size turn words size_some gap_text) with (said := said_words got); eauto.
      * simpl. rewrite app_nil_r. reflexivity.
      * intros Hb. simpl. repeat (split; auto); try lia.
  - assert (W0 : ws = []) by (inversion Fd; auto; congruence).
    destruct Cs as [[ts ->]| ->]; eapply (core_full size turn words size_some gap_text); eauto; rewrite W0; simpl; auto.
    + destruct (need_of got =? 1); simpl; [right; exists ts|left]; auto.
Qed.

(* --- the reader ------------------------------------------------------------------------------------------------------------- *)

Lemma step_look m a c r k x i g : holds m (Wr a c) (Rd r k) x -> loadable m 1 Head i g ->
  holds (load m 1 false (look y) Head i g) (Wr a c)
        (Rd (Reader (next r) (told r) (value g) [] (Look [])) (Tally (ended k) (ended k) (counts k))) x.
Proof.
  intros [T X (a' & c' & r' & k' & E0 & E1 & C & Y)] [Hg Hi]. injection E0 as <- <-. injection E1 as <- <-.
  destruct (load_core m (look y) Head i g 1 T ltac:(notplain)) as (T' & H' & Kw & Kr & G).
  assert (Vg : vle (with_ g) (cur (thr (load m 1 false (look y) Head i g) 1))) by (intros q; apply load_acquires; auto).
  assert (Ki := load_knows m 1 false (look y) Head i g). set (m' := load _ _ _ _ _ _ _) in *.
  constructor; auto. eexists _, _, _, _. split; [reflexivity|]. split; [reflexivity|]. split.
  - eapply (core_mono size turn words size_some gap_text (hist m) (hist m') (cur (thr m 0)) (cur (thr m' 0)) (cur (thr m' 1)));
      [| intros; apply H' | exact (g_cur _ _ G 0) | intros q; auto | exact Kw | exact Kr].
    eapply (core_look size turn words size_some gap_text); eauto. exact (g_cur _ _ G 1).
  - destruct C as [N M _ _ _ _ _].
    eapply told_on; [eapply (tally_look (hist m)); [exact Y | exact Hg | exact Hi | | | exact (g_cur _ _ G 1) | exact Vg]
      | exact H' | intros q; auto | auto].
    + apply (m_head _ _ _ _ _ _ _ M _ _ Hg).
    + apply nth_error_lt in Hg. rewrite (m_count _ _ _ _ _ _ _ M) in Hg. lia.
Qed.

Lemma step_load m a c r k x l i g got o : holds m (Wr a c) (Rd r k) x -> at_ r = Look got ->
  nth_error look_words (length got) = Some l -> loadable m 1 l i g ->
  holds (load m 1 false o l i g) (Wr a c) (Rd (set_at r (Look (got ++ [value g]))) k) x.
Proof.
  intros [T X (a' & c' & r' & k' & E0 & E1 & C & Y)] HR Hl [Hg Hi]. injection E0 as <- <-. injection E1 as <- <-.
  assert (NW : ~ plain_word l).
  { destruct got as [|? [|? [|? [|? [|? [|? got]]]]]]; simpl in Hl; [injection Hl as <- ..|destruct (length got); discriminate]; notplain. }
  destruct (load_core m o l i g 1 T NW) as (T' & H' & Kw & Kr & G).
  set (m' := load _ _ _ _ _ _ _) in *.
  constructor; auto. eexists _, _, _, _. split; [reflexivity|]. split; [reflexivity|]. split.
  - eapply (core_mono size turn words size_some gap_text (hist m) (hist m') (cur (thr m 0)) (cur (thr m' 0)) (cur (thr m' 1)));
      [| intros; apply H' | exact (g_cur _ _ G 0) | intros q; auto | exact Kw | exact Kr].
    eapply (core_load size turn words size_some gap_text); eauto. exact (g_cur _ _ G 1).
  - eapply told_on; [eapply (tally_load (hist m)); [exact Y | exact HR | exact Hl | exact Hg | exact Hi | exact (g_cur _ _ G 1)]
      | exact H' | intros q; auto | auto].
Qed.

(* The end of the writer is seen. *)
Lemma step_over m a c r k x i g : holds m (Wr a c) (Rd r k) x -> loadable m 1 Gone i g -> value g <> 0 ->
  holds (load m 1 false Acq Gone i g) (Wr a c) (Rd r (Tally true (final k) (counts k))) x.
Proof.
  intros [T X (a' & c' & r' & k' & E0 & E1 & C & Y)] [Hg Hi] Ev. injection E0 as <- <-. injection E1 as <- <-.
  destruct (load_core m Acq Gone i g 1 T ltac:(notplain)) as (T' & H' & Kw & Kr & G).
  assert (Vg : vle (with_ g) (cur (thr (load m 1 false Acq Gone i g) 1))) by (intros q; apply load_acquires; auto).
  set (m' := load _ _ _ _ _ _ _) in *.
  constructor; auto. eexists _, _, _, _. split; [reflexivity|]. split; [reflexivity|]. split.
  - eapply (core_mono size turn words size_some gap_text (hist m) (hist m'));
      [exact C | intros; apply H' | exact (g_cur _ _ G 0) | exact (g_cur _ _ G 1) | exact Kw | exact Kr].
  - eapply told_on; [eapply (tally_over (hist m)); [exact Y | exact Hg | exact Ev | exact (g_cur _ _ G 1) | exact Vg]
      | exact H' | intros q; auto | auto].
Qed.

Lemma step_ended m a c r k x : holds m (Wr a c) (Rd r k) x -> holds (store m 0 false Rel Gone 1) (Wr a (Ended c)) (Rd r k) x.
Proof.
  intros [T X (a' & c' & r' & k' & E0 & E1 & C & Y)]. injection E0 as <- <-. injection E1 as <- <-.
  destruct (store_grows m 0 false Rel Gone 1 (t_wf _ T)) as [G W].
  assert (NW : ~ plain_word Gone) by notplain.
  set (m' := store _ _ _ _ _ _) in *.
  constructor; auto.
  - apply tidy_atomic; auto.
  - exists a, (Ended c), r, k. split; auto. split; auto. split.
    + assert (CS := core_ended size turn words size_some gap_text _ _ _ (cur (thr m' 0)) _ _ _ _ _ _ _ _ C
                      (put_appended m 0 false Rel Gone 1) (g_cur _ _ G 0) (store_knows m 0 false Rel Gone 1)).
      eapply (core_mono size turn words size_some gap_text); [exact CS| | | | |]; intros; auto; try (intros q; auto).
      all: unfold cw, cr, m', store; apply word_clock; auto.
    + eapply (tally_ended (hist m)); [exact Y | apply put_appended | intros q; apply touch_cur | | apply C].
      intros l Hl. destruct C as [_ _ _ _ O _ _]. apply O; destruct l; simpl in *; try tauto; discriminate.
Qed.

Lemma step_done m a c r k x : holds m (Wr a c) (Rd r k) x -> at_ r = Ready ->
  holds (store m 1 false (done y) Tail (next r)) (Wr a c) (Rd (Reader (next r) (next r) (top r) (ahead r) Ready) k) x.
Proof.
  intros [T X (a' & c' & r' & k' & E0 & E1 & C & Y)] HR. injection E0 as <- <-. injection E1 as <- <-.
  destruct (store_grows m 1 false (done y) Tail (next r) (t_wf _ T)) as [G W].
  assert (NW : ~ plain_word Tail) by notplain.
  set (m' := store _ _ _ _ _ _) in *.
  constructor; auto.
  - apply tidy_atomic; auto.
  - eexists _, _, _, _. split; [reflexivity|]. split; [reflexivity|]. split.
    + assert (CS : core size turn words gap_text (hist m') (cur (thr m 0)) (cur (thr m' 1)) (cw m) (cr m) a c
                     (Reader (next r) (next r) (top r) (ahead r) Ready) x).
      { eapply (core_done size turn words size_some gap_text); [exact C | exact HR | apply put_appended | reflexivity | | exact (g_cur _ _ G 1)].
        simpl. rewrite done_rel. intros q. apply touch_cur. }
      eapply (core_mono size turn words size_some gap_text); [exact CS| | | | |]; intros; auto; try (intros q; auto).
      all: unfold cw, cr, m', store; apply word_clock; auto.
    + eapply (tally_mono (hist m)); [exact Y | | exact (g_cur _ _ G 1) | | |]; auto.
      * apply (put_elsewhere _ _ _ _ (put_appended m 1 false (done y) Tail (next r))). intros [].
      * intros b v. unfold has. rewrite HR. auto.
Qed.

Lemma step_read m a c r k x n got j i g : holds m (Wr a c) (Rd r k) x -> at_ r = Copy n got -> j < words ->
  loadable m 1 (Word (n mod size) j) i g ->
  holds (load m 1 true Rlx (Word (n mod size) j) i g) (Wr a c) (Rd (set_at r (Copy n ((j, value g) :: got))) k) x.
Proof.
  intros [T X (a' & c' & r' & k' & E0 & E1 & C & Y)] HR J [Hg Hi]. injection E0 as <- <-. injection E1 as <- <-.
  set (l := Word (n mod size) j) in *. destruct (load_grows m 1 true Rlx l i g (t_wf _ T)) as [G W].
  destruct (word_known size turn words size_some gap_text _ _ _ _ _ _ _ _ _ _ _ _ C HR J) as (K & _).
  set (m' := load _ _ _ _ _ _ _) in *.
  assert (H' : forall l', hist m' l' = hist m l') by (intros l'; unfold m'; simpl; unfold upd; decide_eq; congruence).
  constructor; auto.
  - destruct T. constructor; simpl; auto.
    + rewrite t_racy0. apply negb_false_iff. apply ordered_intro. intros u p s Hn E.
      unfold l. destruct p; [|rewrite t_word0; lia]. destruct s; [|discriminate].
      destruct (Nat.eq_dec u 0) as [->|]; [exact K | rewrite t_store0; lia].
    + intros s l' t' NW. destruct (eq_dec l l') as [<-|]; auto. exfalso. apply NW. eexists _, _. reflexivity.
    + intros s i' j' t'. decide_eq; simpl; auto.
    + intros i' j' t' N. decide_eq; simpl; auto.
    + intros i' j' t' N. decide_eq; simpl; auto. lia.
  - eexists _, _, _, _. split; [reflexivity|]. split; [reflexivity|]. split.
    + assert (CS : core size turn words gap_text (hist m) (cur (thr m 0)) (cur (thr m' 1)) (cw m)
                     (set2 (cr m) (n mod size) j (S (cur (thr m 1) (Of 1)))) a c (set_at r (Copy n ((j, value g) :: got))) x).
      { eapply (core_read size turn words size_some gap_text); eauto.
        - exact (g_cur _ _ G 1).
        - simpl. unfold touch, join. rewrite one_at. lia. }
      eapply (core_mono size turn words size_some gap_text); [exact CS| | | | |]; intros; auto; try (intros q; auto).
      all: unfold cw, cr, m'; simpl; unfold upd, set2; fold l; decide_eq; auto; congruence.
    + eapply (tally_mono (hist m)); [exact Y | | exact (g_cur _ _ G 1) | | |]; auto.
      intros b v. unfold has. rewrite HR. auto.
Qed.

(* The reader goes on in what it has looked at. *)
Ltac moved := match goal with Y : tally_ok (hist ?m) _ _ _ _ _, HR : at_ _ = _ |- _ =>
  eapply (tally_mono (hist m)); [exact Y | | intros q; auto | | |]; auto; intros b v; unfold has; rewrite HR; auto end.

Lemma step_silent m l0 l1 t l l' x x' : holds m l0 l1 x -> silent size words t l x l' x' ->
  (t = 0 /\ l = l0 -> holds m l' l1 x') /\ (t = 1 /\ l = l1 -> holds m l0 l' x').
Proof.
  intros [T X (a & c & r & k & -> & -> & C & Y)] H. split; intros [-> ->]; inversion H; subst; try discriminate;
    try (match goal with HR : at_ r = Look _, HL : length _ = 6, HS : size < _ |- _ =>
           destruct (skips_right size turn words size_some gap_text _ _ _ _ _ _ _ _ _ _ C HR HL); lia end);
    constructor; auto; eexists _, _, _, _; (split; [reflexivity|]); (split; [reflexivity|]);
    (split; [|try (eapply told_on; [exact Y | auto | intros q; auto | intros []]; fail)]).
  - eapply writer_place; [exact C | reflexivity | reflexivity |]. destruct C as [N M W R O A B]. destruct W. simpl in *.
    destruct (n_lane _ _ _ _ _ N). destruct w_place as [U1 U2]; [lia|]. repeat (split; auto); try lia.
  - eapply writer_place; [exact C | reflexivity | reflexivity |]. simpl. repeat (split; auto). intros n v Hn. destruct n; discriminate.
  - eapply writer_place; [exact C | reflexivity | reflexivity |]. apply c_writer in C. apply (w_place _ _ _ _ _ _ _ _ _ _ C).
  - eapply (skips_right size turn words size_some gap_text); eauto.
  - apply tally_ready with (got := got); auto.
  - eapply (core_pass size turn words size_some gap_text); eauto.
  - moved.
  - eapply (core_begin size turn words size_some gap_text); eauto.
  - moved.
  - eapply (core_drop size turn words gap_text); eauto.
  - moved.
  - eapply (core_take size turn words size_some gap_text); eauto.
  - apply tally_taken. moved.
Qed.

Theorem step_inv s s' : inv s -> step ring s s' -> inv s'.
Proof.
  unfold inv. intros Hd H. destruct H as [m w x t o r l' x' m' Ht D M|m w x t l' x' Ht D|m w x c t Hin]; simpl in *.
  - assert (Hd' := Hd). destruct Hd' as [_ _ (a & c & r0 & k0 & E0 & E1 & _)].
    destruct (Nat.eq_dec t 0) as [->|N0]; [|destruct (Nat.eq_dec t 1) as [->|N1]].
    + change (holds m' l' (w 1) x'). rewrite E0, E1 in *.
      inversion D; subst; try discriminate; try (eapply calm_aside; eauto; fail); rewrite ?exact_room, ?Nat.add_0_r in *;
        inversion M; subst.
      * eapply step_count; eauto.
      * eapply step_room; eauto.
      * eapply step_room; eauto; right; repeat split; eauto.
      * eapply step_room; eauto; right; repeat split; eauto.
      * apply step_store. auto.
      * apply step_gap with (o := Rlx); auto.
      * apply step_word; auto.
      * apply step_publish; auto.
      * apply step_miss; auto.
      * apply step_ended. auto.
    + change (holds m' (w 0) l' x'). rewrite E0, E1 in *.
      inversion D; subst; try discriminate; try (eapply calm_aside; eauto; fail); inversion M; subst.
      * apply step_over; auto.
      * apply step_look; auto.
      * eapply step_load; eauto.
      * eapply step_read; eauto.
      * apply step_done; auto.
    + unfold upd. destruct (eq_dec t 0), (eq_dec t 1); try congruence. inversion D; subst; try congruence. eapply calm_aside; eauto.
  - destruct (step_silent m (w 0) (w 1) t (w t) l' x x' Hd D) as [A B].
    destruct (Nat.eq_dec t 0) as [->|N0]; [apply A; auto|]. destruct (Nat.eq_dec t 1) as [->|N1]; [apply B; auto|].
    exfalso. inversion D; congruence.
  - apply calm_reaches. auto.
Qed.

Variable threads : nat.
Variable registered : tid -> bool.
Variable junk : loc -> val.

Lemma start_inv : inv (initial size threads registered junk).
Proof.
  unfold inv, initial. simpl. constructor.
  - constructor; simpl; auto using wf_start.
  - simpl. lia.
  - eexists _, _, _, _. split; [reflexivity|]. split; [reflexivity|].
    assert (Z : forall n (g : message loc) z, nth_error [Message z bottom] n = Some g -> n = 0 /\ g = Message z bottom).
    { intros n g z Hn. destruct n as [|[|]]; simpl in Hn; try discriminate. injection Hn as <-. auto. }
    split; [|constructor; simpl; auto; try discriminate;
      [ intros b n g Hn; destruct (Z _ _ _ Hn) as [-> ->]; auto
      | intros i g b _ j _ _; simpl; lia
      | intros i g Hn; destruct (Z _ _ _ Hn) as [_ ->]; auto
      | intros b j _ _; simpl; lia
      | intros b v ->; simpl; split; auto; intros j _ _; simpl; lia ]].
    assert (One : In (0, 0) [(0, 0)]) by (left; auto).
    assert (L : lane_ok size turn (pub nothing) (Lane 0 size 0 0 0 0 0) [(0, 0)]).
    { constructor; simpl; auto; try lia.
      all: try (intros ? (? & K & _); simpl in K; lia).
      all: try (intros ? ? _ (? & K & _); simpl in K; lia).
      all: try (intros ? [<-|[]]; unfold outside; simpl; auto; lia).
      all: try (intros ? ? [<-|[]] [<-|[]]; auto).
      apply Passed; simpl; lia. }
    assert (PK : forall f t v, zeroed junk f = 0 -> zeroed junk t = 0 ->
                 pair_ok (fun l => [Message (zeroed junk l) bottom]) f t (0, 0) 0 0 v).
    { intros f t v F F'. split; intros n g Hn _; destruct (Z _ _ _ Hn) as [_ ->]; simpl; auto. }
    assert (Kn : forall k v, knows size words (fun l => [Message (zeroed junk l) bottom]) k nothing 0 0 v).
    { intros k v. split; [simpl; lia|]. split; simpl; apply PK; auto. }
    constructor; simpl.
    + constructor; simpl; auto; try lia.
      * intros i s I [<-|[]]. assert (i = 0) by lia. subst. simpl. lia.
      * intros i s I [<-|[]]. auto.
      * intros i I. assert (i = 0) by lia. subst. simpl. auto.
      * intros i t I. assert (i = 0) by lia. subst. simpl. lia.
    + constructor; simpl; auto.
      * intros i g Hn. destruct (Z _ _ _ Hn) as [-> ->]. split; auto.
      * intros i g Hn. destruct (Z _ _ _ Hn) as [-> ->]. simpl. repeat split; auto.
        -- intros s [<-|[]]. left. simpl. lia.
        -- intros s j. left. unfold cr. simpl. lia.
      * intros i i' g g' _ H1 H2. destruct (Z _ _ _ H1) as [_ ->], (Z _ _ _ H2) as [_ ->]. auto.
      * lia.
    + constructor; simpl; auto; try tauto.
      * intros i g Hn _. lia.
      * intros s j. left. unfold cr. simpl. lia.
    + constructor; simpl; auto.
      * intros s [<-|[]]. left. simpl. lia.
      * repeat split; intros; lia.
      * exists 0. refine (conj _ (conj _ (conj (Kn _ _) _))); simpl; auto. unfold at_ok, ahead_ok. simpl. split; [|split].
        -- intros s [<-|[]]; simpl; lia.
        -- tauto.
        -- constructor.
    + intros l _. simpl. lia.
    + unfold cw. simpl. auto.
    + unfold cr. simpl. auto.
Qed.

Lemma always_inv s : steps ring (initial size threads registered junk) s -> inv s.
Proof. apply always; auto using start_inv. intros. eapply step_inv; eauto. Qed.

(* --- theorems --------------------------------------------------------------------------------------------------------------- *)

(* No entry is read while it is written: there is never a data race. *)
Theorem ring_race_free s : steps ring (initial size threads registered junk) s -> racy (memory s) = false.
Proof. intros H. apply (t_racy _ (h_tidy _ _ _ _ (always_inv s H))). Qed.

(*
 * What the reader has taken is what was put, from the first entry on: each once, whole, in order. An entry that was not put is
 * counted, by lost_events or lost_notes, and the next that is put comes after one that says exactly how many there were.
 *)
Theorem ring_fifo s : steps ring (initial size threads registered junk) s ->
  (exists later, texts gap_text (log (beside s)) = rev (out (beside s)) ++ later) /\
  honest (log (beside s)) /\
  forall b, newest_at (hist (memory s)) (Lost b) = misses b (log (beside s)).
Proof.
  intros H. destruct (always_inv s H) as [T X (a & c & r & k & _ & _ & C & Y)]. destruct C as [N M W R O A B].
  destruct W, R. split; [|auto]. exists (map (ent (beside s)) (seq (took (beside s)) (count (beside s) - took (beside s)))).
  rewrite <- w_texts, r_outs, rev_involutive, <- map_app. f_equal.
  replace (count (beside s)) with (took (beside s) + (count (beside s) - took (beside s))) at 1 by lia. apply seq_app.
Qed.

(*
 * Always: what was taken, what the entries taken told as lost, and what is not yet taken (it is in the ring, or lost and not told
 * by an entry that was taken) are together all that was tried. Up to the last entry taken, what was told is all that was lost.
 *)
Theorem ring_accounting s : steps ring (initial size threads registered junk) s ->
  let older := upto (took (beside s)) (log (beside s)) in
  exists newer, log (beside s) = newer ++ older /\ rev (out (beside s)) = texts gap_text older /\
    (forall b, said b older = misses b older) /\
    puts older + (said false older + said true older) + tries newer = tries (log (beside s)).
Proof.
  intros H older. destruct (always_inv s H) as [T X (a & c & r & k & _ & _ & C & Y)]. destruct C as [N M W R O A B].
  destruct W, R. destruct (upto_part (took (beside s)) (log (beside s))) as [newer E]. exists newer.
  assert (Told := fun b => upto_told b (took (beside s)) _ w_honest). split; auto. split; [|split]; auto.
  - unfold older. rewrite texts_upto, <- w_texts, r_outs, rev_involutive, firstn_map; [rewrite firstn_seq by tauto; auto|].
    rewrite <- (texts_length gap_text), <- w_texts, map_length, seq_length. tauto.
  - unfold older. rewrite E at 4. rewrite tries_app, !Told. unfold tries. lia.
Qed.

(* The counts of losses that the reader has loaded are no less than what the entries that it has taken told, and no more than all. *)
Theorem told_no_more s r k : steps ring (initial size threads registered junk) s -> where_ s 1 = Rd r k -> at_ r = Ready ->
  forall b, said b (upto (took (beside s)) (log (beside s))) <= counts k b <= misses b (log (beside s)).
Proof.
  intros H E1 HR b. destruct (always_inv s H) as [T X (a & c & r' & k' & _ & E & C & Y)]. rewrite E1 in E. injection E as <- <-.
  destruct C as [N M W R O A B]. destruct R. destruct r_took as (T1 & T2 & _).
  destruct (y_counts _ _ _ _ _ _ Y b (counts k b)) as (P & Q & _); [unfold has; rewrite HR; auto|]. split; auto.
  apply P; auto. destruct (took (beside s)) as [|n]; simpl; [lia|]. specialize (T2 n ltac:(lia)). lia.
Qed.

(* Where the reader's tail is the newest head, nothing is missing. *)
Theorem ring_all s r k : steps ring (initial size threads registered junk) s -> where_ s 1 = Rd r k ->
  next r = newest_at (hist (memory s)) Head -> rev (out (beside s)) = texts gap_text (log (beside s)).
Proof.
  intros H E1 Hn. destruct (always_inv s H) as [T X (a & c & r' & k' & _ & E & C & Y)]. rewrite E1 in E. injection E as <- <-.
  destruct C as [N M W R O A B]. destruct W, R. rewrite <- w_texts, r_outs, rev_involutive. f_equal. f_equal.
  destruct r_took as (T1 & T2 & T3). destruct (Nat.eq_dec (took (beside s)) (count (beside s))) as [|Ne]; auto. exfalso.
  assert (K : took (beside s) < count (beside s)) by lia. specialize (T3 _ (Nat.le_refl _) K).
  destruct (nth_error (hist (memory s) Head) (count (beside s))) as [g|] eqn:G.
  - destruct (m_head _ _ _ _ _ _ _ M _ _ G) as [V _]. rewrite (nth_newest _ _ _ G) in V.
    + assert (Z : num (beside s) (took (beside s)) < hv (beside s) (count (beside s))) by (eapply hv_above; eauto). unfold newest_at in Hn. lia.
    + rewrite (m_count _ _ _ _ _ _ _ M). auto.
  - apply nth_error_None in G. rewrite (m_count _ _ _ _ _ _ _ M) in G. lia.
Qed.

(*
 * The last look: it has begun when the reader knew that the writer has ended, and all below its head are taken. Then nothing is
 * left: what was taken, what the entries told, and what the counts have beyond that, are together all that was tried.
 *)
Theorem ring_accounting_at_the_end s r k : steps ring (initial size threads registered junk) s -> where_ s 1 = Rd r k ->
  final k = true -> at_ r = Ready -> next r = top r ->
  let all := log (beside s) in
  rev (out (beside s)) = texts gap_text all /\ (forall b, said b all + (counts k b - said b all) = misses b all) /\
  puts all + (said false all + (counts k false - said false all)) + (said true all + (counts k true - said true all)) = tries all.
Proof.
  intros H E1 F HR Hn all. destruct (always_inv s H) as [T X (a & c & r' & k' & _ & E & C & Y)].
  assert (E' := E1). rewrite E1 in E. injection E as <- <-.
  assert (L : forall b, said b all + (counts k b - said b all) = misses b all).
  { intros b. destruct (y_counts _ _ _ _ _ _ Y b (counts k b)) as (_ & _ & Q); [unfold has; rewrite HR; auto|].
    assert (U := said_unsaid b all (w_honest _ _ _ _ _ _ _ _ _ _ (c_writer _ _ _ _ _ _ _ _ _ _ _ _ _ C))).
    specialize (Q F). fold all in Q. lia. }
  split; [|split; [exact L|]].
  - apply (ring_all s r k); auto. destruct C as [N M W R O A B]. rewrite Hn.
    destruct (y_final _ _ _ _ _ _ Y F) as [_ ->].
    destruct (nth_error (hist (memory s) Head) (count (beside s))) as [g|] eqn:G.
    + rewrite <- (proj1 (m_head _ _ _ _ _ _ _ M _ _ G)). apply (nth_newest _ _ _ G). rewrite (m_count _ _ _ _ _ _ _ M). auto.
    + apply nth_error_None in G. rewrite (m_count _ _ _ _ _ _ _ M) in G. lia.
  - assert (L0 := L false). assert (L1 := L true). unfold tries. lia.
Qed.

(* The reader never finds more than the ring can have: with an honest writer it never begins anew. *)
Theorem ring_never_anew s r k : steps ring (initial size threads registered junk) s -> where_ s 1 = Rd r k -> at_ r <> Anew.
Proof.
  intros H E1 Hn. destruct (always_inv s H) as [T X (a & c & r' & k' & _ & E & C & Y)]. rewrite E1 in E. injection E as <- <-.
  destruct C as [N M W R O A B]. destruct R. destruct r_seen as (i & _ & _ & _ & U). unfold at_ok in U. rewrite Hn in U. auto.
Qed.

End Ring.
