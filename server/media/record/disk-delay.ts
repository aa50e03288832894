/** Age of unsynced media from which the disk counts as late, in milliseconds: half of what a power cut may take besides a group of pictures; the rest is for what is on its way to the disk. */
const lateMs = 500
/** Interval between two reports, in milliseconds. */
const reportEveryMs = 1_000
/** Time without a delay after which the disk keeps up again, in milliseconds. */
const calmMs = 60_000

/** Reports how far the disk is behind, while it is late. */
export class DiskDelay {
  readonly #report: (ms: number) => void
  /** When it was late last; -Infinity: it keeps up. */
  #lateAt = -Infinity
  #reportedAt = -Infinity

  /** @param report takes the age of the oldest media that a power cut would take, in milliseconds, once a second; 0: the disk keeps up again */
  constructor(report: (ms: number) => void) {
    this.#report = report
  }

  /** @param oldestAt when the oldest unsynced media was appended; undefined: all is synced. @param now in milliseconds of the same clock, which never goes back */
  note(oldestAt: number | undefined, now: number): void {
    const ms = oldestAt === undefined ? 0 : now - oldestAt
    if (ms > lateMs) this.#lateAt = now
    if (this.#lateAt === -Infinity || now - this.#reportedAt < reportEveryMs) return
    const isOver = now - this.#lateAt > calmMs
    this.#reportedAt = isOver ? -Infinity : now
    if (isOver) this.#lateAt = -Infinity
    // 0 means that it is over.
    this.#report(isOver ? 0 : Math.max(1, Math.round(ms)))
  }
}
