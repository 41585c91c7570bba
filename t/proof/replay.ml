(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(*
 * replay.ml - does again, on the machine that is extracted from machine.v, what another machine says that it did: on stdin a line
 * for each step. Ends with status 1 at the first difference. The format is in the README.
 *)
open Machine_coq

let order = function
  | "rlx" -> Rlx | "acq" -> Acq | "rel" -> Rel | "acqrel" -> AcqRel
  | s -> failwith ("order " ^ s)

let int = int_of_string
let number = ref 0
let steps = ref 0
let runs = ref 0
let locations = ref 0
let threads = ref 0
let m = ref (initially 0 (fun _ -> false) (fun _ -> 0))

let differs fmt =
  Printf.ksprintf (fun s -> Printf.printf "line %d: %s\n" !number s; exit 1) fmt

let result (v, ok) rest =
  match rest with
  | [v'; ok'; racy'] ->
    let racy = if raced !m then 1 else 0 and ok = if ok then 1 else 0 in
    if (v, ok, racy) <> (int v', int ok', int racy') then
      differs "this machine has %d %d %d, the other one %s %s %s" v ok racy v' ok' racy'
  | _ -> differs "no result"

let go t op choice rest =
  incr steps;
  match step !locations !threads !m (int t) op choice with
  | Some (r, m') -> m := m'; result r rest
  | None -> differs "not possible"

let line = function
  | [] -> ()
  | "start" :: n :: l :: more ->
    let values = Array.make (int l) 0 and registered = Array.make (int n) false in
    List.iteri (fun i s -> if i < int n then registered.(i) <- s = "1" else values.(i - int n) <- int s) more;
    incr runs;
    threads := int n;
    locations := int l;
    m := initially !threads (fun t -> t < int n && registered.(t)) (fun l' -> if l' < int l then values.(l') else 0)
  | "bounds" :: t :: l :: more ->
    let (c, a), r = bounds !m (int t) (int l) in
    if List.map int more <> [c; a; r] then differs "the bounds are %d %d %d" c a r
  | t :: "ld" :: o :: l :: i :: more -> go t (Load (order o, int l)) (int i) more
  | t :: "pld" :: l :: i :: more -> go t (PlainLoad (int l)) (int i) more
  | t :: "st" :: o :: l :: v :: more -> go t (Store (order o, int l, int v)) 0 more
  | t :: "pst" :: l :: v :: more -> go t (PlainStore (int l, int v)) 0 more
  | t :: "xchg" :: o :: l :: v :: more -> go t (Exchange (order o, int l, int v)) 0 more
  | t :: "add" :: o :: l :: v :: more -> go t (FetchAdd (order o, int l, int v)) 0 more
  | t :: "cas" :: w :: ok :: failed :: l :: e :: d :: choice :: more ->
    go t (Cas (w = "weak", order ok, order failed, int l, int e, int d)) (int choice) more
  | t :: "facq" :: more -> go t FenceAcq 0 more
  | t :: "frel" :: more -> go t FenceRel 0 more
  | t :: "fsc" :: more -> go t FenceSc 0 more
  | t :: "call" :: g :: more -> go t (BarrierCall (g = "global")) 0 more
  | t :: "return" :: more -> go t BarrierReturn 0 more
  | [t; "reached"; c] ->
    incr steps;
    (match reach !locations !threads !m (int c) (int t) with Some m' -> m := m' | None -> differs "not possible")
  | t :: "register" :: us -> go t (Register (List.map int us)) 0 ["0"; "1"; if raced !m then "1" else "0"]
  | s -> differs "unknown: %s" (String.concat " " s)

let () =
  (try
     while true do
       let s = input_line stdin in
       incr number;
       line (List.filter (fun s -> s <> "") (String.split_on_char ' ' s))
     done
   with End_of_file -> ());
  Printf.printf "%d steps in %d runs, no difference\n" !steps !runs
