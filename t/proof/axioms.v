(* SPDX-License-Identifier: MIT *)
(* Copyright (c) 2026 the ctptools authors *)
(* axioms.v - prints what each theorem assumes: nothing. t/proof.t reads this. *)
From Ctp Require machine seqlock station ring.

Print Assumptions machine.exec_sound.
Print Assumptions machine.exec_complete.
Print Assumptions seqlock.accepted_is_written.
Print Assumptions seqlock.torn_with_release_mark.
Print Assumptions seqlock.barrier_accepted.
Print Assumptions seqlock.quiet_eighth.
Print Assumptions station.overrun_accepted.
Print Assumptions station.moved_without_fence.
Print Assumptions ring.ring_race_free.
Print Assumptions ring.ring_fifo.
Print Assumptions ring.accounting.
Print Assumptions ring.accounting_at_the_end.
