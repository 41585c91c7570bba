(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * runs.v - a run of a program that is given move by move, so that what can go wrong is computed and not only claimed.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine.

Section Runs.
Context {loc : Type} {loc_eq : EqDec loc} {local world : Type}.
Variable p : program loc local world.

(* What a thread wants to do next: an operation, and where that leads with what it returns; or a step of its own. *)
Definition plan : Type := op loc * (ret -> option (local * world)) + local * world.
Variable decision : Type.
Variable act : decision -> tid -> local -> world -> option plan.

Hypothesis act_does : forall d t l x o f r l' x', act d t l x = Some (inl (o, f)) -> f r = Some (l', x') ->
  does p t l x o r l' x'.
Hypothesis act_silent : forall d t l x l' x', act d t l x = Some (inr (l', x')) -> silent p t l x l' x'.

(* Thread t does something, and the memory chooses as it may; or the membarrier that c called reaches t. *)
Inductive move := Do (t : tid) (d : decision) (choice : nat) | Reach (c t : tid).

Definition make (v : move) (s : state loc local world) : option (state loc local world) :=
  match v with
  | Do t d c =>
    if t <? nthr (memory s) then
      match act d t (where_ s t) (beside s) with
      | Some (inl (o, f)) =>
        match exec (memory s) t o c with
        | Some (r, m') => match f r with
                          | Some (l', x') => Some (State m' (upd (where_ s) t l') x')
                          | None => None
                          end
        | None => None
        end
      | Some (inr (l', x')) => Some (State (memory s) (upd (where_ s) t l') x')
      | None => None
      end
    else None
  | Reach c t => if existsb (Nat.eqb t) (pend (memory s) c)
                 then Some (State (barrier_reaches (memory s) c t) (where_ s) (beside s)) else None
  end.

Fixpoint run (vs : list move) (s : state loc local world) : option (state loc local world) :=
  match vs with
  | [] => Some s
  | v :: vs => match make v s with Some s' => run vs s' | None => None end
  end.

Lemma make_sound v s s' : make v s = Some s' -> step p s s'.
Proof.
  destruct v as [t d c|c t], s as [m w x]; simpl; intros H.
  - destruct (Nat.ltb_spec t (nthr m)); [|discriminate].
    destruct (act d t (w t) x) as [[[o f]|[l' x']]|] eqn:A; [| |discriminate].
    + destruct (exec m t o c) as [[r m']|] eqn:E; [|discriminate].
      destruct (f r) as [[l' x']|] eqn:F; [|discriminate]. inversion H; subst.
      eapply s_does; eauto using exec_sound.
    + inversion H; subst. eapply s_silent; eauto.
  - destruct (existsb (Nat.eqb t) (pend m c)) eqn:E; inversion H; subst.
    apply existsb_exists in E. destruct E as (u & A & B). apply Nat.eqb_eq in B. subst. constructor; auto.
Qed.

Lemma run_sound vs : forall i s s', steps p i s -> run vs s = Some s' -> steps p i s'.
Proof.
  induction vs as [|v vs IH]; simpl; intros i s s' HS H.
  - inversion H; subst; auto.
  - destruct (make v s) as [s''|] eqn:E; [|discriminate]. eapply IH; [|exact H]. eapply more; eauto using make_sound.
Qed.

Definition ends (vs : list move) (i : state loc local world) (test : state loc local world -> bool) : bool :=
  match run vs i with Some s => test s | None => false end.

Lemma ends_reached vs i test : ends vs i test = true -> exists s, steps p i s /\ test s = true.
Proof.
  unfold ends. destruct (run vs i) as [s|] eqn:E; [|discriminate]. intros. exists s. split; auto.
  eapply run_sound; eauto using none.
Qed.

End Runs.
Arguments Do {decision}.
Arguments Reach {decision}.

(* Takes a decision apart until it is clear what was decided. *)
Ltac crush := repeat match goal with
  | H : Some _ = Some _ |- _ => inversion H; clear H; subst
  | H : None = Some _ |- _ => discriminate H
  | H : inl _ = inl _ |- _ => inversion H; clear H; subst
  | H : inr _ = inr _ |- _ => inversion H; clear H; subst
  | H : inl _ = inr _ |- _ => discriminate H
  | H : inr _ = inl _ |- _ => discriminate H
  | H : andb _ _ = true |- _ => apply andb_prop in H; destruct H
  | H : Nat.eqb _ _ = true |- _ => apply Nat.eqb_eq in H; subst
  | H : Nat.ltb _ _ = true |- _ => apply Nat.ltb_lt in H
  | H : false = true |- _ => discriminate H
  | H : match ?b with _ => _ end = true |- _ => destruct b eqn:?
  | x : ret |- _ => destruct x; simpl in *; subst
  | H : (if ?b then _ else _) = Some _ |- _ => destruct b eqn:?
  | H : match ?b with _ => _ end = Some _ |- _ => destruct b eqn:?
  end.
