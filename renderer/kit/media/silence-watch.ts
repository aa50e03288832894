import { onAbort } from '../../../shared/abort.ts'
import { numberOf, type StatsEntry } from './connection-reading.ts'

/**
 * Interval of checks, in milliseconds. A longer gap counts as at most twice this interval: background pages check
 * rarely, and suspended pages not at all.
 */
const everyMs = 250
/** Time without a packet after which a connection is suspicious: the others are checked, and the server is probed. */
const suspiciousMs = 600
/**
 * Time without a packet after which the path counts as lost. The server sends a report for each stream every second,
 * even if the source sends nothing.
 */
const silentMs = 1_400
/** Further time without packets after which the search for a new path has failed. */
const lostMs = 2_500
/** Minimum duration of steady packets before silence counts. */
const steadyMs = 3_000
/** Time after which an unsteady or silent connection is replaced as the sentinel by another one. */
const trialMs = 5_000
const silentLongMs = 10_000
/**
 * Interval between alarms, doubled each time, because packets may stop for other reasons. Resets after a long time
 * without alarms.
 */
const firstPauseMs = 5_000
const maxPauseMs = 60_000
const forgottenMs = 120_000
/** Timeout of a probe before it is repeated: the first request may use the lost path. */
const signMs = 700

/** Reactions to a connection that has fallen silent. */
interface SilenceListener {
  /** Resolves to any answer of the server. Rejects if it is unreachable, or with the signal's reason. */
  reach(signal: AbortSignal): Promise<void>
  /** No packets although the server answers: another path is needed. */
  silent(): void
  /** Still no packets after `silent`. */
  lost(): void
}

interface Watched {
  readonly connection: RTCPeerConnection
  readonly listener: SilenceListener
  /** Bytes at the last check; -1 before the first. */
  received: number
  /** Time without packets while it was checked, in milliseconds. */
  quietMs: number
  /** Time of steady packets before the last one, while it was checked, in milliseconds. */
  steadyMs: number
  /** The listener was notified, and no packet has arrived since. */
  told: boolean
}

/**
 * Detects a lost path to the server that nothing else reports: the computer is on another network, or its address has
 * changed on the way, and the browser itself notices after five seconds or more. All connections share one path, so
 * only one of them is checked, and the others as soon as that one is silent.
 * Raises no alarm while any connection receives packets, or while the server does not answer: an overloaded server must
 * not get many restarts at once.
 */
class SilenceWatch {
  readonly #all = new Set<Watched>()
  #timer: ReturnType<typeof setInterval> | undefined
  #looking = false
  #lookedAt = 0
  #sentinel: Watched | undefined
  /** Time for which the sentinel has been checked, in milliseconds. */
  #trialMs = 0
  /** Silence of the sentinel when the other connections were first checked, in milliseconds. */
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
    onAbort(signal, () => this.#remove(watched))
  }

  /**
   * Calls `alarmed` whenever the path to the server seems lost, until the signal: other connections to the server may
   * be silent, too.
   */
  onAlarm(alarmed: () => void, signal: AbortSignal): void {
    this.#alarmed.add(alarmed)
    onAbort(signal, () => this.#alarmed.delete(alarmed))
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
      // Connections in other states report their problems themselves.
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
    // Packets between two checks are no evidence of steady traffic.
    if (watched !== undefined) Object.assign(watched, { quietMs: 0, steadyMs: 0, received: -1 })
  }

  #judge(sentinel: Watched, others: readonly Watched[]): void {
    if (this.#suspectedMs === 0) this.#suspectedMs = sentinel.quietMs
    // Another connection has received packets since: the sentinel's source is silent, and that connection is a better
    // sentinel.
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
    for (const watched of [sentinel, ...others]) this.#notify(watched)
    for (const alarmed of this.#alarmed) alarmed()
  }

  #notify(watched: Watched): void {
    const { connection, listener, received } = watched
    watched.told = true
    listener.silent()
    setTimeout(async () => {
      if (!this.#all.has(watched) || connection.connectionState !== 'connected') return
      if ((await receivedBy(connection)) === received) listener.lost()
    }, lostMs)
  }

  /** Probes the server until it answers, or a packet arrives. */
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

/** One watch for all connections of the page. */
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

/**
 * Returns a counter that grows with everything received: media, reports and keep-alives. Counts packets, or bytes in
 * browsers that count no packets.
 */
async function receivedBy(connection: RTCPeerConnection): Promise<number> {
  const count = { transport: 0, 'candidate-pair': 0 }
  const report = await connection.getStats().catch(() => undefined)
  report?.forEach((entry: StatsEntry) => {
    if (entry.type === 'transport') count.transport += numberOf(entry.packetsReceived)
    else if (entry.type === 'candidate-pair') count['candidate-pair'] += numberOf(entry.bytesReceived)
  })
  return count.transport || count['candidate-pair']
}
