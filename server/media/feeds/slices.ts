/** Milliseconds of work in one turn of the event loop; then others get theirs. */
const sliceMs = 4
/** Pieces that wait at most, in equal shares of the lanes that wait. More than this machine can do would only be done later and later: what comes then is left out. */
const maxWaiting = 4_096

/** Work that is done in order, some of it at once and some later. */
export interface Lane {
  /** Nothing waits. */
  readonly idle: boolean
  /** @param work must not throw. Returns false when too much waits: the work is left out. */
  run(work: () => void): boolean
}

/**
 * Work that comes in bursts, in slices: a key frame for hundreds of viewers takes as long as some hundred requests. At once as long as this turn of the event
 * loop has time for it; what waits is done in order within its lane, and lanes take turns, piece by piece: nobody waits behind all the work of another.
 */
export class Slices {
  /** Waiting work of each queue; the queue whose turn it is first. */
  readonly #waiting: (() => void)[][] = []
  readonly #clock: () => number
  #spentMs = 0
  #armed = false

  /** @param clock milliseconds that only grow */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock
  }

  lane(): Lane {
    const waiting: (() => void)[] = []
    return {
      get idle() {
        return waiting.length === 0
      },
      run: (work) => this.#run(waiting, work),
    }
  }

  #run(waiting: (() => void)[], work: () => void): boolean {
    if (waiting.length === 0 && this.#spentMs < sliceMs) this.#do(work)
    else if (waiting.length === 0) {
      waiting.push(work)
      this.#waiting.push(waiting)
    } else if (waiting.length * this.#waiting.length < maxWaiting) waiting.push(work)
    else return false
    this.#arm()
    return true
  }

  #do(work: () => void): void {
    const began = this.#clock()
    work()
    this.#spentMs += this.#clock() - began
  }

  #arm(): void {
    if (this.#armed) return
    this.#armed = true
    setImmediate(() => {
      this.#armed = false
      this.#spentMs = 0
      this.#workOff()
      // Waiting work continues in the next turn, with a time budget of its own.
      if (this.#spentMs > 0) this.#arm()
    })
  }

  #workOff(): void {
    while (this.#spentMs < sliceMs) {
      const lane = this.#waiting.shift()
      const work = lane?.shift()
      if (lane === undefined || work === undefined) return
      if (lane.length > 0) this.#waiting.push(lane)
      this.#do(work)
    }
  }
}
