/** Counters behind a sender's highest one that are still accepted once: requests overtake each other on their connections. */
const width = 65_536
/** Programs that are remembered at a time: a site has a handful of controllers, each a new sender after a restart. */
const maxSenders = 64

interface Sender {
  highest: number
  /** One bit a counter, by its remainder. */
  readonly seen: Uint8Array
  /** Milliseconds since the epoch. */
  usedAt: number
}

/** Accepts each number of each sender once, with 8 KiB a sender however much is sent (the anti-replay window of RFC 4303, section 3.4.3). */
export class ReplayWindow {
  readonly #senders = new Map<string, Sender>()
  readonly #keepMs: number

  /** @param keepMs a sender that was silent for so long is forgotten: what it sent before is too old by then */
  constructor(keepMs: number) {
    this.#keepMs = keepMs
  }

  /** @param sender who it is was proved @param now milliseconds since the epoch @returns false: it was used, or is too far behind */
  use(sender: string, counter: number, now: number): boolean {
    const known = this.#senders.get(sender) ?? this.#begin(sender, now)
    if (known === undefined || counter <= known.highest - width) return false
    known.usedAt = now
    if (counter > known.highest) {
      if (counter - known.highest >= width) known.seen.fill(0)
      else for (let next = known.highest + 1; next <= counter; next++) mark(known.seen, next, false)
      known.highest = counter
    } else if (isMarked(known.seen, counter)) return false
    mark(known.seen, counter, true)
    return true
  }

  /** @returns undefined: too many are in use */
  #begin(name: string, now: number): Sender | undefined {
    if (this.#senders.size >= maxSenders)
      for (const [other, { usedAt }] of this.#senders) if (now - usedAt > this.#keepMs) this.#senders.delete(other)
    if (this.#senders.size >= maxSenders) return undefined
    const sender = { highest: 0, seen: new Uint8Array(width / 8), usedAt: now }
    this.#senders.set(name, sender)
    return sender
  }
}

function isMarked(seen: Uint8Array, counter: number): boolean {
  const bit = counter % width
  return ((seen[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0
}

function mark(seen: Uint8Array, counter: number, on: boolean): void {
  const bit = counter % width
  const byte = seen[bit >> 3] ?? 0
  seen[bit >> 3] = on ? byte | (1 << (bit & 7)) : byte & ~(1 << (bit & 7))
}
