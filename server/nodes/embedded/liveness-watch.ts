/** The process that is watched. */
export interface Watched {
  /** Asks it for anything. */
  ask(): Promise<unknown>
  /** When it last said anything, on any clock. */
  receivedAt(): number
  /** It said nothing for the whole time. */
  onHang(): void
}

/** Checks in a row without a message that count as a hang. */
const looksUntilHang = 5

/**
 * Watches whether a process still sends anything, and sends it a request from time to time. Silence is counted in checks, not by the clock, so that a pause of this process (a
 * suspended computer) is not blamed on the other one.
 * @param hangsAfterMs milliseconds of silence, in spite of requests, that count as a hang; reported at most two checks (two fifths of it) later
 * @returns what ends it
 */
export function watchLiveness(watched: Watched, hangsAfterMs: number): () => void {
  let receivedAt = watched.receivedAt()
  let asked = false
  let silentLooks = 0
  const look = (): void => {
    const latest = watched.receivedAt()
    // Silence counts only since it was asked something.
    silentLooks = asked && latest === receivedAt ? silentLooks + 1 : 0
    receivedAt = latest
    if (silentLooks >= looksUntilHang) {
      clearInterval(timer)
      watched.onHang()
      return
    }
    asked = true
    // The content of the answer does not matter: the next check sees that one came.
    watched.ask().catch(() => {})
  }
  const timer = setInterval(look, hangsAfterMs / looksUntilHang)
  timer.unref()
  return () => clearInterval(timer)
}
