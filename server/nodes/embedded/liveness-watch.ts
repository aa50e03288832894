/** What is watched. */
export interface Watched {
  /** Asks it for anything. */
  ask(): Promise<unknown>
  /** When it last said anything, on any clock. */
  heardAt(): number
  /** It said nothing for the whole time. */
  onHang(): void
}

/** So many looks in a row without a word make a hang. */
const looksUntilHang = 5

/**
 * Watches whether a process still says anything, and asks it from time to time: nobody else needs to. Silence is counted in looks, not by the clock, so
 * that a pause of this process (a suspended computer) is not blamed on the other one.
 * @param hangsAfterMs milliseconds of silence, in spite of questions, that are a hang; it is told at most two looks (two fifths of it) later
 * @returns what ends it
 */
export function watchLiveness(watched: Watched, hangsAfterMs: number): () => void {
  let heardAt = watched.heardAt()
  let asked = false
  let silentLooks = 0
  const look = (): void => {
    const latest = watched.heardAt()
    // Silence counts only since it was asked something.
    silentLooks = asked && latest === heardAt ? silentLooks + 1 : 0
    heardAt = latest
    if (silentLooks >= looksUntilHang) {
      clearInterval(timer)
      watched.onHang()
      return
    }
    asked = true
    // What it answers does not matter: that it does is seen at the next look.
    watched.ask().catch(() => {})
  }
  const timer = setInterval(look, hangsAfterMs / looksUntilHang)
  timer.unref()
  return () => clearInterval(timer)
}
