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
 *	ctp_coros_begin     the first number of a coroutine that was there before the collector came: what is before it is a hole, too
 *	ctp_life_die        the number after the last event: what is missing until then is a hole
 *	audit_one           the same by the station, where no entry tells it
 *	ctp_coros_close     a hole that has waited for two rounds: what the slots have becomes rows, the rest is told as lost. Of a hole
 *	                    that may be from before the collector came, nothing is told
 *	audit_rings         at the end: what the counters have, beyond what holes were closed for, is told as lost, of no coroutine
 *
 * A round is over when all rings are read up to where they were when it began (ctp_rings_look, ctp_rings_finish). The heads are
 * loaded one after the other, while threads go on. What the loads show is what acquire loads of release stores do: who has seen a
 * head that covers event k of a coroutine, or its end, knows of all events before it, and a head that is loaded later covers them.
 * (The thread that publishes event k + 1 knows of event k: the coroutine was handed over to it.) `known` below is what the
 * collector knows so. The rest is the collector's alone, which is one thread.
 *
 * Premises: the numbers of entries are true, a ring delivers each of its entries once and in order (ring.v), the counters count
 * what has no entry, and numbers do not wrap. A search for a hole ends with it (CTP_RING_GAPS_STEPS suffices), and none is closed
 * before its time (there are fewer than CTP_RING_GAPS_MAX). Stations that two coroutines write to (a conflict) are another matter,
 * and so are stations without rings, whose losses are those of station.v. Numbers here begin with 0, where those of a coroutine
 * in a station that was used before begin with `first`.
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views.

Inductive entry :=
| Event (c k : nat)
| End (c k : nat).  (* the coroutine has ended; k: the number after its last event. Also an audit that finds that out. *)

(*
 * Numbers from .. to - 1 of coroutine who are missing; noticed: in which round. maybe: they may be from before the collector came
 * (unsure of struct ctp_ring_gap).
 *)
Record hole := Hole { who : nat; from : nat; to : nat; noticed : nat; maybe : bool }.

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
  unsure : nat -> bool;         (* how many there were before the collector came is not known: CTP_LIFE_UNSURE *)
  holes : list hole;
  rows : list (nat * nat);      (* delivered from a ring *)
  slot_rows : list (nat * nat); (* delivered from a slot *)
  told : list (nat * nat);      (* told as lost *)
  dropped : list (nat * nat);   (* of a hole that may be from before, and has not come *)
}.

Definition in_hole (h : hole) (c k : nat) : bool := (who h =? c) && (from h <=? k) && (k <? to h).
Definition range (h : hole) : list (nat * nat) := map (pair (who h)) (seq (from h) (to h - from h)).

(* ctp_ring_gaps_fill: what is left of a hole when number k has come. *)
Definition filled (h : hole) (k : nat) : list hole :=
  if k =? from h then [Hole (who h) (S k) (to h) (noticed h) (maybe h)]
  else if k =? to h - 1 then [Hole (who h) (from h) k (noticed h) (maybe h)]
  else [Hole (who h) (from h) k (noticed h) (maybe h); Hole (who h) (S k) (to h) (noticed h) (maybe h)].

Section Accounting.
Variable coros nrings : nat.
Variable waits : nat.  (* rounds that a hole waits for: ROUNDS of coro-gaps.c, which is 2 *)
Variable keeps : bool. (* false: without ctp_coros_begin *)
Variable before : nat -> nat. (* the numbers that a coroutine had used when the collector came *)
Variable old : nat -> bool.   (* whether it was there then, so that the collector does not know how many these are *)

Definition begin : astate := {|
  pub := before; log := fun _ => []; nowhere := []; head := fun _ => 0; tail := fun _ => 0; round := fun _ => 0;
  in_round := false; rounds := 0; looking := None; known := fun _ => 0; next := fun _ => 0; unsure := old; holes := []; rows :=
    [];
  slot_rows := []; told := []; dropped := [];
|}.

Definition publish (s : astate) r c := {|
  pub := upd (pub s) c (S (pub s c)); log := upd (log s) r (log s r ++ [Event c (pub s c)]); nowhere := nowhere s; head := head s;
  tail := tail s; round := round s; in_round := in_round s; rounds := rounds s; looking := looking s; known := known s;
  next := next s; unsure := unsure s; holes := holes s; rows := rows s; slot_rows := slot_rows s; told := told s;
  dropped := dropped s |}.
Definition ends (s : astate) r c := {|
  pub := pub s; log := upd (log s) r (log s r ++ [End c (pub s c)]); nowhere := nowhere s; head := head s;
  tail := tail s; round := round s; in_round := in_round s; rounds := rounds s; looking := looking s; known := known s;
  next := next s; unsure := unsure s; holes := holes s; rows := rows s; slot_rows := slot_rows s; told := told s;
  dropped := dropped s |}.
Definition no_room (s : astate) c := {|
  pub := upd (pub s) c (S (pub s c)); log := log s; nowhere := nowhere s ++ [(c, pub s c)]; head := head s;
  tail := tail s; round := round s; in_round := in_round s; rounds := rounds s; looking := looking s; known := known s;
  next := next s; unsure := unsure s; holes := holes s; rows := rows s; slot_rows := slot_rows s; told := told s;
  dropped := dropped s |}.
Definition look_begins (s : astate) := {|
  pub := pub s; log := log s; nowhere := nowhere s; head := head s;
  tail := tail s; round := round s; in_round := in_round s; rounds := rounds s; looking := Some (seq 0 nrings); known := known s;
  next := next s; unsure := unsure s; holes := holes s; rows := rows s; slot_rows := slot_rows s; told := told s;
  dropped := dropped s |}.
Definition look_loads (s : astate) r h knows todo := {|
  pub := pub s; log := log s; nowhere := nowhere s; head := upd (head s) r h;
  tail := tail s; round := if in_round s then round s else upd (round s) r h; in_round := in_round s; rounds := rounds s;
  looking := Some todo; known := knows;
  next := next s; unsure := unsure s; holes := holes s; rows := rows s; slot_rows := slot_rows s; told := told s;
  dropped := dropped s |}.
Definition look_ends (s : astate) := {|
  pub := pub s; log := log s; nowhere := nowhere s; head := head s;
  tail := tail s; round := round s; in_round := true; rounds := rounds s; looking := None; known := known s;
  next := next s; unsure := unsure s; holes := holes s; rows := rows s; slot_rows := slot_rows s; told := told s;
  dropped := dropped s |}.
Definition finishes (s : astate) := {|
  pub := pub s; log := log s; nowhere := nowhere s; head := head s;
  tail := tail s; round := round s; in_round := false; rounds := S (rounds s); looking := None; known := known s;
  next := next s; unsure := unsure s; holes := holes s; rows := rows s; slot_rows := slot_rows s; told := told s;
  dropped := dropped s |}.
(* What changes when one entry of ring r is taken. *)
Definition takes (s : astate) r next' unsure' holes' rows' := {|
  pub := pub s; log := log s; nowhere := nowhere s; head := head s;
  tail := upd (tail s) r (S (tail s r)); round := round s; in_round := in_round s; rounds := rounds s; looking := looking s;
  known := known s; next := next'; unsure := unsure'; holes := holes'; rows := rows'; slot_rows := slot_rows s; told := told s;
  dropped := dropped s |}.
Definition audits (s : astate) c n := {|
  pub := pub s; log := log s; nowhere := nowhere s; head := head s;
  tail := tail s; round := round s; in_round := in_round s; rounds := rounds s; looking := looking s;
  known := upd (known s) c (max (known s c) n); next := upd (next s) c n; unsure := upd (unsure s) c false;
  holes := holes s ++ [Hole c (next s c) n (rounds s) (unsure s c)]; rows := rows s; slot_rows := slot_rows s; told := told s;
  dropped := dropped s |}.
Definition closes (s : astate) rest found lost gone := {|
  pub := pub s; log := log s; nowhere := nowhere s; head := head s;
  tail := tail s; round := round s; in_round := in_round s; rounds := rounds s; looking := looking s; known := known s;
  next := next s; unsure := unsure s; holes := rest; rows := rows s; slot_rows := slot_rows s ++ found; told := told s ++ lost;
  dropped := dropped s ++ gone |}.

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
    k = next s c -> astep s (takes s r (upd (next s) c (S k)) (upd (unsure s) c false) (holes s) (rows s ++ [(c, k)]))
| a_ahead r c k : looking s = None -> tail s r < head s r -> nth_error (log s r) (tail s r) = Some (Event c k) ->
    next s c < k -> keeps = true \/ unsure s c = false ->
    astep s (takes s r (upd (next s) c (S k)) (upd (unsure s) c false) (holes s ++ [Hole c (next s c) k (rounds s) (unsure s c)])
                   (rows s ++ [(c, k)]))
| a_unsure r c k : looking s = None -> tail s r < head s r -> nth_error (log s r) (tail s r) = Some (Event c k) ->
    keeps = false -> unsure s c = true ->
    astep s (takes s r (upd (next s) c (S k)) (upd (unsure s) c false) (holes s) (rows s ++ [(c, k)]))
| a_behind r c k h a b : looking s = None -> tail s r < head s r -> nth_error (log s r) (tail s r) = Some (Event c k) ->
    k < next s c -> holes s = a ++ h :: b -> in_hole h c k = true ->
    astep s (takes s r (next s) (unsure s) (a ++ filled h k ++ b) (rows s ++ [(c, k)]))
| a_nowhere r c k : looking s = None -> tail s r < head s r -> nth_error (log s r) (tail s r) = Some (Event c k) ->
    k < next s c -> (forall h, In h (holes s) -> in_hole h c k = false) -> astep s (takes s r (next s) (unsure s) (holes s) (rows
      s))
| a_die r c k : looking s = None -> tail s r < head s r -> nth_error (log s r) (tail s r) = Some (End c k) ->
    next s c < k -> astep s (takes s r (upd (next s) c k) (upd (unsure s) c false) (holes s ++ [Hole c (next s c) k (rounds s)
      (unsure s c)]) (rows s))
| a_dead r c k : looking s = None -> tail s r < head s r -> nth_error (log s r) (tail s r) = Some (End c k) ->
    k <= next s c -> astep s (takes s r (next s) (unsure s) (holes s) (rows s))
  (* ctp_rings_finish *)
| a_finishes : looking s = None -> in_round s = true -> (forall r, r < nrings -> round s r <= tail s r) -> astep s (finishes s)
  (* audit_one *)
| a_audits c n : looking s = None -> c < coros -> next s c < n <= pub s c -> before c <= n -> astep s (audits s c n)
  (* ctp_coros_close; f: the numbers that a slot has. At the end it waits for nothing, for all is taken. *)
| a_closes a h b (f : nat * nat -> bool) : looking s = None -> holes s = a ++ h :: b ->
    noticed h + waits <= rounds s \/ all_taken s -> maybe h = false ->
    astep s (closes s (a ++ b) (filter f (range h)) (filter (fun e => negb (f e)) (range h)) [])
| a_drops a h b : looking s = None -> holes s = a ++ h :: b -> noticed h + waits <= rounds s \/ all_taken s -> maybe h = true ->
    astep s (closes s (a ++ b) [] [] (range h)).

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
Lemma times_nil c k : times [] c k = 0.
Proof. reflexivity. Qed.
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
  unfold range. assert (G : forall n a, times (map (pair (who h)) (seq a n)) c k = bit ((who h =? c) && (a <=? k) && (k <? a +
    n))).
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
Variable before : nat -> nat.
Variable old : nat -> bool.
Hypothesis before_old : forall c, old c = false -> before c = 0.
Hypothesis before_coros : forall c, coros <= c -> before c = 0.
Notation "s --> s'" := (astep coros nrings waits true before s s') (at level 70).
Notation reached := (asteps coros nrings waits true before old).

(* Of each coroutine: each number has been delivered, or told as lost, or is missing, or is still to be taken. *)
Record once (s : astate) : Prop := Once {
  o_once c k : times (rows s) c k + times (slot_rows s) c k + times (told s) c k + times (dropped s) c k +
               missing (holes s) c k + bit (next s c <=? k) = 1;
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

Ltac fields := cbn [pub log next unsure rows slot_rows told dropped holes publish ends no_room look_begins look_loads look_ends
  finishes
  takes audits closes who from to noticed maybe].

Lemma once_each s s' : once s -> s --> s' -> forall c k,
  times (rows s') c k + times (slot_rows s') c k + times (told s') c k + times (dropped s') c k + missing (holes s') c k +
  bit (next s' c <=? k) = 1.
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
    assert (T := times_filter f (range h) c0 k0). rewrite times_range in T. rewrite times_nil. lia.
  - rewrite H0 in O0. change (h :: b) with ([h] ++ b) in O0. rewrite !missing_app in O0.
    assert (M : missing [h] c0 k0 = bit (in_hole h c0 k0)).
    { rewrite missing_cons. unfold missing. cbn. lia. } rewrite !times_nil, times_range. lia.
Qed.

Lemma once_step s s' : once s -> s --> s' -> once s'.
Proof.
  intros B St. assert (O := once_each _ _ B St). destruct B.
  assert (NX : forall r c k, nth_error (log s r) (tail s r) = Some (Event c k) -> S k <= pub s c) by (intros * H; apply o_log0 in
    H; lia).
  assert (NY : forall r c k, nth_error (log s r) (tail s r) = Some (End c k) -> k <= pub s c) by (intros * H; apply o_end0 in H;
    lia).
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

Lemma once_begin : once (begin before old).
Proof. constructor; cbn; intros; auto; try destruct p; try discriminate; lia. Qed.

Lemma once_always s : reached s -> once s.
Proof. intros H. induction H; eauto using once_begin, once_step. Qed.

(* Every event that was published is in exactly one of: delivered, told as lost, missing, not yet due. *)
Theorem each_event_once s c k : reached s -> k < pub s c ->
  times (rows s) c k + times (slot_rows s) c k + times (told s) c k + times (dropped s) c k + missing (holes s) c k +
  bit (next s c <=? k) = 1.
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

Definition spoken_for (s : astate) :=
  length (rows s) + length (slot_rows s) + length (told s) + length (dropped s) + sizes (holes s).

Lemma taken_step s s' : once s -> s --> s' -> spoken_for s = sum (next s) coros -> spoken_for s' = sum (next s') coros.
Proof.
  unfold spoken_for. intros B St H.
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
  - rewrite H1 in H. rewrite sizes_app in H. cbn [sizes] in H. assert (Z := length_filter f (range h)). rewrite length_range in
    Z. lia.
  - rewrite H1 in H. rewrite sizes_app in H. cbn [sizes] in H. rewrite length_range. lia.
Qed.

Lemma spoken_for_always s : reached s -> spoken_for s = sum (next s) coros.
Proof.
  intros H. induction H; [|eapply taken_step; eauto using once_always].
  assert (Z : forall n, sum (fun _ => 0) n = 0) by (induction n; simpl; lia). symmetry. apply Z.
Qed.

(*
 * Delivered, told as lost, and not yet taken: as many as were published. In every state. For coroutines that were there before
 * the collector came, the numbers that they had used are published, too, and dropped; and so is what has no room meanwhile.
 *)
Theorem accounting_of_all s : reached s ->
  delivered s + length (told s) + length (dropped s) + not_yet_taken s = all_published s.
Proof.
  intros H. assert (T := spoken_for_always _ H).
  assert (L := sum_le (next s) (pub s) coros (o_next _ (once_always _ H))).
  unfold spoken_for, delivered, not_yet_taken, all_published in *. lia.
Qed.

(* If all coroutines are known from the beginning, nothing is dropped. *)
Theorem accounting s : (forall c, old c = false) -> reached s ->
  delivered s + length (told s) + not_yet_taken s = all_published s.
Proof.
  intros HO H. assert (A := accounting_of_all _ H).
  assert (D : (forall c, unsure s c = false) /\ (forall h, In h (holes s) -> maybe h = false) /\ dropped s = []).
  { clear A. induction H as [|s s' H [U [M D]] St]; [cbn; intuition|].
    assert (UU : forall c c', upd (unsure s) c false c' = false) by (intros; unfold upd; destruct (eq_dec c c'); auto).
    assert (MM : forall c f t r, forall h, In h (holes s ++ [Hole c f t r (unsure s c)]) -> maybe h = false).
    { intros c f t r h Hh. apply in_app_iff in Hh. destruct Hh as [Hh|[<-|[]]]; auto. cbn. auto. }
    destruct St; fields; repeat split; eauto; try discriminate.
    - intros h0 Hh. apply in_app_iff in Hh. rewrite in_app_iff in Hh. destruct Hh as [Hh|[Hh|Hh]].
      + apply M. rewrite H4. apply in_app_iff. auto.
      + assert (Mh : maybe h = false) by (apply M; rewrite H4; apply in_app_iff; simpl; auto).
        unfold filled in Hh. destruct (k =? from h); [|destruct (k =? to h - 1)]; simpl in Hh;
          repeat (destruct Hh as [<-|Hh]; [cbn; auto|]); contradiction.
      + apply M. rewrite H4. apply in_app_iff. simpl. auto.
    - intros h0 Hh. apply M. rewrite H1. apply in_app_iff in Hh. apply in_app_iff. simpl. tauto.
    - rewrite D. auto.
    - intros h0 Hh. apply M. rewrite H1. apply in_app_iff in Hh. apply in_app_iff. simpl. tauto.
    - exfalso. assert (maybe h = false); [|congruence]. apply M. rewrite H1. apply in_app_iff. simpl. auto. }
  destruct D as [_ [_ D]]. rewrite D in A. simpl in A. lia.
Qed.
End Sure.

(* --- what is told as lost is in no ring --------------------------------------------------------------------------------------- *)

(* A hole waits for two rounds. What is in a ring of a hole's events, and not taken, is at p in ring r. *)
Definition still_waits (s : astate) (h : hole) r p :=
  rounds s = noticed h \/
  (rounds s = S (noticed h) /\
   if in_round s then p < round s r
   else match looking s with Some todo => In r todo \/ p < round s r | None => True end).

Ltac case_upd := match goal with |- context [@eq_dec ?A ?I ?a ?b] => destruct (@eq_dec A I a b) end.

Section Waits.
Variable coros nrings : nat.
Variable before : nat -> nat.
Variable old : nat -> bool.
Hypothesis before_old : forall c, old c = false -> before c = 0.
Hypothesis before_coros : forall c, coros <= c -> before c = 0.
Notation "s --> s'" := (astep coros nrings 2 true before s s') (at level 70).
Notation reached := (asteps coros nrings 2 true before old).

Record kept (s : astate) : Prop := Kept {
  q_once : once coros nrings s;
  q_single r p r' p' c k : nth_error (log s r) p = Some (Event c k) -> nth_error (log s r') p' = Some (Event c k) -> r = r' /\ p
    = p';
  q_taken r p c k : p < tail s r -> nth_error (log s r) p = Some (Event c k) -> In (c, k) (rows s);
  q_behind r p c k : tail s r <= p -> nth_error (log s r) p = Some (Event c k) -> k < next s c ->
    exists h, In h (holes s) /\ in_hole h c k = true;
  q_known h : In h (holes s) -> to h <= known s (who h);
  q_known_pub c : known s c <= pub s c;
  q_head r p c k : p < head s r -> nth_error (log s r) p = Some (Event c k) \/ nth_error (log s r) p = Some (End c k) -> k <=
    known s c;
  q_waits h r p c k : In h (holes s) -> tail s r <= p -> nth_error (log s r) p = Some (Event c k) -> in_hole h c k = true ->
    still_waits s h r p;
  q_told r p c k : nth_error (log s r) p = Some (Event c k) ->
    ~ In (c, k) (told s) /\ ~ In (c, k) (slot_rows s) /\ ~ In (c, k) (dropped s);
  q_tail r : tail s r <= head s r <= length (log s r);
  (* Of the numbers from before the collector came. *)
  q_before c : before c <= pub s c;
  q_log r p c k : nth_error (log s r) p = Some (Event c k) \/ nth_error (log s r) p = Some (End c k) -> before c <= k;
  q_next c : unsure s c = false -> before c <= next s c;
  q_hole h : In h (holes s) -> maybe h = false -> before (who h) <= from h;
  q_ours c k : In (c, k) (told s) \/ In (c, k) (slot_rows s) -> before c <= k;
  q_somewhere c k : before c <= k < pub s c -> In (c, k) (nowhere s) \/ exists r p, nth_error (log s r) p = Some (Event c k);
}.

Lemma times_in l c k : In (c, k) l <-> 0 < times l c k.
Proof. unfold times. split; intros H; [apply count_occ_In|apply count_occ_In in H]; auto. Qed.
Lemma missing_in l h c k : In h l -> in_hole h c k = true -> 0 < missing l c k.
Proof.
  intros H1 H2. unfold missing. assert (H : In h (filter (fun h => in_hole h c k) l)) by (apply filter_In; auto).
  destruct (filter _ l); [destruct H|simpl; lia].
Qed.

Lemma in_filled h c k h' k' : In h' (filled h k) -> in_hole h' c k' = true -> in_hole h c k = true ->
  in_hole h c k' = true /\ noticed h' = noticed h /\ who h' = who h /\ to h' <= to h.
Proof.
  intros H1 H2 H3. apply in_hole_spec in H2. apply in_hole_spec in H3. destruct H2 as [H2 H2'], H3 as [H3 H3'].
  unfold filled in H1. destruct (Nat.eqb_spec k (from h)); [|destruct (Nat.eqb_spec k (to h - 1))]; simpl in H1;
    repeat (destruct H1 as [<-|H1]; [cbn [who from to noticed] in *|]); try contradiction;
    rewrite in_hole_spec; repeat split; auto; try lia.
Qed.
Lemma filled_keeps h c k k' : in_hole h c k = true -> in_hole h c k' = true -> k <> k' ->
  exists h', In h' (filled h k) /\ in_hole h' c k' = true.
Proof.
  intros H H' N. apply in_hole_spec in H. apply in_hole_spec in H'. unfold filled.
  destruct (Nat.eqb_spec k (from h)); [|destruct (Nat.eqb_spec k (to h - 1))].
  - eexists. split; [left; reflexivity|]. apply in_hole_spec. cbn. lia.
  - eexists. split; [left; reflexivity|]. apply in_hole_spec. cbn. lia.
  - destruct (Nat.lt_ge_cases k k').
    + eexists. split; [right; left; reflexivity|]. apply in_hole_spec. cbn. lia.
    + eexists. split; [left; reflexivity|]. apply in_hole_spec. cbn. lia.
Qed.
Lemma filled_known h k h' : In h' (filled h k) -> from h <= k < to h ->
  to h' <= to h /\ who h' = who h /\ noticed h' = noticed h /\ maybe h' = maybe h /\ from h <= from h'.
Proof.
  intros H Hk. unfold filled in H. destruct (Nat.eqb_spec k (from h)); [|destruct (Nat.eqb_spec k (to h - 1))]; simpl in H;
    repeat (destruct H as [<-|H]; [cbn; repeat split; auto; lia|]); contradiction.
Qed.

Lemma in_app3 {A} (a b c : list A) x : In x (a ++ b ++ c) <-> In x a \/ In x b \/ In x c.
Proof. rewrite !in_app_iff. tauto. Qed.

Lemma beyond s c k : once coros nrings s -> next s c <= k ->
  ~ In (c, k) (rows s) /\ ~ In (c, k) (told s) /\ ~ In (c, k) (slot_rows s) /\ ~ In (c, k) (dropped s).
Proof.
  intros B H. assert (O := o_once _ _ _ B c k). apply Nat.leb_le in H. rewrite H in O. cbn [bit] in O.
  rewrite !times_in. lia.
Qed.
Lemma not_both s c k h : once coros nrings s -> In h (holes s) -> in_hole h c k = true ->
  ~ In (c, k) (rows s) /\ k < next s c.
Proof.
  intros B H H'. assert (O := o_once _ _ _ B c k). assert (M := missing_in _ _ _ _ H H').
  rewrite times_in. split; [lia|]. destruct (Nat.leb_spec (next s c) k); [|auto]. cbn [bit] in O. lia.
Qed.

Ltac start_kept := constructor; cbn [pub log nowhere head tail round in_round rounds looking known next unsure holes rows
  slot_rows told
  dropped publish ends no_room look_begins look_loads look_ends finishes takes audits closes].

(* A writer publishes: e is appended to ring r. *)
Lemma kept_log s s' r e c : kept s -> once coros nrings s' -> e = Event c (pub s c) \/ e = End c (pub s c) ->
  log s' = upd (log s) r (log s r ++ [e]) -> head s' = head s -> tail s' = tail s -> round s' = round s ->
  in_round s' = in_round s -> rounds s' = rounds s -> looking s' = looking s -> known s' = known s -> next s' = next s ->
  holes s' = holes s -> rows s' = rows s -> slot_rows s' = slot_rows s -> told s' = told s -> dropped s' = dropped s ->
  unsure s' = unsure s -> nowhere s' = nowhere s ->
  (forall c0, pub s' c0 = pub s c0 \/ (c0 = c /\ pub s' c = S (pub s c) /\ e = Event c (pub s c))) -> kept s'.
Proof.
  intros [B SG TK BH KN KP HD WT TD TL BP BL BN BO OU SW] B' He EL E1 E2 E3 E4 E5 E6 E7 E8 E9 E10 E11 E12 E13 E14 E15 EP'.
  assert (EP : forall c0, pub s c0 <= pub s' c0) by (intros c0; destruct (EP' c0) as [->|[-> [-> _]]]; lia).
  assert (NEW : forall r0 p c0 k, nth_error (log s' r0) p = Some (Event c0 k) ->
    nth_error (log s r0) p = Some (Event c0 k) \/ (r = r0 /\ p = length (log s r0) /\ c0 = c /\ k = pub s c)).
  { intros r0 p c0 k. rewrite EL. intros H. apply upd_log in H. destruct H as [H|[H1 [H2 H3]]]; auto.
    destruct He as [He|He]; rewrite He in H3; inversion H3; auto. }
  assert (LEN : forall r0, length (log s r0) <= length (log s' r0)).
  { intros r0. rewrite EL. unfold upd. case_upd; auto. subst. rewrite app_length. lia. }
  constructor; rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?E6, ?E7, ?E8, ?E9, ?E10, ?E11, ?E12, ?E13, ?E14, ?E15; auto.
  - intros r0 p r' p' c0 k H H'. destruct (NEW _ _ _ _ H) as [N|[N1 [N2 [N3 N4]]]], (NEW _ _ _ _ H') as [M|[M1 [M2 [M3 M4]]]];
    eauto.
    + exfalso. subst. apply (o_log _ _ _ B) in N. lia.
    + exfalso. subst. apply (o_log _ _ _ B) in M. lia.
    + subst. auto.
  - intros r0 p c0 k H H'. destruct (NEW _ _ _ _ H') as [N|[N1 [N2 [N3 N4]]]]; eauto. specialize (TL r0). lia.
  - intros r0 p c0 k H H' Hk. destruct (NEW _ _ _ _ H') as [N|[N1 [N2 [N3 N4]]]]; eauto. subst.
    assert (Z := o_next _ _ _ B c). lia.
  - intros c0. specialize (KP c0). specialize (EP c0). lia.
  - intros r0 p c0 k H [H'|H'].
    + destruct (NEW _ _ _ _ H') as [N|[N1 [N2 [N3 N4]]]]; eauto. specialize (TL r0). lia.
    + rewrite EL in H'. apply upd_log in H'. destruct H' as [H'|[H1 [H2 _]]]; eauto. specialize (TL r0). lia.
  - intros h r0 p c0 k H Hp H' Hh. unfold still_waits. rewrite E3, E4, E5, E6.
    destruct (NEW _ _ _ _ H') as [N|[N1 [N2 [N3 N4]]]]; [exact (WT h r0 p c0 k H Hp N Hh)|].
    apply in_hole_spec in Hh. destruct Hh as [Hw Hh]. specialize (KN h H). specialize (KP (who h)). subst. lia.
  - intros r0 p c0 k H'. destruct (NEW _ _ _ _ H') as [N|[N1 [N2 [N3 N4]]]]; eauto. subst.
    assert (Z := beyond s c (pub s c) B (o_next _ _ _ B c)). tauto.
  - intros r0. specialize (TL r0). specialize (LEN r0). lia.
  - intros c0. specialize (BP c0). specialize (EP c0). lia.
  - intros r0 p c0 k [H'|H'].
    + destruct (NEW _ _ _ _ H') as [N|[N1 [N2 [N3 N4]]]]; eauto. subst. auto.
    + rewrite EL in H'. apply upd_log in H'. destruct H' as [H'|[H1 [H2 H3]]]; eauto.
      destruct He as [He|He]; rewrite He in H3; inversion H3; auto.
  - intros c0 k Hk. destruct (Nat.lt_ge_cases k (pub s c0)) as [L|L].
    + destruct (SW c0 k) as [S1|[r0 [p S1]]]; [lia|auto|]. right. exists r0, p. rewrite EL. unfold upd.
      destruct (eq_dec r r0); auto. subst. rewrite nth_error_app1; eauto using nth_error_lt.
    + right. destruct (EP' c0) as [E|[-> [E ->]]]; [lia|]. exists r, (length (log s r)). rewrite EL, upd_same.
      rewrite nth_error_app2, Nat.sub_diag by auto. simpl. do 2 f_equal. lia.
Qed.

(* An entry is taken. *)
Lemma kept_takes s r next' unsure' holes' rows' e : kept s -> once coros nrings (takes s r next' unsure' holes' rows') ->
  tail s r < head s r -> nth_error (log s r) (tail s r) = Some e ->
  (forall c k, e = Event c k -> In (c, k) rows') -> (forall x, In x (rows s) -> In x rows') ->
  (forall c k, k < next' c -> e <> Event c k -> next s c <= k -> exists h, In h holes' /\ in_hole h c k = true) ->
  (forall h c k, In h (holes s) -> in_hole h c k = true -> e <> Event c k -> exists h', In h' holes' /\ in_hole h' c k = true) ->
  (forall h', In h' holes' ->
    (exists h, In h (holes s) /\ to h' <= to h /\ who h' = who h /\ noticed h' = noticed h /\
       (forall c k, in_hole h' c k = true -> in_hole h c k = true) /\ maybe h' = maybe h /\ from h <= from h') \/
    (noticed h' = rounds s /\ to h' <= known s (who h') /\ (maybe h' = false -> before (who h') <= from h'))) ->
  (forall c, unsure' c = false -> before c <= next' c) ->
  kept (takes s r next' unsure' holes' rows').
Proof.
  intros [B SG TK BH KN KP HD WT TD TL BP BL BN BO OU SW] B' Ht He HE HR HB HK HN HU.
  assert (UT : forall r0, tail s r0 <= upd (tail s) r (S (tail s r)) r0).
  { intros r0. unfold upd. case_upd; subst; lia. }
  assert (OTHER : forall r0 p c k, upd (tail s) r (S (tail s r)) r0 <= p -> nth_error (log s r0) p = Some (Event c k) -> e <>
    Event c k).
  { intros r0 p c k Hp Hn ->. destruct (SG _ _ _ _ _ _ Hn He) as [-> ->]. rewrite upd_same in Hp. lia. }
  start_kept; auto.
  - intros r0 p c k Hp Hn. unfold upd in Hp. destruct (Nat.eq_dec r r0) as [->|E].
    + destruct (Nat.eq_dec p (tail s r0)) as [->|]; [apply HE; congruence|]. apply HR. apply (TK r0 p); auto.
      destruct (eq_dec r0 r0); [lia|congruence].
    + apply HR. apply (TK r0 p); auto. destruct (eq_dec r r0); [congruence|auto].
  - intros r0 p c k Hp Hn Hk. assert (O := OTHER _ _ _ _ Hp Hn).
    destruct (Nat.lt_ge_cases k (next s c)) as [L|L]; [|apply HB; auto].
    destruct (BH r0 p c k) as [h [H1 H2]]; auto; [specialize (UT r0); lia|]. eapply HK; eauto.
  - intros h' H'. destruct (HN h' H') as [[h [H1 [H2 [H3 _]]]]|[_ [H _]]]; auto. specialize (KN h H1). rewrite H3. lia.
  - intros h' r0 p c k H' Hp Hn Hh. destruct (HN h' H') as [[h [H1 [H2 [H3 [H4 [H5 _]]]]]]|[H _]].
    + assert (W : still_waits s h r0 p) by (apply (WT h r0 p c k); auto; specialize (UT r0); lia).
      unfold still_waits in *. rewrite H4. exact W.
    + left. auto.
  - intros r0. specialize (TL r0). unfold upd. case_upd; subst; lia.
  - intros h' H' Hm. destruct (HN h' H') as [[h [H1 [H2 [H3 [H4 [H5 [H6 H7]]]]]]]|[_ [_ H]]]; auto.
    specialize (BO h H1). rewrite H3. rewrite H6 in Hm. specialize (BO Hm). lia.
Qed.

(* What a hole that is closed had is in no ring. *)
Lemma gone_for_good s h a b : kept s -> holes s = a ++ h :: b -> noticed h + 2 <= rounds s \/ all_taken nrings s ->
  forall r p c k, nth_error (log s r) p = Some (Event c k) -> in_hole h c k = false.
Proof.
  intros K Hs Hw r p c k Hn. destruct (in_hole h c k) eqn:Hi; auto. exfalso. assert (B := q_once _ K).
  assert (Hh : In h (holes s)) by (rewrite Hs, in_app_iff; simpl; auto).
  destruct (Nat.lt_ge_cases p (tail s r)) as [L|L].
  - destruct (not_both s c k h B Hh Hi) as [N _]. apply N. eapply (q_taken _ K); eauto.
  - destruct Hw as [Hw|Hw].
    + destruct (q_waits _ K h r p c k Hh L Hn Hi) as [W|[W _]]; lia.
    + assert (Hr : r < nrings).
      { destruct (Nat.lt_ge_cases r nrings); auto. rewrite (o_rings _ _ _ B r) in Hn by auto. destruct p; discriminate. }
      apply nth_error_lt in Hn. specialize (Hw r Hr). lia.
Qed.

Lemma not_in_range h c k : in_hole h c k = false -> ~ In (c, k) (range h).
Proof. intros H. rewrite times_in, times_range, H. cbn. lia. Qed.

Lemma kept_step s s' : kept s -> s --> s' -> kept s'.
Proof.
  intros K St. assert (B' := once_step _ _ _ _ _ _ (q_once _ K) St). assert (K0 := K).
  destruct K as [B SG TK BH KN KP HD WT TD TL BP BL BN BO OU SW].
  assert (UN : forall c k, before c <= k -> forall c', upd (unsure s) c false c' = false -> before c' <= upd (next s) c k c').
  { intros c k Hk c'. unfold upd. destruct (eq_dec c c'); subst; auto. }
  destruct St.
  - eapply (kept_log s _ r _ c K0 B'); try reflexivity; auto. intros c0. cbn. unfold upd.
    destruct (eq_dec c c0); auto. subst. right. destruct (eq_dec c0 c0); auto. congruence.
  - eapply (kept_log s _ r _ c K0 B'); try reflexivity; auto.
  - start_kept; auto.
    + intros c0. specialize (KP c0). unfold upd. case_upd; subst; lia.
    + intros c0. specialize (BP c0). unfold upd. case_upd; subst; lia.
    + intros c0 k Hk. rewrite in_app_iff. unfold upd in Hk. destruct (eq_dec c c0) as [E|E].
      * subst c0. destruct (Nat.eq_dec k (pub s c)) as [->|]; [left; right; simpl; auto|].
        destruct (SW c k); [lia|auto|auto].
      * destruct (SW c0 k Hk); auto.
  - start_kept; auto. intros h r p c k H1 H2 H3 H4. destruct (WT h r p c k H1 H2 H3 H4) as [W|[W W']]; [left; auto|right]; split;
    auto.
    cbn. destruct (in_round s); auto. left. apply in_seq. destruct (Nat.lt_ge_cases r nrings); [lia|].
    rewrite (o_rings _ _ _ B r) in H3 by auto. destruct p; discriminate.
  - start_kept; auto.
    + intros h0 Hh. specialize (KN h0 Hh). specialize (H2 (who h0)). lia.
    + intros c. apply H2.
    + intros r0 p c k Hp Hn. unfold upd in Hp. destruct (eq_dec r r0); [subst; eauto|].
      specialize (HD r0 p c k Hp Hn). specialize (H2 c). lia.
    + intros h0 r0 p c k Hh Hp Hn Hi. destruct (WT h0 r0 p c k Hh Hp Hn Hi) as [W|[W W']]; [left; auto|right]. split; auto.
      cbn. destruct (in_round s); auto. rewrite H in W'. unfold upd. destruct (eq_dec r r0) as [E|E].
      * subst r0. right. apply (H1 p c k Hn). apply in_hole_spec in Hi. destruct Hi as [<- Hi]. specialize (KN h0 Hh). lia.
      * destruct W' as [[W'|W']|W']; auto. congruence.
    + intros r0. specialize (TL r0). unfold upd. case_upd; subst; lia.
  - start_kept; auto. intros h r p c k H1 H2 H3 H4. destruct (WT h r p c k H1 H2 H3 H4) as [W|[W W']]; [left; auto|right]. split;
    auto.
    cbn. destruct (in_round s); auto. rewrite H in W'. destruct W' as [[]|W']; auto.
  - apply (kept_takes s r _ _ _ _ _ K0 B' H0 H1).
    + intros c0 k0 E. inversion E; subst. apply in_app_iff. simpl. auto.
    + intros x Hx. apply in_app_iff. auto.
    + intros c0 k0 L E G. exfalso. unfold upd in L. destruct (eq_dec c c0); [subst|lia]. apply E. f_equal. lia.
    + intros h c0 k0 Hh Hi _. eauto.
    + intros h' Hh. left. exists h'. auto 12.
    + apply UN. subst k. specialize (BL r (tail s r) c (next s c) (or_introl H1)). lia.
  - apply (kept_takes s r _ _ _ _ _ K0 B' H0 H1).
    + intros c0 k0 E. inversion E; subst. apply in_app_iff. simpl. auto.
    + intros x Hx. apply in_app_iff. auto.
    + intros c0 k0 L E G. unfold upd in L. destruct (eq_dec c c0); [subst|lia].
      exists (Hole c0 (next s c0) k (rounds s) (unsure s c0)). split; [apply in_app_iff; simpl; auto|]. apply in_hole_spec. cbn.
      split; auto. split; auto. assert (k0 <> k) by congruence. lia.
    + intros h c0 k0 Hh Hi _. exists h. split; auto. apply in_app_iff. auto.
    + intros h' Hh. apply in_app_iff in Hh. destruct Hh as [Hh|[<-|[]]]; [left; exists h'; auto 12|right]. cbn. split; auto.
      split; [apply (HD r (tail s r)); auto|apply BN].
    + apply UN. specialize (BL r (tail s r) c k (or_introl H1)). lia.
  - discriminate.
  - apply (kept_takes s r _ _ _ _ _ K0 B' H0 H1).
    + intros c0 k0 E. inversion E; subst. apply in_app_iff. simpl. auto.
    + intros x Hx. apply in_app_iff. auto.
    + intros c0 k0 L E G. lia.
    + intros h0 c0 k0 Hh Hi E. rewrite H3 in Hh. apply in_app_iff in Hh. destruct Hh as [Hh|[<-|Hh]].
      * exists h0. rewrite in_app3. auto.
      * assert (c0 = c) by (apply in_hole_spec in Hi; apply in_hole_spec in H4; lia). subst c0.
        assert (N : k <> k0) by congruence. destruct (filled_keeps h c k k0 H4 Hi N) as [h' [F1 F2]]. exists h'. rewrite in_app3.
          auto.
      * exists h0. rewrite in_app3. auto.
    + intros h' Hh. left. apply in_app3 in Hh. destruct Hh as [Hh|[Hh|Hh]].
      * exists h'. rewrite H3, in_app_iff. auto 12.
      * exists h. rewrite H3, in_app_iff. simpl. assert (Hi := H4). apply in_hole_spec in Hi.
        destruct (filled_known h k h' Hh ltac:(lia)) as [F1 [F2 [F3 [F4 F5]]]]. repeat split; auto.
        intros c0 k0 F. assert (c0 = c) by (apply in_hole_spec in F; lia). subst c0. eapply in_filled; eauto.
      * exists h'. rewrite H3, in_app_iff. simpl. auto 12.
    + auto.
  - exfalso. destruct (BH r (tail s r) c k) as [h [F1 F2]]; auto. rewrite (H3 h F1) in F2. discriminate.
  - apply (kept_takes s r _ _ _ _ _ K0 B' H0 H1).
    + intros c0 k0 E. discriminate.
    + auto.
    + intros c0 k0 L E G. unfold upd in L. destruct (eq_dec c c0); [subst|lia].
      exists (Hole c0 (next s c0) k (rounds s) (unsure s c0)). split; [apply in_app_iff; simpl; auto|]. apply in_hole_spec. cbn.
        lia.
    + intros h c0 k0 Hh Hi _. exists h. split; auto. apply in_app_iff. auto.
    + intros h' Hh. apply in_app_iff in Hh. destruct Hh as [Hh|[<-|[]]]; [left; exists h'; auto 12|right]. cbn. split; auto.
      split; [apply (HD r (tail s r)); auto|apply BN].
    + apply UN. apply (BL r (tail s r) c k). auto.
  - apply (kept_takes s r _ _ _ _ _ K0 B' H0 H1).
    + intros c0 k0 E. discriminate.
    + auto.
    + intros c0 k0 L E G. lia.
    + intros h c0 k0 Hh Hi _. eauto.
    + intros h' Hh. left. exists h'. auto 12.
    + auto.
  - start_kept; auto. intros h r p c k G1 G2 G3 G4. destruct (WT h r p c k G1 G2 G3 G4) as [W|[W W']].
    + right. cbn. auto.
    + exfalso. rewrite H0 in W'. assert (r < nrings).
      { destruct (Nat.lt_ge_cases r nrings); auto. rewrite (o_rings _ _ _ B r) in G3 by auto. destruct p; discriminate. }
      specialize (H1 r H2). lia.
  - start_kept; auto.
    + intros r p c0 k Hp Hn Hk. unfold upd in Hk. destruct (Nat.lt_ge_cases k (next s c0)) as [L|L].
      * destruct (BH r p c0 k Hp Hn L) as [h [F1 F2]]. exists h. rewrite in_app_iff. auto.
      * destruct (eq_dec c c0); [subst|lia]. exists (Hole c0 (next s c0) n (rounds s) (unsure s c0)). split; [apply in_app_iff;
        simpl; auto|].
        apply in_hole_spec. cbn. lia.
    + intros h Hh. apply in_app_iff in Hh. unfold upd. destruct Hh as [Hh|[<-|[]]].
      * specialize (KN h Hh). case_upd; subst; lia.
      * cbn. case_upd; [lia|congruence].
    + intros c0. specialize (KP c0). unfold upd. case_upd; subst; lia.
    + intros r p c0 k Hp Hn. specialize (HD r p c0 k Hp Hn). unfold upd. case_upd; subst; lia.
    + intros h r p c0 k Hh Hp Hn Hi. apply in_app_iff in Hh. destruct Hh as [Hh|[<-|[]]].
      * exact (WT h r p c0 k Hh Hp Hn Hi).
      * left. reflexivity.
    + intros h Hh Hm. apply in_app_iff in Hh. destruct Hh as [Hh|[<-|[]]]; [apply BO; auto|]. cbn. apply BN. exact Hm.
  - assert (GONE := gone_for_good s h a b K0 H0 H1). start_kept; auto.
    + intros r p c k Hp Hn Hk. destruct (BH r p c k Hp Hn Hk) as [h0 [F1 F2]]. rewrite H0 in F1. apply in_app_iff in F1.
      destruct F1 as [F1|[<-|F1]]; [|rewrite (GONE r p c k Hn) in F2; discriminate|]; exists h0; rewrite in_app_iff; auto.
    + intros h0 Hh. apply KN. rewrite H0. apply in_app_iff in Hh. rewrite in_app_iff. simpl. tauto.
    + intros h0 r p c k Hh Hp Hn Hi. apply (WT h0 r p c k); auto. rewrite H0. apply in_app_iff in Hh. rewrite in_app_iff. simpl.
      tauto.
    + intros r p c k Hn. assert (N := not_in_range _ _ _ (GONE r p c k Hn)). destruct (TD r p c k Hn) as [T1 [T2 T3]].
      rewrite !in_app_iff, !filter_In. simpl. tauto.
    + intros h0 Hh. apply BO. rewrite H0. apply in_app_iff in Hh. rewrite in_app_iff. simpl. tauto.
    + intros c k. rewrite !in_app_iff, !filter_In. intros Hk.
      assert (D : (In (c, k) (told s) \/ In (c, k) (slot_rows s)) \/ In (c, k) (range h)) by tauto.
      destruct D as [D|D]; auto. rewrite times_in, times_range in D. destruct (in_hole h c k) eqn:E; [|cbn in D; lia].
      apply in_hole_spec in E. destruct E as [<- E]. assert (Z : before (who h) <= from h); [|lia].
      apply BO; auto. rewrite H0. apply in_app_iff. simpl. auto.
  - assert (GONE := gone_for_good s h a b K0 H0 H1). start_kept; auto.
    + intros r p c k Hp Hn Hk. destruct (BH r p c k Hp Hn Hk) as [h0 [F1 F2]]. rewrite H0 in F1. apply in_app_iff in F1.
      destruct F1 as [F1|[<-|F1]]; [|rewrite (GONE r p c k Hn) in F2; discriminate|]; exists h0; rewrite in_app_iff; auto.
    + intros h0 Hh. apply KN. rewrite H0. apply in_app_iff in Hh. rewrite in_app_iff. simpl. tauto.
    + intros h0 r p c k Hh Hp Hn Hi. apply (WT h0 r p c k); auto. rewrite H0. apply in_app_iff in Hh. rewrite in_app_iff. simpl.
      tauto.
    + intros r p c k Hn. assert (N := not_in_range _ _ _ (GONE r p c k Hn)). destruct (TD r p c k Hn) as [T1 [T2 T3]].
      rewrite !in_app_iff. simpl. tauto.
    + intros h0 Hh. apply BO. rewrite H0. apply in_app_iff in Hh. rewrite in_app_iff. simpl. tauto.
    + intros c k. rewrite !in_app_iff. simpl. intros Hk. apply OU. tauto.
Qed.

Lemma kept_begin : kept (begin before old).
Proof.
  constructor; cbn; auto using once_begin; try (intros; destruct p; discriminate); intros; try lia; try contradiction;
    try (match goal with H : nth_error [] ?p = _ \/ _ |- _ => destruct H; destruct p; discriminate end).
  rewrite before_old; auto.
Qed.

Lemma kept_always s : reached s -> kept s.
Proof. intros H. induction H; eauto using kept_begin, kept_step. Qed.

Lemma below s c k : once coros nrings s -> 0 < times (told s) c k + times (slot_rows s) c k + times (dropped s) c k -> k < pub s
  c.
Proof.
  intros B H. assert (O := o_once _ _ _ B c k). assert (N := o_next _ _ _ B c).
  destruct (Nat.leb_spec (next s c) k); cbn [bit] in O; lia.
Qed.

(* What is told as lost, or taken from a slot, had no room in a ring. So none of it comes late. *)
Theorem told_is_lost s c k : reached s -> In (c, k) (told s) \/ In (c, k) (slot_rows s) -> In (c, k) (nowhere s).
Proof.
  intros H Hin. assert (K := kept_always _ H).
  assert (L : k < pub s c) by (apply (below s c k (q_once _ K)); destruct Hin as [I|I]; apply times_in in I; lia).
  destruct (q_somewhere _ K c k) as [S|[r [p S]]]; auto.
  - split; auto. apply (q_ours _ K). auto.
  - exfalso. destruct (q_told _ K r p c k S) as [T1 [T2 _]]. tauto.
Qed.

(* What is dropped of a coroutine that was there before the collector is from before it, or had no room in a ring. *)
Theorem dropped_is_not_ours s c k : reached s -> In (c, k) (dropped s) -> k < before c \/ In (c, k) (nowhere s).
Proof.
  intros H Hin. assert (K := kept_always _ H).
  assert (L : k < pub s c) by (apply (below s c k (q_once _ K)); apply times_in in Hin; lia).
  destruct (Nat.lt_ge_cases k (before c)); auto. right.
  destruct (q_somewhere _ K c k) as [S|[r [p S]]]; auto.
  exfalso. destruct (q_told _ K r p c k S) as [_ [_ T]]. tauto.
Qed.

(* --- after the last sweep ----------------------------------------------------------------------------------------------------- *)

Definition is_event (e : entry) := match e with Event _ _ => true | End _ _ => false end.
Definition events (l : list entry) := length (filter is_event l).
Lemma events_app l l' : events (l ++ l') = events l + events l'.
Proof. unfold events. rewrite filter_app, app_length. auto. Qed.

Lemma firstn_S {A} (l : list A) i x : nth_error l i = Some x -> firstn (S i) l = firstn i l ++ [x].
Proof.
  revert l. induction i as [|i IH]; intros [|y l] H; try discriminate; simpl in *.
  - congruence.
  - f_equal. apply IH. auto.
Qed.

Lemma events_taken s r next' unsure' holes' rows' e : r < nrings -> nth_error (log s r) (tail s r) = Some e ->
  sum (fun i => events (firstn (tail (takes s r next' unsure' holes' rows') i) (log s i))) nrings =
  sum (fun i => events (firstn (tail s i) (log s i))) nrings + bit (is_event e).
Proof.
  intros Hr He.
  rewrite (sum_ext _ (upd (fun i => events (firstn (tail s i) (log s i))) r (events (firstn (tail s r) (log s r)) + bit (is_event
    e)))).
  - assert (U := sum_upd (fun i => events (firstn (tail s i) (log s i))) r (events (firstn (tail s r) (log s r)) + bit (is_event
    e)) nrings Hr).
    cbn beta in U. lia.
  - intros i _. cbn [tail takes]. unfold upd. destruct (eq_dec r i); auto. subst i.
    rewrite (firstn_S _ _ _ He), events_app. unfold events at 2. simpl. destruct (is_event e); auto.
Qed.

Definition counted (s : astate) :=
  sum (pub s) coros = sum before coros + sum (fun i => events (log s i)) nrings + length (nowhere s) /\
  length (rows s) = sum (fun i => events (firstn (tail s i) (log s i))) nrings.

Lemma counted_step s s' : kept s -> counted s -> s --> s' -> counted s'.
Proof.
  intros K [C1 C2] St. destruct K as [B SG TK BH KN KP HD WT TD TL BP BL BN BO OU SW].
  assert (RG : forall r e, nth_error (log s r) (tail s r) = Some e -> r < nrings).
  { intros r e H. destruct (Nat.lt_ge_cases r nrings); auto. rewrite (o_rings _ _ _ B r) in H by auto.
    destruct (tail s r); discriminate. }
  assert (LG : forall r e, r < nrings -> sum (fun i => events (upd (log s) r (log s r ++ [e]) i)) nrings =
                sum (fun i => events (log s i)) nrings + bit (is_event e) /\
              sum (fun i => events (firstn (tail s i) (upd (log s) r (log s r ++ [e]) i))) nrings =
                sum (fun i => events (firstn (tail s i) (log s i))) nrings).
  { intros r e Hr. split.
    - rewrite (sum_ext _ (upd (fun i => events (log s i)) r (events (log s r) + bit (is_event e)))).
      + assert (U := sum_upd (fun i => events (log s i)) r (events (log s r) + bit (is_event e)) nrings Hr). cbn beta in U. lia.
      + intros i _. unfold upd. destruct (eq_dec r i); auto. subst i. rewrite events_app. f_equal. unfold events. simpl.
        destruct (is_event e); auto.
    - apply sum_ext. intros i _. unfold upd. destruct (eq_dec r i); auto. subst i.
      rewrite firstn_app. replace (tail s r - length (log s r)) with 0 by (specialize (TL r); lia). rewrite app_nil_r. auto. }
  destruct St; unfold counted;
    try match goal with H : nth_error (log s ?r) (tail s ?r) = Some ?e |- _ => 
      assert (HR := RG _ _ H); rewrite (events_taken s r _ _ _ _ e HR H); cbn [is_event bit] end;
    cbn [pub log nowhere head tail round in_round rounds looking known next unsure holes rows slot_rows told dropped
      publish ends no_room look_begins look_loads look_ends finishes takes audits closes];
    rewrite ?app_length; cbn [length]; try (split; [exact C1|lia]); try discriminate; auto.
  - destruct (LG r (Event c (pub s c)) H) as [L1 L2]. cbn [is_event bit] in *. rewrite L1, L2.
    assert (U := sum_upd (pub s) c (S (pub s c)) coros H0). lia.
  - destruct (LG r (End c (pub s c)) H) as [L1 L2]. cbn [is_event bit] in *. rewrite L1, L2. lia.
  - assert (U := sum_upd (pub s) c (S (pub s c)) coros H). lia.
  - exfalso. destruct (BH r (tail s r) c k) as [h [F1 F2]]; auto. rewrite (H3 h F1) in F2. discriminate.
Qed.

Lemma counted_always s : reached s -> counted s.
Proof.
  intros H. induction H; [|eauto using counted_step, kept_always].
  assert (Z : forall f n, (forall i, f i = 0) -> sum f n = 0).
  { intros f n Hf. induction n as [|n IH]; simpl; auto. rewrite Hf. lia. }
  split.
  - cbn [pub log nowhere begin length]. rewrite (Z (fun _ => events [])) by reflexivity. lia.
  - symmetry. apply Z. reflexivity.
Qed.

(* audit_rings: what the counters have, beyond what holes were closed for (accounted). *)
Definition unplaced (s : astate) := length (nowhere s) - (length (told s) + length (slot_rows s)).

(*
 * When all rings are read to their ends, and all holes are closed: what is told as lost, with the rest, which is told of no
 * coroutine in particular, and what is delivered, are all that was published since the collector came. So nothing is left.
 *)
Theorem accounting_at_the_end s : reached s -> all_taken nrings s -> holes s = [] ->
  delivered s + (length (told s) + unplaced s) + sum before coros = all_published coros s.
Proof.
  intros H T Hh. destruct (counted_always _ H) as [C1 C2].
  assert (E : sum (fun i => events (firstn (tail s i) (log s i))) nrings = sum (fun i => events (log s i)) nrings).
  { apply sum_ext. intros i Hi. rewrite (T i Hi), firstn_all. auto. }
  assert (L : length (told s ++ slot_rows s) <= length (nowhere s)).
  { apply NoDup_incl_length.
    - apply (NoDup_count_occ pair_dec). intros [c k]. assert (O := o_once _ _ _ (q_once _ (kept_always _ H)) c k).
      assert (A := times_app (told s) (slot_rows s) c k). unfold times in *. lia.
    - intros [c k] Hin. apply in_app_iff in Hin. apply told_is_lost; auto. }
  rewrite app_length in L. unfold delivered, all_published, unplaced in *. lia.
Qed.
End Waits.

(* --- what happens without the premises ---------------------------------------------------------------------------------------- *)

Ltac by_cases := cbn; repeat match goal with
  | |- forall _, _ => intros
  | H : nth_error _ ?p = _ |- _ => is_var p; destruct p; cbn in H
  | H : Some _ = Some _ |- _ => inversion H; clear H; subst
  | H : _ \/ _ |- _ => destruct H
  end; try discriminate; try lia; try (vm_compute; auto; lia).
Ltac loads := apply a_look_loads; [reflexivity|cbn; lia|by_cases|by_cases|by_cases].

(*
 * Without ctp_coros_begin, a coroutine that was there before the collector came: its second event is taken from ring 0 before its
 * first is taken from ring 1, in the same look. The first is then neither delivered nor told as lost, and nothing was without room.
 * (So it was; t/unit/rings-late.c has the same run of the C.)
 *)
Definition begun (is_old : bool) := begin (fun _ => 0) (fun _ => is_old).
Definition u1 := publish (begun true) 1 0.
Definition u2 := publish u1 0 0.
Definition u3 := look_begins 2 u2.
Definition u4 := look_loads u3 0 1 (pub u3) [1].
Definition u5 := look_loads u4 1 1 (pub u4) [].
Definition u6 := look_ends u5.
Definition u7 := takes u6 0 (upd (next u6) 0 2) (upd (unsure u6) 0 false) (holes u6) (rows u6 ++ [(0, 1)]).
Definition u8 := takes u7 1 (next u7) (unsure u7) (holes u7) (rows u7).

Theorem lost_if_unsure : asteps 1 2 2 false (fun _ => 0) (fun _ => true) u8 /\ all_taken 2 u8 /\ nowhere u8 = [] /\
  delivered u8 + length (told u8) + length (dropped u8) + not_yet_taken 1 u8 = 1 /\ all_published 1 u8 = 2.
Proof.
  split; [|split; [intros [|[|r]] H; try lia; reflexivity|repeat split; reflexivity]].
  assert (S1 : asteps 1 2 2 false (fun _ => 0) (fun _ => true) u1) by (eapply a_more; [apply a_begin|apply a_publish; lia]).
  assert (S2 : asteps 1 2 2 false (fun _ => 0) (fun _ => true) u2) by (eapply a_more; [apply S1|apply a_publish; lia]).
  assert (S3 : asteps 1 2 2 false (fun _ => 0) (fun _ => true) u3) by (eapply a_more; [apply S2|apply a_look_begins;
    reflexivity]).
  assert (S4 : asteps 1 2 2 false (fun _ => 0) (fun _ => true) u4) by (eapply a_more; [apply S3|loads]).
  assert (S5 : asteps 1 2 2 false (fun _ => 0) (fun _ => true) u5) by (eapply a_more; [apply S4|loads]).
  assert (S6 : asteps 1 2 2 false (fun _ => 0) (fun _ => true) u6) by (eapply a_more; [apply S5|apply a_look_ends; reflexivity]).
  assert (S7 : asteps 1 2 2 false (fun _ => 0) (fun _ => true) u7) by (eapply a_more; [apply S6|apply a_unsure; auto]).
  eapply a_more; [apply S7|apply (a_nowhere _ _ _ _ _ _ 1 0 0); cbn; auto; tauto].
Qed.

(*
 * With one round in place of two: the head of ring 0 is loaded, the first event goes into ring 0, the second into ring 1, and then
 * the head of ring 1 is loaded. The round is over, and the first event, which is in ring 0, is told as lost.
 *)
Definition e1 := look_begins 2 (begun false).
Definition e2 := look_loads e1 0 0 (pub e1) [1].
Definition e3 := publish e2 0 0.
Definition e4 := publish e3 1 0.
Definition e5 := look_loads e4 1 1 (pub e4) [].
Definition e6 := look_ends e5.
Definition e7 := takes e6 1 (upd (next e6) 0 2) (upd (unsure e6) 0 false)
  (holes e6 ++ [Hole 0 (next e6 0) 1 (rounds e6) (unsure e6 0)]) (rows e6 ++ [(0, 1)]).
Definition e8 := finishes e7.
Definition e9 := closes e8 ([] ++ []) (filter (fun _ => false) (range (Hole 0 0 1 0 false)))
  (filter (fun e => negb ((fun _ => false) e)) (range (Hole 0 0 1 0 false))) [].

Theorem told_too_early_with_one_round : asteps 1 2 1 true (fun _ => 0) (fun _ => false) e9 /\ In (0, 0) (told e9) /\ nth_error
  (log e9 0) 0 = Some (Event 0 0).
Proof.
  split; [|split; [cbn; auto|reflexivity]].
  assert (S1 : asteps 1 2 1 true (fun _ => 0) (fun _ => false) e1) by (eapply a_more; [apply a_begin|apply a_look_begins;
    reflexivity]).
  assert (S2 : asteps 1 2 1 true (fun _ => 0) (fun _ => false) e2) by (eapply a_more; [apply S1|loads]).
  assert (S3 : asteps 1 2 1 true (fun _ => 0) (fun _ => false) e3) by (eapply a_more; [apply S2|apply a_publish; lia]).
  assert (S4 : asteps 1 2 1 true (fun _ => 0) (fun _ => false) e4) by (eapply a_more; [apply S3|apply a_publish; lia]).
  assert (S5 : asteps 1 2 1 true (fun _ => 0) (fun _ => false) e5) by (eapply a_more; [apply S4|loads]).
  assert (S6 : asteps 1 2 1 true (fun _ => 0) (fun _ => false) e6) by (eapply a_more; [apply S5|apply a_look_ends; reflexivity]).
  assert (S7 : asteps 1 2 1 true (fun _ => 0) (fun _ => false) e7) by (eapply a_more; [apply S6|apply a_ahead; cbn; auto]).
  assert (S8 : asteps 1 2 1 true (fun _ => 0) (fun _ => false) e8).
  { eapply a_more; [apply S7|apply a_finishes; auto]. intros [|[|r]] H; cbn; lia. }
  eapply a_more; [apply S8|apply (a_closes _ _ _ _ _ _ [] (Hole 0 0 1 0 false) [] (fun _ => false)); cbn; auto].
Qed.
