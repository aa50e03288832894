import { sequenceDistance, sequenceOf, ssrcOf } from '../rtp/packet.ts'

/** Maximum number of earlier sources kept. */
const maxEarlier = 8
/** Silence of the current source after which an earlier source becomes current again, in milliseconds. */
const silentMs = 1_000

/**
 * Separates the packets of a track's current source from those of an earlier session, which some cameras keep sending
 * on a new connection (LIVE555 before 2017). The source that began last is current. An earlier source becomes current
 * again if the current source is silent.
 */
export class CurrentSource {
  readonly #now: () => number
  #ssrc = -1
  #sequence = 0
  readonly #earlier = new Set<number>()
  /** Time of the first packet of an earlier source since the last packet of the current source; undefined: none. */
  #silentSince: number | undefined

  /** @param now milliseconds of a monotonic clock */
  constructor(now = (): number => performance.now()) {
    this.#now = now
  }

  /** Records an RTP packet. Returns whether the packet belongs to the current source. */
  takes(packet: Buffer): boolean {
    const ssrc = ssrcOf(packet)
    const sequence = sequenceOf(packet)
    if (ssrc !== this.#ssrc && !this.#changesTo(ssrc, sequence)) return false
    this.#sequence = sequence
    this.#silentSince = undefined
    return true
  }

  /** SSRC and sequence number of the last packet as one value, which changes with each packet. */
  get place(): number {
    return this.#ssrc * 0x10000 + this.#sequence
  }

  /** Whether a source was replaced by a later source. */
  isEarlier(ssrc: number): boolean {
    return this.#earlier.has(ssrc)
  }

  #changesTo(ssrc: number, sequence: number): boolean {
    // Consecutive numbers belong to one stream, regardless of the SSRC.
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
