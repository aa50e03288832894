/** Milliseconds from one look to the next; one that comes later counts as twice that: a page in the background looks seldom, and one that was held up has not looked. */
const everyMs = 250
/** So long without a packet, a connection is suspicious: the others are looked at, and the server is asked for a sign of life. */
const suspiciousMs = 600
/** So long, it has lost its way: the server sends a report of each stream every second, whatever becomes of its source. */
const silentMs = 1_400
/** And when nothing came for so long after that, no new way was found. */
const lostMs = 2_500
/** Only one by which something came all the time, for so long, is judged by its silence. */
const steadyMs = 3_000
/** A connection that is not steady is given up for another one that may be; so is one by which nothing has come for long. */
const trialMs = 5_000
const silentLongMs = 10_000
/** From one alarm to the next, twice as long each time: packets may come and go for other reasons. After a long time without any it begins anew. */
const firstPauseMs = 5_000
const maxPauseMs = 60_000
const forgottenMs = 120_000
/** How long the server has for a sign of life before it is asked again: a request may go by the way that is lost. */
const signMs = 700

/** Steps for a connection that has fallen silent. */
interface SilenceListener {
  /** Resolves as soon as the server answers anything at all. Rejects when it cannot be reached, or with the signal's reason. */
  reach(signal: AbortSignal): Promise<void>
  /** Nothing comes although the server is alive: another way is to be looked for. */
  silent(): void
  /** Nothing came since that either. */
  lost(): void
}

interface Watched {
  readonly connection: RTCPeerConnection
  readonly listener: SilenceListener
  /** Bytes until the last look; -1 before the first. */
  received: number
  /** Milliseconds of looking since something came. */
  quietMs: number
  /** Milliseconds of looking without a long gap, until something came last. */
  steadyMs: number
  /** It was told, and nothing has come since. */
  told: boolean
}

/**
 * Finds out that the way to the server is lost where nothing else tells: the computer is on another network, or its address has changed on the way, and the browser
 * itself notices after five seconds or more. As all connections go the same way, it looks at one of them only, and at the others as soon as that one is quiet.
 * Nobody is alarmed while one of them receives something, or while the server does not answer either: then it is held up, and a crowd that begins anew is no help.
 */
class SilenceWatch {
  readonly #all = new Set<Watched>()
  #timer: ReturnType<typeof setInterval> | undefined
  #looking = false
  #lookedAt = 0
  #sentinel: Watched | undefined
  /** Milliseconds of looking at the sentinel. */
  #trialMs = 0
  /** How long the sentinel had been quiet when the others were looked at first. */
  #suspectedMs = 0
  #asked: AbortController | undefined
  #alive = false
  #pauseMs = firstPauseMs
  #alarmedAt = -Infinity
  readonly #alarmed = new Set<() => void>()

  /** Watches a connection until the signal. */
  add(connection: RTCPeerConnection, signal: AbortSignal, listener: SilenceListener): void {
    if (signal.aborted) return
    const watched: Watched = { connection, listener, received: -1, quietMs: 0, steadyMs: 0, told: false }
    this.#all.add(watched)
    this.#lookedAt = performance.now()
    this.#timer ??= setInterval(() => void this.#look(), everyMs)
    signal.addEventListener('abort', () => this.#remove(watched))
  }

  /** Tells until the signal whenever the way to the server seems lost: other connections to it may have fallen silent, too. */
  onAlarm(alarmed: () => void, signal: AbortSignal): void {
    this.#alarmed.add(alarmed)
    signal.addEventListener('abort', () => this.#alarmed.delete(alarmed))
  }

  #remove(watched: Watched): void {
    this.#all.delete(watched)
    if (this.#sentinel === watched) this.#choose(undefined)
    if (this.#all.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      const now = performance.now()
      const passed = Math.min(now - this.#lookedAt, 2 * everyMs)
      this.#lookedAt = now
      // A connection that is not connected is judged by its own state.
      const open = [...this.#all].filter(({ connection }) => connection.connectionState === 'connected')
      const sentinel = this.#sentinelAmong(open, passed)
      if (sentinel === undefined) return
      await read(sentinel, passed)
      if (sentinel.quietMs < suspiciousMs) return this.#calm()
      const others = open.filter((other) => other !== sentinel)
      await Promise.all(others.map((other) => read(other, passed)))
      this.#judge(sentinel, others)
    } finally {
      this.#looking = false
    }
  }

  #sentinelAmong(open: readonly Watched[], passed: number): Watched | undefined {
    const current = this.#sentinel
    const place = current === undefined ? -1 : open.indexOf(current)
    this.#trialMs += passed
    const isGood =
      current !== undefined &&
      place >= 0 &&
      (current.steadyMs >= steadyMs || this.#trialMs <= trialMs) &&
      current.quietMs < silentLongMs
    if (!isGood) this.#choose(open[(place + 1) % open.length])
    return this.#sentinel
  }

  #choose(watched: Watched | undefined): void {
    this.#calm()
    this.#trialMs = 0
    this.#sentinel = watched
    // Packets that came while nobody looked say nothing of how steadily they came.
    if (watched !== undefined) Object.assign(watched, { quietMs: 0, steadyMs: 0, received: -1 })
  }

  #judge(sentinel: Watched, others: readonly Watched[]): void {
    if (this.#suspectedMs === 0) this.#suspectedMs = sentinel.quietMs
    // Another one has received something since: this one's source is silent, and that one is the better sign.
    const since = sentinel.quietMs - this.#suspectedMs
    const receiving = others.find(({ quietMs, received }) => quietMs < since && received > 0)
    if (receiving !== undefined && sentinel.quietMs >= 2 * suspiciousMs) return this.#choose(receiving)
    if (receiving !== undefined || sentinel.steadyMs < steadyMs) return
    this.#askForLife(sentinel)
    if (!this.#alive) return
    const now = performance.now()
    if (sentinel.told || sentinel.quietMs < silentMs) return
    if (now - this.#alarmedAt > forgottenMs) this.#pauseMs = firstPauseMs
    else if (now - this.#alarmedAt < this.#pauseMs) return
    else this.#pauseMs = Math.min(2 * this.#pauseMs, maxPauseMs)
    this.#alarmedAt = now
    for (const watched of [sentinel, ...others]) this.#tell(watched)
    for (const alarmed of this.#alarmed) alarmed()
  }

  #tell(watched: Watched): void {
    const { connection, listener, received } = watched
    watched.told = true
    listener.silent()
    setTimeout(async () => {
      if (!this.#all.has(watched) || connection.connectionState !== 'connected') return
      if ((await receivedBy(connection)) === received) listener.lost()
    }, lostMs)
  }

  /** Until it answers, or something comes. */
  #askForLife(sentinel: Watched): void {
    if (this.#asked !== undefined || !navigator.onLine) return
    const asked = new AbortController()
    this.#asked = asked
    const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(signMs)])
    sentinel.listener.reach(signal).then(
      () => {
        if (this.#asked === asked) this.#alive = true
      },
      () => {
        if (this.#asked === asked) setTimeout(() => this.#askAgain(asked), everyMs)
      },
    )
  }

  #askAgain(asked: AbortController): void {
    if (this.#asked === asked) this.#asked = undefined
  }

  #calm(): void {
    this.#suspectedMs = 0
    this.#asked?.abort()
    this.#asked = undefined
    this.#alive = false
  }
}

/** For all connections of the page. */
export const silenceWatch = new SilenceWatch()

async function read(watched: Watched, passed: number): Promise<void> {
  const received = await receivedBy(watched.connection)
  if (received === watched.received) {
    watched.quietMs += passed
    return
  }
  const steady = watched.received >= 0 && watched.quietMs < silentMs
  watched.steadyMs = steady ? watched.steadyMs + watched.quietMs + passed : 0
  watched.received = received
  watched.quietMs = 0
  watched.told = false
}

/** A number that grows with whatever comes: media, reports, and what keeps the way open. Packets, or bytes where a browser counts no packets. */
async function receivedBy(connection: RTCPeerConnection): Promise<number> {
  const count = { transport: 0, 'candidate-pair': 0 }
  const report = await connection.getStats().catch(() => undefined)
  report?.forEach((entry: Record<string, unknown>) => {
    if (entry.type === 'transport') count.transport += numberOf(entry.packetsReceived)
    else if (entry.type === 'candidate-pair') count['candidate-pair'] += numberOf(entry.bytesReceived)
  })
  return count.transport || count['candidate-pair']
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
