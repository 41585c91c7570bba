(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * lanes.v - the numbers of a ring's entries: where the writer finds room, and which numbers it leaves out.
 *
 * The number of an entry determines its place: the number modulo the size of the ring. A writer that goes back to the beginning of
 * its ring leaves numbers out, and so does one that goes over entries that are not yet read (ctp.h, from ctp_skip_ to ctp_end_).
 * This file has no memory and no threads. It says that a number below the limit of a lane has a place of its own: none of the
 * entries that the reader may still want is there.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
Local Arguments Nat.div : simpl never.
Local Arguments Nat.modulo : simpl never.
Local Arguments Nat.mul : simpl never.

(* struct ctp_lane_, and two numbers that the C has elsewhere: over_from is in the ring, seen is the tail that was loaded last. *)
Record lane := Lane { head : nat; limit : nat; back_from : nat; back_to : nat; over_from : nat; over_to : nat; seen : nat }.

Definition outside (n : nat) (s : nat * nat) : Prop := n <= fst s \/ snd s <= n.
Definition inside (n : nat) (s : nat * nat) : Prop := fst s <= n < snd s.

Lemma not_outside n s : ~ inside n s -> outside n s.
Proof. unfold inside, outside. lia. Qed.

Lemma mod_apart size p n q : 0 < size -> p + q * size < n -> n < p + S q * size -> p mod size <> n mod size.
Proof.
  intros Hs H1 H2 E. assert (A := Nat.div_mod p size). assert (B := Nat.div_mod n size). rewrite E in A.
  assert (p = size * (p / size) + n mod size) by (apply A; lia). assert (n = size * (n / size) + n mod size) by (apply B; lia).
  assert (size * (p / size) + size * q < size * (n / size)) by nia.
  assert (size * (n / size) < size * (p / size) + size * S q) by nia.
  assert (p / size + q < n / size) by nia. assert (n / size < p / size + S q) by nia. lia.
Qed.

Lemma mod_apart_less size p n : 0 < size -> p < n -> n < p + size -> p mod size <> n mod size.
Proof. intros. apply (mod_apart size p n 0); lia. Qed.

Lemma mod_apart_next size p n : 0 < size -> p + size < n -> n < p + 2 * size -> p mod size <> n mod size.
Proof. intros. apply (mod_apart size p n 1); lia. Qed.

Lemma multiples_apart turn a b : 0 < turn -> a mod turn = 0 -> b mod turn = 0 -> a < b -> a + turn <= b.
Proof.
  intros Ht Ha Hb H. assert (A := Nat.div_mod a turn). assert (B := Nat.div_mod b turn). rewrite Ha in A. rewrite Hb in B.
  assert (a = turn * (a / turn)) by lia. assert (b = turn * (b / turn)) by lia. assert (a / turn < b / turn) by nia. nia.
Qed.

Section Lane.
Variable size turn : nat.
Hypothesis size_some : 0 < size.

(* The writer may go back if its ring is a whole number of turns, and more than one (ctp_turns_ asks for 8, of 16384 entries each). *)
Definition turns_fit : Prop := 4 <= turn /\ size mod turn = 0.

(* ctp_go_back_: where it goes, if it goes back. *)
Definition goes_back (a : lane) (tail : nat) : bool :=
  negb (head a mod size =? 0) && ((head a mod size) mod turn =? 0) && (head a - tail <=? turn / 2).
Definition go_back (a : lane) : lane :=
  let to := head a - head a mod size + size in Lane to (limit a) (head a) to (over_from a) (over_to a) (seen a).

(* ctp_go_over_ *)
Definition go_over (a : lane) : lane :=
  let to := back_to a + back_from a mod size in Lane to (limit a) (back_from a) (back_to a) (head a) to (seen a).

Inductive went := Straight | Back | Over.

(* ctp_end_: the first number for which there is no room while the reader is at tail, and the lane afterwards. *)
Definition find_end (skipping : bool) (a : lane) (tail need : nat) : lane * nat * list went :=
  let b := if skipping && goes_back a tail then go_back a else a in
  let w := if skipping && goes_back a tail then [Back] else [] in
  if back_to b <=? tail then (b, tail + size, w)
  else if (over_to b <? back_to b) && (head b + need <=? tail + size) then (b, tail + size, w)
  else if over_to b <? back_to b then (go_over b, back_to b + size, w ++ [Over])
  else (b, back_to b + size, w).

(* ctp_room_: the limit that it stores. *)
Definition new_limit (skipping : bool) (a : lane) (end_ need : nat) : nat :=
  let next := ((head a + need - 1) / turn + 1) * turn in if skipping && (next <? end_) then next else end_.

Definition has_room (a : lane) (end_ need : nat) : bool := head a + need <=? end_.

Definition skip_of (w : went) (a : lane) : list (nat * nat) :=
  match w with Straight => [] | Back => [(back_from a, back_to a)] | Over => [(over_from a, over_to a)] end.

(* --- what holds of a lane --------------------------------------------------------------------------------------------------- *)

Definition back_shape (a : lane) : Prop :=
  4 <= turn /\ size mod turn = 0 /\ back_from a mod turn = 0 /\
  back_from a + turn <= back_to a /\ back_to a + turn <= back_from a + size /\ back_from a <= seen a + turn / 2 /\
  back_to a + back_from a mod size = back_from a + size.

Inductive stage (a : lane) : Prop :=
| Passed : back_to a <= seen a -> limit a <= seen a + size -> stage a
| Went : seen a <= back_from a -> over_to a < seen a -> limit a <= seen a + size -> back_shape a -> stage a
| Went_over : seen a <= back_from a -> over_to a = back_from a + size -> limit a <= back_to a + size ->
    over_from a <= seen a + size -> back_shape a -> stage a.

Variable pub : nat -> Prop. (* numbers of entries that are published *)

Record lane_ok (a : lane) (skips : list (nat * nat)) : Prop := LaneOk {
  lo_pub : forall n, pub n -> n < head a;
  lo_seen : seen a <= head a;
  lo_limit : head a <= limit a <= head a + size;
  lo_room : forall n p, head a <= n < limit a -> pub p -> seen a <= p -> p mod size <> n mod size;
  lo_skips : forall s, In s skips -> s = (back_from a, back_to a) \/ s = (over_from a, over_to a) \/ snd s < seen a;
  lo_back : In (back_from a, back_to a) skips;
  lo_over : In (over_from a, over_to a) skips;
  lo_outside : forall s, In s skips -> outside (seen a) s;
  lo_apart : forall s p, In s skips -> pub p -> ~ inside p s;
  lo_whole : forall s, In s skips -> fst s <= snd s <= head a;
  lo_disjoint : forall s s', In s skips -> In s' skips -> s = s' \/ snd s <= fst s' \/ snd s' <= fst s;
  lo_back_turn : back_to a = 0 \/ (4 <= turn /\ back_to a mod turn = 0 /\ (back_to a < head a \/ head a < limit a));
  lo_over_turn : over_to a = 0 \/ (4 <= turn /\ over_to a mod turn = 0 /\ (over_to a < head a \/ head a < limit a));
  lo_order : back_to a <= over_from a \/ over_to a < seen a;
  lo_stage : stage a;
}.

Lemma room_less a : limit a <= seen a + size -> (forall n, pub n -> n < head a) ->
  forall n p, head a <= n < limit a -> pub p -> seen a <= p -> p mod size <> n mod size.
Proof. intros L P n p Hn Hp Hs. apply P in Hp. apply mod_apart_less; lia. Qed.

Lemma room_stage a skips : stage a -> (forall n, pub n -> n < head a) -> (forall s, In s skips -> fst s <= snd s <= head a) ->
  In (back_from a, back_to a) skips -> In (over_from a, over_to a) skips ->
  (forall s p, In s skips -> pub p -> ~ inside p s) ->
  forall n p, head a <= n < limit a -> pub p -> seen a <= p -> p mod size <> n mod size.
Proof.
  intros S P W B O A. destruct S as [|_ _|]; try (apply room_less; auto; fail).
  intros n p Hn Hp Hs. assert (Hp' := P _ Hp). assert (WO := W _ O). simpl in WO.
  assert (AB := A _ _ B Hp). unfold inside in AB. simpl in AB. unfold back_shape in *.
  destruct (Nat.lt_ge_cases p (back_from a)).
  - apply mod_apart_next; auto; try lia.
    assert (turn / 2 <= turn) by (apply Nat.div_le_upper_bound; lia). lia.
  - apply mod_apart_less; lia.
Qed.

(* The next tail that the writer loads, where there is no number left: nothing else changes. *)
Definition see (a : lane) (tail lim : nat) : lane :=
  Lane (head a) lim (back_from a) (back_to a) (over_from a) (over_to a) tail.

Lemma see_ok a skips tail : lane_ok a skips -> head a = limit a -> seen a <= tail <= head a ->
  (forall s, In s skips -> outside tail s) -> lane_ok (see a tail (head a)) skips.
Proof.
  intros [] E T O. constructor; simpl; auto; try lia.
  - intros s Hs. destruct (lo_skips0 s Hs) as [|[|]]; auto. right. right. lia.
  - assert (OB := O _ lo_back0). unfold outside in OB. simpl in OB.
    assert (half : turn / 2 <= turn) by (apply Nat.div_le_upper_bound; lia).
    destruct lo_stage0 as [A B|A B C D|A B C D F].
    + apply Passed; simpl; lia.
    + destruct OB as [OB|OB]; [apply Went | apply Passed]; simpl; try lia. unfold back_shape in *. simpl. intuition lia.
    + destruct OB as [OB|OB]; [apply Went_over | apply Passed]; simpl; try lia. unfold back_shape in *. simpl. intuition lia.
Qed.

Lemma half_turn : 4 <= turn -> 2 + turn / 2 <= turn.
Proof. intros. assert (A := Nat.div_mod turn 2). assert (B := Nat.mod_upper_bound turn 2). lia. Qed.

Lemma mod_of_mod n : turn <> 0 -> size mod turn = 0 -> (n mod size) mod turn = n mod turn.
Proof.
  intros Ht Hs. assert (A := Nat.div_mod n size). assert (B := Nat.div_mod size turn). rewrite Hs in B.
  rewrite (A ltac:(lia)) at 2. rewrite (B Ht) at 2. rewrite Nat.add_0_r, <- Nat.mul_assoc, Nat.add_comm, (Nat.mul_comm turn).
  rewrite Nat.mod_add; auto.
Qed.

(* What follows from a decision to go back. *)
Lemma goes_back_shape a tail : turns_fit -> goes_back a tail = true -> tail <= head a ->
  let b := go_back a in
  head a mod turn = 0 /\ head a - head a mod size + size = back_to b /\ back_to b mod turn = 0 /\
  turn <= head a /\ head a <= tail + turn / 2 /\ head a + turn <= back_to b /\ back_to b + turn <= head a + size /\
  back_to b + head a mod size = head a + size.
Proof.
  intros [T S] H Ht. unfold goes_back in H. apply andb_prop in H. destruct H as [H H3]. apply andb_prop in H. destruct H as [H1 H2].
  apply negb_true_iff, Nat.eqb_neq in H1. apply Nat.eqb_eq in H2. apply Nat.leb_le in H3.
  assert (M := Nat.mod_upper_bound (head a) size ltac:(lia)).
  assert (L := Nat.mod_le (head a) size ltac:(lia)).
  assert (E : head a mod turn = 0) by (rewrite <- mod_of_mod; auto; lia).
  assert (A1 : turn <= head a mod size) by (apply (multiples_apart turn 0); try lia; apply Nat.mod_0_l; lia).
  assert (A2 : head a mod size + turn <= size) by (apply multiples_apart; lia).
  simpl. assert (E' : (head a - head a mod size + size) mod turn = 0).
  { replace (head a - head a mod size + size) with (head a + (size - head a mod size)) by lia.
    rewrite Nat.add_mod, E by lia. rewrite Nat.add_0_l, Nat.mod_mod by lia.
    assert (D := Nat.div_mod size turn). assert (D' := Nat.div_mod (head a mod size) turn). rewrite S in D. rewrite H2 in D'.
    replace (size - head a mod size) with ((size / turn - head a mod size / turn) * turn) by nia. apply Nat.mod_mul. lia. }
  repeat split; auto; lia.
Qed.

Lemma limit_between skipping a end_ need : 4 <= turn \/ skipping = false -> head a + need <= end_ ->
  head a + need <= new_limit skipping a end_ need <= end_.
Proof.
  intros T H. unfold new_limit. destruct skipping; simpl; [|lia]. destruct T as [T|T]; [|discriminate].
  destruct (Nat.ltb_spec (((head a + need - 1) / turn + 1) * turn) end_); [|lia].
  assert (A := Nat.div_mod (head a + need - 1) turn). assert (B := Nat.mod_upper_bound (head a + need - 1) turn).
  nia.
Qed.

(* The skips that were made, newest first. *)
Definition made (ws : list went) (a : lane) : list (nat * nat) := flat_map (fun w => skip_of w a) (rev ws).

(*
 * What ctp_end_ does for a writer that has used all of its room. Where there is room afterwards, the lane is sound with each limit
 * that ctp_room_ may choose; skips are made only then, one at a time.
 *)
Inductive found (a : lane) (skips : list (nat * nat)) (tail need : nat) : lane -> nat -> list went -> Prop :=
| found_none b e : has_room b e need = false -> b = a -> found a skips tail need b e []
| found_straight b e : has_room b e need = true -> b = a ->
    (forall l, head b + need <= l <= e -> lane_ok (see b tail l) skips) -> found a skips tail need b e []
| found_back b e : has_room b e need = true -> b = go_back a -> back_to a < tail -> over_to a < tail ->
    (forall l, head b + need <= l <= e -> lane_ok (see b tail l) ((back_from b, back_to b) :: skips)) ->
    found a skips tail need b e [Back]
| found_over b e : has_room b e need = true -> b = go_over a -> over_to a < tail -> head a <= head b ->
    (forall l, head b + need <= l <= e -> lane_ok (see b tail l) ((over_from b, over_to b) :: skips)) ->
    found a skips tail need b e [Over].

Lemma grown a skips tail l : lane_ok a skips -> head a = limit a -> seen a <= tail <= head a ->
  (forall s, In s skips -> outside tail s) -> head a < l <= head a + size ->
  stage (see a tail l) -> lane_ok (see a tail l) skips.
Proof.
  intros A E T O L S. assert (A' := see_ok a skips tail A E T O). destruct A, A'. simpl in *.
  constructor; simpl; auto; try lia.
  eapply (room_stage (see a tail l) skips); eauto.
Qed.

Lemma end_straight a skips tail need e : lane_ok a skips -> head a = limit a -> seen a <= tail <= head a -> 1 <= need ->
  (forall s, In s skips -> outside tail s) ->
  (forall l, head a < l <= e -> stage (see a tail l) /\ e <= head a + size) -> found a skips tail need a e [].
Proof.
  intros A E T N O S. destruct (has_room a e need) eqn:R; [apply found_straight | apply found_none]; auto.
  intros l L. destruct (S l ltac:(lia)). apply grown; auto. lia.
Qed.

Lemma went_back a skips tail l : lane_ok a skips -> head a = limit a -> seen a <= tail <= head a ->
  (forall s, In s skips -> outside tail s) -> turns_fit -> goes_back a tail = true ->
  let b := go_back a in head b < l <= tail + size ->
  back_to a < tail /\ over_to a < tail /\ lane_ok (see b tail l) ((back_from b, back_to b) :: skips).
Proof.
  intros A E T O F G b L. destruct (goes_back_shape a tail F G ltac:(lia)) as (H1 & H2 & H3 & H4 & H5 & H6 & H7 & H8).
  destruct F as [F F2]. assert (Half := half_turn F). destruct A. fold b in H2, H3, H6, H7, H8.
  assert (B : back_to a < tail).
  { destruct lo_back_turn0 as [Z|(_ & Z & [C|C])]; try lia.
    assert (M := multiples_apart turn (back_to a) (head a)). lia. }
  assert (Ov : over_to a < tail).
  { destruct lo_over_turn0 as [Z|(_ & Z & [C|C])]; try lia.
    assert (M := multiples_apart turn (over_to a) (head a)). lia. }
  split; auto. split; auto.
  assert (Hb : head b = back_to b) by (unfold b; simpl; auto). assert (Hf : back_from b = head a) by reflexivity.
  assert (Ho : over_to b = over_to a /\ over_from b = over_from a) by (split; reflexivity). destruct Ho as [Ho Ho'].
  clearbody b.
  assert (S : stage (see b tail l)).
  { apply Went; simpl; try lia. unfold back_shape. simpl. rewrite ?Hf. repeat split; auto; try lia. }
  assert (P : forall n, pub n -> n < head b) by (intros n Hn; apply lo_pub0 in Hn; lia).
  assert (Apart : forall s p, In s ((back_from b, back_to b) :: skips) -> pub p -> ~ inside p s).
  { intros s p [<-|Hs] Hp; eauto. unfold inside. simpl. apply lo_pub0 in Hp. lia. }
  assert (Whole : forall s, In s ((back_from b, back_to b) :: skips) -> fst s <= snd s <= head b).
  { intros s [<-|Hs]; simpl; [lia|]. apply lo_whole0 in Hs. lia. }
  constructor; simpl; try (rewrite ?Hf, ?Ho, ?Ho'; auto; lia).
  - apply (room_stage (see b tail l) ((back_from b, back_to b) :: skips)); simpl; auto. rewrite Ho, Ho'. auto.
  - intros s [<-|Hs]; auto. destruct (lo_skips0 s Hs) as [->|[->|]]; simpl; [right; right; lia .. |right; right; lia].
  - intros s [<-|Hs]; auto. unfold outside. simpl. lia.
  - exact Apart.
  - exact Whole.
  - intros s s' [<-|Hs] [<-|Hs']; auto; simpl; rewrite ?Hf; right; [right; apply lo_whole0 in Hs' | left; apply lo_whole0 in Hs]; lia.
Qed.

Lemma went_over a skips tail l : lane_ok a skips -> head a = limit a -> seen a <= tail <= head a ->
  (forall s, In s skips -> outside tail s) -> tail < back_to a -> over_to a < back_to a ->
  let b := go_over a in head b < l <= back_to a + size ->
  over_to a < tail /\ head a <= head b /\ lane_ok (see b tail l) ((over_from b, over_to b) :: skips).
Proof.
  intros A E T O TB OB b L. destruct A.
  destruct lo_stage0 as [X|S1 S2 S3 S4|S1 S2 S3 S4 S5]; [lia | | unfold back_shape in *; lia].
  assert (OT := O _ lo_back0). unfold outside in OT. simpl in OT. destruct S4 as (Q1 & Q2 & Q3 & Q4 & Q5 & Q6 & Q7).
  assert (Half := half_turn Q1).
  assert (Hb : head b = back_from a + size) by (unfold b; simpl; lia).
  assert (Ht : over_to b = back_from a + size) by (unfold b; simpl; lia).
  assert (Hf : over_from b = head a) by reflexivity.
  assert (B1 : back_from b = back_from a) by reflexivity. assert (B2 : back_to b = back_to a) by reflexivity.
  clearbody b.
  split; [lia|]. split; [lia|].
  assert (S : stage (see b tail l)).
  { apply Went_over; simpl; try lia. unfold back_shape. simpl. rewrite B1, B2. repeat split; auto; lia. }
  assert (P : forall n, pub n -> n < head b) by (intros n Hn; apply lo_pub0 in Hn; lia).
  assert (Apart : forall s p, In s ((over_from b, over_to b) :: skips) -> pub p -> ~ inside p s).
  { intros s p [<-|Hs] Hp; eauto. unfold inside. simpl. apply lo_pub0 in Hp. lia. }
  assert (Whole : forall s, In s ((over_from b, over_to b) :: skips) -> fst s <= snd s <= head b).
  { intros s [<-|Hs]; simpl; [lia|]. apply lo_whole0 in Hs. lia. }
  assert (Mult : over_to b mod turn = 0).
  { rewrite Ht, Nat.add_mod, Q2, Q3 by lia. apply Nat.mod_0_l. lia. }
  constructor; simpl; try (rewrite ?Hf, ?Ht, ?B1, ?B2; auto; lia).
  - apply (room_stage (see b tail l) ((over_from b, over_to b) :: skips)); simpl; auto. rewrite B1, B2. auto.
  - intros s [<-|Hs]; auto. destruct (lo_skips0 s Hs) as [->|[->|]]; simpl; auto; right; right; lia.
  - intros s [<-|Hs]; auto. unfold outside. simpl. lia.
  - exact Apart.
  - exact Whole.
  - intros s s' [<-|Hs] [<-|Hs']; auto; simpl; rewrite ?Hf; right; [right; apply lo_whole0 in Hs' | left; apply lo_whole0 in Hs]; lia.
  - right. repeat split; auto. right. lia.
Qed.

Theorem find_end_finds skipping a skips tail need : lane_ok a skips -> head a = limit a -> seen a <= tail <= head a ->
  (forall s, In s skips -> outside tail s) -> (skipping = true -> turns_fit) -> 1 <= need <= 2 ->
  let '(b, e, ws) := find_end skipping a tail need in found a skips tail need b e ws.
Proof.
  intros A E T O F N. unfold find_end. destruct (skipping && goes_back a tail) eqn:G.
  - apply andb_prop in G. destruct G as [-> G]. specialize (F eq_refl).
    destruct (goes_back_shape a tail F G ltac:(lia)) as (H1 & H2 & H3 & H4 & H5 & H6 & H7 & H8).
    assert (Half := half_turn (proj1 F)).
    assert (Hb : head (go_back a) = back_to (go_back a)) by reflexivity.
    destruct (went_back a skips tail (tail + size) A E T O F G ltac:(simpl in *; lia)) as (K1 & K2 & _).
    set (b := go_back a) in *.
    assert (Room : head b + need <= tail + size) by lia.
    assert (Hov : over_to b = over_to a) by reflexivity.
    destruct (Nat.leb_spec (back_to b) tail); [lia|].
    destruct (Nat.ltb_spec (over_to b) (back_to b)); [|lia].
    destruct (Nat.leb_spec (head b + need) (tail + size)); [|lia]. simpl.
    apply found_back; auto; try (unfold has_room; apply Nat.leb_le; lia).
    intros l L. apply (went_back a skips tail l); auto. fold b. lia.
  - assert (A0 := A). destruct A0.
    destruct (Nat.leb_spec (back_to a) tail).
    + apply end_straight; auto; try lia. intros l L. split; [apply Passed; simpl; lia | lia].
    + assert (OT := O _ lo_back0). unfold outside in OT. simpl in OT.
      destruct (Nat.ltb_spec (over_to a) (back_to a)); simpl.
      * destruct (Nat.leb_spec (head a + need) (tail + size)); simpl.
        -- apply end_straight; auto; try lia. intros l L. split; [|lia].
           destruct lo_stage0 as [X|S1 S2 S3 S4|S1 S2 S3 S4 S5]; [lia | | unfold back_shape in *; lia].
           apply Went; simpl; try lia. unfold back_shape in *. simpl. intuition lia.
        -- destruct lo_stage0 as [X|S1 S2 S3 S4|S1 S2 S3 S4 S5]; [lia | | unfold back_shape in *; lia].
           destruct S4 as (Q1 & Q2 & Q3 & Q4 & Q5 & Q6 & Q7). assert (Half := half_turn Q1).
           assert (Hb : head (go_over a) = back_from a + size) by (simpl; lia).
           destruct (went_over a skips tail (back_to a + size) A E T O ltac:(lia) ltac:(lia) ltac:(simpl in *; lia)) as (K1 & K2 & _).
           apply found_over; auto; try (unfold has_room; apply Nat.leb_le; lia).
           intros l L. apply went_over; auto; lia.
      * apply end_straight; auto; try lia. intros l L.
        destruct lo_stage0 as [X|S1 S2 S3 S4|S1 S2 S3 S4 S5]; [lia | lia |].
        assert (W := lo_whole0 _ lo_back0). simpl in W. split; [|lia].
        apply Went_over; simpl; try lia. unfold back_shape in *. simpl. intuition lia.
Qed.

End Lane.
