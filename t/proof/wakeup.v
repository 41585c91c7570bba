(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * wakeup.v - no wake-up is lost: a collector that sleeps is woken by what is published.
 *
 * Threads 1, 2, ... publish events, each thread in any sources, in any number and at any time. A source is what the collector
 * looks at: a ring, with its head; or a station without a ring, with the seq of its slots. Thread 0 is the collector.
 *
 *	collector (collect-loop.c)                    writer (ctp.h)
 *	set_sleeping: flag = 1                        ctp_publish_, or the even seq: the event is published
 *	set_sleeping: seq_cst fence, membarrier       ctp_tell_: seq_cst fence, unless its process is registered
 *	look_at: all sources                          ctp_tell_: load the flag
 *	wait_for: sleep until there is a byte         ctp_rouse_: exchange the flag for 0; if it was 1, send a byte
 *
 * A place of the memory is shared with more than one writer, and the collector does not clean up between two sleeps: a rest that
 * ends without a byte leaves the flag as it is, and where the next load of it shows 1, nothing is stored and nothing is fenced
 * (set_sleeping). A byte may be read at a time when nobody sleeps, and the flag be 1 at that time. All this is in the program
 * below.
 *
 * The socket is a location, too: a byte adds 1 to it with release, a read exchanges it for 0 with acquire. That is what the lock
 * in the kernel does.
 *
 * What is left out, and how long an event can wait by it:
 *	- A light sleep looks at hot stations alone. An event of a cold one that was published before the flag was set waits for
 *	  the sweep, 10 ms later. (Rings are always all looked at.)
 *	- A process without a connection leaves the flag to others. The collector asks for such processes (is_wakeable) and rests
 *	  20 ms at most while it knows of one; it may learn of one late by a second.
 *	- A writer without a fence that is not registered either: the rest ends after a second.
 *	- A look that ends early, because a signal to end waits: then the collector ends.
 * Deaths of coroutines in stations without rings are no events here: no writer tells of them (ctp_death_).
 *)
From Coq Require Import Arith Lia List Bool.
Import ListNotations.
From Ctp Require Import machine views.

Inductive loc :=
| Flag                (* tracer_sleeping *)
| Sock                (* bytes in the socket *)
| Used                (* rings_used, allocated_count *)
| Word (c j : nat)    (* of source c: the head of a ring; seq of slot j of a station *)
| Else (i : nat).     (* all other memory *)
#[global] Instance loc_eq : EqDec loc.
Proof. intros a b. decide equality; apply Nat.eq_dec. Defined.

(* What a thread that has published event k of source c has still to do. *)
Inductive act :=
| ToFence (c k : nat)  (* the fence of ctp_tell_ *)
| ToLook (c k : nat)   (* the load of the flag *)
| ToTake (c k : nat)   (* the load has shown 1: the exchange of ctp_rouse_ *)
| ToSend               (* the exchange has shown 1: the byte *)
| ToJoin.              (* it has registered: what the kernel does before that returns *)

Inductive local :=
| Acts (l : list act)  (* a writer: more than one, if a signal handler came between and publishes, too *)
| Awake (asleep : bool) (* the collector outside of rest; asleep: of struct ctp_collect_loop *)
| ToSet                (* set_sleeping(1): the store comes *)
| IsSet                (* the fence *)
| ToCall               (* the membarrier *)
| Reaching             (* it is under way *)
| Looks                (* the last look begins *)
| Looking (todo : list nat) (found : bool)
| Asleep               (* wait_for blocks *)
| ToClear.             (* set_sleeping(0): the store comes *)

Record world := World {
  published : nat -> nat;      (* of each source: how many events *)
  last : nat -> nat -> val;    (* of a word of it: what was stored there last *)
  seen : nat -> nat;           (* what the collector has taken of it, or skipped *)
  counted : tid -> nat;        (* so many sources are in use, for all that the thread knows *)
  ready : tid -> bool;         (* it is registered: membarrier(2) reaches it *)
}.
Definition know (x : world) (t : tid) (u : nat) :=
  World (published x) (last x) (seen x) (upd (counted x) t (max (counted x t) u)) (ready x).
Definition noted (x : world) (c j : nat) (v : val) :=
  World (published x) (fun c' j' => if eq_dec c c' then if eq_dec j j' then v else last x c' j' else last x c' j')
        (seen x) (counted x) (ready x).
Definition more_published (x : world) (c : nat) :=
  World (upd (published x) c (S (published x c))) (last x) (seen x) (counted x) (ready x).
Definition takes (x : world) (c s : nat) :=
  World (published x) (last x) (upd (seen x) c s) (counted x) (ready x).
Definition joined (x : world) (t : tid) :=
  World (published x) (last x) (seen x) (counted x) (upd (ready x) t true).

(* What may be taken away, for the runs at the end that fail. The C has it all. *)
Record orders := Orders {
  writer_fence : bool;     (* that of ctp_tell_ *)
  collector_fence : bool;  (* that of set_sleeping *)
  membarrier : bool;       (* that of set_sleeping *)
  second_look : bool;      (* that of rest, after set_sleeping *)
  sock_order : bool;       (* the kernel's, between a byte's write and its read *)
  join_order : bool;       (* the kernel's, when a thread registers *)
}.
Definition the_c := Orders true true true true true true.

Section Program.
(*
 * Event k of source c is published by a store of mark c k to word place c k of it. A ring: to its head, of the number of the next
 * entry (which need not be k + 1: see skips). A station: to the seq of slot k mod 8.
 *)
Variable place : nat -> nat -> nat.
Variable mark : nat -> nat -> val.
(* Whether the kernel has membarrier(2): CTP_MODE_MEMBARRIER. If not, every writer has its fence. *)
Variable kernel : bool.
Variable q : orders.

Definition elsewhere (e : op loc) : Prop :=
  match place_of e with
  | Some (Else _) => True
  | Some _ => False
  | None => is_register e = false
  end.

(* A writer begins something. *)
Inductive begins (t : tid) (x : world) : op loc -> ret -> list act -> world -> Prop :=
| b_elsewhere e r : elsewhere e -> begins t x e r [] x
  (* ctp_take_next_: a new ring, a new station. *)
| b_count o v b : begins t x (FetchAdd o Used 1) (v, b) [] (know x t (S v))
| b_counted o v b : begins t x (Load o Used) (v, b) [] (know x t v)
  (* ctp_slot_write_: the odd seq, or anything else that is not yet the mark of an event. *)
| b_odd o c j v r : last x c j <= v -> (forall k, published x c <= k -> place c k = j -> v < mark c k) ->
    begins t x (Store o (Word c j) v) r [] (noted x c j v)
  (* ctp_publish_, ctp_slot_write_: the event is published. The order of this store does not matter here. *)
| b_publish o c r : c < counted x t ->
    let k := published x c in
    begins t x (Store o (Word c (place c k)) (mark c k)) r [ToFence c k] (more_published (noted x c (place c k) (mark c k)) c)
  (* The same in a process that is registered: no fence follows. *)
| b_publish_registered o c r : c < counted x t -> kernel = true -> ready x t = true ->
    let k := published x c in
    begins t x (Store o (Word c (place c k)) (mark c k)) r [ToLook c k] (more_published (noted x c (place c k) (mark c k)) c)
  (* ctp_extend_ registers. *)
| b_join r : begins t x (Register [t]) r [ToJoin] x.

(* And goes on with it. *)
Inductive works (t : tid) (x : world) : act -> op loc -> ret -> list act -> world -> Prop :=
| w_fence c k r : writer_fence q = true -> works t x (ToFence c k) FenceSc r [ToLook c k] x
| w_look o c k v b : works t x (ToLook c k) (Load o Flag) (v, b) (if v =? 1 then [ToTake c k] else []) x
| w_take o c k v b : works t x (ToTake c k) (Exchange o Flag 0) (v, b) (if v =? 1 then [ToSend] else []) x
| w_send o v b : is_rel o = sock_order q -> works t x ToSend (FetchAdd o Sock 1) (v, b) [] x
| w_join r : join_order q = true -> works t x ToJoin FenceSc r [] (joined x t).

(* A look at source c that loads v: what it takes, and whether it has found something. *)
Inductive finds (x : world) (c : nat) (v : val) : bool -> world -> Prop :=
| f_some s : mark c (seen x c) <= v -> seen x c <= s <= published x c -> finds x c v true (takes x c s)
| f_none : v < mark c (seen x c) -> finds x c v false x.

Inductive collects (x : world) : local -> op loc -> ret -> local -> world -> Prop :=
| c_elsewhere a e r : elsewhere e -> collects x (Awake a) e r (Awake a) x
| c_glance a o c v b f x' : finds x c v f x' ->
    collects x (Awake a) (Load o (Word c (place c (seen x c)))) (v, b) (Awake a) x'
| c_count_early a o r : collects x (Awake a) (Load o Used) r (Awake a) x
  (* wait_for in run and in rest: any number of bytes, or none. *)
| c_read a o r : is_acq o = sock_order q -> collects x (Awake a) (Exchange o Sock 0) r (Awake a) x
  (* set_sleeping: was. *)
| c_was a o r : collects x (Awake a) (Load o Flag) r (Awake a) x
| c_still o v b : collects x (Awake true) (Load o Flag) (v, b) (if v =? 0 then ToSet else Looks) x
  (* set_sleeping(1), and look_at. *)
| c_set o r : collects x ToSet (Store o Flag 1) r IsSet x
| c_fence r : collector_fence q = true -> collects x IsSet FenceSc r (if kernel && membarrier q then ToCall else Looks) x
| c_call r : collects x ToCall (BarrierCall false) r Reaching x
| c_return r : collects x Reaching BarrierReturn r Looks x
| c_count o u b todo : second_look q = true -> (forall c, c < u -> In c todo) ->
    collects x Looks (Load o Used) (u, b) (Looking todo false) x
| c_look o c todo f f' v b x' : finds x c v f' x' ->
    collects x (Looking (c :: todo) f) (Load o (Word c (place c (seen x c)))) (v, b) (Looking todo (f || f')) x'
  (* wait_for ends by a byte; set_sleeping(0). *)
| c_woken o v b : is_acq o = sock_order q -> 0 < v -> collects x Asleep (Exchange o Sock 0) (v, b) ToClear x
| c_clear o r : collects x ToClear (Store o Flag 0) r (Awake false) x.

Inductive thinks : local -> local -> Prop :=
| t_set : thinks (Awake false) ToSet
| t_clear a : thinks (Awake a) ToClear
| t_found : thinks (Looking [] true) ToClear
| t_sleep : thinks (Looking [] false) Asleep
| t_time_out : thinks Asleep (Awake true)
| t_no_look : second_look q = false -> thinks Looks Asleep
| t_no_fence : collector_fence q = false -> thinks IsSet (if kernel && membarrier q then ToCall else Looks).

Inductive wakeup_does (t : tid) : local -> world -> op loc -> ret -> local -> world -> Prop :=
| d_begins l x e r new x' : t <> 0 -> begins t x e r new x' -> wakeup_does t (Acts l) x e r (Acts (new ++ l)) x'
| d_works a b p x e r new x' : t <> 0 -> works t x p e r new x' ->
    wakeup_does t (Acts (a ++ p :: b)) x e r (Acts (a ++ new ++ b)) x'
| d_collects x l e r l' x' : t = 0 -> collects x l e r l' x' -> wakeup_does t l x e r l' x'.

Inductive wakeup_silent (t : tid) : local -> world -> local -> world -> Prop :=
| d_thinks l l' x : t = 0 -> thinks l l' -> wakeup_silent t l x l' x
| d_no_fence a b c k x : t <> 0 -> writer_fence q = false ->
    wakeup_silent t (Acts (a ++ ToFence c k :: b)) x (Acts (a ++ ToLook c k :: b)) x
| d_no_join a b x : t <> 0 -> join_order q = false ->
    wakeup_silent t (Acts (a ++ ToJoin :: b)) x (Acts (a ++ b)) (joined x t).

Definition wakeup_program : program loc local world := Program wakeup_does wakeup_silent.

(* Threads n, of which some are registered; sources are in use, and no event is published yet. *)
Definition wakeup_start (n : nat) (registered : tid -> bool) (sources : nat) : state loc local world := {|
  memory := start n registered (fun l => match l with Used => sources | _ => 0 end);
  where_ := fun t => if t =? 0 then Awake false else Acts [];
  beside := World (fun _ => 0) (fun _ _ => 0) (fun _ => 0) (fun _ => sources) registered;
|}.

End Program.

(* --- what is true of every state -------------------------------------------------------------------------------------------- *)

Section Proof.
Variable place : nat -> nat -> nat.
Variable mark : nat -> nat -> val.
Variable kernel : bool.
Hypothesis mark_positive : forall c k, 0 < mark c k.
Hypothesis mark_grows : forall c k k', place c k = place c k' -> k < k' -> mark c k < mark c k'.
Variable n : nat.

Notation program := (wakeup_program place mark kernel the_c).
Implicit Types (m : mem loc) (w : tid -> local) (x : world).

Definition acts (l : local) : list act := match l with Acts a => a | _ => [] end.

Definition sorted (h : list (message loc)) :=
  forall i i' g g', i <= i' -> nth_error h i = Some g -> nth_error h i' = Some g' -> value g <= value g'.

(* A view has a message of l whose value is b at least. *)
Definition has m v (l : loc) (b : nat) :=
  exists i g, i <= v (At l) /\ nth_error (hist m l) i = Some g /\ b <= value g.
(* And so knows of event k of source c, and of the source. *)
Definition knows m v c k := has m v (Word c (place c k)) (mark c k) /\ has m v Used (S c).

Lemma nth_app_one {A} (h : list A) z i g :
  nth_error (h ++ [z]) i = Some g -> nth_error h i = Some g \/ (i = length h /\ g = z).
Proof.
  intros H. destruct (Nat.lt_ge_cases i (length h)).
  - left. rewrite nth_error_app1 in H; auto.
  - right. rewrite nth_error_app2 in H by auto. destruct (i - length h) eqn:D.
    + inversion H. split; auto. lia.
    + destruct n0; discriminate.
Qed.
Lemma nth_app_old {A} (h more : list A) i g : nth_error h i = Some g -> nth_error (h ++ more) i = Some g.
Proof. intros H. rewrite nth_error_app1; eauto using nth_error_lt. Qed.
Lemma nth_app_new {A} (h : list A) z : nth_error (h ++ [z]) (length h) = Some z.
Proof. rewrite nth_error_app2, Nat.sub_diag; auto. Qed.

Lemma sorted_one z : sorted [z].
Proof. intros [|[|?]] [|[|?]] g g' ? H H'; simpl in *; congruence || (inversion H; inversion H'; subst; auto). Qed.
Lemma sorted_app h z : sorted h -> (forall i g, nth_error h i = Some g -> value g <= value z) -> sorted (h ++ [z]).
Proof.
  intros Hs Hz i i' g g' Hi H H'.
  apply nth_app_one in H. apply nth_app_one in H'.
  destruct H as [H|[-> ->]], H' as [H'|[-> ->]]; eauto.
  apply nth_error_lt in H'. lia.
Qed.

Lemma has_grows m m' v v' l b : grows m m' -> (forall l, v (At l) <= v' (At l)) -> has m v l b -> has m' v' l b.
Proof.
  intros G V [i [g [Hi [Hg Hb]]]]. exists i, g. destruct (g_hist _ _ G l) as [e ->].
  split; [specialize (V l); lia|]. split; auto. apply nth_app_old; auto.
Qed.
Lemma knows_grows m m' v v' c k : grows m m' -> (forall l, v (At l) <= v' (At l)) -> knows m v c k -> knows m' v' c k.
Proof. intros G V [H H']. split; eauto using has_grows. Qed.
Lemma has_cur m m' t l b : grows m m' -> has m (cur (thr m t)) l b -> has m' (cur (thr m' t)) l b.
Proof. intros G. apply (has_grows _ _ _ _ _ _ G). intros. apply (g_cur _ _ G). Qed.
Lemma knows_cur m m' t c k : grows m m' -> knows m (cur (thr m t)) c k -> knows m' (cur (thr m' t)) c k.
Proof. intros G. apply (knows_grows _ _ _ _ _ _ G). intros. apply (g_cur _ _ G). Qed.
Lemma knows_sc m m' c k : grows m m' -> knows m (sc m) c k -> knows m' (sc m') c k.
Proof. intros G. apply (knows_grows _ _ _ _ _ _ G). apply (g_sc _ _ G). Qed.
Lemma has_load m t l b i g : sorted (hist m l) -> has m (cur (thr m t)) l b -> loadable m t l i g -> b <= value g.
Proof. intros Hs [i0 [g0 [H0 [Hg0 Hb]]]] [Hg Hi]. assert (value g0 <= value g) by (eapply Hs; [|eauto|eauto]; lia). lia. Qed.

Record base m w x : Prop := Base {
  b_n : nthr m = n;
  b_wf : wf m;
  b_used : sorted (hist m Used);
  b_words c j : sorted (hist m (Word c j));
  b_last c j i g : nth_error (hist m (Word c j)) i = Some g -> value g <= last x c j;
  b_next c k : published x c <= k -> last x c (place c k) < mark c k;
  b_counts t c : c < counted x t -> has m (cur (thr m t)) Used (S c);
  b_ready t : ready x t = true -> reg m t = true;
  b_joins t : In ToJoin (acts (w t)) -> reg m t = true;
  b_acts t c k : In (ToFence c k) (acts (w t)) \/ In (ToLook c k) (acts (w t)) -> knows m (cur (thr m t)) c k;
  (* What is published has passed a seq_cst fence, or will; or it is of a registered thread, which passes one when it is asked. *)
  b_made c k : k < published x c -> knows m (sc m) c k \/
    exists t, 0 < t < n /\ (In (ToFence c k) (acts (w t)) \/
      kernel = true /\ ready x t = true /\ knows m (cur (thr m t)) c k);
}.

(* Nothing is published. *)
Lemma base_keep m m' w w' x x' : base m w x -> grows m m' -> wf m' ->
  sorted (hist m' Used) -> (forall c j, hist m' (Word c j) = hist m (Word c j)) ->
  published x' = published x -> last x' = last x ->
  (forall t c, c < counted x' t -> c < counted x t \/ has m' (cur (thr m' t)) Used (S c)) ->
  (forall t, ready x' t = true -> ready x t = true \/ reg m' t = true) ->
  (forall t, ready x t = true -> ready x' t = true) ->
  (forall t, reg m t = true -> reg m' t = true) ->
  (forall t, In ToJoin (acts (w' t)) -> In ToJoin (acts (w t)) \/ reg m' t = true) ->
  (forall t c k, In (ToFence c k) (acts (w' t)) \/ In (ToLook c k) (acts (w' t)) ->
    In (ToFence c k) (acts (w t)) \/ In (ToLook c k) (acts (w t))) ->
  (forall t c k, In (ToFence c k) (acts (w t)) -> In (ToFence c k) (acts (w' t)) \/ knows m' (sc m') c k) ->
  base m' w' x'.
Proof.
  intros [] G W EU EW EP EL HC HR HR' HG HJ HA HF.
  constructor; rewrite ?EP, ?EL; intros; rewrite ?EW in *; eauto.
  - rewrite (g_nthr _ _ G); auto.
  - destruct (HC _ _ H); auto. eauto using has_cur.
  - destruct (HR _ H); auto.
  - destruct (HJ _ H); auto.
  - eauto using knows_cur.
  - destruct (b_made0 _ _ H) as [K|[t [Ht [K|[E [K K']]]]]].
    + left. eauto using knows_sc.
    + destruct (HF _ _ _ K); auto. right. eauto.
    + right. exists t. split; auto. right. split; auto. split; auto.
      eauto using knows_cur.
Qed.

(* What is stored in a word of source c: an odd seq, or the mark of an event. *)
Lemma base_store m t o c j (v : val) m' w w' x x' r new : base m w x -> mstep m t (Store o (Word c j) v) r m' -> 0 < t < n ->
  last x c j <= v ->
  last x' = last (noted x c j v) -> counted x' = counted x -> ready x' = ready x ->
  w' = upd w t (Acts (new ++ acts (w t))) ->
  (new = [] /\ published x' = published x /\ (forall k, published x c <= k -> place c k = j -> v < mark c k) \/
   (let k := published x c in
     j = place c k /\ v = mark c k /\ published x' = upd (published x) c (S k) /\ c < counted x t /\
     (new = [ToFence c k] \/ new = [ToLook c k] /\ kernel = true /\ ready x t = true))) ->
  base m' w' x'.
Proof.
  intros B S Ht Hv EL EC ER -> HN.
  assert (G := mstep_grows _ _ _ _ _ S (b_wf _ _ _ B)). destruct G as [G W].
  assert (ER' : reg m' = reg m) by (apply (mstep_reg _ _ _ _ _ S); auto).
  assert (EU : hist m' Used = hist m Used) by (apply (mstep_elsewhere _ _ _ _ _ _ S); simpl; congruence).
  assert (EW : forall c' j', Word c j <> Word c' j' -> hist m' (Word c' j') = hist m (Word c' j'))
    by (intros; apply (mstep_elsewhere _ _ _ _ _ _ S); simpl; congruence).
  assert (EH : exists u, hist m' (Word c j) = hist m (Word c j) ++ [Message v u]).
  { inversion S; subst. simpl. rewrite upd_same. eauto. }
  destruct EH as [u EH].
  assert (KN : length (hist m (Word c j)) <= cur (thr m' t) (At (Word c j))).
  { inversion S; subst. apply store_knows. }
  clear S. destruct B.
  assert (OLD : forall t' c' k', knows m (cur (thr m t')) c' k' -> knows m' (cur (thr m' t')) c' k').
  { intros. eauto using knows_cur. }
  assert (NEW : j = place c (published x c) -> v = mark c (published x c) -> c < counted x t ->
    knows m' (cur (thr m' t)) c (published x c)).
  { intros -> -> HC. split.
    - exists (length (hist m (Word c (place c (published x c))))). exists (Message (mark c (published x c)) u).
      split; auto. split; auto. rewrite EH. apply nth_app_new.
    - eauto using has_cur. }
  constructor; auto.
  - rewrite (g_nthr _ _ G); auto.
  - rewrite EU; auto.
  - intros c' j'. destruct (loc_eq (Word c j) (Word c' j')) as [E|E]; [|rewrite EW; auto].
    injection E as <- <-. rewrite EH. apply sorted_app; auto. simpl. intros i g Hg. apply b_last0 in Hg. lia.
  - intros c' j' i g Hg. rewrite EL. simpl. unfold eq_dec, EqDec_nat.
    destruct (Nat.eq_dec c c'); [subst c'; destruct (Nat.eq_dec j j'); [subst j'|]|].
    + rewrite EH in Hg. apply nth_app_one in Hg. destruct Hg as [Hg|[_ ->]]; auto.
      apply b_last0 in Hg. lia.
    + rewrite EW in Hg by congruence. eauto.
    + rewrite EW in Hg by congruence. eauto.
  - intros c' k Hk. rewrite EL. simpl. unfold eq_dec, EqDec_nat.
    assert (Hk' : published x c' <= k).
    { destruct HN as [[_ [E _]]|[_ [_ [E _]]]]; rewrite E in Hk; auto.
      unfold upd in Hk. destruct (eq_dec c c'); subst; lia. }
    destruct (Nat.eq_dec c c'); [subst c'; destruct (Nat.eq_dec j (place c k)); [subst j|]|]; auto.
    destruct HN as [[_ [E H]]|[Ej [-> [E _]]]]; auto.
    rewrite E, upd_same in Hk. apply mark_grows; auto.
  - intros t' c' Hc. rewrite EC in Hc. eauto using has_cur.
  - rewrite ER, ER'. auto.
  - intros t' H. rewrite ER'. apply b_joins0. unfold upd in H. destruct (eq_dec t t'); auto. subst t'. simpl in H.
    apply in_app_iff in H. destruct H as [H|H]; auto.
    destruct HN as [[-> _]|[_ [_ [_ [_ [->|[-> _]]]]]]]; simpl in H; try destruct H; try congruence; tauto.
  - intros t' c' k' H. unfold upd in H. destruct (eq_dec t t'); [|apply OLD; auto]. subst t'. simpl in H.
    assert (H' : In (ToFence c' k') new \/ In (ToLook c' k') new \/
                 (In (ToFence c' k') (acts (w t)) \/ In (ToLook c' k') (acts (w t)))).
    { rewrite !in_app_iff in H. tauto. }
    destruct H' as [H'|[H'|H']]; auto;
      destruct HN as [[-> _]|[? [? [? [? [->|[-> [? ?]]]]]]]]; simpl in H';
      try contradiction; destruct H' as [H'|H']; try contradiction; try discriminate;
      injection H' as <- <-; auto.
  - intros c' k Hk.
    assert (Hk' : k < published x c' \/ (c' = c /\ k = published x c)).
    { destruct HN as [[_ [E _]]|[_ [_ [E _]]]]; rewrite E in Hk; auto.
      unfold upd in Hk. destruct (eq_dec c c'); subst; lia. }
    destruct Hk' as [Hk'|[-> ->]].
    + destruct (b_made0 _ _ Hk') as [K|[t' [Ht' [K|[E [K K']]]]]].
      * left. eauto using knows_sc.
      * right. exists t'. split; auto. left. unfold upd. destruct (eq_dec t t'); auto. subst. simpl.
        apply in_app_iff; auto.
      * right. exists t'. split; auto. right. rewrite ER. auto.
    + destruct HN as [[_ [E _]]|[? [? [? [? [->|[-> [? ?]]]]]]]].
      * rewrite E in Hk. lia.
      * right. exists t. split; auto. left. rewrite upd_same. simpl. auto.
      * right. exists t. split; auto. right. rewrite ER. auto.
Qed.

Ltac case_upd := match goal with |- context [@eq_dec ?A ?I ?a ?b] => destruct (@eq_dec A I a b) end.

Definition of (s : state loc local world) (P : mem loc -> (tid -> local) -> world -> Prop) := P (memory s) (where_ s) (beside s).

Lemma reg_grows m t e r m' : mstep m t e r m' -> forall u, reg m u = true -> reg m' u = true.
Proof. intros S. destruct S; simpl; auto. intros u ->. apply orb_true_r. Qed.

Lemma load_keeps_hist m t o l r m' : mstep m t (Load o l) r m' -> forall l', hist m' l' = hist m l'.
Proof. intros S l'. inversion S; subst. simpl. unfold upd. destruct (eq_dec l l'); subst; auto. Qed.

Lemma elsewhere_keeps m t e r m' : mstep m t e r m' -> elsewhere e ->
  forall l, (forall i, l <> Else i) -> hist m' l = hist m l.
Proof.
  intros S E l Hl. apply (mstep_elsewhere _ _ _ _ _ _ S). intros H.
  unfold elsewhere in E. rewrite H in E. destruct l; try contradiction. eapply Hl; eauto.
Qed.

Lemma acts_upd w t l u : acts (upd w t (Acts l) u) = if eq_dec t u then l else acts (w u).
Proof. unfold upd. destruct (eq_dec t u); auto. Qed.
Lemma acts_upd_0 w l : acts (w 0) = acts l -> forall u, acts (upd w 0 l u) = acts (w u).
Proof. intros H u. unfold upd. destruct (eq_dec (0 : tid) u) as [E|E]; subst; auto. Qed.

(* The step of a writer that changes what it has to do, publishes nothing and counts nothing. *)
Lemma base_acts m t e r m' w x a p new b : base m w x -> mstep m t e r m' -> 0 < t < n -> w t = Acts (a ++ p ++ b) ->
  (forall l, (forall i, l <> Else i) -> l <> Flag -> l <> Sock -> hist m' l = hist m l) ->
  (In ToJoin new -> reg m' t = true) ->
  (forall c k, In (ToFence c k) new \/ In (ToLook c k) new -> In (ToFence c k) p \/ In (ToLook c k) p) ->
  (forall c k, In (ToFence c k) p -> e = FenceSc) ->
  base m' (upd w t (Acts (a ++ new ++ b))) x.
Proof.
  intros B S Ht Hw HH HJ HA HF.
  assert (G := mstep_grows _ _ _ _ _ S (b_wf _ _ _ B)). destruct G as [G W].
  apply base_keep with (m := m) (w := w) (x := x); auto.
  - rewrite HH by congruence. apply (b_used _ _ _ B).
  - intros. apply HH; congruence.
  - apply (reg_grows _ _ _ _ _ S).
  - intros u. rewrite acts_upd. destruct (eq_dec t u); auto. subst u. rewrite Hw. simpl. rewrite !in_app_iff. tauto.
  - intros u c k. rewrite acts_upd. destruct (eq_dec t u); auto. subst u. rewrite Hw. simpl. rewrite !in_app_iff.
    specialize (HA c k). tauto.
  - intros u c k. rewrite acts_upd. destruct (eq_dec t u); auto. subst u. intros H. assert (H0 := H).
    rewrite Hw in H. simpl in H. rewrite !in_app_iff in *.
    destruct H as [H|[H|H]]; auto. right. assert (e = FenceSc) by eauto. subst e. inversion S; subst.
    eapply knows_grows; [exact G | | apply (b_acts _ _ _ B t); auto].
    intros l. apply fence_sc_gives. apply (b_wf _ _ _ B).
Qed.


(* A writer learns of sources. *)
Lemma base_counts m t e r m' w x u : base m w x -> mstep m t e r m' -> 0 < t < n ->
  (exists o (v : val) b, (e = FetchAdd o Used 1 /\ r = (v, b) /\ u = S v) \/ (e = Load o Used /\ r = (v, b) /\ u = v)) ->
  base m' (upd w t (Acts ([] ++ acts (w t)))) (know x t u).
Proof.
  intros B St Ht HE.
  assert (G := mstep_grows _ _ _ _ _ St (b_wf _ _ _ B)). destruct G as [G W].
  assert (HW : forall c j, hist m' (Word c j) = hist m (Word c j)).
  { intros. apply (mstep_elsewhere _ _ _ _ _ _ St). destruct HE as [o [v [b [[-> _]|[-> _]]]]]; simpl; congruence. }
  assert (K : sorted (hist m' Used) /\ has m' (cur (thr m' t)) Used u).
  { destruct HE as [o [v [b [[-> [-> ->]]|[-> [-> ->]]]]]].
    - assert (E : exists g z, newest m Used g /\ value g = v /\ hist m' Used = hist m Used ++ [Message (S v) z] /\
                  length (hist m Used) <= cur (thr m' t) (At Used)).
      { inversion St; subst. exists g. eexists. split; auto. split; auto. simpl. rewrite !upd_same. simpl.
        rewrite Nat.add_1_r. split; auto.
        assert (T := touch_at m t Used (length (hist m Used))). destruct (is_acq o); unfold join; lia. }
      destruct E as [g [z [Hn [E1 [E2 E3]]]]]. rewrite E2. split.
      + apply sorted_app; [apply (b_used _ _ _ B)|]. intros i g' Hg. simpl.
        assert (value g' <= value g); [|lia]. eapply (b_used _ _ _ B); [|eauto|exact Hn].
        apply nth_error_lt in Hg. lia.
      + exists (length (hist m Used)), (Message (S v) z). split; auto. rewrite E2. split; [apply nth_app_new|simpl; lia].
    - inversion St; subst. split; [apply (b_used _ _ _ B)|].
      exists i, g. split; [apply load_knows|]. split; auto.
      match goal with H : loadable _ _ _ _ _ |- _ => apply H end. }
  destruct K as [K1 K2].
  apply base_keep with (m := m) (w := w) (x := x); auto.
  - intros t' c. simpl. unfold upd. destruct (eq_dec t t'); auto. subst t'. intros Hc.
    destruct (Nat.lt_ge_cases c (counted x t)); auto. right.
    destruct K2 as [i [g [H1 [H2 H3]]]]. exists i, g. split; auto. split; auto. lia.
  - apply (reg_grows _ _ _ _ _ St).
  - intros t'. rewrite acts_upd. destruct (eq_dec t t'); auto. subst. auto.
  - intros t' c k. rewrite acts_upd. destruct (eq_dec t t'); auto. subst. auto.
  - intros t' c k. rewrite acts_upd. destruct (eq_dec t t'); auto. subst. auto.
Qed.

Lemma base_start registered sources :
  base (memory (wakeup_start n registered sources)) (where_ (wakeup_start n registered sources))
       (beside (wakeup_start n registered sources)).
Proof.
  assert (A : forall t, acts (where_ (wakeup_start n registered sources) t) = []).
  { intros t. simpl. destruct (t =? 0); auto. }
  constructor; auto; try (intros; rewrite A in *; simpl in *; tauto); simpl; intros; auto using sorted_one; try lia.
  - apply wf_start.
  - destruct i as [|i]; [injection H as <-; simpl; lia|]. destruct i; discriminate.
  - exists 0, (Message sources bottom). simpl. auto.
Qed.

(* A step of the collector, or of a membarrier: no writer moves. *)
Lemma base_still m m' w l x x' : base m w x -> grows m m' -> wf m' -> acts (w 0) = acts l ->
  hist m' Used = hist m Used -> (forall c j, hist m' (Word c j) = hist m (Word c j)) -> (forall t, reg m t = true -> reg m' t =
    true) ->
  published x' = published x -> last x' = last x -> counted x' = counted x -> ready x' = ready x ->
  base m' (upd w 0 l) x'.
Proof.
  intros B G W HA EU EW HR EP EL EC ER.
  apply base_keep with (m := m) (w := w) (x := x); auto; rewrite ?EU, ?EC, ?ER; auto;
    try (intros *; rewrite (acts_upd_0 w l HA); auto).
  apply (b_used _ _ _ B).
Qed.

Lemma collects_keeps x l e r l' x' m m' : collects place mark kernel the_c x l e r l' x' -> mstep m 0 e r m' ->
  acts l = [] /\ acts l' = [] /\ hist m' Used = hist m Used /\ (forall c j, hist m' (Word c j) = hist m (Word c j)) /\
  published x' = published x /\ last x' = last x /\ counted x' = counted x /\ ready x' = ready x.
Proof.
  intros C S.
  assert (F : forall c v f y, finds mark x c v f y ->
    published y = published x /\ last y = last x /\ counted y = counted x /\ ready y = ready x) by (intros; destruct H; auto).
  destruct C; simpl; try match goal with H : finds _ _ _ _ _ _ |- _ => apply F in H; destruct H as [? [? [? ?]]] end;
    try (destruct (v =? 0)); try (destruct kernel; simpl); simpl;
    repeat split; auto; intros;
    try (eapply elsewhere_keeps; eauto; congruence);
    try (eapply mstep_elsewhere; eauto; simpl; congruence).
  all: eapply load_keeps_hist; eauto.
Qed.

Lemma base_step s s' : step program s s' -> of s base -> of s' base.
Proof.
  intros St B. unfold of in *. destruct St as [m w x t e r l' x' m' Ht D S|m w x t l' x' Ht D|m w x c t Hp]; simpl in *;
    try rewrite (b_n _ _ _ B) in Ht.
  - destruct (mstep_grows _ _ _ _ _ S (b_wf _ _ _ B)) as [G W]. remember (w t) as l0 eqn:El. symmetry in El.
    destruct D as [l x e r new x' Ht0 D|a b p x e r new x' Ht0 D|x l e r l' x' Ht0 D].
    + assert (Hl : acts (w t) = l) by (rewrite El; auto). assert (Ht' : 0 < t < n) by lia.
      destruct D.
      * apply (base_acts _ _ _ _ _ _ _ [] [] [] l B S Ht' El); simpl; auto; try tauto.
        intros. eapply elsewhere_keeps; eauto.
      * subst l. apply (base_counts _ _ _ _ _ _ _ _ B S Ht'). eauto 8.
      * subst l. apply (base_counts _ _ _ _ _ _ _ _ B S Ht'). eauto 8.
      * subst l. apply (base_store _ _ _ _ _ _ _ _ _ _ _ _ [] B S); simpl; auto.
      * subst l. apply (base_store _ _ _ _ _ _ _ _ _ _ _ _ [ToFence c k] B S); simpl; auto 10.
        apply Nat.lt_le_incl. apply (b_next _ _ _ B). auto.
      * subst l. apply (base_store _ _ _ _ _ _ _ _ _ _ _ _ [ToLook c k] B S); simpl; auto 10.
        apply Nat.lt_le_incl. apply (b_next _ _ _ B). auto.
      * apply (base_acts _ _ _ _ _ _ _ [] [] [ToJoin] l B S Ht' El); simpl; try tauto.
        -- intros. apply (mstep_elsewhere _ _ _ _ _ _ S). simpl. congruence.
        -- intros _. inversion S; subst. simpl. rewrite Nat.eqb_refl. auto.
        -- intros c k [[H|H]|[H|H]]; try discriminate; tauto.
    + assert (Ht' : 0 < t < n) by lia. change (a ++ p :: b) with (a ++ [p] ++ b) in El.
      destruct D.
      * apply (base_acts _ _ _ _ _ _ _ a [ToFence c k] [ToLook c k] b B S Ht' El); simpl; auto.
        -- intros. apply (mstep_elsewhere _ _ _ _ _ _ S). simpl. congruence.
        -- intros [H0|[]]. discriminate.
        -- intros c' k' [[H0|[]]|[H0|[]]]; try discriminate. inversion H0. auto.
      * apply (base_acts _ _ _ _ _ _ _ a [ToLook c k] _ b B S Ht' El); simpl; auto.
        -- intros. apply (mstep_elsewhere _ _ _ _ _ _ S). simpl. congruence.
        -- destruct (v =? 1); simpl; intuition discriminate.
        -- destruct (v =? 1); simpl; intuition discriminate.
        -- intuition discriminate.
      * apply (base_acts _ _ _ _ _ _ _ a [ToTake c k] _ b B S Ht' El); simpl; auto.
        -- intros. apply (mstep_elsewhere _ _ _ _ _ _ S). simpl. congruence.
        -- destruct (v =? 1); simpl; intuition discriminate.
        -- destruct (v =? 1); simpl; intuition discriminate.
        -- intuition discriminate.
      * apply (base_acts _ _ _ _ _ _ _ a [ToSend] [] b B S Ht' El); simpl; try tauto.
        -- intros. apply (mstep_elsewhere _ _ _ _ _ _ S). simpl. congruence.
        -- intuition discriminate.
      * assert (B' : base m' (upd w t (Acts (a ++ [] ++ b))) x).
        { apply (base_acts _ _ _ _ _ _ _ a [ToJoin] [] b B S Ht' El); simpl; try tauto.
          - intros. apply (mstep_elsewhere _ _ _ _ _ _ S). simpl. congruence. }
        apply (base_keep _ _ _ _ _ _ B' (grows_refl m')); simpl; auto; try (apply (b_used _ _ _ B')).
        -- intros u. unfold upd. case_upd; auto. subst u. intros _. right.
           eapply reg_grows; eauto. apply (b_joins _ _ _ B). rewrite El. simpl. rewrite in_app_iff. simpl. auto.
        -- intros u H0. unfold upd. case_upd; auto.
    + subst t. destruct (collects_keeps _ _ _ _ _ _ _ _ D S) as [A [A' [EU [EW [E1 [E2 [E3 E4]]]]]]].
      apply (base_still m m' w l' x x'); auto; try congruence; try (rewrite El; congruence).
      apply (reg_grows _ _ _ _ _ S).
  - remember (w t) as l0 eqn:El. symmetry in El. destruct D as [l l' x -> D|? ? ? ? ? ? H|? ? ? ? H]; try discriminate.
    apply (base_still m m w l' x x); auto using grows_refl; try apply (b_wf _ _ _ B).
    rewrite El. destruct D; auto. discriminate.
  - destruct (reaches_grows m c t (b_wf _ _ _ B)) as [G W].
    apply (base_keep _ _ _ _ _ _ B G); auto. apply (b_used _ _ _ B).
Qed.

(* --- why a writer cannot miss the flag -------------------------------------------------------------------------------------- *)

(* j is the number of the last message of the flag that is 1: the collector's. After it there are only zeros. *)
Definition last_one m j :=
  (exists g, nth_error (hist m Flag) j = Some g /\ value g = 1) /\
  (forall i g, j < i -> nth_error (hist m Flag) i = Some g -> value g = 0).
Definition raised m j := length (hist m Flag) = S j.

(* Somebody has taken that message, and has not sent the byte; or the byte is there. Z: or the collector has had it. *)
Definition answered m w j (Z : Prop) :=
  (exists t, 0 < t < n /\ In ToSend (acts (w t)) /\ j < cur (thr m t) (At Flag)) \/
  (exists g, newest m Sock g /\ 0 < value g /\ j < with_ g (At Flag)) \/ Z.

(* The thread that has published event k of source c has yet to look, and cannot miss message j; or it has looked. *)
Definition on_its_way m w j (pd : list tid) c k := exists t, 0 < t < n /\
  (In (ToFence c k) (acts (w t)) \/
   (In (ToLook c k) (acts (w t)) /\ (j <= cur (thr m t) (At Flag) \/ In t pd)) \/
   In (ToTake c k) (acts (w t))).
Definition told m w j pd Z c k :=
  on_its_way m w j pd c k \/ answered m w j Z \/ (exists t, 0 < t < n /\ In t pd /\ knows m (cur (thr m t)) c k).

(* pd: the threads that the membarrier has yet to reach. v: what the collector knows, or will know when it returns. *)
Record core m w x j pd (v : view loc) Z : Prop := Core {
  k_last : last_one m j;
  k_flag : raised m j \/ answered m w j Z;
  k_sc : j <= sc m (At Flag);
  k_ready t : 0 < t < n -> kernel = true -> ready x t = true -> j <= cur (thr m t) (At Flag) \/ In t pd;
  k_all c k : k < published x c -> knows m v c k \/ told m w j pd Z c k;
}.

(* One step of a writer: p becomes new. *)
Definition moves t x e r p new x' :=
  (p = [] /\ begins place mark kernel t x e r new x') \/ (exists a, p = [a] /\ works the_c t x a e r new x').

Lemma moves_sock t x e r p new x' m m' : moves t x e r p new x' -> mstep m t e r m' -> p <> [ToSend] -> hist m' Sock = hist m
  Sock.
Proof.
  intros [[_ D]|[a [-> D]]] St HP; destruct D; try congruence;
    try (eapply elsewhere_keeps; eauto; congruence); try (eapply mstep_elsewhere; eauto; simpl; congruence).
Qed.

Lemma moves_flag t x e r p new x' m m' : moves t x e r p new x' -> mstep m t e r m' -> (forall c k, p <> [ToTake c k]) ->
  hist m' Flag = hist m Flag.
Proof.
  intros [[_ D]|[a [-> D]]] St HP; destruct D;
    try (eapply elsewhere_keeps; eauto; congruence); try (eapply mstep_elsewhere; eauto; simpl; congruence);
    try solve [eapply load_keeps_hist; eauto].
  exfalso. apply (HP c k). auto.
Qed.

Lemma newest_same m m' l g : hist m' l = hist m l -> newest m l g -> newest m' l g.
Proof. unfold newest. intros ->. auto. Qed.

Lemma nth_app_last {A} (h : list A) z : nth_error (h ++ [z]) (pred (length (h ++ [z]))) = Some z.
Proof. replace (pred (length (h ++ [z]))) with (length h) by (rewrite app_length; simpl; lia). apply nth_app_new. Qed.

Lemma sends m t o r m' : mstep m t (FetchAdd o Sock 1) r m' -> is_rel o = true ->
  exists g', newest m' Sock g' /\ 0 < value g' /\ (forall k, cur (thr m t) k <= with_ g' k) /\
    (forall g, newest m Sock g -> forall k, with_ g k <= with_ g' k).
Proof.
  intros St Ho. inversion St; subst. eexists. split.
  - unfold newest. simpl. rewrite upd_same. apply nth_app_last.
  - simpl. rewrite Ho. split; [lia|]. split.
    + intros k. assert (T := touch_cur m t Sock (length (hist m Sock)) k). unfold join. destruct (is_acq o); simpl; lia.
    + intros g' Hg' k. unfold newest in *. assert (g' = g) by congruence. subst. unfold join. lia.
Qed.

Lemma answered_moves m w x t e r p new x' m' a b j (Z Z' : Prop) : base m w x -> moves t x e r p new x' -> mstep m t e r m' ->
  0 < t < n -> w t = Acts (a ++ p ++ b) -> (Z -> Z') ->
  answered m w j Z -> answered m' (upd w t (Acts (a ++ new ++ b))) j Z'.
Proof.
  intros B M St Ht Hw HZ H.
  assert (G := proj1 (mstep_grows _ _ _ _ _ St (b_wf _ _ _ B))).
  destruct H as [[u [Hu [Hin Hc]]]|[[g [Hg [Hv Hj]]]|H]]; [| |right; right; auto].
  - assert (Hc' : j < cur (thr m' u) (At Flag)) by (eapply Nat.lt_le_trans; [exact Hc|apply (g_cur _ _ G)]).
    destruct (Nat.eq_dec t u) as [->|Hne].
    + rewrite Hw in Hin. simpl in Hin. rewrite !in_app_iff in Hin.
      assert (D : In ToSend p \/ In ToSend (a ++ new ++ b)) by (rewrite !in_app_iff; tauto).
      destruct D as [D|D].
      * destruct M as [[-> _]|[q [-> M]]]; [destruct D|destruct D as [D|[]]]. subst q. inversion M; subst.
        destruct (sends _ _ _ _ _ St H) as [g [H1 [H2 [H3 _]]]].
        right; left. exists g. split; auto. split; auto. eapply Nat.lt_le_trans; [exact Hc|apply H3].
      * left. exists u. split; auto. split; auto. rewrite acts_upd. case_upd; congruence.
    + left. exists u. split; auto. split; auto. rewrite acts_upd. case_upd; auto; congruence.
  - assert (D : p = [ToSend] \/ p <> [ToSend]).
    { destruct p as [|[] [|]]; auto; right; congruence. }
    destruct D as [->|D].
    + destruct M as [[Q _]|[q [Q M]]]; [discriminate|]. injection Q as <-. inversion M; subst.
      destruct (sends _ _ _ _ _ St H) as [g' [H1 [H2 [H3 H4]]]].
      right; left. exists g'. split; auto. split; auto. eapply Nat.lt_le_trans; [exact Hj|auto].
    + right; left. exists g. split; auto. eapply newest_same; [|exact Hg]. eapply moves_sock; eauto.
Qed.

Lemma last_one_moves m x t e r p new x' m' j : moves t x e r p new x' -> mstep m t e r m' -> last_one m j -> last_one m' j.
Proof.
  intros M St L.
  assert (D : (exists c k, p = [ToTake c k]) \/ (forall c k, p <> [ToTake c k])).
  { destruct p as [|[] [|]]; try (right; congruence). left. eauto. }
  destruct D as [[c [k ->]]|D].
  - destruct M as [[Q _]|[q [Q M]]]; [discriminate|]. injection Q as <-. inversion M; subst.
    destruct L as [[g [Hg Hv]] L].
    assert (E : exists u, hist m' Flag = hist m Flag ++ [Message 0 u]).
    { inversion St; subst. simpl. rewrite upd_same. eauto. }
    destruct E as [u E]. split.
    + exists g. rewrite E. split; auto. apply nth_app_old; auto.
    + intros i g' Hi. rewrite E. intros H. apply nth_app_one in H. destruct H as [H|[_ ->]]; eauto.
  - assert (E := moves_flag _ _ _ _ _ _ _ _ _ M St D). unfold last_one. rewrite E. auto.
Qed.

(* Who reads something else than message j, and nothing older, finds that it was taken. *)
Lemma not_one m j i g : last_one m j -> j <= i -> nth_error (hist m Flag) i = Some g -> value g <> 1 -> ~ raised m j.
Proof.
  intros [[g' [Hg' Hv]] L] Hi Hg Hn Hr. unfold raised in Hr. apply nth_error_lt in Hg as Hl.
  assert (i = j) by lia. subst. congruence.
Qed.
Lemma raised_newest m j g : last_one m j -> newest m Flag g -> raised m j -> value g = 1.
Proof.
  intros [[g' [Hg' Hv]] _] Hn Hr. unfold newest in Hn. rewrite Hr in Hn. simpl in Hn. congruence.
Qed.
Lemma newest_one m j g : last_one m j -> newest m Flag g -> value g = 1 -> raised m j.
Proof.
  intros [[g' [Hg' Hv]] L] Hn H1. unfold newest in Hn. apply nth_error_lt in Hg'. unfold raised.
  destruct (Nat.eq_dec (pred (length (hist m Flag))) j); [lia|].
  assert (value g = 0); [|congruence]. eapply L; [|exact Hn]. lia.
Qed.

Lemma takes_flag m t o v b m' : mstep m t (Exchange o Flag 0) (v, b) m' ->
  exists g, newest m Flag g /\ v = value g /\ length (hist m Flag) <= cur (thr m' t) (At Flag).
Proof.
  intros St. inversion St; subst. exists g. split; auto. split; auto. simpl. rewrite upd_same. simpl.
  assert (T := touch_at m t Flag (length (hist m Flag))). destruct (is_acq o); unfold join; lia.
Qed.

Lemma flag_moves m w x t e r p new x' m' a b j (Z Z' : Prop) : base m w x -> moves t x e r p new x' -> mstep m t e r m' ->
  0 < t < n -> w t = Acts (a ++ p ++ b) -> (Z -> Z') -> last_one m j ->
  raised m j \/ answered m w j Z -> raised m' j \/ answered m' (upd w t (Acts (a ++ new ++ b))) j Z'.
Proof.
  intros B M St Ht Hw HZ L [R|A]; [|right; eapply answered_moves; eauto].
  assert (D : (exists c k, p = [ToTake c k]) \/ (forall c k, p <> [ToTake c k])).
  { destruct p as [|[] [|]]; try (right; congruence). left. eauto. }
  destruct D as [[c [k ->]]|D].
  - right. destruct M as [[Q _]|[q [Q M]]]; [discriminate|]. injection Q as <-. inversion M; subst.
    destruct (takes_flag _ _ _ _ _ _ St) as [g [Hg [-> Hc]]].
    rewrite (raised_newest _ _ _ L Hg R). simpl. left. exists t. split; auto. split.
    + rewrite acts_upd. case_upd; [|congruence]. rewrite in_app_iff. simpl. auto.
    + unfold raised in R. lia.
  - left. unfold raised. rewrite (moves_flag _ _ _ _ _ _ _ _ _ M St D). auto.
Qed.

Lemma told_moves m w x t e r p new x' m' a b j pd (Z Z' : Prop) c k : base m w x -> moves t x e r p new x' -> mstep m t e r m' ->
  0 < t < n -> w t = Acts (a ++ p ++ b) -> (Z -> Z') -> last_one m j -> raised m j \/ answered m w j Z ->
  j <= sc m (At Flag) -> told m w j pd Z c k -> told m' (upd w t (Acts (a ++ new ++ b))) j pd Z' c k.
Proof.
  intros B M St Ht Hw HZ L F S [[u [Hu H]]|[H|[u [Hu [Hin H]]]]].
  - assert (G := proj1 (mstep_grows _ _ _ _ _ St (b_wf _ _ _ B))).
    destruct (Nat.eq_dec t u) as [->|Hne].
    + (* It is still to do, or it is what has been done. *)
      assert (A' : acts (upd w u (Acts (a ++ new ++ b)) u) = a ++ new ++ b) by (rewrite acts_upd; case_upd; congruence).
      assert (K : forall y, In y (acts (w u)) -> In y p \/ In y (a ++ new ++ b)).
      { rewrite Hw. simpl. intros y. rewrite !in_app_iff. tauto. }
      assert (P : forall y, In y p -> p = [y]).
      { intros y Hy. destruct M as [[-> _]|[q [-> _]]]; [destruct Hy|destruct Hy as [->|[]]; auto]. }
      destruct H as [H|[[H Hj]|H]].
      * destruct (K _ H) as [H'|H']; [|left; exists u; rewrite A'; auto].
        apply P in H'. subst p. destruct M as [[Q _]|[q [Q M]]]; [discriminate|]. injection Q as <-. inversion M; subst.
        left. exists u. split; auto. right. left. rewrite A'. split; [rewrite in_app_iff; simpl; auto|].
        left. inversion St; subst. eapply Nat.le_trans; [exact S|]. apply fence_sc_gets.
      * destruct (K _ H) as [H'|H'].
        2: { left. exists u. rewrite A'. split; auto. right. left. split; auto. destruct Hj as [Hj|Hj]; auto.
             left. eapply Nat.le_trans; [exact Hj|apply (g_cur _ _ G)]. }
        destruct Hj as [Hj|Hj].
        2: { right. right. exists u. split; auto. split; auto. apply (knows_cur _ _ _ _ _ G), (b_acts _ _ _ B). auto. }
        apply P in H'. subst p. destruct M as [[Q _]|[q [Q M]]]; [discriminate|]. injection Q as <-. inversion M; subst.
        destruct (Nat.eqb_spec v 1) as [E|E].
        -- left. exists u. split; auto. right. right. rewrite A'. rewrite in_app_iff. simpl. auto.
        -- right. left. eapply (answered_moves _ _ _ u); eauto.
           { right. exists (ToLook c k). split; auto. exact M. } destruct (Nat.eqb_spec v 1); [congruence|].
           destruct F as [F|F]; auto. exfalso. inversion St; subst.
           match goal with H : loadable _ _ _ _ _ |- _ => destruct H as [Hg Hi] end.
           exact (not_one _ _ _ _ L (Nat.le_trans _ _ _ Hj Hi) Hg E F).
      * destruct (K _ H) as [H'|H']; [|left; exists u; rewrite A'; auto].
        apply P in H'. subst p. destruct M as [[Q _]|[q [Q M]]]; [discriminate|]. injection Q as <-. inversion M; subst.
        destruct (flag_moves _ _ _ _ _ _ [ToTake c k] _ _ _ a b j Z Z' B (or_intror (ex_intro _ _ (conj eq_refl M))) St Ht Hw HZ
          L F)
          as [R|R]; [|right; left; exact R].
        exfalso. destruct (takes_flag _ _ _ _ _ _ St) as [g [Hg _]]. unfold raised in R.
        assert (E : exists z, hist m' Flag = hist m Flag ++ [z]) by (inversion St; subst; simpl; rewrite upd_same; eauto).
        destruct E as [z E]. rewrite E, app_length in R. simpl in R. destruct L as [[g' [Hg' _]] _].
        apply nth_error_lt in Hg'. lia.
    + left. exists u. split; auto. rewrite acts_upd. case_upd; [congruence|].
      destruct H as [H|[[H [Hj|Hj]]|H]]; auto. right. left. split; auto.
      left. eapply Nat.le_trans; [exact Hj|apply (g_cur _ _ G)].
  - right. left. eapply answered_moves; eauto.
  - right. right. exists u. split; auto. split; auto.
    apply (knows_cur _ _ _ _ _ (proj1 (mstep_grows _ _ _ _ _ St (b_wf _ _ _ B)))). auto.
Qed.

Lemma core_moves m w x t e r p new x' m' a b j pd (v v' : view loc) (Z Z' : Prop) :
  base m w x -> moves t x e r p new x' -> mstep m t e r m' ->
  0 < t < n -> w t = Acts (a ++ p ++ b) -> (Z -> Z') -> (forall l, v (At l) <= v' (At l)) -> core m w x j pd v Z ->
  core m' (upd w t (Acts (a ++ new ++ b))) x' j pd v' Z' /\
  (forall c k, k < published x' c -> k < published x c \/ told m' (upd w t (Acts (a ++ new ++ b))) j pd Z' c k).
Proof.
  intros B M St Ht Hw HZ V [L F S R A].
  assert (G := proj1 (mstep_grows _ _ _ _ _ St (b_wf _ _ _ B))).
  assert (A' : acts (upd w t (Acts (a ++ new ++ b)) t) = a ++ new ++ b) by (rewrite acts_upd; case_upd; congruence).
  assert (R' : forall u, 0 < u < n -> kernel = true -> ready x u = true -> j <= cur (thr m' u) (At Flag) \/ In u pd).
  { intros u H1 H2 H3. destruct (R u H1 H2 H3); auto. left. eapply Nat.le_trans; [eassumption|apply (g_cur _ _ G)]. }
  assert (NEW : forall c k, k < published x' c -> k < published x c \/ told m' (upd w t (Acts (a ++ new ++ b))) j pd Z' c k).
  { intros c0 k0. destruct M as [[-> D]|[q [-> D]]]; destruct D; auto.
    - simpl. unfold upd at 1. case_upd; auto. subst c0. intros Hk.
      destruct (Nat.eq_dec k0 (published x c)); [|left; lia]. right. left. exists t. split; auto. subst k0 k.
      left. rewrite acts_upd. case_upd; [|congruence]. rewrite in_app_iff. simpl. auto.
    - simpl. unfold upd at 1. case_upd; auto. subst c0. intros Hk.
      destruct (Nat.eq_dec k0 (published x c)); [|left; lia]. right. left. exists t. split; auto. subst k0 k.
      right. left. rewrite acts_upd. case_upd; [|congruence]. split; auto. rewrite in_app_iff. simpl. auto. }
  split; [|exact NEW]. constructor.
  - eapply last_one_moves; eauto.
  - eapply flag_moves; eauto.
  - eapply Nat.le_trans; [exact S|apply (g_sc _ _ G)].
  - intros u H1 H2 H3. destruct M as [[-> D]|[q [-> D]]]; destruct D; auto.
    simpl in H3. unfold upd in H3. destruct (Nat.eq_dec t u).
    + subst u. left. inversion St; subst. eapply Nat.le_trans; [exact S|]. apply fence_sc_gets.
    + destruct (eq_dec t u); [congruence|]. auto.
  - intros c k Hk. destruct (NEW c k Hk) as [Hk'|Hk']; auto.
    destruct (A c k Hk'); [left; eapply knows_grows; eauto|right; eapply told_moves; eauto].
Qed.

(* --- steps that are no writer's --------------------------------------------------------------------------------------------- *)

Lemma answered_still m m' w l j (Z Z' : Prop) : grows m m' -> hist m' Sock = hist m Sock -> acts (w 0) = acts l -> (Z -> Z') ->
  answered m w j Z -> answered m' (upd w 0 l) j Z'.
Proof.
  intros G HS HA HZ [[t [Ht [Hi Hj]]]|[[g [Hg H]]|H]].
  - left. exists t. split; auto. rewrite (acts_upd_0 _ _ HA). split; auto.
    eapply Nat.lt_le_trans; [exact Hj|apply (g_cur _ _ G)].
  - right. left. exists g. split; auto. eapply newest_same; eauto.
  - right. right. auto.
Qed.

Lemma told_still m m' w l j pd pd' (Z Z' : Prop) c k : grows m m' -> hist m' Sock = hist m Sock -> acts (w 0) = acts l ->
  (Z -> Z') -> (forall t, 0 < t < n -> In t pd -> In t pd' \/ j <= cur (thr m' t) (At Flag)) ->
  told m w j pd Z c k -> told m' (upd w 0 l) j pd' Z' c k \/
    exists t, 0 < t < n /\ In t pd /\ ~ In t pd' /\ knows m (cur (thr m t)) c k.
Proof.
  intros G HS HA HZ HP [[t [Ht H]]|[H|[t [Ht [Hin H]]]]].
  - left. left. exists t. split; auto. rewrite (acts_upd_0 _ _ HA). destruct H as [H|[[H [Hj|Hj]]|H]]; auto.
    + right. left. split; auto. left. eapply Nat.le_trans; [exact Hj|apply (g_cur _ _ G)].
    + right. left. split; auto. destruct (HP t Ht Hj); auto.
  - left. right. left. eapply answered_still; eauto.
  - destruct (in_dec Nat.eq_dec t pd').
    + left. right. right. exists t. split; auto. split; auto. apply (knows_cur _ _ _ _ _ G H).
    + right. exists t. auto.
Qed.

Lemma core_still m m' w l x x' j pd (v v' : view loc) (Z Z' : Prop) : grows m m' -> hist m' Flag = hist m Flag ->
  hist m' Sock = hist m Sock -> acts (w 0) = acts l -> (Z -> Z') -> published x' = published x -> ready x' = ready x ->
  (forall i, v (At i) <= v' (At i)) -> core m w x j pd v Z -> core m' (upd w 0 l) x' j pd v' Z'.
Proof.
  intros G HF HS HA HZ EP ER V [L F S R A]. constructor.
  - unfold last_one. rewrite HF. exact L.
  - unfold raised. rewrite HF. destruct F; auto. right. eapply answered_still; eauto.
  - eapply Nat.le_trans; [exact S|apply (g_sc _ _ G)].
  - rewrite ER. intros t H1 H2 H3. destruct (R t H1 H2 H3); auto. left.
    eapply Nat.le_trans; [eassumption|apply (g_cur _ _ G)].
  - rewrite EP. intros c k Hk. destruct (A c k Hk) as [K|K]; [left; eapply knows_grows; eauto|right].
    destruct (told_still m m' w l j pd pd Z Z' c k) as [T|[t [_ [H [H' _]]]]]; auto. tauto.
Qed.

(* What is true when the collector is where it is. *)
Definition at_collector m w x (l : local) : Prop :=
  match l with
  | IsSet | ToCall => exists j, last_one m j /\ (raised m j \/ answered m w j False) /\ j <= cur (thr m 0) (At Flag)
  | Reaching => exists j, core m w x j (pend m 0) (sc m) False
  | Looks => exists j, core m w x j [] (cur (thr m 0)) False
  | Looking todo f => exists j, core m w x j [] (cur (thr m 0)) False /\
      (f = false -> forall c, seen x c < published x c -> In c todo \/ told m w j [] False c (seen x c))
  | Asleep => exists j, core m w x j [] (cur (thr m 0)) False /\
      (forall c, seen x c < published x c -> told m w j [] False c (seen x c))
  | Awake true => exists j, core m w x j [] (cur (thr m 0)) (j < cur (thr m 0) (At Flag))
  | _ => True
  end.

Lemma at_moves m w x t e r p new x' m' a b l : base m w x -> moves t x e r p new x' -> mstep m t e r m' ->
  0 < t < n -> w t = Acts (a ++ p ++ b) -> at_collector m w x l -> at_collector m' (upd w t (Acts (a ++ new ++ b))) x' l.
Proof.
  intros B M St Ht Hw H.
  assert (G := proj1 (mstep_grows _ _ _ _ _ St (b_wf _ _ _ B))).
  assert (V0 : forall i, cur (thr m 0) (At i) <= cur (thr m' 0) (At i)) by (intros; apply (g_cur _ _ G)).
  assert (ES : seen x' = seen x) by (destruct M as [[_ D]|[q [_ D]]]; destruct D; auto).
  assert (EP : pend m' 0 = pend m 0) by (eapply mstep_pend_other; eauto; lia).
  assert (FL : forall j, core m w x j [] (cur (thr m 0)) False -> (forall c, seen x c < published x c -> told m w j [] False c
    (seen x c)) ->
    forall c, seen x' c < published x' c -> told m' (upd w t (Acts (a ++ new ++ b))) j [] False c (seen x' c)).
  { intros j C H0 c. rewrite ES. intros Hc.
    destruct (core_moves _ _ _ _ _ _ _ _ _ _ a b _ _ _ _ _ _ B M St Ht Hw (fun z => z) V0 C) as [_ N].
    destruct (N c _ Hc); auto. eapply told_moves; eauto; apply C. }
  assert (CO : forall j, core m w x j [] (cur (thr m 0)) False ->
    core m' (upd w t (Acts (a ++ new ++ b))) x' j [] (cur (thr m' 0)) False).
  { intros j C. apply (core_moves _ _ _ _ _ _ _ _ _ _ a b _ _ _ _ _ _ B M St Ht Hw (fun z => z) V0 C). }
  assert (FO : forall j, last_one m j /\ (raised m j \/ answered m w j False) /\ j <= cur (thr m 0) (At Flag) ->
    last_one m' j /\ (raised m' j \/ answered m' (upd w t (Acts (a ++ new ++ b))) j False) /\ j <= cur (thr m' 0) (At Flag)).
  { intros j [H1 [H2 H3]]. split; [eapply last_one_moves; eauto|]. split; [eapply flag_moves; eauto|].
    eapply Nat.le_trans; [exact H3|apply V0]. }
  destruct l as [?|[]| | | | | |todo f| |]; simpl in *; auto.
  - destruct H as [j C]. exists j.
    assert (Z : j < cur (thr m 0) (At Flag) -> j < cur (thr m' 0) (At Flag)) by (intros; eapply Nat.lt_le_trans; eauto).
    apply (core_moves _ _ _ _ _ _ _ _ _ _ a b _ _ _ _ _ _ B M St Ht Hw Z V0 C).
  - destruct H as [j H]. eauto.
  - destruct H as [j H]. eauto.
  - destruct H as [j C]. exists j. rewrite EP.
    apply (core_moves _ _ _ _ _ _ _ _ _ _ a b _ _ _ _ _ _ B M St Ht Hw (fun z => z) (g_sc _ _ G) C).
  - destruct H as [j C]. eauto.
  - destruct H as [j [C H]]. exists j. split; auto. intros Hf c. rewrite ES. intros Hc.
    destruct (core_moves _ _ _ _ _ _ _ _ _ _ a b _ _ _ _ _ _ B M St Ht Hw (fun z => z) V0 C) as [_ N].
    destruct (N c _ Hc) as [Hc'|Hc']; auto. destruct (H Hf c Hc'); auto. right. eapply told_moves; eauto; apply C.
  - destruct H as [j [C H]]. exists j. split; auto.
Qed.

Lemma hist_reaches m c t l : hist (barrier_reaches m c t) l = hist m l.
Proof. reflexivity. Qed.

Lemma at_reaches m w x c t : base m w x -> In t (pend m c) -> at_collector m w x (w 0) ->
  at_collector (barrier_reaches m c t) w x (w 0).
Proof.
  intros B Hp H. destruct (reaches_grows m c t (b_wf _ _ _ B)) as [G W]. set (m' := barrier_reaches m c t) in *.
  assert (V0 : forall i, cur (thr m 0) (At i) <= cur (thr m' 0) (At i)) by (intros; apply (g_cur _ _ G)).
  (* Where the list has not changed, all stays as it is. *)
  assert (U : forall u, acts (upd w 0 (w 0) u) = acts (w u)) by (intros; apply acts_upd_0; auto).
  assert (AN : forall j (Z Z' : Prop), (Z -> Z') -> answered m w j Z -> answered m' w j Z').
  { intros j Z Z' HZ A. apply (answered_still m m' w (w 0) j Z Z') in A; auto.
    destruct A as [[u [H1 [H2 H3]]]|A]; [left; exists u; rewrite U in H2; auto|right; auto]. }
  assert (TO : forall j (Z Z' : Prop) c0 k, (Z -> Z') -> told m w j [] Z c0 k -> told m' w j [] Z' c0 k).
  { intros j Z Z' c0 k HZ A. destruct (told_still m m' w (w 0) j [] [] Z Z' c0 k) as [T|[u [_ [[] _]]]]; auto.
    destruct T as [[u [H1 H2]]|[A'|A']]; [left; exists u; rewrite U in H2; auto|right; left|right; right; auto].
    destruct A' as [[u [H1 [H2 H3]]]|A']; [left; exists u; rewrite U in H2; auto|right; auto]. }
  assert (CO : forall j (Z Z' : Prop), (Z -> Z') -> core m w x j [] (cur (thr m 0)) Z -> core m' w x j [] (cur (thr m' 0)) Z').
  { intros j Z Z' HZ [L F S R A]. constructor; auto.
    - destruct F as [F|F]; [left; exact F|right; eauto].
    - eapply Nat.le_trans; [exact S|apply (g_sc _ _ G)].
    - intros u H1 H2 H3. destruct (R u H1 H2 H3) as [R'|[]]. left. eapply Nat.le_trans; [exact R'|apply (g_cur _ _ G)].
    - intros c0 k Hk. destruct (A c0 k Hk); [left; eapply knows_grows; eauto|right; eauto]. }
  destruct (w 0) as [?|[]| | | | | |todo f| |] eqn:E0; simpl in *; auto.
  - destruct H as [j C]. exists j. eapply CO; [|exact C]. intros Z. eapply Nat.lt_le_trans; eauto.
  - destruct H as [j [H1 [H2 H3]]]. exists j. split; [exact H1|]. split; [|eapply Nat.le_trans; [exact H3|apply V0]].
    destruct H2 as [H2|H2]; [left; exact H2|right; eauto].
  - destruct H as [j [H1 [H2 H3]]]. exists j. split; [exact H1|]. split; [|eapply Nat.le_trans; [exact H3|apply V0]].
    destruct H2 as [H2|H2]; [left; exact H2|right; eauto].
  - destruct H as [j [L F S R A]]. exists j.
    assert (T : j <= cur (thr m' t) (At Flag)) by (eapply Nat.le_trans; [exact S|apply (fence_sc_gets m t Flag)]).
    assert (P : forall u, In u (pend m 0) -> In u (pend m' 0) \/ u = t).
    { intros u Hu. simpl. unfold upd. case_upd; auto. subst c. destruct (Nat.eq_dec u t); auto. left. apply in_in_remove; auto. }
    constructor; auto.
    + destruct F as [F|F]; [left; exact F|right; eauto].
    + eapply Nat.le_trans; [exact S|apply (g_sc _ _ G)].
    + intros u H1 H2 H3. destruct (R u H1 H2 H3) as [R'|R'].
      * left. eapply Nat.le_trans; [exact R'|apply (g_cur _ _ G)].
      * destruct (P u R') as [?| ->]; auto.
    + intros c0 k Hk. destruct (A c0 k Hk) as [K|K]; [left; eapply knows_sc; eauto|].
      destruct (told_still m m' w (w 0) j (pend m 0) (pend m' 0) False False c0 k) as [T'|[u [H1 [H2 [H3 H4]]]]]; auto.
      * intros u Hu Hin. destruct (P u Hin) as [?| ->]; auto.
      * right. destruct T' as [[u [H1 H2]]|[A'|A']]; [left; exists u|right; left|right; right; auto].
        -- rewrite acts_upd_0 in H2 by auto. auto.
        -- destruct A' as [[u [H1 [H2 H3]]]|A']; [left; exists u; rewrite acts_upd_0 in H2 by auto; auto|right; auto].
      * left. destruct (P u H2) as [?| ->]; [tauto|]. eapply knows_grows; [exact G| |exact H4].
        intros i. apply (fence_sc_gives m t (At i) (b_wf _ _ _ B)).
  - destruct H as [j C]. exists j. eapply CO; eauto.
  - destruct H as [j [C H]]. exists j. split; [eapply CO; eauto|]. intros Hf c0 Hc. destruct (H Hf c0 Hc); auto.
    right. eapply TO; eauto.
  - destruct H as [j [C H]]. exists j. split; [eapply CO; eauto|]. intros c0 Hc. eapply TO; eauto.
Qed.

Lemma finds_keeps x c (v : val) f x' : finds mark x c v f x' -> published x' = published x /\ ready x' = ready x /\
  (f = false -> x' = x /\ v < mark c (seen x c)).
Proof. intros D. destruct D; simpl; auto. repeat split; auto; discriminate. Qed.

Lemma at_collects m w x l e r l' x' m' : base m w x -> w 0 = l -> collects place mark kernel the_c x l e r l' x' ->
  mstep m 0 e r m' -> at_collector m w x l -> at_collector m' (upd w 0 l') x' l'.
Proof.
  intros B E0 D St H.
  destruct (mstep_grows _ _ _ _ _ St (b_wf _ _ _ B)) as [G W].
  assert (V0 : forall i, cur (thr m 0) (At i) <= cur (thr m' 0) (At i)) by (intros; apply (g_cur _ _ G)).
  destruct (collects_keeps _ _ _ _ _ _ _ _ D St) as [A [A' [_ [_ [EP [_ [_ ER]]]]]]].
  assert (AA : acts (w 0) = acts l') by congruence.
  (* Steps that leave the flag and the socket alone. *)
  assert (CO : forall j (Z Z' : Prop), hist m' Flag = hist m Flag -> hist m' Sock = hist m Sock -> (Z -> Z') ->
    core m w x j [] (cur (thr m 0)) Z -> core m' (upd w 0 l') x' j [] (cur (thr m' 0)) Z').
  { intros. eapply core_still; eauto. }
  assert (TO : forall j c k, hist m' Sock = hist m Sock ->
    told m w j [] False c k -> told m' (upd w 0 l') j [] False c k).
  { intros j c k HS T. destruct (told_still m m' w l' j [] [] False False c k) as [T'|[? [_ [[] _]]]]; auto. }
  assert (AW : forall a, l = Awake a -> l' = Awake a -> hist m' Flag = hist m Flag -> hist m' Sock = hist m Sock ->
    at_collector m' (upd w 0 l') x' l').
  { intros a E1 E2 HF HS. rewrite E2. rewrite E1 in H. destruct a; simpl in *; auto. destruct H as [j C]. exists j.
    rewrite <- E2. eapply CO; [exact HF|exact HS| |exact C]. intros Z. eapply Nat.lt_le_trans; [exact Z|apply V0]. }
  destruct D.
  - apply (AW a); auto; eapply elsewhere_keeps; eauto; congruence.
  - apply (AW a); auto; eapply load_keeps_hist; eauto.
  - apply (AW a); auto; eapply load_keeps_hist; eauto.
  - (* A byte that was there is known of from now on. *)
    destruct a; simpl in *; auto. destruct H as [j C]. exists j.
    assert (HF : hist m' Flag = hist m Flag) by (eapply mstep_elsewhere; eauto; simpl; congruence).
    assert (AN : answered m w j (j < cur (thr m 0) (At Flag)) -> answered m' (upd w 0 (Awake true)) j (j < cur (thr m' 0) (At
      Flag))).
    { intros [[u [H1 [H2 H3]]]|[[g [Hg [Hv Hj]]]|Z]].
      - left. exists u. rewrite acts_upd_0 by exact AA. split; auto. split; auto. eapply Nat.lt_le_trans; [exact H3|apply (g_cur
        _ _ G)].
      - right. right. inversion St; subst. unfold newest in *.
        match goal with K : nth_error (hist m Sock) _ = Some ?y |- _ =>
          match y with g => fail 1 | _ => assert (y = g) by congruence; subst y end end.
        eapply Nat.lt_le_trans; [exact Hj|]. simpl in *. rewrite H0. apply join_r.
      - right. right. eapply Nat.lt_le_trans; [exact Z|apply V0]. }
    destruct C as [L F S R K]. constructor.
    + unfold last_one. rewrite HF. exact L.
    + unfold raised. rewrite HF. destruct F; auto.
    + eapply Nat.le_trans; [exact S|apply (g_sc _ _ G)].
    + intros t H1 H2 H3. destruct (R t H1 H2 H3) as [R'|[]]. left. eapply Nat.le_trans; [exact R'|apply (g_cur _ _ G)].
    + intros c k Hk. destruct (K c k Hk) as [K'|[[u [H1 H2]]|[K'|[u [_ [[] _]]]]]]; [left; eapply knows_grows; eauto|right|right].
      * left. exists u. rewrite acts_upd_0 by exact AA. split; auto. destruct H2 as [H2|[[H2 [H3|[]]]|H2]]; auto.
        right. left. split; auto. left. eapply Nat.le_trans; [exact H3|apply (g_cur _ _ G)].
      * right. left. auto.
  - apply (AW a); auto; eapply load_keeps_hist; eauto.
  - (* The flag is 1 still: it was not taken, or the byte has not come. *)
    simpl in H. destruct H as [j C]. destruct (Nat.eqb_spec v 0) as [E|E]; simpl; auto. exists j.
    assert (NZ : ~ j < cur (thr m 0) (At Flag)).
    { intros Z. inversion St; subst. match goal with K : loadable _ _ _ _ _ |- _ => destruct K as [Hg Hi] end.
      apply E. eapply (k_last _ _ _ _ _ _ _ C); [|exact Hg]. lia. }
    eapply CO; [eapply load_keeps_hist; eauto|eapply load_keeps_hist; eauto| |exact C]. exact NZ.
  - (* The flag is stored. *)
    simpl. exists (length (hist m Flag)).
    assert (E : exists u, hist m' Flag = hist m Flag ++ [Message 1 u]) by (inversion St; subst; simpl; rewrite upd_same; eauto).
    destruct E as [u E]. split; [|split].
    + split.
      * exists (Message 1 u). rewrite E. split; auto. apply nth_app_new.
      * intros i g Hi. rewrite E. intros Hg. apply nth_error_lt in Hg. rewrite app_length in Hg. simpl in Hg. lia.
    + left. unfold raised. rewrite E, app_length. simpl. lia.
    + inversion St; subst. apply store_knows.
  - (* The fence. *)
    simpl in H. destruct H as [j [L [F S]]].
    assert (HF : hist m' Flag = hist m Flag) by (inversion St; subst; reflexivity).
    assert (HS : hist m' Sock = hist m Sock) by (inversion St; subst; reflexivity).
    assert (F' : raised m' j \/ answered m' (upd w 0 (if kernel && membarrier the_c then ToCall else Looks)) j False).
    { unfold raised. rewrite HF. destruct F; auto. right. eapply answered_still; eauto. }
    assert (L' : last_one m' j) by (unfold last_one; rewrite HF; exact L).
    destruct kernel eqn:EK; simpl in *; exists j.
    + split; auto. split; auto. eapply Nat.le_trans; [exact S|apply V0].
    + constructor; auto.
      * inversion St; subst. eapply Nat.le_trans; [exact S|apply fence_sc_gives; apply (b_wf _ _ _ B)].
      * intros t _ X. congruence.
      * intros c k Hk. destruct (b_made _ _ _ B c k Hk) as [K|[t [Ht [K|[K _]]]]]; [left|right|congruence].
        -- inversion St; subst. eapply knows_grows; [exact G| |exact K]. intros i. apply fence_sc_gets.
        -- left. exists t. rewrite acts_upd_0 by exact AA. auto.
  - (* The membarrier is called. *)
    simpl in H. destruct H as [j [L [F S]]]. simpl. exists j.
    assert (HF : hist m' Flag = hist m Flag) by (inversion St; subst; reflexivity).
    assert (HS : hist m' Sock = hist m Sock) by (inversion St; subst; reflexivity).
    assert (PD : forall t, 0 < t < n -> ready x t = true -> In t (pend m' 0)).
    { intros t Ht HR. inversion St; subst. simpl. rewrite upd_same. apply filter_In. rewrite (b_n _ _ _ B).
      split; [apply in_seq; lia|]. simpl. apply (b_ready _ _ _ B t HR). }
    constructor; auto.
    + unfold last_one. rewrite HF. exact L.
    + unfold raised. rewrite HF. destruct F; auto. right. eapply answered_still; eauto.
    + inversion St; subst. eapply Nat.le_trans; [exact S|apply (fence_sc_gives m 0 (At Flag)); apply (b_wf _ _ _ B)].
    + intros c k Hk. destruct (b_made _ _ _ B c k Hk) as [K|[t [Ht [K|[_ [K1 K2]]]]]].
      * left. eapply knows_sc; eauto.
      * right. left. exists t. rewrite acts_upd_0 by exact AA. auto.
      * right. right. right. exists t. split; auto. split; auto. eapply knows_cur; eauto.
  - (* It returns. *)
    simpl in H. destruct H as [j [L F S R K]]. simpl. exists j.
    assert (HF : hist m' Flag = hist m Flag) by (inversion St; subst; reflexivity).
    assert (HS : hist m' Sock = hist m Sock) by (inversion St; subst; reflexivity).
    assert (P0 : pend m 0 = []) by (inversion St; subst; auto). rewrite P0 in *.
    constructor; auto.
    + unfold last_one. rewrite HF. exact L.
    + unfold raised. rewrite HF. destruct F; auto. right. eapply answered_still; eauto.
    + eapply Nat.le_trans; [exact S|apply (g_sc _ _ G)].
    + intros t H1 H2 H3. destruct (R t H1 H2 H3) as [R'|[]]. left. eapply Nat.le_trans; [exact R'|apply (g_cur _ _ G)].
    + intros c k Hk. destruct (K c k Hk) as [K'|K']; [left|right; auto].
      inversion St; subst. eapply knows_grows; [exact G| |exact K']. intros i. apply fence_sc_gets.
  - (* The last look begins: what it does not come to is not known of. *)
    simpl in H. destruct H as [j C]. simpl. exists j. split.
    + eapply CO; try exact C; auto; eapply load_keeps_hist; eauto.
    + intros _ c Hc. destruct (k_all _ _ _ _ _ _ _ C c _ Hc) as [[_ K]|K].
      * left. apply H1. inversion St; subst.
        match goal with K : loadable _ _ _ _ _ |- _ => assert (S c <= value g) by (eapply has_load; eauto; apply (b_used _ _ _
          B)) end. lia.
      * right. apply TO; auto. eapply load_keeps_hist; eauto.
  - (* One source. *)
    simpl in H. destruct H as [j [C H]]. simpl. exists j.
    destruct (finds_keeps _ _ _ _ _ H0) as [_ [_ HN]]. split.
    + eapply CO; try exact C; auto; eapply load_keeps_hist; eauto.
    + intros Hf c0 Hc. apply orb_false_elim in Hf. destruct Hf as [-> ->]. destruct (HN eq_refl) as [-> Hv].
      destruct (Nat.eq_dec c0 c) as [->|Hne].
      * right. apply TO; [eapply load_keeps_hist; eauto|].
        destruct (k_all _ _ _ _ _ _ _ C c _ Hc) as [[K _]|K]; auto. exfalso.
        inversion St; subst. match goal with K' : loadable _ _ _ _ _ |- _ =>
          assert (mark c (seen x c) <= value g) by (eapply has_load; eauto; apply (b_words _ _ _ B)) end. lia.
      * destruct (H eq_refl c0 Hc) as [[K|K]|K]; [congruence|auto|right].
        apply TO; auto. eapply load_keeps_hist; eauto.
  - simpl. auto.
  - simpl. auto.
Qed.

Definition inv (s : state loc local world) :=
  base (memory s) (where_ s) (beside s) /\ at_collector (memory s) (where_ s) (beside s) (where_ s 0).

Lemma inv_step s s' : inv s -> step program s s' -> inv s'.
Proof.
  intros [B H] St. split; [exact (base_step _ _ St B)|].
  destruct St as [m w x t e r l' x' m' Ht D S|m w x t l' x' Ht D|m w x c t Hp]; simpl in *.
  - rewrite (b_n _ _ _ B) in Ht. remember (w t) as l0 eqn:El. symmetry in El.
    destruct D as [l x e r new x' Ht0 D|a b p x e r new x' Ht0 D|x l e r l' x' Ht0 D].
    + assert (Ht' : 0 < t < n) by lia. rewrite upd_other by auto.
      apply (at_moves m w x t e r [] new x' m' [] l (w 0)); auto. left. auto.
    + assert (Ht' : 0 < t < n) by lia. rewrite upd_other by auto.
      apply (at_moves m w x t e r [p] new x' m' a b (w 0)); auto. right. eauto.
    + subst t. rewrite upd_same. eapply at_collects; eauto. congruence.
  - remember (w t) as l0 eqn:El. symmetry in El. destruct D as [l l' x Ht0 D|? ? ? ? ? ? X|? ? ? ? X]; try discriminate.
    subst t. rewrite upd_same. rewrite El in H.
    assert (AA : acts l = acts l') by (destruct D; auto; discriminate).
    assert (CO : forall j (Z Z' : Prop), (Z -> Z') -> core m w x j [] (cur (thr m 0)) Z -> core m (upd w 0 l') x j [] (cur (thr m
      0)) Z').
    { intros. eapply core_still; eauto using grows_refl. rewrite El. auto. }
    destruct D; simpl in *; auto; try discriminate.
    + destruct H as [j [C H]]. exists j. split; [eapply CO; eauto|]. intros c Hc. destruct (H eq_refl c Hc) as [[]|T].
      destruct (told_still m m w Asleep j [] [] False False c (seen x c)) as [T'|[? [_ [[] _]]]]; auto using grows_refl. rewrite
        El. auto.
    + destruct H as [j [C H]]. exists j. eapply CO; [|exact C]. tauto.
  - apply at_reaches; auto.
Qed.

Theorem inv_always registered sources s : steps program (wakeup_start n registered sources) s -> inv s.
Proof.
  apply always.
  - split; [apply base_start|]. simpl. exact I.
  - apply inv_step.
Qed.

(* --- the theorem ------------------------------------------------------------------------------------------------------------ *)

(* A byte is in the socket: the collector does not sleep on. *)
Definition byte_there m := exists g, newest m Sock g /\ 0 < value g.
(* A thread has taken the flag, and its next step is to send the byte. *)
Definition sends_byte w := exists t, 0 < t < n /\ In ToSend (acts (w t)).
(* A thread has published this event, and is still in the call that did: at the fence, at the load, or at the exchange. *)
Definition in_call w c k := exists t, 0 < t < n /\
  (In (ToFence c k) (acts (w t)) \/ In (ToLook c k) (acts (w t)) \/ In (ToTake c k) (acts (w t))).

(*
 * When the collector sleeps and there is an event that it has not seen, then a byte is there, or a thread is about to send one, or
 * the thread that published the event has not yet looked at the flag. When that thread has looked, one of the first two is true:
 * so it cannot miss the flag.
 *)
Theorem no_lost_wakeup registered sources s c : steps program (wakeup_start n registered sources) s ->
  where_ s 0 = Asleep -> seen (beside s) c < published (beside s) c ->
  byte_there (memory s) \/ sends_byte (where_ s) \/ in_call (where_ s) c (seen (beside s) c).
Proof.
  intros Hs Ha Hc. destruct (inv_always _ _ _ Hs) as [B H]. rewrite Ha in H. destruct H as [j [_ H]].
  destruct (H c Hc) as [[t [Ht T]]|[[[t [Ht [T _]]]|[[g [Hg [Hv _]]]|[]]]|[t [_ [[] _]]]]].
  - right. right. exists t. split; auto. tauto.
  - right. left. exists t. auto.
  - left. exists g. auto.
Qed.

(* When no thread is in a call, a collector that sleeps on has seen all. *)
Corollary asleep_has_seen_all registered sources s c : steps program (wakeup_start n registered sources) s ->
  where_ s 0 = Asleep -> ~ byte_there (memory s) -> (forall t, 0 < t < n -> acts (where_ s t) = []) ->
  published (beside s) c <= seen (beside s) c.
Proof.
  intros Hs Ha Hb Ht. destruct (Nat.le_gt_cases (published (beside s) c) (seen (beside s) c)) as [H|H]; auto.
  destruct (no_lost_wakeup _ _ _ c Hs Ha H) as [K|[[t [K K']]|[t [K K']]]]; [tauto| |]; rewrite (Ht t K) in K'; simpl in K';
    tauto.
Qed.

End Proof.

(* --- the rings and stations of the C ---------------------------------------------------------------------------------------- *)

(* A source is a ring, whose heads are what they are; or a station, with the seqs of a seqlock. *)
Definition c_place (ring : nat -> bool) (c k : nat) : nat := if ring c then 0 else k mod 8.
Definition c_mark (ring : nat -> bool) (head : nat -> nat -> val) (c k : nat) : val :=
  if ring c then head c k else 2 * (k / 8 + 1).

Theorem no_lost_wakeup_in_c ring head kernel n registered sources s c :
  (forall c k, 0 < head c k) -> (forall c k k', k < k' -> head c k < head c k') ->
  steps (wakeup_program (c_place ring) (c_mark ring head) kernel the_c) (wakeup_start n registered sources) s ->
  where_ s 0 = Asleep -> seen (beside s) c < published (beside s) c ->
  byte_there (memory s) \/ sends_byte n (where_ s) \/ in_call n (where_ s) c (seen (beside s) c).
Proof.
  intros H1 H2. apply no_lost_wakeup; unfold c_mark, c_place; intros c0 k.
  - destruct (ring c0); auto. lia.
  - intros k'. destruct (ring c0); auto. intros E L.
    assert (k / 8 < k' / 8); [|lia].
    assert (D := Nat.div_mod k 8 ltac:(lia)). assert (D' := Nat.div_mod k' 8 ltac:(lia)). lia.
Qed.

(* --- what happens without the orders ---------------------------------------------------------------------------------------- *)

(* One ring, whose events are numbered from 0; one writer. *)
Definition one_ring : nat -> nat -> nat := fun _ _ => 0.
Definition number : nat -> nat -> val := fun _ k => S k.
Definition without q kernel := wakeup_program one_ring number kernel q.

(* The collector sleeps, the writer is done, there is no byte, and an event has not been seen. *)
Definition lost (s : state loc local world) :=
  where_ s 0 = Asleep /\ where_ s 1 = Acts [] /\ ~ byte_there (memory s) /\ seen (beside s) 0 < published (beside s) 0.

Definition gives (m : mem loc) t e c := option_map fst (exec m t e c).
Definition then_ (m : mem loc) t e c := match exec m t e c with Some (_, m') => m' | None => m end.
Lemma gives_step m t e c r : gives m t e c = Some r -> mstep m t e r (then_ m t e c).
Proof.
  unfold gives, then_. destruct (exec m t e c) as [[r' m']|] eqn:E; simpl; intros H; inversion H; subst.
  eapply exec_sound; eauto.
Qed.

Section Runs.
Variable p : program loc local world.
Lemma steps_first s s' s'' : step p s s' -> steps p s' s'' -> steps p s s''.
Proof. intros H H'. induction H'; eauto using none, more. Qed.

(* Thread t, which is at l, does e, which returns r. c: the choice of exec. *)
Lemma go t l e c r l' x' m w x s : Nat.ltb t (nthr m) = true -> w t = l -> does p t l x e r l' x' -> gives m t e c = Some r ->
  steps p (State (then_ m t e c) (upd w t l') x') s -> steps p (State m w x) s.
Proof.
  intros H1 H2 H3 H4 H5. eapply steps_first; [|exact H5]. subst l. apply Nat.ltb_lt in H1.
  eapply s_does; eauto using gives_step.
Qed.
Lemma go_silent t l l' x' m w x s : Nat.ltb t (nthr m) = true -> w t = l -> silent p t l x l' x' ->
  steps p (State m (upd w t l') x') s -> steps p (State m w x) s.
Proof.
  intros H1 H2 H3 H5. eapply steps_first; [|exact H5]. subst l. apply Nat.ltb_lt in H1. eapply s_silent; eauto.
Qed.
End Runs.

Lemma no_byte m : option_map value (last_of m Sock) = Some 0 -> ~ byte_there m.
Proof. intros H [g [Hg Hv]]. unfold last_of, newest in *. rewrite Hg in H. simpl in H. inversion H. lia. Qed.

(* The choices of a run, one line for each step: who, what, which message of the history it reads, and what that returns. *)
Ltac check := vm_compute; reflexivity.
Ltac run := eexists; split; [unfold wakeup_start|].
Ltac thinks l l' k := eapply (go_silent _ 0 l l'); [check|check|apply d_thinks; [reflexivity|apply k; auto]|].
Ltac collector l e c r l' k := eapply (go _ 0 l e c r l'); [check|check|apply d_collects; [reflexivity|k]|check|].
Ltac begins_ e r k := eapply (go _ 1 (Acts []) e 0 r); [check|check|apply d_begins; [discriminate|k]|check|simpl].
Ltac goes_on a e c r k :=
  eapply (go _ 1 (Acts [a]) e c r); [check|check|apply (d_works _ _ _ _ _ [] [] a); [discriminate|k]|check|simpl].
Ltac is_lost := split; [check|split; [check|split; [apply no_byte; check|vm_compute; auto]]].

(* The collector. *)
Ltac sets := thinks (Awake false) ToSet t_set; collector ToSet (Store Rlx Flag 1) 0 (0, true) IsSet ltac:(apply c_set).
Ltac fences := collector IsSet (@FenceSc loc) 0 (0, true) Looks ltac:(apply c_fence; reflexivity).
Ltac look_begins := collector Looks (Load Rlx Used) 0 (1, true) (Looking [0] false)
  ltac:(apply c_count; [reflexivity|intros; simpl; lia]).
Ltac finds_nothing i v := collector (Looking [0] false) (Load Acq (Word 0 0)) i (v, true) (Looking [] false)
  ltac:(apply (c_look one_ring number _ _ _ Acq 0 [] false false); apply f_none; vm_compute; auto).
Ltac sleeps := thinks (Looking [] false) Asleep t_sleep; apply none.

(* The writer. *)
Ltac publishes v := begins_ (Store Rel (Word 0 0) v) (0, true) ltac:(apply (b_publish one_ring number); vm_compute; auto).
Ltac publishes_registered v :=
  begins_ (Store Rel (Word 0 0) v) (0, true) ltac:(apply (b_publish_registered one_ring number); vm_compute; auto).
Ltac fences_too k := goes_on (ToFence 0 k) (@FenceSc loc) 0 (0, true) ltac:(apply w_fence; reflexivity).
Ltac sees k i v := goes_on (ToLook 0 k) (Load Rlx Flag) i (v, true) ltac:(apply (w_look _ _ _ Rlx 0 k v)).

Definition nobody : tid -> bool := fun _ => false.
Definition the_writer : tid -> bool := Nat.eqb 1.

(* Without the fence of ctp_tell_: neither sees what the other has stored. *)
Theorem lost_without_writer_fence : exists s,
  steps (without (Orders false true true true true true) false) (wakeup_start 2 nobody 1) s /\ lost s.
Proof.
  run.
  - sets. fences. look_begins.
    publishes 1. eapply (go_silent _ 1 (Acts [ToFence 0 0])); [check|check|apply (d_no_fence _ _ 1 [] []); auto|simpl].
    sees 0 0 0.
    finds_nothing 0 0. sleeps.
  - is_lost.
Qed.

(* Without the fence of set_sleeping, where membarrier(2) is not there. *)
Theorem lost_without_collector_fence : exists s,
  steps (without (Orders true false true true true true) false) (wakeup_start 2 nobody 1) s /\ lost s.
Proof.
  run.
  - sets. thinks IsSet Looks (t_no_fence false (Orders true false true true true true)).
    publishes 1. fences_too 0. sees 0 0 0.
    look_begins. finds_nothing 0 0. sleeps.
  - is_lost.
Qed.

(* Without the membarrier, for a writer that relies on it. *)
Theorem lost_without_membarrier : exists s,
  steps (without (Orders true true false true true true) true) (wakeup_start 2 the_writer 1) s /\ lost s.
Proof.
  run.
  - sets. fences. publishes_registered 1. sees 0 0 0.
    look_begins. finds_nothing 0 0. sleeps.
  - is_lost.
Qed.

(* Without the look after the flag. *)
Theorem lost_without_second_look : exists s,
  steps (without (Orders true true true false true true) false) (wakeup_start 2 nobody 1) s /\ lost s.
Proof.
  run.
  - publishes 1. fences_too 0. sees 0 0 0.
    sets. fences. thinks Looks Asleep t_no_look. apply none.
  - is_lost.
Qed.

(*
 * If a byte could be read without its sender's exchange of the flag being known of: a collector that reads it when it does not
 * sleep (run: output_is_slow), and then finds an old 1 there, takes it for its own (set_sleeping).
 *)
Theorem lost_without_sock_order : exists s,
  steps (without (Orders true true true true false true) false) (wakeup_start 2 nobody 1) s /\ lost s.
Proof.
  run.
  - sets. fences. look_begins. finds_nothing 0 0. thinks (Looking [] false) Asleep t_sleep. thinks Asleep (Awake true) t_time_out.
    publishes 1. fences_too 0. sees 0 1 1.
    goes_on (ToTake 0 0) (Exchange AcqRel Flag 0) 0 (1, true) ltac:(apply (w_take _ _ _ AcqRel 0 0 1)).
    goes_on ToSend (FetchAdd Rlx Sock 1) 0 (0, true) ltac:(apply w_send; reflexivity).
    collector (Awake true) (Load Acq (Word 0 0)) 1 (1, true) (Awake true)
      ltac:(eapply (c_glance one_ring number _ _ _ true Acq 0 1 true true); apply (f_some _ _ _ _ 1); vm_compute; auto).
    collector (Awake true) (Exchange Rlx Sock 0) 0 (1, true) (Awake true) ltac:(apply c_read; reflexivity).
    collector (Awake true) (Load Rlx Flag) 1 (1, true) Looks ltac:(apply (c_still _ _ _ _ _ Rlx 1)).
    look_begins. publishes 2. fences_too 1. sees 1 2 0.
    finds_nothing 1 1. sleeps.
  - is_lost.
Qed.

(* If the kernel did not order what a thread does after it has registered: the membarrier under way does not know of it. *)
Theorem lost_without_join_order : exists s,
  steps (without (Orders true true true true true false) true) (wakeup_start 2 nobody 1) s /\ lost s.
Proof.
  run.
  - sets. collector IsSet (@FenceSc loc) 0 (0, true) ToCall ltac:(apply c_fence; reflexivity).
    collector ToCall (@BarrierCall loc false) 0 (0, true) Reaching ltac:(apply c_call).
    begins_ (@Register loc [1]) (0, true) ltac:(apply b_join).
    eapply (go_silent _ 1 (Acts [ToJoin])); [check|check|apply (d_no_join _ _ 1 [] []); auto|simpl].
    publishes_registered 1. sees 0 0 0.
    collector Reaching (@BarrierReturn loc) 0 (0, true) Looks ltac:(apply c_return).
    look_begins. finds_nothing 0 0. sleeps.
  - is_lost.
Qed.
