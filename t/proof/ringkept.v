(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * ringkept.v - what each step of ringsteps.v keeps.
 *
 * Histories, views and clocks are those of the memory, but here they are only functions: ring.v says which ones a step changes, and how.
 * core is all of it: what holds of the numbers of entries (nums), of the messages (msgs), of the writer and of the reader.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views lanes ringlogs ringsteps.
Local Arguments Nat.div : simpl never.
Local Arguments Nat.modulo : simpl never.
Local Arguments Nat.mul : simpl never.

(* --- histories -------------------------------------------------------------------------------------------------------------- *)

Notation history := (loc -> list (message loc)).

(* What is of the ring. *)
Definition mine (l : loc) : Prop := match l with Other _ => False | _ => True end.

Definition newest_at (h : history) (l : loc) : val := last (map value (h l)) 0.

Lemma last_snoc {A} (h : list A) v d : last (h ++ [v]) d = v.
Proof. induction h as [|a [|b h]]; simpl in *; auto. Qed.

Lemma nth_newest (h : list (message loc)) i g : nth_error h i = Some g -> length h <= S i -> value g = last (map value h) 0.
Proof.
  revert i. induction h as [|a h IH]; intros i H L; [destruct i; discriminate|].
  destruct h as [|b h].
  - destruct i; simpl in *; [congruence|]. destruct i; discriminate.
  - destruct i; simpl in L; [lia|]. simpl in H. rewrite (IH i H ltac:(simpl; lia)). reflexivity.
Qed.

Lemma nth_snoc {A} (h : list A) v i g : nth_error (h ++ [v]) i = Some g ->
  (i < length h /\ nth_error h i = Some g) \/ (i = length h /\ g = v).
Proof.
  intros H. destruct (Nat.lt_ge_cases i (length h)) as [L|L].
  - rewrite nth_error_app1 in H; auto.
  - rewrite nth_error_app2 in H by auto. destruct (i - length h) as [|n] eqn:E; simpl in H; [|destruct n; discriminate].
    right. split; [lia | congruence].
Qed.

Definition appended (h h' : history) (l : loc) (g : message loc) : Prop :=
  h' l = h l ++ [g] /\ forall l', l' <> l -> h' l' = h l'.

Lemma appended_newest h h' l g l' : appended h h' l g -> newest_at h' l' = if eq_dec l l' then value g else newest_at h l'.
Proof.
  intros [A B]. unfold newest_at. destruct (eq_dec l l') as [<-|N]; [|rewrite B; auto].
  rewrite A, map_app. apply last_snoc.
Qed.

Section Proof.
Variable size turn words : nat.
Hypothesis size_some : 0 < size.
Variable gap_text : nat -> nat -> nat -> entry.

Notation text := (text gap_text).
Notation lane_ok := (lane_ok size turn).

(* The head that is published with the first i entries. *)
Definition hv (x : world) (i : nat) : nat := match i with 0 => 0 | S k => S (num x k) end.
Definition pub (x : world) (n : nat) : Prop := exists k, k < count x /\ num x k = n.

Definition gap_at (t : nat) (s : nat * nat) : nat := if t <=? fst s then snd s - fst s else 0.

(* --- what holds of the numbers ---------------------------------------------------------------------------------------------- *)

Record nums (a : lane) (x : world) (r_told : nat) : Prop := Nums {
  n_inc : forall k k', k < k' -> k' < count x -> num x k < num x k';
  n_cover : forall n, n < head a -> pub x n \/ exists s, In s (skips x) /\ inside n s;
  n_lane : lane_ok (pub x) a (skips x);
  n_told : seen a <= r_told /\ r_told <= hv x (count x);
  n_hv : forall i s, i <= count x -> In s (skips x) -> snd s <= hv x i \/ hv x i <= fst s;
  n_live : forall i s, i <= count x -> In s (skips x) -> snd s < r_told \/ hv x i <= fst s \/ s = bk x i \/ s = ov x i;
  n_in : forall i, i <= count x -> In (bk x i) (skips x) /\ In (ov x i) (skips x) /\ snd (bk x i) <= hv x i /\ snd (ov x i) <= hv x i;
  n_ord : forall i, i <= count x -> snd (bk x i) <= fst (ov x i) \/ snd (ov x i) < r_told;
  n_old : forall i, i <= count x -> (bk x i = (back_from a, back_to a) \/ snd (bk x i) < seen a) /\
                                    (ov x i = (over_from a, over_to a) \/ snd (ov x i) < seen a);
  n_fit : forall i t, i <= count x -> r_told <= t -> outside t (bk x i) -> outside t (ov x i) ->
          hv x i <= t + size + gap_at t (bk x i) + gap_at t (ov x i);
}.

(* --- what holds of the messages --------------------------------------------------------------------------------------------- *)

(* What a load from v on finds in the two words of a skip: that skip, or one that is past or to come. *)
Definition pair_ok (h : history) (f t : loc) (p : nat * nat) (r_told top_ : nat) (v : view loc) : Prop :=
  (forall n g, nth_error (h f) n = Some g -> v (At f) <= n -> value g = fst p \/ (snd p < r_told /\ top_ <= value g)) /\
  (forall n g, nth_error (h t) n = Some g -> v (At t) <= n -> value g = snd p \/ snd p < r_told).

(* v knows of the first i entries, and of all that was stored before them. cw: the clock of the writer's last store to a word. *)
Definition knows (h : history) (cw : nat -> nat -> nat) (x : world) (r_told i : nat) (v : view loc) : Prop :=
  (forall k j, k < i -> r_told <= num x k -> j < words ->
     length (h (Word (num x k mod size) j)) <= S (v (At (Word (num x k mod size) j))) /\ cw (num x k mod size) j <= v (Of 0)) /\
  pair_ok h BackFrom BackTo (bk x i) r_told (hv x i) v /\ pair_ok h OverFrom OverTo (ov x i) r_told (hv x i) v.

(* v knows of all loads of entries before number t. cr: the clock of the reader's last load of a word. *)
Definition knows_loads (cr : nat -> nat -> nat) (x : world) (t : nat) (v : view loc) : Prop :=
  forall s j, cr s j <= v (Of 1) \/ exists k, k < count x /\ t <= num x k /\ num x k mod size = s.

Record msgs (h : history) (cw cr : nat -> nat -> nat) (x : world) (r_told : nat) : Prop := Msgs {
  m_count : length (h Head) = S (count x);
  m_head : forall i g, nth_error (h Head) i = Some g -> value g = hv x i /\ knows h cw x r_told i (with_ g);
  m_tail : forall i g, nth_error (h Tail) i = Some g ->
    value g <= r_told /\ (forall s, In s (skips x) -> outside (value g) s) /\ knows_loads cr x (value g) (with_ g);
  m_sorted : forall i i' g g', i <= i' -> nth_error (h Tail) i = Some g -> nth_error (h Tail) i' = Some g' -> value g <= value g';
  m_words : forall k j, k < count x -> r_told <= num x k -> j < words ->
    newest_at h (Word (num x k mod size) j) = nth j (ent x k) 0;
}.

(* --- what holds of the writer ----------------------------------------------------------------------------------------------- *)

(* Words that are yet to be stored, and what a location has then. *)
Fixpoint todo_of (c : wpc) : list (loc * val) :=
  match c with Puts todo c => todo ++ todo_of c | Ended c => todo_of c | _ => [] end.
Fixpoint finally (todo : list (loc * val)) (l : loc) (v : val) : val :=
  match todo with [] => v | (l', v') :: todo => finally todo l (if eq_dec l' l then v' else v) end.

(* Whether the losses are told already by an entry that is under way. *)
Fixpoint telling (c : wpc) : bool :=
  match c with Puts _ c | Ended c => telling c | GapTime _ _ _ => true | Fill (Gap _ _ _) _ _ => true | _ => false end.

Definition todo_ok (x : world) (r_told : nat) (l : loc) (v : val) : Prop :=
  match l with
  | BackFrom => hv x (count x) <= v /\ forall i, i <= count x -> snd (bk x i) < r_told
  | BackTo => forall i, i <= count x -> snd (bk x i) < r_told
  | OverFrom => hv x (count x) <= v /\ forall i, i <= count x -> snd (ov x i) < r_told
  | OverTo => forall i, i <= count x -> snd (ov x i) < r_told
  | Said _ | GapTs => True
  | _ => False
  end.

Definition counter_is (l : list item) (n : nat) (v : val) : Prop :=
  match n with
  | 0 => v = misses false l | 1 => v + unsaid false l = misses false l
  | 2 => v = misses true l | 3 => v + unsaid true l = misses true l
  | _ => True
  end.

Fixpoint place_ok (h : history) (a : lane) (c : wpc) (x : world) : Prop :=
  match c with
  | Idle => head a < limit a -> unsaid false (log x) = 0 /\ unsaid true (log x) = 0
  | Ask e _ got => head a = limit a /\ length e = words /\ forall n v, nth_error got n = Some v -> counter_is (log x) n v
  | Puts _ c | Ended c => place_ok h a c x
  | GapTime e ev no => S (head a) < limit a /\ length e = words /\
      ev = unsaid false (log x) /\ no = unsaid true (log x) /\ 0 < ev + no
  | Fill it j nx => head a < limit a /\ j <= words /\ length (text it) = words /\
      (forall i, i < j -> newest_at h (Word (head a mod size) i) = nth i (text it) 0) /\
      honest (it :: log x) /\
      match it, nx with
      | Put _, None => True
      | Gap _ _ _, Some e => S (head a) < limit a /\ length e = words
      | _, _ => False
      end
  | Missed _ => head a = limit a
  end.

Record writer_ok (h : history) (cr : nat -> nat -> nat) (c0 : view loc) (a : lane) (c : wpc) (x : world) (r_told : nat) : Prop := WriterOk {
  w_knows : forall i g, nth_error (h Tail) i = Some g -> c0 (At Tail) <= i -> seen a <= value g;
  w_loads : knows_loads cr x (seen a) c0;
  w_todo : forall l v, In (l, v) (todo_of c) -> todo_ok x r_told l v;
  w_bf : finally (todo_of c) BackFrom (newest_at h BackFrom) = back_from a;
  w_bt : finally (todo_of c) BackTo (newest_at h BackTo) = back_to a;
  w_of : finally (todo_of c) OverFrom (newest_at h OverFrom) = over_from a;
  w_ot : finally (todo_of c) OverTo (newest_at h OverTo) = over_to a;
  w_lost : forall b, newest_at h (Lost b) = misses b (log x);
  w_said : forall b, finally (todo_of c) (Said b) (newest_at h (Said b)) + (if telling c then 0 else unsaid b (log x)) = misses b (log x);
  w_place : place_ok h a c x;
  w_honest : honest (log x);
  w_texts : map (ent x) (seq 0 (count x)) = texts gap_text (log x);
}.

(* --- what holds of the reader ----------------------------------------------------------------------------------------------- *)

Definition ahead_ok (x : world) (r : reader) : Prop :=
  (forall s, In s (skips x) -> fst s < snd s -> next r < snd s -> snd s <= top r -> In s (ahead r)) /\
  (forall s, In s (ahead r) -> In s (skips x) /\ next r <= fst s /\ fst s < snd s /\ snd s <= top r) /\
  ForallOrdPairs (fun s s' => snd s <= fst s') (ahead r).

(* What the loads of see_skips have found, of the head that is known: that of entry i. *)
Definition pair_got (x : world) (r_told i n : nat) (v : val) : Prop :=
  match n with
  | 2 => v = fst (bk x i) \/ (snd (bk x i) < r_told /\ hv x i <= v)
  | 3 => v = snd (bk x i) \/ snd (bk x i) < r_told
  | 4 => v = fst (ov x i) \/ (snd (ov x i) < r_told /\ hv x i <= v)
  | 5 => v = snd (ov x i) \/ snd (ov x i) < r_told
  | _ => True
  end.

Definition at_ok (r : reader) (x : world) (i : nat) : Prop :=
  match at_ r with
  | Ready => ahead_ok x r
  | Look got => forall n v, nth_error got n = Some v -> pair_got x (told r) i n v
  | Copy n got => ahead_ok x r /\ exists k, took x <= k < i /\ num x k = n /\
      forall j v, In (j, v) got -> v = nth j (ent x k) 0
  | Anew => False
  end.

Record reader_ok (h : history) (cw : nat -> nat -> nat) (c1 : view loc) (r : reader) (x : world) : Prop := ReaderOk {
  r_next : told r <= next r <= top r;
  r_out : forall s, In s (skips x) -> outside (next r) s;
  r_took : took x <= count x /\ (forall k, k < took x -> num x k < next r) /\
           (forall k, took x <= k -> k < count x -> next r <= num x k);
  r_outs : out x = rev (map (ent x) (seq 0 (took x)));
  r_seen : exists i, (i <= count x /\ i <= c1 (At Head)) /\ top r = hv x i /\ knows h cw x (told r) i c1 /\ at_ok r x i;
}.

Record core (h : history) (c0 c1 : view loc) (cw cr : nat -> nat -> nat) (a : lane) (c : wpc) (r : reader) (x : world) : Prop := Core {
  c_nums : nums a x (told r);
  c_msgs : msgs h cw cr x (told r);
  c_writer : writer_ok h cr c0 a c x (told r);
  c_reader : reader_ok h cw c1 r x;
  c_own : forall l, l <> Tail -> mine l -> length (h l) <= S (c0 (At l));
  c_cw : forall s j, cw s j <= c0 (Of 0);
  c_cr : forall s j, cr s j <= c1 (Of 1);
}.

(* --- what growing views keep ------------------------------------------------------------------------------------------------ *)

Lemma pair_ok_mono h h' f t p b b' n v v' : pair_ok h f t p b n v -> h' f = h f -> h' t = h t -> b <= b' -> vle v v' ->
  pair_ok h' f t p b' n v'.
Proof.
  intros [A B] Ef Et L V. split; intros i g Hg Hi; rewrite ?Ef, ?Et in Hg.
  - destruct (A i g Hg) as [|[]]; auto; [|right; split; lia]. assert (X := V (At f)). lia.
  - destruct (B i g Hg); auto; [|right; lia]. assert (X := V (At t)). lia.
Qed.

Lemma knows_mono h h' cw cw' x b b' i v v' : knows h cw x b i v -> (forall l, mine l -> h' l = h l) -> (forall s j, cw' s j = cw s j) ->
  b <= b' -> vle v v' -> knows h' cw' x b' i v'.
Proof.
  intros (A & B & C) E Ec L V. split; [|split; eapply pair_ok_mono; eauto; apply E; exact I].
  intros k j Hk Ht Hj. rewrite E, Ec by exact I. destruct (A k j Hk ltac:(lia) Hj).
  assert (V1 := V (At (Word (num x k mod size) j))). assert (V2 := V (Of 0)). lia.
Qed.

Lemma loads_mono cr cr' x t v v' : knows_loads cr x t v -> (forall s j, cr' s j = cr s j) -> vle v v' -> knows_loads cr' x t v'.
Proof.
  intros A E V s j. rewrite E. destruct (A s j) as [H|H]; auto. left. assert (X := V (Of 1)). lia.
Qed.

Lemma newest_ext h h' l : h' l = h l -> newest_at h' l = newest_at h l.
Proof. unfold newest_at. intros ->. auto. Qed.

Lemma place_ext h h' a c x : (forall s j, newest_at h' (Word s j) = newest_at h (Word s j)) -> place_ok h a c x -> place_ok h' a c x.
Proof.
  intros E. induction c; simpl; auto. intros (A & B & C & D & F). repeat (split; auto). intros. rewrite E. auto.
Qed.

Lemma core_mono h h' c0 c0' c1 c1' cw cw' cr cr' a c r x : core h c0 c1 cw cr a c r x -> (forall l, mine l -> h' l = h l) ->
  vle c0 c0' -> vle c1 c1' -> (forall s j, cw' s j = cw s j) -> (forall s j, cr' s j = cr s j) ->
  core h' c0' c1' cw' cr' a c r x.
Proof.
  intros [N M W R O A B] E V0 V1 Ew Er.
  assert (En : forall l, mine l -> newest_at h' l = newest_at h l) by (intros; apply newest_ext; auto).
  constructor; auto.
  - destruct M. constructor; auto.
    + rewrite E by exact I. auto.
    + intros i g. rewrite E by exact I. intros Hg. destruct (m_head0 i g Hg). split; auto. eapply knows_mono; eauto. intros k. auto.
    + intros i g. rewrite E by exact I. intros Hg. destruct (m_tail0 i g Hg) as (P & Q & S). repeat split; auto.
      eapply loads_mono; eauto. intros k. auto.
    + intros i i' g g'. rewrite E by exact I. eauto.
    + intros. rewrite En by exact I. auto.
  - destruct W. constructor; auto; try (intros; rewrite ?En by exact I; auto; fail).
    + intros i g. rewrite E by exact I. intros Hg Hi. eapply w_knows0; eauto. assert (X := V0 (At Tail)). lia.
    + eapply loads_mono; eauto.
    + apply (place_ext h); auto. intros. apply En. exact I.
  - destruct R. constructor; auto. destruct r_seen0 as (i & P & Q & S & T). exists i.
    refine (conj (conj (proj1 P) _) (conj Q (conj _ T))); [|eapply knows_mono; eauto].
    assert (X := V1 (At Head)). lia.
  - intros l Hl Hm. rewrite E by auto. assert (X := V0 (At l)). specialize (O l Hl Hm). lia.
  - intros. rewrite Ew. assert (X := V0 (Of 0)). specialize (A s j). lia.
  - intros. rewrite Er. assert (X := V1 (Of 1)). specialize (B s j). lia.
Qed.

Lemma hv_mono a x b i j : nums a x b -> i <= j -> j <= count x -> hv x i <= hv x j.
Proof.
  intros N L J. destruct i as [|i], j as [|j]; simpl; try lia.
  destruct (Nat.eq_dec i j) as [->|]; auto. assert (num x i < num x j) by (apply (n_inc _ _ _ N); lia). lia.
Qed.

Lemma hv_above a x b i k : nums a x b -> k < i -> i <= count x -> num x k < hv x i.
Proof.
  intros N L J. destruct i as [|i]; [lia|]. simpl. destruct (Nat.eq_dec k i) as [->|]; auto.
  assert (num x k < num x i) by (apply (n_inc _ _ _ N); lia). lia.
Qed.

Lemma hv_head a x b i : nums a x b -> i <= count x -> hv x i <= head a.
Proof.
  intros N L. destruct i as [|i]; simpl; [lia|]. apply (lo_pub _ _ _ _ _ (n_lane _ _ _ N)). exists i. split; auto; lia.
Qed.

(* A number below the head is that of an entry below it. *)
Lemma hv_below a x b i k : nums a x b -> k < count x -> i <= count x -> num x k < hv x i -> k < i.
Proof.
  intros N K I H. destruct (Nat.lt_ge_cases k i) as [|L]; auto. destruct i as [|i]; simpl in *; [lia|].
  assert (num x i < num x k) by (apply (n_inc _ _ _ N); lia). lia.
Qed.

(* --- stores of words that are no entry's ------------------------------------------------------------------------------------ *)

Lemma finally_in todo l v v' : (forall w, ~ In (l, w) todo) -> finally todo l v = finally todo l v' -> v = v'.
Proof.
  revert v v'. induction todo as [|[l' w] todo IH]; simpl; auto. intros v v' H.
  destruct (eq_dec l' l) as [->|]; [exfalso; apply (H w); auto|]. intros E. apply IH; auto. intros w' Hw. apply (H w'). auto.
Qed.

Lemma pair_ok_put h h' f t p b n v l g : pair_ok h f t p b n v -> appended h h' l g ->
  (l = f -> snd p < b /\ n <= value g) -> (l = t -> snd p < b) -> pair_ok h' f t p b n v.
Proof.
  intros [A B] [E E'] F T. split; intros i g' Hg Hi.
  - destruct (loc_eq l f) as [<-|Nl]; [|rewrite E' in Hg by auto; eauto].
    rewrite E in Hg. apply nth_snoc in Hg. destruct Hg as [[_ Hg]|[-> ->]]; eauto.
  - destruct (loc_eq l t) as [<-|Nl]; [|rewrite E' in Hg by auto; eauto].
    rewrite E in Hg. apply nth_snoc in Hg. destruct Hg as [[_ Hg]|[-> ->]]; eauto.
Qed.

Definition plain_word (l : loc) : Prop := exists s j, l = Word s j.

Lemma knows_put h h' cw a x b i v l g : nums a x b -> knows h cw x b i v -> appended h h' l g -> i <= count x ->
  ~ plain_word l -> (match l with Head | Tail | Lost _ | Gone => True | _ => todo_ok x b l (value g) end) -> knows h' cw x b i v.
Proof.
  intros N (A & B & C) Ap I NW T. assert (Hv := hv_mono a x b i (count x) N I (Nat.le_refl _)). split; [|split].
  - intros k j Hk Ht Hj. destruct Ap as [_ E]. rewrite E; auto. intros E'. apply NW. eexists _, _. eauto.
  - eapply pair_ok_put; eauto; intros ->; simpl in T; [|auto]. destruct T as [T1 T2]. split; [auto | lia].
  - eapply pair_ok_put; eauto; intros ->; simpl in T; [|auto]. destruct T as [T1 T2]. split; [auto | lia].
Qed.

Lemma msgs_put h h' cw cr a x b l g : nums a x b -> msgs h cw cr x b -> appended h h' l g -> l <> Head -> l <> Tail ->
  ~ plain_word l -> (match l with Head | Tail | Lost _ | Gone => True | _ => todo_ok x b l (value g) end) -> msgs h' cw cr x b.
Proof.
  intros N [] Ap NH NT NW T. assert (E := proj2 Ap). constructor.
  - rewrite E; auto.
  - intros i g' Hg. rewrite E in Hg by auto. destruct (m_head0 i g' Hg). split; auto. eapply knows_put; eauto.
    apply nth_error_lt in Hg. lia.
  - intros i g'. rewrite E by auto. apply m_tail0.
  - intros i i' g1 g2. rewrite E by auto. eauto.
  - intros k j Hk Ht Hj. rewrite (appended_newest _ _ _ _ _ Ap).
    destruct (eq_dec l (Word (num x k mod size) j)); auto. exfalso. apply NW. eexists _, _. eauto.
Qed.

Lemma reader_put h h' cw c1 a r x l g : nums a x (told r) -> reader_ok h cw c1 r x -> appended h h' l g -> ~ plain_word l ->
  (match l with Head | Tail | Lost _ | Gone => True | _ => todo_ok x (told r) l (value g) end) -> reader_ok h' cw c1 r x.
Proof.
  intros N [] Ap NW T. constructor; auto. destruct r_seen0 as (i & P & Q & S & U). exists i.
  refine (conj P (conj Q (conj _ U))). destruct P. eapply knows_put; eauto.
Qed.

Lemma own_put h h' c0 c0' l g : (forall l', l' <> Tail -> mine l' -> length (h l') <= S (c0 (At l'))) -> appended h h' l g -> vle c0 c0' ->
  length (h l) <= c0' (At l) -> forall l', l' <> Tail -> mine l' -> length (h' l') <= S (c0' (At l')).
Proof.
  intros O [E E'] V L l' N Hm. destruct (loc_eq l' l) as [->|Nl].
  - rewrite E, app_length. simpl. lia.
  - rewrite E' by auto. assert (X := V (At l')). specialize (O l' N Hm). lia.
Qed.

Lemma place_put h h' a c x l g : appended h h' l g -> ~ plain_word l -> place_ok h a c x -> place_ok h' a c x.
Proof.
  intros Ap NW. apply place_ext. intros s j. rewrite (appended_newest _ _ _ _ _ Ap).
  destruct (eq_dec l (Word s j)); auto. exfalso. apply NW. eexists _, _. eauto.
Qed.

Lemma todo_ok_not x b l v : todo_ok x b l v -> l <> Head /\ l <> Tail /\ ~ plain_word l /\ (forall n, l <> Lost n) /\ l <> Gone.
Proof.
  intros T. repeat split; [intros -> | intros -> | intros (s & j & ->) | intros n -> | intros ->]; destruct T.
Qed.

Lemma core_store h h' c0 c0' c1 cw cr a c r x l v todo g : core h c0 c1 cw cr a (Puts ((l, v) :: todo) c) r x ->
  appended h h' l g -> value g = v -> vle c0 c0' -> length (h l) <= c0' (At l) ->
  core h' c0' c1 cw cr a (Puts todo c) r x.
Proof.
  intros [N M W R O A B] Ap Ev V L. assert (W' := W). destruct W'. simpl in *.
  assert (T := w_todo0 l v (or_introl eq_refl)). destruct (todo_ok_not _ _ _ _ T) as (T1 & T2 & T3 & T4 & T5).
  assert (T' : match l with Head | Tail | Lost _ | Gone => True | _ => todo_ok x (told r) l (value g) end)
    by (rewrite Ev; destruct l; auto).
  constructor; auto.
  - eapply msgs_put; eauto.
  - constructor; simpl; auto; try (rewrite (appended_newest _ _ _ _ _ Ap), Ev; auto; fail).
    + intros i g'. rewrite (proj2 Ap) by auto. intros. eapply w_knows0; eauto. assert (X := V (At Tail)). lia.
    + eapply loads_mono; eauto.
    + intros b. rewrite (appended_newest _ _ _ _ _ Ap). destruct (eq_dec l (Lost b)) as [E|]; auto. destruct (T4 _ E).
    + intros b. rewrite (appended_newest _ _ _ _ _ Ap), Ev. auto.
    + eapply place_put; eauto.
  - eapply reader_put; eauto.
  - eapply own_put; eauto.
  - intros. assert (X := V (Of 0)). specialize (A s j). lia.
Qed.

(* The writer ends, wherever it is. *)
Lemma core_ended h h' c0 c0' c1 cw cr a c r x g : core h c0 c1 cw cr a c r x -> appended h h' Gone g -> vle c0 c0' ->
  length (h Gone) <= c0' (At Gone) -> core h' c0' c1 cw cr a (Ended c) r x.
Proof.
  intros [N M W R O A B] Ap V L. assert (NW : ~ plain_word Gone) by (intros (s & j & E); discriminate). destruct W.
  constructor; auto.
  - eapply msgs_put; eauto; try discriminate; exact I.
  - constructor; simpl; auto; try (intros; rewrite (appended_newest _ _ _ _ _ Ap); apply w_lost0 || apply w_said0 || auto; fail).
    + intros i g'. rewrite (proj2 Ap) by discriminate. intros. eapply w_knows0; eauto. assert (X := V (At Tail)). lia.
    + eapply loads_mono; eauto.
    + eapply place_put; eauto.
  - eapply reader_put; eauto. exact I.
  - eapply own_put; eauto.
  - intros. assert (X := V (Of 0)). specialize (A s j). lia.
Qed.

(* What the numbers say does not depend on the log. *)
Lemma nums_log a x b it : nums a x b -> nums a (with_log x it) b.
Proof. intros []. constructor; auto. Qed.
Lemma msgs_log h cw cr x b it : msgs h cw cr x b -> msgs h cw cr (with_log x it) b.
Proof. intros []. constructor; auto. Qed.
Lemma reader_log h cw c1 r x it : reader_ok h cw c1 r x -> reader_ok h cw c1 r (with_log x it).
Proof. intros []. constructor; auto. Qed.

Lemma core_miss h h' c0 c0' c1 cw cr a r x note g : core h c0 c1 cw cr a (Missed note) r x ->
  appended h h' (Lost note) g -> value g = newest_at h (Lost note) + 1 -> vle c0 c0' -> length (h (Lost note)) <= c0' (At (Lost note)) ->
  core h' c0' c1 cw cr a Idle r (with_log x (Miss note)).
Proof.
  intros [N M W R O A B] Ap Ev V L. destruct W. simpl in *.
  assert (NW : ~ plain_word (Lost note)) by (intros (s & j & E); discriminate).
  constructor; auto using nums_log.
  - apply msgs_log. eapply msgs_put; eauto; try congruence; exact I.
  - constructor; simpl; auto; try (rewrite (appended_newest _ _ _ _ _ Ap); auto; fail).
    + intros i g'. rewrite (proj2 Ap) by congruence. intros. eapply w_knows0; eauto. assert (X := V (At Tail)). lia.
    + eapply loads_mono; eauto.
    + intros b. rewrite (appended_newest _ _ _ _ _ Ap). destruct (eq_dec (Lost note) (Lost b)) as [E|E].
      * injection E as <-. rewrite Ev, w_lost0. destruct note; simpl; lia.
      * rewrite w_lost0. destruct note, b; simpl; congruence.
    + intros b. rewrite (appended_newest _ _ _ _ _ Ap). simpl. specialize (w_said0 b). destruct note, b; simpl in *; lia.
    + lia.
    + rewrite texts_snoc, app_nil_r. auto.
  - apply reader_log. eapply reader_put; eauto. exact I.
  - eapply own_put; eauto.
  - intros. assert (X := V (Of 0)). specialize (A s j). lia.
Qed.

(* --- the words of an entry -------------------------------------------------------------------------------------------------- *)

Definition set2 (f : nat -> nat -> nat) (s j n : nat) : nat -> nat -> nat :=
  fun s' j' => if eq_dec (Word s j) (Word s' j') then n else f s' j'.

Lemma word_apart a x b k j j' : nums a x b -> head a < limit a -> k < count x -> b <= num x k ->
  Word (head a mod size) j <> Word (num x k mod size) j'.
Proof.
  intros N H K L E. injection E as E _. destruct (n_told _ _ _ N).
  apply (lo_room _ _ _ _ _ (n_lane _ _ _ N) (head a) (num x k)); auto; try lia. exists k. auto.
Qed.

Lemma knows_word h h' cw a x b i v j g n : nums a x b -> head a < limit a -> knows h cw x b i v -> i <= count x ->
  appended h h' (Word (head a mod size) j) g -> knows h' (set2 cw (head a mod size) j n) x b i v.
Proof.
  intros N H (A & B & C) I Ap. assert (E := proj2 Ap). split; [|split].
  - intros k j' Hk Ht Hj. assert (Q := word_apart a x b k j j' N H ltac:(lia) Ht).
    rewrite E by auto. unfold set2. destruct (eq_dec (Word (head a mod size) j) (Word (num x k mod size) j')); [congruence|auto].
  - destruct B as [B1 B2]. split; intros i' g'; rewrite E by discriminate; eauto.
  - destruct C as [B1 B2]. split; intros i' g'; rewrite E by discriminate; eauto.
Qed.

Lemma core_word h h' c0 c0' c1 cw cr a it j nx r x g n : core h c0 c1 cw cr a (Fill it j nx) r x -> j < words ->
  appended h h' (Word (head a mod size) j) g -> value g = nth j (text it) 0 -> vle c0 c0' ->
  length (h (Word (head a mod size) j)) <= c0' (At (Word (head a mod size) j)) -> n <= c0' (Of 0) ->
  core h' c0' c1 (set2 cw (head a mod size) j n) cr a (Fill it (S j) nx) r x.
Proof.
  intros [N M W R O A B] J Ap Ev V L Ln. destruct W. simpl in *. destruct w_place0 as (P1 & P2 & P3 & P4 & P5 & P6).
  assert (E := proj2 Ap).
  constructor; auto.
  - destruct M. constructor.
    + rewrite E by discriminate. auto.
    + intros i g' Hg. rewrite E in Hg by discriminate. destruct (m_head0 i g' Hg). split; auto. eapply knows_word; eauto.
      apply nth_error_lt in Hg. lia.
    + intros i g'. rewrite E by discriminate. apply m_tail0.
    + intros i i' g1 g2. rewrite E by discriminate. eauto.
    + intros k j' Hk Ht Hj. rewrite (appended_newest _ _ _ _ _ Ap).
      assert (Q := word_apart a x (told r) k j j' N P1 ltac:(lia) Ht).
      destruct (eq_dec (Word (head a mod size) j) (Word (num x k mod size) j')); [congruence|auto].
  - constructor; simpl; auto; try (rewrite (appended_newest _ _ _ _ _ Ap); auto; fail).
    + intros i g'. rewrite E by discriminate. intros. eapply w_knows0; eauto. assert (X := V (At Tail)). lia.
    + eapply loads_mono; eauto.
    + intros b. rewrite (appended_newest _ _ _ _ _ Ap). destruct (eq_dec _ _); [discriminate|auto].
    + intros b. rewrite (appended_newest _ _ _ _ _ Ap). destruct (eq_dec _ _); [discriminate|]. apply (w_said0 b).
    + repeat split; auto; try apply P5.
      intros i Hi. rewrite (appended_newest _ _ _ _ _ Ap).
      destruct (eq_dec (Word (head a mod size) j) (Word (head a mod size) i)) as [Q|Q].
      * injection Q as <-. auto.
      * apply P4. assert (i <> j) by congruence. lia.
  - destruct R. constructor; auto. destruct r_seen0 as (i & Q & S & T & U). exists i.
    refine (conj Q (conj S (conj _ U))). destruct Q. eapply knows_word; eauto.
  - eapply own_put; eauto.
  - intros s j'. unfold set2. destruct (eq_dec (Word (head a mod size) j) (Word s j')); auto.
    assert (X := V (Of 0)). specialize (A s j'). lia.
Qed.

(* --- an entry is published -------------------------------------------------------------------------------------------------- *)

Lemma upd_below {B} (f : nat -> B) n b i : i < n -> upd f n b i = f i.
Proof. clear size_some. intros. apply upd_other. lia. Qed.

Lemma hv_old x a it i : i <= count x -> hv (published gap_text x a it) i = hv x i.
Proof. clear size_some. intros. destruct i; simpl; auto. rewrite upd_below by lia. auto. Qed.

Lemma hv_new x a it : hv (published gap_text x a it) (S (count x)) = S (head a).
Proof. simpl. rewrite upd_same. auto. Qed.

Lemma pub_new x a it n : pub (published gap_text x a it) n <-> pub x n \/ n = head a.
Proof.
  split.
  - intros (k & K & E). simpl in *. destruct (Nat.eq_dec k (count x)) as [->|].
    + rewrite upd_same in E. auto.
    + rewrite upd_below in E by lia. left. exists k. split; auto; lia.
  - intros [(k & K & E)| ->].
    + exists k. simpl. rewrite upd_below by lia. split; auto; lia.
    + exists (count x). simpl. rewrite upd_same. split; auto; lia.
Qed.

Lemma lane_publish a x it : lane_ok (pub x) a (skips x) -> head a < limit a ->
  lane_ok (pub (published gap_text x a it)) (forward a) (skips x).
Proof.
  intros [] H. assert (WB := lo_whole _ lo_back). assert (WO := lo_whole _ lo_over). simpl in WB, WO. constructor; simpl; auto; try lia.
  - intros n Hn. apply pub_new in Hn. destruct Hn as [Hn|]; [apply lo_pub in Hn|]; lia.
  - intros n p Hn Hp Hs. apply pub_new in Hp. destruct Hp as [Hp| ->].
    + apply lo_room; auto; lia.
    + apply mod_apart_less; lia.
  - intros s p Hs Hp. apply pub_new in Hp. destruct Hp as [Hp| ->]; eauto.
    apply lo_whole in Hs. unfold inside. lia.
  - intros s Hs. apply lo_whole in Hs. lia.
  - destruct lo_stage; [apply Passed | apply Went | apply Went_over]; auto.
Qed.

Lemma nums_publish a x b it : nums a x b -> head a < limit a -> nums (forward a) (published gap_text x a it) b.
Proof.
  intros N H. assert (HH := fun i => hv_head a x b i N). destruct N. assert (L := lane_publish a x it n_lane0 H). destruct n_lane0.
  assert (Lp : forall k, k < count x -> num x k < head a) by (intros k K; apply lo_pub; exists k; auto).
  assert (C : forall i, i <= S (count x) -> i <= count x \/ i = S (count x)) by (intros; lia).
  assert (WB := lo_whole _ lo_back). assert (WO := lo_whole _ lo_over). simpl in WB, WO.
  assert (OB := lo_outside _ lo_back). assert (OO := lo_outside _ lo_over). unfold outside in OB, OO. simpl in OB, OO.
  constructor; auto.
  - intros k k' K K'. simpl in *. rewrite (upd_below _ _ _ k) by lia. destruct (Nat.eq_dec k' (count x)) as [->|].
    + rewrite upd_same. apply Lp. lia.
    + rewrite upd_below by lia. apply n_inc0; lia.
  - intros n Hn. simpl in *. destruct (Nat.eq_dec n (head a)) as [->|].
    + left. apply pub_new. auto.
    + destruct (n_cover0 n ltac:(lia)) as [P|P]; auto. left. apply pub_new. auto.
  - split; [apply n_told0|]. change (count (published gap_text x a it)) with (S (count x)). rewrite hv_new.
    assert (X := HH (count x) (Nat.le_refl _)). lia.
  - intros i s Hi Hs. simpl in Hs. destruct (C i Hi) as [I| ->].
    + rewrite hv_old by auto. auto.
    + rewrite hv_new. left. apply lo_whole in Hs. lia.
  - intros i s Hi Hs. simpl in Hs. destruct (C i Hi) as [I| ->].
    + rewrite hv_old by auto. simpl. rewrite !upd_below by lia. auto.
    + simpl. rewrite !upd_same. destruct (lo_skips s Hs) as [|[|]]; auto. left. lia.
  - intros i Hi. destruct (C i Hi) as [I| ->].
    + rewrite hv_old by auto. simpl. rewrite !upd_below by lia. auto.
    + rewrite hv_new. simpl. rewrite !upd_same. simpl. repeat split; auto; lia.
  - intros i Hi. simpl. destruct (C i Hi) as [I| ->].
    + rewrite !upd_below by lia. auto.
    + rewrite !upd_same. simpl. lia.
  - intros i Hi. simpl. destruct (C i Hi) as [I| ->].
    + rewrite !upd_below by lia. auto.
    + rewrite !upd_same. auto.
  - intros i t Hi Ht. destruct (C i Hi) as [I| ->].
    + rewrite hv_old by auto. simpl. rewrite !upd_below by lia. auto.
    + rewrite hv_new. simpl. rewrite !upd_same. unfold outside, gap_at. simpl.
      intros T1 T2. destruct lo_stage as [S1 S2|S1 S2 S3 S4|S1 S2 S3 S4 S5]; try lia.
      destruct (Nat.leb_spec t (back_from a)), (Nat.leb_spec t (over_from a)); lia.
Qed.

Lemma knows_published h h' cw x b a it i v : knows h cw x b i v -> i <= count x -> (forall l, l <> Head -> h' l = h l) ->
  knows h' cw (published gap_text x a it) b i v.
Proof.
  intros (A & B & C) I E. split; [|split].
  - intros k j Hk. simpl. rewrite upd_below by lia. rewrite E by discriminate. auto.
  - rewrite hv_old by auto. simpl. rewrite upd_below by lia. destruct B as [B1 B2].
    split; intros n g; rewrite E by discriminate; eauto.
  - rewrite hv_old by auto. simpl. rewrite upd_below by lia. destruct C as [B1 B2].
    split; intros n g; rewrite E by discriminate; eauto.
Qed.

Lemma loads_published cr x a it t v : knows_loads cr x t v -> knows_loads cr (published gap_text x a it) t v.
Proof.
  intros A s j. destruct (A s j) as [|(k & K & L & E)]; auto. right. exists k. simpl. rewrite upd_below by lia. auto.
Qed.

Lemma own_newest (h : history) c0 l n g : length (h l) <= S (c0 (At l)) -> nth_error (h l) n = Some g -> c0 (At l) <= n ->
  value g = newest_at h l.
Proof. intros O H L. apply (nth_newest _ n); auto. lia. Qed.

Lemma core_publish h h' c0 c0' c1 cw cr a it nx r x g : core h c0 c1 cw cr a (Fill it words nx) r x ->
  appended h h' Head g -> value g = S (head a) -> vle c0 (with_ g) -> vle c0 c0' -> length (h Head) <= c0' (At Head) ->
  core h' c0' c1 cw cr (forward a) match nx with Some e => Fill (Put e) 0 None | None => Idle end r (published gap_text x a it).
Proof.
  intros [N M W R O A B] Ap Ev Vg V L. assert (E := proj2 Ap).
  destruct W. simpl in w_todo0, w_bf0, w_bt0, w_of0, w_ot0, w_said0, w_place0. destruct w_place0 as (P1 & P2 & P3 & P4 & P5 & P6).
  assert (N' := nums_publish a x (told r) it N P1). assert (E' : forall l, l <> Head -> newest_at h' l = newest_at h l).
  { intros. apply newest_ext. auto. }
  assert (Nw : forall l n g', l <> Tail -> mine l -> nth_error (h l) n = Some g' -> with_ g (At l) <= n -> value g' = newest_at h l).
  { intros l n g' Nl Hm Hg Hn. apply (own_newest h c0 l n); auto. assert (Y := Vg (At l)). lia. }
  constructor; auto.
  - destruct M. constructor.
    + rewrite (proj1 Ap), app_length, m_count0. simpl. lia.
    + intros i g' Hg. rewrite (proj1 Ap) in Hg. apply nth_snoc in Hg. destruct Hg as [[Hi Hg]|[-> ->]].
      * destruct (m_head0 i g' Hg) as [Q1 Q2]. rewrite m_count0 in Hi. rewrite hv_old by lia. split; auto.
        apply (knows_published h); auto; lia.
      * rewrite m_count0, hv_new. split; auto. split; [|split; split].
        -- intros k j _ _ _. rewrite E by discriminate. set (w := Word _ _).
           assert (X := O w ltac:(discriminate) I). assert (Y := Vg (At w)). assert (Z := Vg (Of 0)).
           specialize (A (num (published gap_text x a it) k mod size) j). lia.
        -- intros n g'. rewrite E by discriminate. intros Hg Hn. left. simpl. rewrite upd_same. simpl. rewrite <- w_bf0.
           apply (Nw _ n); auto; try discriminate; exact I.
        -- intros n g'. rewrite E by discriminate. intros Hg Hn. left. simpl. rewrite upd_same. simpl. rewrite <- w_bt0.
           apply (Nw _ n); auto; try discriminate; exact I.
        -- intros n g'. rewrite E by discriminate. intros Hg Hn. left. simpl. rewrite upd_same. simpl. rewrite <- w_of0.
           apply (Nw _ n); auto; try discriminate; exact I.
        -- intros n g'. rewrite E by discriminate. intros Hg Hn. left. simpl. rewrite upd_same. simpl. rewrite <- w_ot0.
           apply (Nw _ n); auto; try discriminate; exact I.
    + intros i g'. rewrite E by discriminate. intros Hg. destruct (m_tail0 i g' Hg) as (Q1 & Q2 & Q3).
      repeat split; auto. apply loads_published. auto.
    + intros i i' g1 g2. rewrite E by discriminate. eauto.
    + intros k j Hk Ht Hj. simpl in *. rewrite E' by discriminate. destruct (Nat.eq_dec k (count x)) as [->|].
      * rewrite upd_same in *. rewrite upd_same. auto.
      * rewrite upd_below in * by lia. rewrite upd_below by lia. apply m_words0; auto; lia.
  - assert (Tx : map (ent (published gap_text x a it)) (seq 0 (S (count x))) = texts gap_text (log x) ++ [text it]).
    { rewrite seq_S, map_app, <- w_texts0. simpl. rewrite upd_same. f_equal. apply map_ext_in.
      intros k K. apply in_seq in K. apply upd_below. lia. }
    assert (Ti : forall l v, In (l, v) (todo_of match nx with Some e => Fill (Put e) 0 None | None => Idle end) ->
                 todo_ok (published gap_text x a it) (told r) l v) by (destruct nx; simpl; tauto).
    assert (Tn : todo_of match nx with Some e => Fill (Put e) 0 None | None => Idle end = []) by (destruct nx; auto).
    constructor; auto; try (rewrite Tn; simpl; rewrite E' by discriminate; auto; fail).
    + intros i g'. rewrite E by discriminate. intros. simpl. eapply w_knows0; eauto. assert (X := V (At Tail)). lia.
    + apply loads_published. eapply loads_mono; eauto.
    + intros b. rewrite E' by discriminate. rewrite w_lost0. destruct it; simpl; auto. destruct nx; tauto.
    + intros b. rewrite Tn. simpl. rewrite E' by discriminate. specialize (w_said0 b). destruct it, nx; simpl in *; try tauto; lia.
    + destruct it, nx; try tauto; simpl in *; [tauto|]. repeat split; try tauto; try lia; auto.
    + change (log (published gap_text x a it)) with (it :: log x). rewrite texts_snoc.
      change (count (published gap_text x a it)) with (S (count x)). rewrite Tx. destruct it, nx; try tauto; auto.
  - destruct R. destruct r_seen0 as (i & (I1 & I2) & Q & S & U). destruct r_took0 as (K1 & K2 & K3).
    assert (T1 := hv_head a x (told r) i N I1).
    constructor; auto.
    + simpl. repeat split; [lia | |].
      * intros k K. rewrite upd_below by lia. auto.
      * intros k K K'. destruct (Nat.eq_dec k (count x)) as [->|].
        -- rewrite upd_same. lia.
        -- rewrite upd_below by lia. apply K3; lia.
    + simpl. rewrite r_outs0. f_equal. apply map_ext_in. intros k K. apply in_seq in K. rewrite upd_below by lia. auto.
    + exists i. refine (conj (conj _ I2) (conj _ (conj _ _))).
      * simpl. lia.
      * rewrite hv_old; auto.
      * apply (knows_published h); auto.
      * unfold at_ok in *. destruct (at_ r); auto.
        -- intros n v Hn. specialize (U n v Hn). unfold pair_got in *. rewrite hv_old by auto. simpl. rewrite !upd_below by lia. auto.
        -- destruct U as (U1 & k & U2 & U3 & U4). split; auto. exists k. simpl. rewrite !upd_below by lia. auto.
  - eapply own_put; eauto.
  - intros s j. assert (X := V (Of 0)). specialize (A s j). lia.
Qed.

(* --- the writer looks for room ---------------------------------------------------------------------------------------------- *)

Lemma nums_seen a a' x b ss : nums a x b -> lane_ok (pub x) a' (ss ++ skips x) -> seen a <= seen a' <= b ->
  (forall s, In s ss -> head a <= fst s) -> (forall n, head a <= n -> n < head a' -> exists s, In s ss /\ inside n s) ->
  ((back_from a', back_to a') = (back_from a, back_to a) \/ back_to a < seen a') ->
  ((over_from a', over_to a') = (over_from a, over_to a) \/ over_to a < seen a') -> nums a' (with_skips x ss) b.
Proof.
  intros N L S F C PB PO. assert (HH := fun i => hv_head a x b i N). destruct N.
  assert (HS : forall i s, i <= count x -> In s ss -> hv x i <= fst s).
  { intros i s I Hs. specialize (HH i I). specialize (F s Hs). lia. }
  constructor; auto; simpl.
  - intros n Hn. destruct (Nat.lt_ge_cases n (head a)) as [H|H].
    + destruct (n_cover0 n H) as [P|(s & P & Q)]; auto. right. exists s. split; auto. apply in_or_app. auto.
    + right. destruct (C n H Hn) as (s & P & Q). exists s. split; auto. apply in_or_app. auto.
  - split; [lia|apply n_told0].
  - intros i s I Hs. apply in_app_or in Hs. destruct Hs as [Hs|Hs].
    + right. exact (HS i s I Hs).
    + exact (n_hv0 i s I Hs).
  - intros i s I Hs. apply in_app_or in Hs. destruct Hs as [Hs|Hs].
    + right. left. exact (HS i s I Hs).
    + exact (n_live0 i s I Hs).
  - intros i I. destruct (n_in0 i I) as (A & B & D). repeat split; try apply in_or_app; auto; apply D.
  - intros i I. destruct (n_old0 i I) as [A B]. split.
    + destruct A as [A|A]; [|right; lia]. rewrite A. destruct PB as [->|]; auto.
    + destruct B as [B|B]; [|right; lia]. rewrite B. destruct PO as [->|]; auto.
Qed.

Lemma msgs_skips h cw cr a x b ss : nums a x b -> msgs h cw cr x b -> (forall s, In s ss -> head a <= fst s) ->
  msgs h cw cr (with_skips x ss) b.
Proof.
  intros N M F. assert (H := hv_head a x b (count x) N (Nat.le_refl _)). destruct (n_told _ _ _ N) as [_ T].
  destruct M. constructor; auto. intros i g Hg. destruct (m_tail0 i g Hg) as (P & Q & R). repeat split; auto.
  simpl. intros s Hs. apply in_app_or in Hs. destruct Hs as [Hs|Hs]; auto. specialize (F s Hs). left. lia.
Qed.

Lemma reader_skips h cw c1 a r x ss : nums a x (told r) -> reader_ok h cw c1 r x -> (forall s, In s ss -> head a <= fst s) ->
  reader_ok h cw c1 r (with_skips x ss).
Proof.
  intros N R F. destruct R. destruct r_seen0 as (i & (I1 & I2) & Q & S & U).
  assert (H := hv_head a x (told r) i N I1).
  assert (AO : ahead_ok x r -> ahead_ok (with_skips x ss) r).
  { intros (A & B & C). split; [|split]; auto.
    - intros s Hs S1 S2 S3. simpl in Hs. apply in_app_or in Hs. destruct Hs as [Hs|Hs]; auto. specialize (F s Hs). lia.
    - intros s Hs. destruct (B s Hs) as [B1 B2]. split; auto. simpl. apply in_or_app. auto. }
  constructor; auto.
  - simpl. intros s Hs. apply in_app_or in Hs. destruct Hs as [Hs|Hs]; auto. specialize (F s Hs). left. lia.
  - exists i. refine (conj (conj I1 I2) (conj Q (conj S _))). unfold at_ok in *. destruct (at_ r); auto. destruct U. auto.
Qed.

(* The reader's tail has become known. *)
Lemma core_found h c0 c0' c1 cw cr a a' c' r x ss i g e note got :
  core h c0 c1 cw cr a (Ask e note got) r x -> nth_error (h Tail) i = Some g -> i <= c0' (At Tail) ->
  vle c0 c0' -> vle (with_ g) c0' -> nums a' (with_skips x ss) (told r) -> seen a' = value g -> (forall s, In s ss -> head a <= fst s) ->
  (forall l v, In (l, v) (todo_of c') -> todo_ok x (told r) l v) ->
  finally (todo_of c') BackFrom (back_from a) = back_from a' -> finally (todo_of c') BackTo (back_to a) = back_to a' ->
  finally (todo_of c') OverFrom (over_from a) = over_from a' -> finally (todo_of c') OverTo (over_to a) = over_to a' ->
  (forall b, newest_at h (Said b) + unsaid b (log x) = misses b (log x) ->
             finally (todo_of c') (Said b) (newest_at h (Said b)) + (if telling c' then 0 else unsaid b (log x)) = misses b (log x)) ->
  place_ok h a' c' x -> core h c0' c1 cw cr a' c' r (with_skips x ss).
Proof.
  intros [N M W R O A B] Hg Hi V Vg N' Sn F T F1 F2 F3 F4 FS P. constructor; auto.
  - eapply msgs_skips; eauto.
  - destruct W. simpl in w_bf0, w_bt0, w_of0, w_ot0, w_said0. destruct M. constructor; auto.
    + intros i' g' Hg' Hi'. rewrite Sn. apply (m_sorted0 i i'); auto. lia.
    + rewrite Sn. destruct (m_tail0 i g Hg) as (_ & _ & K). change (knows_loads cr x (value g) c0').
      eapply loads_mono; eauto.
    + rewrite w_bf0. auto.
    + rewrite w_bt0. auto.
    + rewrite w_of0. auto.
    + rewrite w_ot0. auto.
    + clear - P. induction c'; simpl in *; auto.
  - eapply reader_skips; eauto.
  - intros l Hl Hm. assert (X := V (At l)). specialize (O l Hl Hm). lia.
  - intros s j. assert (X := V (Of 0)). specialize (A s j). lia.
Qed.

Lemma got_lost x got b : length got = 4 -> (forall n v, nth_error got n = Some v -> counter_is (log x) n v) ->
  lost_of got b = unsaid b (log x) /\ nth (if b then 3 else 1) got 0 + unsaid b (log x) = misses b (log x).
Proof.
  intros L H. destruct got as [|v0 [|v1 [|v2 [|v3 [|]]]]]; try discriminate.
  assert (H0 := H 0 v0 eq_refl). assert (H1 := H 1 v1 eq_refl). assert (H2 := H 2 v2 eq_refl). assert (H3 := H 3 v3 eq_refl).
  simpl in *. unfold lost_of. destruct b; simpl; lia.
Qed.

Lemma need_is got : need_of got = 1 /\ lost_of got false = 0 /\ lost_of got true = 0 \/
                    need_of got = 2 /\ 0 < lost_of got false + lost_of got true.
Proof. unfold need_of. destruct (Nat.eqb_spec (lost_of got false + lost_of got true) 0); [left|right]; lia. Qed.

Section Room.
Variables (h : history) (c0 c0' c1 : view loc) (cw cr : nat -> nat -> nat).
Variables (a : lane) (e : entry) (note : bool) (got : list val) (r : reader) (x : world) (i : nat) (g : message loc).
Variables (skipping : bool) (b : lane) (end_ : nat) (ws : list went).
Hypothesis C : core h c0 c1 cw cr a (Ask e note got) r x.
Hypothesis Hg : nth_error (h Tail) i = Some g.
Hypothesis Hi : c0 (At Tail) <= i.
Hypothesis Hi' : i <= c0' (At Tail).
Hypothesis V : vle c0 c0'.
Hypothesis Vg : vle (with_ g) c0'.
Hypothesis L4 : length got = 4.
Hypothesis F : find_end size turn skipping a (value g) (need_of got) = (b, end_, ws).
Hypothesis T : skipping = true -> turns_fit size turn.

Lemma room_facts : found size turn (pub x) a (skips x) (value g) (need_of got) b end_ ws /\ head a = limit a /\
  seen a <= value g <= told r /\ length e = words.
Proof.
  destruct C as [N M W R O A B]. destruct W. destruct w_place0 as (P1 & P2 & P3). destruct (m_tail _ _ _ _ _ M i g Hg) as (Q1 & Q2 & Q3).
  assert (S : seen a <= value g) by eauto. destruct (n_told _ _ _ N) as [N1 N2].
  assert (H := hv_head a x (told r) (count x) N (Nat.le_refl _)).
  assert (X := find_end_finds size turn size_some (pub x) skipping a (skips x) (value g) (need_of got) (n_lane _ _ _ N) P1
                 ltac:(lia) Q2 T ltac:(destruct (need_is got); lia)).
  rewrite F in X. auto.
Qed.

(* Where there is none, there is nothing new but the tail. *)
Lemma core_full c' : has_room b end_ (need_of got) = false ->
  (todo_of c' = [] \/ exists ts, todo_of c' = [(GapTs, ts)]) -> telling c' = false -> place_ok h (see a (value g) (head a)) c' x ->
  core h c0' c1 cw cr (see b (value g) (limit b)) c' r (with_skips x (made ws b)).
Proof.
  intros HR HT Te P. destruct room_facts as (X & Eh & S & _). destruct C as [N M W R O A B].
  destruct (m_tail _ _ _ _ _ M i g Hg) as (Q1 & Q2 & Q3). destruct (n_told _ _ _ N) as [N1 N2].
  assert (H := hv_head a x (told r) (count x) N (Nat.le_refl _)).
  inversion X; subst; try congruence. rewrite <- Eh.
  eapply core_found; eauto; simpl; try tauto.
  - apply (nums_seen a); auto; simpl; try tauto; try lia.
    apply see_ok; auto; try lia. apply N.
  - destruct HT as [->|[ts ->]]; simpl; try tauto. intros l v [Q|[]]. injection Q as <- <-. exact I.
  - destruct HT as [->|[ts ->]]; auto.
  - destruct HT as [->|[ts ->]]; auto.
  - destruct HT as [->|[ts ->]]; auto.
  - destruct HT as [->|[ts ->]]; auto.
  - rewrite Te. intros b' Hb. destruct HT as [->|[ts ->]]; auto.
Qed.

Lemma finally_app t1 t2 l v : finally (t1 ++ t2) l v = finally t2 l (finally t1 l v).
Proof. revert v. induction t1 as [|[l' v'] t1 IH]; simpl; auto. Qed.

Lemma core_room c' lim said : has_room b end_ (need_of got) = true -> head b + need_of got <= lim <= end_ ->
  todo_of c' = skips_words ws b ++ said -> (said = [] /\ telling c' = false \/ said = said_words got /\ telling c' = true) ->
  (head a <= head b -> place_ok h (see b (value g) lim) c' x) ->
  core h c0' c1 cw cr (see b (value g) lim) c' r (with_skips x (made ws b)).
Proof.
  intros HR HL HT HS P. destruct room_facts as (X & Eh & S & _). assert (C' := C). destruct C' as [N M W R O A B].
  destruct (m_tail _ _ _ _ _ M i g Hg) as (Q1 & Q2 & Q3). destruct (n_told _ _ _ N) as [N1 N2].
  assert (H := hv_head a x (told r) (count x) N (Nat.le_refl _)).
  assert (ST : forall l v, In (l, v) said -> todo_ok x (told r) l v).
  { destruct HS as [[-> _]|[-> _]]; simpl; [tauto|]. intros l v [Q|[Q|[]]]; injection Q as <- <-; exact I. }
  assert (SF : forall l v, (forall n, l <> Said n) -> finally said l v = v).
  { intros l v Nl. destruct HS as [[-> _]|[-> _]]; auto. simpl.
    destruct (eq_dec (Said false) l) as [E|]; [destruct (Nl _ (eq_sym E))|].
    destruct (eq_dec (Said true) l) as [E|]; [destruct (Nl _ (eq_sym E))|]. auto. }
  assert (Said_ok : forall n, newest_at h (Said n) + unsaid n (log x) = misses n (log x) ->
             finally said (Said n) (newest_at h (Said n)) + (if telling c' then 0 else unsaid n (log x)) = misses n (log x)).
  { intros n Hn. destruct HS as [[-> ->]|[-> ->]]; auto. destruct W. destruct w_place0 as (_ & _ & G).
    destruct (got_lost x got n L4 G) as [G1 G2]. simpl. destruct n; simpl; rewrite <- G1 in G2; unfold lost_of in G2; lia. }
  destruct X as [b end_ R1 R2|b end_ R1 R2 R3|b end_ R1 R2 R3 R4 R5|b end_ R1 R2 R3 R4 R5]; [congruence|subst b ..].
  - eapply core_found; eauto; simpl; try tauto; try (rewrite HT; simpl; auto; rewrite SF; auto; discriminate).
    apply (nums_seen a); auto; simpl; try tauto; try lia.
  - assert (HB : head a <= back_to (go_back size a)).
    { simpl. assert (Z := Nat.mod_upper_bound (head a) size). lia. }
    eapply core_found; eauto; try (rewrite HT, finally_app, SF by discriminate; reflexivity).
    + apply (nums_seen a); auto; simpl; try lia.
      * intros s [<-|[]]. simpl. lia.
      * intros n Hn Hn'. exists (back_from (go_back size a), back_to (go_back size a)). split; auto. unfold inside. simpl in *. lia.
    + intros s [<-|[]]. simpl. lia.
    + rewrite HT. intros l v Hl. apply in_app_or in Hl. destruct Hl as [Hl|Hl]; auto.
      assert (D : forall n, n <= count x -> snd (bk x n) < told r).
      { intros n Hn. destruct (n_old _ _ _ N n Hn) as [[->|] _]; simpl; lia. }
      simpl in Hl. destruct Hl as [Hl|[Hl|[]]]; injection Hl as <- <-; simpl; auto.
    + intros n Hn. rewrite HT, finally_app. simpl. auto.
  - eapply core_found; eauto; try (rewrite HT, finally_app, SF by discriminate; reflexivity).
    + apply (nums_seen a); auto; simpl; try lia.
      * intros s [<-|[]]. simpl. lia.
      * intros n Hn Hn'. exists (over_from (go_over size a), over_to (go_over size a)). split; auto. unfold inside. simpl in *. lia.
    + intros s [<-|[]]. simpl. lia.
    + rewrite HT. intros l v Hl. apply in_app_or in Hl. destruct Hl as [Hl|Hl]; auto.
      assert (D : forall n, n <= count x -> snd (ov x n) < told r).
      { intros n Hn. destruct (n_old _ _ _ N n Hn) as [_ [->|]]; simpl; lia. }
      simpl in Hl. destruct Hl as [Hl|[Hl|[]]]; injection Hl as <- <-; simpl; auto.
    + intros n Hn. rewrite HT, finally_app. simpl. auto.
Qed.

End Room.

(* --- the reader ------------------------------------------------------------------------------------------------------------- *)

Lemma writer_put h h' cr c0 a c x b l g : writer_ok h cr c0 a c x b -> appended h h' l g -> l = Tail -> seen a <= value g ->
  writer_ok h' cr c0 a c x b.
Proof.
  intros [] Ap -> S. assert (E := proj2 Ap). assert (E' : forall l, l <> Tail -> newest_at h' l = newest_at h l).
  { intros. apply newest_ext. auto. }
  constructor; auto; try (intros; rewrite E' by discriminate; auto; fail).
  - intros i g'. rewrite (proj1 Ap). intros Hg Hi. apply nth_snoc in Hg. destruct Hg as [[_ Hg]|[-> ->]]; eauto.
  - apply (place_ext h); auto. intros. apply E'. discriminate.
Qed.

Lemma told_nums a x b b' : nums a x b -> b <= b' -> b' <= hv x (count x) -> nums a x b'.
Proof.
  intros [] L L'. constructor; auto.
  - lia.
  - intros i s I Hs. destruct (n_live0 i s I Hs); auto. left. lia.
  - intros i I. destruct (n_ord0 i I); auto. right. lia.
  - intros i t I Ht. apply n_fit0; auto. lia.
Qed.

Lemma todo_told x b b' l v : todo_ok x b l v -> b <= b' -> todo_ok x b' l v.
Proof.
  intros T L. destruct l; simpl in *; auto; try (destruct T as [T1 T]; split; auto); intros i I; specialize (T i I); lia.
Qed.

Lemma vle_refl (v : view loc) : vle v v.
Proof. intros k. auto. Qed.

(* The tail is stored. *)
Lemma core_done h h' c0 c1 c1' cw cr a c r x g : core h c0 c1 cw cr a c r x -> at_ r = Ready -> appended h h' Tail g ->
  value g = next r -> vle c1 (with_ g) -> vle c1 c1' ->
  core h' c0 c1' cw cr a c (Reader (next r) (next r) (top r) (ahead r) Ready) x.
Proof.
  intros [N M W R O A B] HR Ap Ev Vg V. assert (E := proj2 Ap). assert (R' := R). destruct R'.
  destruct r_seen0 as (i & (I1 & I2) & Q & S & U). assert (H := hv_mono a x (told r) i (count x) N I1 (Nat.le_refl _)).
  assert (N' : nums a x (next r)) by (apply (told_nums a x (told r)); auto; lia).
  assert (KE : forall i v, knows h cw x (told r) i v -> knows h' cw x (next r) i v).
  { intros i' v (A1 & A2 & A3). split; [|split].
    - intros k j. rewrite E by discriminate. intros. apply A1; auto. lia.
    - apply (pair_ok_mono h h BackFrom BackTo _ (told r) (next r) _ v v) in A2; auto using vle_refl; [|lia].
      destruct A2. split; intros n g'; rewrite E by discriminate; eauto.
    - apply (pair_ok_mono h h OverFrom OverTo _ (told r) (next r) _ v v) in A3; auto using vle_refl; [|lia].
      destruct A3. split; intros n g'; rewrite E by discriminate; eauto. }
  constructor; simpl; auto.
  - destruct M. constructor.
    + rewrite E by discriminate. auto.
    + intros i' g'. rewrite E by discriminate. intros Hg. destruct (m_head0 i' g' Hg). auto.
    + intros i' g'. rewrite (proj1 Ap). intros Hg. apply nth_snoc in Hg. destruct Hg as [[_ Hg]|[-> ->]].
      * destruct (m_tail0 i' g' Hg) as (T1 & T2). split; auto. lia.
      * rewrite Ev. repeat split; auto. intros s j. left. assert (X := Vg (Of 1)). specialize (B s j). lia.
    + intros i' i'' g1 g2 L. rewrite (proj1 Ap). intros H1 H2. apply nth_snoc in H1. apply nth_snoc in H2.
      destruct H1 as [[L1 H1]|[-> ->]], H2 as [[L2 H2]|[-> ->]]; auto.
      * apply (m_sorted0 i' i''); auto.
      * rewrite Ev. destruct (m_tail0 i' g1 H1). lia.
      * lia.
    + intros k j Hk Ht Hj. rewrite (newest_ext h) by (apply E; discriminate). apply m_words0; auto. lia.
  - assert (T : writer_ok h cr c0 a c x (next r)).
    { destruct W. constructor; auto. intros l v Hl. eapply todo_told; eauto. lia. }
    eapply writer_put; eauto. rewrite Ev. destruct (n_told _ _ _ N). lia.
  - constructor; simpl; auto; try lia. exists i. refine (conj (conj I1 _) (conj Q (conj _ _))).
    + assert (X := V (At Head)). lia.
    + destruct (KE i c1 S) as (A1 & A2 & A3).
      apply (knows_mono h' h' cw cw x (next r) (next r) i c1 c1'); auto.
    + unfold at_ok in *. rewrite HR in U. simpl. auto.
  - intros l Hl. rewrite E by auto. auto.
  - intros s j. assert (X := V (Of 1)). specialize (B s j). lia.
Qed.

(* The head is loaded. *)
Lemma core_look h c0 c1 c1' cw cr a c r x i g : core h c0 c1 cw cr a c r x -> nth_error (h Head) i = Some g ->
  c1 (At Head) <= i -> i <= c1' (At Head) -> vle c1 c1' -> vle (with_ g) c1' ->
  core h c0 c1' cw cr a c (Reader (next r) (told r) (value g) [] (Look [])) x.
Proof.
  intros [N M W R O A B] Hg Hi Hi' V Vg. destruct (m_head _ _ _ _ _ M i g Hg) as [Q1 Q2].
  assert (I : i <= count x). { apply nth_error_lt in Hg. rewrite (m_count _ _ _ _ _ M) in Hg. lia. }
  destruct R. destruct r_seen0 as (i0 & (I1 & I2) & Q & S & U).
  assert (H := hv_mono a x (told r) i0 i N ltac:(lia) I).
  constructor; simpl; auto.
  - constructor; simpl; auto; try lia. exists i. refine (conj (conj I Hi') (conj Q1 (conj _ _))).
    + eapply knows_mono; eauto.
    + intros n v Hn. destruct n; discriminate.
  - intros s j. assert (X := V (Of 1)). specialize (B s j). lia.
Qed.

(* A count of losses is loaded, or a word of a skip. *)
Lemma core_load h c0 c1 c1' cw cr a c r x l i g got : core h c0 c1 cw cr a c r x -> at_ r = Look got ->
  nth_error look_words (length got) = Some l -> nth_error (h l) i = Some g -> c1 (At l) <= i -> vle c1 c1' ->
  core h c0 c1' cw cr a c (set_at r (Look (got ++ [value g]))) x.
Proof.
  intros [N M W R O A B] HR Hl Hg Hi V. destruct R. destruct r_seen0 as (i0 & (I1 & I2) & Q & S & U).
  unfold at_ok in U. rewrite HR in U.
  constructor; simpl; auto.
  - constructor; simpl; auto. exists i0. refine (conj (conj I1 _) (conj Q (conj _ _))).
    + assert (X := V (At Head)). lia.
    + eapply knows_mono; eauto.
    + intros n v Hn. apply nth_snoc in Hn. destruct Hn as [[_ Hn]|[-> ->]]; [apply U; auto|].
      destruct S as (_ & [S1 S2] & [S3 S4]).
      destruct got as [|? [|? [|? [|? [|? [|? got]]]]]]; simpl in Hl;
        [injection Hl as <- .. |destruct (length got); discriminate]; simpl; eauto.
  - intros s j. assert (X := V (Of 1)). specialize (B s j). lia.
Qed.

(* What the comparisons of see_skip make of a pair that may be past or to come. *)
Lemma see_skip_is first p top_ from to b : b <= first -> snd p <= top_ -> fst p <= snd p ->
  from = fst p \/ (snd p < b /\ top_ <= from) -> to = snd p \/ snd p < b ->
  see_skip first from to top_ = if (first <=? fst p) && (fst p <? snd p) then [p] else [].
Proof.
  intros F T W Hf Ht. unfold see_skip. destruct p as [f t]. simpl in *.
  destruct (Nat.leb_spec first from), (Nat.ltb_spec from to), (Nat.leb_spec to top_), (Nat.leb_spec first f), (Nat.ltb_spec f t);
    simpl; auto; try lia. f_equal. f_equal; lia.
Qed.

Lemma live_in first p s : In s (if (first <=? fst p) && (fst p <? snd p) then [p] else []) ->
  s = p /\ first <= fst p /\ fst p < snd p.
Proof. destruct (Nat.leb_spec first (fst p)), (Nat.ltb_spec (fst p) (snd p)); simpl; intuition. Qed.

Lemma in_live first p : first <= fst p -> fst p < snd p -> In p (if (first <=? fst p) && (fst p <? snd p) then [p] else []).
Proof. intros. destruct (Nat.leb_spec first (fst p)), (Nat.ltb_spec (fst p) (snd p)); simpl; auto; lia. Qed.

Section Skips.
Variables (h : history) (c0 c1 : view loc) (cw cr : nat -> nat -> nat) (a : lane) (c : wpc) (r : reader) (x : world) (got : list val).
Hypothesis C : core h c0 c1 cw cr a c r x.
Hypothesis HR : at_ r = Look got.
Hypothesis L6 : length got = 6.

Lemma skips_seen : exists i, i <= count x /\ top r = hv x i /\
  let live_back := (next r <=? fst (bk x i)) && (fst (bk x i) <? snd (bk x i)) in
  let first := if live_back then snd (bk x i) else next r in
  see_skips r got = (if live_back then [bk x i] else []) ++
    (if (first <=? fst (ov x i)) && (fst (ov x i) <? snd (ov x i)) then [ov x i] else []).
Proof.
  destruct C as [N M W R O A B]. destruct R. destruct r_seen0 as (i & (I1 & I2) & Q & S & U).
  unfold at_ok in U. rewrite HR in U. exists i. split; auto. split; auto.
  destruct got as [|? [|? [|v0 [|v1 [|v2 [|v3 [|]]]]]]]; try discriminate.
  assert (U0 := U 2 v0 eq_refl). assert (U1 := U 3 v1 eq_refl). assert (U2 := U 4 v2 eq_refl). assert (U3 := U 5 v3 eq_refl).
  simpl in U0, U1, U2, U3. unfold see_skips. simpl nth.
  destruct (n_in _ _ _ N i I1) as (K1 & K2 & K3 & K4).
  assert (W1 := lo_whole _ _ _ _ _ (n_lane _ _ _ N) _ K1). assert (W2 := lo_whole _ _ _ _ _ (n_lane _ _ _ N) _ K2).
  rewrite (see_skip_is (next r) (bk x i) (top r) v0 v1 (told r)); try lia.
  destruct ((next r <=? fst (bk x i)) && (fst (bk x i) <? snd (bk x i))) eqn:Lb.
  - f_equal. apply (see_skip_is _ _ _ _ _ (told r)); try lia.
    apply andb_prop in Lb. destruct Lb as [L1 L2]. apply Nat.leb_le in L1. apply Nat.ltb_lt in L2. lia.
  - f_equal. apply (see_skip_is _ _ _ _ _ (told r)); lia.
Qed.

(* The skips that lie ahead are found, and nothing else; and there is no more than the ring can have. *)
Lemma skips_right : top r - next r - skipped (see_skips r got) <= size /\
  core h c0 c1 cw cr a c (Reader (next r) (told r) (top r) (see_skips r got) Ready) x.
Proof.
  destruct skips_seen as (i & I & Q & E). destruct C as [N M W R O A B].
  assert (R' := R). destruct R'. destruct (n_in _ _ _ N i I) as (K1 & K2 & K3 & K4).
  assert (W1 := lo_whole _ _ _ _ _ (n_lane _ _ _ N) _ K1). assert (W2 := lo_whole _ _ _ _ _ (n_lane _ _ _ N) _ K2).
  assert (Or := n_ord _ _ _ N i I). assert (O1 := r_out0 _ K1). assert (O2 := r_out0 _ K2). unfold outside in O1, O2.
  assert (AO : ahead_ok x (Reader (next r) (told r) (top r) (see_skips r got) Ready)).
  { unfold ahead_ok. simpl. rewrite E. split; [|split].
    - intros s Hs S1 S2 S3. assert (Os := r_out0 _ Hs). unfold outside in Os.
      destruct (n_live _ _ _ N i s I Hs) as [L|[L|[->| ->]]]; try lia; apply in_or_app.
      + left. apply in_live; lia.
      + right. apply in_live; auto.
        destruct (Nat.leb_spec (next r) (fst (bk x i))), (Nat.ltb_spec (fst (bk x i)) (snd (bk x i))); simpl; lia.
    - intros s Hs. apply in_app_or in Hs. destruct Hs as [Hs|Hs]; apply live_in in Hs; destruct Hs as (-> & H1 & H2).
      + repeat split; auto. lia.
      + repeat split; auto; try lia.
        destruct (Nat.leb_spec (next r) (fst (bk x i))), (Nat.ltb_spec (fst (bk x i)) (snd (bk x i))); simpl in *; lia.
    - destruct ((next r <=? fst (bk x i)) && (fst (bk x i) <? snd (bk x i))); simpl;
        destruct ((_ <=? fst (ov x i)) && (fst (ov x i) <? snd (ov x i))) eqn:L; simpl; repeat constructor.
      apply andb_prop in L. destruct L as [L _]. apply Nat.leb_le in L. auto. }
  split.
  - assert (F := n_fit _ _ _ N i (next r) I ltac:(lia) O1 O2). rewrite Q, E. unfold gap_at in F. simpl.
    destruct (Nat.leb_spec (next r) (fst (bk x i))), (Nat.ltb_spec (fst (bk x i)) (snd (bk x i))); simpl;
      match goal with |- context [(?u <=? fst (ov x i))] => destruct (Nat.leb_spec u (fst (ov x i))) end;
      destruct (Nat.ltb_spec (fst (ov x i)) (snd (ov x i))), (Nat.leb_spec (next r) (fst (ov x i))); simpl; lia.
  - constructor; auto. constructor; simpl; auto. destruct r_seen0 as (i0 & P & Q0 & S & U). exists i0. auto.
Qed.

End Skips.

Lemma core_pass h c0 c1 cw cr a c r x s rest : core h c0 c1 cw cr a c r x -> at_ r = Ready -> ahead r = s :: rest ->
  next r = fst s -> core h c0 c1 cw cr a c (Reader (snd s) (told r) (top r) rest Ready) x.
Proof.
  intros [N M W R O A B] HR Ha Hn. destruct R. destruct r_seen0 as (i & P & Q & S & U). unfold at_ok in U. rewrite HR in U.
  destruct U as (U1 & U2 & U3). rewrite Ha in *. destruct (U2 s (or_introl eq_refl)) as (V1 & V2 & V3 & V4).
  inversion U3; subst.
  assert (Dj := fun s' Hs' => lo_disjoint _ _ _ _ _ (n_lane _ _ _ N) s s' V1 Hs').
  assert (Ou : forall s', In s' (skips x) -> outside (snd s) s').
  { intros s' Hs'. specialize (r_out0 s' Hs'). unfold outside in *. destruct (Dj s' Hs') as [<-|[|]]; auto. lia. }
  constructor; simpl; auto. constructor; simpl; auto; try lia.
  - destruct r_took0 as (T1 & T2 & T3). repeat split; auto.
    + intros k K. specialize (T2 k K). lia.
    + intros k K K'. specialize (T3 k K K').
      assert (X := lo_apart _ _ _ _ _ (n_lane _ _ _ N) s (num x k) V1 ltac:(exists k; auto)). unfold inside in X. lia.
  - exists i. refine (conj P (conj Q (conj S _))). simpl. unfold ahead_ok. simpl. split; [|split]; auto.
    + intros s' Hs' L1 L2 L3. simpl in L2, L3. destruct (U1 s' Hs' L1 ltac:(lia) L3) as [<-|]; auto. lia.
    + intros s' Hs'. destruct (U2 s' (or_intror Hs')) as (X1 & X2 & X3 & X4).
      rewrite Forall_forall in H1. specialize (H1 s' Hs'). auto.
Qed.

Lemma core_begin h c0 c1 cw cr a c r x n : core h c0 c1 cw cr a c r x -> at_ r = Ready -> next r <= n < top r ->
  (forall s, In s (ahead r) -> ~ inside n s) -> core h c0 c1 cw cr a c (set_at r (Copy n [])) x.
Proof.
  intros [N M W R O A B] HR Hn Ha. assert (R' := R). destruct R'. destruct r_seen0 as (i & P & Q & S & U). unfold at_ok in U. rewrite HR in U.
  constructor; auto. constructor; simpl; auto. exists i. refine (conj P (conj Q (conj S _))). unfold at_ok. simpl. split; auto.
  destruct P as [P1 P2]. assert (H := hv_head a x _ i N P1). destruct r_took0 as (T1 & T2 & T3).
  destruct (n_cover _ _ _ N n ltac:(lia)) as [(k & K & E)|(s & Hs & Hi)].
  - exists k. assert (k < i) by (apply (hv_below a x (told r)); auto; lia).
    assert (took x <= k). { destruct (Nat.lt_ge_cases k (took x)) as [L|]; auto. specialize (T2 k L). lia. }
    repeat split; auto; try lia; try (intros j v []; fail).
  - exfalso. unfold inside in Hi. destruct U as (U1 & _). apply (Ha s); auto. apply U1; auto; try lia.
    destruct (n_hv _ _ _ N i s P1 Hs); lia.
Qed.

Lemma core_drop h c0 c1 cw cr a c r x n got : core h c0 c1 cw cr a c r x -> at_ r = Copy n got ->
  core h c0 c1 cw cr a c (set_at r Ready) x.
Proof.
  intros [N M W R O A B] HR. assert (R' := R). destruct R'. destruct r_seen0 as (i & P & Q & S & U). unfold at_ok in U. rewrite HR in U.
  constructor; auto. constructor; simpl; auto. exists i. refine (conj P (conj Q (conj S _))). unfold at_ok. simpl. apply U.
Qed.

(* A word of an entry is loaded: it is the newest there, and its store is known. *)
Lemma word_known h c0 c1 cw cr a c r x n got j : core h c0 c1 cw cr a c r x -> at_ r = Copy n got -> j < words ->
  cw (n mod size) j <= c1 (Of 0) /\ exists k, k < count x /\ took x <= k /\ num x k = n /\ told r <= n /\
  forall i g, nth_error (h (Word (n mod size) j)) i = Some g -> c1 (At (Word (n mod size) j)) <= i -> value g = nth j (ent x k) 0.
Proof.
  intros [N M W R O A B] HR J. destruct R. destruct r_seen0 as (i & (P1 & P2) & Q & S & U). unfold at_ok in U. rewrite HR in U.
  destruct U as (_ & k & (K1 & K2) & K3 & _). destruct r_took0 as (T1 & T2 & T3).
  assert (Ln : next r <= num x k) by (apply T3; lia). subst n.
  destruct S as (S & _). destruct (S k j K2 ltac:(lia) J) as [S1 S2]. split; auto.
  exists k. repeat split; auto; try lia. intros i' g Hg Hi'. rewrite <- (m_words _ _ _ _ _ M k j); auto; try lia.
  apply (nth_newest _ i'); auto. lia.
Qed.

Lemma core_read h c0 c1 c1' cw cr a c r x n got j i g m : core h c0 c1 cw cr a c r x -> at_ r = Copy n got -> j < words ->
  nth_error (h (Word (n mod size) j)) i = Some g -> c1 (At (Word (n mod size) j)) <= i -> vle c1 c1' -> m <= c1' (Of 1) ->
  core h c0 c1' cw (set2 cr (n mod size) j m) a c (set_at r (Copy n ((j, value g) :: got))) x.
Proof.
  intros C HR J Hg Hi V Lm. destruct (word_known _ _ _ _ _ _ _ _ _ _ _ _ C HR J) as (_ & k & K1 & K2 & K3 & K4 & KV).
  specialize (KV i g Hg Hi). destruct C as [N M W R O A B].
  assert (KL : forall t v, t <= told r -> knows_loads cr x t v -> knows_loads (set2 cr (n mod size) j m) x t v).
  { intros t v Ht H s j'. unfold set2. destruct (eq_dec (Word (n mod size) j) (Word s j')) as [E|E]; [|apply H].
    injection E as <- <-. right. exists k. repeat split; auto; try lia; congruence. }
  constructor; auto.
  - destruct M. constructor; auto. intros i' g' Hg'. destruct (m_tail0 i' g' Hg') as (T1 & T2 & T3). auto.
  - destruct W. constructor; auto. apply KL; auto. destruct (n_told _ _ _ N). auto.
  - destruct R. destruct r_seen0 as (i0 & (P1 & P2) & Q & S & U). unfold at_ok in U. rewrite HR in U.
    constructor; simpl; auto. exists i0. refine (conj (conj P1 _) (conj Q (conj _ _))).
    + assert (X := V (At Head)). lia.
    + eapply knows_mono; eauto.
    + unfold at_ok. simpl. destruct U as (U0 & k' & U1 & U2 & U3). split; auto. exists k'. repeat split; auto; try lia.
      intros j' v' [E|Hv]; auto. injection E as <- <-.
      assert (k' = k). { destruct (Nat.lt_trichotomy k k') as [L|[L|L]]; auto.
        - assert (X := n_inc _ _ _ N k k' L ltac:(lia)). lia.
        - assert (X := n_inc _ _ _ N k' k L ltac:(lia)). lia. }
      subst. auto.
  - intros s j'. unfold set2. destruct (eq_dec (Word (n mod size) j) (Word s j')); auto.
    assert (X := V (Of 1)). specialize (B s j'). lia.
Qed.

Lemma core_take h c0 c1 cw cr a c r x got e : core h c0 c1 cw cr a c r x -> at_ r = Copy (next r) got -> length e = words ->
  (forall k, k < count x -> length (ent x k) = words) -> (forall j, j < words -> In (j, nth j e 0) got) ->
  core h c0 c1 cw cr a c (Reader (S (next r)) (told r) (top r) (ahead r) Ready) (taken x e).
Proof.
  intros [N M W R O A B] HR Le Lx Hg. destruct R. destruct r_seen0 as (i & (P1 & P2) & Q & S & U). unfold at_ok in U. rewrite HR in U.
  destruct U as ((U1 & U2 & U3) & k & U4 & U5 & U6). destruct r_took0 as (T1 & T2 & T3).
  assert (K : k = took x).
  { destruct (Nat.eq_dec k (took x)) as [|Ne]; auto. exfalso.
    assert (X := n_inc _ _ _ N (took x) k ltac:(lia) ltac:(lia)). specialize (T3 (took x) (Nat.le_refl _) ltac:(lia)). lia. }
  subst k. assert (Ee : e = ent x (took x)).
  { apply (nth_ext _ _ 0 0); [rewrite Le, Lx; lia|]. intros j Hj. apply U6, Hg. lia. }
  assert (Hk := hv_above a x (told r) i (took x) N ltac:(lia) P1).
  assert (Pb : pub x (next r)) by (exists (took x); split; auto; lia).
  constructor; auto.
  - destruct N. constructor; auto.
  - destruct M. constructor; auto.
  - destruct W. constructor; auto.
    clear - w_place0. induction c; simpl in *; auto.
  - constructor; simpl; auto.
    + lia.
    + intros s Hs. specialize (r_out0 s Hs). assert (X := lo_apart _ _ _ _ _ (n_lane _ _ _ N) s (next r) Hs Pb).
      unfold outside, inside in *. lia.
    + repeat split; [lia | |].
      * intros k K. destruct (Nat.eq_dec k (took x)) as [->|]; [lia|]. specialize (T2 k ltac:(lia)). lia.
      * intros k K K'. assert (X := n_inc _ _ _ N (took x) k ltac:(lia) K'). lia.
    + assert (Z : map (ent x) (seq 0 (Datatypes.S (took x))) = map (ent x) (seq 0 (took x)) ++ [e]).
      { rewrite seq_S, map_app. simpl. rewrite <- Ee. reflexivity. }
      rewrite r_outs0.
      change (e :: rev (map (ent x) (seq 0 (took x))) = rev (map (ent x) (seq 0 (Datatypes.S (took x))))).
      rewrite Z, rev_app_distr. reflexivity.
    + exists i. refine (conj (conj P1 P2) (conj Q (conj S _))). unfold at_ok. simpl.
      split; [|split]; simpl; auto.
      * intros s Hs L1 L2 L3. apply U1; auto. lia.
      * intros s Hs. destruct (U2 s Hs) as (X1 & X2 & X3 & X4). repeat split; auto.
        assert (X := lo_apart _ _ _ _ _ (n_lane _ _ _ N) s (next r) X1 Pb). unfold inside in X. lia.
Qed.

End Proof.
