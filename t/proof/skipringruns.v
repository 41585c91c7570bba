(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * skipringruns.v - runs of the ring of skipringsteps.v that go wrong where one of its four orders is missing, and what its comparisons
 * of numbers are modulo 2^64.
 *
 * A ring of one place, for entries of one word. Its memory has 5 where no entry was written yet.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views runs lanes ringlogs skipringsteps.

(* --- numbers that wrap ------------------------------------------------------------------------------------------------------ *)

(* a - b as an unsigned number of the C has it, where `all` is 2^64. *)
Definition minus (all a b : nat) : nat := (a + all - b) mod all.

Lemma minus_is all a b : a < all -> b < all -> minus all a b = if b <=? a then a - b else a + all - b.
Proof.
  intros A B. unfold minus. destruct (Nat.leb_spec b a).
  - replace (a + all - b) with (a - b + 1 * all) by lia. rewrite Nat.mod_add by lia. apply Nat.mod_small. lia.
  - apply Nat.mod_small. lia.
Qed.

(* The condition in see_skip of rings.c is that of see_skip here. *)
Theorem see_skip_wraps all first from to head : first <= head -> head < all -> from < all -> to < all ->
  see_skip first from to head =
  if (minus all from first <? minus all to first) && (minus all to first <=? minus all head first) then [(from, to)] else [].
Proof.
  intros H A B C. unfold see_skip. rewrite !minus_is by lia.
  destruct (Nat.leb_spec first from), (Nat.leb_spec first to), (Nat.leb_spec first head), (Nat.ltb_spec from to), (Nat.leb_spec to head);
    simpl; try lia;
    repeat match goal with |- context [?a <? ?b] => destruct (Nat.ltb_spec a b) | |- context [?a <=? ?b] => destruct (Nat.leb_spec a b) end;
    simpl; auto; lia.
Qed.

(* --- runs ------------------------------------------------------------------------------------------------------------------- *)

Definition gap_text (ts events notes : nat) : entry := [events].
Definition example (y : style) := ring 1 4 1 gap_text y.
Definition begin_ := initial 1 (fun _ => false) (fun _ => 5).

Inductive decision := Push (v : val) | Go | Load_ | Begin | Take (v : val) | Done.

Definition act (y : style) (d : decision) (t : tid) (l : local) (x : world) : option (op loc * (ret -> option (local * world)) + local * world) :=
  match d, l with
  | Push v, Wr a Idle =>
    if t =? 0 then if head a =? limit a then Some (inr (Wr a (Ask [v] false []), x)) else Some (inr (Wr a (Fill (Put [v]) 0 None), x))
    else None
  | Go, Wr a (Ask e note got) =>
    if t =? 0 then
      match nth_error counters (length got) with
      | Some p => Some (inl (Load Rlx p, fun r : ret => if snd r then Some (Wr a (Ask e note (got ++ [fst r])), x) else None))
      | None =>
        if length got =? 4 then
          Some (inl (Load (room y) Tail, fun r : ret =>
            let '(b, end_, ws) := find_end 1 4 false a (fst r) (need_of got) in
            if snd r && has_room b end_ (need_of got) then
              Some (Wr (see b (fst r) (new_limit 4 false b end_ (need_of got)))
                      (if need_of got =? 1 then Puts (skips_words ws b) (Fill (Put e) 0 None)
                       else Puts (skips_words ws b ++ said_words got) (GapTime e (lost_of got false) (lost_of got true))),
                    with_skips x (made ws b))
            else None))
        else None
      end
    else None
  | Go, Wr a (Puts [] c) => if t =? 0 then Some (inr (Wr a c, x)) else None
  | Go, Wr a (Fill it 0 nx) =>
    if t =? 0 then Some (inl (PlainStore (Word (head a mod 1) 0) (nth 0 (text gap_text it) 0),
                              fun r : ret => if (fst r =? 0) && snd r then Some (Wr a (Fill it 1 nx), x) else None)) else None
  | Go, Wr a (Fill it 1 nx) =>
    if t =? 0 then Some (inl (Store (publish y) Head (S (head a)), fun r : ret =>
      if (fst r =? 0) && snd r then
        Some (Wr (forward a) match nx with Some e => Fill (Put e) 0 None | None => Idle end, published gap_text x a it)
      else None)) else None
  | Go, Rd r =>
    if t =? 1 then
      match at_ r with
      | Ready => Some (inl (Load (look y) Head, fun v : ret => if snd v then Some (Rd (Reader (next r) (told r) (fst v) [] (Pairs [])), x) else None))
      | Pairs got =>
        match nth_error pair_words (length got) with
        | Some p => Some (inl (Load Rlx p, fun v : ret => if snd v then Some (Rd (set_at r (Pairs (got ++ [fst v]))), x) else None))
        | None => if (length got =? 4) && (top r - next r - skipped (see_skips r got) <=? 1)
                  then Some (inr (Rd (Reader (next r) (told r) (top r) (see_skips r got) Ready), x)) else None
        end
      | _ => None
      end
    else None
  | Begin, Rd r =>
    match at_ r, ahead r with
    | Ready, [] => if (t =? 1) && (next r <? top r) then Some (inr (Rd (set_at r (Copy (next r) [])), x)) else None
    | _, _ => None
    end
  | Load_, Rd r =>
    match at_ r with
    | Copy n got => if t =? 1 then Some (inl (PlainLoad (Word (n mod 1) 0), fun v : ret =>
        if snd v then Some (Rd (set_at r (Copy n ((0, fst v) :: got))), x) else None)) else None
    | _ => None
    end
  | Take v, Rd r =>
    match at_ r with
    | Copy n [(0, w)] => if (t =? 1) && (n =? next r) && (w =? v)
                         then Some (inr (Rd (Reader (S (next r)) (told r) (top r) (ahead r) Ready), taken x [v])) else None
    | _ => None
    end
  | Done, Rd r =>
    match at_ r with
    | Ready => if t =? 1 then Some (inl (Store (done y) Tail (next r), fun v : ret =>
        if (fst v =? 0) && snd v then Some (Rd (Reader (next r) (next r) (top r) (ahead r) Ready), x) else None)) else None
    | _ => None
    end
  | _, _ => None
  end.

Ltac cases := repeat match goal with
  | H : match ?b with _ => _ end = Some _ |- _ => destruct b eqn:?; try discriminate H
  | H : Some _ = Some _ |- _ => injection H as H; subst
  | H : inl _ = inl _ |- _ => injection H as H; subst
  | H : inr _ = inr _ |- _ => injection H as H; subst
  | H : (_, _) = (_, _) |- _ => injection H as H; subst
  | H : andb _ _ = true |- _ => apply andb_prop in H; destruct H
  | H : Nat.eqb _ _ = true |- _ => apply Nat.eqb_eq in H; try subst
  | H : Nat.ltb _ _ = true |- _ => apply Nat.ltb_lt in H
  | H : Nat.leb _ _ = true |- _ => apply Nat.leb_le in H
  | x : ret |- _ => destruct x; simpl in *; subst
  end.

Lemma act_does y d t l x o f r l' x' : act y d t l x = Some (inl (o, f)) -> f r = Some (l', x') ->
  does 1 4 1 gap_text y t l x o r l' x'.
Proof.
  intros H F. destruct r as [v ok]. destruct d; simpl in H; cases; simpl in *; cases; subst; simpl in *; cases; subst;
    try (econstructor; eauto; try discriminate; fail).
  apply (r_word 1 4 1 gap_text y 1 x' r n got 0 v); auto.
Qed.

Lemma act_silent y d t l x l' x' : act y d t l x = Some (inr (l', x')) -> silent 1 1 t l x l' x'.
Proof.
  intros H. destruct d; simpl in H; cases; subst; simpl in *; cases; subst; try (econstructor; eauto; try discriminate; fail).
  - apply w_put; auto. apply Nat.eqb_neq. auto.
  - apply r_begin; auto. match goal with H : ahead r = [] |- _ => rewrite H end. intros s [].
  - eapply r_take; eauto. intros j Hj. assert (j = 0) by lia. subst. left. auto.
Qed.

(* The reader has a race, and has taken what was never put. *)
Definition raced (s : state loc local world) : bool := racy (memory s).
Definition took_junk (s : state loc local world) : bool :=
  match out (beside s) with [[v]] => v =? 5 | _ => false end && match log (beside s) with [Put [v]] => v =? 7 | _ => false end.

Definition goes_wrong (y : style) (bad : state loc local world -> bool) : Prop := exists s, steps (example y) begin_ s /\ bad s = true.

Definition by_ (t : tid) (ds : list (decision * nat)) : list (move decision) := map (fun d => Do t (fst d) (snd d)) ds.

(* The choice is the index of the message that a load returns. *)
Definition put_first := by_ 0 [(Push 7, 0); (Go, 0); (Go, 0)].
Definition look_at (head : nat) := by_ 1 [(Go, head); (Go, 0); (Go, 0); (Go, 0); (Go, 0); (Go, 0); (Begin, 0)].
Definition take_first := look_at 1 ++ by_ 1 [(Load_, 1); (Take 7, 0); (Done, 0)].
Definition put_second := by_ 0 [(Push 8, 0); (Go, 0); (Go, 0); (Go, 0); (Go, 0); (Go, 1); (Go, 0); (Go, 0)].

Ltac shown_by vs :=
  match goal with |- goes_wrong ?y ?bad =>
    assert (H : ends _ (act y) vs begin_ bad = true) by (vm_compute; reflexivity);
    apply (ends_reached (example y)) in H; [exact H | apply act_does | apply act_silent]
  end.

(* Without the release of head, or the acquire of the reader's load of it, the reader takes an entry that is not written yet. *)
Theorem unwritten_without_publish : goes_wrong (Style Rlx Acq Rel Acq) (fun s => raced s && took_junk s).
Proof. shown_by (put_first ++ look_at 1 ++ by_ 1 [(Load_, 0); (Take 5, 0)]). Qed.
Theorem unwritten_without_look : goes_wrong (Style Rel Rlx Rel Acq) (fun s => raced s && took_junk s).
Proof. shown_by (put_first ++ look_at 1 ++ by_ 1 [(Load_, 0); (Take 5, 0)]). Qed.

(* Without the release of tail, or the acquire of the writer's load of it, the writer overwrites what is being read. *)
Theorem overwritten_without_done : goes_wrong (Style Rel Acq Rlx Acq) raced.
Proof. shown_by (put_first ++ take_first ++ put_second). Qed.
Theorem overwritten_without_room : goes_wrong (Style Rel Acq Rel Rlx) raced.
Proof. shown_by (put_first ++ take_first ++ put_second). Qed.

(* With all four, the same moves end without a race: it is the orders that are missing above. *)
Theorem as_in_c_is_quiet : exists s, steps (example as_in_c) begin_ s /\ (negb (raced s) && (length (log (beside s)) =? 1)) = true.
Proof.
  assert (H : ends _ (act as_in_c) (put_first ++ take_first ++ put_second) begin_
                   (fun s => negb (raced s) && (length (log (beside s)) =? 1)) = true) by (vm_compute; reflexivity).
  apply (ends_reached (example as_in_c)) in H; [exact H | apply act_does | apply act_silent].
Qed.
