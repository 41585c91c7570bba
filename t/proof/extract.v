(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * extract.v - the machine as an OCaml program, machine_coq.ml, which replay.ml drives: what the C runtime did is done again.
 *
 * Locations are numbers. Views of the machine are functions, each made of others; after some hundred steps a look into one would
 * take for ever. So after each step the new ones are written out as tables, which changes no value: compact_same.
 *)
From Coq Require Import Arith Lia List Bool.
From Coq Require Import extraction.Extraction extraction.ExtrOcamlBasic extraction.ExtrOcamlNatInt.
Import ListNotations.
From Ctp Require Import machine.

(* f as a table of its first n values. *)
Definition tabled {A} (n : nat) (d : A) (f : nat -> A) : nat -> A :=
  let l := map f (seq 0 n) in fun x => if x <? n then nth x l d else f x.

Lemma tabled_same {A} n (d : A) f x : tabled n d f x = f x.
Proof.
  unfold tabled. destruct (Nat.ltb_spec x n); auto.
  rewrite (nth_indep _ d (f 0)) by (rewrite map_length, seq_length; auto).
  rewrite map_nth, seq_nth by auto. reflexivity.
Qed.

Section Compact.
Variable locations threads : nat.

Definition compact_view (v : view nat) : view nat :=
  let a := tabled locations 0 (fun l => v (At l)) in
  let c := tabled threads 0 (fun t => v (Of t)) in
  fun k => match k with At l => a l | Of t => c t end.

Definition compact_thread (t : thread nat) : thread nat :=
  Thread (compact_view (cur t)) (compact_view (acq t)) (compact_view (rel t)).

Fixpoint compact_last (h : list (message nat)) : list (message nat) :=
  match h with
  | [] => []
  | [g] => [Message (value g) (compact_view (with_ g))]
  | g :: h' => g :: compact_last h'
  end.

Definition compact (m : mem nat) : mem nat :=
  Mem (nthr m) (tabled locations [] (fun l => compact_last (hist m l)))
      (tabled threads (Thread bottom bottom bottom) (fun t => compact_thread (thr m t)))
      (compact_view (sc m)) (tabled threads false (reg m)) (tabled threads [] (pend m)) (clock m) (racy m).

Lemma compact_view_same v k : compact_view v k = v k.
Proof. unfold compact_view. destruct k; rewrite tabled_same; reflexivity. Qed.

(* The same values and views, location by location and thread by thread. *)
Theorem compact_same m :
  (forall l i, option_map value (nth_error (hist (compact m) l) i) = option_map value (nth_error (hist m l) i)) /\
  (forall l i k, option_map (fun g => with_ g k) (nth_error (hist (compact m) l) i) =
                 option_map (fun g => with_ g k) (nth_error (hist m l) i)) /\
  (forall t k, cur (thr (compact m) t) k = cur (thr m t) k /\ acq (thr (compact m) t) k = acq (thr m t) k /\
               rel (thr (compact m) t) k = rel (thr m t) k) /\
  (forall k, sc (compact m) k = sc m k) /\
  (forall t, reg (compact m) t = reg m t /\ pend (compact m) t = pend m t) /\
  clock (compact m) = clock m /\ racy (compact m) = racy m /\ nthr (compact m) = nthr m.
Proof.
  simpl. repeat split; try (rewrite tabled_same; simpl; rewrite ?compact_view_same; reflexivity).
  - intros l. rewrite tabled_same. induction (hist m l) as [|g [|g' h] IH]; intros [|i]; simpl; auto; apply IH.
  - intros l. rewrite tabled_same. induction (hist m l) as [|g [|g' h] IH]; intros [|i] k; simpl; auto;
      rewrite ?compact_view_same; auto; apply IH.
  - intros k. apply compact_view_same.
Qed.

Definition step (m : mem nat) (t : tid) (o : op nat) (choice : nat) : option (ret * mem nat) :=
  match exec m t o choice with Some (r, m') => Some (r, compact m') | None => None end.

Definition reach (m : mem nat) (caller t : tid) : option (mem nat) :=
  if existsb (Nat.eqb t) (pend m caller) then Some (compact (barrier_reaches m caller t)) else None.

End Compact.

Definition bounds (m : mem nat) (t : tid) (l : nat) : nat * nat * nat :=
  (cur (thr m t) (At l), acq (thr m t) (At l), rel (thr m t) (At l)).

Definition initially (n : nat) (registered : tid -> bool) (values : nat -> val) : mem nat := start n registered values.
Definition raced (m : mem nat) : bool := racy m.

Extraction Language OCaml.
Extraction "machine_coq.ml" initially step reach bounds raced.
