(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * ringruns.v - runs of the ring of ringsteps.v that go wrong: where one of its four orders is missing, where the writer takes it to
 * be larger than it is, and where the reader does not wait for the end. And what its comparisons of numbers are modulo 2^64.
 *
 * A ring of one place, for entries of one word. Its memory has 5 where no entry was written yet.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views runs lanes ringlogs ringsteps.

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
Definition begin_ := initial 1 2 (fun _ => false) (fun _ => 5).

Inductive decision := Push (v : val) | Go | Finish | Learn | Load_ | Begin | Take (v : val) | Done.

Definition planned : Type := option (plan (loc := loc) (local := local) (world := world)).
Definition loads (o : op loc) (f : val -> local * world) : planned :=
  Some (inl (o, fun r : ret => if snd r then Some (f (fst r)) else None)).
Definition stores (o : op loc) (to : local * world) : planned :=
  Some (inl (o, fun r : ret => if (fst r =? 0) && snd r then Some to else None)).
Definition moves (to : local * world) : planned := Some (inr to).

Definition after_room (y : style) (a : lane) (e : entry) (note : bool) (got : list val) (x : world) (tail : val) : local * world :=
  let '(b, end_, ws) := find_end (1 + extra y) 4 false a tail (need_of got) in
  let x' := with_skips x (made ws b) in
  if has_room b end_ (need_of got)
  then (Wr (see b tail (new_limit 4 false b end_ (need_of got)))
           (if need_of got =? 1 then Puts (skips_words ws b) (Fill (Put e) 0 None)
            else Puts (skips_words ws b ++ said_words got) (GapTime e (lost_of got false) (lost_of got true))), x')
  else (Wr (see b tail (limit b)) (Puts (skips_words ws b ++ if need_of got =? 1 then [(GapTs, 0)] else []) (Missed note)), x').

Definition writes (y : style) (d : decision) (a : lane) (c : wpc) (x : world) : planned :=
  match d, c with
  | Push v, Idle => if head a =? limit a then moves (Wr a (Ask [v] false []), x) else moves (Wr a (Fill (Put [v]) 0 None), x)
  | Go, Ask e note got =>
    match nth_error counters (length got) with
    | Some p => loads (Load Rlx p) (fun v => (Wr a (Ask e note (got ++ [v])), x))
    | None => if length got =? 4 then loads (Load (room y) Tail) (after_room y a e note got x) else None
    end
  | Go, Puts [] c => moves (Wr a c, x)
  | Go, Puts ((l, v) :: todo) c => stores (Store Rlx l v) (Wr a (Puts todo c), x)
  | Go, Fill it 0 nx => stores (PlainStore (Word (head a mod 1) 0) (nth 0 (text gap_text it) 0)) (Wr a (Fill it 1 nx), x)
  | Go, Fill it 1 nx =>
    stores (Store (publish y) Head (S (head a)))
           (Wr (forward a) match nx with Some e => Fill (Put e) 0 None | None => Idle end, published gap_text x a it)
  | Go, Missed note => loads (FetchAdd Rlx (Lost note) 1) (fun _ => (Wr a Idle, with_log x (Miss note)))
  | Finish, _ => stores (Store Rel Gone 1) (Wr a (Ended c), x)
  | _, _ => None
  end.

Definition reads (y : style) (d : decision) (r : reader) (k : tally) (x : world) : planned :=
  match d, at_ r with
  | Learn, _ => Some (inl (Load Acq Gone, fun v : ret =>
      if snd v && negb (fst v =? 0) then Some (Rd r (Tally true (final k) (counts k)), x) else None))
  | Go, Ready =>
    loads (Load (look y) Head) (fun v => (Rd (Reader (next r) (told r) v [] (Look [])) (Tally (ended k) (ended k) (counts k)), x))
  | Go, Look got =>
    match nth_error look_words (length got) with
    | Some p => loads (Load Rlx p) (fun v => (Rd (set_at r (Look (got ++ [v]))) k, x))
    | None => if (length got =? 6) && (top r - next r - skipped (see_skips r got) <=? 1)
              then moves (Rd (Reader (next r) (told r) (top r) (see_skips r got) Ready) (Tally (ended k) (final k) (count_of got)), x)
              else None
    end
  | Begin, Ready => match ahead r with [] => if next r <? top r then moves (Rd (set_at r (Copy (next r) [])) k, x) else None | _ => None end
  | Load_, Copy n got => loads (PlainLoad (Word (n mod 1) 0)) (fun v => (Rd (set_at r (Copy n ((0, v) :: got))) k, x))
  | Take v, Copy n [(0, w)] =>
    if (n =? next r) && (w =? v) then moves (Rd (Reader (S (next r)) (told r) (top r) (ahead r) Ready) k, taken x [v]) else None
  | Done, Ready => stores (Store (done y) Tail (next r)) (Rd (Reader (next r) (next r) (top r) (ahead r) Ready) k, x)
  | _, _ => None
  end.

Definition act (y : style) (d : decision) (t : tid) (l : local) (x : world) : planned :=
  match l with
  | Wr a c => if t =? 0 then writes y d a c x else None
  | Rd r k => if t =? 1 then reads y d r k x else None
  end.

Ltac cases := repeat match goal with
  | H : match ?b with _ => _ end = Some _ |- _ => destruct b eqn:?; try discriminate H
  | H : match ?b with _ => _ end = (_, _) |- _ => destruct b eqn:?
  | H : Some _ = Some _ |- _ => injection H as H; subst
  | H : inl _ = inl _ |- _ => injection H as H; subst
  | H : inr _ = inr _ |- _ => injection H as H; subst
  | H : (_, _) = (_, _) |- _ => injection H as H; subst
  | H : andb _ _ = true |- _ => apply andb_prop in H; destruct H
  | H : negb _ = true |- _ => apply negb_true_iff in H
  | H : Nat.eqb _ _ = false |- _ => apply Nat.eqb_neq in H
  | H : Nat.eqb _ _ = true |- _ => apply Nat.eqb_eq in H; try subst
  | H : Nat.ltb _ _ = true |- _ => apply Nat.ltb_lt in H
  | H : Nat.leb _ _ = true |- _ => apply Nat.leb_le in H
  | x : ret |- _ => destruct x; simpl in *; subst
  end.

Lemma act_does y d t l x o f r l' x' : act y d t l x = Some (inl (o, f)) -> f r = Some (l', x') ->
  does 1 4 1 gap_text y t l x o r l' x'.
Proof.
  unfold act, writes, reads, loads, stores, moves. intros H F.
  destruct r as [v ok]. destruct d; simpl in H; cases; simpl in *; unfold after_room in *; cases; subst; simpl in *; cases; subst;
    try (econstructor; eauto; try discriminate; fail).
  apply (r_word 1 4 1 gap_text y 1 x' r k n got 0 v); auto.
Qed.

Lemma act_silent y d t l x l' x' : act y d t l x = Some (inr (l', x')) -> silent 1 1 t l x l' x'.
Proof.
  unfold act, writes, reads, loads, stores, moves. intros H.
  destruct d; simpl in H; cases; subst; simpl in *; cases; subst; try (econstructor; eauto; try discriminate; fail).
  - apply r_begin; auto. match goal with H : ahead r = [] |- _ => rewrite H end. intros s [].
  - eapply r_take; eauto. intros j Hj. assert (j = 0) by lia. subst. left. auto.
Qed.

(* There was a race; the reader has taken what was never put; it has taken the second entry for the first. *)
Definition raced (s : state loc local world) : bool := racy (memory s).
Definition took_instead (w : val) (s : state loc local world) : bool :=
  match out (beside s), log (beside s) with [[v]], [Put [v']] => (v =? w) && (v' =? 7) | _, _ => false end.

(*
 * The writer has ended, the reader knows it, and has taken all below the head that it has seen; but what was taken and told, and what
 * the counts have beyond that, is not all.
 *)
Definition short (s : state loc local world) : bool :=
  let all := log (beside s) in
  match where_ s 0, where_ s 1 with
  | Wr _ (Ended Idle), Rd r k =>
    ended k && match at_ r with Ready => true | _ => false end && (next r =? top r) &&
    negb (puts all + (said false all + (counts k false - said false all)) + (said true all + (counts k true - said true all)) =? tries all)
  | _, _ => false
  end.

Definition all_told (s : state loc local world) : bool :=
  match where_ s 1 with Rd r k => final k && (next r =? top r) && (counts k false =? 1) | _ => false end.

Definition comes_to (y : style) (bad : state loc local world -> bool) : Prop := exists s, steps (example y) begin_ s /\ bad s = true.

Definition by_ (t : tid) (ds : list (decision * nat)) : list (move decision) := map (fun d => Do t (fst d) (snd d)) ds.

(* The choice is the index of the message that a load returns. *)
Definition go (n : nat) : list (decision * nat) := repeat (Go, 0) n.
Definition put_first := by_ 0 ((Push 7, 0) :: go 2).
Definition look_at (head : nat) := by_ 1 ((Go, head) :: go 7).
Definition take_first := look_at 1 ++ by_ 1 [(Begin, 0); (Load_, 1); (Take 7, 0); (Done, 0)].
(* tail: which message. The last move is the store of its word. *)
Definition put_second (tail : nat) := by_ 0 ((Push 8, 0) :: go 4 ++ (Go, tail) :: go 2).
(* There is no room for it, so that it is counted. *)
Definition lose_second := by_ 0 ((Push 8, 0) :: go 8).

Ltac shown_by vs :=
  match goal with |- comes_to ?y ?bad =>
    assert (H : ends _ (act y) vs begin_ bad = true) by (vm_compute; reflexivity);
    apply (ends_reached (example y)) in H; [exact H | apply act_does | apply act_silent]
  end.

(* Without the release of head, or the acquire of the reader's load of it, the reader takes an entry that is not written yet. *)
Theorem unwritten_without_publish : comes_to (Style Rlx Acq Rel Acq 0) (fun s => raced s && took_instead 5 s).
Proof. shown_by (put_first ++ look_at 1 ++ by_ 1 [(Begin, 0); (Load_, 0); (Take 5, 0)]). Qed.
Theorem unwritten_without_look : comes_to (Style Rel Rlx Rel Acq 0) (fun s => raced s && took_instead 5 s).
Proof. shown_by (put_first ++ look_at 1 ++ by_ 1 [(Begin, 0); (Load_, 0); (Take 5, 0)]). Qed.

(* Without the release of tail, or the acquire of the writer's load of it, the writer overwrites what is being read. *)
Theorem overwritten_without_done : comes_to (Style Rel Acq Rlx Acq 0) raced.
Proof. shown_by (put_first ++ take_first ++ put_second 1). Qed.
Theorem overwritten_without_room : comes_to (Style Rel Acq Rel Rlx 0) raced.
Proof. shown_by (put_first ++ take_first ++ put_second 1). Qed.

(* If the writer takes the ring to have one entry more than it has, it overwrites what is being read; and the reader takes the second
   entry for the first. *)
Theorem races_with_one_too_many : comes_to (Style Rel Acq Rel Acq 1) raced.
Proof. shown_by (put_first ++ look_at 1 ++ by_ 1 [(Begin, 0); (Load_, 1)] ++ put_second 0). Qed.
Theorem wrong_with_one_too_many : comes_to (Style Rel Acq Rel Acq 1) (took_instead 8).
Proof. shown_by (put_first ++ look_at 1 ++ put_second 0 ++ by_ 1 [(Begin, 0); (Load_, 2); (Take 8, 0)]). Qed.

(*
 * With all four and the right size: where the last look has begun before the reader learned that the writer has ended, its counts may be
 * old, and an entry that is lost at the end is nowhere.
 *)
Theorem short_without_the_end : comes_to as_in_c short.
Proof. shown_by (put_first ++ lose_second ++ by_ 0 [(Finish, 0)] ++ take_first ++ by_ 1 [(Learn, 1)]). Qed.

(* Where the reader knows it first, it loads the count, and nothing is left. *)
Theorem all_told_with_the_end : comes_to as_in_c (fun s => all_told s && negb (short s)).
Proof.
  shown_by (put_first ++ lose_second ++ by_ 0 [(Finish, 0)] ++ by_ 1 [(Learn, 1); (Go, 1); (Go, 1)] ++ by_ 1 (go 6) ++
            by_ 1 [(Begin, 0); (Load_, 1); (Take 7, 0); (Done, 0)]).
Qed.

(* Else the moves from above end without a race: it is the orders that are missing there. *)
Theorem as_in_c_is_quiet : comes_to as_in_c (fun s => negb (raced s) && (length (log (beside s)) =? 1)).
Proof. shown_by (put_first ++ take_first ++ put_second 1). Qed.
