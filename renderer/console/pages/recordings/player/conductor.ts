import type { StreamPlayer } from './stream-player.ts'

/** Interval at which streams are synchronized, in milliseconds. */
const tickMs = 100
/** Drift above which a stream seeks, and above which its speed is adjusted, in milliseconds. */
const jumpMs = 700
const paceMs = 60

/** Maximum number of pictures that a step tries: pictures in a hole between two pieces cannot be shown. */
const maxTries = 3
/** Maximum number of queued steps while a key is held down. */
const maxWaitingSteps = 3

/**
 * Plays several streams by one clock: that of the first stream that has media at the moment. If none has, playback
 * continues at the next recording.
 */
export class Conductor {
  readonly #players = new Map<string, StreamPlayer>()
  readonly #changed: () => void
  readonly #timer: ReturnType<typeof setInterval>
  #at: number
  #playing = false
  #rate = 1
  #isRefused = false
  #steps: Promise<void> = Promise.resolve()
  #waitingSteps = 0

  /** @param at first moment @param changed called at each tick and after each change */
  constructor(at: number, changed: () => void) {
    this.#at = at
    this.#changed = changed
    this.#timer = setInterval(() => this.#tick(), tickMs)
  }

  /** The shown moment, in milliseconds since the epoch. */
  get at(): number {
    return this.#at
  }

  get playing(): boolean {
    return this.#playing
  }

  get rate(): number {
    return this.#rate
  }

  /** Whether the browser rejected the last `play`. */
  get isRefused(): boolean {
    return this.#isRefused
  }

  add(key: string, player: StreamPlayer): void {
    this.#players.set(key, player)
    player.video.playbackRate = this.#rate
    void player.seek(this.#at)
  }

  remove(key: string): void {
    this.#players.get(key)?.close()
    this.#players.delete(key)
  }

  /** Shows a moment. Resolves when every stream shows it, or its gap. */
  async seek(at: number): Promise<void> {
    this.#at = at
    this.#changed()
    await Promise.all([...this.#players.values()].map((player) => player.seek(at)))
  }

  play(): void {
    this.#playing = true
    this.#isRefused = false
    // Browsers allow `play` only within a click: it must be called now also for streams that are loaded later.
    for (const { video, state } of this.#players.values()) {
      // On an ended video, `play` would restart at the beginning.
      if (!video.ended) this.#run(video, true)
      if (state !== 'showing') video.pause()
    }
    this.#tick()
  }

  pause(): void {
    this.#playing = false
    for (const { video } of this.#players.values()) video.pause()
    this.#changed()
  }

  setRate(rate: number): void {
    this.#rate = rate
    for (const { video } of this.#players.values()) video.playbackRate = rate
    this.#changed()
  }

  /** Shows the next or previous picture of the leading stream. Further steps are queued. */
  step(direction: 1 | -1): Promise<void> {
    this.pause()
    if (this.#waitingSteps >= maxWaitingSteps) return this.#steps
    this.#waitingSteps += 1
    const step = this.#steps.then(() => this.#step(direction))
    this.#steps = step
      .catch(() => {})
      .finally(() => {
        this.#waitingSteps -= 1
      })
    return step
  }

  async #step(direction: 1 | -1): Promise<void> {
    if (this.#playing) return
    const [lead] = this.#active()
    const shownAt = lead?.shownAt
    let from = shownAt ?? this.#at
    for (let tries = 0; tries < maxTries; tries++) {
      const at = await this.#beside(lead, from, direction)
      if (at === undefined || this.#playing) return
      await this.seek(at)
      await lead?.settled(at)
      if (lead === undefined || lead.shownAt !== shownAt || lead.state !== 'showing') return
      from = at
    }
  }

  /**
   * Returns the moment of the leading stream's next or previous picture; across a gap, the nearest one of all streams.
   */
  async #beside(lead: StreamPlayer | undefined, from: number, direction: 1 | -1): Promise<number | undefined> {
    const next = await lead?.beside(from, direction)
    if (next?.overGap === false) return next.at
    const found = await Promise.all([...this.#players.values()].map((player) => player.beside(from, direction)))
    const moments = found.flatMap((one) => one?.at ?? [])
    if (moments.length === 0) return undefined
    return direction === 1 ? Math.min(...moments) : Math.max(...moments)
  }

  close(): void {
    clearInterval(this.#timer)
    for (const key of [...this.#players.keys()]) this.remove(key)
  }

  #active(): StreamPlayer[] {
    return [...this.#players.values()].filter((player) => player.state === 'showing' && player.has(this.#at))
  }

  #tick(): void {
    if (this.#playing && this.#players.size > 0) this.#advance()
    for (const player of this.#players.values()) void player.fill()
    this.#changed()
  }

  #advance(): void {
    const players = [...this.#players.values()]
    const isLoading = players.some(({ state }) => state === 'loading')
    // A stream at the end of its piece does not wait, and the others do not wait for it.
    const active = this.#active().filter((player) => player.goesOnAt === undefined)
    const [lead] = active
    if (lead === undefined) {
      if (!isLoading) this.#goOn()
    } else {
      // The others wait for the slowest stream, to stay in sync.
      const ready = !isLoading && active.every((player) => player.ready)
      for (const player of active) this.#run(player.video, ready)
      if (ready) this.#at = Math.max(this.#at, lead.at)
      this.#keepTogether(active.slice(1))
    }
    this.#joinBegun()
  }

  #keepTogether(others: readonly StreamPlayer[]): void {
    for (const player of others) {
      const drift = player.at - this.#at
      if (Math.abs(drift) > jumpMs * Math.max(1, this.#rate)) void player.seek(this.#at)
      else {
        const pace = Math.abs(drift) < paceMs ? 1 : 1 - Math.max(-0.2, Math.min(0.2, drift / 1_000))
        player.video.playbackRate = Math.min(16, this.#rate * pace)
      }
    }
  }

  /** Seeks the streams whose recording starts, continues or ends at this moment. */
  #joinBegun(): void {
    for (const player of this.#players.values()) {
      const { state } = player
      const here = player.has(this.#at)
      const { goesOnAt } = player
      if (state === 'gap' && here) void player.seek(this.#at)
      else if (typeof goesOnAt === 'number' && goesOnAt <= this.#at) void player.seek(this.#at)
      // Removes the last picture after the end of a recording.
      else if (state === 'showing' && !here && player.at < this.#at) void player.seek(this.#at)
    }
  }

  /** Jumps to the earliest moment at which a stream continues. */
  #goOn(): void {
    const next = [...this.#players.values()].flatMap((player) => player.nextAt(this.#at) ?? [])
    if (next.length > 0) void this.seek(Math.max(this.#at, Math.min(...next)))
  }

  #run(video: HTMLVideoElement, ready: boolean): void {
    if (!ready) video.pause()
    else if (video.paused) void video.play().catch((error: unknown) => this.#refused(error))
  }

  /** Pauses if the browser allows playing only after a click. Other rejections come from a pause during `play`. */
  #refused(error: unknown): void {
    if (!this.#playing || !(error instanceof DOMException) || error.name !== 'NotAllowedError') return
    this.#isRefused = true
    this.pause()
  }
}
