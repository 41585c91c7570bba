(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * ringlogs.v - what a thread tried to put into its ring, and what the entries there say of it: lists, without memory or threads.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine.

Definition entry := list val.

(* What the writer was asked to put, in the order of its calls: it was put, or it was counted; and the entries about the latter. *)
Inductive item := Put (e : entry) | Gap (ts events notes : nat) | Miss (note : bool).

(* Logs have the newest first. *)
Fixpoint misses (b : bool) (log : list item) : nat :=
  match log with
  | [] => 0
  | Miss n :: l => (if Bool.eqb n b then 1 else 0) + misses b l
  | _ :: l => misses b l
  end.

Fixpoint puts (log : list item) : nat :=
  match log with [] => 0 | Put _ :: l => S (puts l) | _ :: l => puts l end.

(* All calls. *)
Definition tries (log : list item) : nat := puts log + (misses false log + misses true log).

(* What was counted since the last entry about it. *)
Fixpoint unsaid (b : bool) (log : list item) : nat :=
  match log with
  | [] => 0
  | Put _ :: l => unsaid b l
  | Gap _ _ _ :: _ => 0
  | Miss n :: l => (if Bool.eqb n b then 1 else 0) + unsaid b l
  end.

(* What the entries about it say. *)
Fixpoint said (b : bool) (log : list item) : nat :=
  match log with
  | [] => 0
  | Gap _ events notes :: l => (if b then notes else events) + said b l
  | _ :: l => said b l
  end.

(* After a loss, the next entry says exactly how much was lost since the one before it. *)
Fixpoint honest (log : list item) : Prop :=
  match log with
  | [] => True
  | Put _ :: l => honest l /\ unsaid false l = 0 /\ unsaid true l = 0
  | Gap _ events notes :: l => honest l /\ events = unsaid false l /\ notes = unsaid true l /\ 0 < events + notes
  | Miss _ :: l => honest l
  end.

Fixpoint entries (log : list item) : nat :=
  match log with [] => 0 | Miss _ :: l => entries l | _ :: l => S (entries l) end.

(* A log as it was when its n-th entry had just been published. *)
Fixpoint upto (n : nat) (log : list item) : list item :=
  match log with
  | [] => []
  | Miss _ :: l => upto n l
  | _ :: l => if n <=? entries l then upto n l else log
  end.

Lemma firstn_seq n m : n <= m -> firstn n (seq 0 m) = seq 0 n.
Proof.
  intros H. replace m with (n + (m - n)) by lia. rewrite seq_app, firstn_app, seq_length.
  replace (n - n) with 0 by lia. rewrite app_nil_r. apply firstn_all2. rewrite seq_length. auto.
Qed.

Section Texts.
Variable gap_text : nat -> nat -> nat -> entry. (* the entry that reports a gap *)

Definition text (it : item) : entry :=
  match it with Put e => e | Gap ts events notes => gap_text ts events notes | Miss _ => [] end.

(* The entries of a log, in order. *)
Definition texts (l : list item) : list entry := flat_map (fun it => match it with Miss _ => [] | _ => [text it] end) (rev l).

Lemma texts_snoc log it : texts (it :: log) = texts log ++ match it with Miss _ => [] | _ => [text it] end.
Proof. unfold texts. simpl. rewrite flat_map_app. simpl. rewrite app_nil_r. auto. Qed.

Lemma texts_length log : length (texts log) = entries log.
Proof.
  induction log as [|it log IH]; auto. rewrite texts_snoc, app_length, IH. destruct it; simpl; lia.
Qed.

Lemma texts_upto n log : n <= entries log -> texts (upto n log) = firstn n (texts log).
Proof.
  assert (First : forall (l l' : list entry), n <= length l -> firstn n (l ++ l') = firstn n l).
  { intros. rewrite firstn_app. replace (n - length l) with 0 by lia. apply app_nil_r. }
  induction log as [|it log IH]; intros H.
  - destruct n; auto.
  - rewrite texts_snoc. destruct it; simpl in *; try (rewrite app_nil_r; auto; fail);
      (destruct (Nat.leb_spec n (entries log)) as [L|L];
       [rewrite First; auto; rewrite texts_length; auto |
        rewrite texts_snoc, firstn_all2; auto; rewrite app_length, texts_length; simpl; lia]).
Qed.

End Texts.

(* --- what is lost is said --------------------------------------------------------------------------------------------------- *)

Lemma said_unsaid b log : honest log -> said b log + unsaid b log = misses b log.
Proof.
  induction log as [|it log IH]; simpl; auto. destruct it as [e|ts events notes|n]; intros H.
  - apply IH, H.
  - destruct H as (H & -> & -> & _). specialize (IH H). destruct b; lia.
  - specialize (IH H). lia.
Qed.

Lemma said_app b newer older : said b (newer ++ older) = said b newer + said b older.
Proof. induction newer as [|[]]; simpl; lia. Qed.

Lemma tries_app newer older : tries (newer ++ older) = tries newer + tries older.
Proof. unfold tries. induction newer as [|[| |[]] newer IH]; simpl in *; lia. Qed.

Lemma upto_part n log : exists newer, log = newer ++ upto n log.
Proof.
  induction log as [|it log [newer IH]]; [exists []; auto|].
  destruct it; simpl; try (destruct (n <=? entries log)); try (exists []; auto; fail);
    match goal with |- exists x, ?i :: _ = _ => exists (i :: newer); simpl; congruence end.
Qed.

Lemma upto_later n it log : n <= entries log -> upto n (it :: log) = upto n log.
Proof. intros H. destruct it; simpl; auto; destruct (Nat.leb_spec n (entries log)); auto; lia. Qed.

Lemma said_upto b n log : said b (upto n log) <= said b log.
Proof. destruct (upto_part n log) as [newer E]. rewrite E at 2. rewrite said_app. lia. Qed.

(* Up to any entry, what is said is all that was lost. *)
Lemma upto_told b n log : honest log -> said b (upto n log) = misses b (upto n log).
Proof.
  assert (Last : forall it l, honest (it :: l) -> match it with Miss _ => False | _ => True end ->
                 said b (it :: l) = misses b (it :: l)).
  { intros it l H E. rewrite <- (said_unsaid b (it :: l) H). destruct it; simpl in *; try tauto; destruct b; lia. }
  induction log as [|it log IH]; auto. intros H. assert (H' : honest log) by (destruct it; simpl in H; tauto).
  specialize (IH H'). simpl. destruct it; auto; destruct (n <=? entries log); auto.
Qed.
