import { sequenceDistance, sequenceOf, ssrcOf } from '../rtp/packet.ts'

/** Earlier sources that are remembered, at most. */
const maxEarlier = 8
/** Silence of the source in force after which an earlier one is taken again, in milliseconds. */
const silentMs = 1_000

/**
 * Tells the packets of a track's source from those of an earlier session that a camera goes on sending over a new connection (LIVE555 before 2017). The source that begins last is in
 * force; an earlier one is taken again when it falls silent.
 */
export class CurrentSource {
  readonly #now: () => number
  #ssrc = -1
  #sequence = 0
  readonly #earlier = new Set<number>()
  /** When packets of earlier sources began to come without one of the source in force; undefined: none did. */
  #silentSince: number | undefined

  /** @param now milliseconds of a clock that never goes back */
  constructor(now = (): number => performance.now()) {
    this.#now = now
  }

  /** Takes an RTP packet. Returns whether it is of the source in force. */
  takes(packet: Buffer): boolean {
    const ssrc = ssrcOf(packet)
    const sequence = sequenceOf(packet)
    if (ssrc !== this.#ssrc && !this.#changesTo(ssrc, sequence)) return false
    this.#sequence = sequence
    this.#silentSince = undefined
    return true
  }

  /** Source and number of the last packet, as one value; changes with each packet. */
  get place(): number {
    return this.#ssrc * 0x10000 + this.#sequence
  }

  /** Whether it was replaced by another source. */
  isEarlier(ssrc: number): boolean {
    return this.#earlier.has(ssrc)
  }

  #changesTo(ssrc: number, sequence: number): boolean {
    // Numbers that go on are of one stream, whatever it calls its source.
    const goesOn = this.#ssrc >= 0 && sequenceDistance(this.#sequence, sequence) === 1
    if (this.#earlier.has(ssrc) && !goesOn) {
      this.#silentSince ??= this.#now()
      if (this.#now() - this.#silentSince < silentMs) return false
    }
    if (this.#ssrc >= 0 && !goesOn) {
      const [oldest = -1] = this.#earlier
      if (this.#earlier.size >= maxEarlier) this.#earlier.delete(oldest)
      this.#earlier.add(this.#ssrc)
    }
    this.#earlier.delete(ssrc)
    this.#ssrc = ssrc
    return true
  }
}
