/** Fault that is injected into one request. */
export interface Fault {
  /** Operation of the rule, or `*`. */
  rule: string
  /** Milliseconds before anything else. */
  delay: number
  /** Answered instead of running the operation; null runs it. */
  ret: number | null
  /** Close the connection without an answer. */
  drop: boolean
}

/** Says which requests are to fail, wait or be dropped. `active` is asked first, so without any rule they cost nothing. */
export interface RequestFaults {
  /** Whether any rule is in force. */
  readonly active: boolean
  /** The fault of a request of this operation; undefined: none. */
  hit(operation: string): Fault | undefined
}
