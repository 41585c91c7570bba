(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * ringtold.v - what the reader of a ring knows of losses, and of the end of the writer.
 *
 * A gap entry is published after the losses that it tells of were counted. So who has acquired a head loads counts that are no less
 * than what the gap entries below that head say. Who has acquired the end loads the newest head and the newest counts.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views lanes ringlogs ringsteps ringkept.

Definition over (c : wpc) : Prop := match c with Ended _ => True | _ => False end.

(* n is no less than what the gap entries before number t say. *)
Definition covers (x : world) (t : nat) (b : bool) (n : nat) : Prop :=
  forall i, i <= count x -> hv x i <= t -> said b (upto i (log x)) <= n.

Definition knows_end (x : world) (v : view loc) : Prop :=
  count x <= v (At Head) /\ forall b, misses b (log x) <= v (At (Lost b)).

(* v is the count that the last look has loaded. *)
Definition has (r : reader) (k : tally) (b : bool) (v : nat) : Prop :=
  match at_ r with Look got => nth_error got (if b then 1 else 0) = Some v | _ => v = counts k b end.

Record tally_ok (h : history) (c1 : view loc) (c : wpc) (r : reader) (k : tally) (x : world) : Prop := TallyOk {
  y_lost : forall b, length (h (Lost b)) = S (misses b (log x));
  y_value : forall b n g, nth_error (h (Lost b)) n = Some g -> value g = n;
  y_head : forall i g b, nth_error (h Head) i = Some g -> covers x (value g) b (with_ g (At (Lost b)));
  y_gone : forall i g, nth_error (h Gone) i = Some g -> value g = 0 \/ over c /\ knows_end x (with_ g);
  y_ended : ended k = true -> over c /\ knows_end x c1;
  y_top : forall b, covers x (top r) b (c1 (At (Lost b)));
  y_final : final k = true -> ended k = true /\ top r = hv x (count x);
  y_counts : forall b v, has r k b v ->
    covers x (top r) b v /\ v <= misses b (log x) /\ (final k = true -> v = misses b (log x));
}.

Lemma covers_more x t b n n' : covers x t b n -> n <= n' -> covers x t b n'.
Proof. intros C L i Hi Ht. specialize (C i Hi Ht). lia. Qed.

Lemma end_more x v v' : knows_end x v -> vle v v' -> knows_end x v'.
Proof.
  intros [A B] V. split; [assert (X := V (At Head)); lia|]. intros b. specialize (B b). assert (X := V (At (Lost b))). lia.
Qed.

(* --- steps that change none of it ------------------------------------------------------------------------------------------- *)

Definition telling_of (l : loc) : Prop := match l with Head | Gone | Lost _ => True | _ => False end.

Lemma tally_mono h h' c1 c1' c c' r r' k x : tally_ok h c1 c r k x -> (forall l, telling_of l -> h' l = h l) -> vle c1 c1' ->
  (over c -> over c') -> top r' = top r -> (forall b v, has r' k b v -> has r k b v) -> tally_ok h' c1' c' r' k x.
Proof.
  intros [] E V O T H. constructor; rewrite ?T; auto.
  - intros b. rewrite E by exact I. eauto.
  - intros b n g. rewrite E by exact I. eauto.
  - intros i g b. rewrite E by exact I. eauto.
  - intros i g. rewrite E by exact I. intros Hg. destruct (y_gone0 i g Hg) as [|[]]; auto.
  - intros K. destruct (y_ended0 K). split; eauto using end_more.
  - intros b. eapply covers_more; [apply y_top0|]. apply V.
Qed.

Lemma tally_skips h c1 c r k x ss : tally_ok h c1 c r k x -> tally_ok h c1 c r k (with_skips x ss).
Proof. intros []. constructor; auto. Qed.

Lemma tally_taken h c1 c r k x e : tally_ok h c1 c r k x -> tally_ok h c1 c r k (taken x e).
Proof. intros []. constructor; auto. Qed.

(* --- the writer ------------------------------------------------------------------------------------------------------------- *)

Lemma tally_miss h h' c1 c c' r k x note g : tally_ok h c1 c r k x -> ~ over c -> appended h h' (Lost note) g ->
  value g = misses note (log x) + 1 -> tally_ok h' c1 c' r k (with_log x (Miss note)).
Proof.
  intros [] O [E E'] Ev.
  constructor; simpl; auto.
  - intros b. destruct (loc_eq (Lost b) (Lost note)) as [Q|Q].
    + injection Q as ->. rewrite E, app_length, y_lost0, eqb_reflx. simpl. lia.
    + rewrite E' by auto. rewrite y_lost0. destruct note, b; simpl; congruence.
  - intros b n g'. destruct (loc_eq (Lost b) (Lost note)) as [Q|Q]; [|rewrite E' by auto; eauto].
    injection Q as ->. rewrite E. intros Hg. apply nth_snoc in Hg. destruct Hg as [[_ Hg]|[-> ->]]; eauto.
    rewrite Ev, y_lost0. lia.
  - intros i g' b. rewrite E' by discriminate. intros Hg. exact (y_head0 i g' b Hg).
  - intros i g'. rewrite E' by discriminate. intros Hg. destruct (y_gone0 i g' Hg) as [|[]]; tauto.
  - intros K. destruct (y_ended0 K). tauto.
  - intros b v Hv. destruct (y_counts0 b v Hv) as (A & B & C). split; [exact A|]. split; [simpl; lia|].
    intros F. destruct (y_final0 F) as [K _]. destruct (y_ended0 K). tauto.
Qed.

Lemma covers_published gap_text x a it t b n : covers x t b n -> t <= head a -> entries (log x) = count x ->
  covers (published gap_text x a it) t b n.
Proof.
  intros C T E i Hi Ht. simpl in Hi. destruct (Nat.eq_dec i (S (count x))) as [->|].
  - rewrite hv_new in Ht. lia.
  - rewrite hv_old in Ht by lia. change (log (published gap_text x a it)) with (it :: log x).
    rewrite upto_later by lia. apply C; auto. lia.
Qed.

Lemma tally_publish gap_text h h' c1 c c' r k x a it g : tally_ok h c1 c r k x -> ~ over c -> appended h h' Head g ->
  value g = S (head a) -> (forall b, misses b (log x) <= with_ g (At (Lost b))) -> honest (it :: log x) ->
  match it with Miss _ => False | _ => True end -> entries (log x) = count x -> top r <= head a ->
  (forall i g, nth_error (h Head) i = Some g -> value g <= head a) ->
  tally_ok h' c1 c' r k (published gap_text x a it).
Proof.
  intros [] O [E E'] Ev Vg Ho Ni En Tp Hh.
  assert (M : forall b, misses b (it :: log x) = misses b (log x)) by (destruct it; simpl; tauto).
  constructor; auto.
  - intros b. rewrite E' by discriminate. simpl log. rewrite M. auto.
  - intros b n g'. rewrite E' by discriminate. eauto.
  - intros i g' b. rewrite E. intros Hg. apply nth_snoc in Hg. destruct Hg as [[_ Hg]|[-> ->]].
    + apply covers_published; eauto.
    + intros j _ _. simpl log. assert (A := said_upto b j (it :: log x)). assert (B := said_unsaid b _ Ho).
      rewrite M in B. specialize (Vg b). lia.
  - intros i g'. rewrite E' by discriminate. intros Hg. destruct (y_gone0 i g' Hg) as [|[]]; tauto.
  - intros K. destruct (y_ended0 K). tauto.
  - intros b. apply covers_published; auto.
  - intros F. destruct (y_final0 F) as [K _]. destruct (y_ended0 K). tauto.
  - intros b v Hv. destruct (y_counts0 b v Hv) as (A & B & C). simpl log. rewrite M.
    split; [apply covers_published; auto|]. auto.
Qed.

Lemma tally_ended h h' c0 c1 c c' r k x g : tally_ok h c1 c r k x -> appended h h' Gone g -> vle c0 (with_ g) ->
  (forall l, telling_of l -> length (h l) <= S (c0 (At l))) -> length (h Head) = S (count x) ->
  tally_ok h' c1 (Ended c') r k x.
Proof.
  intros [] [E E'] V O L. constructor; auto.
  - intros b. rewrite E' by discriminate. auto.
  - intros b n g'. rewrite E' by discriminate. eauto.
  - intros i g' b. rewrite E' by discriminate. eauto.
  - intros i g'. rewrite E. intros Hg. apply nth_snoc in Hg. destruct Hg as [[_ Hg]|[-> ->]].
    + destruct (y_gone0 i g' Hg) as [|[]]; auto. right. split; [exact I|auto].
    + right. split; [exact I|]. split.
      * specialize (O Head I). assert (X := V (At Head)). lia.
      * intros b. specialize (O (Lost b) I). rewrite y_lost0 in O. assert (X := V (At (Lost b))). lia.
  - intros K. destruct (y_ended0 K). split; [exact I|auto].
Qed.

(* --- the reader ------------------------------------------------------------------------------------------------------------- *)

Lemma tally_over h c1 c1' c r k x i g : tally_ok h c1 c r k x -> nth_error (h Gone) i = Some g -> value g <> 0 ->
  vle c1 c1' -> vle (with_ g) c1' -> tally_ok h c1' c r (Tally true (final k) (counts k)) x.
Proof.
  intros Y Hg Ev V Vg. destruct (tally_mono h h c1 c1' c c r r k x) as []; auto.
  constructor; auto.
  - intros _. destruct Y. destruct (y_gone1 i g Hg) as [|[]]; [congruence|]. split; eauto using end_more.
  - intros F. split; auto. apply y_final0. auto.
Qed.

Lemma tally_look h c1 c1' c r k x i g told : tally_ok h c1 c r k x -> nth_error (h Head) i = Some g -> c1 (At Head) <= i ->
  value g = hv x i -> i <= count x -> vle c1 c1' -> vle (with_ g) c1' ->
  tally_ok h c1' c (Reader (next r) told (value g) [] (Look [])) (Tally (ended k) (ended k) (counts k)) x.
Proof.
  intros Y Hg Hi Ev Ic V Vg. destruct (tally_mono h h c1 c1' c c r r k x) as []; auto.
  constructor; auto; simpl.
  - intros b. eapply covers_more; [eapply y_head0; eauto|]. apply Vg.
  - intros K. split; auto. destruct (y_ended _ _ _ _ _ _ Y K) as [_ [A _]]. rewrite Ev. f_equal. lia.
  - intros b v. unfold has. simpl. destruct b; discriminate.
Qed.

Lemma tally_load h c1 c1' c r k x l i g got : tally_ok h c1 c r k x -> at_ r = Look got ->
  nth_error look_words (length got) = Some l -> nth_error (h l) i = Some g -> c1 (At l) <= i -> vle c1 c1' ->
  tally_ok h c1' c (set_at r (Look (got ++ [value g]))) k x.
Proof.
  intros Y HR Hl Hg Hi V. destruct (tally_mono h h c1 c1' c c r r k x) as []; auto.
  constructor; auto. simpl. intros b v Hv. unfold has in *. simpl in *. rewrite HR in *.
  apply nth_snoc in Hv. destruct Hv as [[_ Hv]|[Hb ->]]; auto.
  assert (l = Lost b) by (destruct b; rewrite <- Hb in Hl; simpl in Hl; congruence). subst l.
  destruct Y. assert (E := y_value1 b i g Hg). apply nth_error_lt in Hg. rewrite y_lost1 in Hg. rewrite E.
  split; [eapply covers_more; [apply y_top1|auto]|]. split; [lia|].
  intros F. destruct (y_final1 F) as [K _]. destruct (y_ended1 K) as [_ [_ B]]. specialize (B b). lia.
Qed.

Lemma tally_ready h c1 c r k x got s t : tally_ok h c1 c r k x -> at_ r = Look got -> length got = 6 ->
  tally_ok h c1 c (Reader s t (top r) (see_skips r got) Ready) (Tally (ended k) (final k) (count_of got)) x.
Proof.
  intros [] HR L. constructor; auto. simpl. intros b v Hv. apply y_counts0. unfold has in *. rewrite HR. simpl in Hv. subst v.
  unfold count_of. apply nth_error_nth'. destruct b; lia.
Qed.
