(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * reuseruns.v - runs of reuse.v that end badly, each without one of the sites that a theorem needs.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views runs reuse.

(* What a thread decides; On: to do what is next. *)
Inductive decision :=
| GetNew (i : nat) | Look | Event (i : nat) | Give (i : nat) | Take (i : nat) | PutCount (i : nat) | PutDead (i : nat)
| Told (i : nat) | Hear (i : nat) | Ask (i : nat) | FreeIt | WinAs (g : nat) | PushAll | PutWord (v : val) |
  ReadHeader (i : nat) | On.

Section Runs.
Variable stations : nat.
Variable collector : tid.
Variable y : style.

Notation plan := (plan (loc := loc) (local := place) (world := world)).

Definition act (d : decision) (t : tid) (p : place) (x : world) : option plan :=
  let ask (o : op loc) (f : val -> option (place * world)) : option plan :=
    Some (inl (o, fun v : ret => if snd v then f (fst v) else None)) in
  let put (o : op loc) (p' : place) (x' : world) : option plan := ask o (fun v => if v =? 0 then Some (p', x') else None) in
  let no_less (b c : bool) := negb b || c in
  match d, p with
  | GetNew i, Idle =>
    if i <? stations
    then ask (Cas true Rlx Rlx Used i (S i))
             (fun v => if v =? i then Some (Number i, set_taken x i t (stack x)) else None)
    else None
  | Look, Idle => ask (Load (acquire (y LookAcq)) Top) (fun v => if index stations v =? 0 then None else Some (PopNext v, x))
  | On, PopNext v => ask (Load Rlx (Tenure (pred (index stations v)))) (fun n => Some (PopCas v (link_of stations n), x))
  | On, PopCas v n =>
    ask (Cas true (acquire (y PopAcq)) (acquire (y LookAcq)) Top v (top stations y v n))
        (fun v' => if v' =? v then Some (Number (pred (index stations v)), set_popped x (pred (index stations v)) t) else None)
  | On, Number i => ask (Load Rlx (Tenure i)) (fun v => Some (Name i (S (gen_of stations v)), x))
  | On, Name i g => put (Store (release (y BirthRel)) (Tenure i) (tenure stations g (OWNED stations))) (Fence i g) (set_named x i
    t)
  | On, Fence i g => if y BirthFence then put FenceRel (Read i g) x else Some (inr (Read i g, x))
  | On, Read i g => ask (Load Rlx (Count i)) (fun k => Some (PutHeader i g k, x))
  | PutWord v, PutHeader i g k => put (Store Rlx (Header i) v) (PutAnnounce i g k) (set_begun x i t v)
  | On, PutAnnounce i g k => put (Store (release (y AnnounceRel)) (Announce i) 1) (Open i g k) x
  | On, Open i g k => put (Store (release (y OpenRel)) (Dead i) 0) Idle (set_live x i t g k)
  | Event i, Idle => match stat x i with Live u => if u =? t then Some (inr (Idle, set_event x i)) else None | _ => None end
  | Give i, Idle => match stat x i with Live u => if u =? t then put (Store Rel (Hand i) 1) Idle (set_stat x i Loose) else None |
    _ => None end
  | Take i, Idle => match stat x i with Loose => ask (Exchange Acq (Hand i) 0) (fun _ => Some (Idle, set_stat x i (Live t))) |
    _ => None end
  | PutCount i, Idle =>
    match stat x i with
    | Live u => if u =? t then put (Store (release (y CountRel)) (Count i) (events_ x i)) Idle (set_counted x i t) else None
    | _ => None
    end
  | PutDead i, Idle =>
    match stat x i with
    | Dying u => if u =? t then put (Store (release (y DeadRel)) (Dead i) 1) (Tell i (ref_ x i)) (set_stat x i Ended) else None
    | _ => None
    end
  | On, Tell i g => put (Store (release (y TellRel)) (Said i) g) Idle x
  | FreeIt, Tell i g => Some (inr (Win [] 0 i g, x))
  | Told i, Idle => match stat x i with Live u => if u =? t then put (Store (release (y TellRel)) (Said i) (ref_ x i)) Idle x else
    None | _ => None end
  | Hear i, Has c lg => ask (Load (acquire (y HearAcq)) (Said i)) (fun g => Some (See c lg i g, x))
  | Ask i, Has c lg => ask (Load (acquire (y AskAcq)) (Tenure i)) (fun v => Some (See c lg i (gen_of stations v), x))
  | On, See c lg i g => ask (Load (acquire (y SeeAcq)) (Dead i)) (fun v => if v =? 1 then Some (Win c lg i g, x) else None)
  | WinAs g', Win c lg i g =>
    if no_less (y Whole) (g' =? g)
    then ask (Cas false Rlx Rlx (Tenure i) (tenure stations g' (OWNED stations)) (tenure stations g' (first_or c 0)))
             (fun v => if v =? tenure stations g' (OWNED stations)
                       then Some (Mark c (match c with [] => g' | _ => lg end) i g', set_won x i t) else None)
    else None
  | On, Mark c lg i g => put (Store Rlx (Dead i) 2) (Has (i :: c) lg) (set_stat x i (Chain t))
  | PushAll, Has (i :: c) lg => ask (Load Rlx Top) (fun v => Some (Link (i :: c) lg v, x))
  | On, Link c lg v =>
    put (Store (release (y LinkRel && negb (t =? collector))) (Tenure (last c 0)) (tenure stations lg (index stations v))) (Push c
      lg v) x
  | On, Push c lg v => ask (Cas true (release (y PushRel)) Rlx Top v (top stations y v (first_or c 0)))
                           (fun v' => if v' =? v then Some (Idle, set_pushed x c) else None)
  | ReadHeader i, Idle =>
    if t =? collector then ask (Load (acquire (y HeadAcq)) (Tenure i)) (fun v => Some (HDead i (gen_of stations v), x)) else None
  | On, HDead i g => ask (Load (acquire (y HeadDeadAcq)) (Dead i)) (fun d => Some (HAnnounce i g d, x))
  | On, HAnnounce i g d =>
    ask (Load (acquire (y HeadAnnounceAcq)) (Announce i)) (fun a => if no_less (y HeadAnnounced) (negb (a =? 0)) then Some
      (HHeader i g d, x) else None)
  | On, HHeader i g d => ask (Load Rlx (Header i)) (fun f => Some (HEvents i g d f, x))
  | On, HEvents i g d f => ask (Load Rlx (Count i)) (fun e => Some (HFence i g d f e, x))
  | On, HFence i g d f e => if y HeadFence then put FenceAcq (HAgain i g d f e) x else Some (inr (HAgain i g d f e, x))
  | On, HAgain i g d f e =>
    ask (Load Rlx (Tenure i))
        (fun v => if negb (g =? 0) && no_less (y HeadLives) (d <? 2) && no_less (y HeadAgain) (gen_of stations v =? g)
                  then Some (Accepted i g d f e, x) else None)
  | _, _ => None
  end.

Ltac facts := repeat match goal with
  | H : Nat.eqb _ _ = false |- _ => apply Nat.eqb_neq in H
  | H : negb _ || _ = true |- _ => apply orb_prop in H
  | H : negb _ = true |- _ => apply negb_true_iff in H
  | H : _ \/ _ |- _ => destruct H
  end.
Ltac open := crush; cbn [fst snd] in *; subst; facts; crush.

Lemma act_does d t l x o f v l' x' : act d t l x = Some (inl (o, f)) -> f v = Some (l', x') ->
  machine.does (reuse stations collector y) t l x o v l' x'.
Proof.
  unfold act. simpl. intros H F. destruct d; try discriminate; destruct l; try discriminate; open;
    try (econstructor; eauto; try congruence; try discriminate; fail).
Qed.

Lemma act_silent d t l x l' x' : act d t l x = Some (inr (l', x')) -> machine.silent (reuse stations collector y) t l x l' x'.
Proof.
  unfold act. simpl. intros H. destruct d; try discriminate; destruct l; try discriminate; open; try (econstructor; eauto; fail).
Qed.
End Runs.

(* --- the owner of a station ------------------------------------------------------------------------------------------------- *)

Definition used_number (i t : nat) (s : state loc place world) : bool :=
  match where_ s t with PutHeader j _ k => (j =? i) && negb (k =? total (beside s) i) | _ => false end.

Definition begin_ : state loc place world := initial 4 (fun _ => false) (fun _ => 0).
Notation system y := (reuse 2 4 y).
Definition has_not_one_owner (y : style) : Prop := exists s, steps (system y) begin_ s /\ ~ one_owner s.

Lemma no_owner y moves i t : ends _ (act 2 4 y) moves begin_ (fun s => wrong (beside s) || used_number i t s) = true ->
  has_not_one_owner y.
Proof.
  intros H. apply (ends_reached (system y)) in H; [|apply act_does|apply act_silent]. destruct H as (s & HS & HT).
  exists s. split; auto. intros (A & _ & _ & _ & D & _). rewrite A in HT. simpl in HT.
  unfold used_number in HT. destruct (where_ s t) eqn:E; try discriminate. apply andb_prop in HT. destruct HT as [P Q].
  apply Nat.eqb_eq in P. subst. destruct (D t i g k E) as [-> _]. rewrite Nat.eqb_refl in Q. discriminate.
Qed.

Definition by_ (t : tid) (ds : list (decision * nat)) : list (move decision) := map (fun d => Do t (fst d) (snd d)) ds.

(* From the load of generation on: what is loaded of tenure, and of events. The coroutine lives; or is about to go on with a
  number. *)
Definition numbered (t : tid) (tenure count : nat) := by_ t [(On, tenure); (On, 0); (On, 0); (On, count)].
Definition lives_on (t : tid) (tenure count : nat) := numbered t tenure count ++ by_ t [(PutWord (10 + t), 0); (On, 0); (On, 0)].
(* Thread t takes a new station, whose coroutine begins. *)
Definition new_life (t : tid) (i : nat) := by_ t [(GetNew i, 0)] ++ lives_on t 0 0.
(* It pops one; top, next: the messages that it sees. *)
Definition look (t : tid) (top next : nat) := by_ t [(Look, top); (On, next)].
Definition pops (t : tid) (top next : nat) := look t top next ++ by_ t [(On, 0)].
Definition dies (t : tid) (i : nat) := by_ t [(PutCount i, 0); (PutDead i, 0)].
(* It has decided to free a station: it exchanges tenure of generation g, and pushes the station. *)
Definition wins (t : tid) (g : nat) := by_ t [(WinAs g, 0); (On, 0)].
Definition frees_it (t : tid) (g top : nat) := wins t g ++ by_ t [(PushAll, top); (On, 0); (On, 0)].
(* It looks whether the coroutine of station i has ended. *)
Definition asks (t : tid) (i tenure dead : nat) := by_ t [(Ask i, tenure); (On, dead)].
Definition hears (t : tid) (i said dead : nat) := by_ t [(Hear i, said); (On, dead)].

Ltac shown_by vs i t := apply no_owner with vs i t; vm_compute; reflexivity.

(*
 * The generation is not in the exchange, as it once was in the C, where is_dead was exchanged. Thread 0 ends its coroutine, and
 * does not free the station at once. Thread 1 sees the death and frees it. Thread 2 takes it, its coroutine has an event and ends.
 * Now thread 0 frees that, of which it knows nothing; and thread 1 takes the station, and reads the number that thread 0 knew.
 *)
Theorem numbers_used_twice : has_not_one_owner (without Whole).
Proof.
  shown_by (new_life 0 0 ++ by_ 0 [(Event 0, 0)] ++ dies 0 0 ++ asks 1 0 1 2 ++ frees_it 1 1 0 ++
            pops 2 1 3 ++ lives_on 2 3 1 ++ by_ 2 [(Event 0, 0)] ++ dies 2 0 ++
            by_ 0 [(FreeIt, 0)] ++ frees_it 0 2 2 ++ pops 1 3 6 ++ numbered 1 6 1) 0 1.
Qed.
(* And where its coroutine has not ended, the station of one that lives is freed. *)
Theorem living_freed : has_not_one_owner (without Whole).
Proof.
  shown_by (new_life 0 0 ++ dies 0 0 ++ asks 1 0 1 2 ++ frees_it 1 1 0 ++ pops 2 1 3 ++ lives_on 2 3 1 ++
            by_ 0 [(FreeIt, 0)] ++ wins 0 2) 0 0.
Qed.

(*
 * free has no tag. Thread 1 looks at the stack: station 1, and under it station 0. Thread 2 takes both. The coroutine of station 1
 * goes to thread 3, which ends it and frees the station. The stack is as thread 1 has seen it, so it takes station 1, and leaves
 * station 0 on the stack, which thread 2 has.
 *)
Definition both_free := new_life 0 0 ++ dies 0 0 ++ by_ 0 [(FreeIt, 0)] ++ frees_it 0 1 0 ++
                        new_life 0 1 ++ dies 0 1 ++ by_ 0 [(FreeIt, 0)] ++ frees_it 0 1 1.
Definition both_taken := pops 2 2 3 ++ lives_on 2 3 1 ++ by_ 2 [(Give 1, 0)] ++ pops 2 3 3 ++
                         by_ 3 [(Take 1, 0)] ++ dies 3 1 ++ by_ 3 [(FreeIt, 0)] ++ frees_it 3 2 4.
Lemma taken_without_tag : has_not_one_owner (without Tag).
Proof. shown_by (both_free ++ look 1 2 3 ++ both_taken ++ by_ 1 [(On, 0)] ++ pops 3 6 3) 0 0. Qed.

(* The look at the stack does not acquire: thread 1 sees station 1 there, and the link that it had the time before. *)
Lemma taken_without_look : has_not_one_owner (without LookAcq).
Proof. shown_by (both_free ++ both_taken ++ look 1 5 3 ++ by_ 1 [(On, 0)] ++ pops 3 6 3) 0 0. Qed.

(* Thread 1 sees that the coroutine has ended, and frees its station, without knowing how many events it had. *)
Definition freed_unknown := new_life 0 0 ++ by_ 0 [(Event 0, 0)] ++ dies 0 0 ++ asks 1 0 1 2 ++ frees_it 1 1 0 ++
                            pops 2 1 3 ++ numbered 2 3 0.
Lemma used_without_dead : has_not_one_owner (without DeadRel).
Proof. shown_by freed_unknown 0 2. Qed.
Lemma used_without_see : has_not_one_owner (without SeeAcq).
Proof. shown_by freed_unknown 0 2. Qed.

(* The thread that pushes knows it, and does not pass it on. *)
Lemma used_without_push : has_not_one_owner (without PushRel).
Proof.
  shown_by (new_life 0 0 ++ by_ 0 [(Event 0, 0)] ++ dies 0 0 ++ by_ 0 [(FreeIt, 0)] ++ frees_it 0 1 0 ++
            pops 2 1 3 ++ numbered 2 3 0) 0 2.
Qed.

(*
 * Thread 1 knows generation 2, and loads the is_dead of generation 1. So it frees the station of a coroutine that lives. It knows
 * the generation from tenure, or from an entry of a thread that the coroutine has come to.
 *)
Definition second_lives := new_life 0 0 ++ dies 0 0 ++ by_ 0 [(FreeIt, 0)] ++ frees_it 0 1 0 ++ pops 2 1 3 ++ lives_on 2 3 1.
Definition asked_early := second_lives ++ asks 1 0 4 2 ++ wins 1 2.
Definition heard_early := second_lives ++ by_ 2 [(Give 0, 0)] ++ by_ 3 [(Take 0, 0); (Told 0, 0)] ++ hears 1 0 1 2 ++ wins 1 2.
Lemma living_freed_without_birth : has_not_one_owner (without BirthRel).
Proof. shown_by asked_early 0 0. Qed.
Lemma living_freed_without_ask : has_not_one_owner (without AskAcq).
Proof. shown_by asked_early 0 0. Qed.
Lemma living_freed_without_tell : has_not_one_owner (without TellRel).
Proof. shown_by heard_early 0 0. Qed.
Lemma living_freed_without_hear : has_not_one_owner (without HearAcq).
Proof. shown_by heard_early 0 0. Qed.

(* So reuse_unique_owner needs each of them. *)
Theorem owner_needs_each n : In n owner_needs -> has_not_one_owner (without n).
Proof.
  simpl. intros H. repeat destruct H as [<-|H];
    auto using numbers_used_twice, taken_without_tag, living_freed_without_birth, used_without_dead, used_without_push,
      taken_without_look, living_freed_without_ask, used_without_see, living_freed_without_tell, living_freed_without_hear.
  destruct H.
Qed.

(* --- the header of a coroutine ---------------------------------------------------------------------------------------------- *)

Definition has_not_own_header (y : style) : Prop := exists s, steps (reuse 1 3 y) begin_ s /\ ~ own_header s.

Definition not_its_own (s : state loc place world) : bool :=
  match where_ s 3 with
  | Accepted i g d h e => negb (h =? header (beside s) i g) || (d =? 1) && negb (e =? ended (beside s) i g)
  | _ => false
  end.

Lemma no_header y moves : ends _ (act 1 3 y) moves begin_ not_its_own = true -> has_not_own_header y.
Proof.
  intros H. apply (ends_reached (reuse 1 3 y)) in H; [|apply act_does|apply act_silent]. destruct H as (s & HS & HT).
  exists s. split; auto. intros A. unfold not_its_own in HT. destruct (where_ s 3) eqn:E; try discriminate.
  destruct (A _ _ _ _ _ _ E) as (_ & -> & B). rewrite Nat.eqb_refl in HT. simpl in HT. apply andb_prop in HT. destruct HT as [P Q].
  apply Nat.eqb_eq in P. rewrite (B P), Nat.eqb_refl in Q. discriminate.
Qed.

(* The collector takes a header: the messages that it sees. *)
Definition takes (tenure dead announce header events again : nat) :=
  by_ 3 [(ReadHeader 0, tenure); (On, dead); (On, announce); (On, header); (On, events); (On, 0); (On, again)].
Ltac header_by vs := apply no_header with vs; vm_compute; reflexivity.

(* A coroutine of thread 0 with one event, which ends; and one of thread 2 after it, in the same station. *)
Definition first_ends := new_life 0 0 ++ by_ 0 [(Event 0, 0)] ++ dies 0 0.
Definition second_begins := first_ends ++ by_ 0 [(FreeIt, 0)] ++ frees_it 0 1 0 ++
                            pops 2 1 3 ++ lives_on 2 3 1 ++ by_ 2 [(Event 0, 0)].

(* The generation of the second, with the end and the header of the first. *)
Theorem first_header_without_birth : has_not_own_header (without BirthRel).
Proof. header_by (second_begins ++ takes 4 2 1 1 1 4). Qed.
Lemma first_header_without_acquire : has_not_own_header (without HeadAcq).
Proof. header_by (second_begins ++ takes 4 2 1 1 1 4). Qed.
(* The second has ended, and thread 1 frees its station: the collector sees the generation only there. *)
Lemma first_header_without_link : has_not_own_header (without LinkRel).
Proof. header_by (second_begins ++ dies 2 0 ++ asks 1 0 4 5 ++ frees_it 1 2 2 ++ takes 6 2 1 1 1 6). Qed.
(* The second lives, and its header is not seen. *)
Lemma first_header_without_open : has_not_own_header (without OpenRel).
Proof. header_by (second_begins ++ takes 4 4 1 1 1 4). Qed.
Lemma first_header_without_dead_acquire : has_not_own_header (without HeadDeadAcq).
Proof. header_by (second_begins ++ takes 4 4 1 1 1 4). Qed.
(* The second has the generation, and is_dead is 2 still. *)
Lemma first_header_of_a_free_one : has_not_own_header (without HeadLives).
Proof. header_by (second_begins ++ takes 4 3 1 1 1 4). Qed.

(* is_dead is 0 before the first coroutine of a station, too: only announce shows its header. *)
Lemma no_header_without_announce : has_not_own_header (without AnnounceRel).
Proof. header_by (new_life 0 0 ++ takes 1 0 1 0 0 1). Qed.
Lemma no_header_without_announce_acquire : has_not_own_header (without HeadAnnounceAcq).
Proof. header_by (new_life 0 0 ++ takes 1 0 1 0 0 1). Qed.
Lemma no_header_unannounced : has_not_own_header (without HeadAnnounced).
Proof. header_by (new_life 0 0 ++ takes 1 0 0 0 0 1). Qed.

(* The first has ended, and its number of events is not seen. *)
Theorem no_events_without_dead : has_not_own_header (without DeadRel).
Proof. header_by (first_ends ++ takes 1 2 1 1 0 1). Qed.

(* The generation of the first, with the header of the second. *)
Lemma second_header_without_birth_fence : has_not_own_header (without BirthFence).
Proof. header_by (second_begins ++ takes 1 2 1 2 1 1). Qed.
Lemma second_header_without_fence : has_not_own_header (without HeadFence).
Proof. header_by (second_begins ++ takes 1 2 1 2 1 1). Qed.
Lemma second_header_without_second_look : has_not_own_header (without HeadAgain).
Proof. header_by (second_begins ++ takes 1 2 1 2 1 4). Qed.

(* The second ends on another thread than it was spawned on, whose release of events is all that orders it. *)
Lemma second_end_without_count : has_not_own_header (without CountRel).
Proof. header_by (second_begins ++ by_ 2 [(Give 0, 0)] ++ by_ 1 [(Take 0, 0)] ++ dies 1 0 ++ takes 1 2 1 1 2 1). Qed.

Theorem head_needs_each n : In n head_needs -> has_not_own_header (without n).
Proof.
  simpl. intros H. repeat destruct H as [<-|H];
    auto using second_header_without_birth_fence, no_header_without_announce, first_header_without_open, second_end_without_count,
      first_header_without_link, first_header_without_acquire, first_header_without_dead_acquire,
      no_header_without_announce_acquire,
      no_header_unannounced, first_header_of_a_free_one, second_header_without_fence, second_header_without_second_look.
  destruct H.
Qed.

(* --- and with all of them --------------------------------------------------------------------------------------------------- *)

(* The collector pushes two stations at once; thread 2 takes one, and the collector accepts its header and its end. *)
Theorem as_in_c_goes_on : exists s,
  steps (reuse 2 3 as_in_c) begin_ s /\ where_ s 3 = Accepted 0 2 1 12 2 /\ stack (beside s) = [1].
Proof.
  assert (H : ends _ (act 2 3 as_in_c)
    (first_ends ++ by_ 0 [(On, 0)] ++ new_life 0 1 ++ dies 0 1 ++ asks 3 1 1 2 ++ wins 3 1 ++ hears 3 0 1 2 ++ frees_it 3 1 0 ++
     pops 2 1 2 ++ lives_on 2 2 1 ++ by_ 2 [(Event 0, 0)] ++ dies 2 0 ++ takes 3 5 2 2 2 3) begin_
    (fun s => match where_ s 3, stack (beside s) with Accepted 0 2 1 12 2, [1] => true | _, _ => false end) = true)
    by (vm_compute; reflexivity).
  apply (ends_reached (reuse 2 3 as_in_c)) in H; [|apply act_does|apply act_silent]. destruct H as (s & HS & HT). exists s.
  destruct (where_ s 3) eqn:E; try discriminate. destruct i as [|i]; try discriminate.
  do 3 (destruct g as [|g]; try discriminate). do 2 (destruct d as [|d]; try discriminate).
  do 13 (destruct f as [|f]; try discriminate). do 3 (destruct e as [|e]; try discriminate).
  destruct (stack (beside s)) as [|[|[|j]] [|k r]] eqn:F; try discriminate. auto.
Qed.
