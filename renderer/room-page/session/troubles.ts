import { shallowRef } from 'vue'
import type { RemoteMedia } from './remote-media.ts'
import { readSending, type SendingReading } from './sending-reading.ts'
import { signsOfReceiving, signsOfSending, type Trouble, troubles } from './signs-of-trouble.ts'

const readEveryMs = 2_000
/** Number of consecutive readings with a problem before it is shown, and without it before it is removed. */
const appearsAfter = 3
const disappearsAfter = 4
/** Time for which a dismissed problem stays hidden, in milliseconds. */
const dismissedMs = 5 * 60_000

/** A problem as shown on the page. */
export interface ShownTrouble {
  trouble: Trouble
  /** Affected users, for `person`. */
  userIds: readonly string[]
}

/** Sources of the signs. */
export interface TroubleSources {
  sending: () => RTCPeerConnection | undefined
  media: () => Iterable<RemoteMedia>
  on: () => { microphone: boolean; camera: boolean }
  /** Whether the page is connected to the node. A lost connection has its own notice. */
  connected: () => boolean
}

/** Finds problems of the connection and of devices. Problems of only a few seconds are not shown. */
export class Troubles {
  /** The most urgent problem; null: none. */
  readonly shown = shallowRef<ShownTrouble | null>(null)
  readonly #sources: TroubleSources
  readonly #lasting = new Lasting()
  readonly #dismissedAt = new Map<Trouble, number>()
  readonly #timer: ReturnType<typeof setInterval>
  #last: { connection: RTCPeerConnection; reading: SendingReading } | undefined

  constructor(sources: TroubleSources) {
    this.#sources = sources
    this.#timer = setInterval(() => void this.#read(), readEveryMs)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.shown.value = null
  }

  /** Hides the shown problem for some minutes. */
  dismiss(): void {
    if (this.shown.value !== null) this.#dismissedAt.set(this.shown.value.trouble, performance.now())
    this.shown.value = null
  }

  async #read(): Promise<void> {
    const { media, connected } = this.#sources
    if (!connected()) {
      this.#last = undefined
      this.#lasting.clear()
      this.shown.value = null
      return
    }
    const receiving = signsOfReceiving(media())
    const sending = await this.#signsOfSending()
    const now = this.#lasting.take(new Set([...sending, ...receiving.signs]))
    const trouble = troubles.find((each) => now.has(each) && !this.#isDismissed(each))
    const before = this.shown.value
    if (trouble === undefined) this.shown.value = null
    else if (before?.trouble !== trouble || trouble === 'person')
      this.shown.value = {
        trouble,
        userIds: receiving.userIds.length > 0 ? receiving.userIds : (before?.userIds ?? []),
      }
  }

  async #signsOfSending(): Promise<ReadonlySet<Trouble>> {
    const connection = this.#sources.sending()
    if (connection?.connectionState !== 'connected') {
      this.#last = undefined
      return new Set()
    }
    const reading = await readSending(connection).catch(() => undefined)
    const before = this.#last?.connection === connection ? this.#last.reading : undefined
    this.#last = reading === undefined ? undefined : { connection, reading }
    return before === undefined || reading === undefined
      ? new Set()
      : signsOfSending(before, reading, this.#sources.on())
  }

  #isDismissed(trouble: Trouble): boolean {
    const at = this.#dismissedAt.get(trouble)
    return at !== undefined && performance.now() - at < dismissedMs
  }
}

/** Filters problems by hysteresis, both when they appear and when they disappear. */
export class Lasting {
  readonly #with = new Map<Trouble, number>()
  readonly #without = new Map<Trouble, number>()
  readonly #now = new Set<Trouble>()

  /** Adds the problems of one reading. @returns the problems that have lasted */
  take(signs: ReadonlySet<Trouble>): ReadonlySet<Trouble> {
    for (const each of troubles) {
      const has = signs.has(each)
      this.#with.set(each, has ? (this.#with.get(each) ?? 0) + 1 : 0)
      this.#without.set(each, has ? 0 : (this.#without.get(each) ?? 0) + 1)
      if ((this.#with.get(each) ?? 0) >= appearsAfter) this.#now.add(each)
      if ((this.#without.get(each) ?? 0) >= disappearsAfter) this.#now.delete(each)
    }
    return this.#now
  }

  clear(): void {
    this.#with.clear()
    this.#without.clear()
    this.#now.clear()
  }
}
