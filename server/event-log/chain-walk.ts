import type { LogFault, LogVerdict } from '../../shared/console/events.ts'
import { type ChainEnd, isIntact, noHash, placeOf } from './entry-line.ts'
import { faultOfHead, type LogHead, type ReadHead } from './head-proof.ts'

/** A verdict without the time that it took. */
export type Found = Omit<LogVerdict, 'milliseconds'>

/** Verdict on a log whose head cannot be used: nothing can be checked. @param first number of its first entry; undefined: it has none, and is good if it has no head */
export function verdictWithoutHead(state: Exclude<ReadHead['state'], 'good'>, first: number | undefined): Found {
  const isNew = first === undefined && state === 'missing'
  const nothing = { entries: 0, oldest: 0, newest: 0, unsealed: 0, file: '' }
  return { ok: isNew, fault: isNew ? null : faultOfHead(state), first_bad: isNew ? 0 : (first ?? 1), ...nothing }
}

/** Follows the chain from entry to entry. */
export class ChainWalk {
  readonly #head: LogHead
  #last: ChainEnd
  #entries = 0
  #file = ''
  #fault: LogFault | undefined
  /** seq of the first bad entry. */
  #bad = 0
  /** The hash of the entry that the head calls the newest was met. */
  #metNewest: boolean

  constructor(head: LogHead) {
    this.#head = head
    this.#last = { seq: head.oldest.seq - 1, hash: head.oldest.prev }
    this.#metNewest = head.newest.seq < head.oldest.seq
  }

  /** The last entry that was taken is the newest one of the seal, or behind it. */
  get isSealed(): boolean {
    return this.#last.seq >= this.#head.newest.seq
  }

  /** @returns false when a segment is missing before this one */
  begin(name: string, first: number): boolean {
    this.#file = name
    return first === this.#last.seq + 1 || this.fail('segmentMissing')
  }

  fail(fault: LogFault): false {
    this.#fault ??= fault
    this.#bad ||= this.#last.seq + 1
    return false
  }

  /** Takes the next line, without its newline. @returns false when something is wrong with it */
  take(line: Buffer): boolean {
    const place = placeOf(line)
    if (place === undefined || !isIntact(line, place)) return this.fail('changed')
    if (place.seq !== this.#last.seq + 1) return this.fail(place.seq > this.#last.seq ? 'missing' : 'changed')
    if (place.prev !== this.#last.hash) return this.fail(place.prev === noHash ? 'headMissing' : 'missing')
    if (place.seq === this.#head.newest.seq) {
      if (place.hash !== this.#head.newest.hash) return this.fail('changed')
      this.#metNewest = true
    }
    this.#last = { seq: place.seq, hash: place.hash }
    this.#entries++
    return true
  }

  end(): Found {
    if (this.#fault === undefined && !this.#metNewest) this.fail('cutOff')
    const { oldest, newest } = this.#head
    return {
      ok: this.#fault === undefined,
      entries: this.#entries,
      oldest: this.#entries === 0 ? 0 : oldest.seq,
      newest: this.#entries === 0 ? 0 : this.#last.seq,
      unsealed: Math.max(0, this.#last.seq - newest.seq),
      fault: this.#fault ?? null,
      first_bad: this.#bad,
      file: this.#fault === undefined ? '' : this.#file,
    }
  }
}
