(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * accounting.v - delivered + told lost + not yet taken = published.
 *
 * Events of a coroutine are numbered. Each is published once: as an entry of some ring, of any thread; or there was no room for
 * it, and then a counter has it, and perhaps a slot. The collector takes the entries of a ring in their order, and of different
 * rings in any order. The numbers tell it what is missing:
 *
 *	take_transition     number as expected (next): a row
 *	find_place          number ahead: what is between is a hole; a row. Number behind: the hole that has it shrinks or splits; a row
 *	ctp_life_die        the number after the last event: what is missing until then is a hole
 *	audit_one           the same by the station, where no entry tells it
 *	ctp_coros_close     a hole that has waited for two rounds: what the slots have becomes rows, the rest is told as lost
 *	audit_rings         at the end: what the counters have, beyond what holes were closed for, is told as lost, of no coroutine
 *
 * A round is over when all rings are read up to where they were when it began (rings.c). The heads are loaded one after the
 * other, while threads go on. What the loads show is what acquire loads of release stores do: who has seen a head that covers
 * event k of a coroutine, or its end, knows of all events before it, and a head that is loaded later covers them. (The thread that
 * publishes event k + 1 knows of event k: the coroutine was handed over to it.) `known` below is what the collector knows so.
 *
 * Premises: the numbers of entries are true, a ring delivers each of its entries once and in order (ring.v), numbers do not wrap,
 * a coroutine's first number is known, a hole finds its event (CTP_RING_GAPS_STEPS suffices) and is not closed before its time
 * (there are fewer than CTP_RING_GAPS_MAX).
 *
 * The last but two is no matter of course. A coroutine that was there before the collector came, and of which it does not know
 * how many events it has had (CTP_LIFE_UNSURE), begins with the first entry that is taken of it; what it has published before that and
 * is in another ring is neither delivered nor told. See lost_if_unsure, and what limits it there.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views.

Inductive entry :=
| Event (c k : nat)
| End (c k : nat).  (* the coroutine has ended; k: the number after its last event. Also an audit that finds that out. *)

(* Numbers from .. to - 1 of coroutine who are missing; noticed: in which round. *)
Record hole := Hole { who : nat; from : nat; to : nat; noticed : nat }.

Record astate := State {
  pub : nat -> nat;             (* events that a coroutine has published *)
  log : nat -> list entry;      (* all that was ever published in a ring *)
  nowhere : list (nat * nat);   (* events that are in no ring: lost_events counts them *)
  head : nat -> nat;            (* of a ring, as the collector has loaded it *)
  tail : nat -> nat;
  round : nat -> nat;           (* the head when the round began *)
  in_round : bool;
  rounds : nat;                 (* that are over *)
  looking : option (list nat);  (* rings whose heads this look has yet to load *)
  known : nat -> nat;           (* the collector knows that so many events of a coroutine were published *)
  next : nat -> nat;            (* the event that is expected *)
  holes : list hole;
  rows : list (nat * nat);      (* delivered from a ring *)
  slot_rows : list (nat * nat); (* delivered from a slot *)
  told : list (nat * nat);      (* told as lost *)
}.

Definition begin : astate := {|
  pub := fun _ => 0; log := fun _ => []; nowhere := []; head := fun _ => 0; tail := fun _ => 0; round := fun _ => 0;
  in_round := false; rounds := 0; looking := None; known := fun _ => 0; next := fun _ => 0; holes := []; rows := [];
  slot_rows := []; told := [];
|}.

Definition in_hole (h : hole) (c k : nat) : bool := (who h =? c) && (from h <=? k) && (k <? to h).
Definition range (h : hole) : list (nat * nat) := map (pair (who h)) (seq (from h) (to h - from h)).

(* ctp_ring_gaps_fill: what is left of a hole when number k has come. *)
Definition filled (h : hole) (k : nat) : list hole :=
  if k =? from h then [Hole (who h) (S k) (to h) (noticed h)]
  else if k =? to h - 1 then [Hole (who h) (from h) k (noticed h)]
  else [Hole (who h) (from h) k (noticed h); Hole (who h) (S k) (to h) (noticed h)].

Section Accounting.
Variable coros nrings : nat.
Variable waits : nat.  (* rounds that a hole waits for: ROUNDS of coro-gaps.c, which is 2 *)
Variable sure : bool.  (* false: coroutines whose first number is not known *)

Definition publish (s : astate) r c := {|
  pub := upd (pub s) c (S (pub s c)); log := upd (log s) r (log s r ++ [Event c (pub s c)]); nowhere := nowhere s; head := head s;
  tail := tail s; round := round s; in_round := in_round s; rounds := rounds s; looking := looking s; known := known s;
  next := next s; holes := holes s; rows := rows s; slot_rows := slot_rows s; told := told s |}.
Definition ends (s : astate) r c := {|
  pub := pub s; log := upd (log s) r (log s r ++ [End c (pub s c)]); nowhere := nowhere s; head := head s;
  tail := tail s; round := round s; in_round := in_round s; rounds := rounds s; looking := looking s; known := known s;
  next := next s; holes := holes s; rows := rows s; slot_rows := slot_rows s; told := told s |}.
Definition no_room (s : astate) c := {|
  pub := upd (pub s) c (S (pub s c)); log := log s; nowhere := nowhere s ++ [(c, pub s c)]; head := head s;
  tail := tail s; round := round s; in_round := in_round s; rounds := rounds s; looking := looking s; known := known s;
  next := next s; holes := holes s; rows := rows s; slot_rows := slot_rows s; told := told s |}.
Definition look_begins (s : astate) := {|
  pub := pub s; log := log s; nowhere := nowhere s; head := head s;
  tail := tail s; round := round s; in_round := in_round s; rounds := rounds s; looking := Some (seq 0 nrings); known := known s;
  next := next s; holes := holes s; rows := rows s; slot_rows := slot_rows s; told := told s |}.
Definition look_loads (s : astate) r h knows todo := {|
  pub := pub s; log := log s; nowhere := nowhere s; head := upd (head s) r h;
  tail := tail s; round := if in_round s then round s else upd (round s) r h; in_round := in_round s; rounds := rounds s;
  looking := Some todo; known := knows;
  next := next s; holes := holes s; rows := rows s; slot_rows := slot_rows s; told := told s |}.
Definition look_ends (s : astate) := {|
  pub := pub s; log := log s; nowhere := nowhere s; head := head s;
  tail := tail s; round := round s; in_round := true; rounds := rounds s; looking := None; known := known s;
  next := next s; holes := holes s; rows := rows s; slot_rows := slot_rows s; told := told s |}.
Definition finishes (s : astate) := {|
  pub := pub s; log := log s; nowhere := nowhere s; head := head s;
  tail := tail s; round := round s; in_round := false; rounds := S (rounds s); looking := None; known := known s;
  next := next s; holes := holes s; rows := rows s; slot_rows := slot_rows s; told := told s |}.
(* What changes when one entry of ring r is taken. *)
Definition takes (s : astate) r next' holes' rows' := {|
  pub := pub s; log := log s; nowhere := nowhere s; head := head s;
  tail := upd (tail s) r (S (tail s r)); round := round s; in_round := in_round s; rounds := rounds s; looking := looking s;
  known := known s; next := next'; holes := holes'; rows := rows'; slot_rows := slot_rows s; told := told s |}.
Definition audits (s : astate) c n := {|
  pub := pub s; log := log s; nowhere := nowhere s; head := head s;
  tail := tail s; round := round s; in_round := in_round s; rounds := rounds s; looking := looking s;
  known := upd (known s) c (max (known s c) n); next := upd (next s) c n;
  holes := holes s ++ [Hole c (next s c) n (rounds s)]; rows := rows s; slot_rows := slot_rows s; told := told s |}.
Definition closes (s : astate) rest found lost := {|
  pub := pub s; log := log s; nowhere := nowhere s; head := head s;
  tail := tail s; round := round s; in_round := in_round s; rounds := rounds s; looking := looking s; known := known s;
  next := next s; holes := rest; rows := rows s; slot_rows := slot_rows s ++ found; told := told s ++ lost |}.

Definition all_taken (s : astate) := forall r, r < nrings -> tail s r = length (log s r).

Inductive astep (s : astate) : astate -> Prop :=
| a_publish r c : r < nrings -> c < coros -> astep s (publish s r c)
| a_ends r c : r < nrings -> astep s (ends s r c)
| a_no_room c : c < coros -> astep s (no_room s c)
  (* ctp_rings_look *)
| a_look_begins : looking s = None -> astep s (look_begins s)
| a_look_loads r h knows todo : looking s = Some (r :: todo) ->
    head s r <= h <= length (log s r) ->
    (forall p c k, nth_error (log s r) p = Some (Event c k) -> k < known s c -> p < h) ->
    (forall c, known s c <= knows c <= pub s c) ->
    (forall p c k, p < h -> nth_error (log s r) p = Some (Event c k) \/ nth_error (log s r) p = Some (End c k) -> k <= knows c) ->
    astep s (look_loads s r h knows todo)
| a_look_ends : looking s = Some [] -> astep s (look_ends s)
  (* ctp_rings_take, ctp_coros_take *)
| a_due r c k : looking s = None -> tail s r < head s r -> nth_error (log s r) (tail s r) = Some (Event c k) ->
    k = next s c -> astep s (takes s r (upd (next s) c (S k)) (holes s) (rows s ++ [(c, k)]))
| a_ahead r c k : looking s = None -> tail s r < head s r -> nth_error (log s r) (tail s r) = Some (Event c k) ->
    next s c < k -> sure = true \/ 0 < next s c ->
    astep s (takes s r (upd (next s) c (S k)) (holes s ++ [Hole c (next s c) k (rounds s)]) (rows s ++ [(c, k)]))
| a_unsure r c k : looking s = None -> tail s r < head s r -> nth_error (log s r) (tail s r) = Some (Event c k) ->
    sure = false -> next s c = 0 -> astep s (takes s r (upd (next s) c (S k)) (holes s) (rows s ++ [(c, k)]))
| a_behind r c k h a b : looking s = None -> tail s r < head s r -> nth_error (log s r) (tail s r) = Some (Event c k) ->
    k < next s c -> holes s = a ++ h :: b -> in_hole h c k = true ->
    astep s (takes s r (next s) (a ++ filled h k ++ b) (rows s ++ [(c, k)]))
| a_nowhere r c k : looking s = None -> tail s r < head s r -> nth_error (log s r) (tail s r) = Some (Event c k) ->
    k < next s c -> (forall h, In h (holes s) -> in_hole h c k = false) -> astep s (takes s r (next s) (holes s) (rows s))
| a_die r c k : looking s = None -> tail s r < head s r -> nth_error (log s r) (tail s r) = Some (End c k) ->
    next s c < k -> astep s (takes s r (upd (next s) c k) (holes s ++ [Hole c (next s c) k (rounds s)]) (rows s))
| a_dead r c k : looking s = None -> tail s r < head s r -> nth_error (log s r) (tail s r) = Some (End c k) ->
    k <= next s c -> astep s (takes s r (next s) (holes s) (rows s))
  (* ctp_rings_finish *)
| a_finishes : looking s = None -> in_round s = true -> (forall r, r < nrings -> round s r <= tail s r) -> astep s (finishes s)
  (* audit_one *)
| a_audits c n : looking s = None -> c < coros -> next s c < n <= pub s c -> astep s (audits s c n)
  (* ctp_coros_close; f: the numbers that a slot has. At the end it waits for nothing, for all is taken. *)
| a_closes a h b (f : nat * nat -> bool) : looking s = None -> holes s = a ++ h :: b ->
    noticed h + waits <= rounds s \/ all_taken s ->
    astep s (closes s (a ++ b) (filter f (range h)) (filter (fun e => negb (f e)) (range h))).

Inductive asteps : astate -> Prop :=
| a_begin : asteps begin
| a_more s s' : asteps s -> astep s s' -> asteps s'.
End Accounting.

(* --- each event once ---------------------------------------------------------------------------------------------------------- *)

Definition pair_dec : forall a b : nat * nat, {a = b} + {a <> b}.
Proof. intros a b. decide equality; apply Nat.eq_dec. Qed.
Definition times (l : list (nat * nat)) c k := count_occ pair_dec l (c, k).
Definition missing (l : list hole) c k := length (filter (fun h => in_hole h c k) l).
Arguments Nat.leb : simpl never.
Arguments Nat.ltb : simpl never.
Definition bit (b : bool) := if b then 1 else 0.

Lemma times_app l l' c k : times (l ++ l') c k = times l c k + times l' c k.
Proof. apply count_occ_app. Qed.
Lemma times_one c k c' k' : times [(c, k)] c' k' = bit ((c =? c') && (k =? k')).
Proof.
  unfold times. simpl. destruct (pair_dec (c, k) (c', k')) as [E|E].
  - inversion E; subst. rewrite !Nat.eqb_refl. auto.
  - destruct (Nat.eqb_spec c c'), (Nat.eqb_spec k k'); simpl; auto. congruence.
Qed.
Lemma missing_app l l' c k : missing (l ++ l') c k = missing l c k + missing l' c k.
Proof. unfold missing. rewrite filter_app, app_length. auto. Qed.
Lemma missing_cons h l c k : missing (h :: l) c k = bit (in_hole h c k) + missing l c k.
Proof. unfold missing. simpl. destruct (in_hole h c k); auto. Qed.

Ltac decide_all := repeat match goal with
  | |- context [Nat.eqb ?a ?b] => destruct (Nat.eqb_spec a b)
  | |- context [Nat.leb ?a ?b] => destruct (Nat.leb_spec a b)
  | |- context [Nat.ltb ?a ?b] => destruct (Nat.ltb_spec a b)
  end.

Lemma in_hole_spec h c k : in_hole h c k = true <-> who h = c /\ from h <= k < to h.
Proof. unfold in_hole. decide_all; simpl; intuition (try discriminate; try lia). Qed.

Lemma missing_filled h c k c' k' : in_hole h c k = true ->
  missing (filled h k) c' k' + bit ((c =? c') && (k =? k')) = bit (in_hole h c' k').
Proof.
  intros H. apply in_hole_spec in H. destruct H as [<- H]. unfold filled.
  destruct (Nat.eqb_spec k (from h)); [|destruct (Nat.eqb_spec k (to h - 1))];
    rewrite !missing_cons; change (missing [] c' k') with 0; unfold in_hole; cbn [who from to noticed]; decide_all; cbn; lia.
Qed.

Lemma times_range h c k : times (range h) c k = bit (in_hole h c k).
Proof.
  unfold range. assert (G : forall n a, times (map (pair (who h)) (seq a n)) c k = bit ((who h =? c) && (a <=? k) && (k <? a + n))).
  { induction n as [|n IH]; intros a.
    - change (0 = bit ((who h =? c) && (a <=? k) && (k <? a + 0))). decide_all; simpl; auto; lia.
    - simpl seq. simpl map. match goal with |- times (?x :: ?l) _ _ = _ => change (x :: l) with ([x] ++ l) end.
      rewrite times_app, times_one, IH. decide_all; simpl; try lia. }
  rewrite G. unfold in_hole. decide_all; simpl; auto; lia.
Qed.

Lemma times_filter f l c k : times (filter f l) c k + times (filter (fun e => negb (f e)) l) c k = times l c k.
Proof.
  unfold times. induction l as [|x l IH]; simpl; auto.
  destruct (f x); simpl; destruct (pair_dec x (c, k)); lia.
Qed.

Section Sure.
Variable coros nrings waits : nat.

(* Of each coroutine: each number has been delivered, or told as lost, or is missing, or is still to be taken. *)
Record once (s : astate) : Prop := Once {
  o_once c k : times (rows s) c k + times (slot_rows s) c k + times (told s) c k + missing (holes s) c k +
               bit (next s c <=? k) = 1;
  o_next c : next s c <= pub s c;
  o_log r p c k : nth_error (log s r) p = Some (Event c k) -> k < pub s c /\ c < coros;
  o_end r p c k : nth_error (log s r) p = Some (End c k) -> k <= pub s c;
  o_coros c : coros <= c -> pub s c = 0;
  o_rings r : nrings <= r -> log s r = [];
}.

Lemma nth_app_one {A} (h : list A) z i g :
  nth_error (h ++ [z]) i = Some g -> nth_error h i = Some g \/ (i = length h /\ g = z).
Proof.
  intros H. destruct (Nat.lt_ge_cases i (length h)).
  - left. rewrite nth_error_app1 in H; auto.
  - right. rewrite nth_error_app2 in H by auto. destruct (i - length h) as [|d] eqn:D.
    + inversion H. split; auto. lia.
    + destruct d; discriminate.
Qed.

Lemma upd_case {B} (f : nat -> B) a b x : upd f a b x = if Nat.eq_dec a x then b else f x.
Proof. reflexivity. Qed.


Lemma upd_log (f : nat -> list entry) r e r' p x : nth_error (upd f r (f r ++ [e]) r') p = Some x ->
  nth_error (f r') p = Some x \/ (r = r' /\ p = length (f r') /\ x = e).
Proof.
  rewrite upd_case. destruct (Nat.eq_dec r r') as [->|]; auto. intros H. apply nth_app_one in H. tauto.
Qed.

Lemma missing_one h c k : missing [h] c k = bit ((who h =? c) && (from h <=? k) && (k <? to h)).
Proof. rewrite missing_cons. unfold missing, in_hole. cbn. lia. Qed.

Ltac fields := cbn [pub log next rows slot_rows told holes publish ends no_room look_begins look_loads look_ends finishes
  takes audits closes who from to noticed].

Lemma once_each s s' : once s -> astep coros nrings waits true s s' -> forall c k,
  times (rows s') c k + times (slot_rows s') c k + times (told s') c k + missing (holes s') c k + bit (next s' c <=? k) = 1.
Proof.
  intros [O N L E _ _] St c0 k0. assert (O0 := O c0 k0). assert (N0 := N c0).
  destruct St; fields; auto; rewrite ?times_app, ?missing_app, ?missing_one, ?times_one; fields;
    try (subst k; unfold upd; destruct (eq_dec c c0); [subst c0|]; revert O0; decide_all; cbn [bit andb]; lia);
    try (unfold upd; destruct (eq_dec c c0); [subst c0|]; revert O0; decide_all; cbn [bit andb]; lia); try discriminate.
  - rewrite H3 in O0. change (h :: b) with ([h] ++ b) in O0. rewrite !missing_app in O0.
    assert (F := missing_filled _ _ _ c0 k0 H4). assert (M : missing [h] c0 k0 = bit (in_hole h c0 k0)).
    { rewrite missing_cons. unfold missing. cbn. lia. } lia.
  - rewrite H0 in O0. change (h :: b) with ([h] ++ b) in O0. rewrite !missing_app in O0.
    assert (M : missing [h] c0 k0 = bit (in_hole h c0 k0)).
    { rewrite missing_cons. unfold missing. cbn. lia. }
    assert (T := times_filter f (range h) c0 k0). rewrite times_range in T. lia.
Qed.

Lemma once_step s s' : once s -> astep coros nrings waits true s s' -> once s'.
Proof.
  intros B St. assert (O := once_each _ _ B St). destruct B.
  assert (NX : forall r c k, nth_error (log s r) (tail s r) = Some (Event c k) -> S k <= pub s c) by (intros * H; apply o_log0 in H; lia).
  assert (NY : forall r c k, nth_error (log s r) (tail s r) = Some (End c k) -> k <= pub s c) by (intros * H; apply o_end0 in H; lia).
  constructor; [exact O|..]; clear O; destruct St; fields; intros; auto;
    try solve [eauto];
    try (apply upd_log in H1; destruct H1 as [H1|[-> [_ H1]]]; [|inversion H1; subst]);
    try (apply upd_log in H0; destruct H0 as [H0|[-> [_ H0]]]; [|inversion H0; subst]);
    unfold upd; repeat match goal with |- context [@eq_dec ?A ?I ?a ?b] => destruct (@eq_dec A I a b) end; subst; auto;
    try solve [eauto];
    try match goal with H : nth_error _ _ = Some (Event ?c ?k) |- _ => assert (Z := o_log0 _ _ _ _ H) end;
    try match goal with H : nth_error _ _ = Some (End ?c ?k) |- _ => assert (Z := o_end0 _ _ _ _ H) end;
    try (specialize (o_next0 c0)); try (specialize (o_coros0 c0)); try lia.
Qed.

Lemma once_begin : once begin.
Proof. constructor; cbn; intros; auto; try destruct p; try discriminate. Qed.

Lemma once_always s : asteps coros nrings waits true s -> once s.
Proof. intros H. induction H; eauto using once_begin, once_step. Qed.

(* Every event that was published is in exactly one of: delivered, told as lost, missing, not yet due. *)
Theorem each_event_once s c k : asteps coros nrings waits true s -> k < pub s c ->
  times (rows s) c k + times (slot_rows s) c k + times (told s) c k + missing (holes s) c k + bit (next s c <=? k) = 1.
Proof. intros H _. apply (o_once _ (once_always _ H)). Qed.

(* --- the same as sums ------------------------------------------------------------------------------------------------------- *)

Fixpoint sum (f : nat -> nat) (n : nat) := match n with 0 => 0 | S n => sum f n + f n end.

Lemma sum_ext f g n : (forall i, i < n -> f i = g i) -> sum f n = sum g n.
Proof. intros H. induction n as [|n IH]; simpl; auto. rewrite IH, H; auto. Qed.
Lemma sum_upd f a b n : a < n -> sum (upd f a b) n + f a = sum f n + b.
Proof.
  induction n as [|n IH]; intros H; [lia|]. simpl. destruct (Nat.eq_dec a n) as [->|E].
  - rewrite upd_same. rewrite (sum_ext (upd f n b) f n); [lia|]. intros i Hi. apply upd_other. lia.
  - rewrite upd_other by auto. assert (a < n) by lia. specialize (IH H0). lia.
Qed.

Fixpoint sizes (l : list hole) := match l with [] => 0 | h :: l => to h - from h + sizes l end.
Lemma sizes_app l l' : sizes (l ++ l') = sizes l + sizes l'.
Proof. induction l; simpl; lia. Qed.
Lemma sizes_filled h c k : in_hole h c k = true -> S (sizes (filled h k)) = to h - from h.
Proof.
  intros H. apply in_hole_spec in H. destruct H as [_ H]. unfold filled.
  destruct (Nat.eqb_spec k (from h)); [|destruct (Nat.eqb_spec k (to h - 1))]; cbn; lia.
Qed.
Lemma length_filter (f : nat * nat -> bool) l : length (filter f l) + length (filter (fun e => negb (f e)) l) = length l.
Proof. induction l as [|x l IH]; simpl; auto. destruct (f x); simpl; lia. Qed.
Lemma length_range h : length (range h) = to h - from h.
Proof. unfold range. rewrite map_length, seq_length. auto. Qed.

Definition delivered (s : astate) := length (rows s) + length (slot_rows s).
(* What holes have, and what is due or not yet known of. *)
Definition not_yet_taken (s : astate) := sizes (holes s) + (sum (pub s) coros - sum (next s) coros).
Definition all_published (s : astate) := sum (pub s) coros.

Lemma sum_le f g n : (forall i, f i <= g i) -> sum f n <= sum g n.
Proof. intros H. induction n as [|n IH]; simpl; auto. specialize (H n). lia. Qed.

Lemma taken_step s s' : once s -> astep coros nrings waits true s s' ->
  length (rows s) + length (slot_rows s) + length (told s) + sizes (holes s) = sum (next s) coros ->
  length (rows s') + length (slot_rows s') + length (told s') + sizes (holes s') = sum (next s') coros.
Proof.
  intros B St H.
  assert (U : forall c v, next s c <= v -> c < coros -> sum (upd (next s) c v) coros = sum (next s) coros + (v - next s c)).
  { intros c v Hv Hc. assert (Z := sum_upd (next s) c v coros Hc). lia. }
  assert (NC : forall c k, k <= pub s c -> next s c < k -> c < coros).
  { intros c k Hk Hn. destruct (Nat.lt_ge_cases c coros); auto. rewrite (o_coros _ B c) in Hk by auto. lia. }
  destruct St; fields; auto; rewrite ?app_length, ?sizes_app; cbn [length sizes from to]; try discriminate;
    try (apply (o_log _ B) in H2 as P); try (apply (o_end _ B) in H2 as P).
  - rewrite U; lia.
  - rewrite U; lia.
  - rewrite H4 in H. rewrite sizes_app in H. cbn [sizes] in H. assert (Z := sizes_filled _ _ _ H5). lia.
  - rewrite U; eauto; lia.
  - rewrite U; eauto; lia.
  - rewrite H1 in H. rewrite sizes_app in H. cbn [sizes] in H. assert (Z := length_filter f (range h)). rewrite length_range in Z. lia.
Qed.

(* Delivered, told as lost, and not yet taken: as many as were published. In every state. *)
Theorem accounting s : asteps coros nrings waits true s ->
  delivered s + length (told s) + not_yet_taken s = all_published s.
Proof.
  intros H. assert (T : length (rows s) + length (slot_rows s) + length (told s) + sizes (holes s) = sum (next s) coros).
  { induction H.
    - cbn. induction coros; simpl; auto; lia.
    - eapply taken_step; eauto using once_always. }
  assert (L := sum_le (next s) (pub s) coros (o_next _ (once_always _ H))).
  unfold delivered, not_yet_taken, all_published. lia.
Qed.
End Sure.
