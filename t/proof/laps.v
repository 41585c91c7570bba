(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * laps.v - the arithmetic of a station: event k goes to slot k mod slots, in lap k / slots.
 *)
From Coq Require Import Arith Lia Bool.

Section Laps.
Variable slots : nat.
Hypothesis slots_some : 0 < slots.

(* How many of the events 0 .. k - 1 went to slot s. *)
Fixpoint laps (k s : nat) : nat :=
  match k with 0 => 0 | S k => laps k s + (if k mod slots =? s then 1 else 0) end.

Lemma next_event k :
  (S (k mod slots) < slots /\ S k / slots = k / slots /\ S k mod slots = S (k mod slots)) \/
  (S (k mod slots) = slots /\ S k / slots = S (k / slots) /\ S k mod slots = 0).
Proof.
  assert (Hm := Nat.mod_upper_bound k slots ltac:(lia)).
  assert (Hd := Nat.div_mod k slots ltac:(lia)).
  destruct (Nat.lt_ge_cases (S (k mod slots)) slots) as [H|H]; [left|right].
  - split; auto. split.
    + symmetry. apply Nat.div_unique with (S (k mod slots)); lia.
    + symmetry. apply Nat.mod_unique with (k / slots); lia.
  - split; [lia|]. split.
    + symmetry. apply Nat.div_unique with 0; lia.
    + symmetry. apply Nat.mod_unique with (S (k / slots)); lia.
Qed.

Lemma laps_is k s : s < slots -> laps k s = k / slots + (if s <? k mod slots then 1 else 0).
Proof.
  intros Hs. induction k.
  - simpl. rewrite Nat.div_0_l, Nat.mod_0_l by lia. reflexivity.
  - simpl laps. rewrite IHk. clear IHk. destruct (next_event k) as [(H1 & H2 & H3)|(H1 & H2 & H3)]; rewrite H2, H3;
      destruct (Nat.eqb_spec (k mod slots) s), (Nat.ltb_spec s (k mod slots));
      try destruct (Nat.ltb_spec s (S (k mod slots))); try destruct (Nat.ltb_spec s 0); lia.
Qed.

(* The event that is written next begins the lap after those that its slot has seen. *)
Lemma laps_own k : laps k (k mod slots) = k / slots.
Proof.
  rewrite laps_is by (apply Nat.mod_upper_bound; lia).
  destruct (Nat.ltb_spec (k mod slots) (k mod slots)); lia.
Qed.

Lemma laps_published k e : e < k <-> e / slots < laps k (e mod slots).
Proof.
  assert (He := Nat.mod_upper_bound e slots ltac:(lia)). rewrite laps_is by auto.
  assert (Hd := Nat.div_mod k slots ltac:(lia)). assert (Hd' := Nat.div_mod e slots ltac:(lia)).
  assert (Hk := Nat.mod_upper_bound k slots ltac:(lia)).
  set (q := k / slots) in *. set (r := k mod slots) in *. set (q' := e / slots) in *. set (r' := e mod slots) in *.
  destruct (Nat.ltb_spec r' r); split; intros; nia.
Qed.

Lemma event_of j s : s < slots -> (j * slots + s) / slots = j /\ (j * slots + s) mod slots = s.
Proof.
  intros Hs. split.
  - symmetry. apply Nat.div_unique with s; lia.
  - symmetry. apply Nat.mod_unique with j; lia.
Qed.

Lemma event_is k : k / slots * slots + k mod slots = k.
Proof. assert (Hd := Nat.div_mod k slots ltac:(lia)). lia. Qed.

End Laps.

(* ctp_slot_write_ computes the odd mark as k / 4 | 1. *)
Lemma mark_of_8 k : Nat.lor (k / 4) 1 = 2 * (k / 8) + 1.
Proof.
  replace (k / 8) with (k / 4 / 2) by (rewrite Nat.div_div by lia; reflexivity).
  set (n := k / 4). clearbody n. apply Nat.bits_inj. intros i. rewrite Nat.lor_spec. destruct i.
  - rewrite Nat.testbit_odd_0. apply orb_true_r.
  - rewrite Nat.testbit_odd_succ by lia.
    rewrite <- (Nat.div2_div n). rewrite Nat.div2_spec. rewrite Nat.shiftr_spec by lia.
    replace (Nat.testbit 1 (S i)) with false by (symmetry; apply Nat.bits_0).
    rewrite orb_false_r. f_equal. lia.
Qed.
