import { shallowRef } from 'vue'
import type { RemoteMedia } from './remote-media.ts'
import { readSending, type SendingReading } from './sending-reading.ts'
import { signsOfReceiving, signsOfSending, type Trouble, troubles } from './signs-of-trouble.ts'

const readEveryMs = 2_000
/** Consecutive readings with a sign until it is shown, and without it until it disappears. */
const appearsAfter = 3
const disappearsAfter = 4
/** Time for which a dismissed trouble stays away, in milliseconds. */
const dismissedMs = 5 * 60_000

/** Trouble as shown on the page. */
export interface ShownTrouble {
  trouble: Trouble
  /** Users concerned, for `person`. */
  userIds: readonly string[]
}

/** Sources of the signs. */
export interface TroubleSources {
  sending: () => RTCPeerConnection | undefined
  media: () => Iterable<RemoteMedia>
  on: () => { microphone: boolean; camera: boolean }
  /** Connection of the page to the node. A lost one has a notice of its own. */
  connected: () => boolean
}

/** Finds trouble of the connection and of devices. What comes and goes within seconds is not shown. */
export class Troubles {
  /** The most urgent one; null: none. */
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

  /** Hides the shown trouble for a while. */
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

/** Signs that last: hysteresis in both directions. */
export class Lasting {
  readonly #with = new Map<Trouble, number>()
  readonly #without = new Map<Trouble, number>()
  readonly #now = new Set<Trouble>()

  /** Takes the signs of a reading. @returns those that have lasted */
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
