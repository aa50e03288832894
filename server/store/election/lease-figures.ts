/** How sure a leader is that it leads. */
export interface LeaseFigures {
  /** Raised by each change of the leader, and each reconnection to the database. */
  epoch: number
  /** Milliseconds since the database last proved it. */
  provedFor: number
  /** Times that memory could not answer, until it was proved again. */
  lapses: number
  /** Requests that had to wait for a proof. */
  waits: number
}
