(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * reuse.v - stations that are given again: the stack of free stations, and the numbers of events that go on.
 *
 * There is any number of stations and threads. A coroutine has a station; each of its events has the next number. When it ends,
 * the number after its last event is stored in the station, and the station is dead. Any thread may try to free it, the collector
 * and the owner among them, and also one that saw an earlier death of the same station and comes late. One succeeds, and pushes it.
 * Who pops it reads the number, and its coroutine goes on from there. So no number is used twice, and a reader that has seen at
 * which number a coroutine begins shows it no event of the coroutine before.
 *
 *	step             C
 *	r_event          ctp_event_slow_, ctp_event_quick_: co->events_++
 *	r_count, r_dead  ctp_death_: events, is_dead = 1
 *	r_see            ctp_retire_, the collector: the load of is_dead
 *	r_win            ctp_free_, chain_add (coros.c): the compare-exchange of is_dead
 *	r_top, r_link, r_push, r_push_fails
 *	                 ctp_free_: free, next_free, the compare-exchange of free
 *	r_look, r_next, r_pop, r_pop_fails
 *	                 ctp_unfree_
 *	r_read           ctp_birth_more_: the load of events
 *	r_open           ctp_birth_: is_dead = 0
 *
 * The order of the compare-exchange that pops does not matter (`pop`): it succeeds only on the message that the look has acquired.
 *
 * A value of `free` is a tag and an index: here tag * (stations + 1) + index. The tag does not wrap.
 *
 * The order of the compare-exchange of is_dead matters (`win`). If it is relaxed, who is late may free a death that it knows nothing of:
 * then the number that it passes on is an old one, and used again. That is how ctp_free_ stands: see numbers_used_twice. It is C11's
 * memory that allows it. By their own models ARMv8, x86 and POWER do not: there a release store passes on what a relaxed load has
 * seen before it. (That is argued, not proved.)
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views runs.
Local Arguments Nat.mul : simpl never.
Local Arguments Nat.div : simpl never.
Local Arguments Nat.modulo : simpl never.

Inductive loc := Top | Next (i : nat) | Count (i : nat) | Dead (i : nat) | Other (n : nat).
#[global] Instance loc_eq : EqDec loc.
Proof. intros a b. decide equality; apply Nat.eq_dec. Defined.

Record style := Style {
  win : order;       (* of the compare-exchange of is_dead *)
  dead : order;      (* of the store of is_dead = 1 *)
  push : order;      (* of the compare-exchange of free that pushes *)
  look : order;      (* of the load of free, and of a compare-exchange that fails to pop *)
  pop : order;       (* of the one that pops *)
  tags : bool;       (* whether the tag changes *)
}.

(* What is true of a station. Live: the next event of its coroutine has number k. *)
Inductive status := Live (k : nat) | Dying (t : tid) | Ended | Pushing (t : tid) | Free | Born (t : tid).
Record world := World {
  stat : nat -> status;
  total : nat -> nat;   (* how many events a station has had *)
  stack : list nat;     (* the free stations *)
}.
Definition set_stat x i s := World (upd (stat x) i s) (total x) (stack x).
Definition set_event x i k := World (upd (stat x) i (Live (S k))) (upd (total x) i (S (total x i))) (stack x).
Definition set_pushed x i := World (upd (stat x) i Free) (total x) (i :: stack x).
Definition set_popped x i t := World (upd (stat x) i (Born t)) (total x) (tl (stack x)).

Inductive place :=
| Idle
| PushLook (i : nat) | PushLink (i : nat) (v : val) | PushCas (i : nat) (v : val)
| PopNext (v : val) | PopCas (v : val) (next : nat) | PopCount (i : nat) | PopOpen (i k : nat).

Definition elsewhere (o : op loc) : Prop :=
  match o with
  | FenceAcq | FenceRel | FenceSc => True
  | BarrierCall _ | BarrierReturn | Register _ => False
  | _ => match place_of o with Some (Other _) => True | _ => False end
  end.

Section Program.
Variable stations : nat.
Variable y : style.

Definition tag (v : val) := v / S stations.
Definition index (v : val) := v mod S stations. (* of a station, plus 1; 0: none *)
Definition top (v : val) (i : nat) : val := (if tags y then S (tag v) else tag v) * S stations + i.

Inductive does (t : tid) : place -> world -> op loc -> ret -> place -> world -> Prop :=
| r_count p x i k : i < stations -> stat x i = Live k -> does t p x (Store Rlx (Count i) k) (0, true) p (set_stat x i (Dying t))
| r_dead p x i : stat x i = Dying t -> does t p x (Store (dead y) (Dead i) 1) (0, true) p (set_stat x i Ended)
| r_win x i : i < stations ->
    does t Idle x (Cas false (win y) Rlx (Dead i) 1 2) (1, true) (PushLook i) (set_stat x i (Pushing t))
  (* The collector, or whoever frees what a collector left: it sees a death first. *)
| r_see x i v : does t Idle x (Load Acq (Dead i)) (v, true) Idle x
| r_win_not x i v : does t Idle x (Cas false (win y) Rlx (Dead i) 1 2) (v, false) Idle x
| r_top x i v : does t (PushLook i) x (Load Rlx Top) (v, true) (PushLink i v) x
| r_link x i v : does t (PushLink i v) x (Store Rlx (Next i) (index v)) (0, true) (PushCas i v) x
| r_push x i v : does t (PushCas i v) x (Cas true (push y) Rlx Top v (top v (S i))) (v, true) Idle (set_pushed x i)
| r_push_fails x i v v' : does t (PushCas i v) x (Cas true (push y) Rlx Top v (top v (S i))) (v', false) (PushLink i v') x
| r_look x v : index v <> 0 -> does t Idle x (Load (look y) Top) (v, true) (PopNext v) x
| r_look_none x v : does t Idle x (Load (look y) Top) (v, true) Idle x
| r_next x v n : does t (PopNext v) x (Load Rlx (Next (pred (index v)))) (n, true) (PopCas v n) x
| r_pop x v n : does t (PopCas v n) x (Cas true (pop y) (look y) Top v (top v n)) (v, true)
    (PopCount (pred (index v))) (set_popped x (pred (index v)) t)
| r_pop_fails x v n v' : index v' <> 0 ->
    does t (PopCas v n) x (Cas true (pop y) (look y) Top v (top v n)) (v', false) (PopNext v') x
| r_pop_none x v n v' : does t (PopCas v n) x (Cas true (pop y) (look y) Top v (top v n)) (v', false) Idle x
| r_read x i k : does t (PopCount i) x (Load Rlx (Count i)) (k, true) (PopOpen i k) x
| r_open x i k : does t (PopOpen i k) x (Store Rel (Dead i) 0) (0, true) Idle (set_stat x i (Live k))
| x_other p x o v : elsewhere o -> does t p x o v p x.

Inductive silent (t : tid) : place -> world -> place -> world -> Prop :=
| r_event p x i k : stat x i = Live k -> silent t p x p (set_event x i k).

Definition reuse : program loc place world := Program does silent.

(* All stations belong to coroutines that have had no event yet. *)
Definition zeroed (junk : loc -> val) (l : loc) : val := match l with Other _ | Next _ | Count _ => junk l | _ => 0 end.
Definition initial (threads : nat) (registered : tid -> bool) (junk : loc -> val) : state loc place world :=
  State (start threads registered (zeroed junk)) (fun _ => Idle) (World (fun _ => Live 0) (fun _ => 0) []).
End Program.

Ltac splits := repeat match goal with |- _ /\ _ => split end.
Ltac loaded := match goal with H : loadable _ _ _ _ _ |- _ => destruct H as [HL HL'] end.

Section Proof.
Variable stations : nat.
Variable y : style.
Hypothesis win_acq : is_acq (win y) = true.
Hypothesis dead_rel : is_rel (dead y) = true.
Hypothesis push_rel : is_rel (push y) = true.
Hypothesis look_acq : is_acq (look y) = true.
Hypothesis tagged : tags y = true.

Notation tag := (tag stations).
Notation index := (index stations).
Notation top := (top stations y).

Lemma top_is v i : i <= stations -> tag (top v i) = S (tag v) /\ index (top v i) = i.
Proof.
  intros H. unfold reuse.tag, reuse.index, reuse.top. rewrite tagged. split.
  - symmetry. apply Nat.div_unique with i; unfold reuse.tag; lia.
  - symmetry. apply Nat.mod_unique with (S (v / S stations)); unfold reuse.tag; lia.
Qed.

Definition last_at (m : mem loc) (l : loc) := pred (length (hist m l)).
Definition last_is (m : mem loc) (l : loc) (v : val) : Prop := exists g, newest m l g /\ value g = v.
Definition knows_last (m : mem loc) (w : view loc) (l : loc) : Prop := last_at m l <= w (At l).
Definition first_of (s : list nat) : nat := match s with [] => 0 | i :: _ => S i end.

Fixpoint linked (m : mem loc) (s : list nat) : Prop :=
  match s with [] => True | i :: r => last_is m (Next i) (first_of r) /\ linked m r end.

Definition stands (m : mem loc) (x : world) (t : tid) (p : place) : Prop :=
  let now v := tag v = last_at m Top in
  match p with
  | Idle => True
  | PushLook i | PushLink i _ => i < stations /\ stat x i = Pushing t /\ knows_last m (cur (thr m t)) (Count i)
  | PushCas i v => i < stations /\ stat x i = Pushing t /\ knows_last m (cur (thr m t)) (Count i) /\
      last_is m (Next i) (index v) /\ knows_last m (cur (thr m t)) (Next i)
  | PopNext v => index v <> 0 /\ tag v < length (hist m Top) /\
      (now v -> index v = first_of (stack x) /\ forall j, In j (stack x) ->
        knows_last m (cur (thr m t)) (Next j) /\ knows_last m (cur (thr m t)) (Count j))
  | PopCas v n => index v <> 0 /\ tag v < length (hist m Top) /\
      (now v -> index v = first_of (stack x) /\ n = first_of (tl (stack x)) /\
        forall j, In j (stack x) -> knows_last m (cur (thr m t)) (Count j))
  | PopCount i => i < stations /\ stat x i = Born t /\ knows_last m (cur (thr m t)) (Count i)
  | PopOpen i k => i < stations /\ stat x i = Born t /\ k = total x i
  end.

Record inv (s : state loc place world) : Prop := Inv {
  i_wf : wf (memory s);
  i_some : forall l, hist (memory s) l <> [];
  i_top : forall n g, nth_error (hist (memory s) Top) n = Some g -> tag (value g) = n;
  i_first : exists g, newest (memory s) Top g /\ index (value g) = first_of (stack (beside s)) /\
    forall j, In j (stack (beside s)) -> knows_last (memory s) (with_ g) (Next j) /\ knows_last (memory s) (with_ g) (Count j);
  i_stack : NoDup (stack (beside s)) /\ forall j, In j (stack (beside s)) <-> stat (beside s) j = Free /\ j < stations;
  i_linked : linked (memory s) (stack (beside s));
  i_count : forall j, match stat (beside s) j with
                      | Live k => k = total (beside s) j
                      | Dying t => last_is (memory s) (Count j) (total (beside s) j) /\
                          knows_last (memory s) (cur (thr (memory s) t)) (Count j)
                      | _ => last_is (memory s) (Count j) (total (beside s) j)
                      end;
  i_dead : forall j, match stat (beside s) j with
                     | Live _ | Dying _ => last_is (memory s) (Dead j) 0
                     | Ended => exists g, newest (memory s) (Dead j) g /\ value g = 1 /\
                         knows_last (memory s) (with_ g) (Count j)
                     | _ => last_is (memory s) (Dead j) 2
                     end;
  i_stands : forall t, stands (memory s) (beside s) t (where_ s t);
}.

Lemma same_last (m m' : mem loc) l : hist m' l = hist m l -> last_at m' l = last_at m l.
Proof. unfold last_at. intros ->. auto. Qed.
Lemma same_is (m m' : mem loc) l v : hist m' l = hist m l -> last_is m l v -> last_is m' l v.
Proof. unfold last_is, newest. intros ->. auto. Qed.
Lemma same_newest (m m' : mem loc) l g : hist m' l = hist m l -> newest m l g -> newest m' l g.
Proof. unfold newest. intros ->. auto. Qed.
Lemma same_knows (m m' : mem loc) w w' l : hist m' l = hist m l -> (forall k, w k <= w' k) -> knows_last m w l -> knows_last m' w' l.
Proof. unfold knows_last, last_at. intros -> H K. eapply Nat.le_trans; eauto. Qed.

Lemma same_linked m m' s : (forall j, In j s -> hist m' (Next j) = hist m (Next j)) -> linked m s -> linked m' s.
Proof.
  induction s as [|i s IH]; simpl; auto. intros H [A B]. split; [|apply IH; auto].
  eapply same_is; [apply H; auto|exact A].
Qed.

Lemma app_newest (m m' : mem loc) l g : hist m' l = hist m l ++ [g] -> newest m' l g.
Proof.
  unfold newest. intros ->. rewrite app_length. simpl. rewrite nth_error_app2 by lia.
  replace (pred (length (hist m l) + 1) - length (hist m l)) with 0 by lia. reflexivity.
Qed.
Lemma app_last (m m' : mem loc) l g : hist m' l = hist m l ++ [g] -> last_at m' l = length (hist m l).
Proof. unfold last_at. intros ->. rewrite app_length. simpl. lia. Qed.

Lemma upd_cases {B} (f : nat -> B) t b u : u = t /\ upd f t b u = b \/ u <> t /\ upd f t b u = f u.
Proof. unfold upd. destruct (eq_dec t u); auto. Qed.

Lemma tid_cases {B} (f : tid -> B) t b u : u = t /\ upd f t b u = b \/ u <> t /\ upd f t b u = f u.
Proof. unfold upd. destruct (eq_dec t u); auto. Qed.

(* Where t stands, after a step of any thread that changes none of what it counts on. *)
Lemma stands_same m m' x t p : grows m m' -> (forall l, (forall n, l <> Other n) -> (forall i, l <> Dead i) -> hist m' l = hist m l) ->
  stands m x t p -> stands m' x t p.
Proof.
  intros G H. assert (C := fun k => g_cur _ _ G t k).
  assert (T : last_at m' Top = last_at m Top) by (apply same_last, H; congruence).
  assert (KC : forall i, knows_last m (cur (thr m t)) (Count i) -> knows_last m' (cur (thr m' t)) (Count i))
    by (intros; eapply same_knows; [apply H; congruence|exact C|auto]).
  assert (KN : forall i, knows_last m (cur (thr m t)) (Next i) -> knows_last m' (cur (thr m' t)) (Next i))
    by (intros; eapply same_knows; [apply H; congruence|exact C|auto]).
  assert (L : length (hist m' Top) = length (hist m Top)) by (rewrite H by congruence; auto).
  destruct p; simpl; rewrite ?T, ?L; auto; try (intuition auto; fail).
  - intros (A & B & D & E & F). splits; auto. eapply same_is; [apply H; congruence|auto].
  - intros (A & B & D). splits; auto. intros E. destruct (D E) as [D1 D2]. split; auto. intros j Hj. destruct (D2 j Hj). auto.
Qed.

Lemma frame m m' f p x t : grows m m' -> wf m' -> (forall l, (forall n, l <> Other n) -> hist m' l = hist m l) ->
  (forall n, hist m' (Other n) <> []) ->
  inv (State m f x) -> stands m' x t p -> inv (State m' (upd f t p) x).
Proof.
  intros G W H HO [] Hp. simpl in *. assert (C := fun t k => g_cur _ _ G t k).
  constructor; simpl; auto.
  - intros l. destruct l; try (rewrite H by congruence; auto). auto.
  - intros n g. rewrite H by congruence. auto.
  - destruct i_first0 as (g & A & B & D). exists g. splits; auto; [eapply same_newest; [apply H; congruence|eauto]|].
    intros j Hj. destruct (D j Hj). split; (eapply same_knows; [apply H; congruence| |eauto]; eauto).
  - eapply same_linked; [|eauto]. intros. apply H. congruence.
  - intros j. specialize (i_count0 j). destruct (stat x j); auto; try ((eapply same_is; [apply H; congruence|eauto])).
    destruct i_count0 as [A B]. split; [eapply same_is; [apply H; congruence|eauto]|].
    (eapply same_knows; [apply H; congruence| |eauto]; eauto).
  - intros j. specialize (i_dead0 j). destruct (stat x j); auto; try ((eapply same_is; [apply H; congruence|eauto])).
    destruct i_dead0 as (g & A & B & D). exists g. splits; auto; [eapply same_newest; [apply H; congruence|eauto]|].
    (eapply same_knows; [apply H; congruence| |eauto]; eauto).
  - intros u. destruct (tid_cases f t p u) as [(-> & E)|(N & E)]; rewrite E; auto. eapply stands_same; eauto.
Qed.

Lemma load_frame m t o l i g f p x : loadable m t l i g -> inv (State m f x) ->
  stands (load m t false o l i g) x t p -> inv (State (load m t false o l i g) (upd f t p) x).
Proof.
  intros L I. assert (Wf := i_wf _ I). simpl in Wf. destruct (load_grows m t false o l i g Wf) as [G W].
  assert (R := fun l' => mstep_reads _ _ _ _ _ l' (m_load m t o l i g L) eq_refl).
  intros. apply frame with m; auto. intros n. rewrite R. apply (i_some _ I).
Qed.

Lemma hist_load m t o l i g l' : hist (load m t false o l i g) l' = hist m l'.
Proof. simpl. unfold upd. destruct (eq_dec l l'); congruence. Qed.

Lemma load_stands m t o l i g f p x : inv (State m f x) -> stands m x t p -> stands (load m t false o l i g) x t p.
Proof.
  intros I. assert (Wf := i_wf _ I). simpl in Wf. destruct (load_grows m t false o l i g Wf) as [G W].
  apply stands_same; auto. intros. apply hist_load.
Qed.

(* Where u stands, after a step of any thread that may store to one location, and change the status of one station. *)
Lemma stands_mono m m' x x' u p : grows m m' ->
  (forall j, stat x j = Pushing u \/ stat x j = Born u -> stat x' j = stat x j /\ total x' j = total x j /\
     hist m' (Count j) = hist m (Count j) /\ hist m' (Next j) = hist m (Next j)) ->
  hist m' Top = hist m Top /\ stack x' = stack x /\ (forall j, In j (stack x) -> hist m' (Next j) = hist m (Next j) /\ hist m' (Count j) = hist m (Count j)) \/
  (exists g, hist m' Top = hist m Top ++ [g]) ->
  stands m x u p -> stands m' x' u p.
Proof.
  intros G H T. assert (C := fun k => g_cur _ _ G u k).
  destruct p; simpl; auto.
  - intros (A & B & D). destruct (H i (or_introl B)) as (H1 & H2 & H3 & H4). splits; auto; [congruence|]. exact (same_knows _ _ _ _ _ H3 C D).
  - intros (A & B & D). destruct (H i (or_introl B)) as (H1 & H2 & H3 & H4). splits; auto; [congruence|]. exact (same_knows _ _ _ _ _ H3 C D).
  - intros (A & B & D & E & F). destruct (H i (or_introl B)) as (H1 & H2 & H3 & H4). splits; auto; [congruence| | |].
    + exact (same_knows _ _ _ _ _ H3 C D).
    + exact (same_is _ _ _ _ H4 E).
    + exact (same_knows _ _ _ _ _ H4 C F).
  - intros (A & B & D). destruct T as [(T1 & T2 & T3)|(g & T1)].
    + rewrite T1, T2, (same_last m m' Top T1). splits; auto. intros E. destruct (D E) as [D1 D2]. split; auto.
      intros j Hj. destruct (T3 j Hj) as [T4 T5], (D2 j Hj) as [D3 D4]. split.
      * exact (same_knows _ _ _ _ _ T4 C D3).
      * exact (same_knows _ _ _ _ _ T5 C D4).
    + rewrite (app_last m m' Top g T1). rewrite T1, app_length. simpl. splits; auto; intros; lia.
  - intros (A & B & D). destruct T as [(T1 & T2 & T3)|(g & T1)].
    + rewrite T1, T2, (same_last m m' Top T1). splits; auto. intros E. destruct (D E) as (D1 & D2 & D3). splits; auto.
      intros j Hj. exact (same_knows _ _ _ _ _ (proj2 (T3 j Hj)) C (D3 j Hj)).
    + rewrite (app_last m m' Top g T1). rewrite T1, app_length. simpl. splits; auto; intros; lia.
  - intros (A & B & D). destruct (H i (or_intror B)) as (H1 & H2 & H3 & H4). splits; auto; [congruence|]. exact (same_knows _ _ _ _ _ H3 C D).
  - intros (A & B & D). destruct (H i (or_intror B)) as (H1 & H2 & H3 & H4). splits; auto; congruence.
Qed.

(* A step that changes nothing but the history of Count i or Dead i, and the status of station i, which is not on the stack. *)
Lemma station_step m m' f t p x x' i : grows m m' -> wf m' ->
  (forall l, l <> Count i -> l <> Dead i -> hist m' l = hist m l) -> hist m' (Count i) <> [] -> hist m' (Dead i) <> [] ->
  stat x i <> Free -> stat x' i <> Free -> (forall j, j <> i -> stat x' j = stat x j /\ total x' j = total x j) ->
  stack x' = stack x -> (forall u, u <> t -> stat x i <> Pushing u /\ stat x i <> Born u) ->
  inv (State m f x) -> stands m' x' t p ->
  match stat x' i with
  | Live k => k = total x' i
  | Dying t => last_is m' (Count i) (total x' i) /\ knows_last m' (cur (thr m' t)) (Count i)
  | _ => last_is m' (Count i) (total x' i)
  end ->
  match stat x' i with
  | Live _ | Dying _ => last_is m' (Dead i) 0
  | Ended => exists g, newest m' (Dead i) g /\ value g = 1 /\ knows_last m' (with_ g) (Count i)
  | _ => last_is m' (Dead i) 2
  end -> inv (State m' (upd f t p) x').
Proof.
  intros G W H HC HD F1 F2 HJ HS HP [] Hp H1 H2. simpl in *. assert (C := fun t k => g_cur _ _ G t k).
  assert (NI : forall j, In j (stack x) -> j <> i) by (intros j Hj ->; apply (proj2 i_stack0) in Hj; tauto).
  constructor; simpl; auto.
  - intros l. destruct (loc_eq (Count i) l) as [<-|N]; auto. destruct (loc_eq (Dead i) l) as [<-|N']; auto.
    rewrite H by congruence. auto.
  - intros n g. rewrite H by congruence. auto.
  - rewrite HS. destruct i_first0 as (g & A & B & D). exists g. splits; auto; [eapply same_newest; [apply H; congruence|eauto]|].
    intros j Hj. destruct (D j Hj). assert (N := NI j Hj). split; (eapply same_knows; [apply H; congruence| |eauto]; eauto).
  - rewrite HS. destruct i_stack0 as [A B]. split; auto. intros j. rewrite B. destruct (Nat.eq_dec j i) as [->|N]; [tauto|].
    rewrite (proj1 (HJ j N)). tauto.
  - rewrite HS. eapply same_linked; [|eauto]. intros. apply H; congruence.
  - intros j. destruct (Nat.eq_dec j i) as [->|N]; auto. specialize (i_count0 j). destruct (HJ j N) as [E1 E2]. rewrite E1, E2.
    destruct (stat x j); auto; try ((eapply same_is; [apply H; congruence|eauto])).
    destruct i_count0 as [A B]. split; [eapply same_is; [apply H; congruence|eauto]|].
    (eapply same_knows; [apply H; congruence| |eauto]; eauto).
  - intros j. destruct (Nat.eq_dec j i) as [->|N]; auto. specialize (i_dead0 j). destruct (HJ j N) as [E1 E2]. rewrite E1.
    destruct (stat x j); auto; try ((eapply same_is; [apply H; congruence|eauto])).
    destruct i_dead0 as (g & A & B & D). exists g. splits; auto; [eapply same_newest; [apply H; congruence|eauto]|].
    (eapply same_knows; [apply H; congruence| |eauto]; eauto).
  - intros u. destruct (tid_cases f t p u) as [(-> & E)|(N & E)]; rewrite E; auto.
    apply stands_mono with m x; auto.
    + intros j Hj. assert (j <> i) by (intros ->; destruct (HP u N); tauto). destruct (HJ j H0). splits; auto; apply H; congruence.
    + left. splits; auto; [apply H; congruence|]. intros j Hj. assert (N' := NI j Hj). split; apply H; congruence.
Qed.

Lemma rmw_hist (m : mem loc) t a l g v : exists w, hist (rmw m t a l g v) l = hist m l ++ [Message v w] /\
  (forall k, with_ g k <= w k) /\ (is_rel a = true -> forall k, cur (thr m t) k <= w k) /\
  (is_acq a = true -> forall k, with_ g k <= cur (thr (rmw m t a l g v) t) k).
Proof.
  eexists. splits.
  - simpl. apply upd_same.
  - intros k. apply join_r.
  - intros E k. rewrite E. simpl. assert (T := touch_cur m t l (length (hist m l)) k). destruct (is_acq a); unfold join; lia.
  - intros E k. simpl. rewrite upd_same. simpl. rewrite E. apply join_r.
Qed.

Lemma app_is (m m' : mem loc) l v w : hist m' l = hist m l ++ [Message v w] -> last_is m' l v.
Proof. intros H. eexists. split; [eapply app_newest; eauto|]. reflexivity. Qed.

Lemma not_nil {A} (h : list A) g : h ++ [g] <> [].
Proof. destruct h; discriminate. Qed.

Lemma step_count m f t x i k : inv (State m f x) -> stat x i = Live k ->
  inv (State (store m t false Rlx (Count i) k) (upd f t (f t)) (set_stat x i (Dying t))).
Proof.
  intros I Hk. assert (Wf := i_wf _ I). simpl in Wf. assert (CT := i_count _ I i). assert (DD := i_dead _ I i). simpl in CT, DD.
  rewrite Hk in CT, DD. destruct (store_grows m t false Rlx (Count i) k Wf) as [G W].
  assert (HH := store_hist m t false Rlx (Count i) k). assert (KK := store_knows m t false Rlx (Count i) k).
  assert (HS : forall l, l <> Count i -> hist (store m t false Rlx (Count i) k) l = hist m l)
    by (intros; simpl; apply upd_other; congruence).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'.
  apply station_step with m x i; auto; simpl; rewrite ?upd_same, ?HH; try congruence; auto using not_nil.
  - rewrite HS by congruence. apply (i_some _ I).
  - intros j N. rewrite upd_other by auto. auto.
  - intros u _. rewrite Hk. split; discriminate.
  - assert (S := i_stands _ I t). simpl in S. apply stands_mono with m x; auto.
    + intros j Hj. assert (j <> i) by (intros ->; rewrite Hk in Hj; destruct Hj; discriminate).
      simpl. rewrite upd_other by auto. splits; auto; apply HS; congruence.
    + left. splits; auto; [apply HS; congruence|]. intros j Hj. assert (j <> i) by (intros ->; apply (proj2 (i_stack _ I)) in Hj; simpl in Hj; destruct Hj; congruence).
      split; apply HS; congruence.
  - split; [subst k; eapply app_is; eauto|]. unfold knows_last. rewrite (app_last _ _ _ _ HH). auto.
  - (eapply same_is; [apply HS; congruence|eauto]).
Qed.

Lemma step_dead m f t x i : inv (State m f x) -> stat x i = Dying t ->
  inv (State (store m t false (dead y) (Dead i) 1) (upd f t (f t)) (set_stat x i Ended)).
Proof.
  intros I Hk. assert (Wf := i_wf _ I). simpl in Wf. assert (CT := i_count _ I i). simpl in CT. rewrite Hk in CT.
  destruct CT as [C1 C2]. destruct (store_grows m t false (dead y) (Dead i) 1 Wf) as [G W].
  assert (HH := store_hist m t false (dead y) (Dead i) 1). rewrite dead_rel in HH.
  assert (TC := touch_cur m t (Dead i) (length (hist m (Dead i)))).
  set (tv := touch m t (Dead i) (length (hist m (Dead i)))) in *. clearbody tv.
  assert (HS : forall l, l <> Dead i -> hist (store m t false (dead y) (Dead i) 1) l = hist m l)
    by (intros; simpl; apply upd_other; congruence).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'.
  apply station_step with m x i; auto; simpl; rewrite ?upd_same, ?HH; try congruence; auto using not_nil.
  - rewrite HS by congruence. apply (i_some _ I).
  - intros j N. rewrite upd_other by auto. auto.
  - intros u _. rewrite Hk. split; discriminate.
  - assert (S := i_stands _ I t). simpl in S. apply stands_mono with m x; auto.
    + intros j Hj. assert (j <> i) by (intros ->; rewrite Hk in Hj; destruct Hj; discriminate).
      simpl. rewrite upd_other by auto. splits; auto; apply HS; congruence.
    + left. splits; auto; [apply HS; congruence|]. intros. split; apply HS; congruence.
  - (eapply same_is; [apply HS; congruence|eauto]).
  - eexists. splits; [eapply app_newest; eauto|reflexivity|]. simpl. (eapply same_knows; [apply HS; congruence| |eauto]; eauto).
Qed.

Lemma step_win m f t x i g : inv (State m f x) -> i < stations -> newest m (Dead i) g -> value g = 1 ->
  inv (State (rmw m t (win y) (Dead i) g 2) (upd f t (PushLook i)) (set_stat x i (Pushing t))).
Proof.
  intros I Hi HN V. assert (Wf := i_wf _ I). simpl in Wf. assert (DD := i_dead _ I i). simpl in DD.
  assert (HU : forall v, last_is m (Dead i) v -> v = 1) by (intros v (h & A & B); unfold newest in *; congruence).
  assert (Hk : stat x i = Ended) by (destruct (stat x i); auto; apply HU in DD; discriminate).
  assert (CT := i_count _ I i). simpl in CT. rewrite Hk in CT, DD.
  destruct DD as (h & D1 & _ & D3). unfold newest in HN, D1. rewrite HN in D1. inversion D1; subst h. clear D1.
  destruct (rmw_grows m t (win y) (Dead i) g 2 Wf) as [G W].
  destruct (rmw_hist m t (win y) (Dead i) g 2) as (wv & HH & _ & _ & AC). specialize (AC win_acq).
  assert (HS : forall l, l <> Dead i -> hist (rmw m t (win y) (Dead i) g 2) l = hist m l)
    by (intros; simpl; apply upd_other; congruence).
  set (m' := rmw _ _ _ _ _ _) in *. clearbody m'.
  apply station_step with m x i; auto; simpl; rewrite ?upd_same, ?HH; try congruence; auto using not_nil.
  - rewrite HS by congruence. apply (i_some _ I).
  - intros j N. rewrite upd_other by auto. auto.
  - intros u _. rewrite Hk. split; discriminate.
  - splits; auto. (eapply same_knows; [apply HS; congruence| |eauto]; eauto).
  - (eapply same_is; [apply HS; congruence|eauto]).
  - eapply app_is; eauto.
Qed.

Lemma step_open m f t x i k : inv (State m f x) -> f t = PopOpen i k ->
  inv (State (store m t false Rel (Dead i) 0) (upd f t Idle) (set_stat x i (Live k))).
Proof.
  intros I Hf. assert (Wf := i_wf _ I). simpl in Wf. assert (S := i_stands _ I t). simpl in S. rewrite Hf in S.
  destruct S as (Hi & Hk & Ht). destruct (store_grows m t false Rel (Dead i) 0 Wf) as [G W].
  assert (HH := store_hist m t false Rel (Dead i) 0).
  assert (HS : forall l, l <> Dead i -> hist (store m t false Rel (Dead i) 0) l = hist m l)
    by (intros; simpl; apply upd_other; congruence).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'.
  apply station_step with m x i; auto; simpl; rewrite ?upd_same, ?HH; try congruence; auto using not_nil.
  - rewrite HS by congruence. apply (i_some _ I).
  - intros j N. rewrite upd_other by auto. auto.
  - intros u N. rewrite Hk. split; congruence.
  - eapply app_is; eauto.
Qed.

Lemma step_link m f t x i v : inv (State m f x) -> f t = PushLink i v ->
  inv (State (store m t false Rlx (Next i) (index v)) (upd f t (PushCas i v)) x).
Proof.
  intros I Hf. assert (Wf := i_wf _ I). simpl in Wf. assert (S := i_stands _ I t). simpl in S. rewrite Hf in S.
  destruct S as (Hi & Hk & Ht). destruct (store_grows m t false Rlx (Next i) (index v) Wf) as [G W].
  assert (HH := store_hist m t false Rlx (Next i) (index v)). assert (KK := store_knows m t false Rlx (Next i) (index v)).
  assert (HS : forall l, l <> Next i -> hist (store m t false Rlx (Next i) (index v)) l = hist m l)
    by (intros; simpl; apply upd_other; congruence).
  set (m' := store _ _ _ _ _ _) in *. clearbody m'.
  destruct I. simpl in *. assert (C := fun t k => g_cur _ _ G t k).
  assert (NI : forall j, In j (stack x) -> j <> i) by (intros j Hj ->; apply (proj2 i_stack0) in Hj; destruct Hj; congruence).
  constructor; simpl; auto.
  - intros l. destruct (loc_eq (Next i) l) as [<-|N]; [rewrite HH; apply not_nil|]. rewrite HS by congruence. auto.
  - intros n g. rewrite HS by congruence. auto.
  - destruct i_first0 as (g & A & B & D). exists g. splits; auto; [eapply same_newest; [apply HS; congruence|eauto]|].
    intros j Hj. destruct (D j Hj). assert (N := NI j Hj). split; (eapply same_knows; [apply HS; congruence| |eauto]; eauto).
  - eapply same_linked; [|eauto]. intros j Hj. assert (N := NI j Hj). apply HS; congruence.
  - intros j. specialize (i_count0 j). destruct (stat x j); auto; try ((eapply same_is; [apply HS; congruence|eauto])).
    destruct i_count0 as [A B]. split; [eapply same_is; [apply HS; congruence|eauto]|].
    (eapply same_knows; [apply HS; congruence| |eauto]; eauto).
  - intros j. specialize (i_dead0 j). destruct (stat x j); auto; try ((eapply same_is; [apply HS; congruence|eauto])).
    destruct i_dead0 as (g & A & B & D). exists g. splits; auto; [eapply same_newest; [apply HS; congruence|eauto]|].
    (eapply same_knows; [apply HS; congruence| |eauto]; eauto).
  - intros u. destruct (tid_cases f t (PushCas i v) u) as [(-> & E)|(N & E)]; rewrite E.
    + simpl. splits; auto.
      * (eapply same_knows; [apply HS; congruence| |eauto]; eauto).
      * eapply app_is; eauto.
      * unfold knows_last. rewrite (app_last _ _ _ _ HH). auto.
    + apply stands_mono with m x; auto.
      * intros j Hj. assert (j <> i) by (intros ->; rewrite Hk in Hj; destruct Hj; congruence).
        splits; auto; apply HS; congruence.
      * left. splits; auto; [apply HS; congruence|]. intros j Hj. assert (N' := NI j Hj). split; apply HS; congruence.
Qed.

Lemma step_push m f t x i v g : inv (State m f x) -> f t = PushCas i v -> newest m Top g -> value g = v ->
  inv (State (rmw m t (push y) Top g (top v (S i))) (upd f t Idle) (set_pushed x i)).
Proof.
  intros I Hf HN V. assert (Wf := i_wf _ I). simpl in Wf. assert (S := i_stands _ I t). simpl in S. rewrite Hf in S.
  destruct S as (Hi & Hk & Kc & Ln & Kn). destruct (rmw_grows m t (push y) Top g (top v (S i)) Wf) as [G W].
  destruct (rmw_hist m t (push y) Top g (top v (S i))) as (wv & HH & WG & RE & _). specialize (RE push_rel).
  assert (HS : forall l, l <> Top -> hist (rmw m t (push y) Top g (top v (S i))) l = hist m l)
    by (intros; simpl; apply upd_other; congruence).
  set (m' := rmw _ _ _ _ _ _) in *. clearbody m'.
  destruct I. simpl in *. assert (C := fun t k => g_cur _ _ G t k).
  destruct (top_is v (S i) ltac:(lia)) as [T1 T2].
  destruct i_first0 as (h & A & B & D). unfold newest in HN, A. rewrite HN in A. inversion A; subst h. clear A.
  assert (NI : ~ In i (stack x)) by (intros Hj; apply (proj2 i_stack0) in Hj; destruct Hj; congruence).
  constructor; simpl; auto.
  - intros l. destruct (loc_eq Top l) as [<-|N]; [rewrite HH; apply not_nil|]. rewrite HS by congruence. auto.
  - intros n h. rewrite HH. intros E. destruct (Nat.lt_ge_cases n (length (hist m Top))) as [Q|Q].
    + rewrite nth_error_app1 in E by auto. auto.
    + rewrite nth_error_app2 in E by auto. destruct (n - length (hist m Top)) eqn:Z; [|destruct n0; discriminate].
      simpl in E. inversion E; subst h. simpl. rewrite T1. specialize (i_top0 _ _ HN). rewrite V in i_top0. rewrite i_top0.
      assert (L := i_some0 Top). destruct (hist m Top); [congruence|]. simpl in *. lia.
  - exists (Message (top v (S i)) wv). splits; [eapply app_newest; eauto|auto|].
    intros j [<-|Hj].
    + split; (eapply same_knows; [apply HS; congruence|exact RE|auto]).
    + destruct (D j Hj). split; (eapply same_knows; [apply HS; congruence|exact WG|auto]).
  - destruct i_stack0 as [N1 N2]. split; [constructor; auto|]. intros j. destruct (upd_cases (stat x) i Free j) as [(-> & E)|(N & E)];
      rewrite E; [split; auto|]. rewrite <- N2. split; [intros [Q|Q]; [congruence|auto]|auto].
  - split; [|(eapply same_linked; [|eauto]); intros; apply HS; congruence].
    rewrite <- B, V. (eapply same_is; [apply HS; congruence|eauto]).
  - intros j. specialize (i_count0 j). destruct (upd_cases (stat x) i Free j) as [(-> & E)|(N & E)]; rewrite E.
    + rewrite Hk in i_count0. (eapply same_is; [apply HS; congruence|eauto]).
    + destruct (stat x j); auto; try ((eapply same_is; [apply HS; congruence|eauto])).
      destruct i_count0 as [P Q]. split; [eapply same_is; [apply HS; congruence|eauto]|].
      (eapply same_knows; [apply HS; congruence| |eauto]; eauto).
  - intros j. specialize (i_dead0 j). destruct (upd_cases (stat x) i Free j) as [(-> & E)|(N & E)]; rewrite E.
    + rewrite Hk in i_dead0. (eapply same_is; [apply HS; congruence|eauto]).
    + destruct (stat x j); auto; try ((eapply same_is; [apply HS; congruence|eauto])).
      destruct i_dead0 as (h & P & Q & R). exists h. splits; auto; [eapply same_newest; [apply HS; congruence|eauto]|].
      (eapply same_knows; [apply HS; congruence| |eauto]; eauto).
  - intros u. destruct (tid_cases f t Idle u) as [(-> & E)|(N & E)]; rewrite E; [exact Logic.I|].
    apply stands_mono with m x; eauto. intros j Hj. assert (j <> i) by (intros ->; rewrite Hk in Hj; destruct Hj; congruence).
    simpl. rewrite upd_other by auto. splits; auto; apply HS; congruence.
Qed.

Lemma step_pop m f t x v n g : inv (State m f x) -> f t = PopCas v n -> newest m Top g -> value g = v ->
  inv (State (rmw m t (pop y) Top g (top v n)) (upd f t (PopCount (pred (index v)))) (set_popped x (pred (index v)) t)).
Proof.
  intros I Hf HN V. assert (Wf := i_wf _ I). simpl in Wf. assert (S := i_stands _ I t). simpl in S. rewrite Hf in S.
  destruct S as (Hi & Hl & Hnow). destruct (rmw_grows m t (pop y) Top g (top v n) Wf) as [G W].
  destruct (rmw_hist m t (pop y) Top g (top v n)) as (wv & HH & WG & _ & _).
  assert (HS : forall l, l <> Top -> hist (rmw m t (pop y) Top g (top v n)) l = hist m l)
    by (intros; simpl; apply upd_other; congruence).
  set (m' := rmw _ _ _ _ _ _) in *. clearbody m'.
  destruct I. simpl in *. assert (C := fun t k => g_cur _ _ G t k).
  destruct i_first0 as (h & A & B & D). unfold newest in HN, A. rewrite HN in A. inversion A; subst h. clear A.
  assert (TN : tag v = last_at m Top) by (rewrite <- V; exact (i_top0 _ _ HN)).
  destruct (Hnow TN) as (E1 & E2 & E3). destruct (stack x) as [|i r] eqn:ES; [simpl in E1; congruence|]. simpl in E1, E2.
  rewrite E1. simpl pred. destruct i_stack0 as [N1 N2]. inversion N1; subst.
  assert (Hst := proj1 (N2 i) (or_introl eq_refl)). destruct Hst as [Hst Hb].
  assert (Hn : first_of r <= stations).
  { destruct r as [|j r']; simpl; [lia|]. destruct (proj1 (N2 j) (or_intror (or_introl eq_refl))). lia. }
  destruct (top_is (value g) (first_of r) Hn) as [T1 T2].
  constructor; simpl; rewrite ?ES; simpl; auto.
  - intros l. destruct (loc_eq Top l) as [<-|N]; [rewrite HH; apply not_nil|]. rewrite HS by congruence. auto.
  - intros n h. rewrite HH. intros E. destruct (Nat.lt_ge_cases n (length (hist m Top))) as [Q|Q].
    + rewrite nth_error_app1 in E by auto. auto.
    + rewrite nth_error_app2 in E by auto. destruct (n - length (hist m Top)) eqn:Z; [|destruct n0; discriminate].
      simpl in E. inversion E; subst h. simpl. rewrite T1, TN. unfold last_at.
      assert (L := i_some0 Top). destruct (hist m Top); [congruence|]. simpl in *. lia.
  - eexists. splits; [eapply app_newest; eauto|auto|].
    intros j Hj. destruct (D j (or_intror Hj)). split; (eapply same_knows; [apply HS; congruence|exact WG|auto]).
  - split; auto. intros j. destruct (upd_cases (stat x) i (Born t) j) as [(-> & E)|(N & E)]; rewrite E.
    + split; [tauto|]. intros [Q _]. discriminate.
    + rewrite <- N2. simpl. split; auto. intros [Q|Q]; congruence || auto.
  - destruct i_linked0 as [_ L]. (eapply same_linked; [|eauto]); intros; apply HS; congruence.
  - intros j. specialize (i_count0 j). destruct (upd_cases (stat x) i (Born t) j) as [(-> & E)|(N & E)]; rewrite E.
    + rewrite Hst in i_count0. (eapply same_is; [apply HS; congruence|eauto]).
    + destruct (stat x j); auto; try ((eapply same_is; [apply HS; congruence|eauto])).
      destruct i_count0 as [P Q]. split; [eapply same_is; [apply HS; congruence|eauto]|].
      (eapply same_knows; [apply HS; congruence| |eauto]; eauto).
  - intros j. specialize (i_dead0 j). destruct (upd_cases (stat x) i (Born t) j) as [(-> & E)|(N & E)]; rewrite E.
    + rewrite Hst in i_dead0. (eapply same_is; [apply HS; congruence|eauto]).
    + destruct (stat x j); auto; try ((eapply same_is; [apply HS; congruence|eauto])).
      destruct i_dead0 as (h & P & Q & R). exists h. splits; auto; [eapply same_newest; [apply HS; congruence|eauto]|].
      (eapply same_knows; [apply HS; congruence| |eauto]; eauto).
  - intros u. destruct (tid_cases f t (PopCount i) u) as [(-> & E)|(N & E)]; rewrite E.
    + simpl. rewrite upd_same. splits; auto. eapply same_knows; [apply HS; congruence|exact (C t)|]. apply E3. left. auto.
    + apply stands_mono with m x; eauto. intros j Hj. assert (j <> i) by (intros ->; rewrite Hst in Hj; destruct Hj; congruence).
      simpl. rewrite upd_other by auto. splits; auto; apply HS; congruence.
Qed.

(* A look at the stack, by a load of it or by a compare-exchange that fails. *)
Lemma look_stands m f t x i g p : inv (State m f x) -> loadable m t Top i g -> index (value g) <> 0 ->
  p = PopNext (value g) -> stands (load m t false (look y) Top i g) x t p.
Proof.
  intros I [HL HL'] Hi ->. assert (L := nth_error_lt _ _ _ HL). unfold stands. rewrite hist_load. splits; auto.
  - rewrite (i_top _ I _ _ HL). auto.
  - unfold last_at. rewrite hist_load. rewrite (i_top _ I _ _ HL). intros E.
    destruct (i_first _ I) as (h & A & B & D). simpl in A, B, D. unfold newest in A. rewrite <- E, HL in A. inversion A; subst h.
    split; auto. intros j Hj. destruct (D j Hj) as [K K']. split; (eapply same_knows; [apply hist_load|intros k; apply load_acquires; auto|auto]).
Qed.

Lemma upd_self {B} (f : tid -> B) (t u : tid) : upd f t (f t) u = f u.
Proof. unfold upd. destruct (eq_dec t u); subst; auto. Qed.

Lemma kept : forall s s', inv s -> step (reuse stations y) s s' -> inv s'.
Proof.
  intros s s' I HS. destruct HS as [m f x t o v p x' m' Ht HD HM | m f x t p x' Ht HD | m f x c t Hin].
  - assert (Wf := i_wf _ I). simpl in Wf. assert (S := i_stands _ I t). simpl in S.
    remember (f t) as q eqn:Ef. destruct HD; lazymatch goal with H : elsewhere _ |- _ => idtac | _ => inversion HM; subst; clear HM end.
    + apply step_count; auto.
    + apply step_dead; auto.
    + match goal with V : value g = 1 |- _ => rewrite V; apply step_win; auto end.
    + loaded. apply load_frame; [split; auto|auto|exact Logic.I].
    + loaded. apply load_frame; [split; auto|auto|exact Logic.I].
    + loaded. apply load_frame; [split; auto|auto|]. exact (load_stands _ _ _ _ _ _ _ (PushLook i) x I S).
    + apply step_link; auto.
    + eapply step_push; eauto.
    + loaded. apply load_frame; [split; auto|auto|].
      destruct S as (S1 & S2 & S3 & _).
      exact (load_stands _ _ _ _ _ _ _ (PushLook i) x I (conj S1 (conj S2 S3))).
    + loaded. apply load_frame; [split; auto|auto|]. eapply look_stands; eauto. split; auto.
    + loaded. apply load_frame; [split; auto|auto|exact Logic.I].
    + loaded. apply load_frame; [split; auto|auto|]. destruct S as (S1 & S2 & S3). unfold stands. rewrite hist_load. splits; auto.
      unfold last_at. rewrite hist_load. intros E. destruct (S3 E) as [S4 S5]. splits; auto; [|intros j Hj; destruct (S5 j Hj);
        eapply same_knows; [apply hist_load|intros k; apply (g_cur _ _ (proj1 (load_grows m t false Rlx _ i g Wf)))|auto]].
      destruct (stack x) as [|j r] eqn:ES; [simpl in S4; congruence|]. simpl in S4. rewrite S4 in *. simpl in *.
      assert (L := i_linked _ I). simpl in L. rewrite ES in L. destruct L as [(h & L1 & L2) _].
      destruct (S5 j (or_introl eq_refl)) as [S6 _]. unfold knows_last, last_at in S6. unfold newest in L1.
      assert (Q := nth_error_lt _ _ _ HL).
      assert (i = pred (length (hist m (Next j)))) by lia. subst i. rewrite HL in L1. inversion L1; subst h. auto.
    + eapply step_pop; eauto.
    + loaded. apply load_frame; [split; auto|auto|]. eapply look_stands; eauto. split; auto.
    + loaded. apply load_frame; [split; auto|auto|exact Logic.I].
    + loaded. apply load_frame; [split; auto|auto|]. destruct S as (S1 & S2 & S3). simpl. splits; auto.
      assert (CT := i_count _ I i). simpl in CT. rewrite S2 in CT. destruct CT as (h & C1 & C2).
      unfold knows_last, last_at in S3. unfold newest in C1. assert (Q := nth_error_lt _ _ _ HL).
      assert (i0 = pred (length (hist m (Count i)))) by lia. subst i0. rewrite HL in C1. inversion C1; subst h. auto.
    + apply step_open; auto.
    + destruct (mstep_grows _ _ _ _ _ HM Wf) as [G W].
      assert (E : forall l, (forall n, l <> Other n) -> place_of o <> Some l).
      { intros l Hl E. destruct o; simpl in *; inversion E; subst; try tauto; destruct l; try tauto; eapply Hl; eauto. }
      apply frame with m; auto.
      * intros l Hl. eapply mstep_elsewhere; eauto.
      * intros n N. assert (L := grows_length _ _ (Other n) G). rewrite N in L. assert (Q := i_some _ I (Other n)). simpl in Q.
        destruct (hist m (Other n)); simpl in L; [congruence|lia].
      * apply stands_same with m; auto. intros l Hl _. eapply mstep_elsewhere; eauto.
  - remember (f t) as q eqn:Ef. destruct HD. destruct I. simpl in *. assert (CT := i_count0 i). rewrite H in CT.
    assert (NI : ~ In i (stack x)) by (intros Hj; apply (proj2 i_stack0) in Hj; destruct Hj; congruence).
    constructor; simpl; auto.
    + destruct i_stack0 as [A B]. split; auto. intros j. rewrite B.
      destruct (upd_cases (stat x) i (Live (S k)) j) as [(-> & E)|(N & E)]; rewrite E; [|tauto]. rewrite H. split; intros [Q _]; discriminate.
    + intros j. specialize (i_count0 j). destruct (upd_cases (stat x) i (Live (S k)) j) as [(-> & E)|(N & E)]; rewrite E.
      * rewrite upd_same. congruence.
      * rewrite upd_other by auto. auto.
    + intros j. specialize (i_dead0 j). destruct (upd_cases (stat x) i (Live (S k)) j) as [(-> & E)|(N & E)]; rewrite E; auto.
      rewrite H in i_dead0. auto.
    + intros u. rewrite Ef, upd_self. apply stands_mono with m x; auto using grows_refl.
      intros j Hj. assert (j <> i) by (intros ->; rewrite H in Hj; destruct Hj; discriminate).
      simpl. rewrite !upd_other by auto. auto.
  - assert (Wf := i_wf _ I). simpl in Wf. destruct (reaches_grows m c t Wf) as [G W].
    assert (I' : inv (State (barrier_reaches m c t) (upd f t (f t)) x)).
    { apply frame with m; auto; [intros; apply (i_some _ I)|]. apply stands_same with m; auto. apply (i_stands _ I). }
    destruct I'. simpl in *. constructor; simpl; auto. intros u. specialize (i_stands0 u). rewrite upd_self in i_stands0. auto.
Qed.

Lemma begins n registered junk : inv (initial n registered junk).
Proof.
  constructor; simpl; auto; try discriminate.
  - apply wf_start.
  - intros n0 g. destruct n0; simpl; [|destruct n0; discriminate]. intros E. inversion E; subst. simpl.
    unfold reuse.tag. apply Nat.div_0_l. lia.
  - eexists. splits; [reflexivity| |tauto]. simpl. unfold reuse.index. apply Nat.mod_0_l. lia.
  - split; [constructor|]. intros j. split; [tauto|]. intros [E _]. discriminate.
  - intros j. eexists. split; reflexivity.
Qed.

Lemma holds n registered junk s : steps (reuse stations y) (initial n registered junk) s -> inv s.
Proof. apply always; eauto using begins, kept. Qed.

End Proof.

(* --- the theorem ---------------------------------------------------------------------------------------------------------------- *)

(* A thread has popped the station, and is about to give it to a coroutine. *)
Definition owns (p : place) (i : nat) : Prop := p = PopCount i \/ exists k, p = PopOpen i k.
(* A thread has won it, and is about to push it. *)
Definition frees (p : place) (i : nat) : Prop := p = PushLook i \/ exists v, p = PushLink i v \/ p = PushCas i v.

(*
 * A station that was popped has one owner, is not on the stack, and is not about to be pushed. The number from which its new
 * coroutine goes on is how many events the station has had: no number is used twice, whoever wrote under it.
 *)
Theorem reuse_unique_owner stations y threads registered junk s :
  is_acq (win y) = true -> is_rel (dead y) = true -> is_rel (push y) = true -> is_acq (look y) = true -> tags y = true ->
  steps (reuse stations y) (initial threads registered junk) s ->
  (forall t i, owns (where_ s t) i -> ~ In i (stack (beside s)) /\
     (forall u, owns (where_ s u) i -> u = t) /\ (forall u, ~ frees (where_ s u) i)) /\
  (forall t i k, where_ s t = PopOpen i k -> k = total (beside s) i) /\
  (forall i k, stat (beside s) i = Live k -> k = total (beside s) i).
Proof.
  intros H1 H2 H3 H4 H5 HS. assert (I := holds stations y H1 H2 H3 H4 H5 _ _ _ _ HS).
  assert (O : forall t i, owns (where_ s t) i -> stat (beside s) i = Born t).
  { intros t i Ho. assert (S := i_stands _ _ I t). destruct Ho as [E|[k E]]; rewrite E in S; simpl in S; tauto. }
  splits.
  - intros t i Ho. apply O in Ho. splits.
    + intros Hi. apply (proj2 (i_stack _ _ I)) in Hi. destruct Hi. congruence.
    + intros u Hu. apply O in Hu. congruence.
    + intros u Hu. assert (S := i_stands _ _ I u).
      destruct Hu as [E|[v [E|E]]]; rewrite E in S; simpl in S; destruct S as (_ & S & _); congruence.
  - intros t i k E. assert (S := i_stands _ _ I t). rewrite E in S. simpl in S. tauto.
  - intros i k E. assert (C := i_count _ _ I i). rewrite E in C. auto.
Qed.

(* --- what goes wrong without ---------------------------------------------------------------------------------------------------- *)

Inductive decision := DoEvent (i : nat) | DoCount (i : nat) | DoDead (i : nat) | See (i : nat) | Win (i : nat) | Look | On.

Section Runs.
Variable stations : nat.
Variable y : style.

Definition act (d : decision) (t : tid) (p : place) (x : world) : option (plan (loc := loc) (local := place) (world := world)) :=
  let ask (o : op loc) (f : val -> option (place * world)) : option (plan (loc := loc) (local := place) (world := world)) :=
    Some (inl (o, fun v : ret => if snd v then f (fst v) else None)) in
  let put (o : op loc) (p' : place) (x' : world) : option (plan (loc := loc) (local := place) (world := world)) :=
    ask o (fun v => if v =? 0 then Some (p', x') else None) in
  match d, p with
  | DoEvent i, _ => match stat x i with Live k => Some (inr (p, set_event x i k)) | _ => None end
  | DoCount i, _ =>
    match stat x i with
    | Live k => if i <? stations then put (Store Rlx (Count i) k) p (set_stat x i (Dying t)) else None
    | _ => None
    end
  | DoDead i, _ =>
    match stat x i with
    | Dying u => if u =? t then put (Store (dead y) (Dead i) 1) p (set_stat x i Ended) else None
    | _ => None
    end
  | See i, Idle => ask (Load Acq (Dead i)) (fun _ => Some (Idle, x))
  | Win i, Idle =>
    if i <? stations
    then ask (Cas false (win y) Rlx (Dead i) 1 2) (fun v => if v =? 1 then Some (PushLook i, set_stat x i (Pushing t)) else None)
    else None
  | Look, Idle => ask (Load (look y) Top) (fun v => if index stations v =? 0 then None else Some (PopNext v, x))
  | On, PushLook i => ask (Load Rlx Top) (fun v => Some (PushLink i v, x))
  | On, PushLink i v => put (Store Rlx (Next i) (index stations v)) (PushCas i v) x
  | On, PushCas i v => ask (Cas true (push y) Rlx Top v (top stations y v (S i)))
                           (fun v' => if v' =? v then Some (Idle, set_pushed x i) else None)
  | On, PopNext v => ask (Load Rlx (Next (pred (index stations v)))) (fun n => Some (PopCas v n, x))
  | On, PopCas v n => ask (Cas true (pop y) (look y) Top v (top stations y v n))
                          (fun v' => if v' =? v then Some (PopCount (pred (index stations v)),
                                                           set_popped x (pred (index stations v)) t) else None)
  | On, PopCount i => ask (Load Rlx (Count i)) (fun k => Some (PopOpen i k, x))
  | On, PopOpen i k => put (Store Rel (Dead i) 0) Idle (set_stat x i (Live k))
  | _, _ => None
  end.

Ltac crush' := repeat match goal with H : Nat.eqb _ _ = false |- _ => apply Nat.eqb_neq in H end; crush; cbn [fst snd] in *; subst.

Lemma act_does d t l x o f v l' x' : act d t l x = Some (inl (o, f)) -> f v = Some (l', x') ->
  machine.does (reuse stations y) t l x o v l' x'.
Proof.
  unfold act. simpl. intros H F. destruct d; try discriminate; try destruct l; crush';
    try (econstructor; eauto; fail);
    try (match goal with H : (_ =? _) = false |- _ => apply Nat.eqb_neq in H end; econstructor; eauto; fail).
Qed.

Lemma act_silent d t l x l' x' : act d t l x = Some (inr (l', x')) -> machine.silent (reuse stations y) t l x l' x'.
Proof.
  unfold act. simpl. intros H. destruct d; try discriminate; try destruct l; crush'; try (econstructor; eauto; fail).
Qed.
End Runs.

Definition does_ (t : tid) (ds : list (decision * nat)) : list (move decision) := map (fun d => Do t (fst d) (snd d)) ds.

(* A coroutine of station 0 begins with a number that was used before. *)
Definition used_twice (y : style) : Prop :=
  exists s t k, steps (reuse 1 y) (initial 3 (fun _ => false) (fun _ => 0)) s /\ where_ s t = PopOpen 0 k /\ k < total (beside s) 0.

Lemma used_twice_by y moves t :
  ends _ (act 1 y) moves (initial 3 (fun _ => false) (fun _ => 0))
    (fun s => match where_ s t with PopOpen 0 k => k <? total (beside s) 0 | _ => false end) = true -> used_twice y.
Proof.
  intros H. apply (ends_reached (reuse 1 y)) in H; [|apply act_does|apply act_silent]. destruct H as (s & HS & HT).
  destruct (where_ s t) as [| | | | | | |i k] eqn:E; try discriminate. destruct i; try discriminate. apply Nat.ltb_lt in HT.
  exists s, t, k. auto.
Qed.
Ltac shown_by moves t := apply used_twice_by with moves t; vm_compute; reflexivity.

(* Thread 0 has a coroutine with one event, which ends. *)
Definition one_life : list (move decision) := does_ 0 [(DoEvent 0, 0); (DoCount 0, 0); (DoDead 0, 0)].
(* Thread t frees the station; top: the message of the stack that it sees. *)
Definition free_by (t : tid) (top : nat) : list (move decision) := does_ t [(Win 0, 0); (On, top); (On, 0); (On, 0)].
(* Thread t takes it; top, next, count: what it sees of these. *)
Definition take_by (t : tid) (top next count : nat) : list (move decision) :=
  does_ t [(Look, top); (On, next); (On, 0); (On, count)].

(*
 * The C as it stands (ctp_free_): the compare-exchange of is_dead is relaxed. All that free have seen a death, or died themselves.
 * Thread 0 ends its coroutine, and does not free the station at once. Thread 1 sees the death and frees it. Thread 2 takes it, its
 * coroutine has an event and ends. Now thread 0 frees that, of which it knows nothing; and thread 1 takes the station, and reads the
 * number that thread 0 knew.
 *)
Theorem numbers_used_twice : used_twice (Style Rlx Rel Rel Acq Acq true).
Proof.
  shown_by (one_life ++ does_ 1 [(See 0, 1)] ++ free_by 1 0 ++ take_by 2 1 1 1 ++
            does_ 2 [(On, 0); (DoEvent 0, 0); (DoCount 0, 0); (DoDead 0, 0)] ++ free_by 0 2 ++ take_by 1 3 2 1) 1.
Qed.

Theorem used_twice_without_dead : used_twice (Style Acq Rlx Rel Acq Acq true).
Proof. shown_by (one_life ++ free_by 1 0 ++ take_by 2 1 1 0) 2. Qed.
Theorem used_twice_without_push : used_twice (Style Acq Rel Rlx Acq Acq true).
Proof. shown_by (one_life ++ free_by 1 0 ++ take_by 2 1 1 0) 2. Qed.
Theorem used_twice_without_look_and_pop : used_twice (Style Acq Rel Rel Rlx Rlx true).
Proof. shown_by (one_life ++ free_by 1 0 ++ take_by 2 1 1 0) 2. Qed.

(* Without the tag a station has two owners. *)
Definition take_of (t : tid) (top next : nat) : list (move decision) := does_ t [(Look, top); (On, next); (On, 0)].
Theorem two_owners_without_tags : let y := Style Acq Rel Rel Acq Acq false in
  exists s, steps (reuse 2 y) (initial 4 (fun _ => false) (fun _ => 0)) s /\ owns (where_ s 2) 0 /\ owns (where_ s 3) 0.
Proof.
  intros y. assert (H : ends _ (act 2 y)
    (does_ 0 [(DoCount 0, 0); (DoDead 0, 0); (Win 0, 0); (On, 0); (On, 0); (On, 0);
              (DoCount 1, 0); (DoDead 1, 0); (Win 1, 0); (On, 1); (On, 0); (On, 0)] ++
     does_ 1 [(Look, 2); (On, 1)] ++                                 (* sees station 1, and below it station 0 *)
     take_of 2 2 1 ++ does_ 2 [(On, 1); (On, 0)] ++ take_of 2 3 1 ++ (* has station 1, and now station 0 *)
     does_ 3 [(DoCount 1, 0); (DoDead 1, 0); (Win 1, 0); (On, 4); (On, 0); (On, 0)] ++
     does_ 1 [(On, 0)] ++ take_of 3 6 1)                             (* the top is station 1 again: the exchange succeeds *)
    (initial 4 (fun _ => false) (fun _ => 0))
    (fun s => match where_ s 2, where_ s 3 with PopCount 0, PopCount 0 => true | _, _ => false end) = true)
    by (vm_compute; reflexivity).
  apply (ends_reached (reuse 2 y)) in H; [|apply act_does|apply act_silent]. destruct H as (s & HS & HT). exists s. split; auto.
  destruct (where_ s 2) as [| | | | | |i|] eqn:E2; try discriminate. destruct i; try discriminate.
  destruct (where_ s 3) as [| | | | | |i|] eqn:E3; try discriminate. destruct i; try discriminate.
  split; left; auto.
Qed.

(*
 * A relaxed look at the stack: thread 1 sees that station 1 is on top, and the link that station 1 had when it was there the time
 * before. The tag does not help, because nothing has changed since the look.
 *)
Theorem two_owners_without_look : let y := Style Acq Rel Rel Rlx Acq true in
  exists s, steps (reuse 2 y) (initial 4 (fun _ => false) (fun _ => 0)) s /\ owns (where_ s 2) 0 /\ owns (where_ s 3) 0.
Proof.
  intros y. assert (H : ends _ (act 2 y)
    (does_ 0 [(DoCount 0, 0); (DoDead 0, 0); (Win 0, 0); (On, 0); (On, 0); (On, 0);
              (DoCount 1, 0); (DoDead 1, 0); (Win 1, 0); (On, 1); (On, 0); (On, 0)] ++
     take_of 2 2 1 ++ does_ 2 [(On, 1); (On, 0)] ++ take_of 2 3 1 ++ (* has station 1, and now station 0 *)
     does_ 3 [(DoCount 1, 0); (DoDead 1, 0); (Win 1, 0); (On, 4); (On, 0); (On, 0)] ++
     take_of 1 5 1 ++ take_of 3 6 1)
    (initial 4 (fun _ => false) (fun _ => 0))
    (fun s => match where_ s 2, where_ s 3 with PopCount 0, PopCount 0 => true | _, _ => false end) = true)
    by (vm_compute; reflexivity).
  apply (ends_reached (reuse 2 y)) in H; [|apply act_does|apply act_silent]. destruct H as (s & HS & HT). exists s. split; auto.
  destruct (where_ s 2) as [| | | | | |i|] eqn:E2; try discriminate. destruct i; try discriminate.
  destruct (where_ s 3) as [| | | | | |i|] eqn:E3; try discriminate. destruct i; try discriminate.
  split; left; auto.
Qed.
