(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(* axioms.v - prints what each theorem assumes: nothing. t/proof.t reads this. *)
From Ctp Require Import machine seqlock station.

Print Assumptions exec_sound.
Print Assumptions exec_complete.
Print Assumptions accepted_is_written.
Print Assumptions torn_with_release_mark.
Print Assumptions barrier_accepted.
Print Assumptions quiet_eighth.
Print Assumptions overrun_accepted.
Print Assumptions moved_without_fence.
