(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * reusewalk.v - a collector walks over the stack of free stations (reuse.v), and takes the headers of the coroutines that ended
 * there. Nothing is proved of that here. There is one run, which takes the header of another coroutine: the C was mended after it.
 *
 *	step        C
 *	w_top       walk (coros-snapshot.c): the load of free,
 *	w_note      of the generation of the next station,
 *	w_link      of its next_free: relaxed, as it was in the C, or with acquire,
 *	w_again     and of free once more, which is the same
 *	w_choose    gather: a station that the walk has found
 *	w_generation, w_dead, w_announce, w_header, w_events, w_fence, w_last
 *	            ctp_life_header_of: read_header, where generation is the one that the walk saw, and is_dead is 2
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views runs reuse reuseruns.

(* ns: stations, and the generations that were seen there. *)
Inductive wplace :=
| Std (p : place)
| Walk (v : val) (l : nat) (ns : list (nat * nat)) | WalkLink (v : val) (i : nat) (ns : list (nat * nat)) |
  Noted (ns : list (nat * nat))
| Of (i g : nat) | OfDead (i g : nat) | OfAnnounce (i g : nat) | OfHeader (i g : nat) | OfEvents (i g h : nat) |
  OfFence (i g h e : nat)
| OfAgain (i g h e : nat)
| Remembered (i g h e : nat). (* the header h and the end e of the coroutine of generation g *)

Section Program.
Variable stations : nat.
Variable collector : tid.
Variable link : order. (* of the load of next_free *)
Notation gen_of := (gen_of stations).
Notation link_of := (link_of stations).

Inductive wdoes (t : tid) : wplace -> world -> op loc -> ret -> wplace -> world -> Prop :=
| w_old p x o r p' x' : reuse.does stations collector as_in_c t p x o r p' x' -> wdoes t (Std p) x o r (Std p') x'
| w_top x v : t = collector -> wdoes t (Std Idle) x (Load Acq Top) (v, true) (Walk v (index stations v) []) x
| w_note x v i ns u : i < stations ->
    wdoes t (Walk v (S i) ns) x (Load Acq (Tenure i)) (u, true) (WalkLink v i ((i, gen_of u) :: ns)) x
| w_link x v i ns u : wdoes t (WalkLink v i ns) x (Load link (Tenure i)) (u, true) (Walk v (link_of u) ns) x
| w_again x v l ns : l = 0 \/ stations < l -> wdoes t (Walk v l ns) x (Load Rlx Top) (v, true) (Noted ns) x
| w_generation x i g u : gen_of u = g -> wdoes t (Of i g) x (Load Acq (Tenure i)) (u, true) (OfDead i g) x
| w_dead x i g : wdoes t (OfDead i g) x (Load Acq (Dead i)) (2, true) (OfAnnounce i g) x
| w_announce x i g a : a <> 0 -> wdoes t (OfAnnounce i g) x (Load Acq (Announce i)) (a, true) (OfHeader i g) x
| w_header x i g h : wdoes t (OfHeader i g) x (Load Rlx (Header i)) (h, true) (OfEvents i g h) x
| w_events x i g h e : wdoes t (OfEvents i g h) x (Load Rlx (Count i)) (e, true) (OfFence i g h e) x
| w_fence x i g h e : wdoes t (OfFence i g h e) x FenceAcq (0, true) (OfAgain i g h e) x
| w_last x i g h e u : gen_of u = g -> wdoes t (OfAgain i g h e) x (Load Rlx (Tenure i)) (u, true) (Remembered i g h e) x.

Inductive wsilent (t : tid) : wplace -> world -> wplace -> world -> Prop :=
| w_old_silent p x p' x' : reuse.silent as_in_c t p x p' x' -> wsilent t (Std p) x (Std p') x'
| w_choose x ns i g : In (i, g) ns -> wsilent t (Noted ns) x (Of i g) x.

Definition walks : program loc wplace world := Program wdoes wsilent.

Inductive wdecision := Old (d : decision) | Start | Next | Again | Choose (i g : nat).
Notation wplan := (plan (loc := loc) (local := wplace) (world := world)).

Definition wact (d : wdecision) (t : tid) (p : wplace) (x : world) : option wplan :=
  let ask (o : op loc) (f : val -> option wplace) : option wplan :=
    Some (inl (o, fun v : ret => if snd v then match f (fst v) with Some p => Some (p, x) | None => None end else None)) in
  match d, p with
  | Old d, Std p =>
    match act stations collector as_in_c d t p x with
    | Some (inl (o, f)) => Some (inl (o, fun v => match f v with Some (p', x') => Some (Std p', x') | None => None end))
    | Some (inr (p', x')) => Some (inr (Std p', x'))
    | None => None
    end
  | Start, Std Idle => if t =? collector then ask (Load Acq Top) (fun v => Some (Walk v (index stations v) [])) else None
  | Next, Walk v (S i) ns => if i <? stations then ask (Load Acq (Tenure i)) (fun u => Some (WalkLink v i ((i, gen_of u) :: ns)))
                           else None
  | Next, WalkLink v i ns => ask (Load link (Tenure i)) (fun u => Some (Walk v (link_of u) ns))
  | Again, Walk v l ns =>
    if (l =? 0) || (stations <? l) then ask (Load Rlx Top) (fun u => if u =? v then Some (Noted ns) else None) else None
  | Choose i g, Noted ns => if existsb (fun n => (fst n =? i) && (snd n =? g)) ns then Some (inr (Of i g, x)) else None
  | Next, Of i g => ask (Load Acq (Tenure i)) (fun u => if gen_of u =? g then Some (OfDead i g) else None)
  | Next, OfDead i g => ask (Load Acq (Dead i)) (fun d => if d =? 2 then Some (OfAnnounce i g) else None)
  | Next, OfAnnounce i g => ask (Load Acq (Announce i)) (fun a => if a =? 0 then None else Some (OfHeader i g))
  | Next, OfHeader i g => ask (Load Rlx (Header i)) (fun h => Some (OfEvents i g h))
  | Next, OfEvents i g h => ask (Load Rlx (Count i)) (fun e => Some (OfFence i g h e))
  | Next, OfFence i g h e => ask FenceAcq (fun v => if v =? 0 then Some (OfAgain i g h e) else None)
  | Next, OfAgain i g h e => ask (Load Rlx (Tenure i)) (fun u => if gen_of u =? g then Some (Remembered i g h e) else None)
  | _, _ => None
  end.

Lemma wact_does d t l x o f v l' x' : wact d t l x = Some (inl (o, f)) -> f v = Some (l', x') ->
  machine.does walks t l x o v l' x'.
Proof.
  unfold wact. simpl. intros H F. destruct d as [d| | | |]; destruct l as [p|v0 l0 ns| | | | | | | | | |]; try discriminate.
  - destruct (act stations collector as_in_c d t p x) as [[[o' f']|[p' x'']]|] eqn:E; inversion H; subst; clear H.
    destruct (f' v) as [[p' x'']|] eqn:E'; inversion F; subst. constructor. eapply act_does; eauto.
  - destruct p as [[|] [|] | | | | | | | | | | | | | | | | | | | | | |]; crush; simpl in *; subst; crush; simpl in *; subst;
      crush; subst; constructor; auto.
  - destruct l0; crush; simpl in *; subst; crush; simpl in *; subst; crush; subst; constructor; auto.
  - crush; simpl in *; subst; crush; simpl in *; subst; crush; subst; constructor; auto.
  - crush; simpl in *; subst; crush; simpl in *; subst; crush; subst; constructor; auto.
  - crush; simpl in *; subst; crush; simpl in *; subst; crush; subst; constructor; auto.
  - crush; simpl in *; subst; crush; simpl in *; subst; crush; subst; econstructor; eauto. apply Nat.eqb_neq. eauto.
  - crush; simpl in *; subst; crush; simpl in *; subst; crush; subst; constructor; auto.
  - crush; simpl in *; subst; crush; simpl in *; subst; crush; subst; constructor; auto.
  - crush; simpl in *; subst; crush; simpl in *; subst; crush; subst; constructor; auto.
  - crush; simpl in *; subst; crush; simpl in *; subst; crush; subst; constructor; auto.
  - crush; simpl in *; subst; crush; simpl in *; subst; crush; subst; constructor; auto.
    match goal with H : _ || _ = true |- _ => apply orb_prop in H; destruct H as [H|H]; [left; apply Nat.eqb_eq|right;
      apply Nat.ltb_lt]; auto end.
  - crush.
Qed.

Lemma wact_silent d t l x l' x' : wact d t l x = Some (inr (l', x')) -> machine.silent walks t l x l' x'.
Proof.
  unfold wact. simpl. intros H. destruct d as [d| | | |]; destruct l as [p|v0 l0 ns| | | | | | | | | |]; try discriminate.
  - destruct (act stations collector as_in_c d t p x) as [[[o' f']|[p' x'']]|] eqn:E; inversion H; subst. constructor.
      eapply act_silent; eauto.
  - destruct p as [[|] [|] | | | | | | | | | | | | | | | | | | | | | |]; crush.
  - destruct l0; crush.
  - crush.
  - crush. constructor. match goal with H : existsb _ _ = true |- _ => apply existsb_exists in H;
      destruct H as ([a b] & A & B) end.
    simpl in B. apply andb_prop in B. destruct B as [B B']. apply Nat.eqb_eq in B. apply Nat.eqb_eq in B'. subst. auto.
Qed.
End Program.

Definition old_ (vs : list (move decision)) : list (move wdecision) :=
  map (fun v => match v with Do t d c => Do t (Old d) c | Reach c t => Reach c t end) vs.
Definition w_ (ds : list (wdecision * nat)) : list (move wdecision) := map (fun d => Do 3 (fst d) (snd d)) ds.
Definition wbegin : state loc wplace world := State (start 4 (fun _ => false) (zeroed (fun _ => 0))) (fun _ => Std Idle) new_world.

(*
 * Station 0 is free, and the second coroutine of station 1 lives. The collector looks at the stack, and at the generation of
 * station 0. Now station 0 is taken; both coroutines end, and the stack is station 0 again, with station 1 under it. The collector
 * loads that link, relaxed, and follows it to station 1. All else that it loads is old: generation 2 of station 1, which lived
 * then; the stack, which seems not to have changed; is_dead, which is 2 from the end of the first coroutine. So it takes the
 * header and the end of the first coroutine for those of the second.
 *)
Definition moves : list (move wdecision) :=
  old_ (new_life 0 0 ++ new_life 0 1 ++ by_ 0 [(Event 1, 0)] ++ dies 0 1 ++ by_ 0 [(FreeIt, 0)] ++ frees_it 0 1 0 ++
        pops 1 1 3 ++ lives_on 1 3 1 ++ dies 0 0 ++ by_ 0 [(FreeIt, 0)] ++ frees_it 0 1 2) ++
  w_ [(Start, 3); (Next, 3)] ++
  old_ (pops 2 3 3 ++ lives_on 2 3 1 ++ by_ 1 [(Event 1, 0)] ++ dies 1 1 ++ by_ 1 [(FreeIt, 0)] ++ frees_it 1 2 4 ++
        dies 2 0 ++ by_ 2 [(FreeIt, 0)] ++ frees_it 2 2 5) ++
  w_ [(Next, 6); (Next, 4); (Next, 4); (Again, 3); (Choose 1 2, 0);
  (Next, 4); (Next, 3); (Next, 1); (Next, 1); (Next, 1); (Next, 0); (Next, 4)].
Theorem header_of_another : exists s,
  steps (walks 2 3 Rlx) wbegin s /\ where_ s 3 = Remembered 1 2 10 1 /\ header (beside s) 1 2 = 11.
Proof.
  assert (H : ends _ (wact 2 3 Rlx) moves wbegin
    (fun s => match where_ s 3 with Remembered 1 2 10 1 => header (beside s) 1 2 =? 11 | _ => false end) = true)
    by (vm_compute; reflexivity).
  apply (ends_reached (walks 2 3 Rlx)) in H; [|apply wact_does|apply wact_silent]. destruct H as (s & HS & HT). exists s.
  split; auto.
  destruct (where_ s 3) as [| | | | | | | | | | |i g h e]; try discriminate. do 2 (destruct i as [|i]; try discriminate).
  do 3 (destruct g as [|g]; try discriminate). do 11 (destruct h as [|h]; try discriminate).
  do 2 (destruct e as [|e]; try discriminate). apply Nat.eqb_eq in HT. auto.
Qed.

(* With acquire these moves are no run: who knows that link knows that the stack has changed since. *)
Theorem not_with_acquire : run _ (wact 2 3 Acq) moves wbegin = None.
Proof. vm_compute. reflexivity. Qed.
